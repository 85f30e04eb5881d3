/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The far-fault handler in virtual time: takes a batch of far faults, asks the
 * prefetch policy what else to bring and the eviction policy what must go, has
 * the service do it, and says when the pages replay. Knows pages, not SMs;
 * testable without kernel, GPU or thread.
 *
 * Device memory is shared: a *pool* is the device's frames, a *paging* is one
 * VA space's view (its policies, its resident pages, its statistics).
 */
#ifndef GPUEMU_PAGING_PAGING_H
#define GPUEMU_PAGING_PAGING_H

#include "base/base.h"
#include "base/fault.h"
#include "base/spec.h"
#include "service/service.h"
#include "stats/stats.h"

struct paging_pool;
struct paging;

/* Knows at once what is in device memory already. Destroyed after its pagings. */
int paging_pool_create(struct service *service, struct paging_pool **pool);
void paging_pool_destroy(struct paging_pool *pool);

/*
 * -EINVAL: unknown policy, or VRAM of no whole frame; err says which and lists the rows.
 * -EEXIST: the VA space has one. Pages stay in device memory, and known, when it is destroyed.
 */
int paging_create(struct paging_pool *pool, uint32_t va_space,
		  const struct gpu_spec *spec, struct paging **paging,
		  struct err *err);
void paging_destroy(struct paging *paging);

struct paging_outcome {
	uint64_t service_ns;		/* how long the handler is busy, and until the replay */
	unsigned int unmanaged;		/* faults outside managed memory */
	uint64_t unmanaged_addr;	/* page of the first of them (lowest address) */
	/*
	 * Faults whose page could not be moved, why (-EBUSY pinned, -ENOSPC although others were
	 * evicted for it, -ENOMEM), and the first one's page. It may be better at the next replay.
	 */
	unsigned int stuck;
	int stuck_status;
	uint64_t stuck_addr;
	struct service_cost cost;
};

/*
 * Serves one batch (n <= spec->batch) at core cycle `now`. Whatever happens to
 * the faults, the caller replays when service_ns have passed. 0, -ENODEV (device lost) or
 * -ENOMEM. The faults' latency (raise to replay) is recorded here.
 *
 * With fewer frames than the batch demands, some faults wait: they are not stuck, and the
 * GMMU raises them again after the replay. A page that came for a fault is not evicted before
 * its first paging_touch() (or four batches): then every warp gets its access done.
 */
int paging_serve(struct paging *paging, const struct fault *faults,
		 unsigned int n, uint64_t now, struct paging_outcome *outcome);

/*
 * Explicit prefetch of a managed range (mem_prefetch): moved in batches, counted as prefetched.
 * What finds no room beside the range's own pages stays where it is. outcome->unmanaged counts
 * pages that no managed range has.
 */
int paging_prefetch(struct paging *paging, uint64_t addr, uint64_t bytes,
		    uint64_t now, struct paging_outcome *outcome);

/* The GMMU translated an access to a resident page (TLB fill): recency and use. */
void paging_touch(struct paging *paging, uint64_t addr, bool write);

/*
 * The service invalidated a range: pages are no longer resident. Any VA space of the pool.
 * Each page is looked up again, so that one which came back meanwhile stays known.
 */
void paging_invalidate(struct paging_pool *pool,
		       const struct service_invalidate *invalidate);

/* Is the page resident, as the handler knows it? For tests and assertions. */
bool paging_resident(const struct paging *paging, uint64_t addr);

struct paging_stats {
	uint64_t far_faults;		/* unique faults served */
	uint64_t raw_faults;		/* before merging */
	uint64_t batches;
	uint64_t prefetched_pages, prefetch_used_pages;
	uint64_t evicted_pages;
	uint64_t h2d_bytes, d2h_bytes;
	uint64_t busy_ns;		/* the handler */
	struct histogram latency_ns;	/* far fault, raised to replayed */
	struct service_cost stages;	/* sums over the batches */
};
const struct paging_stats *paging_stats(const struct paging *paging);
void paging_stats_reset(struct paging *paging);

/* --- policies: they decide, never move ---------------------------------- */

/* What policies see of their VA space. */
struct policy_view {
	void *ctx;
	bool (*resident)(void *ctx, uint64_t addr);
	uint64_t (*random)(void *ctx);	/* seeded, deterministic */
	const struct gpu_spec *spec;
};

/* Appends pages to bring beside the faulted ones; ignored where resident, unmanaged or already asked for. */
struct prefetch_ops {
	const char *name, *help;
	int (*create)(const struct policy_view *view, void **state);
	void (*destroy)(void *state);
	/* Returns how many page addresses it wrote to pages[max]. faults are unique and sorted. */
	unsigned int (*on_batch)(void *state, const struct policy_view *view,
				 const struct fault *faults, unsigned int n,
				 uint64_t *pages, unsigned int max);
};

/* Orders resident pages by how dear they are. Every operation is O(1) or O(log n). */
struct evict_ops {
	const char *name, *help;
	int (*create)(const struct policy_view *view, void **state);
	void (*destroy)(void *state);
	int (*insert)(void *state, uint64_t addr);	/* became resident; -ENOMEM */
	void (*touch)(void *state, uint64_t addr, bool write);
	void (*remove)(void *state, uint64_t addr);	/* no longer resident */
	/*
	 * Picks a resident page for which keep() is false (pages of this batch
	 * are kept); 0 if there is none. Does not remove it. Terminates.
	 */
	uint64_t (*pick)(void *state, const struct policy_view *view,
			 bool (*keep)(void *ctx, uint64_t addr), void *ctx);
};

/* Rows of paging/prefetch.def and paging/evict.def, NULL terminated. */
extern const struct prefetch_ops *const prefetch_rows[];
extern const struct evict_ops *const evict_rows[];

#endif
