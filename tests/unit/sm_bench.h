/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One SM on a bench: real PTX, exec, memory system and GMMU, a page table in
 * which an address is its own host address and every page is present, or those that the
 * test says. Runs
 * quanta as the GPU's loop does. For test_sm_*.c.
 *
 * Cycles: a CTA is launched at the end of cycle 0, so warps are fetched from
 * cycle 1 on.
 */
#ifndef GPUEMU_TESTS_SM_BENCH_H
#define GPUEMU_TESTS_SM_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "sm/sm.h"
#include "mem_run.h"

#define PTX_HEAD ".version 3.2\n.target sm_35\n.address_size 64\n"

/* Where the kernels' memory is: addresses, and so cache sets, are the same in every run. */
#define BENCH_BASE	MEM_VA_BASE
#define BENCH_BYTES	(16ull << 20)

struct bench {
	struct gpu_spec spec;
	struct ptx_module *module;
	struct exec_program *program;
	struct exec_launch launch;
	struct sm_kernel *kernel;
	struct gmmu *gmmu;
	struct mem *mem;
	struct sm *sm;
	const struct sm_mechanism *mechanism;	/* NULL: spec.cta */
	void *mechanism_ctx;
	uint64_t wake;
	struct err err;
	uint64_t params[8];
	uint8_t *memory;	/* BENCH_BYTES at BENCH_BASE, zero */
	unsigned int quantum;	/* at most; 0: as long as the memory allows */
	bool every_cycle;	/* wake the SM in every cycle, whatever it asks for */
	bool *absent;		/* by page of the memory; NULL: none is */
	uint64_t upto;		/* cycles before it are done */
	uint64_t now;		/* the clock: a run goes on where the last one ended */
	void (*each_quantum)(struct bench *b);	/* may be NULL */
	/* Results. */
	int status;
	uint64_t cycles;	/* from launch to the end of the last cycle */
};

static void *bench_walk(void *ctx, uint64_t page)
{
	struct bench *b = ctx;

	if (b->absent && b->absent[(page - BENCH_BASE) / PAGE_BYTES])
		return NULL;
	return (void *)(uintptr_t)page;
}

static void bench_touch(void *ctx, uint64_t page, bool write)
{
}

static const struct gmmu_ops bench_ops = {
	bench_walk, bench_touch,
};

/* Defaults of the bench: one SM, no paging, LRR. The test changes b->spec before bench_load(). */
static inline void bench_init(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	spec_defaults(&b->spec);
	b->spec.sms = 1;
	b->spec.paging = 0;
	/* With paging: the walker has no port here. */
	b->spec.walk_latency = 100;
	strcpy(b->spec.scheduler, "lrr");
	b->memory = mmap((void *)BENCH_BASE, BENCH_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	assert_ptr_equal(b->memory, (void *)BENCH_BASE);
	b->params[0] = BENCH_BASE;
}

static inline void bench_load(struct bench *b, const char *ptx, uint32_t threads)
{
	struct addr_range range = { BENCH_BASE, BENCH_BASE + BENCH_BYTES };
	struct sm_env env = {
		.spec = &b->spec, .wake = &b->wake, .err = &b->err,
		.mechanism = b->mechanism, .mechanism_ctx = b->mechanism_ctx,
	};
	const struct ptx_options options = {
		.phases = b->mechanism ? PTX_PHASES_NONE : (uint8_t)sm_phases(&b->spec),
	};
	const struct ptx_kernel *k;
	int ret;

	ret = ptx_module_parse_with(ptx, strlen(ptx), "test.ptx", &options, &b->module, &b->err);
	if (ret)
		print_error("%s\n", b->err.text);
	assert_int_equal(ret, 0);
	k = ptx_module_kernel_at(b->module, 0);
	assert_int_equal(exec_program_create(k, &b->program, &b->err), 0);
	b->launch = (struct exec_launch){
		.program = b->program, .grid = { 1, 1, 1 }, .block = { threads, 1, 1 },
		.params = b->params,
	};
	assert_int_equal(gmmu_create(&b->spec, 1, &bench_ops, b, &b->gmmu), 0);
	if (!b->spec.paging)
		assert_int_equal(gmmu_set_ranges(b->gmmu, &range, 1), 0);
	assert_int_equal(mem_create(&b->spec, &b->mem), 0);
	env.gmmu = b->gmmu;
	env.mem = b->mem;
	assert_int_equal(sm_create(0, &env, &b->sm), 0);
	ret = sm_kernel_create(&b->spec, &b->launch, &b->kernel, &b->err);
	if (ret)
		print_error("%s\n", b->err.text);
	assert_int_equal(ret, 0);
}

/* Cycles [t, u) of everything. */
static inline void bench_quantum(struct bench *b, uint64_t t, uint64_t u)
{
	uint64_t cycle;
	int ret;

	if (b->every_cycle)
		b->wake = t;
	b->status = b->wake < u ? sm_run(b->sm, t, u) : 0;
	while (!b->status && (cycle = sm_perform_next(b->sm)) < u) {
		ret = sm_perform(b->sm, cycle);
		if (ret)
			b->status = ret;
	}
	mem_run(b->mem, u);
	assert_int_equal(gmmu_step(b->gmmu, u - 1), 0);
	/* Pages that have just come are performed before anything else may happen to them. */
	while (!b->status && (cycle = sm_perform_next(b->sm)) != NEVER)
		b->status = sm_perform(b->sm, cycle);
	b->wake = MIN(b->wake, mem_next(b->mem, 0));
	b->upto = u;
}

/* Runs `ctas` CTAs, one launched a cycle as room allows, the first at the end of cycle b->now. */
static inline void bench_run(struct bench *b, uint32_t ctas)
{
	uint32_t launched = 0;
	uint64_t start = b->now, t, u = start, refused = NEVER;

	b->launch.grid[0] = ctas;
	assert_int_equal(sm_begin(b->sm, b->kernel), 0);
	sm_account(b->sm, start);
	for (t = start + 1; t < start + 20000000; t = u) {
		bool room = launched < ctas && sm_has_room(b->sm, b->kernel);

		/* A CTA that found no room is tried again when room has grown, and not before. */
		assert_false(room && sm_rooms(b->sm) == refused);
		refused = room || launched == ctas ? NEVER : sm_rooms(b->sm);
		if (room) {
			uint32_t ctaid[3] = { launched++, 0, 0 };

			assert_int_equal(sm_launch_cta(b->sm, b->kernel, ctaid, t - 1), 0);
			room = launched < ctas && sm_has_room(b->sm, b->kernel);
		}
		u = t + (b->every_cycle || room ? 1 : b->quantum ? b->quantum :
			 mem_lookahead(b->mem));
		bench_quantum(b, t, u);
		if (b->status)
			break;
		if (b->each_quantum)
			b->each_quantum(b);
		if (launched == ctas && sm_idle(b->sm))
			break;
	}
	b->now = sm_last(b->sm);
	b->cycles = b->now + 1 - start;
	/* The next run goes on in a cycle of which nothing is attributed yet. */
	b->now = u;
	sm_account(b->sm, u);
}

static inline void bench_fini(struct bench *b)
{
	sm_destroy(b->sm);
	sm_kernel_destroy(b->kernel);
	mem_destroy(b->mem);
	gmmu_destroy(b->gmmu);
	exec_program_free(b->program);
	ptx_module_free(b->module);
	munmap(b->memory, BENCH_BYTES);
}

/* All scheduler-cycles: those of [0, b->now). */
static inline uint64_t bench_stall_sum(const struct bench *b)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < STALLS; i++)
		sum += sm_stats(b->sm)->stalls[i];
	return sum;
}

#endif
