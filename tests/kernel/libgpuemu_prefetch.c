// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetches both ways through the module and a real daemon, between launches and in
 * their order, and several handlers on one small memory: contents are right, and the counts say
 * where pages were.
 * vm: daemon timeout=180 vram_mb=4
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gpuemu.h>

#include "lib/harness.h"
#include "lib/statistic.h"

#define WORDS	(256u << 10)		/* 1 MiB */
#define STEP	1024u			/* words between what a thread touches: a page */

/* p[i * STEP] += 1 for each thread i. */
static const char ptx[] =
	".version 3.2\n.target sm_35\n.address_size 64\n"
	".visible .entry up(.param .u64 p)\n{\n"
	".reg .b32 %r<8>;\n.reg .b64 %rd<6>;\n"
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
	"mad.lo.s32 %r4, %r1, %r2, %r3;\nmul.wide.u32 %rd1, %r4, 4096;\n"
	"ld.param.u64 %rd2, [p];\nadd.s64 %rd3, %rd2, %rd1;\n"
	"ld.global.u32 %r5, [%rd3];\nadd.s32 %r6, %r5, 1;\nst.global.u32 [%rd3], %r6;\nret;\n}\n";

FIXTURE(prefetch)
{
	struct gpuemu_ctx *ctx;
	struct gpuemu_module *module;
	struct gpuemu_function *up;
	uint32_t *p;
};

static int open_with(FIXTURE_DATA(prefetch) *f, const char *settings, size_t words)
{
	const struct gpuemu_options options = {
		.size = sizeof(options), .backend = "kmod", .settings = settings,
	};
	int ret = gpuemu_open(&f->ctx, &options);

	if (!ret)
		ret = gpuemu_module_load_data(f->ctx, &f->module, ptx, strlen(ptx), "up.ptx");
	if (!ret)
		ret = gpuemu_module_get_function(f->module, &f->up, "up");
	if (!ret)
		ret = gpuemu_mem_alloc_managed(f->ctx, (void **)&f->p, words * 4);
	for (size_t i = 0; !ret && i < words; i++)
		f->p[i] = (uint32_t)i * 2654435761u;
	return ret;
}

static int launch(FIXTURE_DATA(prefetch) *f, uint32_t pages)
{
	const struct gpuemu_arg arg = gpuemu_arg_ptr(f->p);

	return gpuemu_launch(f->up, (struct gpuemu_dim3){ pages / 32, 1, 1 },
			     (struct gpuemu_dim3){ 32, 1, 1 }, 0, NULL, &arg, 1);
}

FIXTURE_SETUP(prefetch)
{
}

FIXTURE_TEARDOWN(prefetch)
{
	gpuemu_close(self->ctx);
}

TEST_F(prefetch, both_ways)
{
	const uint32_t pages = WORDS / STEP;

	ASSERT_EQ(0, open_with(self, NULL, WORDS)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	ASSERT_EQ(0, gpuemu_mem_prefetch(self->ctx, self->p, WORDS * 4, NULL));
	ASSERT_EQ(0, launch(self, pages));
	/* All but the last 16 pages, behind the kernel and before the next. */
	ASSERT_EQ(0, gpuemu_mem_prefetch_host(self->ctx, self->p, (pages - 16) * 4096, NULL));
	ASSERT_EQ(0, gpuemu_synchronize(self->ctx)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_EQ(0, paging_number(self->ctx, "far_faults"));
	EXPECT_EQ(pages, paging_number(self->ctx, "prefetched_pages"));
	EXPECT_EQ((pages - 16) * 4096, paging_number(self->ctx, "d2h_bytes"));
	EXPECT_EQ(16, paging_number(self->ctx, "resident_pages"));
	EXPECT_EQ(0, paging_number(self->ctx, "evicted_pages"));
	/* Again, with nothing there to move; and the kernel faults for what has gone. */
	ASSERT_EQ(0, gpuemu_mem_prefetch_host(self->ctx, self->p, 4096, NULL));
	ASSERT_EQ(0, launch(self, pages));
	ASSERT_EQ(0, gpuemu_synchronize(self->ctx)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_EQ(pages - 16, paging_number(self->ctx, "far_faults"));
	EXPECT_EQ(pages, paging_number(self->ctx, "resident_pages"));
	for (uint32_t i = 0; i < WORDS; i++)
		ASSERT_EQ(i * 2654435761u + (i % STEP ? 0 : 2), self->p[i]);
}

/* Twice the memory there is, with as many handlers as there are faults, and with four. */
TEST_F(prefetch, many_handlers)
{
	static const char *const settings[] = {
		"paging.handlers=0\npaging.vram=512K\npaging.watermark=10\n",
		"paging.handlers=4\npaging.vram=512K\npaging.prefetch=tree\npaging.evict=tree\n",
		"gmmu.page=65536\npaging.vram=512K\n",
	};
	const uint32_t pages = WORDS / STEP;

	for (unsigned int s = 0; s < 3; s++) {
		ASSERT_EQ(0, open_with(self, settings[s], WORDS))
			TH_LOG("%s", gpuemu_last_error(self->ctx));
		for (unsigned int round = 0; round < 2; round++)
			ASSERT_EQ(0, launch(self, pages));
		ASSERT_EQ(0, gpuemu_synchronize(self->ctx))
			TH_LOG("%s", gpuemu_last_error(self->ctx));
		EXPECT_LE(pages / 2, paging_number(self->ctx, "evicted_pages"));
		EXPECT_GE(pages / 2, paging_number(self->ctx, "resident_pages"));
		for (uint32_t i = 0; i < WORDS; i++)
			ASSERT_EQ(i * 2654435761u + (i % STEP ? 0 : 2), self->p[i]);
		if (s < 2)
			gpuemu_close(self->ctx);
	}
}

TEST_HARNESS_MAIN
