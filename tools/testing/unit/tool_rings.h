/* SPDX-License-Identifier: GPL-2.0 */
/* Rings for the commands to be run on, and what they print. */
#ifndef MONAD_TOOL_RINGS_H
#define MONAD_TOOL_RINGS_H

#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <time.h>

#include <monad/event_ring.h>
#include <monad_event/event_metadata.h>
#include <monad_event/event_recorder.h>
#include <monad_event/event_ring_writer.h>

#include "ring_image.h"
#include "tool_run.h"

/* What of @output is wanted, and all of it when it is not there. */
static void has_text(const char *text)
{
	if (!ok(strstr(output, text), "says '%.*s'", (int)strcspn(text, "\n"), text))
		diag("%s", output);
}

static double number_after(const char *key)
{
	const char *at = strstr(output, key);

	return at ? atof(at + strlen(key)) : -1;
}

static void path_of(char *path, const char *name)
{
	snprintf(path, PATH_MAX, "%s/%s", dir, name);
}

/* A process that writes to a ring file, @per_second events of 100 bytes, until it is killed. */
static pid_t start_writer(const char *config, long per_second)
{
	const struct monad_event_ring_writer_options options = {
		.size = sizeof(options),
		.content_type = MONAD_EVENT_CONTENT_TYPE_TEST,
		.schema_hash = g_monad_test_event_schema_hash,
	};
	const struct timespec pause = {0, 10000000};
	struct monad_event_ring_writer *writer;
	struct monad_event_recorder recorder;
	static const uint8_t payload[100];
	char path[PATH_MAX];
	int ready[2];
	pid_t pid;
	char byte;

	path_of(path, config);
	if (pipe(ready) != 0)
		bail_out("pipe");
	pid = fork();
	if (pid == 0) {
		/* Not to be left behind when a test crashes. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (monad_event_ring_writer_open(path, &options, &writer) ||
		    monad_event_ring_init_recorder(monad_event_ring_writer_ring(writer),
						   &recorder))
			_exit(1);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;) {
			for (long i = 0; i < per_second / 100; i++)
				monad_event_recorder_output(&recorder, MONAD_TEST_EVENT_VLT,
							    payload, sizeof(payload));
			nanosleep(&pause, NULL);
		}
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		bail_out("no writer");
	close(ready[0]);
	return pid;
}

static void stop_writer(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Events 1 to 5 at times of 1 ns apart; and 3000 of them in 1024 slots. */
static void make_rings(void)
{
	struct monad_ring_ext ext = {.size = sizeof(ext), .abi_version = 1};
	struct image image;

	memcpy(ext.magic, "MONADEXT", 8);
	ext.uuid[0] = 1;
	ext.state = MONAD_RING_STATE_GONE;
	image_create(&image, 10, 21, 0);
	memcpy(image.map + MONAD_RING_EXT_OFFSET, &ext, sizeof(ext));
	memcpy(image.map + 8, g_monad_test_event_schema_hash, 32);
	put_events_up_to(&image, 5);
	image_save(&image, dir, "small");
	put_events_up_to(&image, 3000);
	image_save(&image, dir, "wrapped");
	image_destroy(&image);
}

#endif /* MONAD_TOOL_RINGS_H */
