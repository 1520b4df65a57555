/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a test event holds: everything in it follows from its sequence number, its
 * length, who wrote it and how many that one wrote before. Compiles for BPF too.
 *
 *	event_type        PATTERN_TYPE + writer
 *	content_ext[0]    the writer's count, from 0
 *	content_ext[1]    ~seqno
 *	content_ext[2]    length, and the writer above bit 32
 *	content_ext[3]    pattern_word(seqno, length, PATTERN_TAG)
 *	payload           pattern_word(seqno, length, 0), ... cut off at the length
 */
#ifndef SELFTEST_PATTERN_H
#define SELFTEST_PATTERN_H

#define PATTERN_TYPE 0x4d00
#define PATTERN_TAG 0xffffffffU

static inline __attribute__((always_inline)) unsigned long long
pattern_word(unsigned long long seqno, unsigned int length, unsigned int i)
{
	unsigned long long x = seqno * 0x9e3779b97f4a7c15ULL + length * 0xc2b2ae3d27d4eb4fULL +
			       i * 0xd6e8feb86659fd93ULL + 1;

	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ (x >> 29);
}

#endif /* SELFTEST_PATTERN_H */
