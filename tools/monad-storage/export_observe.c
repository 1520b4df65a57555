// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "export_observe.h"
#include "samples.h"

/* Names of disks, cgroups and errors are found out with the help of static buffers. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

int export_observe(struct families *families)
{
	struct observation seen;
	int err;

	memset(families, 0, sizeof(*families));
	pthread_mutex_lock(&one_at_a_time);
	err = observation_take(&seen);
	if (!err) {
		samples_make(families, &seen);
		observation_free(&seen);
	}
	pthread_mutex_unlock(&one_at_a_time);
	return err;
}

void export_explain(int err, char *text, size_t size)
{
	switch (-err) {
	case EPERM:
	case EACCES:
		snprintf(text, size, "looking at what is recorded takes root");
		break;
	case EPROTO:
		snprintf(text, size, "the recording was started by another version of "
				     "monad-storage: stop it and start it again");
		break;
	case ENOTDIR:
		snprintf(text, size, "what is in the place of the recording is not what "
				     "'monad-storage start' makes; 'monad-storage status' says "
				     "more");
		break;
	default:
		snprintf(text, size, "reading the recording: %s", strerror(-err));
	}
}
