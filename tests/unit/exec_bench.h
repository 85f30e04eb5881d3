/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One warp of a kernel, stepped by hand. Included by test_exec_*.c.
 */
#ifndef TESTS_UNIT_EXEC_BENCH_H
#define TESTS_UNIT_EXEC_BENCH_H

#include "exec_runner.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

/* One warp of `threads` lanes of a kernel, ready to step. */
struct bench {
	struct run run;
	struct exec_cta cta;
	struct exec_warp warp;
	struct exec_access access;
	uint8_t *arena;
	uint8_t shared[1024], local[32 * 64] __attribute__((aligned(16)));
};

static inline void open_bench(struct bench *b, const char *text, uint32_t threads)
{
	memset(b, 0, sizeof(*b));
	run_load(&b->run, text, NULL);
	b->run.launch = (struct exec_launch){
		.program = b->run.program, .grid = { 3, 5, 7 }, .block = { threads, 1, 1 },
		.grid_id = 7, .params = b->run.params, .dynamic_shared = 64,
	};
	b->cta = (struct exec_cta){
		.launch = &b->run.launch, .ctaid = { 2, 4, 6 }, .shared = b->shared,
		.shared_bytes = 256, .local = b->local,
	};
	b->arena = aligned_alloc(64, exec_program_arena_bytes(b->run.program));
	exec_warp_init(&b->warp, &b->cta, 0, b->arena);
	b->warp.nsmid = 15;
}

static inline void close_bench(struct bench *b)
{
	free(b->arena);
	run_free(&b->run);
}

static inline enum exec_outcome step(struct bench *b)
{
	return exec_step(&b->warp, &b->access, NULL, &b->run.fault_addr, &b->run.err);
}

static inline uint32_t line_of(const struct bench *b)
{
	return exec_program_kernel(b->run.program)->insns[b->warp.pc].line;
}

/* Steps until the instruction of this line is next. */
static inline void run_to(struct bench *b, uint32_t line)
{
	int n;

	for (n = 0; line_of(b) != line; n++) {
		assert_in_range(n, 0, 1000);
		assert_int_equal(step(b), EXEC_NEXT);
	}
}

#endif
