/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arguments and answers of the programs of kfunc.bpf.c.
 */
#ifndef SELFTEST_KFUNC_H
#define SELFTEST_KFUNC_H

/* The largest event of the small ring, and one byte more for what must be refused. */
#define KFUNC_MAX_EVENT (512 << 10)
#define KFUNC_DATA (KFUNC_MAX_EVENT + 64)

struct kfunc_call {
	/* in */
	unsigned int ring;
	unsigned int type;
	unsigned long long size;
	unsigned int index;    /* of a tag, or what to query */
	unsigned int offset;   /* of a write */
	unsigned int length;
	unsigned int discard;  /* rather than commit */
	unsigned int order;    /* of two commits; 1: the later one first */
	unsigned long long flags;
	unsigned long long value;
	/* out */
	int ret;
	unsigned int got;      /* records, by bit */
	unsigned long long seqno[2];
	unsigned long long answer;
};

#endif /* SELFTEST_KFUNC_H */
