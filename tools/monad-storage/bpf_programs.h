/* SPDX-License-Identifier: GPL-2.0 */
/* What everybody does who loads programs that write to a ring. */
#ifndef MONAD_STORAGE_BPF_PROGRAMS_H
#define MONAD_STORAGE_BPF_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

#include <monad/ring_ioctl.h>

/* Keeps what libbpf says, which is only worth reading when something failed. */
void bpf_log_begin(bool verbose);
/* The end of it, on stderr. */
void bpf_log_show(void);

/* Whether programs can be loaded at all; 0, or -1 after a message that @what takes that. */
int bpf_check_system(const char *what);

/*
 * Makes sure that programs can write storage events to @ring, and says of it where its
 * device is and what it is. 0, or an errno after a message.
 */
int bpf_prepare_ring(const char *ring, char *path, size_t path_size,
		     struct monad_ring_info *info);

#endif /* MONAD_STORAGE_BPF_PROGRAMS_H */
