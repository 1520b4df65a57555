// SPDX-License-Identifier: GPL-2.0
/*
 * Everything at the same time: processes that make and destroy rings of a few names, open, map,
 * read, wait for and poll them, write to their ids while these come and go, read their
 * attributes, get signals, and are killed. Whatever comes out, each event that is read is what
 * its writer wrote, and to that ring; a ring that is gone is complete; and nothing is left.
 *
 * RACES_SECONDS is for how long, 20 if not given, several times that on a kernel that is slow. For
 * longer than the tests' runner allows:
 *
 *	tools/testing/vm/run --kernel 6.12 --append preempt=full --no-load --timeout 900 \
 *		--file build/selftests -- env RACES_SECONDS=600 ./selftests/races
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "races.h"

#define RINGS "monad_ring:14:23"
#define TIMER_NS 1000000
#define COMPLAINTS 20
#define PATIENCE_NS (60000 * MS) /* beyond the time asked for */
#define SPARE_NS (2000 * MS)

const char *const names[NAMES] = { "a", "b", "c", "d" };
struct shared *shared;
static uint64_t seed;

void __attribute__((format(printf, 1, 2))) complain(const char *format, ...)
{
	va_list args;

	if (__atomic_fetch_add(&shared->complaints, 1, __ATOMIC_RELAXED) >= COMPLAINTS)
		return;
	va_start(args, format);
	fprintf(stderr, "# ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
}

uint32_t any(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 32) % below;
}

static bool time_left(void)
{
	return now_ns(CLOCK_MONOTONIC) < shared->until;
}

bool may_be_gone(int err)
{
	return err == -ENOENT || err == -ENODEV || err == -ENXIO;
}

/*
 * Those who make and destroy
 */

static void make_one(int fd, struct writers *w)
{
	unsigned int name = any(NAMES), big = any(4) == 0;
	uint32_t id;
	int err;

	err = ring_create(fd, names[name], 10 + big, 21 + big, &id);
	if (!err) {
		COUNT(made);
		__atomic_store_n(&shared->id[name], id, __ATOMIC_RELAXED);
		if (w)
			w->writer[WRITER_TIMER + any(4)].ring = id;
	} else if (err != -EEXIST && err != -EINTR) {
		complain("making %s: %s", names[name], strerror(-err));
	}
}

static void destroy_one(int fd)
{
	unsigned int name = any(NAMES);
	int err;

	err = ring_destroy(fd, names[name]);
	if (!err)
		COUNT(destroyed);
	else if (err != -ENOENT && err != -EINTR)
		complain("destroying %s: %s", names[name], strerror(-err));
}

static void maker(struct writers *w)
{
	int fd = ring_open_fd(any(2) ? NULL : names[any(NAMES)]), i;

	if (fd < 0) {
		if (!may_be_gone(fd))
			complain("opening: %s", strerror(-fd));
		return;
	}
	for (i = any(6); i >= 0; i--) {
		if (any(5) < 3)
			make_one(fd, w);
		else
			destroy_one(fd);
	}
	close(fd);
}

/*
 * Those who write, from syscall programs; others do from interrupts
 */

static void writer_of(struct writers *w, unsigned int i)
{
	struct writer *writer = &w->writer[i];
	int err;

	writer->ring = shared->id[any(NAMES)];
	if (!any(16))
		writer->ring += 64 * (any(3) - 1);
	else if (!any(16))
		writer->ring = any(UINT32_MAX) & ~63U; /* the default ring has place 0 */
	writer->max_len = any(8) ? 200 : 5000;
	writer->discard_every = any(30);
	err = writers_burst(w, i, 1 + any(100));
	if (err && err != -EINTR)
		complain("writer %u: %s", i, strerror(-err));
	usleep(any(3000));
}

static void writer_0(struct writers *w)
{
	writer_of(w, 0);
}

static void writer_1(struct writers *w)
{
	writer_of(w, 1);
}

/* Programs that are loaded, write, and go, which keeps the module for a while. */
static void programmer(struct writers *unused)
{
	struct writers w = { .ring.fd = -1 };
	int i;

	w.bpf = writer_bpf__open();
	if (!w.bpf)
		return;
	bpf_program__set_autoload(w.bpf->progs.perf, false);
	bpf_program__set_autoload(w.bpf->progs.sched, false);
	bpf_program__set_autoload(w.bpf->progs.timer, false);
	bpf_program__set_autoload(w.bpf->progs.stall_atomic, false);
	bpf_program__set_autoload(w.bpf->progs.hold, false);
	/* Fails when the module is not there. */
	if (!writer_bpf__load(w.bpf)) {
		COUNT(programs);
		w.writer = w.bpf->bss->writers;
		w.writer[0].tag_ring = 1;
		w.writer[0].random = seed;
		for (i = any(10); i >= 0; i--)
			writer_of(&w, 0);
	}
	writer_bpf__destroy(w.bpf);
	usleep(any(500000));
}

/*
 * Those who look, and those who say what is in it
 */

static void looker(struct writers *w)
{
	static const char *const attributes[] = {
		"ring_id", "uuid", "generation", "last_seqno", "wakeups", "lost/ring_gone",
		"schema_hash", "chunks_huge", "uevent", "dev",
	};
	const char *attribute = attributes[any(ARRAY_SIZE(attributes))];
	char path[128], text[256];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/sys/class/misc/monad_ring-%s/%s", names[any(NAMES)],
		 attribute);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		if (errno != ENOENT && errno != ENODEV)
			complain("%s: %s", path, strerror(errno));
		return;
	}
	if (!any(4))
		usleep(any(20000));
	len = read(fd, text, sizeof(text));
	if (len > 0 && text[len - 1] == '\n')
		COUNT(attributes);
	else if (len >= 0 || (errno != ENODEV && errno != EINTR))
		complain("%s: %zd bytes, %s", path, len, len < 0 ? strerror(errno) : "no line");
	close(fd);
}

static void describer(struct writers *w)
{
	struct monad_ring_content content = {
		.size = sizeof(content), .content_type = 1 + any(2),
	};
	struct monad_ring_info info;
	int fd = ring_open_fd(names[any(NAMES)]);

	if (fd < 0)
		return;
	content.schema_hash[0] = content.content_type;
	if (!ioctl(fd, MONAD_RING_IOC_SET_CONTENT, &content))
		COUNT(content);
	else if (errno != EBUSY)
		complain("SET_CONTENT: %s", strerror(errno));
	if (ring_info(fd, &info) || info.schema_hash[0] != info.content_type)
		complain("content type %u, hash %u", info.content_type, info.schema_hash[0]);
	close(fd);
	usleep(any(2000));
}

/* Whoever opens a ring just when it, or the module, goes. */
static void opener(struct writers *w)
{
	const char *name = any(2) ? NULL : names[any(NAMES)];
	struct monad_ring_info info;
	int fd = ring_open_fd(name);

	if (fd < 0) {
		if (!may_be_gone(fd))
			complain("opening: %s", strerror(-fd));
		usleep(any(10000));
		return;
	}
	if (ring_info(fd, &info) || strcmp(info.name, name ?: "monad_ring"))
		complain("%s is called %s", name ?: "monad_ring", info.name);
	close(fd);
}

/* The module, which goes when nobody happens to use it, and comes back. */
static void loader(struct writers *w)
{
	int err = module_try_unload();

	if (!err)
		COUNT(unloaded);
	else if (err == -EWOULDBLOCK || err == -EBUSY)
		COUNT(kept);
	else if (err != -ENOENT)
		complain("unloading: %s", strerror(-err));
	usleep(any(5000));
	if (module_loaded())
		return;
	err = module_load(RINGS);
	if (!err)
		COUNT(loaded);
	else if (err != -EINTR)
		complain("loading: %s", strerror(-err));
}

/*
 * All of them
 */

struct role {
	void (*act)(struct writers *w);
	unsigned int cpu;
	bool killed; /* now and then */
	bool naps;   /* so that the module has a chance to go */
	pid_t pid;
};

static void on_signal(int signal)
{
}

static pid_t start(struct role *role, struct writers *w)
{
	/* A CPU that is so slow would do nothing else. */
	const long interval = TIMER_NS * slowness();
	const struct itimerspec often = { { 0, interval }, { 0, interval } };
	struct sigaction action = { .sa_handler = on_signal };
	pid_t pid;
	int timer;

	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	/* Before there is somebody to get it. */
	sigaction(SIGUSR1, &action, NULL);
	pid = fork();
	if (pid)
		return pid;
	/* Whoever is killed may have been about to print. */
	setvbuf(stderr, NULL, _IOLBF, 0);
	pin_to_cpu(role->cpu);
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	timerfd_settime(timer, 0, &often, NULL);
	while (time_left()) {
		role->act(w);
		if (!w && role->naps)
			usleep(any(100000));
	}
	_exit(0);
}

/* Signals to everybody, and a sudden end for some; until time is up and @enough happened. */
static void disturb(struct __test_metadata *_metadata, struct role *roles, unsigned int n,
		    struct writers *w, bool (*enough)(void))
{
	uint64_t latest = shared->until + PATIENCE_NS * slowness();
	unsigned int i;

	while (time_left()) {
		usleep(20000 + any(60000));
		/* A machine that has much else to do gets more time. */
		if (!enough() && shared->until < latest &&
		    now_ns(CLOCK_MONOTONIC) + SPARE_NS > shared->until)
			shared->until += SPARE_NS;
		i = any(n);
		kill(roles[i].pid, SIGUSR1);
		i = any(n);
		if (!roles[i].killed || any(4))
			continue;
		kill(roles[i].pid, SIGKILL);
		ASSERT_EQ(roles[i].pid, waitpid(roles[i].pid, NULL, 0));
		COUNT(killed);
		roles[i].pid = start(&roles[i], w);
		ASSERT_LT(0, roles[i].pid);
	}
}

static void all_at_once(struct __test_metadata *_metadata, struct role *roles, unsigned int n,
			struct writers *w, bool (*enough)(void))
{
	const char *seconds = getenv("RACES_SECONDS");
	unsigned int i;
	int status;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	ASSERT_NE(MAP_FAILED, shared);
	/* Half of the time for each of the two tests. */
	shared->until = now_ns(CLOCK_MONOTONIC) +
			(seconds ? atoi(seconds) : 20 * slowness()) * 500 * MS;
	seed = now_ns(CLOCK_REALTIME) | 1;
	for (i = 0; i < n; i++) {
		roles[i].pid = start(&roles[i], w);
		ASSERT_LT(0, roles[i].pid);
	}
	disturb(_metadata, roles, n, w, enough);
	for (i = 0; i < n; i++) {
		ASSERT_EQ(roles[i].pid, waitpid(roles[i].pid, &status, 0));
		EXPECT_EQ(0, status);
	}
	EXPECT_EQ(0, shared->complaints);
	TH_LOG("rings: %lu made, %lu destroyed, %lu times opened, %lu complete; %lu events read",
	       shared->n.made, shared->n.destroyed, shared->n.opened, shared->n.complete,
	       shared->n.read);
	TH_LOG("%lu waits, %lu for nothing, %lu hung up; %lu attributes, %lu contents, %lu killed",
	       shared->n.waited, shared->n.timed_out, shared->n.hung_up, shared->n.attributes,
	       shared->n.content, shared->n.killed);
	TH_LOG("module: %lu times loaded, %lu unloaded, %lu kept; %lu programs", shared->n.loaded,
	       shared->n.unloaded, shared->n.kept, shared->n.programs);
	EXPECT_TRUE(enough());
}

FIXTURE(races)
{
	struct writers w;
	unsigned int maps; /* without the module */
	long free;
};

FIXTURE_SETUP(races)
{
	SETUP_MODULE(RINGS);
	/* What is allocated once and for all. */
	ASSERT_EQ(0, module_unload());
	self->maps = vmap_ranges();
	self->free = free_mib();
	ASSERT_EQ(0, module_load(RINGS));
	quiet_libbpf();
	self->w.ring.fd = -1;
}

FIXTURE_TEARDOWN(races)
{
	writers_teardown(&self->w);
}

static void expect_nothing_left(struct __test_metadata *_metadata, FIXTURE_DATA(races) *self)
{
	if (module_loaded()) {
		EXPECT_EQ(0, module_wait_refcnt(0));
		EXPECT_EQ(0, module_unload());
	}
	EXPECT_EQ(0, ring_entries("/dev"));
	EXPECT_EQ(0, ring_entries("/sys/class/misc"));
	EXPECT_EQ(self->maps, vmap_ranges());
	/* One small ring would be 6 MiB; the kernel keeps some for itself. */
	TH_LOG("%ld MiB are free, were %ld", free_mib(), self->free);
	EXPECT_LT(self->free - 48, free_mib());
}

static bool enough_of_rings(void)
{
	const struct counts *n = &shared->n;

	return n->made > 10 && n->destroyed > 10 && n->opened > 20 && n->attributes > 20 &&
	       n->read > 1000 && n->complete > 2 && n->waited > 20 && n->kept;
}

/* With programs that write in threads, timers and the scheduler, and keep the module. */
TEST_F_TIMEOUT(races, rings, 3600)
{
	struct role roles[] = {
		{ maker, 0, true }, { maker, 1, true }, { maker, 0, true }, { maker, 1, true },
		{ maker, 1, false }, { reader, 0, true }, { reader, 1, true },
		{ reader, 0, true }, { writer_0, 0, false }, { writer_1, 1, false },
		{ looker, 1, true }, { describer, 0, true }, { loader, 1, false },
	};
	struct writers *w = &self->w;
	unsigned int i;

	ASSERT_EQ(0, writers_setup(w, RINGS, NULL));
	for (i = 0; i < WRITERS; i++) {
		w->writer[i].tag_ring = 1;
		w->writer[i].ring = 1;
		w->writer[i].max_len = 200;
		w->writer[i].on = 1;
	}
	w->bpf->links.timer = bpf_program__attach(w->bpf->progs.timer);
	ASSERT_NE(NULL, w->bpf->links.timer);
	w->bpf->links.sched = bpf_program__attach(w->bpf->progs.sched);
	ASSERT_NE(NULL, w->bpf->links.sched);
	all_at_once(_metadata, roles, ARRAY_SIZE(roles), w, enough_of_rings);

	TH_LOG("%lu events written, %lu refused, %lu to rings that were gone",
	       writers_sum(w, committed), writers_sum(w, refused),
	       ring_lost(&w->ring, MONAD_RING_LOST_RING_GONE));
	EXPECT_EQ(0, writers_sum(w, errors));
	EXPECT_LT(1000, writers_sum(w, committed));
	EXPECT_NE(0, w->writer[WRITER_TIMER].committed + w->writer[WRITER_TIMER + 1].committed);
	EXPECT_NE(0, w->writer[WRITER_SWITCH].committed + w->writer[WRITER_SWITCH + 1].committed);
	writers_teardown(w);
	w->bpf = NULL;
	expect_nothing_left(_metadata, self);
}

static bool enough_of_the_module(void)
{
	const struct counts *n = &shared->n;

	/* Whether a program gets in between two unloads is a matter of luck. */
	return n->loaded > 1 && n->unloaded > 1 && n->kept && n->made && n->opened;
}

/* With a module that goes as soon as nobody uses it. */
TEST_F_TIMEOUT(races, module, 3600)
{
	struct role roles[] = {
		{ maker, 0, true, true }, { reader, 0, true, true }, { looker, 1, true, true },
		{ opener, 0, true }, { programmer, 1, true, true },
		{ loader, 1, false },
	};

	all_at_once(_metadata, roles, ARRAY_SIZE(roles), NULL, enough_of_the_module);
	expect_nothing_left(_metadata, self);
}

TEST_HARNESS_MAIN
