// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Recording into ring files: kmod/recorder.h, where all is explained, behind the calls of
 * event_recorder.h.
 *
 * What is added is how commit, which is given a descriptor and a sequence number, finds the
 * record slot: while an event is being written, the slot's number stands in the descriptor's
 * field that is otherwise zero (`unused`, 16 bits), out of every reader's sight as the
 * descriptor has seqno 0. It is a hint, as anybody with the right to write the file could
 * change it: the slot must say the same of the event.
 *
 *	15         9 8                  0
 *	| core 1..127 | slot of it 0..511 |
 *
 * Slots are in memory of this process alone (MADV_WIPEONFORK): the child of a fork sees
 * zeroes in place of its parent's floors. No slot is FREE there, none can be claimed, and
 * none belongs to any event. So a child that goes on recording is refused, at no cost to
 * anybody. Slots and cores are never unmapped, so that a late commit reads no wild pointer.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <monad_event/event_recorder.h>

#include "recorder_port.h"

#include "../../kmod/recorder.h"
#include "error.h"
#include "recorder_core.h"

#define SLOT_BITS 9
#define MAX_SLOTS (1U << SLOT_BITS)
#define MAX_GROUPS (MAX_SLOTS / RECORDER_SLOTS)
#define MIN_GROUPS 16
#define MAX_CORES ((1U << (16 - SLOT_BITS)) - 1)

/* The descriptor's head and as much payload as goes with it in a RECORD_ERROR event. */
#define RECORD_ERROR_MAX 4096

struct monad_event_recorder_core_ {
	struct monad_recorder r;
	unsigned int id; /* from 1 */
	bool in_use;
	struct monad_ring_ext own_ext; /* where the ring has none */
};

_Thread_local unsigned int monad_recorder_group;

/* By number. Pointers are set once. */
static struct monad_event_recorder_core_ *cores[MAX_CORES + 1];

/* What recorders of an unmapped ring look at. */
static struct monad_event_ring_header nothing;

/*
 * Setting up
 */

/* As many as CPUs, so that seldom two running threads have the same. A power of two. */
static unsigned int nr_groups(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	unsigned int groups = MIN_GROUPS;

	while (groups < MAX_GROUPS && groups < cpus)
		groups *= 2;
	return groups;
}

static struct monad_event_recorder_core_ *core_alloc(unsigned int id)
{
	const size_t size = sizeof(struct monad_recorder_slots) * MAX_GROUPS;
	struct monad_event_recorder_core_ *core;
	void *slots;

	core = aligned_alloc(__alignof__(*core), sizeof(*core));
	if (!core)
		return NULL;
	slots = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (slots == MAP_FAILED)
		goto free_core;
	/* Without this, a child could write where its parent does. */
	if (madvise(slots, size, MADV_WIPEONFORK) != 0)
		goto free_slots;
	memset(core, 0, sizeof(*core));
	core->id = id;
	core->r.slots = slots;
	return core;

free_slots:
	munmap(slots, size);
free_core:
	free(core);
	return NULL;
}

/* A core that is not in use; the one that has not been for longest. */
static int core_get(const char *name, struct monad_event_recorder_core_ **core)
{
	static unsigned int last;
	unsigned int i;

	for (i = 0; i < MAX_CORES; i++) {
		last = last % MAX_CORES + 1;
		if (!cores[last] || !cores[last]->in_use)
			break;
	}
	if (i == MAX_CORES)
		return FAIL(EMFILE, "cannot record to event ring `%s`: this process writes to %u",
			    name, MAX_CORES);
	if (!cores[last]) {
		*core = core_alloc(last);
		if (!*core)
			return FAIL(ENOMEM, "no memory for the recorder of event ring `%s`", name);
		__atomic_store_n(&cores[last], *core, __ATOMIC_RELEASE);
	}
	*core = cores[last];
	return 0;
}

int recorder_core_create(const struct monad_event_ring *ring, struct monad_ring_ext *ext,
			 const char *name, struct monad_event_recorder_core_ **core_out)
{
	struct monad_event_recorder_core_ *core;
	unsigned int groups, i;
	int err;

	err = core_get(name, &core);
	if (err)
		return err;
	memset(&core->own_ext, 0, sizeof(core->own_ext));
	/* Few descriptors allow for few slots: the margin is one for each. */
	for (groups = nr_groups();; groups /= 2) {
		err = -monad_recorder_init(&core->r, ring->header, ring->descriptors,
					   ring->payload_buf, ext ? ext : &core->own_ext,
					   (u64)groups * RECORDER_SLOTS);
		if (!err || groups == 1)
			break;
	}
	if (err)
		return FAIL(err, "event ring `%s` is too small to be written", name);
	/* The sizes came from memory that others may write: they must be the mapping's. */
	if (core->r.desc_mask != ring->desc_capacity_mask ||
	    core->r.payload_mask != ring->payload_buf_mask)
		return FAIL(EPROTO, "event ring `%s` has other sizes than when it was mapped",
			    name);
	for (i = 0; i < MAX_GROUPS; i++)
		monad_recorder_init_slots(&core->r, &core->r.slots[i]);
	core->r.slowest = NULL;
	core->in_use = true;
	*core_out = core;
	return 0;
}

bool recorder_core_is_busy(const struct monad_event_recorder_core_ *core)
{
	unsigned int i;

	for (i = 0; i < core->r.nr_slots; i++) {
		if (port_load_acquire(&core->r.slots->slot[i].floor) != RECORDER_FREE)
			return true;
	}
	return false;
}

void recorder_core_destroy(struct monad_event_recorder_core_ *core)
{
	memset(core->r.slots, 0, sizeof(struct monad_recorder_slots) * MAX_GROUPS);
	core->r.control = &nothing.control;
	core->r.ext = &core->own_ext;
	core->r.descs = NULL;
	core->in_use = false;
}

void recorder_core_abandon(struct monad_event_recorder_core_ *core)
{
	core->in_use = false;
}

/*
 * Reserving
 */

static __attribute__((noinline, cold)) void assign_group(void)
{
	static unsigned int last;
	unsigned int group = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);

	monad_recorder_group = group ? group : MAX_GROUPS;
}

static struct monad_event_descriptor *nothing_reserved(uint64_t *seqno, uint8_t **payload)
{
	*seqno = 0;
	*payload = NULL;
	return NULL;
}

static __always_inline struct monad_event_descriptor *
reserve(struct monad_event_recorder_core_ *core, uint16_t type, size_t size, uint64_t *seqno,
	uint8_t **payload)
{
	struct monad_event_descriptor *desc;
	struct monad_ring_record *rec;
	u64 slot;

	if (unlikely(!core))
		return nothing_reserved(seqno, payload);
	if (unlikely(!monad_recorder_group))
		assign_group();
	rec = recorder_reserve(&core->r, type, size);
	if (unlikely(!rec))
		return nothing_reserved(seqno, payload);
	slot = (u64)core->id << SLOT_BITS | (u64)(rec - core->r.slots->slot);
	desc = rec->desc;
	port_store(recorder_type_size(desc), (u64)size << 32 | slot << 16 | type);
	/* What is between this payload and the next is nobody's, and zero. */
	if (size % MONAD_EVENT_PAYLOAD_ALIGN)
		memset(rec->payload + size / MONAD_EVENT_PAYLOAD_ALIGN * MONAD_EVENT_PAYLOAD_ALIGN,
		       0, MONAD_EVENT_PAYLOAD_ALIGN);
	*seqno = rec->seqno;
	*payload = rec->payload;
	return desc;
}

struct monad_event_descriptor *
monad_event_recorder_reserve_(const struct monad_event_recorder *recorder, uint16_t event_type,
			      size_t payload_size, uint64_t *seqno, uint8_t **payload)
{
	return reserve(recorder->core_, event_type, payload_size, seqno, payload);
}

static bool is_common_type(uint16_t event_type)
{
	return event_type == MONAD_EVENT_NONE_EVENT_TYPE ||
	       event_type == MONAD_EVENT_RECORD_ERROR_EVENT_TYPE;
}

struct monad_event_descriptor *
monad_event_recorder_reserve_type(struct monad_event_recorder *recorder, uint16_t event_type,
				  size_t payload_size, uint64_t *seqno, uint8_t **payload)
{
	struct monad_event_recorder_core_ *core = recorder->core_;

	if (unlikely(is_common_type(event_type))) {
		if (core)
			recorder_lost(&core->r, MONAD_RING_LOST_BAD_ARG);
		return nothing_reserved(seqno, payload);
	}
	return reserve(core, event_type, payload_size, seqno, payload);
}

/*
 * Committing
 */

/* Whether @rec holds this very event. */
static __always_inline bool holds(const struct monad_ring_record *rec,
				  const struct monad_event_descriptor *desc, uint64_t seqno)
{
	return rec->desc == desc && port_load(&rec->seqno) == seqno && seqno &&
	       port_load(&rec->floor) != RECORDER_FREE;
}

static bool has_descriptor(const struct monad_event_recorder_core_ *core,
			   const struct monad_event_descriptor *desc)
{
	return core->r.descs && desc >= core->r.descs &&
	       desc <= core->r.descs + core->r.desc_mask;
}

/* The slot of an event whose descriptor does not say so; NULL if there is none. */
static __attribute__((noinline, cold)) struct monad_ring_record *
find_record(struct monad_event_descriptor *desc, uint64_t seqno)
{
	struct monad_event_recorder_core_ *core;
	unsigned int id, i;

	for (id = 1; id <= MAX_CORES; id++) {
		core = __atomic_load_n(&cores[id], __ATOMIC_ACQUIRE);
		if (!core || !has_descriptor(core, desc))
			continue;
		for (i = 0; i < core->r.nr_slots; i++) {
			if (holds(&core->r.slots->slot[i], desc, seqno))
				return &core->r.slots->slot[i];
		}
		recorder_lost(&core->r, MONAD_RING_LOST_BAD_ARG);
		break;
	}
	return NULL;
}

static __always_inline struct monad_ring_record *
get_record(struct monad_event_descriptor *desc, uint64_t seqno)
{
	unsigned int hint = __atomic_load_n(&desc->unused, __ATOMIC_RELAXED);
	struct monad_event_recorder_core_ *core =
		__atomic_load_n(&cores[hint >> SLOT_BITS], __ATOMIC_ACQUIRE);
	struct monad_ring_record *rec;

	if (likely(core)) {
		rec = &core->r.slots->slot[hint % MAX_SLOTS];
		if (likely(holds(rec, desc, seqno)))
			return rec;
	}
	return find_record(desc, seqno);
}

/*
 * As recorder_commit(), and before the slot can be another's, its number goes: until that one has
 * reserved, the slot would still say that it holds this event, and a second commit set it free.
 */
static __always_inline void publish(struct monad_ring_record *rec, uint64_t seqno)
{
	port_store(&rec->seqno, 0);
	/* LMM(recorder_commit:A) */
	port_store_release(&rec->desc->seqno, seqno);
	recorder_release(rec);
}

void monad_event_recorder_commit_(struct monad_event_descriptor *event, uint64_t seqno)
{
	struct monad_ring_record *rec;

	if (unlikely(!event))
		return;
	rec = get_record(event, seqno);
	if (unlikely(!rec))
		return;
	__atomic_store_n(&event->unused, 0, __ATOMIC_RELAXED);
	publish(rec, seqno);
}

void monad_event_recorder_discard(struct monad_event_descriptor *event, uint64_t seqno)
{
	struct monad_ring_record *rec;

	if (unlikely(!event))
		return;
	rec = get_record(event, seqno);
	if (unlikely(!rec))
		return;
	recorder_empty(rec);
	publish(rec, seqno);
}

/*
 * Copying
 */

static int output_error(struct monad_event_recorder *recorder, uint16_t event_type,
			const void *data, size_t size)
{
	struct monad_event_record_error error = {
		.error_type = size > UINT32_MAX ? MONAD_EVENT_RECORD_ERROR_OVERFLOW_4GB
						: MONAD_EVENT_RECORD_ERROR_OVERFLOW_EXPIRE,
		.dropped_event_type = event_type,
		.truncated_payload_size = RECORD_ERROR_MAX - sizeof(error),
		.requested_payload_size = size,
	};
	struct monad_event_descriptor *event;
	uint8_t *payload;
	uint64_t seqno;

	recorder_lost(&recorder->core_->r, MONAD_RING_LOST_TOO_LARGE);
	event = reserve(recorder->core_, MONAD_EVENT_RECORD_ERROR_EVENT_TYPE, RECORD_ERROR_MAX,
			&seqno, &payload);
	if (event) {
		memcpy(payload, &error, sizeof(error));
		memcpy(payload + sizeof(error), data, error.truncated_payload_size);
		monad_event_recorder_commit_(event, seqno);
	}
	return event ? EMSGSIZE : ENOBUFS;
}

int monad_event_recorder_output(struct monad_event_recorder *recorder, uint16_t event_type,
				const void *data, size_t size)
{
	struct monad_event_recorder_core_ *core = recorder->core_;
	struct monad_event_descriptor *event;
	uint8_t *payload;
	uint64_t seqno;
	int err = 0;

	if (unlikely(core && (is_common_type(event_type) || (!data && size)))) {
		recorder_lost(&core->r, MONAD_RING_LOST_BAD_ARG);
		err = EINVAL;
	} else if (unlikely(core && size > core->r.max_size)) {
		err = output_error(recorder, event_type, data, size);
	} else {
		event = reserve(core, event_type, size, &seqno, &payload);
		if (likely(event)) {
			if (size)
				memcpy(payload, data, size);
			monad_event_recorder_commit_(event, seqno);
		} else {
			err = ENOBUFS;
		}
	}
	return err;
}

const struct monad_ring_ext *
monad_event_recorder_counters(const struct monad_event_recorder *recorder)
{
	return recorder->core_ ? recorder->core_->r.ext : NULL;
}

uint64_t monad_event_get_epoch_nanos(void)
{
	return port_epoch_nanos();
}
