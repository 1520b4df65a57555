/* SPDX-License-Identifier: GPL-2.0 */
/* What is not in a reader's output, per cause. */
#ifndef MONAD_STORAGE_LOSSES_H
#define MONAD_STORAGE_LOSSES_H

#include "json_writer.h"
#include "reader.h"

void losses_print(const struct reader *reader);
void losses_print_json(struct json_writer *json, const struct reader *reader);

#endif /* MONAD_STORAGE_LOSSES_H */
