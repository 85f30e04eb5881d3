// SPDX-License-Identifier: GPL-2.0
/*
 * Which of the program's own mappings are managed memory now: a mapping is adopted when a
 * kernel first uses it, and dropped when the program has unmapped or protected it. sim.c and
 * uffd.c call it.
 */
#include "service/adopted.h"

bool adopted_add(struct adopted *a, struct ranges *const *others, unsigned int n,
		 uint32_t va_space, uint64_t addr, struct system_range *range)
{
	if (!a->memory.find)
		return false;
	if (a->memory.refresh)
		a->memory.refresh(a->memory.ctx);
	if (!a->memory.find(a->memory.ctx, addr, range))
		return false;
	for (unsigned int i = 0; i < n; i++)
		ranges_clip(others[i], va_space, addr, &range->start, &range->end);
	if (ranges_add(others[0], va_space, range->start, range->end))
		return false;
	if (ranges_add(&a->all, va_space, range->start, range->end))
		goto err_joined;
	if (range->read_only && ranges_add(&a->read_only, va_space, range->start, range->end))
		goto err_added;
	return true;

	/* A whole range is taken out without memory. */
err_added:
	ranges_cut(&a->all, va_space, range->start, range->end);
err_joined:
	ranges_cut(others[0], va_space, range->start, range->end);
	return false;
}

void adopted_refresh(const struct adopted *a)
{
	if (a->all.count && a->memory.refresh)
		a->memory.refresh(a->memory.ctx);
}

bool adopted_stale(const struct adopted *a, struct range *range)
{
	for (size_t i = 0; i < a->all.count; i++) {
		const struct range *r = &a->all.at[i];
		struct system_range now;

		if (a->memory.find(a->memory.ctx, r->start, &now) && now.end >= r->end &&
		    now.read_only == ranges_have(&a->read_only, r->va_space, r->start))
			continue;
		*range = *r;
		return true;
	}
	return false;
}

bool adopted_in(const struct adopted *a, uint32_t va_space, uint64_t start, uint64_t end,
		struct range *range)
{
	for (size_t i = 0; i < a->all.count; i++) {
		const struct range *r = &a->all.at[i];

		if (r->va_space == va_space && r->start < end && start < r->end) {
			*range = *r;
			return true;
		}
	}
	return false;
}

void adopted_drop(struct adopted *a, const struct range *range)
{
	ranges_cut(&a->all, range->va_space, range->start, range->end);
	ranges_cut(&a->read_only, range->va_space, range->start, range->end);
}

void adopted_clear(struct adopted *a)
{
	ranges_clear(&a->all);
	ranges_clear(&a->read_only);
}
