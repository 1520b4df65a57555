// SPDX-License-Identifier: GPL-2.0
/*
 * Configuration strings, by the module's own parser and by the library's: an error that is
 * explained, or a configuration within all bounds, which when written out is parsed to the same.
 */
#include <monad_event/event_ring_writer.h>

#include "recorder_port.h"
#include "../../../kmod/config.c"

#include "fuzz_input.h"

char fuzz_log[1024];

static bool in_bounds(const struct monad_ring_config *config)
{
	const size_t len = strnlen(config->name, sizeof(config->name));

	if (!len || len == sizeof(config->name))
		return false;
	for (size_t i = 0; i < len; i++) {
		/* No path, no terminal control, no separator of strings. */
		if (config->name[i] <= ' ' || config->name[i] >= 0x7f ||
		    strchr("/:,\\\"'", config->name[i]))
			return false;
	}
	return config->name[0] != '.' && config->desc_shift >= 10 && config->desc_shift <= 32 &&
	       config->payload_shift >= 21 && config->payload_shift <= 40;
}

static void by_library(const char *string)
{
	static struct monad_event_ring_config config, again;
	static char text[MONAD_EVENT_RING_NAME_MAX + 16];

	if (monad_event_ring_parse_config(string, &config)) {
		MUST(monad_event_ring_get_last_error()[0]);
		return;
	}
	MUST(config.name[0] && strnlen(config.name, sizeof(config.name)) < sizeof(config.name));
	MUST(config.descriptors_shift >= 10 && config.descriptors_shift <= 32);
	MUST(config.payload_buf_shift >= 21 && config.payload_buf_shift <= 40);
	MUST(strncmp(string, config.name, strlen(config.name)) == 0);
	snprintf(text, sizeof(text), "%s:%u:%u", config.name, config.descriptors_shift,
		 config.payload_buf_shift);
	MUST(monad_event_ring_parse_config(text, &again) == 0);
	MUST(strcmp(again.name, config.name) == 0 &&
	     again.descriptors_shift == config.descriptors_shift &&
	     again.payload_buf_shift == config.payload_buf_shift);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct monad_ring_config config, again;
	char *string = malloc(size + 1);
	char text[64];
	int err;

	memcpy(string, data, size);
	string[size] = '\0';
	memset(&config, 0xee, sizeof(config));
	fuzz_log[0] = '\0';
	err = monad_ring_parse(string, &config);
	if (err) {
		MUST(err == -EINVAL || err == -ERANGE);
		MUST(fuzz_log[0]);
	} else {
		MUST(!fuzz_log[0]);
		MUST(in_bounds(&config));
		MUST(strncmp(string, config.name, strlen(config.name)) == 0);
		snprintf(text, sizeof(text), "%s:%u:%u", config.name, config.desc_shift,
			 config.payload_shift);
		memset(&again, 0, sizeof(again));
		MUST(monad_ring_parse(text, &again) == 0);
		MUST(strcmp(again.name, config.name) == 0 &&
		     again.desc_shift == config.desc_shift &&
		     again.payload_shift == config.payload_shift);
	}
	by_library(string);
	free(string);
	return 0;
}
