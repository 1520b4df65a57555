/* SPDX-License-Identifier: GPL-2.0 */
/* Prometheus' text format, version 0.0.4. */
#ifndef MONAD_STORAGE_PROMETHEUS_H
#define MONAD_STORAGE_PROMETHEUS_H

#include <stdio.h>

#include "families.h"

#define PROMETHEUS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Families without samples are left out. Errors are those of @out. */
void prometheus_write(FILE *out, const struct families *families);

#endif /* MONAD_STORAGE_PROMETHEUS_H */
