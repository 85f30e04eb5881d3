// SPDX-License-Identifier: GPL-2.0
/*
 * Zorua and warp-level management on an SM: what specifiers cost and are counted as, partial CTAs,
 * swap, and adversarial kernels that must come to their end with the results of a plain SM. The
 * coordinator's own rules are test_coordinator_model's; debug builds hold them here too.
 */
#include <errno.h>

#include "sm_bench.h"
#include "sm/scoreboard.h"

#define TEN(line)	line line line line line line line line line line
#define ADD		"add.u32 %r1, %r1, %r2;\n"

/*
 * 64 threads a CTA: twenty values are live in the middle, phases apart, in a loop with barriers
 * that all lanes take as often; through shared memory to the neighbour.
 */
static const char peaks[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<2>;\n.reg .b64 %rd<8>;\n"
	".reg .b32 %r<60>;\n.shared .b32 s[64];\n"
	"ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
	"mov.u32 %r3, %ntid.x;\nmad.lo.u32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r4, 4;\n"
	"add.s64 %rd3, %rd1, %rd2;\nmov.u32 %r5, 0;\nmov.u32 %r6, s;\nshl.b32 %r7, %r1, 2;\n"
	"add.u32 %r6, %r6, %r7;\nxor.b32 %r8, %r1, 1;\nshl.b32 %r8, %r8, 2;\nmov.u32 %r9, s;\n"
	"add.u32 %r8, %r8, %r9;\n"
	"L:\n" TEN(ADD)
	"mul.lo.u32 %r20, %r1, 3;\nmul.lo.u32 %r21, %r1, 5;\nmul.lo.u32 %r22, %r1, 7;\n"
	"mul.lo.u32 %r23, %r1, 9;\nmul.lo.u32 %r24, %r1, 11;\nmul.lo.u32 %r25, %r1, 13;\n"
	"mul.lo.u32 %r26, %r1, 15;\nmul.lo.u32 %r27, %r1, 17;\nmul.lo.u32 %r28, %r1, 19;\n"
	"mul.lo.u32 %r29, %r1, 21;\nmul.lo.u32 %r30, %r1, 23;\nmul.lo.u32 %r31, %r1, 25;\n"
	TEN(ADD)
	"st.shared.u32 [%r6], %r1;\nbar.sync 0;\nld.shared.u32 %r10, [%r8];\n"
	"add.u32 %r1, %r20, %r21;\nadd.u32 %r1, %r1, %r22;\nadd.u32 %r1, %r1, %r23;\n"
	"xor.b32 %r1, %r1, %r24;\nadd.u32 %r1, %r1, %r25;\nadd.u32 %r1, %r1, %r26;\n"
	"xor.b32 %r1, %r1, %r27;\nadd.u32 %r1, %r1, %r28;\nadd.u32 %r1, %r1, %r29;\n"
	"xor.b32 %r1, %r1, %r30;\nadd.u32 %r1, %r1, %r31;\nadd.u32 %r1, %r1, %r10;\n"
	"bar.sync 0;\n"
	TEN(ADD)
	"add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 4;\n@%p1 bra L;\n"
	"st.global.u32 [%rd3], %r1;\nret;\n}\n";

#define CTAS	10u
#define THREADS	64u

static uint32_t expected[CTAS * THREADS];
static uint64_t plain_instructions, plain_cycles, plain_long;

static void run_peaks(struct bench *b, const char *mechanism)
{
	strcpy(b->spec.cta, mechanism);
	bench_load(b, peaks, THREADS);
	bench_run(b, CTAS);
	if (b->status)
		print_error("%s\n", b->err.text);
	assert_int_equal(b->status, 0);
	assert_true(sm_idle(b->sm));
	assert_int_equal(bench_stall_sum(b), 2 * b->now);
}

/* Results of a plain SM, computed once. */
static int plain(void **state)
{
	struct bench b;

	bench_init(&b);
	run_peaks(&b, "baseline");
	memcpy(expected, b.memory, sizeof(expected));
	plain_instructions = sm_stats(b.sm)->warp_instructions;
	plain_cycles = b.cycles;
	plain_long = sm_stats(b.sm)->stalls[STALL_LONG];
	assert_true(expected[1] != 0 && expected[1] != expected[2]);
	bench_fini(&b);
	return 0;
}

static void same(const struct bench *b)
{
	assert_memory_equal(b->memory, expected, sizeof(expected));
	assert_int_equal(sm_stats(b->sm)->warp_instructions, plain_instructions);
}

static const struct virtual_counters *counters(const struct bench *b)
{
	return &sm_stats(b->sm)->virtual;
}

static void specifiers_are_no_instructions(void **state)
{
	uint64_t decoded, fetched, loud = 0;
	const struct ptx_kernel *k;
	struct bench b;

	bench_init(&b);
	run_peaks(&b, "zorua");
	same(&b);
	k = ptx_module_kernel_at(b.module, 0);
	for (uint32_t i = 0; i < k->nphases; i++)
		loud += !k->phases[i].quiet;
	assert_true(loud >= 2 && k->phases[0].quiet);
	assert_true(counters(&b)->specifiers >= 20 * loud);
	assert_true(counters(&b)->specifiers <= 20 * 4 * loud);
	/* The decoder takes them: they take no issue slots. */
	assert_int_equal(sm_stats(b.sm)->stalls[STALL_ISSUED], plain_instructions);
	assert_int_equal(counters(&b)->issued_specifiers, 0);
	assert_int_equal(counters(&b)->forced, 0);
	decoded = counters(&b)->specifiers;
	fetched = sm_stats(b.sm)->l1i.reads;
	bench_fini(&b);
	bench_init(&b);
	strcpy(b.spec.zorua_specifier, "insn");
	run_peaks(&b, "zorua");
	same(&b);
	assert_int_equal(counters(&b)->specifiers, decoded);
	assert_int_equal(counters(&b)->issued_specifiers, decoded);
	assert_int_equal(sm_stats(b.sm)->stalls[STALL_ISSUED], plain_instructions + decoded);
	bench_fini(&b);
	bench_init(&b);
	strcpy(b.spec.zorua_specifier, "free");
	run_peaks(&b, "zorua");
	same(&b);
	assert_int_equal(counters(&b)->specifiers, 0);
	assert_true(counters(&b)->grants >= 20);
	/* But they are fetched, two instructions at a time. */
	assert_true(fetched > sm_stats(b.sm)->l1i.reads + decoded / 4);
	bench_fini(&b);
}

/* Rooms that are too small: for registers, for slots, for scratchpad, for two of them. */
static void small_sms(void **state)
{
	static const struct {
		unsigned int registers, slots, shared;
		bool swap;
	} cases[] = {
		{ 2048, 48, 49152, false }, { 2048, 48, 49152, true },
		{ 4096, 3, 49152, false }, { 32768, 2, 49152, true },
		{ 32768, 48, 1024, false }, { 32768, 2, 1024, true },
		{ 2048, 2, 1024, false }, { 2048, 2, 2048, true }, { 2048, 5, 2048, true },
		/* Half a set of scratchpad. */
		{ 2048, 2, 512, true }, { 2048, 5, 512, false },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bench b;

		bench_init(&b);
		b.spec.registers = cases[i].registers;
		b.spec.warps = cases[i].slots;
		b.spec.shared_bytes = cases[i].shared;
		b.spec.zorua_swap = cases[i].swap;
		b.spec.zorua_epoch = 100;
		b.spec.zorua_proof = 0;
		run_peaks(&b, "zorua");
		same(&b);
		/* Registers are short in the first two: they spill, or without swap only the floor. */
		if (i == 1) {
			assert_true(counters(&b)->spills > 0 && counters(&b)->swapped > 0);
/* Their readers wait for memory, as nobody does on a plain SM with all registers. */
			assert_true(sm_stats(b.sm)->stalls[STALL_LONG] > 2 * plain_long);
		}
		if (!cases[i].swap)
			assert_true(counters(&b)->spills == 0 || counters(&b)->forced > 0);
		bench_fini(&b);
		bench_init(&b);
		b.spec.registers = cases[i].registers;
		b.spec.warps = cases[i].slots;
		b.spec.shared_bytes = cases[i].shared;
		run_peaks(&b, "wlm");
		same(&b);
		assert_int_equal(counters(&b)->spills + counters(&b)->swapped_warps, 0);
		bench_fini(&b);
	}
}

/* Registers for three warps, CTAs of two: WLM has three, a plain SM two. */
static void a_part_of_a_cta(void **state)
{
	struct sm_needs needs;
	uint64_t three, two;
	struct bench b;

	bench_init(&b);
	strcpy(b.spec.cta, "baseline");
	bench_load(&b, peaks, THREADS);
	needs = sm_kernel_needs(b.kernel);
	bench_fini(&b);
	bench_init(&b);
	b.spec.registers = needs.registers / 2 * 3;
	run_peaks(&b, "baseline");
	two = sm_stats(b.sm)->registers / sm_stats(b.sm)->cycles;
	assert_int_equal(two, needs.registers);
	bench_fini(&b);
	bench_init(&b);
	b.spec.registers = needs.registers / 2 * 3;
	run_peaks(&b, "wlm");
	same(&b);
	three = sm_stats(b.sm)->registers / sm_stats(b.sm)->cycles;
	assert_true(three > two + needs.registers / 4);
	assert_int_equal(counters(&b)->grants, 20);
	bench_fini(&b);
}

/* One of the two warps of a CTA ends at once: CTAs come before others have ended. */
static const char unequal[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<2>;\n.reg .b64 %rd<4>;\n"
	".reg .b32 %r<9>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\n"
	"setp.lt.u32 %p1, %r1, 32;\n@%p1 bra X;\n"
	"L:\n" TEN(ADD) "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 40;\n@%p1 bra L;\n"
	"X:\nret;\n}\n";

static unsigned int most_ctas;

static void count_ctas(struct bench *b)
{
	most_ctas = MAX(most_ctas, sm_resident_ctas(b->sm, NULL));
}

static void a_warp_makes_room(void **state)
{
	struct bench b;

	/* Slots for two CTAs. */
	bench_init(&b);
	strcpy(b.spec.cta, "wlm");
	b.spec.warps = 4;
	b.each_quantum = count_ctas;
	bench_load(&b, unequal, THREADS);
	most_ctas = 0;
	bench_run(&b, CTAS);
	assert_int_equal(b.status, 0);
	assert_int_equal(most_ctas, 4);
	bench_fini(&b);
}

/*
 * Slots for two CTAs, or for one: there are more where it fits, or behind epochs in which warps
 * lacked.
 */
static void more_ctas_where_warps_lack(void **state)
{
	static const struct {
		const char *ctas;
		unsigned int proof, slots;
		bool more;
	} cases[] = {
		{ "fits", 1000, 4, true }, { "lack", 1000, 4, false }, { "lack", 1, 4, true },
		{ "lack", 40, 2, true },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bench b;

		bench_init(&b);
		b.spec.warps = cases[i].slots;
		b.spec.zorua_epoch = 100;
		b.spec.zorua_proof = cases[i].proof;
		strcpy(b.spec.zorua_ctas, cases[i].ctas);
		b.each_quantum = count_ctas;
		most_ctas = 0;
		run_peaks(&b, "zorua");
		same(&b);
		assert_true(counters(&b)->lacking > 0);
		assert_true(cases[i].more ? most_ctas > cases[i].slots / 2 :
			    most_ctas == cases[i].slots / 2);
		bench_fini(&b);
	}
}

/* As many registers a thread as let a plain SM hold two CTAs of 64. */
static void specify_two(struct bench *b)
{
	b->spec.registers = 32768;
	b->spec.occupancy_regs = 255;
}

/*
 * CTAs come without a trial while there are warp slots, registers and scratchpad as they specify
 * them. CTA slots, of which there is one here, bind a plain SM only.
 */
static void ctas_come_as_they_specify(void **state)
{
	static const struct {
		unsigned int slots, registers, shared, most;
	} cases[] = {
		{ 48, 0, 49152, CTAS }, { 12, 0, 49152, 6 }, { 48, 255, 49152, 2 },
		{ 48, 0, 1024, 4 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bench b;

		bench_init(&b);
		specify_two(&b);
		b.spec.ctas = 1;
		b.spec.warps = cases[i].slots;
		b.spec.occupancy_regs = cases[i].registers;
		b.spec.shared_bytes = cases[i].shared;
		b.spec.zorua_proof = 1000;
		b.each_quantum = count_ctas;
		most_ctas = 0;
		run_peaks(&b, "zorua");
		same(&b);
		assert_int_equal(most_ctas, cases[i].most);
		bench_fini(&b);
	}
}

/*
 * What was seen of a launch holds while no CTA of it is there. A CTA alone takes about 30 epochs:
 * an SM has seen 75 epochs in which warps lacked after three CTAs, and not while it runs two.
 */
static void an_empty_sm_remembers(void **state)
{
	for (unsigned int before = 0; before <= 3; before += 3) {
		struct bench b;

		bench_init(&b);
		strcpy(b.spec.cta, "zorua");
		b.spec.warps = 2;
		b.spec.zorua_epoch = 100;
		b.spec.zorua_proof = 75;
		strcpy(b.spec.zorua_ctas, "lack");
		b.each_quantum = count_ctas;
		bench_load(&b, peaks, THREADS);
		for (unsigned int i = 0; i < before; i++)
			bench_run(&b, 1);
		most_ctas = 0;
		bench_run(&b, 2);
		assert_int_equal(b.status, 0);
		assert_int_equal(most_ctas, before ? 2 : 1);
		bench_fini(&b);
	}
}

/*
 * What a trial brings decides: with a gain that nothing reaches an SM tries one CTA more and no
 * second one; with none it keeps what slows nobody, and tries more.
 */
static void more_ctas_stay_where_they_help(void **state)
{
	static const unsigned int gains[] = { 1000, 0 };
	unsigned int most[2];

	for (unsigned int i = 0; i < 2; i++) {
		struct bench b;

		bench_init(&b);
		specify_two(&b);
		b.spec.zorua_epoch = 200;
		b.spec.zorua_proof = 3;
		b.spec.zorua_gain = gains[i];
		b.each_quantum = count_ctas;
		most_ctas = 0;
		run_peaks(&b, "zorua");
		same(&b);
		most[i] = most_ctas;
		bench_fini(&b);
	}
	assert_int_equal(most[0], 3);
	assert_true(most[1] > 3);
}

/*
 * Where warps wait for a resource there is no trial: o_thresh decides who goes on. Two CTAs have
 * all slots, and no gain would reach what is asked for. A third one comes, which waits, and no
 * fourth one before it has begun. With slots for all the third is on trial, and held behind it.
 */
static void no_trial_where_warps_wait(void **state)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct bench b;

		bench_init(&b);
		if (i)
			specify_two(&b);
		b.spec.warps = i ? 48 : 4;
		b.spec.zorua_epoch = 200;
		b.spec.zorua_proof = 3;
		b.spec.zorua_gain = 1000;
		b.each_quantum = count_ctas;
		most_ctas = 0;
		run_peaks(&b, "zorua");
		same(&b);
		assert_int_equal(most_ctas, 3);
		assert_int_equal(counters(&b)->held > 0, i);
		bench_fini(&b);
	}
}

/*
 * A plain SM holds two of these CTAs. They wait until a third one says go, which takes it some 1800
 * cycles; after 300 looks they give up. All write down how they ended.
 */
static const char signal[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<3>;\n.reg .b64 %rd<8>;\n"
	".reg .b32 %r<9>;\nld.param.u64 %rd1, [p];\nmov.u32 %r2, %ctaid.x;\n"
	"mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nsetp.eq.u32 %p1, %r2, 2;\n@%p1 bra G;\n"
	"L:\nld.volatile.global.u32 %r4, [%rd1];\nadd.u32 %r3, %r3, 1;\n"
	"setp.ne.u32 %p2, %r4, 0;\n@%p2 bra E;\nsetp.lt.u32 %p2, %r3, 300;\n@%p2 bra L;\nbra E;\n"
	"G:\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 60;\n@%p2 bra G;\n"
	"st.volatile.global.u32 [%rd1], %r4;\n"
	"E:\nmad.lo.u32 %r5, %r2, 4, 4;\ncvt.u64.u32 %rd2, %r5;\nadd.s64 %rd2, %rd1, %rd2;\n"
	"st.global.u32 [%rd2], %r4;\nret;\n}\n";

/*
 * A CTA that brings nothing is held: it waits for 64 epochs. Then it goes on for two, since others
 * may wait for it.
 */
static void a_held_cta_goes_on(void **state)
{
	struct bench b;
	uint64_t epochs[2];

	for (unsigned int i = 0; i < 2; i++) {
		bench_init(&b);
		strcpy(b.spec.cta, "zorua");
		specify_two(&b);
		b.spec.zorua_epoch = 100;
		b.spec.zorua_proof = 6;
		b.spec.zorua_gain = 1000;
		strcpy(b.spec.zorua_ctas, i ? "lack" : "fits");
		bench_load(&b, signal, 64);
		bench_run(&b, 3);
		assert_int_equal(b.status, 0);
		for (unsigned int w = 0; w < 4; w++)
			assert_int_equal(((uint32_t *)b.memory)[w], 60);
		epochs[i] = counters(&b)->epochs;
		assert_true(i ? counters(&b)->held >= 64 : !counters(&b)->held);
		bench_fini(&b);
	}
	assert_true(epochs[1] > 64 + epochs[0] / 2);
}

/*
 * Additions that wait for each other, so that more warps issue more; then sines, for which the
 * units are the limit.
 */
static const char turning[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<2>;\n.reg .b64 %rd<3>;\n"
	".reg .b32 %r<5>;\n.reg .f32 %f<9>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"
	"mov.u32 %r2, 1;\nmov.u32 %r3, 0;\n"
	"L:\n" TEN(ADD) "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 60;\n@%p1 bra L;\n"
	"cvt.rn.f32.u32 %f1, %r1;\nmov.f32 %f2, %f1;\nmov.f32 %f3, %f1;\nmov.f32 %f4, %f1;\n"
	"M:\nsin.approx.f32 %f5, %f1;\nsin.approx.f32 %f6, %f2;\nsin.approx.f32 %f7, %f3;\n"
	"sin.approx.f32 %f8, %f4;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 600;\n@%p1 bra M;\n"
	"st.global.f32 [%rd1], %f5;\nret;\n}\n";

/* A third CTA is worth it in the first half, and held in the second one. */
static void what_was_worth_it_is_tried_again(void **state)
{
	struct bench b;

	bench_init(&b);
	strcpy(b.spec.cta, "zorua");
	specify_two(&b);
	b.spec.zorua_epoch = 100;
	b.spec.zorua_proof = 3;
	bench_load(&b, turning, 64);
	bench_run(&b, 3);
	assert_int_equal(b.status, 0);
	/* Its two warps, in most of the epochs of the sines. */
	assert_true(2 * counters(&b)->held > counters(&b)->epochs);
	bench_fini(&b);
}

/*
 * Two warps of a CTA go from word to word, each where the last one says, the first of the CTA's
 * own. If there are three, the first one only stores, into many lines.
 */
static const char chain[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<2>;\n.reg .b64 %rd<8>;\n"
	".reg .b32 %r<9>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"
	"mov.u32 %r2, %ctaid.x;\nmul.lo.u32 %r3, %r2, 4096;\ncvt.u64.u32 %rd2, %r3;\n"
	"add.s64 %rd3, %rd1, %rd2;\nmov.u32 %r4, 0;\nmov.u32 %r5, 4096;\n"
	"mov.u32 %r8, %ntid.x;\nsub.u32 %r8, %r8, 64;\nsetp.lt.s32 %p1, %r1, %r8;\n@%p1 bra X;\nmov.u32 %r5, 0;\n"
	"L:\nld.global.u32 %r6, [%rd3];\nadd.u32 %r5, %r5, %r6;\ncvt.u64.u32 %rd4, %r6;\n"
	"add.s64 %rd3, %rd3, %rd4;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 8;\n@%p1 bra L;\n"
	"S:\nmul.lo.u32 %r7, %r2, 512;\nmad.lo.u32 %r7, %r1, 4, %r7;\nadd.u32 %r7, %r7, 1048576;\n"
	"cvt.u64.u32 %rd5, %r7;\nadd.s64 %rd6, %rd1, %rd5;\nst.global.u32 [%rd6], %r5;\nret;\n"
	"X:\nmad.lo.u32 %r7, %r1, 4096, 2097152;\ncvt.u64.u32 %rd5, %r7;\nadd.s64 %rd6, %rd1, %rd5;\n"
	"st.global.u32 [%rd6], %r5;\nst.global.u32 [%rd6+128], %r5;\nbra S;\n}\n";

/* Warps that lost their slots before they had exited. */
static uint64_t alive;
static warpset slotted;

static void count_alive(struct bench *b)
{
	const struct sm_heads *h = &b->sm->heads;

	alive += set_count(slotted & h->inactive & h->live);
	slotted = h->live & ~h->inactive;
}

static void run_chain(struct bench *b, const char *mode, unsigned int warps, unsigned int slots)
{
	bench_init(b);
	strcpy(b->spec.cta, "zorua");
	strcpy(b->spec.zorua_slots, mode);
	strcpy(b->spec.zorua_ctas, "fits");
	b->spec.warps = slots;
	b->spec.zorua_swap = 0;
	b->every_cycle = true;
	b->each_quantum = count_alive;
	bench_load(b, chain, 32 * warps);
	for (unsigned int i = 0; i < 8 * 1024; i++)
		((uint32_t *)b->memory)[i] = 512;
	bench_run(b, 8);
	assert_int_equal(b->status, 0);
	for (unsigned int i = 0; i < 8 * 128; i++)
		assert_int_equal(((uint32_t *)b->memory)[262144 + i],
				 i % 128 < 32 * warps ? 8 * 512 : 0);
}

/*
 * Eight warps on two slots, which wait for memory nearly all the time: one behind the other they
 * take four times as long as two of them. A warp that lends its slot while it waits lets others
 * wait at the same time.
 */
static uint64_t one_warp;

static void stalled_ctas_lend_slots(void **state)
{
	struct bench barrier, vt;

	run_chain(&barrier, "barrier", 1, 2);
	assert_int_equal(counters(&barrier)->swapped_warps, 0);
	run_chain(&vt, "vt", 1, 2);
	assert_int_equal(counters(&vt)->forced, 0);
	/* Each of six warps that have to wait takes a slot, and each comes back often. */
	assert_in_range(counters(&vt)->swapped_warps, 6, 8 * 9);
	assert_true(vt.cycles * 10 < barrier.cycles * 7);
	one_warp = vt.cycles;
	bench_fini(&barrier);
	bench_fini(&vt);
}

/*
 * CTAs of two warps: one that has a slot for one of its warps has stalled when that has, for the
 * other cannot go on. So twice as many warps take no more than twice the time.
 */
static void who_has_no_slot_does_not_go_on(void **state)
{
	struct bench b;

	run_chain(&b, "vt", 2, 2);
	assert_int_equal(counters(&b)->forced, 0);
	assert_true(b.cycles < 2 * one_warp);
	bench_fini(&b);
}

/*
 * A warp that has exited lends its slot while its stores are under way, and is never back: it asks
 * for no slot, and nothing of it goes to swap.
 */
static void who_has_exited_lends_its_slot(void **state)
{
	uint64_t exited = 0;
	struct bench b;

	for (unsigned int slots = 3; slots < 8; slots++) {
		alive = 0;
		slotted = NO_WARPS;
		run_chain(&b, "vt", 3, slots);
		assert_true(sm_idle(b.sm));
		assert_int_equal(counters(&b)->forced, 0);
		/* A context goes, and comes back. */
		assert_int_equal(sm_stats(b.sm)->background.jobs, 2 * alive);
		exited += counters(&b)->swapped_warps - alive;
		bench_fini(&b);
	}
	assert_true(exited > 0);
}

/* A warp loads, stores to a page that the TLB does not have, and waits at a fence behind that. */
static const char late[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<5>;\n.reg .b32 %r<6>;\n"
	"ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r4, %ctaid.x;\n"
	"mul.wide.u32 %rd2, %r4, 8192;\nadd.s64 %rd3, %rd1, %rd2;\n"
	"ld.global.u32 %r3, [%rd3];\nadd.u32 %r3, %r3, 1;\n"
	"st.global.u32 [%rd3+4096], %r1;\nmembar.gl;\nst.global.u32 [%rd3+4], %r3;\nret;\n}\n";

/*
 * The first CTA has the slot, the second one comes at the end of a cycle. False: they have not
 * ended in time.
 */
static bool run_late(struct bench *b, uint64_t second)
{
	unsigned int launched = 0;

	bench_init(b);
	strcpy(b->spec.cta, "zorua");
	strcpy(b->spec.zorua_slots, "vt");
	strcpy(b->spec.zorua_ctas, "fits");
	b->spec.warps = 1;
	b->spec.zorua_swap = 0;
	b->spec.paging = 1;
	b->every_cycle = true;
	bench_load(b, late, 32);
	b->launch.grid[0] = 2;
	assert_int_equal(sm_begin(b->sm, b->kernel), 0);
	sm_account(b->sm, 0);
	for (uint64_t t = 1; t < 20000 && !(launched == 2 && sm_idle(b->sm)); t++) {
		uint32_t ctaid[3] = { launched, 0, 0 };

		if (launched < 2 && t > (launched ? second : 0)) {
			assert_int_equal(sm_launch_cta(b->sm, b->kernel, ctaid, t - 1), 0);
			launched++;
		}
		bench_quantum(b, t, t + 1);
		assert_int_equal(b->status, 0);
	}
	return sm_idle(b->sm);
}

/*
 * A CTA may come in the very cycle in which the page is there that a stalled warp waited for: the
 * warp that lends its slot then has nothing under way that would tell of it, and asks for one
 * by itself.
 */
static void who_lends_too_late_asks_again(void **state)
{
	uint64_t lent = 0;

	for (uint64_t second = 300; second < 1200; second++) {
		struct bench b;

		assert_true(run_late(&b, second));
		lent += counters(&b)->swapped_warps;
		for (unsigned int c = 0; c < 2; c++)
			assert_int_equal(((uint32_t *)b.memory)[2048 * c + 1], 1);
		bench_fini(&b);
	}
	assert_true(lent > 0);
}

/* As Virtual Thread's keys say: without far faults nobody stalls on them. */
static void what_stalls_is_virtual_threads(void **state)
{
	struct bench b;

	bench_init(&b);
	strcpy(b.spec.zorua_slots, "vt");
	strcpy(b.spec.zorua_ctas, "fits");
	strcpy(b.spec.vt_swap_on, "fault");
	b.spec.warps = 4;
	b.spec.zorua_swap = 0;
	run_peaks(&b, "zorua");
	same(&b);
	assert_int_equal(counters(&b)->swapped_warps, counters(&b)->forced);
	bench_fini(&b);
}

/* The mean of o_thresh over the epochs, in percent, where warps wait for memory nearly always. */
static double threshold(const char *c_idle)
{
	struct bench b;
	double mean;

	bench_init(&b);
	strcpy(b.spec.cta, "zorua");
	strcpy(b.spec.zorua_c_idle, c_idle);
	b.spec.zorua_epoch = 200;
	bench_load(&b, chain, 32);
	bench_run(&b, 4);
	assert_int_equal(b.status, 0);
	assert_true(counters(&b)->epochs > 5);
	mean = (double)counters(&b)->percent / (double)counters(&b)->epochs;
	bench_fini(&b);
	return mean;
}

/* They are c_mem, and c_idle as well if that has all cycles in which nobody issues. */
static void what_c_idle_is(void **state)
{
	assert_true(threshold("apart") < 10);
	assert_true(threshold("all") > 10);
}

static void refused_values(void **state)
{
	struct gpu_spec spec;
	struct err err;

	spec_defaults(&spec);
	strcpy(spec.cta, "zorua");
	assert_int_equal(sm_mechanism_find("zorua")->check(&spec, &err), 0);
	strcpy(spec.zorua_slots, "stall");
	assert_int_equal(sm_mechanism_find("zorua")->check(&spec, &err), -EINVAL);
	assert_string_equal(err.text, "zorua.slots: 'stall'; there are: barrier, vt");
	strcpy(spec.zorua_slots, "vt");
	strcpy(spec.zorua_phases, "none");
	assert_int_equal(sm_mechanism_find("zorua")->check(&spec, &err), -EINVAL);
	assert_string_equal(err.text, "zorua.phases: 'none'; there are: scarce, all");
	strcpy(spec.zorua_phases, "all");
	strcpy(spec.vt_long, "never");
	assert_int_equal(sm_mechanism_find("zorua")->check(&spec, &err), -EINVAL);
	assert_string_equal(err.text, "vt.long: 'never'; there are: load, miss");
}

/* 32768 registers are 256 sets, 5 for each of 48 warps; 65536 are 8 for each of 64. */
static void what_is_plenty(void **state)
{
	struct gpu_spec spec;

	spec_defaults(&spec);
	spec.registers = 32768;
	spec.warps = 48;
	assert_int_equal(sm_plenty(&spec), 20);
	spec.registers = 65536;
	spec.warps = 64;
	assert_int_equal(sm_plenty(&spec), 32);
	spec.warps = 1;
	assert_int_equal(sm_plenty(&spec), PTX_MAX_MAXREGS);
	strcpy(spec.zorua_phases, "all");
	assert_int_equal(sm_plenty(&spec), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(specifiers_are_no_instructions),
		cmocka_unit_test(small_sms),
		cmocka_unit_test(a_part_of_a_cta),
		cmocka_unit_test(a_warp_makes_room),
		cmocka_unit_test(more_ctas_where_warps_lack),
		cmocka_unit_test(ctas_come_as_they_specify),
		cmocka_unit_test(an_empty_sm_remembers),
		cmocka_unit_test(more_ctas_stay_where_they_help),
		cmocka_unit_test(no_trial_where_warps_wait),
		cmocka_unit_test(a_held_cta_goes_on),
		cmocka_unit_test(what_was_worth_it_is_tried_again),
		cmocka_unit_test(stalled_ctas_lend_slots),
		cmocka_unit_test(who_has_no_slot_does_not_go_on),
		cmocka_unit_test(who_has_exited_lends_its_slot),
		cmocka_unit_test(who_lends_too_late_asks_again),
		cmocka_unit_test(what_stalls_is_virtual_threads),
		cmocka_unit_test(what_c_idle_is),
		cmocka_unit_test(refused_values),
		cmocka_unit_test(what_is_plenty),
	};

	return cmocka_run_group_tests(tests, plain, NULL);
}
