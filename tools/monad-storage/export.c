// SPDX-License-Identifier: GPL-2.0
/* monad-storage export: what the programs added up, and what happens, for monitoring. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <microhttpd.h>

#include "export_observe.h"
#include "export_options.h"
#include "interrupt.h"
#include "monad_storage.h"
#include "prometheus.h"
#include "write_file.h"

struct export {
	struct export_options options;
	int sent;            /* the exit status of sending, beside serving */
	char complaint[256]; /* the last one: each is made once */
};

/*
 * Pages
 */

/* The metrics as they are now. 0, or -errno: of observation_take(). */
static int write_metrics(FILE *out)
{
	struct families families;
	int err = export_observe(&families);

	if (!err)
		prometheus_write(out, &families);
	families_free(&families);
	return err;
}

static unsigned int metrics_page(char **text, size_t *length, void *arg)
{
	struct export *export = arg;
	char complaint[sizeof(export->complaint)] = "";
	FILE *out = open_memstream(text, length);
	int err;

	if (!out)
		return MHD_HTTP_INTERNAL_SERVER_ERROR;
	err = write_metrics(out);
	if (err) {
		export_explain(err, complaint, sizeof(complaint));
		fprintf(out, "%s\n", complaint);
		if (strcmp(complaint, export->complaint) != 0)
			error("%s", complaint);
	}
	memcpy(export->complaint, complaint, sizeof(complaint));
	if (fclose(out))
		err = -ENOMEM;
	return err ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_OK;
}

static unsigned int index_page(char **text, size_t *length, void *arg)
{
	static const char page[] =
		"<!DOCTYPE html>\n<html lang=\"en\"><head><title>monad-storage</title></head>"
		"<body><h1>monad-storage " MONAD_STORAGE_VERSION "</h1>"
		"<p><a href=\"/metrics\">Metrics</a></p></body></html>\n";

	*text = xstrdup(page);
	*length = sizeof(page) - 1;
	return MHD_HTTP_OK;
}

/*
 * Serving and sending
 */

/* A socket, or -1 after a message. */
static int start_listening(struct export_options *options)
{
	char text[HTTP_ADDRESS_LEN];
	int fd = http_listen(&options->address);

	if (fd == -EADDRINUSE)
		error("%s is taken: another program listens there ('ss -ltnp' says which)",
		      http_address_text(&options->address, text));
	else if (fd < 0)
		error("listening on %s: %s", http_address_text(&options->address, text),
		      strerror(-fd));
	if (fd < 0)
		return -1;
	/* Lines of JSON go where this would. */
	if (export_targets_use_stdout(&options->push.targets))
		return fd;
	printf("serving http://%s/metrics\n", http_address_text(&options->address, text));
	if (finish_output() == EXIT_OK)
		return fd;
	close(fd);
	return -1;
}

static int serve(struct export *export, int fd)
{
	const struct http_page pages[] = {
		{ "/metrics", PROMETHEUS_CONTENT_TYPE, metrics_page, export },
		{ "/", "text/html; charset=utf-8", index_page, export },
	};
	const struct http_limits limits = HTTP_DEFAULT_LIMITS;
	int err = http_serve(fd, pages, ARRAY_SIZE(pages), &limits);

	if (!err)
		return EXIT_OK;
	error("serving: %s", strerror(-err));
	return EXIT_FAILED;
}

static void *send_beside(void *arg)
{
	struct export *export = arg;

	export->sent = push_run(&export->options.push);
	/* It may have ended by itself: then so do the others. */
	if (!interrupted)
		kill(getpid(), SIGTERM);
	return NULL;
}

/* Signals are for the one that serves. */
static int serve_and_send(struct export *export, int fd)
{
	sigset_t all, before;
	pthread_t thread;
	int err, status;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, send_beside, export);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		error("starting a thread: %s", strerror(err));
		export_targets_stop(&export->options.push.targets, 0);
		close(fd);
		return EXIT_FAILED;
	}
	status = serve(export, fd);
	interrupted = 1;
	pthread_join(thread, NULL);
	return status == EXIT_OK ? export->sent : status;
}

/* What will not change while it runs is said at once. 0, or an exit status. */
static int check_permission(void)
{
	struct families families;
	char complaint[256];
	int err = export_observe(&families);

	families_free(&families);
	if (err != -EPERM && err != -EACCES)
		return EXIT_OK;
	export_explain(err, complaint, sizeof(complaint));
	error("%s", complaint);
	return EXIT_FAILED;
}

static int run(struct export *export)
{
	struct push_options *push = &export->options.push;
	int fd = -1, status = check_permission();

	if (status)
		return status;
	catch_interrupts();
	if (export->options.listen) {
		fd = start_listening(&export->options);
		if (fd < 0)
			return EXIT_FAILED;
	}
	status = export_targets_start(&push->targets);
	if (status) {
		if (fd >= 0)
			close(fd);
		return status;
	}
	if (fd < 0)
		return push_run(push);
	return push->targets.nr ? serve_and_send(export, fd) : serve(export, fd);
}

/*
 * Once
 */

/* 0, or an exit status after a message. */
static int write_all(FILE *out, void *unused)
{
	char complaint[256];
	int err = write_metrics(out);

	if (!err)
		return EXIT_OK;
	export_explain(err, complaint, sizeof(complaint));
	error("%s", complaint);
	return EXIT_FAILED;
}

int cmd_export(int argc, char **argv)
{
	static struct export export;

	export_parse(&export.options, argc, argv);
	if (export.options.once)
		return write_all(stdout, NULL);
	/* For node_exporter, which does not run as root. */
	if (export.options.textfile)
		return write_file(export.options.textfile, 0644, write_all, NULL);
	return run(&export);
}
