/* SPDX-License-Identifier: GPL-2.0 */
#define NUMA_NO_NODE (-1)
