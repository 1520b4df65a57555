// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The recorder's paths that are not taken for every event: set-up, nested writers,
 * and making room. The overview is in recorder.h.
 *
 * This file also compiles in user space (see recorder_port.h): it is the recorder of ring
 * files in libmonad_event, too.
 */
#include "recorder.h"

/*
 * The part of the ring given to the margin, at most, and the part by which a window is
 * raised: a ring's history is at least 1 - 1/8 - 1/16 of its size.
 */
#define MARGIN_DIV 8
#define STEP_DIV 16

/* Events up to this many bytes take the add, where the ring is large enough. */
#define MAX_FAST 4096

/* An event may take at most this part of the payload buffer. */
#define MAX_SIZE_DIV 4

/*
 * How often a large event tries for its bytes. Each failure means that another writer
 * got on, but no writer may be kept from going on by others without bound.
 */
#define LARGE_TRIES 64

/*
 * How often room is made. A second time is needed when others took what the first one
 * made; four in a row that all lose it is a ring overrun many times over.
 */
#define ROOM_TRIES 4

unsigned int monad_recorder_min_desc_shift(u64 nr_slots)
{
	u64 capacity = 1ULL << MONAD_RING_MIN_DESCRIPTORS_SHIFT;
	unsigned int shift = MONAD_RING_MIN_DESCRIPTORS_SHIFT;

	for (; capacity / MARGIN_DIV < nr_slots; capacity <<= 1)
		shift++;
	return shift;
}

void monad_recorder_init_slots(struct monad_recorder *r, struct monad_recorder_slots *slots)
{
	unsigned int i;

	memset(slots, 0, sizeof(*slots));
	for (i = 0; i < RECORDER_SLOTS; i++) {
		slots->slot[i].floor = RECORDER_FREE;
		slots->slot[i].seqno_floor = RECORDER_FREE;
		slots->slot[i].recorder = r;
	}
}

int monad_recorder_init(struct monad_recorder *r, struct monad_event_ring_header *header,
			struct monad_event_descriptor *descs, u8 *payload,
			struct monad_ring_ext *ext, u64 nr_slots)
{
	u64 capacity = header->size.descriptor_capacity;
	u64 size = header->size.payload_buf_size;
	u64 fast = size / MARGIN_DIV / nr_slots;

	fast -= fast % MONAD_EVENT_PAYLOAD_ALIGN;
	if (fast > MAX_FAST)
		fast = MAX_FAST;
	if (capacity / MARGIN_DIV < nr_slots || !fast)
		return -ERANGE;

	r->control = &header->control;
	r->descs = descs;
	r->payload = payload;
	r->desc_mask = capacity - 1;
	r->payload_mask = size - 1;
	r->seqno_limit = capacity - nr_slots;
	r->byte_limit = size - nr_slots * fast;
	r->max_fast = fast;
	r->max_size = size / MAX_SIZE_DIV;
	if (r->max_size > ~0U)
		r->max_size = ~0U;
	r->seqno_step = capacity / STEP_DIV;
	r->byte_step = size / STEP_DIV;
	r->nr_slots = nr_slots;
	r->ext = ext;
	/* What a former writer of this memory may have held is dead. */
	r->seqno_window = header->control.last_seqno;
	return 0;
}

/*
 * Claims a slot other than the first: an outer context on this CPU (or, where programs
 * can be preempted, another task) is between reserve and commit. The floor is read anew
 * for each try, and before it.
 */
struct monad_ring_record *monad_recorder_reserve_nested(struct monad_recorder *r, u16 type,
							u64 size, u64 now)
{
	unsigned int i;
	u64 next;

	for (i = 0; i < port_nr_claims(r); i++) {
		next = port_load(&r->control->next_payload_byte);
		port_step();
		if (port_claim(r, i, RECORDER_FREE, next) == RECORDER_FREE)
			return recorder_reserve_in(r, port_slot(r, i), type, size, now);
	}
	recorder_lost(r, MONAD_RING_LOST_NO_SLOT);
	return NULL;
}

static u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Raises @window to @to unless it is there already. */
static void raise_window(u64 *window, u64 to)
{
	u64 old = port_load(window);

	while (old < to) {
		u64 seen;

		port_step();
		/*
		 * Fully ordered, for two reasons.
		 *
		 * LMM(recorder_advance:B): a floor that was seen free, and with it all that
		 * its writer did, before the window is raised past it. Pairs with
		 * LMM(recorder_commit:B).
		 *
		 * LMM(recorder_advance:C): a writer that sees the new permit and overwrites
		 * what it frees does so after readers can see the new window. Pairs with
		 * the reader's load fence between its use of a payload and its look at the
		 * window.
		 */
		seen = port_cas(window, old, to);
		if (seen == old)
			break;
		old = seen;
	}
}

/* Where the windows have to be for an event, at least; 0: where they are will do. */
struct goal {
	u64 byte;
	u64 seqno;
};

static bool holds_back(const struct monad_ring_record *rec, const struct goal *goal)
{
	/* FREE is above everything */
	return port_floor(&rec->floor) < goal->byte || port_floor(&rec->seqno_floor) < goal->seqno;
}

/* Somebody else, who was quicker, has raised the windows so far. */
static bool is_reached(struct monad_recorder *r, const struct goal *goal)
{
	return port_window(&r->control->buffer_window_start) >= goal->byte &&
	       port_window(&r->seqno_window) >= goal->seqno;
}

/*
 * Raises both windows to @goal and, for those who come next, up to a step beyond. False
 * when a writer holds them below it: no use trying again.
 */
static bool recorder_advance(struct monad_recorder *r, const struct goal *goal)
{
	struct monad_ring_record *slowest = port_load(&r->slowest);
	u64 byte, seqno;
	unsigned int cpu, i;

	/* While somebody is stalled, one look tells, not one at each slot of each CPU. */
	if (slowest && holds_back(slowest, goal))
		return false;

	/*
	 * LMM(recorder_advance:A): what has been allocated, before the floors. Pairs with
	 * LMM(recorder_reserve:A): a writer whose floor is not seen below allocates, or
	 * has allocated, above these.
	 */
	byte = port_load_acquire(&r->control->next_payload_byte);
	port_step();
	seqno = port_load_acquire(&r->control->last_seqno);
	port_step();
	byte = min_u64(byte, goal->byte + r->byte_step);
	seqno = min_u64(seqno, goal->seqno + r->seqno_step);

	port_for_each_slots(r, cpu) {
		struct monad_recorder_slots *slots = port_slots_of(r, cpu);

		/* All who came to the end at the same time look at the slots of all CPUs. */
		if (is_reached(r, goal))
			return true;
		port_step();
		for (i = 0; i < RECORDER_SLOTS; i++) {
			byte = min_u64(byte, port_floor(&slots->slot[i].floor));
			port_step();
			seqno = min_u64(seqno, port_floor(&slots->slot[i].seqno_floor));
			port_step();
			if (byte < goal->byte || seqno < goal->seqno) {
				port_store(&r->slowest, &slots->slot[i]);
				return false;
			}
		}
	}
	if (goal->byte)
		raise_window(&r->control->buffer_window_start, byte);
	if (goal->seqno)
		raise_window(&r->seqno_window, seqno);
	return true;
}

/*
 * Finds room for the event of @rec, a claimed slot, and allocates its @len bytes: returns
 * their offset. Otherwise frees the slot, counts the event as lost, and returns
 * RECORDER_NO_ROOM.
 */
static u64 make_room(struct monad_recorder *r, struct monad_ring_record *rec, u64 len)
{
	struct monad_event_ring_control *control = r->control;
	enum monad_ring_lost why = MONAD_RING_LOST_CONTENDED;
	unsigned int room = 0, races = 0;
	u64 next, last;

	for (;;) {
		struct goal goal = { 0, 0 };

		next = port_load(&control->next_payload_byte);
		last = port_load(&control->last_seqno);
		port_step();
		if (!recorder_fits(r, next, len))
			goal.byte = next + len - r->byte_limit;
		if (!recorder_seqno_fits(r, last))
			goal.seqno = last + 1 - r->seqno_limit;
		if (goal.byte || goal.seqno) {
			if (++room > ROOM_TRIES)
				break;
			/*
			 * A writer that was delayed since it claimed its slot would be
			 * held back by itself. Nothing is reserved yet, so that its floors
			 * may rise. LMM(recorder_reserve:C), both.
			 */
			port_store_release(&rec->floor, next);
			port_step();
			port_store_release(&rec->seqno_floor, last);
			port_step();
			if (!recorder_advance(r, &goal)) {
				why = MONAD_RING_LOST_STALLED;
				break;
			}
			continue;
		}
		port_step();
		/* Either way fully ordered: LMM(recorder_reserve:A). */
		if (len <= r->max_fast)
			return port_add(&control->next_payload_byte, len);
		if (port_cas(&control->next_payload_byte, next, next + len) == next)
			return next;
		if (++races >= LARGE_TRIES)
			break;
	}
	recorder_lost(r, why);
	recorder_release(rec);
	return RECORDER_NO_ROOM;
}

struct monad_ring_record *monad_recorder_reserve_full(struct monad_recorder *r,
						      struct monad_ring_record *rec, u16 type,
						      u64 size, u64 now)
{
	u64 offset = make_room(r, rec, ALIGN(size, MONAD_EVENT_PAYLOAD_ALIGN));

	if (offset == RECORDER_NO_ROOM)
		return NULL;
	return recorder_begin(r, rec, type, size, now, offset);
}

struct monad_ring_record *monad_recorder_too_large(struct monad_recorder *r, u16 type, u64 size,
						   const void *head, u64 head_size)
{
	struct monad_event_record_error error = {
		.error_type = size > ~0U ? MONAD_EVENT_RECORD_ERROR_OVERFLOW_4GB :
					   MONAD_EVENT_RECORD_ERROR_OVERFLOW_EXPIRE,
		.dropped_event_type = type,
		.truncated_payload_size = min_u64(head_size, RECORDER_ERROR_HEAD),
		.requested_payload_size = size,
	};
	struct monad_ring_record *rec;

	recorder_lost(r, MONAD_RING_LOST_TOO_LARGE);
	rec = recorder_reserve_sized(r, MONAD_EVENT_RECORD_ERROR_EVENT_TYPE,
				     sizeof(error) + error.truncated_payload_size);
	if (!rec)
		return NULL;
	memcpy(rec->payload, &error, sizeof(error));
	if (error.truncated_payload_size)
		memcpy(rec->payload + sizeof(error), head, error.truncated_payload_size);
	return rec;
}
