// SPDX-License-Identifier: GPL-2.0
/* monad-ring info: everything about one ring. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <monad_event/event_metadata.h>
#include <monad_event/event_snapshot.h>

#include "arguments.h"
#include "format.h"
#include "json_writer.h"
#include "monad-ring.h"
#include "printable.h"
#include "ring_contents.h"
#include "ring_handle.h"

static const char help[] =
	"Usage: monad-ring info [--json] RING\n"
	"\n"
	"Shows what RING is, what it holds, how far back it goes, and how many events\n"
	"were lost and why.\n"
	"\n"
	"Options:\n"
	"  -j, --json  print JSON\n"
	"  -h, --help  this\n"
	"\n"
	"EXAMPLES\n"
	"  monad-ring info monad_ring\n"
	"  monad-ring info --json /dev/monad_ring | jq .lost\n";

static const char *format_hash(char buf[65], const uint8_t *hash)
{
	for (int i = 0; i < 32; i++)
		snprintf(buf + 2 * (size_t)i, 3, "%02x", hash[i]);
	return buf;
}

/* Not every writer knows it. */
static bool has_boot_id(const struct monad_ring_ext *ext)
{
	static const uint8_t unknown[sizeof(ext->boot_id)];

	return memcmp(ext->boot_id, unknown, sizeof(unknown)) != 0;
}

static void plain_bytes(const char *label, uint64_t bytes)
{
	char size[FORMAT_SIZE_LEN];

	printf("%-19s %s\n", label, format_size(size, sizeof(size), bytes));
}

static void plain_event(const char *label, bool present, const struct monad_event_descriptor *event)
{
	char time[FORMAT_TIME_LEN];

	if (present)
		printf("%-19s %" PRIu64 ", recorded %s\n", label, event->seqno,
		       format_time(time, sizeof(time), event->record_epoch_nanos));
	else
		printf("%-19s none\n", label);
}

static void plain_ext(const struct ring_handle *handle, const struct monad_ring_ext *ext)
{
	char uuid[FORMAT_UUID_LEN];

	if (!ext) {
		puts("extension block:    none (written by a program of the plain format)");
		return;
	}
	printf("%-19s %s\n", "uuid:", format_uuid(uuid, sizeof(uuid), ext->uuid));
	if (has_boot_id(ext))
		printf("%-19s %s\n", "boot id:", format_uuid(uuid, sizeof(uuid), ext->boot_id));
	printf("%-19s %" PRIu64 "\n", "generation:", ext->generation);
	printf("%-19s %u\n", "abi version:", ext->abi_version);
	printf("%-19s %" PRId64 " ns\n", "realtime offset:", ext->realtime_offset_ns);
	if (ext->chunks_total)
		printf("%-19s %u of %u chunks of 2 MiB\n", "huge pages:", ext->chunks_huge,
		       ext->chunks_total);
}

static void plain_snapshot(const struct monad_event_snapshot_info *info)
{
	char time[FORMAT_TIME_LEN];

	if (!info)
		return;
	printf("%-19s %s\n", "snapshot taken:",
	       format_time(time, sizeof(time), info->taken_epoch_nanos));
	printf("%-19s events %" PRIu64 " to %" PRIu64 "; event 1 here was %" PRIu64 " there\n",
	       "of its ring:", info->first_seqno, info->last_seqno, info->base_seqno);
	printf("%-19s %" PRIu64 " copied, %" PRIu64 " missed (%" PRIu64
	       " for their payload), %" PRIu64 " not written yet\n",
	       "of these:", info->copied, info->missed, info->expired, info->not_ready);
}

static void plain_device(const struct monad_ring_info *info)
{
	printf("%-19s %u\n", "ring id:", info->ring_id);
	if (info->numa_node >= 0)
		printf("%-19s %d\n", "numa node:", info->numa_node);
	plain_bytes("largest event:", info->max_event_size);
	if (info->flags & MONAD_RING_F_KFUNCS)
		puts("kfuncs:             available to BPF programs");
	else
		puts("kfuncs:             not available: BPF programs cannot write to this ring. "
		     "The\n"
		     "                    kernel needs CONFIG_DEBUG_INFO_BTF_MODULES, and the "
		     "module\n"
		     "                    BTF that matches it (is pahole installed where it is "
		     "built?);\n"
		     "                    see dmesg");
}

static void plain_state(const struct ring_handle *handle)
{
	uint32_t state;

	if (!ring_handle_state(handle, &state))
		return;
	if (state == MONAD_RING_STATE_LIVE)
		printf("%-19s live\n", "state:");
	else if (state == MONAD_RING_STATE_GONE)
		printf("%-19s gone: no event will follow\n", "state:");
	else
		printf("%-19s %u, unknown\n", "state:", state);
}

static void plain_lost(const struct ring_handle *handle)
{
	const uint64_t *lost = ring_handle_lost(handle);

	if (!lost)
		return;
	printf("%-19s %" PRIu64 "\n", "events lost:", ring_handle_lost_total(handle));
	for (unsigned int i = 0; i < MONAD_RING_LOST_COUNT; i++)
		printf("  %-17s %" PRIu64 "\n", ring_lost_name(i),
		       __atomic_load_n(&lost[i], __ATOMIC_RELAXED));
	printf("%-19s %" PRIu64 "\n", "events discarded:", ring_handle_discarded(handle));
	printf("%-19s %" PRIu64 "\n", "readers woken:", ring_handle_wakeups(handle));
}

static void print_plain(const struct ring_handle *handle, const struct ring_contents *contents)
{
	const struct monad_event_ring *ring = &handle->ring;
	char buf[65], path[PATH_MAX];

	printf("%-19s %s (%s)\n", "ring:", printable(path, sizeof(path), handle->path),
	       handle->device ? "kernel ring" : ring_handle_kind(handle));
	printf("%-19s %u (%s)\n", "content type:", ring->header->content_type,
	       monad_event_content_type_name(ring->header->content_type));
	printf("%-19s %s%s\n", "schema hash:", format_hash(buf, ring->header->schema_hash),
	       ring_handle_schema_known(handle) ? "" : " (not the one of this program)");
	printf("%-19s %" PRIu64 "\n", "descriptors:", ring->desc_capacity_mask + 1);
	plain_bytes("payload buffer:", ring->payload_buf_mask + 1);
	plain_bytes("context area:", ring->header->size.context_area_size);
	printf("%-19s %" PRIu64 "\n", "last seqno:", contents->last_seqno);
	printf("%-19s %" PRIu64 "\n", "next payload byte:", contents->next_payload_byte);
	printf("%-19s %" PRIu64 "\n", "window start:", contents->window_start);
	plain_event("oldest event:", contents->has_oldest, &contents->oldest);
	plain_event("newest event:", contents->has_newest, &contents->newest);
	if (contents->has_oldest)
		printf("%-19s %s\n",
		       "goes back:", format_duration(buf, sizeof(buf), contents->age_ns));
	if (handle->device) {
		plain_device(&handle->info);
	} else {
		pid_t pid = ring_handle_writer_pid(handle);

		if (pid)
			printf("%-19s process %d\n", "writer:", (int)pid);
		else
			printf("%-19s none\n", "writer:");
	}
	plain_state(handle);
	plain_snapshot(monad_event_ring_snapshot_info(ring));
	plain_ext(handle, monad_event_ring_ext(ring));
	plain_lost(handle);
}

static void json_event(struct json_writer *json, const char *key, bool present,
		       const struct monad_event_descriptor *event)
{
	json_key(json, key);
	if (!present) {
		json_null(json);
		return;
	}
	json_begin_object(json);
	json_u64_field(json, "seqno", event->seqno);
	json_u64_field(json, "time_ns", event->record_epoch_nanos);
	json_end_object(json);
}

static void json_ext(struct json_writer *json, const struct ring_handle *handle)
{
	const struct monad_ring_ext *ext = monad_event_ring_ext(&handle->ring);
	const uint64_t *lost = ring_handle_lost(handle);
	char uuid[FORMAT_UUID_LEN];

	if (ext) {
		json_string_field(json, "uuid", format_uuid(uuid, sizeof(uuid), ext->uuid));
		if (has_boot_id(ext))
			json_string_field(json, "boot_id",
					  format_uuid(uuid, sizeof(uuid), ext->boot_id));
		json_u64_field(json, "generation", ext->generation);
		json_u64_field(json, "abi_version", ext->abi_version);
		json_s64_field(json, "realtime_offset_ns", ext->realtime_offset_ns);
		json_u64_field(json, "chunks_total", ext->chunks_total);
		json_u64_field(json, "chunks_huge", ext->chunks_huge);
		json_u64_field(json, "discarded", ring_handle_discarded(handle));
		json_u64_field(json, "wakeups", ring_handle_wakeups(handle));
	}
	if (lost) {
		json_key(json, "lost");
		json_begin_object(json);
		for (unsigned int i = 0; i < MONAD_RING_LOST_COUNT; i++)
			json_u64_field(json, ring_lost_name(i),
				       __atomic_load_n(&lost[i], __ATOMIC_RELAXED));
		json_end_object(json);
		json_u64_field(json, "lost_total", ring_handle_lost_total(handle));
	}
}

static void json_snapshot(struct json_writer *json, const struct monad_event_snapshot_info *info)
{
	if (!info)
		return;
	json_key(json, "snapshot");
	json_begin_object(json);
	json_u64_field(json, "taken_ns", info->taken_epoch_nanos);
	json_u64_field(json, "base_seqno", info->base_seqno);
	json_u64_field(json, "first_seqno", info->first_seqno);
	json_u64_field(json, "last_seqno", info->last_seqno);
	json_u64_field(json, "copied", info->copied);
	json_u64_field(json, "missed", info->missed);
	json_u64_field(json, "expired", info->expired);
	json_u64_field(json, "not_ready", info->not_ready);
	json_end_object(json);
}

static void print_json(const struct ring_handle *handle, const struct ring_contents *contents)
{
	const struct monad_event_ring *ring = &handle->ring;
	struct json_writer json;
	uint32_t state;

	json_init(&json, stdout, true);
	json_begin_object(&json);
	json_string_field(&json, "path", handle->path);
	json_string_field(&json, "kind", ring_handle_kind(handle));
	json_u64_field(&json, "content_type", ring->header->content_type);
	json_string_field(&json, "content_type_name",
			  monad_event_content_type_name(ring->header->content_type));
	json_hex_field(&json, "schema_hash", ring->header->schema_hash, 32);
	json_bool_field(&json, "schema_known", ring_handle_schema_known(handle));
	json_u64_field(&json, "descriptor_capacity", ring->desc_capacity_mask + 1);
	json_u64_field(&json, "payload_buf_size", ring->payload_buf_mask + 1);
	json_u64_field(&json, "context_area_size", ring->header->size.context_area_size);
	json_u64_field(&json, "last_seqno", contents->last_seqno);
	json_u64_field(&json, "next_payload_byte", contents->next_payload_byte);
	json_u64_field(&json, "buffer_window_start", contents->window_start);
	json_event(&json, "oldest", contents->has_oldest, &contents->oldest);
	json_event(&json, "newest", contents->has_newest, &contents->newest);
	if (contents->has_oldest)
		json_u64_field(&json, "age_ns", contents->age_ns);
	if (handle->device) {
		json_u64_field(&json, "ring_id", handle->info.ring_id);
		json_s64_field(&json, "numa_node", handle->info.numa_node);
		json_u64_field(&json, "max_event_size", handle->info.max_event_size);
		json_bool_field(&json, "kfuncs", handle->info.flags & MONAD_RING_F_KFUNCS);
	} else {
		pid_t pid = ring_handle_writer_pid(handle);

		json_key(&json, "writer_pid");
		if (pid)
			json_s64(&json, pid);
		else
			json_null(&json);
	}
	if (ring_handle_state(handle, &state))
		json_string_field(&json, "state", ring_state_name(state));
	json_snapshot(&json, monad_event_ring_snapshot_info(ring));
	json_ext(&json, handle);
	json_end_object(&json);
	json_end(&json);
}

int cmd_info(int argc, char **argv, bool json)
{
	struct ring_handle handle;
	struct ring_contents contents;
	int ret;

	if (!take_plain_options(argc, argv, help, &json, &ret))
		return ret;
	ret = open_only_ring(argc, argv, &handle);
	if (ret != EXIT_OK)
		return ret;
	ring_contents_get(&contents, &handle);
	if (json)
		print_json(&handle, &contents);
	else
		print_plain(&handle, &contents);
	ring_handle_close(&handle);
	return finish_output();
}
