// SPDX-License-Identifier: GPL-2.0
/*
 * Samples what all CPUs are doing, and prints where they were most often:
 *
 *	cpu_sampler [-e cpu-clock|cycles] [-F HZ] [-n LINES] [-p] [SECONDS]
 *
 * cpu-clock is a timer of the kernel's, which every machine has. cycles counts in hardware and
 * interrupts with an NMI, so that it sees what runs with interrupts off as well; virtual machines
 * often do not have it. -p prints each sample instead. Until SIGINT without SECONDS.
 *
 * Linux 6.12 or later: before, no perf_event program may call a module's functions.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>
#include <monad_event/event_metadata.h>

#include "cpu_sampler.skel.h"
#include "kallsyms.h"
#include "own_ring.h"
#include "sample_top.h"

#define MAX_CPUS 8192
#define LOG_SIZE 65536

static struct {
	uint64_t config;
	uint32_t type;
	unsigned long hz, lines, seconds;
	bool print;
} options = {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_CPU_CLOCK,
	.hz = 99, /* not in step with what runs a hundred times a second */
	.lines = 20,
};

static struct bpf_link *links[MAX_CPUS];
static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = 1;
}

/* libbpf's report has the verifier's log in it, dozens of lines: load() says what it means. */
static int mute(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

static struct cpu_sampler_bpf *load(uint32_t ring_id)
{
	static char log[LOG_SIZE];
	struct cpu_sampler_bpf *skel = cpu_sampler_bpf__open();
	int err;

	if (!skel)
		return NULL;
	skel->rodata->ring_id = ring_id;
	bpf_program__set_log_buf(skel->progs.sample, log, sizeof(log));
	bpf_program__set_log_level(skel->progs.sample, 1);
	libbpf_set_print(mute);
	err = cpu_sampler_bpf__load(skel);
	if (!err)
		return skel;
	if (strstr(log, "calling kernel function") && strstr(log, "is not allowed"))
		fprintf(stderr, "this kernel does not let perf_event programs call functions of "
			"a module: Linux 6.12 or later does\n");
	else
		fprintf(stderr, "the BPF program cannot be loaded: %s\n%s", strerror(-err), log);
	cpu_sampler_bpf__destroy(skel);
	return NULL;
}

/* An event on each CPU that is on line. */
static bool attach(struct bpf_program *program)
{
	struct perf_event_attr attr = {
		.type = options.type,
		.size = sizeof(attr),
		.config = options.config,
		.freq = 1,
		.sample_freq = options.hz,
	};
	int cpu, fd, cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (cpu = 0; cpu < cpus && cpu < MAX_CPUS; cpu++) {
		fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0 && errno == ENODEV)
			continue;
		if (fd < 0) {
			fprintf(stderr, "CPU %d: no such perf event: %s%s\n", cpu, strerror(errno),
				options.type == PERF_TYPE_HARDWARE ?
				" (a machine without performance counters? try -e cpu-clock)" : "");
			return false;
		}
		links[cpu] = bpf_program__attach_perf_event(program, fd);
		if (!links[cpu]) {
			fprintf(stderr, "CPU %d: %s\n", cpu, strerror(errno));
			close(fd);
			return false;
		}
	}
	return true;
}

static void detach(void)
{
	for (int cpu = 0; cpu < MAX_CPUS; cpu++)
		bpf_link__destroy(links[cpu]);
}

static void print(const struct monad_event_descriptor *event, const struct monad_perf_sample *s)
{
	printf("%llu.%09llu %-16.16s pid %u tid %u cpu %u %s%s\n",
	       (unsigned long long)event->record_epoch_nanos / 1000000000,
	       (unsigned long long)event->record_epoch_nanos % 1000000000, s->comm, s->pid,
	       s->tid, s->cpu, sample_where(s),
	       s->flags & MONAD_PERF_SAMPLE_IDLE ? " (idle)" : "");
}

static int follow(struct own_ring *own)
{
	struct monad_event_descriptor event;
	struct monad_event_iterator it;
	struct monad_perf_sample s;

	monad_event_ring_init_iterator(&own->ring, &it);
	monad_event_iterator_set_seqno(&it, monad_event_ring_last_seqno(&own->ring) + 1);
	if (options.seconds)
		alarm(options.seconds);
	while (!stopped) {
		switch (monad_event_iterator_try_next(&it, &event)) {
		case MONAD_EVENT_SUCCESS:
			if (event.event_type != MONAD_PERF_SAMPLE ||
			    event.payload_size < sizeof(s) ||
			    !monad_event_iterator_payload_memcpy(&it, &event, &s, sizeof(s)))
				break;
			if (options.print)
				print(&event, &s);
			else
				sample_top_add(&s);
			break;
		case MONAD_EVENT_NOT_READY:
			/* No hurry: at 64 of them, or every tenth of a second. */
			if (!own_ring_wait(own, &it, 64, 100))
				return 1;
			break;
		case MONAD_EVENT_GAP:
			fprintf(stderr, "missed %llu\n",
				(unsigned long long)monad_event_iterator_recover(&it));
			break;
		}
	}
	if (!options.print)
		sample_top_print(options.lines);
	return 0;
}

static unsigned long number(const char *text)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	return errno || end == text || *end || *text == '-' ? 0 : value;
}

static bool parse(int argc, char **argv)
{
	bool ok = true;
	int c;

	while ((c = getopt(argc, argv, "e:F:n:p")) != -1) {
		switch (c) {
		case 'e':
			if (!strcmp(optarg, "cycles")) {
				options.type = PERF_TYPE_HARDWARE;
				options.config = PERF_COUNT_HW_CPU_CYCLES;
			} else if (strcmp(optarg, "cpu-clock")) {
				ok = false;
			}
			break;
		case 'F':
			options.hz = number(optarg);
			ok = ok && options.hz;
			break;
		case 'n':
			options.lines = number(optarg);
			ok = ok && options.lines;
			break;
		case 'p':
			options.print = true;
			break;
		default:
			ok = false;
		}
	}
	if (optind < argc) {
		options.seconds = number(argv[optind++]);
		ok = ok && options.seconds && options.seconds <= 86400;
	}
	return ok && optind == argc;
}

int main(int argc, char **argv)
{
	static const struct own_ring_config config = {
		.name = "perf",
		.content_type = MONAD_EVENT_CONTENT_TYPE_PERF,
		.schema_hash = g_monad_perf_event_schema_hash,
		.descriptors_shift = 16, /* 65536 samples of 40 bytes */
		.payload_shift = 22,
	};
	struct sigaction action = { .sa_handler = stop };
	struct cpu_sampler_bpf *skel;
	struct own_ring own;
	int status = 1;

	if (!parse(argc, argv)) {
		fprintf(stderr, "usage: cpu_sampler [-e cpu-clock|cycles] [-F HZ] [-n LINES] [-p] "
			"[SECONDS]\n");
		return 2;
	}
	if (!own_ring_open(&own, &config))
		return 1;
	skel = load(own.id);
	if (skel && attach(skel->progs.sample)) {
		kallsyms_load();
		sigaction(SIGINT, &action, NULL);
		sigaction(SIGTERM, &action, NULL);
		sigaction(SIGALRM, &action, NULL);
		status = follow(&own);
		kallsyms_free();
	}
	detach();
	cpu_sampler_bpf__destroy(skel);
	own_ring_close(&own);
	return status;
}
