/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mappings of the program that a service has made managed memory. Private to sim and uffd.
 */
#ifndef GPUEMU_SERVICE_ADOPTED_H
#define GPUEMU_SERVICE_ADOPTED_H

#include "service/sim_ranges.h"
#include "service/system.h"

/* All zero: the program gives none of its memory. */
struct adopted {
	struct system_memory memory;
	struct ranges all;
	struct ranges read_only;	/* of them */
};

/*
 * Adopts the piece of a mapping at addr that overlaps no range of the `n` lists `others`, and
 * adds it to the first of them. false: there is none, or no memory for it.
 */
bool adopted_add(struct adopted *a, struct ranges *const *others, unsigned int n,
		 uint32_t va_space, uint64_t addr, struct system_range *range);
/* The owner looks at the mappings anew, if any is adopted; then adopted_stale(). */
void adopted_refresh(const struct adopted *a);
/* The first adopted range that is not mapped as it was; false: all are. */
bool adopted_stale(const struct adopted *a, struct range *range);
/* An adopted range that overlaps [start, end); false: none does. */
bool adopted_in(const struct adopted *a, uint32_t va_space, uint64_t start, uint64_t end,
		struct range *range);
/* Forgets a whole adopted range. */
void adopted_drop(struct adopted *a, const struct range *range);
void adopted_clear(struct adopted *a);

#endif
