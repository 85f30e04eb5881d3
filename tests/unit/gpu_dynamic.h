/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dispatch dynamic on four SMs without paging, for test_gpu_dynamic.c, _sampling.c, _arrivals.c
 * and _zorua_beside.c. Each CTA leaves where it ran, and from which cycle to which. The kernel of
 * most tests adds up in a loop, one warp a CTA: each CTA brings as much as the one before, so two
 * of it share an SM's slots evenly.
 */
#ifndef GPUEMU_TESTS_GPU_DYNAMIC_H
#define GPUEMU_TESTS_GPU_DYNAMIC_H

#include <json-c/json.h>

#include "gpu/loop.h"
#include "gpu_bench.h"

#define PTX_LOOP							\
	".visible .entry loop(.param .u64 p, .param .u64 n)\n{\n"	\
	".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n"	\
	"mov.u32 %r1, %clock;\nld.param.u32 %r2, [n];\nmov.u32 %r3, 0;\n" \
	"AGAIN:\nadd.s32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra AGAIN;\n" \
	"ld.param.u64 %rd1, [p];\nmov.u32 %r4, %ctaid.x;\n"		\
	"mul.wide.u32 %rd2, %r4, 16;\nadd.s64 %rd1, %rd1, %rd2;\n"	\
	"mov.u32 %r5, %smid;\nmov.u32 %r6, %clock;\n"			\
	"st.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r6;\n"	\
	"st.global.u32 [%rd1+8], %r5;\nret;\n}\n"

struct mark {
	uint32_t begin, end, sm, pad;
};

#define PLACE	65536u		/* bytes of memory that a launch's marks have */

static inline void done(void *ctx, int status, uint64_t fault_addr, const struct err *err,
		 char *output, size_t bytes)
{
	if (status)
		fail_msg("%d: %s", status, err->text);
	free(output);
}

/* CTAs of `block` threads, whose marks are at the place. */
static inline void launch_of(struct gpu_bench *b, uint32_t stream, const char *kernel,
			     unsigned int place, uint32_t ctas, uint32_t block, uint64_t n)
{
	uint64_t params[2] = { (uintptr_t)b->memory + place * PLACE, n };
	const struct gpu_launch l = {
		.module = 1, .kernel = kernel, .grid = { ctas, 1, 1 },
		.block = { block, 1, 1 }, .params = params, .param_bytes = sizeof(params),
	};

	assert_int_equal(gpu_session_submit(b->session, stream, &l, done, NULL), 0);
}

static inline void launch_as(struct gpu_bench *b, uint32_t stream, const char *kernel,
			     unsigned int place, uint32_t ctas, uint64_t n)
{
	launch_of(b, stream, kernel, place, ctas, 32, n);
}

static inline void launch(struct gpu_bench *b, uint32_t stream, unsigned int place, uint32_t ctas,
		   uint64_t n)
{
	launch_as(b, stream, stream == 1 ? "loop" : "other", place, ctas, n);
}

/*
 * With the loop under two names, `loop` and `other`, and the kernels of the text. Programs are
 * compiled for the mechanism.
 */
static inline void open_bench_of(struct gpu_bench *b, const char *kernels, uint64_t reuse,
				 const char *mechanism)
{
	static char text[8192];

	snprintf(text, sizeof(text), "%s%s%s%s%s", PTX_HEAD, kernels, PTX_LOOP,
		 ".visible .entry other", strstr(PTX_LOOP, "(.param"));
	bench_spec(b);
	b->spec.paging = 0;
	b->spec.sms = 4;
	strcpy(b->spec.dispatch, "dynamic");
	b->spec.slicer_warmup = 2000;
	b->spec.slicer_sample = 1000;
	b->spec.slicer_change = 0;
	b->spec.slicer_reuse = reuse;
	strcpy(b->spec.cta, mechanism);
	bench_open_with(b, text);
}

static inline void open_bench(struct gpu_bench *b, const char *kernels, uint64_t reuse)
{
	open_bench_of(b, kernels, reuse, "baseline");
}

/* The most CTAs of a launch on the SM at a time, as one of them began in [from, to). */
static inline unsigned int most(const struct gpu_bench *b, unsigned int place, unsigned int ctas,
			 unsigned int sm, uint32_t from, uint32_t to)
{
	const struct mark *m = (const struct mark *)(b->memory + place * PLACE);
	unsigned int most = 0;

	for (unsigned int c = 0; c < ctas; c++) {
		unsigned int n = 0;

		if (m[c].sm != sm || m[c].begin < from || m[c].begin >= to)
			continue;
		for (unsigned int o = 0; o < ctas; o++)
			n += m[o].sm == sm && m[o].begin <= m[c].begin && m[c].begin < m[o].end;
		most = MAX(most, n);
	}
	return most;
}

static inline struct json_object *partitions(struct gpu_bench *b, struct json_object **all)
{
	char *text = gpu_session_statistics(b->session);
	struct json_object *dispatch, *list;

	*all = json_tokener_parse(text);
	free(text);
	assert_true(json_object_object_get_ex(*all, "dispatch", &dispatch));
	assert_true(json_object_object_get_ex(dispatch, "partitions", &list));
	return list;
}

static inline uint64_t number(struct json_object *o, const char *key)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(o, key, &v));
	return json_object_get_uint64(v);
}

static inline struct json_object *kernel_of(struct json_object *partition, unsigned int i)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(partition, "kernels", &v));
	return json_object_array_get_idx(v, i);
}

/* CTAs of the launch that began on the SM in [from, to). */
static inline unsigned int begun(const struct gpu_bench *b, unsigned int place, unsigned int ctas,
			  unsigned int sm, uint64_t from, uint64_t to)
{
	const struct mark *m = (const struct mark *)(b->memory + place * PLACE);
	unsigned int n = 0;

	for (unsigned int c = 0; c < ctas; c++)
		n += m[c].sm == sm && m[c].begin >= from && m[c].begin < to;
	return n;
}

/* All CTAs of the launch have run, and are there no more. */
static inline void all_ran(const struct gpu_bench *b, unsigned int place, unsigned int ctas)
{
	const struct mark *m = (const struct mark *)(b->memory + place * PLACE);

	for (unsigned int c = 0; c < ctas; c++)
		assert_true(m[c].end > m[c].begin);
}

/* The n-th partition's CTAs of the i-th kernel; 0: the SMs were split. */
static inline uint64_t share(struct gpu_bench *b, unsigned int n, unsigned int i)
{
	struct json_object *all, *partition = json_object_array_get_idx(partitions(b, &all), n), *v;
	uint64_t ctas;

	assert_non_null(partition);
	ctas = json_object_object_get_ex(kernel_of(partition, i), "ctas", &v) ?
		       json_object_get_uint64(v) : 0;
	json_object_put(all);
	return ctas;
}

static inline size_t decided(struct gpu_bench *b)
{
	struct json_object *all;
	size_t n = json_object_array_length(partitions(b, &all));

	json_object_put(all);
	return n;
}

/* The n-th partition's cycle, and of how many kernels it is. */
static inline uint64_t decided_at(struct gpu_bench *b, unsigned int n, size_t *kernels)
{
	struct json_object *all, *partition = json_object_array_get_idx(partitions(b, &all), n), *v;
	uint64_t cycle;

	assert_non_null(partition);
	cycle = number(partition, "cycle");
	assert_true(json_object_object_get_ex(partition, "kernels", &v));
	*kernels = json_object_array_length(v);
	json_object_put(all);
	return cycle;
}

#endif
