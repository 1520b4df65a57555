/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Disks whose I/O no tracepoint tells of: drivers may have rw_page(), which takes a page and no
 * bio, where block_device_operations has it (6.1, and not 6.12).
 */
#ifndef MONAD_STORAGE_PAGE_DISKS_H
#define MONAD_STORAGE_PAGE_DISKS_H

struct btf;

/* Warns of those that there are, on such a kernel. */
void page_disks_warn(const struct btf *btf);

#endif /* MONAD_STORAGE_PAGE_DISKS_H */
