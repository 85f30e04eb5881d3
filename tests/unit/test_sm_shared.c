// SPDX-License-Identifier: GPL-2.0
/*
 * Shared memory that a mechanism maps in sets: how long an access takes whose sets are on chip, in
 * swap, or both, cycle by cycle for one warp; and that each access is told when it has finished.
 * The mechanism here says what the test says.
 */
#include "sm_bench.h"

#define SET	1024u

/*
 * From one clock to the other, beside what lies between the load and the instruction that needs it:
 * load and that are fetched together, behind the first clock and before the second one, and a pair
 * issues two cycles behind the one before (decode, issue).
 */
#define BESIDE	(2u + 2u)

/*
 * Lanes below 16 access s[lane], the others s[lane] + far. %clock before and behind, where a
 * dependent instruction is between: the first time L1D does not have the line, then it does; then
 * an atomic that adds 5. The sum of all that was read is 4 * lane + 5.
 */
static const char accesses[] = PTX_HEAD
	".visible .entry k(.param .u64 p, .param .u64 far)\n{\n.reg .pred %p<3>;\n"
	".reg .b64 %rd<9>;\n.reg .b32 %r<40>;\n.shared .b32 s[512];\n"
	"ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [far];\ncvt.u32.u64 %r2, %rd2;\n"
	"mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 16;\n"
	"selp.b32 %r2, 0, %r2, %p1;\nshl.b32 %r3, %r1, 2;\nadd.u32 %r2, %r2, %r3;\n"
	"mov.u32 %r4, s;\nadd.u32 %r2, %r2, %r4;\nst.shared.u32 [%r2], %r1;\nbar.sync 0;\n"
	"mov.u32 %r10, %clock;\nld.shared.u32 %r5, [%r2];\nadd.u32 %r6, %r5, 0;\n"
	"mov.u32 %r11, %clock;\nbar.sync 0;\n"
	"mov.u32 %r12, %clock;\nld.shared.u32 %r5, [%r2];\nadd.u32 %r6, %r6, %r5;\n"
	"mov.u32 %r13, %clock;\nbar.sync 0;\n"
	"mov.u32 %r14, %clock;\natom.shared.add.u32 %r5, [%r2], 5;\nadd.u32 %r6, %r6, %r5;\n"
	"mov.u32 %r15, %clock;\nbar.sync 0;\n"
	"ld.shared.u32 %r5, [%r2];\nadd.u32 %r6, %r6, %r5;\n"
	"sub.u32 %r11, %r11, %r10;\nsub.u32 %r13, %r13, %r12;\nsub.u32 %r15, %r15, %r14;\n"
	"mul.wide.u32 %rd4, %r1, 16;\nadd.s64 %rd4, %rd1, %rd4;\n"
	"st.global.u32 [%rd4], %r11;\nst.global.u32 [%rd4+4], %r13;\n"
	"st.global.u32 [%rd4+8], %r15;\nst.global.u32 [%rd4+12], %r6;\nret;\n}\n";

/* What is in swap, and what was asked. */
struct map {
	struct sm *sm;
	uint64_t swapped;
	unsigned int used[64], asked, lines;
};

static unsigned int set_bytes(const struct gpu_spec *spec)
{
	return SET;
}

static uint64_t access_sets(void *state, struct sm *sm, unsigned int warp, uint64_t sets,
			    uint64_t *swap)
{
	struct map *m = state;

	for (uint64_t s = sets; s; s &= s - 1)
		m->used[__builtin_ctzll(s)]++;
	m->asked++;
	*swap = sm_background(sm);
	return sets & m->swapped;
}

static void done(void *state, struct sm *sm, unsigned int warp, uint64_t sets)
{
	struct map *m = state;

	for (uint64_t s = sets; s; s &= s - 1) {
		assert_true(m->used[__builtin_ctzll(s)] > 0);
		m->used[__builtin_ctzll(s)]--;
	}
}

static const struct sm_mechanism mapped = {
	.name = "mapped", .help = "the test's", .shared_set = set_bytes,
	.shared_access = access_sets, .shared_done = done,
};

struct times {
	uint32_t cold, warm, atomic;
	uint64_t lines, on_chip;
};

static struct times run_accesses(const struct sm_mechanism *mechanism, struct map *map,
				 uint64_t far, unsigned int lookup)
{
	const uint32_t *out;
	struct times t;
	struct bench b;

	bench_init(&b);
	b.mechanism = mechanism;
	b.mechanism_ctx = map;
	b.params[1] = far;
	b.spec.zorua_lookup = lookup;
	bench_load(&b, accesses, 32);
	bench_run(&b, 1);
	assert_int_equal(b.status, 0);
	assert_true(sm_idle(b.sm));
	out = (const uint32_t *)b.memory;
	t = (struct times){ out[0], out[1], out[2], sm_stats(b.sm)->virtual.scratchpad_lines,
			    sm_stats(b.sm)->shared_accesses };
	for (unsigned int i = 0; i < 32; i++)
		assert_int_equal(out[4 * i + 3], 4 * i + 5);
	for (unsigned int i = 0; map && i < 64; i++)
		assert_int_equal(map->used[i], 0);
	bench_fini(&b);
	return t;
}

/* Nothing in swap: as without a map, but for the look-ups of registers and of shared memory. */
static void on_chip(void **state)
{
	struct times plain = run_accesses(NULL, NULL, SET, 2), t;
	struct map map = { 0 };

	t = run_accesses(&mapped, &map, SET, 0);
	assert_int_equal(t.warm, plain.warm);
	assert_int_equal(t.cold, plain.cold);
	assert_int_equal(t.atomic, plain.atomic);
	assert_int_equal(t.lines, 0);
	/* A store, two loads, an atomic, a load. */
	assert_int_equal(map.asked, 5);
	t = run_accesses(&mapped, &map, SET, 2);
	assert_int_equal(t.warm, plain.warm + 2 * 2);
	assert_int_equal(t.on_chip, 5);
	assert_int_equal(plain.warm, BESIDE + 32);
}

/* All in swap: a load is one of L1D, 40 cycles from it to what needs it. */
static void in_swap(void **state)
{
	struct map map = { .swapped = 1 };
	struct times t = run_accesses(&mapped, &map, 0, 0);

	assert_int_equal(t.warm, BESIDE + 40);
	assert_true(t.cold > 100);
	/* Past L1D. */
	assert_true(t.atomic > 100);
	assert_int_equal(t.on_chip, 0);
	/* A line each, but for the atomic, which is four sectors. */
	assert_int_equal(t.lines, 4 + 4);
	assert_int_equal(run_accesses(&mapped, &map, 0, 2).warm, BESIDE + 40 + 2);
}

/* Half the lanes: a cycle at the banks, then the line. The set that is on chip is no line. */
static void both(void **state)
{
	struct map map = { .swapped = 2 };
	struct times t = run_accesses(&mapped, &map, SET, 0);

	assert_int_equal(t.warm, BESIDE + 41);
	assert_int_equal(t.on_chip, 5);
	assert_int_equal(t.lines, 4 + 2);
	assert_true(t.cold > 100);
	/* Both halves in swap, in lines of their own: one a cycle. */
	map = (struct map){ .swapped = 3 };
	t = run_accesses(&mapped, &map, SET, 0);
	assert_int_equal(t.warm, BESIDE + 41);
	assert_int_equal(t.on_chip, 0);
	assert_int_equal(t.lines, 2 * (4 + 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_chip),
		cmocka_unit_test(in_swap),
		cmocka_unit_test(both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
