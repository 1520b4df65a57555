// SPDX-License-Identifier: GPL-2.0
/*
 * How long a direct read takes: of a null_blk disk in a guest whose clock counts instructions,
 * that is how many instructions. Run with nothing attached and then with a tool, the difference
 * is what the tool costs per I/O.
 *
 *	storage_io DISK
 *
 * Prints the least and the median of batches, in ns a read. The least is what the kernel's side
 * costs, without the tool's own process, which runs between batches.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/fs.h>

#include "bench.h"

#define BLOCK 4096
#define READS 64
#define BATCHES 61

int main(int argc, char **argv)
{
	struct bench_samples samples = {};
	unsigned long long size = 0;
	char path[256];
	void *buffer;
	int fd, i, n;

	if (argc != 2) {
		fprintf(stderr, "usage: storage_io DISK\n");
		return 2;
	}
	snprintf(path, sizeof(path), "/dev/%s", argv[1]);
	fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, BLKGETSIZE64, &size) || posix_memalign(&buffer, BLOCK, BLOCK)) {
		fprintf(stderr, "storage_io: %s: %m\n", path);
		return 1;
	}
	for (i = 0; i < BATCHES; i++) {
		double begin = bench_now();

		for (n = 0; n < READS; n++) {
			if (pread(fd, buffer, BLOCK, (i * READS + n) * BLOCK % size) != BLOCK) {
				fprintf(stderr, "storage_io: reading %s: %m\n", path);
				return 1;
			}
		}
		bench_add(&samples, (bench_now() - begin) / READS);
		/* Whoever reads what was recorded. */
		usleep(2000);
	}
	printf("%.1f %.1f\n", bench_quantile(&samples, 0), bench_median(&samples));
	return 0;
}
