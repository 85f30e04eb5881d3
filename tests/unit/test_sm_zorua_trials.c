// SPDX-License-Identifier: GPL-2.0
/*
 * Zorua's trials of more CTAs (virtual_growth.c), and the warps that are held after them
 * (virtual_hold.c): how many CTAs an SM takes when few are left, when it tries again after the
 * load/store unit was too busy, and which held warps go on. The SM has registers for two CTAs of
 * 64 threads, so that a third one is on trial.
 */
#include "sm_bench.h"

#define EPOCH	200u

static void prepare(struct bench *b)
{
	bench_init(b);
	strcpy(b->spec.cta, "zorua");
	b->spec.registers = 32768;
	b->spec.occupancy_regs = 255;
	b->spec.zorua_epoch = EPOCH;
	b->spec.zorua_proof = 3;
	b->spec.zorua_gain = 1000;
}

static const struct virtual_counters *counters(const struct bench *b)
{
	return &sm_stats(b->sm)->virtual;
}

/* What an epoch was like, seen at its end. */
struct epoch {
	unsigned int held, ctas;	/* warps; resident */
};

static struct epoch epochs[16384];
static unsigned int nepochs;
static uint64_t held_before;
static unsigned int most_ctas;

static void look(struct bench *b)
{
	unsigned int ctas = sm_resident_ctas(b->sm, NULL);

	most_ctas = MAX(most_ctas, ctas);
	if (counters(b)->epochs == nepochs)
		return;
	/* A quantum is shorter than an epoch. */
	assert_int_equal(counters(b)->epochs, nepochs + 1);
	assert_true(nepochs < ARRAY_SIZE(epochs));
	epochs[nepochs++] = (struct epoch){ (unsigned int)(counters(b)->held - held_before), ctas };
	held_before = counters(b)->held;
}

static void run(struct bench *b, const char *ptx, uint64_t waiting)
{
	b->each_quantum = look;
	nepochs = most_ctas = 0;
	held_before = 0;
	bench_load(b, ptx, 64);
	sm_kernel_set_waiting(b->kernel, waiting);
	bench_run(b, 5);
	if (b->status)
		print_error("%s\n", b->err.text);
	assert_int_equal(b->status, 0);
}

/* Additions that wait for each other, in so many rounds. `leave` may set %r3, the rounds so far. */
#define ADDING(leave, rounds)								\
	PTX_HEAD									\
	".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<6>;\n"	\
	"mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, 0;\n" leave		\
	"L:\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r2;\n"	\
	"add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r2;\n"	\
	"add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, " rounds ";\n@%p1 bra L;\nE:\nret;\n}\n"

/* As many CTAs come on trial, or as were worth it, as are the SM's share of those that wait. */
static void a_trial_takes_its_share(void **state)
{
	static const struct {
		uint64_t sms, waiting, gain;
		unsigned int most;
	} cases[] = {
		{ 1, 0, 1000, 2 }, { 1, 1, 1000, 3 }, { 1, UINT64_MAX, 1000, 3 },
		{ 4, 3, 1000, 2 }, { 4, 4, 1000, 3 }, { 4, 7, 0, 3 }, { 4, 11, 0, 4 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bench b;

		prepare(&b);
		b.spec.sms = cases[i].sms;
		b.spec.zorua_gain = cases[i].gain;
		run(&b, ADDING("", "400"), cases[i].waiting);
		assert_int_equal(most_ctas, cases[i].most);
		bench_fini(&b);
	}
}

/* How often did held warps go on though there still were three CTAs, and in how many epochs? */
static unsigned int reliefs(unsigned int *during, unsigned int *held)
{
	unsigned int n = 0;

	*during = *held = 0;
	for (unsigned int i = 1; i < nepochs; i++) {
		if (epochs[i].ctas < 3)
			continue;
		*held += epochs[i].held > 0;
		*during += !epochs[i].held;
		n += !epochs[i].held && epochs[i - 1].held && epochs[i - 1].ctas == 3;
	}
	return n;
}

/*
 * A held CTA goes on at times, twice as long each time and after twice as long. In 2600 epochs two
 * CTAs are held, one behind the other: 18 times with the trials, in one epoch of 39. With 2 epochs
 * after each 64 it would be 51 times.
 */
static void reliefs_become_rare_and_long(void **state)
{
	unsigned int n, during, held;
	struct bench b;

	prepare(&b);
	run(&b, ADDING("", "4500"), UINT64_MAX);
	n = reliefs(&during, &held);
	assert_true(held > 2500);
	assert_in_range(n, 10, 24);
	assert_in_range(held, 25 * during, 50 * during);
	bench_fini(&b);
}

/* The second warp of the first CTA leaves early: one warp more could go on, and two are held. */
static void a_cta_goes_on_whole(void **state)
{
	unsigned int two = 0;
	struct bench b;

	prepare(&b);
	run(&b, ADDING("setp.ne.u32 %p1, %r2, 0;\nsetp.gt.u32 %p2, %r1, 31;\n@%p1 bra L;\n"
		       "mov.u32 %r3, 500;\n@%p2 bra L;\nmov.u32 %r3, 0;\n", "1000"), UINT64_MAX);
	for (unsigned int i = 0; i < nepochs; i++) {
		assert_true(epochs[i].held == 0 || epochs[i].held == 2);
		two += epochs[i].held == 2;
	}
	assert_true(two > 300);
	bench_fini(&b);
}

/*
 * Two CTAs wait for one word after the other. The third one asks for many lines at a time, so that
 * the load/store unit refuses what is ready.
 */
static const char flood[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<3>;\n.reg .b64 %rd<8>;\n"
	".reg .b32 %r<12>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
	"mov.u32 %r3, 0;\nmul.wide.u32 %rd2, %r1, 4096;\nadd.s64 %rd3, %rd1, %rd2;\n"
	"setp.eq.u32 %p1, %r2, 2;\n@%p1 bra F;\n"
	"L:\nld.volatile.global.u32 %r4, [%rd1];\nadd.u32 %r3, %r3, %r4;\nadd.u32 %r3, %r3, 1;\n"
	"setp.lt.u32 %p2, %r3, 1500;\n@%p2 bra L;\nbra E;\n"
	"F:\nst.global.u32 [%rd3+4], %r3;\nst.global.u32 [%rd3+132], %r3;\n"
	"st.global.u32 [%rd3+260], %r3;\nst.global.u32 [%rd3+388], %r3;\n"
	"add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, 1500;\n@%p2 bra F;\n"
	"E:\nret;\n}\n";

/* When warps were too many during a trial, the next one comes after 24 epochs. */
static void too_many_ends_a_trial(void **state)
{
	unsigned int n, during, held;
	struct bench b;

	prepare(&b);
	run(&b, flood, UINT64_MAX);
	n = reliefs(&during, &held);
	assert_true(held > 1000);
	assert_in_range(held, 24 * n, 26 * n);
	assert_true(held > 20 * during);
	bench_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trial_takes_its_share),
		cmocka_unit_test(reliefs_become_rare_and_long),
		cmocka_unit_test(a_cta_goes_on_whole),
		cmocka_unit_test(too_many_ends_a_trial),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
