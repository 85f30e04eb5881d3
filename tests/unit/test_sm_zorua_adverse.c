// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels made to be in Zorua's way, generated: loops with barriers, behind which all warps want
 * their peak of registers, and CTAs that fill an SM's scratchpad or nearly all of its registers,
 * on SMs with few slots, with and without swap; and CTAs that spin until an older one has ended.
 * Each must come to its end with what a plain SM with room for all computes. Debug builds look at
 * the coordinator after every event.
 */
#include "sm_bench.h"

#include "base/rng.h"

#define CTAS	8u
#define ROUNDS	32u

struct text {
	char s[16384];
	size_t n;
};

static void add(struct text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	t->n += (size_t)vsnprintf(t->s + t->n, sizeof(t->s) - t->n, format, args);
	va_end(args);
	assert_true(t->n < sizeof(t->s));
}

/* So many values at a time, each used at the end; instructions between them draw phases apart. */
static void peak(struct text *t, unsigned int values)
{
	for (unsigned int i = 0; i < 12; i++)
		add(t, "add.u32 %%r1, %%r1, %%r2;\n");
	for (unsigned int i = 0; i < values; i++)
		add(t, "mul.lo.u32 %%r%u, %%r1, %u;\n", 20 + i, 2 * i + 3);
	for (unsigned int i = 0; i < values; i++)
		add(t, "xor.b32 %%r1, %%r1, %%r%u;\n", 20 + i);
}

/* A word from memory, and its use: all warps of a CTA may wait for one. */
static void load(struct text *t)
{
	add(t, "ld.global.u32 %%r11, [%%rd3];\nadd.u32 %%r1, %%r1, %%r11;\n");
}

/* A word for the neighbour, through scratchpad of this size. */
static void exchange(struct text *t)
{
	add(t, "st.shared.u32 [%%r6], %%r1;\nbar.sync 0;\nld.shared.u32 %%r10, [%%r8];\n"
	       "add.u32 %%r1, %%r1, %%r10;\nbar.sync 0;\n");
}

struct adversary {
	unsigned int threads, shared, loops, steps, peak;
	bool chain;		/* each odd CTA first waits for the end of the one before it */
};

#define FLAGS	"1048576"	/* bytes behind p: a word a CTA, which is not 0 once it has ended */

/* All threads of an odd CTA spin, and so hold slots, until the CTA before it has ended. */
static void wait(struct text *t)
{
	add(t, "and.b32 %%r11, %%r2, 1;\nsetp.eq.u32 %%p1, %%r11, 0;\n@%%p1 bra GO;\n"
	       "mul.wide.u32 %%rd2, %%r2, 4;\nadd.s64 %%rd2, %%rd1, %%rd2;\n"
	       "WAIT:\nld.volatile.global.u32 %%r11, [%%rd2+" FLAGS "-4];\n"
	       "setp.eq.u32 %%p1, %%r11, 0;\n@%%p1 bra WAIT;\nGO:\n");
}

static void tell(struct text *t)
{
	add(t, "bar.sync 0;\nmul.wide.u32 %%rd2, %%r2, 4;\nadd.s64 %%rd2, %%rd1, %%rd2;\n"
	       "st.volatile.global.u32 [%%rd2+" FLAGS "], 1;\n");
}

static void make(struct text *t, const struct adversary *a, struct rng *rng)
{
	t->n = 0;
	add(t, PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .pred %%p<2>;\n"
	       ".reg .b64 %%rd<4>;\n.reg .b32 %%r<80>;\n.shared .b32 s[%u];\n"
	       "ld.param.u64 %%rd1, [p];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %%ctaid.x;\n"
	       "mov.u32 %%r3, %%ntid.x;\nmad.lo.u32 %%r4, %%r2, %%r3, %%r1;\n"
	       "mul.wide.u32 %%rd2, %%r4, 4;\nadd.s64 %%rd3, %%rd1, %%rd2;\nmov.u32 %%r5, 0;\n"
	       "mov.u32 %%r9, s;\nshl.b32 %%r6, %%r1, 2;\nadd.u32 %%r6, %%r6, %%r9;\n"
	       "xor.b32 %%r8, %%r1, 33;\nshl.b32 %%r8, %%r8, 2;\nadd.u32 %%r8, %%r8, %%r9;\n",
	    a->shared / 4);
	if (a->chain)
		wait(t);
	add(t, "L:\n");
	for (unsigned int i = 0; i < a->steps; i++)
		switch (rng_below(rng, 5)) {
		case 0:
			exchange(t);
			break;
		case 1:
			/* They all want it at the same time. */
			add(t, "bar.sync 0;\n");
			peak(t, a->peak);
			break;
		case 2:
			peak(t, 1 + (unsigned int)rng_below(rng, a->peak));
			break;
		case 3:
			load(t);
			break;
		default:
			add(t, "bar.sync 0;\n");
		}
	add(t, "add.u32 %%r5, %%r5, 1;\nsetp.lt.u32 %%p1, %%r5, %u;\n@%%p1 bra L;\n"
	       "st.global.u32 [%%rd3], %%r1;\n", a->loops);
	if (a->chain)
		tell(t);
	add(t, "ret;\n}\n");
}

static void run(struct bench *b, const char *mechanism, const char *ptx, unsigned int threads)
{
	strcpy(b->spec.cta, mechanism);
	bench_load(b, ptx, threads);
	bench_run(b, CTAS);
	if (b->status)
		print_error("%s\n", b->err.text);
	assert_int_equal(b->status, 0);
	assert_true(sm_idle(b->sm));
}

/* Registers and scratchpad for little more than one CTA, and slots for one or a few warps more. */
static void tight(struct bench *b, const struct adversary *a, unsigned int registers,
		  struct rng *rng)
{
	b->spec.registers = registers + (registers / 2) * rng_below(rng, 2);
	b->spec.shared_bytes = a->shared + 1024 * rng_below(rng, 2);
	b->spec.warps = a->threads / 32 + rng_below(rng, 3);
	b->spec.zorua_swap = rng_below(rng, 3) > 0;
	b->spec.zorua_epoch = 200;
	b->spec.zorua_proof = rng_below(rng, 2);
	strcpy(b->spec.zorua_admit, rng_below(rng, 2) ? "peak" : "phase");
	strcpy(b->spec.zorua_ctas, rng_below(rng, 2) ? "fits" : "lack");
	strcpy(b->spec.zorua_slots, rng_below(rng, 2) ? "vt" : "barrier");
}

static uint64_t forced, lent, spills, swapped_warps, scratchpad_spills;

static void one(struct rng *rng)
{
	static uint32_t expected[CTAS * 256];
	struct adversary a = {
		.threads = 64u << rng_below(rng, 3), .loops = 1 + (unsigned int)rng_below(rng, 3),
		.steps = 2 + (unsigned int)rng_below(rng, 5),
		.peak = 8 + (unsigned int)rng_below(rng, 40),
	};
	const struct virtual_counters *v;
	static struct text t;
	uint32_t registers;
	struct bench b;

	a.chain = !rng_below(rng, 3);
	a.shared = MAX(a.threads * 4, 1024u << rng_below(rng, 4));
	make(&t, &a, rng);
	bench_init(&b);
	run(&b, "baseline", t.s, a.threads);
	registers = sm_kernel_needs(b.kernel).registers;
	memcpy(expected, b.memory, CTAS * a.threads * 4);
	bench_fini(&b);
	bench_init(&b);
	tight(&b, &a, registers, rng);
	run(&b, "zorua", t.s, a.threads);
	assert_memory_equal(b.memory, expected, CTAS * a.threads * 4);
	v = &sm_stats(b.sm)->virtual;
	forced += v->forced;
	spills += v->spills;
	swapped_warps += v->swapped_warps;
	/* Without swap and beyond the floor only Virtual Thread lends slots. */
	lent += !b.spec.zorua_swap && v->swapped_warps > v->forced;
	scratchpad_spills += v->scratchpad_spills;
	bench_fini(&b);
}

static void all_come_to_the_end(void **state)
{
	struct rng rng;

	rng_seed(&rng, 9);
	for (unsigned int i = 0; i < ROUNDS; i++)
		one(&rng);
	/* All that is done for want of something was done. */
	assert_true(forced && lent && spills && swapped_warps && scratchpad_spills);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_come_to_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
