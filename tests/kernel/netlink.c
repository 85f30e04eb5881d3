// SPDX-License-Identifier: GPL-2.0
/*
 * vm: impatient enable_tests=1 pressure_ms=0
 *
 * The netlink family: what it refuses and how it says so, who may do what,
 * parameters, injected failures, and that replies show nothing they should not.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>

#include "lib/harness.h"
#include "lib/lib.h"
#include "lib/nl.h"

#define NOBODY 65534

FIXTURE(netlink)
{
	struct nl nl;
	struct nl_request r;
};

FIXTURE_SETUP(netlink)
{
	ASSERT_EQ(0, nl_open(&self->nl));
}

FIXTURE_TEARDOWN(netlink)
{
	nl_close(&self->nl);
}

static const uint8_t commands[] = {
	GPUEMU_CMD_DEVICE_GET, GPUEMU_CMD_CLIENT_GET, GPUEMU_CMD_BLOCK_GET,
	GPUEMU_CMD_PARAM_GET, GPUEMU_CMD_PARAM_SET, GPUEMU_CMD_STATS_RESET,
	GPUEMU_CMD_INJECT,
};

/* BLOCK_GET is a dump only. */
static uint16_t way(uint8_t cmd)
{
	return cmd == GPUEMU_CMD_BLOCK_GET ? NLM_F_DUMP : NLM_F_ACK;
}

TEST_F(netlink, unknown_attribute)
{
	size_t i;

	for (i = 0; i < sizeof(commands); i++) {
		nl_begin(&self->nl, &self->r, commands[i], way(commands[i]));
		nl_put_u32(&self->r, 50, 1);
		EXPECT_EQ(-EINVAL, nl_talk(&self->nl, &self->r, NULL, NULL))
			TH_LOG("command %u", commands[i]);
		EXPECT_NE('\0', self->nl.said[0]) TH_LOG("command %u", commands[i]);
	}
	nl_begin(&self->nl, &self->r, GPUEMU_CMD_CLIENT_GET, NLM_F_DUMP);
	nl_put_u32(&self->r, GPUEMU_A_CLIENT_PID, 1);
	EXPECT_EQ(-EINVAL, nl_talk(&self->nl, &self->r, NULL, NULL));
	EXPECT_NE('\0', self->nl.said[0]);
}

TEST_F(netlink, unknown_command)
{
	nl_begin(&self->nl, &self->r, 200, 0);
	EXPECT_EQ(-EOPNOTSUPP, nl_talk(&self->nl, &self->r, NULL, NULL));
	/* An event is said, not asked for. */
	nl_begin(&self->nl, &self->r, GPUEMU_CMD_EVENT, 0);
	EXPECT_EQ(-EOPNOTSUPP, nl_talk(&self->nl, &self->r, NULL, NULL));
	/* There is no list of devices. */
	nl_begin(&self->nl, &self->r, GPUEMU_CMD_DEVICE_GET, NLM_F_DUMP);
	EXPECT_EQ(-EOPNOTSUPP, nl_talk(&self->nl, &self->r, NULL, NULL));
}

TEST_F(netlink, reserved_header)
{
	size_t i;

	for (i = 0; i < sizeof(commands); i++) {
		nl_begin(&self->nl, &self->r, commands[i], way(commands[i]));
		((struct genlmsghdr *)NLMSG_DATA(&self->r.hdr))->reserved = 1;
		EXPECT_EQ(-EINVAL, nl_talk(&self->nl, &self->r, NULL, NULL))
			TH_LOG("command %u", commands[i]);
	}
}

/* Attributes of the wrong length, outside their range, or missing. */
TEST_F(netlink, bad_attribute)
{
	static const char longer[] = "a_name_that_is_longer_than_a_parameter_has";
	static const struct {
		uint8_t cmd;
		uint16_t flags, type;
		const void *data;
		size_t bytes;
		int error;
	} bad[] = {
		{ GPUEMU_CMD_CLIENT_GET, 0, GPUEMU_A_CLIENT_VA_SPACE, "12", 2, -EINVAL },
		{ GPUEMU_CMD_CLIENT_GET, 0, GPUEMU_A_CLIENT_VA_SPACE, "12345678", 8, -EINVAL },
		{ GPUEMU_CMD_CLIENT_GET, 0, GPUEMU_A_CLIENT_VA_SPACE, "\0\0\0", 4, -ERANGE },
		{ GPUEMU_CMD_CLIENT_GET, 0, GPUEMU_A_CLIENT_VA_SPACE, "\xff\xff\xff\xff", 4, -ESRCH },
		{ GPUEMU_CMD_CLIENT_GET, 0, 0, NULL, 0, -EINVAL },
		{ GPUEMU_CMD_CLIENT_GET, NLM_F_DUMP, GPUEMU_A_CLIENT_VA_SPACE, "\1\0\0", 4, -EINVAL },
		{ GPUEMU_CMD_BLOCK_GET, NLM_F_DUMP, GPUEMU_A_BLOCK_VA_SPACE, "\xff\xff\xff\xff", 4, -ESRCH },
		{ GPUEMU_CMD_BLOCK_GET, NLM_F_DUMP, GPUEMU_A_BLOCK_VA_SPACE, "1", 1, -EINVAL },
		{ GPUEMU_CMD_BLOCK_GET, NLM_F_DUMP, 0, NULL, 0, -EINVAL },
		{ GPUEMU_CMD_PARAM_GET, 0, GPUEMU_A_PARAM_NAME, "vram_mb", 7, -EINVAL },
		{ GPUEMU_CMD_PARAM_GET, 0, GPUEMU_A_PARAM_NAME, longer, sizeof(longer), -EINVAL },
		{ GPUEMU_CMD_PARAM_GET, 0, GPUEMU_A_PARAM_NAME, "no_such", 8, -ENOENT },
		{ GPUEMU_CMD_PARAM_GET, 0, 0, NULL, 0, -EINVAL },
		{ GPUEMU_CMD_PARAM_GET, NLM_F_DUMP, GPUEMU_A_PARAM_NAME, "vram_mb", 8, -EINVAL },
		{ GPUEMU_CMD_PARAM_SET, 0, GPUEMU_A_PARAM_VALUE, "12", 2, -EINVAL },
		{ GPUEMU_CMD_PARAM_SET, 0, GPUEMU_A_PARAM_NAME, "monitor_ms", 11, -EINVAL },
		{ GPUEMU_CMD_STATS_RESET, 0, GPUEMU_A_CLIENT_VA_SPACE, "\xff\xff\xff\xff", 4, -ESRCH },
		{ GPUEMU_CMD_INJECT, 0, 0, NULL, 0, -EINVAL },
		{ GPUEMU_CMD_INJECT, 0, GPUEMU_A_INJECT_WHAT, "\x63\0\0", 4, -EOPNOTSUPP },
		{ GPUEMU_CMD_INJECT, 0, GPUEMU_A_INJECT_COUNT, "\xff\xff\xff\xff", 4, -ERANGE },
		{ GPUEMU_CMD_INJECT, 0, GPUEMU_A_INJECT_WHAT, "\3\0\0", 4, -ENODEV },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		nl_begin(&self->nl, &self->r, bad[i].cmd, bad[i].flags);
		if (bad[i].type)
			nl_put(&self->r, bad[i].type, bad[i].data, bad[i].bytes);
		EXPECT_EQ(bad[i].error, nl_talk(&self->nl, &self->r, NULL, NULL))
			TH_LOG("row %zu", i);
		EXPECT_NE('\0', self->nl.said[0]) TH_LOG("row %zu", i);
	}
}

/* --- parameters --- */

struct param {
	uint32_t value, min, max;
	bool there, settable;
};

static void take_param(const struct nl_reply *reply, void *arg)
{
	struct param *p = arg;

	p->value = nl_u32(reply->attrs[GPUEMU_A_PARAM_VALUE]);
	p->min = nl_u32(reply->attrs[GPUEMU_A_PARAM_MIN_VALUE]);
	p->max = nl_u32(reply->attrs[GPUEMU_A_PARAM_MAX_VALUE]);
	p->settable = reply->attrs[GPUEMU_A_PARAM_SETTABLE];
	p->there = reply->cmd == GPUEMU_CMD_PARAM_GET;
}

static struct param get_param(struct nl *nl, const char *name)
{
	struct param p = { 0 };
	struct nl_request r;

	nl_begin(nl, &r, GPUEMU_CMD_PARAM_GET, 0);
	nl_put_text(&r, GPUEMU_A_PARAM_NAME, name);
	if (nl_talk(nl, &r, take_param, &p))
		p.there = false;
	return p;
}

static void count_params(const struct nl_reply *reply, void *arg)
{
	const char *name = nl_text(reply->attrs[GPUEMU_A_PARAM_NAME]);
	uint32_t *seen = arg;

	seen[0]++;
	seen[1] += !strcmp(name, "vram_mb") || !strcmp(name, "invalidate_timeout_ms");
}

TEST_F(netlink, params)
{
	uint32_t seen[2] = { 0 };
	struct param p;
	uint32_t was;

	nl_begin(&self->nl, &self->r, GPUEMU_CMD_PARAM_GET, NLM_F_DUMP);
	ASSERT_EQ(0, nl_talk(&self->nl, &self->r, count_params, seen));
	EXPECT_LE(7, seen[0]);
	EXPECT_EQ(2, seen[1]);

	p = get_param(&self->nl, "invalidate_timeout_ms");
	ASSERT_TRUE(p.there);
	EXPECT_TRUE(p.settable);
	was = p.value;
	EXPECT_EQ(500 * slowness(), was);
	EXPECT_EQ(0, nl_set_param(&self->nl, "invalidate_timeout_ms", 600));
	EXPECT_EQ(600, get_param(&self->nl, "invalidate_timeout_ms").value);
	EXPECT_EQ(-ERANGE, nl_set_param(&self->nl, "invalidate_timeout_ms", p.min - 1));
	EXPECT_NE('\0', self->nl.said[0]);
	EXPECT_EQ(-ERANGE, nl_set_param(&self->nl, "invalidate_timeout_ms", p.max + 1));
	EXPECT_EQ(600, get_param(&self->nl, "invalidate_timeout_ms").value);
	EXPECT_EQ(0, nl_set_param(&self->nl, "invalidate_timeout_ms", was));

	p = get_param(&self->nl, "vram_mb");
	EXPECT_FALSE(p.settable);
	EXPECT_EQ(-EPERM, nl_set_param(&self->nl, "vram_mb", p.value));
	EXPECT_NE(NULL, strstr(self->nl.said, "loaded"));
	EXPECT_EQ(-ENOENT, nl_set_param(&self->nl, "no_such", 1));
}

/* The new value counts: an engine that is silent is lost after it. */
TEST_F(netlink, param_takes_effect)
{
	struct gpuemu_info info;
	struct engine e;
	uint64_t start;
	uint8_t *mem;
	int fd;

	ASSERT_EQ(0, engine_open(&e));
	fd = client_open();
	mem = map_managed(fd, PAGE);
	ASSERT_NE(NULL, mem);
	ASSERT_EQ(0, engine_h2d(&e, client_space(fd), mem, 1));
	ASSERT_EQ(0, nl_set_param(&self->nl, "invalidate_timeout_ms", 2000));
	start = now_ms();
	mem[0] = 1;
	EXPECT_LE(1900, now_ms() - start);
	ASSERT_EQ(0, client_info(fd, &info));
	EXPECT_EQ(0, info.engine_generation);
	EXPECT_EQ(0, nl_set_param(&self->nl, "invalidate_timeout_ms", 500 * slowness()));
	close(fd);
	engine_close(&e);
}

/* --- permissions --- */

static void note_client(const struct nl_reply *reply, void *arg)
{
	uint32_t *seen = arg;

	seen[0]++;
	seen[1] = nl_u32(reply->attrs[GPUEMU_A_CLIENT_VA_SPACE]);
	seen[2] = nl_u32(reply->attrs[GPUEMU_A_CLIENT_UID]);
}

static int get_client(struct nl *nl, uint32_t space, uint32_t *seen)
{
	struct nl_request r;

	nl_begin(nl, &r, GPUEMU_CMD_CLIENT_GET, 0);
	nl_put_u32(&r, GPUEMU_A_CLIENT_VA_SPACE, space);
	return nl_talk(nl, &r, note_client, seen);
}

/* What an unprivileged user sees; 0, or the number of the line that is wrong. */
static int as_nobody(uint32_t roots, int unused)
{
	uint32_t seen[3] = { 0 }, mine;
	struct nl_request r;
	struct nl nl;
	int fd;

	if (setgid(NOBODY) || setuid(NOBODY) || nl_open(&nl))
		return __LINE__;
	fd = client_open();
	mine = client_space(fd);
	if (nl_set_param(&nl, "monitor_ms", 300) != -EPERM)
		return __LINE__;
	nl_begin(&nl, &r, GPUEMU_CMD_STATS_RESET, 0);
	if (nl_talk(&nl, &r, NULL, NULL) != -EPERM)
		return __LINE__;
	nl_begin(&nl, &r, GPUEMU_CMD_INJECT, 0);
	nl_put_u32(&r, GPUEMU_A_INJECT_WHAT, GPUEMU_INJECT_WHAT_ENGINE_LOSS);
	if (nl_talk(&nl, &r, NULL, NULL) != -EPERM)
		return __LINE__;
	/* Not even one's own: only a task that may look at everything sees addresses. */
	nl_begin(&nl, &r, GPUEMU_CMD_BLOCK_GET, NLM_F_DUMP);
	nl_put_u32(&r, GPUEMU_A_BLOCK_VA_SPACE, mine);
	if (nl_talk(&nl, &r, NULL, NULL) != -EPERM)
		return __LINE__;

	nl_begin(&nl, &r, GPUEMU_CMD_DEVICE_GET, 0);
	if (nl_talk(&nl, &r, NULL, NULL))
		return __LINE__;
	nl_begin(&nl, &r, GPUEMU_CMD_PARAM_GET, NLM_F_DUMP);
	if (nl_talk(&nl, &r, NULL, NULL) || nl_listen(&nl))
		return __LINE__;
	nl_begin(&nl, &r, GPUEMU_CMD_CLIENT_GET, NLM_F_DUMP);
	if (nl_talk(&nl, &r, note_client, seen) || seen[0] != 1 || seen[1] != mine ||
	    seen[2] != NOBODY)
		return __LINE__;
	if (get_client(&nl, mine, seen) || get_client(&nl, roots, seen) != -ESRCH)
		return __LINE__;
	return 0;
}

/* This process goes on as nobody with one capability. */
static int with_one(int capability)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { .permitted = 1u << capability } };

	data[0].effective = data[0].permitted;
	if (prctl(PR_SET_KEEPCAPS, 1) || setgid(NOBODY) || setuid(NOBODY))
		return -errno;
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

/* CAP_NET_ADMIN gives no right here; CAP_SYS_PTRACE lets one look, and change nothing. */
static int with_capability(uint32_t roots, int capability)
{
	bool looks = capability == CAP_SYS_PTRACE;
	uint32_t seen[3] = { 0 };
	struct nl_request r;
	struct nl nl;

	if (with_one(capability) || nl_open(&nl))
		return __LINE__;
	if (nl_set_param(&nl, "monitor_ms", 300) != -EPERM)
		return __LINE__;
	nl_begin(&nl, &r, GPUEMU_CMD_STATS_RESET, 0);
	if (nl_talk(&nl, &r, NULL, NULL) != -EPERM)
		return __LINE__;
	nl_begin(&nl, &r, GPUEMU_CMD_BLOCK_GET, NLM_F_DUMP);
	nl_put_u32(&r, GPUEMU_A_BLOCK_VA_SPACE, roots);
	if (nl_talk(&nl, &r, NULL, NULL) != (looks ? 0 : -EPERM))
		return __LINE__;
	if (get_client(&nl, roots, seen) != (looks ? 0 : -ESRCH))
		return __LINE__;
	return 0;
}

/* Root of a user namespace of its own has every capability there, and none of ours. */
static int as_root_of_its_own(uint32_t roots, int unused)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	uint32_t seen[3] = { 0 };
	struct nl_request r;
	struct nl nl;

	if (setgid(NOBODY) || setuid(NOBODY) || unshare(CLONE_NEWUSER))
		return __LINE__;
	if (syscall(SYS_capget, &head, data) || !(data[0].effective & 1u << CAP_SYS_PTRACE) ||
	    !(data[0].effective & 1u << CAP_SYS_ADMIN))
		return __LINE__;
	if (nl_open(&nl) || nl_set_param(&nl, "monitor_ms", 300) != -EPERM)
		return __LINE__;
	nl_begin(&nl, &r, GPUEMU_CMD_STATS_RESET, 0);
	if (nl_talk(&nl, &r, NULL, NULL) != -EPERM)
		return __LINE__;
	nl_begin(&nl, &r, GPUEMU_CMD_BLOCK_GET, NLM_F_DUMP);
	nl_put_u32(&r, GPUEMU_A_BLOCK_VA_SPACE, roots);
	if (nl_talk(&nl, &r, NULL, NULL) != -EPERM)
		return __LINE__;
	if (get_client(&nl, roots, seen) != -ESRCH)
		return __LINE__;
	return 0;
}

/* What the child says of itself, 0 or the line that failed; -1: it did not say. */
static int in_child(int (*run)(uint32_t roots, int arg), uint32_t roots, int arg)
{
	int ends[2], line = -1;
	pid_t pid;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		line = run(roots, arg);
		_exit(write(ends[1], &line, sizeof(line)) != sizeof(line));
	}
	close(ends[1]);
	if (pid < 0 || read(ends[0], &line, sizeof(line)) != sizeof(line))
		line = -1;
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return line;
}

TEST_F(netlink, user_namespace)
{
	int fd = client_open();

	EXPECT_EQ(0, in_child(as_root_of_its_own, client_space(fd), 0));
	close(fd);
}

TEST_F(netlink, capabilities)
{
	int fd = client_open();

	EXPECT_EQ(0, in_child(with_capability, client_space(fd), CAP_NET_ADMIN));
	EXPECT_EQ(0, in_child(with_capability, client_space(fd), CAP_SYS_PTRACE));
	close(fd);
}

TEST_F(netlink, permissions)
{
	uint32_t roots, seen[3] = { 0 };
	int fd = client_open();

	roots = client_space(fd);
	ASSERT_NE(0, roots);
	EXPECT_EQ(0, in_child(as_nobody, roots, 0));
	EXPECT_EQ(250, get_param(&self->nl, "monitor_ms").value);
	EXPECT_EQ(0, get_client(&self->nl, roots, seen));
	EXPECT_EQ(0, seen[2]);
	close(fd);
}

/* --- injected failures --- */

static int inject(struct nl *nl, uint32_t what, int count)
{
	struct nl_request r;

	nl_begin(nl, &r, GPUEMU_CMD_INJECT, 0);
	nl_put_u32(&r, GPUEMU_A_INJECT_WHAT, what);
	if (count >= 0)
		nl_put_u32(&r, GPUEMU_A_INJECT_COUNT, count);
	return nl_talk(nl, &r, NULL, NULL);
}

static void take_injected(const struct nl_reply *reply, void *arg)
{
	const struct nlattr *stats[NL_ATTRS];

	nl_nested(reply->attrs[GPUEMU_A_DEVICE_STATS], stats);
	*(uint64_t *)arg = nl_u64(stats[GPUEMU_A_STATS_INJECTED]);
}

static uint64_t injected(struct nl *nl)
{
	uint64_t n = ~0ull;
	struct nl_request r;

	nl_begin(nl, &r, GPUEMU_CMD_DEVICE_GET, 0);
	nl_talk(nl, &r, take_injected, &n);
	return n;
}

TEST_F(netlink, inject)
{
	uint64_t before = injected(&self->nl);
	struct engine e;
	uint32_t space;
	uint8_t *mem;
	int fd;

	ASSERT_EQ(0, engine_open(&e));
	engine_acker_start(&e);
	fd = client_open();
	space = client_space(fd);
	mem = map_managed(fd, 8 * PAGE);
	ASSERT_NE(NULL, mem);

	ASSERT_EQ(0, inject(&self->nl, GPUEMU_INJECT_WHAT_FRAME_ALLOC, 2));
	EXPECT_EQ(-ENOSPC, engine_h2d(&e, space, mem, 4));
	EXPECT_EQ(-ENOSPC, engine_h2d(&e, space, mem, 4));
	EXPECT_EQ(0, engine_h2d(&e, space, mem, 4));
	/* Zero takes back what was asked for. */
	ASSERT_EQ(0, inject(&self->nl, GPUEMU_INJECT_WHAT_FRAME_ALLOC, 5));
	ASSERT_EQ(0, inject(&self->nl, GPUEMU_INJECT_WHAT_FRAME_ALLOC, 0));
	EXPECT_EQ(0, engine_h2d(&e, space, mem + 4 * PAGE, 1));

	/* A page that could not come home does not go; one that can comes. */
	fill(engine_page(&e, space, mem), PAGE, 3);
	ASSERT_EQ(0, inject(&self->nl, GPUEMU_INJECT_WHAT_PAGE_ALLOC, 1));
	EXPECT_EQ(-ENOMEM, engine_h2d(&e, space, mem + 5 * PAGE, 1));
	EXPECT_EQ(NULL, engine_page(&e, space, mem + 5 * PAGE));
	EXPECT_EQ(0, engine_h2d(&e, space, mem + 5 * PAGE, 1));
	EXPECT_EQ(0, engine_d2h(&e, space, mem, 1));
	EXPECT_TRUE(filled(mem, PAGE, 3));

	/* The acknowledging thread reads what a lost engine cannot. */
	engine_acker_stop(&e);
	EXPECT_EQ(-EINVAL, inject(&self->nl, GPUEMU_INJECT_WHAT_ENGINE_LOSS, 2));
	EXPECT_EQ(0, inject(&self->nl, GPUEMU_INJECT_WHAT_ENGINE_LOSS, -1));
	EXPECT_EQ(-ENODEV, engine_raise(&e, GPUEMU_RAISE_EMPTY_OK));
	EXPECT_EQ(-ENODEV, inject(&self->nl, GPUEMU_INJECT_WHAT_ENGINE_LOSS, -1));
	EXPECT_NE('\0', self->nl.said[0]);
	/* Two frames, a page, an engine: what really happened. */
	EXPECT_EQ(before + 4, injected(&self->nl));
	close(fd);
	engine_close(&e);
}

/* --- secrets --- */

#define SECRET 0x5ec2e75ec2e75ec2ull

struct secrets {
	unsigned int messages, kernel, bytes;
};

/* At any offset: an address of the kernel, or what a client wrote to its memory. */
static void look_for(const struct nl_reply *reply, void *arg)
{
	const uint8_t *p = (const void *)reply->hdr;
	struct secrets *s = arg;
	uint64_t word;
	size_t i;

	s->messages++;
	for (i = NLMSG_HDRLEN; i + sizeof(word) <= reply->hdr->nlmsg_len; i++) {
		memcpy(&word, p + i, sizeof(word));
		s->kernel += word >> 47 == 0x1ffff && word != ~0ull;
		s->bytes += word == SECRET;
	}
}

TEST_F(netlink, secrets)
{
	static const uint8_t dumps[] = { GPUEMU_CMD_CLIENT_GET, GPUEMU_CMD_PARAM_GET };
	struct secrets s = { 0 };
	struct nl_reply event;
	struct nl listener;
	uint64_t *mem, id;
	struct engine e;
	uint32_t space;
	size_t i;
	int fd;

	ASSERT_EQ(0, nl_open(&listener));
	ASSERT_EQ(0, nl_listen(&listener));
	ASSERT_EQ(0, engine_open(&e));
	engine_acker_start(&e);
	fd = client_open();
	space = client_space(fd);
	mem = map_managed(fd, 2 * BLOCK);
	ASSERT_NE(NULL, mem);
	/* Every other page, so that no mask looks like an address. */
	for (i = 0; i < 2 * BLOCK / sizeof(*mem); i++)
		if (!(i * sizeof(*mem) / PAGE % 2))
			mem[i] = SECRET;
	for (i = 0; i < 32; i += 2)
		ASSERT_EQ(0, engine_h2d(&e, space, mem + i * PAGE / sizeof(*mem), 1));
	ASSERT_EQ(0, client_submit(fd, GPUEMU_WORK_TOUCH, mem, 4096, &id));

	nl_begin(&self->nl, &self->r, GPUEMU_CMD_DEVICE_GET, 0);
	ASSERT_EQ(0, nl_talk(&self->nl, &self->r, look_for, &s));
	for (i = 0; i < sizeof(dumps); i++) {
		nl_begin(&self->nl, &self->r, dumps[i], NLM_F_DUMP);
		ASSERT_EQ(0, nl_talk(&self->nl, &self->r, look_for, &s));
	}
	nl_begin(&self->nl, &self->r, GPUEMU_CMD_BLOCK_GET, NLM_F_DUMP);
	nl_put_u32(&self->r, GPUEMU_A_BLOCK_VA_SPACE, space);
	ASSERT_EQ(0, nl_talk(&self->nl, &self->r, look_for, &s));
	close(fd);
	engine_close(&e);
	while (nl_event(&listener, 100, &event) == 1)
		look_for(&event, &s);
	nl_close(&listener);
	/* The device, two clients, seven parameters, two blocks, some events. */
	EXPECT_LE(15, s.messages);
	EXPECT_EQ(0, s.kernel);
	EXPECT_EQ(0, s.bytes);
}

TEST_HARNESS_MAIN
