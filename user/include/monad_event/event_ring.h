/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Event rings: making ring files, mapping rings, and random access to what is
 * in them. To read a ring in order use event_iterator.h.
 *
 * A ring is a file (on hugetlbfs or any other file system) or a device of the
 * monad_ring kernel module; both are mapped by the same call and read by the
 * same code. Reading makes no system call, writes nothing to the ring, and
 * cannot slow a writer down other than by sharing cache lines.
 *
 * Functions that return int return 0 or a positive errno; what went wrong and
 * what to do about it is then in monad_event_ring_get_last_error().
 *
 * Thread safety: a mapped struct monad_event_ring may be read by any number of
 * threads at once; monad_event_ring_mmap() and _unmap() must not run at the same
 * time as anything else on the same object. Different objects are independent.
 *
 * Trust: sizes are checked against the file or device when it is mapped, and
 * never read from shared memory again, so no content of a ring can make this
 * library touch memory outside of the mapping. A *file* that somebody truncates
 * while it is mapped ends its readers with SIGBUS, as any mapped file does.
 */
#ifndef MONAD_EVENT_EVENT_RING_H
#define MONAD_EVENT_EVENT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include <monad/event_ring.h>

#ifdef __cplusplus
extern "C" {
#endif

struct monad_event_iterator;
struct monad_event_recorder;

/*
 * A ring mapped into this process. The fields are public for reading. They are
 * all zero when nothing is mapped: start from a zeroed object.
 */
struct monad_event_ring {
	int mmap_prot; /* PROT_* of the mapping */
	struct monad_event_ring_header *header;
	struct monad_event_descriptor *descriptors;
	uint8_t *payload_buf;	     /* mapped twice in a row */
	void *context_area;	     /* NULL when the ring has none */
	uint64_t desc_capacity_mask; /* number of descriptors - 1 */
	uint64_t payload_buf_mask;   /* bytes of payload buffer - 1 */
	size_t map_size;	     /* bytes of address space, from header on */
};

/* Names of content types 0 to MONAD_EVENT_CONTENT_TYPE_COUNT - 1. */
extern const char *const g_monad_event_content_type_names[MONAD_EVENT_CONTENT_TYPE_COUNT];

/* Name of any content type, also of those from 256 on; "unknown" for others. */
const char *monad_event_content_type_name(uint16_t content_type);

/*
 * Fills in @size for a ring of 2^@descriptors_shift descriptors (10 to 32),
 * 2^@payload_buf_shift bytes of payload (21 to 40) and a context area of
 * @context_large_pages times 2 MiB (0 or a power of two). ERANGE outside of
 * that.
 */
int monad_event_ring_init_size(uint8_t descriptors_shift, uint8_t payload_buf_shift,
			       uint16_t context_large_pages, struct monad_event_ring_size *size);

/* Bytes a ring of this size takes in a file, every section padded to 2 MiB. */
size_t monad_event_ring_calc_storage(const struct monad_event_ring_size *size);

/*
 * Makes an empty ring of the storage at @ring_offset of the open file @ring_fd.
 * @schema_hash: 32 bytes. @error_name names the file in messages, may be NULL.
 *
 * EINVAL: impossible size, or not a regular file. ENOSPC: the file is shorter
 * than monad_event_ring_calc_storage() says. Otherwise what the system calls
 * gave. The file must be open for reading and writing, and nobody may be using
 * the ring: events that were in it are gone.
 */
int monad_event_ring_init_file(const struct monad_event_ring_size *size,
			       enum monad_event_content_type content_type,
			       const uint8_t *schema_hash, int ring_fd, off_t ring_offset,
			       const char *error_name);

/*
 * Maps the ring at @ring_offset of @ring_fd: a ring file, or a device of the
 * monad_ring module (offset 0). @mmap_prot: PROT_READ, and PROT_WRITE for
 * writers of ring files. @mmap_extra_flags: flags for mmap(2) besides
 * MAP_SHARED: MAP_POPULATE maps all pages now rather than at first touch (on a
 * device too); MAP_HUGETLB is passed on where the file is on hugetlbfs.
 * The descriptor may be closed afterwards. A file mapped with PROT_WRITE is kept open by a
 * duplicate of it, and flock(2) locks of it with that, until it is unmapped.
 *
 * EFAULT: a NULL argument. EPROTO: this is no ring (wrong magic, wrong kind of
 * file). EINVAL: it is one, but its sizes are impossible or the file is shorter
 * than they say. Otherwise what the system calls gave.
 */
int monad_event_ring_mmap(struct monad_event_ring *ring, int mmap_prot, int mmap_extra_flags,
			  int ring_fd, off_t ring_offset, const char *error_name);

/* Unmaps and zeroes the object; does nothing to a zeroed one. */
void monad_event_ring_unmap(struct monad_event_ring *ring);

/*
 * Prepares @iter to read from @ring, starting at the newest event. The iterator
 * is good until the ring is unmapped. EFAULT: NULL argument, EINVAL: nothing is
 * mapped, EACCES: mapped without PROT_READ.
 */
int monad_event_ring_init_iterator(const struct monad_event_ring *ring,
				   struct monad_event_iterator *iter);

/*
 * Prepares @recorder (event_recorder.h) to write to @ring, a file mapped for reading and writing
 * by monad_event_ring_mmap(), in this process. Any number may be made of the same mapping; all
 * are good until it is unmapped. The first one takes flock(2) LOCK_EX on the file unless the
 * process has it (it is kept until the ring is unmapped), checks what is in the ring, and
 * publishes what a dead writer left unfinished as events of type NONE.
 *
 * EFAULT: NULL argument. EINVAL: nothing is mapped, or not by this process. EACCES: not mapped
 * for reading and writing. EBUSY: another process holds a lock on the file, or this one
 * writes to the ring through another mapping. EPROTO: the ring's content cannot be gone on
 * with. EMFILE: more than 127 rings are written to. ENOMEM.
 */
int monad_event_ring_init_recorder(const struct monad_event_ring *ring,
				   struct monad_event_recorder *recorder);

/*
 * What of ours stands in the ring besides the plain format: counters of lost
 * events, identity, clocks (see <monad/event_ring.h>). NULL when the ring was
 * made by a writer of the plain format. Counters change while you read: load
 * them one by one. Points into the mapping.
 */
const struct monad_ring_ext *monad_event_ring_ext(const struct monad_event_ring *ring);

/*
 * What went wrong in the last call of this library that failed in this thread.
 * Never NULL; good until the next failing call in this thread.
 */
const char *monad_event_ring_get_last_error(void);

/*
 * Everything below reads the ring and is inline.
 *
 * A writer publishes an event like this:
 *
 *	slot.seqno = 0; write barrier; the other fields and the payload;
 *	store-release slot.seqno = seqno			(W1)
 *
 * and before it writes over payload bytes below some offset it raises
 * buffer_window_start to that offset, fully ordered		(W2)
 *
 * ThreadSanitizer knows no fences: under it the loads themselves are acquires.
 */
#if defined(__SANITIZE_THREAD__)
#define MONAD_EVENT_TSAN_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MONAD_EVENT_TSAN_ 1
#endif
#endif

#ifdef MONAD_EVENT_TSAN_
#define MONAD_EVENT_LOAD_(ptr)	  __atomic_load_n(ptr, __ATOMIC_ACQUIRE)
#define MONAD_EVENT_READ_FENCE_() ((void)0)
#else
#define MONAD_EVENT_LOAD_(ptr)	  __atomic_load_n(ptr, __ATOMIC_RELAXED)
#define MONAD_EVENT_READ_FENCE_() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#endif

/* A descriptor is copied in words of 8 bytes, whatever types its fields have. */
typedef uint64_t __attribute__((may_alias)) monad_event_word_;

/*
 * Copies the descriptor in @slot, whose seqno was just load-acquired as @seqno,
 * to @dst. False, and nothing is copied, if it was overwritten meanwhile.
 *
 * That acquire synchronizes with W1: with this seqno we see all fields and the
 * payload of its event, or newer values.
 */
static inline bool monad_event_slot_copy_(const struct monad_event_descriptor *slot, uint64_t seqno,
					  struct monad_event_descriptor *dst)
{
#ifdef __clang_analyzer__
	/* It takes what was stored as words for unset when it is read as fields. */
	memcpy((void *)dst, (const void *)slot, sizeof(*dst));
	return slot->seqno == seqno;
#else
	const monad_event_word_ *const words = (const monad_event_word_ *)slot;
	monad_event_word_ *const copy = (monad_event_word_ *)dst;
	/*
	 * One by one, into registers: through an array it is a loop, and what a loop
	 * stored by eights is loaded by sixteens after it, for which a CPU waits.
	 */
	const uint64_t w1 = MONAD_EVENT_LOAD_(&words[1]);
	const uint64_t w2 = MONAD_EVENT_LOAD_(&words[2]);
	const uint64_t w3 = MONAD_EVENT_LOAD_(&words[3]);
	const uint64_t w4 = MONAD_EVENT_LOAD_(&words[4]);
	const uint64_t w5 = MONAD_EVENT_LOAD_(&words[5]);
	const uint64_t w6 = MONAD_EVENT_LOAD_(&words[6]);
	const uint64_t w7 = MONAD_EVENT_LOAD_(&words[7]);

	/*
	 * Pairs with the writer's barrier behind seqno = 0: if any word above is
	 * of a newer event, the load below sees that 0 or something newer.
	 */
	MONAD_EVENT_READ_FENCE_();
	if (__builtin_expect(MONAD_EVENT_LOAD_(&words[0]) != seqno, 0))
		return false;
	copy[0] = seqno;
	copy[1] = w1;
	copy[2] = w2;
	copy[3] = w3;
	copy[4] = w4;
	copy[5] = w5;
	copy[6] = w6;
	copy[7] = w7;
	return true;
#endif
}

/* The slot that event @seqno is in, or was, or will be. */
static inline const struct monad_event_descriptor *
monad_event_ring_slot_(const struct monad_event_ring *ring, uint64_t seqno)
{
	return &ring->descriptors[(seqno - 1) & ring->desc_capacity_mask];
}

/* One less than the largest number at most, which no sound writer reaches: one more is a number. */
static inline uint64_t monad_event_last_seqno_(const struct monad_event_ring_header *header)
{
	uint64_t last = __atomic_load_n(&header->control.last_seqno, __ATOMIC_ACQUIRE);

	return last - (last == UINT64_MAX);
}

/*
 * Sequence number last allocated, 0 when no event was ever recorded. That event
 * may still be being written. Looks at the writers' busiest cache line: reading
 * it in a tight loop slows writers down, reading events does not.
 */
static inline uint64_t monad_event_ring_last_seqno(const struct monad_event_ring *ring)
{
	return monad_event_last_seqno_(ring->header);
}

/*
 * Sequence number of the oldest event whose descriptor can still be there; 1
 * for a ring that was never full, also when it is empty. On a busy ring it is
 * overwritten before you can look: see monad_event_iterator_seek_oldest().
 */
static inline uint64_t monad_event_ring_oldest_seqno(const struct monad_event_ring *ring)
{
	uint64_t last = monad_event_ring_last_seqno(ring);

	return last > ring->desc_capacity_mask ? last - ring->desc_capacity_mask : 1;
}

/* Copies event @seqno's descriptor; false when it is not there (yet, or any more). */
static inline bool monad_event_ring_try_copy(const struct monad_event_ring *ring, uint64_t seqno,
					     struct monad_event_descriptor *event)
{
	const struct monad_event_descriptor *const slot = monad_event_ring_slot_(ring, seqno);

	return seqno != 0 && __atomic_load_n(&slot->seqno, __ATOMIC_ACQUIRE) == seqno &&
	       monad_event_slot_copy_(slot, seqno, event);
}

/*
 * The event's payload where it stands in the ring: event->payload_size bytes,
 * always contiguous. Nothing is copied, so a writer may overwrite it while it is
 * being used: call monad_event_ring_payload_check() *after* using it, and throw
 * away what you made of it if that says false. NULL when the descriptor claims
 * more payload than the ring's buffer has, which no sound writer records.
 */
static inline const void *monad_event_ring_payload_peek(const struct monad_event_ring *ring,
							const struct monad_event_descriptor *event)
{
	if (event->payload_size > ring->payload_buf_mask + 1)
		return NULL;
	return ring->payload_buf + (event->payload_buf_offset & ring->payload_buf_mask);
}

/* True if all that was read from the event's payload before this call was good. */
static inline bool monad_event_ring_payload_check(const struct monad_event_ring *ring,
						  const struct monad_event_descriptor *event)
{
	/*
	 * Pairs with W2: if any payload byte read before was of a newer event, the
	 * load below sees the window that was raised to make room for it.
	 */
	MONAD_EVENT_READ_FENCE_();
	return event->payload_buf_offset >=
	       MONAD_EVENT_LOAD_(&ring->header->control.buffer_window_start);
}

static inline void monad_event_copy_bytes_(void *dst, const void *src, size_t n)
{
#ifdef MONAD_EVENT_TSAN_
	for (size_t i = 0; i < n; i++)
		((uint8_t *)dst)[i] = MONAD_EVENT_LOAD_((const uint8_t *)src + i);
#else
	memcpy(dst, src, n);
#endif
}

/*
 * Copies the first @n bytes of the event's payload. @dst, or NULL when the
 * payload has expired (what is in @dst is then worthless) or @n is more than the
 * whole payload buffer. @n is normally at most event->payload_size; what follows
 * the payload belongs to other events.
 */
static inline void *monad_event_ring_payload_memcpy(const struct monad_event_ring *ring,
						    const struct monad_event_descriptor *event,
						    void *dst, size_t n)
{
	const uint8_t *src;

	if (n > ring->payload_buf_mask + 1 || !monad_event_ring_payload_check(ring, event))
		return NULL;
	src = ring->payload_buf + (event->payload_buf_offset & ring->payload_buf_mask);
	monad_event_copy_bytes_(dst, src, n);
	return monad_event_ring_payload_check(ring, event) ? dst : NULL;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MONAD_EVENT_EVENT_RING_H */
