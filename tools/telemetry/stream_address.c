// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "stream_address.h"

#define BACKLOG 64

static bool is_port(const char *text)
{
	size_t length = strlen(text);

	return length && length <= 5 && strspn(text, "0123456789") == length &&
	       strtoul(text, NULL, 10) <= 65535;
}

static const char *parse_path(const char *text, struct stream_address *address)
{
	size_t length = strlen(text);

	if (length >= sizeof(address->path))
		return "the path of a socket has 107 characters at most";
	memcpy(address->path, text, length + 1);
	return NULL;
}

const char *stream_parse_address(const char *text, struct stream_address *address)
{
	const char *colon = strrchr(text, ':');
	size_t length;

	memset(address, 0, sizeof(*address));
	if (strchr(text, '/'))
		return parse_path(text, address);
	if (!colon || !is_port(colon + 1))
		return "neither HOST:PORT nor the path of a socket, which has a '/' in it";
	snprintf(address->port, sizeof(address->port), "%s", colon + 1);
	length = colon - text;
	if (!length)
		return "no host before the colon; all addresses to listen on are '*'";
	if (*text == '[') {
		if (text[length - 1] != ']')
			return "no ']' behind the IPv6 address";
		text++;
		length -= 2;
	} else if (memchr(text, ':', length)) {
		return "IPv6 addresses go in brackets: [::1]:PORT";
	}
	if (length >= sizeof(address->host))
		return "the host's name is too long";
	memcpy(address->host, text, length);
	address->host[length] = '\0';
	if (!strcmp(address->host, "*"))
		*address->host = '\0';
	return NULL;
}

/*
 * Looking up names
 */

/*
 * What is looked up, kept apart so that a name server that does not answer keeps nobody. What
 * was not answered in time cannot be taken back: it is kept for the next one who asks for the
 * same, so that there is one of each at most.
 */
struct lookup {
	struct lookup *next; /* that nobody waits for */
	struct gaicb request;
	struct addrinfo hints;
	char host[256];
	char port[8];
};

static int wait_for_lookup(struct lookup *lookup, const struct framing_deadline *deadline)
{
	const struct gaicb *const list[] = { &lookup->request };
	int left;

	while (gai_error(&lookup->request) == EAI_INPROGRESS) {
		struct timespec timeout = {};

		left = framing_left(deadline, 100);
		if (!left)
			return -ETIMEDOUT;
		timeout.tv_nsec = left * 1000000L;
		gai_suspend(list, 1, &timeout);
	}
	return 0;
}

static void free_lookup(struct lookup *lookup)
{
	if (lookup->request.ar_result)
		freeaddrinfo(lookup->request.ar_result);
	free(lookup);
}

static pthread_mutex_t unanswered_lock = PTHREAD_MUTEX_INITIALIZER;
static struct lookup *unanswered;

static void keep_unanswered(struct lookup *lookup)
{
	pthread_mutex_lock(&unanswered_lock);
	lookup->next = unanswered;
	unanswered = lookup;
	pthread_mutex_unlock(&unanswered_lock);
}

/* The one of that address, or NULL. Others that have been answered since are of no use. */
static struct lookup *take_unanswered(const struct stream_address *address)
{
	struct lookup **at = &unanswered, *lookup, *found = NULL;

	pthread_mutex_lock(&unanswered_lock);
	while ((lookup = *at)) {
		if (!found && !strcmp(lookup->host, address->host) &&
		    !strcmp(lookup->port, address->port)) {
			*at = lookup->next;
			found = lookup;
		} else if (gai_error(&lookup->request) != EAI_INPROGRESS) {
			*at = lookup->next;
			free_lookup(lookup);
		} else {
			at = &lookup->next;
		}
	}
	pthread_mutex_unlock(&unanswered_lock);
	return found;
}

/* 0 or an error of getaddrinfo(). */
static int begin_lookup(struct lookup *lookup, const struct stream_address *address)
{
	struct gaicb *list[] = { &lookup->request };

	memcpy(lookup->host, address->host, sizeof(lookup->host));
	memcpy(lookup->port, address->port, sizeof(lookup->port));
	lookup->hints.ai_socktype = SOCK_STREAM;
	lookup->request.ar_name = lookup->host;
	lookup->request.ar_service = lookup->port;
	lookup->request.ar_request = &lookup->hints;
	return getaddrinfo_a(GAI_NOWAIT, list, 1, NULL);
}

/* The addresses in @found, whose lookup is @lookup then; or -errno. */
static int look_up(const struct stream_address *address, const struct framing_deadline *deadline,
		   struct lookup **found, char *why, size_t why_size)
{
	struct lookup *lookup = take_unanswered(address);
	int err = 0;

	if (!lookup) {
		lookup = calloc(1, sizeof(*lookup));
		if (!lookup) {
			snprintf(why, why_size, "no memory");
			return -ENOMEM;
		}
		err = begin_lookup(lookup, address);
	}
	if (!err) {
		err = wait_for_lookup(lookup, deadline);
		if (err && gai_cancel(&lookup->request) == EAI_NOTCANCELED) {
			keep_unanswered(lookup);
			snprintf(why, why_size, "looking up %s takes too long", address->host);
			return err;
		}
		if (!err)
			err = gai_error(&lookup->request);
	}
	if (!err) {
		*found = lookup;
		return 0;
	}
	if (err == -ETIMEDOUT)
		snprintf(why, why_size, "looking up %s takes too long", address->host);
	else
		snprintf(why, why_size, "looking up %s: %s", address->host, gai_strerror(err));
	free_lookup(lookup);
	return -EHOSTUNREACH;
}

/*
 * Connecting
 */

static int connect_to(const struct sockaddr *to, socklen_t size,
		      const struct framing_deadline *deadline)
{
	int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err = 0, one = 1;
	socklen_t length = sizeof(err);

	if (fd < 0)
		return -errno;
	if (!connect(fd, to, size)) {
		err = 0;
	} else if (errno == EINPROGRESS) {
		err = framing_wait(fd, POLLOUT, deadline);
		if (!err && getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &length))
			err = errno;
	} else {
		/* (EAGAIN of a Unix socket: its listener's queue is full.) */
		err = errno;
	}
	if (err) {
		close(fd);
		return err < 0 ? err : -err;
	}
	if (to->sa_family != AF_UNIX) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	}
	return fd;
}

static void unix_address(const struct stream_address *address, struct sockaddr_un *un)
{
	memset(un, 0, sizeof(*un));
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, address->path, sizeof(address->path));
}

int stream_connect(const struct stream_address *address, const struct framing_deadline *deadline,
		   char *why, size_t why_size)
{
	struct lookup *lookup;
	struct sockaddr_un un;
	int fd = -EHOSTUNREACH;

	if (*address->path) {
		unix_address(address, &un);
		fd = connect_to((struct sockaddr *)&un, sizeof(un), deadline);
	} else {
		int err = look_up(address, deadline, &lookup, why, why_size);

		if (err)
			return err;
		for (const struct addrinfo *a = lookup->request.ar_result; a && fd < 0;
		     a = a->ai_next)
			fd = connect_to(a->ai_addr, a->ai_addrlen, deadline);
		free_lookup(lookup);
	}
	if (fd < 0)
		snprintf(why, why_size, "cannot connect: %s",
			 fd == -ETIMEDOUT ? "no answer" : strerror(-fd));
	return fd;
}

/*
 * Listening
 */

/* Whether somebody is behind the file, which is a socket's. */
static bool is_alive(const struct sockaddr_un *un)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool alive;

	if (fd < 0)
		return true;
	alive = !connect(fd, (const struct sockaddr *)un, sizeof(*un)) || errno != ECONNREFUSED;
	close(fd);
	return alive;
}

static int bind_unix(const struct stream_address *address, int fd)
{
	struct sockaddr_un un;
	struct stat st;
	mode_t mask;
	int err;

	unix_address(address, &un);
	if (!lstat(address->path, &st) && S_ISSOCK(st.st_mode) && !is_alive(&un))
		unlink(address->path);
	mask = umask(0177);
	err = bind(fd, (struct sockaddr *)&un, sizeof(un)) ? -errno : 0;
	umask(mask);
	return err;
}

static int listen_on(const struct stream_address *address, const struct addrinfo *where)
{
	int family = where ? where->ai_family : AF_UNIX, one = 1, zero = 0, err;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (where)
		err = bind(fd, where->ai_addr, where->ai_addrlen) ? -errno : 0;
	else
		err = bind_unix(address, fd);
	if (!err && listen(fd, BACKLOG))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

static const struct addrinfo *preferred(const struct addrinfo *list, int family)
{
	for (const struct addrinfo *a = list; a; a = a->ai_next) {
		if (a->ai_family == family)
			return a;
	}
	return NULL;
}

int stream_listen(const struct stream_address *address, char *why, size_t why_size)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *list;
	const struct addrinfo *six;
	int err, fd;

	if (*address->path) {
		fd = listen_on(address, NULL);
	} else {
		err = getaddrinfo(*address->host ? address->host : NULL, address->port, &hints,
				  &list);
		if (err) {
			snprintf(why, why_size, "%s: %s", address->host, gai_strerror(err));
			return -EADDRNOTAVAIL;
		}
		/* All addresses: IPv6's takes those of IPv4 as well, where there is IPv6. */
		six = *address->host ? NULL : preferred(list, AF_INET6);
		fd = six ? listen_on(address, six) : -EAFNOSUPPORT;
		for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next)
			fd = listen_on(address, a);
		freeaddrinfo(list);
	}
	if (fd < 0)
		snprintf(why, why_size, "%s", fd == -EADDRINUSE ? "another program listens there" :
			 strerror(-fd));
	return fd;
}
