// SPDX-License-Identifier: GPL-2.0
/*
 * vm: enable_tests=1 pressure_ms=0
 *
 * Events: each where it belongs, numbered without gaps, and a listener that is
 * too slow sees that it missed some.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"
#include "lib/nl.h"

FIXTURE(events)
{
	struct nl nl;		/* asks */
	struct nl listener;
	struct nl_reply event;
	uint64_t last;		/* number of the last event */
};

FIXTURE_SETUP(events)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, nl_open(&self->listener));
	ASSERT_EQ(0, nl_listen(&self->listener));
	self->last = 0;
}

FIXTURE_TEARDOWN(events)
{
	nl_close(&self->listener);
	nl_close(&self->nl);
}

/* The next event's type, 0 for none; its number must be the next one. */
static uint32_t next(FIXTURE_DATA(events) *self)
{
	uint64_t seq;

	if (nl_event(&self->listener, 1000, &self->event) != 1)
		return 0;
	seq = nl_u64(self->event.attrs[GPUEMU_A_EVENT_SEQ]);
	if (!seq || (self->last && seq != self->last + 1) ||
	    self->event.cmd != GPUEMU_CMD_EVENT ||
	    !nl_u64(self->event.attrs[GPUEMU_A_EVENT_TIME]))
		return 0;
	self->last = seq;
	return nl_u32(self->event.attrs[GPUEMU_A_EVENT_TYPE]);
}

static uint32_t word(FIXTURE_DATA(events) *self, int attr)
{
	return nl_u32(self->event.attrs[attr]);
}

static const char *text(FIXTURE_DATA(events) *self, int attr)
{
	return nl_text(self->event.attrs[attr]);
}

TEST_F(events, clients_and_engines)
{
	uint32_t space, generation;
	struct engine e;
	int fd;

	fd = client_open();
	space = client_space(fd);
	ASSERT_EQ(GPUEMU_EVENT_TYPE_CLIENT_OPENED, next(self));
	EXPECT_EQ(space, word(self, GPUEMU_A_EVENT_VA_SPACE));
	ASSERT_EQ(0, engine_open(&e));
	ASSERT_EQ(GPUEMU_EVENT_TYPE_CLIENT_OPENED, next(self));
	ASSERT_EQ(GPUEMU_EVENT_TYPE_ENGINE_ATTACHED, next(self));
	generation = e.attach.generation;
	EXPECT_EQ(generation, word(self, GPUEMU_A_EVENT_GENERATION));
	close(fd);
	ASSERT_EQ(GPUEMU_EVENT_TYPE_CLIENT_CLOSED, next(self));
	EXPECT_EQ(space, word(self, GPUEMU_A_EVENT_VA_SPACE));
	engine_close(&e);
	ASSERT_EQ(GPUEMU_EVENT_TYPE_ENGINE_LOST, next(self));
	EXPECT_EQ(generation, word(self, GPUEMU_A_EVENT_GENERATION));
	EXPECT_NE('\0', text(self, GPUEMU_A_EVENT_REASON)[0]);
	EXPECT_EQ(GPUEMU_EVENT_TYPE_CLIENT_CLOSED, next(self));
	EXPECT_EQ(0, nl_event(&self->listener, 100, &self->event));
}

TEST_F(events, changes)
{
	struct nl_request r;

	nl_begin(&self->nl, &r, GPUEMU_CMD_PARAM_SET, 0);
	nl_put_text(&r, GPUEMU_A_PARAM_NAME, "monitor_ms");
	nl_put_u32(&r, GPUEMU_A_PARAM_VALUE, 251);
	ASSERT_EQ(0, nl_talk(&self->nl, &r, NULL, NULL));
	ASSERT_EQ(GPUEMU_EVENT_TYPE_PARAM_CHANGED, next(self));
	EXPECT_EQ(0, strcmp("monitor_ms", text(self, GPUEMU_A_EVENT_NAME)));
	EXPECT_EQ(251, word(self, GPUEMU_A_EVENT_VALUE));
	nl_begin(&self->nl, &r, GPUEMU_CMD_STATS_RESET, 0);
	ASSERT_EQ(0, nl_talk(&self->nl, &r, NULL, NULL));
	EXPECT_EQ(GPUEMU_EVENT_TYPE_STATS_RESET, next(self));
}

TEST_F(events, pressure)
{
	struct nl_request r;
	uint32_t space, type;
	struct engine e;
	uint8_t *mem;
	int fd;

	ASSERT_EQ(0, engine_open(&e));
	fd = client_open();
	space = client_space(fd);
	mem = map_managed(fd, PAGE);
	ASSERT_NE(NULL, mem);
	nl_begin(&self->nl, &r, GPUEMU_CMD_INJECT, 0);
	nl_put_u32(&r, GPUEMU_A_INJECT_WHAT, GPUEMU_INJECT_WHAT_FRAME_ALLOC);
	ASSERT_EQ(0, nl_talk(&self->nl, &r, NULL, NULL));
	EXPECT_EQ(-ENOSPC, engine_h2d(&e, space, mem, 1));
	do {
		type = next(self);
	} while (type && type != GPUEMU_EVENT_TYPE_MEMORY_PRESSURE);
	EXPECT_EQ(GPUEMU_EVENT_TYPE_MEMORY_PRESSURE, type);
	EXPECT_EQ(space, word(self, GPUEMU_A_EVENT_VA_SPACE));
	EXPECT_EQ(0, strcmp("device memory", text(self, GPUEMU_A_EVENT_REASON)));
	close(fd);
	engine_close(&e);
}

/* A listener that does not read loses events. It is told so, and the numbers say how many. */
TEST_F(events, too_slow)
{
	int small = 4096, i, fd, ret;
	uint64_t first, seq = 0, n = 0, gap = 0;

	ASSERT_EQ(0, setsockopt(self->listener.fd, SOL_SOCKET, SO_RCVBUF, &small,
				sizeof(small)));
	for (i = 0; i < 200; i++) {
		fd = client_open();
		ASSERT_LE(0, fd);
		close(fd);
	}
	/* A worker of the module sends them; this is long after the last one. */
	sleep(1);
	ASSERT_EQ(-ENOBUFS, nl_event(&self->listener, 1000, &self->event));
	/* Room again: one more event arrives, and shows the gap. */
	first = 0;
	while ((ret = nl_event(&self->listener, 100, &self->event)) == 1) {
		seq = nl_u64(self->event.attrs[GPUEMU_A_EVENT_SEQ]);
		first = first ? first : seq;
		n++;
	}
	ASSERT_EQ(0, ret);
	EXPECT_EQ(n, seq - first + 1);
	EXPECT_GT(400, n);
	fd = client_open();
	close(fd);
	ASSERT_EQ(1, nl_event(&self->listener, 1000, &self->event));
	gap = nl_u64(self->event.attrs[GPUEMU_A_EVENT_SEQ]) - seq - 1;
	EXPECT_EQ(400, n + gap);
	/* The module itself had no trouble making them. */
	EXPECT_EQ(0, nl_u64(self->event.attrs[GPUEMU_A_EVENT_DROPPED]));
}

/* Nobody listens: they are numbered all the same. */
TEST_F(events, nobody_listens)
{
	int fd = client_open();

	ASSERT_EQ(GPUEMU_EVENT_TYPE_CLIENT_OPENED, next(self));
	close(fd);
	ASSERT_EQ(GPUEMU_EVENT_TYPE_CLIENT_CLOSED, next(self));
	nl_close(&self->listener);
	fd = client_open();
	close(fd);
	ASSERT_EQ(0, nl_open(&self->listener));
	ASSERT_EQ(0, nl_listen(&self->listener));
	self->last += 2;
	fd = client_open();
	EXPECT_EQ(GPUEMU_EVENT_TYPE_CLIENT_OPENED, next(self));
	close(fd);
}

TEST_HARNESS_MAIN
