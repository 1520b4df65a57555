// SPDX-License-Identifier: GPL-2.0
/*
 * One event as a message: what is notable and why, how bad it is, which names it gets, and
 * what becomes of events that are not what they should be.
 */
#include "reason.h"
#include "storage_names.h"
#include "transform_events.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Sources
 */

static const struct monad_storage_stack known_stack = {
	.id = 7,
	.tgid = 100,
	/* a program and its trampoline, then submit_bio and main */
	.kernel = { 0x10, 0x11, 0x20, 0x30 },
	.user = { 0x40, 0x50 },
};

static const char *disk_name(void *arg, uint32_t dev_major, uint32_t dev_minor)
{
	return dev_major == 8 ? "sda" : NULL;
}

static const char *partition(void *arg, uint32_t dev_major, uint32_t dev_minor, uint64_t sector)
{
	return sector == 2048 ? "sda1" : NULL;
}

static const char *cgroup_path(void *arg, uint64_t id)
{
	return id == 70 ? "/charged" : id == 71 ? "/actor" : NULL;
}

static uint64_t mount_namespace(void *arg, uint32_t pid)
{
	return pid == 101 ? 4026531840 : 0;
}

static const struct monad_storage_stack *stack(void *arg, uint32_t id, uint64_t seqno)
{
	return id == 7 ? &known_stack : NULL;
}

static const char *symbol(void *arg, const struct monad_storage_stack *of, uint64_t address,
			  bool user, const char **module, uint64_t *offset)
{
	*offset = address & 0xf;
	switch (address) {
	case 0x10:
		return "bpf_prog_0123_on_start";
	case 0x11:
		return "bpf_trace_run1";
	case 0x20:
		return "submit_bio";
	case 0x40:
		*module = "libc.so.6";
		return "pread64";
	case 0x50:
		*module = "program";
		return NULL;
	}
	return NULL;
}

static const struct transform_sources sources = {
	.disk_name = disk_name,
	.partition = partition,
	.cgroup_path = cgroup_path,
	.mount_namespace = mount_namespace,
	.stack = stack,
	.symbol = symbol,
};

static const char *text_of(const Monad__Dictionary *dictionary, uint32_t id)
{
	for (size_t i = 0; i < dictionary->n_strings; i++) {
		if (dictionary->strings[i]->id == id)
			return dictionary->strings[i]->text;
	}
	return NULL;
}

static Monad__Dictionary *new_dictionary(void)
{
	Monad__Dictionary *dictionary = malloc(sizeof(*dictionary));

	if (!dictionary)
		bail_out("no memory");
	monad__dictionary__init(dictionary);
	return dictionary;
}

static Monad__EventWrapper *make(const struct transform_sources *from,
				 const struct raw_event *event, uint64_t slow_ns,
				 Monad__Dictionary *dictionary)
{
	Monad__EventWrapper *made = transform_task_event(from, event, "t-1", slow_ns, dictionary);

	if (!made)
		bail_out("no event");
	return made;
}

static void drop(Monad__EventWrapper *made)
{
	monad__event_wrapper__free_unpacked(made, NULL);
}

/*
 * Why
 */

static void reason_is(const struct raw_event *event, uint64_t slow_ns, const char *want,
		      const char *what)
{
	eq_str(transform_reason_class(event, slow_ns), want, "%s: %s", what,
	       want ? want : "nothing");
}

static void test_reasons_of_ends(void)
{
	struct raw_event event = quick_read();

	reason_is(&event, 10 * MS, NULL, "a quick read");
	event = slow_read(10 * MS);
	reason_is(&event, 10 * MS, "slow", "as slow as the threshold");
	event = slow_read(10 * MS - 1);
	reason_is(&event, 10 * MS, NULL, "one nanosecond less");
	reason_is(&event, 0, NULL, "without a threshold");
	event.complete.flags |= MONAD_STORAGE_F_SLOW;
	reason_is(&event, 0, "slow", "without a threshold, and marked");
	reason_is(&event, 10 * MS, NULL, "marked, and less than a threshold that is given");
	event = slow_read(10 * MS);
	event.complete.flags &= ~MONAD_STORAGE_F_TOTAL_NS;
	reason_is(&event, 10 * MS, NULL, "a time that is not valid");
	event = slow_read(10 * MS);
	event.complete.op = MONAD_STORAGE_OP_FLUSH;
	reason_is(&event, 10 * MS, "flush", "a slow flush");
	event.complete.op = MONAD_STORAGE_OP_WRITE;
	event.type = MONAD_STORAGE_FLUSH_COMPLETE;
	reason_is(&event, 10 * MS, "flush", "a slow flush of the kernel's own");
	event.type = MONAD_STORAGE_BIO_COMPLETE;
	reason_is(&event, 10 * MS, "slow", "a bio");
	event.complete.requeues_unissued = 9;
	reason_is(&event, 100 * MS, NULL, "requeued before it got there");
	event.complete.requeues_issued = 1;
	reason_is(&event, 10 * MS, "retry", "a slow one that was given back");
	event.complete.flags |= MONAD_STORAGE_F_TIMED_OUT;
	reason_is(&event, 10 * MS, "timeout", "and timed out");
	event.complete.error = EIO;
	reason_is(&event, 10 * MS, "error", "and failed");
	event.complete.error = ETIMEDOUT;
	reason_is(&event, 10 * MS, "timeout", "and failed with ETIMEDOUT");
	event = failed_read(ETIMEDOUT);
	reason_is(&event, 10 * MS, "timeout", "ETIMEDOUT alone");
	event = quick_read();
	event.complete.flags |= MONAD_STORAGE_F_END_UNSEEN;
	reason_is(&event, 10 * MS, "unseen", "an end that was not seen");
	event.complete.flags |= MONAD_STORAGE_F_SAMPLE | MONAD_STORAGE_F_ORPHAN;
	event.complete.flags &= ~MONAD_STORAGE_F_END_UNSEEN;
	reason_is(&event, 10 * MS, NULL, "a sample, without its begin");
}

static void test_reasons_of_steps(void)
{
	static const uint32_t on_the_way[] = { MONAD_STORAGE_BIO_QUEUE, MONAD_STORAGE_RQ_ISSUE,
					       MONAD_STORAGE_RQ_MERGE, MONAD_STORAGE_RQ_PARTIAL };
	struct raw_event event = {
		.type = MONAD_STORAGE_RQ_REQUEUE,
		.step = { .dev_major = 8, .op = MONAD_STORAGE_OP_WRITE, .issues = 1 },
	};

	reason_is(&event, MS, "retry", "a request that was issued comes back");
	event.step.issues = 0;
	reason_is(&event, MS, NULL, "one that was not");
	event.step.flags = MONAD_STORAGE_F_TIMED_OUT;
	reason_is(&event, MS, "timeout", "one that timed out");
	event.step.issues = 1;
	event.step.since_ns = SECOND;
	event.step.error = EIO;
	for (size_t i = 0; i < ARRAY_SIZE(on_the_way); i++) {
		event.type = on_the_way[i];
		reason_is(&event, MS, NULL, event_type_name(event.type));
	}
	event.type = MONAD_STORAGE_STACK;
	reason_is(&event, MS, NULL, "a stack");
	event.type = 0;
	reason_is(&event, MS, NULL, "type 0");
	event.type = 14;
	reason_is(&event, MS, NULL, "type 14");
	event.type = UINT32_MAX;
	reason_is(&event, MS, NULL, "type 4294967295");
}

static void test_reasons_of_calls(void)
{
	struct raw_event event = made_call(MONAD_STORAGE_VFS_IO, MONAD_STORAGE_CALL_READ, MS);

	reason_is(&event, MS, "slow", "a slow call");
	reason_is(&event, MS + 1, NULL, "a quick one");
	reason_is(&event, 0, NULL, "without a threshold");
	event.call.error = EIO;
	reason_is(&event, MS + 1, "error", "one that failed");
	event.call.error = ETIMEDOUT;
	reason_is(&event, MS + 1, "error", "in any way");
	event = made_call(MONAD_STORAGE_VFS_SYNC, MONAD_STORAGE_CALL_FSYNC, MS);
	reason_is(&event, MS, "fsync", "a slow sync");
	event = made_call(MONAD_STORAGE_DIRTY_THROTTLE, MONAD_STORAGE_CALL_THROTTLE, MS);
	reason_is(&event, MS, "throttle", "a pause");
	reason_is(&event, MS + 1, NULL, "a short one");
	reason_is(&event, 0, "throttle", "any, without a threshold");
}

/*
 * How bad
 */

static struct facts facts_of(const struct raw_event *event)
{
	struct facts facts;

	if (!facts_of_event(&facts, event))
		bail_out("no facts");
	return facts;
}

static void severity_is(const struct raw_event *event, uint64_t frequency, Monad__Severity want,
			const char *what)
{
	const struct limits limits = { .slow_ns = 10 * MS, .stuck_ns = SECOND };
	const struct facts facts = facts_of(event);

	eq_int(reason_severity(reason_of(&facts, &limits), &facts, &limits, frequency), want,
	       "%s, %llu times: %d", what, (unsigned long long)frequency, want);
}

#define INFO MONAD__SEVERITY__SEVERITY_INFO
#define WARN MONAD__SEVERITY__SEVERITY_WARN
#define ERROR MONAD__SEVERITY__SEVERITY_ERROR
#define CRITICAL MONAD__SEVERITY__SEVERITY_CRITICAL

static void test_severity_of_latency(void)
{
	static const struct {
		uint64_t ns;
		Monad__Severity once, often;
	} cases[] = {
		{ 10 * MS, INFO, WARN },
		{ 20 * MS - 1, INFO, WARN },
		{ 20 * MS, WARN, ERROR },
		{ 100 * MS - 1, WARN, ERROR },
		{ 100 * MS, ERROR, CRITICAL },
		{ SECOND - 1, ERROR, CRITICAL },
		{ SECOND, ERROR, CRITICAL },        /* a timeout */
		{ 4 * SECOND - 1, ERROR, CRITICAL },
		{ 4 * SECOND, CRITICAL, CRITICAL },
		{ UINT64_MAX, CRITICAL, CRITICAL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct raw_event event = slow_read(cases[i].ns);
		char what[64];

		snprintf(what, sizeof(what), "%llu ns", (unsigned long long)cases[i].ns);
		severity_is(&event, 1, cases[i].once, what);
		severity_is(&event, 99, cases[i].once, what);
		severity_is(&event, 100, cases[i].often, what);
		event.complete.op = MONAD_STORAGE_OP_FLUSH;
		severity_is(&event, 1, cases[i].once, "a flush");
		if (cases[i].ns >= SECOND)
			continue;
		event = made_call(MONAD_STORAGE_VFS_SYNC, MONAD_STORAGE_CALL_FSYNC, cases[i].ns);
		severity_is(&event, 1, cases[i].once, "an fsync");
	}
}

static void test_severity_of_errors(void)
{
	struct raw_event event = failed_read(EIO);

	severity_is(&event, 1, ERROR, "EIO");
	severity_is(&event, 100, CRITICAL, "EIO");
	event.complete.flags |= MONAD_STORAGE_F_META;
	severity_is(&event, 1, ERROR, "a read of metadata");
	event.complete.op = MONAD_STORAGE_OP_WRITE;
	severity_is(&event, 1, CRITICAL, "a write of metadata");
	event = failed_read(EIO);
	event.complete.op = MONAD_STORAGE_OP_WRITE;
	severity_is(&event, 1, ERROR, "a write");
	event.complete.flags |= MONAD_STORAGE_F_FUA;
	severity_is(&event, 1, CRITICAL, "a write through the cache");
	event.complete.op = MONAD_STORAGE_OP_FLUSH;
	event.complete.flags = 0;
	severity_is(&event, 1, CRITICAL, "a flush");
	event = failed_read(EIO);
	event.type = MONAD_STORAGE_FLUSH_COMPLETE;
	severity_is(&event, 1, CRITICAL, "the kernel's flush");
	event = failed_read(EIO);
	event.complete.flags |= MONAD_STORAGE_F_RAHEAD;
	severity_is(&event, 1, WARN, "readahead");
	event.complete.flags = MONAD_STORAGE_F_PASSTHROUGH;
	severity_is(&event, 1, WARN, "a command");
	event = failed_read(ENODEV);
	severity_is(&event, 1, CRITICAL, "the device is gone");
	event = failed_read(EOPNOTSUPP);
	severity_is(&event, 1, ERROR, "a read that is not supported");
	event.complete.op = MONAD_STORAGE_OP_DISCARD;
	severity_is(&event, 1, INFO, "a discard that is not supported");
	severity_is(&event, 1000, INFO, "a discard that is not supported");
	event = failed_read(EAGAIN);
	severity_is(&event, 1, ERROR, "EAGAIN");
	event.complete.flags |= MONAD_STORAGE_F_NOWAIT;
	severity_is(&event, 100, INFO, "EAGAIN as it was asked for");
	event = failed_read(ETIMEDOUT);
	severity_is(&event, 1, CRITICAL, "ETIMEDOUT");
	event = quick_read();
	event.complete.flags |= MONAD_STORAGE_F_TIMED_OUT;
	severity_is(&event, 1, ERROR, "timed out, and done in the end");
	event = quick_read();
	event.complete.requeues_issued = 2;
	severity_is(&event, 1, INFO, "requeued twice");
	event.complete.requeues_issued = 3;
	severity_is(&event, 1, WARN, "three times");
	severity_is(&event, 100, ERROR, "three times");
	event = quick_read();
	event.complete.flags |= MONAD_STORAGE_F_END_UNSEEN;
	severity_is(&event, 1, INFO, "not seen to end");
	event = made_call(MONAD_STORAGE_VFS_SYNC, MONAD_STORAGE_CALL_FSYNC, 1);
	event.call.error = EIO;
	severity_is(&event, 1, CRITICAL, "an fsync that failed");
	event.type = MONAD_STORAGE_VFS_IO;
	event.call.op = MONAD_STORAGE_CALL_READ;
	severity_is(&event, 1, ERROR, "a read of a file that failed");
	event.call.error = EINTR;
	severity_is(&event, 100, INFO, "one that was interrupted");
	event.call.error = EAGAIN;
	severity_is(&event, 1, INFO, "one that would have to wait");
	event.call.error = EOPNOTSUPP;
	severity_is(&event, 1, ERROR, "one that is not supported");
	event = made_call(MONAD_STORAGE_DIRTY_THROTTLE, MONAD_STORAGE_CALL_THROTTLE, 99 * MS);
	severity_is(&event, 1, INFO, "a short pause");
	event.call.latency_ns = 100 * MS;
	severity_is(&event, 1, WARN, "a long pause");
}

static void test_severity_of_huge_limits(void)
{
	const struct limits limits = { .slow_ns = 1ULL << 63, .stuck_ns = UINT64_MAX / 2 + 1,
				       .inflight = 1ULL << 62 };
	struct raw_event event = slow_read(1ULL << 63);
	struct facts facts = facts_of(&event);

	eq_int(reason_severity(REASON_SLOW, &facts, &limits, 1), INFO, "a threshold of centuries");
	eq_int(reason_severity(REASON_TIMEOUT, &facts, &limits, 1), ERROR, "a timeout of those");
	facts_of_congestion(&facts, 8, 0, 1ULL << 62, NOW);
	eq_int(reason_severity(REASON_CONGESTION, &facts, &limits, 1), WARN, "a limit beyond all");
}

static void test_severity_of_congestion(void)
{
	const struct limits limits = { .inflight = 100 };
	struct facts facts;

	facts_of_congestion(&facts, 8, 0, 99, NOW);
	eq_int(reason_of(&facts, &limits), REASON_NONE, "99 of 100 are none");
	facts_of_congestion(&facts, 8, 0, 100, NOW);
	eq_int(reason_of(&facts, &limits), REASON_CONGESTION, "100 are a congestion");
	eq_int(reason_severity(REASON_CONGESTION, &facts, &limits, 1), WARN, "a warning");
	facts_of_congestion(&facts, 8, 0, 400, NOW);
	eq_int(reason_severity(REASON_CONGESTION, &facts, &limits, 1), ERROR, "of 400 an error");
}

/*
 * What is in it
 */

static void test_names(void)
{
	struct raw_event event = slow_read(10 * MS);
	Monad__Dictionary *dictionary = new_dictionary();
	Monad__EventWrapper *made;
	Monad__StorageEvent *s;

	event.complete.stack = 7;
	event.complete.flags |= MONAD_STORAGE_F_SYNC | MONAD_STORAGE_F_KTHREAD;
	made = make(&sources, &event, 10 * MS, dictionary);
	s = made->storage;
	eq_str(made->name, "slow_io", "its name");
	eq_str(made->task_id, "t-1", "whose it is");
	eq_u64(made->time_ns, NOW, "when");
	eq_str(made->message, "read of 4 KiB at sector 2048 on sda1 by reader[100] took 10 ms "
	       "(queue 2.5 ms, device 7.5 ms)", "in words");
	eq_str(s->operation, "read", "the operation");
	eq_int(s->layer, MONAD__STORAGE_LAYER__STORAGE_LAYER_BLOCK, "the layer");
	eq_int(s->phase, MONAD__STORAGE_PHASE__STORAGE_PHASE_COMPLETE, "the phase");
	ok(s->device && s->device->major == 8 && !s->device->minor, "the device");
	eq_str(s->device->name, "sda", "its name");
	eq_str(s->device->partition, "sda1", "the partition");
	ok(s->has_sector && s->sector == 2048 && s->bytes == 4096, "where and how much");
	ok(s->has_latency && s->latency_ns == 10 * MS && s->has_queue && s->has_device &&
	   s->queue_ns == 10 * MS / 4 && s->device_ns == 10 * MS / 4 * 3, "times");
	ok(s->actor && s->actor->pid == 101 && s->actor->tgid == 100, "the actor");
	eq_str(s->actor->comm, "reader", "its name");
	ok(s->actor->kernel_thread && !s->actor->issuer, "a kernel thread");
	eq_u64(s->actor->mount_namespace, 4026531840, "its mounts");
	eq_str(text_of(dictionary, s->actor->cgroup), "/actor", "its cgroup");
	eq_str(text_of(dictionary, s->charged_cgroup), "/charged", "the one that is charged");
	eq_u64(s->charged_cgroup_id, 70, "and its id");
	eq_str(s->reason_class, "slow", "why");
	eq_str(s->reason, "slow device", "where it was");
	ok(s->n_flags == 2 && !strcmp(s->flags[0], "sync") && !strcmp(s->flags[1], "kthread"),
	   "flags, without those that say which times are known");
	ok(s->count == 1 && s->issues == 1 && s->seqno == 1 && !s->error, "numbers");
	drop(made);
	monad__dictionary__free_unpacked(dictionary, NULL);
}

static void test_stacks(void)
{
	struct raw_event event = slow_read(10 * MS);
	Monad__Dictionary *dictionary = new_dictionary();
	Monad__EventWrapper *made[3];
	const Monad__Stack *s;
	size_t strings;

	event.complete.stack = 7;
	made[0] = make(&sources, &event, 0, dictionary);
	strings = dictionary->n_strings;
	made[1] = make(&sources, &event, 0, dictionary);
	eq_u64(dictionary->n_stacks, 1, "the same stack is there once");
	eq_u64(dictionary->n_strings, strings, "and each text");
	ok(made[0]->storage->stack == 1 && made[1]->storage->stack == 1, "both have it");
	s = dictionary->stacks[0];
	if (eq_u64(s->n_frames, 4, "four frames, but those of the program")) {
		eq_str(text_of(dictionary, s->frames[0]->symbol), "submit_bio", "innermost first");
		ok(!s->frames[0]->user && !s->frames[0]->module && s->frames[0]->address == 0x20,
		   "a kernel address");
		ok(s->frames[1]->address == 0x30 && !s->frames[1]->symbol &&
		   !s->frames[1]->offset, "one that is not known");
		eq_str(text_of(dictionary, s->frames[2]->symbol), "pread64", "a user one");
		ok(s->frames[2]->user, "which it says");
		eq_str(text_of(dictionary, s->frames[2]->module), "libc.so.6", "in a library");
		ok(!s->frames[3]->symbol && s->frames[3]->module, "one of which the file is known");
	}
	for (size_t i = 0; i < dictionary->n_strings; i++)
		ok(dictionary->strings[i]->id == i + 1 &&
		   strncmp(dictionary->strings[i]->text, "bpf_", 4) != 0,
		   "text %zu: %s", i, dictionary->strings[i]->text);
	made[2] = make(&sources, &event, 0, NULL);
	ok(!made[2]->storage->stack && !made[2]->storage->charged_cgroup,
	   "without a dictionary nothing refers to one");
	for (int i = 0; i < 3; i++)
		drop(made[i]);
	monad__dictionary__free_unpacked(dictionary, NULL);
}

static void test_call(void)
{
	struct raw_event event = made_call(MONAD_STORAGE_VFS_SYNC, MONAD_STORAGE_CALL_FDATASYNC,
					   20 * MS);
	Monad__EventWrapper *made = make(&sources, &event, 10 * MS, NULL);
	const Monad__StorageEvent *s = made->storage;

	eq_str(made->name, "slow_fsync", "the name of a call");
	eq_str(s->operation, "fdatasync", "its operation");
	eq_str(s->filesystem, "ext4", "its file system");
	eq_str(s->file, "journal.db", "its file");
	eq_u64(s->inode, 1234, "its inode");
	eq_int(s->layer, MONAD__STORAGE_LAYER__STORAGE_LAYER_VFS, "its layer");
	eq_int(s->phase, MONAD__STORAGE_PHASE__STORAGE_PHASE_FSYNC, "its phase");
	ok(!s->has_sector && !*s->device->partition, "it has no sector");
	eq_str(made->message, "fdatasync of file journal.db on sda by writer[200] took 20 ms",
	       "in words");
	drop(made);
	event = made_call(MONAD_STORAGE_VFS_IO, MONAD_STORAGE_CALL_READ, 1);
	made = make(NULL, &event, 10 * MS, NULL);
	eq_str(made->name, "vfs_io", "one that is nothing special");
	eq_int(made->severity, INFO, "is of no severity");
	eq_str(made->storage->reason_class, "", "and there is no reason");
	ok(!*made->storage->device->name, "without sources there is no name");
	drop(made);
	event = made_call(MONAD_STORAGE_DIRTY_THROTTLE, MONAD_STORAGE_CALL_THROTTLE, MS);
	made = make(NULL, &event, 0, NULL);
	eq_int(made->storage->layer, MONAD__STORAGE_LAYER__STORAGE_LAYER_WRITEBACK, "writeback");
	eq_int(made->storage->phase, MONAD__STORAGE_PHASE__STORAGE_PHASE_DIRTY_THROTTLE, "a pause");
	drop(made);
}

static void test_words(void)
{
	struct raw_event event = failed_read(ENODATA);
	Monad__EventWrapper *made = make(NULL, &event, 10 * MS, NULL);

	eq_str(made->message, "read of 4 KiB at sector 2048 on sda by reader[100] failed: ENODATA, "
	       "after 1 ms", "a failure in words");
	eq_str(made->storage->reason, "ENODATA", "its reason");
	eq_u64(made->storage->error, ENODATA, "its number");
	drop(made);
	event = quick_read();
	event.complete.requeues_issued = 3;
	event.complete.requeues_unissued = 1;
	made = make(NULL, &event, 10 * MS, NULL);
	eq_str(made->storage->reason, "requeued 3 times", "a retry's reason");
	eq_u64(made->storage->requeues, 4, "all requeues");
	drop(made);
	event = quick_read();
	event.complete.flags |= MONAD_STORAGE_F_ACTOR_ISSUER | MONAD_STORAGE_F_TIMED_OUT;
	event.complete.sector = MONAD_STORAGE_NO_SECTOR;
	event.complete.bytes = 0;
	event.complete.op = MONAD_STORAGE_OP_DRV_OUT;
	made = make(NULL, &event, 0, NULL);
	eq_str(made->message, "drv_out on sda timed out, after 1 ms (queue 250 us, device 500 us)",
	       "who merely issued it is not named");
	ok(made->storage->actor->issuer && !made->storage->has_sector, "nor is there a sector");
	drop(made);
}

/*
 * What should not be
 */

/* As a receiver would take it: UTF-8, and no control characters. */
static bool clean(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p < 0x20 || *p == 0x7f || *p == 0xff)
			return false;
	}
	return true;
}

static void test_hostile(void)
{
	static const uint32_t types[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 99,
					  UINT32_MAX };
	Monad__Dictionary *dictionary = new_dictionary();
	struct raw_event event;

	for (int fill = 0; fill < 256; fill += 51) {
		memset(&event, fill, sizeof(event));
		for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
			Monad__EventWrapper *made;
			uint8_t *packed;
			size_t size;

			event.type = types[i];
			made = make(&sources, &event, fill, dictionary);
			size = monad__event_wrapper__get_packed_size(made);
			packed = malloc(size);
			ok(packed && monad__event_wrapper__pack(made, packed) == size &&
			   clean(made->message) &&
			   (!made->storage->actor || clean(made->storage->actor->comm)) &&
			   clean(made->storage->file) && *made->storage->operation,
			   "all bytes 0x%02x, type %u: %s", (unsigned int)fill, types[i],
			   made->message);
			free(packed);
			drop(made);
		}
	}
	monad__dictionary__free_unpacked(dictionary, NULL);
}

static void test_full_names(void)
{
	struct raw_event event = slow_read(MS);
	Monad__EventWrapper *made;

	memset(event.complete.comm, 'c', sizeof(event.complete.comm));
	memset(event.complete.disk, 'd', sizeof(event.complete.disk));
	made = make(NULL, &event, MS, NULL);
	eq_str(made->storage->actor->comm, "cccccccccccccccc", "a comm without a NUL");
	eq_str(made->storage->device->name, "dddddddddddddddd", "a disk without a NUL");
	drop(made);
	memcpy(event.complete.comm, "a\033[2J\xc3\xa9\xff", 9);
	made = make(NULL, &event, MS, NULL);
	eq_str(made->storage->actor->comm, "a?[2J\xc3\xa9?", "what may not be in text is replaced");
	drop(made);
	event.complete.op = 77;
	event.complete.error = 65535;
	made = make(NULL, &event, MS, NULL);
	eq_str(made->storage->operation, "other", "an operation nobody knows");
	eq_str(made->storage->reason, "E65535", "an error nobody knows");
	drop(made);
}

/* A number that was another disk's when the event was recorded. */
static void test_number_used_again(void)
{
	struct raw_event event = slow_read(MS);
	Monad__EventWrapper *made;

	snprintf(event.complete.disk, sizeof(event.complete.disk), "nvme1n1");
	made = make(&sources, &event, MS, NULL);
	eq_str(made->storage->device->name, "nvme1n1", "the disk it was, not who has its number");
	ok(!*made->storage->device->partition, "nor a partition of that one");
	drop(made);
	memset(event.complete.disk, 0, sizeof(event.complete.disk));
	made = make(&sources, &event, MS, NULL);
	eq_str(made->storage->device->name, "sda", "without a name, who has it");
	drop(made);
}

int main(void)
{
	test_reasons_of_ends();
	test_reasons_of_steps();
	test_reasons_of_calls();
	test_severity_of_latency();
	test_severity_of_errors();
	test_severity_of_huge_limits();
	test_severity_of_congestion();
	test_names();
	test_stacks();
	test_call();
	test_words();
	test_hostile();
	test_full_names();
	test_number_used_again();
	return done_testing();
}
