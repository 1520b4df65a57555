// SPDX-License-Identifier: GPL-2.0
/*
 * Making rings at run time: what they are like, and that one which is refused leaves nothing
 * behind. What becomes of them in the end is in gone.c.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "writers.h"

#define RINGS "monad_ring:14:23"
#define PAGE 4096UL
#define LONGEST "a123456789b123456789c123456789d"
#define GROUP "/sys/fs/cgroup/monad_ring_selftest"

/* What is refused for the same reason is logged so often in five seconds. */
#define LOGGED 10

FIXTURE(rings)
{
	struct writers w; /* its ring is the default one */
	int fd;
	struct monad_ring_create create;
	unsigned int entries; /* before the test */
	unsigned int maps;
	int kmsg;
};

FIXTURE_SETUP(rings)
{
	int err = writers_setup(&self->w, RINGS, NULL);

	if (module_missing(err))
		SKIP(return, "the module cannot be loaded: %s", strerror(-err));
	ASSERT_EQ(0, err);
	self->fd = self->w.ring.fd;
	self->create = (struct monad_ring_create){
		.size = sizeof(self->create),
		.name = "made",
		.descriptors_shift = 10,
		.payload_shift = 21,
		.numa_node = -1,
	};
	self->entries = ring_entries("/dev");
	self->maps = vmap_ranges();
	self->kmsg = kmsg_open();
	ASSERT_LE(0, self->kmsg);
}

FIXTURE_TEARDOWN(rings)
{
	close(self->kmsg);
	writers_teardown(&self->w);
}

static void set_name(FIXTURE_DATA(rings) *self, const char *name)
{
	snprintf(self->create.name, sizeof(self->create.name), "%s", name);
}

static int create(FIXTURE_DATA(rings) *self)
{
	return ioctl(self->fd, MONAD_RING_IOC_CREATE, &self->create) ? -errno : 0;
}

/* The rings there were before, and no more. */
static void expect_nothing_made(struct __test_metadata *_metadata, FIXTURE_DATA(rings) *self,
				const char *after)
{
	EXPECT_TRUE(ring_entries("/dev") == self->entries &&
		    ring_entries("/sys/class/misc") == self->entries &&
		    vmap_ranges() == self->maps) {
		TH_LOG("something is left after %s: %u devices, %u mappings, not %u, %u", after,
		       ring_entries("/dev"), vmap_ranges(), self->entries, self->maps);
	}
}

#define EXPECT_REFUSED(err, why) do { \
	int err_ = create(self); \
	EXPECT_EQ(-(err), err_) { \
		TH_LOG("%s", why); \
	} \
	expect_nothing_made(_metadata, self, why); \
} while (0)

/* Every attribute in sysfs says what the ioctl says. */
static void compare_sysfs(struct __test_metadata *_metadata, const char *device,
			  const struct monad_ring_info *info)
{
	const struct {
		const char *name;
		int64_t value;
	} numbers[] = {
		{ "ring_id", info->ring_id },
		{ "abi_version", info->abi_version },
		{ "content_type", info->content_type },
		{ "numa_node", info->numa_node },
		{ "descriptor_capacity", info->descriptor_capacity },
		{ "payload_buf_size", info->payload_buf_size },
		{ "last_seqno", info->last_seqno },
		{ "next_payload_byte", info->next_payload_byte },
		{ "buffer_window_start", info->buffer_window_start },
		{ "max_event_size", info->max_event_size },
		{ "chunks_total", info->chunks_total },
		{ "chunks_huge", info->chunks_huge },
		{ "discarded", info->discarded },
		{ "wakeups", info->wakeups },
		{ "generation", info->generation },
		{ "kfuncs", info->flags & MONAD_RING_F_KFUNCS },
		{ "lost/too_large", info->lost[MONAD_RING_LOST_TOO_LARGE] },
		{ "lost/stalled", info->lost[MONAD_RING_LOST_STALLED] },
		{ "lost/no_slot", info->lost[MONAD_RING_LOST_NO_SLOT] },
		{ "lost/contended", info->lost[MONAD_RING_LOST_CONTENDED] },
		{ "lost/bad_arg", info->lost[MONAD_RING_LOST_BAD_ARG] },
		{ "lost/ring_gone", info->lost[MONAD_RING_LOST_RING_GONE] },
	};
	char text[128], want[128] = "";
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		ASSERT_EQ(0, sysfs_read(device, numbers[i].name, text, sizeof(text)));
		snprintf(want, sizeof(want), "%" PRId64, numbers[i].value);
		EXPECT_STREQ(want, text) {
			TH_LOG("%s of %s", numbers[i].name, device);
		}
	}
	ASSERT_EQ(0, sysfs_read(device, "schema_hash", text, sizeof(text)));
	for (i = 0; i < 32; i++)
		snprintf(want + 2 * i, 3, "%02x", info->schema_hash[i]);
	EXPECT_STREQ(want, text);
	ASSERT_EQ(0, sysfs_read(device, "uuid", text, sizeof(text)));
	for (i = 0; i < 16; i++)
		snprintf(want + strlen(want) * !!i, 4, "%s%02x",
			 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", info->uuid[i]);
	EXPECT_STREQ(want, text);
}

TEST_F(rings, all_fields)
{
	struct monad_ring_info info;
	struct reader reader;
	struct ring ring;
	struct stat st;
	int i;

	set_name(self, LONGEST);
	self->create.descriptors_shift = 11;
	self->create.payload_shift = 22;
	self->create.numa_node = 0;
	self->create.content_type = MONAD_EVENT_CONTENT_TYPE_PRIVATE;
	for (i = 0; i < 32; i++)
		self->create.schema_hash[i] = 0xe0 + i;
	self->create.ring_id = 77;
	ASSERT_EQ(0, create(self));
	EXPECT_EQ(1, self->create.ring_id);
	EXPECT_EQ(self->entries + 1, ring_entries("/dev"));
	EXPECT_EQ(self->entries + 1, ring_entries("/sys/class/misc"));
	EXPECT_EQ(self->maps + 1, vmap_ranges());
	ASSERT_EQ(0, stat("/dev/monad_ring-" LONGEST, &st));
	EXPECT_EQ(S_IFCHR | 0400, st.st_mode);

	ASSERT_EQ(0, ring_open(&ring, LONGEST));
	EXPECT_EQ(1, ring.info.ring_id);
	EXPECT_STREQ(LONGEST, ring.info.name);
	EXPECT_EQ(0, ring.info.numa_node);
	EXPECT_EQ(MONAD_EVENT_CONTENT_TYPE_PRIVATE, ring.info.content_type);
	EXPECT_EQ(0, memcmp(self->create.schema_hash, ring.info.schema_hash, 32));
	EXPECT_EQ(2048, ring.info.descriptor_capacity);
	EXPECT_EQ(4 * MIB, ring.info.payload_buf_size);
	EXPECT_EQ(MONAD_RING_STATE_LIVE, ring.info.state);
	EXPECT_EQ(MONAD_RING_STATE_LIVE, ring.ext->state);
	EXPECT_EQ(0, ring.info.last_seqno);
	EXPECT_LT(self->w.ring.info.generation, ring.info.generation);
	EXPECT_NE(0, memcmp(self->w.ring.info.uuid, ring.info.uuid, 16));
	EXPECT_EQ(0, memcmp(ring.base, "RING01\x00\x80", 8));
	EXPECT_EQ(0, memcmp(ring.base + 8, self->create.schema_hash, 32));
	compare_sysfs(_metadata, "monad_ring-" LONGEST, &ring.info);

	/* By the id, and only there. */
	self->w.writer[0].ring = self->create.ring_id;
	self->w.writer[0].max_len = 300;
	self->w.writer[0].discard_every = 10;
	ASSERT_EQ(0, writers_burst(&self->w, 0, 1000));
	reader_init(&reader, &ring, 1);
	EXPECT_EQ(1000, reader_drain(&reader));
	EXPECT_EQ(100, reader.discarded);
	EXPECT_EQ(0, reader.wrong);
	reader_free(&reader);
	EXPECT_EQ(0, self->w.ring.header->control.last_seqno);
	ASSERT_EQ(0, ring_info(ring.fd, &info));
	EXPECT_EQ(1000, info.last_seqno);
	EXPECT_EQ(100, info.discarded);
	compare_sysfs(_metadata, "monad_ring-" LONGEST, &info);
	ring_close(&ring);

	EXPECT_EQ(0, ring_destroy(self->fd, LONGEST));
	expect_nothing_made(_metadata, self, "a ring came and went");
}

/* Shifts of 0, any node, no content yet; made through a ring that was itself made. */
TEST_F(rings, defaults)
{
	struct ring ring, other;
	uint32_t id;

	self->create.descriptors_shift = 0;
	self->create.payload_shift = 0;
	ASSERT_EQ(0, create(self));
	ASSERT_EQ(0, ring_open(&ring, "made"));
	EXPECT_EQ(1 << 18, ring.info.descriptor_capacity);
	EXPECT_EQ(1 << 25, ring.info.payload_buf_size);
	EXPECT_EQ(-1, ring.info.numa_node);
	EXPECT_EQ(MONAD_EVENT_CONTENT_TYPE_NONE, ring.info.content_type);
	ASSERT_EQ(0, ring_create(ring.fd, "other", 10, 21, &id));
	ASSERT_EQ(0, ring_open(&other, "other"));
	EXPECT_EQ(2, id);
	EXPECT_EQ(2, other.info.ring_id);
	ring_close(&other);
	ring_close(&ring);
	ASSERT_EQ(0, ring_open(&ring, "made"));
	ring_close(&ring);
}

/* A program compiled with a later structure, whose size is in the ioctl's number as well. */
TEST_F(rings, invalid)
{
	static const uint32_t sizes[] = { 0, 1, 88, 95, 97, 104, 4096 };
	struct {
		struct monad_ring_create create;
		uint64_t more;
	} later = { self->create };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		self->create.size = sizes[i];
		EXPECT_REFUSED(EINVAL, "a size");
	}
	self->create.size = sizeof(self->create);
	later.create.size = sizeof(later);
	EXPECT_EQ(-1, ioctl(self->fd, _IOWR(MONAD_RING_IOC_MAGIC, 5, later), &later));
	EXPECT_EQ(EINVAL, errno);
	for (i = 0; i < 32; i++) {
		self->create.flags = 1U << i;
		EXPECT_REFUSED(EINVAL, "flags");
	}
	self->create.flags = 0;
	self->create.reserved16 = 1;
	EXPECT_REFUSED(EINVAL, "reserved16");
	self->create.reserved16 = 0;
	self->create.reserved32 = 1;
	EXPECT_REFUSED(EINVAL, "reserved32");
	self->create.reserved32 = 0;
	self->create.schema_hash[31] = 1;
	EXPECT_REFUSED(EINVAL, "a hash without a content type");
	self->create.content_type = 1;
	EXPECT_EQ(0, create(self));
}

TEST_F(rings, bad_names)
{
	static const char *const names[] = {
		"", ".", "..", "../a", "a/b", "-a", "_a", ".a", "a b", "a%s", "a\n", "a:10:21",
		"a,b", "\303\244", "\351", "\177", " a", "a ",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		set_name(self, names[i]);
		EXPECT_REFUSED(EINVAL, names[i]);
		EXPECT_TRUE(i >= LOGGED ||
			    kmsg_has(self->kmsg, "a ring's name is 1 to 31 letters"));
	}
	/* The name fills its field, and goes on in the next. */
	memset(self->create.name, 'a', sizeof(self->create.name));
	EXPECT_REFUSED(EINVAL, "a name without end");
	self->create.name[31] = '\0';
	/* Behind the NUL may stand what will. */
	memcpy(self->create.name, "b\0/%", 4);
	ASSERT_EQ(0, create(self));
	EXPECT_EQ(0, ring_destroy(self->fd, "b"));
}

TEST_F(rings, bad_shifts)
{
	static const struct {
		uint32_t descriptors, payload;
		int err;
	} shifts[] = {
		{ 9, 21, ERANGE }, { 33, 21, ERANGE }, { 10, 20, ERANGE }, { 10, 41, ERANGE },
		{ 1, 21, ERANGE }, { 10, 1, ERANGE }, { 0, 41, ERANGE }, { 33, 0, ERANGE },
		{ 64, 21, ERANGE }, { 10, 64, ERANGE }, { UINT32_MAX, 21, ERANGE },
		{ 10, UINT32_MAX, ERANGE }, { 1U << 31 | 10, 21, ERANGE },
		/* Within bounds, and more than there is. */
		{ 10, 40, ENOMEM }, { 32, 21, ENOMEM }, { 32, 40, ENOMEM }, { 10, 36, ENOMEM },
	};
	long oom = proc_number("/proc/vmstat", "oom_kill ");
	unsigned int i, out_of_bounds = 0;
	long before = 0;

	for (i = 0; i < ARRAY_SIZE(shifts); i++) {
		self->create.descriptors_shift = shifts[i].descriptors;
		self->create.payload_shift = shifts[i].payload;
		EXPECT_REFUSED(shifts[i].err, "bad shifts");
		if (shifts[i].err == ERANGE)
			out_of_bounds++;
		EXPECT_TRUE((shifts[i].err == ERANGE && out_of_bounds > LOGGED) ||
			    kmsg_has(self->kmsg,
				     shifts[i].err == ERANGE ? "shift" : "ring made: "));
		if (!i)
			before = free_mib();
	}
	EXPECT_LT(before - 12, free_mib());
	EXPECT_EQ(oom, proc_number("/proc/vmstat", "oom_kill "));
}

TEST_F(rings, bad_nodes)
{
	static const int nodes[] = { -2, 1, 63, 1023, 1 << 20, INT32_MAX, INT32_MIN };
	unsigned int i;

	if (!access("/sys/devices/system/node/node1", F_OK))
		SKIP(return, "this machine has a node 1");
	for (i = 0; i < ARRAY_SIZE(nodes); i++) {
		self->create.numa_node = nodes[i];
		EXPECT_REFUSED(ENODEV, "a bad node");
	}
}

TEST_F(rings, bad_pointers)
{
	uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *const bad[] = {
		NULL, (void *)1, pages + 2 * PAGE - 8, pages + PAGE - 32, (void *)-1UL,
	};
	unsigned int i;

	ASSERT_NE(MAP_FAILED, pages);
	memcpy(pages + PAGE - 32, &self->create, 32);
	ASSERT_EQ(0, mprotect(pages + PAGE, PAGE, PROT_NONE));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-1, ioctl(self->fd, MONAD_RING_IOC_CREATE, bad[i]));
		EXPECT_EQ(EFAULT, errno);
		EXPECT_EQ(-1, ioctl(self->fd, MONAD_RING_IOC_DESTROY, bad[i]));
		EXPECT_EQ(EFAULT, errno);
	}
	/* Nor is a ring made whose id there is no place for. */
	memcpy(pages, &self->create, sizeof(self->create));
	ASSERT_EQ(0, mprotect(pages, PAGE, PROT_READ));
	EXPECT_EQ(-1, ioctl(self->fd, MONAD_RING_IOC_CREATE, pages));
	EXPECT_EQ(EFAULT, errno);
	expect_nothing_made(_metadata, self, "bad pointers");
	munmap(pages, 2 * PAGE);
}

TEST_F(rings, exists)
{
	ASSERT_EQ(0, create(self));
	EXPECT_EQ(-EEXIST, create(self));
	EXPECT_TRUE(kmsg_has(self->kmsg, "ring made: there is one already"));
	self->create.payload_shift = 22;
	EXPECT_EQ(-EEXIST, create(self));
	EXPECT_EQ(-EEXIST, ring_create(self->fd, "monad_ring", 10, 21, NULL));
	EXPECT_EQ(self->entries + 1, ring_entries("/dev"));
	EXPECT_EQ(self->maps + 1, vmap_ranges());
	/* Names are told apart by every letter. */
	EXPECT_EQ(0, ring_create(self->fd, "Made", 10, 21, NULL));
	EXPECT_EQ(0, ring_create(self->fd, "mad", 10, 21, NULL));
	EXPECT_EQ(0, ring_create(self->fd, "made2", 10, 21, NULL));
}

/* Who may make rings may ask for one on and on, and the log still has room for others. */
TEST_F(rings, log_is_not_flooded)
{
	unsigned int i, logged = 0;

	ASSERT_EQ(0, create(self));
	for (i = 0; i < 1000; i++)
		EXPECT_EQ(-EEXIST, create(self));
	while (kmsg_has(self->kmsg, "ring made: there is one already"))
		logged++;
	EXPECT_LE(LOGGED, logged);
	EXPECT_GE(10 * LOGGED, logged);
}

/* 64 rings, and the 65th when one went. */
TEST_F_TIMEOUT(rings, how_many, 60)
{
	uint32_t id, ids[64];
	char name[8];
	int i;

	if (available_mib() < 600)
		SKIP(return, "less than 600 MiB of memory");
	for (i = 1; i < 64; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		ASSERT_EQ(0, ring_create(self->fd, name, 10, 21, &ids[i]));
		EXPECT_EQ(i, ids[i]);
	}
	EXPECT_EQ(-ENOSPC, create(self));
	EXPECT_TRUE(kmsg_has(self->kmsg, "ring made: there are 64 rings already"));
	EXPECT_EQ(64, ring_entries("/dev"));
	ASSERT_EQ(0, ring_destroy(self->fd, "r40"));
	ASSERT_EQ(0, create(self));
	id = self->create.ring_id;
	/* In that ring's place, by another id than any that ever was. */
	EXPECT_EQ(40 + 64, id);
	set_name(self, "more");
	EXPECT_EQ(-ENOSPC, create(self));
	for (i = 1; i < 64; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		EXPECT_EQ(i == 40 ? -ENOENT : 0, ring_destroy(self->fd, name));
	}
	EXPECT_EQ(0, ring_destroy(self->fd, "made"));
	expect_nothing_made(_metadata, self, "63 rings");
}

/* What creating and destroying say, which is the same. */
static int create_and_destroy(void *rings)
{
	FIXTURE_DATA(rings) *self = rings;
	int err = -create(self);

	return err == -ring_destroy(self->fd, "made") ? err : 254;
}

TEST_F(rings, privilege)
{
	EXPECT_EQ(EPERM, act_as(-1, create_and_destroy, self));
	EXPECT_EQ(EPERM, act_as(CAP_BPF, create_and_destroy, self));
	EXPECT_EQ(EPERM, act_as(CAP_SYS_RAWIO, create_and_destroy, self));
	EXPECT_EQ(EPERM, act_as(CAP_DAC_OVERRIDE, create_and_destroy, self));
	expect_nothing_made(_metadata, self, "those without privilege");
	EXPECT_EQ(0, act_as(CAP_PERFMON, create_and_destroy, self));
	EXPECT_EQ(0, act_as(CAP_SYS_ADMIN, create_and_destroy, self));
	expect_nothing_made(_metadata, self, "those with privilege");
	/* Nor does one without learn what there is. */
	ASSERT_EQ(0, create(self));
	EXPECT_EQ(EPERM, act_as(-1, create_and_destroy, self));
	EXPECT_EQ(self->entries + 1, ring_entries("/dev"));
}

#define KILLED 16

/* Its maker killed while the memory is got together: at once, and nothing is left. */
TEST_F_TIMEOUT(rings, killed, 120)
{
	uint64_t start, whole = now_ns(CLOCK_MONOTONIC);
	unsigned int i, midway = 0;
	int err, status;
	long before;
	pid_t pid;

	if (available_mib() < 500)
		SKIP(return, "less than 500 MiB of memory");
	self->create.payload_shift = 27;
	/* How long it takes undisturbed. */
	pid = fork();
	if (!pid)
		_exit(-create(self));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	whole = (now_ns(CLOCK_MONOTONIC) - whole) / 1000;
	ASSERT_EQ(0, ring_destroy(self->fd, "made"));
	before = free_mib();

	for (i = 1; i <= KILLED; i++) {
		pid = fork();
		if (!pid)
			_exit(-create(self));
		ASSERT_LT(0, pid);
		usleep(whole * i / KILLED);
		start = now_ns(CLOCK_MONOTONIC);
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		/* A large ring may take minutes. */
		EXPECT_GT(10000000000ULL, now_ns(CLOCK_MONOTONIC) - start);
		/* It may have been done. */
		err = ring_destroy(self->fd, "made");
		EXPECT_TRUE(!err || (err == -ENOENT && WIFSIGNALED(status)));
		midway += err == -ENOENT;
		expect_nothing_made(_metadata, self, "its maker was killed");
	}
	TH_LOG("%u of %u were killed before their ring was made", midway, KILLED);
	EXPECT_LT(2, midway);
	EXPECT_LT(before - 32, free_mib());
}

static bool write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return good;
}

/* Creates in a process of that control group. Positive errno; 255 if it came to nothing. */
static int create_in(FIXTURE_DATA(rings) *self, const char *limit)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (!write_to(GROUP "/cgroup.procs", "0") || !write_to(GROUP "/memory.max", limit))
			_exit(255);
		_exit(-create(self));
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static long charged_mib(void)
{
	return proc_number(GROUP "/memory.current", "") >> 20;
}

/* A ring counts against its maker's control group, and no process is killed for it. */
TEST_F(rings, control_group)
{
	long oom = proc_number("/proc/vmstat", "oom_kill "), before, free;
	uint64_t until;

	if (!write_to("/sys/fs/cgroup/cgroup.subtree_control", "+memory"))
		SKIP(return, "no memory controller of cgroup2 on /sys/fs/cgroup");
	rmdir(GROUP);
	ASSERT_EQ(0, mkdir(GROUP, 0755));
	self->create.payload_shift = 26;
	/* The first time fills caches. */
	EXPECT_EQ(ENOMEM, create_in(self, "16777216"));
	free = free_mib();
	EXPECT_EQ(ENOMEM, create_in(self, "16777216"));
	expect_nothing_made(_metadata, self, "the control group's limit was reached");
	EXPECT_EQ(0, proc_number(GROUP "/memory.events", "oom_kill "));
	EXPECT_EQ(oom, proc_number("/proc/vmstat", "oom_kill "));
	EXPECT_GT(16, charged_mib());
	EXPECT_LT(free - 12, free_mib());

	/* Others are not charged for it, and its maker is until it is gone. */
	before = charged_mib();
	ASSERT_EQ(0, ring_create(self->fd, "mine", 10, 26, NULL));
	EXPECT_GT(before + 8, charged_mib());
	EXPECT_EQ(0, create_in(self, "134217728"));
	EXPECT_LE(before + 68, charged_mib());
	EXPECT_EQ(0, ring_destroy(self->fd, "made"));
	until = now_ns(CLOCK_MONOTONIC) + 5000000000ULL;
	while (charged_mib() > before + 8 && now_ns(CLOCK_MONOTONIC) < until)
		usleep(10000);
	EXPECT_GT(before + 8, charged_mib());
	EXPECT_EQ(0, rmdir(GROUP));
}

TEST_HARNESS_MAIN
