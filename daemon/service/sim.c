// SPDX-License-Identifier: GPL-2.0
/*
 * The backend without a kernel: pages move by bookkeeping and cost what the
 * configuration says. It is the embedded default, deterministic, and the one
 * the papers' figures are drawn with. It decides nothing, and content never
 * moves: a managed address is its own host address.
 *
 * Cost of a batch: the handler's own time (HPCA'16 table 1: 20 us), and more for
 * each fault. What its pages take on the link is not the service's: paging/ lets
 * them travel in virtual time.
 */
#include "base/array.h"
#include "service/sim.h"
#include "service/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"
#include "base/u64map.h"
#include "service/batch.h"
#include "service/adopted.h"

#define VA_BITS		47u	/* managed memory lies below, as in the kernel ABI */
#define BLOCK_KEY_BITS	(VA_BITS - BLOCK_SHIFT)
#define INVALIDATES	1024u

/*
 * 2 MiB of a VA space that some page of was in device memory once, or mapped for the device in
 * system memory. A page is resident or remote, or neither; read_only: and a duplicate.
 */
struct block {
	uint64_t resident[BITMAP_WORDS(BLOCK_PAGES)];
	uint64_t remote[BITMAP_WORDS(BLOCK_PAGES)];
	uint64_t read_only[BITMAP_WORDS(BLOCK_PAGES)];
	uint64_t addr;
	uint32_t va_space;
};

struct sim {
	struct service service;
	/* Frames for managed pages. `device` counts those that programs have taken for themselves. */
	uint64_t frames, used;
	uint64_t service_ns, page_ns;
	struct ranges managed;
	struct ranges device;		/* in device memory always, and not paged */
	uint64_t device_frames;
	struct adopted adopted;		/* of `managed`: the program's own memory */
	/* In the order of creation, found through `index`; freed with the service. */
	struct block *blocks;
	size_t nblocks, block_room;
	struct u64map index;
	/* Invalidations that poll() has not told yet. Overflow: one entry that means all. */
	struct service_invalidate invalidates[INVALIDATES];
	unsigned int ninvalidates;
};

static struct sim *sim_of(struct service *s)
{
	return container_of(s, struct sim, service);
}

static unsigned int page_of(uint64_t addr)
{
	return (unsigned int)(addr >> PAGE_SHIFT) % BLOCK_PAGES;
}

/* --- residency ------------------------------------------------------------ */

static uint64_t block_key(uint32_t va_space, uint64_t addr)
{
	return (uint64_t)va_space << BLOCK_KEY_BITS | addr >> BLOCK_SHIFT;
}

static struct block *block_find(const struct sim *sim, uint32_t va_space, uint64_t addr)
{
	uint64_t i;

	if (addr >> VA_BITS || !u64map_get(&sim->index, block_key(va_space, addr), &i))
		return NULL;
	return &sim->blocks[i];
}

/* The address is managed, so it is below 2^VA_BITS. NULL: no memory. */
static struct block *block_make(struct sim *sim, uint32_t va_space, uint64_t addr)
{
	struct block *block = block_find(sim, va_space, addr);

	if (block)
		return block;
	if (array_grow(sim->blocks, sim->block_room, sim->nblocks))
		return NULL;
	if (u64map_put(&sim->index, block_key(va_space, addr), sim->nblocks))
		return NULL;
	block = &sim->blocks[sim->nblocks++];
	*block = (struct block){
		.addr = addr >> BLOCK_SHIFT << BLOCK_SHIFT,
		.va_space = va_space,
	};
	return block;
}

static bool is_device(const struct sim *sim, uint32_t va_space, uint64_t addr)
{
	return sim->device.count && ranges_have(&sim->device, va_space, addr);
}

static bool is_resident(const struct sim *sim, uint32_t va_space, uint64_t addr)
{
	const struct block *block = block_find(sim, va_space, addr);

	return block && bitmap_test(block->resident, page_of(addr));
}

/* Does the page's entry allow the access? */
static bool is_allowed(const struct sim *sim, const struct fault *fault)
{
	const struct block *block = block_find(sim, fault->va_space, fault->addr);
	unsigned int page = page_of(fault->addr);

	if (!block)
		return false;
	if (bitmap_test(block->remote, page))
		return true;
	return bitmap_test(block->resident, page) &&
	       (fault->access < ACCESS_WRITE || !bitmap_test(block->read_only, page));
}

/* Queues an invalidation; neighbours of the last one join it. */
static void invalidate(struct sim *sim, uint32_t va_space, uint64_t start, uint64_t end,
		       bool evicted)
{
	struct service_invalidate *last =
		sim->ninvalidates ? &sim->invalidates[sim->ninvalidates - 1] : NULL;

	if (last && last->va_space == va_space && last->evicted == evicted &&
	    last->end == start) {
		last->end = end;
		return;
	}
	if (sim->ninvalidates == INVALIDATES) {
		sim->invalidates[0] = (struct service_invalidate){ .end = UINT64_MAX };
		sim->ninvalidates = 1;
	}
	if (sim->invalidates[0].va_space == 0 && sim->ninvalidates)
		return;
	sim->invalidates[sim->ninvalidates++] = (struct service_invalidate){
		.start = start,
		.end = end,
		.va_space = va_space,
		.evicted = evicted,
	};
}

/* --- serving a batch ------------------------------------------------------ */

static bool is_read_only(const struct sim *sim, uint32_t va_space, uint64_t addr)
{
	return sim->adopted.read_only.count &&
	       ranges_have(&sim->adopted.read_only, va_space, addr);
}

static bool sim_adopt(struct service *s, uint32_t va_space, uint64_t addr,
		      struct system_range *range)
{
	struct sim *sim = sim_of(s);
	struct ranges *const others[] = { &sim->managed, &sim->device };
	struct range have = ranges_at(&sim->managed, va_space, addr);

	if (have.end) {
		*range = (struct system_range){ have.start, have.end,
						is_read_only(sim, va_space, addr) };
		return true;
	}
	return addr >> VA_BITS == 0 && addr >= PAGE_BYTES && !is_device(sim, va_space, addr) &&
	       adopted_add(&sim->adopted, others, ARRAY_SIZE(others), va_space, addr, range);
}

static void sim_give(struct service *s, const struct system_memory *memory)
{
	sim_of(s)->adopted.memory = *memory;
}

/* The program's memory is its own again. */
static void give_up(struct sim *sim, const struct range *range)
{
	adopted_drop(&sim->adopted, range);
	service_sim_unmap(&sim->service, range->va_space, range->start,
			  range->end - range->start);
}

static void sim_look(struct service *s)
{
	struct sim *sim = sim_of(s);
	struct range range;

	adopted_refresh(&sim->adopted);
	while (adopted_stale(&sim->adopted, &range))
		give_up(sim, &range);
}

static void flag_faults(struct sim *sim, struct fault *faults, unsigned int n)
{
	struct system_range range;

	for (unsigned int i = 0; i < n; i++) {
		faults[i].flags = 0;
		if (!ranges_have(&sim->managed, faults[i].va_space, faults[i].addr) &&
		    !sim_adopt(&sim->service, faults[i].va_space, faults[i].addr, &range))
			faults[i].flags |= FAULT_UNMANAGED;
		else if (faults[i].access >= ACCESS_WRITE &&
			 is_read_only(sim, faults[i].va_space, faults[i].addr))
			faults[i].flags |= FAULT_UNMANAGED | FAULT_PROTECTED;
		else if (is_allowed(sim, &faults[i]))
			faults[i].flags |= FAULT_RESIDENT;
	}
}

static bool migration_valid(const struct migration *m)
{
	return m->addr % PAGE_BYTES == 0 && m->pages >= 1 && m->pages <= BLOCK_PAGES &&
	       page_of(m->addr) + m->pages <= BLOCK_PAGES &&
	       m->op >= MIGRATE_H2D && m->op <= MIGRATE_DUPLICATE;
}

/* To device memory, or its duplicate becomes the only place. Moved: bytes travel. */
static int move_there(struct sim *sim, struct migration *m, struct block *block, uint64_t addr)
{
	unsigned int page = page_of(addr);
	/* A store to a page that the program may not write itself has to fault. */
	bool read_only = m->op == MIGRATE_DUPLICATE || is_read_only(sim, m->va_space, addr);

	if (bitmap_test(block->resident, page)) {
		if (!read_only)
			bitmap_clear(block->read_only, page);
		return 0;
	}
	if (sim->used >= sim->frames)
		return -ENOSPC;
	/* The device does not use it where it was any more. */
	if (bitmap_test(block->remote, page)) {
		bitmap_clear(block->remote, page);
		invalidate(sim, m->va_space, addr, addr + PAGE_BYTES, true);
	}
	bitmap_set(block->resident, page);
	if (read_only)
		bitmap_set(block->read_only, page);
	sim->used++;
	m->moved++;
	return 0;
}

static void move_home(struct sim *sim, struct migration *m, struct block *block, uint64_t addr)
{
	unsigned int page = page_of(addr);
	bool resident = bitmap_test(block->resident, page);

	if (resident || (m->op == MIGRATE_D2H && bitmap_test(block->remote, page)))
		invalidate(sim, m->va_space, addr, addr + PAGE_BYTES, true);
	bitmap_clear(block->resident, page);
	bitmap_clear(block->read_only, page);
	if (m->op == MIGRATE_REMOTE)
		bitmap_set(block->remote, page);
	else
		bitmap_clear(block->remote, page);
	sim->used -= resident;
	m->moved += resident;
}

/*
 * Moves what can be moved; status is the first reason why a page could not. A
 * page that already is where it should be is not moved and no error.
 */
static void migrate(struct sim *sim, struct migration *m)
{
	struct block *block = NULL;

	m->status = 0;
	m->moved = 0;
	if (!migration_valid(m)) {
		m->status = -EINVAL;
		return;
	}
	for (unsigned int i = 0; i < m->pages; i++) {
		uint64_t addr = m->addr + i * PAGE_BYTES;
		int status = 0;

		if (!ranges_have(&sim->managed, m->va_space, addr)) {
			status = -EFAULT;
		} else if (!block && !(block = block_make(sim, m->va_space, addr))) {
			status = -ENOMEM;
		} else if (m->op == MIGRATE_H2D || m->op == MIGRATE_DUPLICATE) {
			status = move_there(sim, m, block, addr);
		} else {
			move_home(sim, m, block, addr);
		}
		if (!m->status)
			m->status = status;
	}
}

static int sim_serve(struct service *s, struct service_batch *batch)
{
	struct sim *sim = sim_of(s);
	struct service_cost *cost = &batch->cost;
	int rc;

	memset(cost, 0, sizeof(*cost));
	batch->nfaults = batch_merge(batch->faults, batch->nfaults);
	flag_faults(sim, batch->faults, batch->nfaults);
	batch->plan->count = 0;
	rc = batch->decide(batch->ctx, batch);
	if (rc)
		return rc;
	if (batch->plan->count > PLAN_MAX)
		return -EINVAL;
	for (unsigned int i = 0; i < batch->plan->count; i++)
		migrate(sim, &batch->plan->migrations[i]);
	/* Explicit requests take the link's time alone, faults the handler's too. */
	if (batch->nfaults)
		cost->fetched_to_committed = sim->service_ns + batch->nfaults * sim->page_ns;
	cost->total = cost->fetched_to_committed;
	cost->end_to_end = cost->total;
	return 0;
}

/* --- the other operations ------------------------------------------------- */

static void *sim_walk(struct service *s, uint32_t va_space, uint64_t addr)
{
	if (!is_resident(sim_of(s), va_space, addr) && !is_device(sim_of(s), va_space, addr))
		return NULL;
	return (void *)(uintptr_t)(addr & ~(PAGE_BYTES - 1));
}

static void *sim_entry(struct service *s, uint32_t va_space, uint64_t addr, unsigned int *flags)
{
	const struct block *block = block_find(sim_of(s), va_space, addr);
	unsigned int page = page_of(addr);
	bool remote = block && bitmap_test(block->remote, page);

	if (!remote && !(block && bitmap_test(block->resident, page)) &&
	    !is_device(sim_of(s), va_space, addr))
		return NULL;
	if (remote)
		*flags |= SERVICE_ENTRY_REMOTE;
	else if (block && bitmap_test(block->read_only, page))
		*flags |= SERVICE_ENTRY_READ_ONLY;
	return (void *)(uintptr_t)(addr & ~(PAGE_BYTES - 1));
}

static int sim_poll(struct service *s,
		    void (*fn)(void *ctx, const struct service_invalidate *i), void *ctx)
{
	struct sim *sim = sim_of(s);
	unsigned int n = sim->ninvalidates;

	sim->ninvalidates = 0;
	for (unsigned int i = 0; i < n; i++)
		fn(ctx, &sim->invalidates[i]);
	return 0;
}

static void sim_resident(struct service *s,
			 void (*fn)(void *ctx, uint32_t va_space, uint64_t addr), void *ctx)
{
	struct sim *sim = sim_of(s);

	for (size_t i = 0; i < sim->nblocks; i++) {
		const struct block *block = &sim->blocks[i];

		for (unsigned int page = bitmap_next(block->resident, BLOCK_PAGES, 0);
		     page < BLOCK_PAGES;
		     page = bitmap_next(block->resident, BLOCK_PAGES, page + 1))
			fn(ctx, block->va_space, block->addr + page * PAGE_BYTES);
	}
}

static uint64_t sim_frames(struct service *s)
{
	return sim_of(s)->frames;
}

static void sim_managed(struct service *s, uint32_t va_space, struct addr_ranges *to)
{
	ranges_tell(&sim_of(s)->managed, &sim_of(s)->adopted.read_only, va_space, to);
}

static void sim_reachable(struct service *s, uint32_t va_space, struct addr_ranges *to)
{
	struct sim *sim = sim_of(s);

	ranges_tell_both(&sim->managed, &sim->device, &sim->adopted.read_only, va_space, to);
}

static void sim_destroy(struct service *s)
{
	struct sim *sim = sim_of(s);

	u64map_clear(&sim->index);
	free(sim->blocks);
	ranges_clear(&sim->managed);
	ranges_clear(&sim->device);
	adopted_clear(&sim->adopted);
	free(sim);
}

const struct service_ops service_sim_ops = {
	.name = "sim",
	.help = "bookkeeping in process; far-fault time is configured, runs repeat exactly",
	.measured = false,
	.serve = sim_serve,
	.walk = sim_walk,
	.entry = sim_entry,
	.poll = sim_poll,
	.resident = sim_resident,
	.frames = sim_frames,
	.managed = sim_managed,
	.reachable = sim_reachable,
	.give = sim_give,
	.adopt = sim_adopt,
	.look = sim_look,
	.destroy = sim_destroy,
};

int service_sim_create(uint64_t vram_bytes, uint64_t service_ns, uint64_t page_ns,
		       struct service **service)
{
	struct sim *sim;
	int rc;

	sim = calloc(1, sizeof(*sim));
	if (!sim)
		return -ENOMEM;
	sim->service.ops = &service_sim_ops;
	sim->service.can = SERVICE_CAN_REMOTE | SERVICE_CAN_DUPLICATE;
	rc = service_sim_configure(&sim->service, vram_bytes, service_ns, page_ns);
	if (rc) {
		free(sim);
		return rc;
	}
	*service = &sim->service;
	return 0;
}

int service_sim_configure(struct service *s, uint64_t vram_bytes, uint64_t service_ns,
			  uint64_t page_ns)
{
	struct sim *sim = sim_of(s);

	if (vram_bytes < PAGE_BYTES)
		return -EINVAL;
	if (vram_bytes / PAGE_BYTES < sim->used + sim->device_frames)
		return -EBUSY;
	sim->frames = vram_bytes / PAGE_BYTES - sim->device_frames;
	sim->service_ns = service_ns;
	sim->page_ns = page_ns;
	return 0;
}

static bool range_valid(uint32_t va_space, uint64_t addr, uint64_t bytes)
{
	/* Address 0 is nobody's: policies say "none" with it. */
	return va_space && addr && bytes && (addr | bytes) % PAGE_BYTES == 0 &&
	       bytes <= 1ull << VA_BITS && addr <= (1ull << VA_BITS) - bytes;
}

int service_sim_map(struct service *s, uint32_t va_space, uint64_t addr, uint64_t bytes)
{
	struct sim *sim = sim_of(s);
	struct range range;

	if (!range_valid(va_space, addr, bytes))
		return -EINVAL;
	/* The program's newest statement on its memory holds. */
	while (adopted_in(&sim->adopted, va_space, addr, addr + bytes, &range))
		give_up(sim, &range);
	if (ranges_overlap(&sim->managed, va_space, addr, addr + bytes) ||
	    ranges_overlap(&sim->device, va_space, addr, addr + bytes))
		return -EEXIST;
	return ranges_add(&sim->managed, va_space, addr, addr + bytes);
}

int service_sim_map_device(struct service *s, uint32_t va_space, uint64_t addr, uint64_t bytes)
{
	struct sim *sim = sim_of(s);
	uint64_t frames = bytes / PAGE_BYTES;
	int rc;

	if (!range_valid(va_space, addr, bytes))
		return -EINVAL;
	if (ranges_overlap(&sim->managed, va_space, addr, addr + bytes) ||
	    ranges_overlap(&sim->device, va_space, addr, addr + bytes))
		return -EEXIST;
	if (frames >= sim->frames)
		return -ENOSPC;
	if (sim->used > sim->frames - frames)
		return -EBUSY;
	rc = ranges_add(&sim->device, va_space, addr, addr + bytes);
	if (rc)
		return rc;
	sim->frames -= frames;
	sim->device_frames += frames;
	return 0;
}

int service_sim_unmap_device(struct service *s, uint32_t va_space, uint64_t addr)
{
	struct sim *sim = sim_of(s);
	struct range range = ranges_at(&sim->device, va_space, addr);
	uint64_t frames = (range.end - range.start) / PAGE_BYTES;
	int rc;

	if (!range.end || range.start != addr)
		return -ENOENT;
	rc = ranges_cut(&sim->device, va_space, range.start, range.end);
	if (rc)
		return rc;
	sim->frames += frames;
	sim->device_frames -= frames;
	invalidate(sim, va_space, range.start, range.end, false);
	return 0;
}

static void drop_pages(struct sim *sim, struct block *block, uint64_t start, uint64_t end)
{
	uint64_t first = MAX(start, block->addr);
	uint64_t last = MIN(end, block->addr + (1ull << BLOCK_SHIFT));

	for (uint64_t addr = first; addr < last; addr += PAGE_BYTES) {
		bitmap_clear(block->remote, page_of(addr));
		bitmap_clear(block->read_only, page_of(addr));
		if (!bitmap_test(block->resident, page_of(addr)))
			continue;
		bitmap_clear(block->resident, page_of(addr));
		sim->used--;
	}
}

int service_sim_unmap(struct service *s, uint32_t va_space, uint64_t addr, uint64_t bytes)
{
	struct sim *sim = sim_of(s);
	uint64_t end = addr + bytes;
	int rc;

	if (!range_valid(va_space, addr, bytes))
		return -EINVAL;
	if (!ranges_overlap(&sim->managed, va_space, addr, end))
		return -ENOENT;
	rc = ranges_cut(&sim->managed, va_space, addr, end);
	if (rc)
		return rc;
	for (uint64_t at = addr >> BLOCK_SHIFT << BLOCK_SHIFT; at < end;
	     at += 1ull << BLOCK_SHIFT) {
		struct block *block = block_find(sim, va_space, at);

		if (block)
			drop_pages(sim, block, addr, end);
	}
	invalidate(sim, va_space, addr, end, false);
	return 0;
}
