// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "otlp_headers.h"

/* NULL, or what is wrong with it. The value is nobody's to see. */
static const char *check_header(const char *header)
{
	const char *colon = strchr(header, ':');

	if (!colon || colon == header)
		return "it is not of the form 'NAME: VALUE'";
	for (const char *c = header; c < colon; c++) {
		if (*c <= ' ' || *c >= 0x7f)
			return "its name has a character that does not go";
	}
	for (const char *c = colon; *c; c++) {
		if (*c == '\n' || *c == '\r')
			return "its value has the end of a line in it";
	}
	/* An empty one would take a header out. */
	if (!colon[1 + strspn(colon + 1, " \t")])
		return "it has no value";
	return NULL;
}

static bool add(struct curl_slist **list, const char *header)
{
	struct curl_slist *longer = curl_slist_append(*list, header);

	if (longer)
		*list = longer;
	return longer;
}

static bool add_checked(struct curl_slist **list, const char *header, const char *where,
			char *why, size_t why_size)
{
	const char *wrong = check_header(header);

	if (!wrong && add(list, header))
		return true;
	snprintf(why, why_size, "a header%s%s: %s", *where ? " in " : "", where,
		 wrong ? wrong : "no memory");
	return false;
}

/* A line each; empty ones and those that begin with # are left out. */
static bool add_file(struct curl_slist **list, const char *path, char *why, size_t why_size)
{
	FILE *in = fopen(path, "re");
	bool good = in;
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	if (!in)
		snprintf(why, why_size, "headers from %s: %s", path, strerror(errno));
	while (good && (length = getline(&line, &room, in)) >= 0) {
		while (length && (line[length - 1] == '\n' || line[length - 1] == '\r'))
			line[--length] = '\0';
		if (length && *line != '#')
			good = add_checked(list, line, path, why, why_size);
	}
	if (good && ferror(in)) {
		snprintf(why, why_size, "headers from %s: cannot be read", path);
		good = false;
	}
	free(line);
	if (in)
		fclose(in);
	return good;
}

struct curl_slist *otlp_headers(const char *const *headers, char *why, size_t why_size)
{
	struct curl_slist *list = NULL;
	/* And not to ask first whether it may send all of it. */
	bool good = add(&list, "Content-Type: application/x-protobuf") && add(&list, "Expect:");

	if (!good)
		snprintf(why, why_size, "no memory");
	for (; good && headers && *headers; headers++) {
		if (**headers == '@')
			good = add_file(&list, *headers + 1, why, why_size);
		else
			good = add_checked(&list, *headers, "", why, why_size);
	}
	if (good)
		return list;
	curl_slist_free_all(list);
	return NULL;
}
