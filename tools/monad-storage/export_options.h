/* SPDX-License-Identifier: GPL-2.0 */
/* What 'monad-storage export' is asked for. */
#ifndef MONAD_STORAGE_EXPORT_OPTIONS_H
#define MONAD_STORAGE_EXPORT_OPTIONS_H

#include "export_push.h"
#include "http_server.h"

struct export_options {
	const char *listen;
	union http_address address; /* if listen */
	bool once;
	const char *textfile;
	struct push_options push;   /* if there are targets in it */
};

/* Ends the program for what is wrong. */
void export_parse(struct export_options *options, int argc, char **argv);

#endif /* MONAD_STORAGE_EXPORT_OPTIONS_H */
