/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A server of tasks in a process of its own, whose tasks are real processes that answer as
 * tasks do, but make up what they look at; and clients of it.
 */
#ifndef SERVER_TALK_H
#define SERVER_TALK_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "framing.h"
#include "interrupt.h"
#include "monad_storage.h"
#include "server.h"
#include "socket_file.h"
#include "tap.h"
#include "task_answer.h"

static char path[108];
static pid_t server;

/*
 * Tasks: what they do is the name of their first disk
 */

/* Stacks, each another one, and names that are long. */
static const struct monad_storage_stack *some_stack(void *arg, uint32_t id, uint64_t seqno)
{
	static struct monad_storage_stack stack;

	for (unsigned int i = 0; i < MONAD_STORAGE_STACK_DEPTH; i++) {
		stack.kernel[i] = (uint64_t)id << 32 | i;
		stack.user[i] = ~stack.kernel[i];
	}
	return &stack;
}

static const char *some_symbol(void *arg, const struct monad_storage_stack *stack, uint64_t address,
			       bool user, const char **module, uint64_t *offset)
{
	static char name[128];

	memset(name, 'n', sizeof(name) - 1);
	snprintf(name + 100, sizeof(name) - 100, "%llx", (unsigned long long)address);
	return name;
}

static const struct transform_sources sources = { .stack = some_stack, .symbol = some_symbol };

static struct task_event an_event(const char *what, unsigned int n)
{
	struct task_event event = {
		.is_call = true,
		.desc = { .seqno = n + 1, .event_type = MONAD_STORAGE_VFS_IO },
		.call = { .op = MONAD_STORAGE_CALL_READ, .latency_ns = n, .tgid = getpid(),
			  .comm = "made up", .file = "f" },
	};

	if (strcmp(what, "stacks") != 0)
		return event;
	return (struct task_event){
		.block.desc = { .seqno = n + 1, .event_type = MONAD_STORAGE_RQ_COMPLETE },
		.block.complete = { .op = MONAD_STORAGE_OP_READ, .stack = n + 1,
				    .tgid = getpid() },
	};
}

static int end_task(struct task_output *output, const char *why, uint64_t events)
{
	struct task_results results = {
		.ended_by = why, .reason = "normal", .shown = events, .window_ns = 1,
	};

	results.counters.value[MONAD_TASK_ENDED] = events;
	results.counters.value[MONAD_TASK_RECORDED] = events;
	results.ops[MONAD_STORAGE_CALL_READ].ops = events;
	output->end(output, &results);
	return 0;
}

/* So many events at once, or without an end; then it waits for its own. */
static int say(const struct server_job *job, const char *what, uint64_t events)
{
	const struct task_answer_options options = {
		.options = &job->options, .sources = &sources, .task_id = job->request->task_id,
		.fd = job->fd, .message_fd = job->message_fd, .patience_ns = job->patience_ns,
		.end_ns = job->stuck_ns,
	};
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + job->options.duration_ns, n = 0;
	struct task_answer *answer = task_answer_new(&options);
	struct task_output *output = task_answer_output(answer);
	const char *why = "duration";
	int status;

	output->begin(output, 1);
	while (clock_ns(CLOCK_MONOTONIC) < until && !interrupted) {
		if (n < events) {
			struct task_event event = an_event(what, n++);

			output->event(output, &event);
		} else if (output->idle(output)) {
			poll(NULL, 0, 10);
		}
		if (output->gone(output)) {
			why = output->gone(output);
			break;
		}
	}
	/* (Programs to be detached, a client that reads slowly.) */
	if (!strcmp(what, "slow"))
		for (int i = 0; i < 15; i++)
			nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	status = end_task(output, interrupted ? "interrupt" : why, n);
	task_answer_free(answer);
	return status;
}

static int run(const struct server_job *job)
{
	const Monad__StorageTaskFilter *filter = job->request->storage;
	const char *what = filter->n_devices ? filter->devices[0] : "";
	sigset_t all;

	if (!strcmp(what, "fail")) {
		warning("careful");
		error("no such thing");
		error("nor another");
		return 1;
	}
	if (!strcmp(what, "silent"))
		return 7;
	if (!strcmp(what, "crash"))
		kill(getpid(), SIGKILL);
	if (!strcmp(what, "hang")) {
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		for (;;)
			pause();
	}
	if (!strcmp(what, "flood"))
		return say(job, what, UINT64_MAX);
	if (!strcmp(what, "stacks"))
		return say(job, what, 300);
	return say(job, what, strtoull(what, NULL, 10));
}

/*
 * The server, in a process of its own
 */

static void begin_server(struct server_options options)
{
	struct socket_file file;
	int status;

	if (socket_file_listen(&file, path, (gid_t)-1))
		bail_out("no socket");
	fflush(stdout);
	server = fork();
	if (server) {
		close(file.fd);
		return;
	}
	/* What it says of its clients is of no interest. */
	dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
	options.listen_fd = file.fd;
	options.run = run;
	status = server_run(&options) ? 1 : 0;
	socket_file_close(&file);
	exit(status);
}

static void end_server(void)
{
	int status;

	kill(server, SIGTERM);
	waitpid(server, &status, 0);
	ok(WIFEXITED(status) && !WEXITSTATUS(status), "the server ends well (%x)", status);
	ok(access(path, F_OK), "and its socket is gone");
}

static unsigned int server_files(void)
{
	char name[64];
	unsigned int n = 0;
	DIR *dir;

	snprintf(name, sizeof(name), "/proc/%d/fd", server);
	dir = opendir(name);
	while (dir && readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void eventually(bool (*is_so)(void), const char *what)
{
	for (int i = 0; i < 100 && !is_so(); i++)
		poll(NULL, 0, 50);
	ok(is_so(), "%s", what);
}

static unsigned int files_before;

static bool files_are_closed(void)
{
	return server_files() == files_before;
}

/*
 * Clients
 */

struct talk {
	int fd;
	struct framing_reader reader;
};

static void begin_talk(struct talk *talk)
{
	talk->fd = socket_file_connect(path);
	if (talk->fd < 0)
		bail_out("no connection");
	framing_reader_init(&talk->reader, 0);
}

static void end_talk(struct talk *talk)
{
	framing_reader_free(&talk->reader);
	close(talk->fd);
}

static int send_message(struct talk *talk, const Monad__Message *message)
{
	const struct framing_deadline deadline = { clock_ns(CLOCK_MONOTONIC) + NSEC_PER_SEC, NULL };
	size_t size;
	uint8_t *frame = framing_pack(message, &size);
	int err = framing_send(talk->fd, frame, size, &deadline);

	free(frame);
	return err;
}

static int ask(struct talk *talk, char *id, char *what, uint64_t ms)
{
	Monad__TaskRequest request = MONAD__TASK_REQUEST__INIT;
	Monad__StorageTaskFilter filter = MONAD__STORAGE_TASK_FILTER__INIT;
	Monad__Message message = MONAD__MESSAGE__INIT;

	request.task_id = id;
	request.kind = "vfs-latency";
	request.duration_ns = ms * 1000000;
	request.filter_case = MONAD__TASK_REQUEST__FILTER_STORAGE;
	request.storage = &filter;
	filter.devices = &what;
	filter.n_devices = 1;
	message.kind_case = MONAD__MESSAGE__KIND_TASK_REQUEST;
	message.task_request = &request;
	return send_message(talk, &message);
}

static void cancel(struct talk *talk, char *id)
{
	Monad__TaskCancel request = MONAD__TASK_CANCEL__INIT;
	Monad__Message message = MONAD__MESSAGE__INIT;

	request.task_id = id;
	message.kind_case = MONAD__MESSAGE__KIND_TASK_CANCEL;
	message.task_cancel = &request;
	send_message(talk, &message);
}

/* The next response, or NULL with errno. */
static Monad__TaskResponse *next(struct talk *talk)
{
	const struct framing_deadline deadline = {
		clock_ns(CLOCK_MONOTONIC) + 20 * NSEC_PER_SEC, NULL,
	};
	Monad__TaskResponse *response;
	Monad__Message *message;
	int err;

	err = framing_receive(&talk->reader, talk->fd, &deadline, &message);
	if (err) {
		errno = -err;
		return NULL;
	}
	response = message->task_response;
	message->kind_case = MONAD__MESSAGE__KIND__NOT_SET;
	monad__message__free_unpacked(message, NULL);
	return response;
}

static void free_response(Monad__TaskResponse *response)
{
	if (response)
		monad__task_response__free_unpacked(response, NULL);
}

struct answer {
	Monad__TaskResponse *final; /* NULL: there was none */
	uint64_t events;
	unsigned int responses;
	pid_t pid; /* of the task, if there was an event */
};

/* Until the last one of the task with that id. */
static struct answer finish(struct talk *talk, const char *id)
{
	struct answer answer = {};
	Monad__TaskResponse *response;

	while ((response = next(talk))) {
		if (strcmp(response->task_id, id) != 0) {
			free_response(response);
			continue;
		}
		answer.responses++;
		answer.events += response->n_trace_results;
		if (response->n_trace_results)
			answer.pid = response->trace_results[0]->storage->actor->tgid;
		if (response->final) {
			answer.final = response;
			break;
		}
		free_response(response);
	}
	return answer;
}

/* Ends with that status, and a reason that has that text. */
static void ends(const struct answer *answer, Monad__Status status, const char *text)
{
	const Monad__TaskResponse *final = answer->final;

	ok(final, "it is over");
	if (!final)
		return;
	eq_int(final->status, status, "with status %d", status);
	ok(strstr(final->reason, text), "because \"%s\": \"%s\"", text, final->reason);
}

static void sums_up(const struct answer *answer, uint64_t events)
{
	const Monad__TaskResponse *final = answer->final;

	if (!ok(final && final->n_metric_results, "there is a summary"))
		return;
	eq_u64(answer->events, final->metric_results[0]->storage->events, "of the events it had");
	eq_u64(answer->events + final->truncated_count,
	       final->metric_results[0]->storage->operations ?
	       final->metric_results[0]->storage->operations[0]->count : 0,
	       "and all others are counted");
	if (events != UINT64_MAX)
		eq_u64(answer->events, events, "%llu events", (unsigned long long)events);
}

#endif /* SERVER_TALK_H */
