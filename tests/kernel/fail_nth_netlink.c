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
	int fail;
	char why[128];
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
	close(self->fail);
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

#define PREPARE(name, cmd, flags, ...) \
static int prepare_##name(void *world) \
{ \
	WORLD; \
\
	if (fresh(self)) \
		return 1; \
	nl_begin(&self->nl, &self->r, cmd, flags); \
	__VA_ARGS__; \
	return 0; \
}

PREPARE(device, GPUEMU_CMD_DEVICE_GET, 0, )
PREPARE(client, GPUEMU_CMD_CLIENT_GET, 0,
	nl_put_u32(&self->r, GPUEMU_A_CLIENT_VA_SPACE, self->m.space))
PREPARE(clients, GPUEMU_CMD_CLIENT_GET, NLM_F_REQUEST | NLM_F_DUMP, )
PREPARE(blocks, GPUEMU_CMD_BLOCK_GET, NLM_F_REQUEST | NLM_F_DUMP,
	nl_put_u32(&self->r, GPUEMU_A_BLOCK_VA_SPACE, self->m.space))
PREPARE(param, GPUEMU_CMD_PARAM_GET, 0,
	nl_put_text(&self->r, GPUEMU_A_PARAM_NAME, "pressure_ms"))
PREPARE(params, GPUEMU_CMD_PARAM_GET, NLM_F_REQUEST | NLM_F_DUMP, )
PREPARE(reset, GPUEMU_CMD_STATS_RESET, 0,
	nl_put_u32(&self->r, GPUEMU_A_CLIENT_VA_SPACE, self->m.space))
PREPARE(reset_all, GPUEMU_CMD_STATS_RESET, 0, )
PREPARE(inject, GPUEMU_CMD_INJECT, 0,
	nl_put_u32(&self->r, GPUEMU_A_INJECT_WHAT, GPUEMU_INJECT_WHAT_PAGE_ALLOC);
	nl_put_u32(&self->r, GPUEMU_A_INJECT_COUNT, 0))

#define OP(name, after) \
	static const struct fail_op op_##name = { #name, prepare_##name, run_talk, after, -ENOBUFS }

OP(device, after_answers);
OP(client, after_answers);
OP(clients, after_answers);
OP(blocks, after_answers);
OP(param, after_answers);
OP(params, after_answers);

TEST_F(fail, get)
{
	SWEEP(op_device);
	SWEEP(op_client);
	SWEEP(op_param);
}

TEST_F(fail, dump)
{
	SWEEP(op_clients);
	SWEEP(op_blocks);
	SWEEP(op_params);
}

static int after_nothing(void *world, int ret)
{
	WORLD;

	return managed_intact(&self->m, 0, MANAGED_PAGES) ? 0 : 1;
}

OP(reset, after_nothing);
OP(reset_all, after_nothing);
OP(inject, after_nothing);

TEST_F(fail, do)
{
	SWEEP(op_reset);
	SWEEP(op_reset_all);
	SWEEP(op_inject);
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

static const struct fail_op op_set = {
	"set", prepare_set, run_talk, after_set, -ENOBUFS,
};

TEST_F(fail, set)
{
	SWEEP(op_set);
}

TEST_HARNESS_MAIN
