// SPDX-License-Identifier: GPL-2.0
/*
 * Has 'monad-storage export' read a ring of made-up events, all there are in it, by the function
 * that reads them there. How many instructions that is counts whoever runs this: export-cost.
 *
 *	export_events KIND N
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <monad_event/event_metadata.h>
#include <monad_event/event_recorder.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_ring_writer.h>

#include "export_ring.h"
#include "monad_storage.h"
#include "transform_events.h"

/* Both are read while they fit: none is overwritten. */
#define MOST 100000
#define RING "17:26"

static const struct transform_threshold threshold = { 0, 0, 10 * MS, 0 };

static void make(const char *kind, unsigned int i, struct raw_event *event)
{
	*event = quick_read();
	if (!strcmp(kind, "slow"))
		*event = slow_read(20 * MS + i);
	else if (!strcmp(kind, "kinds"))
		*event = failed_read(1 + i % 50);
	else if (strcmp(kind, "quick") != 0)
		bail_out("kinds are quick, slow and kinds");
}

static void fill(const char *path, const char *kind, unsigned int nr)
{
	const struct monad_event_ring_writer_options options = {
		.size = sizeof(options),
		.content_type = MONAD_EVENT_CONTENT_TYPE_STORAGE,
		.schema_hash = g_monad_storage_event_schema_hash,
	};
	struct monad_event_ring_writer *writer;
	struct monad_event_recorder recorder;
	struct raw_event event;
	char config[128];

	snprintf(config, sizeof(config), "%s:" RING, path);
	if (monad_event_ring_writer_open(config, &options, &writer) ||
	    monad_event_ring_init_recorder(monad_event_ring_writer_ring(writer), &recorder))
		bail_out("writing %s: %s", path, monad_event_ring_get_last_error());
	for (unsigned int i = 0; i < nr; i++) {
		make(kind, i, &event);
		if (monad_event_recorder_output(&recorder, event.type, &event.complete,
						sizeof(event.complete)))
			bail_out("recording");
	}
	monad_event_ring_writer_close(writer);
}

static void read_ring(const char *path, unsigned int nr)
{
	struct transform_config config = TRANSFORM_DEFAULT_CONFIG;
	struct export_ring export;
	struct transformer *t;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	config.thresholds = &threshold;
	config.nr_thresholds = 1;
	t = new_transformer(&config, NULL);
	export_ring_init(&export, 0);
	if (fd < 0 || monad_event_ring_open(&export.ring, path, 0) ||
	    monad_event_ring_init_iterator(&export.ring, &export.iter) ||
	    ring_follow_begin(&export.follow, &export.iter, fd))
		bail_out("reading %s: %s", path, monad_event_ring_get_last_error());
	close(fd);
	monad_event_iterator_set_seqno(&export.iter, monad_event_ring_oldest_seqno(&export.ring));
	export.open = true;
	export_ring_read(&export, t);
	if (transform_counters(t)->events != nr || transform_counters(t)->lost)
		bail_out("read %llu of %u", (unsigned long long)transform_counters(t)->events, nr);
	transform_batch_free(end_window(t));
	export_ring_close(&export);
	transformer_free(t);
}

int main(int argc, char **argv)
{
	unsigned int nr = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	char dir[] = "/tmp/monad-bench-XXXXXX", path[64];

	if (!nr || nr > MOST) {
		fprintf(stderr, "usage: export_events KIND N\n");
		return EXIT_USAGE;
	}
	if (!mkdtemp(dir))
		bail_out("mkdtemp");
	snprintf(path, sizeof(path), "%s/ring", dir);
	fill(path, argv[1], nr);
	read_ring(path, nr);
	unlink(path);
	rmdir(dir);
	return EXIT_OK;
}
