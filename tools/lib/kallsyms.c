// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kallsyms.h"

struct symbol {
	uint64_t address;
	char *name;
};

static struct symbol *symbols;
static size_t nr, room;

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static bool add(uint64_t address, const char *name)
{
	struct symbol *more;

	if (nr == room) {
		room = room ? 2 * room : 65536;
		more = realloc(symbols, room * sizeof(*symbols));
		if (!more)
			return false;
		symbols = more;
	}
	symbols[nr].address = address;
	symbols[nr].name = strdup(name);
	return symbols[nr].name && ++nr;
}

void kallsyms_load(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[1024], name[512], type;
	uint64_t address;

	if (!file)
		return;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%" SCNx64 " %c %511s", &address, &type, name) == 3 && address &&
		    (type == 't' || type == 'T' || type == 'w' || type == 'W') &&
		    !add(address, name))
			break;
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

const char *kallsyms_find(uint64_t address)
{
	size_t low = 0, high = nr, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? symbols[low - 1].name : NULL;
}
