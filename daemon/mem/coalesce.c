// SPDX-License-Identifier: GPL-2.0
/*
 * What the addresses of one warp instruction cost: the lines it needs of
 * memory, the cycles it needs of the shared-memory banks. No state. Called by
 * the SM's load/store unit at issue.
 */
#include "mem/mem.h"

static uint32_t lanes_on_line(const uint64_t *addr, uint64_t line, uint64_t mask)
{
	uint32_t on = 0;

	for (unsigned int i = 0; i < WARP_LANES; i++)
		on |= (uint32_t)((addr[i] & mask) == line) << i;
	return on;
}

unsigned int mem_coalesce(const uint64_t addr[WARP_LANES], uint32_t lanes,
			  unsigned int line_bytes,
			  struct mem_line lines[WARP_LANES])
{
	uint64_t mask = ~(uint64_t)(line_bytes - 1);
	unsigned int n = 0;

	while (lanes) {
		uint64_t line = addr[__builtin_ctz(lanes)] & mask;
		uint32_t on = lanes_on_line(addr, line, mask) & lanes;

		lines[n++] = (struct mem_line){ .addr = line, .lanes = on };
		lanes &= ~on;
	}
	return n;
}

unsigned int mem_bank_cycles(const uint64_t addr[WARP_LANES], uint32_t lanes,
			     unsigned int bytes, unsigned int banks)
{
	/* A lane has at most 32 bytes, 8 words; words[] chains those of a bank. */
	uint64_t words[WARP_LANES * 8];
	uint16_t next[WARP_LANES * 8];
	uint16_t head[64], count[64];
	unsigned int n = 0, most = 1, span = MAX(bytes / 4, 1u);

	for (unsigned int b = 0; b < banks; b++) {
		head[b] = UINT16_MAX;
		count[b] = 0;
	}
	for (; lanes; lanes &= lanes - 1) {
		uint64_t first = addr[__builtin_ctz(lanes)] / 4;

		for (unsigned int k = 0; k < span; k++) {
			unsigned int bank = (unsigned int)((first + k) % banks);
			uint16_t i = head[bank];

			while (i != UINT16_MAX && words[i] != first + k)
				i = next[i];
			if (i != UINT16_MAX)
				continue;
			words[n] = first + k;
			next[n] = head[bank];
			head[bank] = (uint16_t)n++;
			if (++count[bank] > most)
				most = count[bank];
		}
	}
	return most;
}
