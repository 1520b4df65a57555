// SPDX-License-Identifier: GPL-2.0
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "arena.h"

#define BLOCK 65536
#define ALIGN alignof(max_align_t)

struct arena_block {
	struct arena_block *next;
	size_t used, room;
	max_align_t memory[];
};

static struct arena_block *add_block(struct arena *arena, size_t size)
{
	size_t room = size > BLOCK ? size : BLOCK;
	struct arena_block *block = calloc(1, sizeof(*block) + room);

	if (!block) {
		arena->failed = true;
		return NULL;
	}
	block->room = room;
	block->next = arena->blocks;
	arena->blocks = block;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->blocks;
	void *memory;

	if (!size)
		return NULL;
	if (size > SIZE_MAX / 2) {
		arena->failed = true;
		return NULL;
	}
	size = (size + ALIGN - 1) / ALIGN * ALIGN;
	if (!block || block->room - block->used < size)
		block = add_block(arena, size);
	if (!block)
		return NULL;
	memory = (char *)block->memory + block->used;
	block->used += size;
	return memory;
}

void *arena_pointers(struct arena *arena, size_t nr)
{
	return arena_alloc(arena, nr * sizeof(void *));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	static char empty[1];
	va_list args;
	char *text;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = length < 0 ? NULL : arena_alloc(arena, (size_t)length + 1);
	if (!text)
		return empty;
	va_start(args, format);
	vsnprintf(text, (size_t)length + 1, format, args);
	va_end(args);
	return text;
}

void arena_free(struct arena *arena)
{
	while (arena->blocks) {
		struct arena_block *block = arena->blocks;

		arena->blocks = block->next;
		free(block);
	}
	arena->failed = false;
}
