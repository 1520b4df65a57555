/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MONAD_TELEMETRY_GZIP_H
#define MONAD_TELEMETRY_GZIP_H

#include <stddef.h>
#include <stdint.h>

/* @data as gzip has it (RFC 1952), to be given to free(); NULL without memory. */
uint8_t *gzip_compress(const uint8_t *data, size_t size, size_t *compressed_size);

#endif /* MONAD_TELEMETRY_GZIP_H */
