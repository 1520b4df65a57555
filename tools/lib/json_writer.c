// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_writer.h"
#include "printable.h"

static void check(bool sound, const char *what)
{
	if (sound)
		return;
	fprintf(stderr, "json_writer: %s\n", what);
	abort();
}

static void newline(struct json_writer *json)
{
	if (!json->pretty)
		return;
	putc('\n', json->out);
	for (unsigned int i = 0; i < json->depth; i++)
		fputs("  ", json->out);
}

/* What goes in front of a value, or of a key. */
static void separate(struct json_writer *json)
{
	if (json->depth == 0)
		return;
	if (!json->level[json->depth - 1].empty)
		putc(',', json->out);
	json->level[json->depth - 1].empty = false;
	newline(json);
}

static void before_value(struct json_writer *json)
{
	if (json->after_key) {
		json->after_key = false;
		return;
	}
	check(json->depth == 0 || !json->level[json->depth - 1].object, "value without a key");
	separate(json);
}

static void open_level(struct json_writer *json, bool object)
{
	before_value(json);
	check(json->depth < JSON_MAX_DEPTH, "nested too deeply");
	json->level[json->depth].object = object;
	json->level[json->depth].empty = true;
	json->depth++;
	putc(object ? '{' : '[', json->out);
}

static void close_level(struct json_writer *json, bool object)
{
	bool empty;

	check(json->depth > 0 && json->level[json->depth - 1].object == object && !json->after_key,
	      "end does not match");
	json->depth--;
	empty = json->level[json->depth].empty;
	if (!empty)
		newline(json);
	putc(object ? '}' : ']', json->out);
}

static void put_string(struct json_writer *json, const char *value, size_t len)
{
	const unsigned char *s = (const unsigned char *)value;
	size_t step;

	putc('"', json->out);
	for (size_t i = 0; i < len; i += step) {
		step = utf8_len(s + i, len - i);
		if (step == 0) {
			fputs("\\ufffd", json->out);
			step = 1;
		} else if (s[i] == '"' || s[i] == '\\') {
			fprintf(json->out, "\\%c", s[i]);
		} else if (s[i] == '\n') {
			fputs("\\n", json->out);
		} else if (s[i] == '\t') {
			fputs("\\t", json->out);
		} else if (s[i] < 0x20 || s[i] == 0x7f) {
			fprintf(json->out, "\\u%04x", s[i]);
		} else if (s[i] == 0xc2 && s[i + 1] < 0xa0) {
			fprintf(json->out, "\\u%04x", s[i + 1]); /* controls, too */
		} else {
			fwrite(s + i, 1, step, json->out);
		}
	}
	putc('"', json->out);
}

void json_init(struct json_writer *json, FILE *out, bool pretty)
{
	memset(json, 0, sizeof(*json));
	json->out = out;
	json->pretty = pretty;
}

void json_end(struct json_writer *json)
{
	check(json->depth == 0, "document ends within an object or array");
	putc('\n', json->out);
}

void json_begin_object(struct json_writer *json)
{
	open_level(json, true);
}

void json_end_object(struct json_writer *json)
{
	close_level(json, true);
}

void json_begin_array(struct json_writer *json)
{
	open_level(json, false);
}

void json_end_array(struct json_writer *json)
{
	close_level(json, false);
}

void json_key(struct json_writer *json, const char *key)
{
	check(json->depth > 0 && json->level[json->depth - 1].object && !json->after_key,
	      "key outside of an object");
	separate(json);
	put_string(json, key, strlen(key));
	fputs(json->pretty ? ": " : ":", json->out);
	json->after_key = true;
}

void json_string_n(struct json_writer *json, const char *value, size_t len)
{
	before_value(json);
	put_string(json, value, len);
}

void json_string(struct json_writer *json, const char *value)
{
	if (value)
		json_string_n(json, value, strlen(value));
	else
		json_null(json);
}

void json_u64(struct json_writer *json, uint64_t value)
{
	before_value(json);
	fprintf(json->out, "%" PRIu64, value);
}

void json_s64(struct json_writer *json, int64_t value)
{
	before_value(json);
	fprintf(json->out, "%" PRId64, value);
}

static void put_double(struct json_writer *json, double value, int digits)
{
	char buf[32];

	before_value(json);
	snprintf(buf, sizeof(buf), "%.*g", digits, value);
	/* Whatever the locale has as decimal point. */
	for (char *c = buf; *c; c++) {
		if (*c == ',')
			*c = '.';
	}
	fputs(buf, json->out);
}

void json_double(struct json_writer *json, double value)
{
	if (isfinite(value))
		put_double(json, value, 9);
	else
		json_null(json);
}

void json_double_exact(struct json_writer *json, double value)
{
	int digits = 15;
	char buf[32];

	if (!isfinite(value)) {
		json_null(json);
		return;
	}
	for (; digits < 17; digits++) {
		snprintf(buf, sizeof(buf), "%.*g", digits, value);
		if (strtod(buf, NULL) == value)
			break;
	}
	put_double(json, value, digits);
}

void json_bool(struct json_writer *json, bool value)
{
	before_value(json);
	fputs(value ? "true" : "false", json->out);
}

void json_null(struct json_writer *json)
{
	before_value(json);
	fputs("null", json->out);
}

void json_hex(struct json_writer *json, const void *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *b = bytes;

	before_value(json);
	putc('"', json->out);
	for (size_t i = 0; i < len; i++) {
		putc(digits[b[i] >> 4], json->out);
		putc(digits[b[i] & 15], json->out);
	}
	putc('"', json->out);
}

void json_string_field(struct json_writer *json, const char *key, const char *value)
{
	json_key(json, key);
	json_string(json, value);
}

void json_u64_field(struct json_writer *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_u64(json, value);
}

void json_s64_field(struct json_writer *json, const char *key, int64_t value)
{
	json_key(json, key);
	json_s64(json, value);
}

void json_double_field(struct json_writer *json, const char *key, double value)
{
	json_key(json, key);
	json_double(json, value);
}

void json_bool_field(struct json_writer *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}

void json_hex_field(struct json_writer *json, const char *key, const void *bytes, size_t len)
{
	json_key(json, key);
	json_hex(json, bytes, len);
}
