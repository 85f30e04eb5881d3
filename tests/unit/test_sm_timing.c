// SPDX-License-Identifier: GPL-2.0
/*
 * Cycles of tiny programs, each derived by hand. What is measured is the distance
 * between two instructions that read %clock, which is the cycle in which they issue. The code
 * runs in a loop, so that the last time nothing is missing in L1I.
 *
 * One warp alone. Its instructions come in pairs from where it was fetched: the
 * second of a pair issues a cycle after the first, the first of the next pair two
 * after the second (fetched in the cycle in which the i-buffer became empty, decoded,
 * issued). Behind an operand: a result of latency L is there for who
 * issues L + 6 cycles later (allocated, read, dispatched, executed, L, EX_WB, written
 * back), one less if the first has no register to read.
 */
#include "sm_bench.h"

/* A branch to here is fetched here, so LOOP begins a pair. */
#define TIMED_HEAD PTX_HEAD						\
	".visible .entry k(.param .u64 out)\n{\n"			\
	".reg .pred %p<4>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<8>;\n"	\
	".reg .f32 %f<8>;\n.reg .f64 %fd<8>;\n"				\
	"mov.u32 %r9, 0;\nmov.u32 %r1, 5;\nmov.u32 %r0, 3;\nmov.u32 %r16, 7;\n"	\
	"mov.u32 %r2, 9;\nmov.u32 %r32, 11;\n"				\
	"mov.f32 %f1, 0f3f800000;\nmov.f64 %fd1, 0d3ff0000000000000;\n"	\
	"ld.param.u64 %rd1, [out];\n"					\
	"LOOP:\n"
/* Issues when %r1 is there and a setp behind it: 7 cycles after the setp. */
#define TIMED_TAIL							\
	"@%p1 mov.u32 %r11, %clock;\n"					\
	"add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p2, %r9, 3;\n@%p2 bra LOOP;\n" \
	"sub.u32 %r12, %r11, %r10;\nst.global.u32 [%rd1], %r12;\nret;\n}\n"
#define CLOCK	"mov.u32 %r10, %clock;\n"
#define SETP	"setp.ne.u32 %p1, %r1, 0x7fffffff;\n"
#define SETPF	"setp.ne.f32 %p1, %f1, 0f40400000;\n"
#define SETPD	"setp.ne.f64 %p1, %fd1, 0d4008000000000000;\n"

static uint32_t distance(const char *body, void (*change)(struct gpu_spec *spec))
{
	char text[4096];
	struct bench b;
	uint32_t d;

	snprintf(text, sizeof(text), "%s%s%s%s", TIMED_HEAD, CLOCK, body, TIMED_TAIL);
	bench_init(&b);
	if (change)
		change(&b.spec);
	bench_load(&b, text, 32);
	bench_run(&b, 1);
	assert_int_equal(b.status, 0);
	assert_int_equal(bench_stall_sum(&b), b.now * b.spec.schedulers);
	memcpy(&d, b.memory, 4);
	bench_fini(&b);
	return d;
}

static void fetch_one(struct gpu_spec *s)
{
	s->fetch_width = 1;
}

static void seventeen_banks(struct gpu_spec *s)
{
	s->register_banks = 17;
}

static void two_sfus(struct gpu_spec *s)
{
	s->units_sfu = 2;
}

static void one_result_bus(struct gpu_spec *s)
{
	s->ex_wb = 1;
}

static void bypass_of_one(struct gpu_spec *s)
{
	s->bypass = 1;
}

static void bypass_of_three(struct gpu_spec *s)
{
	s->bypass = 3;
}

static void with_convert(struct gpu_spec *s)
{
	s->lat_convert = 14;
	s->ini_convert = 9;
}

static void with_dp(struct gpu_spec *s)
{
	s->units_dp = 1;
	s->id_oc_dp = s->oc_ex_dp = 1;
	s->collector_dp = 2;
	s->collector_dp_in = s->collector_dp_out = 1;
}

static void with_roots(struct gpu_spec *s)
{
	with_dp(s);
	s->lat_f32_root = 40;
	s->ini_f32_root = 9;
	s->lat_f64_root = 77;
	s->ini_f64_root = 25;
}

static void test_dependent_distance_of_each_class(void **state)
{
	/* Clock in 0, the first in 1, then twice L + 6, then the setp's 7: 2 L + 20. */
	static const struct { const char *body; unsigned int latency; } rows[] = {
		{ "mov.u32 %r1, %r1;\nmov.u32 %r1, %r1;\n" SETP, 1 },
		{ "xor.b32 %r1, %r1, 1;\nshl.b32 %r1, %r1, 1;\n" SETP, 1 },
		{ "add.u32 %r1, %r1, 1;\nsub.u32 %r1, %r1, 1;\n" SETP, 4 },
		{ "mul.lo.u32 %r1, %r1, 3;\nmul.lo.u32 %r1, %r1, 3;\n" SETP, 4 },
		{ "mad.lo.u32 %r1, %r1, 3, 5;\nmad.lo.u32 %r1, %r1, 3, 5;\n" SETP, 5 },
		{ "mul24.lo.u32 %r1, %r1, 3;\nmul24.lo.u32 %r1, %r1, 3;\n" SETP, 5 },
		{ "min.u32 %r1, %r1, 9;\nmax.u32 %r1, %r1, 2;\n" SETP, 13 },
		{ "div.u32 %r1, %r1, 3;\nrem.u32 %r1, %r1, 7;\n" SETP, 145 },
		{ "add.f32 %f1, %f1, %f1;\nsub.f32 %f1, %f1, %f1;\n" SETPF, 4 },
		{ "mul.f32 %f1, %f1, %f1;\nmul.f32 %f1, %f1, %f1;\n" SETPF, 4 },
		{ "fma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\n" SETPF, 5 },
		{ "max.f32 %f1, %f1, %f1;\nmin.f32 %f1, %f1, %f1;\n" SETPF, 13 },
		{ "div.rn.f32 %f1, %f1, %f1;\ndiv.rn.f32 %f1, %f1, %f1;\n" SETPF, 39 },
		{ "ex2.approx.f32 %f1, %f1;\nrcp.approx.f32 %f1, %f1;\n" SETPF, 8 },
		{ "add.f64 %fd1, %fd1, %fd1;\nfma.rn.f64 %fd1, %fd1, %fd1, %fd1;\n" SETPD, 8 },
		{ "max.f64 %fd1, %fd1, %fd1;\nmin.f64 %fd1, %fd1, %fd1;\n" SETPD, 19 },
		{ "div.rn.f64 %fd1, %fd1, %fd1;\ndiv.rn.f64 %fd1, %fd1, %fd1;\n" SETPD, 330 },
		{ "shfl.bfly.b32 %r1, %r1, 1, 31;\nshfl.bfly.b32 %r1, %r1, 1, 31;\n" SETP, 32 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t d = distance(rows[i].body, NULL);

		if (d != 2 * rows[i].latency + 20)
			print_error("row %u:\n%s", i, rows[i].body);
		assert_int_equal(d, 2 * rows[i].latency + 20);
	}
}

static void test_bypass(void **state)
{
	/* Each dependent instruction issues so much sooner: twice L + 6, and the setp's 7. */
	static const struct { const char *body; unsigned int latency; } rows[] = {
		{ "add.u32 %r1, %r1, 1;\nsub.u32 %r1, %r1, 1;\n" SETP, 4 },
		{ "fma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\n" SETPF, 5 },
		{ "ex2.approx.f32 %f1, %f1;\nrcp.approx.f32 %f1, %f1;\n" SETPF, 8 },
		{ "xor.b32 %r1, %r1, 1;\nshl.b32 %r1, %r1, 1;\n" SETP, 1 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(distance(rows[i].body, bypass_of_one),
				 2 * rows[i].latency + 20 - 3);
		assert_int_equal(distance(rows[i].body, bypass_of_three),
				 2 * rows[i].latency + 20 - 9);
	}
	/* What the unit takes longer for than the bypass is still written back by a result bus. */
	assert_int_equal(distance("ex2.approx.f32 %f2, %f1;\nex2.approx.f32 %f1, %f1;\n" SETPF,
				  bypass_of_three), 13 + 8 + 2 - 3 + 7 - 3);
}

static void test_conversions(void **state)
{
	/* Like an instruction of 14 cycles; what is no conversion stays a move. */
	assert_int_equal(distance("popc.b32 %r1, %r1;\nclz.b32 %r1, %r1;\n" SETP, with_convert),
			 2 * 14 + 20);
	assert_int_equal(distance("cvt.rzi.s32.f32 %r1, %f1;\nmov.u32 %r1, %r1;\n" SETP,
				  with_convert), 14 + 1 + 20);
	assert_int_equal(distance("cvt.rn.f32.s32 %f1, %r1;\nmov.f32 %f1, %f1;\n" SETPF,
				  with_convert), 2 + 20);
	assert_int_equal(distance("popc.b32 %r1, %r1;\nclz.b32 %r1, %r1;\n" SETP, NULL), 2 + 20);
	/* Clock 0, popc 1 and 3, taken in 5 and, when the unit is free, in 14. */
	assert_int_equal(distance("popc.b32 %r3, %r0;\npopc.b32 %r1, %r0;\n" SETP, with_convert),
			 14 + 14 + 2 + 7);
}

static void test_roots(void **state)
{
	assert_int_equal(distance("sqrt.rn.f32 %f1, %f1;\nrcp.rn.f32 %f1, %f1;\n" SETPF, with_roots),
			 2 * 40 + 20);
	/* Those that are approximate stay special functions, and so do all without the key. */
	assert_int_equal(distance("sqrt.approx.f32 %f1, %f1;\nrcp.approx.f32 %f1, %f1;\n" SETPF,
				  with_roots), 2 * 8 + 20);
	assert_int_equal(distance("sqrt.rn.f32 %f1, %f1;\nrcp.rn.f32 %f1, %f1;\n" SETPF, NULL),
			 2 * 8 + 20);
	assert_int_equal(distance("sqrt.rn.f64 %fd1, %fd1;\nrcp.rn.f64 %fd1, %fd1;\n" SETPD,
				  with_roots), 2 * 77 + 20);
	/* In the double precision unit: the special function unit takes the ex2 meanwhile. */
	assert_int_equal(distance("sqrt.rn.f64 %fd2, %fd1;\nex2.approx.f32 %f1, %f1;\n" SETPF,
				  with_roots), 3 + 14 + 7);
}

static void test_without_sources_one_less(void **state)
{
	/* Clock 0; mov 1 without sources; mov 1 + 6; setp + 7; clock + 7. */
	assert_int_equal(distance("mov.u32 %r1, 77;\nmov.u32 %r1, %r1;\n" SETP, NULL), 21);
}

static void test_pairs_and_bubbles(void **state)
{
	/* 0 | 1, 3 | 4, 6 | 7: seven in a row; the setp of r1 comes sixth (6), the clock 7 later. */
	assert_int_equal(distance("mov.u32 %r3, %r0;\nmov.u32 %r4, %r0;\nmov.u32 %r5, %r0;\n" SETP,
				  NULL), 6 + 7);
	/* With fetches of one, each waits for its own: 0, 2, 4, 6, 8. */
	assert_int_equal(distance("mov.u32 %r3, %r0;\nmov.u32 %r4, %r0;\nmov.u32 %r5, %r0;\n" SETP,
				  fetch_one),
			 8 + 7);
}

static void test_bank_conflicts(void **state)
{
	/* r0, r16 and r32 are in one bank of 16: each beyond the first takes a cycle. */
	uint32_t one = distance("add.u32 %r1, %r0, %r2;\n" SETP, NULL);

	/* Clock 0, add 1, setp 11, clock 18. */
	assert_int_equal(one, 18);
	assert_int_equal(distance("add.u32 %r1, %r0, %r16;\n" SETP, NULL), one + 1);
	assert_int_equal(distance("mad.lo.u32 %r1, %r0, %r16, %r32;\n" SETP, NULL), one + 1 + 2);
	/* The same register twice is read once. */
	assert_int_equal(distance("add.u32 %r1, %r16, %r16;\n" SETP, NULL), one);
	/* Two of them 16 apart no longer share a bank of 17. */
	assert_int_equal(distance("add.u32 %r1, %r0, %r16;\n" SETP,
				  seventeen_banks),
			 one);
}

static void test_initiation(void **state)
{
	/*
	 * Clock 0, ex2 1 and, first of its pair, 3. The first reaches the SFU in 5, the second
	 * would in 7; the SFU takes it in 13, and who reads it issues in 13 + 8 + 2; clock 7 later.
	 */
	assert_int_equal(distance("ex2.approx.f32 %f2, %f1;\nex2.approx.f32 %f1, %f1;\n" SETPF,
				  NULL), 13 + 8 + 2 + 7);
	/* Two SFUs: it does not wait: 3 + 14 + 7. */
	assert_int_equal(distance("ex2.approx.f32 %f2, %f1;\nex2.approx.f32 %f1, %f1;\n" SETPF,
				  two_sfus),
			 3 + 14 + 7);
}

static void test_one_result_a_slot_and_unit(void **state)
{
	/*
	 * add (latency 4) in 1; padded so that mov (1) issues 3 later, in 4: add is taken in 5,
	 * mov would be in 8, and both would end in 9. The mov goes to the other SP: a second
	 * result bus is there. With one bus it waits a cycle: its reader does as well.
	 */
	static const char body[] =
		"add.u32 %r3, %r0, 1;\nmov.u32 %r4, %r0;\nmov.u32 %r1, %r0;\n" SETP;

	/* 0, add 1, mov 3, mov 4; setp 4 + 7, clock 7 later. */
	assert_int_equal(distance(body, NULL), 18);
	assert_int_equal(distance(body,
				  one_result_bus), 19);
}

static void test_waw_waits(void **state)
{
	/*
	 * Clock 0, setp p3 1; min (13) 3; the guarded mov reads p3 (there) and writes what min
	 * has not written: 3 + 19. Then setp + 7, clock + 7.
	 */
	assert_int_equal(distance("setp.eq.u32 %p3, %r0, 3;\nmin.u32 %r1, %r0, 9;\n"
				  "@%p3 mov.u32 %r1, %r0;\n" SETP, NULL), 3 + 19 + 7 + 7);
}

static void test_taken_branches(void **state)
{
	/*
	 * bra second of its pair, in 1: the next pair was fetched in 1, decoded in 2, found wrong
	 * and flushed in 3, where it is fetched; decoded 4, setp issues 5; clock 7 later.
	 */
	assert_int_equal(distance("bra.uni THERE;\nmov.u32 %r3, %r0;\nTHERE:\n" SETP, NULL),
			 5 + 7);
	/* First of its pair, in 3: flushed and fetched in 4, decoded 5, issues 6. */
	assert_int_equal(distance("mov.u32 %r3, %r0;\nbra.uni THERE;\nmov.u32 %r4, %r0;\n"
				  "mov.u32 %r4, %r0;\nTHERE:\n" SETP, NULL), 6 + 7);
	/* Not taken costs nothing: 0 | 1, 3: as any other instruction; r0 is 3. */
	assert_int_equal(distance("@%p3 bra THERE;\nTHERE:\n" SETP, NULL), 3 + 7);
}

static void test_double_precision_units(void **state)
{
	/* ex2 in 1 holds the SFU from 5 to 13; an add.f64 in 3 waits there, or not if it has its own. */
	static const char body[] =
		"ex2.approx.f32 %f2, %f1;\nadd.f64 %fd1, %fd1, %fd1;\n" SETPD;

	assert_int_equal(distance(body, NULL), 13 + 8 + 2 + 7);
	assert_int_equal(distance(body, with_dp), 3 + 14 + 7);
}

/* A loop as GPGPU-Sim's latency probes have it; the difference of two lengths is its own time. */
static uint64_t loop_cycles(const char *body, uint32_t threads, unsigned int times)
{
	char text[4096];
	struct bench b;
	uint64_t cycles;

	snprintf(text, sizeof(text), PTX_HEAD
		 ".visible .entry k(.param .u64 p)\n{\n.reg .pred %%p<4>;\n.reg .b32 %%r<8>;\n"
		 ".reg .f32 %%f<24>;\n.reg .b64 %%rd<8>;\n.shared .align 4 .b8 buf[128];\n"
		 "mov.u32 %%r1, %u;\nmov.u32 %%r2, 0;\n"
		 "mov.f32 %%f22, 0f3f000000;\nmov.f32 %%f9, 0f3f000000;\nmov.f32 %%f10, 0f3f000000;\n"
		 "%s\nret;\n}\n", times, body);
	bench_init(&b);
	bench_load(&b, text, threads);
	bench_run(&b, 1);
	assert_int_equal(b.status, 0);
	cycles = b.cycles;
	bench_fini(&b);
	return cycles;
}

static void test_loops_of_the_probes(void **state)
{
	/*
	 * Eight dependent fma at 11, add 10, setp 7, a branch not taken and one that is, first
	 * and second of the last pair: 88 + the rest 13 = 101 (GPGPU-Sim's probe fmadep).
	 */
	static const char fma[] =
		"mov.u32 %r3, 0;\nLOOP:\n"
		"fma.rn.f32 %f12, %f22, %f9, %f10;\nfma.rn.f32 %f13, %f12, %f9, %f10;\n"
		"fma.rn.f32 %f14, %f13, %f9, %f10;\nfma.rn.f32 %f15, %f14, %f9, %f10;\n"
		"fma.rn.f32 %f16, %f15, %f9, %f10;\nfma.rn.f32 %f17, %f16, %f9, %f10;\n"
		"fma.rn.f32 %f18, %f17, %f9, %f10;\nfma.rn.f32 %f22, %f18, %f9, %f10;\n"
		"add.s32 %r1, %r1, -8;\nsetp.eq.s32 %p3, %r1, 0;\n@%p3 bra OUT;\nbra.uni LOOP;\nOUT:\n";
	/* bar, add 10, setp 7, branches: 35 for 8 warps, 4 of each scheduler (probe barloop). */
	static const char bar[] =
		"LOOP:\nbar.sync 0;\nadd.s32 %r1, %r1, -1;\nsetp.eq.s32 %p3, %r1, 0;\n"
		"@%p3 bra OUT;\nbra.uni LOOP;\nOUT:\n";

	assert_int_equal(loop_cycles(fma, 32, 256) - loop_cycles(fma, 32, 128), 16 * 101);
	assert_in_range(loop_cycles(bar, 256, 64) - loop_cycles(bar, 256, 32), 32 * 34, 32 * 36);
}

static void test_fetches_are_counted(void **state)
{
	/*
	 * 4 instructions are 2 fetches, and behind ret there is nobody to fetch for. One line,
	 * so 1 miss for one warp; 3 warps that ask while it is on its way miss as well
	 * (GPGPU-Sim's read-only caches count so) and fetch their second pair from L1I.
	 */
	static const char four[] = PTX_HEAD
		".visible .entry k()\n{\n.reg .b32 %r<4>;\n"
		"mov.u32 %r1, 1;\nadd.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;\nret;\n}\n";
	static const uint32_t warps[] = { 1, 3 };
	struct bench b;

	for (unsigned int i = 0; i < ARRAY_SIZE(warps); i++) {
		bench_init(&b);
		bench_load(&b, four, 32 * warps[i]);
		bench_run(&b, 1);
		assert_int_equal(sm_stats(b.sm)->l1i.reads, 2 * warps[i]);
		assert_int_equal(sm_stats(b.sm)->l1i.read_misses, warps[i]);
		assert_int_equal(sm_stats(b.sm)->warp_instructions, 4 * warps[i]);
		assert_int_equal(sm_stats(b.sm)->thread_instructions, 4 * 32 * warps[i]);
		assert_int_equal(sm_stats(b.sm)->stalls[STALL_ISSUED], 4 * warps[i]);
		bench_fini(&b);
	}
}

/* `insn` n times and a ret, by one warp; its cycles are *cycles. Returns the misses. */
static uint64_t straight(const char *insn, uint32_t n, uint64_t prefetch, uint64_t mshrs,
			 uint64_t *cycles)
{
	static char text[16384];
	size_t at = (size_t)snprintf(text, sizeof(text), PTX_HEAD
				     ".visible .entry k()\n{\n.reg .b32 %%r<4>;\n");
	struct bench b;
	uint64_t misses;

	for (uint32_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s\n", insn);
	snprintf(text + at, sizeof(text) - at, "ret;\n}\n");
	bench_init(&b);
	b.spec.l1i_prefetch = prefetch;
	b.spec.l1i_mshrs = mshrs;
	b.spec.l1i_miss_queue = 8;
	bench_load(&b, text, 32);
	bench_run(&b, 1);
	assert_int_equal(b.status, 0);
	misses = sm_stats(b.sm)->l1i.read_misses;
	assert_int_equal(sm_stats(b.sm)->warp_instructions, n + 1);
	/* Each line is four sectors, and comes once. */
	assert_int_equal(mem_stats(b.mem)->l2_accesses[MEM_INST][0], DIV_ROUND_UP(n + 1, 16) * 4);
	*cycles = b.now;
	bench_fini(&b);
	return misses;
}

static void test_lines_are_fetched_ahead(void **state)
{
	static const char move[] = "mov.u32 %r1, 1;";
	uint64_t cycles, ahead, one, few;

	/* A line of 128 bytes has 16 instructions: 127 and the ret are 8 lines, 8 misses. */
	assert_int_equal(straight(move, 127, 0, 8, &cycles), 8);
	/* All that follow are under way with the first, and are waited for one after the other. */
	straight(move, 127, 8, 8, &ahead);
	assert_in_range(ahead, 1, cycles / 3);
	/* One line ahead halves the waiting. */
	straight(move, 127, 1, 8, &one);
	assert_in_range(one, ahead + 1, cycles * 2 / 3);
	/* It is asked for with the first instructions of a line that is there, too: in good time here. */
	assert_int_equal(straight("div.u32 %r1, %r1, 3;", 127, 1, 8, &few), 1);
	/* What has no MSHR is not fetched ahead. */
	straight(move, 127, 8, 1, &few);
	assert_int_equal(few, cycles);
	/* Behind the last line there is none. */
	assert_int_equal(straight(move, 15, 8, 8, &ahead), 1);
}

/*
 * The first instruction of the second line asks for the third, and the warp ends before that
 * comes. The SM is empty then, and the line that nobody reads is no mistake.
 */
static void test_a_line_ahead_outlives_the_warps(void **state)
{
	struct bench b;
	char text[8192];
	size_t at;

	at = (size_t)snprintf(text, sizeof(text), PTX_HEAD
		".visible .entry k()\n{\n.reg .pred %%p<2>;\n.reg .b32 %%r<4>;\n");
	for (unsigned int i = 0; i < 16; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "div.u32 %%r1, %%r1, 3;\n");
	at += (size_t)snprintf(text + at, sizeof(text) - at,
			       "setp.eq.u32 %%p1, %%r1, 77;\n@%%p1 bra ON;\nret;\nON:\n");
	for (unsigned int i = 0; i < 40; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "mov.u32 %%r1, 1;\n");
	snprintf(text + at, sizeof(text) - at, "ret;\n}\n");
	bench_init(&b);
	b.spec.l1i_prefetch = 1;
	bench_load(&b, text, 32);
	bench_run(&b, 1);
	assert_int_equal(b.status, 0);
	assert_int_equal(sm_stats(b.sm)->l1i.read_misses, 1);
	assert_int_equal(mem_stats(b.mem)->l2_accesses[MEM_INST][0], 3 * 4);
	bench_fini(&b);
}

static void test_instruction_cache_kept(void **state)
{
	static const char text[] = PTX_HEAD
		".visible .entry k()\n{\n.reg .b32 %r<4>;\nmov.u32 %r1, 1;\nret;\n}\n";

	for (uint64_t keep = 0; keep < 2; keep++) {
		struct bench b;

		bench_init(&b);
		b.spec.l1i_keep = keep;
		bench_load(&b, text, 32);
		bench_run(&b, 1);
		sm_flush(b.sm);
		bench_run(&b, 1);
		assert_int_equal(sm_stats(b.sm)->l1i.read_misses, 2 - keep);
		bench_fini(&b);
	}
}

static void test_more_misses_than_mshrs_are_refused(void **state)
{
	char text[8192];
	struct bench b;
	size_t at;

	/* Three warps jump to three lines that are not there; L1I has two MSHRs. */
	at = (size_t)snprintf(text, sizeof(text), PTX_HEAD
		".visible .entry k()\n{\n.reg .pred %%p<4>;\n.reg .b32 %%r<8>;\n"
		"mov.u32 %%r1, %%tid.x;\nsetp.lt.u32 %%p1, %%r1, 32;\n@%%p1 bra FAR1;\n"
		"setp.lt.u32 %%p1, %%r1, 64;\n@%%p1 bra FAR2;\nbra.uni FAR3;\n");
	for (unsigned int far = 1; far <= 3; far++) {
		for (unsigned int i = 0; i < 16; i++)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "mov.u32 %%r2, %%r1;\n");
		at += (size_t)snprintf(text + at, sizeof(text) - at, "FAR%u:\nret;\n", far);
	}
	snprintf(text + at, sizeof(text) - at, "}\n");
	bench_init(&b);
	bench_load(&b, text, 96);
	bench_run(&b, 1);
	assert_int_equal(b.status, 0);
	/* Refused in every cycle until the first line is back. */
	assert_true(sm_stats(b.sm)->l1i.fails > 100);
	bench_fini(&b);
	bench_init(&b);
	b.spec.l1i_mshrs = 4;
	bench_load(&b, text, 96);
	bench_run(&b, 1);
	assert_int_equal(sm_stats(b.sm)->l1i.fails, 0);
	bench_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dependent_distance_of_each_class),
		cmocka_unit_test(test_bypass),
		cmocka_unit_test(test_conversions),
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_without_sources_one_less),
		cmocka_unit_test(test_pairs_and_bubbles),
		cmocka_unit_test(test_bank_conflicts),
		cmocka_unit_test(test_initiation),
		cmocka_unit_test(test_one_result_a_slot_and_unit),
		cmocka_unit_test(test_waw_waits),
		cmocka_unit_test(test_taken_branches),
		cmocka_unit_test(test_double_precision_units),
		cmocka_unit_test(test_loops_of_the_probes),
		cmocka_unit_test(test_fetches_are_counted),
		cmocka_unit_test(test_lines_are_fetched_ahead),
		cmocka_unit_test(test_a_line_ahead_outlives_the_warps),
		cmocka_unit_test(test_instruction_cache_kept),
		cmocka_unit_test(test_more_misses_than_mshrs_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
