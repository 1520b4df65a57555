// SPDX-License-Identifier: GPL-2.0
/*
 * Those who ask for metrics: whatever they say, and in how many pieces, they get answers of
 * HTTP or none, the page that they asked for if they asked for one, and the server goes on. And
 * the addresses that it is told to serve at.
 */
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "fuzz_input.h"
#include "http_server.h"

#define PAGE "some_metric 1\n"

static struct sockaddr_un address = { .sun_family = AF_UNIX };
static socklen_t address_length;
static unsigned int asked;

static unsigned int make_page(char **text, size_t *length, void *arg)
{
	__atomic_add_fetch(&asked, 1, __ATOMIC_SEQ_CST);
	*text = strdup(PAGE);
	*length = strlen(PAGE);
	return 200;
}

static void *serve(void *arg)
{
	static const struct http_page pages[] = {
		{ "/metrics", "text/plain", make_page, NULL }
	};
	const struct http_limits limits = HTTP_DEFAULT_LIMITS;

	MUST(!http_serve((int)(intptr_t)arg, pages, 1, &limits));
	return NULL;
}

/* Behind an address without a name of the file system, and without ports that run out. */
static void start(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	pthread_t thread;

	address_length = sizeof(address);
	MUST(fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)) &&
	     !listen(fd, 16));
	MUST(!getsockname(fd, (struct sockaddr *)&address, &address_length));
	MUST(!pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd));
}

/*
 * Until the server has closed, or @ms have passed without anything: for the rest of a request
 * it waits for as long as it may be idle.
 */
static size_t read_answer(int fd, char *answer, size_t room, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t size = 0;
	ssize_t n;

	while (size < room - 1 && poll(&p, 1, ms) == 1 &&
	       (n = read(fd, answer + size, room - 1 - size)) > 0)
		size += n;
	MUST(size < room - 1);
	answer[size] = '\0';
	return size;
}

static size_t ask(const uint8_t *bytes, size_t size, size_t first, char *answer, size_t room,
		  int ms)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	size_t length;

	MUST(fd >= 0 && !connect(fd, (struct sockaddr *)&address, address_length));
	/* It may have had enough before the end. */
	if (send(fd, bytes, first, MSG_NOSIGNAL) == (ssize_t)first && first < size)
		(void)!send(fd, bytes + first, size - first, MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
	length = read_answer(fd, answer, room, ms);
	close(fd);
	return length;
}

static void check_answer(const char *answer, size_t length)
{
	static const char page[] = "\r\n\r\n" PAGE;

	if (!length)
		return;
	/* One request a connection has one answer. */
	MUST(!strncmp(answer, "HTTP/1.", 7));
	MUST(!strncmp(answer + 8, " 200 ", 5) || !strncmp(answer + 8, " 4", 2) ||
	     !strncmp(answer + 8, " 5", 2) || !strncmp(answer + 8, " 100 ", 5));
	if (strstr(answer, page))
		MUST(strstr(answer, " 200 "));
}

static void check_request(struct input *input)
{
	static const char good[] = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
	static char answer[65536];
	const size_t first = input->left ? take(input, 2) % (input->left + 1) : 0;
	unsigned int before;

	check_answer(answer, ask(input->data, input->left, first < input->left ? first :
				 input->left, answer, sizeof(answer), 2));
	before = __atomic_load_n(&asked, __ATOMIC_SEQ_CST);
	ask((const uint8_t *)good, sizeof(good) - 1, sizeof(good) - 1, answer, sizeof(answer),
	    10000);
	MUST(!strncmp(answer, "HTTP/1.1 200 ", 13) && strstr(answer, "\r\n\r\n" PAGE));
	MUST(__atomic_load_n(&asked, __ATOMIC_SEQ_CST) == before + 1);
}

static void check_address(const struct input *input)
{
	char *text = strndup((const char *)input->data, input->left);
	char shown[HTTP_ADDRESS_LEN], again[HTTP_ADDRESS_LEN];
	union http_address parsed, parsed_again;
	const char *wrong = http_parse_address(text, &parsed);

	if (wrong) {
		MUST(*wrong);
	} else {
		http_address_text(&parsed, shown);
		MUST(!http_parse_address(shown, &parsed_again));
		MUST(!strcmp(http_address_text(&parsed_again, again), shown));
		MUST(!memcmp(&parsed, &parsed_again, sizeof(parsed)));
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct input input = { data, size };

	pthread_once(&once, start);
	if (take(&input, 1) & 1)
		check_address(&input);
	else
		check_request(&input);
	return 0;
}
