// SPDX-License-Identifier: GPL-2.0
/*
 * CTAs on an SM: their numbers, warps and memory, from launch to retirement. A warp
 * is given back when it has exited, nothing of it is under way, its stores are
 * acknowledged, and fetch has come by it; a CTA retires with its last warp. CTAs of
 * several kernels may be on an SM at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sm/scoreboard.h"

/* Would a CTA of the kernel fit, if it did not matter where? */
static bool sums_fit(const struct sm *sm, const struct sm_kernel *k)
{
	const struct gpu_spec *s = sm->spec;

	return sm->ctas.resident < sm->ctas.n &&
	       set_count(sm->warps.resident) + k->warps_per_cta <= sm->warps.n &&
	       sm->ctas.registers + k->registers <= s->registers &&
	       sm->ctas.shared + k->shared_taken <= s->shared_bytes;
}

void sm_sizes(const struct sm *sm, unsigned int *warps, unsigned int *ctas)
{
	*warps = sm->warps.n;
	*ctas = sm->ctas.n;
}

bool sm_fits_numbers(const struct sm *sm, const struct sm_kernel *k)
{
	return sm->ctas.resident < sm->ctas.n &&
	       set_count(sm->warps.resident) + k->warps_per_cta <= sm->warps.n;
}

static bool place_fits(const struct sm *sm, const struct sm_kernel *k)
{
	struct sm_needs needs = sm_kernel_needs(k);

	return placement_fits(sm->ctas.placement, &needs, k->slot);
}

bool sm_fits(const struct sm *sm, const struct sm_kernel *k)
{
	return sums_fit(sm, k) && place_fits(sm, k);
}

void sm_refused(struct sm *sm, const struct sm_kernel *k, uint64_t cycle)
{
	if (!sums_fit(sm, k) || (!sm->mech.ops->has_room && !sm_fits_slots(sm, k)) ||
	    place_fits(sm, k))
		return;
	sm_integrate(sm, cycle + 1);
	placement_refused(sm->ctas.placement, k->slot);
}

void sm_set_part(struct sm *sm, const struct sm_kernel *k, const struct sm_part *part)
{
	sm->ctas.placement->parts[k->slot] = *part;
}

const struct fragmentation_counters *sm_fragmentation(const struct sm *sm)
{
	return &sm->ctas.placement->stats;
}

bool sm_has_room(const struct sm *sm, const struct sm_kernel *k)
{
	const struct mechanism *m = &sm->mech;

	if (m->ops->has_room)
		return m->ops->has_room(m->state, sm, k);
	return sm_fits_slots(sm, k) && sm_fits(sm, k);
}

unsigned int sm_resident_ctas(const struct sm *sm, const struct sm_kernel *k)
{
	unsigned int n = 0;

	if (!k)
		return sm->ctas.resident;
	for (unsigned int c = 0; c < sm->ctas.n; c++)
		n += sm->ctas.at[c].state && sm->ctas.at[c].kernel == k;
	return n;
}

/* The memory of an earlier CTA is used again if it is enough. */
static int ensure(uint8_t **mem, size_t *size, size_t need)
{
	if (need <= *size)
		return 0;
	free(*mem);
	*size = 0;
	*mem = aligned_alloc(64, DIV_ROUND_UP(need, 64) * 64);
	if (!*mem)
		return -ENOMEM;
	*size = need;
	return 0;
}

static int ensure_rows(struct sm_warp *warp, size_t words)
{
	/* Most kernels have so few registers that the rows are in the warp itself. */
	if (words > 1 && words > warp->row_words) {
		free(warp->row_memory);
		warp->row_words = 0;
		warp->row_memory = malloc(2 * words * sizeof(uint64_t));
		if (!warp->row_memory)
			return -ENOMEM;
		warp->row_words = words;
	}
	warp->rows = words > 1 ? warp->row_memory : warp->row_word;
	warp->rows_long = warp->rows + words;
	memset(warp->rows, 0, 2 * words * sizeof(uint64_t));
	return 0;
}

/*
 * A place in the kernel's local memory that no CTA of it on this SM has: the lowest. A kernel that
 * is alone on the SM has its CTAs in the order of their slots, so there it is the slot.
 */
static unsigned int local_place(const struct sm *sm, const struct sm_kernel *k)
{
	unsigned int place = 0, c = 0;

	if (!k->local_bytes)
		return 0;
	while (c < sm->ctas.n) {
		const struct sm_cta *cta = &sm->ctas.at[c++];

		if (cta->state && cta->kernel == k && cta->local_place == place) {
			place++;
			c = 0;
		}
	}
	return place;
}

static void take_place(struct sm *sm, unsigned int c, const struct sm_needs *needs)
{
	const struct sm_kernel *k = sm->ctas.at[c].kernel;

	placement_take(sm->ctas.placement, c, needs, k->slot,
		       sm->ctas.resident == sm->share.ctas_of[k->slot]);
	sm->ctas.registers += k->registers;
	sm->ctas.shared += k->shared_taken;
}

static void give_place(struct sm *sm, unsigned int c)
{
	const struct sm_kernel *k = sm->ctas.at[c].kernel;
	struct sm_needs needs = sm_kernel_needs(k);

	placement_give(sm->ctas.placement, c, &needs);
	sm->ctas.registers -= k->registers;
	sm->ctas.shared -= k->shared_taken;
}

int sm_evict(struct sm *sm, unsigned int c, uint64_t now)
{
	struct sm_cta *cta = &sm->ctas.at[c];

	if (c >= sm->ctas.n || cta->state != SM_CTA_PARKED || cta->outside ||
	    !set_any(cta->running))
		return -EINVAL;
	sm_integrate(sm, now + 1);
	give_place(sm, c);
	cta->outside = true;
	sm_room_grown(sm);
	return 0;
}

int sm_admit(struct sm *sm, unsigned int c, uint64_t now)
{
	const struct gpu_spec *s = sm->spec;
	struct sm_cta *cta = &sm->ctas.at[c];
	const struct sm_kernel *k = cta->kernel;
	struct sm_needs needs;

	if (c >= sm->ctas.n || cta->state != SM_CTA_PARKED || !cta->outside)
		return -EINVAL;
	if (sm->ctas.registers + k->registers > s->registers ||
	    sm->ctas.shared + k->shared_taken > s->shared_bytes || !place_fits(sm, k))
		return -EAGAIN;
	sm_integrate(sm, now + 1);
	needs = sm_kernel_needs(k);
	take_place(sm, c, &needs);
	cta->outside = false;
	return 0;
}

static void warp_launch(struct sm *sm, struct sm_cta *cta, unsigned int slot, unsigned int w,
			unsigned int index)
{
	struct sm_warp *warp = &sm->warps.at[w];
	warpset bit = set_of(w);

	warp->kernel = cta->kernel;
	warp->op = NULL;
	warp->ib_count = 0;
	warp->ib_pc = warp->next_pc = 0;
	warp->cta = (uint8_t)slot;
	warp->granted = false;
	warp->cold = 0;
	warp->inflight = warp->away = warp->pending = warp->stores = warp->atomics = 0;
	/* cta_begin() does the rest. */
	warp->ex.index = index;
	warp->ex.pc = 0;
	sm->issue.older[w] = sm->warps.resident;
	sm->warps.resident |= bit;
	sm->warps.fresh |= bit;
	sm->heads.live |= bit;
	sm->fetch.empty |= bit;
}

/* Clears the memory, so that a CTA finds nothing of the one that had it before. */
static void clear_memory(struct sm_cta *cta)
{
	memset(cta->shared, 0, cta->kernel->shared_bytes);
	if (cta->kernel->local_bytes)
		memset(cta->local, 0, cta->kernel->local_bytes);
}

void cta_begin(struct sm *sm)
{
	unsigned int w;

	for_each_warp(w, sm->warps.fresh & sm->warps.resident) {
		struct sm_warp *warp = &sm->warps.at[w];
		struct sm_cta *cta = &sm->ctas.at[warp->cta];

		if (!warp->ex.index)
			clear_memory(cta);
		exec_warp_init(&warp->ex, &cta->ex, warp->ex.index, warp->arena);
		warp->ex.smid = sm->id;
		warp->ex.nsmid = (uint32_t)sm->spec->sms;
		warp->ex.nslots = (uint32_t)sm->spec->warps;
		warp->ex.slot = w;
	}
	sm->warps.fresh = NO_WARPS;
}

int sm_launch_cta(struct sm *sm, const struct sm_kernel *k, const uint32_t ctaid[3], uint64_t now)
{
	unsigned int slot = 0, index = 0, w;
	struct sm_needs needs = sm_kernel_needs(k);
	const struct mechanism *m = &sm->mech;
	struct sm_cta *cta;
	warpset warps;

	while (slot < sm->ctas.n && sm->ctas.at[slot].state)
		slot++;
	if (slot == sm->ctas.n)
		return err_set(sm->env.err, -ENOMEM, "SM %u has no number free for a CTA", sm->id);
	cta = &sm->ctas.at[slot];
	warps = residency_choose(sm->warps.resident, sm->warps.n, k->warps_per_cta);
	if (set_count(warps) < k->warps_per_cta)
		return err_set(sm->env.err, -EAGAIN, "SM %u has no numbers free for %u warps",
			       sm->id, k->warps_per_cta);
	if (ensure(&cta->shared, &cta->shared_size, MAX(k->shared_bytes, 1u)) ||
	    ensure(&cta->local, &cta->local_size, k->local_bytes))
		return err_set(sm->env.err, -ENOMEM, "out of memory");
	for_each_warp(w, warps) {
		struct sm_warp *warp = &sm->warps.at[w];

		if (ensure(&warp->arena, &warp->arena_size, k->arena_bytes) ||
		    ensure_rows(warp, k->words))
			return err_set(sm->env.err, -ENOMEM, "out of memory");
	}
	cta->local_place = local_place(sm, k);
	sm_settle(sm, now + 1);
	sm_integrate(sm, now + 1);
	/* The second scheduler has its turn in the cycle after an idle SM's first CTA (GPGPU-Sim). */
	if (!sm->ctas.resident)
		sm->issue.turn_base = now;

	cta->begin = now;
	cta->halted = false;
	cta->sm = sm;
	cta->kernel = k;
	cta->warps = cta->running = cta->unretired = warps;
	memset(cta->barriers, 0, sizeof(cta->barriers));
	cta->launch = *k->launch;
	if (cta->launch.print) {
		cta->launch.print = sm_print_text;
		if (cta->launch.print_string)
			cta->launch.print_string = sm_print_string;
		cta->launch.print_ctx = cta;
	}
	cta->ex = (struct exec_cta){ .launch = &cta->launch, .shared = cta->shared,
				     .shared_bytes = k->shared_bytes };
	memcpy(cta->ex.ctaid, ctaid, sizeof(cta->ex.ctaid));
	if (k->local_bytes)
		cta->ex.local = cta->local;
	/* Warps that had these numbers before were older. No code reads bits of absent warps. */
	for_each_warp(w, sm->warps.resident)
		sm->issue.older[w] &= ~warps;
	for_each_warp(w, warps)
		warp_launch(sm, cta, slot, w, index++);
	cta->outside = m->ops->outside && m->ops->outside(m->state, sm, k);
	if (!cta->outside && !m->ops->by_warp)
		take_place(sm, slot, &needs);
	sm->ctas.resident++;
	share_launched(sm, cta);
	sm->last = MAX(sm->last, now);
	*sm->env.wake = MIN(*sm->env.wake, now + 1);
	sm->mech.look |= sm->mech.attend;
	residency_launched(sm, slot, now);
	mechanism_admitted(sm, slot, now);
	return 0;
}

void cta_warp_exited(struct sm *sm, unsigned int w)
{
	struct sm_cta *cta = &sm->ctas.at[sm->warps.at[w].cta];

	set_drop(&sm->heads.live, w);
	if (sm->mech.attend)
		mechanism_note(sm, &sm->mech.exited, w);
	warp_flush(sm, w, 0);
	set_drop(&sm->fetch.empty, w);
	warp_check(sm, w);
	set_drop(&cta->running, w);
	barrier_exited(sm, cta);
	warp_check_finished(sm, w);
}

void cta_tell(const struct sm *sm, unsigned int c, cta_watcher *watcher, warpset slots,
	      uint64_t begin, uint64_t end)
{
	const struct sm_cta *cta = &sm->ctas.at[c];
	struct sm_needs needs = sm_kernel_needs(cta->kernel);
	struct sm_cta_span span = {
		.begin = begin, .end = end, .grid_id = cta->launch.grid_id, .cta = c,
		.ctaid = { cta->ex.ctaid[0], cta->ex.ctaid[1], cta->ex.ctaid[2] },
		.part = placement_part(sm->ctas.placement, c, &needs),
	};

	memcpy(span.slots, &slots, MIN(sizeof(span.slots), sizeof(slots)));
	watcher(sm->env.watcher, sm->id, &span);
}

static void cta_retire(struct sm *sm, unsigned int slot, uint64_t now)
{
	struct sm_cta *cta = &sm->ctas.at[slot];
	const struct sm_kernel *k = cta->kernel;

	if (sm->env.retired)
		cta_tell(sm, slot, sm->env.retired, cta->slots, cta->begin, now);
	sm_integrate(sm, now + 1);
	sm_count(sm, k->slot, retired_ctas, 1);
	share_retired(sm, cta);
	if (!sm->mech.ops->by_warp)
		give_place(sm, slot);
	sm->warps.resident &= ~cta->warps;
	residency_retired(sm, slot);
	sm->ctas.resident--;
	sm->share.begun[k->slot].retired_ctas++;
	if (sm->mech.attend)
		mechanism_note(sm, &sm->mech.ended, slot);
}

void cta_warp_retire(struct sm *sm, unsigned int w, uint64_t now)
{
	unsigned int slot = sm->warps.at[w].cta;
	struct sm_cta *cta = &sm->ctas.at[slot];

	set_drop(&sm->fetch.finished, w);
	set_drop(&cta->unretired, w);
	if (sm->mech.ops->by_warp)
		residency_warp_retired(sm, w);
	if (sm->mech.attend)
		mechanism_note(sm, &sm->mech.retired, w);
	if (!set_any(cta->unretired))
		cta_retire(sm, slot, now);
}

void cta_cancel(struct sm *sm)
{
	for (unsigned int c = 0; c < sm->ctas.n; c++)
		sm->ctas.at[c].state = SM_CTA_NONE;
	for (unsigned int w = 0; w < sm->warps.n; w++) {
		sm->warps.at[w].pending = sm->warps.at[w].inflight = sm->warps.at[w].away = 0;
		sm->warps.at[w].atomics = 0;
	}
	share_cancel(sm);
	placement_clear(sm->ctas.placement);
	sm->ctas.resident = sm->ctas.registers = sm->ctas.shared = 0;
}

void cta_fini(struct sm *sm)
{
	for (unsigned int c = 0; sm->ctas.at && c < sm->ctas.n; c++) {
		free(sm->ctas.at[c].shared);
		free(sm->ctas.at[c].local);
	}
	for (unsigned int w = 0; sm->warps.at && w < sm->warps.n; w++) {
		free(sm->warps.at[w].arena);
		free(sm->warps.at[w].row_memory);
	}
	free(sm->ctas.at);
	free(sm->warps.at);
}
