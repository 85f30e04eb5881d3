// SPDX-License-Identifier: GPL-2.0
/*
 * An SM's side of the coordinator (coordinator/): tells it what happens, and does what it answers.
 * Instructions ask before they issue (virtual_acquire()); a phase's needs, what a barrier
 * lends and what ends wait for the end of the cycle (catch_up()).
 *
 * Swap is memory of the SM's own, behind the program's accesses (sm_move()): sets of registers
 * (virtual_registers.c), then a line a warp for PC and SIMT stack, then scratchpad
 * (virtual_scratchpad.c).
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sm/cta/virtual_state.h"


/* Everything is looked at after each event where tests run; that takes longer than all else. */
#ifdef __SANITIZE_ADDRESS__
#define CHECKED		true
#else
#define CHECKED		false
#endif

/* --- what the coordinator answers -------------------------------------------------------- */

static uint64_t context_address(const struct vwarp *w)
{
	return sm_background(w->v->sm) + SWAP_CONTEXTS + w->number * CONTEXT;
}

static void context_went(void *ctx, struct sm *sm, uint64_t now)
{
}

/* False: there is no memory for the job, and the bytes take no time. */
static bool move_context(struct vwarp *w, uint8_t kind,
			 void (*done)(void *ctx, struct sm *sm, uint64_t now))
{
	const struct background_job job = {
		.way = BACKGROUND_L1, .kind = kind, .from = w->v->now + 1,
		.addr = context_address(w), .bytes = CONTEXT, .done = done, .ctx = w,
	};

	return !sm_move(w->v->sm, &job);
}

static void context_came(void *ctx, struct sm *sm, uint64_t now)
{
	struct vwarp *w = ctx;

	/* It was for a halted warp that had this number. */
	if (w->stale_contexts) {
		w->stale_contexts--;
		return;
	}
	w->returns = false;
	sm_warp_schedule(sm, w->number, w->slot, now);
}

static void on_schedule(void *ctx, unsigned int warp, unsigned int slot, bool restored)
{
	struct virt *v = ctx;
	struct vwarp *w = &v->warps[warp];

	virtual_count_for(v, w->kernel);
	if (w->told) {
		w->phase = w->next_phase;
		w->asked = w->told = false;
		/* The warp stands at the phase's begin and goes on. Without a slot it comes there again. */
		if (w->slotted && !w->exited && virtual_look_up(w))
			sm_resource_granted(v->sm, warp);
	}
	if (w->slotted)
		return;
	w->slotted = true;
	w->slot = slot;
	/* A halted warp has nothing left to execute. */
	if (w->exited)
		return;
	w->returns = restored && move_context(w, MEM_READ, context_came);
	if (!w->returns)
		sm_warp_schedule(v->sm, warp, slot, v->now);
}

static void on_swap_out(void *ctx, unsigned int warp)
{
	struct virt *v = ctx;
	struct vwarp *w = &v->warps[warp];

	virtual_count_for(v, w->kernel);
	w->slotted = w->stopped = false;
	virtual_look_up_again(w, sm_warp_unschedule(v->sm, warp, v->now));
	w->asked = w->told;
	/* A warp that has exited needs no slot again. */
	if (w->exited)
		return;
	/* If what the warp waited for has come meanwhile, it asks for a slot in the next cycle. */
	v->again |= v->by_stall && !sm_warp_awaits(v->sm, warp);
	move_context(w, MEM_WRITE, context_went);
}

/* --- settling ------------------------------------------------------------------------------ */

/* Sets of scratchpad of an SM. The last one may be smaller, and is as good as the others. */
static unsigned int scratchpad_sets(const struct gpu_spec *spec, unsigned int unit)
{
	return (unsigned int)DIV_ROUND_UP(spec->shared_bytes, unit);
}

/* Sets of scratchpad that a CTA of the kernel has below this byte. */
static unsigned int scratchpad(const struct virt *v, const struct sm_kernel *kernel, uint32_t end)
{
	return DIV_ROUND_UP(MIN(sm_kernel_needs(kernel).shared_bytes, end), v->unit);
}

static struct coord_needs needs_of(const struct virt *v, const struct sm_kernel *kernel,
				   uint32_t phase)
{
	const struct ptx_phase *p = &sm_kernel_phases(kernel)[phase];

	return (struct coord_needs){
		.sets = p->sets, .ahead = p->ahead,
		.scratchpad = scratchpad(v, kernel, p->smem_end),
		.most_scratchpad = scratchpad(v, kernel, p->smem_most),
	};
}

static void tell_phases(struct virt *v)
{
	struct coord_needs needs;

	for (unsigned int i = 0; i < MAX_WARPS; i++) {
		struct vwarp *w = &v->warps[i];

		if (!w->asked || w->told || w->barrier || w->exited)
			continue;
		w->told = true;
		needs = needs_of(v, w->kernel, w->next_phase);
		coord_phase(v->c, i, &needs);
	}
}

/* Tells of warps that lost their slots when nothing was under way for them any more. */
static void tell_ready(struct virt *v)
{
	v->again = false;
	for (unsigned int i = 0; i < v->nwarps; i++) {
		const struct vwarp *w = &v->warps[i];

		if (w->present && !w->slotted && !w->exited && !sm_warp_awaits(v->sm, i))
			coord_ready(v->c, i);
	}
}

/*
 * With wlm a warp that ends may make room for a CTA. With zorua a CTA that has begun does, for the
 * next one may wait behind it.
 */
static void tell_room(struct virt *v)
{
	bool room = v->zorua ? !coord_backlog(v->c) :
		    v->resident && virtual_wlm_has_room(v, v->sm, v->kernel);

	if (room && !v->room)
		sm_room_grown(v->sm);
	v->room = room;
}

/* The warp is at w->pc. May it issue? Else sm_resource_granted() follows. */
static bool ask(struct vwarp *w)
{
	uint32_t phase = sm_kernel_phase(w->kernel, w->pc);

	if (phase == UINT32_MAX || phase == w->phase)
		return virtual_look_up(w);
	w->asked = true;
	w->next_phase = phase;
	sm_timer(w->v->sm, w->v->now);
	return false;
}

/* Lets warps go on that stopped and are not held any more. */
static void go_on(struct virt *v)
{
	for (unsigned int i = 0; i < v->nwarps; i++) {
		struct vwarp *w = &v->warps[i];

		if (!w->stopped || w->held)
			continue;
		w->stopped = false;
		if (!w->exited && ask(w))
			sm_resource_granted(v->sm, i);
	}
}

static void catch_up(struct virt *v, uint64_t now)
{
	uint32_t registers = (uint32_t)(v->spec->registers / SET_REGISTERS);
	uint32_t shared = scratchpad_sets(v->spec, v->unit), used;

	v->now = now;
	if (virtual_hold(v))
		go_on(v);
	if (v->zorua)
		tell_phases(v);
	if (v->again)
		tell_ready(v);
	coord_run(v->c);
	assert(!CHECKED || coord_sound(v->c));
	/* Warps that have gone leave no set behind, but places into which one is being read. */
	assert(v->resident || (!coord_swapped(v->c, COORD_REGISTERS) &&
			       !coord_swapped(v->c, COORD_SCRATCHPAD) &&
			       !coord_swapped(v->c, COORD_THREADS) &&
			       coord_free(v->c, COORD_REGISTERS) + virtual_coming(v) == registers &&
			       coord_free(v->c, COORD_SCRATCHPAD) == shared &&
			       coord_free(v->c, COORD_THREADS) == v->spec->warps));
	used = (shared - coord_free(v->c, COORD_SCRATCHPAD)) * v->unit;
	sm_hold(v->sm, (registers - coord_free(v->c, COORD_REGISTERS)) * SET_REGISTERS,
		(uint32_t)MIN(used, v->spec->shared_bytes), now);
	virtual_count(v, v->kernel);
	tell_room(v);
}

/* Something has happened in this cycle: catch_up() is called at its end. */
static void soon(struct virt *v, uint64_t now)
{
	v->now = now;
	sm_timer(v->sm, now);
}

/* --- epochs ----------------------------------------------------------------------------------- */

/*
 * c_idle and c_mem so far, in cycles of all schedulers: nobody issued for want of warps, operands
 * of arithmetic, instructions or others at a barrier; all waited for memory or at its pipeline,
 * and of these the pipeline's alone. Waiting for a resource is neither: a cycle is what those make
 * of it that do not.
 */
static struct idleness idleness(const struct virt *v)
{
	const uint64_t *stalls = sm_stats(v->sm)->stalls;
	struct idleness i;

	i.idle = stalls[STALL_SHORT] + stalls[STALL_IBUFFER] + stalls[STALL_BARRIER] +
		 stalls[STALL_NO_WARP] + sm_held_beside(v->sm);
	i.pipeline = sm_memory_pipeline(v->sm);
	i.mem = stalls[STALL_LONG] + i.pipeline;
	if (v->faults_are_mem)
		i.mem += stalls[STALL_FAR_FAULT];
	return i;
}

/* Instructions that the SM has issued. */
static uint64_t issued(const struct virt *v)
{
	return sm_stats(v->sm)->stalls[STALL_ISSUED];
}

static void begin_epoch(struct virt *v, uint64_t now)
{
	v->begin = idleness(v);
	v->issued = issued(v);
	v->epoch = now + v->spec->zorua_epoch;
}

static void end_epoch(struct virt *v, uint64_t now)
{
	struct idleness epoch = idleness(v);
	struct virtual_counters more = { .epochs = 1 };
	uint64_t idle;

	epoch.idle -= v->begin.idle;
	epoch.mem -= v->begin.mem;
	epoch.pipeline -= v->begin.pipeline;
	idle = epoch.idle + (v->idle_has_mem ? epoch.mem - epoch.pipeline : 0);
	coord_epoch(v->c, idle / v->spec->schedulers, epoch.mem / v->spec->schedulers);
	more.lacking = virtual_lacking(v, &epoch);
	if (v->by_lack && !v->mixed) {
		virtual_growth(v, &epoch, issued(v) - v->issued);
		v->runs = virtual_growth_runs(v);
		sm_room_grown(v->sm);
	}
	more.held = v->held;
	more.percent = coord_percent(v->c);
	/* Beside others' the kernel that came last counts the SM's epochs. */
	sm_count_virtual(v->sm, v->kernel, &more);
	begin_epoch(v, now);
}

void virtual_timer(void *state, struct sm *sm, uint64_t now)
{
	struct virt *v = state;

	v->now = now;
	if (v->zorua && v->resident && now >= v->epoch)
		end_epoch(v, now);
	catch_up(v, now);
	sm_timer(sm, v->again ? now + 1 : v->zorua && v->resident ? v->epoch : NEVER);
}

/* --- events -------------------------------------------------------------------------------------- */

static int create(struct virt *v, unsigned int shared_unit, const struct coord_threshold *t)
{
	const struct coord_ops ops = {
		on_schedule, on_swap_out, virtual_spill_registers, virtual_fill_registers,
		virtual_spill_scratchpad, virtual_fill_scratchpad,
	};
	struct coord_limits limits = {
		.slots = (unsigned int)v->spec->warps,
		.register_sets = (unsigned int)(v->spec->registers / SET_REGISTERS),
		.scratchpad_sets = scratchpad_sets(v->spec, shared_unit),
		.scratchpad_table = v->zorua,
		.lend = v->zorua,
		.promise = v->zorua && strcmp(v->spec->zorua_admit, "phase"),
		.proof = v->zorua ? (unsigned int)v->spec->zorua_proof : 0,
	};

	v->unit = shared_unit;
	sm_sizes(v->sm, &limits.warps, &limits.ctas);
	v->nwarps = limits.warps;
	v->nctas = limits.ctas;
	v->runs = UINT32_MAX;
	if (v->zorua && (virtual_registers_create(v) || virtual_scratchpad_create(v)))
		return -ENOMEM;
	return coord_create(&limits, t, &ops, v, &v->c);
}

static int make(const struct gpu_spec *spec, struct sm *sm, bool zorua, unsigned int shared_unit,
		const struct coord_threshold *t, void **state)
{
	struct virt *v = calloc(1, sizeof(*v));
	int ret = v ? 0 : -ENOMEM;

	if (!ret) {
		v->spec = spec;
		v->sm = sm;
		v->zorua = zorua;
		v->faults_are_mem = !strcmp(spec->zorua_faults, "mem");
		v->idle_has_mem = !strcmp(spec->zorua_c_idle, "all");
		v->by_stall = zorua && !strcmp(spec->zorua_slots, "vt");
		v->by_lack = zorua && !strcmp(spec->zorua_ctas, "lack");
		ret = create(v, shared_unit, t);
	}
	if (ret)
		virtual_destroy(v);
	else
		*state = v;
	return ret;
}

int virtual_zorua_create(const struct gpu_spec *spec, struct sm *sm, void *ctx, void **state)
{
	const struct coord_threshold t = {
		.percent = spec->zorua_swap ? (unsigned int)spec->zorua_default : 0,
		.step = spec->zorua_swap ? (unsigned int)spec->zorua_step : 0,
		.most = spec->zorua_swap ? (unsigned int)spec->zorua_most : 0,
		.delta = spec->zorua_delta,
		.changes = !strcmp(spec->zorua_compare, "changes"),
	};

	return make(spec, sm, true, virtual_scratchpad_set(spec), &t, state);
}

int virtual_wlm_create(const struct gpu_spec *spec, struct sm *sm, void *ctx, void **state)
{
	const struct coord_threshold none = { .percent = 0 };

	return make(spec, sm, false, 1, &none, state);
}

void virtual_destroy(void *state)
{
	struct virt *v = state;

	if (!v)
		return;
	coord_destroy(v->c);
	virtual_registers_destroy(v);
	virtual_scratchpad_destroy(v);
	free(v);
}

void virtual_reset(void *state)
{
	struct virt *v = state;

	coord_reset(v->c);
	memset(v->warps, 0, sizeof(v->warps));
	memset(v->coming, 0, sizeof(v->coming));
	memset(v->kernels, 0, sizeof(v->kernels));
	v->runs = UINT32_MAX;
	v->held = 0;
	v->resident = 0;
	v->kernel = NULL;
	v->mixed = v->again = false;
}

/* All that is here is the kernel's. */
static bool alone(const struct sm *sm, const struct sm_kernel *kernel)
{
	return sm_resident_ctas(sm, NULL) == sm_resident_ctas(sm, kernel);
}

/*
 * Beside another kernel's a CTA comes when all that it will ever need is there on chip and nobody
 * holds it or was promised it. The others' specifications make no difference.
 */
static bool fits_beside(const struct virt *v, const struct sm_kernel *kernel)
{
	struct coord_needs needs = needs_of(v, kernel, 0);
	unsigned int warps = sm_kernel_needs(kernel).warps;

	return !coord_pending(v->c) && coord_free(v->c, COORD_THREADS) >= warps &&
	       coord_unpromised(v->c, COORD_REGISTERS) >= warps * needs.ahead &&
	       coord_unpromised(v->c, COORD_SCRATCHPAD) >= needs.most_scratchpad;
}

bool virtual_zorua_has_room(void *state, const struct sm *sm, const struct sm_kernel *kernel)
{
	const struct virt *v = state;

	if (!sm_fits_numbers(sm, kernel))
		return false;
	if (!v->by_lack)
		return true;
	return alone(sm, kernel) ? !coord_backlog(v->c) &&
	       sm_resident_ctas(sm, NULL) < virtual_growth_ctas(v, kernel) :
	       fits_beside(v, kernel);
}

/* Register sets of a warp that has all it was launched with. */
static unsigned int warp_sets(const struct sm_kernel *kernel)
{
	struct sm_needs needs = sm_kernel_needs(kernel);

	return DIV_ROUND_UP(needs.registers / needs.warps, SET_REGISTERS);
}

bool virtual_wlm_has_room(void *state, const struct sm *sm, const struct sm_kernel *kernel)
{
	const struct virt *v = state;

	/* Room that a warp leaves is told for the one kernel that is here (tell_room()). */
	return alone(sm, kernel) && sm_fits_numbers(sm, kernel) &&
	       sm_resident_ctas(sm, NULL) < v->spec->ctas &&
	       !coord_pending(v->c) && coord_free(v->c, COORD_THREADS) &&
	       coord_free(v->c, COORD_REGISTERS) >= warp_sets(kernel) &&
	       coord_free(v->c, COORD_SCRATCHPAD) >= sm_kernel_needs(kernel).shared_bytes;
}

/* Warps that stay schedulable, where a plain SM would hold so many. */
static unsigned int floor_of(const struct virt *v, unsigned int occupancy)
{
	uint64_t floor = DIV_ROUND_UP(occupancy * v->spec->zorua_floor, 100);

	return (unsigned int)MAX(floor, 1);
}

/*
 * A CTA has come. Of a launch nothing is known before its first epoch; between its CTAs an SM may
 * be empty. Of a kernel that comes beside another one nothing is known either.
 */
static void look_at_kernels(struct virt *v, struct sm *sm)
{
	bool mixed = !alone(sm, v->kernel);

	if (mixed && !v->mixed)
		coord_begin(v->c);
	v->mixed = mixed;
	if (mixed)
		v->runs = UINT32_MAX;
	if (mixed || (v->launched && v->grid == sm_kernel_grid(v->kernel)))
		return;
	v->launched = true;
	v->grid = sm_kernel_grid(v->kernel);
	virtual_growth_begin(v);
	coord_begin(v->c);
}

/* A CTA has gone. A kernel that has the SM alone again begins its trials anew. */
static void look_at_rest(struct virt *v)
{
	const struct sm_kernel *some = NULL;

	if (!v->mixed)
		return;
	v->mixed = false;
	for (unsigned int i = 0; i < MAX_CTAS; i++) {
		v->mixed |= some && v->kernels[i] && v->kernels[i] != some;
		some = v->kernels[i] ? v->kernels[i] : some;
	}
	v->kernel = some;
	if (v->mixed)
		return;
	v->grid = sm_kernel_grid(some);
	virtual_growth_begin(v);
}

void virtual_admitted(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct virt *v = state;
	struct coord_needs needs;
	uint8_t warps[MAX_WARPS];
	struct sm_cta_view view;
	unsigned int n = sm_cta_warps(sm, cta, warps, MAX_WARPS);

	sm_cta_look(sm, cta, &view);
	v->kernel = v->kernels[cta] = view.kernel;
	v->age[cta] = ++v->ages;
	if (v->zorua) {
		coord_set_floor(v->c, floor_of(v, sm_kernel_ctas(v->kernel) * n));
		needs = needs_of(v, v->kernel, 0);
		look_at_kernels(v, sm);
	} else {
		needs.ahead = warp_sets(v->kernel);
		needs.sets = needs.ahead >= 64 ? UINT64_MAX : (1ull << needs.ahead) - 1;
		needs.scratchpad = scratchpad(v, v->kernel, PTX_EXTENT_END);
		needs.most_scratchpad = needs.scratchpad;
	}
	if (!v->resident++ && v->zorua)
		begin_epoch(v, now);
	for (unsigned int i = 0; i < n; i++) {
		struct vwarp *w = &v->warps[warps[i]];

		*w = (struct vwarp){
			.v = v, .number = warps[i], .present = true, .kernel = v->kernel,
			.stale_reads = w->stale_reads, .stale_contexts = w->stale_contexts,
			.coming = w->coming,
		};
		coord_warp_start(v->c, warps[i], cta, &needs);
	}
	catch_up(v, now);
	if (v->zorua)
		sm_timer(sm, v->again ? now + 1 : v->epoch);
}

void virtual_cta_ended(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct virt *v = state;

	v->now = now;
	coord_cta_end(v->c, cta);
	v->coming[cta] = 0;
	v->kernels[cta] = NULL;
	v->resident--;
	look_at_rest(v);
	soon(v, now);
}

void virtual_retired(void *state, struct sm *sm, unsigned int warp, uint64_t now)
{
	struct virt *v = state;

	coord_warp_end(v->c, warp);
	v->warps[warp].present = false;
	soon(v, now);
}

void virtual_exited(void *state, struct sm *sm, unsigned int warp, uint64_t now)
{
	struct virt *v = state;
	struct vwarp *w = &v->warps[warp];

	w->exited = true;
	/* The next instruction of a halted warp does not issue, and so uses no sets. */
	virtual_look_up_again(w, sm_warp_revoke(sm, warp));
	w->stale_contexts += w->returns;
	w->returns = false;
	if (v->held)
		soon(v, now);
}

bool virtual_acquire(void *state, struct sm *sm, unsigned int warp, uint32_t pc, uint64_t now)
{
	struct virt *v = state;
	struct vwarp *w = &v->warps[warp];

	w->pc = pc;
	v->now = now;
	w->stopped = w->held;
	return !w->stopped && ask(w);
}

void virtual_finished(void *state, struct sm *sm, unsigned int warp, uint32_t pc)
{
	struct virt *v = state;
	uint64_t read, write;

	sm_kernel_sets(v->warps[warp].kernel, pc, &read, &write);
	coord_done(v->c, warp, read | write);
	/* Dead registers may be free now. */
	if (coord_pending(v->c))
		sm_timer(sm, 0);
}

void virtual_waits(void *state, struct sm *sm, unsigned int warp, uint64_t now)
{
	struct virt *v = state;

	v->warps[warp].barrier = true;
	coord_barrier(v->c, warp);
	soon(v, now);
}

void virtual_stalled(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct virt *v = state;
	uint8_t warps[MAX_WARPS];
	unsigned int n = sm_cta_warps(sm, cta, warps, MAX_WARPS);

	/* A warp that returns goes on: the CTA is told again when that warp, too, has stalled. */
	for (unsigned int i = 0; i < n; i++)
		if (v->warps[warps[i]].returns)
			return;
	coord_stalled(v->c, cta);
	if (coord_pending(v->c))
		soon(v, now);
}

void virtual_resumed(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	coord_resumed(((struct virt *)state)->c, cta);
}

void virtual_ready(void *state, struct sm *sm, unsigned int warp, uint64_t now)
{
	struct virt *v = state;

	coord_ready(v->c, warp);
	if (coord_pending(v->c))
		soon(v, now);
}

void virtual_passed(void *state, struct sm *sm, unsigned int warp, uint64_t now)
{
	struct virt *v = state;

	v->warps[warp].barrier = false;
	coord_passed(v->c, warp);
	soon(v, now);
}
