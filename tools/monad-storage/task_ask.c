// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "framing.h"
#include "interrupt.h"
#include "monad_storage.h"
#include "socket_file.h"
#include "task_ask.h"
#include "task_message.h"
#include "task_print.h"
#include "task_request.h"

/* How long the server may take for what it does at once. */
#define PATIENCE_NS (30 * NSEC_PER_SEC)
/* How often it is looked whether somebody still reads what is printed. */
#define LOOK_MS 250

struct ask {
	const struct task_options *options;
	struct task_printer printer;
	struct task_results results;
	struct framing_reader reader;
	int fd;
	uint32_t number; /* the id as it is shown */
	char id[16];
	bool begun;
	bool cancelled;
	size_t warned; /* so many warnings were shown */
	uint64_t until_ns; /* CLOCK_MONOTONIC: then it has ended, or something is wrong */
};

static int send_message(struct ask *ask, const Monad__Message *message)
{
	const struct framing_deadline deadline = {
		.at_ns = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS,
	};
	uint8_t *frame;
	size_t size;
	int err;

	frame = framing_pack(message, &size);
	err = frame ? framing_send(ask->fd, frame, size, &deadline) : -errno;
	free(frame);
	return err;
}

static int send_request(struct ask *ask)
{
	Monad__Message message = MONAD__MESSAGE__INIT;
	int err;

	message.kind_case = MONAD__MESSAGE__KIND_TASK_REQUEST;
	message.task_request = task_request_new(ask->options, ask->id);
	err = send_message(ask, &message);
	monad__task_request__free_unpacked(message.task_request, NULL);
	/* It may have said why. */
	return err == -EPIPE || err == -ECONNRESET ? 0 : err;
}

static void cancel(struct ask *ask)
{
	Monad__TaskCancel request = MONAD__TASK_CANCEL__INIT;
	Monad__Message message = MONAD__MESSAGE__INIT;

	ask->cancelled = true;
	ask->until_ns = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
	request.task_id = ask->id;
	message.kind_case = MONAD__MESSAGE__KIND_TASK_CANCEL;
	message.task_cancel = &request;
	/* If it does not get there, the server will be found to be gone. */
	send_message(ask, &message);
}

static void show_event(struct ask *ask, const Monad__EventWrapper *wrapper)
{
	struct task_event event;

	if (!task_event_decode(ask->options, wrapper, &event)) {
		warning("the server sent an event that this version does not know");
		return;
	}
	if (event.is_call)
		event.call.task_id = ask->number;
	task_note_slowest(&ask->results, &event);
	task_print_event(ask->printer.json, ask->options->kind, &event);
}

static void show_warnings(struct ask *ask, const Monad__TaskResponse *response)
{
	for (; ask->warned < response->n_warnings; ask->warned++)
		warning("%s", response->warnings[ask->warned]);
}

static int show_end(struct ask *ask, const Monad__TaskResponse *response)
{
	bool failed = response->status != MONAD__STATUS__STATUS_OK &&
		      response->status != MONAD__STATUS__STATUS_CANCELLED;

	if (task_results_decode(ask->options, response, &ask->results)) {
		task_print_summary(ask->printer.json, ask->options, &ask->results);
		free(ask->results.devices);
	} else if (!failed) {
		error("the server sent no summary");
		return EXIT_FAILED;
	}
	if (failed)
		error("%s: %s", response->status == MONAD__STATUS__STATUS_REFUSED ?
		      "the server refused it" : "the task failed", response->reason);
	return failed ? EXIT_FAILED : EXIT_OK;
}

/* True when it was the last one, with the exit status. */
static bool take_response(struct ask *ask, const Monad__TaskResponse *response, int *status)
{
	/* What has no id is about what was sent last. */
	if (*response->task_id && strcmp(response->task_id, ask->id) != 0)
		return false;
	show_warnings(ask, response);
	if (!ask->begun && response->status == MONAD__STATUS__STATUS_OK) {
		ask->begun = true;
		task_print_begin(ask->printer.json, ask->options->kind,
				 ask->options->kind == TASK_BLOCK ? 0 : ask->number);
	}
	for (size_t i = 0; i < response->n_trace_results; i++)
		show_event(ask, response->trace_results[i]);
	if (response->final)
		*status = show_end(ask, response);
	fflush(stdout);
	return response->final;
}

/* All that is there now. True when that was all, with the exit status. */
static bool take_messages(struct ask *ask, int *status)
{
	Monad__Message *message;
	bool last;
	int err;

	for (;;) {
		err = framing_read(&ask->reader, ask->fd, &message);
		if (err == -EAGAIN)
			return false;
		if (err) {
			error("the server: %s", framing_error(err));
			*status = EXIT_FAILED;
			return true;
		}
		last = message->kind_case == MONAD__MESSAGE__KIND_TASK_RESPONSE &&
		       take_response(ask, message->task_response, status);
		monad__message__free_unpacked(message, NULL);
		if (last)
			return true;
	}
}

static int follow(struct ask *ask)
{
	struct pollfd p = { .fd = ask->fd, .events = POLLIN };
	int status = EXIT_FAILED;

	for (;;) {
		if (!ask->cancelled && (interrupted || task_output_gone()))
			cancel(ask);
		if (clock_ns(CLOCK_MONOTONIC) >= ask->until_ns) {
			error("the server: it did not answer in time");
			return EXIT_FAILED;
		}
		if (poll(&p, 1, LOOK_MS) > 0 && take_messages(ask, &status))
			return status;
	}
}

int task_ask(const struct task_options *options, const char *socket_path)
{
	struct ask ask = { .options = options };
	int err, status;

	ask.fd = socket_file_connect(socket_path);
	if (ask.fd < 0)
		return EXIT_FAILED;
	while (!ask.number) {
		if (getrandom(&ask.number, sizeof(ask.number), 0) != sizeof(ask.number))
			continue;
	}
	snprintf(ask.id, sizeof(ask.id), "%" PRIu32, ask.number);
	task_printer_init(&ask.printer, options);
	framing_reader_init(&ask.reader, 0);
	catch_interrupts();
	ask.until_ns = clock_ns(CLOCK_MONOTONIC) + options->duration_ns + 2 * PATIENCE_NS;
	err = send_request(&ask);
	if (err)
		error("%s: %s", socket_path, framing_error(err));
	status = err ? EXIT_FAILED : follow(&ask);
	framing_reader_free(&ask.reader);
	close(ask.fd);
	return status;
}
