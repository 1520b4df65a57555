// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Configuration strings: NAME-OR-PATH[:DESCRIPTORS-SHIFT:PAYLOAD-SHIFT] */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <monad_event/event_ring_writer.h>

#include "error.h"

/* Parses @len characters at @text; strtoul() would take "+1", " 1" and "0x1" as well. */
static int parse_shift(const char *string, const char *what, const char *text, size_t len,
		       unsigned int min, unsigned int max, uint8_t *shift)
{
	unsigned int value = 0;

	if (len == 0 || strspn(text, "0123456789") < len)
		return FAIL(EINVAL, "\"%s\": %s shift \"%.*s\" is not a number", string, what,
			    (int)len, text);
	for (size_t i = 0; i < len && value <= max; i++)
		value = 10 * value + (unsigned int)(text[i] - '0');
	if (value < min || value > max)
		return FAIL(ERANGE, "\"%s\": %s shift %.*s is not from %u to %u", string, what,
			    (int)len, text, min, max);
	*shift = (uint8_t)value;
	return 0;
}

int monad_event_ring_parse_config(const char *string, struct monad_event_ring_config *config)
{
	const char *first, *second;
	size_t name_len;
	int err;

	if (!string || !config)
		return FAIL(EFAULT, "%s is NULL",
			    string ? "configuration" : "configuration string");
	memset(config, 0, sizeof(*config));
	config->descriptors_shift = MONAD_EVENT_DEFAULT_DESCRIPTORS_SHIFT;
	config->payload_buf_shift = MONAD_EVENT_DEFAULT_PAYLOAD_BUF_SHIFT;
	name_len = strcspn(string, ":");
	if (name_len == 0)
		return FAIL(EINVAL, "\"%s\": no name of an event ring", string);
	if (name_len >= sizeof(config->name))
		return FAIL(ENAMETOOLONG, "the name of an event ring has %zu bytes, not up to %zu",
			    name_len, sizeof(config->name) - 1);
	if (string[name_len] == ':') {
		first = string + name_len + 1;
		second = strchr(first, ':');
		if (!second || strchr(second + 1, ':'))
			return FAIL(EINVAL,
				    "\"%s\": expected NAME:DESCRIPTORS-SHIFT:PAYLOAD-SHIFT, such as "
				    "%.*s:%d:%d",
				    string, (int)name_len, string,
				    MONAD_EVENT_DEFAULT_DESCRIPTORS_SHIFT,
				    MONAD_EVENT_DEFAULT_PAYLOAD_BUF_SHIFT);
		err = parse_shift(string, "descriptors", first, (size_t)(second - first),
				  MONAD_RING_MIN_DESCRIPTORS_SHIFT,
				  MONAD_EVENT_MAX_DESCRIPTORS_SHIFT, &config->descriptors_shift);
		if (!err)
			err = parse_shift(string, "payload", second + 1, strlen(second + 1),
					  MONAD_RING_MIN_PAYLOAD_BUF_SHIFT,
					  MONAD_EVENT_MAX_PAYLOAD_BUF_SHIFT,
					  &config->payload_buf_shift);
		if (err)
			return err;
		config->shifts_given = true;
	}
	memcpy(config->name, string, name_len);
	return 0;
}
