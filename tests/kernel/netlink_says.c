// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=1 pt_mb=1 pressure_ms=0
 *
 * What replies and events say, against what is so: each attribute at least once with a
 * value that it would not have by chance.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"
#include "lib/nl.h"

#ifndef SOL_NETLINK
#define SOL_NETLINK 270
#endif

enum { FRAMES = 256, TABLES = 256 };

FIXTURE(says)
{
	struct nl nl;
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *mem;
};

FIXTURE_SETUP(says)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, BLOCK);
	ASSERT_NE(NULL, self->mem);
}

FIXTURE_TEARDOWN(says)
{
	munmap(self->mem, BLOCK);
	close(self->fd);
	engine_close(&self->e);
	nl_close(&self->nl);
}

struct device {
	uint32_t abi, generation, clients, tables, tables_free;
	uint64_t vram, vram_free, events, dropped, engine_attaches;
};

static void take_device(const struct nl_reply *reply, void *arg)
{
	const struct nlattr *const *a = reply->attrs;
	const struct nlattr *stats[NL_ATTRS];

	nl_nested(a[GPUEMU_A_DEVICE_STATS], stats);
	*(struct device *)arg = (struct device){
		.abi = nl_u32(a[GPUEMU_A_DEVICE_ABI]),
		.generation = nl_u32(a[GPUEMU_A_DEVICE_GENERATION]),
		.clients = nl_u32(a[GPUEMU_A_DEVICE_CLIENTS]),
		.tables = nl_u32(a[GPUEMU_A_DEVICE_TABLES]),
		.tables_free = nl_u32(a[GPUEMU_A_DEVICE_TABLES_FREE]),
		.vram = nl_u64(a[GPUEMU_A_DEVICE_VRAM_BYTES]),
		.vram_free = nl_u64(a[GPUEMU_A_DEVICE_VRAM_FREE_BYTES]),
		.events = nl_u64(a[GPUEMU_A_DEVICE_EVENTS]),
		.dropped = nl_u64(a[GPUEMU_A_DEVICE_EVENTS_DROPPED]),
		.engine_attaches = nl_u64(stats[GPUEMU_A_STATS_ENGINE_ATTACHES]),
	};
}

static struct device device(struct nl *nl)
{
	struct device d = { .abi = ~0u };
	struct nl_request r;

	nl_begin(nl, &r, GPUEMU_CMD_DEVICE_GET, 0);
	nl_talk(nl, &r, take_device, &d);
	return d;
}

TEST_F(says, of_the_device)
{
	struct device d = device(&self->nl), before = d;
	int fd;

	EXPECT_EQ(GPUEMU_ABI_VERSION, d.abi);
	EXPECT_EQ(self->e.attach.generation, d.generation);
	EXPECT_EQ(2, d.clients);
	EXPECT_EQ(TABLES, d.tables);
	EXPECT_EQ(TABLES - 1, d.tables_free);
	EXPECT_EQ(FRAMES * PAGE, d.vram);
	EXPECT_EQ(FRAMES * PAGE, d.vram_free);
	/* Pages, a leaf and three tables above it, a client, an event. */
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 7));
	fd = client_open();
	d = device(&self->nl);
	EXPECT_EQ((FRAMES - 7) * PAGE, d.vram_free);
	EXPECT_EQ(TABLES - 1 - 4, d.tables_free);
	EXPECT_EQ(3, d.clients);
	EXPECT_EQ(before.events + 1, d.events);
	EXPECT_EQ(before.dropped, d.dropped);
	close(fd);
	engine_close(&self->e);
	d = device(&self->nl);
	EXPECT_EQ(0, d.generation);
	EXPECT_EQ(1, d.clients);
	/* The other's opening and end, the engine's loss and its file's. */
	EXPECT_EQ(before.events + 4, d.events);
	ASSERT_EQ(0, engine_open(&self->e));
	d = device(&self->nl);
	EXPECT_EQ(before.generation + 1, d.generation);
	EXPECT_EQ(before.engine_attaches + 1, d.engine_attaches);
	engine_acker_start(&self->e);
}

struct one {
	uint32_t space, pid, uid, works;
	uint64_t charged;
	bool engine, there;
};

static void take_client(const struct nl_reply *reply, void *arg)
{
	const struct nlattr *const *a = reply->attrs;

	*(struct one *)arg = (struct one){
		.space = nl_u32(a[GPUEMU_A_CLIENT_VA_SPACE]),
		.pid = nl_u32(a[GPUEMU_A_CLIENT_PID]),
		.uid = nl_u32(a[GPUEMU_A_CLIENT_UID]),
		.works = nl_u32(a[GPUEMU_A_CLIENT_WORKS]),
		.charged = nl_u64(a[GPUEMU_A_CLIENT_CHARGED_BYTES]),
		.engine = a[GPUEMU_A_CLIENT_ENGINE], .there = true,
	};
}

static struct one client(struct nl *nl, uint32_t space)
{
	struct one c = { 0 };
	struct nl_request r;

	nl_begin(nl, &r, GPUEMU_CMD_CLIENT_GET, 0);
	nl_put_u32(&r, GPUEMU_A_CLIENT_VA_SPACE, space);
	nl_talk(nl, &r, take_client, &c);
	return c;
}

TEST_F(says, of_a_client)
{
	struct gpuemu_module_load load = {
		.size = sizeof(load), .image = (uintptr_t)self->mem, .image_bytes = 1000,
	};
	struct one c = client(&self->nl, self->space);
	uint64_t id;

	ASSERT_TRUE(c.there);
	EXPECT_EQ(self->space, c.space);
	EXPECT_EQ(getpid(), c.pid);
	EXPECT_EQ(getuid(), c.uid);
	EXPECT_EQ(0, c.works);
	EXPECT_EQ(0, c.charged);
	EXPECT_FALSE(c.engine);
	ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_TOUCH, self->mem, 24, &id));
	ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_TOUCH, self->mem, 300, &id));
	ASSERT_EQ(0, call(self->fd, GPUEMU_IOCTL_MODULE_LOAD, &load));
	c = client(&self->nl, self->space);
	EXPECT_EQ(2, c.works);
	EXPECT_EQ(1324, c.charged);
	/* The engine's file is one, too, and says so. */
	c = client(&self->nl, client_space(self->e.fd));
	EXPECT_TRUE(c.engine);
}

static void take_param(const struct nl_reply *reply, void *arg)
{
	uint32_t *p = arg;

	p[0] = nl_u32(reply->attrs[GPUEMU_A_PARAM_VALUE]);
	p[1] = nl_u32(reply->attrs[GPUEMU_A_PARAM_DEFAULT_VALUE]);
	p[2] = nl_u32(reply->attrs[GPUEMU_A_PARAM_MIN_VALUE]);
	p[3] = nl_u32(reply->attrs[GPUEMU_A_PARAM_MAX_VALUE]);
	p[4] = strlen(nl_text(reply->attrs[GPUEMU_A_PARAM_DOC]));
}

TEST_F(says, of_a_parameter)
{
	uint32_t p[5] = { 0 };
	struct nl_request r;

	nl_begin(&self->nl, &r, GPUEMU_CMD_PARAM_GET, 0);
	nl_put_text(&r, GPUEMU_A_PARAM_NAME, "monitor_ms");
	ASSERT_EQ(0, nl_set_param(&self->nl, "monitor_ms", 333));
	ASSERT_EQ(0, nl_talk(&self->nl, &r, take_param, p));
	EXPECT_EQ(333, p[0]);
	EXPECT_EQ(250, p[1]);
	EXPECT_EQ(10, p[2]);
	EXPECT_EQ(500, p[3]);
	EXPECT_LT(20, p[4]);
	ASSERT_EQ(0, nl_set_param(&self->nl, "monitor_ms", 250));
}

/* The module was loaded without enable_tests. */
TEST_F(says, no_tests)
{
	struct nl_request r;

	nl_begin(&self->nl, &r, GPUEMU_CMD_INJECT, 0);
	nl_put_u32(&r, GPUEMU_A_INJECT_WHAT, GPUEMU_INJECT_WHAT_ENGINE_LOSS);
	EXPECT_EQ(-EPERM, nl_talk(&self->nl, &r, NULL, NULL));
	EXPECT_NE(NULL, strstr(self->nl.said, "enable_tests"));
	EXPECT_EQ(0, self->e.control->lost);
}

/* --- events --- */

/* The next event of the type within a while; false: none. */
static bool next(struct nl *listener, uint32_t type, unsigned int ms, struct nl_reply *event)
{
	while (nl_event(listener, ms, event) == 1)
		if (nl_u32(event->attrs[GPUEMU_A_EVENT_TYPE]) == type)
			return true;
	return false;
}

TEST_F(says, whose_counters_were_reset)
{
	struct nl_reply event;
	struct nl listener;
	struct nl_request r;

	ASSERT_EQ(0, nl_open(&listener));
	ASSERT_EQ(0, nl_listen(&listener));
	nl_begin(&self->nl, &r, GPUEMU_CMD_STATS_RESET, 0);
	nl_put_u32(&r, GPUEMU_A_CLIENT_VA_SPACE, self->space);
	ASSERT_EQ(0, nl_talk(&self->nl, &r, NULL, NULL));
	ASSERT_TRUE(next(&listener, GPUEMU_EVENT_TYPE_STATS_RESET, 500, &event));
	EXPECT_EQ(self->space, nl_u32(event.attrs[GPUEMU_A_EVENT_VA_SPACE]));
	nl_begin(&self->nl, &r, GPUEMU_CMD_STATS_RESET, 0);
	ASSERT_EQ(0, nl_talk(&self->nl, &r, NULL, NULL));
	ASSERT_TRUE(next(&listener, GPUEMU_EVENT_TYPE_STATS_RESET, 500, &event));
	EXPECT_EQ(NULL, event.attrs[GPUEMU_A_EVENT_VA_SPACE]);
	nl_close(&listener);
}

/* Nobody is told more often than pressure_ms says; who counts misses none. */
TEST_F(says, pressure_not_too_often)
{
	struct nl_reply event;
	struct nl listener;
	int i;

	ASSERT_EQ(0, nl_open(&listener));
	ASSERT_EQ(0, nl_listen(&listener));
	ASSERT_EQ(0, nl_set_param(&self->nl, "pressure_ms", 700));
	for (i = 0; i < 5; i++)
		EXPECT_EQ(-ENOSPC, engine_h2d(&self->e, self->space, self->mem, FRAMES + 9));
	EXPECT_TRUE(next(&listener, GPUEMU_EVENT_TYPE_MEMORY_PRESSURE, 100, &event));
	EXPECT_FALSE(next(&listener, GPUEMU_EVENT_TYPE_MEMORY_PRESSURE, 100, &event));
	sleep_ms(800);
	EXPECT_EQ(-ENOSPC, engine_h2d(&self->e, self->space, self->mem, FRAMES + 9));
	EXPECT_TRUE(next(&listener, GPUEMU_EVENT_TYPE_MEMORY_PRESSURE, 100, &event));
	ASSERT_EQ(0, nl_set_param(&self->nl, "pressure_ms", 0));
	sleep_ms(800);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(-ENOSPC, engine_h2d(&self->e, self->space, self->mem, FRAMES + 9));
		sleep_ms(20);
		EXPECT_TRUE(next(&listener, GPUEMU_EVENT_TYPE_MEMORY_PRESSURE, 100, &event));
	}
	nl_close(&listener);
}

/*
 * A worker sends the events in order and counts a failed send before it sends
 * the next one. A listener that has event number seq therefore knows that all
 * earlier events were sent or counted.
 */
static bool sent_before(struct nl *listener, uint64_t seq)
{
	struct nl_reply event;

	while (nl_event(listener, 5000, &event) == 1)
		if (nl_u64(event.attrs[GPUEMU_A_EVENT_SEQ]) >= seq)
			return true;
	return false;
}

/* The device counts what a listener's full buffer refused, and later events say the count. */
TEST_F(says, dropped)
{
	int few = 4096, many = 1 << 20, on = 1, i, fd;
	struct device before = device(&self->nl), d;
	struct nl small, large;
	struct nl_reply event;

	ASSERT_EQ(0, nl_open(&small));
	ASSERT_EQ(0, nl_listen(&small));
	ASSERT_EQ(0, setsockopt(small.fd, SOL_SOCKET, SO_RCVBUF, &few, sizeof(few)));
	ASSERT_EQ(0, setsockopt(small.fd, SOL_NETLINK, NETLINK_BROADCAST_ERROR, &on, sizeof(on)));
	ASSERT_EQ(0, nl_open(&large));
	ASSERT_EQ(0, setsockopt(large.fd, SOL_SOCKET, SO_RCVBUFFORCE, &many, sizeof(many)));
	ASSERT_EQ(0, nl_listen(&large));
	for (i = 0; i < 100; i++) {
		fd = client_open();
		ASSERT_LE(0, fd);
		close(fd);
	}
	ASSERT_TRUE(sent_before(&large, before.events + 200));
	nl_close(&small);
	fd = client_open();
	close(fd);
	ASSERT_TRUE(sent_before(&large, before.events + 202));
	d = device(&self->nl);
	EXPECT_EQ(before.events + 202, d.events);
	EXPECT_LT(before.dropped + 50, d.dropped);
	EXPECT_GT(before.dropped + 200, d.dropped);
	fd = client_open();
	close(fd);
	ASSERT_TRUE(next(&large, GPUEMU_EVENT_TYPE_CLIENT_OPENED, 500, &event));
	EXPECT_EQ(d.dropped, nl_u64(event.attrs[GPUEMU_A_EVENT_DROPPED]));
	nl_close(&large);
}

TEST_HARNESS_MAIN
