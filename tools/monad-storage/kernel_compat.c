// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/btf.h>

#include <monad/storage_event.h>

#include "kernel_compat.h"
#include "monad_storage.h"

/* Finds an enumerator anywhere in the kernel's BTF; many enums have no name. */
static bool find_enumerator(const struct btf *btf, const char *name, uint32_t *value)
{
	uint32_t n = btf__type_cnt(btf);

	for (uint32_t id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const struct btf_enum *e;

		if (!btf_is_enum(t))
			continue;
		e = btf_enum(t);
		for (int i = 0; i < btf_vlen(t); i++, e++) {
			if (!strcmp(btf__name_by_offset(btf, e->name_off), name)) {
				*value = (uint32_t)e->val;
				return true;
			}
		}
	}
	return false;
}

/*
 * The RQF_* flags. An enum since 6.12 (5f89154e8e9e "block: Use enum to define
 * RQF_x bit indexes"), with other values. Macros before that, which BTF does not
 * have; these three kept their values from 4.13, when they got names, to 6.11.
 */
static void init_rq_flags(struct kernel_compat *compat, const struct btf *btf)
{
	const struct {
		const char *name;
		uint32_t macro_bit;
		uint32_t *mask;
	} flags[] = {
		{ "__RQF_FLUSH_SEQ", 4, &compat->rqf_flush_seq },
		{ "__RQF_IO_STAT", 13, &compat->rqf_io_stat },
		{ "__RQF_TIMED_OUT", 21, &compat->rqf_timed_out },
	};

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		uint32_t bit;

		if (!find_enumerator(btf, flags[i].name, &bit))
			bit = flags[i].macro_bit;
		*flags[i].mask = 1U << bit;
	}
}

/* enum req_op: zone operations have moved twice, others come and go. */
static int init_ops(struct kernel_compat *compat, const struct btf *btf)
{
	static const struct {
		const char *name;
		enum monad_storage_op op;
	} ops[] = {
		{ "REQ_OP_READ", MONAD_STORAGE_OP_READ },
		{ "REQ_OP_WRITE", MONAD_STORAGE_OP_WRITE },
		{ "REQ_OP_FLUSH", MONAD_STORAGE_OP_FLUSH },
		{ "REQ_OP_DISCARD", MONAD_STORAGE_OP_DISCARD },
		{ "REQ_OP_SECURE_ERASE", MONAD_STORAGE_OP_SECURE_ERASE },
		{ "REQ_OP_WRITE_ZEROES", MONAD_STORAGE_OP_WRITE_ZEROES },
		{ "REQ_OP_ZONE_APPEND", MONAD_STORAGE_OP_ZONE_APPEND },
		{ "REQ_OP_ZONE_OPEN", MONAD_STORAGE_OP_ZONE_OPEN },
		{ "REQ_OP_ZONE_CLOSE", MONAD_STORAGE_OP_ZONE_CLOSE },
		{ "REQ_OP_ZONE_FINISH", MONAD_STORAGE_OP_ZONE_FINISH },
		{ "REQ_OP_ZONE_RESET", MONAD_STORAGE_OP_ZONE_RESET },
		{ "REQ_OP_ZONE_RESET_ALL", MONAD_STORAGE_OP_ZONE_RESET_ALL },
		{ "REQ_OP_DRV_IN", MONAD_STORAGE_OP_DRV_IN },
		{ "REQ_OP_DRV_OUT", MONAD_STORAGE_OP_DRV_OUT },
	};
	unsigned int found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		uint32_t value;

		if (find_enumerator(btf, ops[i].name, &value) &&
		    value < ARRAY_SIZE(compat->op_of)) {
			compat->op_of[value] = ops[i].op;
			found++;
		}
	}
	if (found < 3) {
		error("the kernel's BTF has no REQ_OP_READ and so on: "
		      "cannot tell reads from writes");
		return -1;
	}
	return 0;
}

/* enum req_flag_bits: grows in the middle with nearly every version. */
static void init_req_flags(struct kernel_compat *compat, const struct btf *btf)
{
	static const struct {
		const char *name;
		enum monad_storage_flag flag;
	} flags[] = {
		{ "__REQ_SYNC", MONAD_STORAGE_F_SYNC },
		{ "__REQ_META", MONAD_STORAGE_F_META },
		{ "__REQ_PRIO", MONAD_STORAGE_F_PRIO },
		{ "__REQ_FUA", MONAD_STORAGE_F_FUA },
		{ "__REQ_PREFLUSH", MONAD_STORAGE_F_PREFLUSH },
		{ "__REQ_RAHEAD", MONAD_STORAGE_F_RAHEAD },
		{ "__REQ_BACKGROUND", MONAD_STORAGE_F_BACKGROUND },
		{ "__REQ_NOWAIT", MONAD_STORAGE_F_NOWAIT },
		{ "__REQ_POLLED", MONAD_STORAGE_F_POLLED },
		{ "__REQ_SWAP", MONAD_STORAGE_F_SWAP },
	};

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		uint32_t bit;

		if (!find_enumerator(btf, flags[i].name, &bit) || bit < 8 || bit > 31)
			continue;
		for (unsigned int byte = 0; byte < 256; byte++) {
			if (byte & 1U << bit % 8)
				compat->flags_of[bit / 8 - 1][byte] |= flags[i].flag;
		}
	}
}

/*
 * blk_status_t, macros all of them. 0 to 13 never moved. 6.10 removed
 * BLK_STS_ZONE_RESOURCE, which was 14, and moved down those behind it
 * (63b5385e7814 "block: Remove BLK_STS_ZONE_RESOURCE"); the enumerator
 * BIO_ZONE_WRITE_PLUGGING came with the same series. The errnos are those of
 * blk_errors[] in block/blk-core.c.
 */
static void init_errors(struct kernel_compat *compat, const struct btf *btf)
{
	static const uint16_t common[] = {
		0,	 EOPNOTSUPP, ETIMEDOUT, ENOSPC, ENOLINK, EREMOTEIO, EBADE, ENODATA,
		EILSEQ, ENOMEM, EIO, EREMCHG, EAGAIN, EBUSY,
	};
	/* from 14: zone resource, open, active, offline, duration limit (6.5) */
	static const uint16_t before_6_10[] = { EIO, ETOOMANYREFS, EOVERFLOW, ENODEV, ETIME };
	/* from 14: open, active, offline, duration limit, p2pdma, inval */
	static const uint16_t since_6_10[] = {
		ETOOMANYREFS, EOVERFLOW, ENODEV, ETIME, EIO, EINVAL,
	};
	uint32_t unused;

	for (size_t i = 0; i < ARRAY_SIZE(compat->errno_of); i++)
		compat->errno_of[i] = EIO;
	memcpy(compat->errno_of, common, sizeof(common));
	if (find_enumerator(btf, "BIO_ZONE_WRITE_PLUGGING", &unused))
		memcpy(compat->errno_of + ARRAY_SIZE(common), since_6_10, sizeof(since_6_10));
	else
		memcpy(compat->errno_of + ARRAY_SIZE(common), before_6_10, sizeof(before_6_10));
}

int kernel_compat_init(struct kernel_compat *compat, const struct btf *btf)
{
	memset(compat, 0, sizeof(*compat));
	init_rq_flags(compat, btf);
	init_req_flags(compat, btf);
	init_errors(compat, btf);
	return init_ops(compat, btf);
}

int kernel_tracepoint_args(const struct btf *btf, const char *name)
{
	const struct btf_type *t;
	char type[128];
	int id;

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF);
	if (id <= 0)
		return -1;
	/* A typedef of a pointer to a function, whose first argument is not handed on. */
	t = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
	if (!t || !btf_is_ptr(t))
		return -1;
	t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1 : -1;
}

bool kernel_has_tracepoint(const struct btf *btf, const char *name)
{
	return kernel_tracepoint_args(btf, name) >= 0;
}

bool kernel_has_function(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

bool kernel_has_member(const struct btf *btf, const char *structure, const char *name)
{
	int id = btf__find_by_name_kind(btf, structure, BTF_KIND_STRUCT);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;

	for (int i = 0; t && i < btf_vlen(t); i++) {
		if (!strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off), name))
			return true;
	}
	return false;
}

uint64_t kernel_tick_ns(void)
{
	struct timespec tick;

	/* Ticks, one per jiffy, make the coarse clocks go. */
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return tick.tv_sec * NSEC_PER_SEC + tick.tv_nsec;
}
