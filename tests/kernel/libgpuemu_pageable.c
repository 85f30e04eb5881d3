// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels that are given any pointer of the program, through the module and a real daemon:
 * with no call and no flag where the kernel can mirror a process, and else with an error that
 * says why not.
 * vm: daemon timeout=240 vram_mb=4 remote_mb=1
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gpuemu.h>

#include "lib/harness.h"
#include "lib/mirrors.h"
#include "lib/pagemap.h"
#include "lib/statistic.h"

#define STEP	1024u			/* words between what a thread touches: a page */
#define PAGES	64u
#define MANY	512u			/* twice as many as the engine can have mapped at a time */

/* to[i * STEP] = from[i * STEP] + 1 for each thread i. */
static const char ptx[] =
	".version 3.2\n.target sm_35\n.address_size 64\n"
	".visible .entry up(.param .u64 to, .param .u64 from)\n{\n"
	".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
	"mad.lo.s32 %r4, %r1, %r2, %r3;\nmul.wide.u32 %rd1, %r4, 4096;\n"
	"ld.param.u64 %rd2, [to];\nld.param.u64 %rd3, [from];\n"
	"add.s64 %rd4, %rd2, %rd1;\nadd.s64 %rd5, %rd3, %rd1;\n"
	"ld.global.u32 %r5, [%rd5];\nadd.s32 %r6, %r5, 1;\nst.global.u32 [%rd4], %r6;\nret;\n}\n";

static uint32_t variable[PAGES * STEP];

FIXTURE(pageable)
{
	struct gpuemu_ctx *ctx;
	struct gpuemu_module *module;
	struct gpuemu_function *up;
};

static int open_it(FIXTURE_DATA(pageable) *f, const char *settings)
{
	const struct gpuemu_options options = {
		.size = sizeof(options), .backend = "kmod", .settings = settings,
	};
	int ret = gpuemu_open(&f->ctx, &options);

	if (!ret)
		ret = gpuemu_module_load_data(f->ctx, &f->module, ptx, strlen(ptx), "up.ptx");
	return ret ? ret : gpuemu_module_get_function(f->module, &f->up, "up");
}

FIXTURE_SETUP(pageable)
{
}

FIXTURE_TEARDOWN(pageable)
{
	gpuemu_close(self->ctx);
}

static int up(FIXTURE_DATA(pageable) *f, uint32_t *to, const uint32_t *from, uint32_t pages)
{
	const struct gpuemu_arg args[] = { gpuemu_arg_ptr(to), gpuemu_arg_ptr(from) };
	int ret = gpuemu_launch(f->up, (struct gpuemu_dim3){ pages / 32, 1, 1 },
				(struct gpuemu_dim3){ 32, 1, 1 }, 0, NULL, args, 2);

	return ret ? ret : gpuemu_synchronize(f->ctx);
}

static void number(uint32_t *p, uint32_t pages)
{
	for (uint32_t i = 0; i < pages; i++)
		p[i * STEP] = i * 2654435761u;
}

static bool is_up(const uint32_t *p, uint32_t pages, uint32_t by)
{
	for (uint32_t i = 0; i < pages; i++)
		if (p[i * STEP] != i * 2654435761u + by)
			return false;
	return true;
}

/* Heap to variables, variables to a stack, that to memory nobody touched. */
static void anywhere(struct __test_metadata *_metadata, FIXTURE_DATA(pageable) *self)
{
	uint32_t *heap = malloc(PAGES * STEP * 4), stack[PAGES * STEP];
	uint32_t *fresh = malloc(MANY * STEP * 4);

	ASSERT_EQ(1, gpuemu_pageable(self->ctx));
	number(heap, PAGES);
	EXPECT_EQ(0, up(self, variable, heap, PAGES)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_TRUE(is_up(variable, PAGES, 1));
	EXPECT_EQ(0, up(self, stack, variable, PAGES));
	EXPECT_TRUE(is_up(stack, PAGES, 2));
	EXPECT_EQ(0, up(self, fresh, stack, PAGES));
	EXPECT_TRUE(is_up(fresh, PAGES, 3));
	free(fresh);
	free(heap);
}

TEST_F(pageable, any_pointer)
{
	if (!kernel_mirrors())
		return;
	ASSERT_EQ(0, open_it(self, NULL)) TH_LOG("%s", gpuemu_last_error(NULL));
	anywhere(_metadata, self);
}

TEST_F(pageable, with_paging_off)
{
	if (!kernel_mirrors())
		return;
	ASSERT_EQ(0, open_it(self, "paging.enabled=0\n"));
	anywhere(_metadata, self);
}

TEST_F(pageable, more_than_can_be_mapped)
{
	uint32_t *p = malloc((size_t)MANY * STEP * 4);

	if (!kernel_mirrors())
		return;
	ASSERT_EQ(0, open_it(self, NULL));
	number(p, MANY);
	EXPECT_EQ(0, up(self, p, p, MANY)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_TRUE(is_up(p, MANY, 1));
	free(p);
}

static uint32_t in_core(const uint32_t *p, uint32_t pages)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pages; i++)
		n += pagemap(p + i * STEP) >> 63;
	return n;
}

/* Prefetched, pages go before any kernel asks for them; those that nobody has touched do not. */
TEST_F(pageable, prefetched)
{
	const size_t bytes = (size_t)PAGES * STEP * 4;
	uint32_t *p = aligned_alloc(4096, 2 * bytes), left = PAGES;

	if (!kernel_mirrors())
		return;
	ASSERT_EQ(0, open_it(self, NULL));
	number(p, PAGES);
	ASSERT_EQ(PAGES, in_core(p, 2 * PAGES));
	ASSERT_EQ(0, gpuemu_mem_prefetch(self->ctx, p, 2 * bytes, NULL))
		TH_LOG("%s", gpuemu_last_error(self->ctx));
	ASSERT_EQ(0, gpuemu_synchronize(self->ctx)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	/* The client's worker may be at it still. */
	for (int tries = 0; tries < 5000 && (left = in_core(p, PAGES)); tries++)
		usleep(1000);
	EXPECT_EQ(0, left);
	EXPECT_EQ(0, up(self, p, p, PAGES)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_EQ(0, in_core(p, 2 * PAGES));
	EXPECT_EQ(PAGES, paging_number(self->ctx, "resident_pages"));
	EXPECT_EQ(0, gpuemu_mem_prefetch_host(self->ctx, p, bytes / 2, NULL));
	ASSERT_EQ(0, gpuemu_synchronize(self->ctx)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_EQ(PAGES / 2, in_core(p, PAGES / 2));
	EXPECT_EQ(0, in_core(p + PAGES / 2 * STEP, PAGES / 2));
	EXPECT_EQ(PAGES / 2, paging_number(self->ctx, "resident_pages"));
	EXPECT_TRUE(is_up(p, PAGES, 1));
	/* Only what the program has, and may write. */
	ASSERT_EQ(0, mprotect(p, 4096, PROT_READ));
	EXPECT_EQ(-EINVAL, gpuemu_mem_prefetch(self->ctx, p, bytes, NULL));
	EXPECT_EQ(-EINVAL, gpuemu_mem_prefetch(self->ctx, (void *)4096, 4096, NULL));
	ASSERT_EQ(0, mprotect(p, 4096, PROT_READ | PROT_WRITE));
	free(p);
}

/* What prefers the host stays, and the kernel uses it there; a hint to duplicate does no harm. */
TEST_F(pageable, advised)
{
	const size_t bytes = (size_t)PAGES * STEP * 4;
	uint32_t *p = aligned_alloc(4096, bytes);

	if (!kernel_mirrors())
		return;
	ASSERT_EQ(0, open_it(self, NULL));
	number(p, PAGES);
	ASSERT_EQ(0, gpuemu_mem_advise(self->ctx, p, bytes / 2,
				       GPUEMU_ADVISE_SET_PREFERRED_LOCATION, GPUEMU_LOCATION_HOST))
		TH_LOG("%s", gpuemu_last_error(self->ctx));
	ASSERT_EQ(0, gpuemu_mem_advise(self->ctx, p + PAGES / 2 * STEP, bytes / 2,
				       GPUEMU_ADVISE_SET_READ_MOSTLY, GPUEMU_LOCATION_DEVICE));
	EXPECT_EQ(0, up(self, p, p, PAGES)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_EQ(PAGES / 2, in_core(p, PAGES / 2));
	EXPECT_EQ(0, in_core(p + PAGES / 2 * STEP, PAGES / 2));
	EXPECT_TRUE(is_up(p, PAGES, 1));
	free(p);
}

/* Managed memory, which moves, beside memory that does not. */
TEST_F(pageable, with_managed_memory)
{
	uint32_t *managed, *heap = malloc(PAGES * STEP * 4);

	if (!kernel_mirrors())
		return;
	ASSERT_EQ(0, open_it(self, "paging.prefetch=tree\n"));
	ASSERT_EQ(0, gpuemu_mem_alloc_managed(self->ctx, (void **)&managed, PAGES * STEP * 4));
	number(managed, PAGES);
	EXPECT_EQ(0, up(self, heap, managed, PAGES)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_TRUE(is_up(heap, PAGES, 1));
	EXPECT_EQ(0, up(self, managed, heap, PAGES));
	EXPECT_TRUE(is_up(managed, PAGES, 2));
	free(heap);
}

TEST_F(pageable, what_it_may_not)
{
	uint32_t *p = mmap(NULL, PAGES * STEP * 4, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!kernel_mirrors())
		return;
	ASSERT_EQ(0, open_it(self, NULL));
	number(p, PAGES);
	ASSERT_EQ(0, mprotect(p, PAGES * STEP * 4, PROT_READ));
	EXPECT_EQ(0, up(self, variable, p, PAGES)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_TRUE(is_up(variable, PAGES, 1));
	EXPECT_EQ(-EFAULT, up(self, p, variable, PAGES));
	EXPECT_TRUE(is_up(p, PAGES, 0));
	munmap(p, PAGES * STEP * 4);
	EXPECT_EQ(-EFAULT, up(self, variable, p, PAGES));
	EXPECT_NE(NULL, strstr(gpuemu_last_error(self->ctx), "is outside managed memory"))
		TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_EQ(NULL, strstr(gpuemu_last_error(self->ctx), "no ordinary memory here"));
}

static void expect_why_not(struct __test_metadata *_metadata, FIXTURE_DATA(pageable) *self,
			   const char *why)
{
	ASSERT_EQ(0, open_it(self, NULL)) TH_LOG("%s", gpuemu_last_error(NULL));
	EXPECT_EQ(0, gpuemu_pageable(self->ctx));
	EXPECT_EQ(-EFAULT, up(self, variable, variable, PAGES));
	EXPECT_NE(NULL, strstr(gpuemu_last_error(self->ctx), why))
		TH_LOG("%s", gpuemu_last_error(self->ctx));
}

TEST_F(pageable, turned_off)
{
	setenv("GPUEMU_PAGEABLE", "0", 1);
	expect_why_not(_metadata, self, "GPUEMU_PAGEABLE=0");
}

TEST_F(pageable, kernel_without)
{
	if (!kernel_mirrors())
		expect_why_not(_metadata, self, "this kernel has no CONFIG_DEVICE_PRIVATE");
}

TEST_HARNESS_MAIN
