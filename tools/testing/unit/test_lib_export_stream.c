// SPDX-License-Identifier: GPL-2.0
/*
 * The exporter of the telemetry protocol and its receiver, as a program: connections that
 * break where it hurts, receivers that are killed and started again, and clients that are
 * none.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export_batches.h"
#include "export_queue.h"
#include "framing.h"
#include "stream_address.h"
#include "stream_exporter.h"

static char dir[] = "/tmp/monad-export-stream-XXXXXX";
static char address[PATH_MAX], output[PATH_MAX], messages[PATH_MAX];
static char why[512];
static const struct export_sender sender = {
	.agent = "test", .version = "1", .host = "here", .boot_id = "none",
};

/*
 * The receiver
 */

static char program[PATH_MAX];

static void find_program(void)
{
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (length < 0)
		bail_out("/proc/self/exe: %s", strerror(errno));
	program[length] = '\0';
	dirname(dirname(program));
	strcat(program, "/bin/monad-telemetry-receive");
	if (access(program, X_OK))
		bail_out("%s: %s", program, strerror(errno));
}

static bool listens(const char *where)
{
	const struct framing_deadline deadline = { .at_ns = monotonic_ns() + 1000000000 };
	struct stream_address to;
	int fd;

	stream_parse_address(where, &to);
	fd = stream_connect(&to, &deadline, why, sizeof(why));
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* With --output, and an option and its value. */
static pid_t start_at(const char *where, const char *option, const char *value)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		int fd = open(messages, O_WRONLY | O_CREAT | O_APPEND, 0600);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fd, STDERR_FILENO);
		execl(program, program, where, "--output", output, option, value, NULL);
		_exit(127);
	}
	for (int i = 0; i < 1000 && !listens(where); i++)
		usleep(10000);
	return pid;
}

static pid_t start(const char *option, const char *value)
{
	return start_at(address, option, value);
}

static int stop(pid_t pid, int number)
{
	int status;

	kill(pid, number);
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static bool has_said(const char *text)
{
	static char all[1 << 20];
	FILE *in = fopen(messages, "r");
	size_t length;

	if (!in)
		return false;
	length = fread(all, 1, sizeof(all) - 1, in);
	all[length] = '\0';
	fclose(in);
	return strstr(all, text);
}

static bool says(const char *text)
{
	for (int i = 0; i < 200; i++) {
		if (has_said(text))
			return true;
		usleep(10000);
	}
	return false;
}

/* The numbers of the batches it has written, in order. */
static const char *received(void)
{
	static char text[4096];
	char line[65536];
	size_t used = 0;
	FILE *in = fopen(output, "r");

	*text = '\0';
	while (in && fgets(line, sizeof(line), in)) {
		const char *at = strstr(line, "\"sequence\":\"");

		if (!strchr(line, '\n'))
			used += snprintf(text + used, sizeof(text) - used, "half ");
		else if (at)
			used += snprintf(text + used, sizeof(text) - used, "%lu ",
					 strtoul(at + 12, NULL, 10));
	}
	if (in)
		fclose(in);
	return text;
}

static void begin(const char *name)
{
	snprintf(address, sizeof(address), "%s/%s.sock", dir, name);
	snprintf(output, sizeof(output), "%s/%s.jsonl", dir, name);
	snprintf(messages, sizeof(messages), "%s/%s.log", dir, name);
}

/*
 * The exporter
 */

static struct exporter *must_open(uint64_t timeout_ns)
{
	const struct stream_options options = { .timeout_ns = timeout_ns };
	struct exporter *exporter = stream_exporter(address, &sender, &options, why, sizeof(why));

	if (!exporter)
		bail_out("%s: %s", address, why);
	return exporter;
}

static enum export_result send_one(struct exporter *exporter, uint64_t sequence)
{
	Monad__TelemetryBatch *batch = make_batch(sequence, 2, 1);
	enum export_result result;

	*why = '\0';
	result = exporter->send(exporter, batch, why, sizeof(why));
	monad__telemetry_batch__free_unpacked(batch, NULL);
	return result;
}

static void test_simple(void)
{
	struct exporter *exporter;
	pid_t pid;

	begin("simple");
	exporter = must_open(0);
	eq_int(send_one(exporter, 1), EXPORT_AGAIN, "nobody there: %s", why);
	pid = start("--idle", "1m");
	for (uint64_t i = 1; i <= 3; i++)
		eq_int(send_one(exporter, i), EXPORT_SENT, "batch %d%s", (int)i, why);
	eq_int(send_one(exporter, 5), EXPORT_SENT, "one is left out");
	ok(says("batches 4 to 4 are missing"), "the receiver says so");
	eq_str(received(), "1 2 3 5 ", "all that were sent are there");
	/* Without its knowing: the answer was lost, say. */
	eq_int(send_one(exporter, 5), EXPORT_SENT, "one that is there already");
	ok(says("batch 5 was here already"), "is noticed");
	eq_str(received(), "1 2 3 5 ", "and not there twice");
	exporter->close(exporter);
	eq_int(stop(pid, SIGTERM), 0, "it ends");
	ok(says("4 batches, 1 duplicates, 1 missing, 0 refused"), "with the sum of it");
	ok(access(address, F_OK), "and takes its socket away");
}

static void test_restart(void)
{
	struct exporter *exporter;
	pid_t pid;

	begin("restart");
	pid = start("--idle", "1m");
	exporter = must_open(0);
	send_one(exporter, 1);
	send_one(exporter, 2);
	stop(pid, SIGKILL);
	eq_int(send_one(exporter, 3), EXPORT_AGAIN, "a receiver that was killed: %s", why);
	pid = start("--idle", "1m");
	eq_int(send_one(exporter, 3), EXPORT_SENT, "is another one's receiver: %s", why);
	ok(says("session resumed, last batch 2"), "which goes on with the session");
	eq_str(received(), "1 2 3 ", "nothing is there twice, nothing is missing");

	/* One that knows nothing of what was. */
	stop(pid, SIGKILL);
	unlink(output);
	pid = start("--idle", "1m");
	eq_int(send_one(exporter, 4), EXPORT_SENT, "one that has lost its file");
	ok(says("its session is not known here"), "begins a new session");
	eq_str(received(), "4 ", "with the batch it is at");

	/* One that has an older file, as after a restore. */
	send_one(exporter, 5);
	send_one(exporter, 6);
	stop(pid, SIGKILL);
	if (truncate(output, 0))
		diag("truncate: %s", strerror(errno));
	exporter->close(exporter);
	stop(start("--idle", "1m"), SIGTERM);
}

/* It had said that it has them. */
static void test_loses(void)
{
	char command[PATH_MAX * 6];
	struct exporter *exporter;
	pid_t pid;

	begin("loses");
	pid = start("--idle", "1m");
	exporter = must_open(0);
	for (uint64_t i = 1; i <= 4; i++)
		send_one(exporter, i);
	stop(pid, SIGKILL);
	snprintf(command, sizeof(command), "{ head -n 2 '%s'; sed -n 3p '%s' | head -c 90; } >"
		 "'%s.new'; mv '%s.new' '%s'", output, output, output, output, output);
	if (system(command))
		diag("no head");
	pid = start("--idle", "1m");
	eq_int(send_one(exporter, 5), EXPORT_SENT, "a receiver that lost what it had");
	ok(strstr(why, "it had said that it has batch 4") && strstr(why, "up to 2 only"),
	   "is found out: %s", why);
	eq_str(received(), "1 2 5 ", "half a line is not what anybody was told is there");
	exporter->close(exporter);
	stop(pid, SIGTERM);
}

static void test_lost_answers(void)
{
	struct exporter *exporter;
	unsigned int again = 0;
	pid_t pid;

	begin("answers");
	pid = start("--lose-answer-every", "2");
	exporter = must_open(0);
	for (uint64_t i = 1; i <= 10; i++) {
		while (send_one(exporter, i) == EXPORT_AGAIN)
			again++;
	}
	eq_u64(again, 5, "each second answer is lost");
	eq_str(received(), "1 2 3 4 5 6 7 8 9 10 ", "and nothing there twice");
	ok(!has_said("was here already"), "nor even sent twice");
	exporter->close(exporter);
	stop(pid, SIGTERM);
}

static void test_refused(void)
{
	struct exporter *exporter;
	char reason[] = "go\x1b[31m away";
	pid_t pid;

	begin("refused");
	pid = start("--refuse-every", "3");
	exporter = must_open(0);
	eq_int(send_one(exporter, 1), EXPORT_SENT, "a receiver that refuses each third");
	eq_int(send_one(exporter, 2), EXPORT_SENT, "takes the second");
	eq_int(send_one(exporter, 3), EXPORT_REFUSED, "and not the third: %s", why);
	ok(strstr(why, "it was to be refused"), "for its reason");
	eq_int(send_one(exporter, 4), EXPORT_SENT, "but the fourth");
	exporter->close(exporter);
	stop(pid, SIGTERM);

	pid = start("--refuse-all", reason);
	exporter = must_open(0);
	eq_int(send_one(exporter, 1), EXPORT_AGAIN, "one that wants nobody: %s", why);
	ok(strstr(why, "go?[31m away"), "its reason is safe for a terminal");
	exporter->close(exporter);
	stop(pid, SIGTERM);
}

static void test_large(void)
{
	Monad__TelemetryBatch *batch = make_batch(1, 1000, 0);
	struct exporter *exporter;
	pid_t pid;

	begin("large");
	pid = start("--max-batch", "10000");
	exporter = must_open(0);
	eq_int(exporter->send(exporter, batch, why, sizeof(why)), EXPORT_REFUSED,
	       "more than the receiver takes: %s", why);
	eq_int(send_one(exporter, 2), EXPORT_SENT, "the next one is not");
	monad__telemetry_batch__free_unpacked(batch, NULL);
	exporter->close(exporter);
	stop(pid, SIGTERM);
}

static void test_stall(void)
{
	struct exporter *exporter;
	uint64_t took;
	pid_t pid;

	begin("stall");
	pid = start("--stall-every", "2");
	exporter = must_open(500000000);
	eq_int(send_one(exporter, 1), EXPORT_SENT, "a receiver that answers once");
	took = monotonic_ns();
	eq_int(send_one(exporter, 2), EXPORT_AGAIN, "and then not: %s", why);
	took = monotonic_ns() - took;
	ok(took >= 500000000 && took < 5000000000, "it is given its time, and no more");
	eq_int(send_one(exporter, 2), EXPORT_SENT, "the next time it is");
	eq_str(received(), "1 2 ", "both are there");
	/* It is to end: at once. */
	exporter->close(exporter);
	exporter = must_open(60000000000);
	eq_int(kill(pid, SIGSTOP), 0, "one that stands still");
	took = monotonic_ns();
	atomic_store(&exporter->give_up_ns, took + 200000000);
	eq_int(send_one(exporter, 1), EXPORT_AGAIN, "is waited for until it is to end: %s", why);
	ok(monotonic_ns() - took < 5000000000, "and not longer");
	kill(pid, SIGCONT);
	exporter->close(exporter);
	stop(pid, SIGTERM);
}

/* Behind a queue, with a receiver that is killed again and again. */
static void test_queue(void)
{
	static const struct export_queue_limits limits = {
		.batches = 1000, .bytes = 1 << 24, .retry_min_ns = 5000000,
		.retry_max_ns = 50000000,
	};
	struct export_queue_counters c;
	struct export_queue *queue;
	char wanted[4096];
	size_t used = 0;
	pid_t pid;

	begin("queue");
	pid = start("--lose-answer-every", "7");
	if (export_queue_start(&queue, must_open(2000000000), &limits))
		bail_out("no queue");
	for (uint64_t i = 1; i <= 200; i++) {
		Monad__TelemetryBatch *batch = make_batch(i, 2, 1);

		export_queue_add(queue, batch);
		monad__telemetry_batch__free_unpacked(batch, NULL);
		used += snprintf(wanted + used, sizeof(wanted) - used, "%d ", (int)i);
		if (i % 40 == 20) {
			usleep(20000);
			stop(pid, SIGKILL);
			pid = start("--lose-answer-every", "7");
		}
	}
	export_queue_stop(queue, 20000000000, &c);
	eq_u64(c.sent_batches, 200, "two hundred batches, while it is killed five times");
	eq_u64(c.dropped_batches, 0, "none is lost");
	eq_str(received(), wanted, "each is there, once, in order");
	stop(pid, SIGTERM);
}

static void test_tcp(void)
{
	struct exporter *exporter = NULL;
	pid_t pid = -1;

	begin("tcp");
	for (int tries = 0; tries < 20 && pid < 0; tries++) {
		snprintf(address, sizeof(address), "localhost:%d",
			 20000 + (int)(monotonic_ns() / 1000 % 10000));
		pid = start("--idle", "1m");
		if (!listens(address)) {
			stop(pid, SIGKILL);
			pid = -1;
		}
	}
	exporter = must_open(0);
	eq_int(send_one(exporter, 1), EXPORT_SENT, "over TCP, to a name: %s", why);
	exporter->close(exporter);
	stop(pid, SIGTERM);
	snprintf(address, sizeof(address), "no-such-host.invalid:1");
	exporter = must_open(3000000000);
	eq_int(send_one(exporter, 1), EXPORT_AGAIN, "a name that is none: %s", why);
	exporter->close(exporter);
}

/*
 * Receivers that are none
 */

/* What it answers to who registers, and to a batch. */
enum wrong_answer {
	ANSWER_RIGHT, OTHER_SEQUENCE, OTHER_KIND, NO_TOKEN, LONG_TOKEN, GARBAGE, TOO_LONG, HALF,
	FAR_AHEAD,
};

static void answer_wrong(int fd, enum wrong_answer wrong, bool batch)
{
	Monad__Message message = MONAD__MESSAGE__INIT;
	Monad__Registered registered = MONAD__REGISTERED__INIT;
	Monad__BatchResult result = MONAD__BATCH_RESULT__INIT;
	uint8_t token[65] = {}, *frame;
	size_t size;

	registered.status = MONAD__STATUS__STATUS_OK;
	registered.session_token.data = token;
	registered.session_token.len = wrong == NO_TOKEN ? 0 : wrong == LONG_TOKEN ? 65 : 16;
	registered.last_sequence = wrong == FAR_AHEAD ? 1000 : 0;
	result.status = MONAD__STATUS__STATUS_OK;
	result.sequence = wrong == OTHER_SEQUENCE ? 6 : 7;
	message.kind_case = MONAD__MESSAGE__KIND_REGISTERED;
	message.registered = &registered;
	/* What is wrong may be that it is the other one. */
	if (wrong == OTHER_KIND ? !batch : batch) {
		message.kind_case = MONAD__MESSAGE__KIND_RESULT;
		message.result = &result;
	}
	frame = framing_pack(&message, &size);
	if (wrong == GARBAGE)
		memset(frame + FRAMING_HEADER, 0xff, size - FRAMING_HEADER);
	if (wrong == TOO_LONG)
		frame[0] = 0x7f;
	if (write(fd, frame, wrong == HALF ? size - 1 : size) < 0)
		diag("write: %s", strerror(errno));
	free(frame);
}

/* One connection after the other. */
static void serve_wrong(int listener, enum wrong_answer wrong)
{
	const struct framing_deadline deadline = { .at_ns = UINT64_MAX };
	struct framing_reader reader;
	Monad__Message *message;

	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);

		if (fd < 0) {
			usleep(1000);
			continue;
		}
		framing_reader_init(&reader, 0);
		while (!framing_receive(&reader, fd, &deadline, &message)) {
			answer_wrong(fd, wrong, message->kind_case == MONAD__MESSAGE__KIND_BATCH);
			monad__message__free_unpacked(message, NULL);
			if (wrong == HALF)
				break;
		}
		framing_reader_free(&reader);
		close(fd);
	}
}

static void test_wrong_receivers(void)
{
	static const struct {
		enum wrong_answer wrong;
		enum export_result result;
		const char *why;
	} cases[] = {
		{ ANSWER_RIGHT, EXPORT_SENT, "" },
		{ OTHER_SEQUENCE, EXPORT_AGAIN, "an answer to another batch" },
		{ OTHER_KIND, EXPORT_AGAIN, "another kind of answer" },
		{ NO_TOKEN, EXPORT_AGAIN, "a session token of no or too many bytes" },
		{ LONG_TOKEN, EXPORT_AGAIN, "a session token of no or too many bytes" },
		{ GARBAGE, EXPORT_AGAIN, "no message of this protocol" },
		{ TOO_LONG, EXPORT_AGAIN, "longer than allowed" },
		{ HALF, EXPORT_AGAIN, "the connection broke" },
		/* It says that it has what nobody has sent to it. */
		{ FAR_AHEAD, EXPORT_SENT, "" },
	};
	struct stream_address where;
	struct exporter *exporter;
	int listener;
	pid_t pid;

	begin("wrong");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		stream_parse_address(address, &where);
		listener = stream_listen(&where, why, sizeof(why));
		fflush(stdout);
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			serve_wrong(listener, cases[i].wrong);
		}
		close(listener);
		exporter = must_open(2000000000);
		eq_int(send_one(exporter, 7), cases[i].result, "a receiver that is wrong: %s", why);
		ok(strstr(why, cases[i].why), "says so");
		exporter->close(exporter);
		stop(pid, SIGKILL);
	}
}

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
	uint8_t token[16], other[16];
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

static void test_addresses(void)
{
	static const struct {
		const char *text;
		bool good;
	} cases[] = {
		{ "/run/x", true }, { "./x", true }, { "host:1", true }, { "[::1]:65535", true },
		{ "10.0.0.1:4000", true }, { "", false }, { "x", false }, { "host:", false },
		{ ":1", false }, { "host:65536", false }, { "host:http", false },
		{ "::1:4", false }, { "[::1:4", false }, { "*:1", false },
		{ "/a-path-of-more-than-107-characters-has-no-room-in-an-address-of-a-socket-and-"
		  "is-refused-for-that-reason-which-is-a-good-one", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct exporter *exporter = stream_exporter(cases[i].text, &sender, NULL, why,
							    sizeof(why));

		if (exporter)
			*why = '\0';
		ok(!exporter == !cases[i].good, "'%s': %s", cases[i].text, why);
		if (exporter)
			exporter->close(exporter);
	}
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
	char command[PATH_MAX];

	signal(SIGPIPE, SIG_IGN);
	find_program();
	if (!mkdtemp(dir))
		bail_out("mkdtemp: %s", strerror(errno));
	test_addresses();
	test_simple();
	test_restart();
	test_loses();
	test_lost_answers();
	test_refused();
	test_large();
	test_stall();
	test_queue();
	test_tcp();
	test_wrong_receivers();
	test_hostile();
	test_many();
	test_socket_file();
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command))
		diag("%s stays", dir);
	return done_testing();
}
