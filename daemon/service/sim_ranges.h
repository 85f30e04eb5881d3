/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Managed memory of a backend in process: page-aligned ranges of VA spaces, sorted,
 * none overlapping another. Ranges that touch stay apart. Private to sim and uffd.
 */
#ifndef GPUEMU_SERVICE_SIM_RANGES_H
#define GPUEMU_SERVICE_SIM_RANGES_H

#include "base/addr_range.h"

struct range {
	uint64_t start, end;
	uint32_t va_space;
};

/* All zero is empty. */
struct ranges {
	struct range *at;	/* by (va_space, start) */
	size_t count, room;
};

/* Is the address in a range? */
bool ranges_have(const struct ranges *r, uint32_t va_space, uint64_t addr);
/* The range that holds the address; all zero: none does. */
struct range ranges_at(const struct ranges *r, uint32_t va_space, uint64_t addr);
/* Is any address of [start, end)? */
bool ranges_overlap(const struct ranges *r, uint32_t va_space, uint64_t start, uint64_t end);
/* Cuts [*start, *end), which holds addr, to what overlaps no range. No range holds addr. */
void ranges_clip(const struct ranges *r, uint32_t va_space, uint64_t addr, uint64_t *start,
		 uint64_t *end);
/* Adds each of the VA space's that does not begin in a range of `without`, by address. */
void ranges_tell(const struct ranges *r, const struct ranges *without, uint32_t va_space,
		 struct addr_ranges *to);
/* The same of two that do not overlap. */
void ranges_tell_both(const struct ranges *a, const struct ranges *b,
		      const struct ranges *without, uint32_t va_space, struct addr_ranges *to);
/* [start, end) overlaps none. -ENOMEM. */
int ranges_add(struct ranges *r, uint32_t va_space, uint64_t start, uint64_t end);
/* Takes [start, end) out, where it is there. -ENOMEM leaves everything as it was. */
int ranges_cut(struct ranges *r, uint32_t va_space, uint64_t start, uint64_t end);
void ranges_clear(struct ranges *r);

#endif
