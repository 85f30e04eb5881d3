// SPDX-License-Identifier: GPL-2.0
/*
 * The statistics' "paging": what far faults, policies and the link did. Formulas of
 * what is no count are gpuemu-json(7)'s. Called by statistics.c.
 */
#include <json-c/json.h>

#include "gpu/machine.h"
#include "gpu/session.h"

static void add(struct json_object *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, json_object_new_uint64(value));
}

/* a / b, 0 when b is. */
static void add_ratio(struct json_object *o, const char *key, uint64_t a, uint64_t b)
{
	json_object_object_add(o, key, stats_json_ratio(b ? (double)a / (double)b : 0));
}

/* Mean nanoseconds a batch, stage by stage. */
static struct json_object *stages_json(const struct paging_stats *p)
{
	struct json_object *o = json_object_new_object();
	uint64_t n = MAX(p->batches, 1u);

	add(o, "raised_to_fetched", p->stages.raised_to_fetched / n);
	add(o, "fetched_to_committed", p->stages.fetched_to_committed / n);
	add(o, "evict", p->stages.evict / n);
	add(o, "unmap", p->stages.unmap / n);
	add(o, "copy", p->stages.copy / n);
	add(o, "map", p->stages.map / n);
	add(o, "replay", p->stages.replay / n);
	return o;
}

/* Nanoseconds of the far faults that latency_ns counts, summed: the stages make the latency. */
static struct json_object *fault_stages_json(const struct paging_stats *p)
{
	struct json_object *o = json_object_new_object();

#define X(stage) add(o, #stage, p->fault_stages.stage);
	FAULT_STAGES(X)
#undef X
	add(o, "latency", p->latency_ns.sum);
	return o;
}

static struct json_object *causes_json(const struct paging_stats *p)
{
	struct json_object *o = json_object_new_object();

	for (unsigned int i = 0; i < FAULT_CAUSES; i++)
		add(o, fault_cause_names[i], p->causes[i]);
	return o;
}

/* Bytes to the device over what its link could have carried all the time (HPCA'16 figure 6). */
static double link_utilization(const struct gpu_session *s, const struct paging_stats *p)
{
	const struct gpu_spec *spec = &s->machine->spec;
	double seconds = (double)s->now / ((double)spec->clock_mhz * 1e6);

	return s->now ? (double)p->h2d_bytes / ((double)spec->link_mbps * 1e6 * seconds) : 0;
}

static struct json_object *link_json(const struct gpu_session *s, const struct paging_stats *p)
{
	const struct gpu_spec *spec = &s->machine->spec;
	struct json_object *o = json_object_new_object();
	uint64_t ns = (uint64_t)((unsigned __int128)s->now * 1000 / spec->clock_mhz);

	add(o, "h2d_transfers", p->link.h2d_transfers);
	add(o, "d2h_transfers", p->link.d2h_transfers);
	add(o, "h2d_busy_ns", p->link.h2d_busy_ns);
	add(o, "d2h_busy_ns", p->link.d2h_busy_ns);
	add_ratio(o, "h2d_busy", p->link.h2d_busy_ns, ns);
	add_ratio(o, "d2h_busy", p->link.d2h_busy_ns, ns);
	return o;
}

static struct json_object *counters_json(const struct policy_counter *c)
{
	struct json_object *o = json_object_new_object();

	for (; c->name; c++)
		add(o, c->name, c->value);
	return o;
}

/* For a policy from a shared object: its refused answers, and why it was replaced. */
static void add_policy(struct json_object *o, const struct gpu_session *s, enum policy_kind kind)
{
	const char *trouble = paging_trouble(s->paging, kind);

	add(o, "policy_refused", paging_policy_refused(s->paging, kind));
	if (trouble)
		json_object_object_add(o, "trouble", json_object_new_string(trouble));
}

/* How good the prefetches were. */
static struct json_object *prefetch_json(const struct gpu_session *s, const struct paging_stats *p)
{
	struct json_object *o = json_object_new_object();
	uint64_t used = p->prefetch_used_pages, late = MIN(p->prefetch_late_pages, used);

	json_object_object_add(o, "policy", json_object_new_string(s->machine->spec.prefetch));
	add_policy(o, s, POLICY_PREFETCH);
	add_ratio(o, "accuracy", used, p->prefetched_pages);
	/* Late pages were far faults, too. Each useful page is counted once. */
	add_ratio(o, "coverage", used - late, used - late + p->far_faults);
	add_ratio(o, "timeliness", used - late, used);
	add_ratio(o, "pollution", p->prefetch_unused_evicted_pages, p->prefetched_pages);
	add(o, "late_pages", p->prefetch_late_pages);
	add(o, "unused_evicted_pages", p->prefetch_unused_evicted_pages);
	add(o, "refused_pages", p->prefetch_refused_pages);
	json_object_object_add(o, "counters", counters_json(p->prefetch_counters));
	return o;
}

static struct json_object *evict_json(const struct gpu_session *s, const struct paging_stats *p)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "policy", json_object_new_string(s->machine->spec.evict));
	add_policy(o, s, POLICY_EVICT);
	add(o, "pre_evicted_pages", p->pre_evicted_pages);
	add(o, "returned_pages", p->returned_pages);
	add(o, "thrashing_pages", p->thrashing_pages);
	json_object_object_add(o, "counters", counters_json(p->evict_counters));
	return o;
}

static struct json_object *batch_json(const struct paging_stats *p)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "raw_faults", histogram_json_full(&p->batch_raw));
	json_object_object_add(o, "far_faults", histogram_json_full(&p->batch_unique));
	json_object_object_add(o, "blocks", histogram_json_full(&p->batch_blocks));
	json_object_object_add(o, "fault_buffer", histogram_json_full(&p->buffer_depth));
	return o;
}

static struct json_object *far_wait_json(const struct gmmu_stats *g)
{
	struct json_object *o = histogram_json_full(&g->far_wait_cycles);

	if (o)
		add(o, "sum", g->far_wait_cycles.sum);
	return o;
}

/* What kernels did with pages in system memory, across the link. */
static struct json_object *remote_json(const struct gpu_session *s, const struct paging_stats *p)
{
	static const char *const kinds[] = {
		[MEM_READ] = "reads", [MEM_WRITE] = "writes", [MEM_ATOMIC] = "atomics",
	};
	static const char *const bytes[] = {
		[MEM_READ] = "read_bytes", [MEM_WRITE] = "write_bytes",
		[MEM_ATOMIC] = "atomic_bytes",
	};
	const struct mem_remote_stats *r = &mem_stats(s->machine->mem)->remote;
	uint64_t answered = r->count[MEM_READ] + r->count[MEM_ATOMIC];
	struct json_object *o = json_object_new_object();

	add(o, "pages", paging_remote_pages(s->paging));
	add(o, "mapped_pages", p->mapped_pages);
	for (unsigned int kind = 0; kind < 3; kind++) {
		add(o, kinds[kind], r->count[kind]);
		add(o, bytes[kind], r->bytes[kind]);
	}
	add(o, "latency_cycles", r->latency_sum / MAX(answered, 1u));
	add(o, "latency_max_cycles", r->latency_max);
	add(o, "h2d_busy_ns", r->busy_ps[0] / 1000);
	add(o, "d2h_busy_ns", r->busy_ps[1] / 1000);
	add(o, "pinned_faults", p->pinned_faults);
	add(o, "throttled_faults", p->throttled_faults);
	add(o, "notifications", r->notifications);
	add(o, "migrations", p->pulls);
	add(o, "migrated_pages", p->pulled_pages);
	return o;
}

static struct json_object *duplicates_json(const struct gpu_session *s,
					   const struct paging_stats *p)
{
	struct json_object *o = json_object_new_object();

	add(o, "pages", paging_duplicate_pages(s->paging));
	add(o, "made_pages", p->duplicated_pages);
	add(o, "collapsed_pages", p->collapsed_pages);
	return o;
}

struct json_object *statistics_paging_json(const struct gpu_session *s)
{
	const struct paging_stats *p = paging_stats(s->paging);
	const struct gmmu_stats *g = gmmu_stats(s->machine->gmmu);
	struct json_object *o = json_object_new_object();

	add(o, "far_faults", p->far_faults);
	add(o, "raw_faults", p->raw_faults);
	add(o, "duplicate_faults", p->duplicate_faults);
	add(o, "inflight_faults", p->inflight_faults);
	add(o, "batches", p->batches);
	add(o, "replays", g->replays);
	add(o, "nacks", g->nacks);
	add(o, "prefetched_pages", p->prefetched_pages);
	add(o, "prefetch_used_pages", p->prefetch_used_pages);
	add(o, "evicted_pages", p->evicted_pages);
	add(o, "resident_pages", paging_resident_pages(s->paging));
	add(o, "h2d_bytes", p->h2d_bytes);
	add(o, "d2h_bytes", p->d2h_bytes);
	json_object_object_add(o, "link_utilization",
			       stats_json_ratio(link_utilization(s, p)));
	json_object_object_add(o, "link", link_json(s, p));
	json_object_object_add(o, "latency_ns", histogram_json_full(&p->latency_ns));
	json_object_object_add(o, "stages_ns", stages_json(p));
	json_object_object_add(o, "fault_stages_sum_ns", fault_stages_json(p));
	json_object_object_add(o, "causes", causes_json(p));
	json_object_object_add(o, "decide_ns", histogram_json_full(&p->decide_ns));
	add(o, "busy_ns", p->busy_ns);
	json_object_object_add(o, "batch", batch_json(p));
	json_object_object_add(o, "far_wait_cycles", far_wait_json(g));
	json_object_object_add(o, "prefetch", prefetch_json(s, p));
	json_object_object_add(o, "evict", evict_json(s, p));
	json_object_object_add(o, "remote", remote_json(s, p));
	json_object_object_add(o, "duplicates", duplicates_json(s, p));
	return o;
}
