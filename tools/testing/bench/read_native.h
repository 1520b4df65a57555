/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_READ_NATIVE_H
#define BENCH_READ_NATIVE_H

/* Both rings: 16 MiB of descriptors and 16 of payload here, 32 of records there. */
#define RIVAL_BYTES (32 * 1024 * 1024)
#define MAX_PAYLOAD 4096

#endif /* BENCH_READ_NATIVE_H */
