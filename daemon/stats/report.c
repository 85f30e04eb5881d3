// SPDX-License-Identifier: GPL-2.0
/*
 * Counters as the objects of gpuemu-json(7): memory, utilization, SMs, kernels.
 * json.c has how numbers are written.
 */
#include "stats/json.h"

#include <json-c/json.h>
#include <string.h>

static struct json_object *cache_json(const struct cache_counters *c)
{
	struct json_object *o = json_object_new_object();

	return json_whole(o, o &&
		json_add_number(o, "accesses", c->reads + c->writes) &&
		json_add_number(o, "misses", c->read_misses + c->write_misses) &&
		json_add_number(o, "pending_hits", c->pending_hits) &&
		json_add_number(o, "reservation_fails", c->fails) &&
		json_add_number(o, "reads", c->reads) &&
		json_add_number(o, "writes", c->writes) &&
		json_add_number(o, "read_misses", c->read_misses) &&
		json_add_number(o, "write_misses", c->write_misses));
}

static struct json_object *dram_json(const struct gpu_counters *c, const struct gpu_spec *spec)
{
	const struct memory_counters *m = &c->memory;
	struct json_object *o = json_object_new_object();
	/* A request that needed no activate found its row open. */
	uint64_t hits = m->dram_requests - MIN(m->dram_requests, m->dram_activates);

	return json_whole(o, o &&
		json_add_number(o, "reads", m->dram_reads) &&
		json_add_number(o, "writes", m->dram_writes) &&
		json_add_number(o, "requests", m->dram_requests) &&
		json_add_number(o, "activates", m->dram_activates) &&
		json_add_number(o, "precharges", m->dram_precharges) &&
		json_add_number(o, "cycles", m->dram_cycles) &&
		json_add_ratio(o, "row_hit_rate", (double)hits, (double)m->dram_requests) &&
		json_add_ratio(o, "utilization", counters_dram_share(c, spec), 1));
}

static struct json_object *icnt_json(const struct memory_counters *m)
{
	struct json_object *o = json_object_new_object();

	return json_whole(o, o &&
		json_add_number(o, "packets_to_memory", m->icnt_packets[0]) &&
		json_add_number(o, "packets_to_sm", m->icnt_packets[1]) &&
		json_add_number(o, "flits_to_memory", m->icnt_flits[0]) &&
		json_add_number(o, "flits_to_sm", m->icnt_flits[1]) &&
		json_add_number(o, "blocked_to_memory", m->icnt_blocked[0]) &&
		json_add_number(o, "blocked_to_sm", m->icnt_blocked[1]));
}

static struct json_object *latency_json(const struct memory_counters *m, bool since_start)
{
	struct json_object *o = json_object_new_object();

	return json_whole(o, o && json_add_number(o, "count", m->latency_count) &&
		json_add_ratio(o, "mean", (double)m->latency_sum, (double)m->latency_count) &&
		(!since_start || json_add_number(o, "max", m->latency_max)));
}

static struct json_object *shared_json(const struct sm_counters *sm)
{
	struct json_object *o = json_object_new_object();

	return json_whole(o, o && json_add_number(o, "accesses", sm->shared_accesses) &&
		json_add_number(o, "conflict_cycles", sm->shared_conflict_cycles));
}

static struct json_object *ldst_json(const struct sm_counters *sm)
{
	struct json_object *o = json_object_new_object();
	bool whole = o && json_add_number(o, "instructions", sm->ldst_instructions);

	for (unsigned int i = 0; i < LDST_STALLS && whole; i++) {
		/* Programs that fetch no texture have no texture cache. */
		if (i != LDST_L1T || sm->l1t.reads)
			whole = json_add_number(o, ldst_stall_names[i], sm->ldst_stalls[i]);
	}
	return json_whole(o, whole);
}

static struct json_object *memory_json(const struct gpu_counters *c, const struct gpu_spec *spec,
				       bool since_start)
{
	const struct cache_counters *background = &c->memory.l2_background;
	struct json_object *o = json_object_new_object();

	return json_whole(o, o && json_add_number(o, "global_lines", c->sm.lines) &&
		json_add(o, "ldst", ldst_json(&c->sm)) &&
		json_add(o, "l1i", cache_json(&c->sm.l1i)) &&
		json_add(o, "l1c", cache_json(&c->sm.l1c)) &&
		json_add(o, "l1d", cache_json(&c->sm.l1d)) &&
		(!c->sm.l1t.reads || json_add(o, "l1t", cache_json(&c->sm.l1t))) &&
		json_add(o, "l2", cache_json(&c->memory.l2)) &&
		(!(background->reads + background->writes) ||
		 json_add(o, "l2_background", cache_json(background))) &&
		json_add(o, "dram", dram_json(c, spec)) &&
		json_add(o, "icnt", icnt_json(&c->memory)) &&
		json_add(o, "latency", latency_json(&c->memory, since_start)) &&
		json_add(o, "shared", shared_json(&c->sm)));
}

struct json_object *stats_memory_json(const struct gpu_counters *c, const struct gpu_spec *spec)
{
	return memory_json(c, spec, true);
}

struct json_object *stats_utilization_json(const struct gpu_counters *c,
					   const struct gpu_spec *spec)
{
	struct json_object *o = json_object_new_object();
	bool whole = o;

	for (unsigned int u = 0; u < SM_UNITS && whole; u++)
		if (u != UNIT_DP || spec->units_dp)
			whole = json_add_ratio(o, sm_unit_names[u],
					       counters_unit_share(c, spec, u), 1);
	return json_whole(o, whole &&
		json_add_ratio(o, "registers", counters_register_share(c, spec), 1) &&
		json_add_ratio(o, "shared", counters_shared_share(c, spec), 1) &&
		json_add_ratio(o, "l1d", counters_l1d_share(c, spec), 1) &&
		json_add_ratio(o, "l2", counters_l2_share(c, spec), 1) &&
		json_add_ratio(o, "dram", counters_dram_share(c, spec), 1));
}

/* Means of an SM while it has a CTA. */
static struct json_object *warps_json(const struct sm_counters *sm)
{
	struct json_object *o = json_object_new_object();

	return json_whole(o, o &&
		json_add_ratio(o, "resident", (double)sm->warps, (double)sm->cycles) &&
		json_add_ratio(o, "schedulable", (double)sm->schedulable_warps,
			       (double)sm->cycles) &&
		json_add_ratio(o, "ctas", (double)sm->ctas, (double)sm->cycles));
}

struct json_object *stats_background_json(const struct sm_counters *sm)
{
	const struct background_counters *b = &sm->background;
	struct json_object *o = b->jobs ? json_object_new_object() : NULL;

	return json_whole(o, o &&
		json_add_number(o, "jobs", b->jobs) &&
		json_add_number(o, "bytes", b->bytes) &&
		json_add_number(o, "shared_bytes", b->shared_bytes) &&
		json_add_number(o, "shared_cycles", b->shared_cycles) &&
		json_add_number(o, "shared_wait_cycles", b->shared_waits) &&
		json_add_number(o, "sectors_read", b->sectors[0]) &&
		json_add_number(o, "sectors_written", b->sectors[1]) &&
		json_add_number(o, "memory_wait_cycles", b->memory_waits) &&
		json_add_number(o, "l1d_hits", b->l1_hits) &&
		json_add_number(o, "l1d_misses", b->l1_misses));
}

struct json_object *stats_virtual_json(const struct sm_counters *sm)
{
	const struct virtual_counters *v = &sm->virtual;
	struct json_object *o = v->grants ? json_object_new_object() : NULL;

	return json_whole(o, o &&
		json_add_number(o, "specifiers", v->specifiers) &&
		json_add_number(o, "issued_specifiers", v->issued_specifiers) &&
		json_add_number(o, "grants", v->grants) &&
		json_add_number(o, "forced", v->forced) &&
		json_add_number(o, "swapped_warps", v->swapped_warps) &&
		json_add_number(o, "spilled_sets", v->spills) &&
		json_add_number(o, "filled_sets", v->fills) &&
		json_add_number(o, "set_accesses", v->accesses) &&
		json_add_number(o, "set_accesses_swapped", v->swapped) &&
		json_add_number(o, "scratchpad_spilled_sets", v->scratchpad_spills) &&
		json_add_number(o, "scratchpad_filled_sets", v->scratchpad_fills) &&
		json_add_number(o, "scratchpad_accesses", v->scratchpad_accesses) &&
		json_add_number(o, "scratchpad_accesses_swapped", v->scratchpad_swapped) &&
		json_add_number(o, "scratchpad_lines", v->scratchpad_lines) &&
		(!v->epochs ||
		 (json_add_ratio(o, "o_thresh", (double)v->percent / 100, (double)v->epochs) &&
		  json_add_ratio(o, "lacking", (double)v->lacking, (double)v->epochs) &&
		  json_add_ratio(o, "held_warps", (double)v->held, (double)v->epochs))));
}

struct json_object *stats_activity_json(const struct sm_counters *sm)
{
	const struct activity_counters *a = &sm->activity;
	struct json_object *o = a->collected ? json_object_new_object() : NULL;
	bool ok = o;

	for (unsigned int u = 0; u < SM_UNITS; u++)
		ok = ok && json_add_number(o, sm_unit_names[u], a->units[u]);
	return json_whole(o, ok &&
		json_add_number(o, "register_reads", a->register_reads) &&
		json_add_number(o, "register_writes", a->register_writes) &&
		json_add_number(o, "collected", a->collected) &&
		json_add_number(o, "look_ups", a->look_ups) &&
		json_add_number(o, "epochs", a->epochs) &&
		json_add_ratio(o, "registers_used", (double)a->registers_used,
			       (double)a->registers_held) &&
		(!a->shared_held || json_add_ratio(o, "shared_used", (double)a->shared_used,
						   (double)a->shared_held)));
}

static struct json_object *sm_json(const struct sm_counters *sm, const struct gpu_spec *spec)
{
	struct json_object *o = json_object_new_object();

	return json_whole(o, o &&
		json_add_number(o, "ctas", sm->retired_ctas) &&
		(!sm->parked_ctas || json_add_number(o, "parked_ctas", sm->parked_ctas)) &&
		json_add_number(o, "busy_cycles", sm->cycles) &&
		json_add_number(o, "warp_instructions", sm->warp_instructions) &&
		json_add_number(o, "thread_instructions", sm->thread_instructions) &&
		json_add(o, "stalls", json_stalls(sm->stalls, spec)) &&
		json_add(o, "warps", warps_json(sm)) &&
		json_add(o, "l1i", cache_json(&sm->l1i)) &&
		json_add(o, "l1c", cache_json(&sm->l1c)) &&
		json_add(o, "l1d", cache_json(&sm->l1d)) &&
		(!sm->l1t.reads || json_add(o, "l1t", cache_json(&sm->l1t))) &&
		json_add(o, "shared", shared_json(sm)));
}

struct json_object *stats_sms_json(const struct sm_counters *sms, unsigned int nsms,
				   const struct gpu_spec *spec)
{
	struct json_object *a = json_object_new_array_ext((int)nsms);
	bool whole = a;

	for (unsigned int i = 0; i < nsms && whole; i++)
		whole = json_append(a, sm_json(&sms[i], spec));
	return json_whole(a, whole);
}

static struct json_object *dim3_json(const uint32_t dim[3])
{
	struct json_object *a = json_object_new_array_ext(3);
	bool whole = a;

	for (unsigned int i = 0; i < 3 && whole; i++)
		whole = json_append(a, json_object_new_uint64(dim[i]));
	return json_whole(a, whole);
}

static struct json_object *paging_json(const struct gpu_counters *c)
{
	const struct paging_counters *p = &c->paging;
	struct json_object *o = json_object_new_object();

	return json_whole(o, o &&
		json_add_number(o, "far_faults", p->far_faults) &&
		json_add_number(o, "batches", p->batches) &&
		json_add_number(o, "far_waits", p->far_waits) &&
		json_add_number(o, "far_wait_cycles", p->far_wait_cycles) &&
		json_add_number(o, "h2d_bytes", p->h2d_bytes) &&
		json_add_number(o, "d2h_bytes", p->d2h_bytes) &&
		json_add_ratio(o, "h2d_busy", (double)p->h2d_busy, (double)c->cycles) &&
		json_add_ratio(o, "d2h_busy", (double)p->d2h_busy, (double)c->cycles));
}

static struct json_object *pair_json(const char *first, uint64_t a, const char *second, uint64_t b)
{
	struct json_object *o = json_object_new_object();

	return json_whole(o, o && json_add_number(o, first, a) && json_add_number(o, second, b));
}

/* To `memory` of a kernel beside others: its part of what is behind the TLBs. */
static bool add_translation(struct json_object *o, const struct translation_counters *t,
			    const struct gpu_spec *spec)
{
	return json_add(o, "tlb", pair_json("hits", t->tlb_hits, "misses", t->tlb_misses)) &&
	       json_add_number(o, "walks", t->walks) &&
	       (!spec->paging || !spec->l2tlb_entries ||
		json_add(o, "l2tlb", pair_json("hits", t->l2tlb_hits, "misses", t->l2tlb_misses))) &&
	       (!spec->paging || spec->walk_latency ||
		(json_add(o, "pwc", pair_json("hits", t->pwc_hits, "misses", t->pwc_misses)) &&
		 json_add_number(o, "pte_reads", t->pte_reads)));
}

static struct json_object *remote_json(const struct remote_counters *r)
{
	static const char *const names[3][2] = {
		{ "reads", "read_bytes" }, { "writes", "write_bytes" }, { "atomics", "atomic_bytes" },
	};
	struct json_object *o = json_object_new_object();
	bool whole = o;

	for (unsigned int i = 0; i < 3 && whole; i++)
		whole = json_add_number(o, names[i][0], r->count[i]) &&
			json_add_number(o, names[i][1], r->bytes[i]);
	return json_whole(o, whole &&
		json_add_number(o, "latency_cycles", r->latency_sum /
				MAX(r->count[0] + r->count[2], 1u)) &&
		json_add_number(o, "h2d_busy_ns", r->busy_ps[0] / 1000) &&
		json_add_number(o, "d2h_busy_ns", r->busy_ps[1] / 1000));
}

/* To `paging` of a kernel beside others. */
static bool add_own_paging(struct json_object *o, const struct gpu_counters *c)
{
	return json_add_number(o, "nacks", c->translation.nacks) &&
	       json_add_number(o, "prefetched_pages", c->paging.prefetched_pages) &&
	       json_add_number(o, "evicted_pages", c->paging.evicted_pages) &&
	       json_add(o, "remote", remote_json(&c->remote));
}

/* Members that only a launch beside others has: there is no other place that says them. */
static bool add_own(struct json_object *o, const struct kernel_stats *k,
		    const struct gpu_spec *spec)
{
	struct json_object *memory, *paging;

	return json_add(o, "concurrent", json_object_new_boolean(true)) &&
	       json_add(o, "own_stalls", json_stalls(k->own_stalls, spec)) &&
	       json_object_object_get_ex(o, "memory", &memory) &&
	       add_translation(memory, &k->gpu.translation, spec) &&
	       (!spec->paging || (json_object_object_get_ex(o, "paging", &paging) &&
				  add_own_paging(paging, &k->gpu)));
}

/* Members that only a launch in time has. */
static bool add_timed(struct json_object *o, const struct kernel_stats *k,
		      const struct gpu_spec *spec)
{
	/* As GPGPU-Sim counts: instructions of threads, the whole GPU's, a core cycle. */
	return json_add_ratio(o, "ipc", (double)k->thread_instructions, (double)k->cycles) &&
	       json_add(o, "stalls", json_stalls(k->gpu.sm.stalls, spec)) &&
	       json_add(o, "warps", warps_json(&k->gpu.sm)) &&
	       json_add(o, "utilization", stats_utilization_json(&k->gpu, spec)) &&
	       json_add(o, "memory", memory_json(&k->gpu, spec, false)) &&
	       (!k->gpu.sm.background.jobs ||
		json_add(o, "background", stats_background_json(&k->gpu.sm))) &&
	       (!k->gpu.sm.activity.collected ||
		json_add(o, "activity", stats_activity_json(&k->gpu.sm))) &&
	       (!spec->paging || json_add(o, "paging", paging_json(&k->gpu)));
}

struct json_object *kernel_stats_json(const struct kernel_stats *k, const struct gpu_spec *spec)
{
	struct json_object *o = json_object_new_object();

	return json_whole(o, o &&
		json_add(o, "name", json_object_new_string_len(k->name,
				(int)strnlen(k->name, sizeof(k->name)))) &&
		json_add(o, "grid", dim3_json(k->grid)) &&
		json_add(o, "block", dim3_json(k->block)) &&
		json_add_number(o, "regs", k->regs) &&
		json_add_number(o, "spill_store_bytes", k->spill_store_bytes) &&
		json_add_number(o, "spill_load_bytes", k->spill_load_bytes) &&
		json_add_number(o, "local_bytes", k->local_bytes) &&
		json_add_number(o, "smem", k->smem) &&
		json_add_number(o, "stream", k->stream) &&
		(!k->halted || (json_add(o, "halted", json_object_new_boolean(true)) &&
				json_add_number(o, "halted_cycle", k->halted_cycle) &&
				json_add_number(o, "halted_instructions",
						k->halted_instructions))) &&
		(k->functional || (json_add_number(o, "ctas_per_sm", k->ctas_per_sm) &&
				   json_add_number(o, "start", k->start) &&
				   json_add_number(o, "cycles", k->cycles) &&
				   json_add(o, "seconds", stats_json_ratio((double)k->cycles /
					((double)spec->clock_mhz * 1e6))))) &&
		json_add_number(o, "warp_instructions", k->warp_instructions) &&
		json_add_number(o, "thread_instructions", k->thread_instructions) &&
		(k->functional || add_timed(o, k, spec)) &&
		(k->functional || !k->concurrent || add_own(o, k, spec)));
}
