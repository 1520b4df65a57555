// SPDX-License-Identifier: GPL-2.0
/*
 * What comes on a stream of the telemetry protocol: the input as it is, or in frames of sizes that
 * are in it. However it is cut into pieces on its way, the same messages come out, or the
 * same error; nothing behind a message is read with it; and a batch, whatever is in it, is a
 * line of JSON, as the receiver writes it.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "framing.h"
#include "fuzz_input.h"
#include "jsonl_line.h"
#include "printable.h"

/* Of one stream; the input is not longer than 4096. */
#define MOST_MESSAGES 4096

struct outcome {
	size_t nr;
	uint32_t hash; /* of all messages, packed */
	int err;       /* what came then */
};

static void check_line(const Monad__TelemetryBatch *batch)
{
	size_t size, at = 0, step;
	char *line = jsonl_line(batch, &size);

	MUST(line && size && line[size - 1] == '\n' && *line == '{');
	while (at < size - 1) {
		step = utf8_len((const unsigned char *)line + at, size - 1 - at);
		MUST(step && (unsigned char)line[at] >= 0x20);
		at += step;
	}
	free(line);
}

static void note(struct outcome *outcome, const Monad__Message *message)
{
	size_t size;
	uint8_t *frame = framing_pack(message, &size);

	/* What came in so few bytes is not much longer now. */
	MUST(frame && size >= FRAMING_HEADER);
	for (size_t i = 0; i < size; i++)
		outcome->hash = (outcome->hash ^ frame[i]) * 16777619U;
	free(frame);
	outcome->nr++;
	if (message->kind_case == MONAD__MESSAGE__KIND_BATCH)
		check_line(message->batch);
}

static int read_all(struct framing_reader *reader, int fd, struct outcome *outcome)
{
	Monad__Message *message;
	int err;

	while (!(err = framing_read(reader, fd, &message))) {
		MUST(message && !framing_read_begun(reader));
		note(outcome, message);
		monad__message__free_unpacked(message, NULL);
	}
	MUST(!message);
	return err;
}

/* Where a message ends in the stream. */
static size_t end_of_frame(const uint8_t *bytes)
{
	return FRAMING_HEADER + ((size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 |
				 (size_t)bytes[2] << 8 | bytes[3]);
}

/* As one piece, of which no more is read than is needed. */
static struct outcome read_at_once(const uint8_t *bytes, size_t size, size_t max)
{
	struct outcome outcome = {};
	struct framing_reader reader;
	Monad__Message *message;
	int fd = memfd_create("fuzz", 0);
	size_t at = 0;

	MUST(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && !lseek(fd, 0, SEEK_SET));
	framing_reader_init(&reader, max);
	while (!(outcome.err = framing_read(&reader, fd, &message))) {
		at += end_of_frame(bytes + at);
		MUST(lseek(fd, 0, SEEK_CUR) == (off_t)at);
		note(&outcome, message);
		monad__message__free_unpacked(message, NULL);
	}
	MUST(!message && outcome.err != -EAGAIN && *framing_error(outcome.err));
	framing_reader_free(&reader);
	close(fd);
	return outcome;
}

static struct outcome read_in_pieces(const uint8_t *bytes, size_t size, size_t max,
				     struct input *cuts)
{
	struct outcome outcome = { .err = -EAGAIN };
	struct framing_reader reader;
	int fds[2];

	MUST(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds));
	framing_reader_init(&reader, max);
	while (size && outcome.err == -EAGAIN) {
		size_t piece = 1 + take(cuts, 1);

		if (piece > size)
			piece = size;
		MUST(write(fds[0], bytes, piece) == (ssize_t)piece);
		bytes += piece;
		size -= piece;
		outcome.err = read_all(&reader, fds[1], &outcome);
	}
	close(fds[0]);
	if (outcome.err == -EAGAIN)
		outcome.err = read_all(&reader, fds[1], &outcome);
	framing_reader_free(&reader);
	close(fds[1]);
	return outcome;
}

/* In @stream, twice as large as the input. */
static size_t put_frames(struct input *input, uint8_t *stream)
{
	size_t size = 0;

	while (input->left) {
		size_t length = take(input, 1);

		/* Those of one in 16 are wrong. */
		stream[size++] = length == 255 ? take(input, 1) : 0;
		stream[size++] = 0;
		stream[size++] = length >= 240 ? take(input, 1) : 0;
		if (length > input->left)
			length = input->left;
		stream[size++] = length;
		memcpy(stream + size, input->data, length);
		size += length;
		input->data += length;
		input->left -= length;
	}
	return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size }, cuts = { data, size };
	const uint64_t how = take(&input, 1);
	const size_t max = how & 2 ? 100 : 0;
	uint8_t *stream = malloc(5 * size + 8);
	struct outcome whole, cut;
	size_t length;

	MUST(stream);
	if (how & 1) {
		length = put_frames(&input, stream);
	} else {
		length = input.left;
		memcpy(stream, input.data, length);
	}
	whole = read_at_once(stream, length, max);
	cut = read_in_pieces(stream, length, max, &cuts);
	MUST(whole.nr <= MOST_MESSAGES && whole.nr == cut.nr && whole.hash == cut.hash);
	MUST(whole.err == cut.err);
	free(stream);
	return 0;
}
