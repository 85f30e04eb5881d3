// SPDX-License-Identifier: GPL-2.0
/*
 * Hints over more VA blocks than one commit has migrations for, where every other page is on
 * the other side: they are done in parts, and each part fits. Contents are right afterwards.
 * vm: daemon timeout=180 vram_mb=64
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gpuemu.h>

#include "lib/harness.h"
#include "lib/statistic.h"

#define PAGES	(20u * 512)	/* 20 VA blocks: 5120 runs of one page, and one commit has 4096 */
#define BYTES	((size_t)PAGES * 4096)
#define WORDS	(BYTES / 4)

FIXTURE(parts)
{
	struct gpuemu_ctx *ctx;
	uint32_t *p;
};

FIXTURE_SETUP(parts)
{
	const struct gpuemu_options options = {
		.size = sizeof(options), .backend = "kmod",
		.settings = "paging.prefetch=none\n",
	};

	ASSERT_EQ(0, gpuemu_open(&self->ctx, &options));
	ASSERT_EQ(0, gpuemu_mem_alloc_managed(self->ctx, (void **)&self->p, BYTES))
		TH_LOG("%s", gpuemu_last_error(self->ctx));
	for (size_t i = 0; i < WORDS; i++)
		self->p[i] = (uint32_t)i * 2654435761u;
}

FIXTURE_TEARDOWN(parts)
{
	gpuemu_close(self->ctx);
}

/* Every other page comes by far faults. */
static int touch_half(struct gpuemu_ctx *ctx, uint32_t *p)
{
	char *json = NULL;
	int ret = gpuemu_touch(ctx, p, BYTES, 2 * 4096, 256, 0, &json);

	gpuemu_free(json);
	return ret;
}

TEST_F(parts, every_other_page)
{
	ASSERT_EQ(0, touch_half(self->ctx, self->p)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_EQ(PAGES / 2, paging_number(self->ctx, "resident_pages"));
	ASSERT_EQ(0, gpuemu_mem_prefetch(self->ctx, self->p, BYTES, NULL));
	ASSERT_EQ(0, gpuemu_synchronize(self->ctx)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_EQ(PAGES, paging_number(self->ctx, "resident_pages"));
	EXPECT_EQ(BYTES, paging_number(self->ctx, "h2d_bytes"));

	ASSERT_EQ(0, gpuemu_mem_prefetch_host(self->ctx, self->p, BYTES, NULL));
	ASSERT_EQ(0, gpuemu_synchronize(self->ctx)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_EQ(0, paging_number(self->ctx, "resident_pages"));

	ASSERT_EQ(0, touch_half(self->ctx, self->p)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	ASSERT_EQ(0, gpuemu_mem_prefetch_host(self->ctx, self->p, BYTES, NULL));
	ASSERT_EQ(0, gpuemu_synchronize(self->ctx)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_EQ(0, paging_number(self->ctx, "resident_pages"));
	EXPECT_EQ(BYTES + BYTES / 2, paging_number(self->ctx, "d2h_bytes"));
	EXPECT_EQ(0, paging_number(self->ctx, "evicted_pages"));
	for (size_t i = 0; i < WORDS; i++)
		ASSERT_EQ((uint32_t)i * 2654435761u, self->p[i]);
}

TEST_HARNESS_MAIN
