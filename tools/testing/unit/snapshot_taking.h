/* SPDX-License-Identifier: GPL-2.0 */
/* Taking snapshots, and acting meanwhile: for programs linked with --wrap=ZSTD_compressStream2. */
#ifndef MONAD_SNAPSHOT_TAKING_H
#define MONAD_SNAPSHOT_TAKING_H

#include <monad_event/event_ring_util.h>
#include <monad_event/event_snapshot.h>

#include "snapshot_frame.h"
#include "tap.h"

/* Of the smallest image there is: 2^16 descriptors, 2^27 bytes of payload. */
#define DESCRIPTORS	0x200000ULL
#define PAYLOADS	0x600000ULL
#define CONTEXT		0x8600000ULL

/* A writer that acts at one point of a copy: when the first event goes to the spool. */
static void (*act)(void);
size_t __real_ZSTD_compressStream2(ZSTD_CCtx *cctx, ZSTD_outBuffer *out, ZSTD_inBuffer *in,
				   ZSTD_EndDirective end);
size_t __wrap_ZSTD_compressStream2(ZSTD_CCtx *cctx, ZSTD_outBuffer *out, ZSTD_inBuffer *in,
				   ZSTD_EndDirective end);

size_t __wrap_ZSTD_compressStream2(ZSTD_CCtx *cctx, ZSTD_outBuffer *out, ZSTD_inBuffer *in,
				   ZSTD_EndDirective end)
{
	if (act)
		act();
	act = NULL;
	return __real_ZSTD_compressStream2(cctx, out, in, end);
}

__attribute__((unused)) static bool says(const char *text)
{
	return strstr(monad_event_ring_get_last_error(), text);
}

#endif /* MONAD_SNAPSHOT_TAKING_H */
