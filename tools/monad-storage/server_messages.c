// SPDX-License-Identifier: GPL-2.0
/* What clients ask the server for. */
#include <string.h>

#include "human.h"
#include "monad_storage.h"
#include "printable.h"
#include "server_log.h"
#include "server_state.h"

unsigned int server_tasks_of(const struct server *server, const struct client *client)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < SERVER_MAX_TASKS; i++)
		n += server->tasks[i].pid && (!client || server->tasks[i].client == client);
	return n;
}

static struct server_task *find_task(struct server *server, const struct client *client,
				     const char *id)
{
	for (unsigned int i = 0; i < SERVER_MAX_TASKS; i++) {
		struct server_task *task = &server->tasks[i];

		if (task->pid && task->client == client && !task->final && !strcmp(task->id, id))
			return task;
	}
	return NULL;
}

static struct server_task *place_for_task(struct server *server)
{
	for (unsigned int i = 0; i < SERVER_MAX_TASKS; i++) {
		if (!server->tasks[i].pid)
			return &server->tasks[i];
	}
	return NULL;
}

static unsigned int tasks_of_user(const struct server *server, uid_t uid)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < SERVER_MAX_TASKS; i++) {
		const struct server_task *task = &server->tasks[i];

		n += task->pid && task->client && task->client->uid == uid;
	}
	return n;
}

/* Half of all for each user, so that none keeps all others away; root has to know. */
static bool has_enough(const struct server *server, uid_t uid)
{
	return uid && tasks_of_user(server, uid) >= (server->options->max_tasks + 1) / 2;
}

/* Why there can be no task now, whatever it is. */
static const char *why_not_now(struct server *server, const struct client *client,
			       char *why, size_t size)
{
	if (server->end_ns) {
		snprintf(why, size, "the server ends");
	} else if (server_tasks_of(server, NULL) >= server->options->max_tasks) {
		snprintf(why, size, "%u tasks are running, as many as may at once (--max-tasks): "
			 "try again when one has ended", server->options->max_tasks);
	} else if (has_enough(server, client->uid)) {
		snprintf(why, size, "%u tasks of user %u are running, as many as one may have "
			 "(half of --max-tasks): try again when one has ended",
			 tasks_of_user(server, client->uid), client->uid);
	} else if (client_waiting(client) > WAITING_REFUSE) {
		snprintf(why, size, "%zu bytes of results have not been read yet: read them first",
			 client_waiting(client));
	} else {
		return NULL;
	}
	return why;
}

static bool begin_task(struct server *server, struct client *client,
		       const Monad__TaskRequest *request, const struct task_options *options)
{
	struct server_task *task = place_for_task(server);
	char span[HUMAN_LEN];
	int err;

	err = server_task_start(task, server->options, request, options, client);
	if (err)
		return client_refuse(client, request->task_id, "no process for the task: %s",
				     strerror(-err));
	server_log("client %u, task '%s': %s for %s", client->number, request->task_id,
		   request->kind, human_duration(options->duration_ns, span));
	return true;
}

static bool on_request(struct server *server, struct client *client,
		       const Monad__TaskRequest *request)
{
	const char *id = task_id_valid(request->task_id) ? request->task_id : "";
	struct task_options options;
	const char *not_now;
	char why[512];

	if (!task_request_check(request, &options, why, sizeof(why))) {
		server_log("client %u, task '%s': refused: %s", client->number, id, why);
		return client_refuse(client, id, "%s", why);
	}
	if (find_task(server, client, id))
		return client_refuse(client, id, "task_id is '%s': a task of that id is running "
				     "on this connection", id);
	not_now = why_not_now(server, client, why, sizeof(why));
	if (not_now) {
		server_log("client %u, task '%s': refused: %s", client->number, id, not_now);
		return client_refuse(client, id, "%s", not_now);
	}
	return begin_task(server, client, request, &options);
}

static bool on_cancel(struct server *server, struct client *client,
		      const Monad__TaskCancel *cancel)
{
	struct server_task *task = find_task(server, client, cancel->task_id);
	char id[TASK_ID_MAX + 1];

	if (!task) {
		printable(id, sizeof(id), cancel->task_id);
		return client_refuse(client, id, "no task '%s' is running on this connection", id);
	}
	server_log("client %u, task '%s': cancelled", client->number, task->id);
	server_task_stop(task, TASK_STOP_CANCELLED, server->options->hung_ns);
	return true;
}

bool server_on_message(struct server *server, struct client *client,
		       const Monad__Message *message)
{
	static const char *const names[] = {
		[MONAD__MESSAGE__KIND_REGISTER] = "Register",
		[MONAD__MESSAGE__KIND_REGISTERED] = "Registered",
		[MONAD__MESSAGE__KIND_BATCH] = "TelemetryBatch",
		[MONAD__MESSAGE__KIND_RESULT] = "BatchResult",
		[MONAD__MESSAGE__KIND_TASK_RESPONSE] = "TaskResponse",
	};
	const char *name = "a message of a kind that is not known";

	switch (message->kind_case) {
	case MONAD__MESSAGE__KIND_TASK_REQUEST:
		return on_request(server, client, message->task_request);
	case MONAD__MESSAGE__KIND_TASK_CANCEL:
		return on_cancel(server, client, message->task_cancel);
	default:
		if ((size_t)message->kind_case < ARRAY_SIZE(names) && names[message->kind_case])
			name = names[message->kind_case];
		server_log("client %u: sent %s", client->number, name);
		return client_refuse(client, "", "this takes TaskRequest and TaskCancel, not %s",
				     name);
	}
}
