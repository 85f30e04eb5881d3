// SPDX-License-Identifier: GPL-2.0
/*
 * Thread oversubscription (vt.oversubscribe): CTAs beyond what registers hold change places with
 * those that wait for far faults. Results stay what they are, nothing is left, faults overlap, and
 * pages that come back soon lower how many may be outside.
 */
#include <errno.h>

#include "base/rng.h"
#include "sm_bench.h"

#define CTAS	12u
#define ROUNDS	4u
#define RESULTS	(1u << 20)

/*
 * In each round each thread of 64 adds a word of a page, `step` bytes behind the last round's; then
 * it adds what the thread across has in shared memory.
 */
static const char rounds[] = PTX_HEAD
	".visible .entry k(.param .u64 p, .param .u64 step)\n{\n.reg .pred %p<2>;\n.reg .b64 %rd<8>;\n"
	".reg .b32 %r<16>;\n.shared .align 4 .b8 buf[256];\n"
	"ld.param.u64 %rd1, [p];\nld.param.u64 %rd6, [step];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
	"shl.b32 %r3, %r2, 14;\nshl.b32 %r4, %r1, 2;\nadd.u32 %r5, %r3, %r4;\n"
	"cvt.u64.u32 %rd2, %r5;\nadd.s64 %rd3, %rd1, %rd2;\nmov.u32 %r6, buf;\n"
	"add.u32 %r7, %r6, %r4;\nxor.b32 %r8, %r4, 252;\nadd.u32 %r8, %r6, %r8;\n"
	"mov.u32 %r9, 0;\nmov.u32 %r10, 0;\n"
	"NEXT:\nld.global.u32 %r11, [%rd3];\nadd.u32 %r9, %r9, %r11;\nst.shared.u32 [%r7], %r9;\n"
	"bar.sync 0;\nld.shared.u32 %r12, [%r8];\nadd.u32 %r9, %r9, %r12;\nbar.sync 0;\n"
	"add.s64 %rd3, %rd3, %rd6;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, 4;\n"
	"@%p1 bra NEXT;\nshl.b32 %r13, %r2, 8;\nadd.u32 %r13, %r13, %r4;\ncvt.u64.u32 %rd4, %r13;\n"
	"add.s64 %rd5, %rd1, %rd4;\nst.global.u32 [%rd5+1048576], %r9;\nret;\n}\n";

struct faults {
	bool absent[BENCH_BYTES / PAGE_BYTES];
	struct fault at[64];
	uint64_t due[64];
	unsigned int n, served;
	struct rng *moments;		/* how long a page takes; NULL: 3000 cycles */
	bool drop;			/* a page leaves a while after it has come */
	uint64_t leaves[BENCH_BYTES / PAGE_BYTES];	/* 0: it does not */
	unsigned int most;		/* CTAs outside, ever */
};

static struct faults faults;

static unsigned int count_outside(const struct bench *b)
{
	unsigned int n = 0;

	for (unsigned int c = 0; c < 32; c++) {
		struct sm_cta_view view;

		sm_cta_look(b->sm, c, &view);
		n += view.state && view.outside;
	}
	return n;
}

static void serve(struct bench *b)
{
	struct faults *f = &faults;
	unsigned int outside = count_outside(b);

	f->n += gmmu_take(b->gmmu, &f->at[f->n], 64 - f->n);
	for (unsigned int i = 0; i < f->n; i++)
		if (!f->due[i])
			f->due[i] = b->upto + (f->moments ? rng_next(f->moments) % 3000 : 3000);
	while (f->n && f->due[0] <= b->upto) {
		uint64_t page = f->at[0].addr & ~(PAGE_BYTES - 1);

		f->absent[(page - BENCH_BASE) / PAGE_BYTES] = false;
		gmmu_arrived(b->gmmu, page, PAGE_BYTES, b->upto - 1);
		f->leaves[(page - BENCH_BASE) / PAGE_BYTES] = b->upto + 300;
		f->n--;
		f->served++;
		memmove(f->at, f->at + 1, f->n * sizeof(f->at[0]));
		memmove(f->due, f->due + 1, f->n * sizeof(f->due[0]));
		f->due[f->n] = 0;
	}
	for (unsigned int i = 0; f->drop && i < CTAS * ROUNDS; i++) {
		uint64_t page = BENCH_BASE + i * PAGE_BYTES;

		if (!f->leaves[i] || f->leaves[i] > b->upto)
			continue;
		f->leaves[i] = 0;
		f->absent[i] = true;
		gmmu_invalidate(b->gmmu, page, page + PAGE_BYTES);
		sm_drop(b->sm, mem_device(page), mem_device(page) + PAGE_BYTES);
	}
	f->most = MAX(f->most, outside);
}

static uint32_t value(unsigned int cta, unsigned int round, unsigned int thread)
{
	return (cta * 7 + round) * 1000003u + thread;
}

static void expect(const struct bench *b)
{
	for (unsigned int c = 0; c < CTAS; c++) {
		uint32_t sum[64] = { 0 }, before[64];

		for (unsigned int r = 0; r < ROUNDS; r++) {
			for (unsigned int t = 0; t < 64; t++)
				before[t] = sum[t] + value(c, b->params[1] ? r : 0, t);
			for (unsigned int t = 0; t < 64; t++)
				sum[t] = before[t] + before[63 - t];
		}
		assert_memory_equal(b->memory + RESULTS + c * 256, sum, sizeof(sum));
	}
}

/* Two slots, and registers for two CTAs, so many a thread. */
static void run_with(struct bench *b, unsigned int oversubscribe, uint64_t registers)
{
	memset(&faults, 0, sizeof(faults));
	bench_init(b);
	strcpy(b->spec.cta, "vt");
	b->spec.paging = 1;
	b->params[1] = PAGE_BYTES;
	b->spec.vt_early = 4000;
	b->spec.far_mshrs = 0;
	b->spec.ctas = 2;
	b->spec.vt_oversubscribe = oversubscribe;
	b->spec.registers = 2 * 64 * registers;
	b->spec.occupancy_regs = registers;
	memset(faults.absent, true, CTAS * ROUNDS * sizeof(bool));
	b->absent = faults.absent;
	b->each_quantum = serve;
	b->quantum = 1;
	bench_load(b, rounds, 64);
	for (unsigned int c = 0; c < CTAS; c++)
		for (unsigned int r = 0; r < ROUNDS; r++)
			for (unsigned int t = 0; t < 64; t++)
				((uint32_t *)(b->memory + (c * ROUNDS + r) * PAGE_BYTES))[t] =
					value(c, r, t);
}

static void run(struct bench *b, unsigned int oversubscribe)
{
	run_with(b, oversubscribe, 16);
}

static void check(struct bench *b)
{
	if (b->status)
		print_error("%s\n", b->err.text);
	assert_int_equal(b->status, 0);
	assert_true(sm_idle(b->sm));
	expect(b);
	assert_int_equal(sm_stats(b->sm)->retired_ctas, CTAS);
	assert_int_equal(bench_stall_sum(b), b->now * b->spec.schedulers);
}

static void test_results_are_the_same_and_faults_overlap(void **state)
{
	struct sm_counters counters;
	uint64_t alone, beside;
	struct bench b;

	run(&b, 0);
	bench_run(&b, CTAS);
	check(&b);
	assert_int_equal(faults.most, 0);
	alone = b.cycles;
	bench_fini(&b);

	run(&b, 4);
	bench_run(&b, CTAS);
	check(&b);
	assert_true(faults.most >= 3);
	counters = *sm_stats(b.sm);
	beside = b.cycles;
	bench_fini(&b);
	/* 24 rounds of two faults at a time; here three CTAs and more wait at a time. */
	assert_true(beside * 4 < alone * 3);

	/* Cycles that are slept through count as if they had run. */
	run(&b, 4);
	b.every_cycle = true;
	bench_run(&b, CTAS);
	check(&b);
	assert_int_equal(b.cycles, beside);
	assert_int_equal(sm_stats(b.sm)->parked_ctas, counters.parked_ctas);
	assert_int_equal(sm_stats(b.sm)->stalls[STALL_SWAPPED], counters.stalls[STALL_SWAPPED]);
	assert_int_equal(sm_stats(b.sm)->l1d.fails, counters.l1d.fails);
	bench_fini(&b);
}

/* Pages come before, while and after the registers of the CTA that waits for them are written. */
static void test_pages_come_at_any_moment(void **state)
{
	struct rng rng;

	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct bench b;

		rng_seed(&rng, seed);
		/* So many that writing them takes longer than the load whose page has come. */
		run_with(&b, 4, 63);
		faults.moments = &rng;
		bench_run(&b, CTAS);
		check(&b);
		bench_fini(&b);
	}
}

/*
 * Every CTA needs one page in each round, and it leaves between them. Where that counts as too
 * early, fewer CTAs are outside than where nothing is ever too early.
 */
static void test_early_evictions_lower_the_degree(void **state)
{
	unsigned int most[2];

	for (unsigned int counts = 0; counts < 2; counts++) {
		struct bench b;

		run(&b, 4);
		b.params[1] = 0;
		b.spec.vt_early = counts ? 4000 : 1;
		faults.drop = true;
		bench_run(&b, CTAS);
		check(&b);
		/* Two warps of a CTA may need a page on both sides of its leaving, or on one. */
		assert_in_range(faults.served, 2 * CTAS, 2 * CTAS * ROUNDS);
		most[counts] = faults.most;
		bench_fini(&b);
	}
	assert_int_equal(most[0], 4);
	assert_in_range(most[1], 1, 2);
}

/* One CTA in four loads a word of its page; the others exit at once. */
static const char brief[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<2>;\n.reg .b64 %rd<8>;\n.reg .b32 %r<8>;\n"
	"ld.param.u64 %rd1, [p];\nmov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd2, %r1, 4096;\n"
	"add.s64 %rd3, %rd1, %rd2;\nand.b32 %r3, %r1, 3;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra END;\n"
	"ld.global.u32 %r2, [%rd3];\nadd.u32 %r2, %r2, %r1;\nst.global.u32 [%rd3+64], %r2;\n"
	"END:\nret;\n}\n";

/*
 * Warps that have finished are found by fetch's search, so two CTAs may end in one cycle. When the
 * first is told and one comes in from outside while another's context is being read, nobody may ask
 * the other to leave.
 */
static void test_two_ctas_end_in_one_cycle(void **state)
{
	struct rng rng;

	for (uint64_t seed = 1; seed <= 8; seed++) {
		uint64_t ctas = 2 + seed % 4;
		struct bench b;

		rng_seed(&rng, seed);
		memset(&faults, 0, sizeof(faults));
		bench_init(&b);
		strcpy(b.spec.cta, "vt");
		b.spec.paging = 1;
		b.spec.vt_early = 2000;
		b.spec.far_mshrs = 0;
		b.spec.ctas = ctas;
		b.spec.vt_oversubscribe = 8;
		b.spec.vt_bits = 64;
		b.spec.registers = (ctas + 1) * 256 * 16;
		b.spec.occupancy_regs = 16;
		memset(faults.absent, true, 256 * sizeof(bool));
		b.absent = faults.absent;
		b.each_quantum = serve;
		b.quantum = 1;
		faults.moments = &rng;
		bench_load(&b, brief, 256);
		bench_run(&b, 256);
		assert_int_equal(b.status, 0);
		assert_true(sm_idle(b.sm));
		assert_int_equal(sm_stats(b.sm)->retired_ctas, 256);
		assert_true(faults.most > 0);
		bench_fini(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results_are_the_same_and_faults_overlap),
		cmocka_unit_test(test_pages_come_at_any_moment),
		cmocka_unit_test(test_early_evictions_lower_the_degree),
		cmocka_unit_test(test_two_ctas_end_in_one_cycle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
