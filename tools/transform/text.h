/* SPDX-License-Identifier: GPL-2.0 */
/* Text for the fields of messages, which must be UTF-8: what comes from elsewhere need not be. */
#ifndef TRANSFORM_TEXT_H
#define TRANSFORM_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Each sets a field that is still empty, to what can be printed of @text, and is false
 * without memory. NULL and "" leave it as it is. The second one is for text that need not
 * end with a NUL, at most @size bytes.
 */
bool text_set(char **field, const char *text);
bool text_set_n(char **field, const char *text, size_t size);

/* Appends to what is at @buf; what does not fit is cut. */
void __attribute__((format(printf, 3, 4))) text_append(char *buf, size_t size, const char *format,
						       ...);

/*
 * Room for one more in an array of pointers that has @nr and was always made so, for each
 * of them: the array, or NULL without memory, and then it is as it was.
 */
void *array_grow(void *array, size_t nr);

#endif /* TRANSFORM_TEXT_H */
