/* SPDX-License-Identifier: GPL-2.0 */
/* Any protobuf message as JSON, by what its descriptor says, as proto3's mapping has it. */
#ifndef MONAD_TELEMETRY_PB_JSON_H
#define MONAD_TELEMETRY_PB_JSON_H

#include <protobuf-c/protobuf-c.h>

#include "json_writer.h"

/*
 * Writes @message as a value: an object with names in lowerCamelCase, enums by their names,
 * bytes in base64, 64-bit numbers as strings. Numbers, truth values and enums are there also
 * where they are 0, unless what says that they are known does not; texts, lists and messages
 * are not where they are empty. Text that is not UTF-8 has U+FFFD where it is not.
 *
 * What is nested too deeply for @json is null; false then.
 */
bool pb_json_write(struct json_writer *json, const ProtobufCMessage *message);

#endif /* MONAD_TELEMETRY_PB_JSON_H */
