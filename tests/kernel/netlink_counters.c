// SPDX-License-Identifier: GPL-2.0
/*
 * The counters, against a sequence whose numbers are known: of the client, and
 * of the device as their sum; and their reset.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"
#include "lib/nl.h"

#define STAT(name) GPUEMU_A_STATS_##name

struct stats {
	uint64_t of[GPUEMU_A_STATS_MAX + 1];
	bool has[GPUEMU_A_STATS_MAX + 1];
	unsigned int messages;
};

FIXTURE(counters)
{
	struct nl nl;
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *mem;
	struct stats dev, client;
};

static void take(const struct nlattr *nest, struct stats *stats)
{
	const struct nlattr *attrs[NL_ATTRS];
	int i;

	nl_nested(nest, attrs);
	for (i = 0; i <= GPUEMU_A_STATS_MAX; i++) {
		stats->of[i] = nl_u64(attrs[i]);
		stats->has[i] = nl_bytes(attrs[i]) == sizeof(uint64_t);
	}
	stats->messages++;
}

static void take_device(const struct nl_reply *reply, void *arg)
{
	take(reply->attrs[GPUEMU_A_DEVICE_STATS], arg);
}

static void take_client(const struct nl_reply *reply, void *arg)
{
	take(reply->attrs[GPUEMU_A_CLIENT_STATS], arg);
}

static int look(FIXTURE_DATA(counters) *self)
{
	struct nl_request r;
	int ret;

	memset(&self->dev, 0, sizeof(self->dev));
	memset(&self->client, 0, sizeof(self->client));
	nl_begin(&self->nl, &r, GPUEMU_CMD_DEVICE_GET, 0);
	ret = nl_talk(&self->nl, &r, take_device, &self->dev);
	if (ret)
		return ret;
	nl_begin(&self->nl, &r, GPUEMU_CMD_CLIENT_GET, 0);
	nl_put_u32(&r, GPUEMU_A_CLIENT_VA_SPACE, self->space);
	return nl_talk(&self->nl, &r, take_client, &self->client);
}

static int reset(FIXTURE_DATA(counters) *self, uint32_t space)
{
	struct nl_request r;

	nl_begin(&self->nl, &r, GPUEMU_CMD_STATS_RESET, 0);
	if (space)
		nl_put_u32(&r, GPUEMU_A_CLIENT_VA_SPACE, space);
	return nl_talk(&self->nl, &r, NULL, NULL);
}

FIXTURE_SETUP(counters)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, 8 * PAGE);
	ASSERT_NE(NULL, self->mem);
	ASSERT_EQ(0, reset(self, 0));
}

FIXTURE_TEARDOWN(counters)
{
	close(self->fd);
	engine_close(&self->e);
	nl_close(&self->nl);
}

/* Of the client and, as there is only one, of the device. */
#define BOTH(n, name) do { \
	EXPECT_EQ(n, self->client.of[STAT(name)]) TH_LOG("client " #name); \
	EXPECT_EQ(n, self->dev.of[STAT(name)]) TH_LOG("device " #name); \
} while (0)

static void fault(FIXTURE_DATA(counters) *self, unsigned int page, enum gpuemu_access access)
{
	engine_fault(&self->e, self->space, self->mem + page * PAGE, access);
}

TEST_F(counters, paging)
{
	struct gpuemu_migration m = {
		.addr = (uintptr_t)self->mem, .va_space = self->space,
		.pages = 6, .op = GPUEMU_MIGRATE_H2D,
	};
	struct iovec iov = { self->mem, PAGE };
	unsigned int i;
	int ends[2];

	for (i = 0; i < 4; i++)
		self->mem[i * PAGE] = 1;
	ASSERT_EQ(0, look(self));
	BOTH(8 * PAGE, MANAGED_BYTES);
	BOTH(4, CPU_FAULTS);
	BOTH(0, CPU_FAULTS_DEVICE);
	BOTH(4, SYSTEM_PAGES);
	BOTH(0, RESIDENT_PAGES);

	/* Two records of one page, one of another, a stray, one that is none. */
	fault(self, 0, GPUEMU_ACCESS_WRITE);
	fault(self, 0, GPUEMU_ACCESS_READ);
	fault(self, 5, GPUEMU_ACCESS_READ);
	fault(self, 9, GPUEMU_ACCESS_READ);
	fault(self, 1, 9);
	ASSERT_EQ(3, engine_raise(&self->e, 0));
	ASSERT_EQ(1, engine_commit(&self->e, &m, 1));
	ASSERT_EQ(0, look(self));
	BOTH(3, FAR_FAULTS);
	BOTH(1, DUPLICATES);
	BOTH(1, FAULTS_UNMANAGED);
	BOTH(0, FAULTS_RESIDENT);
	BOTH(1, BATCHES);
	BOTH(6, H2D_PAGES);
	/* The two that nobody touched are zeroed. */
	BOTH(4 * PAGE, H2D_BYTES);
	BOTH(6, RESIDENT_PAGES);
	EXPECT_EQ(1, self->dev.of[STAT(FAULTS_DROPPED)]);
	EXPECT_EQ(1, self->dev.of[STAT(REPLAYS)]);
	EXPECT_FALSE(self->client.has[STAT(REPLAYS)]);

	fault(self, 1, GPUEMU_ACCESS_READ);
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
	ASSERT_EQ(0, engine_d2h(&self->e, self->space, self->mem, 2));
	ASSERT_EQ(0, look(self));
	BOTH(1, FAULTS_RESIDENT);
	BOTH(1, EVICTIONS);
	BOTH(2, EVICTED_PAGES);
	BOTH(2, D2H_PAGES);
	BOTH(2 * PAGE, D2H_BYTES);
	BOTH(4, RESIDENT_PAGES);
	BOTH(1, INVALIDATES);
	/* The engine was parked. */
	BOTH(0, INVALIDATE_WAITS);
	/* A batch without a fault of the client is not its batch. */
	EXPECT_EQ(2, self->client.of[STAT(BATCHES)]);
	EXPECT_EQ(3, self->dev.of[STAT(BATCHES)]);
	EXPECT_EQ(3, self->dev.of[STAT(REPLAYS)]);

	self->mem[5 * PAGE] = 1;
	ASSERT_EQ(0, look(self));
	BOTH(5, CPU_FAULTS);
	BOTH(1, CPU_FAULTS_DEVICE);
	BOTH(3, D2H_PAGES);
	BOTH(1, EVICTIONS);
	BOTH(3, RESIDENT_PAGES);
	BOTH(6, SYSTEM_PAGES);
	BOTH(2, INVALIDATES);
	BOTH(1, INVALIDATE_WAITS);
	EXPECT_NE(0, self->client.of[STAT(INVALIDATE_WAIT_NS)]);

	self->mem[0] = 2;
	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(PAGE, vmsplice(ends[1], &iov, 1, 0));
	ASSERT_EQ(-EBUSY, engine_h2d(&self->e, self->space, self->mem, 2));
	ASSERT_EQ(0, look(self));
	BOTH(1, PINNED_REFUSALS);
	BOTH(4, RESIDENT_PAGES);
	close(ends[0]);
	close(ends[1]);

	ASSERT_EQ(0, munmap(self->mem, 4 * PAGE));
	ASSERT_EQ(0, look(self));
	BOTH(4 * PAGE, MANAGED_BYTES);
	BOTH(1, RESIDENT_PAGES);
	BOTH(2, SYSTEM_PAGES);
}

/* Device memory that is too small for what is asked. */
TEST_F(counters, no_frame)
{
	uint32_t pages = self->e.attach.vram_frames + 100;
	uint8_t *mem = map_managed(self->fd, pages * PAGE);

	ASSERT_NE(NULL, mem);
	EXPECT_EQ(-ENOSPC, engine_h2d(&self->e, self->space, mem, pages));
	ASSERT_EQ(0, look(self));
	BOTH(self->e.attach.vram_frames, RESIDENT_PAGES);
	BOTH(self->e.attach.vram_frames, H2D_PAGES);
	BOTH(0, H2D_BYTES);
	EXPECT_NE(0, self->dev.of[STAT(NO_FRAME)]);
	EXPECT_EQ(self->dev.of[STAT(NO_FRAME)], self->client.of[STAT(NO_FRAME)]);
}

TEST_F(counters, works)
{
	struct gpuemu_work_done done = { .size = sizeof(done) };
	struct gpuemu_work_take work = { .size = sizeof(work) };
	int other = client_open();
	uint64_t id;

	ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_TOUCH, NULL, 0, &id));
	ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_TOUCH, NULL, 0, &id));
	ASSERT_EQ(0, client_submit(other, GPUEMU_WORK_TOUCH, NULL, 0, &id));
	ASSERT_EQ(0, call(self->e.fd, GPUEMU_IOCTL_WORK_TAKE, &work));
	done.id = work.id;
	ASSERT_EQ(0, call(self->e.fd, GPUEMU_IOCTL_WORK_DONE, &done));
	close(other);
	ASSERT_EQ(0, look(self));
	EXPECT_EQ(2, self->client.of[STAT(WORKS_QUEUED)]);
	EXPECT_EQ(3, self->dev.of[STAT(WORKS_QUEUED)]);
	BOTH(1, WORKS_DONE);
	EXPECT_EQ(0, self->client.of[STAT(WORKS_CANCELLED)]);
	EXPECT_EQ(1, self->dev.of[STAT(WORKS_CANCELLED)]);

	engine_close(&self->e);
	ASSERT_EQ(0, look(self));
	BOTH(1, WORKS_LOST);
	EXPECT_EQ(1, self->dev.of[STAT(ENGINE_LOSSES)]);
	ASSERT_EQ(0, engine_open(&self->e));
	ASSERT_EQ(0, look(self));
	EXPECT_EQ(1, self->dev.of[STAT(ENGINE_ATTACHES)]);
	/* The other client, and the engine's file. */
	EXPECT_EQ(2, self->dev.of[STAT(CLIENTS_OPENED)]);
}

/* A reset takes back what was counted, not what there is. */
TEST_F(counters, reset)
{
	self->mem[0] = 1;
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 2));
	ASSERT_EQ(0, reset(self, self->space));
	ASSERT_EQ(0, look(self));
	EXPECT_EQ(0, self->client.of[STAT(H2D_PAGES)]);
	EXPECT_EQ(2, self->dev.of[STAT(H2D_PAGES)]);
	BOTH(2, RESIDENT_PAGES);
	BOTH(2, SYSTEM_PAGES);
	BOTH(8 * PAGE, MANAGED_BYTES);

	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem + 2 * PAGE, 1));
	ASSERT_EQ(0, look(self));
	EXPECT_EQ(1, self->client.of[STAT(H2D_PAGES)]);
	ASSERT_EQ(0, reset(self, 0));
	ASSERT_EQ(0, look(self));
	BOTH(0, H2D_PAGES);
	BOTH(3, RESIDENT_PAGES);
}

/* What a client took goes with it from the device's gauges, not from its counters. */
TEST_F(counters, client_ends)
{
	uint64_t pages;
	uint8_t *mem;
	int other;

	ASSERT_EQ(0, look(self));
	pages = self->dev.of[STAT(H2D_PAGES)];
	other = client_open();
	mem = map_managed(other, BLOCK);
	ASSERT_NE(NULL, mem);
	memset(mem, 1, 16 * PAGE);
	ASSERT_EQ(0, engine_h2d(&self->e, client_space(other), mem, 8));
	ASSERT_EQ(0, munmap(mem, BLOCK));
	close(other);
	ASSERT_EQ(0, look(self));
	EXPECT_EQ(pages + 8, self->dev.of[STAT(H2D_PAGES)]);
	BOTH(0, RESIDENT_PAGES);
	BOTH(0, SYSTEM_PAGES);
	BOTH(8 * PAGE, MANAGED_BYTES);
	EXPECT_EQ(0, self->client.of[STAT(H2D_PAGES)]);
}

TEST_HARNESS_MAIN
