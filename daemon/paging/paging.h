/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The far-fault handler in virtual time: takes a batch of far faults, asks the
 * prefetch policy what else to bring and the eviction policy what must go, has
 * the service do it, and says when the pages arrive. Knows pages, not SMs;
 * testable without kernel, GPU or thread.
 *
 * A batch is decided, and really moved, in the cycle in which it is taken. In virtual
 * time its pages come later: over the link that the spec describes (service not
 * measured: sim), or together, when the measured time has passed. Until then they are
 * *in flight*: resident for the books and for policies, not to be translated, not evicted.
 *
 * Device memory is shared: a *pool* is the device's frames, a *paging* is one
 * VA space's view (its policies, its resident pages, its statistics).
 */
#ifndef GPUEMU_PAGING_PAGING_H
#define GPUEMU_PAGING_PAGING_H

#include "base/advice.h"
#include "base/base.h"
#include "base/fault.h"
#include "base/spec.h"
#include "gpuemu_policy.h"
#include "plugin/plugin.h"
#include "service/service.h"
#include "stats/stats.h"

struct paging_pool;
struct paging;

/* Knows at once what is in device memory already. Destroyed after its pagings. */
int paging_pool_create(struct service *service, struct paging_pool **pool);
void paging_pool_destroy(struct paging_pool *pool);
/* Pagings made from now on load policies of this site only. NULL: of any. It stays the caller's. */
void paging_pool_site(struct paging_pool *pool, const struct plugin_site *site);

/*
 * -EINVAL: unknown policy, or VRAM of no whole frame; err says which and lists the rows.
 * -EEXIST: the VA space has one. Pages stay in device memory, and known, when it is destroyed.
 */
int paging_create(struct paging_pool *pool, uint32_t va_space,
		  const struct gpu_spec *spec, struct paging **paging,
		  struct err *err);

/* A managed range, whole pages. */
struct paging_range {
	uint64_t addr, bytes;
};

/* What the client tells the policies. It stays the caller's, and must outlive the paging. */
struct paging_known {
	/* Page addresses in the order in which a recorded run touched them. NULL: no record. */
	const uint64_t *record;
	uint64_t record_length;
	/* Managed ranges, by address, where the service does not know them. */
	const struct paging_range *ranges;
	uint64_t nranges;
	/* What the program advised, by address. Without paging it means nothing. */
	const struct advice_range *advice;
	uint64_t nadvice;
};

/* The same, with more for its policies to know. -EINVAL: one needs a record, and there is none. */
int paging_create_knowing(struct paging_pool *pool, uint32_t va_space,
			  const struct gpu_spec *spec, const struct paging_known *known,
			  struct paging **paging, struct err *err);
void paging_destroy(struct paging *paging);
/*
 * Says whose the VA space is; at first it is root's (0). When device memory is full, the user that
 * has most of it in all VA spaces together loses pages. -ENOMEM.
 */
int paging_set_user(struct paging *paging, uint32_t user);
/* The ranges changed. */
void paging_set_ranges(struct paging *paging, const struct paging_range *ranges, uint64_t n);
/*
 * The advice changed, while no kernel runs. Duplicates and mappings that are advised no more
 * end; what the device accesses is mapped for it. Takes no virtual time. -ENODEV, -ENOMEM.
 */
int paging_set_advice(struct paging *paging, const struct advice_range *advice, uint64_t n);

/*
 * With paging.record: the page of each paging_touch() since creation, in order. Valid until
 * the next call. -EINVAL: it is not recorded; -ENOMEM: there was no memory for all of it.
 */
int paging_touches(const struct paging *paging, const uint64_t **pages, uint64_t *count);

/* Something that goes over the link, in core cycles. */
struct paging_transfer {
	uint64_t begin, end;
	uint64_t addr, bytes;
	uint32_t batch;			/* outcome.batch of the batch that sent it; PAGING_NO_BATCH */
	bool d2h, prefetch;		/* prefetch: nobody demanded it */
	uint8_t kernel;			/* slot, as paging_stats.of has it; KERNEL_SLOTS: nobody's */
};
#define PAGING_NO_BATCH	UINT32_MAX

/*
 * Where a far fault's latency went, in order. queued: it waited in the fault buffer for a handler.
 * link: its page waited for the link, or for a frame that was being emptied; also what is left of
 * the way of a page that another batch had sent for. On a modelled link, copy is the page's own
 * transfer. The others are its batch's stages (struct service_cost). They sum to the latency: what
 * a fault did not wait for, since its page came sooner, is not counted.
 */
#define FAULT_STAGES(X) X(queued) X(raised_to_fetched) X(fetched_to_committed) X(evict) X(unmap) \
	X(link) X(copy) X(map) X(replay)
struct fault_stages {
#define X(stage) uint64_t stage;
	FAULT_STAGES(X)
#undef X
};

/* Why the page was not there. */
enum fault_cause {
	CAUSE_FIRST,		/* the device had never had it */
	CAUSE_EVICTED,		/* it had been evicted */
	CAUSE_IN_FLIGHT,	/* it was on its way: a prefetch that came late */
	CAUSE_WRITE,		/* a duplicate was to be written */
	CAUSE_RESIDENT,		/* it was there when the handler looked: the replay was enough */
	FAULT_CAUSES
};
extern const char *const fault_cause_names[FAULT_CAUSES];

/* A far fault that is over: a page's first record in its batch. */
struct paging_fault {
	uint64_t addr;
	uint64_t raised, taken;		/* core cycles */
	uint64_t latency;		/* ns, raised to replayed: the stages' sum */
	struct fault_stages stages;	/* ns */
	uint32_t batch;			/* outcome.batch */
	uint16_t sm, warp, merged;
	uint8_t access, cause, kernel;
};

/* Called by paging_advance() and by the functions that say that they land everything. */
struct paging_events {
	/*
	 * Walks find these pages from now on (one page of spec->page_bytes, not the part of it
	 * that is not managed). Returns how many requests walk again because of it; 0: nobody
	 * waits, and the page may be evicted untouched. Also told of a page that was taken away
	 * before it came: what waits for it faults again.
	 */
	unsigned int (*arrived)(void *ctx, uint64_t addr, uint64_t bytes, uint64_t now);
	/*
	 * When it begins, in the order of that in each direction; what was measured, at once.
	 * May be NULL.
	 */
	void (*transferred)(void *ctx, const struct paging_transfer *transfer);
	/*
	 * Whether anything may wait for a page; if not, arrived() may be told of many at once.
	 * May be NULL: something may.
	 */
	bool (*awaits)(void *ctx);
	/* A far fault is over, or its end is known. From paging_serve(), too. May be NULL. */
	void (*served)(void *ctx, const struct paging_fault *fault);
};
/* NULL, as at first: nobody; then every page that was demanded is waited for. */
void paging_listen(struct paging *paging, const struct paging_events *events, void *ctx);

struct paging_outcome {
	uint64_t service_ns;		/* how long the handler is busy */
	uint32_t batch;			/* counts the batches */
	unsigned int unmanaged;		/* faults outside managed memory */
	uint64_t unmanaged_addr;	/* page of the first of them (lowest address) */
	bool is_protected;		/* that one is managed, and the program took a right away */
	/*
	 * Faults whose page could not be moved, why (-EBUSY pinned, -EAGAIN the CPU works on
	 * it, -ENOSPC although others were evicted for it, -ENOMEM), and the first one's page. It
	 * may be better at the next try.
	 */
	unsigned int stuck;
	int stuck_status;
	uint64_t stuck_addr;
	struct service_cost cost;
	unsigned int causes[FAULT_CAUSES];	/* unique managed faults */
};

/*
 * Serves one batch (n <= spec->batch) at core cycle `now`. When service_ns have passed, the
 * handler is free, and faults whose page is not in flight then are to be raised again (or, if it is
 * resident, to walk again); the others when their page arrives. 0, -ENODEV (device lost) or
 * -ENOMEM. The faults' latency (raise to arrival) is recorded here. `now` never goes back.
 *
 * With fewer frames than the batch demands, some faults wait: they are not stuck, and the
 * GMMU raises them again. A page that somebody waits for is not evicted before its first
 * paging_touch(): then every warp gets its access done.
 */
int paging_serve(struct paging *paging, const struct fault *faults,
		 unsigned int n, uint64_t now, struct paging_outcome *outcome);

/* Records in the fault buffer when the handler took a batch, those taken included. */
void paging_depth(struct paging *paging, unsigned int records);

/* The core cycle in which something that is under way lands or leaves next; UINT64_MAX: none. */
uint64_t paging_next(const struct paging *paging);
/* Tells the listeners what has landed up to core cycle `now`. -ENOMEM. */
int paging_advance(struct paging *paging, uint64_t now);
/*
 * Remote accesses had the link for so many picoseconds, to the device and to the host: what
 * was on its way there comes later. busy: whether something is now. Before paging_next().
 */
void paging_share_link(struct paging *paging, const uint64_t took[2], bool busy[2]);
/* Is the page, or another of the same spec->page_bytes, on its way? Then walks do not find it. */
bool paging_in_flight(const struct paging *paging, uint64_t addr);
/* A duplicate that was one until the batch that is being served: it may not be written yet. */
bool paging_collapsing(const struct paging *paging, uint64_t addr);
/* A resident page: somebody waits for it. */
void paging_await(struct paging *paging, uint64_t addr);
/*
 * The session is in the middle of a kernel, and another's turn comes, or its own again. Until then
 * others take what is on its way or waited for only if there is nothing else, and nothing lands.
 */
void paging_set_aside(struct paging *paging, bool aside);
/* Forgets all that wait for pages: a kernel was ended. */
void paging_abandon(struct paging *paging);
/*
 * Nothing else happens until all that is under way has landed. With the outcome of the
 * paging_serve() just before: service_ns and cost become those until then. -ENOMEM.
 */
int paging_land_all(struct paging *paging, struct paging_outcome *outcome);

/*
 * Explicit prefetch of a managed range (mem_prefetch): moved in parts, counted as prefetched;
 * service_ns is until all has landed. What finds no room beside the range's own pages stays where
 * it is. outcome->unmanaged counts pages that no managed range has.
 */
int paging_prefetch(struct paging *paging, uint64_t addr, uint64_t bytes,
		    uint64_t now, struct paging_outcome *outcome);
/* The same to the host: what of the range is in device memory goes back. Not counted as evicted. */
int paging_prefetch_host(struct paging *paging, uint64_t addr, uint64_t bytes,
			 uint64_t now, struct paging_outcome *outcome);

/*
 * The same, either way, while kernels run: service_ns is how long it is before the last of it is
 * handed to the link; then it comes as what was demanded does, behind that.
 */
int paging_depart(struct paging *paging, uint64_t addr, uint64_t bytes, bool home, uint64_t now,
		  struct paging_outcome *outcome);
/* Is something of the range on its way there? After paging_advance(). */
bool paging_travels(const struct paging *paging, uint64_t addr, uint64_t bytes, bool home);

/*
 * The access counters say that the device uses what is mapped of this region much: as a batch, it
 * is moved to device memory, except where the program prefers the host. What finds no room beside
 * the region's own pages stays. Nothing is mapped: outcome->service_ns is 0.
 */
int paging_pull(struct paging *paging, uint64_t addr, uint64_t bytes, uint64_t now,
		struct paging_outcome *outcome);

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
/* Pages of the VA space that are in device memory, as the handler knows it. */
uint64_t paging_resident_pages(const struct paging *paging);
/* How many of those are duplicates; how many pages are mapped in system memory. */
uint64_t paging_duplicate_pages(const struct paging *paging);
uint64_t paging_remote_pages(const struct paging *paging);

/* A counter of a policy, under the name that its table of counters has. */
struct policy_counter {
	const char *name;		/* the policy's */
	uint64_t value;
};
#define POLICY_COUNTERS	16u		/* at most, of one policy */

struct paging_stats {
	uint64_t far_faults;		/* unique faults served */
	uint64_t raw_faults;		/* before merging */
	uint64_t duplicate_faults;	/* raw faults merged away: of pages that are in the batch already */
	uint64_t inflight_faults;	/* unique faults on pages that were on their way */
	uint64_t batches;		/* of far faults, as the other counts of batches and busy_ns */
	uint64_t prefetched_pages, prefetch_used_pages;
	uint64_t prefetch_late_pages;	/* of the prefetched ones: demanded before they arrived */
	uint64_t prefetch_unused_evicted_pages;	/* evicted before anybody touched them */
	uint64_t prefetch_refused_pages;	/* wished for and not brought: no room, or paging.prefetch_full */
	uint64_t evicted_pages;
	uint64_t pre_evicted_pages;	/* of them: ahead of need, paging.watermark */
	uint64_t returned_pages;	/* far faults on pages that had been evicted before */
	uint64_t thrashing_pages;	/* distinct pages that came back twice or more */
	uint64_t h2d_bytes, d2h_bytes;
	/* Pages that were mapped for the device in system memory, as faults and advice had it. */
	uint64_t mapped_pages;
	uint64_t duplicated_pages;	/* copies made for reading alone */
	uint64_t collapsed_pages;	/* of them: made the only place, by a write or the advice's end */
	uint64_t pinned_faults, throttled_faults; /* unique, by the service's hint */
	uint64_t pulls, pulled_pages;	/* by access counters */
	/*
	 * By slot of the kernel (fault.kernel). A far fault belongs to the kernel that raised it
	 * first. A batch, with all that it brings and evicts, belongs to the kernel of its first
	 * record. Pages that access counters or programs ask for belong to no kernel.
	 */
	struct {
		uint64_t far_faults, batches, prefetched_pages, evicted_pages;
	} of[KERNEL_SLOTS];
	uint64_t busy_ns;		/* the handlers, summed */
	struct {
		uint64_t h2d_busy_ns, d2h_busy_ns;
		uint64_t h2d_transfers, d2h_transfers;
	} link;
	struct histogram latency_ns;	/* far fault, raised to replayed */
	/* By batch: raw faults, unique ones, VA blocks that these are in. */
	struct histogram batch_raw, batch_unique, batch_blocks;
	struct histogram buffer_depth;	/* records in the fault buffer at each take, those taken included */
	/* Sums over the far faults that latency_ns counts. */
	struct fault_stages fault_stages;
	uint64_t causes[FAULT_CAUSES];	/* unique managed faults of all batches */
	struct histogram decide_ns;	/* by batch: its policies' decisions, where that is measured */
	/* Sums over the batches. On a modelled link evict and copy are what it was occupied for. */
	struct service_cost stages;
	/* NULL names end the lists. */
	struct policy_counter prefetch_counters[POLICY_COUNTERS + 1];
	struct policy_counter evict_counters[POLICY_COUNTERS + 1];
};
const struct paging_stats *paging_stats(const struct paging *paging);
/* NULL, or one sentence: why a loaded policy was replaced, and by what. */
const char *paging_trouble(const struct paging *paging, enum policy_kind kind);
/* Pages that a loaded policy named and that were no sense (plugin/plugin.h); never reset. */
uint64_t paging_policy_refused(const struct paging *paging, enum policy_kind kind);
/* Counters of loaded policies are up to date in paging_stats() afterwards. */
void paging_flush(struct paging *paging);
void paging_stats_reset(struct paging *paging);

/* --- policies: they decide, never move (gpuemu_policy.h) ------------------ */

/* paging.prefetch and paging.evict: unknown policies, options and values. -EINVAL. */
int paging_check_policies(const struct gpu_spec *spec, struct err *err);

/* Rows of paging/prefetch.def and paging/evict.def, NULL terminated. */
extern const struct gpuemu_prefetch_ops *const prefetch_rows[];
extern const struct gpuemu_evict_ops *const evict_rows[];

#endif
