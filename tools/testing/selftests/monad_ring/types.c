// SPDX-License-Identifier: GPL-2.0
/*
 * Each type of program, in each context: where the kernel lets it call the kfuncs it is run, and
 * what it wrote is read back and compared; where it does not, it is refused and says why.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/io.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>

#include "kselftest_harness.h"

#include "ring.h"
#include "types.h"
#include "types.skel.h"

#define LOG_SIZE (1 << 20)
#define PATIENCE_NS 5000000000ULL
#define NOT_ALLOWED "calling kernel function bpf_monad_ring_query is not allowed"
/* A kernel without CONFIG_FUNCTION_ERROR_INJECTION, as Debian's, has no place for these. */
#define NO_PLACE "__x64_sys_openat is not sleepable"
#define NO_KFUNC "invalid kernel function call not eliminated in verifier pass"

#define MAY_REFUSE(text) .refusal = text, .may_refuse = true

enum context { TASK, SOFTIRQ, HARDIRQ, NMI };

FIXTURE(types)
{
	struct ring ring;
	struct types_bpf *bpf;
	struct bpf_program *program;
	struct bpf_link *link;
	char *log;
};

/* What makes the program run; may be called again and again. */
typedef void (*trigger_fn)(struct types_bpf *bpf, struct bpf_link *link);

FIXTURE_VARIANT(types)
{
	const char *name;
	unsigned int minor; /* allowed from 6.this on, or from 7.0 with 100 and up */
	enum context context;
	trigger_fn trigger;
	const char *refusal; /* NULL: NOT_ALLOWED */
	bool may_refuse;     /* also where it is allowed: for reasons that are not ours */
};

static void trigger_open(struct types_bpf *bpf, struct bpf_link *link)
{
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	close(fd);
}

static void trigger_iter(struct types_bpf *bpf, struct bpf_link *link)
{
	int fd = bpf_iter_create(bpf_link__fd(link));
	char buffer[64];

	if (fd < 0)
		return;
	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
	close(fd);
}

static void trigger_syscall(struct types_bpf *bpf, struct bpf_link *link)
{
	run_program(bpf->progs.syscall, NULL, 0);
}

static void trigger_timer(struct types_bpf *bpf, struct bpf_link *link)
{
	run_program(bpf->progs.timer_callback, NULL, 0);
	usleep(1000);
}

static void trigger_sleep(struct types_bpf *bpf, struct bpf_link *link)
{
	usleep(1000);
}

static void trigger_work(struct types_bpf *bpf, struct bpf_link *link)
{
	uint64_t until = now_ns(CLOCK_MONOTONIC) + 10000000;

	while (now_ns(CLOCK_MONOTONIC) < until)
		;
}

/* By name, for the uprobes. */
__attribute__((noinline, used)) void uprobed(void)
{
	asm volatile("");
}

static void trigger_uprobe(struct types_bpf *bpf, struct bpf_link *link)
{
	uprobed();
}

/*
 * An NMI, from a watchdog of QEMU's that was told to send one: "-device ib700 -action
 * watchdog=inject-nmi". Only where the kernel's command line says so: on a real machine these
 * ports may reset it.
 */
static bool have_nmi(void)
{
	char line[4096] = "";
	FILE *file = fopen("/proc/cmdline", "re");
	bool have;

	if (!file)
		return false;
	have = fgets(line, sizeof(line), file) && strstr(line, "monad_test_nmi=ib700");
	fclose(file);
	return have && !ioperm(0x441, 3, 1);
}

static void trigger_nmi(struct types_bpf *bpf, struct bpf_link *link)
{
	outb(0xf, 0x443); /* in 0 seconds: at once */
	usleep(10000);
	outb(0, 0x441);
}

#define TYPE(id, ...) \
	FIXTURE_VARIANT_ADD(types, id) { .name = #id, ##__VA_ARGS__ }

TYPE(tp_btf, .minor = 1, .trigger = trigger_open);
TYPE(tp_btf_softirq, .minor = 1, .trigger = trigger_sleep, .context = SOFTIRQ);
TYPE(tp_btf_hardirq, .minor = 1, .trigger = trigger_sleep, .context = HARDIRQ);
TYPE(tp_btf_nmi, .minor = 1, .trigger = trigger_nmi, .context = NMI);
TYPE(fentry, .minor = 1, .trigger = trigger_open);
TYPE(fentry_sleepable, .minor = 1, .trigger = trigger_open, MAY_REFUSE(NO_PLACE));
TYPE(fexit, .minor = 1, .trigger = trigger_open);
TYPE(fmod_ret, .minor = 1, .trigger = trigger_open);
TYPE(lsm, .minor = 1, .trigger = trigger_open);
TYPE(lsm_sleepable, .minor = 1, .trigger = trigger_open);
TYPE(lsm_cgroup, .minor = 1, .trigger = trigger_open);
TYPE(iter, .minor = 1, .trigger = trigger_iter);
TYPE(iter_sleepable, .minor = 1, .trigger = trigger_iter);
TYPE(syscall, .minor = 1, .trigger = trigger_syscall);
TYPE(kprobe, .minor = 12, .trigger = trigger_open);
TYPE(kretprobe, .minor = 12, .trigger = trigger_open);
TYPE(kprobe_multi, .minor = 12, .trigger = trigger_open);
TYPE(uprobe, .minor = 12, .trigger = trigger_uprobe);
TYPE(uprobe_sleepable, .minor = 12, .trigger = trigger_uprobe);
TYPE(uretprobe, .minor = 12, .trigger = trigger_uprobe);
TYPE(tracepoint, .minor = 12, .trigger = trigger_open);
TYPE(tracepoint_softirq, .minor = 12, .trigger = trigger_sleep, .context = SOFTIRQ);
TYPE(tracepoint_hardirq, .minor = 12, .trigger = trigger_sleep, .context = HARDIRQ);
TYPE(tracepoint_nmi, .minor = 12, .trigger = trigger_nmi, .context = NMI);
TYPE(perf_event, .minor = 12, .trigger = trigger_work, .context = HARDIRQ);
TYPE(raw_tp, .minor = 100, .trigger = trigger_open, .may_refuse = true);
/* Programs of several parts. */
TYPE(loop_callback, .minor = 1, .trigger = trigger_open);
TYPE(map_callback, .minor = 1, .trigger = trigger_open);
TYPE(timer_callback, .minor = 1, .trigger = trigger_timer, .context = SOFTIRQ);
TYPE(global_function, .minor = 1, .trigger = trigger_open);
TYPE(global_payload, .minor = 1, .trigger = trigger_open);
TYPE(tail_call, .minor = 1, .trigger = trigger_open);
TYPE(copy_from_user, .minor = 1, .trigger = trigger_open);
TYPE(rcu_section, .minor = 2, .trigger = trigger_open, .refusal = NO_KFUNC);

FIXTURE_SETUP(types)
{
	SETUP_MODULE(SMALL_RINGS);
	quiet_libbpf();
	self->log = calloc(1, LOG_SIZE);
	ASSERT_NE(NULL, self->log);
	ASSERT_EQ(0, ring_open(&self->ring, NULL));
	self->bpf = types_bpf__open();
	ASSERT_NE(NULL, self->bpf);
	self->program = bpf_object__find_program_by_name(self->bpf->obj, variant->name);
	ASSERT_NE(NULL, self->program);
	bpf_program__set_autoload(self->program, true);
	bpf_program__set_autoload(self->bpf->progs.tail_called,
				  self->program == self->bpf->progs.tail_call);
	bpf_program__set_log_buf(self->program, self->log, LOG_SIZE);
	bpf_program__set_log_level(self->program, 1);
}

FIXTURE_TEARDOWN(types)
{
	bpf_link__destroy(self->link);
	types_bpf__destroy(self->bpf);
	ring_close(&self->ring);
	free(self->log);
}

static struct bpf_link *attach_perf_event(const struct bpf_program *program)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000, /* ns */
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	struct bpf_link *link;

	if (fd < 0)
		return NULL;
	link = bpf_program__attach_perf_event(program, fd);
	if (!link)
		close(fd);
	return link;
}

/* 0 or a negative errno. */
static int attach(FIXTURE_DATA(types) *self)
{
	enum bpf_prog_type type = bpf_program__type(self->program);
	uint32_t key = 0;
	int fd;

	if (type == BPF_PROG_TYPE_SYSCALL)
		return 0;
	if (bpf_program__expected_attach_type(self->program) == BPF_LSM_CGROUP) {
		fd = open("/sys/fs/cgroup", O_RDONLY | O_CLOEXEC);
		self->link = bpf_program__attach_cgroup(self->program, fd);
		close(fd);
		return self->link ? 0 : -errno;
	}
	if (self->program == self->bpf->progs.tail_call) {
		fd = bpf_program__fd(self->bpf->progs.tail_called);
		if (bpf_map_update_elem(bpf_map__fd(self->bpf->maps.tail), &key, &fd, BPF_ANY))
			return -errno;
	}
	self->link = type == BPF_PROG_TYPE_PERF_EVENT ? attach_perf_event(self->program) :
							bpf_program__attach(self->program);
	return self->link ? 0 : -errno;
}

static enum context context_of(uint32_t preempt_count)
{
	return preempt_count & 0xf00000 ? NMI :
	       preempt_count & 0x0f0000 ? HARDIRQ :
	       preempt_count & 0x000100 ? SOFTIRQ : TASK;
}

/* How many events of each kind there are; each is compared in full. */
struct found {
	unsigned int outputs, commits, discards, others;
	unsigned int contexts; /* by bit */
};

static void check_event(struct __test_metadata *_metadata, const struct ring *ring, uint64_t seqno,
			struct found *found)
{
	const struct monad_event_descriptor *desc = (const void *)&ring->descs[seqno - 1];
	struct types_event e, want = { .cookie = TYPES_COOKIE, .text = "abcdefghijklmno" };
	static const uint64_t none[4];
	uint64_t tags[4] = { 11, 12, seqno, 14 };
	bool commit = desc->event_type == TYPES_COMMIT;

	ASSERT_EQ(seqno, desc->seqno);
	if (!desc->event_type) {
		found->discards++;
		EXPECT_EQ(0, desc->payload_size);
		return;
	}
	if (desc->event_type != TYPES_OUTPUT && !commit) {
		found->others++;
		return;
	}
	ASSERT_EQ(sizeof(e), desc->payload_size);
	memcpy(&e, ring->payload + (desc->payload_buf_offset & (ring->info.payload_buf_size - 1)),
	       sizeof(e));
	found->contexts |= 1 << context_of(e.preempt_count);
	if (commit) {
		found->commits++;
		want.cookie = ~TYPES_COOKIE;
		want.seqno = seqno;
		want.length = 5;
		memset(want.text + 5, 0, sizeof(want.text) - 5);
		EXPECT_LE(seqno, e.last_seqno);
	} else {
		found->outputs++;
		EXPECT_GT(seqno, e.last_seqno);
	}
	/* These two depend on who else is running. */
	want.last_seqno = e.last_seqno;
	want.preempt_count = e.preempt_count;
	EXPECT_EQ(0, memcmp(&want, &e, sizeof(e))) {
		TH_LOG("event %llu: cookie %llx, seqno %llu, text %.16s",
		       (unsigned long long)seqno, e.cookie, e.seqno, e.text);
	}
	EXPECT_EQ(0, memcmp(commit ? tags : none, desc->content_ext, sizeof(tags)));
}

static bool allowed(unsigned int minor)
{
	return minor >= 100 ? kernel_at_least(7, minor - 100) : kernel_at_least(6, minor);
}

TEST_F_TIMEOUT(types, writes, 120)
{
	struct types_event memory = { .cookie = ~TYPES_COOKIE, .last_seqno = ~0ULL, .length = 5,
				      .text = "abcde" };
	struct found found = { 0 };
	uint64_t until, seqno;
	int err;

	if (variant->context == NMI && allowed(variant->minor) && !have_nmi())
		SKIP(return, "no way to make an NMI: see trigger_nmi()");
	self->bpf->bss->user = &memory;
	self->bpf->bss->pid = getpid();
	err = types_bpf__load(self->bpf);
	if (!allowed(variant->minor) || (variant->may_refuse && err)) {
		const char *refusal = variant->refusal ?: NOT_ALLOWED;

		EXPECT_TRUE(err == -EINVAL || err == -EACCES) {
			TH_LOG("%s: not refused, but %d", variant->name, err);
		}
		EXPECT_NE(NULL, strstr(self->log, refusal)) {
			TH_LOG("%s: not \"%s\", but: %s", variant->name, refusal, self->log);
		}
		EXPECT_EQ(0, self->ring.header->control.last_seqno);
		TH_LOG("%s: refused: %s", variant->name, refusal);
		return;
	}
	ASSERT_EQ(0, err) TH_LOG("%s: %s", variant->name, self->log);
	err = attach(self);
	ASSERT_EQ(0, err) TH_LOG("%s: cannot be attached: %s", variant->name, strerror(-err));

	until = now_ns(CLOCK_MONOTONIC) + PATIENCE_NS * slowness();
	while (!self->bpf->bss->runs && now_ns(CLOCK_MONOTONIC) < until)
		variant->trigger(self->bpf, self->link);
	ASSERT_NE(0, self->bpf->bss->runs) TH_LOG("%s did not run", variant->name);
	bpf_link__destroy(self->link);
	self->link = NULL;
	usleep(20000); /* whoever is still in it */

	for (seqno = 1; seqno <= self->ring.header->control.last_seqno; seqno++)
		check_event(_metadata, &self->ring, seqno, &found);
	TH_LOG("%s: ran %u times, contexts %x", variant->name, self->bpf->bss->runs,
	       found.contexts);
	EXPECT_EQ(0, self->bpf->bss->bad);
	/* At least: two CPUs may have counted as one. */
	EXPECT_LE(self->bpf->bss->runs, found.outputs);
	EXPECT_EQ(found.outputs, found.discards);
	EXPECT_EQ(found.outputs, self->ring.ext->discarded);
	EXPECT_LE(found.outputs, found.commits);
	EXPECT_EQ(0, found.others);
	EXPECT_EQ(1U << variant->context, found.contexts & (1U << variant->context));
	/* Unknown flags, on purpose. */
	EXPECT_EQ(found.outputs, ring_lost(&self->ring, MONAD_RING_LOST_BAD_ARG));
	EXPECT_EQ(found.outputs, ring_lost_all(&self->ring));
}

TEST_HARNESS_MAIN
