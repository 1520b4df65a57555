// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's verifier, taught by the flags and the shapes of the kfuncs: what misuses
 * them is refused for the right reason, what uses them well is not.
 */
#include <bpf/bpf.h>

#include "kselftest_harness.h"

#include "accepted.h"
#include "accepted.skel.h"
#include "nongpl.skel.h"
#include "refused.skel.h"
#include "ring.h"

#define LOG_SIZE (1 << 20)

/* A program that must be refused, with this in the log: on 6.1, and on 6.12 and later. */
struct refused {
	const char *name;
	const char *log;
	const char *log_6_12; /* NULL: the same */
};

/* Said of whatever is no pointer to the structure: after the commit it is a number. */
#define NOT_A_RECORD "arg#0 pointer type STRUCT monad_ring_record must point to scalar"
#define MAYBE_NULL "Possibly NULL pointer passed to trusted arg0"
#define LOCKED "function calls are not allowed while holding a lock"
#define OTHER_STRUCT "expected pointer to STRUCT monad_ring_record but R1 has a pointer to"

static const struct refused refused[] = {
	{ "no_commit", "Unreleased reference" },
	{ "no_commit_on_one_path", "Unreleased reference" },
	{ "second_not_committed", "Unreleased reference" },
	{ "no_commit_in_callback", "Unreleased reference" },
	{ "double_commit", NOT_A_RECORD },
	{ "double_discard", NOT_A_RECORD },
	{ "commit_after_discard", NOT_A_RECORD },
	{ "discard_after_commit", NOT_A_RECORD },
	{ "tag_after_commit", NOT_A_RECORD },
	{ "tags_after_commit", NOT_A_RECORD },
	{ "seqno_after_commit", NOT_A_RECORD },
	{ "write_after_commit", NOT_A_RECORD },
	{ "payload_of_committed", NOT_A_RECORD },
	{ "payload_written_after_commit", "invalid mem access 'scalar'" },
	{ "payload_read_after_discard", "invalid mem access 'scalar'" },
	{ "payload_past_end", "invalid access to memory, mem_size=64 off=64 size=1" },
	{ "payload_across_end", "invalid access to memory, mem_size=64 off=60 size=8" },
	{ "payload_before_start", "invalid access to memory, mem_size=64 off=-1 size=1" },
	{ "payload_index_unbounded", "register with unbounded min value is not allowed" },
	{ "payload_index_one_too_many", "invalid access to memory, mem_size=64 off=64 size=1" },
	{ "payload_helper_past_end", "invalid access to memory, mem_size=64 off=56 size=16" },
	{ "payload_of_unknown_size", "is not a const" },
	{ "payload_not_checked", "mem_or_null" },
	{ "record_not_checked", NOT_A_RECORD, MAYBE_NULL },
	{ "record_not_checked_payload", NOT_A_RECORD, MAYBE_NULL },
	{ "record_not_checked_tag", NOT_A_RECORD, MAYBE_NULL },
	{ "record_not_checked_tags", NOT_A_RECORD, MAYBE_NULL },
	{ "record_not_checked_write", NOT_A_RECORD, MAYBE_NULL },
	{ "record_not_checked_seqno", NOT_A_RECORD, MAYBE_NULL },
	{ "record_not_checked_discard", NOT_A_RECORD, MAYBE_NULL },
	{ "record_is_stack", NOT_A_RECORD },
	{ "record_is_number", NOT_A_RECORD },
	{ "record_is_null", NOT_A_RECORD, MAYBE_NULL },
	{ "record_is_null_tag", NOT_A_RECORD, MAYBE_NULL },
	{ "record_is_payload", NOT_A_RECORD },
	{ "record_is_task", OTHER_STRUCT },
	{ "record_is_task_tag", "R1 must be referenced", OTHER_STRUCT },
	{ "record_moved", "R1 must have zero offset when passed to release func" },
	{ "record_kept", "Unreleased reference" },
	{ "record_from_before", NOT_A_RECORD },
	{ "record_written", "only read is supported" },
	{ "output_past_end", "invalid indirect access to stack R3 off=-8 size=9" },
	{ "output_of_unknown_size", "R4 min value is negative" },
	{ "output_of_number", "R3 type=scalar expected=fp" },
	{ "write_past_end", "invalid indirect access to stack R3 off=-8 size=9" },
	{ "write_of_number", "R3 type=scalar expected=fp" },
	{ "locked_reserve", LOCKED },
	{ "locked_output", LOCKED },
	{ "locked_seqno", LOCKED },
	{ "locked_query", LOCKED },
	{ "record_over_tail_call", "tail_call would lead to reference leak" },
	{ "record_to_global", NOT_A_RECORD },
	{ "record_to_callback", "reference has not been acquired before", "Unreleased reference" },
	{ "type_xdp", "is not allowed" },
	{ "type_tc", "is not allowed" },
	{ "type_socket", "is not allowed" },
	{ "type_cgroup_skb", "is not allowed" },
	{ "type_sk_skb", "is not allowed" },
	{ "type_lwt", "is not allowed" },
	{ "type_cgroup_connect", "is not allowed" },
	{ "type_flow_dissector", "is not allowed" },
};

FIXTURE(verifier)
{
	struct ring ring;
	char *log;
};

FIXTURE_SETUP(verifier)
{
	SETUP_MODULE(SMALL_RINGS);
	quiet_libbpf();
	self->log = calloc(1, LOG_SIZE);
	ASSERT_NE(NULL, self->log);
	ASSERT_EQ(0, ring_open(&self->ring, NULL));
}

FIXTURE_TEARDOWN(verifier)
{
	ring_close(&self->ring);
	free(self->log);
}

/* Loads this one program of @object. 0 or a negative errno, and the log. */
static int load_one(struct bpf_object *object, const char *name, char *log)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);

	if (!program)
		return -ESRCH;
	log[0] = '\0';
	bpf_program__set_autoload(program, true);
	bpf_program__set_log_buf(program, log, LOG_SIZE);
	bpf_program__set_log_level(program, 1);
	return bpf_object__load(object);
}

/* The last lines of a log: where the reason is. */
static const char *tail(const char *log)
{
	const char *p = log + strlen(log);
	unsigned int lines = 0;

	while (p > log && lines < 5)
		lines += *--p == '\n';
	return p;
}

static void check_refused(struct __test_metadata *_metadata, char *log,
			  const struct refused *program)
{
	const char *want = program->log;
	struct refused_bpf *bpf;
	int err;

	if (program->log_6_12 && kernel_at_least(6, 12))
		want = program->log_6_12;
	bpf = refused_bpf__open();
	ASSERT_NE(NULL, bpf);
	err = load_one(bpf->obj, program->name, log);
	EXPECT_TRUE(err == -EINVAL || err == -EACCES) {
		TH_LOG("%s: not refused, but %d", program->name, err);
	}
	EXPECT_NE(NULL, strstr(log, want)) {
		TH_LOG("%s: refused for another reason than \"%s\":%s", program->name, want,
		       tail(log));
	}
	refused_bpf__destroy(bpf);
}

TEST_F_TIMEOUT(verifier, refuses, 120)
{
	unsigned int i, programs = 0;
	struct bpf_program *program;
	struct refused_bpf *bpf;

	for (i = 0; i < ARRAY_SIZE(refused); i++)
		check_refused(_metadata, self->log, &refused[i]);
	/* None that nobody looked at. */
	bpf = refused_bpf__open();
	ASSERT_NE(NULL, bpf);
	bpf_object__for_each_program(program, bpf->obj)
		programs++;
	EXPECT_EQ(programs, ARRAY_SIZE(refused));
	refused_bpf__destroy(bpf);
	EXPECT_EQ(0, self->ring.header->control.last_seqno);
	EXPECT_EQ(1, module_wait_refcnt(1));
}

TEST_F(verifier, not_gpl)
{
	struct nongpl_bpf *bpf = nongpl_bpf__open();

	ASSERT_NE(NULL, bpf);
	EXPECT_EQ(-EINVAL, load_one(bpf->obj, "not_gpl", self->log));
	EXPECT_NE(NULL, strstr(self->log,
			       "cannot call kernel function from non-GPL compatible program"));
	nongpl_bpf__destroy(bpf);
}

/* Loads and runs a syscall program. */
static int run(struct __test_metadata *_metadata, FIXTURE_DATA(verifier) *self, const char *name,
	       uint64_t unknown)
{
	struct accepted_bpf *bpf = accepted_bpf__open();
	int ret;

	ASSERT_NE(NULL, bpf);
	bpf->data->unknown = unknown;
	ret = load_one(bpf->obj, name, self->log);
	EXPECT_EQ(0, ret) {
		TH_LOG("%s: %s", name, tail(self->log));
	}
	if (!ret)
		ret = run_program(bpf_object__find_program_by_name(bpf->obj, name), NULL, 0);
	accepted_bpf__destroy(bpf);
	return ret;
}

TEST_F(verifier, ways_to_write)
{
	const volatile struct monad_event_descriptor *desc = self->ring.descs;
	uint8_t want[WAYS_SIZE];
	uint64_t word;

	ASSERT_EQ(0, run(_metadata, self, "ways", 5));
	memset(want, 0xaa, sizeof(want));
	word = 0x1111;
	memcpy(want + 8, &word, 8);
	word++;
	memcpy(want + 16, &word, 8);
	want[24 + 5] = 0x22;
	want[32 + 5] = 0x33;
	memcpy(want + 40, "verifier", 9);
	/* Old kernels do not pad it. */
	memcpy(want + 49, self->ring.payload + 49, 7);
	memset(want + 56, 0, 16);
	want[56] = 0x77;
	want[64] = 42;
	memset(want + 72, 0, 5);
	want[72] = 0x77;
	EXPECT_EQ(1, desc->seqno);
	EXPECT_EQ(TYPE_WAYS, desc->event_type);
	EXPECT_EQ(WAYS_SIZE, desc->payload_size);
	EXPECT_EQ(1, desc->content_ext[3]);
	EXPECT_EQ(0, memcmp(want, self->ring.payload, WAYS_SIZE));
}

TEST_F(verifier, variable_length)
{
	const volatile struct monad_event_descriptor *desc;
	unsigned int len, i, s = 0;

	for (len = 0; len <= 16; len += 4) {
		ASSERT_EQ(0, run(_metadata, self, "variable", len));
		for (i = 0; i < 2; i++) {
			desc = &self->ring.descs[s++];
			EXPECT_EQ(len, desc->payload_size);
			EXPECT_EQ(0, memcmp("\x01\x02\x03\x04\x05\x06\x07\x08"
					    "\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10",
					    self->ring.payload + desc->payload_buf_offset, len));
		}
	}
	EXPECT_EQ(s, self->ring.header->control.last_seqno);
}

TEST_F(verifier, functions)
{
	ASSERT_EQ(0, run(_metadata, self, "subprogs", 0));
	EXPECT_EQ(TYPE_SUBPROG, self->ring.descs[0].event_type);
}

TEST_HARNESS_MAIN
