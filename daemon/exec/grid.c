// SPDX-License-Identifier: GPL-2.0
/*
 * Whole grids without time: the CTAs in flight, whose turn it is, and
 * which warps wait at which barrier. What the instructions of a turn do is pack.c's. Called by
 * `gpuemu ptx --functional`, by functional launches and by tests.
 *
 * CTAs run in order, one at a time as long as they end in their turns. One that
 * does not may be waiting for a later one (a GPU would have it resident): then
 * the next is started beside it, up to MAX_RESIDENT, and they take turns. Those of a cooperative
 * launch are all in flight, and their turns are short: they do wait for each other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exec/grid.h"

/* CTAs in flight at most: what a large GPU holds; fewer when they are large. */
#define MAX_RESIDENT	256u
#define MAX_RESIDENT_BYTES (512ull << 20)
/* More CTAs of a cooperative launch than any GPU has room for at once. */
#define MAX_COOPERATIVE	65536u
/* Instructions that a warp runs before the others of its CTA have theirs. */
#define QUANTUM		2048u
/* Rounds of these that a CTA has before the others have theirs. */
#define ROUNDS		64u

static void cta_free(struct grid_cta *cta)
{
	if (!cta)
		return;
	free(cta->warps);
	free(cta->arenas);
	free(cta->ex.shared);
	free(cta->ex.local);
	free(cta);
}

static uint64_t block_threads(const struct exec_launch *launch)
{
	return (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
}

static void *cache_aligned(size_t bytes)
{
	return aligned_alloc(64, (bytes + 127) & ~(size_t)63);
}

static struct grid_cta *cta_alloc(const struct grid *grid)
{
	const struct exec_launch *launch = grid->out->launch;
	const struct ptx_kernel *kernel = launch->program->kernel;
	struct grid_cta *cta = calloc(1, sizeof(*cta));

	if (!cta)
		return NULL;
	cta->grid = grid->out;
	cta->ex.launch = launch;
	cta->ex.shared_bytes = kernel->shared_bytes + launch->dynamic_shared;
	cta->warps = calloc(grid->nwarps, sizeof(*cta->warps));
	cta->arenas = cache_aligned(grid->nwarps * exec_program_arena_bytes(launch->program));
	cta->ex.shared = cache_aligned(cta->ex.shared_bytes);
	if (kernel->local_bytes)
		cta->ex.local = calloc(block_threads(launch), kernel->local_bytes);
	if (!cta->warps || !cta->arenas || !cta->ex.shared ||
	    (kernel->local_bytes && !cta->ex.local)) {
		cta_free(cta);
		return NULL;
	}
	return cta;
}

/* The next CTA of the grid, in memory that others may have used before. */
static void cta_start(struct grid *grid, struct grid_cta *cta)
{
	const struct exec_launch *launch = grid->out->launch;
	const struct ptx_kernel *kernel = launch->program->kernel;
	uint64_t n = grid->next++;
	uint32_t w;

	cta->ex.ctaid[0] = n % launch->grid[0];
	cta->ex.ctaid[1] = n / launch->grid[0] % launch->grid[1];
	cta->ex.ctaid[2] = n / launch->grid[0] / launch->grid[1];
	memset(cta->ex.shared, 0, cta->ex.shared_bytes);
	if (kernel->local_bytes && cta->used)
		memset(cta->ex.local, 0, block_threads(launch) * kernel->local_bytes);
	memset(cta->barriers, 0, sizeof(cta->barriers));
	cta->instructions = 0;
	cta->live = grid->nwarps;
	for (w = 0; w < grid->nwarps; w++) {
		struct grid_warp *warp = &cta->warps[w];

		if (cta->used) {
			warp_again(&warp->ex);
		} else {
			exec_warp_init(&warp->ex, &cta->ex, w, cta->arenas +
				       w * exec_program_arena_bytes(launch->program));
			hoist_fill(&warp->ex);
			warp->ex.slot = w;
			warp->ex.nsmid = 1;
			warp->ex.nslots = 32;	/* the most of a CTA, which is alone */
		}
		warp->state = WARP_READY;
		warp->used = warp->arrived = warp->stuck = 0;
	}
	cta->used = true;
}

static int deadlock(const struct grid_cta *cta, struct err *err)
{
	const struct ptx_kernel *kernel = cta->ex.launch->program->kernel;
	const struct grid_barrier *barrier;
	const struct grid_warp *warp;
	char lane[120];
	uint32_t w = 0;

	while (cta->warps[w].state != WARP_WAITING)
		w++;
	warp = &cta->warps[w];
	barrier = &cta->barriers[warp->barrier];
	exec_lane_name(&warp->ex, warp->ex.mask, lane, sizeof(lane));
	return err_set(err, -EDEADLK,
		       "kernel '%s': deadlock: barrier %u waits for %u threads and %u arrived, but every other warp of the CTA has exited or waits elsewhere (%s line %u, %s)",
		       kernel->name, warp->barrier,
		       barrier->phase.whole ? cta->live * WARP_LANES : barrier->phase.expected,
		       barrier->phase.threads, kernel->module, barrier->insn->line, lane);
}

/* --- turns ------------------------------------------------------------------------------ */

/* 1: the CTA is done. 0: it is not, and others may have their turn. */
static int cta_turn(struct grid *grid, struct grid_cta *cta, struct err *err)
{
	uint32_t round, w, ready;
	int ret;

	for (round = 0; round < grid->rounds; round++) {
		if (grid->out->stop && grid->out->stop(grid->out->stop_ctx))
			return -ECANCELED;
		for (ready = w = 0; w < cta->nwarps; w++) {
			cta->warps[w].used = 0;
			ready += cta->warps[w].state == WARP_READY;
		}
		if (!cta->live)
			return 1;
		if (!ready)
			return deadlock(cta, err);
		ret = pack_round(cta, QUANTUM, err);
		if (ret)
			return ret;
	}
	return cta->live ? 0 : 1;
}

/* Room for one more CTA in flight; 0 when there is none to start, or none left. */
static int add_resident(struct grid *grid, struct err *err)
{
	struct grid_cta *cta;

	if (grid->next == grid->total || grid->nresident == grid->max_resident)
		return 0;
	cta = cta_alloc(grid);
	if (!cta) {
		/* The resident CTAs go on without it. */
		if (grid->nresident)
			return 0;
		return err_set(err, -ENOMEM, "kernel '%s': out of memory",
			       grid->out->launch->program->kernel->name);
	}
	cta->nwarps = grid->nwarps;
	cta_start(grid, cta);
	grid->resident[grid->nresident++] = cta;
	return 0;
}

static int run(struct grid *grid, struct err *err)
{
	uint32_t i = 0;
	int ret = add_resident(grid, err);

	while (!ret && grid->nresident) {
		struct grid_cta *cta = grid->resident[i];

		ret = cta_turn(grid, cta, err);
		if (ret < 0)
			return ret;
		grid->out->ctas += (uint64_t)ret;
		if (ret && grid->next < grid->total) {
			cta_start(grid, cta);
			ret = 0;
			continue;
		}
		if (ret) {
			cta_free(cta);
			grid->resident[i] = grid->resident[--grid->nresident];
			ret = 0;
		} else {
			ret = add_resident(grid, err);
			i++;
		}
		if (i >= grid->nresident)
			i = 0;
	}
	return ret;
}

int exec_grid_run(struct exec_grid *out, struct err *err)
{
	const struct exec_launch *launch = out->launch;
	const struct ptx_kernel *kernel = launch->program->kernel;
	struct grid grid = {
		.out = out,
		.total = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2],
		.nwarps = DIV_ROUND_UP(block_threads(launch), WARP_LANES),
	};
	uint64_t bytes = grid.nwarps * exec_program_arena_bytes(launch->program) +
			 block_threads(launch) * kernel->local_bytes + kernel->shared_bytes +
			 launch->dynamic_shared + 1;
	int ret;

	out->warp_instructions = out->thread_instructions = out->ctas = out->fault_addr = 0;
	grid.rounds = ROUNDS;
	grid.max_resident = MAX(1, MIN(MAX_RESIDENT, MAX_RESIDENT_BYTES / bytes));
	if (exec_launch_cooperative(launch)) {
		grid.rounds = 1;
		grid.max_resident = grid.total;
		if (grid.total > MAX_COOPERATIVE)
			return err_set(err, -EINVAL,
				       "kernel '%s': a cooperative launch of %llu CTAs: at most %u run at once",
				       kernel->name, (unsigned long long)grid.total,
				       MAX_COOPERATIVE);
	}
	grid.resident = calloc(grid.max_resident, sizeof(*grid.resident));
	if (!grid.resident)
		return err_set(err, -ENOMEM, "kernel '%s': out of memory", kernel->name);
	ret = run(&grid, err);
	while (grid.nresident)
		cta_free(grid.resident[--grid.nresident]);
	free(grid.resident);
	return ret;
}
