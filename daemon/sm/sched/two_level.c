// SPDX-License-Identifier: GPL-2.0
/*
 * Two levels (Narasiman et al., MICRO'11, as GPGPU-Sim's two_level_active): a small
 * active set, round robin inside. A warp that waits for memory, a barrier or the
 * like goes to the end of the pending queue; the first in the queue that does not
 * wait takes its place. GPGPU-Sim also promotes warps that wait, only to demote
 * them in the next cycle; here they keep their place in the queue.
 */
#include "sm/sched/rows.h"

static warpset two_level_candidates(struct sched_state *s, warpset here, warpset away)
{
	unsigned int room, w;

	for_each_warp(w, s->active & away)
		s->stamp[w] = ++s->next_stamp;
	s->active &= here;
	room = s->active_max - MIN(s->active_max, set_count(s->active));
	for (warpset pending = here & ~s->active; room && set_any(pending); room--) {
		unsigned int first = set_first(pending);

		for_each_warp(w, pending) {
			if (s->stamp[w] < s->stamp[first])
				first = w;
		}
		s->active |= set_of(first);
		pending &= ~set_of(first);
	}
	return s->active;
}

static unsigned int two_level_pick(const struct sched_state *s, warpset can,
				   const warpset *older)
{
	return round_robin_pick(s, can);
}

static warpset two_level_before(const struct sched_state *s, unsigned int w,
				 const warpset *older)
{
	return round_robin_before(s, w);
}

const struct sched_ops sched_two_level = {
	.name = "two_level",
	.help = "round robin over an active set; a warp that waits for memory leaves it",
	.pick = two_level_pick,
	.before = two_level_before,
	.candidates = two_level_candidates,
};
