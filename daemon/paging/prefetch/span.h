/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What several prefetch policies do: find the part of a leaf or VA block that is one
 * managed range's, and name the absent pages of a span. Private to prefetch/.
 */
#ifndef GPUEMU_PAGING_PREFETCH_SPAN_H
#define GPUEMU_PAGING_PREFETCH_SPAN_H

#include "base/base.h"
#include "gpuemu_policy.h"

struct span {
	uint64_t start, end;
};

/*
 * The aligned `bytes` (a power of two) around addr, cut to addr's managed range: two
 * allocations in one VA block are two trees, as in nvidia-uvm. Uncut where ranges are unknown.
 */
static inline struct span span_around(const struct gpuemu_policy_view *view, uint64_t addr,
				      uint64_t bytes)
{
	struct span span = { addr & ~(bytes - 1), (addr & ~(bytes - 1)) + bytes };
	struct gpuemu_policy_range range;

	if (view->next_range(view->ctx, addr, &range) && range.start <= addr) {
		span.start = MAX(span.start, range.start);
		span.end = MIN(span.end, range.end);
	}
	return span;
}

/* May the page be brought? Yes where ranges are unknown. */
static inline bool span_managed(const struct gpuemu_policy_view *view, uint64_t addr)
{
	struct gpuemu_policy_range range;

	if (view->next_range(view->ctx, addr, &range))
		return range.start <= addr;
	return !view->next_range(view->ctx, 0, &range);
}

/* Appends the span's pages that are not here; returns the new count. */
static inline unsigned int span_absent(const struct gpuemu_policy_view *view, struct span span,
				       uint64_t *pages, unsigned int count, unsigned int max)
{
	for (uint64_t addr = span.start; addr < span.end && count < max;
	     addr += GPUEMU_POLICY_PAGE)
		if (!view->resident(view->ctx, addr))
			pages[count++] = addr;
	return count;
}

/*
 * The `ahead` pages behind each faulted one, in address order, each once. Which of them
 * are here already, or managed at all, is the handler's business: it leaves them out. A fault
 * whose page is resident by now asks for nothing.
 */
static inline unsigned int span_behind_faults(const struct gpuemu_policy_fault *faults,
					      unsigned int n, uint64_t ahead, uint64_t *pages,
					      unsigned int max)
{
	uint64_t asked = 0;	/* faults are sorted: every page up to here was looked at */
	unsigned int count = 0;

	for (unsigned int i = 0; i < n; i++) {
		uint64_t page = faults[i].addr;

		if (faults[i].resident)
			continue;
		for (uint64_t k = 0; k < ahead; k++) {
			page += GPUEMU_POLICY_PAGE;
			if (page < GPUEMU_POLICY_PAGE)
				break;		/* wrapped round the address space */
			if (page <= asked)
				continue;
			if (count == max)
				return count;
			pages[count++] = page;
			asked = page;
		}
	}
	return count;
}

#endif
