// SPDX-License-Identifier: GPL-2.0
/* A task, from its beginning to its end: reads what its programs write, and sums it up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <monad_event/event_ring_util.h>

#include "bpf_programs.h"
#include "human.h"
#include "interrupt.h"
#include "monad_storage.h"
#include "pressure.h"
#include "reader.h"
#include "ring_follow.h"
#include "ring_lap.h"
#include "ring_walk.h"
#include "task_block.h"
#include "task_programs.h"
#include "task_run.h"

/* For how long it is looked how much is written to the ring. */
#define LAP_LOOK_NS (NSEC_PER_SEC / 20)
/* A task's reader may have to wait for a CPU that long. */
#define LEAST_LAP_NS (NSEC_PER_SEC / 5)
/* So often whether it is still welcome. */
#define LOOK_AGAIN_NS NSEC_PER_SEC

struct task {
	struct task_options options;
	struct task_results results;
	uint32_t id;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
	struct reader reader;
	struct ring_follow ring;
	struct ring_mark mark; /* of the ring, when it was looked how fast it is written */
	struct task_output *output;
	struct task_programs *programs; /* NULL: TASK_BLOCK */
	struct task_block block;
};

static bool take_call(struct task *task, const struct monad_event_descriptor *desc,
		      struct task_event *event)
{
	struct monad_storage_call *call = &event->call;

	if (!event_is_call(desc->event_type) || desc->payload_size < sizeof(*call) ||
	    desc->content_ext[MONAD_STORAGE_TAG_TASK] != task->id ||
	    !monad_event_iterator_payload_memcpy(&task->reader.iter, desc, call, sizeof(*call)))
		return false;
	event->is_call = true;
	event->desc = *desc;
	call->comm[MONAD_STORAGE_COMM_LEN - 1] = '\0';
	call->fs[MONAD_STORAGE_FS_LEN - 1] = '\0';
	call->file[MONAD_STORAGE_FILE_LEN - 1] = '\0';
	return true;
}

static void handle(struct task *task, const struct monad_event_descriptor *desc)
{
	struct task_event event;
	bool show;

	if (task->programs)
		show = take_call(task, desc, &event);
	else
		show = task_block_take(&task->block, &task->options, &task->results,
				       &task->reader, desc, &event);
	if (!show)
		return;
	task->results.shown++;
	task_note_slowest(&task->results, &event);
	task->output->event(task->output, &event);
}

static bool enough(const struct task *task)
{
	return task->results.shown >= task->options.max_events ||
	       (task->programs && task_programs_full(task->programs));
}

/* Why what is always on would have it end, or NULL. */
static const char *is_in_the_way(struct task *task, uint64_t now)
{
	if (!task->options.yields || now - task->mark.time_ns < LOOK_AGAIN_NS)
		return NULL;
	if (ring_lap_ns(&task->reader.ring, &task->mark, 0) < LEAST_LAP_NS)
		return "ring_lapped";
	ring_mark(&task->reader.ring, &task->mark);
	if (!pressure_refuses_tasks(PRESSURE_DIR))
		return NULL;
	pressure_count_refused(PRESSURE_DIR);
	return "back_pressure";
}

/* While there is no event. */
static void wait_for_events(struct task *task, uint64_t now)
{
	uint64_t wait = task->output->idle(task->output);

	if (task->options.yields && wait > LOOK_AGAIN_NS)
		wait = LOOK_AGAIN_NS;
	if (wait > task->deadline_ns - now)
		wait = task->deadline_ns - now;
	ring_follow_wait(&task->ring, wait);
}

/* Until there is a reason to end, which is what it returns. */
static const char *follow(struct task *task)
{
	struct monad_event_descriptor desc;
	uint64_t missed, now;
	const char *why;

	for (;;) {
		if (interrupted)
			return "interrupt";
		why = task->output->gone(task->output);
		if (why)
			return why;
		if (enough(task))
			return "max_events";
		now = clock_ns(CLOCK_MONOTONIC);
		why = is_in_the_way(task, now);
		if (why)
			return why;
		if (now >= task->deadline_ns)
			return "duration";
		switch (ring_follow_next(&task->ring, &desc, &missed)) {
		case RING_FOLLOW_EVENT:
			handle(task, &desc);
			break;
		case RING_FOLLOW_GAP:
			task->reader.missed += missed;
			break;
		case RING_FOLLOW_NONE:
			if (!task->programs && task_block_over(&task->block))
				return "recording";
			wait_for_events(task, now);
			break;
		}
	}
}

/* What was written to the ring until now. */
static void drain(struct task *task)
{
	struct monad_event_descriptor desc;
	struct ring_walk walk;
	uint64_t missed;

	ring_walk_begin(&walk, &task->reader.iter);
	for (;;) {
		switch (ring_walk_next(&walk, &desc, &missed)) {
		case RING_WALK_EVENT:
			handle(task, &desc);
			break;
		case RING_WALK_GAP:
			task->reader.missed += missed;
			break;
		case RING_WALK_END:
			return;
		}
	}
}

/* What is overwritten sooner than it can be read need not be written. */
static int check_whether_welcome(const struct task *task)
{
	char time[HUMAN_LEN];
	uint64_t lap;

	if (!task->options.yields)
		return 0;
	if (pressure_refuses_tasks(PRESSURE_DIR)) {
		pressure_count_refused(PRESSURE_DIR);
		error("an exporter of this machine cannot keep up with what it has to send, and "
		      "comes first: again when its receivers take what it has");
		return -1;
	}
	lap = ring_lap_ns(&task->reader.ring, &task->mark, LAP_LOOK_NS);
	if (lap >= LEAST_LAP_NS)
		return 0;
	error("the ring is overwritten every %s, sooner than a task can read it: a larger ring, or "
	      "--events=notable, for the recording, or a quieter time", human_duration(lap, time));
	return -1;
}

static int run(struct task *task)
{
	struct task_results *results = &task->results;
	uint64_t began_ns;

	if (check_whether_welcome(task))
		return EXIT_FAILED;
	catch_interrupts();
	monad_event_iterator_set_seqno(&task->reader.iter,
				       monad_event_ring_last_seqno(&task->reader.ring) + 1);
	results->began_ns = clock_ns(CLOCK_REALTIME);
	began_ns = clock_ns(CLOCK_MONOTONIC);
	task->deadline_ns = began_ns + task->options.duration_ns;
	if (task->programs)
		task_programs_begin(task->programs, task->deadline_ns);
	/* From here on it sees what happens, and says so. */
	task->output->begin(task->output, task->id);
	results->ended_by = follow(task);
	results->window_ns = clock_ns(CLOCK_MONOTONIC) - began_ns;
	if (task->programs && task_programs_end(task->programs, results))
		return EXIT_FAILED;
	drain(task);
	if (task->programs) {
		/* What was just being written is counted a moment after it is there. */
		if (results->counters.value[MONAD_TASK_RECORDED] > results->shown)
			results->missed = results->counters.value[MONAD_TASK_RECORDED] -
					  results->shown;
	} else {
		results->missed = task->reader.missed + task->reader.expired;
		task_block_end(&task->block, &task->options, results);
	}
	results->reason = task_reason(&task->options, results);
	task->output->end(task->output, results);
	return EXIT_OK;
}

/* The waiter wants the ring's descriptor. */
static int open_ring(struct task *task, const char *path)
{
	int err, fd, status;

	status = reader_open(&task->reader, path, NULL);
	if (status)
		return status;
	err = monad_event_ring_open_fd(path, &fd, NULL, 0);
	if (!err) {
		err = ring_follow_begin(&task->ring, &task->reader.iter, fd);
		close(fd);
	}
	if (!err) {
		ring_mark(&task->reader.ring, &task->mark);
		return EXIT_OK;
	}
	error("%s", lib_error());
	reader_close(&task->reader);
	return EXIT_FAILED;
}

static void close_ring(struct task *task)
{
	ring_follow_end(&task->ring);
	reader_close(&task->reader);
}

static int run_programs(struct task *task)
{
	const char *ring = task->options.ring ? task->options.ring : DEFAULT_RING;
	struct monad_ring_info info;
	char path[128];
	int status;

	if (bpf_prepare_ring(ring, path, sizeof(path), &info))
		return EXIT_FAILED;
	status = open_ring(task, path);
	if (status)
		return status;
	/* Not 0; JSON numbers are no larger. */
	while (!task->id) {
		if (getrandom(&task->id, sizeof(task->id), 0) != sizeof(task->id))
			continue;
	}
	task->programs = task_programs_new(&task->options, info.ring_id, task->id);
	status = task->programs ? run(task) : EXIT_FAILED;
	task_programs_free(task->programs);
	close_ring(task);
	return status;
}

static int run_block(struct task *task)
{
	int status;

	if (task_block_begin(&task->block, &task->options))
		return EXIT_FAILED;
	status = open_ring(task, task->block.ring);
	if (status)
		return status;
	status = run(task);
	close_ring(task);
	return status;
}

int task_run(const struct task_options *options, struct task_output *output)
{
	struct task *task = xcalloc(1, sizeof(*task));
	int status;

	task->options = *options;
	task->output = output;
	status = options->kind == TASK_BLOCK ? run_block(task) : run_programs(task);
	free(task->results.devices);
	free(task);
	return status;
}
