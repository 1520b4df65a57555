// SPDX-License-Identifier: GPL-2.0
/* monad-storage serve: tasks for those who ask for them over a socket. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf_programs.h"
#include "interrupt.h"
#include "monad_storage.h"
#include "parse.h"
#include "server.h"
#include "socket_file.h"

static const char doc[] =
	"Take tasks over a Unix socket, and answer with their events and summaries, until it is "
	"interrupted.\v"
	"Takes root. Who may connect may look at all storage I/O of this machine, and nothing "
	"else: the kinds of tasks and their limits are those of 'monad-storage task', which asks "
	"here with --socket. Messages are those of telemetry.proto, each with its length in "
	"front. Each task is a process of its own; it ends when who asked for it goes away, and "
	"all of them end with this one.\n\n"
	"EXAMPLES\n"
	"  monad-storage serve --group storage\n"
	"  monad-storage task fsync-latency -d sda --socket " DEFAULT_SOCKET "\n";

static const struct argp_option argp_options[] = {
	{ "socket", 'S', "PATH", 0, "Where (" DEFAULT_SOCKET ")", 0 },
	{ "group", 'g', "GROUP", 0, "Members of this group may connect as well", 0 },
	{ "max-tasks", 'n', "N", 0, "So many tasks at once, up to 19 (8)", 0 },
	{}
};

struct arguments {
	const char *path;
	gid_t group;
	struct server_options server;
};

static gid_t find_group(struct argp_state *state, const char *name)
{
	struct group *group = getgrnam(name);
	uint64_t number;

	if (group)
		return group->gr_gid;
	if (parse_u64(name, &number) && number < (gid_t)-1)
		return number;
	argp_error(state, "there is no group '%s'", name);
	return (gid_t)-1;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *args = state->input;
	uint64_t value;

	switch (key) {
	case 'S':
		args->path = arg;
		return 0;
	case 'g':
		args->group = find_group(state, arg);
		return 0;
	case 'n':
		if (!parse_u64(arg, &value) || !value || value > SERVER_MAX_TASKS)
			argp_error(state, "--max-tasks is 1 to %d, not '%s'", SERVER_MAX_TASKS,
				   arg);
		args->server.max_tasks = value;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is too much: there are only options", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Files that are opened later are not to be taken for these. */
static void keep_standard_files(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
}

static int find_socket(const struct arguments *args, struct socket_file *file)
{
	int inherited = socket_file_inherit(file);

	if (inherited < 0)
		return -1;
	if (!inherited)
		return socket_file_listen(file, args->path ? args->path : DEFAULT_SOCKET,
					  args->group);
	if (!args->path && args->group == (gid_t)-1)
		return 0;
	error("the socket is systemd's: --socket and --group are ListenStream= and SocketGroup= "
	      "of its unit");
	return -1;
}

int cmd_serve(int argc, char **argv)
{
	static const struct argp argp = {
		argp_options, parse_option, NULL, doc, NULL, NULL, NULL
	};
	struct arguments args = { .group = (gid_t)-1, .server = SERVER_DEFAULT_OPTIONS };
	struct socket_file file;
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &args);
	if (bpf_check_system("serving tasks"))
		return EXIT_FAILED;
	keep_standard_files();
	catch_interrupts();
	if (find_socket(&args, &file))
		return EXIT_FAILED;
	printf("taking tasks at %s\n", file.path);
	fflush(stdout);
	args.server.listen_fd = file.fd;
	args.server.run = server_run_task;
	err = server_run(&args.server);
	socket_file_close(&file);
	if (!err)
		return EXIT_OK;
	error("serving: %s", strerror(-err));
	return EXIT_FAILED;
}
