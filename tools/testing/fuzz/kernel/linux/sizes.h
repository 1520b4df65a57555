/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_LINUX_SIZES_H
#define FUZZ_LINUX_SIZES_H

#define SZ_2M 0x200000

#endif /* FUZZ_LINUX_SIZES_H */
