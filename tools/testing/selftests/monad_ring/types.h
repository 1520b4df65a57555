/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs of types.bpf.c write, for types.c to compare.
 */
#ifndef SELFTEST_TYPES_H
#define SELFTEST_TYPES_H

/* Event types: by bpf_monad_ring_output(), and by reserve and commit. */
#define TYPES_OUTPUT 0x200
#define TYPES_COMMIT 0x201

/* Times a program writes: it may run for longer than the ring is large. */
#define TYPES_RUNS 8

#define TYPES_COOKIE 0x0123456789abcdefULL

struct types_event {
	unsigned long long cookie;
	unsigned long long seqno;      /* as the kfunc says; 0 in an output */
	unsigned long long last_seqno; /* as the query says, meanwhile */
	unsigned int preempt_count;    /* of the CPU: in what context */
	unsigned int length;           /* bytes of text used */
	char text[16];		       /* written by the kfunc, of a length not known before */
};

#endif /* SELFTEST_TYPES_H */
