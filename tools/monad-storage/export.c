// SPDX-License-Identifier: GPL-2.0
/* monad-storage export: what the programs added up, for monitoring. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <microhttpd.h>

#include "http_server.h"
#include "interrupt.h"
#include "monad_storage.h"
#include "new_file.h"
#include "prometheus.h"
#include "samples.h"

static const char doc[] =
	"Export what was counted since the start of the recording, as metrics in the text format "
	"of Prometheus: served over HTTP until it is interrupted, printed once, or written to a "
	"file.\v"
	"Takes root. It reads counters only: any number can do so at once, and recording may be "
	"stopped and started again meanwhile. While nothing is recorded, that is what it says "
	"(monad_storage_recording 0). Nobody is asked for a password: serve other addresses than "
	"127.0.0.1 in a network of your own only.\n\n"
	"EXAMPLES\n"
	"  monad-storage export --prometheus 19150         on http://127.0.0.1:19150/metrics\n"
	"  monad-storage export --prometheus 10.1.2.3:19150\n"
	"  monad-storage export --once | grep latency\n"
	"  monad-storage export --textfile /var/lib/prometheus/node-exporter/storage.prom\n"
	"                                                 for node_exporter, from a timer\n";

#define OPTION_ONCE 1
#define OPTION_TEXTFILE 2

static const struct argp_option options[] = {
	{ "prometheus", 'p', "[ADDRESS:]PORT", 0,
	  "Serve /metrics there; on 127.0.0.1 unless it says where", 0 },
	{ "once", OPTION_ONCE, NULL, 0, "Print the metrics and end", 0 },
	{ "textfile", OPTION_TEXTFILE, "FILE", 0,
	  "Write the metrics to FILE, which is replaced at once, and end", 0 },
	{}
};

struct export {
	const char *listen;
	union http_address address;
	bool once;
	const char *textfile;
	char complaint[256]; /* the last one: each is made once */
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct export *export = state->input;
	const char *wrong;

	switch (key) {
	case 'p':
		wrong = http_parse_address(arg, &export->address);
		if (wrong)
			argp_error(state, "--prometheus %s: %s", arg, wrong);
		export->listen = arg;
		return 0;
	case OPTION_ONCE:
		export->once = true;
		return 0;
	case OPTION_TEXTFILE:
		if (!*arg)
			argp_error(state, "--textfile wants a file");
		export->textfile = arg;
		return 0;
	case ARGP_KEY_END:
		if (!!export->listen + export->once + !!export->textfile != 1)
			argp_error(state, "one of --prometheus, --once, --textfile");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Why nothing can be said of the recording, for users. */
static void explain(int err, char *text, size_t size)
{
	switch (-err) {
	case EPERM:
	case EACCES:
		snprintf(text, size, "looking at what is recorded takes root");
		break;
	case EPROTO:
		snprintf(text, size, "the recording was started by another version of "
				     "monad-storage: stop it and start it again");
		break;
	case ENOTDIR:
		snprintf(text, size, "what is in the place of the recording is not what "
				     "'monad-storage start' makes; 'monad-storage status' says "
				     "more");
		break;
	default:
		snprintf(text, size, "reading the recording: %s", strerror(-err));
	}
}

/* The metrics as they are now. 0, or -errno: of observation_take(). */
static int write_metrics(FILE *out)
{
	struct observation seen;
	struct families families;
	int err = observation_take(&seen);

	if (err)
		return err;
	samples_make(&families, &seen);
	prometheus_write(out, &families);
	families_free(&families);
	observation_free(&seen);
	return 0;
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
		explain(err, complaint, sizeof(complaint));
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

static int serve(struct export *export)
{
	const struct http_page pages[] = {
		{ "/metrics", PROMETHEUS_CONTENT_TYPE, metrics_page, export },
		{ "/", "text/html; charset=utf-8", index_page, export },
	};
	const struct http_limits limits = HTTP_DEFAULT_LIMITS;
	char text[HTTP_ADDRESS_LEN], complaint[256];
	struct observation seen;
	int fd, err;

	/* What will not change while it runs is said at once. */
	err = observation_take(&seen);
	if (err == -EPERM || err == -EACCES) {
		explain(err, complaint, sizeof(complaint));
		error("%s", complaint);
		return EXIT_FAILED;
	}
	if (!err)
		observation_free(&seen);
	catch_interrupts();
	fd = http_listen(&export->address);
	if (fd < 0) {
		if (fd == -EADDRINUSE)
			error("%s is taken: another program listens there ('ss -ltnp' says which)",
			      http_address_text(&export->address, text));
		else
			error("listening on %s: %s", http_address_text(&export->address, text),
			      strerror(-fd));
		return EXIT_FAILED;
	}
	printf("serving http://%s/metrics\n", http_address_text(&export->address, text));
	if (finish_output() != EXIT_OK) {
		close(fd);
		return EXIT_FAILED;
	}
	err = http_serve(fd, pages, ARRAY_SIZE(pages), &limits);
	if (err) {
		error("serving: %s", strerror(-err));
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

/* 0, or an exit status after a message. */
static int write_all(FILE *out)
{
	char complaint[256];
	int err = write_metrics(out);

	if (!err)
		return EXIT_OK;
	explain(err, complaint, sizeof(complaint));
	error("%s", complaint);
	return EXIT_FAILED;
}

/* Whoever reads the file sees the old one or the new one. */
static int write_textfile(const char *path)
{
	int err, status = EXIT_FAILED;
	struct new_file file;
	FILE *out = NULL;

	err = new_file_create(&file, path);
	if (err) {
		error("creating %s: %s", path, strerror(err));
		return EXIT_FAILED;
	}
	/* For node_exporter, which does not run as root. */
	err = fchmod(file.fd, 0644) ? errno : 0;
	if (!err) {
		out = new_file_stream(&file);
		err = out ? 0 : errno;
	}
	if (out) {
		status = write_all(out);
		err = new_file_stream_end(&file, out);
	}
	if (!err && status == EXIT_OK)
		err = new_file_publish(&file, true);
	if (err) {
		error("writing %s: %s", path, strerror(err));
		status = EXIT_FAILED;
	}
	new_file_close(&file);
	return status;
}

int cmd_export(int argc, char **argv)
{
	static const struct argp argp = { options, parse_option, NULL, doc, NULL, NULL, NULL };
	struct export export = {};

	argp_parse(&argp, argc, argv, 0, NULL, &export);
	if (export.once)
		return write_all(stdout);
	return export.textfile ? write_textfile(export.textfile) : serve(&export);
}
