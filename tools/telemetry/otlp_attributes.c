// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "otlp_attributes.h"
#include "pb_fields.h"
#include "printable.h"

/* What the conversion of one message needs to know. */
struct conversion {
	struct arena *arena;
	const struct otlp_reference *references;
	const Monad__Dictionary *dictionary;
};

void attributes_begin(struct attributes *attributes, struct arena *arena)
{
	memset(attributes, 0, sizeof(*attributes));
	attributes->arena = arena;
}

static void add(struct attributes *attributes, const char *key, Otlp__AnyValue *value)
{
	Otlp__KeyValue *new = arena_alloc(attributes->arena, sizeof(*new));

	if (attributes->nr == attributes->room) {
		size_t room = attributes->room ? 2 * attributes->room : 16;
		Otlp__KeyValue **values = arena_pointers(attributes->arena, room);

		if (!values)
			return;
		if (attributes->nr)
			memcpy(values, attributes->values, attributes->nr * sizeof(void *));
		attributes->values = values;
		attributes->room = room;
	}
	if (!new || !value)
		return;
	otlp__key_value__init(new);
	new->key = (char *)key;
	new->value = value;
	attributes->values[attributes->nr++] = new;
}

char *attributes_utf8(struct arena *arena, const char *text)
{
	size_t length = strlen(text), at = 0, step;
	char *copy;

	while (at < length && (step = utf8_len((const unsigned char *)text + at, length - at)))
		at += step;
	if (at == length)
		return (char *)text;
	copy = arena_printf(arena, "%s", text);
	for (; *copy && at < length; at += step ? step : 1) {
		step = utf8_len((const unsigned char *)copy + at, length - at);
		if (!step)
			copy[at] = '?';
	}
	return copy;
}

static Otlp__AnyValue *new_value(struct arena *arena, Otlp__AnyValue__ValueCase value_case)
{
	Otlp__AnyValue *value = arena_alloc(arena, sizeof(*value));

	if (value) {
		otlp__any_value__init(value);
		value->value_case = value_case;
	}
	return value;
}

Otlp__AnyValue *attributes_text_value(struct arena *arena, const char *text)
{
	Otlp__AnyValue *value = new_value(arena, OTLP__ANY_VALUE__VALUE_STRING_VALUE);

	if (value)
		value->string_value = attributes_utf8(arena, text);
	return value;
}

static Otlp__AnyValue *int_value(struct arena *arena, int64_t number)
{
	Otlp__AnyValue *value = new_value(arena, OTLP__ANY_VALUE__VALUE_INT_VALUE);

	if (value)
		value->int_value = number;
	return value;
}

/* Those that have no room in 64 bits with a sign are text. */
static Otlp__AnyValue *unsigned_value(struct arena *arena, uint64_t number)
{
	if (number <= INT64_MAX)
		return int_value(arena, (int64_t)number);
	return attributes_text_value(arena, arena_printf(arena, "%" PRIu64, number));
}

static Otlp__AnyValue *double_value(struct arena *arena, double number)
{
	Otlp__AnyValue *value = new_value(arena, OTLP__ANY_VALUE__VALUE_DOUBLE_VALUE);

	if (value)
		value->double_value = number;
	return value;
}

static Otlp__AnyValue *bool_value(struct arena *arena, bool is)
{
	Otlp__AnyValue *value = new_value(arena, OTLP__ANY_VALUE__VALUE_BOOL_VALUE);

	if (value)
		value->bool_value = is;
	return value;
}

static Otlp__AnyValue *bytes_value(struct arena *arena, const ProtobufCBinaryData *bytes)
{
	Otlp__AnyValue *value = new_value(arena, OTLP__ANY_VALUE__VALUE_BYTES_VALUE);

	if (value)
		value->bytes_value = *bytes;
	return value;
}

/* Of @room values at most, to be filled in. */
static Otlp__AnyValue *array_value(struct arena *arena, size_t room)
{
	Otlp__AnyValue *value = new_value(arena, OTLP__ANY_VALUE__VALUE_ARRAY_VALUE);
	Otlp__ArrayValue *array = arena_alloc(arena, sizeof(*array));

	if (!value || !array)
		return NULL;
	otlp__array_value__init(array);
	array->values = arena_pointers(arena, room);
	value->array_value = array;
	return value;
}

static void append(Otlp__AnyValue *array, Otlp__AnyValue *value)
{
	if (array && value && array->array_value->values)
		array->array_value->values[array->array_value->n_values++] = value;
}

void attributes_text(struct attributes *attributes, const char *key, const char *text)
{
	add(attributes, key, attributes_text_value(attributes->arena, text));
}

void attributes_int(struct attributes *attributes, const char *key, int64_t value)
{
	add(attributes, key, int_value(attributes->arena, value));
}

/*
 * What identifiers stand for
 */

static const char *find_text(const Monad__Dictionary *dictionary, uint32_t id)
{
	for (size_t i = 0; dictionary && i < dictionary->n_strings; i++) {
		if (dictionary->strings[i]->id == id)
			return dictionary->strings[i]->text;
	}
	return NULL;
}

static Otlp__AnyValue *frame_value(const struct conversion *conversion, const Monad__Frame *frame)
{
	const char *symbol = find_text(conversion->dictionary, frame->symbol);
	const char *module = find_text(conversion->dictionary, frame->module);
	struct arena *arena = conversion->arena;
	const char *name;

	if (symbol)
		name = arena_printf(arena, "%s+0x%" PRIx64, symbol, frame->offset);
	else
		name = arena_printf(arena, "0x%" PRIx64, frame->address);
	if (module)
		name = arena_printf(arena, "%s [%s]", name, module);
	return attributes_text_value(arena, name);
}

static Otlp__AnyValue *stack_value(const struct conversion *conversion, uint32_t id)
{
	const Monad__Dictionary *dictionary = conversion->dictionary;
	const Monad__Stack *stack = NULL;
	Otlp__AnyValue *array;

	for (size_t i = 0; dictionary && !stack && i < dictionary->n_stacks; i++) {
		if (dictionary->stacks[i]->id == id)
			stack = dictionary->stacks[i];
	}
	if (!stack)
		return NULL;
	array = array_value(conversion->arena, stack->n_frames);
	for (size_t i = 0; i < stack->n_frames; i++)
		append(array, frame_value(conversion, stack->frames[i]));
	return array;
}

static const struct otlp_reference *find_reference(const struct conversion *conversion,
						   const ProtobufCMessage *message,
						   const ProtobufCFieldDescriptor *field)
{
	for (const struct otlp_reference *r = conversion->references; r && r->message; r++) {
		if (!strcmp(r->field, field->name) &&
		    !strcmp(r->message, message->descriptor->name))
			return r;
	}
	return NULL;
}

static Otlp__AnyValue *reference_value(const struct conversion *conversion,
				       const struct otlp_reference *reference, uint32_t id)
{
	Otlp__AnyValue *value = NULL;
	const char *text;

	if (reference->stack) {
		value = stack_value(conversion, id);
	} else {
		text = find_text(conversion->dictionary, id);
		if (text)
			value = attributes_text_value(conversion->arena, text);
	}
	/* The number that it is, rather than nothing. */
	return value ? value : int_value(conversion->arena, id);
}

/*
 * Messages
 */

static void add_fields(const struct conversion *conversion, struct attributes *attributes,
		       const char *prefix, const ProtobufCMessage *message);

/* "STORAGE_LAYER_BLOCK" is "block" of StorageLayer: what all names have in front goes. */
static Otlp__AnyValue *enum_value(struct arena *arena, const ProtobufCFieldDescriptor *field,
				  int number)
{
	const char *name = pb_enum_name(field, number), *zero = pb_enum_name(field, 0), *end;
	char *text;

	if (!name)
		return int_value(arena, number);
	end = zero ? strstr(zero, "UNSPECIFIED") : NULL;
	if (end && !strncmp(name, zero, end - zero))
		name += end - zero;
	text = arena_printf(arena, "%s", name);
	for (char *c = text; *c; c++) {
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	}
	return attributes_text_value(arena, text);
}

static Otlp__AnyValue *message_value(const struct conversion *conversion,
				     const ProtobufCMessage *message)
{
	Otlp__AnyValue *value = new_value(conversion->arena,
					  OTLP__ANY_VALUE__VALUE_KVLIST_VALUE);
	Otlp__KeyValueList *list = arena_alloc(conversion->arena, sizeof(*list));
	struct attributes members;

	if (!value || !list)
		return NULL;
	attributes_begin(&members, conversion->arena);
	add_fields(conversion, &members, "", message);
	otlp__key_value_list__init(list);
	list->values = members.values;
	list->n_values = members.nr;
	value->kvlist_value = list;
	return value;
}

static Otlp__AnyValue *field_value(const struct conversion *conversion,
				   const ProtobufCFieldDescriptor *field, const void *value)
{
	struct arena *arena = conversion->arena;

	switch (field->type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
		return int_value(arena, *(const int32_t *)value);
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		return int_value(arena, *(const uint32_t *)value);
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
		return int_value(arena, *(const int64_t *)value);
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		return unsigned_value(arena, *(const uint64_t *)value);
	case PROTOBUF_C_TYPE_FLOAT:
		return double_value(arena, (double)*(const float *)value);
	case PROTOBUF_C_TYPE_DOUBLE:
		return double_value(arena, *(const double *)value);
	case PROTOBUF_C_TYPE_BOOL:
		return bool_value(arena, *(const protobuf_c_boolean *)value);
	case PROTOBUF_C_TYPE_ENUM:
		return enum_value(arena, field, *(const int *)value);
	case PROTOBUF_C_TYPE_STRING:
		return attributes_text_value(arena, *(const char *const *)value);
	case PROTOBUF_C_TYPE_BYTES:
		return bytes_value(arena, value);
	case PROTOBUF_C_TYPE_MESSAGE:
		return message_value(conversion, *(const ProtobufCMessage *const *)value);
	}
	return NULL;
}

static Otlp__AnyValue *value_of(const struct conversion *conversion,
				const ProtobufCMessage *message,
				const ProtobufCFieldDescriptor *field, size_t nr)
{
	const struct otlp_reference *reference = find_reference(conversion, message, field);
	Otlp__AnyValue *array;

	if (field->label != PROTOBUF_C_LABEL_REPEATED && reference)
		return reference_value(conversion, reference,
				       *(const uint32_t *)pb_field_value(message, field, 0));
	if (field->label != PROTOBUF_C_LABEL_REPEATED)
		return field_value(conversion, field, pb_field_value(message, field, 0));
	array = array_value(conversion->arena, nr);
	for (size_t i = 0; i < nr; i++)
		append(array, field_value(conversion, field, pb_field_value(message, field, i)));
	return array;
}

/* A message in a message is part of the name; only those that are many are lists of values. */
static void add_fields(const struct conversion *conversion, struct attributes *attributes,
		       const char *prefix, const ProtobufCMessage *message)
{
	const ProtobufCMessageDescriptor *descriptor = message->descriptor;

	for (unsigned int i = 0; i < descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
		size_t nr = pb_field_count(message, field);
		const char *key;

		if (!nr)
			continue;
		key = arena_printf(conversion->arena, "%s%s", prefix, field->name);
		if (field->type == PROTOBUF_C_TYPE_MESSAGE &&
		    field->label != PROTOBUF_C_LABEL_REPEATED)
			add_fields(conversion, attributes,
				   arena_printf(conversion->arena, "%s.", key),
				   *(const ProtobufCMessage *const *)
				   pb_field_value(message, field, 0));
		else
			add(attributes, key, value_of(conversion, message, field, nr));
	}
}

void attributes_message(struct attributes *attributes, const char *prefix,
			const ProtobufCMessage *message,
			const struct otlp_reference *references,
			const Monad__Dictionary *dictionary)
{
	const struct conversion conversion = {
		.arena = attributes->arena, .references = references, .dictionary = dictionary,
	};

	add_fields(&conversion, attributes, prefix, message);
}
