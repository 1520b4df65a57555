// SPDX-License-Identifier: GPL-2.0
/*
 * The table of rings: which there are, making more, taking some away.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/nodemask.h>
#include <linux/rcupdate_trace.h>
#include <linux/slab.h>

#include "ring.h"

struct monad_ring __rcu *monad_rings[MONAD_RING_MAX];
atomic64_t monad_ring_gone = ATOMIC64_INIT(0);

/* Of changes to the table, and of the rings' devices coming and going. */
static DEFINE_MUTEX(rings_lock);
/* So often had each place of the table another ring. */
static u32 turns[MONAD_RING_MAX];

static struct monad_ring *ring_at(u32 place)
{
	return rcu_dereference_protected(monad_rings[place], lockdep_is_held(&rings_lock));
}

static struct monad_ring *find(const char *name)
{
	struct monad_ring *ring;
	u32 place;

	for (place = 0; place < MONAD_RING_MAX; place++) {
		ring = ring_at(place);
		if (ring && !strcmp(ring->name, name))
			return ring;
	}
	return NULL;
}

/*
 * The id for a new ring: never one that a ring had before, since a BPF program may go on using
 * that. (Not before 2^26 rings in the same place.) False when all places are taken.
 */
static bool new_id(u32 *id)
{
	u32 place;

	for (place = 0; place < MONAD_RING_MAX; place++) {
		if (!ring_at(place)) {
			*id = turns[place] * MONAD_RING_MAX + place;
			return true;
		}
	}
	return false;
}

static int register_device(struct monad_ring *ring)
{
	int err;

	ring->misc.minor = MISC_DYNAMIC_MINOR;
	ring->misc.fops = &monad_ring_fops;
	ring->misc.groups = monad_ring_groups;
	ring->misc.mode = 0400;
	ring->misc.name = ring->id ? kasprintf(GFP_KERNEL, MONAD_RING_DEFAULT_NAME "-%s",
					       ring->name) :
				     kstrdup(MONAD_RING_DEFAULT_NAME, GFP_KERNEL);
	if (!ring->misc.name)
		return -ENOMEM;
	err = misc_register(&ring->misc);
	if (err) {
		pr_err_ratelimited("ring %s: its device cannot be registered: %d\n", ring->name,
				   err);
		kfree(ring->misc.name);
		ring->misc.name = NULL;
		return err;
	}
	pr_info("ring %u, /dev/%s: %llu events, %llu MiB of payload, %u of %u chunks huge\n",
		ring->id, ring->misc.name, ring->header->size.descriptor_capacity,
		ring->header->size.payload_buf_size >> 20, ring->memory.chunks_huge,
		ring->memory.chunks);
	return 0;
}

/* From here on nobody opens it; who is about to has it open. */
static void deregister_device(struct monad_ring *ring)
{
	/* A name says that it was registered. */
	if (!ring->misc.name)
		return;
	misc_deregister(&ring->misc);
	kfree(ring->misc.name);
	ring->misc.name = NULL;
}

static int create(const struct monad_ring_config *config, struct monad_ring **ringp)
{
	u32 id;

	lockdep_assert_held(&rings_lock);
	if (find(config->name)) {
		pr_err_ratelimited("ring %s: there is one already\n", config->name);
		return -EEXIST;
	}
	if (!new_id(&id)) {
		pr_err_ratelimited("ring %s: there are %d rings already\n", config->name,
				   MONAD_RING_MAX);
		return -ENOSPC;
	}
	*ringp = monad_ring_create(config, id);
	return PTR_ERR_OR_ZERO(*ringp);
}

static void publish(struct monad_ring *ring)
{
	/* Pairs with monad_ring_slot(). */
	rcu_assign_pointer(monad_rings[ring->id % MONAD_RING_MAX], ring);
}

static void unpublish(struct monad_ring *ring)
{
	u32 place = ring->id % MONAD_RING_MAX;

	RCU_INIT_POINTER(monad_rings[place], NULL);
	turns[place]++;
}

/**
 * monad_rings_init - make the rings that the module starts with
 * @configs: the default ring's first
 * @nr: how many
 *
 * They have no devices yet, so that nobody can open them: monad_rings_register().
 *
 * Return: 0 or a negative errno; then call monad_rings_exit().
 */
int monad_rings_init(const struct monad_ring_config *configs, u32 nr)
{
	struct monad_ring *ring;
	int err = 0;
	u32 i;

	mutex_lock(&rings_lock);
	for (i = 0; i < nr && !err; i++) {
		err = create(&configs[i], &ring);
		if (!err)
			publish(ring);
	}
	mutex_unlock(&rings_lock);
	return err;
}

int monad_rings_register(void)
{
	struct monad_ring *ring;
	int err = 0;
	u32 place;

	mutex_lock(&rings_lock);
	for (place = 0; place < MONAD_RING_MAX && !err; place++) {
		ring = ring_at(place);
		if (ring)
			err = register_device(ring);
	}
	mutex_unlock(&rings_lock);
	return err;
}

/*
 * When the module goes, or could not be initialized. There are no writers: a loaded BPF program
 * that calls a kfunc holds a reference to the module, and so does an open file.
 */
void monad_rings_exit(void)
{
	struct monad_ring *ring;
	u32 place;

	mutex_lock(&rings_lock);
	for (place = 0; place < MONAD_RING_MAX; place++) {
		ring = ring_at(place);
		if (!ring)
			continue;
		deregister_device(ring);
		unpublish(ring);
		monad_ring_put(ring);
	}
	mutex_unlock(&rings_lock);
}

/**
 * monad_rings_create - make a ring and its device
 * @config: name and sizes checked; what it was made from
 * @id: filled in: what BPF programs call it by
 *
 * Return: 0, -EEXIST, -ENOSPC (too many rings), -EBUSY (no minor number for its device), -EINTR,
 * or as monad_ring_create(). Says why in the log, but not each time if it is asked for on and on.
 */
int monad_rings_create(const struct monad_ring_config *config, u32 *id)
{
	struct monad_ring *ring;
	int err;

	if (mutex_lock_killable(&rings_lock))
		return -EINTR;
	err = create(config, &ring);
	if (err)
		goto out;
	/* Somebody may open it before programs can find it: so it is empty for a moment. */
	err = register_device(ring);
	if (err) {
		monad_ring_put(ring);
		goto out;
	}
	*id = ring->id;
	publish(ring);
out:
	mutex_unlock(&rings_lock);
	return err;
}

/**
 * monad_rings_destroy - take a ring away
 * @name: of the ring
 *
 * Its memory goes with the last file open on it.
 *
 * Return: 0, -ENOENT, -EBUSY for the default ring, or -EINTR.
 */
int monad_rings_destroy(const char *name)
{
	struct monad_ring *ring;
	int err = 0;

	if (mutex_lock_killable(&rings_lock))
		return -EINTR;
	ring = find(name);
	if (!ring)
		err = -ENOENT;
	else if (!ring->id)
		err = -EBUSY;
	if (!err) {
		unpublish(ring);
		deregister_device(ring);
	}
	mutex_unlock(&rings_lock);
	if (err)
		return err;

	/* Until every program that may have seen it has ended, and committed what it wrote. */
	synchronize_rcu();
	synchronize_rcu_tasks_trace();
	WRITE_ONCE(ring->ext->state, MONAD_RING_STATE_GONE);
	monad_notify_gone(&ring->notify);
	pr_info("ring %u, %s: destroyed after %llu events\n", ring->id, ring->name,
		READ_ONCE(ring->header->control.last_seqno));
	monad_ring_put(ring);
	return 0;
}
