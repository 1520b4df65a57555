// SPDX-License-Identifier: GPL-2.0
/*
 * Programs where the module is not loaded: those that say that they can do without it, and those
 * that do not.
 */
#include <bpf/bpf.h>

#include "kselftest_harness.h"

#include "accepted.skel.h"
#include "optional.skel.h"
#include "ring.h"

static char said[65536];

static int keep(enum libbpf_print_level level, const char *format, va_list args)
{
	size_t len = strlen(said);

	if (level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(said + len, sizeof(said) - len, format, args);
	return 0;
}

FIXTURE(optional)
{
	struct optional_bpf *bpf;
};

FIXTURE_SETUP(optional)
{
	int err = module_fresh(SMALL_RINGS);

	if (module_missing(err))
		SKIP(return, "the module cannot be loaded: %s", strerror(-err));
	ASSERT_EQ(0, err);
	said[0] = '\0';
	libbpf_set_print(keep);
	self->bpf = optional_bpf__open();
	ASSERT_NE(NULL, self->bpf);
}

FIXTURE_TEARDOWN(optional)
{
	optional_bpf__destroy(self->bpf);
}

TEST_F(optional, with_module)
{
	struct ring ring;

	self->bpf->rodata->have_ring = true;
	ASSERT_EQ(0, optional_bpf__load(self->bpf));
	EXPECT_EQ(1, run_program(self->bpf->progs.optional, NULL, 0));
	ASSERT_EQ(0, ring_open(&ring, NULL));
	EXPECT_EQ(1, ring.header->control.last_seqno);
	EXPECT_EQ(77, ring.payload[0]);
	ring_close(&ring);
}

TEST_F(optional, not_wanted)
{
	ASSERT_EQ(0, optional_bpf__load(self->bpf));
	EXPECT_EQ(0, run_program(self->bpf->progs.optional, NULL, 0));
	/* libbpf has found them all the same: the program holds the module. */
	EXPECT_GT(0, module_try_unload());
}

TEST_F(optional, without_module)
{
	ASSERT_EQ(0, module_unload());
	ASSERT_EQ(0, optional_bpf__load(self->bpf));
	EXPECT_EQ(0, run_program(self->bpf->progs.optional, NULL, 0));
}

TEST_F(optional, wanted_without_module)
{
	ASSERT_EQ(0, module_unload());
	self->bpf->rodata->have_ring = true;
	EXPECT_GT(0, optional_bpf__load(self->bpf));
	/* The call of nothing, which the verifier stumbles over. */
	EXPECT_NE(NULL, strstr(said, "call #0")) {
		TH_LOG("%s", said);
	}
}

TEST_F(optional, required_without_module)
{
	struct accepted_bpf *bpf;

	ASSERT_EQ(0, module_unload());
	bpf = accepted_bpf__open();
	ASSERT_NE(NULL, bpf);
	bpf_program__set_autoload(bpf->progs.subprogs, true);
	EXPECT_GT(0, accepted_bpf__load(bpf));
	EXPECT_NE(NULL, strstr(said, "': not found in kernel or module")) {
		TH_LOG("%s", said);
	}
	accepted_bpf__destroy(bpf);
}

TEST_HARNESS_MAIN
