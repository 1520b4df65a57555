/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event types of accepted.bpf.c, and what is in them.
 */
#ifndef SELFTEST_ACCEPTED_H
#define SELFTEST_ACCEPTED_H

enum {
	TYPE_WAYS = 0x100,
	TYPE_VARIABLE,
	TYPE_SUBPROG,
};

#define WAYS_SIZE 80

#endif /* SELFTEST_ACCEPTED_H */
