// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <monad_event/event_metadata.h>

#include "decoder.h"
#include "event_output.h"
#include "format.h"
#include "monad-ring.h"
#include "parse.h"

const char event_output_help[] =
	"  -t, --type TYPE          only events of this type, by name or number; may be\n"
	"                           given several times\n"
	"  -T, --tag TAG=VALUE      only events whose flow tag TAG, a name or a number\n"
	"                           from 0 to 3, is VALUE; all of them when given\n"
	"                           several times\n"
	"  -n, --count N            stop after N events\n"
	"  -x, --hex                print payloads in full, hexadecimal\n"
	"  -j, --json               one JSON object a line\n"
	"  -h, --help               this\n";

static const char *parse_tag(struct event_output *output, const char *text)
{
	const char *value = strchr(text, '=');

	if (output->tag_count == MAX_TAG_FILTERS)
		return "too many --tag";
	if (!value || value == text ||
	    !parse_u64(value + 1, &output->tags[output->tag_count].value))
		return "--tag wants TAG=VALUE, TAG a name or a number from 0 to 3, not";
	if (text[0] >= '0' && text[0] <= '9' && (text[0] > '3' || text[1] != '='))
		return "--tag wants a number from 0 to 3, or a name, not";
	output->tags[output->tag_count++].name = text;
	return NULL;
}

const char *event_output_option(struct event_output *output, int opt, const char *value)
{
	switch (opt) {
	case 'j':
		output->json = true;
		return NULL;
	case 'x':
		output->hex = true;
		return NULL;
	case 't':
		if (output->type_count == MAX_TYPE_FILTERS)
			return "too many --type";
		output->type_names[output->type_count++] = value;
		return NULL;
	case 'T':
		return parse_tag(output, value);
	case 'n':
		if (!parse_u64(value, &output->count) || output->count == 0)
			return "--count wants a number above 0, not";
		return NULL;
	default:
		return "unknown option";
	}
}

static bool find_type(const struct monad_event_ring *ring, const char *name, uint16_t *type)
{
	const struct monad_event_metadata *metadata;
	uint64_t number;

	if (parse_u64(name, &number)) {
		*type = (uint16_t)number;
		return number <= UINT16_MAX;
	}
	for (uint32_t i = 0; i <= UINT16_MAX; i++) {
		metadata = monad_event_ring_lookup_metadata(ring, (uint16_t)i);
		if (metadata && strcasecmp(metadata->c_name, name) == 0) {
			*type = (uint16_t)i;
			return true;
		}
	}
	return false;
}

static void complain_type(const struct monad_event_ring *ring, const char *name)
{
	const uint16_t content_type = ring->header->content_type;
	const struct monad_event_metadata *table = NULL;
	size_t count = 0;

	if (monad_event_ring_schema_known(ring))
		table = monad_event_metadata_table(content_type, &count);
	complain("rings of content type %s have no event type '%s'; %s",
		 monad_event_content_type_name(content_type), name,
		 table ? "they have:" : "give a number");
	for (size_t i = 0; table && i < count; i++) {
		if (table[i].c_name)
			fprintf(stderr, "  %-24s %s\n", table[i].c_name, table[i].description);
	}
}

static bool find_tag(const struct event_output *output, const char *text, unsigned int *index)
{
	const size_t len = strcspn(text, "=");

	if (text[0] >= '0' && text[0] <= '3') {
		*index = (unsigned int)(text[0] - '0');
		return true;
	}
	for (size_t i = 0; i < output->flow_tag_count; i++) {
		const char *name = output->flow_tags[i].c_name;

		if (strlen(name) == len && strncasecmp(name, text, len) == 0) {
			*index = output->flow_tags[i].index;
			return true;
		}
	}
	return false;
}

static void complain_tag(const struct event_output *output, const char *text)
{
	complain("rings of content type %s have no flow tag '%.*s'; %s",
		 monad_event_content_type_name(output->ring->header->content_type),
		 (int)strcspn(text, "="), text,
		 output->flow_tag_count ? "they have:" : "give a number from 0 to 3");
	for (size_t i = 0; i < output->flow_tag_count; i++)
		fprintf(stderr, "  %-24s %s\n", output->flow_tags[i].c_name,
			output->flow_tags[i].description);
}

bool event_output_start(struct event_output *output, const struct ring_handle *handle)
{
	const uint16_t content_type = handle->ring.header->content_type;

	output->ring = &handle->ring;
	output->flow_tags = NULL;
	output->flow_tag_count = 0;
	if (monad_event_ring_schema_known(&handle->ring))
		output->flow_tags = monad_event_flow_tags(content_type, &output->flow_tag_count);
	json_init(&output->writer, stdout, false);
	for (size_t i = 0; i < output->type_count; i++) {
		if (!find_type(output->ring, output->type_names[i], &output->types[i])) {
			complain_type(output->ring, output->type_names[i]);
			return false;
		}
	}
	for (size_t i = 0; i < output->tag_count; i++) {
		if (!find_tag(output, output->tags[i].name, &output->tags[i].index)) {
			complain_tag(output, output->tags[i].name);
			return false;
		}
	}
	if (!ring_handle_schema_known(handle))
		complain("%s was written by another version of %s events: types are numbers, and "
			 "payloads are not decoded",
			 handle->path, monad_event_content_type_name(content_type));
	return true;
}

static bool is_wanted(const struct event_output *output, const struct monad_event_descriptor *event)
{
	bool wanted = output->type_count == 0;

	for (size_t i = 0; i < output->type_count; i++)
		wanted |= event->event_type == output->types[i];
	for (size_t i = 0; i < output->tag_count; i++)
		wanted &= event->content_ext[output->tags[i].index] == output->tags[i].value;
	return wanted;
}

/* Whether somebody still reads what is printed. */
static bool can_go_on(const struct event_output *output)
{
	return !ferror(stdout) && (output->count == 0 || output->printed < output->count);
}

/*
 * A copy of the payload, if one is needed to print the event; NULL if not or if
 * it could not be had. @expired: it is not in the ring any more.
 */
static const uint8_t *get_payload(struct event_output *output, struct monad_event_iterator *iter,
				  const struct monad_event_descriptor *event, bool needed,
				  bool *expired)
{
	const size_t size = event->payload_size;

	*expired = false;
	if (size == 0)
		return (const uint8_t *)"";
	if (!needed) {
		*expired = !monad_event_iterator_payload_check(iter, event);
		return NULL;
	}
	if (size > output->payload_size && size <= iter->payload_buf_mask + 1) {
		uint8_t *larger = realloc(output->payload, size);

		if (!larger)
			return NULL;
		output->payload = larger;
		output->payload_size = size;
	}
	*expired = !monad_event_iterator_payload_memcpy(iter, event, output->payload, size);
	return *expired ? NULL : output->payload;
}

static void print_plain(const struct event_output *output,
			const struct monad_event_descriptor *event, const char *type_name,
			const struct decoder *decoder, const uint8_t *payload, bool expired)
{
	char time[FORMAT_TIME_LEN], number[16];

	if (!type_name) {
		snprintf(number, sizeof(number), "type-%u", event->event_type);
		type_name = number;
	}
	printf("%s %10" PRIu64 " %-16s %5u",
	       format_time(time, sizeof(time), event->record_epoch_nanos), event->seqno, type_name,
	       event->payload_size);
	for (unsigned int i = 0; i < 4; i++) {
		if (!event->content_ext[i])
			continue;
		if (i < output->flow_tag_count)
			printf(" %s=%" PRIu64, output->flow_tags[i].c_name, event->content_ext[i]);
		else
			printf(" tag%u=%" PRIu64, i, event->content_ext[i]);
	}
	if (expired)
		fputs(" (payload expired)", stdout);
	if (decoder && payload)
		decoder->print(stdout, output->ring, payload, event->payload_size);
	putchar('\n');
	if (output->hex && payload)
		print_hex(stdout, "    ", payload, event->payload_size);
}

static void print_json(struct event_output *output, const struct monad_event_descriptor *event,
		       const char *type_name, const struct decoder *decoder, const uint8_t *payload,
		       bool expired)
{
	struct json_writer *json = &output->writer;
	char time[FORMAT_TIME_LEN];

	json_begin_object(json);
	json_u64_field(json, "seqno", event->seqno);
	json_u64_field(json, "time_ns", event->record_epoch_nanos);
	json_string_field(json, "time",
			  format_time_rfc3339(time, sizeof(time), event->record_epoch_nanos));
	json_u64_field(json, "type", event->event_type);
	json_string_field(json, "name", type_name);
	json_u64_field(json, "size", event->payload_size);
	json_key(json, "tags");
	json_begin_array(json);
	for (int i = 0; i < 4; i++)
		json_u64(json, event->content_ext[i]);
	json_end_array(json);
	if (output->flow_tag_count) {
		json_key(json, "flow");
		json_begin_object(json);
		for (size_t i = 0; i < output->flow_tag_count; i++) {
			if (event->content_ext[i])
				json_u64_field(json, output->flow_tags[i].c_name,
					       event->content_ext[i]);
		}
		json_end_object(json);
	}
	if (expired)
		json_bool_field(json, "expired", true);
	if (decoder && payload) {
		json_key(json, "data");
		json_begin_object(json);
		decoder->json(json, output->ring, payload, event->payload_size);
		json_end_object(json);
	}
	if (output->hex && payload)
		json_hex_field(json, "payload", payload, event->payload_size);
	json_end_object(json);
	json_end(json);
}

bool event_output_event(struct event_output *output, struct monad_event_iterator *iter,
			const struct monad_event_descriptor *event)
{
	const struct monad_event_metadata *metadata;
	const struct decoder *decoder;
	const char *type_name;
	const uint8_t *payload;
	bool expired;

	/* Nothing happened, as far as the writer is concerned; unless asked for. */
	if (event->event_type == MONAD_EVENT_NONE_EVENT_TYPE) {
		output->discarded++;
		if (output->type_count == 0)
			return can_go_on(output);
	}
	if (!is_wanted(output, event)) {
		output->filtered += event->event_type != MONAD_EVENT_NONE_EVENT_TYPE;
		return can_go_on(output);
	}
	metadata = monad_event_ring_lookup_metadata(output->ring, event->event_type);
	type_name = metadata ? metadata->c_name : NULL;
	decoder = decoder_lookup(output->ring, event->event_type);
	payload = get_payload(output, iter, event, decoder || output->hex || output->raw, &expired);
	output->expired += expired;
	if (output->raw)
		fwrite(payload, 1, payload ? event->payload_size : 0, stdout);
	else if (output->json)
		print_json(output, event, type_name, decoder, payload, expired);
	else
		print_plain(output, event, type_name, decoder, payload, expired);
	output->printed++;
	return can_go_on(output);
}

bool event_output_gap(struct event_output *output, uint64_t missed)
{
	output->missed += missed;
	if (output->json) {
		json_begin_object(&output->writer);
		json_u64_field(&output->writer, "gap", missed);
		json_end_object(&output->writer);
		json_end(&output->writer);
	} else {
		fflush(stdout); /* where both go to one place, in the right order */
		fprintf(stderr, "gap: %" PRIu64 " events missed\n", missed);
	}
	return can_go_on(output);
}

bool event_output_note(struct event_output *output, const char *what, const char *text)
{
	if (output->json) {
		json_begin_object(&output->writer);
		json_string_field(&output->writer, "note", what);
		json_end_object(&output->writer);
		json_end(&output->writer);
	} else {
		fflush(stdout);
		fprintf(stderr, "%s: %s\n", what, text);
	}
	return can_go_on(output);
}

void event_output_finish(struct event_output *output)
{
	if (output->json && !ferror(stdout)) {
		struct json_writer *json = &output->writer;

		json_begin_object(json);
		json_key(json, "totals");
		json_begin_object(json);
		json_u64_field(json, "events", output->printed);
		json_u64_field(json, "missed", output->missed);
		json_u64_field(json, "payloads_expired", output->expired);
		json_u64_field(json, "discarded", output->discarded);
		json_u64_field(json, "filtered", output->filtered);
		json_end_object(json);
		json_end_object(json);
		json_end(json);
	} else if (!ferror(stdout)) {
		fflush(stdout);
		fprintf(stderr,
			"%" PRIu64 " events, %" PRIu64 " missed, %" PRIu64
			" payloads expired, %" PRIu64 " discarded by their writers, %" PRIu64
			" filtered out\n",
			output->printed, output->missed, output->expired, output->discarded,
			output->filtered);
	}
	free(output->payload);
	output->payload = NULL;
	output->payload_size = 0;
}
