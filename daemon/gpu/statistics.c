// SPDX-License-Identifier: GPL-2.0
/*
 * A session's counters as JSON, in a fixed order of keys: the same run gives
 * the same bytes. "paging" is absent when paging is off; without time
 * (gpu.functional) all that counts cycles, traffic or pages is.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/machine.h"
#include "gpu/session.h"

#define VERSION	1

static void add(struct json_object *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, json_object_new_uint64(value));
}

static struct json_object *kernels_json(const struct gpu_session *s)
{
	struct json_object *a = json_object_new_array();

	for (size_t i = 0; i < s->nkernels; i++)
		json_object_array_add(a, kernel_stats_json(&s->kernels[i], &s->machine->spec));
	return a;
}

/* cycles are the session's clock: kernels, and explicit prefetches between them. */
static struct json_object *totals_json(const struct gpu_session *s)
{
	struct json_object *o = json_object_new_object();
	uint64_t warp = 0, thread = 0;

	for (size_t i = 0; i < s->nkernels; i++) {
		warp += s->kernels[i].warp_instructions;
		thread += s->kernels[i].thread_instructions;
	}
	if (!s->machine->spec.functional) {
		add(o, "cycles", s->now);
		json_object_object_add(o, "seconds", stats_json_ratio(
			(double)s->now / ((double)s->machine->spec.clock_mhz * 1e6)));
	}
	add(o, "warp_instructions", warp);
	add(o, "thread_instructions", thread);
	return o;
}

/* The shared TLB and the page walks, where the GPU has them. */
static void walks_json(struct json_object *o, const struct gmmu_stats *g,
		       const struct gpu_spec *spec)
{
	struct json_object *l2tlb, *pwc;

	json_object_object_add(o, "walk_cycles", histogram_json_full(&g->walk_cycles));
	if (spec->l2tlb_entries) {
		l2tlb = json_object_new_object();
		add(l2tlb, "hits", g->l2tlb_hits);
		add(l2tlb, "misses", g->l2tlb_misses);
		json_object_object_add(o, "l2tlb", l2tlb);
	}
	if (spec->walk_latency)
		return;
	pwc = json_object_new_object();
	add(pwc, "hits", g->pwc_hits);
	add(pwc, "misses", g->pwc_misses);
	json_object_object_add(o, "pwc", pwc);
	add(o, "pte_reads", g->pte_reads);
}

static struct json_object *memory_json(const struct gpu_session *s, const struct gpu_counters *c)
{
	const struct gpu_spec *spec = &s->machine->spec;
	const struct gmmu_stats *g = gmmu_stats(s->machine->gmmu);
	struct json_object *o = stats_memory_json(c, spec);
	struct json_object *tlb = json_object_new_object();

	add(tlb, "hits", g->tlb_hits);
	add(tlb, "misses", g->tlb_misses);
	if (spec->paging && spec->blocking)
		add(tlb, "blocked_cycles", g->blocked_cycles);
	json_object_object_add(o, "tlb", tlb);
	add(o, "walks", g->walks);
	if (spec->paging)
		walks_json(o, g, spec);
	return o;
}

static struct json_object *sms_json(const struct machine *m)
{
	struct sm_counters *sms = calloc(m->nsms, sizeof(*sms));
	struct json_object *o = NULL;

	for (unsigned int i = 0; sms && i < m->nsms; i++)
		sms[i] = *sm_stats(m->sms[i]);
	if (sms)
		o = stats_sms_json(sms, m->nsms, &m->spec);
	free(sms);
	return o;
}

static void add_fragmentation(struct json_object *o, const struct fragmentation_counters *f)
{
	add(o, "cycles", f->cycles);
	add(o, "refused_ctas", f->refused);
	add(o, "refused_cycles", f->refused_cycles);
	/* Means of the cycles. */
	add(o, "registers_free", f->cycles ? f->registers_free / f->cycles : 0);
	add(o, "registers_hole", f->cycles ? f->registers_hole / f->cycles : 0);
	add(o, "shared_free", f->cycles ? f->shared_free / f->cycles : 0);
	add(o, "shared_hole", f->cycles ? f->shared_hole / f->cycles : 0);
}

/* NULL: no SM held CTAs of several kernels, or they were not placed. */
static struct json_object *fragmentation_json(const struct machine *m,
					      const struct fragmentation_counters *all)
{
	struct json_object *o, *sms;

	if (!all->cycles && !all->refused)
		return NULL;
	o = json_object_new_object();
	sms = json_object_new_array();
	add_fragmentation(o, all);
	for (unsigned int i = 0; i < m->nsms; i++) {
		struct json_object *sm = json_object_new_object();

		add_fragmentation(sm, sm_fragmentation(m->sms[i]));
		json_object_array_add(sms, sm);
	}
	json_object_object_add(o, "sms", sms);
	return o;
}

/* Statistics of launches in time alone. The last sample ends at the session's clock. */
static void timed_json(struct gpu_session *s, struct json_object *o)
{
	struct machine *m = s->machine;
	struct gpu_counters c;
	struct json_object *fragmentation, *dispatch, *background, *virtual, *activity;
	struct gpu_state state;

	machine_counters(m, s->now, &c);
	fragmentation = fragmentation_json(m, &c.fragmentation);
	background = stats_background_json(&c.sm);
	virtual = stats_virtual_json(&c.sm);
	activity = stats_activity_json(&c.sm);
	dispatch = dispatch_report(m->dispatch);
	json_object_object_add(o, "memory", memory_json(s, &c));
	json_object_object_add(o, "utilization", stats_utilization_json(&c, &m->spec));
	json_object_object_add(o, "sms", sms_json(m));
	if (fragmentation)
		json_object_object_add(o, "fragmentation", fragmentation);
	if (background)
		json_object_object_add(o, "background", background);
	if (virtual)
		json_object_object_add(o, "virtual", virtual);
	if (activity)
		json_object_object_add(o, "activity", activity);
	if (dispatch)
		json_object_object_add(o, "dispatch", dispatch);
	if (!s->samples.interval)
		return;
	machine_state(m, &state);
	samples_take(&s->samples, s->now, &c, &state);
	json_object_object_add(o, "samples", samples_json(&s->samples, &m->spec));
}

/* Settings that are not the default: {"gpu.sms": "4", ...}. */
static struct json_object *settings_json(const struct gpu_spec *spec)
{
	struct json_object *o = json_object_new_object();
	char *text = spec_difference(spec), *at, *line, *value;

	for (line = text ? strtok_r(text, "\n", &at) : NULL; line; line = strtok_r(NULL, "\n", &at)) {
		value = strchr(line, '=');
		*value++ = '\0';
		json_object_object_add(o, line, json_object_new_string(value));
	}
	free(text);
	return o;
}

char *gpu_session_statistics(struct gpu_session *s)
{
	struct json_object *o = json_object_new_object();
	const char *text;
	char *copy;

	if (!o)
		return NULL;
	session_finish(s);
	if (s->paging)
		paging_flush(s->paging);
	add(o, "version", VERSION);
	json_object_object_add(o, "clock", json_object_new_string(
		s->gpu->service->ops->measured ? "measured" : "virtual"));
	add(o, "clock_mhz", s->machine->spec.clock_mhz);
	json_object_object_add(o, "settings", settings_json(&s->machine->spec));
	json_object_object_add(o, "kernels", kernels_json(s));
	json_object_object_add(o, "totals", totals_json(s));
	if (!s->machine->spec.functional)
		timed_json(s, o);
	if (s->machine->spec.paging && s->paging && !s->machine->spec.functional)
		json_object_object_add(o, "paging", statistics_paging_json(s));
	if (s->fault_log.room && !s->machine->spec.functional)
		json_object_object_add(o, "faults",
				       fault_log_json(&s->fault_log, &s->machine->spec));
	if (s->timeline.room && !s->machine->spec.functional)
		json_object_object_add(o, "trace", timeline_json(s));
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
	copy = text ? strdup(text) : NULL;
	json_object_put(o);
	return copy;
}
