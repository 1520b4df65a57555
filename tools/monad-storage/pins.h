/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What keeps a recording alive: links and maps pinned below one directory of the
 * BPF file system. Creating that directory is what decides between two starts.
 */
#ifndef MONAD_STORAGE_PINS_H
#define MONAD_STORAGE_PINS_H

#include <stdbool.h>

#include "storage_state.h"

#define PIN_ROOT "/sys/fs/bpf"
#define PIN_DIR PIN_ROOT "/monad_storage"

/* Links are pinned as link_NAME, maps as map_NAME. */
#define PIN_LINK_PREFIX "link_"
#define PIN_MAP_PREFIX "map_"
/* A program that tells whether a request has ended, see struct monad_storage_check. */
#define PIN_CHECK PIN_DIR "/check"
/* The map that is pinned last: a start that has got so far is complete. */
#define PIN_SESSION "session"

#define PIN_LOCK "/run/monad-storage.lock"

struct bpf_link_info;
struct bpf_prog_info;

enum pins_state {
	PINS_NONE,
	PINS_THERE,
	PINS_NOT_OURS, /* or nobody may look; there was a message */
};

enum pins_state pins_look(void);

/*
 * One start or stop at a time: waits for the others, and holds until the program
 * ends. 0, or -1 after a message.
 */
int pins_lock(void);

/* Unpins all there is; the number of pins removed, or -1 after a message. */
int pins_remove(void);

/* A pinned map with values of that size, or -errno; -EPROTO if they are not of that size. */
int pins_open_map(const char *name, size_t value_size);

/* Says why there is nothing to read, for the -errno of one of the functions below. */
void pins_complain(int err);

/* What is recorded, and for which ring; 0, or -errno when it is not (quite) started. */
int pins_read_session(struct monad_storage_session *session);

/*
 * When that was, CLOCK_REALTIME: by the clock as it is now, should it have been set by more than
 * a second since. The same each time, unless that were in the future.
 */
uint64_t pins_session_began(const struct monad_storage_session *session);

/* A disk that was asked for. */
struct recorded_disk {
	uint32_t dev;  /* major << 20 | minor */
	char name[32]; /* as disk_name() has it, when it was asked for */
	bool there;    /* it has that number: if not, nothing of it is recorded */
	bool elsewhere; /* a disk of that name has another number */
};

/* The disks that are recorded when not all are; at most @max, returns how many or -errno. */
int pins_disks(struct recorded_disk *disks, size_t max);

/* What the map of disks has for a disk that is there: see struct monad_storage_disk_name. */
void pins_note_name(uint32_t dev, struct monad_storage_disk_name *name);

/* False when only other disks are recorded; true when that is not known. */
bool pins_records(uint32_t dev);

/* The programs' counters, summed over all CPUs; 0 or -errno. */
int pins_read_counters(struct monad_storage_counters *sum);

/* What is in flight on one device. */
struct inflight_device {
	uint32_t dev;         /* major << 20 | minor */
	unsigned long issued; /* requests with the device */
	unsigned long queued; /* requests waiting */
	unsigned long waiting; /* bios that have no request yet */
	unsigned long bios;   /* if it takes bios */
	uint64_t oldest_ns;   /* when the oldest of them began, CLOCK_MONOTONIC; 0: not known */
};

/* Of each device that has any of @ops (1 << op; 0: all), in no order; free() it. 0 or -errno. */
int pins_inflight_by_device(uint32_t ops, struct inflight_device **devices, size_t *nr);

typedef void pins_link_fn(const char *name, int link_fd, void *arg);

/* Calls @each for every pinned link, by name; 0 or -errno. */
int pins_visit_links(pins_link_fn *each, void *arg);

/* What the kernel says of the program behind a link; 0 or -errno. */
int pins_link_program(int link_fd, struct bpf_prog_info *info);

extern const char *const counter_names[MONAD_STORAGE_COUNTERS];

#endif /* MONAD_STORAGE_PINS_H */
