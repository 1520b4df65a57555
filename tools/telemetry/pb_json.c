// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pb_fields.h"
#include "pb_json.h"

/* The longest name that is written in full. */
#define NAME_LEN 128

/* "session_token": sessionToken */
static void camel_case(const char *name, char camel[NAME_LEN])
{
	size_t length = 0;
	bool upper = false;

	for (; *name && length < NAME_LEN - 1; name++) {
		if (*name == '_') {
			upper = true;
			continue;
		}
		camel[length] = *name;
		if (upper)
			camel[length] = (char)toupper((unsigned char)*name);
		length++;
		upper = false;
	}
	camel[length] = '\0';
}

static void write_base64(struct json_writer *json, const ProtobufCBinaryData *bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
	enum { PADDING = 64 };
	char *text = malloc(bytes->len / 3 * 4 + 5), *out = text;

	if (!text) {
		json_null(json);
		return;
	}
	for (size_t i = 0; i < bytes->len; i += 3) {
		size_t left = bytes->len - i;
		uint32_t three = (uint32_t)bytes->data[i] << 16;

		if (left > 1)
			three |= (uint32_t)bytes->data[i + 1] << 8;
		if (left > 2)
			three |= bytes->data[i + 2];
		*out++ = digits[three >> 18];
		*out++ = digits[three >> 12 & 63];
		*out++ = digits[left > 1 ? three >> 6 & 63 : PADDING];
		*out++ = digits[left > 2 ? three & 63 : PADDING];
	}
	json_string_n(json, text, out - text);
	free(text);
}

/* JSON has no number for some. */
static void write_double(struct json_writer *json, double value)
{
	if (isnan(value))
		json_string(json, "NaN");
	else if (isinf(value))
		json_string(json, value > 0 ? "Infinity" : "-Infinity");
	else
		json_double_exact(json, value);
}

static void write_enum(struct json_writer *json, const ProtobufCFieldDescriptor *field, int value)
{
	const char *name = pb_enum_name(field, value);

	if (name)
		json_string(json, name);
	else
		json_s64(json, value);
}

/* As text: most who read JSON have doubles only. */
static void write_u64(struct json_writer *json, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	json_string(json, text);
}

static void write_s64(struct json_writer *json, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	json_string(json, text);
}

static bool write_value(struct json_writer *json, const ProtobufCFieldDescriptor *field,
			const void *value)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
		json_s64(json, *(const int32_t *)value);
		break;
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		json_u64(json, *(const uint32_t *)value);
		break;
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
		write_s64(json, *(const int64_t *)value);
		break;
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		write_u64(json, *(const uint64_t *)value);
		break;
	case PROTOBUF_C_TYPE_FLOAT:
		write_double(json, (double)*(const float *)value);
		break;
	case PROTOBUF_C_TYPE_DOUBLE:
		write_double(json, *(const double *)value);
		break;
	case PROTOBUF_C_TYPE_BOOL:
		json_bool(json, *(const protobuf_c_boolean *)value);
		break;
	case PROTOBUF_C_TYPE_ENUM:
		write_enum(json, field, *(const int *)value);
		break;
	case PROTOBUF_C_TYPE_STRING:
		json_string(json, *(const char *const *)value);
		break;
	case PROTOBUF_C_TYPE_BYTES:
		write_base64(json, value);
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		return pb_json_write(json, *(const ProtobufCMessage *const *)value);
	}
	return true;
}

static bool write_field(struct json_writer *json, const ProtobufCMessage *message,
			const ProtobufCFieldDescriptor *field)
{
	size_t n = pb_field_count(message, field);
	char name[NAME_LEN];
	bool whole = true;

	/* One that is 0 is as good as any other. */
	if (!n && pb_field_is_number(field) && pb_field_is_known(message, field))
		n = 1;
	if (!n)
		return true;
	camel_case(field->name, name);
	json_key(json, name);
	if (field->label != PROTOBUF_C_LABEL_REPEATED)
		return write_value(json, field, pb_field_value(message, field, 0));
	json_begin_array(json);
	for (size_t i = 0; i < n; i++)
		whole &= write_value(json, field, pb_field_value(message, field, i));
	json_end_array(json);
	return whole;
}

bool pb_json_write(struct json_writer *json, const ProtobufCMessage *message)
{
	const ProtobufCMessageDescriptor *descriptor = message->descriptor;
	bool whole = true;

	/* An object, and perhaps an array in it. */
	if (json->depth + 2 > JSON_MAX_DEPTH) {
		json_null(json);
		return false;
	}
	json_begin_object(json);
	for (unsigned int i = 0; i < descriptor->n_fields; i++)
		whole &= write_field(json, message, &descriptor->fields[i]);
	json_end_object(json);
	return whole;
}
