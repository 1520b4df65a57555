// SPDX-License-Identifier: GPL-2.0
#include <getopt.h>
#include <stdio.h>

#include "arguments.h"
#include "monad-ring.h"

bool take_plain_options(int argc, char **argv, const char *help, bool *json, int *ret)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "jh", options, NULL)) != -1) {
		switch (opt) {
		case 'j':
			*json = true;
			break;
		case 'h':
			fputs(help, stdout);
			*ret = finish_output();
			return false;
		default:
			*ret = usage_error(argv[0], "unknown option", argv[optind - 1]);
			return false;
		}
	}
	return true;
}

int open_only_ring(int argc, char **argv, struct ring_handle *handle)
{
	if (argc - optind != 1)
		return usage_error(argv[0], "wants the name of one ring", NULL);
	if (ring_handle_open(handle, argv[optind]) == 0)
		return EXIT_OK;
	complain_lib();
	return EXIT_FAILED;
}
