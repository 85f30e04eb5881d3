// SPDX-License-Identifier: GPL-2.0
/*
 * Operand collectors and register banks (GPGPU-Sim, opndcoll_rfu_t). An issued
 * instruction takes a collector unit of its kind, its distinct sources queue at
 * their banks, and when all are read it goes on to its unit. A bank gives one
 * operand a cycle, none in a cycle in which a result is written to it.
 *
 * Within a cycle: instructions leave, banks are read, instructions enter. So one
 * with sources and no conflict enters at c + 1 when it was issued at c, is read
 * at c + 2 and leaves at c + 3; without sources it leaves at c + 2.
 */
#include <errno.h>
#include <stdlib.h>

#include "sm/state.h"

int collector_init(struct sm *sm)
{
	const struct gpu_spec *s = sm->spec;
	const uint64_t units[UNITS] = {
		[UNIT_SP] = s->collector_sp, [UNIT_SFU] = s->collector_sfu,
		[UNIT_DP] = s->collector_dp, [UNIT_LDST] = s->collector_mem,
	};
	const uint64_t in[UNITS] = {
		[UNIT_SP] = s->collector_sp_in, [UNIT_SFU] = s->collector_sfu_in,
		[UNIT_DP] = s->collector_dp_in, [UNIT_LDST] = s->collector_mem_in,
	};
	const uint64_t out[UNITS] = {
		[UNIT_SP] = s->collector_sp_out, [UNIT_SFU] = s->collector_sfu_out,
		[UNIT_DP] = s->collector_dp_out, [UNIT_LDST] = s->collector_mem_out,
	};
	struct collectors *oc = &sm->oc;
	unsigned int next = 0;

	oc->banks = (uint8_t)s->register_banks;
	oc->all_banks = oc->banks == 64 ? ~0ull : (1ull << oc->banks) - 1;
	oc->tile = 64 % oc->banks ? 0 : ~0ull / oc->all_banks;
	for (unsigned int w = 0; w < MAX_WARPS; w++)
		oc->shift[w] = (uint8_t)(w % oc->banks);
	oc->times = calloc(MAX_COLLECTORS, sizeof(*oc->times));
	if (!oc->times)
		return -ENOMEM;
	for (unsigned int u = 0; u < UNITS; u++) {
		if (next + units[u] > MAX_COLLECTORS)
			return -EINVAL;
		oc->first[u] = (uint8_t)next;
		oc->in_ports[u] = (uint8_t)in[u];
		oc->out_ports[u] = (uint8_t)out[u];
		for (unsigned int i = 0; i < units[u]; i++) {
			oc->kind[next] = (uint8_t)u;
			oc->of[u] |= 1ull << next++;
		}
		for (unsigned int p = 0; p < MAX_WIDTH; p++)
			oc->last[u][p] = oc->first[u];
	}
	return 0;
}

void collector_fini(struct sm *sm)
{
	free(sm->oc.times);
}

void collector_cancel(struct sm *sm)
{
	struct collectors *oc = &sm->oc;

	oc->used = oc->ready = 0;
	oc->stuck = false;
	oc->written = 0;
	oc->nreading = 0;
}

bool collector_write(struct sm *sm, uint32_t inst)
{
	return collector_take_banks(&sm->oc, &sm->warps, sm_inst(sm, inst));
}

bool collector_write_more(struct collectors *oc, const struct warps *warps,
			  const struct sm_inst *in)
{
	const uint16_t *result = warps->at[in->warp].kernel->banks + in->op->banks;
	uint64_t taken = oc->written;

	result += in->op->nsource;
	for (unsigned int i = 0; i < in->op->nresult; i++) {
		uint64_t bank = banks_of(oc, 1ull << result[i] % oc->banks, in->warp);

		/* Two results in one bank do not hold each other up: GPGPU-Sim would wait for ever. */
		if (taken & bank)
			return false;
		oc->written |= bank;
	}
	return true;
}

/*
 * Instructions leave when their operands are there, in whatever order. A memory
 * instruction does not pass an older one of its warp that touches the same bytes: it is
 * performed behind the collector (GPGPU-Sim performs at issue and need not look).
 */
static uint64_t in_order(const struct sm *sm, uint64_t ready, uint64_t used)
{
	const struct collectors *oc = &sm->oc;
	uint64_t may = ready;

	for (uint64_t r = ready; r; r &= r - 1) {
		unsigned int c = (unsigned int)__builtin_ctzll(r);
		const struct sm_inst *in = sm_inst(sm, oc->at[c].inst);

		for (uint64_t o = used & ~(1ull << c); o; o &= o - 1) {
			const struct sm_inst *other = sm_inst(sm, oc->at[__builtin_ctzll(o)].inst);

			if (other->warp == in->warp &&
			    (int32_t)(other->order - in->order) < 0 &&
			    ldst_conflict(sm, other, in))
				may &= ~(1ull << c);
		}
	}
	return may;
}

/* Each port dispatches the next ready collector behind the one that it dispatched last. */
static void dispatch(struct sm *sm, unsigned int u)
{
	struct collectors *oc = &sm->oc;

	for (unsigned int p = 0; p < oc->out_ports[u]; p++) {
		uint64_t ready = oc->ready & oc->of[u], used, behind;
		unsigned int c;

		if (!ready || queue_full(&sm->oc_ex, u))
			return;
		if (u == UNIT_LDST) {
			used = oc->used & oc->of[u];
			if (used & (used - 1))
				ready = in_order(sm, ready, used);
			if (!ready)
				return;
		}
		behind = ready & ~1ull << oc->last[u][p];
		behind = behind ? behind : ready;
		c = (unsigned int)__builtin_ctzll(behind);
		oc->last[u][p] = (uint8_t)c;
		/* The lowest bit is that of collector c. */
		behind &= -behind;
		oc->used &= ~behind;
		oc->ready &= ~behind;
		queue_push(&sm->oc_ex, u, oc->at[c].inst);
	}
}

static void read_banks(struct collectors *oc)
{
	uint64_t free = ~oc->written;
	unsigned int left = 0;

	for (unsigned int i = 0; i < oc->nreading; i++) {
		unsigned int c = oc->reading[i];
		struct collector *at = &oc->at[c];
		uint64_t served = at->need & free;

		free &= ~served;
		for (uint64_t more = served & at->more; more; more &= more - 1) {
			unsigned int b = (unsigned int)__builtin_ctzll(more);

			served &= ~(1ull << b);
			if (--oc->times[c][b] == 1)
				at->more &= ~(1ull << b);
		}
		at->need &= ~served;
		if (at->need)
			oc->reading[left++] = (uint8_t)c;
		else
			oc->ready |= 1ull << c;
	}
	oc->nreading = (uint8_t)left;
}

/* How often the instruction reads each bank that it reads more than once. */
static void count_times(struct sm *sm, unsigned int c, const struct sm_inst *in)
{
	struct collectors *oc = &sm->oc;
	const uint16_t *source = sm->warps.at[in->warp].kernel->banks + in->op->banks;

	for (uint64_t more = oc->at[c].more; more; more &= more - 1)
		oc->times[c][__builtin_ctzll(more)] = 0;
	for (unsigned int i = 0; i < in->op->nsource; i++)
		oc->times[c][(source[i] + in->warp) % oc->banks]++;
}

static void allocate(struct sm *sm, unsigned int u)
{
	struct collectors *oc = &sm->oc;

	for (unsigned int p = 0; p < oc->in_ports[u] && queue_some(&sm->id_oc, u); p++) {
		uint64_t free = oc->of[u] & ~oc->used, bit = free & -free;
		const struct sm_inst *in;
		struct collector *at;
		unsigned int c;

		if (!free)
			return;
		c = (unsigned int)__builtin_ctzll(free);
		at = &oc->at[c];
		at->inst = queue_pop(&sm->id_oc, u);
		oc->used |= bit;
		in = sm_inst(sm, at->inst);
		if (!in->op->nsource) {
			oc->ready |= bit;
			continue;
		}
		at->need = banks_of(oc, in->op->bank_need, in->warp);
		at->more = in->op->bank_more;
		if (at->more) {
			at->more = banks_of(oc, at->more, in->warp);
			count_times(sm, c, in);
		}
		oc->reading[oc->nreading++] = (uint8_t)c;
	}
}

/* Will something move in the next cycle? Nobody reads. */
static bool can_move(const struct sm *sm)
{
	const struct collectors *oc = &sm->oc;

	for (uint32_t m = sm->id_oc.some; m; m &= m - 1) {
		if (oc->of[__builtin_ctz(m)] & ~oc->used)
			return true;
	}
	for (uint64_t ready = oc->ready; ready; ) {
		unsigned int u = oc->kind[__builtin_ctzll(ready)];

		if (!queue_full(&sm->oc_ex, u))
			return true;
		ready &= ~oc->of[u];
	}
	return false;
}

void collector_cycle(struct sm *sm)
{
	struct collectors *oc = &sm->oc;

	for (uint64_t ready = oc->ready, kind; ready; ready &= ~kind) {
		unsigned int u = oc->kind[__builtin_ctzll(ready)];

		kind = oc->of[u];
		dispatch(sm, u);
	}
	if (oc->nreading)
		read_banks(oc);
	oc->written = 0;
	for (uint32_t m = sm->id_oc.some; m; m &= m - 1)
		allocate(sm, (unsigned int)__builtin_ctz(m));
	oc->stuck = !oc->nreading && !can_move(sm);
}
