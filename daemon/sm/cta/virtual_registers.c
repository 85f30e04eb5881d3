// SPDX-License-Identifier: GPL-2.0
/*
 * Registers in swap: where a warp's sets are there, what is moved when the coordinator spills or
 * fills one, and which operands an instruction has to wait for before it issues.
 *
 * An operand in swap is a line of its own: its reader waits for it, its writer does not. A set
 * for which there is a place is read into it as a whole. Until its last byte is there, those who
 * read a register of it wait, and the place is neither spilled nor freed.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sm/cta/virtual_state.h"

int virtual_registers_create(struct virt *v)
{
	v->registers = calloc((size_t)v->nwarps * SETS, sizeof(*v->registers));
	if (!v->registers)
		return -ENOMEM;
	for (unsigned int i = 0; i < v->nwarps * SETS; i++)
		v->registers[i] = (struct vset){ v, (uint8_t)(i / SETS), (uint8_t)(i % SETS) };
	return 0;
}

void virtual_registers_destroy(struct virt *v)
{
	free(v->registers);
}

/*
 * The same set of all warps is together, and the next set's begin one warp further: no two sets of
 * a warp, nor of two warps, are a power of two apart, which would be one set of the caches.
 */
static uint64_t address(const struct virt *v, unsigned int warp, unsigned int set)
{
	return sm_background(v->sm) + (set * (v->nwarps + 1) + warp) * SET_BYTES;
}

static void forget(void *ctx, struct sm *sm, uint64_t now)
{
}

/* False: there is no memory for the job, and the bytes take no time. */
static bool move(struct virt *v, unsigned int warp, unsigned int set, uint8_t kind,
		 unsigned int first, unsigned int registers,
		 void (*done)(void *ctx, struct sm *sm, uint64_t now))
{
	const struct background_job job = {
		.way = BACKGROUND_L1, .kind = kind, .from = v->now + 1,
		.addr = address(v, warp, set) + first * LINE, .bytes = registers * LINE,
		.done = done, .ctx = &v->registers[warp * SETS + set],
	};

	return !sm_move(v->sm, &job);
}

/* Each of these registers. Returns how many of them take time. */
static unsigned int move_each(struct virt *v, unsigned int warp, unsigned int set, uint8_t kind,
			      unsigned int registers,
			      void (*done)(void *ctx, struct sm *sm, uint64_t now))
{
	unsigned int n = 0;

	for (; registers; registers &= registers - 1)
		n += move(v, warp, set, kind, (unsigned int)__builtin_ctz(registers), 1, done);
	return n;
}

/* Something that the head waits for has come. */
static void came(struct vwarp *w)
{
	if (!w->reads && !w->awaited)
		sm_resource_granted(w->v->sm, w->number);
}

static void operand_came(void *ctx, struct sm *sm, uint64_t now)
{
	const struct vset *s = ctx;
	struct vwarp *w = &s->v->warps[s->owner];

	if (w->stale_reads) {
		w->stale_reads--;
	} else if (w->reads) {
		w->reads--;
		came(w);
	}
}

static void set_came(void *ctx, struct sm *sm, uint64_t now)
{
	const struct vset *s = ctx;
	struct virt *v = s->v;
	struct vwarp *w = &v->warps[s->owner];
	uint64_t bit = 1ull << s->number;

	w->coming &= ~bit;
	coord_done(v->c, s->owner, bit);
	/* The set may be dead by now, and its place free. */
	if (coord_pending(v->c))
		sm_timer(sm, 0);
	if (w->awaited & bit) {
		w->awaited &= ~bit;
		came(w);
	}
}

static void fill(struct vwarp *w, unsigned int set)
{
	if (!move(w->v, w->number, set, MEM_READ, 0, PTX_SET_REGS, set_came))
		return;
	w->coming |= 1ull << set;
	coord_use(w->v->c, w->number, 1ull << set);
}

bool virtual_look_up(struct vwarp *w)
{
	struct virt *v = w->v;
	struct virtual_counters more = { 0 };
	uint64_t read, write, swapped;

	sm_kernel_sets(w->kernel, w->pc, &read, &write);
	more.swapped = (unsigned int)__builtin_popcountll(read & w->coming);
	v->filling = 0;
	swapped = coord_access(v->c, w->number, read | write);
	virtual_count_for(v, w->kernel);
	w->head = read | write;
	coord_use(v->c, w->number, w->head);
	for (uint64_t s = swapped; s; s &= s - 1) {
		unsigned int set = (unsigned int)__builtin_ctzll(s), in, out;

		if (v->filling >> set & 1) {
			fill(w, set);
			continue;
		}
		sm_kernel_set_registers(w->kernel, w->pc, set, &in, &out);
		move_each(v, w->number, set, MEM_WRITE, out, forget);
		w->reads += move_each(v, w->number, set, MEM_READ, in, operand_came);
	}
	w->awaited = read & w->coming;
	if (!w->reads && !w->awaited)
		return true;
	sm_count_virtual(v->sm, w->kernel, &more);
	sm_operands_away(v->sm, w->number);
	return false;
}

void virtual_look_up_again(struct vwarp *w, bool let_through)
{
	if (let_through || w->reads || w->awaited)
		coord_done(w->v->c, w->number, w->head);
	w->head = 0;
	w->stale_reads += w->reads;
	w->reads = 0;
	w->awaited = 0;
}

unsigned int virtual_coming(const struct virt *v)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < v->nwarps; i++)
		n += (unsigned int)__builtin_popcountll(v->warps[i].coming);
	return n;
}

void virtual_spill_registers(void *ctx, unsigned int warp, unsigned int set)
{
	struct virt *v = ctx;

	assert(!(v->warps[warp].coming >> set & 1));
	move(v, warp, set, MEM_WRITE, 0, PTX_SET_REGS, forget);
}

void virtual_fill_registers(void *ctx, unsigned int warp, unsigned int set)
{
	((struct virt *)ctx)->filling |= 1ull << set;
}
