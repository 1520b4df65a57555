// SPDX-License-Identifier: GPL-2.0
/* The JSON writer and the formats that tools print: byte by byte. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../lib/format.h"
#include "../../lib/json_writer.h"
#include "../../lib/printable.h"
#include "tap.h"

static char *text;
static size_t text_len;
static struct json_writer json;

static void start(bool pretty)
{
	FILE *out = open_memstream(&text, &text_len);

	if (!out)
		bail_out("open_memstream");
	json_init(&json, out, pretty);
}

static void expect(const char *want, const char *what)
{
	fclose(json.out);
	eq_str(text, want, "%s", what);
	free(text);
}

static void string_is(const char *value, size_t len, const char *want, const char *what)
{
	start(false);
	json_string_n(&json, value, len);
	expect(want, what);
}

#define STRING(value, want) string_is(value, sizeof(value) - 1, want, #value)

static void test_strings(void)
{
	STRING("", "\"\"");
	STRING("plain", "\"plain\"");
	STRING("\"\\/", "\"\\\"\\\\/\"");
	STRING("\n\t\r\b\f", "\"\\n\\t\\u000d\\u0008\\u000c\"");
	STRING("\0\x01\x1f\x7f", "\"\\u0000\\u0001\\u001f\\u007f\"");
	STRING("\xc2\x80\xc2\x9b\xc2\xa0", "\"\\u0080\\u009b\xc2\xa0\"");
	STRING("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
	/* Not UTF-8: stray, cut off, overlong, a surrogate, too large. */
	STRING("\x80", "\"\\ufffd\"");
	STRING("\xff\xfe", "\"\\ufffd\\ufffd\"");
	STRING("\xc3", "\"\\ufffd\"");
	STRING("\xe2\x82", "\"\\ufffd\\ufffd\"");
	STRING("\xc3(", "\"\\ufffd(\"");
	STRING("\xc0\xaf", "\"\\ufffd\\ufffd\"");
	STRING("\xe0\x80\xaf", "\"\\ufffd\\ufffd\\ufffd\"");
	STRING("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
	STRING("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
	STRING("\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"");
}

static void test_values(void)
{
	start(false);
	json_begin_array(&json);
	json_u64(&json, UINT64_MAX);
	json_s64(&json, INT64_MIN);
	json_double(&json, 0.5);
	json_double(&json, 0.000000001);
	json_double(&json, INFINITY);
	json_double(&json, NAN);
	json_bool(&json, true);
	json_bool(&json, false);
	json_null(&json);
	json_string(&json, NULL);
	json_hex(&json, "\x00\xff\x10", 3);
	json_end_array(&json);
	json_end(&json);
	expect("[18446744073709551615,-9223372036854775808,0.5,1e-09,null,null,true,false,null,"
	       "null,\"00ff10\"]\n",
	       "values");
}

static void build(void)
{
	json_begin_object(&json);
	json_u64_field(&json, "a", 1);
	json_key(&json, "b");
	json_begin_array(&json);
	json_begin_object(&json);
	json_end_object(&json);
	json_begin_array(&json);
	json_end_array(&json);
	json_s64(&json, -2);
	json_end_array(&json);
	json_string_field(&json, "c\n", "d");
	json_bool_field(&json, "e", true);
	json_hex_field(&json, "f", "", 0);
	json_double_field(&json, "g", 1.25);
	json_end_object(&json);
	json_end(&json);
}

static void test_structure(void)
{
	start(false);
	build();
	build();
	expect("{\"a\":1,\"b\":[{},[],-2],\"c\\n\":\"d\",\"e\":true,\"f\":\"\",\"g\":1.25}\n"
	       "{\"a\":1,\"b\":[{},[],-2],\"c\\n\":\"d\",\"e\":true,\"f\":\"\",\"g\":1.25}\n",
	       "one document a line");
	start(true);
	build();
	expect("{\n  \"a\": 1,\n  \"b\": [\n    {},\n    [],\n    -2\n  ],\n  \"c\\n\": \"d\",\n"
	       "  \"e\": true,\n  \"f\": \"\",\n  \"g\": 1.25\n}\n",
	       "indented");
}

static void test_formats(void)
{
	static const uint8_t uuid[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255};
	char buf[64];

	eq_str(format_size(buf, sizeof(buf), 0), "0 B", "size");
	eq_str(format_size(buf, sizeof(buf), 2097152), "2 MiB", "size");
	eq_str(format_size(buf, sizeof(buf), 1536ULL << 20), "1.5 GiB", "size");
	eq_str(format_size(buf, sizeof(buf), UINT64_MAX), "16 EiB", "size");
	eq_str(format_duration(buf, sizeof(buf), 999), "999 ns", "duration");
	eq_str(format_duration(buf, sizeof(buf), 1250000), "1.25 ms", "duration");
	eq_str(format_duration(buf, sizeof(buf), 59900000000), "59.9 s", "duration");
	eq_str(format_duration(buf, sizeof(buf), 61ULL * 1000000000), "1 min 01 s", "duration");
	eq_str(format_duration(buf, sizeof(buf), 7500ULL * 1000000000), "2 h 05 min", "duration");
	eq_str(format_uuid(buf, sizeof(buf), uuid), "00010203-0405-0607-0809-0a0b0c0d0eff", "uuid");
	setenv("TZ", "XXX-05:30", 1);
	tzset();
	eq_str(format_time(buf, sizeof(buf), 1700000000000000042ULL),
	       "2023-11-15 03:43:20.000000042", "time");
	eq_str(format_time_rfc3339(buf, sizeof(buf), 1700000000000000042ULL),
	       "2023-11-15T03:43:20.000000042+05:30", "time by RFC 3339");
	eq_str(format_time(buf, 8, 1700000000000000042ULL), buf, "a short buffer is no harm");
	format_time_rfc3339(buf, sizeof(buf), UINT64_MAX);
	diag("the end of time: %s", buf);
}

static void test_printable(void)
{
	char buf[16];

	eq_str(printable(buf, sizeof(buf), "kworker/0:1H"), "kworker/0:1H", "plain text stays");
	eq_str(printable(buf, sizeof(buf), "\303\244\342\202\254\360\237\230\200"),
	       "\303\244\342\202\254\360\237\230\200", "so does UTF-8");
	eq_str(printable(buf, sizeof(buf), "\033[2J\r\n\177"), "?[2J???", "control characters");
	eq_str(printable(buf, sizeof(buf), "\302\2332J\302\200\302\237\302\240"),
	       "?2J??\302\240", "C1 controls in UTF-8");
	eq_str(printable(buf, sizeof(buf), "\233x\355\240\200\300\200\303"), "?x??????",
	       "bytes that are no UTF-8");
	eq_str(printable(buf, 4, "ab\303\244"), "ab", "cut between characters");
	eq_str(printable(buf, 1, "ab"), "", "cut to nothing");
}

int main(void)
{
	test_strings();
	test_printable();
	test_values();
	test_structure();
	test_formats();
	return done_testing();
}
