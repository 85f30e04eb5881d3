// SPDX-License-Identifier: GPL-2.0
/*
 * What modules bring besides kernels, through the module and a real daemon:
 * variables in managed memory that moves, functions that are called, output,
 * assertions, and what only the sim backend can.
 * vm: daemon timeout=120 vram_mb=8
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gpuemu.h>

#include "lib/harness.h"

/*
 * tally: counts[tid % 8] += twice(tid) for each thread. say: prints "cta N\n" in thread 0 of each
 * CTA, N counted from `from`; then an assertion fails in the CTA `bad`.
 */
static const char ptx[] =
	".version 6.0\n.target sm_60\n.address_size 64\n"
	".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
	".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);\n"
	".visible .global .align 4 .b8 counts[32];\n"
	".visible .global .align 4 .u32 seven = 7;\n"
	".global .align 1 .b8 fmt[8] = {99, 116, 97, 32, 37, 100, 10, 0};\n"
	".global .align 1 .b8 msg[4] = {98, 97, 100, 0};\n"
	".func (.param .b32 r) twice(.param .b32 a)\n{\n.reg .b32 %x<4>;\n"
	"ld.param.u32 %x1, [a];\nadd.s32 %x2, %x1, %x1;\nst.param.b32 [r], %x2;\nret;\n}\n"
	".visible .entry tally()\n{\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
	"mov.u32 %r1, %tid.x;\n"
	"{\n.param .b32 p0;\nst.param.b32 [p0], %r1;\n.param .b32 q0;\n"
	"call.uni (q0), twice, (p0);\nld.param.b32 %r2, [q0];\n}\n"
	"and.b32 %r3, %r1, 7;\nmul.wide.u32 %rd1, %r3, 4;\nmov.u64 %rd2, counts;\n"
	"cvta.global.u64 %rd3, %rd2;\nadd.s64 %rd4, %rd3, %rd1;\natom.add.u32 %r4, [%rd4], %r2;\n"
	"ret;\n}\n"
	".visible .entry say(.param .u32 from, .param .u32 bad)\n{\n"
	".local .align 8 .b8 frame[8];\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
	"mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra OUT;\n"
	"mov.u32 %r2, %ctaid.x;\nld.param.u32 %r3, [from];\nadd.s32 %r3, %r3, %r2;\n"
	"st.local.u32 [frame], %r3;\n"
	"mov.u64 %rd1, frame;\ncvta.local.u64 %rd2, %rd1;\nmov.u64 %rd3, fmt;\ncvta.global.u64 %rd4, %rd3;\n"
	"{\n.param .b64 p0;\nst.param.b64 [p0], %rd4;\n.param .b64 p1;\nst.param.b64 [p1], %rd2;\n"
	".param .b32 r0;\ncall.uni (r0), vprintf, (p0, p1);\nld.param.b32 %r5, [r0];\n}\n"
	"ld.param.u32 %r4, [bad];\nsetp.ne.u32 %p3, %r4, %r2;\n@%p3 bra OUT;\n"
	"mov.u64 %rd5, msg;\ncvta.global.u64 %rd6, %rd5;\n"
	"{\n.param .b64 p0;\nst.param.b64 [p0], %rd6;\n.param .b64 p1;\nst.param.b64 [p1], %rd6;\n"
	".param .b32 p2;\nst.param.b32 [p2], 12;\n.param .b64 p3;\nst.param.b64 [p3], %rd6;\n"
	".param .b64 p4;\nst.param.b64 [p4], 1;\ncall.uni __assertfail, (p0, p1, p2, p3, p4);\n}\n"
	"OUT:\nret;\n}\n";

FIXTURE(module)
{
	struct gpuemu_ctx *ctx;
	struct gpuemu_module *module;
	struct gpuemu_function *tally, *say;
	char heard[65536];
};

static void hear(void *arg, const char *text, size_t bytes)
{
	char *heard = arg;

	strncat(heard, text, bytes);
}

FIXTURE_SETUP(module)
{
	const struct gpuemu_options options = { .size = sizeof(options), .backend = "kmod" };

	ASSERT_EQ(0, gpuemu_open(&self->ctx, &options)) TH_LOG("%s", gpuemu_last_error(NULL));
	ASSERT_EQ(0, gpuemu_module_load_data(self->ctx, &self->module, ptx, strlen(ptx), "m.ptx"))
		TH_LOG("%s", gpuemu_last_error(self->ctx));
	ASSERT_EQ(0, gpuemu_module_get_function(self->module, &self->tally, "tally"));
	ASSERT_EQ(0, gpuemu_module_get_function(self->module, &self->say, "say"));
	ASSERT_EQ(0, gpuemu_set_printf(self->ctx, hear, self->heard));
}

FIXTURE_TEARDOWN(module)
{
	gpuemu_close(self->ctx);
}

static const struct gpuemu_dim3 one = { 1, 1, 1 };

static int say(struct gpuemu_function *say, uint32_t from, unsigned int ctas, uint32_t bad,
	       struct gpuemu_stream *stream)
{
	const struct gpuemu_arg args[] = { gpuemu_arg_u32(from), gpuemu_arg_u32(bad) };

	return gpuemu_launch(say, (struct gpuemu_dim3){ ctas, 1, 1 }, one, 0, stream, args, 2);
}

TEST_F(module, variables)
{
	uint32_t want[8] = { 0 }, *counts;
	size_t bytes;
	void *p;

	ASSERT_EQ(0, gpuemu_module_get_global(self->module, &p, &bytes, "seven"));
	EXPECT_EQ(4, bytes);
	EXPECT_EQ(7, *(uint32_t *)p);
	ASSERT_EQ(0, gpuemu_module_get_global(self->module, &p, &bytes, "counts"));
	EXPECT_EQ(32, bytes);
	counts = p;
	/* To the device and back again, three times; each side goes on where the other was. */
	for (unsigned int round = 0; round < 3; round++) {
		ASSERT_EQ(0, gpuemu_launch(self->tally, one, (struct gpuemu_dim3){ 96, 1, 1 }, 0,
					   NULL, NULL, 0));
		ASSERT_EQ(0, gpuemu_synchronize(self->ctx))
			TH_LOG("%s", gpuemu_last_error(self->ctx));
		for (uint32_t t = 0; t < 96; t++)
			want[t % 8] += 2 * t;
		for (unsigned int i = 0; i < 8; i++) {
			EXPECT_EQ(want[i], counts[i]);
			counts[i] += 1000;
			want[i] += 1000;
		}
	}
	EXPECT_EQ(0, gpuemu_module_unload(self->module));
}

TEST_F(module, output_in_order)
{
	struct gpuemu_stream *stream[2];
	char want[4096] = "", line[32];

	ASSERT_EQ(0, gpuemu_stream_create(self->ctx, &stream[0]));
	ASSERT_EQ(0, gpuemu_stream_create(self->ctx, &stream[1]));
	for (uint32_t i = 0; i < 40; i++) {
		ASSERT_EQ(0, say(self->say, 10 * i, 1, 99, stream[i % 2]));
		snprintf(line, sizeof(line), "cta %u\n", 10 * i);
		strcat(want, line);
	}
	/* The second stream's last work is the last of all. */
	ASSERT_EQ(0, gpuemu_stream_synchronize(self->ctx, stream[1]));
	EXPECT_STREQ(want, self->heard);
	ASSERT_EQ(0, gpuemu_synchronize(self->ctx));
	EXPECT_STREQ(want, self->heard);
}

TEST_F(module, more_output_than_a_guess)
{
	size_t bytes = 0;

	ASSERT_EQ(0, say(self->say, 0, 3000, 9999, NULL));
	ASSERT_EQ(0, gpuemu_synchronize(self->ctx)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	for (unsigned int i = 0; i < 3000; i++)
		bytes += 6 + (i >= 10) + (i >= 100) + (i >= 1000);
	EXPECT_EQ(bytes, strlen(self->heard));
}

TEST_F(module, a_failed_assertion)
{
	ASSERT_EQ(0, say(self->say, 5, 1, 0, NULL));
	EXPECT_EQ(-ECANCELED, gpuemu_synchronize(self->ctx));
	EXPECT_TRUE(strstr(gpuemu_last_error(self->ctx),
			   "bad:12: bad: block: [0,0,0], thread: [0,0,0] Assertion `bad` failed."))
		TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_EQ(0, strncmp("cta 5\nbad:12: ", self->heard, 14));
	self->heard[0] = '\0';
	/* The context goes on. */
	ASSERT_EQ(0, say(self->say, 6, 1, 9, NULL));
	EXPECT_EQ(0, gpuemu_synchronize(self->ctx));
	EXPECT_STREQ("cta 6\n", self->heard);
}

TEST_F(module, options_of_the_compiler_and_of_sim)
{
	EXPECT_EQ(-EOPNOTSUPP, gpuemu_configure(self->ctx, "gpu.functional=1\n"));
	EXPECT_TRUE(strstr(gpuemu_last_error(self->ctx), "use backend sim"))
		TH_LOG("%s", gpuemu_last_error(self->ctx));
	ASSERT_EQ(0, gpuemu_configure(self->ctx, "gpu.watchdog=20\n"));
	ASSERT_EQ(0, say(self->say, 0, 30, 99, NULL));
	EXPECT_EQ(-ETIMEDOUT, gpuemu_synchronize(self->ctx));
}

TEST_HARNESS_MAIN
