// SPDX-License-Identifier: GPL-2.0
/*
 * Inputs for the fuzz targets to begin with, so that they need not find out by chance
 * what a snapshot looks like:
 *
 *	seeds DIRECTORY		makes DIRECTORY/{ring,snapshot,config,transform,task}/...
 */
#include <errno.h>
#include <sys/stat.h>

#include "snapshot_frame.h"

static const char *top;

static void save(const char *target, const char *name, const void *data, size_t size)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/seed-%s", top, target, name);
	file = fopen(path, "we");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
		perror(path);
		exit(1);
	}
}

/* One of each operation of fuzz_ring.c, after a count of changes. */
static void make_ring_seeds(void)
{
	static const struct {
		const char *name;
		size_t size;
		const char *data;
	} seeds[] = {
		{"sound", 1, "\0"},
		{"last-seqno", 16, "\1\4\0\4\0\0\0"},
		{"huge-last", 11, "\1\0\100\xff\xff\xff\xff\xff\xff\xff\x7f"},
		{"capacity", 11, "\1\0\50\0\10\0\0\0\0\0\0"},
		{"payload", 11, "\1\0\60\0\0\100\0\0\0\0\0"},
		{"magic", 11, "\1\0\0RING02\0\0"},
		{"window", 11, "\1\0\200\x20\1\0\0\0\0\0\0"},
		{"gap", 12, "\1\2\5\0\0\xff\xff\0\0\0\0\0"},
		{"unwritten", 12, "\1\2\5\0\0\0\0\0\0\0\0\0"},
		{"event", 16, "\1\3\50\0\2\0\0\0\20\0\0\0\0\3\0\0"},
		{"large-event", 16, "\1\3\50\0\2\0\0\0\0\0\40\0\0\3\0\0"},
		{"exec", 4, "\1\5\2\0"},
		{"cut", 6, "\1\6\0\0\40\0"},
		{"ext", 8, "\1\1\10\0\xff\xff\xff\xff"},
		{"range", 4, "\0\5\3\7"},
	};

	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
		save("ring", seeds[i].name, seeds[i].data, seeds[i].size);
}

/* A frame after the byte that says it is one. */
static void save_frame(const char *name, const void *data, size_t size,
		       struct frame_options options)
{
	struct frame frame = frame_make(data, size, options), input = {0};

	frame_append(&input, "\0", 1);
	frame_append(&input, frame.data, frame.size);
	save("snapshot", name, input.data, input.size);
	frame_free(&frame);
	frame_free(&input);
}

static void make_snapshot_seeds(void)
{
	struct frame content = {0};
	struct image image;

	image_create(&image, 10, 21, 0);
	put_events_up_to(&image, 3);
	save_frame("ring", image.map, image.size, (struct frame_options){.level = 3});
	save_frame("checksum", image.map, image.size,
		   (struct frame_options){.level = 1, .checksum = true, .no_size = true});
	save_frame("short", image.map, image.size - 15, (struct frame_options){.level = 3});
	save_frame("header", image.map, 192, (struct frame_options){.level = 3});
	save_frame("text", "no ring", 7, (struct frame_options){.level = 3});
	save("snapshot", "skippable", "\0\x50\x2a\x4d\x18\1\0\0\0x", 10);
	frame_append(&content, "\1\0\0", 3);
	frame_append(&content, image.map, 256);
	save("snapshot", "content", content.data, content.size);
	content.data[1] = 32;
	save("snapshot", "content-fixed", content.data, content.size);
	content.data[1] = 32 | 12;
	content.data[2] = 15;
	save("snapshot", "content-short", content.data, content.size);
	frame_free(&content);
	image_destroy(&image);
}

static void make_config_seeds(void)
{
	static const char *const seeds[] = {
		"monad_ring", "monad_ring:18:25", "a:10:21", "a:32:40", "a:9:21", "a:10:41", "",
		":", "a::", "a:10", "a:10:21:1", "a/b", "-a", ".a", "a b:10:21", "a:+10:21\n",
		"a:4294967306:21", "abcdefghijklmnopqrstuvwxyzabcdefghij",
	};
	char name[16];

	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		snprintf(name, sizeof(name), "%zu", i);
		save("config", name, seeds[i], strlen(seeds[i]));
	}
}

/* A configuration, windows of sound events, all that is in flight, metrics; see its target. */
static void make_transform_seeds(void)
{
	static const uint8_t config[] = "\1\0\0\0\1\0\3\24\2\2\1\1\0\0\20\0\0\0\2\1";
	static const uint8_t event[] = "\6\0\0\6\1\0\0\1\0\0\0\0\4\5\1\2\3\7";
	static const uint8_t scan[] = "\1\2\0\0\1\0\0\0\1\2\3\4\0\0\0\0\2\1\1\3\3\4";
	static const uint8_t metrics[] = "\2\1\2\0\0\3\1\1\0\0\0\0\0\0\0\2\2\0\0\0\0\0\0\0";
	uint8_t seed[1024];
	size_t size = 0;

#define PUT(piece) memcpy(seed + size, piece, sizeof(piece) - 1), size += sizeof(piece) - 1
	PUT(config);
	for (int i = 0; i < 20; i++) {
		PUT(event);
		seed[size - 1] = (uint8_t)i;
	}
	save("transform", "events", seed, size);
	PUT(scan);
	PUT("\4\1\0");
	save("transform", "scan", seed, size);
	PUT(metrics);
	PUT("\4\2\0");
	PUT(metrics);
	PUT("\3\204\3");
	PUT(event);
	save("transform", "all", seed, size);
#undef PUT
}

/* A request and a response with something in each of their fields; see fuzz_task.c. */
static void make_task_seeds(void)
{
	uint8_t seed[256];

	for (size_t i = 0; i < sizeof(seed); i++)
		seed[i] = (uint8_t)(i * 7 + 1);
	seed[0] = 2;
	save("task", "request", seed, sizeof(seed));
	seed[0] = 3;
	save("task", "response", seed, sizeof(seed));
	save("task", "half", "\0\0\0\0\20\52\1", 7);
}

/* Messages as they are on a stream, and some that are in frames of the target's; see there. */
static void make_framing_seeds(void)
{
	/* A batch with a number, a time, and an event "x" of a payload with "read". */
	static const char batch[] = "\x1a\x14\x10\1\x18\2\x32\xe\x12\1x\x20\3"
				    "\x82\1\6\n\4read";
	char seed[128];

	save("framing", "register", "\0\0\0\0\7\n\5\x08\1\x12\1a", 12);
	seed[0] = 1;
	seed[1] = sizeof(batch) - 1;
	memcpy(seed + 2, batch, sizeof(batch) - 1);
	memcpy(seed + 1 + sizeof(batch), seed + 1, sizeof(batch));
	save("framing", "batches", seed, 1 + 2 * sizeof(batch));
}

static void make_http_seeds(void)
{
#define SAVE(name, text) save("http", name, text, sizeof(text) - 1)
	SAVE("get", "\0\5\0GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n");
	SAVE("post", "\0\5\0POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
	SAVE("chunks", "\0\5\0GET /metrics?x=%41 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
	     "3\r\nabc\r\n0\r\n\r\n");
	SAVE("old", "\0\0\0HEAD / HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\n\r\n");
	SAVE("port", "\00119150");
	SAVE("ipv6", "\1[::1]:19150");
	SAVE("ipv4", "\00110.1.2.3:80");
#undef SAVE
}

int main(int argc, char **argv)
{
	static const char *const targets[] = {"", "ring", "snapshot", "config", "transform",
					     "task", "framing", "http"};
	char path[PATH_MAX];

	if (argc != 2) {
		fprintf(stderr, "usage: seeds DIRECTORY\n");
		return 2;
	}
	top = argv[1];
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, targets[i]);
		if (mkdir(path, 0777) != 0 && errno != EEXIST) {
			perror(path);
			return 1;
		}
	}
	make_ring_seeds();
	make_snapshot_seeds();
	make_config_seeds();
	make_transform_seeds();
	make_task_seeds();
	make_framing_seeds();
	make_http_seeds();
	return 0;
}
