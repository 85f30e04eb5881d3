// SPDX-License-Identifier: GPL-2.0
/*
 * What CTA dispatch hands out is conserved: under each row of gpu/dispatch.def, with and without
 * Virtual Thread, with places and with sums alone, the test looks at all SMs whenever a CTA was
 * handed out. No SM has given more registers, shared memory or places of CTAs than it has, no CTA
 * is lost, and what nobody holds is free.
 */
#include "gpu_dynamic.h"

/* A kernel with shared memory: five CTAs of 9000 bytes fit an SM, or two of 20000. */
#define PTX_SHARED(NAME, BYTES)						\
	".visible .entry " NAME "(.param .u64 p, .param .u64 n)\n{\n"	\
	".reg .pred %p<2>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<4>;\n"	\
	".shared .align 4 .b8 " NAME "_buf[" BYTES "];\n"		\
	"mov.u32 %r1, %clock;\nld.param.u32 %r2, [n];\nmov.u32 %r3, 0;\n" \
	"mov.u32 %r7, " NAME "_buf;\n"					\
	"AGAIN:\nadd.s32 %r3, %r3, 1;\nst.shared.u32 [%r7], %r3;\n"	\
	"setp.lt.u32 %p1, %r3, %r2;\n@%p1 bra AGAIN;\n"			\
	"ld.param.u64 %rd1, [p];\nmov.u32 %r4, %ctaid.x;\n"		\
	"mul.wide.u32 %rd2, %r4, 16;\nadd.s64 %rd1, %rd1, %rd2;\n"	\
	"mov.u32 %r5, %smid;\nmov.u32 %r6, %clock;\n"			\
	"st.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r6;\n"	\
	"st.global.u32 [%rd1+8], %r5;\nret;\n}\n"

enum { REGISTERS, SHARED, CTAS, KINDS };

/* What a machine's dispatch tells, heard before the policy hears it. */
static struct {
	const struct dispatch_ops *policy;
	struct dispatch_ops ops;
	bool exact, halts;
	unsigned int handed;
	unsigned int full[KINDS];	/* how often a CTA found too little of it */
} heard;

static void add(uint64_t all[KINDS], struct sm_needs needs, unsigned int ctas)
{
	all[REGISTERS] += (uint64_t)needs.registers * ctas;
	all[SHARED] += (uint64_t)needs.shared_bytes * ctas;
	all[CTAS] += ctas;
}

static void look_at_sm(const struct dispatch *d, unsigned int sm)
{
	uint64_t given[KINDS] = { 0 }, have[KINDS] = { d->spec->registers, d->spec->shared_bytes };
	unsigned int warps, ctas;

	sm_numbers(d->spec, &warps, &ctas);
	have[CTAS] = ctas;
	for (unsigned int i = 0; i < d->nkernels; i++)
		add(given, sm_kernel_needs(d->kernels[i]->kernel),
		    sm_resident_ctas(d->sms[sm], d->kernels[i]->kernel));
	/* A kernel that has left holds nothing. */
	assert_int_equal(given[CTAS], sm_resident_ctas(d->sms[sm], NULL));
	for (unsigned int r = 0; r < KINDS; r++)
		assert_true(given[r] <= have[r]);
	for (unsigned int i = 0; i < d->nkernels; i++) {
		uint64_t with[KINDS];
		bool fits = true;

		memcpy(with, given, sizeof(with));
		add(with, sm_kernel_needs(d->kernels[i]->kernel), 1);
		for (unsigned int r = 0; r < KINDS; r++) {
			heard.full[r] += with[r] > have[r];
			fits &= with[r] <= have[r];
		}
		/*
		 * With places a hole may be too small, and Virtual Thread wants room for contexts.
		 * Warps do not bind: there are enough.
		 */
		if (heard.exact)
			assert_int_equal(sm_has_room(d->sms[sm], d->kernels[i]->kernel), fits);
		else if (!fits)
			assert_false(sm_has_room(d->sms[sm], d->kernels[i]->kernel));
	}
}

static void launched(void *state, struct dispatch *d, unsigned int sm, struct dispatch_kernel *k,
		     uint64_t cycle)
{
	heard.handed++;
	for (unsigned int i = 0; i < d->nsms; i++)
		look_at_sm(d, i);
	for (unsigned int i = 0; i < d->nkernels && !heard.halts; i++) {
		uint64_t there = 0;

		for (unsigned int m = 0; m < d->nsms; m++)
			there += sm_resident_ctas(d->sms[m], d->kernels[i]->kernel) +
				 sm_share(d->sms[m], d->kernels[i]->kernel)->retired_ctas;
		assert_int_equal(there, d->kernels[i]->next);
	}
	if (heard.policy->launched)
		heard.policy->launched(state, d, sm, k, cycle);
}

static void halted(void *ctx, int status, uint64_t fault_addr, const struct err *err, char *output,
		   size_t bytes)
{
	assert_int_equal(status, -ECANCELED);
	free(output);
}

/* The first program's kernel, which may be halted. */
static void launch_first(struct gpu_bench *b, uint32_t ctas)
{
	uint64_t params[2] = { (uintptr_t)b->memory, 100 };
	const struct gpu_launch l = {
		.module = 1, .kernel = "loop", .grid = { ctas, 1, 1 }, .block = { 128, 1, 1 },
		.params = params, .param_bytes = sizeof(params),
	};

	if (heard.halts)
		assert_int_equal(gpu_session_halt_after(b->session, 1, 40000), 0);
	assert_int_equal(gpu_session_submit(b->session, 1, &l, heard.halts ? halted : done, NULL),
			 0);
}

/* Five kernels; the third comes late, the fourth goes early, the fifth follows it in its stream. */
static void one_way(const char *policy, const char *cta, const char *placement, bool halts)
{
	static const unsigned int ctas[] = { 60, 60, 30, 10, 25 };
	struct gpu_bench b;
	unsigned int all = 0;

	open_bench(&b, PTX_SHARED("five", "9000") PTX_SHARED("two", "20000"), 1);
	memset(b.spec.dispatch, 0, sizeof(b.spec.dispatch));
	strcpy(b.spec.dispatch, policy);
	strcpy(b.spec.slicer_fixed, "3,2,1,2");
	strcpy(b.spec.cta, cta);
	strcpy(b.spec.placement, placement);
	b.spec.mixed_sms = true;
	b.spec.registers = 4096;
	b.spec.virtual_warps = 64;
	b.spec.warps = strcmp(cta, "vt") ? 64 : 8;
	b.spec.slicer_warmup = 300;
	b.spec.slicer_sample = 200;
	b.spec.slicer_loss = 400;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, &b.err), 0);
	memset(&heard, 0, sizeof(heard));
	heard.policy = b.session->machine->dispatch->ops;
	heard.ops = *heard.policy;
	heard.ops.launched = launched;
	heard.exact = !strcmp(placement, "sums") && !strcmp(cta, "baseline");
	heard.halts = halts;
	b.session->machine->dispatch->ops = &heard.ops;
	launch_first(&b, ctas[0]);
	launch_of(&b, 2, "five", 1, ctas[1], 96, 80);
	assert_int_equal(gpu_session_delay(b.session, 3, 2000), 0);
	launch_of(&b, 3, "two", 2, ctas[2], 64, 60);
	launch_of(&b, 4, "other", 3, ctas[3], 64, 50);
	launch_of(&b, 4, "loop", 4, ctas[4], 192, 50);
	gpu_session_finish(b.session);
	for (unsigned int k = halts; k < ARRAY_SIZE(ctas); k++)
		all_ran(&b, k, ctas[k]);
	for (unsigned int k = 0; k < ARRAY_SIZE(ctas); k++)
		all += ctas[k];
	if (halts)
		assert_in_range(heard.handed, all - ctas[0], all - 1);
	else
		assert_int_equal(heard.handed, all);
	for (unsigned int sm = 0; sm < b.spec.sms; sm++)
		assert_int_equal(sm_resident_ctas(b.session->machine->sms[sm], NULL), 0);
	bench_close(&b);
}

static void nothing_is_lost(void **state)
{
	static const char *const ways[][2] = {
		{ "baseline", "sums" }, { "baseline", "extents" }, { "vt", "extents" },
	};

	for (unsigned int row = 0; dispatch_rows[row]; row++)
		for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++) {
			one_way(dispatch_rows[row]->name, ways[i][0], ways[i][1], false);
			/* It was no easy test: both bind. */
			assert_true(heard.full[REGISTERS] > 100);
			assert_true(heard.full[SHARED] > 100);
		}
}

/* A program that is halted at its target: all that its CTAs held is free. */
static void what_is_halted_gives_back(void **state)
{
	for (unsigned int row = 0; dispatch_rows[row]; row++)
		one_way(dispatch_rows[row]->name, "baseline", "sums", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(what_is_halted_gives_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
