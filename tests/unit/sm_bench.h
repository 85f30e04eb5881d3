/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One SM on a bench: real PTX, exec, memory and GMMU, a page table in which an
 * address is its own host address and every page is present. Runs every
 * cycle one after the other (so time jumps are the gpu room's to prove), or as
 * the SM asks to be woken. For test_sm_*.c.
 */
#ifndef GPUEMU_TESTS_SM_BENCH_H
#define GPUEMU_TESTS_SM_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sm/sm.h"

#define PTX_HEAD ".version 3.2\n.target sm_35\n.address_size 64\n"

struct bench {
	struct gpu_spec spec;
	struct ptx_module *module;
	struct exec_program *program;
	struct exec_launch launch;
	struct sm_kernel *kernel;
	struct gmmu *gmmu;
	struct mem *mem;
	struct sm *sm;
	uint64_t wake, fault_addr;
	struct err err;
	uint64_t params[8];
	bool jump;		/* step only when the SM asks for it */
	uint64_t now;		/* the clock: a run goes on where the last one ended */
	void (*each_cycle)(struct bench *b);	/* after the SM's step; may be NULL */
	/* Results. */
	int status;
	uint64_t cycles;	/* from launch to the end of the last cycle */
};

static void *bench_walk(void *ctx, uint64_t page)
{
	return (void *)(uintptr_t)page;
}

static void bench_touch(void *ctx, uint64_t page, bool write)
{
}

static void bench_translated(void *ctx, struct gmmu_waiter *waiter, uint64_t page,
			     void *host, uint64_t now)
{
	struct bench *b = ctx;

	sm_translated(b->sm, waiter, page, host, now);
}

static void bench_faulted(void *ctx, struct gmmu_waiter *waiter, uint64_t now)
{
	struct bench *b = ctx;

	sm_faulted(b->sm, waiter, now);
}

static const struct gmmu_ops bench_ops = {
	bench_walk, bench_touch, bench_translated, bench_faulted,
};

/* Defaults of the bench: one SM, no paging, LRR. The test changes b->spec before bench_load(). */
static inline void bench_init(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	spec_defaults(&b->spec);
	b->spec.sms = 1;
	b->spec.paging = 0;
	strcpy(b->spec.scheduler, "lrr");
}

static inline void bench_load(struct bench *b, const char *ptx, uint32_t threads)
{
	struct sm_env env = {
		.spec = &b->spec, .wake = &b->wake, .err = &b->err,
	};
	const struct ptx_kernel *k;
	int ret;

	ret = ptx_module_parse(ptx, strlen(ptx), "test.ptx", &b->module, &b->err);
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
	assert_int_equal(mem_create(&b->spec, &b->mem), 0);
	env.gmmu = b->gmmu;
	env.mem = b->mem;
	assert_int_equal(sm_create(0, &env, &b->sm), 0);
	ret = sm_kernel_create(&b->spec, &b->launch, &b->kernel, &b->err);
	if (ret)
		print_error("%s\n", b->err.text);
	assert_int_equal(ret, 0);
}

/* Runs `ctas` CTAs, one launched a cycle as room allows, beginning in the first. */
static inline void bench_run(struct bench *b, uint32_t ctas)
{
	uint32_t launched = 0;
	uint64_t start = b->now, now;

	b->launch.grid[0] = ctas;
	assert_int_equal(sm_begin(b->sm, b->kernel, start), 0);
	for (now = start; now < start + 10000000; now++) {
		gmmu_step(b->gmmu, now);
		b->status = b->jump && b->wake > now ? 0 :
			    sm_step(b->sm, now, &b->fault_addr);
		if (b->status)
			break;
		if (b->each_cycle)
			b->each_cycle(b);
		if (launched < ctas && sm_has_room(b->sm)) {
			uint32_t ctaid[3] = { launched++, 0, 0 };

			sm_launch_cta(b->sm, ctaid, now);
		} else if (launched == ctas && !sm_resident_ctas(b->sm)) {
			break;
		}
	}
	b->now = now + 1;
	b->cycles = b->now - start;
	sm_account(b->sm, b->now);
}

static inline void bench_fini(struct bench *b)
{
	sm_destroy(b->sm);
	sm_kernel_destroy(b->kernel);
	mem_destroy(b->mem);
	gmmu_destroy(b->gmmu);
	exec_program_free(b->program);
	ptx_module_free(b->module);
}

static inline uint64_t bench_stall_sum(const struct bench *b)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < STALLS; i++)
		sum += sm_stats(b->sm)->stalls[i];
	return sum;
}

#endif
