// SPDX-License-Identifier: GPL-2.0
/*
 * Users share device memory, not contexts: a user whose many contexts ask for more than all of
 * it takes no page of another user's context that has less than half, though that is the
 * largest of all. With a real daemon.
 * vm: daemon timeout=240 vram_mb=8
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gpuemu.h>

#include "lib/harness.h"

enum {
	PAGE_BYTES = 4096, BLOCK = 128, MINE = 7 * BLOCK, CONTEXTS = 20, ROUNDS = 4,
	NOBODY = 65534, OTHER = 1234,
};

/* The byte at p + 4096 * thread becomes 1. */
static const char ptx[] =
	".version 3.2\n.target sm_35\n.address_size 64\n"
	".visible .entry mark(.param .u64 p)\n{\n"
	".reg .b32 %r<8>;\n.reg .b64 %rd<6>;\n"
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
	"mad.lo.s32 %r4, %r1, %r2, %r3;\nmul.wide.u32 %rd1, %r4, 4096;\n"
	"ld.param.u64 %rd2, [p];\nadd.s64 %rd3, %rd2, %rd1;\n"
	"mov.u32 %r5, 1;\nst.global.u8 [%rd3], %r5;\nret;\n}\n";

struct marker {
	struct gpuemu_ctx *ctx;
	struct gpuemu_function *mark;
	uint8_t *p;
};

static int marker_open(struct marker *m, size_t pages)
{
	const struct gpuemu_options options = { .size = sizeof(options), .backend = "kmod" };
	struct gpuemu_module *module;
	int ret = gpuemu_open(&m->ctx, &options);

	if (!ret)
		ret = gpuemu_configure(m->ctx, "paging.prefetch=none");
	if (!ret)
		ret = gpuemu_module_load_data(m->ctx, &module, ptx, strlen(ptx), "mark.ptx");
	if (!ret)
		ret = gpuemu_module_get_function(module, &m->mark, "mark");
	return ret ?: gpuemu_mem_alloc_managed(m->ctx, (void **)&m->p, pages * PAGE_BYTES);
}

static int marker_run(struct marker *m, uint32_t pages)
{
	const struct gpuemu_arg arg = gpuemu_arg_ptr(m->p);
	int ret = gpuemu_launch(m->mark, (struct gpuemu_dim3){ pages / BLOCK, 1, 1 },
				(struct gpuemu_dim3){ BLOCK, 1, 1 }, 0, NULL, &arg, 1);

	return ret ?: gpuemu_synchronize(m->ctx);
}

static bool become(uid_t uid)
{
	return !setgid(uid) && !setuid(uid);
}

/* Says when each context has had its pages, and goes round for ever. */
static void many_contexts(int to)
{
	struct marker m[CONTEXTS];
	int i, ret = become(NOBODY) ? 0 : -EPERM;

	for (i = 0; i < CONTEXTS && !ret; i++)
		ret = marker_open(&m[i], BLOCK);
	for (;;) {
		for (i = 0; i < CONTEXTS && !ret; i++)
			ret = marker_run(&m[i], BLOCK);
		if (write(to, &ret, sizeof(ret)) != sizeof(ret) || ret)
			_exit(1);
	}
}

/* Pages that went so that its own could come. */
static long evicted(struct marker *m)
{
	static const char key[] = "\"evicted_pages\":";
	char *json, *at;
	long n = -1;

	if (gpuemu_statistics(m->ctx, &json))
		return -1;
	at = strstr(json, key);
	if (at)
		n = atol(at + strlen(key));
	gpuemu_free(json);
	return n;
}

/* For how many pages it needed a frame again while the other went round its contexts. */
static void one_context(int from, int to)
{
	int i, theirs, ret = become(OTHER) ? 0 : -EPERM;
	long answer[2] = { 0, -1 }, first = 0;
	struct marker m;

	ret = ret ?: marker_open(&m, MINE);
	for (i = 0; i < ROUNDS && !ret; i++) {
		ret = marker_run(&m, MINE);
		if (!ret && (read(from, &theirs, sizeof(theirs)) != sizeof(theirs) || theirs))
			ret = -EIO;
		if (!i && !ret)
			first = evicted(&m);
	}
	answer[0] = ret;
	if (!ret)
		answer[1] = first > 0 ? evicted(&m) - first : -1;
	_exit(write(to, answer, sizeof(answer)) != sizeof(answer));
}

TEST(frames)
{
	int rounds[2], result[2], ret;
	long answer[2] = { 1, -1 };
	pid_t many, one;

	ASSERT_EQ(0, pipe(rounds));
	ASSERT_EQ(0, pipe(result));
	many = fork();
	if (!many)
		many_contexts(rounds[1]);
	/* Device memory is full of its pages. */
	ASSERT_EQ(sizeof(ret), read(rounds[0], &ret, sizeof(ret)));
	ASSERT_EQ(0, ret);
	one = fork();
	if (!one)
		one_context(rounds[0], result[1]);
	ASSERT_EQ(sizeof(answer), read(result[0], answer, sizeof(answer)));
	EXPECT_EQ(0, answer[0]);
	EXPECT_EQ(0, answer[1]);
	kill(many, SIGKILL);
	waitpid(many, NULL, 0);
	waitpid(one, NULL, 0);
}

TEST_HARNESS_MAIN
