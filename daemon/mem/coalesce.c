// SPDX-License-Identifier: GPL-2.0
/*
 * Finds what one warp instruction's addresses cost: transactions of memory, or cycles of the
 * shared-memory banks. No state. Called by the SM's load/store unit.
 *
 * The rules are compute capability 2.x's, as GPGPU-Sim has them
 * (abstract_hardware_model.cc, coalescing arch 20).
 */
#include <string.h>

#include "mem/mem.h"

/* A segment while lanes are collected; order: by address. */
struct segment {
	uint64_t addr;
	uint32_t lanes;
	uint32_t chunks;	/* of 32 bytes that are used */
};

/* Bytes of a segment: 32 for bytes, 64 for halves, else 128. */
static unsigned int segment_bytes(unsigned int bytes)
{
	return bytes == 1 ? 32 : bytes == 2 ? 64 : 128;
}

/* Puts the lane's use of the segment there; few segments, mostly the last one again. */
static unsigned int add(struct segment *s, unsigned int n, uint64_t addr, uint32_t lane,
			uint32_t chunks)
{
	unsigned int i = n;

	while (i && s[i - 1].addr < addr)
		i--;
	if (i && s[i - 1].addr == addr) {
		s[i - 1].lanes |= lane;
		s[i - 1].chunks |= chunks;
		return n;
	}
	for (unsigned int k = n; k > i; k--)
		s[k] = s[k - 1];
	s[i] = (struct segment){ .addr = addr, .lanes = lane, .chunks = chunks };
	return n + 1;
}

/* Cut to the half that is used, and that to its half: 128 to 64 to 32 bytes. */
static struct mem_line cut(const struct segment *s, unsigned int bytes)
{
	struct mem_line line = { .addr = s->addr, .lanes = s->lanes, .bytes = (uint8_t)bytes };
	uint32_t chunks = s->chunks;

	if (line.bytes == 128) {
		if (!(chunks & 0xc)) {
			line.bytes = 64;
		} else if (!(chunks & 0x3)) {
			line.bytes = 64;
			line.addr += 64;
			chunks >>= 2;
		}
	}
	if (line.bytes == 64) {
		if (!(chunks & 0x2)) {
			line.bytes = 32;
		} else if (!(chunks & 0x1)) {
			line.bytes = 32;
			line.addr += 32;
		}
	}
	return line;
}

/* All lanes in one segment, the common case; false: there are more. */
static bool one_segment(const uint64_t addr[WARP_LANES], uint32_t lanes, unsigned int bytes,
			unsigned int segment, struct mem_line *line)
{
	uint64_t low = UINT64_MAX, high = 0;
	uint64_t base;

	if (lanes == UINT32_MAX) {
		for (unsigned int i = 0; i < WARP_LANES; i++) {
			low = MIN(low, addr[i]);
			high = MAX(high, addr[i]);
		}
	} else {
		for (uint32_t m = lanes; m; m &= m - 1) {
			uint64_t a = addr[__builtin_ctz(m)];

			low = MIN(low, a);
			high = MAX(high, a);
		}
	}
	high += bytes - 1;
	base = low & ~(uint64_t)(segment - 1);
	if (high - base >= segment)
		return false;
	/*
	 * Bytes between lowest and highest that no lane uses do not matter: a cut
	 * needs a whole half unused at one end, and both ends are used.
	 */
	low -= base;
	high -= base;
	*line = cut(&(struct segment){ .addr = base, .lanes = lanes,
				       .chunks = (2u << high / 32) - (1u << low / 32) },
		    segment);
	return true;
}

unsigned int mem_coalesce(const uint64_t addr[WARP_LANES], uint32_t lanes,
			  unsigned int bytes, struct mem_line lines[2 * WARP_LANES])
{
	struct segment s[2 * WARP_LANES];
	unsigned int n = 0, segment = segment_bytes(bytes);
	uint64_t mask = ~(uint64_t)(segment - 1);

	if (!lanes)
		return 0;
	if (one_segment(addr, lanes, bytes, segment, lines))
		return 1;
	for (; lanes; lanes &= lanes - 1) {
		uint32_t lane = lanes & -lanes;
		uint64_t first = addr[__builtin_ctz(lanes)];
		uint64_t last = first + bytes - 1;

		/* An access may end in the next segment (unaligned vectors of local memory). */
		for (uint64_t a = first; a <= last; a = (a & mask) + segment) {
			uint64_t end = MIN(last, (a & mask) + segment - 1);
			uint32_t chunks = (2u << (end & ~mask) / 32) - (1u << (a & ~mask) / 32);

			n = add(s, n, a & mask, lane, chunks);
		}
	}
	for (unsigned int i = 0; i < n; i++)
		lines[i] = cut(&s[i], segment);
	return n;
}

unsigned int mem_coalesce_atomic(const uint64_t addr[WARP_LANES], uint32_t lanes,
				 unsigned int bytes, struct mem_line lines[2 * WARP_LANES])
{
	/*
	 * Packets of one segment are told apart by what is taken in each. Kept in the
	 * order they leave in: highest segment first, of one segment the newest first;
	 * a lane joins the oldest that has room.
	 */
	uint32_t taken[2 * WARP_LANES];
	unsigned int n = 0;

	for (; lanes; lanes &= lanes - 1) {
		uint32_t lane = lanes & -lanes;
		uint64_t a = addr[__builtin_ctz(lanes)];
		uint64_t segment = a & ~(uint64_t)(MEM_SECTOR - 1);
		unsigned int at = (unsigned int)(a - segment);
		uint32_t use = (uint32_t)((1ull << MIN(bytes, MEM_SECTOR - at)) - 1) << at;
		unsigned int i = n;

		while (i && lines[i - 1].addr < segment)
			i--;
		while (i && lines[i - 1].addr == segment && taken[i - 1] & use)
			i--;
		if (i && lines[i - 1].addr == segment) {
			lines[i - 1].lanes |= lane;
			taken[i - 1] |= use;
			continue;
		}
		for (unsigned int k = n; k > i; k--) {
			lines[k] = lines[k - 1];
			taken[k] = taken[k - 1];
		}
		lines[i] = (struct mem_line){ .addr = segment, .lanes = lane,
					      .bytes = MEM_SECTOR };
		taken[i] = use;
		n++;
	}
	return n;
}

/* The most distinct words of one bank. */
static unsigned int most_of_a_bank(const uint64_t *words, unsigned int n, unsigned int banks)
{
	/* words[] chained by bank. */
	uint16_t next[WARP_LANES * 8];
	uint16_t head[64], count[64];
	unsigned int most = 1;

	for (unsigned int b = 0; b < banks; b++) {
		head[b] = UINT16_MAX;
		count[b] = 0;
	}
	for (unsigned int k = 0; k < n; k++) {
		unsigned int bank = (unsigned int)(words[k] % banks);
		uint16_t i = head[bank];

		while (i != UINT16_MAX && words[i] != words[k])
			i = next[i];
		if (i != UINT16_MAX)
			continue;
		next[k] = head[bank];
		head[bank] = (uint16_t)k;
		if (++count[bank] > most)
			most = count[bank];
	}
	return most;
}

/* Every word of the access, lane by lane; returns how many. */
static unsigned int words_of(const uint64_t addr[WARP_LANES], uint32_t lanes,
			     unsigned int span, uint64_t *words)
{
	unsigned int n = 0;

	for (; lanes; lanes &= lanes - 1) {
		uint64_t first = addr[__builtin_ctz(lanes)] / 4;

		for (unsigned int k = 0; k < span; k++)
			words[n++] = first + k;
	}
	return n;
}

/* Words below this have a byte each; few kernels use more shared memory. */
#define FEW_WORDS	8192u

/* As most_of_a_bank(), a word a lane, without branches that depend on addresses; 0: not so few. */
static unsigned int most_of_few(const uint64_t addr[WARP_LANES], uint32_t lanes,
				unsigned int banks)
{
	uint8_t seen[FEW_WORDS], count[64] = { 0 };
	unsigned int most = 1;
	uint64_t all = 0;

	for (uint32_t m = lanes; m; m &= m - 1)
		all |= addr[__builtin_ctz(m)];
	if (all / 4 >= FEW_WORDS)
		return 0;
	memset(seen, 0, all / 4 + 1);
	for (uint32_t m = lanes; m; m &= m - 1) {
		uint32_t word = (uint32_t)addr[__builtin_ctz(m)] / 4;
		uint8_t *bank = &count[word & (banks - 1)];

		*bank = (uint8_t)(*bank + 1 - seen[word]);
		seen[word] = 1;
		most = MAX(most, *bank);
	}
	return most;
}

unsigned int mem_bank_cycles(const uint64_t addr[WARP_LANES], uint32_t lanes,
			     unsigned int bytes, unsigned int banks)
{
	/* A lane has at most 32 bytes, 8 words. */
	uint64_t words[WARP_LANES * 8], first[64], seen = 0;
	unsigned int span = MAX(bytes / 4, 1u);

	/* The common case: a word a lane, and no bank has to give two. */
	if (span == 1 && !(banks & (banks - 1))) {
		unsigned int most;
		bool clash = false;

		for (uint32_t m = lanes; m && !clash; m &= m - 1) {
			uint64_t word = addr[__builtin_ctz(m)] / 4;
			unsigned int bank = (unsigned int)word & (banks - 1);

			if (!(seen >> bank & 1))
				first[bank] = word;
			seen |= 1ull << bank;
			clash |= first[bank] != word;
		}
		if (!clash)
			return 1;
		most = most_of_few(addr, lanes, banks);
		if (most)
			return most;
	}
	return most_of_a_bank(words, words_of(addr, lanes, span, words), banks);
}
