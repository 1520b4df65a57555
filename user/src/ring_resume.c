// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Going on with a ring whose writer is gone.
 *
 * A writer can die between any two of its steps, and what a file has then is:
 *
 *	next_payload_byte	past all payloads; bytes that were allocated and belong to
 *				no event are merely never used
 *	last_seqno		past all events
 *	descriptor of an event	its seqno: committed. 0, or the seqno of the event one or
 *	up to last_seqno	more laps before: not committed, other fields are anything
 *	other descriptors	never used: seqno 0 (there are some until the ring is full once)
 *	buffer_window_start	as far as it was raised; with writers that raise it only
 *				after they have allocated, too low by what they had in hand
 *
 * Anything else nobody has left behind: somebody damaged the file, or the machine went down
 * before all of its pages were written to the disk. There is no telling what of it is right,
 * and so it is refused rather than repaired.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "error.h"
#include "ring_resume.h"

/* Numbers this high are reached by no ring (at 10 GB/s, 14 years of bytes); no sum wraps. */
#define MAX_POSITION (UINT64_C(1) << 62)

#define DAMAGED_HINT "it cannot be gone on with: make it anew"

struct state {
	uint64_t last_seqno, next_byte, capacity, payload_size;
};

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

struct monad_ring_ext *ring_writable_ext(const struct monad_event_ring *ring)
{
	if (!monad_event_ring_ext(ring) || !(ring->mmap_prot & PROT_WRITE))
		return NULL;
	return (struct monad_ring_ext *)((uint8_t *)ring->header + MONAD_RING_EXT_OFFSET);
}

static int check_control(const struct monad_event_ring *ring, struct state *state,
			 const char *name)
{
	struct monad_event_ring_control *control = &ring->header->control;
	uint64_t window = load(&control->buffer_window_start);

	state->last_seqno = load(&control->last_seqno);
	state->next_byte = load(&control->next_payload_byte);
	state->capacity = ring->desc_capacity_mask + 1;
	state->payload_size = ring->payload_buf_mask + 1;
	if (state->last_seqno > MAX_POSITION)
		return FAIL_HINT(EPROTO, DAMAGED_HINT,
				 "event ring `%s` is damaged: its last event has number %" PRIu64,
				 name, state->last_seqno);
	if (state->next_byte > MAX_POSITION || state->next_byte % MONAD_EVENT_PAYLOAD_ALIGN)
		return FAIL_HINT(EPROTO, DAMAGED_HINT,
				 "event ring `%s` is damaged: its next payload is at byte %" PRIu64,
				 name, state->next_byte);
	if (window > state->next_byte)
		return FAIL_HINT(EPROTO, DAMAGED_HINT,
				 "event ring `%s` is damaged: its payloads begin at byte %" PRIu64
				 " and end at %" PRIu64,
				 name, window, state->next_byte);
	return 0;
}

/* Whether a committed event's payload is one that has been allocated. */
static bool payload_is_sound(const struct monad_event_descriptor *slot, const struct state *state)
{
	uint64_t offset = load(&slot->payload_buf_offset);
	uint32_t size = __atomic_load_n(&slot->payload_size, __ATOMIC_RELAXED);

	return offset % MONAD_EVENT_PAYLOAD_ALIGN == 0 && offset <= state->next_byte &&
	       size <= state->next_byte - offset && size <= state->payload_size;
}

/* Whether the descriptor of event @seqno, which says @found, was never written for it. */
static bool is_unfinished(uint64_t seqno, uint64_t found, const struct state *state)
{
	return found == 0 || (found < seqno && (seqno - found) % state->capacity == 0);
}

/*
 * Publishes event @seqno. @time: of the event before, so that times stay in order. Its bytes
 * are none, at the end, where they do not expire.
 */
static void publish_none(struct monad_event_descriptor *slot, uint64_t seqno, uint64_t time,
			 const struct state *state)
{
	__atomic_store_n(&slot->seqno, 0, __ATOMIC_RELAXED);
	/* As LMM(recorder_reserve:B) of kmod/recorder.h: there may be readers. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	/* event_type, unused and payload_size */
	store((uint64_t *)slot + 1, MONAD_EVENT_NONE_EVENT_TYPE);
	store(&slot->record_epoch_nanos, time);
	store(&slot->payload_buf_offset, state->next_byte);
	for (int i = 0; i < 4; i++)
		store(&slot->content_ext[i], 0);
	__atomic_store_n(&slot->seqno, seqno, __ATOMIC_RELEASE);
}

/* Goes through all descriptors; changes something only if @repair. */
static int check_descriptors(const struct monad_event_ring *ring, const struct state *state,
			     bool repair, const char *name, uint64_t *unfinished)
{
	uint64_t first = state->last_seqno > state->capacity
				 ? state->last_seqno - state->capacity + 1
				 : 1;
	uint64_t seqno, time = 0;

	*unfinished = 0;
	for (seqno = first; seqno < first + state->capacity; seqno++) {
		struct monad_event_descriptor *slot =
			&ring->descriptors[(seqno - 1) & ring->desc_capacity_mask];
		uint64_t found = load(&slot->seqno);

		if (seqno > state->last_seqno) {
			if (found != 0)
				return FAIL_HINT(EPROTO, DAMAGED_HINT,
						 "event ring `%s` is damaged: it has event "
						 "%" PRIu64 ", and the last is %" PRIu64,
						 name, found, state->last_seqno);
		} else if (found == seqno) {
			if (!payload_is_sound(slot, state))
				return FAIL_HINT(EPROTO, DAMAGED_HINT,
						 "event ring `%s` is damaged: event %" PRIu64
						 " has a payload that does not exist",
						 name, seqno);
			time = load(&slot->record_epoch_nanos);
		} else if (is_unfinished(seqno, found, state)) {
			if (repair)
				publish_none(slot, seqno, time, state);
			++*unfinished;
		} else {
			return FAIL_HINT(EPROTO, DAMAGED_HINT,
					 "event ring `%s` is damaged: in the place of event "
					 "%" PRIu64 " is one that says it is %" PRIu64,
					 name, seqno, found);
		}
	}
	return 0;
}

int ring_resume(const struct monad_event_ring *ring, struct monad_ring_ext *ext, const char *name,
		uint64_t *repaired)
{
	struct monad_event_ring_control *control = &ring->header->control;
	struct state state;
	uint64_t count;
	int err;

	*repaired = 0;
	if (ext && ext->abi_version != MONAD_RING_ABI_VERSION)
		return FAIL_HINT(EPROTO, "use a newer library, or make it anew",
				 "event ring `%s` is of version %u, this library writes %u", name,
				 ext->abi_version, MONAD_RING_ABI_VERSION);
	err = check_control(ring, &state, name);
	if (err)
		return err;
	err = check_descriptors(ring, &state, false, name, &count);
	if (err)
		return err;
	/* Those whose place others had begun to write over have no payload any more. */
	if (state.next_byte > load(&control->buffer_window_start) + state.payload_size)
		__atomic_store_n(&control->buffer_window_start,
				 state.next_byte - state.payload_size, __ATOMIC_SEQ_CST);
	if (!count)
		return 0;
	err = check_descriptors(ring, &state, true, name, repaired);
	if (ext)
		__atomic_fetch_add(&ext->discarded, *repaired, __ATOMIC_RELAXED);
	return err;
}
