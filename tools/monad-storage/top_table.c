// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "top_table.h"

/* Of all that is shown, with a space between each. */
static unsigned int width_of(const struct top_table *table)
{
	unsigned int width = 0;

	for (size_t i = 0; i < table->nr; i++) {
		if (table->shown[i])
			width += abs(table->width[i]) + (width > 0);
	}
	return width;
}

/* False if there is none. */
static bool leave_one_out(struct top_table *table)
{
	size_t worst = table->nr;
	unsigned int rank = 0;

	for (size_t i = 0; i < table->nr; i++) {
		if (table->shown[i] && table->columns[i].rank > rank) {
			rank = table->columns[i].rank;
			worst = i;
		}
	}
	if (worst == table->nr)
		return false;
	table->shown[worst] = false;
	return true;
}

/* A line without spaces at its end. @text is of each column, as it is to stand there. */
static void print_line(const struct top_table *table, FILE *out,
		       char text[TOP_COLUMNS][TOP_CELL_LEN])
{
	unsigned int pending = 0;

	for (size_t i = 0; i < table->nr; i++) {
		int width = table->width[i], len = (int)strlen(text[i]);
		int pad = abs(width) > len ? abs(width) - len : 0;

		if (!table->shown[i])
			continue;
		if (width > 0)
			pending += pad;
		if (len)
			fprintf(out, "%*s%s", pending, "", text[i]);
		pending = (len ? 0 : pending) + 1;
		if (width < 0)
			pending += pad;
	}
	fputc('\n', out);
}

void top_table_begin(struct top_table *table, FILE *out, const struct top_column *columns,
		     size_t nr, unsigned int room, size_t longest)
{
	char text[TOP_COLUMNS][TOP_CELL_LEN];
	unsigned int width, spare;
	size_t wanted = abs(columns[0].width);

	table->columns = columns;
	table->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		table->shown[i] = true;
		table->width[i] = columns[i].width;
		snprintf(text[i], sizeof(text[i]), "%s", columns[i].title);
	}
	while (width_of(table) > room && leave_one_out(table))
		;
	width = width_of(table);
	spare = room > width ? room - width : 0;
	if (longest > TOP_CELL_LEN - 1)
		longest = TOP_CELL_LEN - 1;
	if (longest > wanted) {
		wanted = longest - wanted < spare ? longest : wanted + spare;
		table->width[0] = columns[0].width < 0 ? -(int)wanted : (int)wanted;
	}
	print_line(table, out, text);
}

void top_table_row(const struct top_table *table, FILE *out, const void *arg, const void *row)
{
	char text[TOP_COLUMNS][TOP_CELL_LEN];

	for (size_t i = 0; i < table->nr; i++) {
		table->columns[i].cell(arg, row, text[i]);
		/* Names are cut; numbers that are too long are shown, if not in their place. */
		if (table->width[i] < 0)
			text[i][-table->width[i]] = '\0';
	}
	print_line(table, out, text);
}
