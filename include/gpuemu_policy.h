/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Paging policies: what to bring beside the pages that faulted, and what goes
 * when device memory is full. A policy decides and never moves: it is handed a
 * batch of far faults and answers with pages; the engine drops what makes no
 * sense and keeps every content safe.
 *
 * The engine's own policies (daemon/paging/prefetch/, daemon/paging/evict/)
 * are written against this header, and so are yours: a shared object that
 * exports `gpuemu_prefetch` or `gpuemu_evict` (or both), named on the command line
 * as a path, `--prefetch ./mine.so` or `--evict ./mine.so:key=value`. It runs in
 * a process of its own (gpuemu-policy(7)): one that crashes, or takes longer than
 * paging.policy_ms, is reported and replaced by `none` or `lru`.
 *
 * Rules for both kinds. Addresses are managed virtual addresses, multiples of
 * GPUEMU_POLICY_PAGE. State is private to one VA space: create() makes it, every call
 * gets it, no globals. Calls of one state never overlap. For byte-identical
 * statistics a policy may use its arguments, its state and view->random(), and
 * nothing else: no clock, no address of its own memory.
 */
#ifndef GPUEMU_POLICY_H
#define GPUEMU_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPUEMU_POLICY_ABI	1u
#define GPUEMU_POLICY_PAGE	4096ull		/* bytes of a page, the unit of migration */
#define GPUEMU_POLICY_LEAF	65536ull	/* bytes of a leaf of the tree policies */
#define GPUEMU_POLICY_BLOCK	2097152ull	/* bytes of a VA block: trees do not cross it */

/* A unique far fault of a batch; batches are sorted by address. */
struct gpuemu_policy_fault {
	uint64_t addr;		/* of the page */
	uint64_t cycle;		/* core cycle in which it was raised first */
	uint32_t merged;	/* raw faults that this one stands for, 1 or more */
	uint16_t sm, warp;	/* who raised it first */
	uint8_t write;		/* 1: some access writes */
	uint8_t resident;	/* 1: the page came meanwhile; nothing has to be brought for it */
	uint8_t reserved[6];	/* 0 */
};

/* A managed range, whole pages, end exclusive. */
struct gpuemu_policy_range {
	uint64_t start, end;
};

/* The state that a policy may read. Valid during create() and as long as the policy's state. */
struct gpuemu_policy_view {
	void *ctx;			/* first argument of the calls */
	uint64_t frames;		/* pages of device memory that this VA space may hold */
	const uint64_t *options;	/* values in the order of ops->options */
	/* Is the page in device memory, or on its way there? */
	bool (*resident)(void *ctx, uint64_t addr);
	/* The first managed range that ends behind addr; false: there is none. */
	bool (*next_range)(void *ctx, uint64_t addr, struct gpuemu_policy_range *range);
	/* 64 uniform bits; gpu.seed repeats them. */
	uint64_t (*random)(void *ctx);
	/* Adds to the counter ops->counters[index], shown in the statistics. */
	void (*count)(void *ctx, unsigned int index, uint64_t n);
	/*
	 * The recorded run (--recorded FILE), in its order: page addresses of this run,
	 * one each time a page was touched: a TLB was filled with it, or had it and nothing
	 * was told of it for long. NULL and 0: no record.
	 */
	const uint64_t *record;
	uint64_t record_length;
};

/* An option of a policy, set as `name:key=value,key=value`. */
struct gpuemu_policy_option {
	const char *key;		/* NULL ends the list */
	uint64_t def, min, max;
	const char *doc;		/* with its unit */
};

struct gpuemu_prefetch_ops {
	uint32_t abi;			/* GPUEMU_POLICY_ABI */
	const char *name, *help;
	const struct gpuemu_policy_option *options;	/* NULL: none */
	const char *const *counters;	/* names, NULL terminated; NULL: none */
	bool needs_record;		/* is refused without --recorded */
	/*
	 * 0 or -errno; pages that are in device memory already are told next. Both may
	 * be NULL: then the state is NULL.
	 */
	int (*create)(const struct gpuemu_policy_view *view, void **state);
	void (*destroy)(void *state);
	/*
	 * Writes to pages[max] what shall come beside the faulted pages, the most wanted
	 * first, and returns how many. What is resident, unmanaged, on its way or named
	 * twice is ignored.
	 */
	unsigned int (*on_batch)(void *state, const struct gpuemu_policy_view *view,
				 const struct gpuemu_policy_fault *faults, unsigned int n,
				 uint64_t *pages, unsigned int max);
	/* Called for faulted, prefetched and explicitly moved pages; each may be NULL. */
	void (*on_arrive)(void *state, uint64_t addr, bool prefetched);
	void (*on_touch)(void *state, uint64_t addr, bool write);
	void (*on_leave)(void *state, uint64_t addr);
};

/* Orders resident pages by how dear they are. */
struct gpuemu_evict_ops {
	uint32_t abi;			/* GPUEMU_POLICY_ABI */
	const char *name, *help;
	const struct gpuemu_policy_option *options;	/* NULL: none */
	const char *const *counters;	/* names, NULL terminated; NULL: none */
	bool needs_record;
	int (*create)(const struct gpuemu_policy_view *view, void **state);
	void (*destroy)(void *state);
	/* The page is in device memory now; 0 or -ENOMEM. It may be there already. */
	int (*insert)(void *state, uint64_t addr, bool prefetched);
	/* A TLB was filled with it. May be NULL. */
	void (*touch)(void *state, uint64_t addr, bool write);
	/* It is not there any more. It may be unknown. */
	void (*remove)(void *state, uint64_t addr);
	/*
	 * Room for `need` pages is wanted (1 or more). Writes pages to pages[max], max >= need,
	 * cheapest first, and returns how many; more than `need` where the policy evicts in
	 * groups, fewer when all others are kept. keep() tells which pages must stay. Removes
	 * nothing: remove() comes for each page that goes, and insert(), as if it had been
	 * prefetched, for one that could not. A page may be named once a call.
	 */
	unsigned int (*pick)(void *state, const struct gpuemu_policy_view *view,
			     unsigned int need, bool (*keep)(void *ctx, uint64_t addr), void *ctx,
			     uint64_t *pages, unsigned int max);
};

/* A shared object exports one of these, or both. */
extern const struct gpuemu_prefetch_ops gpuemu_prefetch;
extern const struct gpuemu_evict_ops gpuemu_evict;

#ifdef __cplusplus
}
#endif

#endif
