// SPDX-License-Identifier: GPL-2.0
/* What exporters ask of those who run tasks: who asks, who is dead, what is no file of theirs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pressure.h"
#include "tap.h"

static char directory[64], path[128];

static unsigned int nr_files(void)
{
	unsigned int nr = 0;
	DIR *dir = opendir(directory);
	const struct dirent *entry;

	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		nr += entry->d_name[0] != '.';
	closedir(dir);
	return nr;
}

static void test_one(void)
{
	struct pressure pressure;
	struct stat st;

	ok(!pressure_refuses_tasks(directory), "no directory: nobody asks");
	pressure_count_refused(directory);
	eq_u64(-pressure_open(&pressure, directory), 0, "it makes the directory");
	ok(!stat(directory, &st) && (st.st_mode & 0777) == 0700, "which is root's alone");
	ok(!stat(pressure.path, &st) && (st.st_mode & 0777) == 0600, "and so is the file");
	ok(!pressure_refuses_tasks(directory), "at first it asks for nothing");
	pressure_count_refused(directory);
	pressure_set(&pressure, true);
	ok(pressure_refuses_tasks(directory), "then it does");
	eq_u64(pressure_refused(&pressure), 0, "looking is not refusing, nor is it before");
	pressure_count_refused(directory);
	pressure_count_refused(directory);
	eq_u64(pressure_refused(&pressure), 2, "it is told of each task");
	pressure_set(&pressure, false);
	ok(!pressure_refuses_tasks(directory), "and no more");
	pressure_close(&pressure);
	eq_u64(nr_files(), 0, "it leaves no file");
	pressure_close(&pressure);
	pressure_set(&pressure, true);
	eq_u64(pressure_refused(&pressure), 0, "closed, it can be asked");
}

static void test_two(void)
{
	struct pressure one, two;

	ok(!pressure_open(&one, directory) && !pressure_open(&two, directory), "two exporters");
	pressure_set(&two, true);
	ok(pressure_refuses_tasks(directory), "one that asks is enough");
	pressure_count_refused(directory);
	eq_u64(pressure_refused(&one), 0, "who did not ask is not told");
	eq_u64(pressure_refused(&two), 1, "who did is");
	pressure_close(&two);
	ok(!pressure_refuses_tasks(directory), "it has gone, the other does not ask");
	eq_u64(nr_files(), 1, "whose file is there still");
	pressure_close(&one);
}

static void test_killed(void)
{
	struct pressure pressure;
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		bail_out("pipe");
	pid = fork();
	if (!pid) {
		if (pressure_open(&pressure, directory))
			_exit(1);
		pressure_set(&pressure, true);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	if (pid < 0 || read(ready[0], &byte, 1) != 1)
		bail_out("a child");
	ok(pressure_refuses_tasks(directory), "one in another process asks");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	eq_u64(nr_files(), 1, "it is killed, its file is there");
	ok(!pressure_refuses_tasks(directory), "and does not count");
	eq_u64(nr_files(), 0, "and is removed");
	close(ready[0]);
	close(ready[1]);
}

static void make(const char *name, mode_t type, off_t size)
{
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (type == S_IFDIR ? mkdir(path, 0700) :
	    type == S_IFIFO ? mkfifo(path, 0600) :
	    type == S_IFLNK ? symlink("/etc/passwd", path) : 0)
		bail_out(path);
	if (type != S_IFREG)
		return;
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	if (fd < 0 || ftruncate(fd, size))
		bail_out(path);
	close(fd);
}

static void test_others(void)
{
	struct pressure pressure;
	char long_name[300] = "/tmp/";

	make("exporter-directory", S_IFDIR, 0);
	make("exporter-fifo", S_IFIFO, 0);
	make("exporter-link", S_IFLNK, 0);
	make("exporter-empty", S_IFREG, 0);
	make("something", S_IFREG, 16);
	ok(!pressure_refuses_tasks(directory), "files of others ask for nothing");
	snprintf(path, sizeof(path), "%s/something", directory);
	ok(!access(path, F_OK), "those of another name are left alone");
	ok(!access("/etc/passwd", F_OK), "and so is what a link points to");

	memset(long_name + 5, 'x', sizeof(long_name) - 6);
	eq_u64(-pressure_open(&pressure, long_name), ENAMETOOLONG, "no such directory can be");
	pressure_set(&pressure, true);
	eq_u64(pressure_refused(&pressure), 0, "nobody is told then");
	pressure_close(&pressure);
	eq_u64(-pressure_open(&pressure, path), ENOTDIR, "nor one of the name of a file");
}

int main(void)
{
	char remove[128];

	snprintf(directory, sizeof(directory), "/tmp/test-pressure-%d", getpid());
	test_one();
	test_two();
	test_killed();
	test_others();
	snprintf(remove, sizeof(remove), "rm -rf %s", directory);
	ok(!system(remove), "cleaned up");
	return done_testing();
}
