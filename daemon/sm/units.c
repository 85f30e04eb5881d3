// SPDX-License-Identifier: GPL-2.0
/*
 * Execution pipelines and writeback (GPGPU-Sim, pipelined_simd_unit). A unit
 * takes an instruction in cycle e when its dispatch register is empty, it has none that ends in
 * the same cycle, and a result bus is free then; the register is held for the
 * initiation interval. The result is in EX_WB at e + latency + 1 and written
 * back, before anything else, in the next cycle. An instruction reaches its unit 4 cycles
 * after issue at the soonest, so one that depends on it issues at latency + 6, or pipe.bypass
 * cycles sooner: then all of an instruction's end is that much sooner.
 *
 * There are no stages to shift: what ends when is a ring by cycle. EX_WB is drained
 * every cycle, so its width is the number of result buses.
 */
#include <errno.h>
#include <stdlib.h>

#include "sm/scoreboard.h"

/* An instruction takes so many cycles beyond the latency until its result is written back. */
#define BEHIND		2u

/* Units that have pipelines here: all but the load/store unit, which is the last. */
#define COMPUTING	((1u << UNIT_LDST) - 1)

static uint32_t longest(const struct gpu_spec *s)
{
	const uint64_t latency[] = {
		s->lat_move, s->lat_int_add, s->lat_int_minmax, s->lat_int_mul, s->lat_int_mad,
		s->lat_int_div, s->lat_f32_add, s->lat_f32_minmax, s->lat_f32_mul, s->lat_f32_fma,
		s->lat_f32_div, s->lat_f64_add, s->lat_f64_minmax, s->lat_f64_mul, s->lat_f64_fma,
		s->lat_f64_div, s->lat_sfu, s->lat_shuffle, s->lat_convert,
		s->lat_f32_root, s->lat_f64_root,
	};
	uint64_t most = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(latency); i++)
		most = MAX(most, latency[i]);
	/* mul24 and mad24 take one more; with mapping tables all do. */
	return (uint32_t)(most + 1 + s->zorua_lookup);
}

int units_init(struct sm *sm)
{
	const struct gpu_spec *s = sm->spec;
	const uint64_t units[UNITS] = {
		[UNIT_SP] = s->units_sp, [UNIT_SFU] = s->units_sfu, [UNIT_DP] = s->units_dp,
		[UNIT_LDST] = 1,
	};
	const uint64_t id_oc[UNITS] = {
		[UNIT_SP] = s->id_oc_sp, [UNIT_SFU] = s->id_oc_sfu, [UNIT_DP] = s->id_oc_dp,
		[UNIT_LDST] = s->id_oc_mem,
	};
	const uint64_t oc_ex[UNITS] = {
		[UNIT_SP] = s->oc_ex_sp, [UNIT_SFU] = s->oc_ex_sfu, [UNIT_DP] = s->oc_ex_dp,
		[UNIT_LDST] = s->oc_ex_mem,
	};
	uint32_t size = 64, bit = 0;

	for (unsigned int u = 0; u < UNITS; u++) {
		sm->units.n[u] = (uint8_t)units[u];
		sm->units.first_bit[u] = (uint8_t)bit;
		sm->id_oc.of[u].size = (uint8_t)id_oc[u];
		sm->oc_ex.of[u].size = (uint8_t)oc_ex[u];
		queue_empty(&sm->id_oc, u);
		queue_empty(&sm->oc_ex, u);
		bit += sm->units.n[u];
	}
	sm->units.buses = (uint8_t)s->ex_wb;
	sm->units.bypass = (uint8_t)s->bypass;
	while (size < longest(s) + BEHIND + 1)
		size *= 2;
	sm->units.mask = size - 1;
	sm->units.results = calloc(size, sizeof(*sm->units.results));
	sm->units.insts = calloc((size_t)size * sm->units.buses, sizeof(*sm->units.insts));
	return sm->units.results && sm->units.insts ? 0 : -ENOMEM;
}

void units_fini(struct sm *sm)
{
	free(sm->units.results);
	free(sm->units.insts);
}

void units_cancel(struct sm *sm)
{
	for (unsigned int u = 0; u < UNITS; u++) {
		queue_empty(&sm->id_oc, u);
		queue_empty(&sm->oc_ex, u);
		for (unsigned int i = 0; i < MAX_WIDTH; i++)
			sm->units.free_at[u][i] = 0;
	}
	for (uint32_t i = 0; i <= sm->units.mask; i++)
		sm->units.results[i] = (struct result_slot){ 0 };
	sm->units.left = 0;
}

void units_writeback(struct sm *sm, uint64_t now)
{
	uint32_t at = (uint32_t)now & sm->units.mask;
	struct result_slot *r = &sm->units.results[at];
	const uint32_t *inst = &sm->units.insts[at * sm->units.buses];

	if (!r->count)
		return;
	for (unsigned int i = 0; i < r->count; i++) {
		/* A bank that another result takes in this cycle holds nothing up here, as in GPGPU-Sim. */
		collector_take_banks(&sm->oc, &sm->warps, sm_inst(sm, inst[i]));
		inst_release(sm, inst[i]);
		inst_free(sm, inst[i]);
	}
	sm->units.left -= r->count;
	r->count = 0;
	r->units = 0;
}

/*
 * Takes the oldest of the kind's dispatch slots into unit n, if it can. Only that one is
 * tried: the slots are a register set, and what comes out is what issued first.
 */
static void take(struct sm *sm, unsigned int u, unsigned int n, uint64_t now)
{
	unsigned int place = queue_oldest(&sm->insts, &sm->oc_ex, u);
	uint32_t inst = sm->oc_ex.of[u].at[place];
	const struct sm_op *op = sm_inst(sm, inst)->op;
	uint32_t behind = op->latency + BEHIND;
	uint32_t left = behind > sm->units.bypass ? behind - sm->units.bypass : 0;
	uint32_t at = (uint32_t)(now + left) & sm->units.mask;
	struct result_slot *r = &sm->units.results[at];
	uint32_t bit = 1u << (sm->units.first_bit[u] + n);

	if (r->count == sm->units.buses || (r->units & bit))
		return;
	queue_remove(&sm->oc_ex, u, place);
	sm->oc.stuck = false;
	sm->units.free_at[u][n] = now + op->initiation;
	sm_count(sm, warp_slot(sm, sm_inst(sm, inst)->warp), busy[u], op->initiation);
	/* This cycle's results have been written back. */
	if (!left) {
		inst_release(sm, inst);
		inst_free(sm, inst);
		return;
	}
	sm->units.insts[at * sm->units.buses + r->count++] = inst;
	r->units |= bit;
	sm->units.left++;
}

void units_execute(struct sm *sm, uint64_t now)
{
	for (uint32_t m = sm->oc_ex.some & COMPUTING; m; m &= m - 1) {
		unsigned int u = (unsigned int)__builtin_ctz(m);
		const struct sm_fifo *f = &sm->oc_ex.of[u];

		for (unsigned int n = 0; n < sm->units.n[u] && f->count; n++) {
			if (sm->units.free_at[u][n] <= now)
				take(sm, u, n, now);
		}
	}
}

/* First slot in use, from now + 1 on. There is one, not far away: latencies are short. */
static uint64_t next_result(const struct sm *sm, uint64_t now)
{
	do
		now++;
	while (!sm->units.results[now & sm->units.mask].count);
	return now;
}

uint64_t units_next(const struct sm *sm, uint64_t now)
{
	uint64_t next = sm->units.left ? next_result(sm, now) : NEVER;

	for (uint32_t m = sm->oc_ex.some & COMPUTING; m; m &= m - 1) {
		unsigned int u = (unsigned int)__builtin_ctz(m);

		for (unsigned int n = 0; n < sm->units.n[u]; n++)
			next = MIN(next, MAX(now + 1, sm->units.free_at[u][n]));
	}
	return next;
}
