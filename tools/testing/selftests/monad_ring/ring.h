/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests share: the module, the devices, the mapping, sysfs, CPUs.
 * Functions return a negative errno unless they say otherwise.
 */
#ifndef SELFTEST_RING_H
#define SELFTEST_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "monad/event_ring.h"
#include "monad/ring_ioctl.h"

#define MIB (1UL << 20)
#define CHUNK (2 * MIB)

/*
 * A ring of 1024 descriptors and 2 MiB, the smallest there is, to be lapped in no time;
 * and a default ring that takes no time to make.
 */
#define SMALL_RINGS "monad_ring:14:23,small:10:21"
#define SMALL "small"
#define SMALL_ID 1
#define SMALL_CAPACITY 1024UL
#define SMALL_PAYLOAD (2 * MIB)

/* The module's file, open. */
int module_open(void);
/* Needs root. @params: as for insmod. */
int module_load_params(const char *params);
/* @rings is the value of the parameter of that name. */
int module_load(const char *rings);
/* Waits up to five seconds for BPF programs on their way out. */
int module_unload(void);
/* At once: -EBUSY (or -EWOULDBLOCK) when in use. */
int module_try_unload(void);
bool module_loaded(void);
/* References held, -1 when the module is not loaded. */
long module_refcnt(void);
/* The module loaded anew with these rings, so that all counters are zero. */
int module_fresh(const char *rings);
/* Whether that failed for want of a module file or of privilege: a reason to skip. */
bool module_missing(int err);
/* Waits up to five seconds until @refs references are left. The number there are then. */
long module_wait_refcnt(long refs);

struct ring {
	int fd;
	struct monad_ring_info info;
	const uint8_t *base; /* all of the device, then the payload once more */
	size_t mapped;
	const volatile struct monad_event_ring_header *header;
	const volatile struct monad_event_descriptor *descs;
	const uint8_t *payload;
	const volatile struct monad_ring_ext *ext;
};

/* @name: NULL for the default ring */
int ring_open_fd(const char *name);
int ring_open(struct ring *ring, const char *name);
void ring_close(struct ring *ring);
int ring_info(int fd, struct monad_ring_info *info);
/* Counter @why of the ring, as the device tells it now. */
uint64_t ring_lost(const struct ring *ring, enum monad_ring_lost why);
/* All causes but RING_GONE, which is not the ring's own. */
uint64_t ring_lost_all(const struct ring *ring);

/* Makes and destroys rings, by any ring's @fd. @id: filled in unless NULL. */
int ring_create(int fd, const char *name, unsigned int desc_shift, unsigned int payload_shift,
		uint32_t *id);
int ring_destroy(int fd, const char *name);
/* For one event. */
int ring_wait(int fd, uint64_t seqno, int64_t timeout_ns);

/*
 * What @act says, 0 to 254, in a process that has this capability only, or none for -1. -1: it
 * cannot be had.
 */
int act_as(int capability, int (*act)(void *arg), void *arg);

/* Entries of a directory that begin with monad_ring. */
unsigned int ring_entries(const char *directory);
/* Ranges of kernel addresses made by vmap, of which each ring takes one. */
unsigned int vmap_ranges(void);

/* Reads an attribute without its newline. @device: "monad_ring", "monad_ring-small" */
int sysfs_read(const char *device, const char *attribute, char *value, size_t size);

/* The sum of the numbers behind @name, at the start of a line, in a file of /proc. */
long proc_number(const char *path, const char *name);
long available_mib(void);
/* With what is on the CPUs' own lists, which is much and not called free. */
long free_mib(void);

/* The kernel log from now on: kmsg_open() and, later, what was logged since. */
int kmsg_open(void);
/* Whether a line logged since then has @text in it. Starts over for each call. */
bool kmsg_has(int fd, const char *text);

/* How many times longer than usual things take here, as the guest's init says: 1 or more. */
unsigned int slowness(void);
void pin_to_cpu(int cpu);
uint64_t now_ns(int clock);
bool kernel_at_least(unsigned int major, unsigned int minor);

struct bpf_program;

/*
 * Runs a syscall program on @ctx, which is read and written. What the program returned, or
 * a negative errno.
 */
int run_program(const struct bpf_program *program, void *ctx, size_t size);

/*
 * Mutes libbpf, which reports each program that is refused, unless KSFT_VERBOSE is set.
 */
void quiet_libbpf(void);

/* For the start of a fixture: a fresh module, or skip where there is none to be had. */
#define SETUP_MODULE(rings) do { \
	int err_ = module_fresh(rings); \
	if (module_missing(err_)) \
		SKIP(return, "the module cannot be loaded: %s", strerror(-err_)); \
	ASSERT_EQ(0, err_); \
} while (0)

#endif /* SELFTEST_RING_H */
