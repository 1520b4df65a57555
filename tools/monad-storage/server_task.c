// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monad_storage.h"
#include "printable.h"
#include "server_log.h"
#include "server_task.h"

/* In the process of the task. */
enum { MESSAGE_FD = 2, SERVER_FD = 3, REST_FD = 4 };

/* A few packets; beyond, what is said is dropped and counted. */
#define SOCKET_BUFFER (1 << 20)

static void only_these_files(int fd, int message_fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* None of them is one of the three that it is to become, or the last of them is. */
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(message_fd, MESSAGE_FD);
	dup2(fd, SERVER_FD);
	close_range(REST_FD, ~0U, 0);
}

static void __attribute__((noreturn)) run(const struct server_options *server,
					  struct server_job *job, pid_t parent)
{
	sigset_t none;

	/* The kernel ends it with the server, however that ends. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILED);
	prctl(PR_SET_NAME, "storage-task");
	/* ^C at a terminal is for the server, who then asks for summaries. */
	setpgid(0, 0);
	only_these_files(job->fd, job->message_fd);
	job->fd = SERVER_FD;
	job->message_fd = MESSAGE_FD;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	_exit(server->run(job));
}

static int open_files(struct server_task *task, int *child_fd)
{
	const int size = SOCKET_BUFFER;
	int pair[2];

	task->message_fd = memfd_create("messages", MFD_CLOEXEC);
	if (task->message_fd < 0)
		return -errno;
	/* Lines are added to it, whatever is read of it meanwhile. */
	fcntl(task->message_fd, F_SETFL, O_APPEND);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair)) {
		close(task->message_fd);
		return -errno;
	}
	if (setsockopt(pair[1], SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
		setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	task->fd = pair[0];
	*child_fd = pair[1];
	return 0;
}

int server_task_start(struct server_task *task, const struct server_options *server,
		      const Monad__TaskRequest *request, const struct task_options *options,
		      struct client *client)
{
	struct server_job job = {
		.request = request,
		.options = *options,
		.patience_ns = server->patience_ns,
		.stuck_ns = server->stuck_ns,
	};
	pid_t parent = getpid();
	int child_fd = -1, err;

	memset(task, 0, sizeof(*task));
	job.options.self = client->pid;
	err = open_files(task, &child_fd);
	if (err)
		return err;
	/* What is not written yet would be written twice. */
	fflush(stdout);
	task->pid = fork();
	if (!task->pid) {
		job.fd = child_fd;
		job.message_fd = task->message_fd;
		run(server, &job, parent);
	}
	err = task->pid < 0 ? -errno : 0;
	close(child_fd);
	task->pid_fd = err ? -1 : (int)syscall(SYS_pidfd_open, task->pid, 0);
	if (!err && task->pid_fd < 0) {
		err = -errno;
		kill(task->pid, SIGKILL);
		waitpid(task->pid, NULL, 0);
	}
	if (err) {
		close(task->fd);
		close(task->message_fd);
		memset(task, 0, sizeof(*task));
		return err;
	}
	snprintf(task->id, sizeof(task->id), "%s", request->task_id);
	task->client = client;
	task->client_number = client->number;
	task->kill_at_ns = clock_ns(CLOCK_MONOTONIC) + options->duration_ns + server->hung_ns;
	return 0;
}

void server_task_stop(struct server_task *task, enum task_stop why, uint64_t hung_ns)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + hung_ns;
	const char byte = why;

	if (task->pid_fd < 0)
		return;
	/* Once: a second SIGTERM would end it without a summary. */
	if (!task->stopped) {
		send(task->fd, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		kill(task->pid, SIGTERM);
		task->stopped = true;
	}
	if (until < task->kill_at_ns)
		task->kill_at_ns = until;
}

void server_task_kill(struct server_task *task)
{
	if (task->pid_fd >= 0)
		kill(task->pid, SIGKILL);
	if (!task->client && task->fd >= 0) {
		close(task->fd);
		task->fd = -1;
	}
}

bool server_task_read(struct server_task *task, size_t most)
{
	static uint8_t packet[TASK_PACKET_MAX];
	struct task_packet head;
	ssize_t length;

	while (task->fd >= 0 && task->client && client_waiting(task->client) < most) {
		length = recv(task->fd, packet, sizeof(packet), MSG_DONTWAIT);
		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return true;
		if (length < (ssize_t)sizeof(head)) {
			close(task->fd);
			task->fd = -1;
			return true;
		}
		memcpy(&head, packet, sizeof(head));
		task->begun |= head.begun;
		task->final |= head.final;
		task->events += head.events;
		if (!client_add(task->client, packet + sizeof(head), length - sizeof(head)))
			return false;
	}
	return true;
}

void server_task_reap(struct server_task *task)
{
	pid_t pid = waitpid(task->pid, &task->status, WNOHANG);

	if (!pid || (pid < 0 && errno == EINTR))
		return;
	close(task->pid_fd);
	task->pid_fd = -1;
}

static void why_it_failed(const struct server_task *task, const char *errors, char *why,
			  size_t size)
{
	if (task->hung)
		snprintf(why, size, "the task was stuck, and was killed%s%s", *errors ? ": " : "",
			 errors);
	else if (WIFSIGNALED(task->status))
		snprintf(why, size, "the task was killed by a signal: %s%s%s",
			 strsignal(WTERMSIG(task->status)), *errors ? ": " : "", errors);
	else if (*errors)
		snprintf(why, size, "%s", errors);
	else
		snprintf(why, size, "the task ended with status %d, and without a word",
			 WEXITSTATUS(task->status));
}

/* The last word, in its place. */
static bool answer_for_it(const struct server_task *task, const char *errors, char **warnings,
			  size_t nr_warnings)
{
	Monad__TaskResponse response = MONAD__TASK_RESPONSE__INIT;
	char why[2300], safe[2300];

	why_it_failed(task, errors, why, sizeof(why));
	server_log("client %u, task '%s': failed: %s", task->client_number, task->id, why);
	response.task_id = (char *)task->id;
	response.status = task->begun || task->hung || WIFSIGNALED(task->status) ?
				  MONAD__STATUS__STATUS_FAILED : MONAD__STATUS__STATUS_REFUSED;
	/* It may have been cut within a letter. */
	response.reason = (char *)printable(safe, sizeof(safe), why);
	response.final = true;
	response.warnings = warnings;
	response.n_warnings = nr_warnings;
	return client_answer(task->client, &response);
}

bool server_task_end(struct server_task *task)
{
	char errors[2048], **warnings;
	size_t nr_warnings;
	bool sent = true;

	task_messages(task->message_fd, errors, sizeof(errors), &warnings, &nr_warnings);
	for (size_t i = 0; i < nr_warnings; i++)
		server_log("client %u, task '%s': warning: %s", task->client_number, task->id,
			   warnings[i]);
	if (task->client && !task->final)
		sent = answer_for_it(task, errors, warnings, nr_warnings);
	else
		server_log("client %u, task '%s': ended%s, %" PRIu64 " events",
			   task->client_number, task->id,
			   task->client || task->final ? "" : " with its client", task->events);
	while (nr_warnings)
		free(warnings[--nr_warnings]);
	free(warnings);
	close(task->message_fd);
	memset(task, 0, sizeof(*task));
	return sent;
}
