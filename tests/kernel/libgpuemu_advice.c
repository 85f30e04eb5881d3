// SPDX-License-Identifier: GPL-2.0
/*
 * Advice on managed memory through the module and a real daemon: who uses a page where it
 * is, who has a copy, what a write on either side does to it; contents are right throughout.
 * And prefetches, which return at once and keep their stream's order.
 * vm: daemon timeout=240 vram_mb=4
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gpuemu.h>

#include "lib/harness.h"
#include "lib/statistic.h"

#define PAGES	64u
#define STEP	1024u			/* words of a page */
#define WORDS	(PAGES * STEP)
#define BYTES	(WORDS * 4u)

/*
 * up: p[i * STEP] += 1 for each thread i. sum: q[i * STEP] = p[i * STEP] + n.
 * late: the same as up, after n turns of a loop.
 */
static const char ptx[] =
	".version 3.2\n.target sm_35\n.address_size 64\n"
	".visible .entry up(.param .u64 p)\n{\n"
	".reg .b32 %r<8>;\n.reg .b64 %rd<6>;\n"
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
	"mad.lo.s32 %r4, %r1, %r2, %r3;\nmul.wide.u32 %rd1, %r4, 4096;\n"
	"ld.param.u64 %rd2, [p];\nadd.s64 %rd3, %rd2, %rd1;\n"
	"ld.global.u32 %r5, [%rd3];\nadd.s32 %r6, %r5, 1;\nst.global.u32 [%rd3], %r6;\nret;\n}\n"
	".visible .entry sum(.param .u64 p, .param .u64 q, .param .u32 n)\n{\n"
	".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
	"mad.lo.s32 %r4, %r1, %r2, %r3;\nmul.wide.u32 %rd1, %r4, 4096;\n"
	"ld.param.u64 %rd2, [p];\nadd.s64 %rd3, %rd2, %rd1;\n"
	"ld.param.u64 %rd4, [q];\nadd.s64 %rd5, %rd4, %rd1;\nld.param.u32 %r7, [n];\n"
	"ld.global.u32 %r5, [%rd3];\nadd.s32 %r6, %r5, %r7;\nst.global.u32 [%rd5], %r6;\nret;\n}\n"
	".visible .entry late(.param .u64 p, .param .u32 n)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<6>;\n"
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
	"mad.lo.s32 %r4, %r1, %r2, %r3;\nmul.wide.u32 %rd1, %r4, 4096;\n"
	"ld.param.u64 %rd2, [p];\nadd.s64 %rd3, %rd2, %rd1;\nld.param.u32 %r7, [n];\n"
	"L:\nsub.u32 %r7, %r7, 1;\nsetp.ne.u32 %p1, %r7, 0;\n@%p1 bra L;\n"
	"ld.global.u32 %r5, [%rd3];\nadd.s32 %r6, %r5, 1;\nst.global.u32 [%rd3], %r6;\nret;\n}\n";

FIXTURE(advice)
{
	struct gpuemu_ctx *ctx;
	struct gpuemu_module *module;
	uint32_t *p, *q;
};

static uint32_t first(uint32_t i)
{
	return i * 2654435761u;
}

FIXTURE_SETUP(advice)
{
	const struct gpuemu_options options = { .size = sizeof(options), .backend = "kmod" };

	ASSERT_EQ(0, gpuemu_open(&self->ctx, &options)) TH_LOG("%s", gpuemu_last_error(NULL));
	ASSERT_EQ(0, gpuemu_module_load_data(self->ctx, &self->module, ptx, strlen(ptx),
					     "advice.ptx"))
		TH_LOG("%s", gpuemu_last_error(self->ctx));
	ASSERT_EQ(0, gpuemu_mem_alloc_managed(self->ctx, (void **)&self->p, BYTES));
	ASSERT_EQ(0, gpuemu_mem_alloc_managed(self->ctx, (void **)&self->q, BYTES));
	for (uint32_t i = 0; i < WORDS; i++)
		self->p[i] = first(i);
}

FIXTURE_TEARDOWN(advice)
{
	gpuemu_close(self->ctx);
}

static int launch(FIXTURE_DATA(advice) *f, const char *kernel, const struct gpuemu_arg *args,
		  unsigned int nargs, struct gpuemu_stream *stream)
{
	struct gpuemu_function *function;
	int ret = gpuemu_module_get_function(f->module, &function, kernel);

	return ret ? ret : gpuemu_launch(function, (struct gpuemu_dim3){ PAGES / 32, 1, 1 },
					 (struct gpuemu_dim3){ 32, 1, 1 }, 0, stream, args, nargs);
}

static int up(FIXTURE_DATA(advice) *f)
{
	const struct gpuemu_arg arg = gpuemu_arg_ptr(f->p);
	int ret = launch(f, "up", &arg, 1, NULL);

	return ret ? ret : gpuemu_synchronize(f->ctx);
}

static int sum(FIXTURE_DATA(advice) *f, uint32_t n)
{
	const struct gpuemu_arg args[] = {
		gpuemu_arg_ptr(f->p), gpuemu_arg_ptr(f->q), gpuemu_arg_u32(n),
	};
	int ret = launch(f, "sum", args, 3, NULL);

	return ret ? ret : gpuemu_synchronize(f->ctx);
}

/* Accessed by the device: nothing faults, nothing moves, and both sides see what the other wrote. */
TEST_F(advice, accessed_by)
{
	ASSERT_EQ(0, gpuemu_mem_advise(self->ctx, self->p, BYTES, GPUEMU_ADVISE_SET_ACCESSED_BY,
				       GPUEMU_LOCATION_DEVICE));
	for (uint32_t round = 1; round <= 3; round++) {
		ASSERT_EQ(0, up(self)) TH_LOG("%s", gpuemu_last_error(self->ctx));
		for (uint32_t i = 0; i < WORDS; i += STEP) {
			ASSERT_EQ(first(i) + 2 * round - 1, self->p[i]);
			self->p[i]++;
		}
	}
	EXPECT_EQ(0, paging_number(self->ctx, "far_faults"));
	EXPECT_EQ(0, paging_number(self->ctx, "h2d_bytes"));
	EXPECT_EQ(PAGES, paging_number(self->ctx, "remote/pages"));
	EXPECT_EQ(3 * PAGES, paging_number(self->ctx, "remote/reads"));
	EXPECT_EQ(3 * PAGES, paging_number(self->ctx, "remote/writes"));
	for (uint32_t i = 0; i < WORDS; i++)
		ASSERT_EQ(first(i) + (i % STEP ? 0 : 6), self->p[i]);
	/* Explicitly it moves. */
	ASSERT_EQ(0, gpuemu_mem_prefetch(self->ctx, self->p, BYTES, NULL));
	ASSERT_EQ(0, up(self));
	EXPECT_EQ(BYTES, paging_number(self->ctx, "h2d_bytes"));
	EXPECT_EQ(0, paging_number(self->ctx, "remote/pages"));
	for (uint32_t i = 0; i < WORDS; i++)
		ASSERT_EQ(first(i) + (i % STEP ? 0 : 7), self->p[i]);
}

/* Mostly read: the GPU's copy stays while the CPU reads, and goes when it writes. */
TEST_F(advice, read_mostly)
{
	uint64_t faults;

	ASSERT_EQ(0, gpuemu_mem_advise(self->ctx, self->p, BYTES, GPUEMU_ADVISE_SET_READ_MOSTLY,
				       0));
	ASSERT_EQ(0, gpuemu_mem_advise(self->ctx, self->q, BYTES, GPUEMU_ADVISE_SET_ACCESSED_BY,
				       GPUEMU_LOCATION_DEVICE));
	ASSERT_EQ(0, sum(self, 5)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_EQ(PAGES, paging_number(self->ctx, "duplicates/made_pages"));
	for (uint32_t i = 0; i < WORDS; i++)
		ASSERT_EQ(first(i), self->p[i]);
	for (uint32_t i = 0; i < WORDS; i += STEP)
		ASSERT_EQ(first(i) + 5, self->q[i]);
	faults = paging_number(self->ctx, "far_faults");
	ASSERT_EQ(0, sum(self, 6));
	EXPECT_EQ(faults, paging_number(self->ctx, "far_faults"));
	EXPECT_EQ(PAGES, paging_number(self->ctx, "duplicates/pages"));
	/* The CPU writes every other page: those come again. */
	for (uint32_t i = 0; i < WORDS; i += 2 * STEP)
		self->p[i] += 100;
	ASSERT_EQ(0, sum(self, 7));
	EXPECT_EQ(faults + PAGES / 2, paging_number(self->ctx, "far_faults"));
	for (uint32_t i = 0; i < WORDS; i += STEP)
		ASSERT_EQ(first(i) + 7 + (i % (2 * STEP) ? 0 : 100), self->q[i]);
	/* The GPU writes: what the CPU has is stale, and it does not see it. */
	ASSERT_EQ(0, up(self));
	EXPECT_EQ(PAGES, paging_number(self->ctx, "duplicates/collapsed_pages"));
	EXPECT_EQ(0, paging_number(self->ctx, "duplicates/pages"));
	for (uint32_t i = 0; i < WORDS; i++)
		ASSERT_EQ(first(i) + (i % STEP ? 0 : i % (2 * STEP) ? 1 : 101), self->p[i]);
}

TEST_F(advice, preferred_host)
{
	ASSERT_EQ(0, gpuemu_mem_advise(self->ctx, self->p, BYTES / 2,
				       GPUEMU_ADVISE_SET_PREFERRED_LOCATION,
				       GPUEMU_LOCATION_HOST));
	ASSERT_EQ(0, up(self)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_EQ(PAGES, paging_number(self->ctx, "far_faults"));
	EXPECT_EQ(PAGES / 2, paging_number(self->ctx, "remote/pages"));
	EXPECT_EQ(PAGES / 2, paging_number(self->ctx, "resident_pages"));
	ASSERT_EQ(0, gpuemu_mem_advise(self->ctx, self->p, BYTES,
				       GPUEMU_ADVISE_UNSET_PREFERRED_LOCATION, 0));
	ASSERT_EQ(0, up(self));
	EXPECT_EQ(0, paging_number(self->ctx, "remote/pages"));
	EXPECT_EQ(PAGES, paging_number(self->ctx, "resident_pages"));
	for (uint32_t i = 0; i < WORDS; i++)
		ASSERT_EQ(first(i) + (i % STEP ? 0 : 2), self->p[i]);
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* A prefetch, either way, returns while the kernel before it runs, and begins behind it. */
TEST_F(advice, prefetch_is_asynchronous)
{
	const struct gpuemu_arg args[] = { gpuemu_arg_ptr(self->p), gpuemu_arg_u32(100000) };
	struct gpuemu_stream *stream;
	uint64_t begin, returned, done;

	ASSERT_EQ(0, gpuemu_stream_create(self->ctx, &stream));
	/* The engine knows all that it has to be told. */
	ASSERT_EQ(0, gpuemu_mem_prefetch_host(self->ctx, self->p, BYTES, stream));
	ASSERT_EQ(0, gpuemu_synchronize(self->ctx));
	begin = now_us();
	ASSERT_EQ(0, launch(self, "late", args, 2, stream));
	ASSERT_EQ(0, gpuemu_mem_prefetch(self->ctx, self->p, BYTES, stream));
	returned = now_us();
	ASSERT_EQ(0, gpuemu_synchronize(self->ctx)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	done = now_us();
	TH_LOG("returned after %llu us, done after %llu us",
	       (unsigned long long)(returned - begin), (unsigned long long)(done - begin));
	EXPECT_LT(4 * (returned - begin), done - begin);
	/* The kernel went first: it faulted, and left nothing to prefetch. */
	EXPECT_EQ(PAGES, paging_number(self->ctx, "far_faults"));
	EXPECT_EQ(0, paging_number(self->ctx, "prefetched_pages"));

	begin = now_us();
	ASSERT_EQ(0, launch(self, "late", args, 2, stream));
	ASSERT_EQ(0, gpuemu_mem_prefetch_host(self->ctx, self->p, BYTES / 2, stream));
	ASSERT_EQ(0, gpuemu_mem_prefetch(self->ctx, self->p, BYTES / 4, stream));
	returned = now_us();
	ASSERT_EQ(0, gpuemu_stream_synchronize(self->ctx, stream));
	done = now_us();
	EXPECT_LT(4 * (returned - begin), done - begin);
	/* Home when the kernel had written, and then some of it there again. */
	EXPECT_EQ(PAGES, paging_number(self->ctx, "far_faults"));
	EXPECT_EQ(PAGES / 4, paging_number(self->ctx, "prefetched_pages"));
	EXPECT_EQ(BYTES / 2, paging_number(self->ctx, "d2h_bytes"));
	EXPECT_EQ(PAGES * 3 / 4, paging_number(self->ctx, "resident_pages"));
	for (uint32_t i = 0; i < WORDS; i++)
		ASSERT_EQ(first(i) + (i % STEP ? 0 : 2), self->p[i]);
}

TEST_HARNESS_MAIN
