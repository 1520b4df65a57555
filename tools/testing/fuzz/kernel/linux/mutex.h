/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_LINUX_MUTEX_H
#define FUZZ_LINUX_MUTEX_H

struct mutex {
	int unused;
};

#endif /* FUZZ_LINUX_MUTEX_H */
