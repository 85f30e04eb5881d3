// SPDX-License-Identifier: GPL-2.0
/*
 * Zeroing frames. The kernel's clear_page() is made for silicon: on x86 it is one
 * string instruction, the fastest thing there is, and the slowest on a CPU that is
 * emulated, where each byte of it is a loop of its own. Which is faster here is
 * measured when the module is loaded, as crypto/xor.c and lib/raid6 do.
 */
#include <linux/cache.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/mm.h>

#include "zero.h"

#define ROUNDS 8

static bool by_words __ro_after_init;

static void zero_by_words(void *frame)
{
	u64 *d = frame, *end = frame + PAGE_SIZE;

	for (; d < end; d += 8) {
		d[0] = 0;
		d[1] = 0;
		d[2] = 0;
		d[3] = 0;
		d[4] = 0;
		d[5] = 0;
		d[6] = 0;
		d[7] = 0;
		/* Else the compiler makes it the string instruction again. */
		barrier();
	}
}

static void zero_by_page(void *frame)
{
	clear_page(frame);
}

/* The best of some rounds: an interrupt is in few of them. */
static u64 __init time_of(void (*zero)(void *frame), void *frame)
{
	u64 best = U64_MAX, begin;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		begin = ktime_get_ns();
		zero(frame);
		best = min(best, ktime_get_ns() - begin);
	}
	return best;
}

/* Chooses. The frame is free. */
void __init gpuemu_zero_init(void *frame)
{
	u64 page_ns = time_of(zero_by_page, frame);
	u64 words_ns = time_of(zero_by_words, frame);

	by_words = words_ns < page_ns;
	pr_debug("gpuemu: a frame is zeroed in %llu ns by clear_page(), in %llu ns by words\n",
		 page_ns, words_ns);
}

void gpuemu_zero(void *frame)
{
	if (by_words)
		zero_by_words(frame);
	else
		clear_page(frame);
}
