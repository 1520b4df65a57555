// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "storage_names.h"

/* So many of the innermost frames may be those of what recorded the stack. */
#define MOST_TRACING_FRAMES 8

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char *const op_names[MONAD_STORAGE_OP_COUNT] = {
	[MONAD_STORAGE_OP_OTHER] = "other",
	[MONAD_STORAGE_OP_READ] = "read",
	[MONAD_STORAGE_OP_WRITE] = "write",
	[MONAD_STORAGE_OP_FLUSH] = "flush",
	[MONAD_STORAGE_OP_DISCARD] = "discard",
	[MONAD_STORAGE_OP_SECURE_ERASE] = "secure_erase",
	[MONAD_STORAGE_OP_WRITE_ZEROES] = "write_zeroes",
	[MONAD_STORAGE_OP_ZONE_APPEND] = "zone_append",
	[MONAD_STORAGE_OP_ZONE_OPEN] = "zone_open",
	[MONAD_STORAGE_OP_ZONE_CLOSE] = "zone_close",
	[MONAD_STORAGE_OP_ZONE_FINISH] = "zone_finish",
	[MONAD_STORAGE_OP_ZONE_RESET] = "zone_reset",
	[MONAD_STORAGE_OP_ZONE_RESET_ALL] = "zone_reset_all",
	[MONAD_STORAGE_OP_DRV_IN] = "drv_in",
	[MONAD_STORAGE_OP_DRV_OUT] = "drv_out",
};

const char *op_name(unsigned int op)
{
	return op < MONAD_STORAGE_OP_COUNT ? op_names[op] : "other";
}

int op_by_name(const char *name)
{
	for (int op = 0; op < MONAD_STORAGE_OP_COUNT; op++) {
		if (!strcasecmp(name, op_names[op]))
			return op;
	}
	return -1;
}

const char *event_type_name(unsigned int type)
{
	static const char *const names[] = {
		[MONAD_STORAGE_BIO_QUEUE] = "bio_queue",
		[MONAD_STORAGE_BIO_COMPLETE] = "bio_complete",
		[MONAD_STORAGE_RQ_ISSUE] = "rq_issue",
		[MONAD_STORAGE_RQ_REQUEUE] = "rq_requeue",
		[MONAD_STORAGE_RQ_MERGE] = "rq_merge",
		[MONAD_STORAGE_RQ_PARTIAL] = "rq_partial",
		[MONAD_STORAGE_RQ_COMPLETE] = "rq_complete",
		[MONAD_STORAGE_FLUSH_COMPLETE] = "flush_complete",
		[MONAD_STORAGE_STACK] = "stack",
		[MONAD_STORAGE_VFS_IO] = "vfs_io",
		[MONAD_STORAGE_VFS_SYNC] = "vfs_sync",
		[MONAD_STORAGE_DIRTY_THROTTLE] = "dirty_throttle",
	};

	return type < ARRAY_SIZE(names) && names[type] ? names[type] : "unknown";
}

const char *flag_name(unsigned int bit)
{
	switch (1U << bit) {
	case MONAD_STORAGE_F_SYNC: return "sync";
	case MONAD_STORAGE_F_META: return "meta";
	case MONAD_STORAGE_F_PRIO: return "prio";
	case MONAD_STORAGE_F_FUA: return "fua";
	case MONAD_STORAGE_F_PREFLUSH: return "preflush";
	case MONAD_STORAGE_F_RAHEAD: return "rahead";
	case MONAD_STORAGE_F_BACKGROUND: return "background";
	case MONAD_STORAGE_F_NOWAIT: return "nowait";
	case MONAD_STORAGE_F_POLLED: return "polled";
	case MONAD_STORAGE_F_SWAP: return "swap";
	case MONAD_STORAGE_F_PASSTHROUGH: return "passthrough";
	case MONAD_STORAGE_F_FLUSH_SEQ: return "flush_seq";
	case MONAD_STORAGE_F_TIMED_OUT: return "timed_out";
	case MONAD_STORAGE_F_IO_STAT: return "io_stat";
	case MONAD_STORAGE_F_KTHREAD: return "kthread";
	case MONAD_STORAGE_F_ACTOR_ISSUER: return "actor_issuer";
	case MONAD_STORAGE_F_ORPHAN: return "orphan";
	case MONAD_STORAGE_F_CLOCK_BACKWARDS: return "clock_backwards";
	case MONAD_STORAGE_F_END_UNSEEN: return "end_unseen";
	case MONAD_STORAGE_F_SLOW: return "slow";
	case MONAD_STORAGE_F_SAMPLE: return "sample";
	}
	return NULL;
}

const char *call_name(unsigned int op)
{
	static const char *const call_names[MONAD_STORAGE_CALL_COUNT] = {
		[MONAD_STORAGE_CALL_READ] = "read",
		[MONAD_STORAGE_CALL_WRITE] = "write",
		[MONAD_STORAGE_CALL_FSYNC] = "fsync",
		[MONAD_STORAGE_CALL_FDATASYNC] = "fdatasync",
		[MONAD_STORAGE_CALL_SYNC_WRITE] = "sync_write",
		[MONAD_STORAGE_CALL_DSYNC_WRITE] = "dsync_write",
		[MONAD_STORAGE_CALL_MSYNC] = "msync",
		[MONAD_STORAGE_CALL_IO_URING_SYNC] = "io_uring_sync",
		[MONAD_STORAGE_CALL_OTHER_SYNC] = "other_sync",
		[MONAD_STORAGE_CALL_THROTTLE] = "throttle",
	};

	return op < MONAD_STORAGE_CALL_COUNT && call_names[op] ? call_names[op] : "unknown";
}

/* Is it one of the tracepoint's own, or of the program behind it? */
static bool is_tracing(const char *function)
{
	static const char *const own[] = { "bpf_prog_", "bpf_trace_run", "__bpf_trace_",
					   "__traceiter_", "bpf_trampoline_", "bpf_get_stack" };

	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		if (!strncmp(function, own[i], strlen(own[i])))
			return true;
	}
	return false;
}

unsigned int tracing_frames(unsigned int nr, const char *(*name)(void *arg, unsigned int i),
			    void *arg)
{
	unsigned int frames = 0;
	const char *function;

	for (unsigned int i = 0; i < nr && i < MOST_TRACING_FRAMES; i++) {
		function = name(arg, i);
		if (function && is_tracing(function))
			frames = i + 1;
	}
	return frames;
}

const char *errno_name(unsigned int err)
{
	static _Thread_local char unnamed[16];
	const char *name = err ? strerrorname_np((int)err) : "";

	if (name)
		return name;
	snprintf(unnamed, sizeof(unnamed), "E%u", err);
	return unnamed;
}
