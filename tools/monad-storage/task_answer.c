// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "framing.h"
#include "monad_storage.h"
#include "task_answer.h"
#include "task_message.h"

/* A response has so many events at most, or bytes of them, and is as old as that at most. */
#define BATCH_EVENTS 100
#define BATCH_BYTES (64 << 10)
#define BATCH_NS (NSEC_PER_SEC / 5)

/* How often it is tried again when nobody takes anything. */
#define AGAIN_NS (NSEC_PER_SEC / 20)

struct task_answer {
	struct task_output output;
	struct task_answer_options options;
	Monad__TaskResponse *batch; /* what is not sent yet */
	size_t event_bytes; /* of what is in it; and ... */
	size_t dictionary_bytes;
	size_t dictionary_ids; /* ... when it had so many */
	uint64_t send_at_ns;    /* CLOCK_MONOTONIC */
	uint64_t blocked_at_ns; /* since when nobody takes anything; 0: somebody does */
	uint64_t unsent;
};

static Monad__TaskResponse *new_response(const struct task_answer *answer)
{
	Monad__TaskResponse *response = xcalloc(1, sizeof(*response));

	monad__task_response__init(response);
	response->task_id = xstrdup(answer->options.task_id);
	response->status = MONAD__STATUS__STATUS_OK;
	return response;
}

/* So many pointers, NULL. */
static void *pointers(size_t n)
{
	return xcalloc(n, sizeof(void *));
}

static Monad__TaskResponse *new_batch(const struct task_answer *answer)
{
	Monad__TaskResponse *batch = new_response(answer);

	batch->trace_results = pointers(BATCH_EVENTS);
	batch->dictionary = xcalloc(1, sizeof(*batch->dictionary));
	monad__dictionary__init(batch->dictionary);
	return batch;
}

static void free_response(Monad__TaskResponse *response)
{
	if (response)
		monad__task_response__free_unpacked(response, NULL);
}

static void free_batch(struct task_answer *answer)
{
	free_response(answer->batch);
	answer->batch = NULL;
	answer->event_bytes = 0;
	answer->dictionary_bytes = 0;
	answer->dictionary_ids = 0;
}

/* 0, -EAGAIN, or another -errno. */
static int send_response(struct task_answer *answer, Monad__TaskResponse *response, bool begun)
{
	Monad__Message message = MONAD__MESSAGE__INIT;
	struct task_packet packet = {
		.begun = begun,
		.final = response->final,
		.events = response->n_trace_results,
	};
	struct iovec parts[2] = { { &packet, sizeof(packet) } };
	struct msghdr header = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t sent;

	message.kind_case = MONAD__MESSAGE__KIND_TASK_RESPONSE;
	message.task_response = response;
	parts[1].iov_base = framing_pack(&message, &parts[1].iov_len);
	if (!parts[1].iov_base)
		return -errno;
	if (parts[1].iov_len > TASK_PACKET_MAX - sizeof(packet)) {
		free(parts[1].iov_base);
		return -EMSGSIZE;
	}
	do {
		sent = sendmsg(answer->options.fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	free(parts[1].iov_base);
	if (sent >= 0)
		return 0;
	return errno == ENOBUFS || errno == EWOULDBLOCK ? -EAGAIN : -errno;
}

static void note_sent(struct task_answer *answer, int err)
{
	if (!err)
		answer->blocked_at_ns = 0;
	else if (!answer->blocked_at_ns)
		answer->blocked_at_ns = clock_ns(CLOCK_MONOTONIC);
}

static int send_batch(struct task_answer *answer)
{
	int err;

	if (!answer->batch)
		return 0;
	answer->batch->truncated_count = answer->unsent;
	err = send_response(answer, answer->batch, false);
	note_sent(answer, err);
	if (err == -EAGAIN)
		return err;
	/* Nobody will ever take it: too large, or the server is gone. */
	if (err)
		answer->unsent += answer->batch->n_trace_results;
	free_batch(answer);
	return 0;
}

static struct task_answer *self(struct task_output *output)
{
	return (struct task_answer *)output;
}

static bool is_full(const struct task_answer *answer)
{
	return answer->batch && (answer->batch->n_trace_results == BATCH_EVENTS ||
				 answer->event_bytes + answer->dictionary_bytes >= BATCH_BYTES);
}

static void note_size(struct task_answer *answer, const Monad__EventWrapper *wrapper)
{
	const Monad__Dictionary *dictionary = answer->batch->dictionary;
	size_t ids = dictionary->n_strings + dictionary->n_stacks;

	answer->event_bytes += monad__event_wrapper__get_packed_size(wrapper);
	if (ids == answer->dictionary_ids)
		return;
	answer->dictionary_ids = ids;
	answer->dictionary_bytes = monad__dictionary__get_packed_size(dictionary);
}

static void add_warnings(const struct task_answer *answer, Monad__TaskResponse *response)
{
	char errors[1];

	task_messages(answer->options.message_fd, errors, sizeof(errors), &response->warnings,
		      &response->n_warnings);
}

static void answer_begin(struct task_output *output, uint32_t id)
{
	struct task_answer *answer = self(output);
	Monad__TaskResponse *response = new_response(answer);

	add_warnings(answer, response);
	/* The first packet: there is room. */
	send_response(answer, response, true);
	free_response(response);
}

static void answer_event(struct task_output *output, const struct task_event *event)
{
	struct task_answer *answer = self(output);
	const struct task_answer_options *options = &answer->options;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	Monad__EventWrapper *wrapper;

	if (is_full(answer) && now >= answer->send_at_ns) {
		answer->send_at_ns = now + AGAIN_NS;
		send_batch(answer);
	}
	if (is_full(answer)) {
		answer->unsent++;
		return;
	}
	if (!answer->batch) {
		answer->batch = new_batch(answer);
		answer->send_at_ns = now + BATCH_NS;
	}
	wrapper = task_event_encode(options->sources, options->options, event, options->task_id,
				    answer->batch->dictionary);
	if (!wrapper) {
		answer->unsent++;
		return;
	}
	answer->batch->trace_results[answer->batch->n_trace_results++] = wrapper;
	note_size(answer, wrapper);
	if ((is_full(answer) || now >= answer->send_at_ns) && send_batch(answer))
		answer->send_at_ns = now + AGAIN_NS;
}

static uint64_t answer_idle(struct task_output *output)
{
	struct task_answer *answer = self(output);
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!answer->batch)
		return UINT64_MAX;
	if (now >= answer->send_at_ns) {
		if (!send_batch(answer))
			return UINT64_MAX;
		answer->send_at_ns = now + AGAIN_NS;
	}
	return answer->send_at_ns - now;
}

static const char *answer_gone(struct task_output *output)
{
	struct task_answer *answer = self(output);

	if (!answer->unsent || !answer->blocked_at_ns ||
	    clock_ns(CLOCK_MONOTONIC) - answer->blocked_at_ns < answer->options.patience_ns)
		return NULL;
	return "client_slow";
}

/*
 * The end: nothing is written to the ring any more, and it can wait
 */

static int wait_and_send(struct task_answer *answer, Monad__TaskResponse *response,
			 uint64_t until_ns)
{
	struct pollfd room = { .fd = answer->options.fd, .events = POLLOUT };
	int err;

	for (;;) {
		err = send_response(answer, response, false);
		if (err != -EAGAIN || clock_ns(CLOCK_MONOTONIC) >= until_ns)
			return err;
		poll(&room, 1, 100);
	}
}

/* What the server wanted, if it was the server that ended it. */
static const char *who_interrupted(const struct task_answer *answer)
{
	char why = 0;

	if (recv(answer->options.fd, &why, 1, MSG_DONTWAIT) == 1 && why == TASK_STOP_CANCELLED)
		return "cancelled";
	return why == TASK_STOP_SERVER ? "server_ended" : "interrupt";
}

static const struct {
	const char *ended_by;
	Monad__Status status;
	const char *reason;
} ends[] = {
	{ "duration", MONAD__STATUS__STATUS_OK, "its duration is over" },
	{ "max_events", MONAD__STATUS__STATUS_OK, "there were as many events as were wanted" },
	{ "recording", MONAD__STATUS__STATUS_OK, "the recording was ended" },
	{ "cancelled", MONAD__STATUS__STATUS_CANCELLED, "it was cancelled" },
	{ "server_ended", MONAD__STATUS__STATUS_CANCELLED, "the server ends" },
	{ "interrupt", MONAD__STATUS__STATUS_CANCELLED, "it was interrupted by a signal" },
	{ "client_slow", MONAD__STATUS__STATUS_FAILED,
	  "the client did not read what was sent to it, and events were left out: it has to "
	  "read faster, or ask for less (min_latency_ns, sample_rate, devices, pids)" },
	{ "back_pressure", MONAD__STATUS__STATUS_FAILED,
	  "an exporter of this machine cannot keep up with what it has to send: it has to come "
	  "first" },
	{ "ring_lapped", MONAD__STATUS__STATUS_FAILED,
	  "the ring is overwritten sooner than it can be read: ask for less (min_latency_ns, "
	  "sample_rate, devices, pids), or in a quieter time" },
};

static void set_end(Monad__TaskResponse *response, const char *ended_by)
{
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		if (strcmp(ended_by, ends[i].ended_by) != 0)
			continue;
		response->status = ends[i].status;
		response->reason = xstrdup(ends[i].reason);
		return;
	}
	response->reason = xstrdup(ended_by);
}

static void answer_end(struct task_output *output, const struct task_results *results)
{
	struct task_answer *answer = self(output);
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + answer->options.end_ns;
	struct task_results all = *results;
	Monad__TaskResponse *response;

	if (!strcmp(all.ended_by, "interrupt"))
		all.ended_by = who_interrupted(answer);
	if (answer->batch) {
		answer->batch->truncated_count = answer->unsent;
		if (wait_and_send(answer, answer->batch, until_ns))
			answer->unsent += answer->batch->n_trace_results;
	}
	all.unsent = answer->unsent;
	response = new_response(answer);
	response->final = true;
	set_end(response, all.ended_by);
	add_warnings(answer, response);
	task_results_encode(answer->options.options, &all, response);
	response->truncated_count = task_truncated(answer->options.options, &all);
	if (wait_and_send(answer, response, until_ns))
		error("the summary could not be sent: the client does not read");
	free_response(response);
}

struct task_answer *task_answer_new(const struct task_answer_options *options)
{
	struct task_answer *answer = xcalloc(1, sizeof(*answer));

	answer->output = (struct task_output){
		.begin = answer_begin,
		.event = answer_event,
		.idle = answer_idle,
		.gone = answer_gone,
		.end = answer_end,
	};
	answer->options = *options;
	return answer;
}

struct task_output *task_answer_output(struct task_answer *answer)
{
	return &answer->output;
}

void task_answer_free(struct task_answer *answer)
{
	free_response(answer->batch);
	free(answer);
}
