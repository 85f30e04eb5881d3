// SPDX-License-Identifier: GPL-2.0
/*
 * The heap in huge pages. An SM allocates its CTAs' registers as they come, a few
 * kilobytes at a time, so a short run spends a twentieth of its time in page faults.
 */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heap.h"

/* Address space that the heap takes at once; memory is used only where it is written. */
#define HEAP_STEP (64 << 20)

void heap_huge_pages(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first, end;
	void *probe;

	mallopt(M_TOP_PAD, HEAP_STEP);
	probe = malloc(page);
	first = ((uintptr_t)probe + page - 1) & ~(page - 1);
	end = (uintptr_t)sbrk(0) & ~(page - 1);
	/* Without a data segment the allocator takes its memory elsewhere. */
	if (probe && first < end && end - first <= 2 * (uintptr_t)HEAP_STEP)
		madvise((void *)first, end - first, MADV_HUGEPAGE);
	free(probe);
}
