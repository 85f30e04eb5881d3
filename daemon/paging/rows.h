/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ops table that each row of prefetch.def and evict.def defines in its own
 * file (included there, so that the definitions are checked), and how a policy
 * is named: NAME[:KEY=VALUE,...].
 */
#ifndef GPUEMU_PAGING_ROWS_H
#define GPUEMU_PAGING_ROWS_H

#include "paging/paging.h"
#include "plugin/plugin.h"

#define X(name) extern const struct gpuemu_prefetch_ops prefetch_##name##_ops;
#include "paging/prefetch.def"
#undef X

#define X(name) extern const struct gpuemu_evict_ops evict_##name##_ops;
#include "paging/evict.def"
#undef X

/*
 * A row may have these beside its ops. They tell it of many pages in one call: those of the 64
 * pages from addr on whose bit is set (addr is a multiple of 64 pages). The effect is that of one
 * call a page, the lowest first. All pages that arrive were prefetched. insert() returns the pages
 * that the policy has now; there was no memory for the others.
 */
struct evict_runs {
	const struct gpuemu_evict_ops *ops;
	uint64_t (*insert)(void *state, uint64_t addr, uint64_t pages);
	void (*remove)(void *state, uint64_t addr, uint64_t pages);
};

struct prefetch_runs {
	const struct gpuemu_prefetch_ops *ops;
	void (*on_arrive)(void *state, uint64_t addr, uint64_t pages);
	void (*on_leave)(void *state, uint64_t addr, uint64_t pages);
};

extern const struct evict_runs evict_lru_runs;
extern const struct prefetch_runs prefetch_tree_runs;

/* NULL: it has to be told page by page. */
const struct evict_runs *evict_runs_of(const struct gpuemu_evict_ops *ops);
const struct prefetch_runs *prefetch_runs_of(const struct gpuemu_prefetch_ops *ops);

#define POLICY_OPTIONS	16u	/* at most, of one policy */

/* A policy with values for all of its options. One of the ops is NULL. */
struct policy_choice {
	const struct gpuemu_prefetch_ops *prefetch;
	const struct gpuemu_evict_ops *evict;
	uint64_t values[POLICY_OPTIONS];	/* in the order of ops->options */
};

/*
 * -EINVAL: no such row (err lists them), no such option (err lists those), or a
 * value out of range; err begins with the key of the kind, as "paging.prefetch: ...".
 */
int policy_parse(const char *text, enum policy_kind kind, struct policy_choice *choice,
		 struct err *err);
/* The options behind the name alone: choice->values, for the ops in choice. */
int policy_parse_options(const char *text, enum policy_kind kind, struct policy_choice *choice,
			 struct err *err);

#endif
