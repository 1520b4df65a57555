/* SPDX-License-Identifier: GPL-2.0 */
/* Batches to a receiver of OTLP over HTTP: metrics, and events as logs. */
#ifndef MONAD_TELEMETRY_OTLP_EXPORTER_H
#define MONAD_TELEMETRY_OTLP_EXPORTER_H

#include "exporter.h"
#include "otlp_message.h"

/* All of it stays the caller's, for as long as there is the exporter. */
struct otlp_options {
	/*
	 * "NAME: VALUE", or "@FILE" with a line of that form for each; FILE is read for each
	 * batch, so that tokens may change. NULL at the end; NULL: none.
	 */
	const char *const *headers;
	const struct otlp_reference *references;
	uint64_t timeout_ns; /* of each request; 0: ten seconds */
	bool plain;          /* not compressed by gzip */
};

/*
 * @url: "http://HOST:4318", to which /v1/metrics and /v1/logs are added. NULL with the reason
 * in @why if something is wrong with it or with the headers.
 */
struct exporter *otlp_exporter(const char *url, const struct export_sender *sender,
			       const struct otlp_options *options, char *why, size_t why_size);

#endif /* MONAD_TELEMETRY_OTLP_EXPORTER_H */
