/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event types of accepted.bpf.c, and what is in them.
 */
#ifndef SELFTEST_ACCEPTED_H
#define SELFTEST_ACCEPTED_H

enum {
	TYPE_TP_BTF = 0x100,
	TYPE_FENTRY,
	TYPE_FEXIT,
	TYPE_LSM,
	TYPE_ITER,
	TYPE_KPROBE,
	TYPE_TRACEPOINT,
	TYPE_PERF_EVENT,
	TYPE_WAYS,
	TYPE_VARIABLE,
	TYPE_SUBPROG,
};

#define WAYS_SIZE 80

#endif /* SELFTEST_ACCEPTED_H */
