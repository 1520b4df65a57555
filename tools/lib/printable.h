/* SPDX-License-Identifier: GPL-2.0 */
/* Text from elsewhere, made safe for a terminal. */
#ifndef MONAD_TOOLS_PRINTABLE_H
#define MONAD_TOOLS_PRINTABLE_H

#include <stddef.h>

/*
 * Length of the UTF-8 sequence that @s begins with, at most @len bytes; 0 when it
 * begins with none.
 */
size_t utf8_len(const unsigned char *s, size_t len);

/*
 * Copies @text with a '?' for each control character, be it ASCII or one of
 * U+0080 to U+009F, and for each byte that is not UTF-8: names of processes,
 * disks and files can hold anything, escape sequences too. Cut to fit. Returns
 * @buf.
 */
const char *printable(char *buf, size_t buf_size, const char *text);

#endif /* MONAD_TOOLS_PRINTABLE_H */
