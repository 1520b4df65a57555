// SPDX-License-Identifier: GPL-2.0
/*
 * Never loaded: compiled for its BTF, which has the types of the storage events
 * and nothing else. schema_hash.sh makes the schema hash of it.
 */
#include <monad/storage_event.h>

struct schema {
	enum monad_storage_event_type type;
	enum monad_storage_op op;
	enum monad_storage_flag flag;
	struct monad_storage_step step;
	struct monad_storage_complete complete;
	struct monad_storage_stack stack;
	enum monad_storage_call_op call_op;
	struct monad_storage_call call;
};

struct schema schema;
