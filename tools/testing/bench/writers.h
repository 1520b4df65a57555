/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_WRITERS_H
#define BENCH_WRITERS_H

#define EVENTS 1000
#define ROUNDS 15
/* Room for all rounds of one program with nobody reading; emptied between programs. */
#define RINGBUF_SIZE (64 * 1024 * 1024)

#endif /* BENCH_WRITERS_H */
