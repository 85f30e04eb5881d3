/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The system pages of managed memory, charged to the client's memory cgroup. A client's
 * own fault may wait for memory there. The engine, which serves all clients, never does.
 */
#ifndef _GPUEMU_SYSMEM_H
#define _GPUEMU_SYSMEM_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct gpuemu_block;
struct gpuemu_space;
struct mem_cgroup;
struct page;

/* The engine's allocations on a client's account: without reclaim, without a word in the log. */
#define GPUEMU_ENGINE_GFP (GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN)

/* Pages that are ready at most. */
#define GPUEMU_READY_MAX 64

/**
 * struct gpuemu_sysmem - of a VA space
 * @lock: see locks.h; protects the next three
 * @ready: pages that are charged to the client and have no place yet
 * @nready: how many
 * @closed: nobody asks any more
 * @refill: gets pages for the engine, and may reclaim for them
 */
struct gpuemu_sysmem {
	spinlock_t lock;
	struct page *ready[GPUEMU_READY_MAX];
	u32 nready;
	bool closed;
	struct work_struct refill;
};

void gpuemu_sysmem_init(struct gpuemu_sysmem *sysmem);
void gpuemu_sysmem_close(struct gpuemu_space *space);
unsigned int gpuemu_sysmem_ready(void);
unsigned long gpuemu_sysmem_give_back(struct gpuemu_space *space,
				      unsigned long most);

struct page *gpuemu_sysmem_get(struct gpuemu_space *space, gfp_t gfp);
void gpuemu_sysmem_unmapped(struct gpuemu_space *space, long n);
void gpuemu_sysmem_put(struct gpuemu_space *space, struct page *page);
void gpuemu_sysmem_ask(struct gpuemu_space *space);

int gpuemu_sysmem_fill(struct gpuemu_block *block, unsigned long *mask,
		       unsigned long *filled);
void gpuemu_sysmem_clear(struct gpuemu_block *block, const unsigned long *mask);
void gpuemu_sysmem_release(struct gpuemu_block *block,
			   const unsigned long *mask);

#endif
