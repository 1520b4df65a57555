/* SPDX-License-Identifier: GPL-2.0 */
/* Tables as wide as there is room for: what matters least is left out first. */
#ifndef MONAD_STORAGE_TOP_TABLE_H
#define MONAD_STORAGE_TOP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TOP_CELL_LEN 64

struct top_column {
	const char *title;
	int width;         /* at least; negative: to the left */
	unsigned int rank; /* those with a higher one are left out first; 0 never is */
	/* Prints a cell of @row to @text. @arg: what top_table_row() was given. */
	void (*cell)(const void *arg, const void *row, char text[TOP_CELL_LEN]);
};

#define TOP_COLUMNS 16

struct top_table {
	const struct top_column *columns;
	size_t nr;
	bool shown[TOP_COLUMNS];
	int width[TOP_COLUMNS];
};

/*
 * Chooses what goes into @room characters, prints the titles. The first column is made wider for
 * what has @longest characters, so far as it can be.
 */
void top_table_begin(struct top_table *table, FILE *out, const struct top_column *columns,
		     size_t nr, unsigned int room, size_t longest);
void top_table_row(const struct top_table *table, FILE *out, const void *arg, const void *row);

#endif /* MONAD_STORAGE_TOP_TABLE_H */
