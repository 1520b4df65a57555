// SPDX-License-Identifier: GPL-2.0
/*
 * noisy: attaches the programs of noisy.bpf.c and says so; at a SIGTERM it says how often
 * they ran, and ends.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "noisy.skel.h"

int main(void)
{
	struct noisy_bpf *noisy;
	sigset_t signals;
	int sig;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	noisy = noisy_bpf__open_and_load();
	if (!noisy || noisy_bpf__attach(noisy)) {
		fprintf(stderr, "noisy: %s\n", strerror(errno));
		return 1;
	}
	puts("attached");
	fflush(stdout);
	sigwait(&signals, &sig);
	printf("%" PRIu64 " hits\n", (uint64_t)noisy->bss->hits);
	noisy_bpf__destroy(noisy);
	return 0;
}
