// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "kernel_compat.h"
#include "monad_storage.h"
#include "page_disks.h"

static const char *const prefixes[] = { "zram", "ram", "pmem" };

static bool takes_pages(const char *disk)
{
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t length = strlen(prefixes[i]);

		if (!strncmp(disk, prefixes[i], length) && disk[length] >= '0' &&
		    disk[length] <= '9')
			return true;
	}
	return false;
}

void page_disks_warn(const struct btf *btf)
{
	const struct dirent *entry;
	char names[128] = "";
	size_t used = 0;
	DIR *dir;

	if (!kernel_has_member(btf, "block_device_operations", "rw_page"))
		return;
	dir = opendir("/sys/block");
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (!takes_pages(entry->d_name))
			continue;
		if (used + strlen(entry->d_name) + 8 > sizeof(names)) {
			used += snprintf(names + used, sizeof(names) - used, ", ...");
			break;
		}
		used += snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "",
				 entry->d_name);
	}
	closedir(dir);
	if (used)
		warning("%s: this kernel reads and writes them a page at a time, without a bio, "
			"for swap and buffered reads: that is not seen", names);
}
