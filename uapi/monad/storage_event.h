/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The events of content type MONAD_EVENT_CONTENT_TYPE_STORAGE: what the block
 * layer did, one event per thing that happened.
 *
 * A device is recorded on one layer only. Where requests exist (scsi, nvme,
 * virtio, null_blk, loop, ...) the events are the RQ_ ones; devices that handle
 * bios themselves (dm, md, zram, brd, pmem, nvme multipath heads, ...) have no
 * requests, and their events are the BIO_ ones. A stack of devices therefore
 * shows an I/O once per device it went through, and never twice on one device.
 *
 * One RQ_COMPLETE is one operation that somebody asked for. How that relates to
 * /proc/diskstats, flushes above all: Documentation/storage-accounting.rst.
 *
 * Above the block layer nothing is recorded, but for a while and on request
 * ("monad-storage task"): the VFS_ events and DIRTY_THROTTLE. They belong to the
 * task that asked for them and are no operations of a device.
 *
 * The schema hash of the ring is computed from these types. Any change of
 * layout, or of an enumeration, changes it.
 */
#ifndef _UAPI_MONAD_STORAGE_EVENT_H
#define _UAPI_MONAD_STORAGE_EVENT_H

#include "event_ring.h"

/* Event types; the payload each one has stands behind it. */
enum monad_storage_event_type {
	/* a bio was submitted to a bio-based device: struct monad_storage_step */
	MONAD_STORAGE_BIO_QUEUE = 2,
	/* all of it is done: struct monad_storage_complete */
	MONAD_STORAGE_BIO_COMPLETE = 3,
	/* a request was handed to the device: struct monad_storage_step */
	MONAD_STORAGE_RQ_ISSUE = 4,
	/* the driver gave it back, it will be issued later: monad_storage_step */
	MONAD_STORAGE_RQ_REQUEUE = 5,
	/* it was merged into another request and is gone: monad_storage_step */
	MONAD_STORAGE_RQ_MERGE = 6,
	/*
	 * A part of it is done, more is to come: struct monad_storage_step. With
	 * MONAD_STORAGE_F_FLUSH_SEQ the part is the data of a write that has
	 * flushes around it.
	 */
	MONAD_STORAGE_RQ_PARTIAL = 7,
	/* all of it is done: struct monad_storage_complete */
	MONAD_STORAGE_RQ_COMPLETE = 8,
	/*
	 * The device was told to flush its write cache and has done so. The
	 * kernel makes that request itself, one for all who wait for a flush at
	 * that time; it is nobody's operation: struct monad_storage_complete.
	 */
	MONAD_STORAGE_FLUSH_COMPLETE = 9,

	/* a stack that I/O came from, once for many of them: struct monad_storage_stack */
	MONAD_STORAGE_STACK = 10,

	/* a read or write of a file has returned: struct monad_storage_call */
	MONAD_STORAGE_VFS_IO = 11,
	/* a call that syncs a file has returned: struct monad_storage_call */
	MONAD_STORAGE_VFS_SYNC = 12,
	/*
	 * Somebody has dirtied more memory than the disks keep up with and is put
	 * to sleep: struct monad_storage_call
	 */
	MONAD_STORAGE_DIRTY_THROTTLE = 13,
};

/*
 * What was asked for. Not the kernel's numbers, which have changed between
 * versions.
 */
enum monad_storage_op {
	MONAD_STORAGE_OP_OTHER = 0, /* one that this list does not know */
	MONAD_STORAGE_OP_READ = 1,
	MONAD_STORAGE_OP_WRITE = 2,
	/*
	 * Flush the write cache, no data. In an RQ_COMPLETE: somebody asked for
	 * it (fsync) and has it. /proc/diskstats counts that as a write of 0
	 * sectors, and counts FLUSH_COMPLETE events as flushes.
	 */
	MONAD_STORAGE_OP_FLUSH = 3,
	MONAD_STORAGE_OP_DISCARD = 4,
	MONAD_STORAGE_OP_SECURE_ERASE = 5,
	MONAD_STORAGE_OP_WRITE_ZEROES = 6,
	MONAD_STORAGE_OP_ZONE_APPEND = 7,
	MONAD_STORAGE_OP_ZONE_OPEN = 8,
	MONAD_STORAGE_OP_ZONE_CLOSE = 9,
	MONAD_STORAGE_OP_ZONE_FINISH = 10,
	MONAD_STORAGE_OP_ZONE_RESET = 11,
	MONAD_STORAGE_OP_ZONE_RESET_ALL = 12,
	MONAD_STORAGE_OP_DRV_IN = 13,  /* passthrough, data from the device */
	MONAD_STORAGE_OP_DRV_OUT = 14, /* passthrough, data to the device or none */
	MONAD_STORAGE_OP_COUNT = 15,
};

/* Bits of the flags fields. */
enum monad_storage_flag {
	/* as the submitter asked for it (REQ_*) */
	MONAD_STORAGE_F_SYNC = 1 << 0,
	MONAD_STORAGE_F_META = 1 << 1,
	MONAD_STORAGE_F_PRIO = 1 << 2,
	MONAD_STORAGE_F_FUA = 1 << 3,
	MONAD_STORAGE_F_PREFLUSH = 1 << 4,
	MONAD_STORAGE_F_RAHEAD = 1 << 5,
	MONAD_STORAGE_F_BACKGROUND = 1 << 6,
	MONAD_STORAGE_F_NOWAIT = 1 << 7,
	MONAD_STORAGE_F_POLLED = 1 << 8,
	MONAD_STORAGE_F_SWAP = 1 << 9,
	/* a command of the driver or of user space: no sector */
	MONAD_STORAGE_F_PASSTHROUGH = 1 << 10,
	/* went through the kernel's flush sequence, or is a step of one */
	MONAD_STORAGE_F_FLUSH_SEQ = 1 << 11,
	/* its timeout expired at least once */
	MONAD_STORAGE_F_TIMED_OUT = 1 << 12,
	/* the kernel counts it in /proc/diskstats (queue/iostats, no passthrough) */
	MONAD_STORAGE_F_IO_STAT = 1 << 13,

	/* the actor is a kernel thread: writeback, a journal, a worker */
	MONAD_STORAGE_F_KTHREAD = 1 << 16,
	/*
	 * Who asked for it was not seen; the actor is merely who handed it to
	 * the device.
	 */
	MONAD_STORAGE_F_ACTOR_ISSUER = 1 << 17,
	/* no start was seen: begun before the recording, or lost */
	MONAD_STORAGE_F_ORPHAN = 1 << 18,
	/* an end had an earlier time than its beginning; that time is invalid */
	MONAD_STORAGE_F_CLOCK_BACKWARDS = 1 << 19,
	/*
	 * Its end was not seen, only that its address was used again: it has no times
	 * but queue_ns, its error is not known, its bytes are those it was issued with.
	 */
	MONAD_STORAGE_F_END_UNSEEN = 1 << 20,
	/* it took as long as what is to be recorded as slow, or longer */
	MONAD_STORAGE_F_SLOW = 1 << 21,
	/* nothing about it is notable: it stands for others that are not recorded */
	MONAD_STORAGE_F_SAMPLE = 1 << 22,

	/* which times of a struct monad_storage_complete are valid */
	MONAD_STORAGE_F_QUEUE_NS = 1 << 24,
	MONAD_STORAGE_F_DEVICE_NS = 1 << 25,
	MONAD_STORAGE_F_TOTAL_NS = 1 << 26,
};

/* What a struct monad_storage_call was. Not to be mixed with enum monad_storage_op. */
enum monad_storage_call_op {
	/* VFS_IO: read, pread, readv; write, pwrite, writev */
	MONAD_STORAGE_CALL_READ = 1,
	MONAD_STORAGE_CALL_WRITE = 2,
	/*
	 * VFS_SYNC, by what asked for it. Only what can be told for sure has a name;
	 * the rest (kernel threads as loop, nfsd, AIO; ...) is OTHER_SYNC.
	 */
	MONAD_STORAGE_CALL_FSYNC = 3,
	MONAD_STORAGE_CALL_FDATASYNC = 4,
	MONAD_STORAGE_CALL_SYNC_WRITE = 5,  /* the sync of a write with O_SYNC, RWF_SYNC */
	MONAD_STORAGE_CALL_DSYNC_WRITE = 6, /* ... with O_DSYNC, RWF_DSYNC */
	MONAD_STORAGE_CALL_MSYNC = 7,
	MONAD_STORAGE_CALL_IO_URING_SYNC = 8, /* fsync or fdatasync of all of the file */
	MONAD_STORAGE_CALL_OTHER_SYNC = 9,
	/* DIRTY_THROTTLE */
	MONAD_STORAGE_CALL_THROTTLE = 10,
	MONAD_STORAGE_CALL_COUNT = 11,
};

/* The sector of what has none: flushes, passthrough, some zone commands. */
#define MONAD_STORAGE_NO_SECTOR (~0ULL)

#define MONAD_STORAGE_COMM_LEN 16
#define MONAD_STORAGE_DISK_LEN 16
#define MONAD_STORAGE_FS_LEN 16
#define MONAD_STORAGE_FILE_LEN 64

/*
 * One step in the life of an I/O. The device and operation, the cgroup and the
 * start of the I/O are in the flow tags of the event (below).
 */
struct monad_storage_step {
	uint32_t dev_major; /* of the whole disk, as user space sees them ... */
	uint32_t dev_minor; /* ... 0:0 for a request without a disk */
	uint64_t sector;    /* 512 bytes each; MONAD_STORAGE_NO_SECTOR */
	uint64_t since_ns;  /* since it was first seen; 0 if that was not */
	uint32_t bytes;     /* of the whole; of the part in RQ_PARTIAL */
	uint32_t flags;     /* enum monad_storage_flag */
	uint32_t pid;       /* of the actor: the thread that asked for it ... */
	uint32_t tgid;      /* ... and its process, in the initial pid namespace */
	uint16_t op;        /* enum monad_storage_op */
	uint16_t error;     /* errno of a part that failed, or 0 */
	uint16_t issues;    /* so far, this one included */
	uint16_t cpu;       /* where this step happened */
	char comm[MONAD_STORAGE_COMM_LEN];
};

/*
 * The end of an I/O. It stands alone: everything to say about the I/O is here.
 *
 * queue_ns	from when it was first seen to when it was first issued. For a
 *		write in a flush sequence this holds the flush before it, for an
 *		OP_FLUSH the wait for the flush before.
 * device_ns	from when it was last issued to when the device was done with
 *		it. For an OP_FLUSH: of the flush that was done for it.
 * total_ns	from when it was first seen to its end. Larger than the sum of
 *		the two where it was requeued or where a flush followed it.
 *
 * A time without its MONAD_STORAGE_F_*_NS flag is not known, and 0.
 */
struct monad_storage_complete {
	uint32_t dev_major; /* of the whole disk, as user space sees them ... */
	uint32_t dev_minor; /* ... 0:0 for a request without a disk */
	uint64_t sector;    /* the first one, of 512 bytes; MONAD_STORAGE_NO_SECTOR */
	uint64_t bytes;     /* done, or failed: what the kernel accounts */
	uint64_t queue_ns;
	uint64_t device_ns;
	uint64_t total_ns;
	uint64_t cgroup_id; /* charged for the I/O: the bio's; without a bio, the actor's */
	uint64_t actor_cgroup_id; /* in cgroup v2; 0 if not known, as the others */
	uint32_t pid;   /* of the actor: the thread that asked for it ... */
	uint32_t tgid;  /* ... and its process, in the initial pid namespace */
	uint32_t flags; /* enum monad_storage_flag */
	uint16_t op;    /* enum monad_storage_op */
	uint16_t error; /* errno of the first failure, or 0 */
	uint16_t issues; /* times it was handed to the device */
	uint16_t requeues_issued;   /* given back by the device ... */
	uint16_t requeues_unissued; /* ... or before it got there */
	uint16_t partials;  /* completions of parts before this one */
	uint16_t issue_cpu; /* of the last issue */
	uint16_t cpu;       /* where it completed */
	uint32_t stack;     /* id of a struct monad_storage_stack, or 0 */
	char comm[MONAD_STORAGE_COMM_LEN]; /* of the actor, when first seen */
	char disk[MONAD_STORAGE_DISK_LEN]; /* its name, cut to 15 characters */
};

#define MONAD_STORAGE_STACK_DEPTH 32

/*
 * By which way an I/O was asked for: the return addresses of the functions it came
 * through, innermost first, up to the first 0. Written when the stack is new, and
 * again from time to time; the nearest one before an I/O with its number is its own.
 */
struct monad_storage_stack {
	uint32_t id;
	uint32_t tgid; /* whose user addresses these are; 0: there are none */
	uint64_t text; /* address of the kernel's _stext: another at each boot */
	uint64_t kernel[MONAD_STORAGE_STACK_DEPTH];
	uint64_t user[MONAD_STORAGE_STACK_DEPTH];
};

/*
 * A call above the block layer, seen by the task @task_id. Its latency is that of
 * the call. For DIRTY_THROTTLE it is the pause that the kernel decided on when the
 * event was recorded, bytes is what the thread has dirtied since its last one, and
 * inode, file system and file are not known.
 */
struct monad_storage_call {
	uint32_t dev_major; /* what the file system is on, a partition say; of ... */
	uint32_t dev_minor; /* ... a device file, that device; 0:0 if not known */
	uint64_t inode;
	uint64_t latency_ns;
	uint64_t bytes;     /* read, written or dirtied; 0 of what failed, and of a sync */
	uint64_t cgroup_id; /* of the caller, in cgroup v2 */
	uint32_t task_id;
	uint32_t flags; /* enum monad_storage_flag: KTHREAD */
	uint32_t pid;   /* of the thread that called ... */
	uint32_t tgid;  /* ... and its process, in the initial pid namespace */
	uint16_t op;    /* enum monad_storage_call_op */
	uint16_t error; /* errno, or 0 */
	uint16_t cpu;   /* where it ended */
	uint16_t reserved; /* 0 */
	char comm[MONAD_STORAGE_COMM_LEN];
	char fs[MONAD_STORAGE_FS_LEN];     /* type of the file system: "ext4" */
	/* its path below the root of its file system; "..." is where the beginning does not fit */
	char file[MONAD_STORAGE_FILE_LEN];
};

/*
 * Flow tags: what stands in content_ext of a descriptor, so that a reader can
 * choose events without touching their payload.
 */
#define MONAD_STORAGE_TAG_START 0   /* seqno of the event that started it, or 0; id of a stack */
#define MONAD_STORAGE_TAG_DEVICE 1  /* device, error bit and operation */
#define MONAD_STORAGE_TAG_CGROUP 2  /* cgroup_id */
#define MONAD_STORAGE_TAG_LATENCY 3 /* total_ns, since_ns, or latency_ns */
/* in place of START in events of tasks, which nothing started */
#define MONAD_STORAGE_TAG_TASK 0    /* task_id */

/*
 * MONAD_STORAGE_TAG_DEVICE holds, from the top: 12 bits major, 20 bits minor,
 * 15 bits zero, 1 bit "it failed", 16 bits operation.
 */
#define MONAD_STORAGE_TAG_DEVICE_SHIFT 32
#define MONAD_STORAGE_TAG_MAJOR_SHIFT 52
#define MONAD_STORAGE_TAG_MINOR_MASK 0xfffffULL
#define MONAD_STORAGE_TAG_FAILED (1ULL << 16)
#define MONAD_STORAGE_TAG_OP_MASK 0xffffULL

MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_step, dev_major, 0);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_step, dev_minor, 4);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_step, sector, 8);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_step, since_ns, 16);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_step, bytes, 24);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_step, flags, 28);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_step, pid, 32);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_step, tgid, 36);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_step, op, 40);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_step, error, 42);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_step, issues, 44);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_step, cpu, 46);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_step, comm, 48);
MONAD_EVENT_ASSERT_SIZE(struct monad_storage_step, 64);

MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, dev_major, 0);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, dev_minor, 4);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, sector, 8);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, bytes, 16);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, queue_ns, 24);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, device_ns, 32);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, total_ns, 40);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, cgroup_id, 48);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, actor_cgroup_id, 56);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, pid, 64);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, tgid, 68);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, flags, 72);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, op, 76);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, error, 78);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, issues, 80);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, requeues_issued, 82);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, requeues_unissued, 84);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, partials, 86);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, issue_cpu, 88);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, cpu, 90);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, stack, 92);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, comm, 96);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_complete, disk, 112);
MONAD_EVENT_ASSERT_SIZE(struct monad_storage_complete, 128);

MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_call, dev_major, 0);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_call, dev_minor, 4);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_call, inode, 8);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_call, latency_ns, 16);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_call, bytes, 24);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_call, cgroup_id, 32);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_call, task_id, 40);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_call, flags, 44);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_call, pid, 48);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_call, tgid, 52);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_call, op, 56);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_call, error, 58);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_call, cpu, 60);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_call, reserved, 62);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_call, comm, 64);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_call, fs, 80);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_call, file, 96);
MONAD_EVENT_ASSERT_SIZE(struct monad_storage_call, 160);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_stack, id, 0);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_stack, tgid, 4);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_stack, text, 8);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_stack, kernel, 16);
MONAD_EVENT_ASSERT_OFFSET(struct monad_storage_stack, user, 272);
MONAD_EVENT_ASSERT_SIZE(struct monad_storage_stack, 528);

#endif /* _UAPI_MONAD_STORAGE_EVENT_H */
