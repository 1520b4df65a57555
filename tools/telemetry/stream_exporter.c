// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "framing.h"
#include "printable.h"
#include "stream_address.h"
#include "stream_exporter.h"

#define PROTOCOL 1
#define TOKEN_MAX 64
#define TIMEOUT_NS 10000000000ULL

/* A receiver's answers are short. */
#define ANSWER_MAX 65536

struct stream {
	struct exporter exporter;
	struct export_sender sender;
	struct stream_address address;
	uint64_t timeout_ns;
	int fd; /* -1: not connected, or not registered */
	struct framing_reader reader;
	uint8_t token[TOKEN_MAX]; /* of the session */
	size_t token_length;      /* 0: there is none */
	uint32_t max_bytes;       /* of a batch; 0: no limit */
	uint64_t acknowledged;    /* the last batch the receiver said it has */
	uint64_t there;           /* the last one it has, as it said when it resumed the session */
	char note[256];           /* what the next send() is to say */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void disconnect(struct stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	stream->fd = -1;
	framing_reader_free(&stream->reader);
	framing_reader_init(&stream->reader, ANSWER_MAX);
}

/* @err: of framing. */
static enum export_result broken(struct stream *stream, int err, char *why, size_t why_size)
{
	snprintf(why, why_size, "%s", framing_error(err));
	disconnect(stream);
	return EXPORT_AGAIN;
}

static enum export_result not_the_protocol(struct stream *stream, const char *what, char *why,
					   size_t why_size)
{
	snprintf(why, why_size, "it is no receiver of this protocol: %s", what);
	disconnect(stream);
	return EXPORT_AGAIN;
}

/* What the receiver gives as its reason, cut. */
static const char *reason_of(const char *reason, char text[200])
{
	printable(text, 200, reason && *reason ? reason : "it gives no reason");
	return text;
}

/* One message there and one back, which is to be of that kind. */
static enum export_result ask(struct stream *stream, const Monad__Message *question,
			      Monad__Message__KindCase kind,
			      const struct framing_deadline *deadline, Monad__Message **answer,
			      char *why, size_t why_size)
{
	size_t size;
	uint8_t *frame = framing_pack(question, &size);
	int err;

	if (!frame && errno == EMSGSIZE) {
		snprintf(why, why_size, "the batch is larger than %d bytes", FRAMING_MAX);
		return EXPORT_REFUSED;
	}
	if (!frame)
		return broken(stream, -ENOMEM, why, why_size);
	if (stream->max_bytes && size - FRAMING_HEADER > stream->max_bytes) {
		snprintf(why, why_size, "the batch has %zu bytes, and the receiver takes %u",
			 size - FRAMING_HEADER, stream->max_bytes);
		free(frame);
		return EXPORT_REFUSED;
	}
	err = framing_send(stream->fd, frame, size, deadline);
	free(frame);
	if (!err)
		err = framing_receive(&stream->reader, stream->fd, deadline, answer);
	if (err)
		return broken(stream, err, why, why_size);
	if ((*answer)->kind_case == kind)
		return EXPORT_SENT;
	monad__message__free_unpacked(*answer, NULL);
	return not_the_protocol(stream, "another kind of answer", why, why_size);
}

/*
 * Registering
 */

/* A session that goes on has the token it had. */
static void take_session(struct stream *stream, const Monad__Registered *registered)
{
	const ProtobufCBinaryData *token = &registered->session_token;
	bool resumed = stream->token_length && token->len == stream->token_length &&
		       !memcmp(token->data, stream->token, token->len);

	/* What another session has says nothing of what this one sends. */
	stream->there = resumed ? registered->last_sequence : 0;
	if (resumed && stream->there < stream->acknowledged)
		snprintf(stream->note, sizeof(stream->note),
			 "it had said that it has batch %llu, and now has them up to %llu only: "
			 "it lost what is in between",
			 (unsigned long long)stream->acknowledged,
			 (unsigned long long)stream->there);
	memcpy(stream->token, token->data, token->len);
	stream->token_length = token->len;
	stream->max_bytes = registered->max_batch_bytes;
}

static enum export_result take_registered(struct stream *stream,
					  const Monad__Registered *registered, char *why,
					  size_t why_size)
{
	char reason[200];

	if (registered->status != MONAD__STATUS__STATUS_OK) {
		snprintf(why, why_size, "it does not want us: %s",
			 reason_of(registered->reason, reason));
		disconnect(stream);
		return EXPORT_AGAIN;
	}
	if (!registered->session_token.len || registered->session_token.len > TOKEN_MAX)
		return not_the_protocol(stream, "a session token of no or too many bytes", why,
					why_size);
	take_session(stream, registered);
	return EXPORT_SENT;
}

static enum export_result say_who_we_are(struct stream *stream,
					 const struct framing_deadline *deadline, char *why,
					 size_t why_size)
{
	Monad__Message message = MONAD__MESSAGE__INIT, *answer;
	Monad__Register reg = MONAD__REGISTER__INIT;
	enum export_result result;

	reg.protocol = PROTOCOL;
	reg.agent = (char *)stream->sender.agent;
	reg.version = (char *)stream->sender.version;
	reg.host = (char *)stream->sender.host;
	reg.boot_id = (char *)stream->sender.boot_id;
	reg.session_token.data = stream->token;
	reg.session_token.len = stream->token_length;
	message.kind_case = MONAD__MESSAGE__KIND_REGISTER;
	message.register_ = &reg;
	/* That limit is one of batches. */
	stream->max_bytes = 0;
	result = ask(stream, &message, MONAD__MESSAGE__KIND_REGISTERED, deadline, &answer, why,
		     why_size);
	if (result != EXPORT_SENT)
		return result;
	result = take_registered(stream, answer->registered, why, why_size);
	monad__message__free_unpacked(answer, NULL);
	return result;
}

/* Nobody has asked for anything: what there is to read now is the end. */
static bool has_gone(const struct stream *stream)
{
	struct pollfd p = { .fd = stream->fd, .events = POLLIN };

	return poll(&p, 1, 0) != 0;
}

static enum export_result be_connected(struct stream *stream,
				       const struct framing_deadline *deadline, char *why,
				       size_t why_size)
{
	if (stream->fd >= 0 && has_gone(stream))
		disconnect(stream);
	if (stream->fd >= 0)
		return EXPORT_SENT;
	stream->fd = stream_connect(&stream->address, deadline, why, why_size);
	if (stream->fd < 0) {
		stream->fd = -1;
		return EXPORT_AGAIN;
	}
	return say_who_we_are(stream, deadline, why, why_size);
}

/*
 * Sending
 */

static enum export_result take_result(struct stream *stream, const Monad__BatchResult *result,
				      uint64_t sequence, char *why, size_t why_size)
{
	char reason[200];

	if (result->sequence != sequence)
		return not_the_protocol(stream, "an answer to another batch", why, why_size);
	if (result->status == MONAD__STATUS__STATUS_OK) {
		stream->acknowledged = sequence;
		return EXPORT_SENT;
	}
	snprintf(why, why_size, "it does not take a batch: %s",
		 reason_of(result->reason, reason));
	return EXPORT_REFUSED;
}

static enum export_result send_connected(struct stream *stream, Monad__TelemetryBatch *batch,
					 const struct framing_deadline *deadline, char *why,
					 size_t why_size)
{
	const ProtobufCBinaryData without = batch->session_token;
	Monad__Message message = MONAD__MESSAGE__INIT, *answer;
	enum export_result result;

	message.kind_case = MONAD__MESSAGE__KIND_BATCH;
	message.batch = batch;
	batch->session_token.data = stream->token;
	batch->session_token.len = stream->token_length;
	result = ask(stream, &message, MONAD__MESSAGE__KIND_RESULT, deadline, &answer, why,
		     why_size);
	batch->session_token = without;
	if (result != EXPORT_SENT)
		return result;
	result = take_result(stream, answer->result, batch->sequence, why, why_size);
	monad__message__free_unpacked(answer, NULL);
	return result;
}

static enum export_result send_batch(struct exporter *exporter, Monad__TelemetryBatch *batch,
				     char *why, size_t why_size)
{
	struct stream *stream = (struct stream *)exporter;
	const struct framing_deadline deadline = {
		.at_ns = now_ns() + stream->timeout_ns, .sooner = &exporter->give_up_ns,
	};
	enum export_result result = be_connected(stream, &deadline, why, why_size);

	if (result != EXPORT_SENT)
		return result;
	if (batch->sequence <= stream->there) {
		/* It was, and the answer was not: it got there. */
		if (stream->acknowledged < batch->sequence)
			stream->acknowledged = batch->sequence;
		return EXPORT_SENT;
	}
	result = send_connected(stream, batch, &deadline, why, why_size);
	if (result == EXPORT_SENT && *stream->note) {
		snprintf(why, why_size, "%s", stream->note);
		*stream->note = '\0';
	}
	return result;
}

static void close_exporter(struct exporter *exporter)
{
	struct stream *stream = (struct stream *)exporter;

	disconnect(stream);
	framing_reader_free(&stream->reader);
	free(stream);
}

struct exporter *stream_exporter(const char *address, const struct export_sender *sender,
				 const struct stream_options *options, char *why, size_t why_size)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	const char *wrong;

	if (!stream) {
		snprintf(why, why_size, "no memory");
		return NULL;
	}
	wrong = stream_parse_address(address, &stream->address);
	if (!wrong && !*stream->address.path && !*stream->address.host)
		wrong = "'*' is to listen on, not to send to";
	if (wrong) {
		snprintf(why, why_size, "%s", wrong);
		free(stream);
		return NULL;
	}
	stream->exporter.name = "telemetry";
	stream->exporter.send = send_batch;
	stream->exporter.close = close_exporter;
	snprintf(stream->exporter.target, sizeof(stream->exporter.target), "%s", address);
	stream->sender = *sender;
	stream->timeout_ns = options && options->timeout_ns ? options->timeout_ns : TIMEOUT_NS;
	stream->fd = -1;
	framing_reader_init(&stream->reader, ANSWER_MAX);
	return &stream->exporter;
}
