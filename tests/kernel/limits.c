// SPDX-License-Identifier: GPL-2.0
/*
 * What one client may have of device memory and page tables: the limits hold, are
 * the client's own affair, can be changed while they are reached, and are counted.
 * vm: vram_mb=8 pt_mb=1 client_vram_pct=25 pressure_ms=0 enable_tests=1
 */
#include <errno.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"
#include "lib/nl.h"

enum {
	FRAMES = 8 * 256,
	SHARE = FRAMES / 4,
	BLOCK_PAGES = 512,
	TABLES = 256 - 1,	/* of 1 MiB; one is the directory */
	UPPER = 3,		/* a client's, whose blocks are in one GiB */
};

struct one {
	int fd;
	uint32_t space;
	uint8_t *mem;
};

FIXTURE(limits)
{
	struct engine e;
	struct nl nl;
	struct one a, b;
};

static bool open_one(struct one *c, size_t bytes)
{
	uint8_t *at = reserve(2ull << 30);

	c->fd = client_open();
	c->space = client_space(c->fd);
	/* In one gigabyte, so that the count of tables is exact. */
	at = (uint8_t *)(((uintptr_t)at + (1ull << 30) - 1) & ~((1ull << 30) - 1));
	c->mem = map_managed_at(c->fd, at, bytes);
	return c->mem;
}

FIXTURE_SETUP(limits)
{
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_TRUE(open_one(&self->a, 256 * BLOCK));
	ASSERT_TRUE(open_one(&self->b, 256 * BLOCK));
	ASSERT_EQ(FRAMES, self->e.attach.vram_frames);
	ASSERT_EQ(TABLES + 1, self->e.attach.pt_tables);
}

FIXTURE_TEARDOWN(limits)
{
	nl_set_param(&self->nl, "client_vram_pct", 25);
	nl_set_param(&self->nl, "client_tables_pct", 50);
	close(self->a.fd);
	close(self->b.fd);
	munmap(self->a.mem, 256 * BLOCK);
	munmap(self->b.mem, 256 * BLOCK);
	nl_close(&self->nl);
	engine_close(&self->e);
}

struct counts {
	uint64_t over_share, no_table, no_frame;
};

static void take_counts(const struct nl_reply *reply, void *arg)
{
	const struct nlattr *stats[NL_ATTRS];
	struct counts *c = arg;

	nl_nested(reply->attrs[GPUEMU_A_CLIENT_STATS], stats);
	c->over_share = nl_u64(stats[GPUEMU_A_STATS_OVER_SHARE]);
	c->no_table = nl_u64(stats[GPUEMU_A_STATS_NO_TABLE]);
	c->no_frame = nl_u64(stats[GPUEMU_A_STATS_NO_FRAME]);
}

static struct counts counts(FIXTURE_DATA(limits) *self, const struct one *c)
{
	struct counts counts = { ~0ull, ~0ull, ~0ull };
	struct nl_request r;

	nl_begin(&self->nl, &r, GPUEMU_CMD_CLIENT_GET, 0);
	nl_put_u32(&r, GPUEMU_A_CLIENT_VA_SPACE, c->space);
	nl_talk(&self->nl, &r, take_counts, &counts);
	return counts;
}

static int bring(FIXTURE_DATA(limits) *self, struct one *c, size_t page, size_t pages)
{
	return engine_h2d(&self->e, c->space, c->mem + page * PAGE, pages);
}

static uint32_t resident(FIXTURE_DATA(limits) *self, struct one *c)
{
	return engine_resident(&self->e, c->space, c->mem, 4 * BLOCK_PAGES);
}

/* One block of it, with the module's own eviction. */
static int bring_evicting(FIXTURE_DATA(limits) *self, struct one *c, size_t page, uint16_t pages)
{
	struct gpuemu_migration m = {
		.addr = (uintptr_t)c->mem + page * PAGE, .va_space = c->space,
		.pages = pages, .op = GPUEMU_MIGRATE_H2D,
	};
	int ret = engine_raise(&self->e, GPUEMU_RAISE_EMPTY_OK);

	if (ret >= 0)
		ret = engine_commit_flags(&self->e, &m, 1, GPUEMU_COMMIT_EVICT);
	return ret < 0 ? ret : m.status;
}

/* --- device memory --- */

TEST_F(limits, frames)
{
	fill(self->a.mem, 2 * BLOCK, 5);
	EXPECT_EQ(0, bring(self, &self->a, 100, 400));
	EXPECT_EQ(SHARE, self->e.control->client_frames);
	EXPECT_EQ(0, counts(self, &self->a).over_share);
	/* The first 112 of the run fit. */
	EXPECT_EQ(-ENOSPC, bring(self, &self->a, BLOCK_PAGES, 200));
	EXPECT_EQ(SHARE, resident(self, &self->a));
	EXPECT_EQ(88, counts(self, &self->a).over_share);
	EXPECT_EQ(0, counts(self, &self->a).no_frame);
	EXPECT_NE(NULL, engine_page(&self->e, self->a.space,
				    self->a.mem + (BLOCK_PAGES + 111) * PAGE));
	/* What is there already needs no frame. */
	EXPECT_EQ(0, bring(self, &self->a, 100, 400));
	/* The other has as many of its own. */
	EXPECT_EQ(0, bring(self, &self->b, 0, SHARE));
	EXPECT_EQ(-ENOSPC, bring(self, &self->b, SHARE, 1));
	EXPECT_EQ(FRAMES - 2 * SHARE, self->e.control->vram_free);
	/* What goes home, to the CPU or with its mapping, makes room. */
	EXPECT_EQ(0, engine_d2h(&self->e, self->a.space, self->a.mem + 100 * PAGE, 10));
	EXPECT_EQ(0, bring(self, &self->a, BLOCK_PAGES + 112, 10));
	EXPECT_EQ(-ENOSPC, bring(self, &self->a, BLOCK_PAGES + 122, 1));
	*(volatile uint8_t *)(self->a.mem + BLOCK);
	EXPECT_EQ(0, bring(self, &self->a, BLOCK_PAGES + 122, 1));
	ASSERT_EQ(0, munmap(self->a.mem + BLOCK + PAGE, 3 * PAGE));
	EXPECT_EQ(0, bring(self, &self->a, BLOCK_PAGES + 123, 3));
	EXPECT_EQ(-ENOSPC, bring(self, &self->a, BLOCK_PAGES + 126, 1));
	EXPECT_TRUE(filled(self->a.mem, BLOCK, 5));
}

/* A failed allocation and a pinned page give back what they were counted for. */
TEST_F(limits, what_fails_counts_for_nothing)
{
	struct nl_request r;
	int ends[2];

	nl_begin(&self->nl, &r, GPUEMU_CMD_INJECT, 0);
	nl_put_u32(&r, GPUEMU_A_INJECT_WHAT, GPUEMU_INJECT_WHAT_FRAME_ALLOC);
	nl_put_u32(&r, GPUEMU_A_INJECT_COUNT, 1);
	ASSERT_EQ(0, nl_talk(&self->nl, &r, NULL, NULL));
	EXPECT_EQ(-ENOSPC, bring(self, &self->a, 0, 300));
	EXPECT_EQ(0, counts(self, &self->a).over_share);
	EXPECT_EQ(300, counts(self, &self->a).no_frame);
	/* A page in a pipe. */
	ASSERT_EQ(0, pipe(ends));
	self->a.mem[0] = 1;
	struct iovec v = { self->a.mem, PAGE };

	ASSERT_EQ(PAGE, vmsplice(ends[1], &v, 1, 0));
	EXPECT_EQ(-EBUSY, bring(self, &self->a, 0, 2));
	close(ends[0]);
	close(ends[1]);
	EXPECT_EQ(0, bring(self, &self->a, 0, SHARE));
	EXPECT_EQ(SHARE, resident(self, &self->a));
	EXPECT_EQ(-ENOSPC, bring(self, &self->a, SHARE, 1));
}

/* A lower limit takes nothing away, and a higher one counts at once. */
TEST_F(limits, changed_while_reached)
{
	ASSERT_EQ(0, bring(self, &self->a, 0, SHARE));
	ASSERT_EQ(0, nl_set_param(&self->nl, "client_vram_pct", 10));
	EXPECT_EQ(-ENOSPC, bring(self, &self->a, SHARE, 1));
	EXPECT_EQ(FRAMES / 10, self->e.control->client_frames);
	EXPECT_EQ(SHARE, resident(self, &self->a));
	ASSERT_EQ(0, engine_d2h(&self->e, self->a.space, self->a.mem, 400));
	EXPECT_EQ(-ENOSPC, bring(self, &self->a, 0, 400));
	EXPECT_EQ(FRAMES / 10, resident(self, &self->a));
	ASSERT_EQ(0, nl_set_param(&self->nl, "client_vram_pct", 0));
	EXPECT_EQ(0, bring(self, &self->a, 0, FRAMES));
	EXPECT_EQ(FRAMES, self->e.control->client_frames);
	EXPECT_EQ(FRAMES, resident(self, &self->a));
	/* Now it is the device that is full. */
	EXPECT_EQ(-ENOSPC, bring(self, &self->b, 0, 1));
	EXPECT_EQ(1, counts(self, &self->b).no_frame);
	EXPECT_EQ(0, counts(self, &self->b).over_share);
}

/* A client that has its share makes room at its own cost, though another's page is older. */
TEST_F(limits, evicts_its_own)
{
	ASSERT_EQ(0, bring(self, &self->b, 0, SHARE));
	ASSERT_EQ(0, bring(self, &self->a, 0, SHARE));
	EXPECT_EQ(0, bring_evicting(self, &self->a, BLOCK_PAGES, 3));
	EXPECT_EQ(SHARE, resident(self, &self->b));
	EXPECT_EQ(3, resident(self, &self->a));
	EXPECT_EQ(0, counts(self, &self->a).over_share);
	/* The device is full: anybody's. */
	ASSERT_EQ(0, nl_set_param(&self->nl, "client_vram_pct", 75));
	ASSERT_EQ(0, bring(self, &self->a, 0, 3 * SHARE));
	ASSERT_EQ(0, nl_set_param(&self->nl, "client_vram_pct", 0));
	EXPECT_EQ(0, bring_evicting(self, &self->a, 3 * SHARE, 3));
	EXPECT_EQ(0, resident(self, &self->b));
}

/* The same for device memory that is not paged: its own pages leave for it, and no other's. */
TEST_F(limits, device_memory)
{
	uint8_t *p = reserve(3 * BLOCK);
	uint8_t *at = (uint8_t *)(((uintptr_t)p + BLOCK - 1) & ~(BLOCK - 1));

	ASSERT_EQ(0, bring(self, &self->b, 0, SHARE));
	ASSERT_EQ(0, bring(self, &self->a, 0, 100));
	EXPECT_EQ(0, map_device(self->a.fd, at, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED));
	EXPECT_EQ(0, resident(self, &self->a));
	/* What is at its place stays. */
	ASSERT_NE(NULL, map_managed_at(self->a.fd, at + BLOCK, BLOCK));
	fill(at + BLOCK, BLOCK, 2);
	EXPECT_EQ(-ENOMEM, map_device(self->a.fd, at + BLOCK, BLOCK, PROT_READ | PROT_WRITE,
				      MAP_SHARED));
	EXPECT_TRUE(filled(at + BLOCK, BLOCK, 2));
	ASSERT_EQ(0, munmap(at + BLOCK, BLOCK));
	EXPECT_EQ(-ENOSPC, bring(self, &self->a, 0, 1));
	EXPECT_EQ(SHARE, resident(self, &self->b));
	ASSERT_EQ(0, munmap(at, BLOCK));
	EXPECT_EQ(0, bring(self, &self->a, 0, SHARE));
}

/* --- page tables --- */

/* Blocks from the first on, until there is no table, or so many are there. */
static int take_tables_to(FIXTURE_DATA(limits) *self, struct one *c, int to)
{
	int n = 0;

	while (n < to && !bring(self, c, n * BLOCK_PAGES, 1))
		n++;
	return n;
}

static int take_tables(FIXTURE_DATA(limits) *self, struct one *c, int from)
{
	int n = from;

	while (n < 256 && !bring(self, c, n * BLOCK_PAGES, 1))
		n++;
	return n - from;
}

TEST_F(limits, tables)
{
	const int mine = TABLES / 2, others = (TABLES - mine) / 2;
	struct one third;
	int n;

	EXPECT_EQ(mine - UPPER, take_tables(self, &self->a, 0));
	EXPECT_EQ(-ENOMEM, bring(self, &self->a, mine * BLOCK_PAGES, 1));
	EXPECT_EQ(2, counts(self, &self->a).no_table);
	/* A block that has its table goes on; one that ends gives its table back. */
	EXPECT_EQ(0, bring(self, &self->a, 1, 10));
	ASSERT_EQ(0, munmap(self->a.mem, BLOCK));
	EXPECT_EQ(1, take_tables(self, &self->a, mine - UPPER));
	/* The others have half of what is left, and so on. */
	EXPECT_EQ(others - UPPER, take_tables(self, &self->b, 0));
	ASSERT_TRUE(open_one(&third, 256 * BLOCK));
	EXPECT_EQ((TABLES - mine - others) / 2 - UPPER, take_tables(self, &third, 0));
	/* Without a limit it takes the rest. */
	ASSERT_EQ(0, nl_set_param(&self->nl, "client_tables_pct", 0));
	n = take_tables(self, &third, (TABLES - mine - others) / 2 - UPPER);
	EXPECT_EQ(TABLES - mine - others - (TABLES - mine - others) / 2, n);
	EXPECT_EQ(-ENOMEM, bring(self, &self->b, others * BLOCK_PAGES, 1));
	EXPECT_EQ(2, counts(self, &self->b).no_table);
	close(third.fd);
	munmap(third.mem, 256 * BLOCK);
	EXPECT_EQ(0, bring(self, &self->b, others * BLOCK_PAGES, 1));
}

/* Another process, as nobody, with two files; it says which VA spaces, and where. */
static void two_files(int to, int from)
{
	struct one c[2];
	uint64_t word;
	int i;

	if (setgid(65534) || setuid(65534))
		_exit(1);
	for (i = 0; i < 2; i++) {
		if (!open_one(&c[i], 256 * BLOCK))
			_exit(2);
		engine_say(to, c[i].space);
		engine_say(to, (uintptr_t)c[i].mem);
	}
	engine_hear(from, 60000, &word);
	_exit(0);
}

/* Opening the device again gives a user no more of what all users share. */
TEST_F(limits, tables_of_a_user)
{
	const int half = TABLES / 2;
	struct one c[2];
	int up[2], down[2], i, n;
	uint64_t word;
	pid_t pid;

	ASSERT_EQ(0, nl_set_param(&self->nl, "client_tables_pct", 0));
	ASSERT_EQ(0, pipe(up));
	ASSERT_EQ(0, pipe(down));
	pid = fork();
	if (!pid)
		two_files(up[1], down[0]);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, engine_hear(up[0], 10000, &word));
		c[i].space = word;
		ASSERT_EQ(0, engine_hear(up[0], 10000, &word));
		c[i].mem = (uint8_t *)(uintptr_t)word;
	}
	EXPECT_EQ(50 - UPPER, take_tables_to(self, &c[0], 50 - UPPER));
	n = take_tables(self, &c[1], 0);
	EXPECT_EQ(half - 50 - UPPER, n);
	EXPECT_EQ(-ENOMEM, bring(self, &c[0], (50 - UPPER) * BLOCK_PAGES, 1));
	/* A user that is not root would have the other half; root has all. */
	EXPECT_EQ(TABLES - half - UPPER, take_tables(self, &self->a, 0));
	ASSERT_EQ(0, engine_say(down[1], 1));
	ASSERT_EQ(pid, waitpid(pid, &i, 0));
	EXPECT_EQ(0, i);
	close(up[0]);
	close(up[1]);
	close(down[0]);
	close(down[1]);
}

/* A refusal is an event, and says of what. */
TEST_F(limits, events)
{
	static const char *const want[] = { "the client's share", "page tables" };
	struct nl listener;
	struct nl_reply event;
	unsigned int i, found;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, nl_open(&listener));
		ASSERT_EQ(0, nl_listen(&listener));
		if (i) {
			take_tables(self, &self->b, 0);
		} else {
			EXPECT_EQ(-ENOSPC, bring(self, &self->a, 0, SHARE + 1));
		}
		for (found = 0; nl_event(&listener, 200, &event) == 1;)
			found += nl_u32(event.attrs[GPUEMU_A_EVENT_TYPE]) ==
				 GPUEMU_EVENT_TYPE_MEMORY_PRESSURE &&
				 !strcmp(want[i], nl_text(event.attrs[GPUEMU_A_EVENT_REASON])) &&
				 nl_u32(event.attrs[GPUEMU_A_EVENT_VA_SPACE]) ==
				 (i ? self->b.space : self->a.space);
		EXPECT_LT(0, found) TH_LOG("no event of %s", want[i]);
		nl_close(&listener);
	}
}

TEST_HARNESS_MAIN
