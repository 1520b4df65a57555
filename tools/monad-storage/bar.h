/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MONAD_STORAGE_BAR_H
#define MONAD_STORAGE_BAR_H

#include <stdint.h>

/* Ends a line with a bar as long as @count is of @most; what is there is never nothing. */
void print_bar(uint64_t count, uint64_t most);

#endif /* MONAD_STORAGE_BAR_H */
