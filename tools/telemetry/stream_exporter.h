/* SPDX-License-Identifier: GPL-2.0 */
/* Batches on a stream socket: the protocol of telemetry.proto. */
#ifndef MONAD_TELEMETRY_STREAM_EXPORTER_H
#define MONAD_TELEMETRY_STREAM_EXPORTER_H

#include "exporter.h"

struct stream_options {
	uint64_t timeout_ns; /* of all it takes to send one batch; 0: ten seconds */
};

/*
 * Connects to @address (stream_address.h) when there is something to send, and again when
 * the connection broke: with the session it had, so that a batch which got there, and whose
 * answer did not get here, is not sent again. NULL with the reason in @why if that is no
 * address.
 */
struct exporter *stream_exporter(const char *address, const struct export_sender *sender,
				 const struct stream_options *options, char *why, size_t why_size);

#endif /* MONAD_TELEMETRY_STREAM_EXPORTER_H */
