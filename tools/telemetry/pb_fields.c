// SPDX-License-Identifier: GPL-2.0
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pb_fields.h"

/* Longer ones have nothing that says whether they are known. */
#define PB_NAME_LEN 128

/* Of one in a struct, or in an array of a repeated field. */
static size_t value_size(const ProtobufCFieldDescriptor *field)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
	case PROTOBUF_C_TYPE_FLOAT:
		return 4;
	case PROTOBUF_C_TYPE_ENUM:
		return sizeof(int);
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return 8;
	case PROTOBUF_C_TYPE_BOOL:
		return sizeof(protobuf_c_boolean);
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	}
	return 0;
}

static const void *member(const ProtobufCMessage *message, unsigned int offset)
{
	return (const char *)message + offset;
}

/* Nothing but zeros, or text without a letter: as it is when nobody set it. */
static bool is_default(const ProtobufCFieldDescriptor *field, const void *value)
{
	static const uint64_t zero;
	const char *text;

	switch (field->type) {
	case PROTOBUF_C_TYPE_MESSAGE:
		return !*(void *const *)value;
	case PROTOBUF_C_TYPE_STRING:
		text = *(const char *const *)value;
		return !text || !*text;
	case PROTOBUF_C_TYPE_BYTES:
		return !((const ProtobufCBinaryData *)value)->len;
	default:
		return !memcmp(value, &zero, value_size(field));
	}
}

static bool is_set(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
	const void *value = member(message, field->offset);

	if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
		if (*(const int *)member(message, field->quantifier_offset) != (int)field->id)
			return false;
		return field->type != PROTOBUF_C_TYPE_MESSAGE || !is_default(field, value);
	}
	if (field->label == PROTOBUF_C_LABEL_REQUIRED && field->type != PROTOBUF_C_TYPE_MESSAGE)
		return true;
	/* proto2: the others have a flag, these are NULL. */
	if (field->label == PROTOBUF_C_LABEL_OPTIONAL && field->quantifier_offset)
		return *(const protobuf_c_boolean *)member(message, field->quantifier_offset);
	return !is_default(field, value);
}

size_t pb_field_count(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
	if (field->label == PROTOBUF_C_LABEL_REPEATED)
		return *(const size_t *)member(message, field->quantifier_offset);
	return is_set(message, field);
}

bool pb_field_is_number(const ProtobufCFieldDescriptor *field)
{
	return field->label == PROTOBUF_C_LABEL_NONE &&
	       !(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) &&
	       field->type != PROTOBUF_C_TYPE_STRING && field->type != PROTOBUF_C_TYPE_BYTES &&
	       field->type != PROTOBUF_C_TYPE_MESSAGE;
}

bool pb_field_is_known(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
	const ProtobufCFieldDescriptor *has;
	size_t length = strlen(field->name);
	char name[PB_NAME_LEN];

	if (length > 3 && !strcmp(field->name + length - 3, "_ns"))
		length -= 3;
	if (snprintf(name, sizeof(name), "has_%.*s", (int)length, field->name) >= sizeof(name))
		return true;
	has = protobuf_c_message_descriptor_get_field_by_name(message->descriptor, name);
	return !has || has->type != PROTOBUF_C_TYPE_BOOL || pb_field_count(message, has);
}

const void *pb_field_value(const ProtobufCMessage *message,
			   const ProtobufCFieldDescriptor *field, size_t i)
{
	const void *value = member(message, field->offset);

	if (field->label == PROTOBUF_C_LABEL_REPEATED)
		return *(const char *const *)value + i * value_size(field);
	return value;
}

const char *pb_enum_name(const ProtobufCFieldDescriptor *field, int value)
{
	const ProtobufCEnumValue *found =
		protobuf_c_enum_descriptor_get_value(field->descriptor, value);

	return found ? found->name : NULL;
}
