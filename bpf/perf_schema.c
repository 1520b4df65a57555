// SPDX-License-Identifier: GPL-2.0
/*
 * Never loaded: compiled for its BTF, which has the types of the PERF events and
 * nothing else. schema_hash.sh makes the schema hash of it.
 */
#include <monad_event/perf_event_ctypes.h>

struct schema {
	enum monad_perf_event_type type;
	enum monad_perf_sample_flag flag;
	enum monad_perf_flow_type flow;
	struct monad_perf_sample sample;
};

struct schema schema;
