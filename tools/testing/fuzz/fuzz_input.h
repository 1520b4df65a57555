/* SPDX-License-Identifier: GPL-2.0 */
/* Taking numbers from a fuzzer's input, zeroes when it is used up; and saying what broke. */
#ifndef MONAD_FUZZ_INPUT_H
#define MONAD_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct input {
	const uint8_t *data;
	size_t left;
};

static inline uint64_t take(struct input *input, unsigned int bytes)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < bytes && input->left; i++, input->left--)
		value |= (uint64_t)*input->data++ << (8 * i);
	return value;
}

/*
 * For what takes long: true for one input in @n, at random but always the same ones, so
 * that the fuzzer cannot settle on them.
 */
static inline bool one_in(unsigned int n, const uint8_t *data, size_t size)
{
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * 16777619U;
	return (hash >> 12) % n == 0;
}

/* What must hold for any input at all. */
#define MUST(cond)                                                              \
	do {                                                                    \
		if (!(cond)) {                                                  \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__,      \
				__LINE__, #cond);                               \
			abort();                                                \
		}                                                               \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif /* MONAD_FUZZ_INPUT_H */
