// SPDX-License-Identifier: GPL-2.0
/*
 * Configuration strings: name[:descriptor-shift:payload-shift]
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/numa.h>
#include <linux/string.h>

#include "config.h"

/* isalnum() alone would let Latin-1 letters through. */
static bool is_ascii_alnum(char c)
{
	return isascii(c) && isalnum(c);
}

/* What a name may be made of: it becomes part of a device name and a sysfs path. */
static bool name_valid(const char *name, size_t len)
{
	size_t i;

	if (!len || len >= MONAD_RING_NAME_MAX || !is_ascii_alnum(name[0]))
		return false;
	for (i = 0; i < len; i++)
		if (!is_ascii_alnum(name[i]) && name[i] != '_' && name[i] != '-' &&
		    name[i] != '.')
			return false;
	return true;
}

static int parse_shift(const char *string, const char *what, const char *text,
		       unsigned int *shift)
{
	if (kstrtouint(text, 10, shift)) {
		pr_err("\"%s\": %s shift \"%s\" is not a number\n", string, what, text);
		return -EINVAL;
	}
	return 0;
}

static int check_shift(const char *name, const char *what, unsigned int shift, unsigned int min,
		       unsigned int max)
{
	if (shift >= min && shift <= max)
		return 0;
	pr_err_ratelimited("\"%s\": %s shift %u is not in %u..%u\n", name, what, shift, min, max);
	return -ERANGE;
}

static int bad_name(const char *name)
{
	pr_err_ratelimited("\"%s\": a ring's name is 1 to %d letters, digits, '_', '-' or '.', not beginning with a sign\n",
			   name, MONAD_RING_NAME_MAX - 1);
	return -EINVAL;
}

/**
 * monad_ring_check_name - whether a ring may be called that
 * @name: the name alone, not longer than MONAD_RING_NAME_MAX
 *
 * Return: 0 or -EINVAL; says why in the log.
 */
int monad_ring_check_name(const char *name)
{
	return name_valid(name, strlen(name)) ? 0 : bad_name(name);
}

/**
 * monad_ring_check_shifts - whether a ring may have these sizes
 * @name: of the ring, for messages
 * @desc_shift: log2 of the number of descriptors
 * @payload_shift: log2 of the bytes of payload
 *
 * Return: 0 or -ERANGE; says which in the log.
 */
int monad_ring_check_shifts(const char *name, unsigned int desc_shift, unsigned int payload_shift)
{
	return check_shift(name, "descriptor", desc_shift, MONAD_RING_MIN_DESCRIPTORS_SHIFT,
			   MONAD_EVENT_MAX_DESCRIPTORS_SHIFT) ?:
	       check_shift(name, "payload", payload_shift, MONAD_RING_MIN_PAYLOAD_BUF_SHIFT,
			   MONAD_EVENT_MAX_PAYLOAD_BUF_SHIFT);
}

/**
 * monad_ring_parse - parse a configuration string
 * @string: name, or name:descriptor-shift:payload-shift
 * @config: filled in, with the default shifts where none are given
 *
 * Return: 0, -EINVAL for bad syntax, -ERANGE for a shift out of bounds; says which in
 * the log.
 */
int monad_ring_parse(const char *string, struct monad_ring_config *config)
{
	const char *first = strchr(string, ':');
	size_t len = first ? first - string : strlen(string);
	char desc_text[8] = "";
	const char *second;
	int err;

	if (!name_valid(string, len))
		return bad_name(string);
	memset(config, 0, sizeof(*config));
	config->node = NUMA_NO_NODE;
	memcpy(config->name, string, len);
	config->desc_shift = MONAD_RING_DEFAULT_DESC_SHIFT;
	config->payload_shift = MONAD_RING_DEFAULT_PAYLOAD_SHIFT;
	if (!first)
		return 0;

	second = strchr(++first, ':');
	if (!second || second - first >= sizeof(desc_text)) {
		pr_err("\"%s\": expected name:descriptor-shift:payload-shift, such as %s:%d:%d\n",
		       string, config->name, MONAD_RING_DEFAULT_DESC_SHIFT,
		       MONAD_RING_DEFAULT_PAYLOAD_SHIFT);
		return -EINVAL;
	}
	memcpy(desc_text, first, second - first);
	err = parse_shift(string, "descriptor", desc_text, &config->desc_shift) ?:
	      parse_shift(string, "payload", second + 1, &config->payload_shift);
	if (err)
		return err;
	return monad_ring_check_shifts(string, config->desc_shift, config->payload_shift);
}
