/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes JSON to a stream as it is produced, correct by construction:
 *
 *	struct json_writer json;
 *
 *	json_init(&json, stdout, true);
 *	json_begin_object(&json);
 *	json_key(&json, "name");
 *	json_string(&json, name);
 *	json_u64_field(&json, "seqno", seqno);
 *	json_end_object(&json);
 *	json_end(&json);
 *
 * Strings may hold anything: control characters are escaped, and bytes that are
 * not UTF-8 become U+FFFD. Nesting that does not match, or a value without a key
 * where one belongs, is a bug in the caller and stops the program.
 */
#ifndef MONAD_TOOLS_JSON_WRITER_H
#define MONAD_TOOLS_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_MAX_DEPTH 16

struct json_writer {
	FILE *out;
	bool pretty; /* indented, one value a line; else all on one line */
	bool after_key;
	unsigned int depth;
	struct {
		bool object; /* an array otherwise */
		bool empty;
	} level[JSON_MAX_DEPTH];
};

void json_init(struct json_writer *json, FILE *out, bool pretty);

/* Ends the document: a newline. The writer is ready for another document. */
void json_end(struct json_writer *json);

void json_begin_object(struct json_writer *json);
void json_end_object(struct json_writer *json);
void json_begin_array(struct json_writer *json);
void json_end_array(struct json_writer *json);

/* In an object, before each value. */
void json_key(struct json_writer *json, const char *key);

void json_string(struct json_writer *json, const char *value); /* NULL: null */
void json_string_n(struct json_writer *json, const char *value, size_t len);
void json_u64(struct json_writer *json, uint64_t value);
void json_s64(struct json_writer *json, int64_t value);
void json_double(struct json_writer *json, double value); /* not finite: null */
/* With as many digits as it takes to get the same number back. Not finite: null. */
void json_double_exact(struct json_writer *json, double value);
void json_bool(struct json_writer *json, bool value);
void json_null(struct json_writer *json);
void json_hex(struct json_writer *json, const void *bytes, size_t len); /* "00ff..." */

/* A key and its value. */
void json_string_field(struct json_writer *json, const char *key, const char *value);
void json_u64_field(struct json_writer *json, const char *key, uint64_t value);
void json_s64_field(struct json_writer *json, const char *key, int64_t value);
void json_double_field(struct json_writer *json, const char *key, double value);
void json_bool_field(struct json_writer *json, const char *key, bool value);
void json_hex_field(struct json_writer *json, const char *key, const void *bytes, size_t len);

#endif /* MONAD_TOOLS_JSON_WRITER_H */
