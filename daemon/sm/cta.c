// SPDX-License-Identifier: GPL-2.0
/*
 * CTAs on an SM: their slots, warps, memory and barriers, from launch to
 * retirement. A CTA retires when its last warp has exited and nothing of it is
 * in flight, stores included.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

static void check_barrier(struct sm *sm, struct sm_cta *cta, struct barrier *b)
{
	uint32_t arrived = (uint32_t)__builtin_popcountll(b->arrived);

	if (!b->arrived)
		return;
	if (b->threads ? arrived * WARP_LANES < b->threads :
			 (b->arrived & cta->running) != cta->running)
		return;
	sm->wait_barrier &= ~b->arrived;
	b->arrived = 0;
	b->threads = 0;
}

void cta_arrive(struct sm *sm, unsigned int w, unsigned int barrier,
		uint32_t threads)
{
	struct sm_cta *cta = &sm->ctas[sm->warps[w].cta];

	if (barrier >= BARRIERS) {
		err_set(sm->env.err, -EINVAL, "barrier %u: a CTA has %u (0 to %u)",
			barrier, BARRIERS, BARRIERS - 1);
		sm_fail(sm, -EINVAL);
		return;
	}
	sm->warps[w].barrier = (uint8_t)barrier;
	sm->wait_barrier |= warp_bit(w);
	cta->barriers[barrier].arrived |= warp_bit(w);
	if (threads)
		cta->barriers[barrier].threads = threads;
	check_barrier(sm, cta, &cta->barriers[barrier]);
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
	/* Those who wait for all wait for one fewer. */
	for (unsigned int b = 0; b < BARRIERS; b++)
		check_barrier(sm, cta, &cta->barriers[b]);
	if (!sm->warps[w].inflight)
		cta_warp_finished(sm, w);
}

void sm_describe(const struct sm *sm, char *buf, size_t bytes)
{
	size_t n = 0;

	buf[0] = '\0';
	if (!sm->resident)
		return;
	n += (size_t)snprintf(buf, bytes, "SM %u: %u running warps", sm->id,
			      (unsigned int)__builtin_popcountll(sm->running));
	for (unsigned int c = 0; c < sm->kernel->ctas; c++) {
		const struct sm_cta *cta = &sm->ctas[c];

		for (unsigned int b = 0; cta->used && b < BARRIERS; b++) {
			const struct barrier *bar = &cta->barriers[b];

			if (!bar->arrived || n >= bytes)
				continue;
			n += (size_t)snprintf(buf + n, bytes - n,
				", %u of CTA (%u,%u,%u) wait at barrier %u for %u",
				(unsigned int)__builtin_popcountll(bar->arrived),
				cta->ex.ctaid[0], cta->ex.ctaid[1], cta->ex.ctaid[2], b,
				bar->threads ? DIV_ROUND_UP(bar->threads, WARP_LANES) :
				(uint32_t)__builtin_popcountll(cta->running));
		}
	}
	if (n < bytes && sm->wait_operand)
		n += (size_t)snprintf(buf + n, bytes - n, ", %u wait for operands",
				      (unsigned int)__builtin_popcountll(sm->wait_operand));
	if (n < bytes && sm->wait_fault)
		snprintf(buf + n, bytes - n, ", %u wait for far faults",
			 (unsigned int)__builtin_popcountll(sm->wait_fault));
}
