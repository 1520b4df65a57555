// SPDX-License-Identifier: GPL-2.0
/* Tables of monad-storage top: never wider than there is room for, as far as it goes. */
#include "tap.h"
#include "top_table.h"

static void name_cell(const void *arg, const void *row, char text[TOP_CELL_LEN])
{
	snprintf(text, TOP_CELL_LEN, "%s", (const char *)row);
}

static void number_cell(const void *arg, const void *row, char text[TOP_CELL_LEN])
{
	snprintf(text, TOP_CELL_LEN, "%s", (const char *)arg);
}

static void no_cell(const void *arg, const void *row, char text[TOP_CELL_LEN])
{
	text[0] = '\0';
}

static const struct top_column columns[] = {
	{ "NAME", -6, 0, name_cell },	{ "A", 4, 0, number_cell }, { "B", 4, 2, number_cell },
	{ "C", 4, 1, number_cell },	{ "", -5, 3, no_cell },
};

static const char *table(unsigned int room, size_t longest, const char *name, const char *number)
{
	static char text[1024];
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct top_table t;

	top_table_begin(&t, out, columns, sizeof(columns) / sizeof(columns[0]), room, longest);
	top_table_row(&t, out, number, name);
	fclose(out);
	return text;
}

int main(void)
{
	const char *long_name = "a-name-that-is-longer-than-its-column";

	eq_str(table(-1U, 0, "sda", "1"), "NAME      A    B    C\nsda       1    1    1\n",
	       "all of it, and no spaces at the end");
	eq_str(table(27, 0, "sda", "1"), "NAME      A    B    C\nsda       1    1    1\n",
	       "as wide as it is");
	eq_str(table(20, 0, "sda", "1"), "NAME      A    C\nsda       1    1\n",
	       "what matters less is left out");
	eq_str(table(16, 0, "sda", "1"), "NAME      A    C\nsda       1    1\n", "but no more");
	eq_str(table(15, 0, "sda", "1"), "NAME      A\nsda       1\n", "than has to be");
	eq_str(table(3, 0, "sda", "1"), "NAME      A\nsda       1\n", "and something stays");
	eq_str(table(27, 0, long_name, "1"), "NAME      A    B    C\na-name    1    1    1\n",
	       "a name is cut");
	eq_str(table(30, strlen(long_name), long_name, "1"),
	       "NAME         A    B    C\na-name-th    1    1    1\n", "less where there is room");
	eq_str(table(-1U, 7, "nvme0n1", "1"),
	       "NAME       A    B    C\nnvme0n1    1    1    1\n",
	       "and not at all where there is more");
	eq_str(table(27, 0, "sda", "123456"),
	       "NAME      A    B    C\nsda    123456 123456 123456\n", "a number never");
	return done_testing();
}
