/* SPDX-License-Identifier: GPL-2.0 */
/* The headers that users want in each request: a token, say. */
#ifndef MONAD_TELEMETRY_OTLP_HEADERS_H
#define MONAD_TELEMETRY_OTLP_HEADERS_H

#include <stddef.h>

struct curl_slist;

/*
 * The headers of struct otlp_options, files read, and those that all requests have, to be
 * given to curl_slist_free_all(). NULL with the reason in @why.
 */
struct curl_slist *otlp_headers(const char *const *headers, char *why, size_t why_size);

#endif /* MONAD_TELEMETRY_OTLP_HEADERS_H */
