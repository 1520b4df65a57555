// SPDX-License-Identifier: GPL-2.0
/*
 * What each kfunc writes, answers and refuses; each refusal is counted where it belongs.
 */
#include <errno.h>
#include <sys/ioctl.h>

#include "kselftest_harness.h"

#include "kfunc.h"
#include "kfunc.skel.h"
#include "pattern.h"
#include "ring.h"

#define TYPE 2U /* the first that is not the format's own */
#define SLACK_NS 1000000 /* between the clock of interrupts and that of system calls */
#define NO_RING 40U

FIXTURE(kfunc)
{
	struct kfunc_bpf *bpf;
	struct ring ring;
	struct kfunc_call call;
	uint64_t offset;   /* of the next event */
	uint64_t began_ns; /* just before the last call */
};

FIXTURE_SETUP(kfunc)
{
	unsigned int i;

	SETUP_MODULE(SMALL_RINGS);
	quiet_libbpf();
	ASSERT_EQ(0, ring_open(&self->ring, SMALL));
	self->bpf = kfunc_bpf__open_and_load();
	ASSERT_NE(NULL, self->bpf);
	for (i = 0; i < KFUNC_DATA; i++)
		self->bpf->bss->data[i] = pattern_word(i, 1, 2);
	self->call.ring = SMALL_ID;
	self->call.type = TYPE;
}

FIXTURE_TEARDOWN(kfunc)
{
	kfunc_bpf__destroy(self->bpf);
	ring_close(&self->ring);
}

/* Runs @program on self->call, whose answers are cleared before. */
static int call(FIXTURE_DATA(kfunc) *self, const struct bpf_program *program)
{
	self->call.ret = 0;
	self->call.got = 0;
	self->call.answer = 0;
	self->began_ns = now_ns(CLOCK_REALTIME);
	return run_program(program, &self->call, sizeof(self->call));
}

/*
 * The newest event: number @seqno, of that type and size, written by the last call, where
 * the one before ended. Compares raw bytes at the format's offsets.
 */
static const uint8_t *newest(struct __test_metadata *_metadata, FIXTURE_DATA(kfunc) *self,
			     uint64_t seqno, uint16_t type, uint32_t size, uint32_t reserved)
{
	const uint8_t *desc = self->ring.base + 2 * MIB + 64 * ((seqno - 1) % 1024);
	uint64_t ended_ns = now_ns(CLOCK_REALTIME), ns;
	uint64_t control[2];

	EXPECT_EQ(0, memcmp(desc, &seqno, 8));
	EXPECT_EQ(0, memcmp(desc + 8, &type, 2));
	EXPECT_EQ(0, memcmp(desc + 10, "\0\0", 2));
	EXPECT_EQ(0, memcmp(desc + 12, &size, 4));
	memcpy(&ns, desc + 16, 8);
	EXPECT_LE(self->began_ns - SLACK_NS, ns);
	EXPECT_GE(ended_ns + SLACK_NS, ns);
	EXPECT_EQ(0, memcmp(desc + 24, &self->offset, 8));
	EXPECT_EQ(0, self->offset % 16);
	self->offset += (reserved + 15) / 16 * 16;
	memcpy(control, self->ring.base + 64, 16);
	EXPECT_EQ(seqno, control[0]);
	EXPECT_EQ(self->offset, control[1]);
	return desc;
}

static uint64_t tag_of(const uint8_t *desc, unsigned int i)
{
	uint64_t value;

	memcpy(&value, desc + 32 + 8 * i, 8);
	return value;
}

static const uint8_t *payload_of(FIXTURE_DATA(kfunc) *self, const uint8_t *desc)
{
	uint64_t offset;

	memcpy(&offset, desc + 24, 8);
	return self->ring.base + 4 * MIB + offset % (2 * MIB);
}

/* Loads one program alone; NULL if the verifier refuses it: 6.12 the second, 7.0 both. */
static struct kfunc_bpf *load_alone(const char *name)
{
	struct kfunc_bpf *bpf = kfunc_bpf__open();
	struct bpf_program *program;

	if (!bpf)
		return NULL;
	bpf_object__for_each_program(program, bpf->obj)
		bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), name));
	if (!kfunc_bpf__load(bpf))
		return bpf;
	kfunc_bpf__destroy(bpf);
	return NULL;
}

/* What the verifier may let pass, the kernel does not follow. */
TEST_F(kfunc, no_data)
{
	static const char *const names[] = { "output_null", "write_null" };
	unsigned int i, loaded = 0;
	uint64_t lost = self->ring.ext->lost[MONAD_RING_LOST_BAD_ARG];
	struct kfunc_bpf *bpf;

	self->call.size = 8;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		bpf = load_alone(names[i]);
		if (!bpf) {
			TH_LOG("%s: refused by the verifier", names[i]);
			continue;
		}
		EXPECT_EQ(0, call(self, i ? bpf->progs.write_null : bpf->progs.output_null));
		EXPECT_EQ(1, self->call.got);
		EXPECT_EQ(-EINVAL, self->call.ret);
		lost += !i;
		loaded++;
		kfunc_bpf__destroy(bpf);
	}
	if (!loaded)
		SKIP(return, "the verifier refuses both");
	EXPECT_EQ(lost, self->ring.ext->lost[MONAD_RING_LOST_BAD_ARG]);
}

/* Every size from nothing on, by output and by write: exact bytes, exact sizes, aligned. */
TEST_F(kfunc, sizes)
{
	uint32_t sizes[150] = { 4095, 4096, 4097, 8191, 8192, 65536, 262144, 524287, 524288 };
	const uint8_t *data = self->bpf->bss->data, *desc;
	uint64_t seqno = 0;
	unsigned int i, t;

	for (i = 9; i < ARRAY_SIZE(sizes); i++)
		sizes[i] = i - 9;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		self->call.size = sizes[i];
		self->call.type = TYPE + i;
		ASSERT_EQ(0, call(self, self->bpf->progs.output));
		ASSERT_EQ(0, self->call.ret);
		desc = newest(_metadata, self, ++seqno, TYPE + i, sizes[i], sizes[i]);
		ASSERT_EQ(0, memcmp(payload_of(self, desc), data, sizes[i]));
		for (t = 0; t < 4; t++)
			EXPECT_EQ(0, tag_of(desc, t));

		self->call.length = sizes[i];
		ASSERT_EQ(0, call(self, self->bpf->progs.reserve));
		ASSERT_EQ(1, self->call.got);
		ASSERT_EQ(0, self->call.ret);
		ASSERT_EQ(seqno + 1, self->call.seqno[0]);
		desc = newest(_metadata, self, ++seqno, TYPE + i, sizes[i], sizes[i]);
		ASSERT_EQ(0, memcmp(payload_of(self, desc), data, sizes[i]));
	}
	EXPECT_EQ(0, ring_lost_all(&self->ring));
}

TEST_F(kfunc, types)
{
	static const uint32_t good[] = { 2, 3, 255, 256, 257, 65534, 65535 };
	static const uint32_t bad[] = { 0, 1, 65536, 65537, 65538, 0x10002, 0xffffffff };
	uint64_t refused = 0;
	unsigned int i;

	self->call.size = 8;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		self->call.type = good[i];
		ASSERT_EQ(0, call(self, self->bpf->progs.output));
		EXPECT_EQ(0, self->call.ret);
		newest(_metadata, self, i + 1, good[i], 8, 8);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		self->call.type = bad[i];
		ASSERT_EQ(0, call(self, self->bpf->progs.output));
		EXPECT_EQ(-EINVAL, self->call.ret);
		EXPECT_EQ(++refused, ring_lost(&self->ring, MONAD_RING_LOST_BAD_ARG));
		ASSERT_EQ(0, call(self, self->bpf->progs.reserve));
		EXPECT_EQ(0, self->call.got);
		EXPECT_EQ(++refused, ring_lost(&self->ring, MONAD_RING_LOST_BAD_ARG));
	}
	EXPECT_EQ(refused, ring_lost_all(&self->ring));
	EXPECT_EQ(ARRAY_SIZE(good), self->ring.header->control.last_seqno);
}

/* What events are of has to be said before there are any. */
TEST_F(kfunc, content_after_events)
{
	struct monad_ring_content content = {
		.size = sizeof(content),
		.content_type = MONAD_EVENT_CONTENT_TYPE_PRIVATE,
	};

	self->call.size = 8;
	ASSERT_EQ(0, call(self, self->bpf->progs.output));
	ASSERT_EQ(0, self->call.ret);
	EXPECT_EQ(-1, ioctl(self->ring.fd, MONAD_RING_IOC_SET_CONTENT, &content));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ(0, ring_info(self->ring.fd, &self->ring.info));
	EXPECT_EQ(MONAD_EVENT_CONTENT_TYPE_NONE, self->ring.info.content_type);
}

TEST_F(kfunc, no_such_ring)
{
	static const uint32_t ids[] = { 2, NO_RING, 63, 64, 65, 0x80000001, 0xffffffff };
	struct monad_ring_info info;
	uint64_t gone = 0;
	unsigned int i;

	self->call.size = 8;
	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		self->call.ring = ids[i];
		ASSERT_EQ(0, call(self, self->bpf->progs.output));
		EXPECT_EQ(-ENOENT, self->call.ret);
		EXPECT_EQ(++gone, ring_lost(&self->ring, MONAD_RING_LOST_RING_GONE));
		ASSERT_EQ(0, call(self, self->bpf->progs.reserve));
		EXPECT_EQ(0, self->call.got);
		EXPECT_EQ(++gone, ring_lost(&self->ring, MONAD_RING_LOST_RING_GONE));
	}
	EXPECT_EQ(0, ring_lost_all(&self->ring));
	/* Nobody's, so it is told for every ring. */
	i = ring_open_fd(NULL);
	ASSERT_EQ(0, ring_info(i, &info));
	EXPECT_EQ(gone, info.lost[MONAD_RING_LOST_RING_GONE]);
	EXPECT_EQ(0, info.last_seqno);
	close(i);
}

TEST_F(kfunc, which_ring)
{
	struct ring other;

	ASSERT_EQ(0, ring_open(&other, NULL));
	self->call.size = 8;
	self->call.ring = 0;
	ASSERT_EQ(0, call(self, self->bpf->progs.output));
	EXPECT_EQ(0, self->call.ret);
	EXPECT_EQ(1, other.header->control.last_seqno);
	EXPECT_EQ(0, self->ring.header->control.last_seqno);
	EXPECT_EQ(0, memcmp(other.payload, self->bpf->bss->data, 8));
	ring_close(&other);
}

/*
 * The RECORD_ERROR event @seqno in place of one that is too large: of TYPE, @size bytes asked
 * for, with the first @head bytes of data[]. Bytes and offsets as in the format's description.
 */
static void record_error(struct __test_metadata *_metadata, FIXTURE_DATA(kfunc) *self,
			 uint64_t seqno, uint64_t size, uint32_t head)
{
	uint16_t why = size > UINT32_MAX ? 1 : 2, type = TYPE;
	const uint8_t *payload;

	payload = payload_of(self, newest(_metadata, self, seqno, 1, 16 + head, 16 + head));
	EXPECT_EQ(0, memcmp(payload, &why, 2));
	EXPECT_EQ(0, memcmp(payload + 2, &type, 2));
	EXPECT_EQ(0, memcmp(payload + 4, &head, 4));
	EXPECT_EQ(0, memcmp(payload + 8, &size, 8));
	EXPECT_EQ(0, memcmp(payload + 16, self->bpf->bss->data, head));
}

TEST_F(kfunc, too_large)
{
	static const uint32_t sizes[] = { KFUNC_MAX_EVENT + 1, KFUNC_MAX_EVENT + 16,
					  KFUNC_MAX_EVENT + 64 };
	/* Small again, if it was cut off, or rounded up past the end. */
	static const uint64_t huge[] = { 0xffffffff, 1ULL << 32, (1ULL << 32) + 8, 1ULL << 63,
					 ~0ULL - 15, ~0ULL };
	uint64_t lost = 0;
	unsigned int i;

	ASSERT_EQ(KFUNC_MAX_EVENT, self->ring.info.max_event_size);
	for (i = 0; i < KFUNC_DATA; i++)
		self->bpf->bss->data[i] = i * 7 + i / 256;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		self->call.size = sizes[i];
		ASSERT_EQ(0, call(self, self->bpf->progs.output));
		EXPECT_EQ(-E2BIG, self->call.ret);
		EXPECT_EQ(++lost, ring_lost(&self->ring, MONAD_RING_LOST_TOO_LARGE));
		record_error(_metadata, self, lost, sizes[i], 4096 - 16);
		/* Nothing of its payload is there yet when an event is reserved. */
		ASSERT_EQ(0, call(self, self->bpf->progs.reserve));
		EXPECT_EQ(0, self->call.got);
		EXPECT_EQ(++lost, ring_lost(&self->ring, MONAD_RING_LOST_TOO_LARGE));
		record_error(_metadata, self, lost, sizes[i], 0);
	}
	for (i = 0; i < ARRAY_SIZE(huge); i++) {
		self->call.size = huge[i];
		ASSERT_EQ(0, call(self, self->bpf->progs.reserve));
		EXPECT_EQ(0, self->call.got);
		EXPECT_EQ(++lost, ring_lost(&self->ring, MONAD_RING_LOST_TOO_LARGE));
		record_error(_metadata, self, lost, huge[i], 0);
	}
	EXPECT_EQ(lost, ring_lost_all(&self->ring));

	self->call.size = KFUNC_MAX_EVENT;
	ASSERT_EQ(0, call(self, self->bpf->progs.output));
	EXPECT_EQ(0, self->call.ret);
	newest(_metadata, self, lost + 1, TYPE, KFUNC_MAX_EVENT, KFUNC_MAX_EVENT);
}

TEST_F(kfunc, flags)
{
	static const uint64_t bad[] = { 4, 8, 1ULL << 32, 1ULL << 63, 7, ~0ULL };
	uint64_t refused = 0, flags;
	unsigned int i;

	self->call.size = 8;
	for (flags = 0; flags < 4; flags++) {
		self->call.flags = flags;
		ASSERT_EQ(0, call(self, self->bpf->progs.output));
		EXPECT_EQ(0, self->call.ret);
		newest(_metadata, self, flags + 1, TYPE, 8, 8);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		self->call.flags = bad[i];
		ASSERT_EQ(0, call(self, self->bpf->progs.output));
		EXPECT_EQ(-EINVAL, self->call.ret);
		EXPECT_EQ(++refused, ring_lost(&self->ring, MONAD_RING_LOST_BAD_ARG));
	}
	EXPECT_EQ(refused, ring_lost_all(&self->ring));
	EXPECT_EQ(4, self->ring.header->control.last_seqno);
	/* A record has been reserved: it is committed whatever the flags. */
	self->call.flags = ~0ULL;
	ASSERT_EQ(0, call(self, self->bpf->progs.reserve));
	newest(_metadata, self, 5, TYPE, 8, 8);
}

static const struct {
	uint32_t size;
	uint32_t offset;
	uint32_t length;
	int ret;
} writes[] = {
	{ 100, 0, 0, 0 },
	{ 100, 100, 0, 0 },
	{ 100, 101, 0, -E2BIG },
	{ 100, 0, 1, 0 },
	{ 100, 0, 100, 0 },
	{ 100, 1, 99, 0 },
	{ 100, 99, 1, 0 },
	{ 100, 0, 101, -E2BIG },
	{ 100, 1, 100, -E2BIG },
	{ 100, 99, 2, -E2BIG },
	{ 100, 100, 1, -E2BIG },
	{ 100, 101, 1, -E2BIG },
	/* Not even into the padding, nor around the end of 32 bits. */
	{ 97, 97, 1, -E2BIG },
	{ 100, 0xffffffff, 1, -E2BIG },
	{ 100, 0xffffffff, 100, -E2BIG },
	{ 100, 0xffffff9d, 100, -E2BIG },
	{ 100, 0x80000000, 1, -E2BIG },
	{ 0, 0, 1, -E2BIG },
	{ 1, 0, 1, 0 },
	{ 5000, 4096, 904, 0 },
	{ 5000, 4096, 905, -E2BIG },
};

/* Within what was reserved, to where it says and nowhere else. */
TEST_F(kfunc, write)
{
	const uint8_t *desc, *payload, *data = self->bpf->bss->data;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(writes); i++) {
		/* One after the other in fresh memory, which is zero. */
		self->call.size = writes[i].size;
		self->call.offset = writes[i].offset;
		self->call.length = writes[i].length;
		ASSERT_EQ(0, call(self, self->bpf->progs.reserve));
		ASSERT_EQ(1, self->call.got);
		EXPECT_EQ(writes[i].ret, self->call.ret) {
			TH_LOG("%u bytes at %u of %u", writes[i].length, writes[i].offset,
			       writes[i].size);
		}
		desc = newest(_metadata, self, i + 1, TYPE, writes[i].size, writes[i].size);
		payload = payload_of(self, desc);
		for (j = 0; j < writes[i].size; j++) {
			bool written = !writes[i].ret && j >= writes[i].offset &&
				       j < writes[i].offset + writes[i].length;

			ASSERT_EQ(written ? data[j - writes[i].offset] : 0, payload[j]);
		}
	}
	for (i = self->offset; i < SMALL_PAYLOAD; i++)
		ASSERT_EQ(0, self->ring.payload[i]);
	EXPECT_EQ(0, ring_lost_all(&self->ring));
}

TEST_F(kfunc, tag)
{
	static const uint32_t bad[] = { 4, 5, 8, 1U << 31, 0xffffffff };
	const uint8_t *desc;
	uint64_t seqno = 0;
	unsigned int i, t;

	self->call.value = 0xfedcba9876543210ULL;
	for (i = 0; i < 4; i++) {
		self->call.index = i;
		ASSERT_EQ(0, call(self, self->bpf->progs.tag));
		EXPECT_EQ(0, self->call.ret);
		desc = newest(_metadata, self, ++seqno, TYPE, 0, 0);
		for (t = 0; t < 4; t++)
			EXPECT_EQ(t == i ? 0xfedcba9876543210ULL : 0, tag_of(desc, t));
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		self->call.index = bad[i];
		ASSERT_EQ(0, call(self, self->bpf->progs.tag));
		EXPECT_EQ(-EINVAL, self->call.ret);
		desc = newest(_metadata, self, ++seqno, TYPE, 0, 0);
		for (t = 0; t < 4; t++)
			EXPECT_EQ(0, tag_of(desc, t));
		/* Index 4 would be the next descriptor. */
		for (t = 0; t < 64; t++)
			EXPECT_EQ(0, desc[64 + t]);
	}
}

TEST_F(kfunc, tags)
{
	const uint8_t *desc;
	unsigned int i, t;

	self->call.value = 0xfedcba9876543210ULL;
	for (i = 0; i < 2; i++) {
		self->call.discard = i;
		self->call.size = 20;
		ASSERT_EQ(0, call(self, self->bpf->progs.tags));
		desc = newest(_metadata, self, i + 1, i ? 0 : TYPE, i ? 0 : 20, 20);
		for (t = 0; t < 4; t++)
			EXPECT_EQ(i ? 0 : 0xfedcba9876543210ULL + t, tag_of(desc, t));
		for (t = 0; t < 64; t++)
			EXPECT_EQ(0, desc[64 + t]);
	}
}

/* Nothing of the event that was in the slot before shows in the next one. */
TEST_F(kfunc, nothing_stale)
{
	const uint8_t *desc;
	unsigned int i, t;

	self->call.value = ~0ULL;
	for (i = 0; i < 2 * SMALL_CAPACITY; i++) {
		self->call.index = i % 4;
		self->call.size = i % 100;
		if (i == SMALL_CAPACITY)
			self->call.type = TYPE + 1;
		ASSERT_EQ(0, call(self, i < SMALL_CAPACITY ? self->bpf->progs.tag :
							     self->bpf->progs.output));
		ASSERT_EQ(0, self->call.ret);
		desc = newest(_metadata, self, i + 1, self->call.type, i % 100, i % 100);
		for (t = 0; t < 4; t++)
			ASSERT_EQ(i < SMALL_CAPACITY && t == i % 4 ? ~0ULL : 0, tag_of(desc, t));
	}
}

/* The payload is there for sizes up to what was reserved, not what that was padded to. */
TEST_F(kfunc, payload)
{
	static const struct {
		uint32_t size;
		uint32_t got;
	} cases[] = {
		{ 0, 0 }, { 1, 0x1 }, { 15, 0x1 }, { 16, 0x3 }, { 17, 0x7 }, { 63, 0x7 },
		{ 64, 0xf }, { 99, 0xf }, { 100, 0x1f }, { 4095, 0x1f }, { 4096, 0x3f },
		{ 65535, 0x3f }, { 65536, 0x7f }, { KFUNC_MAX_EVENT, 0x7f },
	};
	const uint8_t *payload, *desc;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		self->call.size = cases[i].size;
		ASSERT_EQ(0, call(self, self->bpf->progs.payload));
		EXPECT_EQ(cases[i].got, self->call.got) {
			TH_LOG("reserved %u", cases[i].size);
		}
		desc = newest(_metadata, self, i + 1, TYPE, cases[i].size, cases[i].size);
		payload = payload_of(self, desc);
		if (cases[i].got & 0x10) {
			EXPECT_EQ(5, payload[99]);
			EXPECT_EQ(4, payload[63]);
			EXPECT_EQ(3, payload[16]);
			EXPECT_EQ(2, payload[15]);
		}
	}
}

TEST_F(kfunc, discard)
{
	const uint8_t *desc;
	unsigned int t;

	self->call.size = 100;
	self->call.length = 100;
	self->call.discard = 1;
	self->call.index = 2;
	self->call.value = 77;
	ASSERT_EQ(0, call(self, self->bpf->progs.reserve));
	ASSERT_EQ(1, self->call.got);
	desc = newest(_metadata, self, 1, 0, 0, 100);
	EXPECT_EQ(1, self->ring.ext->discarded);
	ASSERT_EQ(0, call(self, self->bpf->progs.tag));
	desc = newest(_metadata, self, 2, 0, 0, 100);
	for (t = 0; t < 4; t++)
		EXPECT_EQ(0, tag_of(desc, t));
	EXPECT_EQ(2, self->ring.ext->discarded);
	ASSERT_EQ(0, ring_info(self->ring.fd, &self->ring.info));
	EXPECT_EQ(2, self->ring.info.discarded);
	/* Nobody lost it: its writer did not want it. */
	EXPECT_EQ(0, ring_lost_all(&self->ring));
}

/* Two records at a time, committed in either order. */
TEST_F(kfunc, two)
{
	const volatile struct monad_event_descriptor *d = self->ring.descs;
	unsigned int i, n = 0;

	for (i = 0; i < 4; i++, n += 2) {
		self->call.order = i % 2;
		self->call.discard = i / 2;
		ASSERT_EQ(0, call(self, self->bpf->progs.two));
		ASSERT_EQ(3, self->call.got);
		EXPECT_EQ(n + 1, self->call.seqno[0]);
		EXPECT_EQ(n + 2, self->call.seqno[1]);
		EXPECT_EQ(n + 1, d[n].seqno);
		EXPECT_EQ(n + 2, d[n + 1].seqno);
		EXPECT_EQ(n * 16, d[n].payload_buf_offset);
		EXPECT_EQ(n * 16 + 16, d[n + 1].payload_buf_offset);
		if (self->call.discard) {
			EXPECT_EQ(0, d[n].event_type);
			EXPECT_EQ(0, d[n + 1].event_type);
			continue;
		}
		EXPECT_EQ(TYPE, d[n].event_type);
		EXPECT_EQ(TYPE + 1, d[n + 1].event_type);
		EXPECT_EQ(n + 1, d[n + 1].content_ext[0]);
		EXPECT_EQ(n + 2, d[n].content_ext[1]);
		/* the first of the pair holds 0x11, the second 0x22 */
		for (unsigned int byte = 0; byte < 32; byte++)
			EXPECT_EQ(byte < 16 ? 0x11 : 0x22, self->ring.payload[n * 16 + byte]);
	}
}

static uint64_t query(FIXTURE_DATA(kfunc) *self, unsigned int what)
{
	self->call.index = what;
	return call(self, self->bpf->progs.query) ? UINT64_MAX : self->call.answer;
}

/* The numbers of enum monad_ring_query, written out: they are its ABI. */
TEST_F(kfunc, query)
{
	unsigned int i;

	self->call.size = 4096;
	for (i = 0; i < 1000; i++) {
		self->call.discard = i % 4 == 0;
		ASSERT_EQ(0, call(self, self->bpf->progs.reserve));
		ASSERT_EQ(1, self->call.got);
	}
	self->call.type = 0;
	ASSERT_EQ(0, call(self, self->bpf->progs.reserve));
	self->call.size = KFUNC_MAX_EVENT + 1;
	self->call.type = TYPE;
	ASSERT_EQ(0, call(self, self->bpf->progs.reserve));
	ASSERT_EQ(0, self->call.got);

	EXPECT_EQ(1024, query(self, 0));
	EXPECT_EQ(SMALL_PAYLOAD, query(self, 1));
	/* One in place of what was too large. */
	EXPECT_EQ(1001, query(self, 2));
	EXPECT_EQ(1000 * 4096 + 16, query(self, 3));
	EXPECT_EQ(self->ring.header->control.buffer_window_start, query(self, 4));
	EXPECT_LT(0, query(self, 4));
	EXPECT_EQ(2, query(self, 5));
	EXPECT_EQ(250, query(self, 6));
	EXPECT_EQ(KFUNC_MAX_EVENT, query(self, 7));
	EXPECT_EQ(0, query(self, 8));
	EXPECT_EQ(0, query(self, 100));
	EXPECT_EQ(0, query(self, 0xffffffff));
	self->call.ring = NO_RING;
	EXPECT_EQ(0, query(self, 0));
	EXPECT_EQ(0, query(self, 7));
}

/* Asking is not offering an event. */
TEST_F(kfunc, query_loses_nothing)
{
	self->call.ring = NO_RING;
	EXPECT_EQ(0, query(self, 0));
	EXPECT_EQ(0, ring_lost(&self->ring, MONAD_RING_LOST_RING_GONE));
}

TEST_HARNESS_MAIN
