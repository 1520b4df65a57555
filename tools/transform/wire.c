// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "dictionary.h"
#include "message.h"
#include "storage_names.h"
#include "text.h"
#include "wire.h"

struct making {
	const struct wire_event *event;
	const struct transform_sources *sources;
	Monad__Dictionary *dictionary;
};

static bool cgroup_path(const struct making *m, uint64_t id, uint32_t *string)
{
	*string = 0;
	if (!id || !m->dictionary || !m->sources || !m->sources->cgroup_path)
		return true;
	return dictionary_string(m->dictionary, m->sources->cgroup_path(m->sources->arg, id),
				 string);
}

static bool set_device(const struct making *m, Monad__StorageEvent *to)
{
	const struct facts *facts = m->event->facts;
	const struct transform_sources *sources = m->sources;
	Monad__StorageDevice *device;
	const char *name = NULL;
	bool another;

	if (!facts->dev_major && !facts->dev_minor)
		return true;
	device = malloc(sizeof(*device));
	to->device = device;
	if (!device)
		return false;
	monad__storage_device__init(device);
	device->major = facts->dev_major;
	device->minor = facts->dev_minor;
	if (sources && sources->disk_name)
		name = sources->disk_name(sources->arg, facts->dev_major, facts->dev_minor);
	/* Another disk may have the number now. What it was called then may be cut. */
	another = name && facts->disk[0] &&
		  strncmp(name, facts->disk, sizeof(facts->disk) - 1) != 0;
	if (name && !another ? !text_set(&device->name, name) :
		   !text_set_n(&device->name, facts->disk, sizeof(facts->disk)))
		return false;
	if (another || !sources || !sources->partition ||
	    facts->sector == MONAD_STORAGE_NO_SECTOR || facts_are_of_call(facts))
		return true;
	return text_set(&device->partition,
			sources->partition(sources->arg, facts->dev_major, facts->dev_minor,
					   facts->sector));
}

static Monad__StorageActor *new_actor(const struct making *m, const struct victim *who)
{
	Monad__StorageActor *actor = malloc(sizeof(*actor));

	if (!actor)
		return NULL;
	monad__storage_actor__init(actor);
	actor->pid = who->pid;
	actor->tgid = who->tgid;
	actor->cgroup_id = who->cgroup_id;
	actor->mount_namespace = who->mount_namespace;
	actor->kernel_thread = !!(who->flags & MONAD_STORAGE_F_KTHREAD);
	actor->issuer = !!(who->flags & MONAD_STORAGE_F_ACTOR_ISSUER);
	if (text_set_n(&actor->comm, who->comm, sizeof(who->comm)) &&
	    cgroup_path(m, who->cgroup_id, &actor->cgroup))
		return actor;
	monad__storage_actor__free_unpacked(actor, NULL);
	return NULL;
}

static bool set_actor(const struct making *m, Monad__StorageEvent *to)
{
	const struct facts *facts = m->event->facts;
	struct victim who = {
		.cgroup_id = facts->cgroup_id,
		.mount_namespace = m->event->mount_namespace,
		.pid = facts->pid,
		.tgid = facts->tgid,
		.flags = facts->flags,
	};

	if (!m->event->attribution || (!facts->pid && !facts->tgid && !*facts->comm))
		return true;
	memcpy(who.comm, facts->comm, sizeof(who.comm));
	to->actor = new_actor(m, &who);
	return to->actor;
}

static bool set_victims(const struct making *m, Monad__StorageEvent *to)
{
	to->affected = m->event->affected;
	for (size_t i = 0; i < m->event->nr_victims; i++) {
		Monad__StorageActor **victims = array_grow(to->victims, to->n_victims);

		if (!victims)
			return false;
		to->victims = victims;
		victims[to->n_victims] = new_actor(m, &m->event->victims[i]);
		if (!victims[to->n_victims])
			return false;
		to->n_victims++;
	}
	return true;
}

/* Those that say which times are known have no name: that is said apart. */
static bool set_flags(const struct making *m, Monad__StorageEvent *to)
{
	for (unsigned int bit = 0; bit < 32; bit++) {
		const char *name = flag_name(bit);
		char **flags;

		if (!(m->event->facts->flags & 1U << bit) || !name)
			continue;
		flags = array_grow(to->flags, to->n_flags);
		if (!flags)
			return false;
		to->flags = flags;
		flags[to->n_flags] = NULL;
		if (!text_set(&flags[to->n_flags], name))
			return false;
		to->n_flags++;
	}
	return true;
}

static bool set_texts(const struct making *m, Monad__StorageEvent *to)
{
	const struct facts *facts = m->event->facts;
	char reason[REASON_TEXT_LEN];

	return text_set(&to->operation, facts->operation) &&
	       text_set(&to->reason_class, reason_class(m->event->reason)) &&
	       text_set(&to->reason, reason_text(m->event->reason, facts, reason)) &&
	       text_set_n(&to->filesystem, facts->fs, sizeof(facts->fs)) &&
	       text_set_n(&to->file, facts->file, sizeof(facts->file));
}

static void set_numbers(const struct facts *facts, Monad__StorageEvent *to)
{
	to->layer = facts->layer;
	to->phase = facts->phase;
	to->has_sector = facts->sector != MONAD_STORAGE_NO_SECTOR && !facts_are_of_call(facts);
	to->sector = to->has_sector ? facts->sector : 0;
	to->bytes = facts->bytes;
	to->has_latency = facts->has_latency;
	to->latency_ns = facts->latency_ns;
	to->has_queue = facts->has_queue;
	to->queue_ns = facts->queue_ns;
	to->has_device = facts->has_device;
	to->device_ns = facts->device_ns;
	to->charged_cgroup_id = facts->charged_cgroup_id;
	to->error = facts->error;
	to->issues = facts->issues;
	to->requeues = facts->requeues_issued + facts->requeues_unissued;
	to->partials = facts->partials;
	to->count = facts->count ? facts->count : 1;
	to->seqno = facts->seqno;
	to->inode = facts->inode;
}

static bool fill_in(const struct making *m, Monad__StorageEvent *to)
{
	const struct wire_event *event = m->event;

	set_numbers(event->facts, to);
	if (event->stack && event->attribution && m->dictionary &&
	    !dictionary_stack(m->dictionary, m->sources, event->stack, &to->stack))
		return false;
	return set_texts(m, to) && set_device(m, to) && set_actor(m, to) && set_victims(m, to) &&
	       set_flags(m, to) &&
	       (!event->attribution ||
		cgroup_path(m, event->facts->charged_cgroup_id, &to->charged_cgroup));
}

Monad__EventWrapper *wire_make(const struct wire_event *event,
			       const struct transform_sources *sources,
			       Monad__Dictionary *dictionary)
{
	const struct making m = { event, sources, dictionary };
	Monad__EventWrapper *wrapper = malloc(sizeof(*wrapper));
	char message[MESSAGE_LEN];

	if (!wrapper)
		return NULL;
	monad__event_wrapper__init(wrapper);
	wrapper->time_ns = event->facts->time_ns;
	wrapper->severity = event->severity;
	wrapper->storage = malloc(sizeof(*wrapper->storage));
	if (wrapper->storage) {
		wrapper->payload_case = MONAD__EVENT_WRAPPER__PAYLOAD_STORAGE;
		monad__storage_event__init(wrapper->storage);
		if (fill_in(&m, wrapper->storage) &&
		    text_set(&wrapper->name, reason_event_name(event->reason, event->facts)) &&
		    text_set(&wrapper->task_id, event->task_id) &&
		    text_set(&wrapper->message, message_make(event, wrapper->storage, message)))
			return wrapper;
	}
	monad__event_wrapper__free_unpacked(wrapper, NULL);
	return NULL;
}

Monad__EventWrapper *transform_task_event(const struct transform_sources *sources,
					  const struct raw_event *event, const char *task_id,
					  uint64_t slow_ns, Monad__Dictionary *dictionary)
{
	const struct limits limits = { .slow_ns = slow_ns };
	struct facts facts;
	struct wire_event wire = {
		.facts = &facts,
		.limits = &limits,
		.severity = MONAD__SEVERITY__SEVERITY_INFO,
		.task_id = task_id,
		.attribution = true,
	};

	if (facts_of_event(&facts, event)) {
		wire.reason = reason_of(&facts, &limits);
		wire.severity = reason_severity(wire.reason, &facts, &limits, 1);
	}
	if (sources && sources->mount_namespace && facts.pid)
		wire.mount_namespace = sources->mount_namespace(sources->arg, facts.pid);
	if (sources && sources->stack && facts.stack)
		wire.stack = sources->stack(sources->arg, facts.stack, facts.seqno);
	return wire_make(&wire, sources, dictionary);
}

const char *transform_reason_class(const struct raw_event *event, uint64_t slow_ns)
{
	const struct limits limits = { .slow_ns = slow_ns };
	struct facts facts;

	return facts_of_event(&facts, event) ? reason_class(reason_of(&facts, &limits)) : NULL;
}
