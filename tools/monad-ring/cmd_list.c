// SPDX-License-Identifier: GPL-2.0
/* monad-ring list: the kernel's rings, and ring files. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <monad_event/event_ring_util.h>

#include "arguments.h"
#include "format.h"
#include "json_writer.h"
#include "monad-ring.h"
#include "printable.h"
#include "ring_handle.h"

/* The kernel lists misc devices here whatever /dev looks like. */
#define MISC_CLASS "/sys/class/misc"

struct list {
	bool json;
	struct json_writer writer;
	unsigned int listed;
	bool failed;
};

static const char help[] =
	"Usage: monad-ring list [--json] [DIRECTORY]...\n"
	"\n"
	"Lists the kernel's rings, and ring files and snapshots in each DIRECTORY;\n"
	"without one, those in the default directory for ring files, if there is one.\n"
	"\n"
	"HUGE says how many of the ring's 2 MiB chunks are huge pages: fewer than all\n"
	"cost speed. LOST are events that could not be recorded; 'monad-ring info' says\n"
	"why. WRITER is the process that writes to a file; none: it has died; gone: it\n"
	"has closed the ring, and no event will follow.\n"
	"\n"
	"Options:\n"
	"  -j, --json  print JSON\n"
	"  -h, --help  this\n"
	"\n"
	"EXAMPLES\n"
	"  monad-ring list\n"
	"  monad-ring list --json | jq '.rings[] | select(.lost_total > 0)'\n"
	"  monad-ring list /var/tmp\n";

static void list_header(struct list *list)
{
	if (!list->json && list->listed == 0)
		printf("%-32s %-8s %-8s %12s %10s %14s %11s %8s  %s\n", "RING", "KIND", "CONTENT",
		       "DESCRIPTORS", "PAYLOAD", "LAST SEQNO", "HUGE", "LOST", "WRITER");
	list->listed++;
}

/* Chunks of memory and how many are huge; false when the ring does not say. */
static bool get_chunks(const struct ring_handle *handle, uint32_t *huge, uint32_t *total)
{
	const struct monad_ring_ext *ext = monad_event_ring_ext(&handle->ring);

	if (handle->device) {
		*huge = handle->info.chunks_huge;
		*total = handle->info.chunks_total;
		return true;
	}
	if (!ext || !ext->chunks_total)
		return false;
	*huge = ext->chunks_huge;
	*total = ext->chunks_total;
	return true;
}

/* Who writes to it. "none": its writer has died. */
static const char *writer(const struct ring_handle *handle, char *buf, size_t size)
{
	const pid_t pid = ring_handle_writer_pid(handle);
	uint32_t state;

	if (pid)
		snprintf(buf, size, "%d", (int)pid);
	else if (ring_handle_state(handle, &state) && state == MONAD_RING_STATE_GONE)
		snprintf(buf, size, "gone");
	else
		snprintf(buf, size, handle->device ? "kernel" : "none");
	return buf;
}

static void list_plain(const struct ring_handle *handle)
{
	char writer_text[16];
	char huge_text[32] = "-", lost[24] = "-", payload[FORMAT_SIZE_LEN], path[PATH_MAX];
	uint32_t huge, total;

	if (get_chunks(handle, &huge, &total))
		snprintf(huge_text, sizeof(huge_text), "%u/%u", huge, total);
	if (ring_handle_lost(handle))
		snprintf(lost, sizeof(lost), "%" PRIu64, ring_handle_lost_total(handle));
	printf("%-32s %-8s %-8s %12" PRIu64 " %10s %14" PRIu64 " %11s %8s  %s\n",
	       printable(path, sizeof(path), handle->path), ring_handle_kind(handle),
	       monad_event_content_type_name(handle->ring.header->content_type),
	       handle->ring.desc_capacity_mask + 1,
	       format_size(payload, sizeof(payload), handle->ring.payload_buf_mask + 1),
	       monad_event_ring_last_seqno(&handle->ring), huge_text, lost,
	       writer(handle, writer_text, sizeof(writer_text)));
}

static void list_json(struct json_writer *json, const struct ring_handle *handle)
{
	const struct monad_event_ring_header *header = handle->ring.header;
	const pid_t pid = ring_handle_writer_pid(handle);
	uint32_t huge, total, state;

	json_begin_object(json);
	json_string_field(json, "path", handle->path);
	json_string_field(json, "kind", ring_handle_kind(handle));
	json_u64_field(json, "content_type", header->content_type);
	json_string_field(json, "content_type_name",
			  monad_event_content_type_name(header->content_type));
	json_u64_field(json, "descriptor_capacity", handle->ring.desc_capacity_mask + 1);
	json_u64_field(json, "payload_buf_size", handle->ring.payload_buf_mask + 1);
	json_u64_field(json, "last_seqno", monad_event_ring_last_seqno(&handle->ring));
	if (get_chunks(handle, &huge, &total)) {
		json_u64_field(json, "chunks_huge", huge);
		json_u64_field(json, "chunks_total", total);
	}
	if (ring_handle_lost(handle))
		json_u64_field(json, "lost_total", ring_handle_lost_total(handle));
	if (ring_handle_state(handle, &state))
		json_string_field(json, "state", ring_state_name(state));
	if (!handle->device) {
		json_key(json, "writer_pid");
		if (pid)
			json_s64(json, pid);
		else
			json_null(json);
	}
	json_end_object(json);
}

static void list_error(struct list *list, const char *path)
{
	list->failed = true;
	if (list->json) {
		json_begin_object(&list->writer);
		json_string_field(&list->writer, "path", path);
		json_string_field(&list->writer, "error", lib_error());
		json_end_object(&list->writer);
	} else {
		complain_lib();
	}
}

/* One ring; @skip_others: what is no ring is no error. */
static void list_ring(struct list *list, const char *path, bool skip_others)
{
	struct ring_handle handle;
	int err;

	err = ring_handle_open(&handle, path);
	/* But a snapshot that is damaged is. */
	if (err == EPROTO && skip_others && !handle.snapshot)
		return;
	if (err) {
		list_error(list, path);
		return;
	}
	list_header(list);
	if (list->json)
		list_json(&list->writer, &handle);
	else
		list_plain(&handle);
	ring_handle_close(&handle);
}

static int is_ring_device(const struct dirent *entry)
{
	const size_t len = strlen(MONAD_RING_DEVICE_NAME);

	return strncmp(entry->d_name, MONAD_RING_DEVICE_NAME, len) == 0 &&
	       (entry->d_name[len] == '\0' || entry->d_name[len] == '-');
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Calls list_ring() for entries of @dir, in order of name; how many, or -1. */
static int list_entries(struct list *list, const char *dir,
			int (*filter)(const struct dirent *entry), const char *prefix,
			bool skip_others)
{
	struct dirent **entries;
	char path[PATH_MAX];
	struct stat st;
	int count;

	count = scandir(dir, &entries, filter, alphasort);
	for (int i = 0; i < count; i++) {
		int len = snprintf(path, sizeof(path), "%s/%s", prefix, entries[i]->d_name);

		/* Only what can be a ring: opening a device can have effects. */
		if (len > 0 && (size_t)len < sizeof(path) &&
		    (!skip_others || (stat(path, &st) == 0 && S_ISREG(st.st_mode))))
			list_ring(list, path, skip_others);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return count;
}

static void list_devices(struct list *list)
{
	if (list_entries(list, MISC_CLASS, is_ring_device, "/dev", false) <= 0 && !list->json)
		complain("there are no kernel rings, since the module is not loaded: modprobe "
			 "monad_ring");
}

static void list_directory(struct list *list, const char *dir)
{
	if (list_entries(list, dir, is_visible, dir, true) < 0) {
		complain("cannot list directory %s: %s", dir, strerror(errno));
		list->failed = true;
	}
}

int cmd_list(int argc, char **argv, bool json)
{
	struct list list = {.json = json};
	char dir[PATH_MAX];
	int ret;

	if (!take_plain_options(argc, argv, help, &list.json, &ret))
		return ret;
	if (list.json) {
		json_init(&list.writer, stdout, true);
		json_begin_object(&list.writer);
		json_key(&list.writer, "rings");
		json_begin_array(&list.writer);
	}
	list_devices(&list);
	if (optind == argc) {
		if (monad_event_find_ring_dir_fd(NULL, dir, sizeof(dir)) == 0)
			list_directory(&list, dir);
	}
	for (int i = optind; i < argc; i++)
		list_directory(&list, argv[i]);
	if (list.json) {
		json_end_array(&list.writer);
		json_end_object(&list.writer);
		json_end(&list.writer);
	}
	ret = finish_output();
	return list.failed ? EXIT_FAILED : ret;
}
