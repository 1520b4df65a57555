/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Ring files, from the writer's side: one call makes a ring file, or goes on with one,
 * and holds it for as long as the process writes.
 *
 *	struct monad_event_ring_writer_options options = {
 *		.size = sizeof(options),
 *		.content_type = MY_CONTENT_TYPE,
 *		.schema_hash = my_schema_hash,
 *	};
 *	struct monad_event_ring_writer *writer;
 *	struct monad_event_recorder recorder;
 *
 *	err = monad_event_ring_writer_open("my-events:18:27", &options, &writer);
 *	err = monad_event_ring_init_recorder(monad_event_ring_writer_ring(writer), &recorder);
 *
 * Functions that return int return 0 or a positive errno, with a message in
 * monad_event_ring_get_last_error(). All are thread-safe, as long as nothing else is
 * done with a writer while it is being closed.
 *
 * Open a ring after the last fork(2), daemon(3) included: children do not inherit a writer,
 * and the ring is not kept open by them.
 */
#ifndef MONAD_EVENT_EVENT_RING_WRITER_H
#define MONAD_EVENT_EVENT_RING_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <monad/event_ring.h>
#include <monad_event/event_ring.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of the longest name or path in a configuration string, with its NUL. */
#define MONAD_EVENT_RING_NAME_MAX 4096

/* What a configuration string says. */
struct monad_event_ring_config {
	uint8_t descriptors_shift; /* log2 of the number of descriptors */
	uint8_t payload_buf_shift; /* log2 of bytes of payload */
	bool shifts_given;	   /* false: these are the defaults, 21 and 29 */
	uint8_t reserved[13];	   /* zero */
	char name[MONAD_EVENT_RING_NAME_MAX];
};

/*
 * Parses "NAME-OR-PATH[:DESCRIPTORS-SHIFT:PAYLOAD-SHIFT]". A name has no '/' in it and is
 * one in the default directory, see monad_event_resolve_ring_file(); there is no way to
 * write a path with a ':' in it. EFAULT: a NULL argument. EINVAL: syntax. ERANGE: a shift
 * out of 10 to 32 or 21 to 40. ENAMETOOLONG: the name.
 */
int monad_event_ring_parse_config(const char *string, struct monad_event_ring_config *config);

struct monad_event_ring_writer;

/*
 * Go on with the ring that is there, if one is, instead of replacing it: its events stay,
 * and new ones get the sequence numbers after them. It has to be of the same content
 * type, schema and, where the configuration string has shifts, size (EPROTO). What a
 * writer that died had reserved and not committed becomes an event of type NONE, counted as
 * discarded. A file whose content no writer can have left, or whose size is not the ring's,
 * is refused (EPROTO): make it anew. Holes in it are filled first, if there is room for them all
 * (ENOSPC).
 */
#define MONAD_EVENT_WRITER_KEEP (1U << 0)
/* Map all pages now rather than at first use: MAP_POPULATE. */
#define MONAD_EVENT_WRITER_POPULATE (1U << 1)

/* Zero all of it first, then set size: a later version has more fields. */
struct monad_event_ring_writer_options {
	uint32_t size;	/* sizeof(struct monad_event_ring_writer_options) */
	uint32_t flags; /* MONAD_EVENT_WRITER_* */
	/*
	 * Access rights of the file. 0: 0644, as far as the umask lets them be. Otherwise
	 * exactly these, 0777 at most. A ring that is kept keeps its own.
	 */
	mode_t mode;
	const uint8_t *schema_hash; /* 32 bytes */
	uint16_t content_type;	    /* enum monad_event_content_type, or one of your own */
	uint16_t context_large_pages; /* context area, in 2 MiB: 0 or a power of two */
	/* Where names without '/' are; NULL: in the default directory on hugetlbfs. */
	const char *default_dir;
};

/*
 * Makes the ring file that @config says (see monad_event_ring_parse_config()), maps it, and
 * holds flock(2) LOCK_EX on it from before anybody can find it until it is closed. The file
 * is complete when it appears. What a dead writer left under that name is replaced, and the
 * generation in the new ring's extension block is one more; readers of the old one keep it,
 * and see MONAD_RING_STATE_GONE in it. Free with monad_event_ring_writer_close().
 *
 * EBUSY: another process, which the message names, writes to it (or locks it), or this one
 * does already. EEXIST: there is a file of that name which is no ring; it is left alone.
 * ELOOP: the name is a symbolic link. ENOSPC, ENOMEM: no room on the file system, or too few
 * huge pages. EFBIG: RLIMIT_FSIZE (ulimit -f). EPROTO: see MONAD_EVENT_WRITER_KEEP. EINVAL,
 * EFAULT: arguments. E2BIG: an option is set that this version of the library does not know.
 * Otherwise errors of monad_event_ring_parse_config(), monad_event_resolve_ring_file(), open(2),
 * mmap(2).
 */
int monad_event_ring_writer_open(const char *config,
				 const struct monad_event_ring_writer_options *options,
				 struct monad_event_ring_writer **writer);

/* The ring, mapped for reading and writing; the writer's. */
const struct monad_event_ring *
monad_event_ring_writer_ring(const struct monad_event_ring_writer *writer);

/* Path of the file; and its descriptor, which is the writer's and holds the lock. */
const char *monad_event_ring_writer_path(const struct monad_event_ring_writer *writer);
int monad_event_ring_writer_fd(const struct monad_event_ring_writer *writer);

/*
 * What is not an error, but worth telling the user: that the ring is not in huge pages, say.
 * One or more sentences, or NULL.
 */
const char *monad_event_ring_writer_warning(const struct monad_event_ring_writer *writer);

/* How many events a dead writer had left unfinished in a ring that was kept. */
uint64_t monad_event_ring_writer_repaired(const struct monad_event_ring_writer *writer);

/*
 * Unmaps the ring and lets go of the file, which stays where it is: it says
 * MONAD_RING_STATE_GONE, and that nobody writes to it. What has been reserved and not committed
 * becomes an event of type NONE. No thread may be recording any more. In a child of the
 * process that opened it, frees the child's copy and nothing else. NULL is nothing.
 */
void monad_event_ring_writer_close(struct monad_event_ring_writer *writer);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MONAD_EVENT_EVENT_RING_WRITER_H */
