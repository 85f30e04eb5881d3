// SPDX-License-Identifier: GPL-2.0
/*
 * What a machine has counted, from its rooms' own counters to those of the
 * statistics. Reports, kernels' spans and samples are differences of it.
 */
#include <string.h>

#include "gpu/machine.h"
#include "gpu/session.h"

static void add_l2(struct memory_counters *memory, const struct mem_stats *s)
{
	for (unsigned int c = 0; c < MEM_CLASSES; c++) {
		struct cache_counters *l2 = c == MEM_BACKGROUND ? &memory->l2_background :
								  &memory->l2;

		l2->reads += s->l2_accesses[c][0];
		l2->writes += s->l2_accesses[c][1];
		l2->read_misses += s->l2_misses[c][0];
		l2->write_misses += s->l2_misses[c][1];
		l2->pending_hits += s->l2_pending[c];
	}
	memory->l2.fails = s->l2_fails;
}

static void memory(const struct mem_stats *s, struct memory_counters *c)
{
	add_l2(c, s);
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

static void remote(const struct mem_remote_stats *s, struct remote_counters *c)
{
	memcpy(c->count, s->count, sizeof(c->count));
	memcpy(c->bytes, s->bytes, sizeof(c->bytes));
	memcpy(c->busy_ps, s->busy_ps, sizeof(c->busy_ps));
	c->latency_sum = s->latency_sum;
}

/* The same names in both, of all and of a kernel slot. */
#define TRANSLATION(s) {								\
		.tlb_hits = (s)->tlb_hits, .tlb_misses = (s)->tlb_misses,		\
		.walks = (s)->walks, .nacks = (s)->nacks,				\
		.l2tlb_hits = (s)->l2tlb_hits, .l2tlb_misses = (s)->l2tlb_misses,	\
		.pwc_hits = (s)->pwc_hits, .pwc_misses = (s)->pwc_misses,		\
		.pte_reads = (s)->pte_reads,						\
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
	c->prefetched_pages = p->prefetched_pages;
	c->evicted_pages = p->evicted_pages;
	link_use_upto(&s->link_use, false, now, &c->h2d_busy, &c->h2d_bytes);
	link_use_upto(&s->link_use, true, now, &c->d2h_busy, &c->d2h_bytes);
}

/* The kernel slot's part of it, of the link up to the last machine_counters(). */
void machine_slot_counters(struct machine *m, unsigned int slot, struct gpu_counters *c)
{
	const struct gpu_session *s = m->session;
	const struct gmmu_stats *g = gmmu_stats(m->gmmu);
	const struct paging_stats *p = s->paging ? paging_stats(s->paging) : NULL;
	struct mem_stats stats;

	*c = (struct gpu_counters){ .translation = TRANSLATION(&g->of[slot]) };
	mem_stats_of(m->mem, slot, &stats);
	memory(&stats, &c->memory);
	remote(&stats.remote, &c->remote);
	if (!m->spec.paging || !p)
		return;
	c->paging.far_faults = p->of[slot].far_faults;
	c->paging.batches = p->of[slot].batches;
	c->paging.far_waits = g->of[slot].far_waits;
	c->paging.far_wait_cycles = g->of[slot].far_wait_cycles;
	c->paging.prefetched_pages = p->of[slot].prefetched_pages;
	c->paging.evicted_pages = p->of[slot].evicted_pages;
	link_use_of(&s->link_use, slot, false, &c->paging.h2d_busy, &c->paging.h2d_bytes);
	link_use_of(&s->link_use, slot, true, &c->paging.d2h_busy, &c->paging.d2h_bytes);
}

bool machine_shares_add_up(struct machine *m, const struct gpu_counters *all)
{
	struct gpu_counters sum = { 0 };

	for (unsigned int slot = 0; slot < KERNEL_SLOTS; slot++) {
		struct gpu_counters of;

		machine_slot_counters(m, slot, &of);
		stats_add(&sum, &of, sizeof(sum));
	}
	for (unsigned int i = 0; i < m->nsms; i++)
		if (!sm_shares_add_up(m->sms[i]))
			return false;
	return !stats_share_missing(&sum, all);
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

void machine_counters(struct machine *m, uint64_t now, struct gpu_counters *c)
{
	const struct gmmu_stats *g = gmmu_stats(m->gmmu);
	const struct mem_stats *all;

	*c = (struct gpu_counters){ .cycles = now, .translation = TRANSLATION(g) };
	for (unsigned int i = 0; i < m->nsms; i++) {
		sm_account(m->sms[i], now);
		stats_add(&c->sm, sm_stats(m->sms[i]), sizeof(c->sm));
		stats_add(&c->fragmentation, sm_fragmentation(m->sms[i]), sizeof(c->fragmentation));
	}
	all = mem_stats(m->mem);
	memory(all, &c->memory);
	remote(&all->remote, &c->remote);
	paging(m, now, &c->paging);
}
