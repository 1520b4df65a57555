// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <microhttpd.h>

#include "http_server.h"
#include "interrupt.h"
#include "monad_storage.h"

/* Beyond these, clients of one address are turned away, all others wait. */
#define MAX_CONNECTIONS 64
#define MAX_PER_ADDRESS 32
/* What a client sends has to fit in it. */
#define CONNECTION_MEMORY 16384

struct connection {
	int fd; /* 0: a free slot */
	time_t since;
	bool cut;
};

struct server {
	const struct http_page *pages;
	size_t nr_pages;
	unsigned int connection_seconds;
	struct connection connections[MAX_CONNECTIONS];
};

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/*
 * Answering
 */

/* Takes @text. */
static enum MHD_Result answer(struct MHD_Connection *connection, unsigned int status,
			      const char *content_type, char *text, size_t length)
{
	struct MHD_Response *response;
	enum MHD_Result result;

	response = MHD_create_response_from_buffer(length, text, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
	/* One request a connection: so that there can be a limit to how long one lasts. */
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned int status,
				   const char *text)
{
	return answer(connection, status, "text/plain; charset=utf-8", xstrdup(text),
		      strlen(text));
}

static enum MHD_Result answer_page(struct MHD_Connection *connection, const struct http_page *page)
{
	unsigned int status;
	char *text = NULL;
	size_t length = 0;

	status = page->make(&text, &length, page->arg);
	return answer(connection, status, status == MHD_HTTP_OK ? page->content_type :
		      "text/plain; charset=utf-8", text, length);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *path,
				  const char *method, const char *version, const char *data,
				  size_t *data_size, void **context)
{
	const struct server *server = arg;

	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				   "405: there are only pages to GET here\n");
	/* The first call is for those who want to refuse what comes with the request. */
	if (!*context) {
		*context = (void *)server;
		return MHD_YES;
	}
	if (*data_size) {
		*data_size = 0;
		return MHD_YES;
	}
	for (size_t i = 0; i < server->nr_pages; i++) {
		if (!strcmp(path, server->pages[i].path))
			return answer_page(connection, &server->pages[i]);
	}
	return answer_text(connection, MHD_HTTP_NOT_FOUND, "404: try /metrics\n");
}

/*
 * How long connections last
 */

static void on_connection(void *arg, struct MHD_Connection *connection, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info;
	struct server *server = arg;
	struct connection *slot = *context;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (slot)
			memset(slot, 0, sizeof(*slot));
		return;
	}
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	for (size_t i = 0; info && i < MAX_CONNECTIONS; i++) {
		slot = &server->connections[i];
		if (slot->fd)
			continue;
		slot->fd = info->connect_fd;
		slot->since = seconds();
		*context = slot;
		return;
	}
}

/*
 * A client that sends a byte now and then is never idle: hence a limit for all of a
 * connection. False when there are none.
 */
static bool cut_old_connections(struct server *server)
{
	time_t now = seconds();
	bool any = false;

	for (size_t i = 0; i < MAX_CONNECTIONS; i++) {
		struct connection *slot = &server->connections[i];

		if (!slot->fd)
			continue;
		any = true;
		if (!slot->cut && now - slot->since >= (time_t)server->connection_seconds) {
			shutdown(slot->fd, SHUT_RDWR);
			slot->cut = true;
		}
	}
	return any;
}

static int run(struct MHD_Daemon *daemon, struct server *server, const sigset_t *signals)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd poll_fd = { .events = POLLIN };

	if (!info)
		return -ENOSYS;
	poll_fd.fd = info->epoll_fd;
	while (!interrupted) {
		struct timespec second = { .tv_sec = 1 }, none = {};
		bool connected = cut_old_connections(server);
		MHD_UNSIGNED_LONG_LONG ms;

		if (connected && MHD_get_timeout(daemon, &ms) == MHD_YES && !ms)
			second = none;
		if (ppoll(&poll_fd, 1, connected ? &second : NULL, signals) < 0 &&
		    errno != EINTR)
			return -errno;
		if (!interrupted && MHD_run(daemon) != MHD_YES)
			return -EIO;
	}
	return 0;
}

int http_serve(int listen_fd, const struct http_page *pages, size_t nr_pages,
	       const struct http_limits *limits)
{
	struct server server = {
		.pages = pages,
		.nr_pages = nr_pages,
		.connection_seconds = limits->connection_seconds,
	};
	struct MHD_Daemon *daemon;
	sigset_t ours, before;
	int err;

	/* From looking at the flag to sleeping they wait. */
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	sigprocmask(SIG_BLOCK, &ours, &before);
	daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, &server,
				  MHD_OPTION_LISTEN_SOCKET, listen_fd,
				  MHD_OPTION_CONNECTION_LIMIT, (unsigned int)MAX_CONNECTIONS,
				  MHD_OPTION_PER_IP_CONNECTION_LIMIT,
				  (unsigned int)MAX_PER_ADDRESS,
				  MHD_OPTION_CONNECTION_TIMEOUT, limits->idle_seconds,
				  MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
				  MHD_OPTION_NOTIFY_CONNECTION, on_connection, &server,
				  MHD_OPTION_END);
	if (daemon) {
		err = run(daemon, &server, &before);
		MHD_stop_daemon(daemon);
	} else {
		err = errno ? -errno : -EIO;
		close(listen_fd);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

/*
 * Addresses
 */

static bool parse_port(const char *text, uint16_t *port)
{
	size_t length = strlen(text);
	unsigned long number;

	if (!length || length > 5 || strspn(text, "0123456789") != length)
		return false;
	number = strtoul(text, NULL, 10);
	*port = htons(number);
	return number <= 65535;
}

const char *http_parse_address(const char *text, union http_address *address)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2] = "127.0.0.1";
	uint16_t port;
	size_t length;

	memset(address, 0, sizeof(*address));
	if (!parse_port(colon ? colon + 1 : text, &port))
		return "it does not end with a port, 0 to 65535";
	if (colon) {
		length = colon - text;
		if (!length)
			return "no address before the colon; all of this machine's are '*'";
		if (length >= sizeof(host))
			return "no such address";
		memcpy(host, text, length);
		host[length] = '\0';
	}
	if (*host == '[') {
		length = strlen(host);
		if (host[length - 1] != ']')
			return "no ']' behind the IPv6 address";
		host[length - 1] = '\0';
		address->in6.sin6_family = AF_INET6;
		address->in6.sin6_port = port;
		return inet_pton(AF_INET6, host + 1, &address->in6.sin6_addr) == 1 ? NULL :
			"no such IPv6 address";
	}
	if (!strcmp(host, "*")) {
		address->in6.sin6_family = AF_INET6;
		address->in6.sin6_port = port;
		return NULL;
	}
	address->in.sin_family = AF_INET;
	address->in.sin_port = port;
	if (inet_pton(AF_INET, host, &address->in.sin_addr) == 1)
		return NULL;
	return strchr(host, ':') ? "IPv6 addresses go in brackets: [::1]:PORT" :
				   "neither an IPv4 nor an [IPv6] address";
}

const char *http_address_text(const union http_address *address, char text[HTTP_ADDRESS_LEN])
{
	char host[INET6_ADDRSTRLEN] = "";

	if (address->any.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &address->in6.sin6_addr, host, sizeof(host));
		snprintf(text, HTTP_ADDRESS_LEN, "[%s]:%u", host, ntohs(address->in6.sin6_port));
	} else {
		inet_ntop(AF_INET, &address->in.sin_addr, host, sizeof(host));
		snprintf(text, HTTP_ADDRESS_LEN, "%s:%u", host, ntohs(address->in.sin_port));
	}
	return text;
}

int http_listen(union http_address *address)
{
	bool ipv6 = address->any.sa_family == AF_INET6;
	socklen_t size = ipv6 ? sizeof(address->in6) : sizeof(address->in);
	int fd, one = 1, zero = 0, err;

	fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* All addresses of a machine without IPv6. */
	if (fd < 0 && errno == EAFNOSUPPORT && ipv6 &&
	    IN6_IS_ADDR_UNSPECIFIED(&address->in6.sin6_addr)) {
		uint16_t port = address->in6.sin6_port;

		memset(address, 0, sizeof(*address));
		address->in.sin_family = AF_INET;
		address->in.sin_port = port;
		return http_listen(address);
	}
	if (fd < 0)
		return -errno;
	/* Right after another has ended; two at a time it does not allow. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	/* All addresses: those of IPv4 as well. */
	if (ipv6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (bind(fd, &address->any, size) || listen(fd, MAX_CONNECTIONS) ||
	    getsockname(fd, &address->any, &size)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}
