// SPDX-License-Identifier: GPL-2.0
/*
 * The character device: who may open it, its ioctls, its attributes in sysfs, and the bytes
 * of a new ring's header.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"

#include "ring.h"

#define PAGE 4096UL
#define NOBODY 65534

FIXTURE(device)
{
	int fd;
	struct ring small;
};

FIXTURE_SETUP(device)
{
	SETUP_MODULE(SMALL_RINGS);
	self->fd = ring_open_fd(NULL);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, ring_open(&self->small, SMALL));
}

FIXTURE_TEARDOWN(device)
{
	close(self->fd);
	ring_close(&self->small);
}

TEST_F(device, present)
{
	static const char *const paths[] = { "/dev/monad_ring", "/dev/monad_ring-small" };
	struct stat st;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		ASSERT_EQ(0, stat(paths[i], &st));
		EXPECT_TRUE(S_ISCHR(st.st_mode));
		EXPECT_EQ(0400, st.st_mode & 07777);
		EXPECT_EQ(0, st.st_uid);
	}
	EXPECT_EQ(-ENOENT, ring_open_fd("other"));
}

TEST_F(device, not_for_others)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(2);
		_exit(ring_open_fd(NULL) == -EACCES && ring_open_fd(SMALL) == -EACCES ? 0 : 1);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* There is nothing to read or to write, also not for who may open it for writing. */
TEST_F(device, no_read_or_write)
{
	int fd = open("/dev/monad_ring", O_RDWR | O_CLOEXEC);
	char byte = 0;

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, read(fd, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(fd, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	close(fd);
}

TEST_F(device, info)
{
	struct monad_ring_info info;

	ASSERT_EQ(0, ring_info(self->small.fd, &info));
	EXPECT_EQ(304, info.size);
	EXPECT_EQ(1, info.abi_version);
	EXPECT_EQ(SMALL_ID, info.ring_id);
	EXPECT_EQ(MONAD_RING_F_KFUNCS, info.flags);
	EXPECT_STREQ("small", info.name);
	EXPECT_EQ(0, info.content_type);
	EXPECT_EQ(0, info.reserved16);
	EXPECT_EQ(1024, info.descriptor_capacity);
	EXPECT_EQ(2 << 20, info.payload_buf_size);
	EXPECT_EQ(0, info.context_area_size);
	EXPECT_EQ(2 << 20, info.descriptor_offset);
	EXPECT_EQ(4 << 20, info.payload_offset);
	EXPECT_EQ(6 << 20, info.context_offset);
	EXPECT_EQ(6 << 20, info.map_size);
	EXPECT_EQ(0, info.last_seqno);
	EXPECT_EQ(0, info.next_payload_byte);
	EXPECT_EQ(0, info.buffer_window_start);
	EXPECT_EQ(512 << 10, info.max_event_size);
	EXPECT_EQ(3, info.chunks_total);
	EXPECT_GE(3, info.chunks_huge);

	ASSERT_EQ(0, ring_info(self->fd, &info));
	EXPECT_EQ(0, info.ring_id);
	EXPECT_STREQ("monad_ring", info.name);
	EXPECT_EQ(1 << 14, info.descriptor_capacity);
	EXPECT_EQ(8 << 20, info.payload_buf_size);
	EXPECT_EQ(2 << 20, info.descriptor_offset);
	EXPECT_EQ(4 << 20, info.payload_offset);
	EXPECT_EQ(12 << 20, info.map_size);
	EXPECT_EQ(2 << 20, info.max_event_size);
	EXPECT_EQ(6, info.chunks_total);
}

/* The clock pair that turns the one clock into the other. */
TEST_F(device, clock_offset)
{
	int64_t before, after, slack = 1000000;
	struct monad_ring_info info;

	before = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC);
	ASSERT_EQ(0, ring_info(self->fd, &info));
	after = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC);
	EXPECT_LE(before - slack, info.realtime_offset_ns);
	EXPECT_GE(after + slack, info.realtime_offset_ns);
}

TEST_F(device, uuid_and_generation)
{
	static const uint8_t zero[16];
	uint64_t generation = self->small.ext->generation;
	struct monad_ring_info info;

	ASSERT_EQ(0, ring_info(self->fd, &info));
	EXPECT_NE(0, memcmp(info.uuid, zero, 16));
	EXPECT_NE(0, memcmp(info.uuid, self->small.info.uuid, 16));
	EXPECT_EQ(0, memcmp(self->small.base + 4096 + 16, self->small.info.uuid, 16));

	close(self->fd);
	ring_close(&self->small);
	ASSERT_EQ(0, module_fresh(SMALL_RINGS));
	self->fd = ring_open_fd(NULL);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, ring_open(&self->small, SMALL));
	EXPECT_NE(0, memcmp(info.uuid, self->small.info.uuid, 16));
	EXPECT_LT(generation, self->small.ext->generation);
}

/* What is too small for the first version is refused; what is larger is filled in part. */
TEST_F(device, info_size)
{
	static const uint32_t small[] = { 0, 1, 4, 279 };
	union {
		struct monad_ring_info info;
		uint8_t bytes[PAGE];
	} u;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(small); i++) {
		memset(&u, 0x55, sizeof(u));
		u.info.size = small[i];
		EXPECT_EQ(-1, ioctl(self->fd, MONAD_RING_IOC_INFO, &u));
		EXPECT_EQ(EINVAL, errno);
		EXPECT_EQ(0x55555555, u.info.abi_version);
	}
	memset(&u, 0x55, sizeof(u));
	u.info.size = PAGE;
	EXPECT_EQ(0, ioctl(self->fd, MONAD_RING_IOC_INFO, &u));
	EXPECT_EQ(304, u.info.size);
	EXPECT_EQ(8 << 20, u.info.payload_buf_size);
	EXPECT_EQ(0, u.info.discarded);
	for (i = 304; i < PAGE; i++)
		ASSERT_EQ(0x55, u.bytes[i]);
}

/* A program compiled with a later, larger structure: it is in the ioctl's number too. */
TEST_F(device, info_of_the_future)
{
	struct {
		struct monad_ring_info info;
		uint64_t more[4];
	} later = { .info.size = sizeof(later), .more[0] = 1 };

	EXPECT_EQ(0, ioctl(self->fd, _IOWR(MONAD_RING_IOC_MAGIC, 1, later), &later));
	EXPECT_EQ(304, later.info.size);
	EXPECT_EQ(8 << 20, later.info.payload_buf_size);
	EXPECT_EQ(1, later.more[0]);
}

TEST_F(device, bad_pointer)
{
	uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct monad_ring_info *info;

	ASSERT_NE(MAP_FAILED, pages);
	EXPECT_EQ(-1, ioctl(self->fd, MONAD_RING_IOC_INFO, NULL));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, ioctl(self->fd, MONAD_RING_IOC_SET_CONTENT, NULL));
	EXPECT_EQ(EFAULT, errno);

	/* The size can be read, but not all of it written. */
	ASSERT_EQ(0, mprotect(pages + PAGE, PAGE, PROT_NONE));
	info = (struct monad_ring_info *)(pages + PAGE - 8);
	info->size = sizeof(*info);
	EXPECT_EQ(-1, ioctl(self->fd, MONAD_RING_IOC_INFO, info));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, ioctl(self->fd, MONAD_RING_IOC_SET_CONTENT, info));
	EXPECT_EQ(EFAULT, errno);

	info = (struct monad_ring_info *)pages;
	info->size = sizeof(*info);
	ASSERT_EQ(0, mprotect(pages, PAGE, PROT_READ));
	EXPECT_EQ(-1, ioctl(self->fd, MONAD_RING_IOC_INFO, info));
	EXPECT_EQ(EFAULT, errno);
}

TEST_F(device, unknown_ioctl)
{
	static const unsigned int unknown[] = {
		_IO(MONAD_RING_IOC_MAGIC, 0), _IO(MONAD_RING_IOC_MAGIC, 255),
		_IOWR(MONAD_RING_IOC_MAGIC, 200, struct monad_ring_info),
		_IOWR(0xEB, 1, struct monad_ring_info), _IO(MONAD_RING_IOC_MAGIC, 1),
		_IOR(MONAD_RING_IOC_MAGIC, 1, struct monad_ring_info), 0, 0xffffffff,
	};
	struct monad_ring_info info = { .size = sizeof(info) };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(unknown); i++) {
		EXPECT_EQ(-1, ioctl(self->fd, unknown[i], &info));
		EXPECT_EQ(ENOTTY, errno);
	}
}

static int set_content(int fd, unsigned int type, uint8_t hash)
{
	struct monad_ring_content content = { .size = sizeof(content), .content_type = type };

	memset(content.schema_hash, hash, sizeof(content.schema_hash));
	return ioctl(fd, MONAD_RING_IOC_SET_CONTENT, &content) ? -errno : 0;
}

TEST_F(device, set_content)
{
	const uint8_t *base = self->small.base;
	uint8_t hash[32];
	struct monad_ring_info info;
	char text[128];

	memset(hash, 0xa7, sizeof(hash));
	EXPECT_EQ(-EINVAL, set_content(self->small.fd, 0, 1));
	EXPECT_EQ(0, set_content(self->small.fd, 258, 0xa7));
	/* At its place in the header; nowhere else. */
	EXPECT_EQ(0, memcmp(base, "RING01\x02\x01", 8));
	EXPECT_EQ(0, memcmp(base + 8, hash, 32));
	ASSERT_EQ(0, ring_info(self->small.fd, &info));
	EXPECT_EQ(258, info.content_type);
	EXPECT_EQ(0, memcmp(info.schema_hash, hash, 32));
	ASSERT_EQ(0, sysfs_read("monad_ring-small", "content_type", text, sizeof(text)));
	EXPECT_STREQ("258", text);
	ASSERT_EQ(0, sysfs_read("monad_ring-small", "schema_hash", text, sizeof(text)));
	EXPECT_STREQ("a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7", text);

	/* Once; the same again is fine. */
	EXPECT_EQ(0, set_content(self->small.fd, 258, 0xa7));
	EXPECT_EQ(-EBUSY, set_content(self->small.fd, 258, 0xa8));
	EXPECT_EQ(-EBUSY, set_content(self->small.fd, 259, 0xa7));
	EXPECT_EQ(-EINVAL, set_content(self->small.fd, 0, 0xa7));
	EXPECT_EQ(0, memcmp(base, "RING01\x02\x01", 8));
	EXPECT_EQ(0, memcmp(base + 8, hash, 32));

	/* The other ring has its own. */
	ASSERT_EQ(0, ring_info(self->fd, &info));
	EXPECT_EQ(0, info.content_type);
	EXPECT_EQ(0, set_content(self->fd, 1, 0));
	ASSERT_EQ(0, ring_info(self->fd, &info));
	EXPECT_EQ(1, info.content_type);
}

TEST_F(device, set_content_invalid)
{
	static const uint32_t sizes[] = { 0, 39, 41, 64 };
	struct monad_ring_content content = { .content_type = 1 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		content.size = sizes[i];
		EXPECT_EQ(-1, ioctl(self->small.fd, MONAD_RING_IOC_SET_CONTENT, &content));
		EXPECT_EQ(EINVAL, errno);
	}
	content.size = sizeof(content);
	content.reserved16 = 1;
	EXPECT_EQ(-1, ioctl(self->small.fd, MONAD_RING_IOC_SET_CONTENT, &content));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, self->small.header->content_type);
}

struct setter {
	int fd;
	unsigned int type;
};

static int set_type(void *arg)
{
	const struct setter *setter = arg;

	return -set_content(setter->fd, setter->type, 0);
}

TEST_F(device, set_content_privilege)
{
	struct setter small = { self->small.fd, 1 }, other = { self->fd, 2 };

	EXPECT_EQ(EPERM, act_as(-1, set_type, &small));
	EXPECT_EQ(EPERM, act_as(CAP_BPF, set_type, &small));
	EXPECT_EQ(EPERM, act_as(CAP_DAC_OVERRIDE, set_type, &small));
	EXPECT_EQ(0, self->small.header->content_type);
	EXPECT_EQ(0, act_as(CAP_PERFMON, set_type, &small));
	EXPECT_EQ(1, self->small.header->content_type);
	EXPECT_EQ(0, act_as(CAP_SYS_ADMIN, set_type, &other));
}

static uint64_t u64_at(const uint8_t *p)
{
	uint64_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

/* The offsets are the format's, written out: the header file must not be believed. */
TEST_F(device, header_bytes)
{
	const uint8_t *h = self->small.base, *ext = h + 4096;
	struct monad_ring_info info;
	unsigned int i;

	EXPECT_EQ(0, memcmp(h, "RING01", 6));
	for (i = 6; i < 40; i++)
		EXPECT_EQ(0, h[i]);
	EXPECT_EQ(1024, u64_at(h + 40));
	EXPECT_EQ(2097152, u64_at(h + 48));
	for (i = 56; i < 4096; i++)
		ASSERT_EQ(0, h[i]);

	ASSERT_EQ(0, ring_info(self->small.fd, &info));
	EXPECT_EQ(0, memcmp(ext, "MONADEXT", 8));
	EXPECT_EQ(256, u32_at(ext + 8));
	EXPECT_EQ(1, u32_at(ext + 12));
	EXPECT_EQ(0, memcmp(ext + 16, info.uuid, 16));
	for (i = 32; i < 48; i++)
		EXPECT_EQ(0, ext[i]);
	EXPECT_GE(now_ns(CLOCK_BOOTTIME), u64_at(ext + 48));
	EXPECT_LT(0, u64_at(ext + 48));
	EXPECT_EQ(info.realtime_offset_ns, u64_at(ext + 56));
	EXPECT_EQ(3, u32_at(ext + 64));
	EXPECT_EQ(info.chunks_huge, u32_at(ext + 68));
	for (i = 72; i < 256; i++)
		EXPECT_EQ(0, ext[i]);
	/* The rest of the section, and all of the others, are zero. */
	for (i = 4096 + 256; i < 6 << 20; i += 8)
		ASSERT_EQ(0, u64_at(h + i));
}

/* Number @name of /sys/class/misc/monad_ring-small, which has @mode; all ones if there is none. */
static uint64_t attribute_mode(struct __test_metadata *_metadata, const char *name, int mode)
{
	char path[128], text[64];
	struct stat st;

	snprintf(path, sizeof(path), "/sys/class/misc/monad_ring-small/%s", name);
	EXPECT_EQ(0, stat(path, &st));
	EXPECT_EQ(mode, st.st_mode & 0777);
	if (sysfs_read("monad_ring-small", name, text, sizeof(text)))
		return UINT64_MAX;
	return strtoull(text, NULL, 0);
}

static uint64_t attribute(struct __test_metadata *_metadata, const char *name)
{
	return attribute_mode(_metadata, name, 0444);
}

/* Of what each event changes: root's alone. */
static uint64_t event_attribute(struct __test_metadata *_metadata, const char *name)
{
	return attribute_mode(_metadata, name, 0400);
}

TEST_F(device, sysfs)
{
	const uint8_t *id = self->small.info.uuid;
	char want[64], text[64];

	EXPECT_EQ(1, attribute(_metadata, "ring_id"));
	EXPECT_EQ(1, attribute(_metadata, "abi_version"));
	EXPECT_EQ(0, attribute(_metadata, "content_type"));
	EXPECT_EQ(1024, attribute(_metadata, "descriptor_capacity"));
	EXPECT_EQ(2097152, attribute(_metadata, "payload_buf_size"));
	EXPECT_EQ(0, event_attribute(_metadata, "last_seqno"));
	EXPECT_EQ(0, event_attribute(_metadata, "next_payload_byte"));
	EXPECT_EQ(0, event_attribute(_metadata, "buffer_window_start"));
	EXPECT_EQ(524288, attribute(_metadata, "max_event_size"));
	EXPECT_EQ(3, attribute(_metadata, "chunks_total"));
	EXPECT_EQ(self->small.info.chunks_huge, attribute(_metadata, "chunks_huge"));
	EXPECT_EQ(0, event_attribute(_metadata, "discarded"));
	EXPECT_EQ(0, event_attribute(_metadata, "wakeups"));
	EXPECT_EQ(1, attribute(_metadata, "kfuncs"));
	EXPECT_EQ(0, attribute(_metadata, "lost/too_large"));
	EXPECT_EQ(0, attribute(_metadata, "lost/stalled"));
	EXPECT_EQ(0, attribute(_metadata, "lost/no_slot"));
	EXPECT_EQ(0, attribute(_metadata, "lost/contended"));
	EXPECT_EQ(0, attribute(_metadata, "lost/bad_arg"));
	EXPECT_EQ(0, attribute(_metadata, "lost/ring_gone"));
	ASSERT_EQ(0, sysfs_read("monad_ring-small", "numa_node", text, sizeof(text)));
	EXPECT_EQ(self->small.info.numa_node, atoi(text));

	snprintf(want, sizeof(want), "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
		 "%02x%02x%02x%02x%02x%02x", id[0], id[1], id[2], id[3], id[4], id[5], id[6],
		 id[7], id[8], id[9], id[10], id[11], id[12], id[13], id[14], id[15]);
	ASSERT_EQ(0, sysfs_read("monad_ring-small", "uuid", text, sizeof(text)));
	EXPECT_STREQ(want, text);
	ASSERT_EQ(0, sysfs_read("monad_ring", "descriptor_capacity", text, sizeof(text)));
	EXPECT_STREQ("16384", text);
}

/* An open file keeps the module. */
TEST_F(device, open_keeps_module)
{
	long refs = module_refcnt();
	int fd;

	EXPECT_LE(2, refs);
	fd = ring_open_fd(SMALL);
	EXPECT_EQ(refs + 1, module_refcnt());
	EXPECT_GT(0, module_try_unload());
	close(fd);
	EXPECT_EQ(refs, module_refcnt());
}

TEST_HARNESS_MAIN
