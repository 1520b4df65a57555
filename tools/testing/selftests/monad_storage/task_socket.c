// SPDX-License-Identifier: GPL-2.0
/*
 * A client of 'monad-storage serve' that can do what no client should.
 *
 *	task_socket PATH ACTION...
 *
 *	request ID KIND MS [NAME=VALUE]...	ask for a task; names are device, pid, op,
 *						min_latency_ns, max_events, sample_rate
 *	cancel ID
 *	register, response			send a message that is of no use there
 *	raw HEX					send these bytes
 *	zeros N					send so many bytes
 *	names N					ask for a task of so many disks without a name
 *	flood N					ask N times for what there is not, not reading
 *	crowd N					open N connections more, and keep them
 *	shut					say no more
 *	sleep MS				and read nothing
 *	wait FILE				and read nothing until there is that file
 *	listen MS				read what comes meanwhile
 *	until FILE				read until there is that file
 *	await N					read until N last responses have come
 *	read					read until the server closes the connection
 *
 * Each response is a line: ID STATUS EVENTS TRUNCATED final|more REASON. At the end, for
 * each task that has ended: "sum ID EVENTS TRUNCATED SUMMARY-EVENTS OPERATIONS QUICK
 * UNRESOLVED ENDED-BY STACKS", where EVENTS is of all responses, UNRESOLVED are identifiers that
 * are not in the dictionary of their response, and STACKS is how many events have a stack in
 * which the first function has a name.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "framing.h"

#define MAX_TASKS 32
#define MAX_DEVICES 128
#define PATIENCE_MS 300000

static const char *path;
static int fd;
static struct framing_reader reader;
static unsigned int finals;

static struct sum {
	char id[128];
	uint64_t events, truncated, summary_events, operations, quick, unresolved, stacks;
	char ended_by[32];
	bool ended;
} sums[MAX_TASKS];

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "task_socket: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int connect_to_server(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int one = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (one < 0 || connect(one, (struct sockaddr *)&address, sizeof(address)))
		die(path);
	fcntl(one, F_SETFL, O_NONBLOCK);
	return one;
}

static void sleep_ms(long ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static void wait_for(const char *file)
{
	while (access(file, F_OK))
		sleep_ms(50);
}

/*
 * What comes
 */

static struct sum *find_sum(const char *id)
{
	for (unsigned int i = 0; i < MAX_TASKS; i++) {
		if (!*sums[i].id)
			snprintf(sums[i].id, sizeof(sums[i].id), "%s", id);
		if (!strcmp(sums[i].id, id))
			return &sums[i];
	}
	errno = ENOSPC;
	die("too many tasks");
}

static bool has_string(const Monad__Dictionary *dictionary, uint32_t id)
{
	for (size_t i = 0; dictionary && i < dictionary->n_strings; i++) {
		if (dictionary->strings[i]->id == id)
			return true;
	}
	return !id;
}

static bool has_stack(const Monad__Dictionary *dictionary, uint32_t id)
{
	for (size_t i = 0; dictionary && i < dictionary->n_stacks; i++) {
		if (dictionary->stacks[i]->id == id)
			return true;
	}
	return !id;
}

static unsigned int unresolved(const Monad__Dictionary *dictionary,
			       const Monad__EventWrapper *event)
{
	const Monad__StorageEvent *storage = event->storage;

	if (event->payload_case != MONAD__EVENT_WRAPPER__PAYLOAD_STORAGE)
		return 1;
	return !has_string(dictionary, storage->charged_cgroup) +
	       (storage->actor && !has_string(dictionary, storage->actor->cgroup)) +
	       !has_stack(dictionary, storage->stack);
}

static bool has_named_stack(const Monad__Dictionary *dictionary, uint32_t id)
{
	for (size_t i = 0; dictionary && i < dictionary->n_stacks; i++) {
		const Monad__Stack *stack = dictionary->stacks[i];

		if (stack->id == id)
			return stack->n_frames && stack->frames[0]->symbol &&
			       has_string(dictionary, stack->frames[0]->symbol);
	}
	return false;
}

static void take_metric(struct sum *sum, const Monad__MetricWrapper *metric)
{
	if (strcmp(metric->task_id, sum->id) != 0)
		sum->unresolved++;
	if (metric->payload_case == MONAD__METRIC_WRAPPER__PAYLOAD_STORAGE) {
		sum->summary_events = metric->storage->events;
		snprintf(sum->ended_by, sizeof(sum->ended_by), "%s", metric->storage->ended_by);
		for (size_t i = 0; i < metric->storage->n_operations; i++)
			sum->operations += metric->storage->operations[i]->count;
	} else if (!strcmp(metric->name, "monad_storage_task_calls") && metric->n_labels == 1 &&
		   !strcmp(metric->labels[0]->value, "quick")) {
		sum->quick = (uint64_t)metric->value;
	}
}

static void take_response(const Monad__TaskResponse *response)
{
	static const char *const names[] = { "none", "ok", "failed", "refused", "cancelled" };
	struct sum *sum = find_sum(*response->task_id ? response->task_id : "-");

	printf("%s %s %zu %" PRIu64 " %s %s\n", sum->id,
	       response->status < 5 ? names[response->status] : "other",
	       response->n_trace_results, response->truncated_count,
	       response->final ? "final" : "more", response->reason);
	fflush(stdout);
	finals += response->final;
	sum->ended |= response->final && response->n_metric_results;
	sum->events += response->n_trace_results;
	sum->truncated = response->truncated_count;
	for (size_t i = 0; i < response->n_trace_results; i++) {
		sum->unresolved += unresolved(response->dictionary, response->trace_results[i]);
		sum->stacks += has_named_stack(response->dictionary,
					       response->trace_results[i]->storage->stack);
		sum->unresolved += strcmp(response->trace_results[i]->task_id, sum->id) != 0;
	}
	for (size_t i = 0; i < response->n_metric_results; i++)
		take_metric(sum, response->metric_results[i]);
}

static uint64_t in_ms(uint64_t ms)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec + ms * 1000000;
}

/* Until so many last responses have come, the time is over, or the connection is closed. */
static void take(unsigned int wanted, uint64_t ms)
{
	const struct framing_deadline deadline = { .at_ns = in_ms(ms) };
	int err;

	while (finals < wanted) {
		Monad__Message *message;

		err = framing_receive(&reader, fd, &deadline, &message);
		if (err == -ETIMEDOUT)
			return;
		if (err) {
			printf("closed: %s\n", framing_error(err));
			fflush(stdout);
			return;
		}
		if (message->kind_case == MONAD__MESSAGE__KIND_TASK_RESPONSE)
			take_response(message->task_response);
		else
			printf("another message: %d\n", message->kind_case);
		monad__message__free_unpacked(message, NULL);
	}
}

static void take_until(const char *file)
{
	while (access(file, F_OK))
		take(UINT32_MAX, 50);
}

/*
 * What goes
 */

static void send_bytes(const void *bytes, size_t size)
{
	const struct framing_deadline deadline = { .at_ns = in_ms(20000) };
	int err;

	err = framing_send(fd, bytes, size, &deadline);
	if (err)
		printf("not sent: %s\n", strerror(-err));
}

static void send_message(Monad__Message *message)
{
	size_t size;
	uint8_t *frame = framing_pack(message, &size);

	if (!frame)
		die("packing");
	send_bytes(frame, size);
	free(frame);
}

static void send_request(char **argv, int *at)
{
	Monad__TaskRequest request = MONAD__TASK_REQUEST__INIT;
	Monad__StorageTaskFilter filter = MONAD__STORAGE_TASK_FILTER__INIT;
	Monad__Message message = MONAD__MESSAGE__INIT;
	char *devices[MAX_DEVICES], *ops[MAX_DEVICES], *value;
	uint32_t pids[MAX_DEVICES];

	message.kind_case = MONAD__MESSAGE__KIND_TASK_REQUEST;
	message.task_request = &request;
	request.filter_case = MONAD__TASK_REQUEST__FILTER_STORAGE;
	request.storage = &filter;
	filter.devices = devices;
	filter.operations = ops;
	filter.pids = pids;
	request.task_id = argv[++*at];
	request.kind = argv[++*at];
	request.duration_ns = strtoull(argv[++*at], NULL, 10) * 1000000;
	while (argv[*at + 1]) {
		value = strchr(argv[*at + 1], '=');
		if (!value)
			break;
		*value++ = '\0';
		if (!strcmp(argv[*at + 1], "device") && filter.n_devices < MAX_DEVICES)
			devices[filter.n_devices++] = value;
		else if (!strcmp(argv[*at + 1], "op") && filter.n_operations < MAX_DEVICES)
			ops[filter.n_operations++] = value;
		else if (!strcmp(argv[*at + 1], "pid") && filter.n_pids < MAX_DEVICES)
			pids[filter.n_pids++] = strtoul(value, NULL, 10);
		else if (!strcmp(argv[*at + 1], "min_latency_ns"))
			filter.min_latency_ns = strtoull(value, NULL, 10);
		else if (!strcmp(argv[*at + 1], "max_events"))
			request.max_events = strtoull(value, NULL, 10);
		else if (!strcmp(argv[*at + 1], "sample_rate"))
			request.sample_rate = strtoull(value, NULL, 10);
		++*at;
	}
	send_message(&message);
}

static void send_names(size_t n)
{
	Monad__TaskRequest request = MONAD__TASK_REQUEST__INIT;
	Monad__StorageTaskFilter filter = MONAD__STORAGE_TASK_FILTER__INIT;
	Monad__Message message = MONAD__MESSAGE__INIT;

	message.kind_case = MONAD__MESSAGE__KIND_TASK_REQUEST;
	message.task_request = &request;
	request.task_id = "names";
	request.kind = "vfs-latency";
	request.filter_case = MONAD__TASK_REQUEST__FILTER_STORAGE;
	request.storage = &filter;
	filter.devices = calloc(n, sizeof(*filter.devices));
	if (!filter.devices)
		die("names");
	for (filter.n_devices = 0; filter.n_devices < n; filter.n_devices++)
		filter.devices[filter.n_devices] = "";
	send_message(&message);
	free(filter.devices);
}

static void send_cancel(char *id)
{
	Monad__TaskCancel cancel = MONAD__TASK_CANCEL__INIT;
	Monad__Message message = MONAD__MESSAGE__INIT;

	message.kind_case = MONAD__MESSAGE__KIND_TASK_CANCEL;
	message.task_cancel = &cancel;
	cancel.task_id = id;
	send_message(&message);
}

static void send_useless(const char *what)
{
	Monad__TaskResponse response = MONAD__TASK_RESPONSE__INIT;
	Monad__Register reg = MONAD__REGISTER__INIT;
	Monad__Message message = MONAD__MESSAGE__INIT;

	if (!strcmp(what, "response")) {
		message.kind_case = MONAD__MESSAGE__KIND_TASK_RESPONSE;
		message.task_response = &response;
	} else {
		message.kind_case = MONAD__MESSAGE__KIND_REGISTER;
		message.register_ = &reg;
	}
	send_message(&message);
}

static void send_raw(const char *hex)
{
	uint8_t bytes[4096];
	size_t n = 0;

	while (hex[0] && hex[1] && n < sizeof(bytes)) {
		const char pair[] = { hex[0], hex[1], '\0' };

		bytes[n++] = strtoul(pair, NULL, 16);
		hex += 2;
	}
	send_bytes(bytes, n);
}

static void send_zeros(size_t n)
{
	uint8_t *bytes = calloc(1, n);

	send_bytes(bytes, n);
	free(bytes);
}

static void flood(unsigned long n)
{
	char *argv[] = { "", "x", "no-such-kind", "100", NULL };

	for (unsigned long i = 0; i < n; i++) {
		int at = 0;

		send_request(argv, &at);
	}
}

/* What each of them is told is read by nobody, but for the last one's. */
static void crowd(unsigned long n)
{
	while (n--) {
		framing_reader_free(&reader);
		fd = connect_to_server();
		framing_reader_init(&reader, 0);
	}
}

static void act(char **argv, int *at)
{
	const char *action = argv[*at];

	if (!strcmp(action, "request"))
		send_request(argv, at);
	else if (!strcmp(action, "cancel"))
		send_cancel(argv[++*at]);
	else if (!strcmp(action, "response") || !strcmp(action, "register"))
		send_useless(action);
	else if (!strcmp(action, "raw"))
		send_raw(argv[++*at]);
	else if (!strcmp(action, "zeros"))
		send_zeros(strtoul(argv[++*at], NULL, 10));
	else if (!strcmp(action, "names"))
		send_names(strtoul(argv[++*at], NULL, 10));
	else if (!strcmp(action, "flood"))
		flood(strtoul(argv[++*at], NULL, 10));
	else if (!strcmp(action, "crowd"))
		crowd(strtoul(argv[++*at], NULL, 10));
	else if (!strcmp(action, "shut"))
		shutdown(fd, SHUT_WR);
	else if (!strcmp(action, "sleep"))
		sleep_ms(strtol(argv[++*at], NULL, 10));
	else if (!strcmp(action, "wait"))
		wait_for(argv[++*at]);
	else if (!strcmp(action, "until"))
		take_until(argv[++*at]);
	else if (!strcmp(action, "await"))
		take(strtoul(argv[++*at], NULL, 10), PATIENCE_MS);
	else if (!strcmp(action, "listen"))
		take(UINT32_MAX, strtoul(argv[++*at], NULL, 10));
	else if (!strcmp(action, "read"))
		take(UINT32_MAX, PATIENCE_MS);
	else
		die(action);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: task_socket PATH ACTION...\n");
		return 2;
	}
	path = argv[1];
	fd = connect_to_server();
	framing_reader_init(&reader, 0);
	for (int at = 2; at < argc; at++)
		act(argv, &at);
	for (unsigned int i = 0; i < MAX_TASKS; i++) {
		const struct sum *sum = &sums[i];

		if (!sum->ended)
			continue;
		printf("sum %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		       " %" PRIu64 " %s %" PRIu64 "\n", sum->id, sum->events, sum->truncated,
		       sum->summary_events, sum->operations, sum->quick, sum->unresolved,
		       sum->ended_by, sum->stacks);
	}
	framing_reader_free(&reader);
	close(fd);
	return 0;
}
