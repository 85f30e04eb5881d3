// SPDX-License-Identifier: GPL-2.0
/*
 * Local memory as the caches see it: interleaved by thread in words of 4 bytes, so
 * that one word of a warp's lanes is one line (GPGPU-Sim, translate_local_memaddr()).
 * The access itself was performed at issue. Called by access.c.
 */
#include "sm/ldst_internal.h"

/* Notes that the lanes use the word; words are in falling order. */
static void add_word(struct access_entry *e, uint64_t word, uint32_t lanes)
{
	unsigned int i = e->nlines;

	while (i && e->lines[i - 1].addr < word)
		i--;
	if (i && e->lines[i - 1].addr == word) {
		e->lines[i - 1].lanes |= lanes;
		return;
	}
	for (unsigned int k = e->nlines++; k > i; k--)
		e->lines[k] = e->lines[k - 1];
	e->lines[i] = (struct mem_line){ .addr = word, .lanes = lanes };
}

/* A transaction is cut to the half or the quarter that is used. */
static void cut(struct mem_line *line)
{
	uint32_t lanes = line->lanes;

	line->bytes = 128;
	if (!(lanes >> 16) || !(lanes & 0xffff)) {
		line->addr += lanes >> 16 ? 64 : 0;
		lanes = lanes >> 16 ? lanes >> 16 : lanes;
		line->bytes = 64;
		if (!(lanes >> 8) || !(lanes & 0xff)) {
			line->addr += lanes >> 8 ? 32 : 0;
			line->bytes = 32;
		}
	}
}

void local_lines(struct sm *sm, struct access_entry *e)
{
	const struct exec_access *a = &e->access;
	const struct sm_warp *warp = &sm->warps.at[e->warp];
	uint64_t cta = (uint64_t)warp->kernel->warps_per_cta * MEM_LINE;
	uint32_t places = warp->kernel->places;
	/*
	 * A word of all threads that a plain SM can have; those of one CTA beside each other. More
	 * CTAs are in regions that look the same, so that a CTA's words meet in the caches' sets as
	 * they do on a plain SM. (A row for all warp numbers would be 64 times 15 lines, and all
	 * words of a warp would be in one set.)
	 */
	uint64_t row = cta * places * sm->spec->sms;
	uint32_t place = sm->ctas.at[warp->cta].local_place;
	uint64_t base = warp->kernel->local + place / places * warp->kernel->local_region +
			cta * (sm->id + sm->spec->sms * (place % places)) +
			warp->ex.index * MEM_LINE;
	unsigned int span = MAX(a->bytes / 4u, 1u);
	uint32_t rest = a->touched;

	e->nlines = 0;
	while (rest) {
		uint64_t word = a->addr[__builtin_ctz(rest)] / 4;
		uint32_t same = 0;

		for (unsigned int i = 0; i < WARP_LANES; i++)
			same |= (uint32_t)(a->addr[i] / 4 == word) << i;
		same &= rest;
		for (unsigned int k = 0; k < span; k++)
			add_word(e, word + k, same);
		rest &= ~same;
	}
	for (unsigned int i = 0; i < e->nlines; i++) {
		e->lines[i].addr = base + e->lines[i].addr * row;
		cut(&e->lines[i]);
	}
}
