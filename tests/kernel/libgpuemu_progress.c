// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemu_progress() while the daemon runs a long kernel: a second thread sees how many of its
 * CTAs are done, and that it has ended.
 * vm: daemon timeout=120 vram_mb=4
 */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <gpuemu.h>

#include "lib/harness.h"

#define CTAS	480u
#define TURNS	100u		/* a few seconds, emulated */

/* Each thread counts to n and stores it. */
static const char ptx[] =
	".version 3.2\n.target sm_35\n.address_size 64\n"
	".visible .entry spin(.param .u64 p, .param .u32 n)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<3>;\n"
	"ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\nmov.u32 %r2, 0;\n"
	"LOOP:\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra LOOP;\n"
	"st.global.u32 [%rd1], %r2;\nret;\n}\n";

FIXTURE(progress)
{
	struct gpuemu_ctx *ctx;
	struct gpuemu_function *spin;
	uint32_t *p;
	_Atomic int ended;
};

FIXTURE_SETUP(progress)
{
	const struct gpuemu_options options = { .size = sizeof(options), .backend = "kmod" };
	struct gpuemu_module *module;

	ASSERT_EQ(0, gpuemu_open(&self->ctx, &options)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	ASSERT_EQ(0, gpuemu_module_load_data(self->ctx, &module, ptx, strlen(ptx), "spin.ptx"));
	ASSERT_EQ(0, gpuemu_module_get_function(module, &self->spin, "spin"));
	ASSERT_EQ(0, gpuemu_mem_alloc_managed(self->ctx, (void **)&self->p, 4096));
}

FIXTURE_TEARDOWN(progress)
{
	gpuemu_close(self->ctx);
}

static void *launch(void *arg)
{
	FIXTURE_DATA(progress) *self = arg;
	const struct gpuemu_arg args[] = { gpuemu_arg_ptr(self->p), gpuemu_arg_u32(TURNS) };
	int ret = gpuemu_launch(self->spin, (struct gpuemu_dim3){ CTAS, 1, 1 },
				(struct gpuemu_dim3){ 256, 1, 1 }, 0, NULL, args, 2);

	self->ended = ret || gpuemu_synchronize(self->ctx) ? -1 : 1;
	return NULL;
}

TEST_F(progress, of_a_long_kernel)
{
	struct gpuemu_progress p = { .size = sizeof(p) };
	uint64_t last = 0;
	unsigned int between = 0;
	pthread_t thread;

	ASSERT_EQ(0, gpuemu_progress(self->ctx, &p));
	EXPECT_TRUE(!p.launches && !p.ctas_done && !p.ctas);
	ASSERT_EQ(0, pthread_create(&thread, NULL, launch, self));
	while (!self->ended) {
		ASSERT_EQ(0, gpuemu_progress(self->ctx, &p));
		ASSERT_TRUE(p.ctas == 0 || p.ctas == CTAS) TH_LOG("%lu CTAs", p.ctas);
		ASSERT_TRUE(!p.ctas || (p.launches == 1 && p.ctas_done >= last));
		between += p.ctas_done > last && p.ctas_done < CTAS;
		last = p.ctas ? p.ctas_done : last;
		usleep(10000);
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(1, self->ended) TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_GE(between, 1) TH_LOG("it was seen at %u places", between);
	ASSERT_EQ(0, gpuemu_progress(self->ctx, &p));
	EXPECT_TRUE(p.launches == 1 && !p.ctas_done && !p.ctas)
		TH_LOG("launch %lu: %lu of %lu CTAs", p.launches, p.ctas_done, p.ctas);
	EXPECT_EQ(TURNS, self->p[0]);
}

TEST_HARNESS_MAIN
