// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "sessions.h"

/* Those that nobody uses any more are forgotten when there are so many. */
#define SESSIONS_MAX 4096

/* As pb_json.c writes batches. */
#define LINE_BEGINS "{\"sessionToken\":\""

/* SESSION_TOKEN bytes in base64. */
#define TEXT_LEN 24

struct session *sessions_find(struct sessions *sessions, const uint8_t *token, size_t length)
{
	if (length != SESSION_TOKEN)
		return NULL;
	for (size_t i = 0; i < sessions->nr; i++) {
		if (!memcmp(sessions->all[i].token, token, length)) {
			sessions->all[i].used = ++sessions->uses;
			return &sessions->all[i];
		}
	}
	return NULL;
}

/* Room for one more: at the end, or that of the one not used for longest. */
static struct session *get_room(struct sessions *sessions)
{
	struct session *oldest = NULL;

	if (!sessions->all) {
		/* They do not move: connections have pointers to them. */
		sessions->all = calloc(SESSIONS_MAX, sizeof(*sessions->all));
		if (!sessions->all)
			return NULL;
		sessions->room = SESSIONS_MAX;
	}
	if (sessions->nr < sessions->room)
		return &sessions->all[sessions->nr++];
	for (size_t i = 0; i < sessions->nr; i++) {
		struct session *session = &sessions->all[i];

		if (!session->connection && (!oldest || session->used < oldest->used))
			oldest = session;
	}
	return oldest;
}

static struct session *add(struct sessions *sessions, const uint8_t token[SESSION_TOKEN])
{
	struct session *session = get_room(sessions);

	if (!session)
		return NULL;
	memset(session, 0, sizeof(*session));
	memcpy(session->token, token, SESSION_TOKEN);
	session->used = ++sessions->uses;
	return session;
}

struct session *sessions_new(struct sessions *sessions)
{
	uint8_t token[SESSION_TOKEN];

	if (getrandom(token, sizeof(token), 0) != sizeof(token))
		return NULL;
	return add(sessions, token);
}

static int digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static bool parse_token(const char text[TEXT_LEN], uint8_t token[SESSION_TOKEN])
{
	uint32_t bits = 0;
	size_t bytes = 0;

	for (size_t i = 0; i < TEXT_LEN - 2; i++) {
		if (digit(text[i]) < 0)
			return false;
		bits = bits << 6 | digit(text[i]);
		if (i % 4 && bytes < SESSION_TOKEN)
			token[bytes++] = bits >> (6 - 2 * (i % 4));
	}
	return bytes == SESSION_TOKEN;
}

/* The two are the first that a batch has. */
static void read_line(struct sessions *sessions, const char *line)
{
	uint8_t token[SESSION_TOKEN];
	struct session *session;
	char text[TEXT_LEN + 1];
	uint64_t sequence;
	int end = 0;

	if (sscanf(line, LINE_BEGINS "%24[A-Za-z0-9+/=]\",\"sequence\":\"%" SCNu64 "\"%n",
		   text, &sequence, &end) != 2 || !end)
		return;
	if (strlen(text) != TEXT_LEN || !parse_token(text, token))
		return;
	session = sessions_find(sessions, token, sizeof(token));
	if (!session)
		session = add(sessions, token);
	if (session && sequence > session->last_sequence)
		session->last_sequence = sequence;
}

static int read_lines(struct sessions *sessions, FILE *in, off_t *whole)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	off_t at = 0;

	*whole = -1;
	while ((length = getline(&line, &room, in)) > 0) {
		if (line[length - 1] == '\n') {
			read_line(sessions, line);
			at += length;
			continue;
		}
		if (!strncmp(line, LINE_BEGINS, strlen(LINE_BEGINS)))
			*whole = at;
	}
	free(line);
	return ferror(in) ? -EIO : 0;
}

int sessions_recover(struct sessions *sessions, const char *path)
{
	FILE *in = fopen(path, "r+e");
	off_t whole;
	int err;

	if (!in)
		return errno == ENOENT ? 0 : -errno;
	err = read_lines(sessions, in, &whole);
	if (!err && whole >= 0 && ftruncate(fileno(in), whole))
		err = -errno;
	fclose(in);
	return err;
}

void sessions_free(struct sessions *sessions)
{
	free(sessions->all);
	memset(sessions, 0, sizeof(*sessions));
}
