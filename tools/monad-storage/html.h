/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MONAD_STORAGE_HTML_H
#define MONAD_STORAGE_HTML_H

#include <stdio.h>

/* Writes text that can hold anything, as the content of an element or attribute. */
void html_text(FILE *out, const char *text);

#endif /* MONAD_STORAGE_HTML_H */
