/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages of device memory: the call when the last reference to one goes
 * (folio_free() takes the place of page_free()), how one is prepared, and its pagemap.
 * From 7.0 as 7.3 has it; before as 6.1, where only a kernel of our own has such pages.
 */
#ifndef _GPUEMU_COMPAT_MEMREMAP_H
#define _GPUEMU_COMPAT_MEMREMAP_H

#include_next <linux/memremap.h>
#include <linux/mm.h>
#include <linux/version.h>

/*
 * COMPAT_PAGE_FREE(fn): defines fn##_last, which calls fn(first page, how many).
 * COMPAT_PAGE_FREE_OP(fn): the member of the ops.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define COMPAT_PAGE_FREE(fn) \
static void fn##_last(struct folio *folio) \
{ \
	fn(&folio->page, folio_nr_pages(folio)); \
}
#define COMPAT_PAGE_FREE_OP(fn) .folio_free = fn##_last

static inline void compat_device_page_init(struct page *page,
					   struct dev_pagemap *pgmap)
{
	zone_device_page_init(page, pgmap, 0);
}

static inline struct dev_pagemap *compat_page_pgmap(const struct page *page)
{
	return page_pgmap(page);
}
#else
#define COMPAT_PAGE_FREE(fn) \
static void fn##_last(struct page *page) \
{ \
	fn(page, 1); \
}
#define COMPAT_PAGE_FREE_OP(fn) .page_free = fn##_last

static inline void compat_device_page_init(struct page *page,
					   struct dev_pagemap *pgmap)
{
	zone_device_page_init(page);
}

static inline struct dev_pagemap *compat_page_pgmap(const struct page *page)
{
	return page->pgmap;
}
#endif

#endif
