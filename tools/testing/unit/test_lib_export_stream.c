// SPDX-License-Identifier: GPL-2.0
/*
 * The exporter of the telemetry protocol: connections that break where it hurts, receivers that
 * are killed and started again, and receivers that are none.
 */
#include "stream_receiver.h"

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

int main(void)
{
	make_dir();
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
	remove_dir();
	return done_testing();
}
