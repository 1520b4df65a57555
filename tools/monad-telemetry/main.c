// SPDX-License-Identifier: GPL-2.0
/* monad-telemetry-receive: takes batches of telemetry, and prints each as a line of JSON. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "interrupt.h"
#include "jsonl_exporter.h"
#include "output.h"
#include "parse.h"
#include "receiver.h"
#include "stream_address.h"

static const char doc[] =
	"Receive what 'monad-storage export --telemetry ADDRESS' sends, and print each batch as a "
	"line of JSON.\n\n"
	"ADDRESS is the path of a socket to be made (with a '/' in it), HOST:PORT, or *:PORT.\v"
	"With --output, sessions outlive this program: what is in FILE is not taken again, and "
	"senders go on behind it. Nobody is asked for a password: listen on addresses of a network "
	"of your own only.\n\n"
	"EXAMPLES\n"
	"  monad-telemetry-receive /run/telemetry.sock | jq .losses\n"
	"  monad-telemetry-receive '*:4000' --output telemetry.jsonl\n";

enum {
	KEY_IDLE = 0x200, KEY_MAX, KEY_REFUSE_ALL, KEY_REFUSE, KEY_LOSE_ANSWER, KEY_STALL,
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Write to the end of FILE instead of to stdout", 1 },
	{ "idle", KEY_IDLE, "TIME", 0, "Who says nothing for so long is cut off (5m)", 1 },
	{ "max-batch", KEY_MAX, "BYTES", 0, "Take no larger batches (16777216)", 1 },
	{ NULL, 0, NULL, 0, "To test senders:", 2 },
	{ "refuse-all", KEY_REFUSE_ALL, "REASON", 0, "Refuse all who register", 2 },
	{ "refuse-every", KEY_REFUSE, "N", 0, "Refuse each Nth batch", 2 },
	{ "lose-answer-every", KEY_LOSE_ANSWER, "N", 0,
	  "Take each Nth batch, and close the connection instead of answering", 2 },
	{ "stall-every", KEY_STALL, "N", 0, "Neither take nor answer each Nth batch", 2 },
	{}
};

struct options {
	struct stream_address address;
	const char *address_text;
	const char *output;
	uint64_t idle_ns, max_batch_bytes;
	struct misbehaviour wrong;
};

static void parse_count(struct argp_state *state, const char *arg, uint64_t *count)
{
	if (!parse_u64(arg, count) || !*count)
		argp_error(state, "'%s' is no count of batches", arg);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	const char *wrong;

	switch (key) {
	case 'o':
		if (!*arg)
			argp_error(state, "--output wants a file");
		o->output = arg;
		return 0;
	case KEY_IDLE:
		if (parse_duration(arg, &o->idle_ns) || !o->idle_ns)
			argp_error(state, "'%s' is no time; say 30s, 5m", arg);
		return 0;
	case KEY_MAX:
		if (!parse_u64(arg, &o->max_batch_bytes) || o->max_batch_bytes < 1024 ||
		    o->max_batch_bytes > FRAMING_MAX)
			argp_error(state, "--max-batch %s: 1024 to %d bytes", arg, FRAMING_MAX);
		return 0;
	case KEY_REFUSE_ALL:
		o->wrong.refuse_all = arg;
		return 0;
	case KEY_REFUSE:
		parse_count(state, arg, &o->wrong.refuse_every);
		return 0;
	case KEY_LOSE_ANSWER:
		parse_count(state, arg, &o->wrong.lose_answer_every);
		return 0;
	case KEY_STALL:
		parse_count(state, arg, &o->wrong.stall_every);
		return 0;
	case ARGP_KEY_ARG:
		if (o->address_text)
			argp_error(state, "one ADDRESS");
		wrong = stream_parse_address(arg, &o->address);
		if (wrong)
			argp_error(state, "%s: %s", arg, wrong);
		o->address_text = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->address_text)
			argp_error(state, "ADDRESS is missing: where to listen");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Without descriptors a client waits, and we do not turn in circles. */
static void accept_clients(struct receiver *receiver, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0) {
		receiver_accept(receiver, fd);
	} else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
		say("a client has to wait: %s", strerror(errno));
		usleep(200000);
	}
}

/* @fds: of the listener, and of all connections. */
static int wait_for_any(struct receiver *receiver, int listener, const sigset_t *signals,
			struct pollfd fds[1 + CONNECTIONS_MAX])
{
	const struct timespec timeout = { .tv_sec = 1 };

	fds[0] = (struct pollfd){ .fd = listener, .events = POLLIN };
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		fds[1 + i] = (struct pollfd){
			.fd = receiver->connections[i].fd, .events = POLLIN,
		};
	if (ppoll(fds, 1 + CONNECTIONS_MAX, &timeout, signals) >= 0)
		return 0;
	memset(fds, 0, sizeof(*fds) * (1 + CONNECTIONS_MAX));
	return errno == EINTR ? 0 : -errno;
}

/* Nobody reads what we print, and nobody will. */
static bool is_output_gone(const struct receiver *receiver)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	return !strcmp(receiver->output->target, "-") && poll(&out, 1, 0) == 1 &&
	       (out.revents & POLLERR);
}

static int run(struct receiver *receiver, int listener, const sigset_t *signals)
{
	struct pollfd fds[1 + CONNECTIONS_MAX];
	int err;

	while (!interrupted) {
		err = wait_for_any(receiver, listener, signals, fds);
		if (err) {
			say("%s", strerror(-err));
			return EXIT_FAILED;
		}
		for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
			/* It may have ended meanwhile, for another that took over its session. */
			if (fds[1 + i].revents && receiver->connections[i].fd == fds[1 + i].fd)
				receiver_read(receiver, &receiver->connections[i]);
		}
		receiver_look_at_time(receiver);
		if (fds[0].revents)
			accept_clients(receiver, listener);
		if (is_output_gone(receiver))
			return EXIT_OK;
	}
	return EXIT_OK;
}

static int open_output(struct receiver *receiver, const char *path)
{
	char why[256];
	int err;

	if (path) {
		err = sessions_recover(&receiver->sessions, path);
		if (err) {
			say("reading %s: %s", path, strerror(-err));
			return EXIT_FAILED;
		}
		if (receiver->sessions.nr)
			say("%s has batches of %zu sessions: they go on", path,
			    receiver->sessions.nr);
	}
	receiver->output = jsonl_exporter(path ? path : "-", why, sizeof(why));
	if (receiver->output)
		return EXIT_OK;
	say("%s: %s", path ? path : "-", why);
	return EXIT_FAILED;
}

/* Signals are noticed where it waits, and nowhere else. */
static void hold_signals(sigset_t *before)
{
	sigset_t ours;

	/* Writing to a closed pipe, or past a limit, is an error that is looked at. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	catch_interrupts();
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	sigprocmask(SIG_BLOCK, &ours, before);
}

static int listen_and_run(struct receiver *receiver, const struct options *o)
{
	const struct counts *counts = &receiver->counts;
	int listener, status;
	sigset_t before;
	char why[256];

	hold_signals(&before);
	listener = stream_listen(&o->address, why, sizeof(why));
	if (listener < 0) {
		say("listening on %s: %s", o->address_text, why);
		return EXIT_FAILED;
	}
	say("listening on %s", o->address_text);
	status = run(receiver, listener, &before);
	close(listener);
	if (*o->address.path)
		unlink(o->address.path);
	say("%" PRIu64 " batches, %" PRIu64 " duplicates, %" PRIu64 " missing, %" PRIu64
	    " refused, %" PRIu64 " connections closed for a fault of theirs",
	    counts->batches, counts->duplicates, counts->missing, counts->refused,
	    counts->failed_connections);
	return status;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse_option, "ADDRESS", doc, NULL, NULL, NULL
	};
	struct options o = { .idle_ns = 300000000000ULL, .max_batch_bytes = FRAMING_MAX };
	static struct receiver receiver;
	int status;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	receiver_init(&receiver);
	receiver.wrong = o.wrong;
	receiver.idle_ns = o.idle_ns;
	receiver.max_batch_bytes = o.max_batch_bytes;
	status = open_output(&receiver, o.output);
	if (status)
		return status;
	status = listen_and_run(&receiver, &o);
	receiver_free(&receiver);
	receiver.output->close(receiver.output);
	return status;
}
