/* SPDX-License-Identifier: GPL-2.0 */
/* OTLP's attributes: of plain values, and of any message by its descriptor. */
#ifndef MONAD_TELEMETRY_OTLP_ATTRIBUTES_H
#define MONAD_TELEMETRY_OTLP_ATTRIBUTES_H

#include "arena.h"
#include "otlp/otlp.pb-c.h"
#include "otlp_message.h"

struct attributes {
	struct arena *arena;
	Otlp__KeyValue **values;
	size_t nr, room;
};

void attributes_begin(struct attributes *attributes, struct arena *arena);

/* @key and @text stay the caller's. Text that is not UTF-8 has '?' where it is not. */
void attributes_text(struct attributes *attributes, const char *key, const char *text);
void attributes_int(struct attributes *attributes, const char *key, int64_t value);

/*
 * All that is set in @message, below @prefix; what refers to @dictionary, which may be NULL,
 * as what it stands for.
 */
void attributes_message(struct attributes *attributes, const char *prefix,
			const ProtobufCMessage *message,
			const struct otlp_reference *references,
			const Monad__Dictionary *dictionary);

/* Text as a value, in UTF-8. */
Otlp__AnyValue *attributes_text_value(struct arena *arena, const char *text);

/* @text, or a copy with '?' for what is not UTF-8: OTLP's receivers refuse that. */
char *attributes_utf8(struct arena *arena, const char *text);

#endif /* MONAD_TELEMETRY_OTLP_ATTRIBUTES_H */
