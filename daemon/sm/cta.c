// SPDX-License-Identifier: GPL-2.0
/*
 * CTAs on an SM: their slots, warps and memory, from launch to retirement. A
 * CTA retires when its last warp has exited and nothing of it is in flight,
 * stores included.
 */
#include <string.h>

#include "sm/internal.h"

bool sm_has_room(const struct sm *sm)
{
	return sm->resident < sm->kernel->ctas;
}

unsigned int sm_resident_ctas(const struct sm *sm)
{
	return sm->resident;
}

void sm_launch_cta(struct sm *sm, const uint32_t ctaid[3], uint64_t now)
{
	const struct sm_kernel *k = sm->kernel;
	unsigned int slot = 0, first;
	struct sm_cta *cta;

	while (sm->ctas[slot].used)
		slot++;
	cta = &sm->ctas[slot];
	first = slot * k->warps_per_cta;
	sm_account(sm, now + 1);

	*cta = (struct sm_cta){ .used = true, .unretired = k->warps_per_cta };
	cta->ex.launch = k->launch;
	memcpy(cta->ex.ctaid, ctaid, sizeof(cta->ex.ctaid));
	cta->ex.shared = sm->shared + (size_t)slot * k->shared_bytes;
	cta->ex.shared_bytes = k->shared_bytes;
	/* Nothing of the CTA before is left in its successor's memory. */
	memset(cta->ex.shared, 0, k->shared_bytes);
	if (k->local_bytes) {
		cta->ex.local = sm->local + (size_t)slot * k->local_bytes;
		memset(cta->ex.local, 0, k->local_bytes);
	}
	for (unsigned int i = 0; i < k->warps_per_cta; i++) {
		unsigned int w = first + i;
		struct sm_warp *warp = &sm->warps[w];

		warp->inflight = 0;
		warp->cta = (uint8_t)slot;
		warp->faulted = 0;
		warp->untranslated = 0;
		exec_warp_init(&warp->ex, &cta->ex, i,
			       sm->arena + (size_t)w * k->arena_bytes);
		warp->ex.smid = sm->id;
		warp->ex.nsmid = (uint32_t)sm->spec->sms;
		warp->ex.slot = w;
		sm->age[w] = sm->next_age++;
		memset(sm->pending + (size_t)w * k->words, 0, k->words * sizeof(uint64_t));
		memset(sm->pending_long + (size_t)w * k->words, 0, k->words * sizeof(uint64_t));
		cta->warps |= warp_bit(w);
		sm->running |= warp_bit(w);
		warp_decode(sm, w);
	}
	cta->running = cta->warps;
	sm->resident++;
	*sm->env.wake = MIN(*sm->env.wake, now + 1);
}

void cta_warp_finished(struct sm *sm, unsigned int w)
{
	struct sm_cta *cta = &sm->ctas[sm->warps[w].cta];

	if (--cta->unretired)
		return;
	cta->used = false;
	sm->resident--;
	sm->stats.retired_ctas++;
}

void cta_warp_exited(struct sm *sm, unsigned int w)
{
	struct sm_cta *cta = &sm->ctas[sm->warps[w].cta];
	uint64_t bit = warp_bit(w);

	sm->running &= ~bit;
	sm->wait_operand &= ~bit;
	sm->wait_long &= ~bit;
	sm->wait_order &= ~bit;
	for (unsigned int u = 0; u < UNITS; u++)
		sm->wants[u] &= ~bit;
	cta->running &= ~bit;
	barrier_exited(sm, cta);
	if (!sm->warps[w].inflight)
		cta_warp_finished(sm, w);
}
