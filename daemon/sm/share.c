// SPDX-License-Identifier: GPL-2.0
/*
 * What each kernel does on an SM. As long as an SM holds CTAs of one kernel alone, all that it
 * counts is that kernel's, and is handed over when another one comes or it goes: counting
 * costs nothing then. While it holds several, every event is counted a second time for the
 * kernel whose it is (sm_count()). What happens on an empty SM is nobody's.
 *
 * A scheduler's cycle is one kernel's: the one that issued; if none did, it goes in equal
 * parts, by turns, to those whose own reason is the scheduler's. A kernel's own reason is that
 * of a scheduler with its warps alone; these are counted as well (sm_kernel_stats.own_stalls).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sm/state.h"

#define WORDS	(sizeof(struct sm_counters) / sizeof(uint64_t))

int share_init(struct sm *sm)
{
	sm->share.owner = NOBODY;
	sm->share.by = calloc(NOBODY + 1, sizeof(*sm->share.by));
	sm->share.by_before = calloc(NOBODY, sizeof(*sm->share.by_before));
	return sm->share.by && sm->share.by_before ? 0 : -ENOMEM;
}

void share_fini(struct sm *sm)
{
	free(sm->share.by);
	free(sm->share.by_before);
}

/* Hands over what was counted since it was done last. */
static void hand_over(struct sm *sm)
{
	struct sm_kernel_stats *to = &sm->share.by[sm->share.owner];
	uint64_t now[WORDS], before[WORDS], sum[WORDS];

	memcpy(now, &sm->account.stats, sizeof(now));
	memcpy(before, &sm->share.handed_over, sizeof(before));
	memcpy(sum, &to->counters, sizeof(sum));
	for (size_t i = 0; i < WORDS && !sm->share.mixed; i++)
		sum[i] += now[i] - before[i];
	for (unsigned int i = 0; i < STALLS && !sm->share.mixed; i++)
		to->own_stalls[i] += sm->account.stats.stalls[i] - sm->share.handed_over.stalls[i];
	memcpy(&to->counters, sum, sizeof(sum));
	sm->share.handed_over = sm->account.stats;
}

/* The kernels that have CTAs here may be others now. */
static void look_again(struct sm *sm)
{
	unsigned int n = 0, last = NOBODY;

	for (unsigned int k = 0; k < SM_KERNELS; k++) {
		if (sm->share.ctas_of[k]) {
			n++;
			last = k;
		}
	}
	sm->share.mixed = n > 1;
	sm->share.owner = (uint8_t)last;
}

void share_launched(struct sm *sm, const struct sm_cta *cta)
{
	unsigned int k = cta->kernel->slot;

	if (!sm->share.ctas_of[k])
		hand_over(sm);
	sm->share.ctas_of[k]++;
	sm->share.kernel_of[k] = cta->kernel;
	sm->share.warps_of[k] |= cta->warps;
	if (sm->share.ctas_of[k] == 1)
		look_again(sm);
}

void share_retired(struct sm *sm, const struct sm_cta *cta)
{
	unsigned int k = cta->kernel->slot;

	if (sm->share.ctas_of[k] == 1)
		hand_over(sm);
	sm->share.ctas_of[k]--;
	sm->share.warps_of[k] &= ~cta->warps;
	if (!sm->share.ctas_of[k])
		look_again(sm);
}

void share_cancel(struct sm *sm)
{
	hand_over(sm);
	memset(sm->share.ctas_of, 0, sizeof(sm->share.ctas_of));
	memset(sm->share.warps_of, 0, sizeof(sm->share.warps_of));
	look_again(sm);
}

/* --- while there are several ----------------------------------------------------------- */

/* Gives a kernel its part of `all`, by what it specifies of what is left. */
static uint64_t part(uint64_t specified, uint64_t *left, uint64_t *all)
{
	uint64_t n = *left ? *all * specified / *left : 0;

	*left -= specified;
	*all -= n;
	return n;
}

/*
 * Registers and shared memory that are held. They are what CTAs specify, or what a mechanism that
 * manages them by warp holds for them; then kernels have it by what their CTAs specify.
 */
static void share_held(struct sm *sm, uint64_t cycles)
{
	uint64_t registers = 0, shared = 0;
	uint64_t held = sm->ctas.registers, held_shared = sm->ctas.shared;

	for (unsigned int k = 0; k < SM_KERNELS; k++) {
		if (!sm->share.ctas_of[k])
			continue;
		registers += sm->share.ctas_of[k] * sm->share.kernel_of[k]->registers;
		shared += sm->share.ctas_of[k] * sm->share.kernel_of[k]->shared_taken;
	}
	for (unsigned int k = 0; k < SM_KERNELS; k++) {
		struct sm_counters *c = &sm->share.by[k].counters;
		uint64_t n = sm->share.ctas_of[k];

		if (!n)
			continue;
		c->registers += cycles * part(n * sm->share.kernel_of[k]->registers, &registers,
					      &held);
		c->shared_bytes += cycles * part(n * sm->share.kernel_of[k]->shared_taken, &shared,
						 &held_shared);
	}
}

void share_resident(struct sm *sm, uint64_t cycles)
{
	for (unsigned int k = 0; k < SM_KERNELS; k++) {
		struct sm_counters *c = &sm->share.by[k].counters;
		uint64_t ctas = cycles * sm->share.ctas_of[k];

		if (!ctas)
			continue;
		c->cycles += cycles;
		c->ctas += ctas;
		c->warps += cycles * set_count(sm->warps.resident & sm->share.warps_of[k]);
	}
	share_held(sm, cycles);
}

void share_schedulable(struct sm *sm, uint64_t cycles)
{
	for (unsigned int k = 0; k < SM_KERNELS; k++)
		if (sm->share.ctas_of[k])
			sm->share.by[k].counters.schedulable_warps +=
				cycles * set_count(sm->account.counted & sm->share.warps_of[k]);
}

/* Divides cycles of a scheduler that issued nothing among the kernels in the mask. */
static void divide(struct sm *sm, uint32_t claim, enum stall reason, uint64_t cycles)
{
	unsigned int n = (unsigned int)__builtin_popcount(claim), first = sm->share.turn;
	uint64_t each = cycles / n, rest = cycles % n;

	for (unsigned int i = 0; i < SM_KERNELS; i++) {
		unsigned int k = (first + i) % SM_KERNELS;

		if (!(claim >> k & 1))
			continue;
		sm->share.by[k].counters.stalls[reason] += each + (rest != 0);
		if (rest && !--rest)
			sm->share.turn = (uint8_t)((k + 1) % SM_KERNELS);
	}
}

void share_cycles(struct sm *sm, unsigned int scheduler, enum stall reason, unsigned int issued,
		  uint64_t cycles)
{
	uint32_t claim = 0;

	for (unsigned int k = 0; k < SM_KERNELS; k++) {
		enum stall own = STALL_ISSUED;

		if (!sm->share.ctas_of[k])
			continue;
		if (k != issued)
			own = heads_stall(&sm->heads, heads_waiting(&sm->heads),
					  sm->issue.sched[scheduler].mine & sm->share.warps_of[k]);
		claim |= (uint32_t)(own == reason) << k;
		sm->share.by[k].own_stalls[own] += cycles;
	}
	if (!claim || reason == STALL_NO_WARP)
		sm->share.by[NOBODY].counters.stalls[reason] += cycles;
	else
		divide(sm, claim, reason, cycles);
}

/* --- seen from outside ------------------------------------------------------------------ */

const struct sm_share *sm_share(const struct sm *sm, const struct sm_kernel *k)
{
	return &sm->share.begun[k->slot];
}

void share_begin(struct sm *sm, const struct sm_kernel *k)
{
	hand_over(sm);
	sm->share.by_before[k->slot] = sm->share.by[k->slot];
}

void sm_kernel_stats(struct sm *sm, const struct sm_kernel *k, struct sm_kernel_stats *stats)
{
	const struct sm_kernel_stats *before = &sm->share.by_before[k->slot];
	const struct sm_kernel_stats *now = &sm->share.by[k->slot];
	uint64_t words[2][sizeof(*stats) / sizeof(uint64_t)];

	hand_over(sm);
	memcpy(words[0], now, sizeof(*now));
	memcpy(words[1], before, sizeof(*before));
	for (size_t i = 0; i < ARRAY_SIZE(words[0]); i++)
		words[0][i] -= words[1][i];
	memcpy(stats, words[0], sizeof(*stats));
}

bool sm_shares_add_up(struct sm *sm)
{
	struct sm_counters sum = { 0 };

	hand_over(sm);
	for (unsigned int k = 0; k <= NOBODY; k++)
		stats_add(&sum, &sm->share.by[k].counters, sizeof(sum));
	/* Kernels side by side have the same cycles. */
	sum.cycles = sm->account.stats.cycles;
	return !memcmp(&sum, &sm->account.stats, sizeof(sum));
}
