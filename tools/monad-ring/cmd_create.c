// SPDX-License-Identifier: GPL-2.0
/* monad-ring create: a kernel ring, or a ring file. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <monad_event/event_metadata.h>
#include <monad_event/event_ring_writer.h>

#include "format.h"
#include "json_writer.h"
#include "monad-ring.h"
#include "parse.h"
#include "printable.h"
#include "ring_handle.h"

#define DEVICE_PREFIX MONAD_RING_DEVICE_NAME "-"

struct create {
	bool json;
	bool file;
	bool content_given, schema_given, node_given;
	uint16_t content_type;
	uint8_t schema[32];
	int32_t node;
	mode_t mode;
	const char *string;
	struct monad_event_ring_config config; /* what string says */
};

static void print_help(void)
{
	fputs("Usage: monad-ring create [OPTIONS] NAME[:DSHIFT:PSHIFT]\n"
	      "\n"
	      "Makes a kernel ring, /dev/monad_ring-NAME; or a ring file, if NAME has a '/' in\n"
	      "it or --file is given. It has 2^DSHIFT descriptors (10 to 32) and 2^PSHIFT\n"
	      "bytes of payload (21 to 40). A kernel ring lives until it is destroyed or the\n"
	      "module is unloaded. What a dead writer left in a ring file of that name is\n"
	      "replaced.\n"
	      "\n"
	      "Options:\n"
	      "  -F, --file          a file in the default directory for ring files\n"
	      "  -c, --content TYPE  what its events are: a content type's name or number. A\n"
	      "                      ring file needs it; of a kernel ring, its first writer\n"
	      "                      can say it\n"
	      "  -s, --schema HEX    schema hash of these, 64 digits; for content types that\n"
	      "                      this program does not know\n"
	      "  -N, --node N        memory of that NUMA node (kernel rings)\n"
	      "  -m, --mode OCTAL    access rights (ring files; devices get theirs from udev)\n"
	      "  -j, --json          print JSON\n"
	      "  -h, --help          this\n"
	      "\n"
	      "EXAMPLES\n"
	      "  monad-ring create mine:16:24\n"
	      "  monad-ring create --content storage --node 1 disks:20:28\n"
	      "  monad-ring create --content test --mode 0640 /var/tmp/ring:16:27\n",
	      stdout);
}

static bool parse_content(const char *text, uint16_t *content_type)
{
	uint64_t number;

	if (monad_event_lookup_content_type(text, content_type) == 0)
		return true;
	if (!parse_u64(text, &number) || number == 0 || number > UINT16_MAX)
		return false;
	*content_type = (uint16_t)number;
	return true;
}

static bool parse_schema(const char *text, uint8_t schema[32])
{
	unsigned int byte;

	if (strlen(text) != 64 || strspn(text, "0123456789abcdefABCDEF") != 64)
		return false;
	for (int i = 0; i < 32; i++) {
		if (sscanf(text + 2 * (size_t)i, "%2x", &byte) != 1)
			return false;
		schema[i] = (uint8_t)byte;
	}
	return true;
}

static bool parse_mode(const char *text, mode_t *mode)
{
	unsigned int value;

	if (strlen(text) > 4 || strspn(text, "01234567") != strlen(text) ||
	    sscanf(text, "%o", &value) != 1)
		return false;
	*mode = (mode_t)value;
	return value > 0 && value <= 0777;
}

/* NULL, or what is wrong with the value of option @opt. */
static const char *take_option(struct create *create, int opt, const char *value)
{
	uint64_t number;

	switch (opt) {
	case 'F':
		create->file = true;
		return NULL;
	case 'c':
		create->content_given = true;
		return parse_content(value, &create->content_type)
			       ? NULL
			       : "--content wants test, exec, perf, storage or a number from 1 to "
				 "65535, not";
	case 's':
		create->schema_given = true;
		return parse_schema(value, create->schema)
			       ? NULL
			       : "--schema wants 64 hexadecimal digits, not";
	case 'N':
		create->node_given = true;
		if (!parse_u64(value, &number) || number > INT32_MAX)
			return "--node wants the number of a NUMA node, not";
		create->node = (int32_t)number;
		return NULL;
	case 'm':
		return parse_mode(value, &create->mode)
			       ? NULL
			       : "--mode wants an octal number up to 0777, such as 0640, not";
	case 'j':
		create->json = true;
		return NULL;
	default:
		return "unknown option";
	}
}

/* NULL, or what does not go together. */
static const char *check_options(struct create *create)
{
	const uint8_t *known;

	if (create->schema_given && !create->content_given)
		return "--schema goes with --content";
	if (create->file && !create->content_given)
		return "a ring file needs --content: its writers have to be of the same";
	if (create->file && create->node_given)
		return "--node is for kernel rings; see numactl(8)";
	if (!create->file && create->mode)
		return "--mode is for ring files; devices get their rights from udev";
	if (!create->content_given || create->schema_given)
		return NULL;
	known = monad_event_schema_hash(create->content_type);
	if (!known)
		return "this program knows no schema hash for that --content; give the "
		       "writer's by --schema";
	memcpy(create->schema, known, sizeof(create->schema));
	return NULL;
}

static int print_made(const struct create *create, const char *path)
{
	char payload[FORMAT_SIZE_LEN], safe[PATH_MAX];
	struct ring_handle handle;
	struct json_writer json;

	if (ring_handle_open(&handle, path) != 0) {
		complain_lib();
		complain("the ring was made, but cannot be looked at");
		return EXIT_FAILED;
	}
	if (create->json) {
		json_init(&json, stdout, true);
		json_begin_object(&json);
		json_string_field(&json, "path", path);
		json_string_field(&json, "kind", ring_handle_kind(&handle));
		if (handle.device) {
			json_u64_field(&json, "ring_id", handle.info.ring_id);
			json_u64_field(&json, "chunks_total", handle.info.chunks_total);
			json_u64_field(&json, "chunks_huge", handle.info.chunks_huge);
		}
		json_u64_field(&json, "content_type", handle.ring.header->content_type);
		json_u64_field(&json, "descriptor_capacity", handle.ring.desc_capacity_mask + 1);
		json_u64_field(&json, "payload_buf_size", handle.ring.payload_buf_mask + 1);
		json_end_object(&json);
		json_end(&json);
	} else {
		printf("%s: ", printable(safe, sizeof(safe), path));
		if (handle.device)
			printf("ring id %u, ", handle.info.ring_id);
		printf("%" PRIu64 " events, %s of payload", handle.ring.desc_capacity_mask + 1,
		       format_size(payload, sizeof(payload), handle.ring.payload_buf_mask + 1));
		if (handle.device)
			printf(", %u of %u chunks huge", handle.info.chunks_huge,
			       handle.info.chunks_total);
		putchar('\n');
	}
	ring_handle_close(&handle);
	return finish_output();
}

static int create_device(const struct create *create)
{
	const struct monad_event_ring_config *config = &create->config;
	struct monad_ring_create request = {
		.size = sizeof(request),
		.descriptors_shift = config->shifts_given ? config->descriptors_shift : 0,
		.payload_shift = config->shifts_given ? config->payload_buf_shift : 0,
		.numa_node = create->node,
		.content_type = create->content_type,
	};
	char path[sizeof("/dev/" DEVICE_PREFIX) + MONAD_RING_NAME_MAX];

	memcpy(request.schema_hash, create->schema, sizeof(request.schema_hash));
	/* One byte too many, too, so that the library sees that it is too long. */
	memcpy(request.name, config->name, strnlen(config->name, sizeof(request.name)));
	if (monad_event_ring_create_device(&request) != 0) {
		complain_lib();
		return EXIT_FAILED;
	}
	snprintf(path, sizeof(path), "/dev/" DEVICE_PREFIX "%s", config->name);
	return print_made(create, path);
}

static int create_file(const struct create *create)
{
	const struct monad_event_ring_writer_options options = {
		.size = sizeof(options),
		.mode = create->mode,
		.content_type = create->content_type,
		.schema_hash = create->schema,
	};
	struct monad_event_ring_writer *writer;
	char path[PATH_MAX];
	const char *warning;

	if (monad_event_ring_writer_open(create->string, &options, &writer) != 0) {
		complain_lib();
		return EXIT_FAILED;
	}
	snprintf(path, sizeof(path), "%s", monad_event_ring_writer_path(writer));
	warning = monad_event_ring_writer_warning(writer);
	if (warning)
		complain("warning: %s", warning);
	monad_event_ring_writer_close(writer);
	return print_made(create, path);
}

/* The device monad_ring-NAME is the ring NAME, here as wherever a ring is named. */
static void strip_prefix(struct create *create)
{
	char *name = create->config.name;
	const char *rest = name;

	if (strncmp(rest, "/dev/" DEVICE_PREFIX, strlen("/dev/" DEVICE_PREFIX)) == 0)
		rest += strlen("/dev/");
	if (strncmp(rest, DEVICE_PREFIX, strlen(DEVICE_PREFIX)) == 0)
		rest += strlen(DEVICE_PREFIX);
	memmove(name, rest, strlen(rest) + 1);
}

int cmd_create(int argc, char **argv, bool json)
{
	static const struct option options[] = {
		{"file", no_argument, NULL, 'F'},
		{"content", required_argument, NULL, 'c'},
		{"schema", required_argument, NULL, 's'},
		{"node", required_argument, NULL, 'N'},
		{"mode", required_argument, NULL, 'm'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct create create = {.json = json, .node = -1};
	const char *wrong;
	int opt;

	while ((opt = getopt_long(argc, argv, "Fc:s:N:m:jh", options, NULL)) != -1) {
		if (opt == 'h') {
			print_help();
			return finish_output();
		}
		if (opt == '?')
			return usage_error("create",
					   "unknown option, or value missing:", argv[optind - 1]);
		wrong = take_option(&create, opt, optarg);
		if (wrong)
			return usage_error("create", wrong, optarg);
	}
	if (argc - optind != 1)
		return usage_error("create", "wants the name of one ring", NULL);
	create.string = argv[optind];
	if (monad_event_ring_parse_config(create.string, &create.config) != 0) {
		complain_lib();
		return usage_error("create", NULL, NULL);
	}
	if (!create.file)
		strip_prefix(&create);
	if (strchr(create.config.name, '/'))
		create.file = true;
	wrong = check_options(&create);
	if (wrong)
		return usage_error("create", wrong, NULL);
	return create.file ? create_file(&create) : create_device(&create);
}
