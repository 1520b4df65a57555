// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading the module: with all kinds of rings=, over and over, while it is in
 * use, and without enough memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "kselftest_harness.h"

#include "accepted.skel.h"
#include "ring.h"

#define PIN_DIR "/sys/fs/bpf"
#define PIN PIN_DIR "/monad_ring_selftest"

FIXTURE(reload)
{
	int kmsg;
};

FIXTURE_SETUP(reload)
{
	SETUP_MODULE(SMALL_RINGS);
	ASSERT_EQ(0, module_unload());
	quiet_libbpf();
	self->kmsg = kmsg_open();
	ASSERT_LE(0, self->kmsg);
}

FIXTURE_TEARDOWN(reload)
{
	close(self->kmsg);
	if (module_loaded())
		module_unload();
}

static void expect_nothing_left(struct __test_metadata *_metadata, const char *after)
{
	EXPECT_FALSE(module_loaded() || ring_entries("/dev") || ring_entries("/sys/class/misc") ||
		     ring_entries("/sys/kernel/btf") || ring_entries("/sys/module")) {
		TH_LOG("something is left after %s", after);
	}
}

/* What one may ask for, and the rings there are then. */
static const struct {
	const char *params;
	struct {
		const char *name;
		unsigned int desc_shift;
		unsigned int payload_shift;
	} ring[4];
} good[] = {
	{ "", { { NULL, 18, 25 } } },
	{ "rings=", { { NULL, 18, 25 } } },
	{ "rings=monad_ring", { { NULL, 18, 25 } } },
	{ "rings=monad_ring:10:21", { { NULL, 10, 21 } } },
	{ "rings=monad_ring:16:27", { { NULL, 16, 27 } } },
	{ "rings=a:10:21,b:11:22,c:12:23", { { NULL, 18, 25 }, { "a", 10, 21 }, { "b", 11, 22 },
					     { "c", 12, 23 } } },
	/* The default ring is the first, wherever it is named. */
	{ "rings=a:10:21,monad_ring:13:22,b:10:21", { { NULL, 13, 22 }, { "a", 10, 21 },
						      { "b", 10, 21 } } },
	{ "rings=plain", { { NULL, 18, 25 }, { "plain", 18, 25 } } },
	{ "rings=monad_ring:10:21,0-b_c.D:10:21", { { NULL, 10, 21 }, { "0-b_c.D", 10, 21 } } },
	{ "rings=monad_ring:10:21,a123456789b123456789c123456789d:10:21",
	  { { NULL, 10, 21 }, { "a123456789b123456789c123456789d", 10, 21 } } },
};

static void check_ring(struct __test_metadata *_metadata, unsigned int load, unsigned int id)
{
	struct ring ring;

	ASSERT_EQ(0, ring_open(&ring, good[load].ring[id].name)) {
		TH_LOG("%s: ring %u", good[load].params, id);
	}
	EXPECT_EQ(id, ring.info.ring_id);
	EXPECT_STREQ(good[load].ring[id].name ?: "monad_ring", ring.info.name);
	EXPECT_EQ(1UL << good[load].ring[id].desc_shift, ring.info.descriptor_capacity);
	EXPECT_EQ(1UL << good[load].ring[id].payload_shift, ring.info.payload_buf_size);
	EXPECT_EQ(1UL << good[load].ring[id].desc_shift, ring.header->size.descriptor_capacity);
	EXPECT_EQ(0, ring.header->control.last_seqno);
	EXPECT_EQ(0, ring.base[ring.mapped - 1]);
	ring_close(&ring);
}

/* Twenty times, each time with other rings, and no memory gone afterwards. */
TEST_F_TIMEOUT(reload, twenty_times, 60)
{
	unsigned int i, id, maps = vmap_ranges();
	long before = 0;

	for (i = 0; i < 2 * ARRAY_SIZE(good); i++) {
		unsigned int load = i % ARRAY_SIZE(good);

		ASSERT_EQ(0, module_load_params(good[load].params)) {
			TH_LOG("%s", good[load].params);
		}
		for (id = 0; id < 4 && good[load].ring[id].desc_shift; id++)
			check_ring(_metadata, load, id);
		EXPECT_EQ(id, ring_entries("/dev"));
		EXPECT_EQ(id, ring_entries("/sys/class/misc"));
		ASSERT_EQ(0, module_unload());
		expect_nothing_left(_metadata, good[load].params);
		/* The first ones fill caches. */
		if (i == 1)
			before = free_mib();
	}
	/* One chunk of each would be 36 MiB. */
	EXPECT_LT(before - 12, free_mib());
	EXPECT_EQ(maps, vmap_ranges());
}

/* What one may not ask for: the errno, and what the log says. */
static const struct {
	const char *rings;
	int err;
	const char *log;
} bad[] = {
	{ "a:10", EINVAL, "\"a:10\": expected name:descriptor-shift:payload-shift" },
	{ "a:", EINVAL, "expected name:descriptor-shift:payload-shift" },
	{ "a::", EINVAL, "descriptor shift \"\" is not a number" },
	{ "a:10:", EINVAL, "payload shift \"\" is not a number" },
	{ "a:x:21", EINVAL, "descriptor shift \"x\" is not a number" },
	{ "a:10:21x", EINVAL, "payload shift \"21x\" is not a number" },
	{ "a:10:21:0", EINVAL, "payload shift \"21:0\" is not a number" },
	{ "a:0x10:21", EINVAL, "is not a number" },
	{ "a:10:-21", EINVAL, "is not a number" },
	{ "a:4294967306:21", EINVAL, "expected name:descriptor-shift:payload-shift" },
	{ "a:10:4294967317", EINVAL, "is not a number" },
	{ "a:9:21", ERANGE, "descriptor shift 9 is not in 10..32" },
	{ "a:33:21", ERANGE, "descriptor shift 33 is not in 10..32" },
	{ "a:10:20", ERANGE, "payload shift 20 is not in 21..40" },
	{ "a:10:41", ERANGE, "payload shift 41 is not in 21..40" },
	{ "monad_ring:9:21", ERANGE, "descriptor shift 9 is not in 10..32" },
	{ ":10:21", EINVAL, "a ring's name is 1 to 31" },
	{ ",", EINVAL, "a ring's name is 1 to 31" },
	{ "a:10:21,", EINVAL, "a ring's name is 1 to 31" },
	{ "a:10:21,,b:10:21", EINVAL, "a ring's name is 1 to 31" },
	{ "a/b", EINVAL, "a ring's name is 1 to 31" },
	{ "../a", EINVAL, "a ring's name is 1 to 31" },
	{ ".a", EINVAL, "a ring's name is 1 to 31" },
	{ "-a", EINVAL, "a ring's name is 1 to 31" },
	{ "a%s", EINVAL, "\"a%s\": a ring's name is 1 to 31" },
	{ "\303\244", EINVAL, "a ring's name is 1 to 31" },
	{ "\351\350", EINVAL, "a ring's name is 1 to 31" },
	{ "a123456789b123456789c123456789dx", EINVAL, "a ring's name is 1 to 31" },
	{ "a:10:21,a:10:21", EEXIST, "two rings are called a" },
	{ "a:10:21,b:10:21,a:11:21", EEXIST, "two rings are called a" },
	{ "monad_ring:10:21,monad_ring:10:21", EEXIST, "two rings are called monad_ring" },
	{ "a:10:21,monad_ring,monad_ring", EEXIST, "two rings are called monad_ring" },
	{ "a:10:21,b:10:99", ERANGE, "payload shift 99 is not in 21..40" },
};

TEST_F(reload, bad_rings)
{
	unsigned int i;
	int kmsg;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		kmsg = kmsg_open();
		EXPECT_EQ(-bad[i].err, module_load(bad[i].rings)) {
			TH_LOG("rings=%s", bad[i].rings);
		}
		EXPECT_TRUE(kmsg_has(kmsg, bad[i].log)) {
			TH_LOG("rings=%s: the log does not say: %s", bad[i].rings, bad[i].log);
		}
		close(kmsg);
		expect_nothing_left(_metadata, bad[i].rings);
		if (module_loaded())
			ASSERT_EQ(0, module_unload());
	}
}

TEST_F(reload, bad_node)
{
	EXPECT_EQ(-EINVAL, module_load_params("node=1023"));
	EXPECT_TRUE(kmsg_has(self->kmsg, "node=1023: there is no such NUMA node"));
	EXPECT_EQ(-EINVAL, module_load_params("node=-2"));
	EXPECT_EQ(-EINVAL, module_load_params("node=2000000000"));
	EXPECT_EQ(-EINVAL, module_load_params("node=x"));
	expect_nothing_left(_metadata, "node=");
	EXPECT_EQ(0, module_load_params("node=0 rings=monad_ring:10:21"));
	EXPECT_EQ(0, module_unload());
}

/* 64 rings with the default one, and no more. */
TEST_F_TIMEOUT(reload, how_many, 60)
{
	char rings[2048] = "monad_ring:10:21";
	unsigned int i, len = strlen(rings);
	struct ring ring;

	if (available_mib() < 600)
		SKIP(return, "less than 600 MiB of memory");
	for (i = 1; i < 64; i++)
		len += snprintf(rings + len, sizeof(rings) - len, ",r%u:10:21", i);
	ASSERT_EQ(0, module_load(rings));
	EXPECT_EQ(64, ring_entries("/dev"));
	ASSERT_EQ(0, ring_open(&ring, "r63"));
	EXPECT_EQ(63, ring.info.ring_id);
	ring_close(&ring);
	ASSERT_EQ(0, module_unload());
	snprintf(rings + len, sizeof(rings) - len, ",r64:10:21");
	EXPECT_EQ(-ENOSPC, module_load(rings));
	EXPECT_TRUE(kmsg_has(self->kmsg, "more than 64 rings"));
	expect_nothing_left(_metadata, "65 rings");
}

/*
 * More memory than there is: an error that says what to do, nobody killed, and what had
 * been allocated by then given back.
 */
TEST_F_TIMEOUT(reload, no_memory, 60)
{
	static const char *const sizes[] = { "10:40", "32:21", "32:40", "32:25", "24:38" };
	long oom = proc_number("/proc/vmstat", "oom_kill "), before = 0;
	long available = available_mib();
	unsigned int i, shift, maps = vmap_ranges();
	char rings[128], text[128];
	int kmsg;

	/* The smallest one that cannot be had. */
	for (shift = 21; (1UL << (shift - 20)) <= (unsigned long)available; shift++)
		;
	for (i = 0; i <= 2 * ARRAY_SIZE(sizes); i++) {
		kmsg = kmsg_open();
		if (i < 2 * ARRAY_SIZE(sizes))
			snprintf(rings, sizeof(rings), "monad_ring:10:25,big:%s", sizes[i / 2]);
		else
			snprintf(rings, sizeof(rings), "monad_ring:10:25,big:10:%u", shift);
		EXPECT_EQ(-ENOMEM, module_load(rings)) {
			TH_LOG("rings=%s", rings);
		}
		EXPECT_TRUE(kmsg_has(kmsg, "ring big: "));
		close(kmsg);
		expect_nothing_left(_metadata, rings);
		if (i == 1)
			before = free_mib();
	}
	kmsg = kmsg_open();
	EXPECT_EQ(-ENOMEM, module_load("big:10:40"));
	snprintf(text, sizeof(text), "ring big: %lu MiB asked for, ", (1UL << 20) + 4);
	EXPECT_TRUE(kmsg_has(kmsg, text));
	close(kmsg);
	kmsg = kmsg_open();
	EXPECT_EQ(-ENOMEM, module_load("big:10:40"));
	EXPECT_TRUE(kmsg_has(kmsg, "(big:DESCRIPTOR-SHIFT:PAYLOAD-SHIFT)"));
	close(kmsg);

	EXPECT_EQ(oom, proc_number("/proc/vmstat", "oom_kill "));
	/* One chunk of each would be 18 MiB; the default ring that was made before is 36. */
	EXPECT_LT(before - 12, free_mib());
	EXPECT_EQ(maps, vmap_ranges());
	EXPECT_EQ(0, module_load(SMALL_RINGS));
	EXPECT_EQ(0, module_unload());
}

/* Opens the default ring over and over until killed; exits at once if that works. */
static pid_t start_opener(void)
{
	pid_t pid = fork();

	while (!pid) {
		int fd = open("/dev/monad_ring", O_RDONLY);

		if (fd >= 0)
			_exit(1);
		if (errno != ENOENT && errno != ENODEV)
			_exit(2);
	}
	return pid;
}

/*
 * While the module loads nobody gets a ring opened: it may yet fail, and be freed. Once it
 * has loaded anybody does.
 */
TEST_F_TIMEOUT(reload, opened_while_loading, 60)
{
	int status, i;
	pid_t opener;

	opener = start_opener();
	ASSERT_LT(0, opener);
	for (i = 0; i < 5; i++)
		EXPECT_EQ(-ENOMEM, module_load("monad_ring:12:26,big:10:40"));
	EXPECT_EQ(0, waitpid(opener, &status, WNOHANG));
	EXPECT_EQ(0, module_load(SMALL_RINGS));
	ASSERT_EQ(opener, waitpid(opener, &status, 0));
	EXPECT_EQ(true, WIFEXITED(status));
	EXPECT_EQ(1, WEXITSTATUS(status));
	EXPECT_EQ(0, module_unload());
}

/* A program that calls a kfunc keeps the module, for as long as it is loaded. */
TEST_F(reload, program_keeps_module)
{
	struct accepted_bpf *bpf;

	ASSERT_EQ(0, module_load(SMALL_RINGS));
	EXPECT_EQ(0, module_refcnt());
	bpf = accepted_bpf__open();
	ASSERT_NE(NULL, bpf);
	bpf_program__set_autoload(bpf->progs.subprogs, true);
	ASSERT_EQ(0, accepted_bpf__load(bpf));
	EXPECT_LE(1, module_refcnt());
	EXPECT_GT(0, module_try_unload());
	EXPECT_TRUE(module_loaded());
	accepted_bpf__destroy(bpf);
	EXPECT_EQ(0, module_wait_refcnt(0));
	EXPECT_EQ(0, module_unload());
}

/* So does one that nobody has but a link pinned in a file system. */
TEST_F(reload, pin_keeps_module)
{
	struct accepted_bpf *bpf;
	struct bpf_link *link;
	struct statfs fs;

	if (statfs(PIN_DIR, &fs) || fs.f_type != BPF_FS_MAGIC)
		SKIP(return, "no BPF file system is mounted on " PIN_DIR);
	unlink(PIN);
	ASSERT_EQ(0, module_load(SMALL_RINGS));
	bpf = accepted_bpf__open();
	ASSERT_NE(NULL, bpf);
	bpf_program__set_autoload(bpf->progs.runs_on, true);
	ASSERT_EQ(0, accepted_bpf__load(bpf));
	link = bpf_program__attach(bpf->progs.runs_on);
	ASSERT_NE(NULL, link);
	ASSERT_EQ(0, bpf_link__pin(link, PIN));
	bpf_link__destroy(link);
	accepted_bpf__destroy(bpf);

	/* It goes on writing. */
	usleep(100000);
	EXPECT_LE(1, module_refcnt());
	EXPECT_GT(0, module_try_unload());
	EXPECT_TRUE(module_loaded());
	ASSERT_EQ(0, unlink(PIN));
	EXPECT_EQ(0, module_wait_refcnt(0));
	EXPECT_EQ(0, module_unload());
}

/* After a refused unload everything is as it was. */
TEST_F(reload, refused_unload_changes_nothing)
{
	struct accepted_bpf *bpf;
	struct ring ring;
	int i;

	ASSERT_EQ(0, module_load("monad_ring:10:21"));
	bpf = accepted_bpf__open();
	ASSERT_NE(NULL, bpf);
	bpf_program__set_autoload(bpf->progs.subprogs, true);
	ASSERT_EQ(0, accepted_bpf__load(bpf));
	ASSERT_EQ(0, ring_open(&ring, NULL));
	for (i = 1; i <= 5; i++) {
		EXPECT_GT(0, module_try_unload());
		EXPECT_EQ(0, run_program(bpf->progs.subprogs, NULL, 0));
		EXPECT_EQ(i, ring.header->control.last_seqno);
	}
	ring_close(&ring);
	ASSERT_EQ(0, ring_open(&ring, NULL));
	EXPECT_EQ(5, ring.header->control.last_seqno);
	ring_close(&ring);
	accepted_bpf__destroy(bpf);
}

TEST_HARNESS_MAIN
