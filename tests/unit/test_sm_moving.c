// SPDX-License-Identifier: GPL-2.0
/*
 * Background traffic on a whole SM, beside a program that uses shared memory, L1D and the
 * crossbar. Through the port of shared memory it changes nothing that a program could measure;
 * through memory the program's results are as without it, and all of it is answered.
 */
#include "sm_bench.h"
#include "sm/background.h"

#define CTAS	30u
#define THREADS	96u

/* out[i] = in[i] + sum of the numbers below the mirrored thread's. */
static const char mix[] = PTX_HEAD
	".visible .entry mix(.param .u64 p)\n{\n"
	".reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<6>;\n"
	".shared .align 4 .b8 buf[4096];\n"
	"mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %ctaid.x;\n"
	"mad.lo.s32 %r4, %r3, %r2, %r1;\n"
	"mov.u32 %r5, buf;\nshl.b32 %r6, %r1, 2;\nadd.s32 %r7, %r5, %r6;\n"
	"mov.u32 %r8, 0;\nmov.u32 %r9, 0;\n"
	"LOOP:\nadd.s32 %r8, %r8, %r9;\nadd.s32 %r9, %r9, 1;\n"
	"setp.lt.u32 %p1, %r9, %r1;\n@%p1 bra LOOP;\n"
	"st.shared.u32 [%r7], %r8;\nbar.sync 0;\n"
	"sub.s32 %r10, %r2, %r1;\nadd.s32 %r10, %r10, -1;\nshl.b32 %r10, %r10, 2;\n"
	"add.s32 %r11, %r5, %r10;\nld.shared.u32 %r12, [%r11];\n"
	"ld.param.u64 %rd1, [p];\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
	"ld.global.u32 %r13, [%rd3+65536];\nadd.s32 %r12, %r12, %r13;\n"
	"st.global.u32 [%rd3], %r12;\nret;\n}\n";

static struct {
	struct background_job job;
	unsigned int jobs, asked, told, quanta;
	uint64_t last;
} traffic;

static void done(void *ctx, struct sm *sm, uint64_t now)
{
	traffic.told++;
	traffic.last = now;
}

/* One in every ninth quantum. */
static void ask(struct bench *b)
{
	struct background_job job = traffic.job;

	if (traffic.asked == traffic.jobs || traffic.quanta++ % 9)
		return;
	job.done = done;
	job.from = sm_last(b->sm) + 50;
	job.addr = mem_background(0) + 1024 * (traffic.asked % 2);
	traffic.asked++;
	assert_int_equal(background_move(b->sm, &job), 0);
}

static void run(struct bench *b, struct background_job job, unsigned int jobs)
{
	memset(&traffic, 0, sizeof(traffic));
	traffic.job = job;
	traffic.jobs = jobs;
	bench_init(b);
	for (uint32_t i = 0; i < CTAS * THREADS; i++)
		((uint32_t *)b->memory)[16384 + i] = 3 * i;
	bench_load(b, mix, THREADS);
	b->each_quantum = ask;
	bench_run(b, CTAS);
	if (b->status)
		fail_msg("%s", b->err.text);
	assert_int_equal(traffic.asked, jobs);
	assert_int_equal(traffic.told, jobs);
	assert_true(background_idle(b->sm));
	assert_int_equal(bench_stall_sum(b), b->now * b->spec.schedulers);
	for (uint32_t i = 0; i < CTAS * THREADS; i++) {
		uint32_t other = THREADS - 1 - i % THREADS;

		assert_int_equal(((uint32_t *)b->memory)[i],
				 3 * i + other * (other - (other > 0)) / 2);
	}
}

static void test_shared_changes_nothing(void **state)
{
	struct sm_counters without;
	struct background_job job = { .way = BACKGROUND_SHARED, .bytes = 1600 };
	struct bench b;
	uint64_t cycles;

	run(&b, job, 0);
	without = *sm_stats(b.sm);
	cycles = b.cycles;
	assert_true(without.shared_accesses >= 2 * CTAS * THREADS / 32);
	bench_fini(&b);
	run(&b, job, 20);
	assert_int_equal(b.cycles, cycles);
	without.background = sm_stats(b.sm)->background;
	assert_memory_equal(sm_stats(b.sm), &without, sizeof(without));
	/* 13 cycles each, and it was over before the program was. */
	assert_int_equal((&sm_stats(b.sm)->background)->shared_cycles, 20 * 13);
	assert_int_equal((&sm_stats(b.sm)->background)->shared_bytes, 20 * 1600);
	assert_true(traffic.last < cycles);
	bench_fini(&b);
}

static void test_memory(void **state)
{
	for (unsigned int write = 0; write < 2; write++) {
		for (unsigned int way = BACKGROUND_L1; way <= BACKGROUND_L2; way++) {
			const struct background_job job = {
				.way = (uint8_t)way, .kind = write ? MEM_WRITE : MEM_READ,
				.bytes = 1024,
			};
			const struct background_counters *c;
			struct bench b;
			const uint64_t (*l2)[2];

			run(&b, job, 20);
			c = (&sm_stats(b.sm)->background);
			l2 = mem_stats(b.mem)->l2_accesses;
			assert_int_equal(c->bytes, 20 * 1024);
			assert_int_equal(l2[MEM_BACKGROUND][!write], 0);
			assert_int_equal(l2[MEM_BACKGROUND][write], c->sectors[write]);
			/* What L1D had did not come from L2; lines are 20 * 8. */
			if (way == BACKGROUND_L1)
				assert_int_equal(c->l1_hits + c->l1_misses, 160);
			else
				assert_int_equal(c->sectors[write], 20 * 1024 / MEM_SECTOR);
			if (way == BACKGROUND_L1 && !write)
				assert_true(c->l1_hits && c->sectors[0] < 20 * 1024 / MEM_SECTOR);
			/* None of it is the program's: each line is loaded and stored once. */
			assert_int_equal(l2[MEM_GLOBAL][1], CTAS * THREADS / 8);
			assert_int_equal(sm_stats(b.sm)->l1d.reads, CTAS * THREADS / 32);
			bench_fini(&b);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_changes_nothing),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
