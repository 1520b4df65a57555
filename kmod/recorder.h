/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The recorder: how any number of writers on any number of CPUs, in any context,
 * put events into one ring without a lock.
 *
 * DOC: recorder
 *
 * A ring is two unbounded sequences, seen through power-of-two windows: sequence
 * number s lives in descriptor (s - 1) & (capacity - 1), payload byte b in byte
 * b & (size - 1) of the buffer. Each sequence has two ends:
 *
 *	next    what the next writer gets: control.last_seqno + 1 and
 *	        control.next_payload_byte. Only ever added to.
 *	window  everything below is dead: it may be overwritten and readers do not
 *	        trust it. window + size is the *permit*: no writer writes at or above
 *	        it. control.buffer_window_start for payload bytes (readers look at
 *	        it), seqno_window for descriptors (readers look at the descriptor's
 *	        own seqno instead). Only ever raised.
 *
 * Writers announce themselves in record slots, RECORDER_SLOTS for each CPU. A
 * record slot is:
 *
 *	FREE      floor == seqno_floor == RECORDER_FREE
 *	CLAIMED   floor = a value of next_payload_byte read before the claim,
 *	          seqno_floor = FREE or a value of last_seqno. Nothing reserved yet.
 *	RESERVED  both floors set, bytes and sequence number allocated; the descriptor
 *	          has seqno 0 (or still an older event's); the writer may be at work
 *	          on the payload.
 *
 * and moves FREE -> CLAIMED (port_claim) -> RESERVED (the two adds) -> FREE
 * (commit, discard), or CLAIMED -> FREE when the event is refused.
 *
 * The one rule that keeps every byte right: a window is never raised above the
 * floor of any writer, nor above a value of next that was read *before* the
 * floors were. So whatever a writer holds stays at or above the window until it
 * commits, and nobody else can be given the same bytes, since they would lie above
 * the permit. However long a writer sleeps, others are refused rather than let
 * past it, and the refusals are counted.
 *
 * A writer whose floor a scan did not see yet had not done its add either: the add
 * is fully ordered after the floor's store, so its bytes are above the value of
 * next the scan began with. That is why the fast path has no barrier of its own.
 *
 * The check of the permit and the add are two steps. Between them other writers,
 * who checked before, may add as well: at most one for each record slot there is,
 * each at most max_fast bytes. The permit is therefore checked with a margin of
 * slots x max_fast bytes (slots sequence numbers). Larger events allocate their
 * bytes by compare-and-swap, whose check and add are one step.
 *
 * Barriers, each named where it stands, with its partner; Documentation/barriers.rst
 * argues them one by one:
 *
 *	LMM(recorder_reserve:A)   floors stored before the adds
 *	LMM(recorder_advance:A)   next loaded before the floors
 *	LMM(recorder_reserve:B)   descriptor's seqno zeroed before its fields
 *	LMM(recorder_reserve:C)   the slot's last event written before its next floor
 *	LMM(recorder_commit:A)    fields and payload before the descriptor's seqno
 *	LMM(recorder_commit:B)    everything written before either floor is freed
 *	LMM(recorder_advance:B)   a floor seen free before bytes are given out anew
 *	LMM(recorder_advance:C)   window raised before bytes are given out anew
 */
#ifndef MONAD_RECORDER_H
#define MONAD_RECORDER_H

#include "recorder_port.h"
#include "monad/event_ring.h"

#define RECORDER_SLOTS 8
#define RECORDER_FREE (~0ULL)
#define RECORDER_NO_ROOM (~0ULL)

/* How much a RECORD_ERROR event keeps of a payload, bytes: 4 KiB with what it says itself. */
#define RECORDER_ERROR_HEAD (4096 - sizeof(struct monad_event_record_error))

struct monad_recorder;

/*
 * A record slot; what bpf_monad_ring_reserve() returns. One cache line.
 * BPF programs may read it, so there is nothing in it to hide.
 */
struct monad_ring_record {
	u64 floor;
	u64 seqno_floor;
	struct monad_recorder *recorder; /* constant */
	struct monad_event_descriptor *desc;
	u8 *payload;
	u64 seqno;
	u64 size; /* bytes reserved */
	u64 unused;
} __aligned(64);

struct monad_recorder_slots {
	struct monad_ring_record slot[RECORDER_SLOTS];
};

struct monad_recorder {
	/* constant: read for each event, never written */
	struct monad_event_ring_control *control;
	struct monad_event_descriptor *descs;
	u8 *payload;     /* mapped twice in a row */
	struct monad_recorder_slots __percpu *slots;
	u64 desc_mask;
	u64 payload_mask;
	u64 seqno_limit; /* window + this: what the permit allows, less the margin */
	u64 byte_limit;
	u64 max_fast;    /* larger events (bytes) take the compare-and-swap */
	u64 max_size;    /* larger ones are not recorded */
	u64 seqno_step;  /* how far a window is raised at a time */
	u64 byte_step;
	u64 nr_slots;    /* record slots of all CPUs together */
	struct monad_ring_ext *ext; /* counters */

	/* written by whoever raises it, read for each event */
	u64 seqno_window __aligned(64);
	/* whose writer held the ring back when it was last looked at, or NULL; a hint */
	struct monad_ring_record *slowest;
};

/*
 * Sets up @r over the memory of a ring whose header is filled in. @nr_slots: record
 * slots of all CPUs together. 0, or -ERANGE when the ring is too small for that many.
 */
int monad_recorder_init(struct monad_recorder *r, struct monad_event_ring_header *header,
			struct monad_event_descriptor *descs, u8 *payload,
			struct monad_ring_ext *ext, u64 nr_slots);
void monad_recorder_init_slots(struct monad_recorder *r, struct monad_recorder_slots *slots);

/* Smallest descriptor shift that monad_recorder_init() takes for @nr_slots. */
unsigned int monad_recorder_min_desc_shift(u64 nr_slots);

/*
 * The paths of recorder_reserve() that are not for every event: the first slot was taken, and
 * no room or a large event. @now: for its time stamp.
 */
struct monad_ring_record *monad_recorder_reserve_nested(struct monad_recorder *r, u16 type,
							u64 size, u64 now);
struct monad_ring_record *monad_recorder_reserve_full(struct monad_recorder *r,
						      struct monad_ring_record *rec, u16 type,
						      u64 size, u64 now);

/*
 * Counts an event of type @type that is too large, and reserves a RECORD_ERROR event in its
 * place that says so, with as much of the beginning of its payload as RECORDER_ERROR_HEAD allows.
 * @size: of the whole payload; @head, @head_size: as much of it as the caller has, 0 bytes if it
 * was yet to be written. What is returned, if not NULL, is to be committed.
 */
struct monad_ring_record *monad_recorder_too_large(struct monad_recorder *r, u16 type, u64 size,
						   const void *head, u64 head_size);

static __always_inline void recorder_lost(struct monad_recorder *r, enum monad_ring_lost why)
{
	port_count(&r->ext->lost[why]);
}

static __always_inline void recorder_release(struct monad_ring_record *rec)
{
	port_step();
	/*
	 * LMM(recorder_commit:B): all that this writer stored, before either of its
	 * floors is seen free: the one lets others have its descriptor, the other its
	 * bytes. Pairs with LMM(recorder_advance:B).
	 */
	port_store_release(&rec->seqno_floor, RECORDER_FREE);
	port_step();
	port_store_release(&rec->floor, RECORDER_FREE);
}

static __always_inline bool recorder_fits(const struct monad_recorder *r, u64 next, u64 len)
{
	return next + len <= port_window(&r->control->buffer_window_start) + r->byte_limit;
}

static __always_inline bool recorder_seqno_fits(const struct monad_recorder *r, u64 last)
{
	return last + 1 <= port_window(&r->seqno_window) + r->seqno_limit;
}

/*
 * event_type, unused and payload_size of a descriptor as the one little-endian word they
 * are. A word at a time, since readers copy descriptors while they are written: what they
 * get is then some event's or another's, and the second look at seqno tells whose.
 */
static __always_inline u64 *recorder_type_size(struct monad_event_descriptor *desc)
{
	return (u64 *)desc + 1;
}

/* Sets content_ext[@index], @index < 4, of an event not yet committed. */
static __always_inline void recorder_tag(struct monad_ring_record *rec, unsigned int index,
					 u64 value)
{
	port_store(&rec->desc->content_ext[index], value);
}

/*
 * Gives the event of @rec, a claimed slot whose bytes are allocated at @offset, its sequence
 * number, and fills in its descriptor.
 */
static __always_inline struct monad_ring_record *
recorder_begin(struct monad_recorder *r, struct monad_ring_record *rec, u16 type, u64 size,
	       u64 now, u64 offset)
{
	struct monad_event_descriptor *desc;
	u64 seqno;

	port_step();
	seqno = port_add(&r->control->last_seqno, 1) + 1;
	port_step();

	desc = &r->descs[(seqno - 1) & r->desc_mask];
	rec->desc = desc;
	rec->payload = r->payload + (offset & r->payload_mask);
	rec->seqno = seqno;
	rec->size = size;

	port_store(&desc->seqno, 0);
	/*
	 * LMM(recorder_reserve:B): a reader that sees any field of this event sees the
	 * older event's seqno gone. Pairs with the reader's load fence between its copy
	 * of the descriptor and its second look at seqno.
	 */
	port_wmb();
	port_step();
	port_store(recorder_type_size(desc), size << 32 | type);
	port_store(&desc->record_epoch_nanos, now);
	port_store(&desc->payload_buf_offset, offset);
	port_store(&desc->content_ext[0], 0);
	port_store(&desc->content_ext[1], 0);
	port_store(&desc->content_ext[2], 0);
	port_store(&desc->content_ext[3], 0);
	return rec;
}

/* Reserves an event in @rec, a slot just claimed. */
static __always_inline struct monad_ring_record *
recorder_reserve_in(struct monad_recorder *r, struct monad_ring_record *rec, u16 type, u64 size,
		    u64 now)
{
	struct monad_event_ring_control *control = r->control;
	u64 len = ALIGN(size, MONAD_EVENT_PAYLOAD_ALIGN);
	u64 last, next, offset;

	port_step();
	last = port_load(&control->last_seqno);
	port_step();
	/*
	 * LMM(recorder_reserve:C): whoever sees this floor in place of the FREE before it
	 * sees what FREE would have told: this slot's last event is written. (The claim
	 * needs nothing for that: it is a read-modify-write of what was released.) Pairs
	 * with LMM(recorder_advance:B).
	 */
	port_store_release(&rec->seqno_floor, last);
	port_step();

	/*
	 * Read anew: a value from before the claim could be arbitrarily old, and the
	 * margin only covers writers that hold a slot. last is from after the claim.
	 */
	next = port_load(&control->next_payload_byte);
	port_step();
	if (unlikely(len > r->max_fast || !recorder_fits(r, next, len) ||
		     !recorder_seqno_fits(r, last)))
		return monad_recorder_reserve_full(r, rec, type, size, now);
	port_step();
	/*
	 * LMM(recorder_reserve:A): the add is fully ordered, so both floors are visible
	 * before it is. Pairs with LMM(recorder_advance:A).
	 */
	offset = port_add(&control->next_payload_byte, len);
	return recorder_begin(r, rec, type, size, now, offset);
}

/* Whether an event of @size bytes is more than this ring takes. */
static __always_inline bool recorder_too_large(const struct monad_recorder *r, u64 size)
{
	return size > r->max_size;
}

/*
 * recorder_reserve_sized - reserve an event with @size bytes of payload, not too large
 *
 * Returns NULL when it cannot be recorded, and has counted why. Otherwise the caller
 * owns the record, its payload and its content_ext until it commits or discards it,
 * on the same CPU. Any context, NMI included.
 *
 * What is not for every event is called at the very end, and the clock is read at the very
 * beginning, so that nothing has to be kept across a call: that is a dozen instructions.
 */
static __always_inline struct monad_ring_record *
recorder_reserve_sized(struct monad_recorder *r, u16 type, u64 size)
{
	u64 now = port_epoch_nanos();
	u64 next;

	next = port_load(&r->control->next_payload_byte);
	port_step();
	if (unlikely(port_claim(r, 0, RECORDER_FREE, next) != RECORDER_FREE))
		return monad_recorder_reserve_nested(r, type, size, now);
	return recorder_reserve_in(r, port_slot(r, 0), type, size, now);
}

/* As recorder_reserve_sized(), and counts an event that is too large as such. */
static __always_inline struct monad_ring_record *
recorder_reserve(struct monad_recorder *r, u16 type, u64 size)
{
	if (unlikely(recorder_too_large(r, size))) {
		recorder_lost(r, MONAD_RING_LOST_TOO_LARGE);
		return NULL;
	}
	return recorder_reserve_sized(r, type, size);
}

/* Publishes the event; its sequence number, since @rec may be another event's at once. */
static __always_inline u64 recorder_commit(struct monad_ring_record *rec)
{
	u64 seqno = rec->seqno;

	port_step();
	/*
	 * LMM(recorder_commit:A): the event's fields and payload before its seqno. Pairs
	 * with the reader's acquiring load of seqno.
	 */
	port_store_release(&rec->desc->seqno, seqno);
	recorder_release(rec);
	return seqno;
}

/* A discarded event is one of type NONE without payload: readers pass over it. */
static __always_inline void recorder_empty(struct monad_ring_record *rec)
{
	struct monad_event_descriptor *desc = rec->desc;
	unsigned int i;

	port_store(recorder_type_size(desc), MONAD_EVENT_NONE_EVENT_TYPE);
	for (i = 0; i < 4; i++)
		port_store(&desc->content_ext[i], 0);
	port_count(&rec->recorder->ext->discarded);
}

static __always_inline u64 recorder_discard(struct monad_ring_record *rec)
{
	recorder_empty(rec);
	return recorder_commit(rec);
}

#endif /* MONAD_RECORDER_H */
