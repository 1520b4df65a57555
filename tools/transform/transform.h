/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes telemetry of what was seen of storage, in nine steps: it tells metrics from
 * events (1), makes windows of counters (2), keeps labels few (3), names what are numbers
 * (4), says who it was (5) and who had to suffer (6), lets few stand for many and counts
 * the rest (7), says how bad it is (8), and puts all of a window into one batch (9).
 *
 * It sees no BPF, no ring and no exporter: who calls it brings what was seen. Not thread
 * safe. All memory it takes is bounded by its configuration.
 */
#ifndef MONAD_TRANSFORM_H
#define MONAD_TRANSFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <monad/storage_event.h>

#include "monad/telemetry.pb-c.h"

struct families; /* families.h */

/* An event as it was recorded. */
struct raw_event {
	uint64_t time_ns; /* CLOCK_REALTIME */
	uint64_t seqno;
	uint32_t type;    /* enum monad_storage_event_type: which one of the union it is */
	union {
		struct monad_storage_complete complete;
		struct monad_storage_step step;
		struct monad_storage_call call;
		struct monad_storage_stack stack;
	};
};

/* An I/O that is under way. */
struct raw_inflight {
	uint64_t start_ns; /* when it began, by whichever clock: another one has another */
	uint64_t age_ns;
	uint64_t sector;
	uint64_t bytes;
	uint64_t cgroup_id; /* charged for it */
	uint64_t actor_cgroup_id;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t pid;
	uint32_t tgid;
	uint32_t flags; /* enum monad_storage_flag */
	uint32_t stack; /* its number in the ring, or 0 */
	uint16_t op;
	uint16_t issues;
	uint16_t requeues_issued;
	uint16_t requeues_unissued;
	bool issued;
	char comm[MONAD_STORAGE_COMM_LEN];
};

/* How to find out what is not in the events. Each may be NULL; what they return is copied. */
struct transform_sources {
	const char *(*disk_name)(void *arg, uint32_t dev_major, uint32_t dev_minor);
	const char *(*partition)(void *arg, uint32_t dev_major, uint32_t dev_minor,
				 uint64_t sector);
	const char *(*cgroup_path)(void *arg, uint64_t id);
	uint64_t (*mount_namespace)(void *arg, uint32_t pid); /* 0: not known */
	/*
	 * The stack with that number, as of the event @seqno. Only asked for what did not
	 * come as an event before, as for tasks.
	 */
	const struct monad_storage_stack *(*stack)(void *arg, uint32_t id, uint64_t seqno);
	/*
	 * The symbol at an address, and its distance from there; NULL if not known. Then,
	 * if @module is, the distance is from where that begins.
	 */
	const char *(*symbol)(void *arg, const struct monad_storage_stack *stack,
			      uint64_t address, bool user, const char **module,
			      uint64_t *offset);
	void *arg;
};

struct transform_threshold {
	uint32_t dev_major; /* 0:0: all that have none of their own */
	uint32_t dev_minor;
	uint64_t slow_ns;
	uint64_t inflight; /* so many under way at once are a congestion */
};

struct transform_config {
	const struct transform_threshold *thresholds; /* copied */
	size_t nr_thresholds;
	uint64_t stuck_ns;         /* under way for so long, ended or not: stuck; 0: never */
	unsigned int per_kind;     /* events of the same kind in one window that are sent */
	unsigned int per_window;   /* all events in one window that are sent, 1 to 10000 */
	unsigned int victims;      /* at most so many in an event, 0 to 16 */
	unsigned int cgroups;      /* in each family, the others are one: "other" */
	unsigned int metrics_every; /* metrics are in one of so many windows; 0: in none */
	bool attribution;          /* who it was, from where, and who had to wait */
};

#define TRANSFORM_DEFAULT_CONFIG { \
	.stuck_ns = 30000000000, .per_kind = 5, .per_window = 200, .victims = 5, \
	.cgroups = 20, .metrics_every = 1, .attribution = true }

/*
 * At the end of each window, each event that was notable was sent, truncated or dropped:
 * notable is the sum of these three.
 */
struct transform_counters {
	uint64_t events;    /* taken in */
	uint64_t notable;   /* more than a number in a metric; also what was in flight may be */
	uint64_t sent;      /* in batches */
	uint64_t truncated; /* others of the same kind stand for them */
	uint64_t sampled;   /* of those: left out under pressure only */
	uint64_t dropped;   /* of low severity, left out under pressure */
	uint64_t lost;      /* as transform_lost() was told */
	uint64_t metrics_skipped; /* windows without metrics, under pressure */
	uint64_t tasks_refused;   /* as transform_tasks_refused() was told */
	uint64_t series_left_out; /* of metrics, beyond what there is room for */
	unsigned int level; /* of degradation, now: 0 to 4 */
};

struct transformer;

/*
 * 0, -ENOMEM, or -EINVAL for a configuration without sense. @sources, which may be NULL, is
 * copied.
 */
int transformer_new(struct transformer **transformer, const struct transform_config *config,
		    const struct transform_sources *sources);
void transformer_free(struct transformer *transformer);

/*
 * Of any type: stacks before what came from them. Calls that belong to a task are counted
 * only, they go to who asked for the task.
 */
void transform_event(struct transformer *transformer, const struct raw_event *event);

/*
 * All that is under way now, in place of what was said before. Who has to wait because of
 * an event is looked for when it comes, and in the last of these before the batch. What is
 * stuck is told of when that is seen, again after twice, four times, eight times as long, and
 * when it is over.
 */
void transform_inflight(struct transformer *transformer, const struct raw_inflight *ios,
			size_t nr);

/*
 * Nobody can say what is under way, or it is that of another recording: of what was, it is not
 * known what became of it.
 */
void transform_inflight_unknown(struct transformer *transformer);

/*
 * Everything that is counted, now; again within a window, in place of what was said before.
 * Left out in windows that are to have none, and under pressure: see below.
 */
void transform_metrics(struct transformer *transformer, const struct families *families,
		       uint64_t time_ns);

/* So many events were overwritten before they were read. */
void transform_lost(struct transformer *transformer, uint64_t events);

/*
 * How full what is behind us is, 0 to 1000. As it fills up
 *	1  metrics are sent less often, each counts for all of its window,
 *	2  fewer events of a kind are sent,
 *	3  tasks are refused,
 *	4  events of low severity are left out.
 * All of it is counted.
 */
void transform_pressure(struct transformer *transformer, unsigned int permille);

/* Is this the time for metrics? False in windows that have none, also because of the pressure. */
bool transform_wants_metrics(const struct transformer *transformer);

/* This window is the last one: it has metrics, unless no window has. */
void transform_last_window(struct transformer *transformer);

bool transform_refuses_tasks(const struct transformer *transformer);
/* So many were, all in all. */
void transform_tasks_refused(struct transformer *transformer, uint64_t tasks);

/* Adds what it has to say of itself: monad_storage_telemetry_*. */
void transform_families(const struct transformer *transformer, struct families *families);

/*
 * Ends the window: what is to be said of it, to be given back to transform_batch_free();
 * session, sequence and the losses of exporters, which they add to those of their own, are
 * not filled in. NULL if there is no memory: then it stays for the next one.
 */
Monad__TelemetryBatch *transform_batch(struct transformer *transformer, uint64_t now_ns);
void transform_batch_free(Monad__TelemetryBatch *batch);

const struct transform_counters *transform_counters(const struct transformer *transformer);

/*
 * For tasks, which have been asked for and keep what others trim: one event, with what the
 * sources know of it. Strings and stacks go to @dictionary, which may be NULL: then they are
 * left out; else it begins as monad__dictionary__init() makes it, and only this adds to it.
 * NULL if there is no memory; monad__event_wrapper__free_unpacked(event, NULL).
 */
Monad__EventWrapper *transform_task_event(const struct transform_sources *sources,
					  const struct raw_event *event, const char *task_id,
					  uint64_t slow_ns, Monad__Dictionary *dictionary);

/*
 * Why an event is notable: "error", "timeout", "retry", "flush", "fsync", "slow", "throttle",
 * "unseen"; NULL if it is not. @slow_ns 0: block events as what recorded them marked them.
 */
const char *transform_reason_class(const struct raw_event *event, uint64_t slow_ns);

#endif /* MONAD_TRANSFORM_H */
