/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The writers of writer.bpf.c, as both sides see them.
 */
#ifndef SELFTEST_WRITER_H
#define SELFTEST_WRITER_H

/*
 * 0 to 7 are run from threads; the others are those in interrupts and in the scheduler, one
 * for each of two CPUs: the tests need no more, and leave others alone.
 */
#define WRITERS 16
#define WRITER_TIMER 8
#define WRITER_SWITCH 10
#define WRITER_PERF 12
#define WRITER_CPUS 2

/* Bytes that a writer can put into one event. */
#define WRITER_MAX_LEN 65536

struct writer {
	/* what to do */
	unsigned int ring;
	unsigned int events;        /* to try, in one run */
	unsigned int min_len;       /* lengths are between these ... */
	unsigned int max_len;
	unsigned int big_every;     /* ... but each so-manieth event is big; 0: none */
	unsigned int big_len;
	unsigned int discard_every; /* each so-manieth event is discarded; 0: none */
	unsigned int on;            /* for those in interrupts */
	unsigned int tag_ring;      /* the ring's id in place of the count; see races.c */
	/* what was done; counts add up from run to run */
	unsigned long long tried;
	unsigned long long committed;
	unsigned long long discarded;
	unsigned long long refused;
	unsigned long long errors;  /* kfuncs that answered what they must not */
	unsigned long long bytes;   /* of payload buffer taken */
	unsigned long long random;
} __attribute__((aligned(64)));

/* Argument of the syscall programs. */
struct writer_run {
	unsigned int writer;
};

#endif /* SELFTEST_WRITER_H */
