// SPDX-License-Identifier: GPL-2.0
/*
 * What the library says when the module does not make or destroy a ring, without the module:
 * open(2) and ioctl(2) are wrapped (see lib.mk).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>

#include <monad_event/event_ring_util.h>

#include "tap.h"

static int open_errno, ioctl_errno;
static unsigned long last_request;
static char last_name[MONAD_RING_NAME_MAX];
static int opened, closed;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_ioctl(int fd, unsigned long request, ...);

int __wrap_open(const char *path, int flags, ...)
{
	if (strcmp(path, "/dev/monad_ring") != 0)
		return __real_open(path, flags);
	if (open_errno) {
		errno = open_errno;
		return -1;
	}
	opened++;
	return __real_open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int __wrap_close(int fd)
{
	closed++;
	return __real_close(fd);
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	last_request = request;
	if (request == MONAD_RING_IOC_CREATE) {
		struct monad_ring_create *create = arg;

		memcpy(last_name, create->name, sizeof(last_name));
		if (!ioctl_errno)
			create->ring_id = 77;
	} else {
		memcpy(last_name, ((struct monad_ring_destroy *)arg)->name, sizeof(last_name));
	}
	errno = ioctl_errno;
	return ioctl_errno ? -1 : 0;
}

static struct monad_ring_create make_request(void)
{
	struct monad_ring_create create = {
		.size = sizeof(create),
		.name = "mine",
		.descriptors_shift = 20,
		.payload_shift = 28,
		.numa_node = 3,
	};

	return create;
}

static void test_create(void)
{
	static const struct {
		int err;
		const char *says;
	} cases[] = {
		{ENOTTY, "load the module that belongs to this library"},
		{EPERM, "CAP_PERFMON"},
		{EEXIST, "there is a kernel ring `mine`"},
		{ENOSPC, "there are 64"},
		{EBUSY, "no minor number left for the device of kernel ring `mine`"},
		{ENOMEM, "64 MiB and 256 MiB of payload"},
		{ERANGE, "too small for as many CPUs"},
		{ENODEV, "no NUMA node 3"},
		{EINVAL, "takes no such request"},
		{EINTR, "cannot make kernel ring `mine`"},
	};
	struct monad_ring_create create = make_request();

	eq_int(monad_event_ring_create_device(&create), 0, "create");
	eq_u64(last_request, MONAD_RING_IOC_CREATE, "asks the module");
	eq_u64(create.ring_id, 77, "and gets an id");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		create = make_request();
		ioctl_errno = cases[i].err;
		eq_int(monad_event_ring_create_device(&create), cases[i].err, "create: %s",
		       strerror(cases[i].err));
		ok(strstr(monad_event_ring_get_last_error(), cases[i].says), "says why: %s",
		   monad_event_ring_get_last_error());
	}
	ioctl_errno = ERANGE;
	create.descriptors_shift = 9;
	monad_event_ring_create_device(&create);
	ok(strstr(monad_event_ring_get_last_error(), "descriptors shift 9 is not from 10 to 32"),
	   "which shift");
	create = make_request();
	create.payload_shift = 41;
	monad_event_ring_create_device(&create);
	ok(strstr(monad_event_ring_get_last_error(), "payload shift 41 is not from 21 to 40"),
	   "which of the two");
	create.descriptors_shift = 0xffffffff;
	create.payload_shift = 0xffffffff;
	ioctl_errno = ENOMEM;
	eq_int(monad_event_ring_create_device(&create), ENOMEM, "no size computed from nonsense");
	ok(strstr(monad_event_ring_get_last_error(), "the default size"), "none said");
	ioctl_errno = 0;
}

static void test_destroy(void)
{
	static const struct {
		int err;
		const char *says;
	} cases[] = {
		{ENOENT, "there is no kernel ring `mine`"},
		{EBUSY, "the default ring"},
		{ENOTTY, "load the module"},
		{EPERM, "CAP_PERFMON"},
		{EINTR, "cannot destroy"},
	};

	eq_int(monad_event_ring_destroy_device("mine"), 0, "destroy");
	eq_u64(last_request, MONAD_RING_IOC_DESTROY, "asks the module");
	eq_str(last_name, "mine", "for this ring");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ioctl_errno = cases[i].err;
		eq_int(monad_event_ring_destroy_device("mine"), cases[i].err, "destroy: %s",
		       strerror(cases[i].err));
		ok(strstr(monad_event_ring_get_last_error(), cases[i].says), "says why: %s",
		   monad_event_ring_get_last_error());
	}
	ioctl_errno = 0;
}

static void test_open(void)
{
	static const struct {
		int err;
		const char *says;
	} cases[] = {
		{ENOENT, "modprobe monad_ring"},
		{ENXIO, "modprobe monad_ring"},
		{EACCES, "root"},
		{EMFILE, "cannot open /dev/monad_ring"},
	};
	struct monad_ring_create create;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		create = make_request();
		open_errno = cases[i].err;
		eq_int(monad_event_ring_create_device(&create), cases[i].err, "no device: %s",
		       strerror(cases[i].err));
		ok(strstr(monad_event_ring_get_last_error(), cases[i].says), "says what to do");
		eq_int(monad_event_ring_destroy_device("mine"), cases[i].err, "nor to destroy");
	}
	open_errno = 0;
}

static void test_arguments(void)
{
	static const char *const names[] = {
		"", "-a", ".a", "_a", "a b", "a/b", "../a", "a\n", "\xe4", "a:1:2",
		"x234567890123456789012345678901x",
	};
	struct monad_ring_create create;
	const int before = opened;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		create = make_request();
		memset(create.name, 0, sizeof(create.name));
		memcpy(create.name, names[i], strnlen(names[i], sizeof(create.name)));
		eq_int(monad_event_ring_create_device(&create), EINVAL, "name %zu is none", i);
		ok(strstr(monad_event_ring_get_last_error(), "1 to 31 letters"), "says what is");
		eq_int(monad_event_ring_destroy_device(names[i]), EINVAL, "nor to destroy");
	}
	create = make_request();
	create.size = 0;
	eq_int(monad_event_ring_create_device(&create), EINVAL, "size not set");
	eq_int(monad_event_ring_create_device(NULL), EFAULT, "NULL");
	eq_int(monad_event_ring_destroy_device(NULL), EFAULT, "NULL");
	eq_int(opened, before, "none of these come to the module");
	create = make_request();
	memcpy(create.name, "0a.B-c_9xxxxxxxxxxxxxxxxxxxxxxx", 32);
	eq_int(monad_event_ring_create_device(&create), 0, "31 characters of all kinds");
	eq_str(last_name, create.name, "are a name");
}

int main(void)
{
	test_create();
	test_destroy();
	test_open();
	test_arguments();
	eq_int(closed, opened, "nothing is left open");
	return done_testing();
}
