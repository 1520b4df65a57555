// SPDX-License-Identifier: GPL-2.0
/* The HTTP server, under clients that do as they should and others. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "http_server.h"
#include "interrupt.h"
#include "monad_storage.h"
#include "tap.h"

#define LARGE (8 << 20)

static union http_address address;
static char answer[65536];

/*
 * The server, in a process of its own
 */

static unsigned int small_page(char **text, size_t *length, void *arg)
{
	unsigned int *asked = arg;

	*length = asprintf(text, "page %u\n", ++*asked);
	return 200;
}

static unsigned int large_page(char **text, size_t *length, void *arg)
{
	*text = xcalloc(1, LARGE);
	memset(*text, 'x', LARGE);
	*length = LARGE;
	return 200;
}

static unsigned int failing_page(char **text, size_t *length, void *arg)
{
	*text = xstrdup("not now\n");
	*length = strlen(*text);
	return 503;
}

/* Leaves its address in @address; returns its process. */
static pid_t start(unsigned int idle, unsigned int longest)
{
	const struct http_limits limits = { idle, longest };
	static unsigned int asked;
	const struct http_page pages[] = {
		{ "/small", "text/small", small_page, &asked },
		{ "/large", "text/large", large_page, NULL },
		{ "/failing", "text/failing", failing_page, NULL },
	};
	pid_t pid;
	int fd;

	if (http_parse_address("0", &address))
		bail_out("no address");
	fd = http_listen(&address);
	if (fd < 0)
		bail_out("cannot listen: %s", strerror(-fd));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		catch_interrupts();
		_exit(http_serve(fd, pages, ARRAY_SIZE(pages), &limits) ? 1 : 0);
	}
	close(fd);
	return pid;
}

/* Its exit status, after @signal; -1 if it did not end by itself. */
static int stop(pid_t pid, int signal)
{
	int status;

	kill(pid, signal);
	for (int i = 0; i < 100; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		usleep(100000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return -1;
}

/*
 * Clients
 */

static int begin(const char *request)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, &address.any, sizeof(address.in)))
		bail_out("connect: %s", strerror(errno));
	if (*request && write(fd, request, strlen(request)) != (ssize_t)strlen(request))
		diag("the request was not taken: %s", strerror(errno));
	return fd;
}

/* Reads until the server closes; so much. -1 if it does not within @seconds. */
static long finish(int fd, int seconds)
{
	char piece[65536];
	size_t used = 0;
	long sum = 0;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, seconds * 1000) != 1) {
			sum = -1;
			break;
		}
		n = read(fd, piece, sizeof(piece));
		if (n <= 0)
			break;
		sum += n;
		if (used < sizeof(answer) - 1) {
			size_t keep = sizeof(answer) - 1 - used;

			keep = keep < (size_t)n ? keep : (size_t)n;
			memcpy(answer + used, piece, keep);
			used += keep;
		}
	}
	answer[used] = '\0';
	close(fd);
	return sum;
}

/* The status that a request is answered with; 0 for none. */
static int ask(const char *request)
{
	int status = 0;

	if (finish(begin(request), 20) < 0)
		diag("no end of the answer");
	return sscanf(answer, "HTTP/1.%*d %d", &status) == 1 ? status : 0;
}

#define END " HTTP/1.1\r\nHost: x\r\n\r\n"

static void test_pages(void)
{
	pid_t pid = start(10, 30);
	char *body;

	eq_int(ask("GET /small" END), 200, "a page");
	ok(strstr(answer, "\r\nContent-Type: text/small\r\n"), "with its type");
	ok(strstr(answer, "\r\nConnection: close\r\n"), "is the last one of its connection");
	body = strstr(answer, "\r\n\r\n");
	eq_str(body ? body + 4 : NULL, "page 1\n", "and its text");
	eq_int(ask("GET /small?a=b" END), 200, "a query is not looked at");
	ok(strstr(answer, "page 2\n"), "a page is made for each request");
	eq_int(ask("HEAD /small" END), 200, "HEAD");
	ok(!strstr(answer, "page 3"), "has no text");
	eq_int(ask("GET /smal" END), 404, "another page");
	eq_int(ask("GET /small/" END), 404, "nor this");
	eq_int(ask("GET /../small" END), 404, "nor that");
	eq_int(ask("GET /failing" END), 503, "a page that cannot be made");
	ok(strstr(answer, "not now\n"), "says why");
	ok(strstr(answer, "\r\nContent-Type: text/plain"), "as text");
	eq_int(ask("POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"), 405, "POST");
	ok(strstr(answer, "\r\nAllow: GET, HEAD\r\n"), "says what goes");
	eq_int(ask("DELETE /small" END), 405, "DELETE");
	eq_int(ask("GET /small HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"), 200,
	       "GET with a body");
	ok(finish(begin("GET /large" END), 20) > LARGE, "a large page is there in full");
	eq_int(stop(pid, SIGTERM), 0, "ends at SIGTERM");
}

static void test_garbage(void)
{
	static char request[200000];
	pid_t pid = start(1, 30);
	int status;

	ask("\r\n\r\n\r\n\xff\xfe");
	status = ask("nonsense\r\n\r\n");
	ok(status == 0 || status >= 400, "no request: %d", status);
	memset(request, 'a', sizeof(request) - 1);
	memcpy(request, "GET /", 5);
	status = ask(request);
	ok(status == 0 || status >= 400, "a path without an end: %d", status);
	snprintf(request, sizeof(request), "GET /small HTTP/1.1\r\nHost: x\r\nX: ");
	memset(request + strlen(request), 'b', 150000);
	status = ask(request);
	ok(status == 0 || status >= 400, "a header without an end: %d", status);
	/* Gone in the middle of it. */
	for (int i = 0; i < 100; i++)
		close(begin("GET /large" END));
	eq_int(ask("GET /small" END), 200, "and still serves");
	eq_int(stop(pid, SIGINT), 0, "ends at SIGINT");
}

static void test_slow(void)
{
	pid_t pid = start(1, 6);
	struct timespec before, after;
	int idle[20], drip, reader;
	bool cut = false, good = true;

	/* Those that are long gone count for nothing. */
	for (int i = 0; i < 100; i++)
		good &= ask("GET /small" END) == 200;
	ok(good, "a hundred requests");
	clock_gettime(CLOCK_MONOTONIC, &before);
	drip = begin("GET /small HTTP/1.1\r\n");
	reader = begin("GET /large" END);
	for (size_t i = 0; i < ARRAY_SIZE(idle); i++)
		idle[i] = begin(i & 1 ? "GET /small HTTP/1.1\r\n" : "");
	eq_int(ask("GET /small" END), 200, "slow clients keep nobody waiting");
	/* A byte now and then is not idle. */
	for (int i = 0; i < 100 && !cut; i++) {
		struct pollfd p = { .fd = drip, .events = POLLIN };

		cut = poll(&p, 1, 200) == 1;
		if (!cut && send(drip, "x", 1, MSG_NOSIGNAL) != 1)
			cut = true;
		if (i != 18)
			continue;
		/* After close to four seconds. */
		for (size_t k = 0; k < ARRAY_SIZE(idle); k++) {
			struct pollfd q = { .fd = idle[k], .events = POLLIN };

			good &= poll(&q, 1, 0) == 1;
		}
		ok(good, "those that say nothing are cut off first");
	}
	clock_gettime(CLOCK_MONOTONIC, &after);
	ok(cut, "one that sends a byte now and then is cut off");
	ok(after.tv_sec - before.tv_sec >= 5, "later");
	close(drip);
	for (size_t i = 0; i < ARRAY_SIZE(idle); i++)
		close(idle[i]);
	ok(finish(reader, 5) < LARGE, "and one that does not read");
	eq_int(ask("GET /small" END), 200, "and still serves");
	eq_int(stop(pid, SIGTERM), 0, "ends");
}

static void test_many(void)
{
	pid_t pid = start(10, 30), clients[8];
	int status, good = 0, held[40];

	for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
		fflush(stdout);
		clients[i] = fork();
		if (!clients[i]) {
			for (int k = 0; k < 25; k++)
				if (ask("GET /small" END) != 200)
					_exit(1);
			_exit(0);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		good += waitpid(clients[i], &status, 0) == clients[i] && !status;
	eq_int(good, ARRAY_SIZE(clients), "eight clients at once, 25 requests each");

	/* More than one address may have. */
	good = 0;
	for (size_t i = 0; i < ARRAY_SIZE(held); i++)
		held[i] = begin("");
	for (size_t i = 0; i < ARRAY_SIZE(held); i++) {
		struct pollfd p = { .fd = held[i], .events = POLLIN };

		good += poll(&p, 1, 100) == 0;
	}
	eq_int(good, 32, "of 40 connections from one address 32 stay");
	for (size_t i = 0; i < ARRAY_SIZE(held); i++)
		close(held[i]);
	/* It may look at the new one first. */
	for (int tries = 0; tries < 50 && (status = ask("GET /small" END)) != 200; tries++)
		usleep(100000);
	eq_int(status, 200, "once they are gone others come");
	held[0] = begin("GET /small HTTP/1.1\r\n");
	eq_int(stop(pid, SIGTERM), 0, "ends while somebody is connected");
	close(held[0]);
}

static void test_listen(void)
{
	union http_address again;
	int fd, second;

	http_parse_address("0", &address);
	fd = http_listen(&address);
	ok(fd >= 0 && address.in.sin_port, "port 0 is any");
	again = address;
	second = http_listen(&again);
	eq_int(second, -EADDRINUSE, "a port that is taken");
	close(fd);
	http_parse_address("192.0.2.1:0", &again);
	eq_int(http_listen(&again), -EADDRNOTAVAIL, "an address of another machine");
}

static void test_addresses(void)
{
	static const struct {
		const char *text;
		const char *address; /* NULL: refused */
	} cases[] = {
		{ "9150", "127.0.0.1:9150" },
		{ "0", "127.0.0.1:0" },
		{ "65535", "127.0.0.1:65535" },
		{ "10.1.2.3:1", "10.1.2.3:1" },
		{ "0.0.0.0:80", "0.0.0.0:80" },
		{ "[::1]:80", "[::1]:80" },
		{ "[fe80::1:2]:80", "[fe80::1:2]:80" },
		{ "*:80", "[::]:80" },
		{ "", NULL }, { ":", NULL }, { ":80", NULL }, { "65536", NULL }, { "-1", NULL },
		{ "+1", NULL }, { " 80", NULL }, { "80 ", NULL }, { "0x50", NULL },
		{ "100000", NULL }, { "http", NULL }, { "1.2.3.4", NULL }, { "1.2.3.4:", NULL },
		{ "1.2.3:80", NULL }, { "1.2.3.4.5:80", NULL }, { "::1:80", NULL },
		{ "[::1:80", NULL }, { "[]:80", NULL }, { "[:80", NULL }, { "[1.2.3.4]:80", NULL },
		{ "localhost:80", NULL }, { "**:80", NULL },
		{ "[1111:2222:3333:4444:5555:6666:7777:8888:9999:1111:2222:3333]:80", NULL },
	};
	char text[HTTP_ADDRESS_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *wrong = http_parse_address(cases[i].text, &address);

		if (cases[i].address && !wrong)
			eq_str(http_address_text(&address, text), cases[i].address, "'%s'",
			       cases[i].text);
		else if (cases[i].address)
			ok(false, "'%s': %s", cases[i].text, wrong);
		else
			ok(wrong && *wrong, "'%s' is none: %s", cases[i].text, wrong);
	}
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	test_addresses();
	test_listen();
	test_pages();
	test_garbage();
	test_slow();
	test_many();
	return done_testing();
}
