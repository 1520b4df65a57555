// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "bar.h"

#define BAR_WIDTH 40

void print_bar(uint64_t count, uint64_t most)
{
	unsigned long length = most ? (count * BAR_WIDTH + most - 1) / most : 0;

	if (length)
		putchar(' ');
	for (unsigned long i = 0; i < length; i++)
		putchar('#');
	putchar('\n');
}
