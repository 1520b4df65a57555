/* SPDX-License-Identifier: GPL-2.0 */
/* Names of kernel addresses, from /proc/kallsyms. */
#ifndef MONAD_TOOLS_KALLSYMS_H
#define MONAD_TOOLS_KALLSYMS_H

#include <stdint.h>

/* Reads them; without, or without privilege, there are none. */
void kallsyms_load(void);
void kallsyms_free(void);

/* The function @address is in, or NULL. Good until kallsyms_free(). */
const char *kallsyms_find(uint64_t address);

/*
 * Where the kernel's function or label @wanted is, or 0. Looks it up in the file, and keeps
 * nothing.
 */
uint64_t kallsyms_address(const char *wanted);

#endif /* MONAD_TOOLS_KALLSYMS_H */
