/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A GPU on the sim service, with one session, one client's memory and one PTX
 * module, for test_gpu_*.c. Another service can be put before sim's (wrap).
 */
#ifndef GPUEMU_TESTS_GPU_BENCH_H
#define GPUEMU_TESTS_GPU_BENCH_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>
#include <json-c/json.h>

#include "gpu/gpu.h"
#include "ptx/ptx.h"
#include "service/sim.h"

#define PTX_HEAD ".version 3.2\n.target sm_35\n.address_size 64\n"
#define VA_SPACE 1

/* c[i] = a[i] + b[i], as clang writes it, more or less. */
#define PTX_VECADD							\
	".visible .entry vecadd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n{\n" \
	".reg .pred %p<2>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<11>;\n"	\
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n" \
	"mad.lo.s32 %r4, %r1, %r2, %r3;\n"				\
	"ld.param.u32 %r5, [n];\n"					\
	"setp.ge.u32 %p1, %r4, %r5;\n"					\
	"@%p1 bra DONE;\n"						\
	"ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nld.param.u64 %rd3, [c];\n" \
	"mul.wide.u32 %rd4, %r4, 4;\n"					\
	"add.s64 %rd5, %rd1, %rd4;\nadd.s64 %rd6, %rd2, %rd4;\nadd.s64 %rd7, %rd3, %rd4;\n" \
	"ld.global.u32 %r6, [%rd5];\nld.global.u32 %r7, [%rd6];\n"	\
	"add.s32 %r8, %r6, %r7;\n"					\
	"st.global.u32 [%rd7], %r8;\n"					\
	"DONE:\nret;\n}\n"

/* out[tid] = in[tid * stride / 4]: every lane a page when stride is 4096. */
#define PTX_GATHER							\
	".visible .entry gather(.param .u64 in, .param .u64 out, .param .u64 stride)\n{\n" \
	".reg .b32 %r<8>;\n.reg .b64 %rd<12>;\n"			\
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n" \
	"mad.lo.s32 %r4, %r1, %r2, %r3;\n"				\
	"ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nld.param.u64 %rd3, [stride];\n" \
	"cvt.u64.u32 %rd4, %r4;\n"					\
	"mul.lo.s64 %rd5, %rd4, %rd3;\nadd.s64 %rd6, %rd1, %rd5;\n"	\
	"shl.b64 %rd7, %rd4, 2;\nadd.s64 %rd8, %rd2, %rd7;\n"		\
	"ld.global.u32 %r5, [%rd6];\n"					\
	"st.global.u32 [%rd8], %r5;\n"					\
	"ret;\n}\n"

/* Shared memory, a barrier, divergence and a loop: out[i] = sum of the CTA's tids below, mirrored. */
#define PTX_MIX								\
	".visible .entry mix(.param .u64 p)\n{\n"			\
	".reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<6>;\n"	\
	".shared .align 4 .b8 buf[4096];\n"				\
	"mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %ctaid.x;\n" \
	"mad.lo.s32 %r4, %r3, %r2, %r1;\n"				\
	"mov.u32 %r5, buf;\nshl.b32 %r6, %r1, 2;\nadd.s32 %r7, %r5, %r6;\n" \
	"mov.u32 %r8, 0;\nmov.u32 %r9, 0;\n"				\
	"LOOP:\nadd.s32 %r8, %r8, %r9;\nadd.s32 %r9, %r9, 1;\n"		\
	"setp.lt.u32 %p1, %r9, %r1;\n@%p1 bra LOOP;\n"			\
	"st.shared.u32 [%r7], %r8;\nbar.sync 0;\n"			\
	"sub.s32 %r10, %r2, %r1;\nadd.s32 %r10, %r10, -1;\nshl.b32 %r10, %r10, 2;\n" \
	"add.s32 %r11, %r5, %r10;\nld.shared.u32 %r12, [%r11];\n"	\
	"ld.param.u64 %rd1, [p];\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\n" \
	"st.global.u32 [%rd3], %r12;\nret;\n}\n"

struct gpu_bench {
	struct gpu_spec spec;
	struct service *service, *used;	/* sim's; what the gpu was given */
	struct gpu *gpu;
	struct gpu_session *session;
	struct err err;
	uint8_t *memory;
	size_t bytes;
};

static inline void bench_spec(struct gpu_bench *b)
{
	memset(b, 0, sizeof(*b));
	spec_defaults(&b->spec);
	strcpy(b->spec.scheduler, "lrr");
}

/* wrap may be NULL; it gets sim's service and returns what the GPU shall use. */
static inline void bench_open(struct gpu_bench *b, const char *ptx, size_t bytes,
		       struct service *(*wrap)(struct service *sim))
{
	int ret;

	assert_int_equal(service_sim_create(b->spec.vram_bytes, b->spec.service_ns,
					    b->spec.service_page_ns, &b->service), 0);
	b->bytes = bytes;
	/* At the same address in every run: addresses are in the fault order. */
	b->memory = mmap((void *)0x200000000000ull, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	assert_ptr_equal(b->memory, (void *)0x200000000000ull);
	assert_int_equal(service_sim_map(b->service, VA_SPACE, (uintptr_t)b->memory,
					 bytes), 0);
	b->used = wrap ? wrap(b->service) : b->service;
	assert_int_equal(gpu_create(b->used, &b->gpu, &b->err), 0);
	ret = gpu_session_create(b->gpu, VA_SPACE, &b->spec, &b->session, &b->err);
	if (ret)
		print_error("%s\n", b->err.text);
	assert_int_equal(ret, 0);
	ret = gpu_session_load(b->session, 1, "test.ptx", ptx, strlen(ptx), 0,
			       &b->err);
	if (ret)
		print_error("%s\n", b->err.text);
	assert_int_equal(ret, 0);
}

static inline void bench_close(struct gpu_bench *b)
{
	gpu_destroy(b->gpu);
	b->service->ops->destroy(b->service);
	munmap(b->memory, b->bytes);
}

static inline int bench_launch(struct gpu_bench *b, const char *kernel, uint32_t grid,
			uint32_t block, const void *params, uint32_t param_bytes,
			uint64_t *fault_addr)
{
	struct gpu_launch l = {
		.module = 1, .kernel = kernel, .grid = { grid, 1, 1 },
		.block = { block, 1, 1 }, .params = params, .param_bytes = param_bytes,
	};

	b->err.text[0] = '\0';
	return gpu_session_launch(b->session, &l, fault_addr, &b->err);
}

static inline int bench_gather(struct gpu_bench *b, uint64_t in, uint64_t out, uint64_t stride,
			uint32_t grid, uint32_t block)
{
	uint64_t params[] = { in, out, stride };
	uint64_t fault;

	return bench_launch(b, "gather", grid, block, params, sizeof(params), &fault);
}

/* What the statistics have at a path: "paging.far_faults", "kernels.0.cycles". The caller puts *top. */
static inline struct json_object *bench_member(struct gpu_bench *b, const char *path,
					       struct json_object **top)
{
	char *text = gpu_session_statistics(b->session), key[128];
	struct json_object *o = *top = json_tokener_parse(text);
	const char *at = path;

	assert_non_null(o);
	while (*at) {
		size_t n = strcspn(at, ".");

		snprintf(key, sizeof(key), "%.*s", (int)n, at);
		if (json_object_get_type(o) == json_type_array)
			o = json_object_array_get_idx(o, strtoul(key, NULL, 10));
		else if (!json_object_object_get_ex(o, key, &o))
			fail_msg("no %s in %s", path, text);
		at += n + (at[n] == '.');
	}
	free(text);
	return o;
}

static inline uint64_t bench_stat(struct gpu_bench *b, const char *path)
{
	struct json_object *top;
	uint64_t value = json_object_get_uint64(bench_member(b, path, &top));

	json_object_put(top);
	return value;
}

/* Ratios have six digits. */
static inline void bench_ratio(struct gpu_bench *b, const char *path, double want)
{
	struct json_object *top;
	double got = json_object_get_double(bench_member(b, path, &top));

	json_object_put(top);
	if (got < want * (1 - 1e-5) || got > want * (1 + 1e-5))
		fail_msg("%s is %.6g, not %.6g", path, got, want);
}

#define BENCH_BYTES	(1u << 20)

/* The usual memory. */
static inline void bench_open_with(struct gpu_bench *b, const char *ptx)
{
	bench_open(b, ptx, BENCH_BYTES, NULL);
}

/* A kernel whose parameters are one of 8 bytes. */
static inline int bench_launch_one(struct gpu_bench *b, const char *kernel, uint32_t grid,
			uint32_t block, uint64_t param)
{
	return bench_launch(b, kernel, grid, block, &param, sizeof(param), NULL);
}

static inline void bench_expect(struct gpu_bench *b, int got, int want, const char *text)
{
	if (got != want || (want && !strstr(b->err.text, text)))
		fail_msg("%d '%s', not %d '%s'", got, b->err.text, want, text);
}

#endif
