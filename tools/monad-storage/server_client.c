// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "monad_storage.h"
#include "server_client.h"

void client_open(struct client *client, int fd, unsigned int number)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t size = sizeof(peer);

	memset(client, 0, sizeof(*client));
	client->fd = fd;
	client->number = number;
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	client->pid = peer.pid;
	client->uid = peer.uid;
	client->active_ns = clock_ns(CLOCK_MONOTONIC);
	framing_reader_init(&client->reader, CLIENT_MESSAGE_MAX);
}

void client_close(struct client *client)
{
	framing_reader_free(&client->reader);
	free(client->out);
	close(client->fd);
	memset(client, 0, sizeof(*client));
	client->fd = -1;
}

static bool make_room(struct client *client, size_t size)
{
	uint8_t *out;
	size_t room;

	if (client->sent) {
		memmove(client->out, client->out + client->sent, client_waiting(client));
		client->used -= client->sent;
		client->sent = 0;
	}
	if (client->room - client->used >= size)
		return true;
	room = 2 * client->room > client->used + size ? 2 * client->room : client->used + size;
	out = realloc(client->out, room);
	if (!out)
		return false;
	client->out = out;
	client->room = room;
	return true;
}

bool client_add(struct client *client, const void *frame, size_t size)
{
	if (client->room - client->used < size && !make_room(client, size))
		return false;
	memcpy(client->out + client->used, frame, size);
	client->used += size;
	return true;
}

bool client_answer(struct client *client, Monad__TaskResponse *response)
{
	Monad__Message message = MONAD__MESSAGE__INIT;
	uint8_t *frame;
	size_t size;
	bool added;

	message.kind_case = MONAD__MESSAGE__KIND_TASK_RESPONSE;
	message.task_response = response;
	frame = framing_pack(&message, &size);
	added = frame && client_add(client, frame, size);
	free(frame);
	return added;
}

bool client_refuse(struct client *client, const char *id, const char *format, ...)
{
	Monad__TaskResponse response = MONAD__TASK_RESPONSE__INIT;
	char reason[512];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	response.task_id = (char *)id;
	response.status = MONAD__STATUS__STATUS_REFUSED;
	response.reason = reason;
	response.final = true;
	return client_answer(client, &response);
}

int client_flush(struct client *client)
{
	ssize_t sent;

	while (client_waiting(client)) {
		sent = send(client->fd, client->out + client->sent, client_waiting(client),
			    MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent >= 0) {
			client->sent += sent;
			client->stuck_ns = 0;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			if (!client->stuck_ns)
				client->stuck_ns = clock_ns(CLOCK_MONOTONIC);
			return 0;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	/* What was much need not stay so. */
	free(client->out);
	client->out = NULL;
	client->sent = 0;
	client->used = 0;
	client->room = 0;
	return 0;
}
