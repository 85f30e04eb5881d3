// SPDX-License-Identifier: GPL-2.0
/*
 * CTA dispatch: what every row of gpu/dispatch.def must keep (each CTA runs once, nobody
 * waits for ever, the same for every gpu.threads), and whom each row gives which SM. Each CTA
 * writes down where it ran and from which cycle to which; the tests look at that.
 */
#include "gpu/loop.h"
#include "gpu/session.h"
#include "gpu_bench.h"

/* Thread 0 of a CTA leaves a struct mark; all count to n in between. */
#define PTX_MARK							\
	".visible .entry mark(.param .u64 p, .param .u64 n)\n{\n"	\
	".reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n"	\
	"mov.u64 %rd5, %clock64;\n"					\
	"mov.u32 %r1, %ctaid.z;\nmov.u32 %r2, %nctaid.y;\nmov.u32 %r3, %ctaid.y;\n" \
	"mad.lo.s32 %r1, %r1, %r2, %r3;\nmov.u32 %r2, %nctaid.x;\nmov.u32 %r3, %ctaid.x;\n" \
	"mad.lo.s32 %r1, %r1, %r2, %r3;\nmov.u32 %r4, %tid.x;\n"	\
	"ld.param.u64 %rd1, [p];\nld.param.u32 %r5, [n];\nmov.u32 %r6, 0;\n" \
	"AGAIN:\nadd.s32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, %r5;\n@%p1 bra AGAIN;\n" \
	"setp.ne.u32 %p2, %r4, 0;\n@%p2 bra DONE;\n"			\
	"mul.wide.u32 %rd2, %r1, 24;\nadd.s64 %rd3, %rd1, %rd2;\n"	\
	"atom.global.add.u32 %r8, [%rd3], 1;\nmov.u32 %r7, %smid;\n"	\
	"st.global.u32 [%rd3+4], %r7;\nst.global.u64 [%rd3+8], %rd5;\n"	\
	"mov.u64 %rd6, %clock64;\nst.global.u64 [%rd3+16], %rd6;\n"	\
	"DONE:\nret;\n}\n"

#define PTX_TRAPS							\
	".visible .entry traps(.param .u64 p, .param .u64 n)\n{\ntrap;\nret;\n}\n"

struct mark {
	uint32_t times, sm;
	uint64_t begin, end;
};

#define PLACE	32768u		/* bytes of memory that a kernel's marks have */

/* A launch. */
struct load {
	uint32_t stream, grid[3], block, shared;
	uint64_t n;
	const char *kernel;	/* NULL: mark */
	int status;		/* that is told */
};

struct world {
	struct gpu_bench b;
	struct load *loads;
	unsigned int nloads, told;
};
static struct world *listening;

static void done(void *ctx, int status, uint64_t fault_addr, const struct err *err,
		 char *output, size_t bytes)
{
	struct load *l = ctx;

	if (status != l->status)
		fail_msg("launch %u: %d '%s'", (unsigned int)(l - listening->loads), status,
			 err->text);
	listening->told++;
	free(output);
}

static void submit(struct world *w, unsigned int i)
{
	struct load *l = &w->loads[i];
	uint64_t params[2] = { (uintptr_t)w->b.memory + i * PLACE, l->n };
	const struct gpu_launch launch = {
		.module = 1, .kernel = l->kernel ? l->kernel : "mark",
		.grid = { l->grid[0], l->grid[1] ? l->grid[1] : 1, l->grid[2] ? l->grid[2] : 1 },
		.block = { l->block, 1, 1 }, .dynamic_shared = l->shared,
		.params = params, .param_bytes = sizeof(params),
	};

	assert_int_equal(gpu_session_submit(w->b.session, l->stream, &launch, done, l), 0);
}

static void open_world(struct world *w, const struct gpu_spec *spec, struct load *loads,
		       unsigned int nloads)
{
	memset(w, 0, sizeof(*w));
	listening = w;
	w->loads = loads;
	w->nloads = nloads;
	bench_spec(&w->b);
	w->b.spec = *spec;
	bench_open_with(&w->b, PTX_HEAD PTX_MARK PTX_TRAPS);
	memset(w->b.memory, 0, w->b.bytes);
}

static void run(struct world *w)
{
	unsigned int before = w->told;

	for (unsigned int i = 0; i < w->nloads; i++)
		submit(w, i);
	gpu_session_finish(w->b.session);
	assert_int_equal(w->told, before + w->nloads);
}

static const struct mark *marks(const struct world *w, unsigned int i)
{
	return (const struct mark *)(w->b.memory + i * PLACE);
}

static unsigned int ctas_of(const struct load *l)
{
	return l->grid[0] * MAX(l->grid[1], 1u) * MAX(l->grid[2], 1u);
}

static void each_ran_once(const struct world *w)
{
	for (unsigned int i = 0; i < w->nloads; i++) {
		unsigned int n = ctas_of(&w->loads[i]);

		for (unsigned int c = 0; c < n; c++)
			assert_int_equal(marks(w, i)[c].times, 1);
		/* There is none behind the last one. */
		assert_int_equal(marks(w, i)[n].times, 0);
	}
}

/* The most CTAs of a launch that were on the SM at a time, in [from, to). */
static unsigned int most_on(const struct world *w, unsigned int i, unsigned int sm,
			    uint64_t from, uint64_t to)
{
	const struct mark *m = marks(w, i);
	unsigned int most = 0;

	for (unsigned int c = 0; c < ctas_of(&w->loads[i]); c++) {
		unsigned int n = 0;

		/* As many as there were when this one began. */
		if (m[c].sm != sm || m[c].begin < from || m[c].begin >= to)
			continue;
		for (unsigned int o = 0; o < ctas_of(&w->loads[i]); o++)
			n += m[o].sm == sm && m[o].begin <= m[c].begin && m[c].begin < m[o].end;
		most = MAX(most, n);
	}
	return most;
}

static uint64_t first_of(const struct world *w, unsigned int i)
{
	uint64_t first = NEVER;

	for (unsigned int c = 0; c < ctas_of(&w->loads[i]); c++)
		first = MIN(first, marks(w, i)[c].begin);
	return first;
}

static uint64_t last_of(const struct world *w, unsigned int i)
{
	uint64_t last = 0;

	for (unsigned int c = 0; c < ctas_of(&w->loads[i]); c++)
		last = MAX(last, marks(w, i)[c].end);
	return last;
}

/* The SMs that got CTAs of the launch in [from, to), a bit each. */
static uint64_t sms_of(const struct world *w, unsigned int i, uint64_t from, uint64_t to)
{
	uint64_t sms = 0;

	for (unsigned int c = 0; c < ctas_of(&w->loads[i]); c++)
		if (marks(w, i)[c].begin >= from && marks(w, i)[c].begin < to)
			sms |= 1ull << marks(w, i)[c].sm;
	return sms;
}

static struct gpu_spec spec_of(const char *dispatch, unsigned int sms, bool mixed)
{
	struct gpu_bench b;

	bench_spec(&b);
	b.spec.paging = 0;
	b.spec.sms = sms;
	b.spec.mixed_sms = mixed;
	/* So short that the launches of these tests see all phases of dynamic. */
	b.spec.slicer_warmup = 300;
	b.spec.slicer_sample = 200;
	strcpy(b.spec.slicer_fixed, "2,1,3");
	memset(b.spec.dispatch, 0, sizeof(b.spec.dispatch));
	strcpy(b.spec.dispatch, dispatch);
	return b.spec;
}

/* --- what every row must keep --------------------------------------------------------- */

/* Sizes of all kinds; one comes late, one comes alone at the end. */
static struct load mixture[] = {
	{ 1, { 7, 3, 2 }, 96, 6000, 200, NULL, 0 },
	{ 2, { 1 }, 32, 0, 900, NULL, 0 },
	{ 3, { 60 }, 64, 1024, 100, NULL, 0 },
	{ 2, { 9 }, 512, 30000, 50, NULL, 0 },
	{ 4, { 5 }, 1024, 0, 30, NULL, 0 },
	{ 5, { 3 }, 33, 49152, 400, NULL, 0 },
	{ 0, { 2, 2, 2 }, 40, 0, 10, NULL, 0 },
};

/* As each CTA begins, those that are on its SM have no more than the SM has, of what is known here. */
static void nothing_is_given_twice(const struct world *w, const struct gpu_spec *spec)
{
	for (unsigned int i = 0; i < w->nloads; i++)
		for (unsigned int c = 0; c < ctas_of(&w->loads[i]); c++) {
			const struct mark *begins = &marks(w, i)[c];
			uint64_t ctas = 0, warps = 0, shared = 0;

			for (unsigned int k = 0; k < w->nloads; k++)
				for (unsigned int o = 0; o < ctas_of(&w->loads[k]); o++) {
					const struct mark *m = &marks(w, k)[o];

					if (m->sm != begins->sm || m->begin > begins->begin ||
					    m->end <= begins->begin)
						continue;
					ctas++;
					warps += DIV_ROUND_UP(w->loads[k].block, 32);
					shared += w->loads[k].shared;
				}
			assert_in_range(ctas, 1, spec->ctas);
			assert_in_range(warps, 1, spec->warps);
			assert_in_range(shared, 0, spec->shared_bytes);
		}
}

static void one_mixture(const struct gpu_spec *spec, char **statistics)
{
	struct world w;

	open_world(&w, spec, mixture, ARRAY_SIZE(mixture));
	run(&w);
	each_ran_once(&w);
	nothing_is_given_twice(&w, spec);
	*statistics = gpu_session_statistics(w.b.session);
	bench_close(&w.b);
}

static void test_each_cta_runs_once(void **state)
{
	for (unsigned int row = 0; dispatch_rows[row]; row++) {
		for (unsigned int mixed = 0; mixed < 2; mixed++) {
			struct gpu_spec spec = spec_of(dispatch_rows[row]->name, 5, mixed);
			char *one, *n;

			spec.warp_extents = mixed;

			one_mixture(&spec, &one);
			for (spec.threads = 2; spec.threads < 4; spec.threads++) {
				one_mixture(&spec, &n);
				assert_string_equal(n, one);
				free(n);
			}
			free(one);
		}
	}
}

/* More kernels than SMs, and as many as there may be. */
static void test_many_kernels(void **state)
{
	struct load many[SM_KERNELS];

	for (unsigned int i = 0; i < SM_KERNELS; i++)
		many[i] = (struct load){ i + 1, { 3 + i }, 32 + 32 * (i % 4), 500 * i, 20,
					 NULL, 0 };
	for (unsigned int row = 0; dispatch_rows[row]; row++) {
		for (unsigned int sms = 1; sms < 6; sms += 4) {
			const struct gpu_spec spec = spec_of(dispatch_rows[row]->name, sms, false);
			struct world w;

			open_world(&w, &spec, many, SM_KERNELS);
			run(&w);
			each_ran_once(&w);
			bench_close(&w.b);
		}
	}
}

/* A kernel's launch latency holds its CTAs back, and time does not stand still for it. */
static void test_launch_latency(void **state)
{
	struct load loads[] = {
		{ 1, { 4 }, 64, 0, 10, NULL, 0 }, { 2, { 4 }, 64, 0, 10, NULL, 0 },
	};

	for (unsigned int row = 0; dispatch_rows[row]; row++) {
		struct gpu_spec spec = spec_of(dispatch_rows[row]->name, 2, true);
		struct world w;

		spec.launch_latency = 5000;
		open_world(&w, &spec, loads, 2);
		run(&w);
		each_ran_once(&w);
		assert_in_range(first_of(&w, 0), 5000, 5400);
		assert_in_range(first_of(&w, 1), 5000, 5400);
		bench_close(&w.b);
	}
}

/* Kernels that ended with another's error leave nothing behind. */
static void test_after_an_error(void **state)
{
	struct load bad[] = {
		{ 1, { 40 }, 64, 2000, 100, NULL, -ECANCELED },
		{ 2, { 40 }, 96, 9000, 100, "traps", -ECANCELED },
	};

	for (unsigned int row = 0; dispatch_rows[row]; row++) {
		const struct gpu_spec spec = spec_of(dispatch_rows[row]->name, 3, true);
		struct world w;

		open_world(&w, &spec, bad, 2);
		run(&w);
		memset(w.b.memory, 0, w.b.bytes);
		w.loads = mixture;
		w.nloads = ARRAY_SIZE(mixture);
		run(&w);
		each_ran_once(&w);
		bench_close(&w.b);
	}
}

static void test_no_such_policy(void **state)
{
	const struct gpu_spec spec = spec_of("nobody", 1, false);
	struct err err;

	assert_int_equal(gpu_spec_check(&spec, &err), -EINVAL);
	assert_string_equal(err.text, "gpu.dispatch: no dispatcher 'nobody'; there are: "
			    "left_over, spatial, fcfs, even, dynamic, fixed");
}

/* --- left_over -------------------------------------------------------------------------- */

/* 3 and 2 CTAs fit: the second kernel gets one beside them where SMs are mixed. */
static void test_left_over(void **state)
{
	struct load loads[] = {
		{ 1, { 20 }, 64, 16384, 400, NULL, 0 }, { 2, { 6 }, 64, 16384, 400, NULL, 0 },
	};
	const struct gpu_spec apart = spec_of("left_over", 1, false);
	const struct gpu_spec mixed = spec_of("left_over", 1, true);
	struct world w;

	open_world(&w, &apart, loads, 2);
	run(&w);
	/* The SM is empty in between. */
	assert_true(first_of(&w, 1) > last_of(&w, 0));
	bench_close(&w.b);

	open_world(&w, &mixed, loads, 2);
	run(&w);
	/* 18 CTAs in threes, then two and the other kernel's first. */
	assert_int_equal(most_on(&w, 0, 0, 0, NEVER), 3);
	assert_true(first_of(&w, 1) < last_of(&w, 0));
	assert_true(first_of(&w, 1) > marks(&w, 0)[14].end);
	bench_close(&w.b);
}

/* --- spatial ------------------------------------------------------------------------------ */

static void test_spatial(void **state)
{
	struct load two[] = {
		{ 1, { 60 }, 64, 0, 300, NULL, 0 }, { 2, { 200 }, 64, 0, 300, NULL, 0 },
	};
	struct load three[] = {
		{ 1, { 60 }, 64, 0, 300, NULL, 0 }, { 2, { 60 }, 64, 0, 300, NULL, 0 },
		{ 3, { 60 }, 64, 0, 300, NULL, 0 },
	};
	const struct gpu_spec spec = spec_of("spatial", 4, false);
	struct world w;
	uint64_t all;

	open_world(&w, &spec, two, 2);
	run(&w);
	assert_int_equal(sms_of(&w, 0, 0, NEVER), 0x3);
	assert_int_equal(sms_of(&w, 1, 0, last_of(&w, 0)), 0xc);
	/* When the first has left, the second has all. */
	assert_int_equal(sms_of(&w, 1, last_of(&w, 0), NEVER), 0xf);
	bench_close(&w.b);

	open_world(&w, &spec, three, 3);
	run(&w);
	all = MIN(MIN(last_of(&w, 0), last_of(&w, 1)), last_of(&w, 2));
	assert_int_equal(sms_of(&w, 0, 0, all), 0x1);
	assert_int_equal(sms_of(&w, 1, 0, all), 0x2);
	assert_int_equal(sms_of(&w, 2, 0, all), 0xc);
	bench_close(&w.b);
}

/* A kernel that comes late gets its SMs as they empty; what runs there is not moved. */
static void test_spatial_arrival(void **state)
{
	struct load loads[] = {
		{ 1, { 150 }, 64, 0, 300, NULL, 0 },
		{ 2, { 1 }, 64, 0, 100, NULL, 0 },
		{ 2, { 40 }, 64, 0, 300, NULL, 0 },
	};

	for (unsigned int mixed = 0; mixed < 2; mixed++) {
		const struct gpu_spec spec = spec_of("spatial", 4, mixed);
		uint64_t from;
		struct world w;

		open_world(&w, &spec, loads, 3);
		run(&w);
		each_ran_once(&w);
		from = first_of(&w, 2);
		assert_true(from > last_of(&w, 1));
		assert_true(from < last_of(&w, 0));
		assert_int_equal(sms_of(&w, 2, 0, NEVER), 0xc);
		assert_int_equal(sms_of(&w, 0, from, last_of(&w, 2)), 0x3);
		bench_close(&w.b);
	}
}

/* --- fcfs ----------------------------------------------------------------------------------- */

static void test_fcfs(void **state)
{
	struct load loads[] = {
		{ 1, { 40 }, 64, 0, 300, NULL, 0 }, { 2, { 40 }, 64, 0, 300, NULL, 0 },
	};
	const struct gpu_spec spec = spec_of("fcfs", 1, false);
	struct world w;
	uint64_t end;

	open_world(&w, &spec, loads, 2);
	run(&w);
	each_ran_once(&w);
	/* 8 slots: four each, where left-over would give the first kernel all. */
	end = MIN(marks(&w, 0)[0].end, marks(&w, 1)[0].end);
	for (unsigned int c = 0; c < 4; c++) {
		assert_true(marks(&w, 0)[c].begin < end);
		assert_true(marks(&w, 1)[c].begin < end);
		assert_true(marks(&w, 0)[c + 4].begin > end);
		assert_true(marks(&w, 1)[c + 4].begin > end);
	}
	bench_close(&w.b);
}

/*
 * Figure 2a: A B A B fill shared memory. When the A's have ended, the sum of what is free is
 * enough for a third B, and no hole is: it waits for a B to end.
 */
static void test_fragmentation(void **state)
{
	static const char *const keys[] = { "refused_ctas", "sms.0.refused_ctas" };
	struct load loads[] = {
		{ 1, { 2 }, 64, 8192, 100, NULL, 0 }, { 2, { 4 }, 64, 16384, 400, NULL, 0 },
	};
	struct gpu_spec spec = spec_of("fcfs", 1, true);
	struct world w;
	uint64_t waits;

	open_world(&w, &spec, loads, 2);
	run(&w);
	each_ran_once(&w);
	assert_true(marks(&w, 1)[1].begin < marks(&w, 0)[0].end);
	assert_true(marks(&w, 1)[2].begin > MIN(marks(&w, 1)[0].end, marks(&w, 1)[1].end));
	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++) {
		char path[64];

		snprintf(path, sizeof(path), "fragmentation.%s", keys[i]);
		assert_int_equal(bench_stat(&w.b, path), 1);
	}
	/* From the last A's end to the first B's, but for the instructions behind their clocks. */
	waits = MIN(marks(&w, 1)[0].end, marks(&w, 1)[1].end) -
		MAX(marks(&w, 0)[0].end, marks(&w, 0)[1].end);
	assert_true(waits > 1000);
	assert_in_range(bench_stat(&w.b, "fragmentation.refused_cycles"), waits - 100, waits + 100);
	assert_true(bench_stat(&w.b, "fragmentation.shared_free") >
		    bench_stat(&w.b, "fragmentation.shared_hole"));
	bench_close(&w.b);

	strcpy(spec.placement, "sums");
	open_world(&w, &spec, loads, 2);
	run(&w);
	each_ran_once(&w);
	assert_true(marks(&w, 1)[2].begin > MAX(marks(&w, 0)[0].end, marks(&w, 0)[1].end));
	assert_true(marks(&w, 1)[2].begin < MIN(marks(&w, 1)[0].end, marks(&w, 1)[1].end));
	bench_close(&w.b);
}

/*
 * The same holes, but a CTA is refused for them long after its SM was looked at last, since its
 * kernel's launch takes so long: the cycles before are nobody's wait.
 */
static void test_a_late_refusal(void **state)
{
	struct load loads[] = {
		{ 1, { 2 }, 64, 8192, 100, NULL, 0 }, { 2, { 2 }, 64, 16384, 3000, NULL, 0 },
		{ 3, { 1 }, 64, 16384, 10, NULL, 0 },
	};
	struct gpu_spec spec = spec_of("fcfs", 1, true);
	const uint64_t comes = 12000, latency = 5000;
	struct world w;
	uint64_t waits;

	spec.launch_latency = latency;
	open_world(&w, &spec, loads, ARRAY_SIZE(loads));
	assert_int_equal(gpu_session_delay(w.b.session, 3, comes), 0);
	run(&w);
	each_ran_once(&w);
	assert_true(last_of(&w, 0) < comes);
	/* A CTA is there until its stores are acknowledged. */
	waits = MIN(marks(&w, 1)[0].end, marks(&w, 1)[1].end) - (comes + latency);
	assert_true(marks(&w, 2)[0].begin >= comes + latency + waits);
	assert_in_range(bench_stat(&w.b, "fragmentation.refused_cycles"), waits, waits + 300);
	bench_close(&w.b);
}

/* One kernel alone: nothing is said of holes, and nothing is different without them. */
static void test_one_kernel_does_not_fragment(void **state)
{
	struct load loads[] = {
		{ 1, { 61 }, 96, 7000, 90, NULL, 0 }, { 1, { 30 }, 64, 10000, 50, NULL, 0 },
	};
	char *statistics[2];

	for (unsigned int sums = 0; sums < 2; sums++) {
		struct gpu_spec spec = spec_of("left_over", 2, true);
		struct world w;

		strcpy(spec.placement, sums ? "sums" : "extents");
		open_world(&w, &spec, loads, 2);
		run(&w);
		statistics[sums] = gpu_session_statistics(w.b.session);
		bench_close(&w.b);
	}
	assert_null(strstr(statistics[0], "fragmentation"));
	/* All but the setting itself. */
	assert_non_null(strstr(statistics[1], "\"sm.placement\":\"sums\""));
	assert_string_equal(strstr(statistics[0], "\"kernels\""),
			    strstr(statistics[1], "\"kernels\""));
	free(statistics[0]);
	free(statistics[1]);
}

/* --- room that grows --------------------------------------------------------------------- */

/* At a cycle CTA 0 is parked, or the SM takes one more CTA than before. */
struct growth {
	bool parks;
	unsigned int most;
	uint64_t parked, grown;
};

#define GROWS	3000u

static void growth_started(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct growth *g = state;

	if (!cta && !g->parked)
		sm_timer(sm, now + GROWS);
}

static void growth_timer(void *state, struct sm *sm, uint64_t now)
{
	struct growth *g = state;

	g->grown = now;
	if (g->parks) {
		assert_int_equal(sm_park(sm, 0, 0, now), 0);
		return;
	}
	g->most++;
	sm_room_grown(sm);
}

static void growth_parked(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	((struct growth *)state)->parked = now;
}

static void growth_ended(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct growth *g = state;

	if (g->parked && cta)
		assert_int_equal(sm_restore(sm, 0, 0, now), cta == 1 ? 0 : -EINVAL);
}

static bool growth_has_room(void *state, const struct sm *sm, const struct sm_kernel *kernel)
{
	return sm_resident_ctas(sm, NULL) < ((struct growth *)state)->most &&
	       sm_fits_slots(sm, kernel) && sm_fits(sm, kernel);
}

static const struct sm_mechanism growing = {
	.name = "growth", .has_room = growth_has_room,
	.cta_started = growth_started, .cta_parked = growth_parked, .cta_ended = growth_ended,
	.timer = growth_timer,
};

/* A CTA comes when there is room for it, not when one ends. */
static void test_room_grows(void **state)
{
	for (unsigned int parks = 0; parks < 2; parks++) {
		struct growth g = { .parks = parks, .most = parks ? 8 : 2 };
		struct load load = { 1, { 3 }, 64, 0, 4000, NULL, 0 };
		struct gpu_spec spec = spec_of("fcfs", 1, true);
		struct world w;

		/* Slots of two CTAs, or of more. */
		spec.warps = parks ? 4 : 48;
		spec.virtual_warps = 48;
		open_world(&w, &spec, &load, 1);
		w.b.gpu->mechanism = &growing;
		w.b.gpu->mechanism_ctx = &g;
		assert_int_equal(gpu_session_configure(w.b.session, &spec, &w.b.err), 0);
		run(&w);
		each_ran_once(&w);
		assert_true(marks(&w, 0)[1].end > g.grown + GROWS);
		assert_in_range(marks(&w, 0)[2].begin, g.grown, g.grown + 300);
		bench_close(&w.b);
	}
}

/* --- even ------------------------------------------------------------------------------------- */

/* Half of 48 KiB: 3 CTAs of 8000 bytes and 1 of 16000, though 2 of these would fit with 2 of those. */
static void test_even(void **state)
{
	struct load loads[] = {
		{ 1, { 60 }, 64, 8000, 300, NULL, 0 }, { 2, { 12 }, 64, 16000, 300, NULL, 0 },
	};
	const struct gpu_spec spec = spec_of("even", 2, false);
	uint64_t both;
	struct world w;

	open_world(&w, &spec, loads, 2);
	run(&w);
	each_ran_once(&w);
	both = MIN(last_of(&w, 0), last_of(&w, 1));
	for (unsigned int sm = 0; sm < 2; sm++) {
		assert_int_equal(most_on(&w, 0, sm, 0, both), 3);
		assert_int_equal(most_on(&w, 1, sm, 0, both), 1);
	}
	/* The first has the whole SM when the second has left: 6 of 8000 bytes. */
	assert_true(last_of(&w, 1) < last_of(&w, 0));
	assert_int_equal(most_on(&w, 0, 0, both, NEVER), 6);
	bench_close(&w.b);
}

/* Each resource limits: CTA slots 8 / 3, warps 48 / 3. */
static void test_even_of_three(void **state)
{
	struct load loads[] = {
		{ 1, { 30 }, 32, 0, 300, NULL, 0 }, { 2, { 30 }, 256, 0, 300, NULL, 0 },
		{ 3, { 30 }, 512, 0, 300, NULL, 0 },
	};
	const unsigned int most[] = { 2, 2, 1 };
	const struct gpu_spec spec = spec_of("even", 1, false);
	uint64_t all = NEVER;
	struct world w;

	open_world(&w, &spec, loads, 3);
	run(&w);
	for (unsigned int i = 0; i < 3; i++)
		all = MIN(all, last_of(&w, i));
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(most_on(&w, i, 0, 0, all), most[i]);
	bench_close(&w.b);
}

/* 30000 bytes are more than half of an SM's: then the SMs are split. */
static void test_even_cannot(void **state)
{
	struct load loads[] = {
		{ 1, { 60 }, 64, 8000, 300, NULL, 0 }, { 2, { 12 }, 64, 30000, 100, NULL, 0 },
	};
	const struct gpu_spec spec = spec_of("even", 2, true);
	struct world w;

	open_world(&w, &spec, loads, 2);
	run(&w);
	each_ran_once(&w);
	assert_int_equal(sms_of(&w, 1, 0, NEVER), 0x2);
	assert_int_equal(sms_of(&w, 0, 0, last_of(&w, 1)), 0x1);
	bench_close(&w.b);
}

/* --- the events ----------------------------------------------------------------------------------- */

/* The SMs are one kernel's for 700 cycles, then another's; and everything is written down. */
static struct {
	uint64_t due, ticks, last;
	unsigned int turn, arrived, left;
	uint64_t launched[SM_KERNELS], retired[SM_KERNELS];
} turns;

static void turns_arrived(void *state, struct dispatch *d, struct dispatch_kernel *k, uint64_t now)
{
	assert_ptr_equal(d->kernels[d->nkernels - 1], k);
	assert_int_equal(sm_kernel_waiting(k->kernel), k->ctas);
	turns.arrived++;
	turns.launched[k->slot] = turns.retired[k->slot] = 0;
}

static void turns_left(void *state, struct dispatch *d, struct dispatch_kernel *k, uint64_t now)
{
	turns.left++;
	for (unsigned int i = 0; i < d->nkernels; i++)
		assert_ptr_not_equal(d->kernels[i], k);
	/* All were told of before. */
	assert_int_equal(turns.launched[k->slot], k->ctas);
	assert_int_equal(turns.retired[k->slot], k->ctas);
}

static struct dispatch_kernel *turns_pick(const void *state, const struct dispatch *d,
					  unsigned int sm, uint64_t cycle)
{
	struct dispatch_kernel *k = d->kernels[turns.turn % d->nkernels];

	return dispatch_can(d, sm, k, cycle) ? k : NULL;
}

static void turns_launched(void *state, struct dispatch *d, unsigned int sm,
			   struct dispatch_kernel *k, uint64_t cycle)
{
	assert_ptr_equal(d->kernels[turns.turn % d->nkernels], k);
	turns.launched[k->slot]++;
	assert_int_equal(sm_kernel_waiting(k->kernel), k->ctas - k->next);
}

static void turns_retired(void *state, struct dispatch *d, unsigned int sm,
			  struct dispatch_kernel *k, uint64_t ctas, uint64_t now)
{
	turns.retired[k->slot] += ctas;
	assert_true(turns.retired[k->slot] <= turns.launched[k->slot]);
}

static uint64_t turns_timer(const void *state, const struct dispatch *d)
{
	return turns.due;
}

/* Called in its cycle, neither before nor after. */
static void turns_tick(void *state, struct dispatch *d, uint64_t now)
{
	assert_int_equal(now, turns.due);
	turns.due += 700;
	turns.ticks++;
	turns.turn++;
}

static const struct dispatch_ops turns_ops = {
	.name = "turns",
	.arrived = turns_arrived,
	.left = turns_left,
	.pick = turns_pick,
	.launched = turns_launched,
	.retired = turns_retired,
	.timer = turns_timer,
	.tick = turns_tick,
};

static void test_events(void **state)
{
	struct load loads[] = {
		{ 1, { 50 }, 64, 3000, 100, NULL, 0 }, { 2, { 30 }, 64, 9000, 100, NULL, 0 },
		{ 1, { 20 }, 96, 0, 300, NULL, 0 },
	};
	const struct gpu_spec spec = spec_of("left_over", 2, true);
	struct world w;

	memset(&turns, 0, sizeof(turns));
	turns.due = 700;
	open_world(&w, &spec, loads, 3);
	w.b.session->machine->dispatch->ops = &turns_ops;
	run(&w);
	each_ran_once(&w);
	assert_int_equal(turns.arrived, 3);
	assert_int_equal(turns.left, 3);
	assert_true(turns.ticks > 5);
	assert_in_range(bench_stat(&w.b, "totals.cycles"), turns.ticks * 700,
			turns.ticks * 700 + 699);
	/* The second kernel waited for its turn, and then for CTA slots. */
	assert_true(first_of(&w, 1) > 700);
	bench_close(&w.b);
}

/* --- fixed ------------------------------------------------------------------------------------ */

/* Two and one CTA an SM, also of the first stream's second launch, and all of it for the last. */
static void test_fixed(void **state)
{
	struct load loads[] = {
		{ 1, { 12 }, 64, 0, 300, NULL, 0 }, { 2, { 20 }, 64, 0, 900, NULL, 0 },
		{ 1, { 12 }, 64, 0, 300, NULL, 0 },
	};
	struct gpu_spec spec = spec_of("fixed", 2, false);
	struct world w;

	open_world(&w, &spec, loads, 3);
	run(&w);
	each_ran_once(&w);
	for (unsigned int sm = 0; sm < 2; sm++) {
		assert_int_equal(most_on(&w, 0, sm, 0, NEVER), 2);
		assert_int_equal(most_on(&w, 1, sm, 0, last_of(&w, 2)), 1);
		assert_int_equal(most_on(&w, 2, sm, 0, NEVER), 2);
		assert_in_range(most_on(&w, 1, sm, last_of(&w, 2), NEVER), 5, 8);
	}
	bench_close(&w.b);

	/* One number is a limit for a kernel alone, too. */
	strcpy(spec.slicer_fixed, "3");
	open_world(&w, &spec, loads, 1);
	run(&w);
	assert_int_equal(most_on(&w, 0, 0, 0, NEVER), 3);
	bench_close(&w.b);
}

/* --- whose SMs ------------------------------------------------------------------------------------ */

/* A program's second launch has the SMs that its first one had, although it is the younger one. */
static void test_spatial_keeps_places(void **state)
{
	struct load loads[] = {
		{ 1, { 40 }, 64, 0, 200, NULL, 0 }, { 2, { 60 }, 64, 0, 900, NULL, 0 },
		{ 1, { 40 }, 64, 0, 200, NULL, 0 },
	};
	const struct gpu_spec spec = spec_of("spatial", 4, true);
	struct world w;

	open_world(&w, &spec, loads, 3);
	run(&w);
	each_ran_once(&w);
	assert_int_equal(sms_of(&w, 0, 0, NEVER), 0x3);
	assert_int_equal(sms_of(&w, 2, 0, NEVER), 0x3);
	assert_int_equal(sms_of(&w, 1, 0, last_of(&w, 2)), 0xc);
	bench_close(&w.b);
}

/*
 * A program's next launch begins as the last one ends, though the other program's CTAs are so long
 * that none of them ends meanwhile, and more of them wait: with a latency and without.
 */
static void test_next_launch_begins(void **state)
{
	static const char *const policies[] = { "spatial", "even", "fixed" };
	struct load loads[] = {
		{ 1, { 40 }, 64, 0, 200, NULL, 0 }, { 2, { 60 }, 32, 0, 3000, NULL, 0 },
		{ 1, { 8 }, 64, 0, 200, NULL, 0 },
	};

	for (unsigned int p = 0; p < 6; p++) {
		struct gpu_spec spec = spec_of(policies[p / 2], 4, true);
		struct world w;

		spec.launch_latency = p % 2 ? 700 : 0;
		open_world(&w, &spec, loads, 3);
		run(&w);
		each_ran_once(&w);
		assert_true(last_of(&w, 2) < last_of(&w, 1) / 2);
		assert_true(first_of(&w, 2) >= last_of(&w, 0) + spec.launch_latency);
		assert_true(first_of(&w, 2) < last_of(&w, 0) + spec.launch_latency + 500);
		bench_close(&w.b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_cta_runs_once),
		cmocka_unit_test(test_many_kernels),
		cmocka_unit_test(test_launch_latency),
		cmocka_unit_test(test_after_an_error),
		cmocka_unit_test(test_no_such_policy),
		cmocka_unit_test(test_left_over),
		cmocka_unit_test(test_spatial),
		cmocka_unit_test(test_spatial_arrival),
		cmocka_unit_test(test_fcfs),
		cmocka_unit_test(test_fragmentation),
		cmocka_unit_test(test_a_late_refusal),
		cmocka_unit_test(test_room_grows),
		cmocka_unit_test(test_one_kernel_does_not_fragment),
		cmocka_unit_test(test_even),
		cmocka_unit_test(test_even_of_three),
		cmocka_unit_test(test_even_cannot),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_spatial_keeps_places),
		cmocka_unit_test(test_next_launch_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
