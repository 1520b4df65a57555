// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "ring.h"

#define PATIENCE_NS 5000000000ULL

unsigned int slowness(void)
{
	const char *times = getenv("VM_SLOWNESS");
	int n = times ? atoi(times) : 1;

	return n > 0 ? n : 1;
}

/* The harness limits each test by it; the linker has it call this one. */
unsigned int __real_alarm(unsigned int seconds);
unsigned int __wrap_alarm(unsigned int seconds);

unsigned int __wrap_alarm(unsigned int seconds)
{
	return __real_alarm(seconds * slowness());
}

uint64_t now_ns(int clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

void pin_to_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fprintf(stderr, "# cannot run on CPU %d: %s\n", cpu, strerror(errno));
}

bool kernel_at_least(unsigned int major, unsigned int minor)
{
	unsigned int have_major = 0, have_minor = 0;
	struct utsname u;

	uname(&u);
	if (sscanf(u.release, "%u.%u", &have_major, &have_minor) != 2)
		return false;
	return have_major > major || (have_major == major && have_minor >= minor);
}

int module_open(void)
{
	/* Where "make modules_install", the boot harness and DKMS put it. */
	static const char *const dirs[] = { "updates", "updates/dkms", "extra" };
	const char *path = getenv("MONAD_RING_KO");
	char name[PATH_MAX];
	struct utsname u;
	unsigned int i;
	int fd;

	if (path) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	uname(&u);
	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(name, sizeof(name), "/lib/modules/%s/%s/monad_ring.ko", u.release,
			 dirs[i]);
		fd = open(name, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

int module_load_params(const char *params)
{
	int fd, err = 0;

	fd = module_open();
	if (fd < 0)
		return fd;
	if (syscall(SYS_finit_module, fd, params, 0))
		err = -errno;
	close(fd);
	return err;
}

int module_load(const char *rings)
{
	char params[4096];

	snprintf(params, sizeof(params), "rings=%s", rings);
	return module_load_params(params);
}

int module_try_unload(void)
{
	return syscall(SYS_delete_module, "monad_ring", O_NONBLOCK) ? -errno : 0;
}

int module_unload(void)
{
	uint64_t until = now_ns(CLOCK_MONOTONIC) + PATIENCE_NS * slowness();
	int err;

	for (;;) {
		err = module_try_unload();
		if ((err != -EBUSY && err != -EWOULDBLOCK) || now_ns(CLOCK_MONOTONIC) > until)
			return err;
		usleep(10000);
	}
}

long module_refcnt(void)
{
	FILE *file = fopen("/sys/module/monad_ring/refcnt", "re");
	long refs = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &refs) != 1)
		refs = -1;
	fclose(file);
	return refs;
}

bool module_loaded(void)
{
	return !access("/sys/module/monad_ring", F_OK);
}

long module_wait_refcnt(long refs)
{
	uint64_t until = now_ns(CLOCK_MONOTONIC) + PATIENCE_NS * slowness();

	while (module_refcnt() != refs && now_ns(CLOCK_MONOTONIC) < until)
		usleep(10000);
	return module_refcnt();
}

int module_fresh(const char *rings)
{
	int err = module_loaded() ? module_unload() : 0;

	return err ?: module_load(rings);
}

bool module_missing(int err)
{
	return err == -ENOENT || err == -EPERM;
}

int ring_open_fd(const char *name)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "/dev/monad_ring%s%s", name ? "-" : "", name ?: "");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int ring_info(int fd, struct monad_ring_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return ioctl(fd, MONAD_RING_IOC_INFO, info) ? -errno : 0;
}

static int map_all(struct ring *ring)
{
	size_t map_size = ring->info.map_size, payload_size = ring->info.payload_buf_size;
	uint8_t *room, *base;

	ring->mapped = map_size + payload_size;
	room = mmap(NULL, ring->mapped + CHUNK, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		return -errno;
	base = (uint8_t *)(((uintptr_t)room + CHUNK - 1) & ~(CHUNK - 1));
	if (base > room)
		munmap(room, base - room);
	munmap(base + ring->mapped, room + CHUNK - base);
	if (mmap(base, map_size, PROT_READ, MAP_SHARED | MAP_FIXED, ring->fd, 0) == MAP_FAILED ||
	    mmap(base + map_size, payload_size, PROT_READ, MAP_SHARED | MAP_FIXED, ring->fd,
		 ring->info.payload_offset) == MAP_FAILED) {
		int err = -errno;

		munmap(base, ring->mapped);
		return err;
	}
	ring->base = base;
	ring->header = (const volatile struct monad_event_ring_header *)base;
	ring->ext = (const volatile struct monad_ring_ext *)(base + MONAD_RING_EXT_OFFSET);
	ring->descs = (const volatile struct monad_event_descriptor *)
		(base + ring->info.descriptor_offset);
	ring->payload = base + ring->info.payload_offset;
	return 0;
}

int ring_open(struct ring *ring, const char *name)
{
	int err;

	memset(ring, 0, sizeof(*ring));
	ring->fd = ring_open_fd(name);
	if (ring->fd < 0)
		return ring->fd;
	err = ring_info(ring->fd, &ring->info) ?: map_all(ring);
	if (err) {
		close(ring->fd);
		ring->fd = -1;
	}
	return err;
}

void ring_close(struct ring *ring)
{
	if (ring->base)
		munmap((void *)ring->base, ring->mapped);
	if (ring->fd >= 0)
		close(ring->fd);
	ring->base = NULL;
	ring->fd = -1;
}

uint64_t ring_lost(const struct ring *ring, enum monad_ring_lost why)
{
	struct monad_ring_info info;

	return ring_info(ring->fd, &info) ? UINT64_MAX : info.lost[why];
}

uint64_t ring_lost_all(const struct ring *ring)
{
	struct monad_ring_info info;
	uint64_t sum = 0;
	unsigned int i;

	if (ring_info(ring->fd, &info))
		return UINT64_MAX;
	for (i = 0; i < MONAD_RING_LOST_COUNT; i++)
		if (i != MONAD_RING_LOST_RING_GONE)
			sum += info.lost[i];
	return sum;
}

int ring_create(int fd, const char *name, unsigned int desc_shift, unsigned int payload_shift,
		uint32_t *id)
{
	struct monad_ring_create create = {
		.size = sizeof(create),
		.descriptors_shift = desc_shift,
		.payload_shift = payload_shift,
		.numa_node = -1,
	};

	snprintf(create.name, sizeof(create.name), "%s", name);
	if (ioctl(fd, MONAD_RING_IOC_CREATE, &create))
		return -errno;
	if (id)
		*id = create.ring_id;
	return 0;
}

int ring_destroy(int fd, const char *name)
{
	struct monad_ring_destroy destroy = { .size = sizeof(destroy) };

	snprintf(destroy.name, sizeof(destroy.name), "%s", name);
	return ioctl(fd, MONAD_RING_IOC_DESTROY, &destroy) ? -errno : 0;
}

int ring_wait(int fd, uint64_t seqno, int64_t timeout_ns)
{
	struct monad_ring_wait wait = {
		.size = sizeof(wait), .seqno = seqno, .timeout_ns = timeout_ns,
	};

	return ioctl(fd, MONAD_RING_IOC_WAIT, &wait) ? -errno : 0;
}

unsigned int ring_entries(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	unsigned int n = 0;

	while (dir && (entry = readdir(dir)))
		n += !strncmp(entry->d_name, "monad_ring", 10);
	if (dir)
		closedir(dir);
	return n;
}

int sysfs_read(const char *device, const char *attribute, char *value, size_t size)
{
	char path[PATH_MAX];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/sys/class/misc/%s/%s", device, attribute);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = read(fd, value, size - 1);
	close(fd);
	if (len < 0)
		return -errno;
	if (len && value[len - 1] == '\n')
		len--;
	value[len] = '\0';
	return 0;
}

long proc_number(const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	char line[256], *p;
	long n = 0;

	while (file && fgets(line, sizeof(line), file)) {
		p = line + strspn(line, " ");
		if (!strncmp(p, name, strlen(name)))
			n += atol(p + strlen(name));
	}
	if (file)
		fclose(file);
	return n;
}

unsigned int vmap_ranges(void)
{
	FILE *file = fopen("/proc/vmallocinfo", "re");
	char line[256];
	unsigned int n = 0;

	while (file && fgets(line, sizeof(line), file))
		n += !!strstr(line, " vmap");
	if (file)
		fclose(file);
	return n;
}

long available_mib(void)
{
	return proc_number("/proc/meminfo", "MemAvailable:") >> 10;
}

long free_mib(void)
{
	return (proc_number("/proc/meminfo", "MemFree:") >> 10) +
	       (proc_number("/proc/zoneinfo", "count:") >> 8);
}

int act_as(int capability, int (*act)(void *arg), void *arg)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (capability >= 0) {
			data[capability / 32].effective = 1U << capability % 32;
			data[capability / 32].permitted = 1U << capability % 32;
		}
		_exit(syscall(SYS_capset, &header, data) ? 255 : act(arg));
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) == 255)
		return -1;
	return WEXITSTATUS(status);
}

int kmsg_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	lseek(fd, 0, SEEK_END);
	return fd;
}

bool kmsg_has(int fd, const char *text)
{
	char line[2048];
	ssize_t len;

	/* EPIPE: records were overwritten before we came to read them. */
	while ((len = read(fd, line, sizeof(line) - 1)) > 0 || (len < 0 && errno == EPIPE)) {
		if (len < 0)
			continue;
		line[len] = '\0';
		if (strstr(line, text))
			return true;
	}
	return false;
}

int run_program(const struct bpf_program *program, void *ctx, size_t size)
{
	/* The kernel writes the context back to where it read it. */
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = ctx, .ctx_size_in = size);
	int err = bpf_prog_test_run_opts(bpf_program__fd(program), &opts);

	return err ?: (int)opts.retval;
}

static int print_if_verbose(enum libbpf_print_level level, const char *format, va_list args)
{
	if (!getenv("KSFT_VERBOSE") || level == LIBBPF_DEBUG)
		return 0;
	return vfprintf(stderr, format, args);
}

void quiet_libbpf(void)
{
	libbpf_set_print(print_if_verbose);
}
