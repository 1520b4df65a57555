/* SPDX-License-Identifier: GPL-2.0 */
/* Memory for commands that have nothing better to do without it than to end. */
#ifndef MONAD_TOOLS_XALLOC_H
#define MONAD_TOOLS_XALLOC_H

#include <stddef.h>

/* malloc and friends that end the program with a message when there is no memory. */
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *old, size_t size);
char *xstrdup(const char *text);

#endif /* MONAD_TOOLS_XALLOC_H */
