// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kallsyms.h"

struct symbol {
	uint64_t address;
	char *name; /* with its NUL, then that of the module, or "" */
};

static struct symbol *symbols;
static size_t nr, room;

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static bool add(uint64_t address, const char *name, const char *module)
{
	const size_t length = strlen(name) + 1;
	struct symbol *more;

	if (nr == room) {
		room = room ? 2 * room : 65536;
		more = realloc(symbols, room * sizeof(*symbols));
		if (!more)
			return false;
		symbols = more;
	}
	symbols[nr].address = address;
	symbols[nr].name = malloc(length + strlen(module) + 1);
	if (!symbols[nr].name)
		return false;
	memcpy(symbols[nr].name, name, length);
	memcpy(symbols[nr].name + length, module, strlen(module) + 1);
	return ++nr;
}

void kallsyms_load(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[1024], name[512], module[128], type;
	uint64_t address;
	int fields;

	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		fields = sscanf(line, "%" SCNx64 " %c %511s %127s", &address, &type, name, module);
		if (fields < 3 || !address || !strchr("tTwW", type))
			continue;
		if (!add(address, name, fields == 4 ? module : ""))
			break;
	}
	fclose(file);
	qsort(symbols, nr, sizeof(*symbols), by_address);
}

void kallsyms_free(void)
{
	while (nr)
		free(symbols[--nr].name);
	free(symbols);
	symbols = NULL;
	room = 0;
}

uint64_t kallsyms_address(const char *wanted)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	size_t len = strlen(wanted);
	uint64_t address = 0;
	char line[1024];

	if (!file)
		return 0;
	/* "ffffffff81000000 T _stext\n": 200,000 of them, so no more is looked at than it takes. */
	while (!address && fgets(line, sizeof(line), file)) {
		const char *name = strchr(line, ' ');

		if (name && name[1] && name[2] == ' ' && !strncmp(name + 3, wanted, len) &&
		    name[3 + len] == '\n')
			address = strtoull(line, NULL, 16);
	}
	fclose(file);
	return address;
}

bool kallsyms_look_up(uint64_t address, struct kallsyms_function *function)
{
	size_t low = 0, high = nr, middle;
	const char *module;

	while (low < high) {
		middle = (low + high) / 2;
		if (symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	function->name = symbols[low - 1].name;
	module = function->name + strlen(function->name) + 1;
	function->module = *module ? module : NULL;
	function->start = symbols[low - 1].address;
	return true;
}

const char *kallsyms_find(uint64_t address)
{
	struct kallsyms_function function;

	return kallsyms_look_up(address, &function) ? function.name : NULL;
}
