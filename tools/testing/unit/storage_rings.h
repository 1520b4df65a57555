/* SPDX-License-Identifier: GPL-2.0 */
/* Ring files with storage events, and the monad-storage command that reads them. */
#ifndef MONAD_STORAGE_RINGS_H
#define MONAD_STORAGE_RINGS_H

#include <libgen.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include <monad/storage_event.h>
#include <monad_event/event_metadata.h>

#include "ring_image.h"
#include "tap.h"

#define EPOCH 1700000000000000000ULL
#define SECOND 1000000000ULL
#define HOUR (3600 * SECOND)

static char tool[PATH_MAX];
static char dir[] = "/tmp/monad-test-XXXXXX";
static char output[1 << 20];

__attribute__((unused)) static FILE *begin(const char *args)
{
	char command[2 * PATH_MAX];
	FILE *pipe;

	snprintf(command, sizeof(command), "cd %s; export TZ=UTC; T=%s; %s", dir, tool, args);
	pipe = popen(command, "re");
	if (!pipe)
		bail_out("popen");
	return pipe;
}

static int end(FILE *pipe)
{
	size_t len = fread(output, 1, sizeof(output) - 1, pipe);
	int status;

	output[len] = '\0';
	while (fgetc(pipe) != EOF)
		;
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Runs a shell command in which $T is the tool; its exit status, output in @output. */
static int run(const char *args)
{
	return end(begin(args));
}

__attribute__((unused)) static unsigned int count(const char *what)
{
	unsigned int n = 0;

	for (const char *p = output; (p = strstr(p, what)); p += strlen(what))
		n++;
	return n;
}

/* The end of a read that took a millisecond. */
static void put_read(struct image *image, uint64_t seqno, uint64_t time, const char *disk,
		     const char *comm)
{
	struct monad_storage_complete complete = {
		.dev_major = 8,
		.bytes = 4096,
		.total_ns = 1000000,
		.tgid = 7,
		.pid = 7,
		.flags = MONAD_STORAGE_F_TOTAL_NS,
		.op = MONAD_STORAGE_OP_READ,
		.issues = 1,
	};
	uint64_t payload = (seqno - 1) * sizeof(complete), slot = slot_offset(image, seqno);

	snprintf(complete.comm, sizeof(complete.comm), "%s", comm);
	snprintf(complete.disk, sizeof(complete.disk), "%s", disk);
	memcpy(image->map + image->payload_offset + payload % image->payload_size, &complete,
	       sizeof(complete));
	put_event(image, seqno, MONAD_STORAGE_RQ_COMPLETE, payload, sizeof(complete));
	put(image, slot + 16, time, 8);
	put(image, slot + 32 + 8 * MONAD_STORAGE_TAG_DEVICE,
	    8ULL << MONAD_STORAGE_TAG_MAJOR_SHIFT | MONAD_STORAGE_OP_READ, 8);
	put(image, slot + 32 + 8 * MONAD_STORAGE_TAG_LATENCY, 1000000, 8);
	if (seqno > get(image, 64, 8))
		put_last_seqno(image, seqno);
	put_next_byte(image, seqno * sizeof(complete));
}

static void create(struct image *image)
{
	image_create(image, 10, 21, 0);
	put(image, 6, MONAD_EVENT_CONTENT_TYPE_STORAGE, 2);
	memcpy(image->map + 8, g_monad_storage_event_schema_hash, 32);
}

/* Finds the command, and makes the directory in which it runs. */
static void find_tool(const char *argv0)
{
	char self[PATH_MAX];

	if (!argv0 || !realpath(argv0, self))
		skip_all("cannot find the build directory");
	snprintf(tool, sizeof(tool), "%.4000s/../bin/monad-storage", dirname(self));
	if (access(tool, X_OK) != 0)
		skip_all("%s is not built", tool);
	if (!mkdtemp(dir))
		bail_out("no directory in /tmp");
}

#endif /* MONAD_STORAGE_RINGS_H */
