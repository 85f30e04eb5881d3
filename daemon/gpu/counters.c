// SPDX-License-Identifier: GPL-2.0
/*
 * What a machine has counted, from its rooms' own counters to those of the
 * statistics. Reports, kernels' spans and samples are differences of it.
 */
#include "gpu/internal.h"

static void add_l2(struct cache_counters *l2, const struct mem_stats *s)
{
	for (unsigned int c = 0; c < MEM_CLASSES; c++) {
		if (c == MEM_BACKGROUND)
			continue;
		l2->reads += s->l2_accesses[c][0];
		l2->writes += s->l2_accesses[c][1];
		l2->read_misses += s->l2_misses[c][0];
		l2->write_misses += s->l2_misses[c][1];
		l2->pending_hits += s->l2_pending[c];
	}
	l2->fails = s->l2_fails;
}

static void memory(const struct mem_stats *s, struct memory_counters *c)
{
	add_l2(&c->l2, s);
	c->dram_reads = s->dram_reads;
	c->dram_writes = s->dram_writes;
	c->dram_requests = s->dram_requests;
	c->dram_activates = s->dram_activates;
	c->dram_precharges = s->dram_precharges;
	c->dram_busy = s->dram_busy;
	c->dram_cycles = s->dram_cycles;
	for (unsigned int way = 0; way < 2; way++) {
		c->icnt_packets[way] = s->icnt_packets[way];
		c->icnt_flits[way] = s->icnt_flits[way];
		c->icnt_blocked[way] = s->icnt_blocked[way];
	}
	c->latency_sum = s->latency_sum;
	c->latency_count = s->latency_count;
	c->latency_max = s->latency_max;
}

static void paging(struct machine *m, uint64_t now, struct paging_counters *c)
{
	struct gpu_session *s = m->session;
	const struct gmmu_stats *g = gmmu_stats(m->gmmu);
	const struct paging_stats *p = s->paging ? paging_stats(s->paging) : NULL;

	if (!m->spec.paging || !p)
		return;
	c->far_faults = p->far_faults;
	c->batches = p->batches;
	c->far_waits = g->far_wait_cycles.count;
	c->far_wait_cycles = g->far_wait_cycles.sum;
	link_use_upto(&s->link_use, false, now, &c->h2d_busy, &c->h2d_bytes);
	link_use_upto(&s->link_use, true, now, &c->d2h_busy, &c->d2h_bytes);
}

/* The kernel slot's part of it. How the link was used is nobody's but the whole GPU's. */
void machine_slot_counters(struct machine *m, unsigned int slot, struct gpu_counters *c)
{
	const struct gpu_session *s = m->session;
	const struct gmmu_stats *g = gmmu_stats(m->gmmu);
	struct mem_stats stats;

	*c = (struct gpu_counters){ 0 };
	mem_stats_of(m->mem, slot, &stats);
	memory(&stats, &c->memory);
	if (!m->spec.paging || !s->paging)
		return;
	c->paging.far_faults = paging_stats(s->paging)->of[slot].far_faults;
	c->paging.batches = paging_stats(s->paging)->of[slot].batches;
	c->paging.far_waits = g->of[slot].far_waits;
	c->paging.far_wait_cycles = g->of[slot].far_wait_cycles;
}

void machine_state(struct machine *m, struct gpu_state *state)
{
	const struct gpu_session *s = m->session;

	*state = (struct gpu_state){ 0 };
	if (!m->spec.paging || !s->paging)
		return;
	state->fault_buffer = gmmu_faults(m->gmmu);
	state->resident_pages = paging_resident_pages(s->paging);
}

void machine_transfer(struct machine *m, const struct trace_transfer *x)
{
	link_use_add(&m->session->link_use, x->d2h, x->begin, x->end, x->bytes);
	trace_transfer(&m->session->timeline, x);
}

void machine_counters(struct machine *m, uint64_t now, struct gpu_counters *c)
{
	*c = (struct gpu_counters){ .cycles = now };
	for (unsigned int i = 0; i < m->nsms; i++) {
		sm_account(m->sms[i], now);
		stats_add(&c->sm, sm_stats(m->sms[i]), sizeof(c->sm));
		stats_add(&c->fragmentation, sm_fragmentation(m->sms[i]), sizeof(c->fragmentation));
	}
	memory(mem_stats(m->mem), &c->memory);
	paging(m, now, &c->paging);
}
