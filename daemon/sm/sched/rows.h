/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declares what sm/sched/<name>.c defines, and the two orders that they are made
 * of. Private to the sm room.
 */
#ifndef GPUEMU_SM_SCHED_ROWS_H
#define GPUEMU_SM_SCHED_ROWS_H

#include "sm/sm.h"

#define X(name) extern const struct sched_ops sched_##name;
#include "sm/sched.def"
#undef X

/* Warps behind the one that issued last, by number. */
static inline uint64_t behind_last(const struct sched_state *s)
{
	if (!s->any)
		return ~0ull;
	return s->last == 63 ? 0 : ~0ull << (s->last + 1);
}

static inline unsigned int round_robin_pick(const struct sched_state *s, uint64_t can)
{
	uint64_t behind = can & behind_last(s);

	return (unsigned int)__builtin_ctzll(behind ? behind : can);
}

static inline uint64_t round_robin_before(const struct sched_state *s, unsigned int w)
{
	uint64_t behind = behind_last(s), below = (1ull << w) - 1;

	return (behind >> w & 1) ? behind & below : behind | below;
}

static inline unsigned int oldest_of(uint64_t can, const uint64_t *older)
{
	unsigned int w = (unsigned int)__builtin_ctzll(can);

	while (can & older[w])
		w = (unsigned int)__builtin_ctzll(can & older[w]);
	return w;
}

#endif
