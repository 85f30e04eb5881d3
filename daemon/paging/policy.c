// SPDX-License-Identifier: GPL-2.0
/*
 * The two policies of a VA space: made from the spec, shown what they may look
 * at, told what happens to pages. What they answer is not checked here but
 * where it is used (serve.c, plan.c).
 */
#include "paging/handler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Eviction draws other numbers than prefetch from the same seed. */
#define EVICT_SEED	0x9e3779b97f4a7c15ull

/* --- what a policy may look at ------------------------------------------------ */

static bool view_resident(void *ctx, uint64_t addr)
{
	const struct policy *policy = ctx;

	return page_set_test(&policy->paging->space->pages, addr, PAGE_RESIDENT);
}

static uint64_t view_random(void *ctx)
{
	struct policy *policy = ctx;

	return rng_next(&policy->rng);
}

static void view_count(void *ctx, unsigned int index, uint64_t n)
{
	struct policy *policy = ctx;

	if (index < policy->ncounters)
		policy->counters[index].value += n;
}

/* A range that finds no memory is not seen: policies ask for less then. */
static bool view_next_range(void *ctx, uint64_t addr, struct gpuemu_policy_range *range)
{
	struct policy *policy = ctx;
	struct service *service = policy->paging->pool->service;
	const struct paging_known *known = &policy->paging->known;
	unsigned int low = 0, high;

	if (!policy->ranges_known) {
		policy->ranges.count = 0;
		if (service->ops->managed)
			service->ops->managed(service, policy->paging->space->va_space,
					      &policy->ranges);
		else
			for (uint64_t i = 0; i < known->nranges; i++)
				addr_ranges_add(&policy->ranges, known->ranges[i].addr,
						known->ranges[i].addr + known->ranges[i].bytes);
		policy->ranges_known = true;
	}
	high = (unsigned int)policy->ranges.count;
	while (low < high) {
		unsigned int middle = low + (high - low) / 2;

		if (policy->ranges.at[middle].end > addr)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == policy->ranges.count)
		return false;
	range->start = policy->ranges.at[low].start;
	range->end = policy->ranges.at[low].end;
	return true;
}

/* --- making them ----------------------------------------------------------------- */

static const char *const *counter_names(const struct policy *policy)
{
	return policy->choice.prefetch ? policy->choice.prefetch->counters :
					 policy->choice.evict->counters;
}

static void name_counters(struct policy *policy)
{
	const char *const *names = counter_names(policy);

	policy->ncounters = 0;
	for (unsigned int i = 0; names && names[i] && i < POLICY_COUNTERS; i++)
		policy->counters[policy->ncounters++] = (struct policy_counter){ names[i], 0 };
}

void policies_name_counters(struct paging *p)
{
	name_counters(&p->prefetch);
	name_counters(&p->evict);
}

static const char *key_of(enum policy_kind kind)
{
	return kind == POLICY_PREFETCH ? "paging.prefetch" : "paging.evict";
}

/* The row, or the user's object, and the values of its options. */
static int choose(struct policy *policy, enum policy_kind kind, struct err *err)
{
	struct paging *p = policy->paging;
	const char *text = kind == POLICY_PREFETCH ? p->spec.prefetch : p->spec.evict;
	char path[sizeof(p->spec.prefetch)];
	int rc;

	if (!plugin_is_path(text))
		return policy_parse(text, kind, &policy->choice, err);
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(text, ":"), text);
	rc = plugin_open(p->pool->site, path, kind, &p->spec, &policy->plugin, err);
	if (rc)
		return rc;
	if (kind == POLICY_PREFETCH)
		policy->choice.prefetch = plugin_prefetch_ops(policy->plugin);
	else
		policy->choice.evict = plugin_evict_ops(policy->plugin);
	rc = policy_parse_options(text, kind, &policy->choice, err);
	if (rc)
		plugin_close(policy->plugin);
	return rc;
}

static int make_state(struct policy *policy, uint64_t seed, struct err *err)
{
	const struct gpuemu_prefetch_ops *prefetch = policy->choice.prefetch;
	const struct gpuemu_evict_ops *evict = policy->choice.evict;
	int rc = 0;

	if (policy->plugin) {
		rc = plugin_start(policy->plugin, &policy->view, seed,
				  evict ? &evict_lru_ops : NULL, &policy->state, err);
		if (rc)
			plugin_close(policy->plugin);
		return rc;
	}
	if (prefetch && prefetch->create)
		rc = prefetch->create(&policy->view, &policy->state);
	else if (evict && evict->create)
		rc = evict->create(&policy->view, &policy->state);
	return rc ? err_set(err, rc, "no memory for the policy '%s'",
			    prefetch ? prefetch->name : evict->name) : 0;
}

static int need_record(const struct policy *policy, enum policy_kind kind, struct err *err)
{
	const struct gpuemu_prefetch_ops *prefetch = policy->choice.prefetch;
	const struct gpuemu_evict_ops *evict = policy->choice.evict;

	if (!(prefetch ? prefetch->needs_record : evict->needs_record) ||
	    policy->paging->known.record)
		return 0;
	err_set(err, 0,
		"%s: '%s' needs a recorded run: --recorded FILE, from a run with --record FILE",
		key_of(kind), prefetch ? prefetch->name : evict->name);
	if (policy->plugin)
		plugin_close(policy->plugin);
	return -EINVAL;
}

static int policy_open(struct policy *policy, struct paging *p, enum policy_kind kind,
		       struct err *err)
{
	uint64_t seed = kind == POLICY_PREFETCH ? p->spec.seed : p->spec.seed ^ EVICT_SEED;
	int rc;

	policy->paging = p;
	rc = choose(policy, kind, err);
	if (!rc)
		rc = need_record(policy, kind, err);
	if (rc)
		return rc;
	policy->counters = kind == POLICY_PREFETCH ? p->stats.prefetch_counters :
						     p->stats.evict_counters;
	name_counters(policy);
	rng_seed(&policy->rng, seed);
	policy->view = (struct gpuemu_policy_view){
		.ctx = policy,
		.frames = p->limit,
		.options = policy->choice.values,
		.resident = view_resident,
		.next_range = view_next_range,
		.random = view_random,
		.count = view_count,
		.record = p->known.record,
		.record_length = p->known.record_length,
	};
	rc = make_state(policy, seed, err);
	if (rc)
		free(policy->ranges.at);
	return rc;
}

static void policy_close(struct policy *policy)
{
	void (*destroy)(void *state) = policy->choice.prefetch ? policy->choice.prefetch->destroy :
								 policy->choice.evict->destroy;

	if (destroy)
		destroy(policy->state);
	free(policy->ranges.at);
}

int policies_open(struct paging *p, struct err *err)
{
	int rc = policy_open(&p->prefetch, p, POLICY_PREFETCH, err);

	if (rc)
		return rc;
	rc = policy_open(&p->evict, p, POLICY_EVICT, err);
	if (rc)
		policy_close(&p->prefetch);
	return rc;
}

void policies_close(struct paging *p)
{
	policy_close(&p->evict);
	policy_close(&p->prefetch);
	touches_clear(&p->touches);
}

/* --- asking them ------------------------------------------------------------------ */

/*
 * Leaves out what no managed range has, where ranges are known: it would take a
 * frame in the plan, and evict a page for nothing.
 */
static unsigned int keep_managed(struct policy *policy, uint64_t *pages, unsigned int n)
{
	struct gpuemu_policy_range range = { 0, 0 };
	unsigned int kept = 0;

	if (!view_next_range(policy, 0, &range))
		return n;
	for (unsigned int i = 0; i < n; i++) {
		uint64_t addr = pages[i];

		if ((addr < range.start || addr >= range.end) &&
		    (!view_next_range(policy, addr, &range) || addr < range.start))
			continue;
		pages[kept++] = addr;
	}
	return kept;
}

unsigned int policies_on_batch(struct paging *p, uint64_t *pages, unsigned int max)
{
	struct policy *policy = &p->prefetch;
	struct gpuemu_policy_fault faults[BATCH_MAX];
	unsigned int n = 0;

	for (unsigned int i = 0; i < p->nfaults; i++) {
		const struct fault *f = &p->faults[i];

		if (f->flags & FAULT_UNMANAGED)
			continue;
		faults[n++] = (struct gpuemu_policy_fault){
			.addr = f->addr,
			.cycle = f->cycle,
			.merged = MAX(f->merged, 1u),
			.sm = f->sm,
			.warp = f->warp,
			.write = f->access >= ACCESS_WRITE,
			.resident = (f->flags & FAULT_RESIDENT) != 0,
		};
	}
	if (!n)
		return 0;
	policy->ranges_known = false;
	n = policy->choice.prefetch->on_batch(policy->state, &policy->view, faults, n, pages, max);
	return keep_managed(policy, pages, MIN(n, max));
}

unsigned int policies_pick(struct paging *p, unsigned int need,
			   bool (*keep)(void *ctx, uint64_t addr), void *ctx,
			   uint64_t *pages, unsigned int max)
{
	struct policy *policy = &p->evict;
	const struct gpuemu_evict_ops *ops = policy->choice.evict;

	policy->ranges_known = false;
	return ops->pick(policy->state, &policy->view, need, keep, ctx, pages, max);
}

/* --- telling them ------------------------------------------------------------------ */

int policies_arrive(struct paging *p, uint64_t addr, bool prefetched)
{
	const struct gpuemu_prefetch_ops *prefetch = p->prefetch.choice.prefetch;
	int rc = p->evict.choice.evict->insert(p->evict.state, addr, prefetched);

	if (!rc && prefetch->on_arrive)
		prefetch->on_arrive(p->prefetch.state, addr, prefetched);
	return rc;
}

uint64_t policies_arrive_run(struct paging *p, uint64_t addr, uint64_t pages)
{
	const struct evict_runs *evict = evict_runs_of(p->evict.choice.evict);
	const struct prefetch_runs *prefetch = prefetch_runs_of(p->prefetch.choice.prefetch);
	uint64_t known = 0;

	if (evict && (prefetch || !p->prefetch.choice.prefetch->on_arrive)) {
		known = evict->insert(p->evict.state, addr, pages);
		if (prefetch)
			prefetch->on_arrive(p->prefetch.state, addr, known);
		return known;
	}
	for (uint64_t left = pages; left; left &= left - 1) {
		unsigned int page = (unsigned int)__builtin_ctzll(left);

		if (!policies_arrive(p, addr + page * PAGE_BYTES, true))
			known |= left & -left;
	}
	return known;
}

void policies_touch(struct paging *p, uint64_t addr, bool write)
{
	const struct gpuemu_prefetch_ops *prefetch = p->prefetch.choice.prefetch;

	if (p->spec.record)
		touches_add(&p->touches, addr);
	if (p->evict.choice.evict->touch)
		p->evict.choice.evict->touch(p->evict.state, addr, write);
	if (prefetch->on_touch)
		prefetch->on_touch(p->prefetch.state, addr, write);
}

void policies_leave(struct paging *p, uint64_t addr)
{
	const struct gpuemu_prefetch_ops *prefetch = p->prefetch.choice.prefetch;

	p->evict.choice.evict->remove(p->evict.state, addr);
	if (prefetch->on_leave)
		prefetch->on_leave(p->prefetch.state, addr);
}

void policies_leave_run(struct paging *p, uint64_t addr, uint64_t pages)
{
	const struct evict_runs *evict = evict_runs_of(p->evict.choice.evict);
	const struct prefetch_runs *prefetch = prefetch_runs_of(p->prefetch.choice.prefetch);

	if (evict && (prefetch || !p->prefetch.choice.prefetch->on_leave)) {
		evict->remove(p->evict.state, addr, pages);
		if (prefetch)
			prefetch->on_leave(p->prefetch.state, addr, pages);
		return;
	}
	for (; pages; pages &= pages - 1)
		policies_leave(p, addr + (unsigned int)__builtin_ctzll(pages) * PAGE_BYTES);
}

void policies_hide(struct paging *p, uint64_t addr)
{
	p->evict.choice.evict->remove(p->evict.state, addr);
}

void policies_unhide(struct paging *p, uint64_t addr)
{
	/*
	 * As if it had just been prefetched: what somebody holds is picked again
	 * late. Cannot fail: the policy held the page until it was hidden.
	 */
	p->evict.choice.evict->insert(p->evict.state, addr, true);
}

/* --- for those who use a paging ------------------------------------------------------- */

void paging_pool_site(struct paging_pool *pool, const struct plugin_site *site)
{
	pool->site = site;
}

static const struct plugin *plugin_of(const struct paging *p, enum policy_kind kind)
{
	return kind == POLICY_PREFETCH ? p->prefetch.plugin : p->evict.plugin;
}

const char *paging_trouble(const struct paging *p, enum policy_kind kind)
{
	const struct plugin *plugin = plugin_of(p, kind);

	return plugin ? plugin_trouble(plugin) : NULL;
}

uint64_t paging_policy_refused(const struct paging *p, enum policy_kind kind)
{
	const struct plugin *plugin = plugin_of(p, kind);

	return plugin ? plugin_refused(plugin) : 0;
}

void paging_flush(struct paging *p)
{
	if (p->prefetch.plugin)
		plugin_flush(p->prefetch.plugin);
	if (p->evict.plugin)
		plugin_flush(p->evict.plugin);
}

int paging_touches(const struct paging *p, const uint64_t **pages, uint64_t *count)
{
	*pages = p->touches.pages;
	*count = p->touches.count;
	if (!p->spec.record)
		return -EINVAL;
	return p->touches.lost ? -ENOMEM : 0;
}

void paging_set_ranges(struct paging *p, const struct paging_range *ranges, uint64_t n)
{
	p->known.ranges = ranges;
	p->known.nranges = n;
	p->prefetch.ranges_known = false;
	p->evict.ranges_known = false;
}
