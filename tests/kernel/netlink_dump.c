// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps of clients and VA blocks: whole in many small reads, while clients come
 * and go, and when what is listed ends in the middle.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"
#include "lib/nl.h"

enum { CLIENTS = 60, BLOCKS = 80 };

FIXTURE(dump)
{
	struct nl nl;
	struct nl_request r;
	int fds[CLIENTS];
	uint32_t spaces[CLIENTS];
};

FIXTURE_SETUP(dump)
{
	int i;

	ASSERT_EQ(0, nl_open(&self->nl));
	for (i = 0; i < CLIENTS; i++) {
		self->fds[i] = client_open();
		ASSERT_LE(0, self->fds[i]);
		self->spaces[i] = client_space(self->fds[i]);
	}
}

FIXTURE_TEARDOWN(dump)
{
	int i;

	for (i = 0; i < CLIENTS; i++)
		close(self->fds[i]);
	nl_close(&self->nl);
}

/* The ids in the order they were seen. */
struct seen {
	uint32_t ids[4096];
	unsigned int n;
};

static void note(const struct nl_reply *reply, void *arg)
{
	struct seen *seen = arg;

	if (seen->n < 4096)
		seen->ids[seen->n++] = nl_u32(reply->attrs[GPUEMU_A_CLIENT_VA_SPACE]);
}

static bool ascending(const struct seen *seen)
{
	unsigned int i;

	for (i = 1; i < seen->n; i++)
		if (seen->ids[i] <= seen->ids[i - 1])
			return false;
	return true;
}

/* How many of the fixture's clients are in it; each at most once if ascending. */
static unsigned int found(FIXTURE_DATA(dump) *self, const struct seen *seen)
{
	unsigned int n = 0, i, j;

	for (i = 0; i < CLIENTS; i++)
		for (j = 0; j < seen->n; j++)
			n += seen->ids[j] == self->spaces[i];
	return n;
}

static int list_clients(FIXTURE_DATA(dump) *self, struct seen *seen)
{
	seen->n = 0;
	nl_begin(&self->nl, &self->r, GPUEMU_CMD_CLIENT_GET, NLM_F_DUMP);
	return nl_talk(&self->nl, &self->r, note, seen);
}

TEST_F(dump, small_reads)
{
	static struct seen seen;

	ASSERT_EQ(0, list_clients(self, &seen));
	EXPECT_LE(3, self->nl.reads);
	EXPECT_EQ(CLIENTS, seen.n);
	EXPECT_EQ(CLIENTS, found(self, &seen));
	EXPECT_TRUE(ascending(&seen));
}

static void *come_and_go(void *arg)
{
	bool *stop = arg;
	int fds[8], i;

	while (!__atomic_load_n(stop, __ATOMIC_ACQUIRE)) {
		for (i = 0; i < 8; i++)
			fds[i] = client_open();
		for (i = 0; i < 8; i++)
			close(fds[i]);
	}
	return NULL;
}

TEST_F(dump, clients_come_and_go)
{
	static struct seen seen;
	bool stop = false;
	pthread_t thread;
	int round;

	ASSERT_EQ(0, pthread_create(&thread, NULL, come_and_go, &stop));
	for (round = 0; round < 20; round++) {
		ASSERT_EQ(0, list_clients(self, &seen));
		EXPECT_EQ(CLIENTS, found(self, &seen)) TH_LOG("round %d", round);
		EXPECT_TRUE(ascending(&seen));
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

/* What ended before the dump came to it is not in it; the dump ends all the same. */
TEST_F(dump, clients_end_meanwhile)
{
	static struct seen seen;
	int i;

	seen.n = 0;
	nl_begin(&self->nl, &self->r, GPUEMU_CMD_CLIENT_GET, NLM_F_DUMP);
	ASSERT_EQ(0, nl_send(&self->nl, &self->r));
	ASSERT_EQ(1, nl_read(&self->nl, note, &seen));
	EXPECT_LT(0, seen.n);
	EXPECT_GT(CLIENTS / 2, seen.n);
	for (i = 0; i < CLIENTS; i++) {
		close(self->fds[i]);
		self->fds[i] = -1;
	}
	ASSERT_EQ(0, nl_answer(&self->nl, note, &seen));
	/* One more message may have been made ready when the first was read. */
	EXPECT_GT(CLIENTS, seen.n);
	EXPECT_TRUE(ascending(&seen));
}

/* Nobody reads on: the socket's end is the dump's. What it held is freed. */
TEST_F(dump, given_up)
{
	static struct seen seen;

	seen.n = 0;
	nl_begin(&self->nl, &self->r, GPUEMU_CMD_CLIENT_GET, NLM_F_DUMP);
	ASSERT_EQ(0, nl_send(&self->nl, &self->r));
	ASSERT_EQ(1, nl_read(&self->nl, note, &seen));
	nl_close(&self->nl);
}

/* --- blocks --- */

struct blocks {
	struct {
		uint64_t addr;
		uint64_t resident[8], cpu_mapped[8], remote[8], duplicated[8];
		uint32_t system_pages;
		bool busy;
	} of[BLOCKS + 8];
	unsigned int n;
};

static void note_block(const struct nl_reply *reply, void *arg)
{
	const struct nlattr *const *a = reply->attrs;
	struct blocks *b = arg;

	if (b->n == BLOCKS + 8 || nl_bytes(a[GPUEMU_A_BLOCK_RESIDENT]) != 64 ||
	    nl_bytes(a[GPUEMU_A_BLOCK_CPU_MAPPED]) != 64 ||
	    nl_bytes(a[GPUEMU_A_BLOCK_REMOTE]) != 64 ||
	    nl_bytes(a[GPUEMU_A_BLOCK_DUPLICATED]) != 64)
		return;
	b->of[b->n].addr = nl_u64(a[GPUEMU_A_BLOCK_ADDR]);
	b->of[b->n].system_pages = nl_u32(a[GPUEMU_A_BLOCK_SYSTEM_PAGES]);
	b->of[b->n].busy = a[GPUEMU_A_BLOCK_BUSY];
	memcpy(b->of[b->n].resident, nl_data(a[GPUEMU_A_BLOCK_RESIDENT]), 64);
	memcpy(b->of[b->n].cpu_mapped, nl_data(a[GPUEMU_A_BLOCK_CPU_MAPPED]), 64);
	memcpy(b->of[b->n].remote, nl_data(a[GPUEMU_A_BLOCK_REMOTE]), 64);
	memcpy(b->of[b->n].duplicated, nl_data(a[GPUEMU_A_BLOCK_DUPLICATED]), 64);
	b->n++;
}

static int list_blocks(FIXTURE_DATA(dump) *self, const void *from, struct blocks *blocks)
{
	blocks->n = 0;
	nl_begin(&self->nl, &self->r, GPUEMU_CMD_BLOCK_GET, NLM_F_DUMP);
	nl_put_u32(&self->r, GPUEMU_A_BLOCK_VA_SPACE, self->spaces[0]);
	if (from)
		nl_put_u64(&self->r, GPUEMU_A_BLOCK_ADDR, (uintptr_t)from);
	return nl_talk(&self->nl, &self->r, note_block, blocks);
}

static uint8_t *touch_blocks(FIXTURE_DATA(dump) *self)
{
	uint8_t *mem = map_managed(self->fds[0], BLOCKS * BLOCK);
	unsigned int i;

	for (i = 0; mem && i < BLOCKS; i++)
		mem[i * BLOCK + i * PAGE] = 1;
	return mem;
}

TEST_F(dump, blocks)
{
	static struct blocks blocks;
	uint8_t *mem = touch_blocks(self);
	struct engine e;
	unsigned int i;

	ASSERT_NE(NULL, mem);
	ASSERT_EQ(0, engine_open(&e));
	engine_acker_start(&e);
	/* Of the first block: two pages to the device, one of them touched before. */
	ASSERT_EQ(0, engine_h2d(&e, self->spaces[0], mem, 1));
	ASSERT_EQ(0, engine_h2d(&e, self->spaces[0], mem + 511 * PAGE, 1));
	ASSERT_EQ(0, list_blocks(self, NULL, &blocks));
	EXPECT_LE(3, self->nl.reads);
	ASSERT_EQ(BLOCKS, blocks.n);
	EXPECT_EQ(1, blocks.of[0].resident[0]);
	EXPECT_EQ(1ull << 63, blocks.of[0].resident[7]);
	EXPECT_EQ(0, blocks.of[0].cpu_mapped[0]);
	EXPECT_EQ(2, blocks.of[0].system_pages);
	for (i = 0; i < BLOCKS; i++) {
		EXPECT_EQ((uintptr_t)mem + i * BLOCK, blocks.of[i].addr);
		if (i)
			EXPECT_EQ(1, blocks.of[i].system_pages);
		if (i)
			EXPECT_EQ(1ull << i % 64, blocks.of[i].cpu_mapped[i / 64])
				TH_LOG("block %u", i);
		if (i)
			EXPECT_EQ(0, blocks.of[i].resident[0]);
	}
	/* From an address on, in the middle of a block. */
	ASSERT_EQ(0, list_blocks(self, mem + 70 * BLOCK + 5 * PAGE, &blocks));
	ASSERT_EQ(BLOCKS - 70, blocks.n);
	EXPECT_EQ((uintptr_t)mem + 70 * BLOCK, blocks.of[0].addr);
	engine_close(&e);

	ASSERT_EQ(0, list_blocks(self, mem + BLOCKS * BLOCK, &blocks));
	EXPECT_EQ(0, blocks.n);
	EXPECT_EQ(-EINVAL, list_blocks(self, (void *)(1ull << 47), &blocks));
	EXPECT_NE('\0', self->nl.said[0]);
	ASSERT_EQ(0, munmap(mem, BLOCKS * BLOCK));
	ASSERT_EQ(0, list_blocks(self, NULL, &blocks));
	EXPECT_EQ(0, blocks.n);
}

/* Where a page can be besides: remote mapped, and on both sides. */
TEST_F(dump, remote_and_duplicated)
{
	static struct blocks blocks;
	uint8_t *mem = map_managed(self->fds[0], BLOCK);
	struct engine e;

	ASSERT_NE(NULL, mem);
	ASSERT_EQ(0, engine_open(&e));
	engine_acker_start(&e);
	ASSERT_EQ(0, engine_migrate(&e, self->spaces[0], mem, 3, GPUEMU_MIGRATE_REMOTE));
	ASSERT_EQ(0, engine_migrate(&e, self->spaces[0], mem + 64 * PAGE, 2,
				    GPUEMU_MIGRATE_DUPLICATE));
	ASSERT_EQ(0, engine_h2d(&e, self->spaces[0], mem + 66 * PAGE, 1));
	EXPECT_EQ(0, mem[64 * PAGE]);
	ASSERT_EQ(0, list_blocks(self, NULL, &blocks));
	ASSERT_EQ(1, blocks.n);
	EXPECT_EQ(7, blocks.of[0].remote[0]);
	EXPECT_EQ(0, blocks.of[0].remote[1]);
	EXPECT_EQ(0, blocks.of[0].resident[0]);
	EXPECT_EQ(7, blocks.of[0].resident[1]);
	EXPECT_EQ(3, blocks.of[0].duplicated[1]);
	EXPECT_EQ(1, blocks.of[0].cpu_mapped[1]);
	EXPECT_EQ(6, blocks.of[0].system_pages);
	engine_close(&e);
}

TEST_F(dump, client_of_blocks_ends)
{
	static struct blocks blocks;
	uint8_t *mem = touch_blocks(self);

	ASSERT_NE(NULL, mem);
	blocks.n = 0;
	nl_begin(&self->nl, &self->r, GPUEMU_CMD_BLOCK_GET, NLM_F_DUMP);
	nl_put_u32(&self->r, GPUEMU_A_BLOCK_VA_SPACE, self->spaces[0]);
	ASSERT_EQ(0, nl_send(&self->nl, &self->r));
	ASSERT_EQ(1, nl_read(&self->nl, note_block, &blocks));
	ASSERT_EQ(0, munmap(mem, BLOCKS * BLOCK));
	close(self->fds[0]);
	self->fds[0] = -1;
	ASSERT_EQ(0, nl_answer(&self->nl, note_block, &blocks));
	EXPECT_LT(0, blocks.n);
	EXPECT_GT(BLOCKS, blocks.n);
}

static void *touch(void *p)
{
	*(volatile uint8_t *)p = 1;
	return NULL;
}

enum { HELD = 5000 };

/* A look does not wait for a task that works on a block, which takes HELD ms here. */
TEST_F(dump, block_is_busy)
{
	static struct blocks blocks;
	uint8_t *mem = map_managed(self->fds[0], PAGE);
	pthread_t thread;
	struct engine e;
	uint64_t start;

	ASSERT_NE(NULL, mem);
	ASSERT_EQ(0, nl_set_param(&self->nl, "invalidate_timeout_ms", HELD));
	ASSERT_EQ(0, engine_open(&e));
	ASSERT_EQ(0, engine_h2d(&e, self->spaces[0], mem, 1));
	/* The fault holds the block until the silent engine is lost. */
	ASSERT_EQ(0, pthread_create(&thread, NULL, touch, mem));
	while (!__atomic_load_n(&e.control->inval_put, __ATOMIC_ACQUIRE))
		usleep(1000);
	start = now_ms();
	ASSERT_EQ(0, list_blocks(self, NULL, &blocks));
	EXPECT_GT(HELD / 2, now_ms() - start);
	EXPECT_EQ(1, blocks.n);
	EXPECT_TRUE(blocks.of[0].busy);
	EXPECT_EQ(0, e.control->lost);
	pthread_join(thread, NULL);
	ASSERT_EQ(0, list_blocks(self, NULL, &blocks));
	EXPECT_FALSE(blocks.of[0].busy);
	engine_close(&e);
}

TEST_HARNESS_MAIN
