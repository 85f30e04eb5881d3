// SPDX-License-Identifier: GPL-2.0
/*
 * The GPU page table that the module keeps and the engine maps read-only: walk
 * of one address, and a listing of all that is resident. The module changes
 * entries at any time with release semantics, so every one is loaded once,
 * with acquire, and every number in it is checked before it is used.
 */
#include "service/kmod_device.h"

#define PT_ENTRIES	512u
#define PT_LEVELS	4
#define PT_LEVEL_BITS	9

_Static_assert(GPUEMU_PAGE_SIZE == PT_ENTRIES * sizeof(uint64_t), "a table is a page");

static uint64_t load(const uint64_t *entry)
{
	return __atomic_load_n(entry, __ATOMIC_ACQUIRE);
}

/* Table 0 is the directory, so no entry can point to it. */
static const uint64_t *table(const struct kmod_pt *pt, uint64_t number)
{
	if (number == 0 || number >= pt->count)
		return NULL;
	return pt->tables + number * PT_ENTRIES;
}

static unsigned int index_of(uint64_t addr, int level)
{
	return (addr >> (GPUEMU_PAGE_SHIFT + PT_LEVEL_BITS * level)) % PT_ENTRIES;
}

/* The VA space's root table, 0 when it has none. va_space is never 0. */
static uint32_t root_of(uint64_t entry, uint32_t va_space)
{
	return entry >> 32 == va_space ? (uint32_t)entry : 0;
}

/* Slots do not move while a VA space lives, so the last one is tried first. */
static uint32_t find_root(struct kmod_pt *pt, uint32_t va_space)
{
	uint32_t root;

	if (pt->count == 0 || va_space == 0)
		return 0;
	root = root_of(load(&pt->tables[pt->slot]), va_space);
	if (root)
		return root;
	for (uint32_t slot = 0; slot < GPUEMU_SPACES_MAX; slot++) {
		root = root_of(load(&pt->tables[slot]), va_space);
		if (root) {
			pt->slot = slot;
			return root;
		}
	}
	return 0;
}

/* A last-level entry: where its page is mapped here. NULL: nowhere. */
static void *page_at(const struct kmod_pt *pt, uint64_t entry, unsigned int *flags)
{
	bool remote = entry & GPUEMU_PTE_REMOTE, mirror = entry & GPUEMU_PTE_MIRROR;
	uint64_t number = entry >> GPUEMU_PTE_SHIFT;

	*flags = 0;
	if (number >= (mirror ? pt->mirror_slots : remote ? pt->slots : pt->frames))
		return NULL;
	*flags = (entry & GPUEMU_PTE_READ_ONLY ? SERVICE_ENTRY_READ_ONLY : 0) |
		 (remote ? SERVICE_ENTRY_REMOTE : 0) | (mirror ? SERVICE_ENTRY_PAGEABLE : 0);
	return (mirror ? pt->mirror : remote ? pt->remote : pt->vram) +
	       (number << GPUEMU_PAGE_SHIFT);
}

/* The table whose entries are the address's VA block's pages, or NULL. */
static const uint64_t *find_leaf(struct kmod_pt *pt, uint32_t va_space, uint64_t addr)
{
	const uint64_t *t;
	uint64_t entry;

	if (addr >> GPUEMU_VA_BITS)
		return NULL;
	entry = (uint64_t)find_root(pt, va_space) << GPUEMU_PTE_SHIFT;
	for (int level = PT_LEVELS - 1; level > 0; level--) {
		t = table(pt, entry >> GPUEMU_PTE_SHIFT);
		if (!t)
			return NULL;
		entry = load(&t[index_of(addr, level)]);
		if (!(entry & GPUEMU_PTE_VALID))
			return NULL;
	}
	return table(pt, entry >> GPUEMU_PTE_SHIFT);
}

/* Which of 64 entries are pages in device memory. */
static uint64_t present_word(const struct kmod_pt *pt, const uint64_t *entries)
{
	uint64_t here = 0;

	for (unsigned int k = 0; k < 64; k++) {
		uint64_t entry = load(&entries[k]);
		bool valid;

		/* Mostly all of them are, or none. */
		if (!entry)
			continue;
		valid = entry & GPUEMU_PTE_VALID && !(entry & GPUEMU_PTE_REMOTE) &&
			entry >> GPUEMU_PTE_SHIFT < pt->frames;
		here |= (uint64_t)valid << k;
	}
	return here;
}

void kmod_pt_present(struct kmod_pt *pt, uint32_t va_space, uint64_t base, uint64_t *pages)
{
	const uint64_t *leaf = find_leaf(pt, va_space, base);

	for (unsigned int i = 0; i < PT_ENTRIES; i += 64) {
		pages[i / 64] = leaf ? present_word(pt, &leaf[i]) : 0;
	}
}

void *kmod_pt_entry(struct kmod_pt *pt, uint32_t va_space, uint64_t addr, unsigned int *flags)
{
	const uint64_t *leaf = find_leaf(pt, va_space, addr);
	uint64_t entry = leaf ? load(&leaf[index_of(addr, 0)]) : 0;

	return entry & GPUEMU_PTE_VALID ? page_at(pt, entry, flags) : NULL;
}

void *kmod_pt_walk(struct kmod_pt *pt, uint32_t va_space, uint64_t addr)
{
	unsigned int flags = 0;
	void *page = kmod_pt_entry(pt, va_space, addr, &flags);

	return flags & SERVICE_ENTRY_REMOTE ? NULL : page;
}

static void list_table(const struct kmod_pt *pt, uint64_t number, int level,
		       uint32_t va_space, uint64_t base,
		       void (*fn)(void *ctx, uint32_t va_space, uint64_t addr), void *ctx)
{
	const uint64_t *t = table(pt, number);
	uint64_t entry, addr;
	unsigned int flags;

	for (unsigned int i = 0; t && i < PT_ENTRIES; i++) {
		entry = load(&t[i]);
		if (!(entry & GPUEMU_PTE_VALID))
			continue;
		addr = base | (uint64_t)i << (GPUEMU_PAGE_SHIFT + PT_LEVEL_BITS * level);
		if (level > 0)
			list_table(pt, entry >> GPUEMU_PTE_SHIFT, level - 1, va_space, addr,
				   fn, ctx);
		else if (page_at(pt, entry, &flags) && !(flags & SERVICE_ENTRY_REMOTE) &&
			 !(entry & GPUEMU_PTE_DEVICE))
			fn(ctx, va_space, addr);
	}
}

void kmod_pt_resident(const struct kmod_pt *pt,
		      void (*fn)(void *ctx, uint32_t va_space, uint64_t addr), void *ctx)
{
	for (uint32_t slot = 0; slot < GPUEMU_SPACES_MAX && pt->count; slot++) {
		uint64_t entry = load(&pt->tables[slot]);
		uint32_t va_space = entry >> 32;

		if (va_space)
			list_table(pt, (uint32_t)entry, PT_LEVELS - 1, va_space, 0, fn, ctx);
	}
}
