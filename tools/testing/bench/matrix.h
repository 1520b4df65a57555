/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_MATRIX_H
#define BENCH_MATRIX_H

#define EVENTS 1000	 /* in one run of a program */
#define MAX_PAYLOAD 8192 /* one more bit than the largest, 4096: the verifier masks */
/* Each of the BPF ring buffers, and the perf buffer's one ring. */
#define RIVAL_BYTES (16 * 1024 * 1024)
#define SAMPLED 500

#endif /* BENCH_MATRIX_H */
