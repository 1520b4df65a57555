/* SPDX-License-Identifier: GPL-2.0 */
/* Ring files that a test makes through the library, in a directory of its own. */
#ifndef MONAD_RING_FILES_H
#define MONAD_RING_FILES_H

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include <monad_event/event_metadata.h>
#include <monad_event/event_recorder.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_ring_writer.h>

#include "tap.h"

static char dir[64] = "/tmp/monad-test-XXXXXX";

/* Of content type TEST, in @dir where a name has no '/'. */
static struct monad_event_ring_writer_options options;

static void ring_files_begin(void)
{
	if (!mkdtemp(dir))
		bail_out("no directory in /tmp");
	options.size = sizeof(options);
	options.content_type = MONAD_EVENT_CONTENT_TYPE_TEST;
	options.schema_hash = g_monad_test_event_schema_hash;
	options.default_dir = dir;
}

/* What main() returns. */
static int ring_files_end(void)
{
	eq_int(rmdir(dir), 0, "nothing is left in the directory");
	return done_testing();
}

static const char *message(void)
{
	return monad_event_ring_get_last_error();
}

/* How many files are in directory @path. */
static int entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

__attribute__((unused)) static struct monad_event_ring_writer *make(const char *config)
{
	struct monad_event_ring_writer *writer;

	if (monad_event_ring_writer_open(config, &options, &writer))
		bail_out("%s", message());
	return writer;
}

__attribute__((unused)) static const struct monad_ring_ext *
ext_of(const struct monad_event_ring_writer *writer)
{
	return monad_event_ring_ext(monad_event_ring_writer_ring(writer));
}

__attribute__((unused)) static void record_some(const struct monad_event_ring_writer *writer,
						int events)
{
	struct monad_event_recorder recorder;

	if (monad_event_ring_init_recorder(monad_event_ring_writer_ring(writer), &recorder))
		bail_out("%s", message());
	while (events--)
		monad_event_recorder_output(&recorder, MONAD_TEST_EVENT_VLT, &events,
					    sizeof(events));
}

#endif /* MONAD_RING_FILES_H */
