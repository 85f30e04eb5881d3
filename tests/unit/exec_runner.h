/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs whole grids without time, for the tests of exec: warps of a CTA take
 * turns between barriers, CTAs run one after the other, and a global address is
 * an address of this process. Included by test_exec_*.c.
 */
#ifndef TESTS_UNIT_EXEC_RUNNER_H
#define TESTS_UNIT_EXEC_RUNNER_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "exec/private.h"

struct run {
	struct ptx_module *module;
	struct exec_program *program;
	uint8_t *globals;	/* where the module's variables are */
	const struct texture *textures;	/* by handle; the test's */
	uint32_t ntextures;
	struct exec_launch launch;
	uint32_t dynamic_shared;
	bool whole;		/* run_grid() is exec_grid_run() */
	uint64_t warp_instructions, thread_instructions; /* of it */
	char *printed;		/* what printf wrote; the test's to free */
	uint8_t params[4096];
	uint32_t param_bytes;
	uint64_t steps, accesses, fault_addr;
	uint32_t max_depth;
	struct err err;
};

/* How texts are parsed. */
static struct ptx_options run_options;

static inline void run_load_with(struct run *run, const char *text, const char *kernel,
				 const struct lane_table *table)
{
	const struct ptx_kernel *k;
	uint64_t bytes;
	uint32_t align;
	int ret;

	memset(run, 0, sizeof(*run));
	ret = ptx_module_parse_with(text, strlen(text), "test.ptx", &run_options, &run->module,
				    &run->err);
	if (ret)
		fail_msg("%d %s", ret, run->err.text);
	bytes = ptx_module_global_bytes(run->module, &align);
	if (bytes) {
		run->globals = aligned_alloc(64, (bytes + 63) & ~63ull);
		ptx_module_place(run->module, (uint64_t)run->globals);
		memcpy(run->globals, ptx_module_global_image(run->module), bytes);
	}
	k = kernel ? ptx_module_kernel(run->module, kernel) : ptx_module_kernel_at(run->module, 0);
	assert_non_null(k);
	if (table)
		ret = program_create_with(k, table, &run->program, &run->err);
	else
		ret = exec_program_create(k, &run->program, &run->err);
	if (ret)
		fail_msg("%d %s", ret, run->err.text);
}

static inline void run_load(struct run *run, const char *text, const char *kernel)
{
	run_load_with(run, text, kernel, NULL);
}

static inline void run_free(struct run *run)
{
	exec_program_free(run->program);
	ptx_module_free(run->module);
	free(run->globals);
}

/* The next parameter, in the order of the kernel's. */
static inline void run_arg(struct run *run, const void *value, uint32_t bytes)
{
	run->param_bytes = (run->param_bytes + bytes - 1) & ~(bytes - 1);
	memcpy(run->params + run->param_bytes, value, bytes);
	run->param_bytes += bytes;
}

static inline void run_ptr(struct run *run, const void *ptr)
{
	run_arg(run, &ptr, sizeof(ptr));
}

static inline void run_u32(struct run *run, uint32_t value)
{
	run_arg(run, &value, sizeof(value));
}

static inline void run_f32(struct run *run, float value)
{
	run_arg(run, &value, sizeof(value));
}

/* The last page first: lanes whose texels are on several have them in any order. */
static inline void run_fetch(struct exec_warp *warp, struct exec_access *access)
{
	uint64_t pages[EXEC_CORNERS * WARP_LANES];
	uint32_t lanes[EXEC_CORNERS * WARP_LANES], n = exec_texel_pages(access, pages, lanes);

	while (n--) {
		assert_int_equal(lanes[n] & ~access->lanes, 0);
		exec_perform(warp, access, lanes[n], pages[n], (void *)pages[n]);
	}
	assert_int_equal(access->lanes, 0);
}

/* Performs an access page by page, the lowest lane's page first. */
static inline void run_access(struct run *run, struct exec_warp *warp, struct exec_access *access)
{
	uint64_t page, first;
	uint32_t lanes, lane;

	run->accesses++;
	if (access->space == PTX_SPACE_TEXTURE) {
		run_fetch(warp, access);
		return;
	}
	while (access->lanes) {
		first = access->addr[__builtin_ctz(access->lanes)];
		page = first & ~(PAGE_BYTES - 1);
		for (lanes = 0, lane = 0; lane < WARP_LANES; lane++) {
			if (access->lanes >> lane & 1 && access->addr[lane] - page < PAGE_BYTES) {
				assert_true(access->addr[lane] - page <=
					    PAGE_BYTES - access->bytes);
				lanes |= 1u << lane;
			}
		}
		exec_perform(warp, access, lanes, page, (void *)page);
	}
}

static inline enum exec_outcome run_warp(struct run *run, struct exec_warp *warp)
{
	struct exec_texels texels;
	struct exec_access access = { .texels = &texels };
	enum exec_outcome outcome;

	do {
		assert_true(++run->steps < 200000000);
		outcome = exec_step(warp, &access, NULL, &run->fault_addr, &run->err);
		if (warp->depth > run->max_depth)
			run->max_depth = warp->depth;
		if (outcome == EXEC_ACCESS)
			run_access(run, warp, &access);
	} while (outcome == EXEC_NEXT || outcome == EXEC_ACCESS);
	return outcome;
}

static inline int run_cta(struct run *run, struct exec_cta *cta, struct exec_warp *warps,
			  uint32_t nwarps)
{
	enum exec_outcome outcome;
	uint32_t live = nwarps, waiting, w;

	while (live) {
		for (live = waiting = w = 0; w < nwarps; w++) {
			if (!warps[w].mask)
				continue;
			outcome = run_warp(run, &warps[w]);
			if (outcome == EXEC_TRAP)
				return -EFAULT;
			live += outcome != EXEC_EXITED;
			waiting += outcome == EXEC_BARRIER;
		}
		assert_int_equal(live, waiting);
	}
	return 0;
}

static inline void run_print(void *ctx, const char *text, size_t bytes)
{
	struct run *run = ctx;
	size_t n = run->printed ? strlen(run->printed) : 0;

	run->printed = realloc(run->printed, n + bytes + 1);
	memcpy(run->printed + n, text, bytes);
	run->printed[n + bytes] = '\0';
}

/* The whole address space of this process but for its first page. */
static inline int run_whole(struct run *run)
{
	const struct exec_range range = { 4096, (1ull << 47) - 4096, (uint8_t *)4096 };
	struct exec_grid grid = { .launch = &run->launch, .ranges = &range, .nranges = 1 };
	int ret = exec_grid_run(&grid, &run->err);

	run->warp_instructions = grid.warp_instructions;
	run->thread_instructions = grid.thread_instructions;
	run->fault_addr = grid.fault_addr;
	return ret;
}

/* The instruction sets of lanes.h that this processor has. */
static inline size_t run_tables(const struct lane_table *tables[3])
{
	size_t n = 0;

	tables[n++] = &lanes_portable;
#ifdef __x86_64__
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		tables[n++] = &lanes_avx2;
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
		tables[n++] = &lanes_avx512;
#endif
	return n;
}

/* -EFAULT: a trap, run->err says which. */
static inline int run_grid(struct run *run, uint32_t gx, uint32_t gy, uint32_t bx, uint32_t by)
{
	const struct ptx_kernel *kernel = exec_program_kernel(run->program);
	uint32_t threads = bx * by, nwarps = DIV_ROUND_UP(threads, WARP_LANES), w, c;
	size_t arena = exec_program_arena_bytes(run->program);
	struct exec_warp *warps = calloc(nwarps, sizeof(*warps));
	struct exec_cta cta = { .launch = &run->launch };
	uint8_t *arenas = aligned_alloc(64, nwarps * arena);
	int ret = 0;

	assert_int_equal(run->param_bytes, kernel->param_bytes);
	run->launch = (struct exec_launch){
		.program = run->program, .grid = { gx, gy, 1 }, .block = { bx, by, 1 },
		.dynamic_shared = run->dynamic_shared, .grid_id = 7, .params = run->params,
		.print = run_print, .print_ctx = run,
		.textures = run->textures, .ntextures = run->ntextures,
	};
	if (run->whole) {
		free(warps);
		free(arenas);
		return run_whole(run);
	}
	cta.shared_bytes = kernel->shared_bytes + run->dynamic_shared;
	for (c = 0; c < gx * gy && !ret; c++) {
		cta.ctaid[0] = c % gx;
		cta.ctaid[1] = c / gx;
		cta.shared = calloc(1, cta.shared_bytes + 1);
		cta.local = calloc(threads, kernel->local_bytes + 1);
		for (w = 0; w < nwarps; w++) {
			exec_warp_init(&warps[w], &cta, w, arenas + w * arena);
			warps[w].nsmid = 15;
			warps[w].slot = w;
		}
		ret = run_cta(run, &cta, warps, nwarps);
		free(cta.shared);
		free(cta.local);
	}
	free(warps);
	free(arenas);
	return ret;
}

static inline char *read_text(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text;
	long len;

	if (!file)
		return NULL;
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	len = ftell(file);
	rewind(file);
	text = calloc(1, len + 1);
	assert_int_equal(fread(text, 1, len, file), len);
	fclose(file);
	return text;
}

#endif
