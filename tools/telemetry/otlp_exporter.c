// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <curl/curl.h>

#include "gzip.h"
#include "http_post.h"
#include "otlp/otlp.pb-c.h"
#include "otlp_exporter.h"
#include "otlp_headers.h"
#include "printable.h"

#define TIMEOUT_NS 10000000000ULL
#define TYPE "application/x-protobuf"

/* The two requests that a batch is. */
enum { METRICS, LOGS, SIGNALS };

/* What became of one of them. */
struct signal_state {
	bool done;         /* it is not to be sent again */
	bool refused;
	uint64_t rejected; /* of what was in it, all or a part */
};

struct otlp {
	struct exporter exporter;
	struct export_sender sender;
	struct otlp_options options;
	struct http_client *client;
	char *urls[SIGNALS];
	uint64_t sequence; /* of the batch that the next is about */
	struct signal_state state[SIGNALS];
	bool taken; /* anything ever */
	struct http_answer answer;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/*
 * Answers
 */

/* Adds to what there is to say already. */
static void __attribute__((format(printf, 3, 4)))
say(char *why, size_t why_size, const char *format, ...)
{
	size_t used = strlen(why);
	va_list args;

	if (used)
		used += snprintf(why + used, why_size - used, "; ");
	if (used >= why_size)
		return;
	va_start(args, format);
	vsnprintf(why + used, why_size - used, format, args);
	va_end(args);
}

/* What the body says of an error: a message of OTLP's, or the beginning of a text. */
static void error_text(const struct http_answer *answer, char *text, size_t size)
{
	char plain[160] = "";
	Otlp__Failure *failure;

	if (!strcmp(answer->type, TYPE)) {
		failure = otlp__failure__unpack(NULL, answer->size, answer->body);
		if (failure) {
			snprintf(plain, sizeof(plain), "%s", failure->message);
			otlp__failure__free_unpacked(failure, NULL);
		}
	} else if (!strcmp(answer->type, "text/plain") ||
		   !strcmp(answer->type, "application/json")) {
		snprintf(plain, sizeof(plain), "%.159s", (const char *)answer->body);
		plain[strcspn(plain, "\r\n")] = '\0';
	}
	printable(text, size, plain);
}

static bool is_busy(long status)
{
	return status == 429 || status == 502 || status == 503 || status == 504;
}

/* Success, but of how much? */
static void take_success(struct otlp *otlp, struct signal_state *state, size_t nr, char *why,
			 size_t why_size)
{
	const struct http_answer *answer = &otlp->answer;
	char text[160];
	Otlp__ExportResponse *response;
	const Otlp__PartialSuccess *partial;

	/* Nothing in it, or in JSON: as some have it. */
	if (!answer->size || strcmp(answer->type, TYPE) != 0)
		return;
	response = otlp__export_response__unpack(NULL, answer->size, answer->body);
	if (!response) {
		say(why, why_size, "its answer of success is garbage");
		return;
	}
	partial = response->partial_success;
	if (partial && partial->rejected > 0) {
		state->rejected = (uint64_t)partial->rejected < nr ? partial->rejected : nr;
		say(why, why_size, "it did not take %" PRIu64 " of %zu: %s", state->rejected, nr,
		    printable(text, sizeof(text), partial->error_message));
	} else if (partial && *partial->error_message) {
		say(why, why_size, "it says: %s",
		    printable(text, sizeof(text), partial->error_message));
	}
	otlp__export_response__free_unpacked(response, NULL);
}

/* Is that a receiver of OTLP at all? A web server may say 200 to anybody. */
static bool is_otlp(const struct http_answer *answer)
{
	return !answer->size || !strcmp(answer->type, TYPE) ||
	       !strcmp(answer->type, "application/json") || !*answer->type;
}

static enum export_result refuse(struct signal_state *state, size_t nr)
{
	state->done = true;
	state->refused = true;
	state->rejected = nr;
	return EXPORT_REFUSED;
}

static const char *hint(const struct otlp *otlp, int which, long status)
{
	if (which == LOGS && (status == 404 || (status == 400 && otlp->taken)))
		return " (it may take metrics only: --events=off leaves events out)";
	if (status == 404)
		return " (is that where it takes OTLP?)";
	if (status == 401 || status == 403)
		return " (a token is given with --otlp-header)";
	if ((status == 400 || status == 415) && !otlp->taken && !otlp->options.plain)
		return " (does it take gzip? If not: --otlp-compression=none)";
	return status >= 300 && status < 400 ? " (it is elsewhere: give that URL)" : "";
}

static enum export_result take_answer(struct otlp *otlp, int which, size_t nr, char *why,
				      size_t why_size)
{
	const char *path = which == METRICS ? "/v1/metrics" : "/v1/logs";
	struct signal_state *state = &otlp->state[which];
	const struct http_answer *answer = &otlp->answer;
	char text[200];

	if (answer->status >= 200 && answer->status < 300) {
		if (!is_otlp(answer)) {
			say(why, why_size, "%s: it answers with %s, and is no receiver of OTLP",
			    path, printable(text, sizeof(text), answer->type));
			return refuse(state, nr);
		}
		state->done = true;
		otlp->taken = true;
		take_success(otlp, state, nr, why, why_size);
		return EXPORT_SENT;
	}
	error_text(answer, text, sizeof(text));
	if (is_busy(answer->status)) {
		otlp->exporter.retry_after_ns = answer->retry_after_ns;
		say(why, why_size, "%s: it is busy, status %ld%s%s", path, answer->status,
		    *text ? ": " : "", text);
		return EXPORT_AGAIN;
	}
	say(why, why_size, "%s: status %ld%s%s%s", path, answer->status, *text ? ": " : "", text,
	    hint(otlp, which, answer->status));
	return refuse(state, nr);
}

/*
 * Requests
 */

/* Takes @body. NULL without memory. */
static uint8_t *compress_body(uint8_t *body, size_t *size)
{
	uint8_t *compressed = gzip_compress(body, *size, size);

	free(body);
	return compressed;
}

static enum export_result send_signal(struct otlp *otlp, int which,
				      const Monad__TelemetryBatch *batch,
				      const struct curl_slist *headers, char *why, size_t why_size)
{
	const struct framing_deadline deadline = {
		.at_ns = now_ns() + otlp->options.timeout_ns,
		.sooner = &otlp->exporter.give_up_ns,
	};
	size_t nr = which == METRICS ? otlp_count_metrics(batch) : otlp_count_events(batch);
	size_t size = 0;
	uint8_t *body;
	int err;

	if (!nr || otlp->state[which].done)
		return EXPORT_SENT;
	if (which == METRICS)
		body = otlp_metrics(batch, &otlp->sender, &size);
	else
		body = otlp_logs(batch, &otlp->sender, otlp->options.references, &size);
	if (body && !otlp->options.plain)
		body = compress_body(body, &size);
	if (!body) {
		say(why, why_size, "no memory");
		return EXPORT_AGAIN;
	}
	err = http_post(otlp->client, otlp->urls[which], headers, body, size, &deadline,
			&otlp->answer, why, why_size);
	free(body);
	return err ? EXPORT_AGAIN : take_answer(otlp, which, nr, why, why_size);
}

/* All of it was refused if all of what there was in it was. */
static enum export_result finish(struct otlp *otlp, const Monad__TelemetryBatch *batch)
{
	const struct signal_state *state = otlp->state;

	if ((state[METRICS].refused || !otlp_count_metrics(batch)) &&
	    (state[LOGS].refused || !otlp_count_events(batch)) &&
	    (state[METRICS].refused || state[LOGS].refused))
		return EXPORT_REFUSED;
	otlp->exporter.rejected_metrics = state[METRICS].rejected;
	otlp->exporter.rejected_events = state[LOGS].rejected;
	return EXPORT_SENT;
}

/* NULL with the reason in @why. */
static struct curl_slist *make_headers(const struct otlp *otlp, char *why, size_t why_size)
{
	struct curl_slist *headers = otlp_headers(otlp->options.headers, why, why_size), *more;

	if (!headers || otlp->options.plain)
		return headers;
	more = curl_slist_append(headers, "Content-Encoding: gzip");
	if (!more) {
		curl_slist_free_all(headers);
		snprintf(why, why_size, "no memory");
	}
	return more;
}

static enum export_result send_batch(struct exporter *exporter, Monad__TelemetryBatch *batch,
				     char *why, size_t why_size)
{
	struct otlp *otlp = (struct otlp *)exporter;
	enum export_result result = EXPORT_SENT;
	struct curl_slist *headers = make_headers(otlp, why, why_size);

	if (!headers)
		return EXPORT_AGAIN;
	/* What was done of it when it was tried before stays so. */
	if (otlp->sequence != batch->sequence)
		memset(otlp->state, 0, sizeof(otlp->state));
	otlp->sequence = batch->sequence;
	for (int which = 0; which < SIGNALS && result != EXPORT_AGAIN; which++)
		result = send_signal(otlp, which, batch, headers, why, why_size);
	curl_slist_free_all(headers);
	return result == EXPORT_AGAIN ? EXPORT_AGAIN : finish(otlp, batch);
}

static void close_exporter(struct exporter *exporter)
{
	struct otlp *otlp = (struct otlp *)exporter;

	http_client_free(otlp->client);
	free(otlp->urls[METRICS]);
	free(otlp->urls[LOGS]);
	free(otlp);
}

static char *add_path(const char *url, const char *path)
{
	size_t length = strlen(url);
	char *whole;

	while (length && url[length - 1] == '/')
		length--;
	return asprintf(&whole, "%.*s%s", (int)length, url, path) < 0 ? NULL : whole;
}

static bool is_good(struct otlp *otlp, const char *url, char *why, size_t why_size)
{
	const char *wrong = http_check_url(url, otlp->exporter.target,
					   sizeof(otlp->exporter.target));
	struct curl_slist *headers;

	if (wrong) {
		snprintf(why, why_size, "%s", wrong);
		return false;
	}
	headers = otlp_headers(otlp->options.headers, why, why_size);
	curl_slist_free_all(headers);
	return headers;
}

struct exporter *otlp_exporter(const char *url, const struct export_sender *sender,
			       const struct otlp_options *options, char *why, size_t why_size)
{
	struct otlp *otlp = calloc(1, sizeof(*otlp));
	char agent[128];

	snprintf(why, why_size, "no memory");
	if (!otlp)
		return NULL;
	otlp->exporter.name = "otlp";
	otlp->exporter.send = send_batch;
	otlp->exporter.close = close_exporter;
	otlp->sender = *sender;
	if (options)
		otlp->options = *options;
	if (!otlp->options.timeout_ns)
		otlp->options.timeout_ns = TIMEOUT_NS;
	curl_global_init(CURL_GLOBAL_DEFAULT);
	snprintf(agent, sizeof(agent), "%s/%s", sender->agent, sender->version);
	if (!is_good(otlp, url, why, why_size)) {
		close_exporter(&otlp->exporter);
		return NULL;
	}
	otlp->client = http_client_new(agent);
	otlp->urls[METRICS] = add_path(url, "/v1/metrics");
	otlp->urls[LOGS] = add_path(url, "/v1/logs");
	if (!otlp->client || !otlp->urls[METRICS] || !otlp->urls[LOGS]) {
		close_exporter(&otlp->exporter);
		return NULL;
	}
	return &otlp->exporter;
}
