// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "dictionary.h"
#include "storage_names.h"
#include "text.h"

#define DEPTH MONAD_STORAGE_STACK_DEPTH

static bool add_string(Monad__Dictionary *dictionary, char *text, uint32_t *id)
{
	Monad__String **strings = array_grow(dictionary->strings, dictionary->n_strings);
	Monad__String *string = strings ? malloc(sizeof(*string)) : NULL;

	if (strings)
		dictionary->strings = strings;
	if (!string) {
		free(text);
		return false;
	}
	monad__string__init(string);
	string->text = text;
	strings[dictionary->n_strings++] = string;
	*id = string->id = dictionary->n_strings;
	return true;
}

bool dictionary_string(Monad__Dictionary *dictionary, const char *text, uint32_t *id)
{
	char *copy = NULL;

	*id = 0;
	if (!text || !*text)
		return true;
	if (!text_set(&copy, text))
		return false;
	for (size_t i = 0; i < dictionary->n_strings; i++) {
		if (strcmp(dictionary->strings[i]->text, copy) != 0)
			continue;
		*id = dictionary->strings[i]->id;
		free(copy);
		return true;
	}
	return add_string(dictionary, copy, id);
}

/*
 * Stacks
 */

static bool same_frame(const Monad__Frame *a, const Monad__Frame *b)
{
	return a->address == b->address && a->user == b->user && a->symbol == b->symbol &&
	       a->module == b->module && a->offset == b->offset;
}

static bool same_stack(const Monad__Stack *a, const Monad__Stack *b)
{
	if (a->n_frames != b->n_frames)
		return false;
	for (size_t i = 0; i < a->n_frames; i++) {
		if (!same_frame(a->frames[i], b->frames[i]))
			return false;
	}
	return true;
}

static const char *symbol_of(const struct transform_sources *sources,
			     const struct monad_storage_stack *stack, uint64_t address, bool user,
			     const char **module, uint64_t *offset)
{
	*module = NULL;
	*offset = 0;
	if (!sources || !sources->symbol)
		return NULL;
	return sources->symbol(sources->arg, stack, address, user, module, offset);
}

struct kernel_frames {
	const struct transform_sources *sources;
	const struct monad_storage_stack *stack;
};

static const char *kernel_function(void *arg, unsigned int i)
{
	const struct kernel_frames *frames = arg;
	const char *module;
	uint64_t offset;

	return symbol_of(frames->sources, frames->stack, frames->stack->kernel[i], false, &module,
			 &offset);
}

static bool add_frame(Monad__Dictionary *dictionary, const struct transform_sources *sources,
		      const struct monad_storage_stack *from, uint64_t address, bool user,
		      Monad__Stack *stack)
{
	Monad__Frame **frames = array_grow(stack->frames, stack->n_frames);
	Monad__Frame *frame = frames ? malloc(sizeof(*frame)) : NULL;
	const char *symbol, *module;
	uint64_t offset;

	if (frames)
		stack->frames = frames;
	if (!frame)
		return false;
	monad__frame__init(frame);
	frames[stack->n_frames++] = frame;
	frame->address = address;
	frame->user = user;
	symbol = symbol_of(sources, from, address, user, &module, &offset);
	if (!dictionary_string(dictionary, symbol, &frame->symbol) ||
	    !dictionary_string(dictionary, module, &frame->module))
		return false;
	frame->offset = frame->symbol || frame->module ? offset : 0;
	return true;
}

static bool add_frames(Monad__Dictionary *dictionary, const struct transform_sources *sources,
		       const struct monad_storage_stack *from, Monad__Stack *stack)
{
	struct kernel_frames frames = { sources, from };
	unsigned int depth = 0;

	while (depth < DEPTH && from->kernel[depth])
		depth++;
	for (unsigned int i = tracing_frames(depth, kernel_function, &frames); i < depth; i++) {
		if (!add_frame(dictionary, sources, from, from->kernel[i], false, stack))
			return false;
	}
	for (unsigned int i = 0; i < DEPTH && from->user[i]; i++) {
		if (!add_frame(dictionary, sources, from, from->user[i], true, stack))
			return false;
	}
	return true;
}

/* Takes over @stack. */
static bool add_stack(Monad__Dictionary *dictionary, Monad__Stack *stack, uint32_t *id)
{
	Monad__Stack **stacks = array_grow(dictionary->stacks, dictionary->n_stacks);

	if (!stacks) {
		monad__stack__free_unpacked(stack, NULL);
		return false;
	}
	dictionary->stacks = stacks;
	stacks[dictionary->n_stacks++] = stack;
	*id = stack->id = dictionary->n_stacks;
	return true;
}

bool dictionary_stack(Monad__Dictionary *dictionary, const struct transform_sources *sources,
		      const struct monad_storage_stack *from, uint32_t *id)
{
	Monad__Stack *stack = malloc(sizeof(*stack));
	bool done;

	*id = 0;
	if (!stack)
		return false;
	monad__stack__init(stack);
	done = add_frames(dictionary, sources, from, stack);
	if (!done || !stack->n_frames) {
		monad__stack__free_unpacked(stack, NULL);
		return done;
	}
	for (size_t i = 0; i < dictionary->n_stacks; i++) {
		if (!same_stack(dictionary->stacks[i], stack))
			continue;
		*id = dictionary->stacks[i]->id;
		monad__stack__free_unpacked(stack, NULL);
		return true;
	}
	return add_stack(dictionary, stack, id);
}
