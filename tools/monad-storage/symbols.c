// SPDX-License-Identifier: GPL-2.0
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kallsyms.h"
#include "monad_storage.h"
#include "symbols.h"

/*
 * The kernel
 */

static const char *hex(uint64_t address, char name[SYMBOL_LEN])
{
	snprintf(name, SYMBOL_LEN, "0x%" PRIx64, address);
	return name;
}

static bool loaded;

bool symbols_find_kernel(uint64_t address, uint64_t text, struct symbol *symbol)
{
	static uint64_t own_text;
	struct kallsyms_function function;

	if (!loaded) {
		kallsyms_load();
		own_text = kallsyms_address("_stext");
		loaded = true;
	}
	if (text != own_text || !kallsyms_look_up(address, &function))
		return false;
	symbol->function = function.name;
	symbol->module = function.module;
	symbol->offset = address - function.start;
	return true;
}

const char *symbols_kernel(uint64_t address, uint64_t text, char name[SYMBOL_LEN])
{
	struct symbol symbol;

	if (!symbols_find_kernel(address, text, &symbol))
		return hex(address, name);
	snprintf(name, SYMBOL_LEN, "%s", symbol.function);
	return name;
}

/*
 * Processes
 */

/* More are not kept: the one that was not asked for longest goes. */
#define MAX_PROCESSES 256

struct process {
	uint32_t tgid;
	uint64_t used; /* when, in numbers of questions */
	uint64_t started_ns; /* since 1970; UINT64_MAX: it is gone */
	Dwfl *dwfl;	     /* NULL: nothing to be known of it */
};

static struct process processes[MAX_PROCESSES];
static size_t nr_processes;
static uint64_t questions;

/* Symbol tables of the files themselves: nothing is searched for or downloaded. */
static int no_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **found)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = no_debuginfo,
};

/* A line "btime N" of /proc/stat: when the machine was booted, in seconds. */
static uint64_t boot_time(void)
{
	FILE *file = fopen("/proc/stat", "re");
	char line[4096];
	uint64_t time = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "btime %" SCNu64, &time) == 1)
			break;
	}
	if (file)
		fclose(file);
	return time;
}

static uint64_t start_of(uint32_t tgid)
{
	char path[64], line[1024], *after;
	uint64_t ticks = 0;
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%u/stat", tgid);
	file = fopen(path, "re");
	if (!file)
		return UINT64_MAX;
	n = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[n] = '\0';
	/* behind the name, which may be anything: the 20th field from there */
	after = strrchr(line, ')');
	if (!after || sscanf(after + 1,
			     " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
			     "%*d %*d %*d %" SCNu64, &ticks) != 1)
		return UINT64_MAX;
	return boot_time() * NSEC_PER_SEC + ticks * (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
}

static Dwfl *look_at(uint32_t tgid)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (!dwfl)
		return NULL;
	if (!dwfl_linux_proc_report(dwfl, (pid_t)tgid) && !dwfl_report_end(dwfl, NULL, NULL))
		return dwfl;
	dwfl_end(dwfl);
	return NULL;
}

static struct process *find(uint32_t tgid)
{
	struct process *process = processes;

	for (size_t i = 0; i < nr_processes; i++) {
		if (processes[i].tgid == tgid) {
			processes[i].used = ++questions;
			return &processes[i];
		}
		if (processes[i].used < process->used)
			process = &processes[i];
	}
	if (nr_processes < MAX_PROCESSES)
		process = &processes[nr_processes++];
	else if (process->dwfl)
		dwfl_end(process->dwfl);
	process->tgid = tgid;
	process->used = ++questions;
	process->started_ns = start_of(tgid);
	process->dwfl = process->started_ns == UINT64_MAX ? NULL : look_at(tgid);
	return process;
}

bool symbols_find_user(uint32_t tgid, uint64_t address, uint64_t epoch_ns, struct symbol *symbol)
{
	struct process *process = find(tgid);
	Dwfl_Module *module;
	Dwarf_Addr begin;
	GElf_Off offset;
	GElf_Sym sym;

	/* A second more: the boot time is whole seconds. */
	if (!process->dwfl || process->started_ns > epoch_ns + NSEC_PER_SEC)
		return false;
	/* A return address may be behind the last instruction of a function. */
	module = dwfl_addrmodule(process->dwfl, address - 1);
	if (!module)
		return false;
	symbol->module = dwfl_module_info(module, NULL, &begin, NULL, NULL, NULL, NULL, NULL);
	symbol->function = dwfl_module_addrinfo(module, address - 1, &offset, &sym, NULL, NULL,
						NULL);
	symbol->offset = symbol->function ? offset + 1 : address - begin;
	return true;
}

const char *symbols_user(uint32_t tgid, uint64_t address, uint64_t epoch_ns,
			 char name[SYMBOL_LEN])
{
	struct symbol symbol;
	const char *slash;

	if (!symbols_find_user(tgid, address, epoch_ns, &symbol))
		return hex(address, name);
	if (symbol.function) {
		snprintf(name, SYMBOL_LEN, "%s", symbol.function);
		return name;
	}
	slash = symbol.module ? strrchr(symbol.module, '/') : NULL;
	snprintf(name, SYMBOL_LEN, "%s+0x%" PRIx64,
		 slash ? slash + 1 : symbol.module ? symbol.module : "?", symbol.offset);
	return name;
}

void symbols_forget_processes(void)
{
	while (nr_processes) {
		if (processes[--nr_processes].dwfl)
			dwfl_end(processes[nr_processes].dwfl);
	}
}

void symbols_free(void)
{
	symbols_forget_processes();
	kallsyms_free();
	loaded = false;
}
