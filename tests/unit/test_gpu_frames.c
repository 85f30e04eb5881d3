// SPDX-License-Identifier: GPL-2.0
/*
 * A service whose device memory is memory of its own, as the module's is: pages
 * are copied in and out, and a frame that was given up is filled with rubbish.
 * An SM that uses a translation after its invalidation loses or invents bytes.
 */
#include "gpu_bench.h"

#define FRAMES	64u
#define RUBBISH	0xdb

struct frame {
	uint8_t bytes[PAGE_BYTES];
	uint64_t page;		/* 0: free */
};

struct copying {
	struct service service;
	struct service_ops ops;
	struct service *sim;
	struct frame *frames;
	uint64_t polls, seed;
	bool meddle;		/* the CPU takes random pages back */
	unsigned int taken;
};
static struct copying copying;

static struct frame *frame_of(uint64_t page)
{
	for (unsigned int i = 0; i < FRAMES; i++) {
		if (copying.frames[i].page == page)
			return &copying.frames[i];
	}
	return NULL;
}

/* Makes the frames agree with what sim says is resident: first out, then in. */
static void carry_out(const struct plan *plan)
{
	for (unsigned int out = 1; out < 2; out--) {
		for (unsigned int i = 0; i < plan->count; i++) {
			const struct migration *m = &plan->migrations[i];

			for (unsigned int k = 0; k < m->pages; k++) {
				uint64_t page = m->addr + k * PAGE_BYTES;
				bool here = copying.sim->ops->walk(copying.sim, VA_SPACE, page);
				struct frame *f = frame_of(page);

				if (out && f && !here) {
					memcpy((void *)(uintptr_t)page, f->bytes, PAGE_BYTES);
					memset(f->bytes, RUBBISH, PAGE_BYTES);
					f->page = 0;
				} else if (!out && here && !f) {
					f = frame_of(0);
					assert_non_null(f);
					f->page = page;
					memcpy(f->bytes, (void *)(uintptr_t)page, PAGE_BYTES);
					/* What the CPU's side has is not to be used meanwhile. */
					memset((void *)(uintptr_t)page, RUBBISH, PAGE_BYTES);
				}
			}
		}
	}
}

static int copying_serve(struct service *s, struct service_batch *batch)
{
	int ret = copying.sim->ops->serve(copying.sim, batch);

	if (!ret)
		carry_out(batch->plan);
	return ret;
}

static void *copying_walk(struct service *s, uint32_t va_space, uint64_t page)
{
	struct frame *f;

	if (!copying.sim->ops->walk(copying.sim, va_space, page))
		return NULL;
	f = frame_of(page);
	assert_non_null(f);
	return f->bytes;
}

static int take_back(void *ctx, struct service_batch *batch)
{
	batch->plan->migrations[0] = *(struct migration *)ctx;
	batch->plan->count = 1;
	return 0;
}

static int copying_poll(struct service *s,
			void (*invalidate)(void *ctx, const struct service_invalidate *i),
			void *ctx)
{
	static struct plan plan;
	struct fault none[1];
	struct migration m = { .va_space = VA_SPACE, .pages = 1, .op = MIGRATE_D2H };
	struct service_batch batch = {
		.faults = none, .decide = take_back, .ctx = &m, .plan = &plan,
	};

	if (copying.meddle && ++copying.polls % 31 == 0) {
		copying.seed = copying.seed * 6364136223846793005ull + 1442695040888963407ull;
		for (unsigned int i = 0; i < FRAMES && !m.addr; i++)
			m.addr = copying.frames[((copying.seed >> 33) + i) % FRAMES].page;
		if (m.addr) {
			copying_serve(s, &batch);
			copying.taken++;
		}
	}
	return copying.sim->ops->poll(copying.sim, invalidate, ctx);
}

static uint64_t copying_frames(struct service *s)
{
	return copying.sim->ops->frames(copying.sim);
}

static void copying_resident(struct service *s,
			     void (*fn)(void *ctx, uint32_t va_space, uint64_t addr),
			     void *ctx)
{
	copying.sim->ops->resident(copying.sim, fn, ctx);
}

static struct service *copy(struct service *sim)
{
	copying.sim = sim;
	copying.ops = *sim->ops;
	copying.ops.serve = copying_serve;
	copying.ops.walk = copying_walk;
	copying.ops.entry = NULL;
	copying.ops.poll = copying_poll;
	copying.ops.frames = copying_frames;
	copying.ops.resident = copying_resident;
	/* Frames are elsewhere. */
	copying.ops.managed = NULL;
	copying.service.ops = &copying.ops;
	return &copying.service;
}

/* Brings everything home, as a CPU that touches it all would. */
static void bring_home(struct gpu_bench *b)
{
	copying.meddle = false;
	for (unsigned int i = 0; i < FRAMES; i++) {
		struct frame *f = &copying.frames[i];

		if (f->page)
			memcpy((void *)(uintptr_t)f->page, f->bytes, PAGE_BYTES);
	}
}

/*
 * Thread t adds its number to 8 words, on pages far from each other, forty times
 * over: every SM comes back to pages that others have pushed out meanwhile.
 */
#define PTX_ADDER							\
	".visible .entry adder(.param .u64 p, .param .u64 step)\n{\n"	\
	".reg .pred %p<3>;\n.reg .b32 %r<10>;\n.reg .b64 %rd<8>;\n"	\
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n" \
	"mad.lo.s32 %r4, %r1, %r2, %r3;\n"				\
	"ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [step];\n"		\
	"mul.wide.u32 %rd3, %r4, 4;\nadd.s64 %rd4, %rd1, %rd3;\n"	\
	"mov.u32 %r5, 0;\n"						\
	"ROUND:\nmov.u64 %rd5, %rd4;\nmov.u32 %r6, 0;\n"		\
	"WORD:\nld.global.u32 %r7, [%rd5];\n"				\
	"add.s32 %r8, %r7, %r4;\n"					\
	"st.global.u32 [%rd5], %r8;\n"					\
	"add.s64 %rd5, %rd5, %rd2;\nadd.s32 %r6, %r6, 1;\n"		\
	"setp.lt.u32 %p1, %r6, 8;\n@%p1 bra WORD;\n"			\
	"add.s32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 40;\n@%p2 bra ROUND;\n" \
	"ret;\n}\n"

static void run_adder(uint64_t frames, uint64_t service_ns, bool meddle)
{
	const uint32_t threads = 15 * 128;
	uint64_t params[2];
	struct gpu_bench b;
	uint32_t *x;

	memset(&copying, 0, sizeof(copying));
	copying.frames = calloc(FRAMES, sizeof(*copying.frames));
	copying.meddle = meddle;
	bench_spec(&b);
	b.spec.vram_bytes = frames * PAGE_BYTES;
	b.spec.service_ns = service_ns;
	b.spec.link_mbps = 10000000;
	/* Accesses in as many cycles as can be, so that some meet each eviction. */
	b.spec.walk_latency = 7;
	b.spec.l2_rop_latency = 1;
	b.spec.dram_latency = 1;
	bench_open(&b, PTX_HEAD PTX_ADDER, 1 << 20, copy);
	x = (uint32_t *)b.memory;
	for (uint32_t i = 0; i < 32 * threads; i++)
		x[i] = i;
	params[0] = (uintptr_t)b.memory;
	params[1] = 4 * 4 * threads;
	if (bench_launch(&b, "adder", 15, 128, params, sizeof(params), NULL))
		fail_msg("%s", b.err.text);
	bring_home(&b);
	for (uint32_t i = 0; i < 32 * threads; i++)
		assert_int_equal(x[i], i + (i / threads % 4 ? 0 : 40 * (i % threads)));
	if (meddle)
		assert_true(copying.taken > 20);
	bench_close(&b);
	free(copying.frames);
}

static void test_frames_that_are_taken_are_not_used(void **state)
{
	static const uint64_t frames[] = { 1, 2, 5, 12, 24, FRAMES };

	/* The words are on some 30 pages. */
	for (unsigned int i = 0; i < ARRAY_SIZE(frames); i++) {
		run_adder(frames[i], 0, false);
		run_adder(frames[i], 100, true);
		run_adder(frames[i], 20000, true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames_that_are_taken_are_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
