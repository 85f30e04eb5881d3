// SPDX-License-Identifier: GPL-2.0
/*
 * What an SM's warps wait for, in words, for a kernel that can never end. It
 * changes nothing; the GPU's loop asks when nothing will ever happen.
 */
#include <stdio.h>

#include "sm/internal.h"

struct text {
	char *at;
	size_t left;
};

static void __attribute__((format(printf, 2, 3)))
say(struct text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(t->at, t->left, fmt, args);
	va_end(args);
	n = (int)MIN((size_t)MAX(n, 0), t->left - 1);
	t->at += n;
	t->left -= (size_t)n;
}

/* "warp 3", "warps 0-2,5": numbers in the CTA. */
static void say_warps(struct text *t, const struct sm *sm, uint64_t warps)
{
	const char *before = __builtin_popcountll(warps) == 1 ? "warp " : "warps ";

	while (warps) {
		unsigned int first = (unsigned int)__builtin_ctzll(warps), last = first;

		while (last + 1 < MAX_WARPS && (warps & warp_bit(last + 1)))
			last++;
		say(t, "%s%u", before, sm->warps[first].ex.index);
		if (last > first)
			say(t, "-%u", sm->warps[last].ex.index);
		for (unsigned int w = first; w <= last; w++)
			warps &= ~warp_bit(w);
		before = ",";
	}
}

/* Those who have not come to the barrier, and where they are instead. */
static void say_missing(struct text *t, const struct sm *sm, const struct sm_cta *cta,
			uint64_t missing)
{
	const char *before = "; missing: ";
	uint64_t some;

#define GROUP(set, fmt, ...) do {					\
		some = missing & (set);					\
		if (some) {						\
			say(t, "%s", before);				\
			say_warps(t, sm, some);				\
			say(t, fmt, ##__VA_ARGS__);			\
			before = ", ";					\
			missing &= ~some;				\
		}							\
	} while (0)
	GROUP(~cta->running, " (exited)");
	for (unsigned int b = 0; b < BARRIERS; b++)
		GROUP(cta->barriers[b].waiting, " (at barrier %u)", b);
	GROUP(sm->wait_fault, " (far fault)");
	GROUP(sm->wait_operand, " (operands)");
	GROUP(~0ull, " (can issue)");
#undef GROUP
}

static void say_barrier(struct text *t, const struct sm *sm, const struct sm_cta *cta,
			unsigned int number)
{
	const struct barrier *b = &cta->barriers[number];

	say(t, ", CTA (%u,%u,%u): ", cta->ex.ctaid[0], cta->ex.ctaid[1], cta->ex.ctaid[2]);
	say_warps(t, sm, b->waiting);
	say(t, " at barrier %u for %u threads, %u arrived", number, b->expected, b->threads);
	/* Who has exited is missed only where a number was named. */
	say_missing(t, sm, cta, (b->whole ? cta->running : cta->warps) & ~b->arrived);
}

void sm_describe(const struct sm *sm, char *buf, size_t bytes)
{
	struct text t = { buf, bytes };

	buf[0] = '\0';
	if (!sm->resident)
		return;
	say(&t, "SM %u: %u running warps", sm->id,
	    (unsigned int)__builtin_popcountll(sm->running));
	for (unsigned int c = 0; c < sm->kernel->ctas; c++)
		for (unsigned int b = 0; sm->ctas[c].used && b < BARRIERS; b++)
			if (sm->ctas[c].barriers[b].waiting)
				say_barrier(&t, sm, &sm->ctas[c], b);
	if (sm->wait_operand)
		say(&t, ", %u wait for operands",
		    (unsigned int)__builtin_popcountll(sm->wait_operand));
	if (sm->wait_fault)
		say(&t, ", %u wait for far faults",
		    (unsigned int)__builtin_popcountll(sm->wait_fault));
}
