// SPDX-License-Identifier: GPL-2.0
/*
 * What an SM's warps wait for, in words, for a kernel that can never end. It
 * changes nothing; the GPU's loop asks when nothing will ever happen.
 */
#include <stdio.h>

#include "sm/state.h"

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
static void say_warps(struct text *t, const struct sm *sm, warpset warps)
{
	const char *before = set_count(warps) == 1 ? "warp " : "warps ";

	while (set_any(warps)) {
		unsigned int first = set_first(warps), last = first;

		while (last + 1 < MAX_WARPS && set_has(warps, last + 1))
			last++;
		say(t, "%s%u", before, sm->warps.at[first].ex.index);
		if (last > first)
			say(t, "-%u", sm->warps.at[last].ex.index);
		for (unsigned int w = first; w <= last; w++)
			warps &= ~set_of(w);
		before = ",";
	}
}

/* Says which of `some` are in `set` and what they wait for, and gives the others. */
static warpset __attribute__((format(printf, 6, 7)))
say_group(struct text *t, const struct sm *sm, const char **before, warpset some, warpset set,
	  const char *fmt, ...)
{
	char what[96];
	va_list args;

	set &= some;
	if (!set_any(set))
		return some;
	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	say(t, "%s", *before);
	say_warps(t, sm, set);
	say(t, " (%s)", what);
	*before = ", ";
	return some & ~set;
}

/* Warps of one CTA and what each of them waits for. */
static void say_waiting(struct text *t, const struct sm *sm, const struct sm_cta *cta,
			const char *before, warpset some)
{
	unsigned int w;

	for (unsigned int b = 0; b < EXEC_BARRIERS; b++)
		some = say_group(t, sm, &before, some, cta->barriers[b].waiting, "at barrier %u", b);
	some = say_group(t, sm, &before, some, sm->heads.far_fault, "far fault");
	for_each_warp(w, some) {
		const struct sm_warp *warp = &sm->warps.at[w];
		const char *why = ldst_why(sm, w);

		if (why)
			some = say_group(t, sm, &before, some, set_of(w), "%s", why);
		else if (warp->stores && !set_has(cta->running, w))
			some = say_group(t, sm, &before, some, set_of(w),
					 "%u stores not acknowledged", warp->stores);
	}
	some = say_group(t, sm, &before, some, ~cta->running, "exited");
	some = say_group(t, sm, &before, some, sm->heads.inactive, "swapped out");
	some = say_group(t, sm, &before, some, sm->heads.held, "resources");
	some = say_group(t, sm, &before, some, sm->heads.wait_fence, "fence");
	some = say_group(t, sm, &before, some, sm->heads.wait_atomic, "atomic");
	some = say_group(t, sm, &before, some, sm->heads.blocked, "operands");
	some = say_group(t, sm, &before, some, sm->fetch.missed, "instruction fetch");
	say_group(t, sm, &before, some, ~NO_WARPS, "can issue");
}

static void say_barrier(struct text *t, const struct sm *sm, const struct sm_cta *cta,
			unsigned int number)
{
	const struct barrier *b = &cta->barriers[number];

	say(t, ", CTA (%u,%u,%u): ", cta->ex.ctaid[0], cta->ex.ctaid[1], cta->ex.ctaid[2]);
	say_warps(t, sm, b->waiting);
	say(t, " at barrier %u for %u threads, %u arrived", number,
	    b->phase.expected, b->phase.threads);
	/* Exited warps are missing only where the barrier names a number. */
	say_waiting(t, sm, cta, "; missing: ",
		    (b->phase.whole ? cta->running : cta->warps) & ~b->arrived);
}

void sm_describe(const struct sm *sm, char *buf, size_t bytes)
{
	struct text t = { buf, bytes };

	buf[0] = '\0';
	if (!sm->ctas.resident)
		return;
	say(&t, "SM %u: %u running warps", sm->id,
	    set_count(sm->heads.live));
	for (unsigned int c = 0; c < sm->ctas.n; c++) {
		const struct sm_cta *cta = &sm->ctas.at[c];
		bool at_barrier = false;

		if (!cta->state)
			continue;
		for (unsigned int b = 0; b < EXEC_BARRIERS; b++) {
			if (!set_any(cta->barriers[b].waiting))
				continue;
			say_barrier(&t, sm, cta, b);
			at_barrier = true;
		}
		if (at_barrier)
			continue;
		say(&t, ", CTA (%u,%u,%u): ", cta->ex.ctaid[0], cta->ex.ctaid[1],
		    cta->ex.ctaid[2]);
		say_waiting(&t, sm, cta, "", cta->unretired);
	}
}
