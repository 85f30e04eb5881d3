// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=4 enable_tests=1 timeout=300
 *
 * Each netlink operation, with each allocation and user copy failing once: an
 * error, or no answer and the socket says so (-ENOBUFS), and what is set is set
 * or is not. An event that could not be sent is counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/fail.h"
#include "lib/managed.h"
#include "lib/nl.h"

FIXTURE(fail)
{
	struct fail fail;
	struct managed m;
	struct nl nl, listener;
	struct nl_request r;
	unsigned int answers;
	uint64_t dropped;
	uint32_t value;
};

#define WORLD FIXTURE_DATA(fail) *self = world

FIXTURE_SETUP(fail)
{
	FAIL_SETUP();
	self->listener.fd = -1;
	self->nl.fd = -1;
	ASSERT_EQ(0, managed_open(&self->m, HALF));
}

FIXTURE_TEARDOWN(fail)
{
	nl_close(&self->nl);
	nl_close(&self->listener);
	managed_close(&self->m);
	close(self->fail.fd);
}

static void count(const struct nl_reply *reply, void *arg)
{
	FIXTURE_DATA(fail) *self = arg;

	self->answers += reply->cmd == GPUEMU_CMD_DEVICE_GET ||
			 reply->cmd == GPUEMU_CMD_CLIENT_GET ||
			 reply->cmd == GPUEMU_CMD_BLOCK_GET ||
			 reply->cmd == GPUEMU_CMD_PARAM_GET;
}

/* A socket of its own, on which what did not come will not come. */
static int fresh(FIXTURE_DATA(fail) *self)
{
	nl_close(&self->nl);
	self->answers = 0;
	return nl_open(&self->nl) || fcntl(self->nl.fd, F_SETFL, O_NONBLOCK);
}

static int talk(FIXTURE_DATA(fail) *self)
{
	return nl_talk(&self->nl, &self->r, count, self);
}

static int run_talk(void *world)
{
	WORLD;
	int ret = talk(self);

	/* The answer's own memory failed: the socket says so, or says nothing. */
	return ret == -EAGAIN ? -ENOBUFS : ret;
}

static int after_answers(void *world, int ret)
{
	WORLD;

	return ret || self->answers ? 0 : 1;
}

static int after_intact(void *world, int ret)
{
	WORLD;

	return managed_intact(&self->m, 0, MANAGED_PAGES) ? 0 : 1;
}

/* Which clients a request is about; the operation's second word, after the command. */
enum { ALL, ONE, DUMP };

static int prepare_request(void *world)
{
	WORLD;
	const unsigned int *what = self->fail.op->what;
	struct nl_request *r = &self->r;

	if (fresh(self))
		return 1;
	nl_begin(&self->nl, r, what[0], what[1] == DUMP ? NLM_F_REQUEST | NLM_F_DUMP : 0);
	switch (what[0]) {
	case GPUEMU_CMD_CLIENT_GET:
	case GPUEMU_CMD_STATS_RESET:
		if (what[1] == ONE)
			nl_put_u32(r, GPUEMU_A_CLIENT_VA_SPACE, self->m.space);
		break;
	case GPUEMU_CMD_BLOCK_GET:
		nl_put_u32(r, GPUEMU_A_BLOCK_VA_SPACE, self->m.space);
		break;
	case GPUEMU_CMD_PARAM_GET:
		if (what[1] == ONE)
			nl_put_text(r, GPUEMU_A_PARAM_NAME, "pressure_ms");
		break;
	case GPUEMU_CMD_INJECT:
		nl_put_u32(r, GPUEMU_A_INJECT_WHAT, GPUEMU_INJECT_WHAT_PAGE_ALLOC);
		nl_put_u32(r, GPUEMU_A_INJECT_COUNT, 0);
		break;
	}
	return 0;
}

#define REQUEST(cmd, whom, after) \
	{ #cmd " " #whom, prepare_request, run_talk, after, -ENOBUFS, \
	  .what = { GPUEMU_CMD_##cmd, whom } }

TEST_F(fail, get)
{
	static const struct fail_op ops[] = {
		REQUEST(DEVICE_GET, ONE, after_answers),
		REQUEST(CLIENT_GET, ONE, after_answers),
		REQUEST(PARAM_GET, ONE, after_answers),
	};

	SWEEP(ops);
}

TEST_F(fail, dump)
{
	static const struct fail_op ops[] = {
		REQUEST(CLIENT_GET, DUMP, after_answers),
		REQUEST(BLOCK_GET, DUMP, after_answers),
		REQUEST(PARAM_GET, DUMP, after_answers),
	};

	SWEEP(ops);
}

TEST_F(fail, do)
{
	static const struct fail_op ops[] = {
		REQUEST(STATS_RESET, ONE, after_intact),
		REQUEST(STATS_RESET, ALL, after_intact),
		REQUEST(INJECT, ALL, after_intact),
	};

	SWEEP(ops);
}

/* --- a parameter, which is an event, too --- */

static void take_param(const struct nl_reply *reply, void *arg)
{
	*(uint32_t *)arg = nl_u32(reply->attrs[GPUEMU_A_PARAM_VALUE]);
}

static void take_dropped(const struct nl_reply *reply, void *arg)
{
	*(uint64_t *)arg = nl_u64(reply->attrs[GPUEMU_A_DEVICE_EVENTS_DROPPED]);
}

static uint64_t dropped(FIXTURE_DATA(fail) *self)
{
	uint64_t n = ~0ull;
	struct nl_request r;

	nl_begin(&self->nl, &r, GPUEMU_CMD_DEVICE_GET, 0);
	nl_talk(&self->nl, &r, take_dropped, &n);
	return n;
}

static int prepare_set(void *world)
{
	WORLD;

	if (fresh(self))
		return 1;
	nl_close(&self->listener);
	if (nl_open(&self->listener) || nl_listen(&self->listener))
		return 2;
	self->dropped = dropped(self);
	/* Every time another one. */
	self->value = 100 + (self->value + 1) % 800;
	nl_begin(&self->nl, &self->r, GPUEMU_CMD_PARAM_SET, 0);
	nl_put_text(&self->r, GPUEMU_A_PARAM_NAME, "pressure_ms");
	nl_put_u32(&self->r, GPUEMU_A_PARAM_VALUE, self->value);
	return 0;
}

/* Set and said; or set and the drop counted, or heard of by the listener; or neither. */
static int after_set(void *world, int ret)
{
	WORLD;
	struct nl_reply event;
	struct nl_request r;
	uint32_t value = 0;
	int said;

	if (fresh(self))
		return 1;
	nl_begin(&self->nl, &r, GPUEMU_CMD_PARAM_GET, 0);
	nl_put_text(&r, GPUEMU_A_PARAM_NAME, "pressure_ms");
	if (nl_talk(&self->nl, &r, take_param, &value))
		return 2;
	if (value != self->value)
		return ret ? 0 : 3;
	said = nl_event(&self->listener, 0, &event);
	if (said == 1)
		return nl_u32(event.attrs[GPUEMU_A_EVENT_VALUE]) == value ? 0 : 4;
	return said == -ENOBUFS || dropped(self) == self->dropped + 1 ? 0 : 5;
}

TEST_F(fail, set)
{
	static const struct fail_op ops[] = {
		{ "PARAM_SET", prepare_set, run_talk, after_set, -ENOBUFS },
	};

	SWEEP(ops);
}

TEST_HARNESS_MAIN
