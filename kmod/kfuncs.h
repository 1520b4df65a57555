/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kfuncs, as the compiler has to know them; described for those who call them, BPF
 * programs, in bpf/monad_ring.bpf.h.
 */
#ifndef MONAD_RING_KFUNCS_H
#define MONAD_RING_KFUNCS_H

#include "recorder.h"

struct monad_ring_record *bpf_monad_ring_reserve(u32 ring, u32 type, u64 size);
u8 *bpf_monad_ring_payload(struct monad_ring_record *rec, const u32 rdwr_buf_size);
int bpf_monad_ring_write(struct monad_ring_record *rec, u32 offset, void *data, u32 data__sz);
int bpf_monad_ring_tag(struct monad_ring_record *rec, u32 index, u64 value);
void bpf_monad_ring_tags(struct monad_ring_record *rec, u64 tag0, u64 tag1, u64 tag2, u64 tag3);
u64 bpf_monad_ring_seqno(struct monad_ring_record *rec);
void bpf_monad_ring_commit(struct monad_ring_record *rec, u64 flags);
void bpf_monad_ring_discard(struct monad_ring_record *rec, u64 flags);
int bpf_monad_ring_output(u32 ring, u32 type, void *data, u32 data__sz, u64 flags);
u64 bpf_monad_ring_query(u32 ring, u32 what);

#endif /* MONAD_RING_KFUNCS_H */
