// SPDX-License-Identifier: GPL-2.0
/*
 * One SM as a whole: its memory, its cycle, its sleep. The order within a cycle
 * is back to front, so that what a stage frees is there for the stage before:
 * responses and writebacks, issue, load/store unit. Called by the GPU's loop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sm/internal.h"

int sm_create(unsigned int id, const struct sm_env *env, struct sm **out)
{
	const struct gpu_spec *spec = env->spec;
	struct sm *sm = aligned_alloc(64, DIV_ROUND_UP(sizeof(*sm), 64) * 64);

	if (!sm)
		return -ENOMEM;
	memset(sm, 0, sizeof(*sm));
	sm->id = id;
	sm->env = *env;
	sm->spec = spec;
	sm->ideal = !spec->paging;
	wheel_init(&sm->wheel);
	sm->policy = sched_find(spec->scheduler);
	sm->warps = calloc(spec->warps, sizeof(*sm->warps));
	sm->ctas = calloc(spec->ctas, sizeof(*sm->ctas));
	if (!sm->policy || !sm->warps || !sm->ctas || ldst_init(&sm->ldst, spec)) {
		int ret = sm->policy ? -ENOMEM : -EINVAL;

		sm_destroy(sm);
		return ret;
	}
	for (unsigned int w = 0; w < spec->warps; w++)
		sm->mine[w % spec->schedulers] |= warp_bit(w);
	for (unsigned int s = 0; s < spec->schedulers; s++)
		sm->sched[s].age = sm->age;
	*env->wake = NEVER;
	*out = sm;
	return 0;
}

void sm_destroy(struct sm *sm)
{
	if (!sm)
		return;
	ldst_fini(&sm->ldst);
	wheel_fini(&sm->wheel);
	free(sm->warps);
	free(sm->ctas);
	free(sm->pending);
	free(sm->pending_long);
	free(sm->arena);
	free(sm->shared);
	free(sm->local);
	free(sm);
}

/* Memory of the last kernel is used again when it is enough. */
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

static int ensure_rows(struct sm *sm, size_t need)
{
	if (need <= sm->row_size)
		return 0;
	free(sm->pending);
	free(sm->pending_long);
	sm->row_size = 0;
	sm->pending = calloc(need, sizeof(uint64_t));
	sm->pending_long = calloc(need, sizeof(uint64_t));
	if (!sm->pending || !sm->pending_long)
		return -ENOMEM;
	sm->row_size = need;
	return 0;
}

int sm_begin(struct sm *sm, const struct sm_kernel *k, uint64_t now)
{
	size_t warps = (size_t)k->ctas * k->warps_per_cta;

	if (ensure(&sm->arena, &sm->arena_size, warps * k->arena_bytes) ||
	    ensure(&sm->shared, &sm->shared_size, MAX((size_t)k->ctas * k->shared_bytes, 1u)) ||
	    ensure(&sm->local, &sm->local_size, (size_t)k->ctas * k->local_bytes) ||
	    ensure_rows(sm, warps * k->words))
		return -ENOMEM;
	sm->kernel = k;
	sm->accounted = now;
	sm->stats = (struct sm_stats){ 0 };
	sm->error = 0;
	sm->fault_addr = 0;
	sm->next_age = 0;
	for (unsigned int s = 0; s < sm->spec->schedulers; s++) {
		sm->sched[s].last = 0;
		sm->sched[s].any = false;
	}
	*sm->env.wake = NEVER;
	return 0;
}

void sm_cancel(struct sm *sm)
{
	ldst_cancel(&sm->ldst);
	wheel_clear(&sm->wheel);
	sm->running = 0;
	sm->wait_operand = 0;
	sm->wait_long = 0;
	sm->wait_order = 0;
	sm->wait_barrier = 0;
	sm->wait_fault = 0;
	sm->untranslated = 0;
	memset(sm->wants, 0, sizeof(sm->wants));
	for (unsigned int c = 0; c < sm->spec->ctas; c++)
		sm->ctas[c].used = false;
	sm->resident = 0;
	sm->error = 0;
	*sm->env.wake = NEVER;
}

void sm_fail(struct sm *sm, int error)
{
	if (!sm->error)
		sm->error = error;
}

/* First cycle after now in which something can happen without anyone else's doing. */
static uint64_t next_wake(const struct sm *sm, uint64_t now)
{
	uint64_t ready = sm_ready(sm);
	uint64_t next = MIN(ldst_next(sm, now), wheel_next(&sm->wheel, now));

	if (ready & sm->wants[UNIT_SP])
		next = MIN(next, MAX(now + 1, MIN(sm->sp_free[0], sm->sp_free[1])));
	if (ready & sm->wants[UNIT_SFU])
		next = MIN(next, MAX(now + 1, sm->sfu_free[0]));
	/* A full queue moves by itself, and ldst_next() knows when. */
	if ((ready & sm->wants[UNIT_MEM]) && ldst_accepts(sm))
		next = now + 1;
	return next;
}

int sm_step(struct sm *sm, uint64_t now, uint64_t *fault_addr)
{
	const void *op;
	uint32_t w;

	sm_account(sm, now);
	ldst_receive(sm, now);
	while (wheel_take(&sm->wheel, now, &w, &op))
		warp_writeback(sm, w, op);
	sm_issue(sm, now);
	ldst_step(sm, now);
	*sm->env.wake = next_wake(sm, now);
	if (sm->error == -EFAULT)
		*fault_addr = sm->fault_addr;
	return sm->error;
}

const struct sm_stats *sm_stats(const struct sm *sm)
{
	return &sm->stats;
}
