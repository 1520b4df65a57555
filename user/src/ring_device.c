// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Making and destroying the kernel's rings. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <monad_event/event_ring_util.h>

#include "error.h"

/* Any ring's device takes these calls; this one is there whenever the module is. */
#define CONTROL "/dev/" MONAD_RING_DEVICE_NAME

#define LOAD_HINT "is the kernel module loaded? modprobe monad_ring"
#define NAME_HINT \
	"1 to 31 letters, digits, '_', '-' and '.', beginning with a letter or a digit"

/* The module says the same without a word to us. */
static int check_name(const char *name)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
	const size_t len = strnlen(name, MONAD_RING_NAME_MAX);

	if (len == MONAD_RING_NAME_MAX)
		return FAIL_HINT(EINVAL, NAME_HINT, "`%.*s...` is too long for a ring's name",
				 MONAD_RING_NAME_MAX - 1, name);
	if (!len || strspn(name, allowed) < len || strchr("_-.", name[0]))
		return FAIL_HINT(EINVAL, NAME_HINT, "`%s` cannot be the name of a kernel ring",
				 name);
	return 0;
}

static int open_control(int *fd)
{
	*fd = open(CONTROL, O_RDONLY | O_CLOEXEC);
	if (*fd >= 0)
		return 0;
	if (errno == ENOENT || errno == ENXIO || errno == ENODEV)
		return FAIL_HINT(errno, LOAD_HINT, "cannot open " CONTROL);
	if (errno == EACCES || errno == EPERM)
		return FAIL_HINT(errno, "it takes root, or the group the device belongs to",
				 "cannot open " CONTROL);
	return FAIL(errno, "cannot open " CONTROL);
}

/* What went wrong with either; -1: something else. */
static int fail_common(int err, const char *what, const char *name)
{
	if (err == ENOTTY)
		return FAIL_HINT(err, "load the module that belongs to this library",
				 "cannot %s kernel ring `%s`: the module that is loaded makes its "
				 "rings when it is loaded only, by its parameter rings",
				 what, name);
	if (err == EPERM)
		return FAIL_HINT(err, "it takes root, or CAP_PERFMON",
				 "not allowed to %s kernel ring `%s`", what, name);
	return -1;
}

static int fail_shifts(const struct monad_ring_create *create)
{
	const unsigned int desc = create->descriptors_shift, payload = create->payload_shift;

	if (desc && (desc < MONAD_RING_MIN_DESCRIPTORS_SHIFT ||
		     desc > MONAD_EVENT_MAX_DESCRIPTORS_SHIFT))
		return FAIL(ERANGE, "kernel ring `%s`: descriptors shift %u is not from %d to %d",
			    create->name, desc, MONAD_RING_MIN_DESCRIPTORS_SHIFT,
			    MONAD_EVENT_MAX_DESCRIPTORS_SHIFT);
	if (payload && (payload < MONAD_RING_MIN_PAYLOAD_BUF_SHIFT ||
			payload > MONAD_EVENT_MAX_PAYLOAD_BUF_SHIFT))
		return FAIL(ERANGE, "kernel ring `%s`: payload shift %u is not from %d to %d",
			    create->name, payload, MONAD_RING_MIN_PAYLOAD_BUF_SHIFT,
			    MONAD_EVENT_MAX_PAYLOAD_BUF_SHIFT);
	return FAIL_HINT(ERANGE, "the kernel's log (dmesg) says what the smallest ones are",
			 "kernel ring `%s`: descriptors shift %u, payload shift %u are too small "
			 "for as many CPUs as this machine has",
			 create->name, desc, payload);
}

static int fail_memory(const struct monad_ring_create *create)
{
	const unsigned int desc = create->descriptors_shift, payload = create->payload_shift;
	char text[96];

	if (desc && payload && desc < 58 && payload < 64)
		snprintf(text, sizeof(text), "%" PRIu64 " MiB and %" PRIu64 " MiB of payload",
			 (UINT64_C(64) << desc) >> 20, (UINT64_C(1) << payload) >> 20);
	else
		snprintf(text, sizeof(text), "the default size");
	return FAIL_HINT(ENOMEM,
			 "smaller shifts take less: a descriptor is 64 bytes; a limit of the "
			 "cgroup (memory.max) counts, too",
			 "no memory for kernel ring `%s`, of %s", create->name, text);
}

static int fail_create(int err, const struct monad_ring_create *create)
{
	const int common = fail_common(err, "make", create->name);

	if (common >= 0)
		return common;
	switch (err) {
	case EEXIST:
		return FAIL_HINT(err, "destroy that first, or choose another name",
				 "there is a kernel ring `%s`", create->name);
	case ENOSPC:
		return FAIL_HINT(err, "destroy one that is not used any more",
				 "no room for kernel ring `%s`: there are 64, which is all there "
				 "can be", create->name);
	case EBUSY:
		return FAIL_HINT(err, "unload drivers that are not used (/proc/misc lists them)",
				 "the kernel has no minor number left for the device of kernel "
				 "ring `%s`", create->name);
	case ENOMEM:
		return fail_memory(create);
	case ERANGE:
		return fail_shifts(create);
	case ENODEV:
		return FAIL(err, "kernel ring `%s`: there is no NUMA node %d", create->name,
			    create->numa_node);
	case EINVAL:
		return FAIL_HINT(err, "the kernel's log (dmesg) may say more",
				 "the module takes no such request for kernel ring `%s`: size %u, "
				 "flags 0x%x, content type %u",
				 create->name, create->size, create->flags, create->content_type);
	default:
		return FAIL(err, "cannot make kernel ring `%s`", create->name);
	}
}

int monad_event_ring_create_device(struct monad_ring_create *create)
{
	int err, fd;

	if (!create)
		return FAIL(EFAULT, "what is to be made is NULL");
	if (create->size < sizeof(*create))
		return FAIL(EINVAL, "struct monad_ring_create has size %u, which was not set",
			    create->size);
	err = check_name(create->name);
	if (!err)
		err = open_control(&fd);
	if (err)
		return err;
	if (ioctl(fd, MONAD_RING_IOC_CREATE, create) != 0)
		err = fail_create(errno, create);
	close(fd);
	return err;
}

int monad_event_ring_destroy_device(const char *name)
{
	struct monad_ring_destroy destroy = {.size = sizeof(destroy)};
	int err, fd;

	if (!name)
		return FAIL(EFAULT, "ring name is NULL");
	err = check_name(name);
	if (!err)
		err = open_control(&fd);
	if (err)
		return err;
	memcpy(destroy.name, name, strlen(name));
	if (ioctl(fd, MONAD_RING_IOC_DESTROY, &destroy) != 0) {
		err = errno;
		if (err == ENOENT)
			FAIL(err, "there is no kernel ring `%s`", name);
		else if (err == EBUSY)
			FAIL_HINT(err, "rmmod monad_ring destroys all of them",
				  "kernel ring `%s` is the default ring, which goes with the module",
				  name);
		else if (fail_common(err, "destroy", name) < 0)
			FAIL(err, "cannot destroy kernel ring `%s`", name);
	}
	close(fd);
	return err;
}
