// SPDX-License-Identifier: GPL-2.0
/* What is not in events, as this machine has it: mounts, disks, partitions, symbols. */
#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "disk.h"
#include "kallsyms.h"
#include "monad_storage.h"
#include "partitions.h"
#include "symbols.h"
#include "tap.h"
#include "transform_sources.h"

static struct transform_sources sources;

static void test_mounts(void)
{
	struct stat st;
	pid_t child;

	if (stat("/proc/self/ns/mnt", &st))
		bail_out("/proc/self/ns/mnt");
	eq_u64(sources.mount_namespace(sources.arg, getpid()), st.st_ino, "our own mounts");
	eq_u64(sources.mount_namespace(sources.arg, getpid()), st.st_ino, "asked again");
	eq_u64(sources.mount_namespace(sources.arg, 0), 0, "nobody has none");
	eq_u64(sources.mount_namespace(sources.arg, INT_MAX), 0, "nor has who is not there");
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	eq_u64(sources.mount_namespace(sources.arg, child), 0, "nor who is gone");
	/* One that comes to the place of another. */
	eq_u64(sources.mount_namespace(sources.arg, getpid() + 1024 * 4096U), 0,
	       "one is not another");
	eq_u64(sources.mount_namespace(sources.arg, getpid()), st.st_ino, "nor the other the one");
}

static void test_disks(void)
{
	DIR *dir = opendir("/sys/dev/block");
	unsigned int dev_major, dev_minor, disks = 0, partitions = 0;
	struct dirent *entry;
	char path[PATH_MAX], start[64];
	const char *name;
	bool right = true;
	FILE *file;

	ok(!sources.disk_name(sources.arg, 4000, 1), "no name for no disk");
	ok(!sources.partition(sources.arg, 4000, 1, 0), "and no partition");
	while (dir && (entry = readdir(dir))) {
		uint32_t devs[16];

		if (sscanf(entry->d_name, "%u:%u", &dev_major, &dev_minor) != 2)
			continue;
		name = sources.disk_name(sources.arg, dev_major, dev_minor);
		snprintf(path, sizeof(path), "/sys/class/block/%s", name ? name : "");
		right = right && name && !access(path, F_OK);
		disks++;
		if (!disk_partitions(DISK_DEV(dev_major, dev_minor), devs, 16))
			continue;
		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/start", devs[0] >> 20,
			 devs[0] & 0xfffff);
		file = fopen(path, "re");
		right = right && file && fgets(start, sizeof(start), file);
		if (file)
			fclose(file);
		name = sources.partition(sources.arg, dev_major, dev_minor,
					 strtoull(start, NULL, 10));
		snprintf(path, sizeof(path), "/sys/class/block/%s/partition", name ? name : "");
		right = right && name && !access(path, F_OK);
		partitions++;
	}
	if (dir)
		closedir(dir);
	ok(right, "names of %u disks, of which %u have partitions", disks, partitions);
}

static void test_partitions(void)
{
	struct partition three[] = {
		{ 63, 100, "a" },
		{ 1000, 500, "extended" },
		{ 1100, 100, "logical" },
	};
	const struct partitions partitions = { three, 3 }, none = {};

	ok(!partitions_find(&partitions, 62), "in front of the first");
	eq_str(partitions_find(&partitions, 63), "a", "its first sector");
	eq_str(partitions_find(&partitions, 162), "a", "its last one");
	ok(!partitions_find(&partitions, 163), "behind it");
	eq_str(partitions_find(&partitions, 1099), "extended", "in one that has others in it");
	eq_str(partitions_find(&partitions, 1100), "logical", "in such another");
	eq_str(partitions_find(&partitions, 1200), "extended", "behind that");
	ok(!partitions_find(&partitions, UINT64_MAX), "behind the end");
	ok(!partitions_find(&none, 0), "of a disk without any");
}

static void test_cgroups(void)
{
	const char *path;

	ok(!sources.cgroup_path(sources.arg, 0), "none that is not known");
	ok(!sources.cgroup_path(sources.arg, UINT64_MAX), "none that is not there");
	path = sources.cgroup_path(sources.arg, 1);
	ok(!path || !strcmp(path, "/"), "the first one is the root, where cgroups are mounted");
}

/* To be found. */
int __attribute__((noinline)) function_to_be_found(int argument);

int __attribute__((noinline)) function_to_be_found(int argument)
{
	return argument + 1;
}

static void test_user_symbols(void)
{
	struct monad_storage_stack stack = { .tgid = (uint32_t)getpid() };
	uint64_t address = (uintptr_t)function_to_be_found, offset = 0;
	const char *module = NULL;

	eq_str(sources.symbol(sources.arg, &stack, address + 2, true, &module, &offset),
	       "function_to_be_found", "a function of ours");
	eq_u64(offset, 2, "so far from its beginning");
	ok(module && strstr(module, "test_lib_sources"), "in this file");
	/* There is an end to processes that are kept. */
	for (unsigned int i = 0; i < 1000; i++) {
		stack.tgid = INT_MAX - i;
		sources.symbol(sources.arg, &stack, address, true, &module, &offset);
	}
	ok(!module && !offset, "nothing of a process that is not there");
	stack.tgid = (uint32_t)getpid();
	eq_str(sources.symbol(sources.arg, &stack, address + 1, true, &module, &offset),
	       "function_to_be_found", "ours is found again");
}

static void test_kernel_symbols(void)
{
	struct monad_storage_stack stack = {};
	struct kallsyms_function function;
	const char *module, *name;
	uint64_t offset, address;
	struct symbol symbol;

	kallsyms_load();
	stack.text = kallsyms_address("_stext");
	address = kallsyms_address("submit_bio");
	if (!stack.text || !address || !kallsyms_look_up(address, &function)) {
		skip("nobody may know the kernel's addresses");
		return;
	}
	kallsyms_free();
	name = sources.symbol(sources.arg, &stack, address + 4, false, &module, &offset);
	ok(name && strstr(name, "submit_bio") && offset == 4 && !module,
	   "a function of the kernel's: %s", name ? name : "");
	stack.text += 4096;
	ok(!sources.symbol(sources.arg, &stack, address, false, &module, &offset),
	   "of another boot nothing is known");
	symbols_free();
	ok(symbols_find_kernel(address, stack.text - 4096, &symbol),
	   "what was given back is read again");
}

int main(void)
{
	if (transform_sources_open(&sources))
		bail_out("no memory");
	test_mounts();
	test_disks();
	test_partitions();
	test_cgroups();
	test_user_symbols();
	test_kernel_symbols();
	transform_sources_close(&sources);
	return done_testing();
}
