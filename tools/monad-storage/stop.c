// SPDX-License-Identifier: GPL-2.0
/* monad-storage stop: unpins, which detaches and frees everything. */
#include <argp.h>
#include <stdio.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "monad_storage.h"
#include "pins.h"

static const char doc[] =
	"Stop recording.\n\n"
	"Detaches all programs, also when a start did not get to its end. What was "
	"recorded stays in the ring and can be replayed until the module is unloaded. What was "
	"added up since the start (latency, errors, cgroups, export) is gone.";

static const struct argp_option options[] = { {} };

/* The programs that are attached now; they go when nothing holds them any more. */
struct programs {
	uint32_t id[32];
	unsigned int n;
};

static void note_program(const char *name, int link_fd, void *arg)
{
	struct programs *programs = arg;
	struct bpf_prog_info info;

	if (programs->n < ARRAY_SIZE(programs->id) && !pins_link_program(link_fd, &info))
		programs->id[programs->n++] = info.id;
}

#define POLL_US 10000

static void wait_for_programs(const struct programs *programs)
{
	for (int tries = 0; tries < 200; tries++) {
		unsigned int left = 0;

		for (unsigned int i = 0; i < programs->n; i++) {
			int fd = bpf_prog_get_fd_by_id(programs->id[i]);

			if (fd >= 0) {
				left++;
				close(fd);
			}
		}
		if (!left)
			return;
		usleep(POLL_US);
	}
}

/* How often the module is in use: by programs, and by readers. */
static long module_references(void)
{
	FILE *file = fopen("/sys/module/monad_ring/refcnt", "re");
	long n = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%ld", &n) != 1)
		n = 0;
	fclose(file);
	return n;
}

/*
 * The kernel gives up a program's hold on the module when it frees the program, a
 * grace period after its last user is gone. Whoever unloads the module next should
 * not have to guess: wait until nothing holds it, or those that stay are readers.
 */
static void wait_for_module(void)
{
	long last = module_references();
	int unchanged = 0;

	while (last > 0 && unchanged < 30) {
		long now;

		usleep(POLL_US);
		now = module_references();
		unchanged = now == last ? unchanged + 1 : 0;
		last = now;
	}
}

int cmd_stop(int argc, char **argv)
{
	static const struct argp argp = { options, NULL, NULL, doc, NULL, NULL, NULL };
	struct programs programs = {};
	int removed;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (geteuid()) {
		error("stopping takes root");
		return EXIT_FAILED;
	}
	if (pins_lock())
		return EXIT_FAILED;
	switch (pins_look()) {
	case PINS_NOT_OURS:
		return EXIT_FAILED;
	case PINS_NONE:
		puts("not recording");
		return EXIT_OK;
	case PINS_THERE:
		break;
	}
	pins_visit_links(note_program, &programs);
	removed = pins_remove();
	if (removed < 0)
		return EXIT_FAILED;
	wait_for_programs(&programs);
	wait_for_module();
	puts("stopped recording; what is in the ring can still be replayed");
	return EXIT_OK;
}
