// SPDX-License-Identifier: GPL-2.0
/*
 * Accesses that end a kernel, through the module and a real daemon: what is said of
 * them, and that one which has become right before it is reported does not end it.
 * vm: daemon timeout=120 vram_mb=4
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <gpuemu.h>

#include "lib/harness.h"
#include "lib/knob.h"
#include "lib/marker.h"
#include "lib/nl.h"

enum { PAGE = 4096, PAGES = 64 };

FIXTURE(fatal)
{
	struct gpuemu_ctx *ctx;
	struct gpuemu_module *module;
	struct gpuemu_function *mark;
	uint8_t *p;
};

FIXTURE_SETUP(fatal)
{
	const struct gpuemu_options options = { .size = sizeof(options), .backend = "kmod" };

	ASSERT_EQ(0, gpuemu_open(&self->ctx, &options));
	ASSERT_EQ(0, gpuemu_module_load_data(self->ctx, &self->module, marker_ptx,
					     strlen(marker_ptx), "mark.ptx"));
	ASSERT_EQ(0, gpuemu_module_get_function(self->module, &self->mark, "mark"));
	ASSERT_EQ(0, gpuemu_mem_alloc_managed(self->ctx, (void **)&self->p, PAGES * PAGE));
}

FIXTURE_TEARDOWN(fatal)
{
	knob_set("link_latency_ns", 0);
	gpuemu_close(self->ctx);
}

static int run(FIXTURE_DATA(fatal) *self, uint32_t first, uint32_t threads)
{
	const struct gpuemu_arg arg = gpuemu_arg_ptr(self->p + first * PAGE);
	int ret = gpuemu_launch(self->mark, (struct gpuemu_dim3){ 1, 1, 1 },
				(struct gpuemu_dim3){ threads, 1, 1 }, 0, NULL, &arg, 1);

	return ret ? ret : gpuemu_synchronize(self->ctx);
}

TEST_F(fatal, unmanaged)
{
	ASSERT_EQ(0, munmap(self->p + 9 * PAGE, PAGE));
	EXPECT_EQ(-EFAULT, run(self, 9, 1));
	EXPECT_NE(NULL, strstr(gpuemu_last_error(self->ctx), "is outside managed memory"))
		TH_LOG("%s", gpuemu_last_error(self->ctx));
}

TEST_F(fatal, protected)
{
	ASSERT_EQ(0, mprotect(self->p + 9 * PAGE, PAGE, PROT_READ));
	EXPECT_EQ(-EFAULT, run(self, 9, 1));
	EXPECT_NE(NULL, strstr(gpuemu_last_error(self->ctx), "not readable and writable (mprotect)"))
		TH_LOG("%s", gpuemu_last_error(self->ctx));
	EXPECT_EQ(NULL, strstr(gpuemu_last_error(self->ctx), "outside managed"));
}

static uint64_t fatal_faults(void)
{
	return knob_stat(GPUEMU_A_STATS_FAULTS_UNMANAGED);
}

struct racer {
	uint8_t *page;
	uint64_t before;
	bool done;
};

/* Makes the page writable as soon as the module has said that it is not. */
static void *make_writable(void *arg)
{
	struct racer *r = arg;

	while (fatal_faults() == r->before)
		;
	r->done = !mprotect(r->page, PAGE, PROT_READ | PROT_WRITE);
	return NULL;
}

/*
 * The batch takes a while to be served: so long the page that was not the GPU's, when
 * the batch was made, has been it again.
 */
TEST_F(fatal, raced)
{
	struct racer r = { .page = self->p + 31 * PAGE };
	pthread_t thread;
	int i;

	/* Every second page cannot move with its neighbour. */
	for (i = 1; i < 31; i += 2)
		ASSERT_EQ(0, munmap(self->p + i * PAGE, PAGE));
	for (i = 0; i < 31; i += 2)
		self->p[i * PAGE] = 7;
	self->p[31 * PAGE + 1] = 5;
	ASSERT_EQ(0, mprotect(r.page, PAGE, PROT_READ));
	r.before = fatal_faults();
	ASSERT_EQ(0, knob_set("link_latency_ns", 10000000));
	ASSERT_EQ(0, pthread_create(&thread, NULL, make_writable, &r));
	EXPECT_EQ(0, run(self, 30, 2)) TH_LOG("%s", gpuemu_last_error(self->ctx));
	pthread_join(thread, NULL);
	EXPECT_TRUE(r.done);
	EXPECT_LT(r.before, fatal_faults());
	EXPECT_EQ(1, self->p[30 * PAGE]);
	EXPECT_EQ(1, self->p[31 * PAGE]);
	EXPECT_EQ(5, self->p[31 * PAGE + 1]);
}

TEST_HARNESS_MAIN
