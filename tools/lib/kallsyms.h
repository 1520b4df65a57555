/* SPDX-License-Identifier: GPL-2.0 */
/* Names of kernel addresses, from /proc/kallsyms. */
#ifndef MONAD_TOOLS_KALLSYMS_H
#define MONAD_TOOLS_KALLSYMS_H

#include <stdbool.h>
#include <stdint.h>

/* Reads them; without, or without privilege, there are none. */
void kallsyms_load(void);
void kallsyms_free(void);

/* The function @address is in, or NULL. Good until kallsyms_free(). */
const char *kallsyms_find(uint64_t address);

struct kallsyms_function {
	const char *name;
	const char *module; /* "[nvme]"; NULL: the kernel itself */
	uint64_t start;     /* where it begins */
};

/* The same, in full; false: there is none. */
bool kallsyms_look_up(uint64_t address, struct kallsyms_function *function);

/*
 * Where the kernel's function or label @wanted is, or 0. Looks it up in the file, and keeps
 * nothing.
 */
uint64_t kallsyms_address(const char *wanted);

#endif /* MONAD_TOOLS_KALLSYMS_H */
