// SPDX-License-Identifier: GPL-2.0
/*
 * Algorithm 1 decides how much of a resource may be in swap, from what an epoch adds to two
 * counters. The threshold is in percent, because table 1 has its start and its step in percent.
 */
#include "coordinator/coordinator.h"

void coord_threshold_epoch(struct coord_threshold *t, uint64_t idle, uint64_t mem)
{
	int64_t more = (int64_t)idle - (int64_t)mem;
	bool compare = t->begun || !t->changes;

	if (t->changes)
		more -= (int64_t)t->idle - (int64_t)t->mem;
	t->begun = true;
	t->idle = idle;
	t->mem = mem;
	if (!compare)
		return;
	if (more > (int64_t)t->delta)
		t->percent = MIN(t->percent + t->step, t->most);
	else if (-more > (int64_t)t->delta)
		t->percent -= MIN(t->step, t->percent);
}

unsigned int coord_threshold_units(const struct coord_threshold *t, unsigned int physical)
{
	return (unsigned int)((uint64_t)physical * t->percent / 100);
}
