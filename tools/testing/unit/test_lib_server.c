// SPDX-License-Identifier: GPL-2.0
/* The server of tasks, under clients that do as they should and others. */
#include "server_talk.h"

static void test_good(void)
{
	struct talk talk;
	struct answer answer;

	diag("as it should be");
	begin_talk(&talk);
	ask(&talk, "a", "350", 300);
	answer = finish(&talk, "a");
	ends(&answer, MONAD__STATUS__STATUS_OK, "duration is over");
	sums_up(&answer, 350);
	ok(answer.responses >= 5, "in parts: %u", answer.responses);
	free_response(answer.final);
	ask(&talk, "a", "0", 100);
	answer = finish(&talk, "a");
	ends(&answer, MONAD__STATUS__STATUS_OK, "duration is over");
	sums_up(&answer, 0);
	free_response(answer.final);

	ask(&talk, "s", "stacks", 2000);
	answer = finish(&talk, "s");
	ends(&answer, MONAD__STATUS__STATUS_OK, "duration is over");
	sums_up(&answer, 300);
	free_response(answer.final);

	ask(&talk, "b", "10", 60000);
	ask(&talk, "c", "20", 300);
	answer = finish(&talk, "c");
	sums_up(&answer, 20);
	free_response(answer.final);
	cancel(&talk, "b");
	answer = finish(&talk, "b");
	ends(&answer, MONAD__STATUS__STATUS_CANCELLED, "it was cancelled");
	free_response(answer.final);

	ask(&talk, "e", "slow", 60000);
	poll(NULL, 0, 100);
	cancel(&talk, "e");
	poll(NULL, 0, 500);
	cancel(&talk, "e");
	answer = finish(&talk, "e");
	ends(&answer, MONAD__STATUS__STATUS_CANCELLED, "it was cancelled");
	free_response(answer.final);

	ask(&talk, "d", "30", 300);
	shutdown(talk.fd, SHUT_WR);
	answer = finish(&talk, "d");
	ends(&answer, MONAD__STATUS__STATUS_OK, "duration");
	sums_up(&answer, 30);
	free_response(answer.final);
	ok(!next(&talk) && errno == EPIPE, "who says no more and has no task is left");
	end_talk(&talk);
	eventually(files_are_closed, "all is closed");
}

static void test_bad_tasks(void)
{
	struct talk talk;
	struct answer answer;

	diag("tasks that fail");
	begin_talk(&talk);
	ask(&talk, "a", "fail", 300);
	answer = finish(&talk, "a");
	ends(&answer, MONAD__STATUS__STATUS_REFUSED, "no such thing; nor another");
	if (eq_u64(answer.final->n_warnings, 1, "a warning"))
		eq_str(answer.final->warnings[0], "careful", "is passed on");
	free_response(answer.final);
	ask(&talk, "a", "silent", 300);
	answer = finish(&talk, "a");
	ends(&answer, MONAD__STATUS__STATUS_REFUSED, "status 7, and without a word");
	free_response(answer.final);
	ask(&talk, "a", "crash", 300);
	answer = finish(&talk, "a");
	ends(&answer, MONAD__STATUS__STATUS_FAILED, "killed by a signal: Killed");
	free_response(answer.final);
	ask(&talk, "h", "hang", 100);
	ask(&talk, "a", "5", 100);
	answer = finish(&talk, "a");
	sums_up(&answer, 5);
	free_response(answer.final);
	answer = finish(&talk, "h");
	ends(&answer, MONAD__STATUS__STATUS_FAILED, "the task was stuck, and was killed");
	free_response(answer.final);
	end_talk(&talk);
	eventually(files_are_closed, "all is closed");
}

static void refused(struct talk *talk, char *id, const char *text)
{
	struct answer answer = finish(talk, id);

	ends(&answer, MONAD__STATUS__STATUS_REFUSED, text);
	free_response(answer.final);
}

static void test_refusals(void)
{
	struct talk talk;
	struct answer answer;
	char id[] = "0";

	diag("what is refused");
	begin_talk(&talk);
	ask(&talk, "a", "1", 60000);
	ask(&talk, "a", "1", 60000);
	refused(&talk, "a", "a task of that id is running");
	for (int i = 0; i < 3; i++, ++*id)
		ask(&talk, id, "1", 60000);
	ask(&talk, "x", "1", 60000);
	refused(&talk, "x", "4 tasks are running, as many as may");
	ask(&talk, "x", "1", 1);
	refused(&talk, "x", "duration_ns is 1000000");
	cancel(&talk, "y");
	refused(&talk, "y", "no task 'y'");
	cancel(&talk, "a");
	answer = finish(&talk, "a");
	ends(&answer, MONAD__STATUS__STATUS_CANCELLED, "cancelled");
	free_response(answer.final);
	end_talk(&talk);
	eventually(files_are_closed, "its tasks go with it");
}

static pid_t of_task;

/* Reaped, too. */
static bool task_is_gone(void)
{
	return kill(of_task, 0) && errno == ESRCH;
}

static void test_gone_client(void)
{
	Monad__TaskResponse *response;
	struct talk talk;

	diag("a client that goes away");
	begin_talk(&talk);
	ask(&talk, "a", "150", 60000);
	while ((response = next(&talk)) && !response->n_trace_results)
		free_response(response);
	of_task = response->trace_results[0]->storage->actor->tgid;
	free_response(response);
	ok(!task_is_gone(), "there is a task");
	end_talk(&talk);
	eventually(task_is_gone, "which goes with it");
	eventually(files_are_closed, "all is closed");
}

static void test_slow_client(void)
{
	struct talk talk, other;
	struct answer answer;

	diag("a client that does not read");
	begin_talk(&talk);
	ask(&talk, "s", "flood", 60000);
	poll(NULL, 0, 300);
	begin_talk(&other);
	ask(&other, "o", "70", 200);
	answer = finish(&other, "o");
	sums_up(&answer, 70);
	free_response(answer.final);
	end_talk(&other);
	/* All buffers are full by then, and its patience over; that of the server is not yet. */
	poll(NULL, 0, 1300);
	ask(&talk, "t", "1", 100);
	answer = finish(&talk, "s");
	ends(&answer, MONAD__STATUS__STATUS_FAILED, "did not read what was sent");
	sums_up(&answer, UINT64_MAX);
	ok(answer.events > 100, "some got through: %llu", (unsigned long long)answer.events);
	ok(answer.final && answer.final->truncated_count > 1000, "most did not");
	free_response(answer.final);
	ask(&talk, "u", "3", 3000);
	answer = finish(&talk, "u");
	ends(&answer, MONAD__STATUS__STATUS_OK, "duration");
	sums_up(&answer, 3);
	free_response(answer.final);
	end_talk(&talk);

	begin_talk(&talk);
	ask(&talk, "s", "flood", 60000);
	/* Longer than its task's patience and the server's together. */
	poll(NULL, 0, 3500);
	while ((answer.final = next(&talk)) && !answer.final->final)
		free_response(answer.final);
	ok(!answer.final, "one that never reads is sent away");
	free_response(answer.final);
	end_talk(&talk);
	eventually(files_are_closed, "all is closed");
}

static void test_fast_reader(void)
{
	Monad__TaskResponse *response;
	struct answer answer = {};
	struct talk talk;

	diag("a client that reads as fast as it can");
	begin_talk(&talk);
	ask(&talk, "f", "flood", 1500);
	while ((response = next(&talk)) && !response->final) {
		answer.events += response->n_trace_results;
		free_response(response);
	}
	answer.final = response;
	sums_up(&answer, UINT64_MAX);
	ends(&answer, MONAD__STATUS__STATUS_OK, "duration");
	free_response(response);
	end_talk(&talk);
}

static void closed_with(struct talk *talk, const char *text)
{
	Monad__TaskResponse *response = next(talk);

	ok(response && response->status == MONAD__STATUS__STATUS_REFUSED &&
	   strstr(response->reason, text), "\"%s\": \"%s\"", text,
	   response ? response->reason : strerror(errno));
	free_response(response);
	ok(!next(talk) && (errno == EPIPE || errno == ECONNRESET), "and it is closed: %m");
	end_talk(talk);
}

static void send_text(struct talk *talk, const void *bytes, size_t size)
{
	begin_talk(talk);
	if (send(talk->fd, bytes, size, MSG_NOSIGNAL) != (ssize_t)size)
		diag("not sent: %m");
}

static void test_no_messages(void)
{
	struct talk talk;

	diag("what is no message");
	send_text(&talk, "\xff\xff\xff\xff", 4);
	closed_with(&talk, "longer than 65536");
	send_text(&talk, "\0\1\0\1", 4);
	closed_with(&talk, "longer than 65536");
	send_text(&talk, "GET / HTTP/1.0\r\n\r\n", 18);
	closed_with(&talk, "longer than 65536");
	send_text(&talk, "\0\0\0\2\xff\xff", 6);
	closed_with(&talk, "no monad.Message");
	send_text(&talk, "\0\0\0\20half", 8);
	closed_with(&talk, "was begun, and did not go on");
	send_text(&talk, "\0", 1);
	closed_with(&talk, "was begun, and did not go on");
	send_text(&talk, "\0\0\0\20half", 8);
	shutdown(talk.fd, SHUT_WR);
	closed_with(&talk, "ends in its middle");
	begin_talk(&talk);
	closed_with(&talk, "nothing was asked for a long time");
	eventually(files_are_closed, "all is closed");
}

/* Bytes by chance; some look like the beginning of a message. */
static void test_noise(void)
{
	unsigned int answered = 0;
	uint8_t noise[256];
	struct talk talk;

	diag("noise");
	for (unsigned int i = 0; i < 300; i++) {
		size_t size;

		if (getrandom(noise, sizeof(noise), 0) < 0)
			bail_out("no noise");
		size = 1 + noise[255];
		if (i % 2)
			memcpy(noise, (const uint8_t[]){ 0, 0, 0, size > 4 ? size - 4 : 0 }, 4);
		if (i % 4 == 1)
			noise[4] = 0x2a;
		send_text(&talk, noise, size);
		shutdown(talk.fd, SHUT_WR);
		for (;;) {
			Monad__TaskResponse *response = next(&talk);

			if (!response)
				break;
			answered++;
			free_response(response);
		}
		end_talk(&talk);
	}
	ok(answered >= 299, "who sends noise is answered: %u of 300", answered);
	eventually(files_are_closed, "all is closed");
}

static void test_crowd(void)
{
	struct talk crowd[20], talk;
	Monad__TaskResponse *response;

	diag("too many");
	for (unsigned int i = 0; i < ARRAY_SIZE(crowd); i++)
		begin_talk(&crowd[i]);
	response = next(&crowd[ARRAY_SIZE(crowd) - 1]);
	ok(response && strstr(response->reason, "there are 8 connections, as many as there may be"),
	   "one too many is told");
	free_response(response);
	for (unsigned int i = 0; i < ARRAY_SIZE(crowd); i++)
		end_talk(&crowd[i]);
	eventually(files_are_closed, "all is closed");
	begin_talk(&talk);
	ask(&talk, "a", "nonsense?", 1);
	refused(&talk, "a", "duration_ns");
	end_talk(&talk);
}

/* Both keep the server busy: it says no, and goes on. */
static void test_flood(void)
{
	struct talk flood, talk;
	struct answer answer;
	unsigned int sent = 0;

	diag("a flood");
	begin_talk(&flood);
	while (sent < 100000 && !ask(&flood, "x", "1", 1))
		sent++;
	diag("%u requests", sent);
	begin_talk(&talk);
	ask(&talk, "a", "9", 100);
	answer = finish(&talk, "a");
	sums_up(&answer, 9);
	free_response(answer.final);
	end_talk(&flood);
	end_talk(&talk);
	eventually(files_are_closed, "all is closed");
}

static void test_ends(const struct server_options *options)
{
	Monad__TaskResponse *response;
	struct answer answer;
	struct talk talk;

	diag("the end of the server");
	begin_talk(&talk);
	ask(&talk, "a", "40", 60000);
	while ((response = next(&talk)) && !response->n_trace_results)
		free_response(response);
	free_response(response);
	kill(server, SIGTERM);
	answer = finish(&talk, "a");
	ends(&answer, MONAD__STATUS__STATUS_CANCELLED, "the server ends");
	free_response(answer.final);
	end_talk(&talk);
	end_server();

	begin_server(*options);
	begin_talk(&talk);
	ask(&talk, "a", "40", 60000);
	while ((response = next(&talk)) && !response->n_trace_results)
		free_response(response);
	of_task = response->trace_results[0]->storage->actor->tgid;
	free_response(response);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	eventually(task_is_gone, "a task whose server is killed goes as well");
	ok(!next(&talk), "and so does the connection");
	end_talk(&talk);
	ok(!access(path, F_OK), "the socket is still there");
	begin_server(*options);
	ok(socket_file_listen(&(struct socket_file){}, path, (gid_t)-1),
	   "another one takes its place, and a third one cannot");
	end_server();
}

int main(void)
{
	struct server_options options = SERVER_DEFAULT_OPTIONS;

	options.max_tasks = 4;
	options.max_clients = 8;
	options.half_ns = NSEC_PER_SEC / 2;
	options.idle_ns = NSEC_PER_SEC;
	options.patience_ns = NSEC_PER_SEC / 2;
	options.stuck_ns = 2 * NSEC_PER_SEC;
	options.hung_ns = 3 * NSEC_PER_SEC;
	snprintf(path, sizeof(path), "/tmp/test_lib_server.%d", getpid());
	/* Before there is a server: it may be told to end as soon as it begins. */
	catch_interrupts();
	begin_server(options);
	poll(NULL, 0, 100);
	files_before = server_files();
	test_good();
	test_bad_tasks();
	test_refusals();
	test_gone_client();
	test_slow_client();
	test_fast_reader();
	test_no_messages();
	test_noise();
	test_crowd();
	test_flood();
	end_server();
	begin_server(options);
	test_ends(&options);
	return done_testing();
}
