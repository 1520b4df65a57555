// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <string.h>

#include <monad_event/test_event_ctypes.h>

#include "decoder.h"

/* RECORD_ERROR, the same in every content type. */

static const char *error_type_name(uint16_t type)
{
	switch (type) {
	case MONAD_EVENT_RECORD_ERROR_NONE:
		return "none";
	case MONAD_EVENT_RECORD_ERROR_OVERFLOW_4GB:
		return "overflow_4gb";
	case MONAD_EVENT_RECORD_ERROR_OVERFLOW_EXPIRE:
		return "overflow_expire";
	case MONAD_EVENT_RECORD_ERROR_MISSING_EVENT:
		return "missing_event";
	default:
		return "unknown";
	}
}

static void record_error_print(FILE *out, const struct monad_event_descriptor *event,
			       const void *payload, size_t len)
{
	struct monad_event_record_error error;

	if (len < sizeof(error))
		return;
	memcpy(&error, payload, sizeof(error));
	fprintf(out, " error=%s dropped_type=%u truncated=%u requested=%" PRIu64,
		error_type_name(error.error_type), error.dropped_event_type,
		error.truncated_payload_size, error.requested_payload_size);
}

static void record_error_json(struct json_writer *json, const struct monad_event_descriptor *event,
			      const void *payload, size_t len)
{
	struct monad_event_record_error error;

	if (len < sizeof(error))
		return;
	memcpy(&error, payload, sizeof(error));
	json_string_field(json, "error", error_type_name(error.error_type));
	json_u64_field(json, "dropped_type", error.dropped_event_type);
	json_u64_field(json, "truncated_payload_size", error.truncated_payload_size);
	json_u64_field(json, "requested_payload_size", error.requested_payload_size);
}

/* TEST. */

static void counter_print(FILE *out, const struct monad_event_descriptor *event,
			  const void *payload, size_t len)
{
	struct monad_test_event_counter counter;

	if (len < sizeof(counter))
		return;
	memcpy(&counter, payload, sizeof(counter));
	fprintf(out, " writer=%u counter=%" PRIu64, counter.writer_id, counter.counter);
}

static void counter_json(struct json_writer *json, const struct monad_event_descriptor *event,
			 const void *payload, size_t len)
{
	struct monad_test_event_counter counter;

	if (len < sizeof(counter))
		return;
	memcpy(&counter, payload, sizeof(counter));
	json_u64_field(json, "writer_id", counter.writer_id);
	json_u64_field(json, "counter", counter.counter);
}

/* Bytes of any kind: the first few, to tell them apart; --hex has all. */
#define VLT_PREVIEW 32

static void vlt_print(FILE *out, const struct monad_event_descriptor *event, const void *payload,
		      size_t len)
{
	const uint8_t *bytes = payload;

	fputs(" bytes=", out);
	for (size_t i = 0; i < len && i < VLT_PREVIEW; i++)
		fprintf(out, "%02x", bytes[i]);
	if (len > VLT_PREVIEW)
		fputs("...", out);
}

static void vlt_json(struct json_writer *json, const struct monad_event_descriptor *event,
		     const void *payload, size_t len)
{
	json_hex_field(json, "bytes", payload, len);
}

static const struct decoder record_error_decoder = {record_error_print, record_error_json};

static const struct decoder test_decoders[MONAD_TEST_EVENT_COUNT] = {
	[MONAD_TEST_EVENT_COUNTER] = {counter_print, counter_json},
	[MONAD_TEST_EVENT_VLT] = {vlt_print, vlt_json},
};

/* Decoders of one content type, indexed by event type. */
static const struct {
	uint16_t content_type;
	uint16_t count;
	const struct decoder *decoders;
} content_types[] = {
	{MONAD_EVENT_CONTENT_TYPE_TEST, MONAD_TEST_EVENT_COUNT, test_decoders},
};

const struct decoder *decoder_lookup(uint16_t content_type, uint16_t event_type)
{
	if (event_type == MONAD_EVENT_RECORD_ERROR_EVENT_TYPE)
		return &record_error_decoder;
	for (size_t i = 0; i < sizeof(content_types) / sizeof(content_types[0]); i++) {
		if (content_types[i].content_type == content_type &&
		    event_type < content_types[i].count &&
		    content_types[i].decoders[event_type].print)
			return &content_types[i].decoders[event_type];
	}
	return NULL;
}
