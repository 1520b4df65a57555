// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver of the telemetry protocol: clients that are none, more of them than it takes,
 * and what becomes of its socket.
 */
#include "stream_receiver.h"

/*
 * Clients that are none
 */

static int raw(void)
{
	const struct framing_deadline deadline = { .at_ns = monotonic_ns() + 5000000000 };
	struct stream_address to;
	int fd = -EAGAIN;

	stream_parse_address(address, &to);
	/* As long as others wait to be accepted. */
	for (int i = 0; i < 500 && fd == -EAGAIN; i++) {
		fd = stream_connect(&to, &deadline, why, sizeof(why));
		if (fd == -EAGAIN)
			usleep(10000);
	}
	if (fd < 0)
		bail_out("%s: %s", address, why);
	return fd;
}

/* Whether it ends the connection within some seconds. */
static bool is_cut(int fd, int seconds)
{
	char piece[4096];
	struct pollfd p = { .fd = fd, .events = POLLIN };

	while (poll(&p, 1, seconds * 1000) == 1) {
		if (read(fd, piece, sizeof(piece)) <= 0)
			return true;
	}
	return false;
}

static void put(int fd, const Monad__Message *message)
{
	size_t size;
	uint8_t *frame = framing_pack(message, &size);

	if (send(fd, frame, size, MSG_NOSIGNAL) != (ssize_t)size)
		diag("send: %s", strerror(errno));
	free(frame);
}

/* Registers, with a session's token or without; the token it gets. */
static void say_hello(int fd, uint32_t protocol, uint8_t token[16])
{
	const struct framing_deadline deadline = { .at_ns = monotonic_ns() + 5000000000 };
	Monad__Message message = MONAD__MESSAGE__INIT, *answer;
	Monad__Register reg = MONAD__REGISTER__INIT;
	struct framing_reader reader;

	reg.protocol = protocol;
	message.kind_case = MONAD__MESSAGE__KIND_REGISTER;
	message.register_ = &reg;
	put(fd, &message);
	framing_reader_init(&reader, 0);
	if (!framing_receive(&reader, fd, &deadline, &answer)) {
		if (answer->registered && answer->registered->session_token.len == 16)
			memcpy(token, answer->registered->session_token.data, 16);
		monad__message__free_unpacked(answer, NULL);
	}
	framing_reader_free(&reader);
}

static void put_batch(int fd, uint8_t *token, size_t length, uint64_t sequence)
{
	Monad__Message message = MONAD__MESSAGE__INIT;
	Monad__TelemetryBatch batch = MONAD__TELEMETRY_BATCH__INIT;

	batch.session_token.data = token;
	batch.session_token.len = length;
	batch.sequence = sequence;
	message.kind_case = MONAD__MESSAGE__KIND_BATCH;
	message.batch = &batch;
	put(fd, &message);
}

static void cut_for(int fd, const char *reason, const char *what)
{
	ok(is_cut(fd, 5), "%s is cut off", what);
	ok(says(reason), "and it says why: %s", reason);
	close(fd);
}

static void test_hostile(void)
{
	uint8_t token[16] = {}, other[16] = {};
	struct exporter *exporter;
	Monad__Message empty = MONAD__MESSAGE__INIT;
	int fd, two, silent, half;
	pid_t pid;

	begin("hostile");
	pid = start("--idle", "3s");
	exporter = must_open(0);
	eq_int(send_one(exporter, 1), EXPORT_SENT, "one who behaves");
	silent = raw();
	half = raw();
	ok(send(half, "\0\0\1\0abc", 7, MSG_NOSIGNAL) == 7, "half a message");

	fd = raw();
	ok(send(fd, "\xff\xff\xff\xff", 4, MSG_NOSIGNAL) == 4, "a length of four gigabytes");
	cut_for(fd, "a message of it is longer than allowed", "that");
	fd = raw();
	ok(send(fd, "\0\0\0\5hello", 9, MSG_NOSIGNAL) == 9, "garbage");
	cut_for(fd, "what it sends is no message of this protocol", "that");
	fd = raw();
	ok(send(fd, "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL) == 18, "HTTP");
	cut_for(fd, "longer than allowed", "that");
	fd = raw();
	put_batch(fd, other, 16, 1);
	cut_for(fd, "it has not registered", "a batch before anything else");
	fd = raw();
	put(fd, &empty);
	cut_for(fd, "a message of a kind that is not for receivers", "a message of no kind");
	fd = raw();
	say_hello(fd, 7, token);
	cut_for(fd, "only protocol 1 is understood here", "another protocol");

	fd = raw();
	two = raw();
	say_hello(fd, 1, token);
	say_hello(two, 1, other);
	ok(memcmp(token, other, 16) != 0, "two sessions have two tokens");
	put_batch(two, token, 16, 1);
	cut_for(two, "a batch with the token of another session", "the token of another one");
	put_batch(fd, token, 15, 1);
	cut_for(fd, "a batch with the token of another session", "a token that is too short");
	fd = raw();
	say_hello(fd, 1, token);
	put_batch(fd, token, 16, 0);
	cut_for(fd, "a batch without a number", "a batch without a number");
	fd = raw();
	say_hello(fd, 1, token);
	say_hello(fd, 1, token);
	cut_for(fd, "it registers twice", "who registers twice");

	ok(is_cut(silent, 10), "who says nothing is cut off");
	ok(is_cut(half, 10), "and who does not say the rest");
	ok(says("it says nothing") && says("the rest of a message does not come"), "with why");
	close(silent);
	close(half);
	eq_int(send_one(exporter, 2), EXPORT_SENT, "the one who behaves had nothing of it: %s",
	       why);
	eq_str(received(), "1 2 ", "and what was sent is there");
	exporter->close(exporter);
	eq_int(stop(pid, SIGTERM), 0, "it ends well");
}

static void test_many(void)
{
	int fds[300], open_ones = 0;
	struct exporter *exporter;
	pid_t pid;

	begin("many");
	pid = start("--idle", "1m");
	for (size_t i = 0; i < 300; i++)
		fds[i] = raw();
	usleep(500000);
	for (size_t i = 0; i < 300; i++) {
		struct pollfd p = { .fd = fds[i], .events = POLLIN };

		open_ones += poll(&p, 1, 0) == 0;
	}
	eq_int(open_ones, 256, "of 300 clients 256 stay");
	for (size_t i = 0; i < 300; i++)
		close(fds[i]);
	exporter = must_open(0);
	for (int i = 0; i < 50 && send_one(exporter, 1) != EXPORT_SENT; i++)
		usleep(100000);
	eq_str(received(), "1 ", "when they are gone others come");
	exporter->close(exporter);
	stop(pid, SIGTERM);
}

static void test_socket_file(void)
{
	pid_t pid, second;
	int status;

	begin("socket");
	pid = start("--idle", "1m");
	second = fork();
	if (!second) {
		int fd = open(messages, O_WRONLY | O_APPEND);

		dup2(fd, STDERR_FILENO);
		execl(program, program, address, NULL);
		_exit(127);
	}
	waitpid(second, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 1 && has_said("another program listens"),
	   "two at one socket do not go");
	ok(listens(address), "and the first one stays");
	stop(pid, SIGKILL);
	ok(!access(address, F_OK), "one that was killed leaves its file");
	pid = start("--idle", "1m");
	ok(listens(address), "which the next one replaces");
	stop(pid, SIGTERM);
}

int main(void)
{
	make_dir();
	test_hostile();
	test_many();
	test_socket_file();
	remove_dir();
	return done_testing();
}
