// SPDX-License-Identifier: GPL-2.0
/*
 * Wakeups that come although writer and reader missed each other.
 *
 * A writer has no barrier between publishing its event and looking at wake_at (notify.h). What
 * that may lead to is a few nanoseconds wide and hardly ever hit. Here it is made: after readers
 * went to sleep, and before the worker has looked again, an event is published by a writer that
 * does not look at wake_at at all, as one that looked before they armed.
 */
#include <linux/module.h>

#include "notify_kunit.h"

#define TRIES 50

static const struct scene scenes[] = {
	{ "next", 0, {}, false, { ONE(1) }, 1, 1 },
	{ "begun", 1, { 1 }, false, { ONE(1) }, 1, 1 },
	{ "behind others", 9, { 2 }, false, { ONE(2) }, 2, 1 },
	{ "last of a batch", 9, {}, false, { { 1, 10 } }, 10, 1 },
	{ "first of a batch", 10, { 1 }, false, { { 1, 10 } }, 1, 1 },
	{ "first of a batch, stalled", STALLED, { 1 }, false, { { 1, 10 } }, 1, 1 },
	{ "forced", 3, { 2 }, true, { { 2, 100 } }, 2, 1 },
	{ "forced, stalled", STALLED, { 2 }, true, { { 2, 100 } }, 2, 1 },
	{ "stalled", STALLED, { 1 }, false, { ONE(1) }, 1, 1 },
	{ "the same", 1, { 1 }, false, { ONE(1), ONE(1), ONE(1) }, 1, 7 },
	{ "lower one, armed first", 3, { 1, 3 }, false, { ONE(1), ONE(3) }, 1, 1 },
	{ "lower one, armed last", 3, { 1, 3 }, false, { ONE(3), ONE(1) }, 1, 2 },
	{ "higher one, armed first", 3, { 1, 3 }, false, { ONE(3), ONE(1) }, 3, 1 },
	{ "higher one, armed last", 3, { 1, 3 }, false, { ONE(1), ONE(3) }, 3, 2 },
	{ "lowest of three", 1, { 1 }, false, { ONE(1), ONE(2), ONE(3) }, 1, 1 },
	{ "one between", 3, { 1, 2, 3 }, false, { ONE(3), ONE(1), ONE(2) }, 2, 4 },
	{ "next, others for later ones", 0, {}, false, { ONE(1), ONE(7), { 1, 9 } }, 1, 1 },
	{ "batch and one of it", 2, { 1 }, false, { { 1, 3 }, ONE(1) }, 1, 2 },
	{ "batch, the first still missing", 2, { 1 }, false, { { 2, 2 }, ONE(1) }, 3, 1 },
	{ "lower of stalled", STALLED, { 1, 3 }, false, { ONE(1), ONE(3) }, 1, 1 },
	{ "lower of stalled, armed last", STALLED, { 1, 3 }, false, { ONE(3), ONE(1) }, 1, 2 },
	{ "higher of stalled", STALLED, { 1, 3 }, false, { ONE(1), ONE(3) }, 3, 2 },
	{ "higher of stalled, armed first", STALLED, { 1, 3 }, false, { ONE(3), ONE(1) }, 3, 1 },
	{ "one between of stalled", STALLED, { 1, 2, 3 }, false, { ONE(3), ONE(1), ONE(2) }, 2, 4 },
	{ "stalled, another for the next", STALLED, { 1 }, false,
	  { ONE(1), ONE(STALLED + 1) }, 1, 1 },
	{ "next, another for a stalled one", STALLED, { 1 }, false,
	  { ONE(1), ONE(STALLED + 1) }, STALLED + 1, 2 },
	{ "next, others for stalled ones", STALLED, { 1, 2 }, false,
	  { ONE(1), ONE(2), ONE(STALLED + 1) }, STALLED + 1, 4 },
	/* Nobody gets it. */
	{ "not: one before", 2, { 1, 2 }, false, { ONE(2) }, 1, 0 },
	{ "not: one after", 2, { 1, 2 }, false, { ONE(1) }, 2, 0 },
	{ "not: all but the last of a batch", 9, { 9 }, false, { { 1, 10 } }, 9, 0 },
	{ "not: all but the first of a batch", 10, { 1, 10 }, false, { { 1, 10 } }, 10, 0, 1 },
	{ "not: forced, without the first", 3, { 1, 2 }, true, { { 1, 100 } }, 2, 0 },
	{ "not: nobody's", 1, { 1 }, false, { ONE(2), ONE(3), { 2, 5 } }, 1, 0 },
	{ "not: another stalled one", STALLED, { 1, 2 }, false, { ONE(1) }, 2, 0 },
};

static void scene_name(const struct scene *scene, char *name)
{
	strscpy(name, scene->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(scene, scenes, scene_name);

/* Up to where everyone sleeps and one event was missed. Whether that worked. */
static bool try_threads(struct kunit *test, const struct scene *scene)
{
	struct notify_test *t = test->priv;
	struct monad_ring_record *rec;
	unsigned int i;

	set_scene(test, scene);
	for (i = 0; i < SLEEPERS && scene->want[i].count; i++)
		make_thread(test, &t->sleeper[i]);
	rec = begin_missed(test, scene);
	for (i = 0; i < SLEEPERS && t->sleeper[i].task; i++)
		put_to_sleep(test, &t->sleeper[i]);
	if (missed_by_threads(t, scene->missed, rec))
		return true;
	/* The worker was faster. */
	if (rec)
		commit(t, rec);
	write_all_wanted(test, scene);
	for (i = 0; i < SLEEPERS && t->sleeper[i].task; i++)
		expect_over(test, &t->sleeper[i]);
	for (i = 0; i < SLEEPERS && t->sleeper[i].task; i++)
		KUNIT_ASSERT_TRUE(test, completion_done(&t->sleeper[i].over));
	end_threads(t);
	return false;
}

static void wait_missed(struct kunit *test)
{
	const struct scene *scene = test->param_value;
	struct notify_test *t = test->priv;
	unsigned int i, tries = 1;

	while (!try_threads(test, scene))
		KUNIT_ASSERT_LT(test, tries++, (unsigned int)TRIES);
	for (i = 0; i < SLEEPERS; i++) {
		if (scene->woken & BIT(i))
			expect_over(test, &t->sleeper[i]);
	}
	schedule_timeout_uninterruptible(QUIET);
	for (i = 0; i < SLEEPERS; i++) {
		if (scene->want[i].count && !(scene->woken & BIT(i)))
			KUNIT_EXPECT_FALSE(test, completion_done(&t->sleeper[i].over));
	}
	if (!scene->woken)
		expect_none_woken(test, scene);
	write_all_wanted(test, scene);
	for (i = 0; i < SLEEPERS && scene->want[i].count; i++)
		expect_over(test, &t->sleeper[i]);
	expect_worker_ends(test);
}

static void poll_missed(struct kunit *test)
{
	const struct scene *scene = test->param_value;
	struct notify_test *t = test->priv;
	struct monad_ring_record *rec;
	unsigned int i, all = 0, wrong = 0;
	unsigned long flags;

	set_scene(test, scene);
	for (i = 0; i < SLEEPERS && scene->want[i].count; i++) {
		/* Of which one that is woken would be enough. */
		enqueue(&t->sleeper[i], i);
		all |= BIT(i);
	}
	rec = begin_missed(test, scene);
	/* No tick, no worker. */
	local_irq_save(flags);
	for (i = 0; i < SLEEPERS && scene->want[i].count; i++)
		wrong += poll_once(&t->sleeper[i]) != 0;
	wrong += t->notify.looks != LOOKS;
	publish_unseen(t, scene->missed, rec);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, wrong, 0U);
	sleep_in_poll(test, scene->woken);
	schedule_timeout_uninterruptible(QUIET);
	if (!scene->woken)
		expect_none_woken(test, scene);
	for (i = 0; i < SLEEPERS; i++) {
		struct sleeper *s = &t->sleeper[i];

		if (!scene->woken)
			KUNIT_EXPECT_EQ(test, s->wakes, i ? 0 : scene->idle_wakes);
		if (s->queued)
			KUNIT_EXPECT_EQ(test, poll_once(s), 0U);
	}
	write_all_wanted(test, scene);
	sleep_in_poll(test, all);
	expect_worker_ends(test);
}

/* Polls, and misses the event that is to be published. What poll said. */
static u32 poll_and_miss(struct kunit *test, u64 seqno, struct monad_ring_record *rec)
{
	struct notify_test *t = test->priv;
	unsigned long flags;
	u32 mask;

	local_irq_save(flags);
	mask = poll_once(&t->sleeper[0]);
	publish_unseen(t, seqno, rec);
	local_irq_restore(flags);
	return mask;
}

/* Is woken, and polls anew. What poll said then. */
static void expect_wakes(struct kunit *test)
{
	struct notify_test *t = test->priv;
	long left = PATIENCE;

	while (left && !READ_ONCE(t->sleeper[0].woken))
		left = wait_for_completion_timeout(&t->woken, left);
	KUNIT_EXPECT_TRUE(test, xchg(&t->sleeper[0].woken, false));
}

/*
 * An edge-triggered reader that has read what there is: the next it is woken for is the first
 * that was missing, whatever is there behind it.
 */
static void edge_missed(struct kunit *test, u64 begun)
{
	const struct scene scene = { .begun = begun, .held = { 3, 5 }, .want = { ONE(1) } };
	struct notify_test *t = test->priv;
	struct sleeper *s = &t->sleeper[0];
	struct monad_ring_record *rec;

	set_scene(test, &scene);
	enqueue(s, false);
	KUNIT_EXPECT_EQ(test, poll_and_miss(test, 3, NULL), IN);
	KUNIT_EXPECT_EQ(test, s->edge, t->base + 3);
	expect_wakes(test);
	KUNIT_EXPECT_EQ(test, poll_and_miss(test, 5, NULL), IN);
	KUNIT_EXPECT_EQ(test, s->edge, t->base + 5);
	expect_wakes(test);
	rec = begin(test);
	KUNIT_EXPECT_EQ(test, poll_and_miss(test, begun + 1, rec), IN);
	KUNIT_EXPECT_EQ(test, s->edge, t->base + begun + 1);
	expect_wakes(test);
	KUNIT_EXPECT_EQ(test, poll_once(s), IN);
	KUNIT_EXPECT_EQ(test, s->edge, t->base + begun + 2);
	/* All is there. */
	KUNIT_EXPECT_EQ(test, s->wakes, 3U);
	expect_worker_ends(test);
	KUNIT_EXPECT_EQ(test, s->wakes, 3U);
}

static void edge(struct kunit *test)
{
	edge_missed(test, 6);
}

static void edge_stalled(struct kunit *test)
{
	edge_missed(test, STALLED);
}

/* It is told of two at a time, but not for long of less than two that are all there. */
static void edge_batch(struct kunit *test)
{
	const struct scene scene = { .begun = 5, .held = { 3, 5 }, .want = { { 1, 2 } } };
	struct notify_test *t = test->priv;
	struct sleeper *s = &t->sleeper[0];

	set_scene(test, &scene);
	enqueue(s, false);
	/* 3 is missing, 4 not. */
	KUNIT_EXPECT_EQ(test, poll_and_miss(test, 3, NULL), IN);
	KUNIT_EXPECT_EQ(test, s->edge, t->base + 3);
	expect_wakes(test);
	/* 5 is missing, 6 as well: the one is not reason enough. */
	KUNIT_EXPECT_EQ(test, poll_and_miss(test, 5, NULL), IN);
	KUNIT_EXPECT_EQ(test, s->edge, t->base + 5);
	expect_worker_ends(test);
	KUNIT_EXPECT_EQ(test, s->wakes, 1U);
	commit(t, begin(test));
	expect_wakes(test);
	KUNIT_EXPECT_EQ(test, s->wakes, 2U);
}

/* One that is far behind is led on by the worker alone, to what it is to be woken for. */
static void edge_far_behind(struct kunit *test)
{
	const struct scene scene = { .begun = 2 * SEARCH_EVENTS + 100, .want = { ONE(1) } };
	struct notify_test *t = test->priv;
	struct sleeper *s = &t->sleeper[0];
	unsigned int polls = 0;

	set_scene(test, &scene);
	enqueue(s, false);
	for (;;) {
		KUNIT_EXPECT_EQ(test, poll_once(s), IN);
		polls++;
		if (s->edge == last_event(t) + 1 || polls > 3)
			break;
		KUNIT_EXPECT_EQ(test, s->edge, t->base + 1 + polls * SEARCH_EVENTS);
		expect_wakes(test);
	}
	KUNIT_EXPECT_EQ(test, polls, 3U);
	expect_worker_ends(test);
	KUNIT_EXPECT_EQ(test, s->wakes, 2U);
	commit(t, begin(test));
	expect_wakes(test);
}

/* A reader that says that it wants something else while another thread of it sleeps in poll. */
static void repoll(struct kunit *test)
{
	const struct scene scene = { .begun = 2, .held = { 2 }, .want = { { 1, 100 } } };
	struct notify_test *t = test->priv;
	struct sleeper *s = &t->sleeper[0];
	unsigned long flags;

	set_scene(test, &scene);
	enqueue(s, false);
	KUNIT_EXPECT_EQ(test, poll_once(s), 0U);
	s->wanted.count = 2;
	local_irq_save(flags);
	monad_notify_repoll(&t->notify, &t->notify.wait, &s->wanted);
	publish_unseen(t, 2, NULL);
	local_irq_restore(flags);
	sleep_in_poll(test, 1);
	/* And of what is there already. */
	s->wakes = 0;
	s->wanted.count = 1;
	enqueue(s, false);
	monad_notify_repoll(&t->notify, &t->notify.wait, &s->wanted);
	KUNIT_EXPECT_EQ(test, s->wakes, 1U);
	expect_worker_ends(test);
}

/* One whose event's writer is stalled is not woken by all others, but whenever it goes on. */
static void stalled_for_long(struct kunit *test)
{
	const struct scene scene = { .begun = STALLED, .held = { 1 }, .want = { ONE(1) } };
	struct notify_test *t = test->priv;
	struct sleeper *s = &t->sleeper[0];

	set_scene(test, &scene);
	enqueue(s, false);
	KUNIT_EXPECT_EQ(test, poll_once(s), 0U);
	write_up_to(test, 2 * STALLED, NULL);
	schedule_timeout_uninterruptible(QUIET);
	KUNIT_EXPECT_EQ(test, s->wakes, 0U);
	release_held(t);
	sleep_in_poll(test, 1);
	KUNIT_EXPECT_EQ(test, s->wakes, 1U);
	expect_worker_ends(test);
}

/*
 * The worker looks for one that armed when it was already about to. By then not a tick has
 * passed, and the event may not be visible yet: it has to look once more.
 */
static bool try_second_look(struct kunit *test, s64 *ns)
{
	const struct scene scene = { .begun = 1, .held = { 1 }, .want = { ONE(1) } };
	unsigned long flags, end = jiffies + PATIENCE;
	struct notify_test *t = test->priv;
	struct sleeper *s = &t->sleeper[0];
	ktime_t armed;
	bool missed;

	set_scene(test, &scene);
	enqueue(s, false);
	local_irq_save(flags);
	poll_once(s);
	/* The worker's timer has expired as soon as interrupts are on again. */
	mdelay(3 * MSEC_PER_SEC / HZ);
	poll_once(s);
	armed = ktime_get();
	local_irq_restore(flags);
	while (READ_ONCE(t->notify.looks) == LOOKS && time_before(jiffies, end))
		usleep_range(10, 20);
	spin_lock_irqsave(&t->notify.lock, flags);
	*ns = ktime_to_ns(ktime_sub(ktime_get(), armed));
	missed = t->notify.looks == LOOKS - 1 && *ns < NSEC_PER_SEC / HZ;
	if (missed)
		publish_unseen(t, 1, NULL);
	spin_unlock_irqrestore(&t->notify.lock, flags);
	if (!missed)
		release_held(t);
	sleep_in_poll(test, 1);
	return missed;
}

static void second_look(struct kunit *test)
{
	unsigned int tries = 1;
	s64 ns;

	while (!try_second_look(test, &ns))
		KUNIT_ASSERT_LT(test, tries++, (unsigned int)TRIES);
	kunit_info(test, "try %u: published %lld us after arming\n", tries, ns / 1000);
	expect_worker_ends(test);
}

/* Readers that no longer want to know, of an event that is still missing: near, and stalled. */
static void nobody_left(struct kunit *test)
{
	static const struct scene scenes[] = {
		{ .begun = 1, .held = { 1 }, .want = { ONE(1) } },
		{ .begun = STALLED, .held = { 1 }, .want = { ONE(1) } },
		{ .begun = STALLED, .held = { 1, 2 }, .want = { ONE(1), ONE(2) } },
	};
	struct notify_test *t = test->priv;
	unsigned int nr, i;

	for (nr = 0; nr < ARRAY_SIZE(scenes); nr++) {
		set_scene(test, &scenes[nr]);
		/* That wait, for a time. */
		for (i = 0; i < SLEEPERS && scenes[nr].want[i].count; i++) {
			t->sleeper[i].timeout_ns = 50 * NSEC_PER_MSEC;
			make_thread(test, &t->sleeper[i]);
			wake_up_process(t->sleeper[i].task);
		}
		for (i = 0; i < SLEEPERS && t->sleeper[i].task; i++) {
			KUNIT_ASSERT_GT(test, wait_for_completion_timeout(&t->sleeper[i].over,
									  PATIENCE), 0UL);
			KUNIT_EXPECT_EQ(test, t->sleeper[i].err, -ETIMEDOUT);
		}
		end_threads(t);
		expect_worker_ends(test);
		/* That look without sleeping. */
		KUNIT_EXPECT_EQ(test, poll_once(&t->sleeper[0]), 0U);
		expect_worker_ends(test);
		/* Those who come after them are told all the same. */
		enqueue(&t->sleeper[0], false);
		KUNIT_EXPECT_EQ(test, poll_and_miss(test, 1, NULL), 0U);
		sleep_in_poll(test, 1);
		release_held(t);
		expect_worker_ends(test);
	}
}

static int notify_init(struct kunit *test)
{
	struct notify_test *t = kzalloc(sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	init_completion(&t->woken);
	t->ring = test_ring_alloc(1);
	KUNIT_ASSERT_NOT_NULL(test, t->ring);
	monad_notify_init(&t->notify, &t->ring->r);
	set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
	write_up_to(test, BEFORE, NULL);
	return 0;
}

static void notify_exit(struct kunit *test)
{
	struct notify_test *t = test->priv;
	unsigned int i;

	if (t && t->ring) {
		/* Wakes all who are still there after a failure. */
		monad_notify_gone(&t->notify);
		end_threads(t);
		for (i = 0; i < SLEEPERS; i++)
			dequeue(&t->sleeper[i]);
		release_held(t);
		monad_notify_stop(&t->notify);
		test_ring_free(t->ring);
	}
	kfree(t);
}

static struct kunit_case notify_cases[] = {
	KUNIT_CASE_PARAM(wait_missed, scene_gen_params),
	KUNIT_CASE_PARAM(poll_missed, scene_gen_params),
	KUNIT_CASE(edge),
	KUNIT_CASE(edge_stalled),
	KUNIT_CASE(edge_batch),
	KUNIT_CASE(edge_far_behind),
	KUNIT_CASE(repoll),
	KUNIT_CASE(stalled_for_long),
	KUNIT_CASE(second_look),
	KUNIT_CASE(nobody_left),
	{}
};

static struct kunit_suite notify_suite = {
	.name = "monad_notify",
	.init = notify_init,
	.exit = notify_exit,
	.test_cases = notify_cases,
};

kunit_test_suite(notify_suite);
