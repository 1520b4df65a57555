/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Everything about the running kernel that the BPF programs have to be told:
 * which tracepoints it has, and numbers that moved between versions. Chosen by
 * its BTF, not by its version.
 */
#ifndef MONAD_STORAGE_KERNEL_COMPAT_H
#define MONAD_STORAGE_KERNEL_COMPAT_H

#include <stdbool.h>
#include <stdint.h>

struct btf;

struct kernel_compat {
	uint32_t rqf_flush_seq;
	uint32_t rqf_timed_out;
	uint32_t rqf_io_stat;
	uint8_t op_of[256];        /* REQ_OP_* to enum monad_storage_op */
	uint32_t flags_of[3][256]; /* bytes 1 to 3 of cmd_flags to MONAD_STORAGE_F_* */
	uint16_t errno_of[32];     /* blk_status_t to errno */
};

/* 0, or -1 after a message. */
int kernel_compat_init(struct kernel_compat *compat, const struct btf *btf);

/* How many arguments a tracepoint hands to programs; -1 if it is not there. */
int kernel_tracepoint_args(const struct btf *btf, const char *name);
bool kernel_has_tracepoint(const struct btf *btf, const char *name);
/* One that programs can be attached to, if it can be traced: it was not inlined everywhere. */
bool kernel_has_function(const struct btf *btf, const char *name);
bool kernel_has_member(const struct btf *btf, const char *structure, const char *name);

/* A jiffy. */
uint64_t kernel_tick_ns(void);

#endif /* MONAD_STORAGE_KERNEL_COMPAT_H */
