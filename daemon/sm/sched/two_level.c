// SPDX-License-Identifier: GPL-2.0
/*
 * Two levels (Narasiman et al., MICRO'11, as GPGPU-Sim's two_level_active): a small
 * active set, round robin inside. A warp that waits for memory, a barrier or the
 * like goes to the end of the pending queue; the first in the queue that does not
 * wait takes its place. GPGPU-Sim also promotes warps that wait, only to demote
 * them in the next cycle; here they keep their place in the queue.
 */
#include "sm/sched/rows.h"

static uint64_t two_level_candidates(struct sched_state *s, uint64_t here, uint64_t away)
{
	unsigned int room;

	for (uint64_t left = s->active & away; left; left &= left - 1)
		s->stamp[__builtin_ctzll(left)] = ++s->next_stamp;
	s->active &= here;
	room = s->active_max - MIN(s->active_max, (unsigned int)__builtin_popcountll(s->active));
	for (uint64_t pending = here & ~s->active; room && pending; room--) {
		unsigned int first = (unsigned int)__builtin_ctzll(pending);

		for (uint64_t left = pending; left; left &= left - 1) {
			unsigned int w = (unsigned int)__builtin_ctzll(left);

			if (s->stamp[w] < s->stamp[first])
				first = w;
		}
		s->active |= 1ull << first;
		pending &= ~(1ull << first);
	}
	return s->active;
}

static unsigned int two_level_pick(const struct sched_state *s, uint64_t can,
				   const uint64_t *older)
{
	return round_robin_pick(s, can);
}

static uint64_t two_level_before(const struct sched_state *s, unsigned int w,
				 const uint64_t *older)
{
	return round_robin_before(s, w);
}

const struct sched_ops sched_two_level = {
	.name = "two_level",
	.help = "round robin over an active set; who waits for memory leaves it",
	.pick = two_level_pick,
	.before = two_level_before,
	.candidates = two_level_candidates,
};
