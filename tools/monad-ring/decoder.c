// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <string.h>

#include <monad_event/event_metadata.h>
#include <monad_event/perf_event_ctypes.h>
#include <monad_event/test_event_ctypes.h>

#include "decoder.h"
#include "printable.h"

/* Bytes of any kind: the first few, to tell them apart; --hex has all. */
#define PREVIEW 32

static void print_bytes(FILE *out, const char *name, const uint8_t *bytes, size_t len)
{
	fprintf(out, " %s=", name);
	for (size_t i = 0; i < len && i < PREVIEW; i++)
		fprintf(out, "%02x", bytes[i]);
	if (len > PREVIEW)
		fputs("...", out);
}

/* RECORD_ERROR, the same in every content type; the head of the lost payload follows it. */

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

/* NULL when it has no name here. */
static const char *dropped_name(const struct monad_event_ring *ring, uint16_t type)
{
	const struct monad_event_metadata *metadata = monad_event_ring_lookup_metadata(ring, type);

	return metadata ? metadata->c_name : NULL;
}

/* How much of the payload there is, which is no more than what the event says, and has. */
static size_t head_len(const struct monad_event_record_error *error, size_t len)
{
	size_t rest = len - sizeof(*error);

	return error->truncated_payload_size < rest ? error->truncated_payload_size : rest;
}

static void record_error_print(FILE *out, const struct monad_event_ring *ring, const void *payload,
			       size_t len)
{
	struct monad_event_record_error error;
	const char *name;

	if (len < sizeof(error))
		return;
	memcpy(&error, payload, sizeof(error));
	name = dropped_name(ring, error.dropped_event_type);
	fprintf(out, " error=%s dropped_type=%u", error_type_name(error.error_type),
		error.dropped_event_type);
	if (name)
		fprintf(out, " dropped=%s", name);
	fprintf(out, " truncated=%u requested=%" PRIu64, error.truncated_payload_size,
		error.requested_payload_size);
	if (head_len(&error, len))
		print_bytes(out, "head", (const uint8_t *)payload + sizeof(error),
			    head_len(&error, len));
}

static void record_error_json(struct json_writer *json, const struct monad_event_ring *ring,
			      const void *payload, size_t len)
{
	struct monad_event_record_error error;

	if (len < sizeof(error))
		return;
	memcpy(&error, payload, sizeof(error));
	json_string_field(json, "error", error_type_name(error.error_type));
	json_u64_field(json, "error_type", error.error_type);
	json_u64_field(json, "dropped_type", error.dropped_event_type);
	json_string_field(json, "dropped_name", dropped_name(ring, error.dropped_event_type));
	json_u64_field(json, "truncated_payload_size", error.truncated_payload_size);
	json_u64_field(json, "requested_payload_size", error.requested_payload_size);
	json_hex_field(json, "truncated_head", (const uint8_t *)payload + sizeof(error),
		       head_len(&error, len));
}

/* TEST. */

static void counter_print(FILE *out, const struct monad_event_ring *ring,
			  const void *payload, size_t len)
{
	struct monad_test_event_counter counter;

	if (len < sizeof(counter))
		return;
	memcpy(&counter, payload, sizeof(counter));
	fprintf(out, " writer=%u counter=%" PRIu64, counter.writer_id, counter.counter);
}

static void counter_json(struct json_writer *json, const struct monad_event_ring *ring,
			 const void *payload, size_t len)
{
	struct monad_test_event_counter counter;

	if (len < sizeof(counter))
		return;
	memcpy(&counter, payload, sizeof(counter));
	json_u64_field(json, "writer_id", counter.writer_id);
	json_u64_field(json, "counter", counter.counter);
}

static void vlt_print(FILE *out, const struct monad_event_ring *ring, const void *payload,
		      size_t len)
{
	print_bytes(out, "bytes", payload, len);
}

static void vlt_json(struct json_writer *json, const struct monad_event_ring *ring,
		     const void *payload, size_t len)
{
	json_hex_field(json, "bytes", payload, len);
}

/* PERF. */

static const char *sample_mode(uint32_t flags)
{
	return flags & MONAD_PERF_SAMPLE_IDLE	  ? "idle"
	       : flags & MONAD_PERF_SAMPLE_KERNEL ? "kernel"
	       : flags & MONAD_PERF_SAMPLE_USER	  ? "user"
						  : "unknown";
}

static void sample_print(FILE *out, const struct monad_event_ring *ring, const void *payload,
			 size_t len)
{
	char comm[MONAD_PERF_COMM_LEN + 1] = {0}, buf[sizeof(comm)];
	struct monad_perf_sample sample;

	if (len < sizeof(sample))
		return;
	memcpy(&sample, payload, sizeof(sample));
	memcpy(comm, sample.comm, sizeof(sample.comm));
	fprintf(out, " cpu=%u task=%u/%u comm=%s ip=0x%" PRIx64 " mode=%s", sample.cpu,
		sample.pid, sample.tid, printable(buf, sizeof(buf), comm), sample.ip,
		sample_mode(sample.flags));
}

static void sample_json(struct json_writer *json, const struct monad_event_ring *ring,
			const void *payload, size_t len)
{
	char comm[MONAD_PERF_COMM_LEN + 1] = {0}, ip[24];
	struct monad_perf_sample sample;

	if (len < sizeof(sample))
		return;
	memcpy(&sample, payload, sizeof(sample));
	memcpy(comm, sample.comm, sizeof(sample.comm));
	/* A string: many readers of JSON have no numbers that large. */
	snprintf(ip, sizeof(ip), "0x%" PRIx64, sample.ip);
	json_u64_field(json, "cpu", sample.cpu);
	json_u64_field(json, "pid", sample.pid);
	json_u64_field(json, "tid", sample.tid);
	json_string_field(json, "comm", comm);
	json_string_field(json, "ip", ip);
	json_string_field(json, "mode", sample_mode(sample.flags));
	json_u64_field(json, "flags", sample.flags);
}

static const struct decoder record_error_decoder = {record_error_print, record_error_json};

static const struct decoder test_decoders[MONAD_TEST_EVENT_COUNT] = {
	[MONAD_TEST_EVENT_COUNTER] = {counter_print, counter_json},
	[MONAD_TEST_EVENT_VLT] = {vlt_print, vlt_json},
};

static const struct decoder perf_decoders[MONAD_PERF_EVENT_COUNT] = {
	[MONAD_PERF_SAMPLE] = {sample_print, sample_json},
};

/* Decoders of one content type, indexed by event type. */
static const struct {
	uint16_t content_type;
	uint16_t count;
	const struct decoder *decoders;
} content_types[] = {
	{MONAD_EVENT_CONTENT_TYPE_TEST, MONAD_TEST_EVENT_COUNT, test_decoders},
	{MONAD_EVENT_CONTENT_TYPE_PERF, MONAD_PERF_EVENT_COUNT, perf_decoders},
};

const struct decoder *decoder_lookup(const struct monad_event_ring *ring, uint16_t event_type)
{
	const uint16_t content_type = ring->header->content_type;

	if (event_type == MONAD_EVENT_RECORD_ERROR_EVENT_TYPE)
		return &record_error_decoder;
	if (!monad_event_ring_schema_known(ring))
		return NULL;
	for (size_t i = 0; i < sizeof(content_types) / sizeof(content_types[0]); i++) {
		if (content_types[i].content_type == content_type &&
		    event_type < content_types[i].count &&
		    content_types[i].decoders[event_type].print)
			return &content_types[i].decoders[event_type];
	}
	return NULL;
}
