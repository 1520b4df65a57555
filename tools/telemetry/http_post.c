// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "http_post.h"

#define NSEC_PER_SEC 1000000000ULL

/* How often the time limit is looked at. */
#define LOOK_MS 100

struct http_client {
	CURLM *multi;
	CURL *easy;
	char error[CURL_ERROR_SIZE];
};

/* More than there is room for is of no interest, but still comes. */
static size_t take_body(char *data, size_t one, size_t size, void *arg)
{
	struct http_answer *answer = arg;
	size_t keep = HTTP_ANSWER_MAX - answer->size;

	if (keep > size)
		keep = size;
	memcpy(answer->body + answer->size, data, keep);
	answer->size += keep;
	return size;
}

struct http_client *http_client_new(const char *user_agent)
{
	struct http_client *client = calloc(1, sizeof(*client));

	if (!client)
		return NULL;
	client->multi = curl_multi_init();
	client->easy = curl_easy_init();
	if (!client->multi || !client->easy) {
		http_client_free(client);
		return NULL;
	}
	curl_easy_setopt(client->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(client->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(client->easy, CURLOPT_USERAGENT, user_agent);
	curl_easy_setopt(client->easy, CURLOPT_ERRORBUFFER, client->error);
	curl_easy_setopt(client->easy, CURLOPT_WRITEFUNCTION, take_body);
	/* What was posted to one place is not posted to another that it names. */
	curl_easy_setopt(client->easy, CURLOPT_FOLLOWLOCATION, 0L);
	return client;
}

void http_client_free(struct http_client *client)
{
	if (!client)
		return;
	curl_easy_cleanup(client->easy);
	curl_multi_cleanup(client->multi);
	free(client);
}

static const char *check_parts(CURLU *parts)
{
	char *scheme = NULL, *query = NULL;
	const char *wrong = NULL;

	curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0);
	if (!scheme || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
		wrong = "it is neither http:// nor https://";
	if (curl_url_get(parts, CURLUPART_QUERY, &query, 0) == CURLUE_OK)
		wrong = "a '?' in it: the path is to be added behind it";
	curl_free(scheme);
	curl_free(query);
	return wrong;
}

const char *http_check_url(const char *url, char *shown, size_t shown_size)
{
	CURLU *parts = curl_url();
	const char *wrong = NULL;
	char *text = NULL;

	if (!parts)
		return "no memory";
	if (curl_url_set(parts, CURLUPART_URL, url, 0) != CURLUE_OK)
		wrong = "it is no URL: say http://HOST:4318";
	else
		wrong = check_parts(parts);
	if (!wrong) {
		curl_url_set(parts, CURLUPART_PASSWORD, NULL, 0);
		curl_url_get(parts, CURLUPART_URL, &text, 0);
		snprintf(shown, shown_size, "%s", text ? text : "");
		curl_free(text);
	}
	curl_url_cleanup(parts);
	return wrong;
}

/* "Text/HTML; charset=utf-8" */
static void take_type(struct http_answer *answer, const char *type)
{
	size_t length = 0;

	for (; type && *type && *type != ';' && *type != ' '; type++) {
		if (length < sizeof(answer->type) - 1)
			answer->type[length++] = (char)tolower((unsigned char)*type);
	}
	answer->type[length] = '\0';
}

static void take_answer(struct http_client *client, struct http_answer *answer)
{
	curl_off_t seconds = 0;
	char *type = NULL;

	curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &answer->status);
	curl_easy_getinfo(client->easy, CURLINFO_CONTENT_TYPE, &type);
	take_type(answer, type);
	curl_easy_getinfo(client->easy, CURLINFO_RETRY_AFTER, &seconds);
	/* A day is as good as for ever. */
	if (seconds > 0)
		answer->retry_after_ns = (seconds < 86400 ? seconds : 86400) * NSEC_PER_SEC;
	answer->body[answer->size] = '\0';
}

/* CURLE_OPERATION_TIMEDOUT when the time is over. */
static CURLcode run(struct http_client *client, const struct framing_deadline *deadline)
{
	int running = 1, left, messages;
	CURLMsg *message;

	while (running) {
		if (curl_multi_perform(client->multi, &running) != CURLM_OK)
			return CURLE_OUT_OF_MEMORY;
		if (!running)
			break;
		left = framing_left(deadline, LOOK_MS);
		if (!left)
			return CURLE_OPERATION_TIMEDOUT;
		curl_multi_poll(client->multi, NULL, 0, left, NULL);
	}
	message = curl_multi_info_read(client->multi, &messages);
	return message && message->msg == CURLMSG_DONE ? message->data.result : CURLE_RECV_ERROR;
}

int http_post(struct http_client *client, const char *url, const struct curl_slist *headers,
	      const uint8_t *body, size_t size, const struct framing_deadline *deadline,
	      struct http_answer *answer, char *why, size_t why_size)
{
	CURL *easy = client->easy;
	long os_errno = 0;
	CURLcode result;

	memset(answer, 0, sizeof(*answer));
	*client->error = '\0';
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, answer);
	if (curl_multi_add_handle(client->multi, easy) != CURLM_OK) {
		snprintf(why, why_size, "no memory");
		return -EIO;
	}
	result = run(client, deadline);
	if (result == CURLE_OK)
		take_answer(client, answer);
	curl_multi_remove_handle(client->multi, easy);
	if (result == CURLE_OK)
		return 0;
	if (result == CURLE_OPERATION_TIMEDOUT) {
		snprintf(why, why_size, "it did not answer in time");
		return -ETIMEDOUT;
	}
	/* What curl says of that has a time in it: another text each time. */
	if (result == CURLE_COULDNT_CONNECT) {
		curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &os_errno);
		snprintf(why, why_size, "cannot connect: %s",
			 os_errno ? strerror((int)os_errno) : curl_easy_strerror(result));
		return -EIO;
	}
	snprintf(why, why_size, "%s", *client->error ? client->error :
		 curl_easy_strerror(result));
	return -EIO;
}
