/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of addresses of code: the kernel's from /proc/kallsyms, those of programs from
 * the files that they still have mapped.
 */
#ifndef MONAD_STORAGE_SYMBOLS_H
#define MONAD_STORAGE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMBOL_LEN 128

/* Where an address is; what is at the pointers is good until the next call of any of these. */
struct symbol {
	const char *function; /* NULL: not known; then the offset is that in the module */
	const char *module;   /* the file, or "[nvme]"; NULL: the kernel itself, or not known */
	uint64_t offset;
};

/* False if nothing is known: the same conditions as below. */
bool symbols_find_kernel(uint64_t address, uint64_t text, struct symbol *symbol);
bool symbols_find_user(uint32_t tgid, uint64_t address, uint64_t epoch_ns, struct symbol *symbol);

/*
 * The kernel function that @address is in, as of the boot where _stext was at @text, or
 * "0x..." when that is another one or nobody may know. Written to @name.
 */
const char *symbols_kernel(uint64_t address, uint64_t text, char name[SYMBOL_LEN]);

/*
 * "function" or "file+0x..." of process @tgid, or "0x..." when it was not there any more
 * or was another one at @epoch_ns. Written to @name.
 */
const char *symbols_user(uint32_t tgid, uint64_t address, uint64_t epoch_ns,
			 char name[SYMBOL_LEN]);

/* For so long it is of use to know what a process has loaded; see the next. */
#define SYMBOLS_KEEP_NS (60 * NSEC_PER_SEC)

/* Looks at processes anew from here on: they may have loaded more code, or be others. */
void symbols_forget_processes(void);

void symbols_free(void);

#endif /* MONAD_STORAGE_SYMBOLS_H */
