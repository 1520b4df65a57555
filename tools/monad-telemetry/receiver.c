// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "output.h"
#include "receiver.h"

#define PROTOCOL 1

/* Who has not said who it is has less time. */
#define REGISTER_NS 10000000000ULL

/* An answer goes into the socket's buffer, unless the other side reads none. */
static const struct framing_deadline at_once;

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain_va(false, format, args);
	va_end(args);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

void receiver_init(struct receiver *receiver)
{
	memset(receiver, 0, sizeof(*receiver));
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		receiver->connections[i].fd = -1;
}

static void end_connection(struct connection *connection)
{
	if (connection->session)
		connection->session->connection = NULL;
	framing_reader_free(&connection->reader);
	close(connection->fd);
	memset(connection, 0, sizeof(*connection));
	connection->fd = -1;
}

/* It is the other side's fault. */
static void give_up(struct receiver *receiver, struct connection *connection, const char *why)
{
	say("%s: %s: connection closed", connection->peer, why);
	receiver->counts.failed_connections++;
	end_connection(connection);
}

/* False when the connection has ended. */
static bool answer(struct receiver *receiver, struct connection *connection,
		   const Monad__Message *message)
{
	size_t size;
	uint8_t *frame = framing_pack(message, &size);
	int err = frame ? framing_send(connection->fd, frame, size, &at_once) : -ENOMEM;

	free(frame);
	if (!err)
		return true;
	give_up(receiver, connection, err == -ETIMEDOUT ? "it reads no answers" : strerror(-err));
	return false;
}

/*
 * Registering
 */

static void refuse_register(struct receiver *receiver, struct connection *connection,
			    const char *reason)
{
	Monad__Registered registered = MONAD__REGISTERED__INIT;
	Monad__Message message = MONAD__MESSAGE__INIT;

	registered.status = MONAD__STATUS__STATUS_REFUSED;
	registered.reason = (char *)reason;
	message.kind_case = MONAD__MESSAGE__KIND_REGISTERED;
	message.registered = &registered;
	if (answer(receiver, connection, &message)) {
		say("%s: registration refused: %s", connection->peer, reason);
		receiver->counts.refused++;
		end_connection(connection);
	}
}

/* One connection a session: the older one is one that nobody uses any more. */
static void take_over(struct connection *connection, struct session *session)
{
	struct connection *older = session->connection;

	if (older) {
		say("%s: its session goes on with %s: connection closed", older->peer,
		    connection->peer);
		end_connection(older);
	}
	session->connection = connection;
	connection->session = session;
}

static void on_register(struct receiver *receiver, struct connection *connection,
			const Monad__Register *reg)
{
	Monad__Registered registered = MONAD__REGISTERED__INIT;
	Monad__Message message = MONAD__MESSAGE__INIT;
	struct session *session;
	const char *how;
	bool known;

	if (connection->session) {
		give_up(receiver, connection, "it registers twice");
		return;
	}
	if (reg->protocol != PROTOCOL) {
		refuse_register(receiver, connection, "only protocol 1 is understood here");
		return;
	}
	if (receiver->wrong.refuse_all) {
		refuse_register(receiver, connection, receiver->wrong.refuse_all);
		return;
	}
	session = sessions_find(&receiver->sessions, reg->session_token.data,
				reg->session_token.len);
	known = session;
	how = known ? "session resumed" : "new session";
	if (!session)
		session = sessions_new(&receiver->sessions);
	if (!session) {
		refuse_register(receiver, connection, "there are too many sessions");
		return;
	}
	take_over(connection, session);
	registered.status = MONAD__STATUS__STATUS_OK;
	registered.session_token.data = session->token;
	registered.session_token.len = sizeof(session->token);
	registered.last_sequence = session->last_sequence;
	registered.max_batch_bytes = receiver->max_batch_bytes;
	message.kind_case = MONAD__MESSAGE__KIND_REGISTERED;
	message.registered = &registered;
	if (!answer(receiver, connection, &message))
		return;
	if (!known && reg->session_token.len)
		how = "its session is not known here: a new one";
	say("%s: %s %s on %s: %s, last batch %" PRIu64, connection->peer, reg->agent,
	    reg->version, reg->host, how, session->last_sequence);
}

/*
 * Batches
 */

static void answer_batch(struct receiver *receiver, struct connection *connection,
			 uint64_t sequence, Monad__Status status, const char *reason)
{
	Monad__BatchResult result = MONAD__BATCH_RESULT__INIT;
	Monad__Message message = MONAD__MESSAGE__INIT;

	result.sequence = sequence;
	result.status = status;
	result.reason = (char *)reason;
	message.kind_case = MONAD__MESSAGE__KIND_RESULT;
	message.result = &result;
	answer(receiver, connection, &message);
}

static bool is_its_token(const struct connection *connection, const ProtobufCBinaryData *token)
{
	return token->len == SESSION_TOKEN &&
	       !memcmp(token->data, connection->session->token, SESSION_TOKEN);
}

/* What is between the last batch and this one was not sent to us. */
static void note_hole(struct receiver *receiver, const struct connection *connection,
		      const Monad__TelemetryBatch *batch)
{
	uint64_t last = connection->session->last_sequence;

	if (batch->sequence == last + 1)
		return;
	if (!last) {
		say("%s: begins with batch %" PRIu64, connection->peer, batch->sequence);
		return;
	}
	receiver->counts.missing += batch->sequence - last - 1;
	say("%s: batches %" PRIu64 " to %" PRIu64 " are missing", connection->peer, last + 1,
	    batch->sequence - 1);
}

/* A batch that is here is answered, and one that is not is not: it comes again then. */
static void take_batch(struct receiver *receiver, struct connection *connection,
		       Monad__TelemetryBatch *batch, bool answered)
{
	char why[256] = "";

	note_hole(receiver, connection, batch);
	if (receiver->output->send(receiver->output, batch, why, sizeof(why)) != EXPORT_SENT) {
		say("%s: %s: batch %" PRIu64 " is not taken, connection closed",
		    receiver->output->target, why, batch->sequence);
		end_connection(connection);
		return;
	}
	connection->session->last_sequence = batch->sequence;
	receiver->counts.batches++;
	if (answered)
		answer_batch(receiver, connection, batch->sequence, MONAD__STATUS__STATUS_OK, "");
	else
		end_connection(connection);
}

static bool every(uint64_t n, uint64_t nr)
{
	return n && nr % n == 0;
}

static void on_batch(struct receiver *receiver, struct connection *connection,
		     Monad__TelemetryBatch *batch)
{
	const struct misbehaviour *wrong = &receiver->wrong;

	if (!connection->session) {
		give_up(receiver, connection, "a batch, and it has not registered");
		return;
	}
	if (!is_its_token(connection, &batch->session_token)) {
		give_up(receiver, connection, "a batch with the token of another session");
		return;
	}
	if (!batch->sequence) {
		give_up(receiver, connection, "a batch without a number");
		return;
	}
	if (batch->sequence <= connection->session->last_sequence) {
		say("%s: batch %" PRIu64 " was here already", connection->peer, batch->sequence);
		receiver->counts.duplicates++;
		answer_batch(receiver, connection, batch->sequence, MONAD__STATUS__STATUS_OK, "");
		return;
	}
	receiver->nr_batch++;
	if (every(wrong->stall_every, receiver->nr_batch)) {
		say("%s: batch %" PRIu64 " is not answered", connection->peer, batch->sequence);
		connection->stalled = true;
	} else if (every(wrong->refuse_every, receiver->nr_batch)) {
		say("%s: batch %" PRIu64 " is refused", connection->peer, batch->sequence);
		receiver->counts.refused++;
		/* It will not come. */
		note_hole(receiver, connection, batch);
		connection->session->last_sequence = batch->sequence;
		answer_batch(receiver, connection, batch->sequence, MONAD__STATUS__STATUS_REFUSED,
			     "it was to be refused");
	} else {
		take_batch(receiver, connection, batch,
			   !every(wrong->lose_answer_every, receiver->nr_batch));
	}
}

/*
 * Connections
 */

static void on_message(struct receiver *receiver, struct connection *connection,
		       const Monad__Message *message)
{
	switch (message->kind_case) {
	case MONAD__MESSAGE__KIND_REGISTER:
		on_register(receiver, connection, message->register_);
		break;
	case MONAD__MESSAGE__KIND_BATCH:
		on_batch(receiver, connection, message->batch);
		break;
	default:
		give_up(receiver, connection, "a message of a kind that is not for receivers");
		break;
	}
}

void receiver_read(struct receiver *receiver, struct connection *connection)
{
	Monad__Message *message;
	int err;

	/* It has gone, or talks on: of no interest any more. */
	if (connection->stalled) {
		char piece[4096];
		ssize_t n = read(connection->fd, piece, sizeof(piece));

		if (n <= 0 && !(n < 0 && errno == EAGAIN))
			end_connection(connection);
		return;
	}
	err = framing_read(&connection->reader, connection->fd, &message);
	if (err == -EAGAIN)
		return;
	if (err == -EPIPE) {
		end_connection(connection);
	} else if (err) {
		give_up(receiver, connection, framing_error(err));
	} else {
		connection->until_ns = now_ns() + receiver->idle_ns;
		on_message(receiver, connection, message);
		monad__message__free_unpacked(message, NULL);
	}
}

void receiver_look_at_time(struct receiver *receiver)
{
	uint64_t now = now_ns();

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *connection = &receiver->connections[i];

		if (connection->fd < 0 || now < connection->until_ns)
			continue;
		give_up(receiver, connection, framing_read_begun(&connection->reader) ?
			"the rest of a message does not come" : "it says nothing");
	}
}

static void name_peer(int fd, char *name, size_t size)
{
	static unsigned int local;
	struct sockaddr_storage peer = {};
	socklen_t length = sizeof(peer);
	char host[INET6_ADDRSTRLEN] = "?";

	if (getpeername(fd, (struct sockaddr *)&peer, &length))
		peer.ss_family = AF_UNSPEC;
	if (peer.ss_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)&peer;

		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(name, size, "%s:%u", host, ntohs(in->sin_port));
	} else if (peer.ss_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&peer;

		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		snprintf(name, size, "[%s]:%u", host, ntohs(in6->sin6_port));
	} else {
		snprintf(name, size, "client %u", ++local);
	}
}

void receiver_accept(struct receiver *receiver, int fd)
{
	uint64_t patience;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *connection = &receiver->connections[i];

		if (connection->fd >= 0)
			continue;
		connection->fd = fd;
		framing_reader_init(&connection->reader, receiver->max_batch_bytes);
		name_peer(fd, connection->peer, sizeof(connection->peer));
		patience = receiver->idle_ns;
		if (patience > REGISTER_NS)
			patience = REGISTER_NS;
		connection->until_ns = now_ns() + patience;
		return;
	}
	close(fd);
}

void receiver_free(struct receiver *receiver)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		if (receiver->connections[i].fd >= 0)
			end_connection(&receiver->connections[i]);
	}
	sessions_free(&receiver->sessions);
}
