// SPDX-License-Identifier: GPL-2.0
/*
 * Everything that can run out of memory does, at each place where it can: the first allocation
 * (or copy from or to user space) of an operation fails, then the second, and so on until one
 * succeeds with none left to fail. Each time it either works or says so, and leaves nothing
 * behind. Then once more with faults at random, several at a time.
 *
 * For kernels with CONFIG_FAULT_INJECTION. Leaks and misuse are for the kernel to notice: see
 * tools/testing/vm/debug.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "ring.h"

#define FAIL_NTH "/proc/thread-self/fail-nth"
#define MAKE_IT_FAIL "/proc/self/make-it-fail"
#define DEBUGFS "/sys/kernel/debug/"
#define FAULTY_RINGS "monad_ring:10:21,small:10:21"
#define NEW "faulty"
#define MANY 1000000000L /* faults, more than there will be */
#define NR_ERRNOS 134

static bool put(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, value, strlen(value)) == (ssize_t)strlen(value);
	close(fd);
	return ok;
}

static bool put_number(const char *path, long n)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", n);
	return put(path, text);
}

/* What can be made to fail: its directory, and how to have it fail for everything. */
static const struct {
	const char *file;
	const char *value, *usual;
} settings[] = {
	{ DEBUGFS "failslab/ignore-gfp-wait", "N", "Y" },
	{ DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N", "Y" },
	{ DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N", "Y" },
	{ DEBUGFS "fail_page_alloc/min-order", "0", "1" },
	{ DEBUGFS "failslab/task-filter", "Y", "N" },
	{ DEBUGFS "fail_page_alloc/task-filter", "Y", "N" },
	/* Each would be a stack in the log otherwise. */
	{ DEBUGFS "failslab/verbose", "0", "2" },
	{ DEBUGFS "fail_page_alloc/verbose", "0", "2" },
	{ DEBUGFS "fail_usercopy/verbose", "0", "2" },
};

struct tally {
	unsigned int injected, survived;
	unsigned int errnos[NR_ERRNOS]; /* how often each came out of it */
};

FIXTURE(faults)
{
	struct tally tally;
	struct ring ring;
	int module; /* its file */
	int nth;
};

static void write_settings(bool usual)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(settings); i++)
		put(settings[i].file, usual ? settings[i].usual : settings[i].value);
}

FIXTURE_SETUP(faults)
{
	self->ring.fd = -1;
	self->module = module_open();
	self->nth = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	if (self->nth < 0)
		SKIP(return, "this kernel has no fault injection");
	if (access(settings[0].file, W_OK) || access(settings[1].file, W_OK))
		SKIP(return, "no fault injection below " DEBUGFS);
	write_settings(false);
	SETUP_MODULE(FAULTY_RINGS);
	ASSERT_EQ(0, ring_open(&self->ring, SMALL));
}

FIXTURE_TEARDOWN(faults)
{
	if (self->ring.fd >= 0)
		ring_close(&self->ring);
	if (self->nth >= 0) {
		put(FAIL_NTH, "0");
		write_settings(true);
		close(self->nth);
	}
	if (module_loaded())
		module_unload();
	close(self->module);
}

/* From now on the @n-th thing this thread asks for that can fail does. */
static bool arm(FIXTURE_DATA(faults) *self, unsigned int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	return write(self->nth, text, strlen(text)) == (ssize_t)strlen(text);
}

/* No more; and whether it has. */
static bool disarm(FIXTURE_DATA(faults) *self)
{
	char left[16] = "";
	bool failed;

	/* That may be what fails. */
	failed = pread(self->nth, left, sizeof(left) - 1, 0) > 0 && !atoi(left);
	while (write(self->nth, "0", 1) != 1)
		;
	return failed;
}

static bool may_come_of_it(int err)
{
	/* The last is what copying from user space comes to. */
	return err == 0 || err == -ENOMEM || err == -EFAULT;
}

/* The kernel's check of a module's BTF has other words for no memory. */
static bool may_come_of_loading(int err)
{
	return may_come_of_it(err) || err == -ELOOP || err == -EINVAL;
}

static void count(struct tally *tally, int err)
{
	tally->injected++;
	if (!err)
		tally->survived++;
	else if (-err < NR_ERRNOS)
		tally->errnos[-err]++;
}

static void report(const char *what, const struct tally *tally)
{
	unsigned int i;

	printf("# %s: %u faults injected, %u times it worked", what, tally->injected,
	       tally->survived);
	for (i = 1; i < NR_ERRNOS; i++)
		if (tally->errnos[i])
			printf(", %u times: %s", tally->errnos[i], strerror(i));
	printf("\n");
	fflush(stdout);
}

struct operation {
	const char *name;
	/* Before each one, and unarmed. */
	int (*prepare)(FIXTURE_DATA(faults) *self);
	/* 0 or a negative errno. Must not print: that allocates. */
	int (*run)(FIXTURE_DATA(faults) *self);
	/* After each, unarmed: whether @err is how things are. */
	bool (*check)(FIXTURE_DATA(faults) *self, int err);
	bool (*may)(int err); /* NULL: may_come_of_it */
};

static void each_fault(struct __test_metadata *_metadata, FIXTURE_DATA(faults) *self,
		       const struct operation *op)
{
	bool injected;
	unsigned int n;
	int err;

	/* The first time fills caches and shows that there is such an operation. */
	if (op->prepare)
		ASSERT_EQ(0, op->prepare(self));
	err = op->run(self);
	if (err == -ENOTTY)
		SKIP(return, "this module has no such ioctl");
	ASSERT_EQ(0, err);
	if (op->check)
		ASSERT_TRUE(op->check(self, 0));

	for (n = 1;; n++) {
		if (op->prepare)
			ASSERT_EQ(0, op->prepare(self));
		ASSERT_TRUE(arm(self, n));
		err = op->run(self);
		injected = disarm(self);
		if (op->check)
			ASSERT_TRUE(op->check(self, err)) {
				TH_LOG("%s: not so after fault %u: %s", op->name, n,
				       strerror(-err));
			}
		if (!injected)
			break;
		count(&self->tally, err);
		EXPECT_TRUE((op->may ?: may_come_of_it)(err)) {
			TH_LOG("%s: fault %u: %s", op->name, n, strerror(-err));
		}
	}
	EXPECT_EQ(0, err);
	report(op->name, &self->tally);
	/* Or it was none. */
	EXPECT_LT(0, self->tally.injected);
}

/*
 * Loading
 */

static unsigned int entries(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	unsigned int n = 0;

	while (dir && (entry = readdir(dir)))
		n += !strncmp(entry->d_name, "monad_ring", 10);
	if (dir)
		closedir(dir);
	return n;
}

static bool is_usable(const char *name)
{
	struct ring ring;
	bool usable;

	if (ring_open(&ring, name))
		return false;
	usable = !memcmp((const void *)ring.header->magic, MONAD_EVENT_RING_MAGIC,
			 MONAD_EVENT_RING_MAGIC_LEN) &&
		 ring.base[ring.mapped - 1] == 0;
	ring_close(&ring);
	return usable;
}

static int prepare_load(FIXTURE_DATA(faults) *self)
{
	if (self->ring.fd >= 0)
		ring_close(&self->ring);
	self->ring.fd = -1;
	return module_loaded() ? module_unload() : 0;
}

static int run_load(FIXTURE_DATA(faults) *self)
{
	return syscall(SYS_finit_module, self->module, "rings=" FAULTY_RINGS, 0) ? -errno : 0;
}

static bool check_load(FIXTURE_DATA(faults) *self, int err)
{
	if (!err)
		return is_usable(NULL) && is_usable(SMALL) && entries("/dev") == 2;
	return !module_loaded() && !entries("/dev") && !entries("/sys/class/misc") &&
	       !entries("/sys/kernel/btf") && !entries("/sys/module");
}

static const struct operation load = {
	"load", prepare_load, run_load, check_load, may_come_of_loading
};

TEST_F_TIMEOUT(faults, load, 900)
{
	long before;

	EXPECT_EQ(0, prepare_load(self));
	before = free_mib();
	each_fault(_metadata, self, &load);
	EXPECT_EQ(0, prepare_load(self));
	/*
	 * A ring for each fault would be more than all there is. KASAN keeps a thirty-second part
	 * of memory for itself for a while.
	 */
	EXPECT_LT(before - 24 - proc_number("/proc/meminfo", "MemTotal:") / 1024 / 32, free_mib());
}

/*
 * What readers do
 */

static int run_open(FIXTURE_DATA(faults) *self)
{
	int fd = ring_open_fd(SMALL);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static const struct operation open_close = { "open", .run = run_open };

TEST_F_TIMEOUT(faults, open, 120)
{
	each_fault(_metadata, self, &open_close);
	/* The one of the fixture. */
	EXPECT_EQ(1, module_wait_refcnt(1));
}

static int run_info(FIXTURE_DATA(faults) *self)
{
	struct monad_ring_info info;

	return ring_info(self->ring.fd, &info);
}

static const struct operation info = { "info", .run = run_info };

TEST_F_TIMEOUT(faults, info, 120)
{
	each_fault(_metadata, self, &info);
}

static int run_mmap(FIXTURE_DATA(faults) *self)
{
	size_t size = self->ring.info.map_size, i;
	const volatile uint8_t *map;
	unsigned int sum = 0;

	map = mmap(NULL, size, PROT_READ, MAP_SHARED, self->ring.fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	/* A fault in here is not the program's to see: the kernel tries again. */
	for (i = 0; i < size; i += 4096)
		sum += map[i];
	munmap((void *)map, size);
	/* Of the header, of the extension, and nothing else. */
	return sum == 'R' + 'M' ? 0 : -EILSEQ;
}

static const struct operation map = { "mmap", .run = run_mmap };

TEST_F_TIMEOUT(faults, mmap, 120)
{
	each_fault(_metadata, self, &map);
	EXPECT_EQ(1, module_wait_refcnt(1));
}

static int run_sysfs(FIXTURE_DATA(faults) *self)
{
	char text[64];
	ssize_t n;
	int fd;

	fd = open("/sys/class/misc/monad_ring-" SMALL "/uuid", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text));
	if (n < 0)
		n = -errno;
	close(fd);
	return n < 0 ? n : n == 37 ? 0 : -EILSEQ;
}

static const struct operation sysfs = { "sysfs", .run = run_sysfs };

TEST_F_TIMEOUT(faults, sysfs, 120)
{
	each_fault(_metadata, self, &sysfs);
}

static int run_set_content(FIXTURE_DATA(faults) *self)
{
	struct monad_ring_content content = {
		.size = sizeof(content),
		.content_type = MONAD_EVENT_CONTENT_TYPE_PRIVATE,
		.schema_hash = { 1, 2, 3 },
	};

	return ioctl(self->ring.fd, MONAD_RING_IOC_SET_CONTENT, &content) ? -errno : 0;
}

static const struct operation set_content = { "set content", .run = run_set_content };

TEST_F_TIMEOUT(faults, set_content, 120)
{
	each_fault(_metadata, self, &set_content);
	EXPECT_EQ(MONAD_EVENT_CONTENT_TYPE_PRIVATE, self->ring.header->content_type);
}

static int run_wait(FIXTURE_DATA(faults) *self)
{
	struct monad_ring_wait wait = { .size = sizeof(wait), .seqno = 1, .timeout_ns = 1000 };

	/* Nobody writes. */
	if (!ioctl(self->ring.fd, MONAD_RING_IOC_WAIT, &wait))
		return -EILSEQ;
	return errno == ETIMEDOUT ? 0 : -errno;
}

static const struct operation sleep_for_event = { "wait", .run = run_wait };

TEST_F_TIMEOUT(faults, wait, 120)
{
	each_fault(_metadata, self, &sleep_for_event);
}

static int run_poll(FIXTURE_DATA(faults) *self)
{
	struct monad_ring_poll position = { .size = sizeof(position), .seqno = 1 };
	struct pollfd pfd = { .fd = self->ring.fd, .events = POLLIN };
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int epoll, n, err = 0;

	if (ioctl(self->ring.fd, MONAD_RING_IOC_SET_POLL, &position))
		return -errno;
	n = poll(&pfd, 1, 1);
	if (n)
		return n < 0 ? -errno : -EILSEQ;
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		return -errno;
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, self->ring.fd, &event))
		err = -errno;
	n = err ? 0 : epoll_wait(epoll, &event, 1, 1);
	if (n)
		err = n < 0 ? -errno : -EILSEQ;
	close(epoll);
	return err;
}

static const struct operation poll_epoll = { "poll", .run = run_poll };

TEST_F_TIMEOUT(faults, poll, 120)
{
	each_fault(_metadata, self, &poll_epoll);
}

/*
 * Making and destroying rings
 */

static int create(FIXTURE_DATA(faults) *self)
{
	struct monad_ring_create create = {
		.size = sizeof(create),
		.name = NEW,
		.descriptors_shift = 10,
		.payload_shift = 21,
		.numa_node = -1,
	};

	return ioctl(self->ring.fd, MONAD_RING_IOC_CREATE, &create) ? -errno : 0;
}

static int destroy(FIXTURE_DATA(faults) *self)
{
	struct monad_ring_destroy destroy = { .size = sizeof(destroy), .name = NEW };

	return ioctl(self->ring.fd, MONAD_RING_IOC_DESTROY, &destroy) ? -errno : 0;
}

static int prepare_create(FIXTURE_DATA(faults) *self)
{
	int err = destroy(self);

	return err == -ENOENT ? 0 : err;
}

static bool is_there(FIXTURE_DATA(faults) *self, bool there)
{
	return entries("/dev") == 2U + there && entries("/sys/class/misc") == 2U + there &&
	       (!there || is_usable(NEW));
}

static bool check_create(FIXTURE_DATA(faults) *self, int err)
{
	/* What it says about the new ring, it says last; by then there is one. */
	if (err == -EFAULT)
		return is_there(self, false) || is_there(self, true);
	return is_there(self, !err);
}

static const struct operation create_ring = { "create", prepare_create, create, check_create };

static int prepare_destroy(FIXTURE_DATA(faults) *self)
{
	int err = create(self);

	return err == -EEXIST ? 0 : err;
}

static bool check_destroy(FIXTURE_DATA(faults) *self, int err)
{
	return is_there(self, err);
}

static const struct operation destroy_ring = {
	"destroy", prepare_destroy, destroy, check_destroy
};

static bool can_create(FIXTURE_DATA(faults) *self)
{
	return destroy(self) != -ENOTTY;
}

TEST_F_TIMEOUT(faults, create, 300)
{
	long before = free_mib();

	if (!can_create(self))
		SKIP(return, "this module makes no rings");
	each_fault(_metadata, self, &create_ring);
	EXPECT_EQ(0, prepare_create(self));
	EXPECT_LT(before - 24 - proc_number("/proc/meminfo", "MemTotal:") / 1024 / 32, free_mib());
	EXPECT_EQ(1, module_wait_refcnt(1));
}

TEST_F_TIMEOUT(faults, destroy, 300)
{
	if (!can_create(self))
		SKIP(return, "this module makes no rings");
	each_fault(_metadata, self, &destroy_ring);
	EXPECT_EQ(0, prepare_create(self));
	EXPECT_EQ(1, module_wait_refcnt(1));
}

/*
 * Several at a time
 */

static const char *const random_faults[] = { "failslab", "fail_page_alloc" };

/* @percent of every @interval-th allocation fail, of tasks that want it. 0: no more. */
static void set_random(long percent, long interval)
{
	char path[64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(random_faults); i++) {
		snprintf(path, sizeof(path), DEBUGFS "%s/interval", random_faults[i]);
		put_number(path, interval);
		snprintf(path, sizeof(path), DEBUGFS "%s/times", random_faults[i]);
		put_number(path, percent ? MANY : 1);
		snprintf(path, sizeof(path), DEBUGFS "%s/probability", random_faults[i]);
		put_number(path, percent);
	}
}

static long random_injected(void)
{
	char path[64];
	unsigned int i;
	long n = 0;

	for (i = 0; i < ARRAY_SIZE(random_faults); i++) {
		snprintf(path, sizeof(path), DEBUGFS "%s/times", random_faults[i]);
		n += MANY - proc_number(path, "");
	}
	return n;
}

TEST_F_TIMEOUT(faults, random, 600)
{
	static const struct operation *const operations[] = {
		&open_close, &info, &map, &sysfs, &set_content, &sleep_for_event, &poll_epoll,
		&create_ring, &destroy_ring,
	};
	int switch_ = open(MAKE_IT_FAIL, O_WRONLY | O_CLOEXEC), err;
	bool creates = can_create(self);
	unsigned int round, i;
	long count;

	ASSERT_LE(0, switch_);
	set_random(3, 1);
	for (round = 0; round < 40; round++) {
		for (i = 0; i < ARRAY_SIZE(operations); i++) {
			const struct operation *op = operations[i];

			if (op->prepare && (!creates || op->prepare(self)))
				continue;
			ASSERT_EQ(1, pwrite(switch_, "1", 1, 0));
			err = op->run(self);
			ASSERT_EQ(1, pwrite(switch_, "0", 1, 0));
			if (err == -ENOTTY)
				continue;
			EXPECT_TRUE(may_come_of_it(err)) {
				TH_LOG("%s: %s", op->name, strerror(-err));
			}
			if (op->check)
				ASSERT_TRUE(op->check(self, err)) {
					TH_LOG("%s: not so: %s", op->name, strerror(-err));
				}
		}
	}
	count = random_injected();
	EXPECT_LT(10, count);
	/* Much more to allocate: or it would never come far. */
	set_random(3, 10);
	for (round = 0; round < 40; round++) {
		ASSERT_EQ(0, prepare_load(self));
		ASSERT_EQ(1, pwrite(switch_, "1", 1, 0));
		err = run_load(self);
		ASSERT_EQ(1, pwrite(switch_, "0", 1, 0));
		EXPECT_TRUE(may_come_of_loading(err)) {
			TH_LOG("load: %s", strerror(-err));
		}
		ASSERT_TRUE(check_load(self, err)) {
			TH_LOG("load: not so: %s", strerror(-err));
		}
	}
	EXPECT_LT(10, random_injected());
	count += random_injected();
	printf("# random: %ld faults injected\n", count);
	fflush(stdout);
	set_random(0, 1);
	close(switch_);
	EXPECT_EQ(0, prepare_load(self));
	EXPECT_EQ(0, run_load(self));
	EXPECT_TRUE(check_load(self, 0));
}

TEST_HARNESS_MAIN
