// SPDX-License-Identifier: GPL-2.0
/*
 * vm: fault_entries=1024 vram_mb=4
 *
 * A batch of one VA block (replay_policy=0) has no more faults than it has room for. A block has
 * 512 pages. So faults that were held from the batch before and new ones of the same block can be
 * more than GPUEMU_BATCH_MAX.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/knob.h"
#include "lib/lib.h"

enum { P = BLOCK / PAGE, POLICY_BLOCK = 0, POLICY_BATCH_FLUSH = 2 };

FIXTURE(fault_block)
{
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *mem;
	struct gpuemu_migration m[GPUEMU_BATCH_MAX];
};

FIXTURE_SETUP(fault_block)
{
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, 2 * BLOCK);
	ASSERT_NE(NULL, self->mem);
	ASSERT_EQ(0, knob_set("replay_policy", POLICY_BLOCK));
	ASSERT_EQ(0, knob_set("fault_batch", GPUEMU_BATCH_MAX));
}

FIXTURE_TEARDOWN(fault_block)
{
	knob_set("replay_policy", POLICY_BATCH_FLUSH);
	close(self->fd);
	engine_close(&self->e);
}

static void fault_pages(FIXTURE_DATA(fault_block) *self, int first, int n)
{
	for (int i = first; i < first + n; i++)
		engine_fault(&self->e, self->space, self->mem + i * PAGE, GPUEMU_ACCESS_READ);
}

/* Brings each page of the batch that is there. */
static int serve(FIXTURE_DATA(fault_block) *self)
{
	const struct gpuemu_batch *batch = &self->e.control->batch;
	uint32_t n;

	for (n = 0; n < batch->count && n < GPUEMU_BATCH_MAX; n++)
		self->m[n] = (struct gpuemu_migration){
			.addr = batch->faults[n].addr, .va_space = self->space,
			.pages = 1, .op = GPUEMU_MIGRATE_H2D,
		};
	return engine_commit(&self->e, self->m, n);
}

/* The first batch has the first block's page, and 255 of the second's are held. */
TEST_F(fault_block, fits_in_a_batch)
{
	static struct gpuemu_invalidate before[GPUEMU_INVAL_RING];
	const struct gpuemu_batch *batch = &self->e.control->batch;
	uint32_t served = 0, batches;

	fault_pages(self, 0, 1);
	fault_pages(self, P, P);
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	ASSERT_EQ(1, serve(self));
	memcpy(before, (const void *)self->e.control->inval, sizeof(before));
	for (batches = 0; served < P && batches < 8; batches++) {
		ASSERT_LT(0, engine_raise(&self->e, 0));
		ASSERT_GE(GPUEMU_BATCH_MAX, batch->count);
		ASSERT_EQ(0, memcmp(before, (const void *)self->e.control->inval, sizeof(before)));
		served += batch->count;
		ASSERT_EQ(batch->count, serve(self));
	}
	/* Each page came once, in as few batches as hold them. */
	EXPECT_EQ(P, served);
	EXPECT_EQ(P, engine_resident(&self->e, self->space, self->mem + BLOCK, P));
	EXPECT_GE(3, batches);
	EXPECT_EQ(-EAGAIN, engine_raise(&self->e, 0));
}

TEST_HARNESS_MAIN
