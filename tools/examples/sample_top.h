/* SPDX-License-Identifier: GPL-2.0 */
/* Counts samples by program and place. */
#ifndef SAMPLE_TOP_H
#define SAMPLE_TOP_H

#include <monad_event/perf_event_ctypes.h>

void sample_top_add(const struct monad_perf_sample *sample);

/* The @most most frequent as a table, and what the CPUs were doing in all. */
void sample_top_print(unsigned int most);

/* The name of the function in which the sample was taken, or what is known of it. */
const char *sample_where(const struct monad_perf_sample *sample);

#endif /* SAMPLE_TOP_H */
