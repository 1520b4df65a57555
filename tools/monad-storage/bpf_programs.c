// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include <monad_event/event_metadata.h>
#include <monad_event/event_ring_util.h>

#include "bpf_programs.h"
#include "monad_storage.h"

/* What libbpf said is only worth reading when something failed. */
static char libbpf_log[65536];
static size_t libbpf_log_used;
static bool libbpf_verbose;

static int keep_libbpf_log(enum libbpf_print_level level, const char *format, va_list args)
{
	size_t room = sizeof(libbpf_log) - libbpf_log_used;
	int n;

	if (libbpf_verbose)
		return vfprintf(stderr, format, args);
	if (level == LIBBPF_DEBUG || room < 2)
		return 0;
	n = vsnprintf(libbpf_log + libbpf_log_used, room, format, args);
	if (n > 0)
		libbpf_log_used += (size_t)n < room ? (size_t)n : room - 1;
	return n;
}

void bpf_log_begin(bool verbose)
{
	libbpf_verbose = verbose;
	libbpf_set_print(keep_libbpf_log);
}

/* The last lines: the verifier explains at length, and ends with what is wrong. */
void bpf_log_show(void)
{
	const char *from = libbpf_log + libbpf_log_used;

	for (int lines = 0; from > libbpf_log; from--) {
		if (from[-1] == '\n' && ++lines > 12)
			break;
	}
	fputs(from, stderr);
}

int bpf_check_system(const char *what)
{
	if (geteuid()) {
		error("%s takes root (CAP_SYS_ADMIN: finding a module's kfuncs means "
		      "enumerating BTF)", what);
		return -1;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		error("this kernel has no BTF (/sys/kernel/btf/vmlinux): it needs "
		      "CONFIG_DEBUG_INFO_BTF=y");
		return -1;
	}
	return 0;
}

int bpf_prepare_ring(const char *ring, char *path, size_t path_size, struct monad_ring_info *info)
{
	struct monad_ring_content content = {
		.size = sizeof(content),
		.content_type = MONAD_EVENT_CONTENT_TYPE_STORAGE,
	};
	int fd, err;

	err = monad_event_ring_open_fd(ring, &fd, path, path_size);
	if (err) {
		error("%s", lib_error());
		return err;
	}
	err = monad_event_ring_query_device(fd, info);
	if (err) {
		error("%s", lib_error());
		if (err == ENOTTY)
			error("%s is a ring file; BPF programs can write to rings of the module "
			      "only", path);
		goto out;
	}
	if (!(info->flags & MONAD_RING_F_KFUNCS) || access("/sys/kernel/btf/monad_ring", F_OK)) {
		error("BPF programs cannot call monad_ring: the module was built without BTF%s",
		      access("/sys/kernel/btf/monad_ring", F_OK) ?
			      " (no /sys/kernel/btf/monad_ring)" : "");
		error("rebuild it with pahole and resolve_btfids installed; kmod/btf.sh says what "
		      "is missing");
		err = ENOTSUP;
		goto out;
	}
	memcpy(content.schema_hash, g_monad_storage_event_schema_hash,
	       sizeof(content.schema_hash));
	if (ioctl(fd, MONAD_RING_IOC_SET_CONTENT, &content)) {
		err = errno;
		if (err == EBUSY && info->content_type == MONAD_EVENT_CONTENT_TYPE_NONE)
			error("ring %s holds events of no declared type; use another ring, or "
			      "reload monad_ring to empty it", info->name);
		else if (err == EBUSY)
			error("ring %s is already for %s events%s; use another ring, or reload "
			      "monad_ring to empty it",
			      info->name, monad_event_content_type_name(info->content_type),
			      info->content_type == MONAD_EVENT_CONTENT_TYPE_STORAGE ?
				      " of another version of this program" : "");
		else
			error("setting the content type of ring %s: %s", info->name,
			      strerror(err));
	}
out:
	close(fd);
	return err;
}
