/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Finding, opening and making rings. All functions are thread-safe; those that
 * return int return 0 or a positive errno with a message in
 * monad_event_ring_get_last_error().
 */
#ifndef MONAD_EVENT_EVENT_RING_UTIL_H
#define MONAD_EVENT_EVENT_RING_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <monad/event_ring.h>
#include <monad/ring_ioctl.h>
#include <monad_event/event_ring.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For monad_event_resolve_ring_file(): look on hugetlbfs. */
#define MONAD_EVENT_DEFAULT_HUGETLBFS NULL

/* Directory that ring files are kept in, below a hugetlbfs mount. */
#define MONAD_EVENT_DEFAULT_RING_DIR "event-rings"

/* File name of the ring that an execution daemon writes when not told another. */
#define MONAD_EVENT_DEFAULT_EXEC_FILE_NAME "monad-exec-events"

/* What devices of the kernel module are called: this, or this, '-' and a name. */
#define MONAD_RING_DEVICE_NAME "monad_ring"

/* Flags of monad_event_ring_open(). */
#define MONAD_EVENT_OPEN_POPULATE (1U << 0) /* map all pages now: MAP_POPULATE */

/*
 * Opens and maps for reading whatever @name is:
 *
 *	with a '/'		that device or file
 *	monad_ring[-NAME]	/dev/monad_ring[-NAME] if there is such a device
 *	NAME			/dev/monad_ring-NAME if there is such a device,
 *				otherwise the file NAME in the default directory
 *				on hugetlbfs
 *
 * A snapshot is decompressed to memory and mapped from there, if the ring in it is
 * not larger than monad_event_snapshot_open_limit(): ENOBUFS.
 *
 * @ring is overwritten; unmap it with monad_event_ring_unmap(). ENOENT: none of
 * these exists. Otherwise errors are those of open(2) and
 * monad_event_ring_mmap(). EINVAL also for unknown @flags.
 */
int monad_event_ring_open(struct monad_event_ring *ring, const char *name, unsigned int flags);

/*
 * The first half of that: finds and opens @name read-only (close-on-exec); the
 * descriptor is the caller's. @path, unless NULL, becomes the path that was
 * opened; ERANGE if it does not fit in @path_size.
 */
int monad_event_ring_open_fd(const char *name, int *ring_fd, char *path, size_t path_size);

/*
 * What the kernel module says of the ring device open at @ring_fd; see struct
 * monad_ring_info. ENOTTY: it is no such device. EPROTO: the module is older
 * than the first version of the interface.
 */
int monad_event_ring_query_device(int ring_fd, struct monad_ring_info *info);

/*
 * Makes a ring of the kernel module's, which lives until it is destroyed or the module is
 * unloaded: /dev/monad_ring-NAME. @create: see struct monad_ring_create; zero all of it, then set
 * size, name, numa_node (-1: any), and what else is wanted. ring_id is filled in.
 *
 * EINVAL: a size that was not set, a name that is none, or what the module does not know.
 * ENOENT, ENXIO: the module is not loaded. ENOTTY: it is too old for this. EACCES, EPERM: not
 * allowed, it takes CAP_PERFMON or CAP_SYS_ADMIN. EEXIST: there is one of this name. ENOSPC: there
 * are 64. EBUSY: the kernel has no minor number left for its device. ENOMEM: of that size. ERANGE:
 * a shift out of bounds, or too small for this machine's CPUs. ENODEV: no such NUMA node. EFAULT:
 * NULL.
 */
int monad_event_ring_create_device(struct monad_ring_create *create);

/*
 * Destroys the kernel's ring @name (without "monad_ring-"): nobody can open it or write to it any
 * more; who has it mapped keeps it, and finds MONAD_RING_STATE_GONE in it. ENOENT: there is none,
 * or no module. EBUSY: it is the default ring, which goes with the module only. Otherwise as
 * monad_event_ring_create_device().
 */
int monad_event_ring_destroy_device(const char *name);

struct monad_event_ring_simple_config {
	uint8_t descriptors_shift;    /* log2 of the number of descriptors */
	uint8_t payload_buf_shift;    /* log2 of bytes of payload */
	uint16_t context_large_pages; /* context area, in 2 MiB */
	enum monad_event_content_type content_type;
	const uint8_t *schema_hash; /* 32 bytes */
};

/*
 * Allocates storage for such a ring at @ring_offset of @ring_fd and makes an
 * empty ring of it. ERANGE as monad_event_ring_init_size(). ENOSPC: the file
 * system, or the pool of huge pages, is too small; the file then has the size
 * again that it had before. Otherwise as monad_event_ring_init_file().
 */
int monad_event_ring_init_simple(const struct monad_event_ring_simple_config *config, int ring_fd,
				 off_t ring_offset, const char *error_name);

/*
 * EPROTO unless @ring holds events of @content_type, laid out as this
 * @schema_hash (32 bytes) says: call it before taking payloads for structures.
 * EFAULT: a NULL argument, or nothing mapped.
 */
int monad_event_ring_check_content_type(const struct monad_event_ring *ring,
					enum monad_event_content_type content_type,
					const uint8_t *schema_hash);

/* A lock by flock(2) on a ring file. */
struct monad_event_flock_info {
	int lock;  /* LOCK_EX or LOCK_SH */
	pid_t pid; /* of the process that took it, in our PID namespace */
};

/*
 * Who holds locks on the file open at @ring_fd. @size: in, the number of
 * elements of @flocks; out, how many were found. ERANGE: there are more than
 * fit; as many as fit are filled in. A snapshot: it may be old on return. With
 * very many locks on the machine, none of which seems to be on this file, it
 * tries for a moment to get a shared one, to see whether that is so.
 */
int monad_event_ring_query_flocks(int ring_fd, struct monad_event_flock_info *flocks, size_t *size);

/*
 * The process that holds the exclusive lock writers hold for as long as they
 * live. EOWNERDEAD: nobody, so nothing will be added to this ring.
 */
int monad_event_ring_query_excl_writer_pid(int ring_fd, pid_t *pid);

/*
 * Whether files at @path (or, when it does not exist, in the directory it would
 * be in) can be mapped with MAP_HUGETLB.
 */
int monad_check_path_supports_map_hugetlb(const char *path, bool *supported);

/* For the two below: no limit but what the snapshot itself says. */
#define MONAD_EVENT_NO_MAX_SIZE 0

/*
 * Whether the file open at @fd is a snapshot: a zstd frame whose content begins as a
 * ring does. Looks at the start of the file and does not move its offset. A device or
 * directory is none. ESPIPE: a pipe or socket, where nothing can be looked at without
 * taking it. @error_name names the file in messages, may be NULL.
 */
int monad_event_is_snapshot_file(int fd, const char *error_name, bool *is_snapshot);

/*
 * Decompresses a snapshot to memory: @fd_out becomes a memfd, close-on-exec, sealed so
 * that nobody can change it any more, which monad_event_ring_mmap() maps with
 * PROT_READ. What is zero in it are holes: a ring with few events takes little memory.
 *
 * A regular file is read from its beginning, whatever its offset is, which does not
 * move; from anything else (a pipe) is read what comes, up to its end.
 *
 * @max_size: the most bytes the ring may have, decompressed.
 *
 * EPROTO: it is no snapshot (zstd's skippable frames and dictionaries are not for
 * these), is damaged, or truncated: its content may be up to 15 bytes shorter than the
 * ring it describes, which are taken for zeroes, and never longer; or something follows
 * the frame. ENOBUFS: the ring is larger than @max_size. EIO: reading failed. Otherwise
 * what the system calls gave: ENOMEM and ENOSPC when memory is short, EFBIG when
 * RLIMIT_FSIZE is.
 *
 * Whatever a snapshot claims, no memory is used before content comes to fill it;
 * address space is, as much as the frame says its window is (zstd --long), at most
 * 2 GiB.
 */
int monad_event_decompress_snapshot_fd(int fd, size_t max_size, const char *error_name,
				       int *fd_out);

/* The same of @size bytes at @buf. */
int monad_event_decompress_snapshot_mem(const void *buf, size_t size, size_t max_size,
					const char *error_name, int *fd_out);

/*
 * Opens the default directory for ring files: MONAD_EVENT_DEFAULT_RING_DIR on
 * the first hugetlbfs of 2 MiB pages where it exists, or else can be created,
 * which is then done. @dirfd may be NULL, otherwise the descriptor is the
 * caller's. @name_buf may be NULL, otherwise becomes the directory's path.
 * ENODEV: no such file system is mounted. ERANGE: the path is longer than
 * @name_buf_size.
 */
int monad_event_open_hugetlbfs_dir_fd(int *dirfd, char *name_buf, size_t name_buf_size);

/* The same; the name by which it is known to older programs. */
int monad_event_open_ring_dir_fd(int *dirfd, char *name_buf, size_t name_buf_size);

/* The same, but creates nothing: ENOENT when there is no such directory yet. */
int monad_event_find_ring_dir_fd(int *dirfd, char *name_buf, size_t name_buf_size);

/*
 * The path of ring file @file: @file itself when it has a '/' in it, otherwise
 * below @default_dir, or below the directory of
 * monad_event_open_hugetlbfs_dir_fd() when that is MONAD_EVENT_DEFAULT_HUGETLBFS.
 * The file need not exist. EFAULT: a NULL argument. EINVAL: not a file name.
 * ERANGE: does not fit in @path_buf_size.
 */
int monad_event_resolve_ring_file(const char *default_dir, const char *file, char *path_buf,
				  size_t path_buf_size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MONAD_EVENT_EVENT_RING_UTIL_H */
