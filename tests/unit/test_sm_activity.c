// SPDX-License-Identifier: GPL-2.0
/* sm.activity: what is counted of a kernel whose accesses can be counted by hand. */
#include "sm_bench.h"

/*
 * 1 warp: 3 loads of 128 bytes from shared memory of 1 KiB, beside 8 adds. Of its registers, which
 * the launch says are 32 a thread, it uses what its text names.
 */
static const char few[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n.shared .b32 s[256];\n"
	"mov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r3, s;\nadd.u32 %r2, %r2, %r3;\n"
	"st.shared.u32 [%r2], %r1;\n"
	"ld.shared.u32 %r4, [%r2];\nld.shared.u32 %r5, [%r2+128];\nld.shared.u32 %r6, [%r2];\n"
	"add.u32 %r7, %r4, %r5;\nadd.u32 %r7, %r7, %r6;\n"
	"st.shared.u32 [%r2], %r7;\nret;\n}\n";

/* Of another type, a register may have the same number; and one may be read twice. */
static const char alike[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<4>;\n.reg .f32 %f<4>;\n.reg .pred %p<2>;\n"
	"mov.u32 %r1, 3;\nmov.f32 %f1, 0f40000000;\nsetp.eq.u32 %p1, %r1, %r1;\n"
	"@%p1 selp.b32 %r2, %r1, %f1, %p1;\nadd.u32 %r3, %r1, %r1;\nret;\n}\n";

static struct sm_counters run_text(const char *text, unsigned int epoch)
{
	struct sm_counters c;
	struct bench b;

	bench_init(&b);
	b.spec.activity = epoch;
	bench_load(&b, text, 32);
	bench_run(&b, 1);
	assert_int_equal(b.status, 0);
	c = *sm_stats(b.sm);
	bench_fini(&b);
	return c;
}

static struct sm_counters run(unsigned int epoch)
{
	return run_text(few, epoch);
}

static void operands_alike(void **state)
{
	struct sm_counters c = run_text(alike, 1000000);

	/* setp 1, selp 3 and its guard, which does not go through the banks, add 1. */
	assert_int_equal(c.activity.register_reads, 1 + 3 + 1);
}

static void operands_and_units(void **state)
{
	struct sm_counters c = run(1000000), off = run(0);

	assert_int_equal(off.activity.collected, 0);
	assert_int_equal(off.activity.register_reads, 0);
	/* It changes nothing else. */
	memset(&c.activity, 0, sizeof(c.activity));
	assert_memory_equal(&c, &off, sizeof(c));
	c = run(1000000);
	/* All twelve; five of them are loads and stores. */
	assert_int_equal(c.activity.collected, 12);
	assert_int_equal(c.activity.units[UNIT_LDST], 5);
	assert_int_equal(c.activity.units[UNIT_SP], 7);
	/* shl 1, add 2, st 2, ld 1 + 1 + 1, add 2 + 2, st 2; tid and s are no registers. */
	assert_int_equal(c.activity.register_reads, 1 + 2 + 2 + 3 + 4 + 2);
	/* All but the stores and ret. */
	assert_int_equal(c.activity.register_writes, 9);
	/* Without mapping tables there is none to look up. */
	assert_int_equal(c.activity.look_ups, 0);
	/* The epoch has not ended. */
	assert_int_equal(c.activity.epochs, 0);
}

/* Epochs so short that each has a few instructions: not all is accessed in each. */
static void use(void **state)
{
	struct sm_counters c = run(10);

	assert_true(c.activity.epochs >= 3);
	assert_true(c.activity.registers_used > 0);
	assert_true(c.activity.registers_used < c.activity.registers_held);
	assert_int_equal(c.activity.shared_used % 128, 0);
	/* Two lines of eight, never more. */
	assert_true(c.activity.shared_used > 0);
	assert_true(4 * c.activity.shared_used <= c.activity.shared_held);
}

/* Two registers, read and written over and over: each counts once an epoch. */
static const char chain[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<3>;\n.reg .pred %p<2>;\n"
	"mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.x;\n"
	"L:\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r2, %r2, %r1;\nadd.u32 %r1, %r1, %r2;\n"
	"add.u32 %r2, %r2, %r1;\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r2, %r2, %r1;\n"
	"setp.lt.u32 %p1, %r2, 100000;\n@%p1 bra L;\nret;\n}\n";

static void used_once(void **state)
{
	struct sm_counters c;
	struct bench b;

	bench_init(&b);
	b.spec.activity = 100;
	bench_load(&b, chain, 32);
	bench_run(&b, 1);
	assert_int_equal(b.status, 0);
	c = *sm_stats(b.sm);
	bench_fini(&b);
	assert_true(c.activity.epochs >= 3);
	assert_true(c.activity.registers_used > 0);
	assert_true(c.activity.registers_used <= c.activity.epochs * 2 * 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_and_units),
		cmocka_unit_test(operands_alike),
		cmocka_unit_test(use),
		cmocka_unit_test(used_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
