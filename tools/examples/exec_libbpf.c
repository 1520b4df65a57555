// SPDX-License-Identifier: GPL-2.0
/* The exec tracer with the BPF ring buffer and with the perf buffer, for comparison. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "exec_perfbuf.skel.h"
#include "exec_ringbuf.skel.h"
#include "exec_ways.h"

#define PAGES_PER_CPU 8 /* 32 KiB */

/* An event has no time of its own here: it is the reader's. */
static int on_ringbuf(void *ctx, void *data, size_t size)
{
	exec_print(time(NULL), data, size);
	return 0;
}

static void on_perfbuf(void *ctx, int cpu, void *data, __u32 size)
{
	exec_print(time(NULL), data, size);
}

static void on_perfbuf_lost(void *ctx, int cpu, __u64 nr)
{
	exec_lost(nr);
}

/* What a poll returned: whether to stop, and why. */
static bool failed(int err)
{
	if (err >= 0 || err == -EINTR)
		return false;
	fprintf(stderr, "poll: %s\n", strerror(-err));
	return true;
}

int exec_ringbuf(void (*ready)(void))
{
	struct exec_ringbuf_bpf *skel = exec_ringbuf_bpf__open_and_load();
	struct ring_buffer *rb = NULL;
	int status = 1;

	if (!skel)
		return 1;
	rb = ring_buffer__new(bpf_map__fd(skel->maps.rb), on_ringbuf, NULL, NULL);
	if (!rb || exec_ringbuf_bpf__attach(skel))
		goto out;
	ready();
	status = 0;
	while (!exec_done() && !status)
		status = failed(ring_buffer__poll(rb, 100));
out:
	ring_buffer__free(rb);
	exec_ringbuf_bpf__destroy(skel);
	return status;
}

int exec_perfbuf(void (*ready)(void))
{
	struct exec_perfbuf_bpf *skel = exec_perfbuf_bpf__open_and_load();
	struct perf_buffer *pb = NULL;
	int status = 1;

	if (!skel)
		return 1;
	pb = perf_buffer__new(bpf_map__fd(skel->maps.pb), PAGES_PER_CPU, on_perfbuf,
			      on_perfbuf_lost, NULL, NULL);
	if (!pb || exec_perfbuf_bpf__attach(skel))
		goto out;
	ready();
	status = 0;
	while (!exec_done() && !status)
		status = failed(perf_buffer__poll(pb, 100));
out:
	perf_buffer__free(pb);
	exec_perfbuf_bpf__destroy(skel);
	return status;
}
