/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a ring is made from, and configuration strings that say so.
 */
#ifndef MONAD_RING_CONFIG_H
#define MONAD_RING_CONFIG_H

#include <linux/types.h>

#include "monad/ring_ioctl.h"

#define MONAD_RING_DEFAULT_NAME "monad_ring"
#define MONAD_RING_DEFAULT_DESC_SHIFT 18
#define MONAD_RING_DEFAULT_PAYLOAD_SHIFT 25

struct monad_ring_config {
	char name[MONAD_RING_NAME_MAX];
	unsigned int desc_shift;
	unsigned int payload_shift;
	int node;	  /* NUMA node of its memory, or NUMA_NO_NODE */
	u16 content_type; /* NONE: to be said later */
	u8 schema_hash[32];
	bool account;	  /* charge the memory to the caller's control group */
};

int monad_ring_check_name(const char *name);
int monad_ring_check_shifts(const char *name, unsigned int desc_shift,
			    unsigned int payload_shift);
int monad_ring_parse(const char *string, struct monad_ring_config *config);

#endif /* MONAD_RING_CONFIG_H */
