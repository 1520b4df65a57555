/* SPDX-License-Identifier: GPL-2.0 */
/* What kmod/config.c needs of the kernel's header of this name. */
#ifndef FUZZ_LINUX_KERNEL_H
#define FUZZ_LINUX_KERNEL_H

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last message: formatted, so that reading too far for it is found. */
extern char fuzz_log[1024];

#define KBUILD_MODNAME "monad_ring"
#define pr_err(fmt, ...) snprintf(fuzz_log, sizeof(fuzz_log), pr_fmt(fmt), ##__VA_ARGS__)
#define pr_err_ratelimited pr_err

/* As in the kernel: digits, perhaps a plus before and a newline behind them. */
static inline int kstrtouint(const char *s, unsigned int base, unsigned int *res)
{
	unsigned long long value;
	char *end;

	if (*s == '+')
		s++;
	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	value = strtoull(s, &end, (int)base);
	if (*end == '\n')
		end++;
	if (*end)
		return -EINVAL;
	if (errno || value > UINT_MAX)
		return -ERANGE;
	*res = (unsigned int)value;
	return 0;
}

#endif /* FUZZ_LINUX_KERNEL_H */
