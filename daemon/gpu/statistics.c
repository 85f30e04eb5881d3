// SPDX-License-Identifier: GPL-2.0
/*
 * A session's counters as JSON, in a fixed order of keys: the same run gives
 * the same bytes. "paging" is absent when paging is off; without time
 * (gpu.functional) all that counts cycles, traffic or pages is.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/internal.h"

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
	if (!s->machine->spec.functional)
		add(o, "cycles", s->now);
	add(o, "warp_instructions", warp);
	add(o, "thread_instructions", thread);
	return o;
}

static struct json_object *memory_json(const struct gpu_session *s, const struct gpu_counters *c)
{
	const struct gmmu_stats *g = gmmu_stats(s->machine->gmmu);
	struct json_object *o = stats_memory_json(c, &s->machine->spec);
	struct json_object *tlb = json_object_new_object();

	add(tlb, "hits", g->tlb_hits);
	add(tlb, "misses", g->tlb_misses);
	json_object_object_add(o, "tlb", tlb);
	add(o, "walks", g->walks);
	return o;
}

static struct json_object *sms_json(const struct machine *m)
{
	struct sm_counters *sms = calloc(m->nsms, sizeof(*sms));
	struct json_object *o = NULL;

	for (unsigned int i = 0; sms && i < m->nsms; i++)
		sms[i] = *sm_stats(m->sms[i]);
	if (sms)
		o = stats_sms_json(sms, m->nsms);
	free(sms);
	return o;
}

/* What only launches in time have. The last sample ends where the session's clock is. */
static void timed_json(struct gpu_session *s, struct json_object *o)
{
	struct machine *m = s->machine;
	struct gpu_counters c;

	machine_counters(m, s->now, &c);
	json_object_object_add(o, "memory", memory_json(s, &c));
	json_object_object_add(o, "utilization", stats_utilization_json(&c, &m->spec));
	json_object_object_add(o, "sms", sms_json(m));
	if (!s->samples.interval)
		return;
	samples_take(&s->samples, s->now, &c);
	json_object_object_add(o, "samples", samples_json(&s->samples, &m->spec));
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

/* Bytes to the device over what its link could have carried all the time (HPCA'16 figure 6). */
static double link_utilization(const struct gpu_session *s, const struct paging_stats *p)
{
	const struct gpu_spec *spec = &s->machine->spec;
	double seconds = (double)s->now / ((double)spec->clock_mhz * 1e6);

	return s->now ? (double)p->h2d_bytes / ((double)spec->link_mbps * 1e6 * seconds) : 0;
}

static struct json_object *paging_json(const struct gpu_session *s)
{
	const struct paging_stats *p = paging_stats(s->paging);
	const struct gmmu_stats *g = gmmu_stats(s->machine->gmmu);
	struct json_object *o = json_object_new_object();

	add(o, "far_faults", p->far_faults);
	add(o, "batches", p->batches);
	add(o, "replays", g->replays);
	add(o, "nacks", g->nacks);
	add(o, "prefetched_pages", p->prefetched_pages);
	add(o, "prefetch_used_pages", p->prefetch_used_pages);
	add(o, "evicted_pages", p->evicted_pages);
	add(o, "h2d_bytes", p->h2d_bytes);
	add(o, "d2h_bytes", p->d2h_bytes);
	json_object_object_add(o, "link_utilization",
			       stats_json_ratio(link_utilization(s, p)));
	json_object_object_add(o, "latency_ns", histogram_json(&p->latency_ns));
	json_object_object_add(o, "stages_ns", stages_json(p));
	return o;
}

char *gpu_session_statistics(struct gpu_session *s)
{
	struct json_object *o = json_object_new_object();
	char *text;

	if (!o)
		return NULL;
	queue_finish(s);
	add(o, "version", VERSION);
	json_object_object_add(o, "clock", json_object_new_string(
		s->gpu->service->ops->measured ? "measured" : "virtual"));
	json_object_object_add(o, "kernels", kernels_json(s));
	json_object_object_add(o, "totals", totals_json(s));
	if (!s->machine->spec.functional)
		timed_json(s, o);
	if (s->machine->spec.paging && s->paging && !s->machine->spec.functional)
		json_object_object_add(o, "paging", paging_json(s));
	if (s->timeline.room && !s->machine->spec.functional)
		json_object_object_add(o, "trace", timeline_json(s));
	text = strdup(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
	return text;
}
