// SPDX-License-Identifier: GPL-2.0
/*
 * What the library does with a ring device, without the module: fstat(2) and
 * ioctl(2) are wrapped (see lib.mk) so that a memfd poses as the device.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <monad_event/event_ring.h>
#include <monad_event/event_ring_util.h>
#include <monad_event/event_wait.h>

#include "ring_image.h"
#include "tap.h"

static int device_fd = -1;
static int ioctl_errno;
static struct monad_ring_info info;

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_ioctl(int fd, unsigned long request, ...);

int __wrap_fstat(int fd, struct stat *st)
{
	int ret = __real_fstat(fd, st);

	if (fd == device_fd)
		st->st_mode = S_IFCHR | 0400;
	return ret;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct monad_ring_info *arg;
	uint32_t size;
	va_list ap;

	va_start(ap, request);
	arg = va_arg(ap, struct monad_ring_info *);
	va_end(ap);
	if (fd != device_fd || request != MONAD_RING_IOC_INFO || ioctl_errno) {
		errno = ioctl_errno ? ioctl_errno : ENOTTY;
		return -1;
	}
	size = arg->size < info.size ? arg->size : info.size;
	memcpy(arg, &info, size);
	arg->size = size;
	return 0;
}

static struct image image;
static struct monad_event_ring ring;

static void setup(void)
{
	image_create(&image, 12, 22, MIB2);
	put_events_up_to(&image, 9);
	device_fd = image.fd;
	ioctl_errno = 0;
	memset(&info, 0, sizeof(info));
	info.size = sizeof(info);
	info.abi_version = MONAD_RING_ABI_VERSION;
	info.descriptor_capacity = 4096;
	info.payload_buf_size = 2 * MIB2;
	info.context_area_size = MIB2;
	info.descriptor_offset = MIB2;
	info.payload_offset = 2 * MIB2;
	info.context_offset = 4 * MIB2;
	info.map_size = 5 * MIB2;
}

static int map(void)
{
	return monad_event_ring_mmap(&ring, PROT_READ, MAP_POPULATE, image.fd, 0, "dev");
}

static void teardown(void)
{
	monad_event_ring_unmap(&ring);
	device_fd = -1;
	image_destroy(&image);
}

static void test_good(void)
{
	struct monad_ring_info got;
	int fd;

	setup();
	eq_int(map(), 0, "mmap: %s", monad_event_ring_get_last_error());
	eq_u64(ring.desc_capacity_mask, 4095, "descriptors");
	eq_u64(ring.payload_buf_mask, 2 * MIB2 - 1, "payload");
	eq_u64(monad_event_ring_last_seqno(&ring), 9, "last_seqno");
	eq_u64((uintptr_t)ring.header % MIB2, 0, "2 MiB aligned");
	ok(ring.context_area, "context area");
	eq_int(monad_event_ring_query_device(image.fd, &got), 0, "query_device");
	eq_u64(got.map_size, 5 * MIB2, "map_size");
	eq_int(monad_event_ring_query_device(image.fd, NULL), EFAULT, "nowhere to put it");
	teardown();
	fd = open("/dev/null", O_RDONLY);
	eq_int(monad_event_ring_query_device(fd, &got), ENOTTY, "another device");
	close(fd);
}

#define BAD(what, want, change)                      \
	do {                                         \
		setup();                             \
		change;                              \
		eq_int(map(), want, what);           \
		ok(!ring.header, "unmapped");        \
		teardown();                          \
	} while (0)

/* A module that knows no ioctl to wait: memory is looked at, and nobody has to lock anything. */
static void test_old_module(void)
{
	struct monad_event_waiter waiter;
	struct monad_event_iterator iter;

	setup();
	eq_int(map(), 0, "an older module");
	eq_int(monad_event_ring_init_iterator(&ring, &iter), 0, "an iterator");
	eq_int(monad_event_waiter_init(&waiter, image.fd), 0, "a waiter");
	monad_event_iterator_set_seqno(&iter, 10);
	eq_int(monad_event_waiter_wait(&waiter, &iter, 1, 20000000), ETIMEDOUT, "waits");
	eq_int(monad_event_waiter_arm(&waiter, &iter, 1), 0, "can be armed");
	ok(monad_event_waiter_fd(&waiter) != waiter.ring_fd, "polls no device that cannot");
	put_events_up_to(&image, 10);
	eq_int(monad_event_waiter_wait(&waiter, &iter, 1, -1), 0, "sees the event");
	monad_event_waiter_destroy(&waiter);
	teardown();
}

int main(void)
{
	test_good();
	BAD("another kind of device", EPROTO, ioctl_errno = ENOTTY);
	BAD("another kind of device that says EINVAL", EPROTO, ioctl_errno = EINVAL);
	BAD("a device that is going away", ENODEV, ioctl_errno = ENODEV);
	BAD("a module older than the interface", EPROTO, info.size = 200);
	BAD("capacity that is not a power of two", EINVAL, info.descriptor_capacity = 4095);
	BAD("payload too small", EINVAL, info.payload_buf_size = 4096);
	BAD("descriptors elsewhere", EPROTO, info.descriptor_offset = 2 * MIB2);
	BAD("payload elsewhere", EPROTO, info.payload_offset = 3 * MIB2);
	BAD("context elsewhere", EPROTO, info.context_offset = 5 * MIB2);
	BAD("another size to map", EPROTO, info.map_size = 6 * MIB2);
	BAD("a header without magic", EPROTO, image.map[0] = 'X');
	BAD("a header of another size", EPROTO, put(&image, 40, 1024, 8));
	setup();
	eq_int(monad_event_ring_mmap(&ring, PROT_READ, 0, image.fd, MIB2, "dev"), EINVAL,
	       "an offset");
	teardown();
	test_old_module();
	return done_testing();
}
