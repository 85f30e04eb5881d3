// SPDX-License-Identifier: GPL-2.0
/*
 * What Zorua's mapping tables cost, cycle by cycle: the stage in which a look-up takes its time,
 * and registers in swap, by hand. What the coordinator decides is test_coordinator_model's, what
 * look-ups of shared memory and of L1D take is test_sm_shared's.
 */
#include <inttypes.h>

#include "sm_bench.h"
#include "sm/kernel.h"

static void open_zorua(struct bench *b, unsigned int lookup)
{
	bench_init(b);
	strcpy(b->spec.cta, "zorua");
	strcpy(b->spec.zorua_specifier, "free");
	b->spec.zorua_lookup = lookup;
}


/* By cycle: i an instruction issues; w, r a line is written, read; h a read hits L1D. */
static char events[2000];
static struct sm_counters before;

static void happened(uint64_t cycle, uint64_t n, char what)
{
	size_t at = strlen(events);

	while (n--)
		at += (size_t)snprintf(events + at, sizeof(events) - at, "%" PRIu64 "%c ", cycle, what);
}

static void watch(struct bench *b)
{
	const struct sm_counters *s = sm_stats(b->sm);
	uint64_t cycle = b->upto - 1;

	happened(cycle, s->warp_instructions - before.warp_instructions, 'i');
	happened(cycle, (s->background.sectors[1] - before.background.sectors[1]) / 4, 'w');
	happened(cycle, (s->background.sectors[0] - before.background.sectors[0]) / 4, 'r');
	happened(cycle, s->background.l1_hits - before.background.l1_hits, 'h');
	before = *s;
}

static void traced(struct bench *b, const char *ptx, unsigned int ctas)
{
	b->quantum = 1;
	b->every_cycle = true;
	b->each_quantum = watch;
	events[0] = '\0';
	memset(&before, 0, sizeof(before));
	bench_load(b, ptx, 32);
	bench_run(b, ctas);
	assert_int_equal(b->status, 0);
}

/* An instruction that needs a result issues latency + 6 cycles behind it, and a look-up's more. */
static void a_look_up_is_latency(void **state)
{
	static const char ptx[] = PTX_HEAD
		".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\nmov.u32 %r1, %tid.x;\n"
		"add.u32 %r1, %r1, %r1;\nadd.u32 %r1, %r1, %r1;\nadd.u32 %r1, %r1, %r1;\n"
		"add.u32 %r1, %r1, %r1;\nret;\n}\n";
	static const struct {
		unsigned int lookup;
		const char *events;
	} cases[] = {
		/* A move takes nothing, an addition 4 cycles; the last one needs no result. */
		{ 0, "268i 274i 284i 294i 304i 305i " },
		{ 2, "268i 276i 288i 300i 312i 313i " },
		{ 5, "268i 279i 294i 309i 324i 325i " },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bench b;

		open_zorua(&b, cases[i].lookup);
		traced(&b, ptx, 1);
		assert_string_equal(events, cases[i].events);
		bench_fini(&b);
	}
}

/*
 * Every instruction of a unit goes through the stage, branches and those without registers too;
 * the load/store unit has stages of its own.
 */
static void a_look_up_is_a_stage(void **state)
{
	static const char ptx[] = PTX_HEAD
		".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<3>;\n"
		".reg .pred %p<2>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"
		"setp.lt.u32 %p1, %r1, 5;\n@%p1 bra X;\nmul.lo.u32 %r1, %r1, %r1;\nbra.uni Y;\n"
		"X:\nadd.u32 %r1, %r1, 1;\nY:\nst.global.u32 [%rd1], %r1;\nret;\n}\n";
	uint16_t latency[16] = { 0 };
	unsigned int units = 0;
	struct bench b;

	open_zorua(&b, 0);
	bench_load(&b, ptx, 32);
	assert_true(b.kernel->nops <= ARRAY_SIZE(latency));
	for (uint32_t pc = 0; pc < b.kernel->nops; pc++)
		latency[pc] = b.kernel->ops[pc].latency;
	bench_fini(&b);
	open_zorua(&b, 3);
	bench_load(&b, ptx, 32);
	for (uint32_t pc = 0; pc < b.kernel->nops; pc++) {
		bool unit = b.kernel->ops[pc].unit != UNIT_LDST;

		units += unit;
		assert_int_equal(b.kernel->ops[pc].latency, latency[pc] + (unit ? 3 : 0));
	}
	assert_true(units >= 6);
	bench_fini(&b);
}

/* --- registers in swap ------------------------------------------------------------------ */

/*
 * Registers for one warp, in two sets. The second warp's CTA comes a cycle behind the first one's
 * and takes both sets; it ends at once.
 */
static void a_spill_and_a_fill(void **state)
{
	static const char ptx[] = PTX_HEAD
		".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<12>;\n"
		".reg .pred %p<2>;\nmov.u32 %r8, %ctaid.x;\nsetp.ne.u32 %p1, %r8, 0;\n@%p1 bra W;\n"
		"mov.u32 %r2, 1;\nadd.u32 %r2, %r2, 1;\nmov.u32 %r3, 3;\nmov.u32 %r4, 4;\n"
		"mov.u32 %r5, 5;\nmov.u32 %r6, 6;\nadd.u32 %r2, %r2, %r6;\nadd.u32 %r2, %r2, %r3;\n"
		"add.u32 %r2, %r2, %r4;\nadd.u32 %r2, %r2, %r5;\nld.param.u64 %rd1, [p];\n"
		"st.global.u32 [%rd1], %r2;\nW:\nret;\n}\n";
	/*
	 * Two sets of 512 bytes are 8 lines. A line's write takes the port to memory 4 cycles.
	 * The first move finds its register in swap: its writer does not wait, the line goes out.
	 * setp waits for that line: 146 cycles to L2 and back. Meanwhile the other warp moves,
	 * compares (8 cycles behind, with a look-up), branches (9) and ends.
	 */
	static const char spilled[] =
		"2w 6w 10w 14w 18w 22w 26w 30w 268i 268w 269i 269r 277i 286i 289i 415i 424i ";
	/*
	 * Behind setp's branch there are places, and a move into the first set has it read: the
	 * first of its lines is in L1D since setp, the others are asked for a cycle apart. The move
	 * does not wait, the addition behind it does, until the cycle behind the last line's: 145
	 * cycles to L2 and back, and one more since three lines share the way. The moves that
	 * follow name the same set, which is there now; a fetch of two is two cycles behind the
	 * one before. The last one names the second set: four lines, of which the last comes four
	 * cycles later than alone. What adds its register waits for it, and the others for that.
	 */
	static const char filled[] =
		"425i 425h 426r 427r 428r 575i 576i 578i 579i 581i 581r 582r 583r 584r "
		"734i 746i 758i 770i ";
	const struct virtual_counters *v;
	struct bench b;

	open_zorua(&b, 2);
	b.spec.registers = 256;
	b.spec.zorua_proof = 0;
	b.spec.zorua_default = 100;
	strcpy(b.spec.zorua_ctas, "fits");
	traced(&b, ptx, 2);
	assert_int_equal(*(uint32_t *)b.memory, 2 + 6 + 3 + 4 + 5);
	assert_memory_equal(events, spilled, strlen(spilled));
	assert_memory_equal(events + strlen(spilled), filled, strlen(filled));
	v = &sm_stats(b.sm)->virtual;
	assert_int_equal(v->spills, 2);
	assert_int_equal(v->fills, 2);
	assert_int_equal(v->forced, 0);
	bench_fini(&b);
}

/*
 * The same with two registers that setp reads, both in swap. They are in one set, and each is a
 * line of its own: two are written, and setp waits for two. The port takes its requests four
 * cycles later than above, because a second line goes out, and the four sectors of the second
 * line come behind those of the first: setp issues in cycle 423 and not 415.
 */
static void operands_of_a_set(void **state)
{
	static const char ptx[] = PTX_HEAD
		".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<12>;\n.reg .pred %p<2>;\n"
		"mov.u32 %r8, %ctaid.x;\nmov.u32 %r9, 0;\nsetp.ne.u32 %p1, %r8, %r9;\n@%p1 bra W;\n"
		"mov.u32 %r1, 1;\nmov.u32 %r2, 1;\nmov.u32 %r3, 3;\nmov.u32 %r4, 4;\n"
		"mov.u32 %r5, 5;\nmov.u32 %r6, 6;\nadd.u32 %r2, %r2, %r6;\nadd.u32 %r2, %r2, %r3;\n"
		"add.u32 %r2, %r2, %r4;\nadd.u32 %r2, %r2, %r5;\nadd.u32 %r2, %r2, %r1;\n"
		"W:\nret;\n}\n";
	static const char spilled[] =
		"2w 6w 10w 14w 18w 22w 26w 30w 268i 268w 269i 269i 270i 272w 273r 274r "
		"278i 287i 291i 423i ";
	struct bench b;

	open_zorua(&b, 2);
	b.spec.registers = 256;
	b.spec.zorua_proof = 0;
	b.spec.zorua_default = 100;
	strcpy(b.spec.zorua_ctas, "fits");
	traced(&b, ptx, 2);
	assert_memory_equal(events, spilled, strlen(spilled));
	bench_fini(&b);
}

/*
 * 32 threads write eight words of local memory each, wait for as long as other CTAs need to come,
 * and read them.
 */
static const char locals[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<8>;\n"
	".local .align 4 .b8 l[32];\n"
	"mov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\n"
	"st.local.u32 [l], %r1;\nst.local.u32 [l+4], %r1;\nst.local.u32 [l+8], %r1;\n"
	"st.local.u32 [l+12], %r1;\nst.local.u32 [l+16], %r1;\nst.local.u32 [l+20], %r1;\n"
	"st.local.u32 [l+24], %r1;\nst.local.u32 [l+28], %r1;\n"
	"L:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 200;\n@%p1 bra L;\n"
	"ld.local.u32 %r3, [l];\nld.local.u32 %r4, [l+8];\nadd.u32 %r3, %r3, %r4;\n"
	"ret;\n}\n";

/*
 * Every CTA on the SM has local memory of its own, also where more are there than a specification
 * of registers lets a plain SM have.
 */
static void local_memory_is_each_ctas_own(void **state)
{
	static const unsigned int specifications[] = { 0, 255, 512 };

	for (unsigned int i = 0; i < ARRAY_SIZE(specifications); i++) {
		struct bench b;

		bench_init(&b);
		strcpy(b.spec.cta, "zorua");
		strcpy(b.spec.zorua_ctas, "fits");
		b.spec.occupancy_regs = specifications[i];
		bench_load(&b, locals, 32);
		bench_run(&b, 8);
		assert_int_equal(b.status, 0);
		/* No CTA finds the lines of another: 2 words of each are read. */
		assert_int_equal(sm_stats(b.sm)->l1d.read_misses, 8 * 2);
		assert_int_equal(sm_stats(b.sm)->l1d.writes, 8 * 8);
		bench_fini(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_look_up_is_latency),
		cmocka_unit_test(a_look_up_is_a_stage),
		cmocka_unit_test(a_spill_and_a_fill),
		cmocka_unit_test(operands_of_a_set),
		cmocka_unit_test(local_memory_is_each_ctas_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
