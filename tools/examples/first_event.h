/* SPDX-License-Identifier: GPL-2.0 */
/* What is in the events, for the writer and for the reader. */
#define FIRST_EXIT 2 /* event type: 2 and up are yours */

struct first_exit {
	unsigned int pid;
	char comm[16];
};
