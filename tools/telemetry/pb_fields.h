/* SPDX-License-Identifier: GPL-2.0 */
/* Looking into protobuf messages without knowing what they are: by their descriptors. */
#ifndef MONAD_TELEMETRY_PB_FIELDS_H
#define MONAD_TELEMETRY_PB_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include <protobuf-c/protobuf-c.h>

/*
 * How many values the field has in @message that are worth saying: what is not set, or has
 * its default where that cannot be told from not being set, has none.
 */
size_t pb_field_count(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field);

/*
 * Whether it always has a value: a number, a truth value or an enum, and neither one of many nor
 * one of several.
 */
bool pb_field_is_number(const ProtobufCFieldDescriptor *field);

/*
 * False for a number of which @message says that it is not known: it has a field "has_x", which
 * is false, and this one is "x" or "x_ns".
 */
bool pb_field_is_known(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field);

/* Where value @i of them is. */
const void *pb_field_value(const ProtobufCMessage *message,
			   const ProtobufCFieldDescriptor *field, size_t i);

/* "REGISTERED"; NULL for a number that is not known. */
const char *pb_enum_name(const ProtobufCFieldDescriptor *field, int value);

#endif /* MONAD_TELEMETRY_PB_FIELDS_H */
