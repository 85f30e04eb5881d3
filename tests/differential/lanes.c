// SPDX-License-Identifier: GPL-2.0
/*
 * The fibers behind lanes.h. A fiber runs until it has to wait; the scheduler
 * goes round until all have ended, or none can go on, which is a deadlock.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "lanes.h"

#define MAX_THREADS	1024
#define STACK_BYTES	(128u << 10)
#define BARRIERS	16
#define MAX_SHARED	(256u << 10)

struct fiber {
	struct lane_self self;
	ucontext_t context;
	bool started, done;
	/* Waiting at a barrier, or for the lanes of its warp. */
	bool at_barrier, posted;
	unsigned int barrier, result;
	enum lane_barrier barrier_kind;
	enum lane_meet kind;
	uint32_t mask;
	uint64_t value, met;
	unsigned int from;
};

struct barrier {
	unsigned int arrived, expected, count;
	bool all, in_use;
};

struct lane_self lane_self;

/* One grid at a time in a process: the kernels reach it by lane_self only. */
static struct {
	const struct diff_case *c;
	const void *params;
	struct fiber fibers[MAX_THREADS];
	struct barrier barriers[BARRIERS];
	unsigned int nthreads, current;
	ucontext_t scheduler;
	uint8_t *stacks;
	uint64_t events;	/* changes whenever something happens */
	FILE *print;
	const char *wrong;
	uint8_t dynamic[MAX_SHARED] __attribute__((aligned(64)));
} grid;

static void suspend(void)
{
	struct fiber *fiber = &grid.fibers[grid.current];

	swapcontext(&fiber->context, &grid.scheduler);
	lane_self = fiber->self;
}

void lane_yield(void)
{
	grid.events++;
	suspend();
}

static unsigned int living(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < grid.nthreads; i++)
		n += !grid.fibers[i].done;
	return n;
}

static void barrier_check(unsigned int b)
{
	struct barrier *barrier = &grid.barriers[b];
	unsigned int all = barrier->all ? living() : barrier->expected;

	if (!barrier->in_use || barrier->arrived < all)
		return;
	for (unsigned int i = 0; i < grid.nthreads; i++) {
		struct fiber *fiber = &grid.fibers[i];

		if (!fiber->at_barrier || fiber->barrier != b)
			continue;
		fiber->at_barrier = false;
		switch (fiber->barrier_kind) {
		case LANE_POPC: fiber->result = barrier->count; break;
		case LANE_AND: fiber->result = barrier->count == barrier->arrived; break;
		case LANE_OR: fiber->result = barrier->count != 0; break;
		default: fiber->result = 0; break;
		}
	}
	memset(barrier, 0, sizeof(*barrier));
	grid.events++;
}

unsigned int lane_barrier(unsigned int b, unsigned int threads, enum lane_barrier kind,
			  int predicate)
{
	struct fiber *fiber = &grid.fibers[grid.current];
	struct barrier *barrier = &grid.barriers[b];

	grid.events++;
	if (barrier->in_use && barrier->all != !threads)
		grid.wrong = "a barrier with and without a thread count";
	barrier->in_use = true;
	barrier->all = !threads;
	barrier->expected = threads;
	barrier->arrived++;
	barrier->count += predicate != 0;
	if (kind == LANE_ARRIVE) {
		barrier_check(b);
		return 0;
	}
	fiber->at_barrier = true;
	fiber->barrier = b;
	fiber->barrier_kind = kind;
	barrier_check(b);
	while (fiber->at_barrier)
		suspend();
	return fiber->result;
}

/* The lanes of `fiber`'s warp: the first and how many. */
static struct fiber *warp_of(struct fiber *fiber, unsigned int *lanes)
{
	unsigned int first = (fiber - grid.fibers) & ~31u;

	*lanes = grid.nthreads - first < 32 ? grid.nthreads - first : 32;
	return &grid.fibers[first];
}

static uint64_t meet_result(struct fiber *warp, unsigned int lane, uint32_t mask)
{
	uint64_t mine = warp[lane].value, result = 0;
	uint32_t yes = 0, same = 0;
	bool first = true;

	for (unsigned int i = 0; i < 32; i++) {
		uint64_t v;

		if (!(mask >> i & 1))
			continue;
		v = warp[i].value;
		yes |= (uint32_t)(v != 0) << i;
		same |= (uint32_t)(v == mine) << i;
		switch (first ? LANE_MEET : warp[lane].kind) {
		case LANE_MEET: result = v; break;
		case LANE_RED_ADD: result += v; break;
		case LANE_RED_MINU: result = (uint32_t)v < (uint32_t)result ? v : result; break;
		case LANE_RED_MAXU: result = (uint32_t)v > (uint32_t)result ? v : result; break;
		case LANE_RED_MINS: result = (int32_t)v < (int32_t)result ? v : result; break;
		case LANE_RED_MAXS: result = (int32_t)v > (int32_t)result ? v : result; break;
		case LANE_RED_AND: result &= v; break;
		case LANE_RED_OR: result |= v; break;
		case LANE_RED_XOR: result ^= v; break;
		default: break;
		}
		first = false;
	}
	switch (warp[lane].kind) {
	case LANE_ACTIVE: return mask;
	case LANE_ALL: return yes == mask;
	case LANE_ANY: return yes != 0;
	case LANE_UNI: return yes == mask || !yes;
	case LANE_BALLOT: return yes;
	case LANE_SHFL: return warp[warp[lane].from].value;
	case LANE_MATCH_ANY: return same;
	case LANE_MATCH_ALL: return same == mask ? mask : 0;
	default: return result;
	}
}

/* Completes what `fiber` waits for when all that it names are there. */
static void meet_check(struct fiber *fiber)
{
	unsigned int lanes;
	struct fiber *warp = warp_of(fiber, &lanes);
	uint32_t mask = fiber->mask, live = 0;

	for (unsigned int i = 0; i < lanes; i++)
		live |= (uint32_t)!warp[i].done << i;
	if (!mask)
		mask = live;
	for (unsigned int i = 0; i < 32; i++) {
		if (!(mask >> i & 1))
			continue;
		if (!(live >> i & 1) || !warp[i].posted || warp[i].kind != fiber->kind ||
		    warp[i].mask != fiber->mask)
			return;
	}
	for (unsigned int i = 0; i < 32; i++) {
		if (mask >> i & 1)
			warp[i].met = meet_result(warp, i, mask);
	}
	for (unsigned int i = 0; i < 32; i++) {
		if (mask >> i & 1)
			warp[i].posted = false;
	}
	grid.events++;
}

uint64_t lane_meet(enum lane_meet kind, uint32_t mask, uint64_t value, unsigned int from)
{
	struct fiber *fiber = &grid.fibers[grid.current];

	grid.events++;
	if (mask && !(mask >> (fiber->self.linear & 31) & 1))
		grid.wrong = "a lane that is not in the mask it names";
	fiber->kind = kind;
	fiber->mask = mask;
	fiber->value = value;
	fiber->from = from;
	fiber->posted = true;
	meet_check(fiber);
	while (fiber->posted)
		suspend();
	return fiber->met;
}

void lane_exit(void)
{
	struct fiber *fiber = &grid.fibers[grid.current];
	unsigned int lanes;
	struct fiber *warp = warp_of(fiber, &lanes);

	fiber->done = true;
	grid.events++;
	for (unsigned int b = 0; b < BARRIERS; b++)
		barrier_check(b);
	for (unsigned int i = 0; i < lanes; i++) {
		if (warp[i].posted && !warp[i].mask)
			meet_check(&warp[i]);
	}
	for (;;)
		suspend();
}

int lane_printf(const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vfprintf(grid.print, format, args);
	va_end(args);
	return n;
}

static void fiber_main(void)
{
	lane_self = grid.fibers[grid.current].self;
	grid.c->call(grid.params);
	lane_exit();
}

static void fiber_start(unsigned int i)
{
	struct fiber *fiber = &grid.fibers[i];

	getcontext(&fiber->context);
	fiber->context.uc_stack.ss_sp = grid.stacks + (size_t)i * STACK_BYTES;
	fiber->context.uc_stack.ss_size = STACK_BYTES;
	fiber->context.uc_link = NULL;
	makecontext(&fiber->context, fiber_main, 0);
	fiber->started = true;
}

static void run_cta(void)
{
	uint64_t before;

	for (unsigned int left = grid.nthreads; left && !grid.wrong; ) {
		before = grid.events;
		for (unsigned int i = 0; i < grid.nthreads; i++) {
			struct fiber *fiber = &grid.fibers[i];

			if (fiber->done || fiber->at_barrier || fiber->posted)
				continue;
			if (!fiber->started)
				fiber_start(i);
			grid.current = i;
			lane_self = fiber->self;
			swapcontext(&grid.scheduler, &fiber->context);
		}
		left = living();
		if (left && grid.events == before)
			grid.wrong = "deadlock on the CPU";
	}
}

const char *lane_run_grid(const struct diff_case *c, const void *params, char **printed)
{
	unsigned int n = c->block.x * c->block.y * c->block.z;
	size_t printed_bytes;

	*printed = NULL;
	if (n > MAX_THREADS || c->shared > MAX_SHARED)
		return "too large for the CPU";
	if (!grid.stacks) {
		grid.stacks = mmap(NULL, (size_t)MAX_THREADS * STACK_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (grid.stacks == MAP_FAILED)
			abort();
	}
	grid.c = c;
	grid.params = params;
	grid.nthreads = n;
	grid.wrong = NULL;
	grid.print = open_memstream(printed, &printed_bytes);
	for (unsigned int cta = 0; cta < c->grid.x * c->grid.y * c->grid.z && !grid.wrong; cta++) {
		memset(grid.barriers, 0, sizeof(grid.barriers));
		memset(grid.dynamic, 0, c->shared);
		for (unsigned int i = 0; i < n; i++) {
			struct fiber *fiber = &grid.fibers[i];

			memset(fiber, 0, sizeof(*fiber));
			fiber->self = (struct lane_self){
				.tid = { i % c->block.x, i / c->block.x % c->block.y,
					 i / c->block.x / c->block.y },
				.cta = { cta % c->grid.x, cta / c->grid.x % c->grid.y,
					 cta / c->grid.x / c->grid.y },
				.block = c->block, .grid = c->grid, .linear = i,
				.dynamic_bytes = c->shared, .dynamic = grid.dynamic,
			};
		}
		run_cta();
	}
	fclose(grid.print);
	return grid.wrong;
}
