// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels that fault: the handlers' virtual time, batches, replays, progress
 * with too little device memory, what ends a kernel and what does not.
 */
#include "gpu_bench.h"

#define WALK		100	/* cycles, of every walk */
#define NS_BATCH	20000
#define NS_PAGE		256	/* 4 KiB at 16 GB/s */

/* From a batch's taking until its handler is free and `pages` have come in one piece. */
static uint64_t service_cycles(unsigned int pages)
{
	return DIV_ROUND_UP((uint64_t)(NS_BATCH + pages * NS_PAGE) * 700, 1000);
}

/* Walks take as long, whatever the page-walk cache holds. */
static void timed_spec(struct gpu_bench *b)
{
	bench_spec(b);
	b->spec.walk_latency = WALK;
}

static void fill(struct gpu_bench *b)
{
	for (size_t i = 0; i < b->bytes / 4; i++)
		((uint32_t *)b->memory)[i] = (uint32_t)(i * 2654435761u);
}

/* out[i] == in[i * stride] for the first n. */
static void check_gather(struct gpu_bench *b, const uint8_t *in, const uint8_t *out,
			 size_t stride, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(((const uint32_t *)out)[i],
				 *(const uint32_t *)(in + i * stride));
}

static void test_vecadd(void **state)
{
	const uint32_t n = 100000;
	struct { uint64_t a, b, c; uint32_t n; } __attribute__((packed)) params;
	struct gpu_bench b;
	uint32_t *x;

	bench_spec(&b);
	bench_open(&b, PTX_HEAD PTX_VECADD, 2 << 20, NULL);
	fill(&b);
	x = (uint32_t *)b.memory;
	params.a = (uintptr_t)x;
	params.b = (uintptr_t)(x + n);
	params.c = (uintptr_t)(x + 2 * n);
	params.n = n;
	memset(x + 2 * n, 0, 4 * n);
	assert_int_equal(bench_launch(&b, "vecadd", DIV_ROUND_UP(n, 256), 256, &params,
				      sizeof(params), NULL), 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(x[2 * n + i], x[i] + x[n + i]);
	/* 1.2 MB of pages, each faulted once. */
	assert_int_equal(bench_stat(&b, "paging.far_faults"), DIV_ROUND_UP(3 * 4 * n, 4096));
	assert_int_equal(bench_stat(&b, "paging.h2d_bytes"),
			 bench_stat(&b, "paging.far_faults") * 4096);
	assert_int_equal(bench_stat(&b, "paging.evicted_pages"), 0);
	assert_int_equal(bench_stat(&b, "memory.global_lines"), 3 * DIV_ROUND_UP(n, 32));
	/*
	 * 391 CTAs of 8 warps, 100000 threads: 3125 warps run all 19 instructions,
	 * the last CTA's other 3 run 8, their branch taken.
	 */
	assert_int_equal(bench_stat(&b, "totals.warp_instructions"), 3125 * 19 + 3 * 8);
	assert_int_equal(bench_stat(&b, "totals.cycles"), bench_stat(&b, "kernels.0.cycles"));
	bench_close(&b);
}

/*
 * A batch of one page that takes 14000 cycles to the nanosecond, and a page on the link 700: with
 * walks of 100 cycles everything that waits is moved by whole periods of the two clocks (25 core
 * cycles are 33 of DRAM's), so that what comes behind takes as long as without the fault.
 */
#define EVEN_NS		19000
#define EVEN_PAGE_NS	1000
#define EVEN_MBPS	4096
#define EVEN_CYCLES	14000u
/* A TLB hit, of the store: one cycle that paging off does not take. */
#define TLB_HIT		1u

static uint64_t gather_cycles(bool paging, bool resident, struct gpu_bench *b)
{
	timed_spec(b);
	b->spec.paging = paging;
	b->spec.service_ns = EVEN_NS;
	b->spec.link_mbps = EVEN_MBPS;
	bench_open(b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
	fill(b);
	if (resident)
		assert_int_equal(gpu_session_prefetch(b->session, (uintptr_t)b->memory, 4096,
						      &b->err), 0);
	/* Both accesses on one page. */
	assert_int_equal(bench_gather(b, (uintptr_t)b->memory, (uintptr_t)b->memory + 2048,
				      4, 1, 32), 0);
	check_gather(b, b->memory, b->memory + 2048, 4, 32);
	return bench_stat(b, "kernels.0.cycles");
}

static void test_one_fault_to_the_cycle(void **state)
{
	struct gpu_bench b;
	uint64_t ideal, near, far;

	ideal = gather_cycles(false, false, &b);
	bench_close(&b);
	/* The page is there: a walk, and a hit. */
	near = gather_cycles(true, true, &b);
	assert_int_equal(near, ideal + 100 + TLB_HIT);
	assert_int_equal(bench_stat(&b, "memory.walks"), 1);
	assert_int_equal(bench_stat(&b, "memory.tlb.hits"), 1);
	assert_int_equal(bench_stat(&b, "kernels.0.stalls.far_fault"), 0);
	bench_close(&b);
	/* It is not: a walk to the fault, the batch, a walk after the replay, then the hit. */
	far = gather_cycles(true, false, &b);
	assert_int_equal(far, ideal + 100 + EVEN_CYCLES + 100 + TLB_HIT);
	assert_int_equal(bench_stat(&b, "paging.far_faults"), 1);
	assert_int_equal(bench_stat(&b, "paging.batches"), 1);
	assert_int_equal(bench_stat(&b, "paging.replays"), 1);
	assert_int_equal(bench_stat(&b, "memory.walks"), 2);
	assert_int_equal(bench_stat(&b, "paging.latency_ns.max"), EVEN_NS + EVEN_PAGE_NS);
	/* The warp's scheduler waits for the fault from the NACK to the page's walk. */
	assert_int_equal(bench_stat(&b, "kernels.0.stalls.far_fault"), EVEN_CYCLES + 100);
	bench_close(&b);
}

/* Each thread counts for ever so long. */
#define PTX_SPIN							\
	".visible .entry spin(.param .u64 n)\n{\n"			\
	".reg .pred %p<2>;\n.reg .b32 %r<3>;\n"				\
	"ld.param.u32 %r1, [n];\nmov.u32 %r2, 0;\n"			\
	"AGAIN:\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra AGAIN;\nret;\n}\n"

static void told(void *ctx, int status, uint64_t fault_addr, const struct err *err,
		 char *output, size_t bytes)
{
	if (status)
		fail_msg("%s", err->text);
	free(output);
}

/* While another SM runs on and on, walks and replays are in the same cycles. */
static void test_a_busy_neighbour_moves_nothing(void **state)
{
	uint64_t gather[3], rounds;
	struct gpu_launch l = {
		.module = 1, .kernel = "gather", .grid = { 1, 1, 1 }, .block = { 32, 1, 1 },
		.params = gather, .param_bytes = sizeof(gather),
	};
	struct gpu_bench b;

	timed_spec(&b);
	b.spec.service_ns = EVEN_NS;
	b.spec.link_mbps = EVEN_MBPS;
	bench_open(&b, PTX_HEAD PTX_GATHER PTX_SPIN, 1 << 20, NULL);
	fill(&b);
	gather[0] = (uintptr_t)b.memory;
	gather[1] = (uintptr_t)b.memory + 2048;
	gather[2] = 4;
	assert_int_equal(gpu_session_submit(b.session, 1, &l, told, NULL), 0);
	rounds = 3000;
	l.kernel = "spin";
	l.params = &rounds;
	l.param_bytes = sizeof(rounds);
	assert_int_equal(gpu_session_submit(b.session, 2, &l, told, NULL), 0);
	gpu_session_finish(b.session);
	check_gather(&b, b.memory, b.memory + 2048, 4, 32);
	assert_true(bench_stat(&b, "kernels.1.cycles") > bench_stat(&b, "kernels.0.cycles"));
	assert_int_equal(bench_stat(&b, "kernels.0.stalls.far_fault"), EVEN_CYCLES + 100);
	bench_close(&b);
}

static void test_faults_wait_while_the_handler_is_busy(void **state)
{
	struct gpu_bench b;

	timed_spec(&b);
	b.spec.sms = 3;
	b.spec.walkers = 1;
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
	fill(&b);
	/* The page of the results is there already. */
	assert_int_equal(gpu_session_prefetch(b.session, (uintptr_t)b.memory, 4096, &b.err), 0);
	/*
	 * Three SMs, one CTA of one lane each, each on a page of its own, but one
	 * walker: the faults are raised 100 apart. The handler takes the first alone;
	 * the two others wait and are the second batch, once the first one's page has walked.
	 */
	assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 4096, (uintptr_t)b.memory,
				      4096, 3, 1), 0);
	check_gather(&b, b.memory + 4096, b.memory, 4096, 3);
	assert_int_equal(bench_stat(&b, "paging.far_faults"), 3);
	assert_int_equal(bench_stat(&b, "paging.batches"), 2);
	assert_int_equal(bench_stat(&b, "paging.replays"), 3);
	/*
	 * The handler is free, and takes the second batch, when the first one's service is over;
	 * the page comes later. The second batch's two are neighbours: they come together, and
	 * walk one behind the other. The 2nd faults 100 behind the 1st, the 3rd 200.
	 */
	assert_int_equal(bench_stat(&b, "kernels.0.stalls.far_fault"),
			 (service_cycles(1) + WALK) +
			 (service_cycles(0) - 100 + service_cycles(2) + WALK) +
			 (service_cycles(0) - 200 + service_cycles(2) + 2 * WALK));
	bench_close(&b);
}

static void test_simultaneous_faults_are_one_batch(void **state)
{
	struct gpu_bench b;

	timed_spec(&b);
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
	fill(&b);
	/*
	 * 15 SMs; the first whose parameters come from memory faults first and alone, the others
	 * while it is served; then all store to one page, merged.
	 */
	assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 4096, (uintptr_t)b.memory,
				      4096, 15, 1), 0);
	check_gather(&b, b.memory + 4096, b.memory, 4096, 15);
	assert_int_equal(bench_stat(&b, "paging.far_faults"), 16);
	assert_int_equal(bench_stat(&b, "paging.batches"), 3);
	bench_close(&b);
}

static void test_batches_are_cut(void **state)
{
	struct gpu_bench b;

	timed_spec(&b);
	b.spec.batch = 4;
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
	fill(&b);
	assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 4096, (uintptr_t)b.memory,
				      4096, 15, 1), 0);
	check_gather(&b, b.memory + 4096, b.memory, 4096, 15);
	/*
	 * 15 loads: one alone, then batches of 4. The first stores fault on one page while
	 * the third is served: they come behind the last 2 loads, so the fifth batch is 2 loads and
	 * the stores' page.
	 */
	assert_int_equal(bench_stat(&b, "paging.far_faults"), 16);
	assert_int_equal(bench_stat(&b, "paging.batches"), 5);
	bench_close(&b);
}

static uint64_t gather_with(uint64_t mshrs, uint64_t vram_pages, uint64_t *nacks)
{
	struct gpu_bench b;
	uint64_t cycles;

	timed_spec(&b);
	b.spec.sms = 1;
	b.spec.far_mshrs = mshrs;
	b.spec.vram_bytes = vram_pages * 4096;
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
	fill(&b);
	assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 4096, (uintptr_t)b.memory,
				      4096, 1, 32), 0);
	check_gather(&b, b.memory + 4096, b.memory, 4096, 32);
	cycles = bench_stat(&b, "kernels.0.cycles");
	*nacks = bench_stat(&b, "paging.nacks");
	bench_close(&b);
	return cycles;
}

static void test_mshrs_limit_what_is_outstanding(void **state)
{
	/*
	 * One warp on 32 pages. M MSHRs: the 32 walks end in the order of the
	 * look-ups, 4 a cycle, and the handler takes what the first cycle brings:
	 * min(M, 4). Without a limit the other 28 are the second batch; the store
	 * is one more.
	 */
	uint64_t nacks, one, two, four, all;

	one = gather_with(1, 1000, &nacks);
	assert_int_equal(nacks, 31);
	two = gather_with(2, 1000, &nacks);
	assert_int_equal(nacks, 30);
	four = gather_with(4, 1000, &nacks);
	assert_int_equal(nacks, 28);
	all = gather_with(0, 1000, &nacks);
	assert_int_equal(nacks, 0);
	assert_true(one > two && two > four && four > all);
	/* 33 batches of one page; 3 batches: 4 pages, 28 and the store's. */
	assert_true(one > 33 * service_cycles(1));
	assert_true(all < 3 * service_cycles(32));
}

static void test_one_frame_is_enough(void **state)
{
	uint64_t nacks;

	/* 32 pages and the result's page through one frame, whatever the MSHRs. */
	for (uint64_t mshrs = 0; mshrs <= 4; mshrs++)
		gather_with(mshrs, 1, &nacks);
}

static void test_two_sms_share_one_frame(void **state)
{
	struct gpu_bench b;

	/* Each needs a page the other evicts, and a service that takes no time at all. */
	for (uint64_t ns = 0; ns <= 20000; ns += 20000) {
		bench_spec(&b);
		b.spec.vram_bytes = 4096;
		b.spec.service_ns = ns;
		b.spec.link_mbps = 10000000;
		bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
		fill(&b);
		assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 8192,
					      (uintptr_t)b.memory, 64, 15, 64), 0);
		check_gather(&b, b.memory + 8192, b.memory, 64, 15 * 64);
		bench_close(&b);
	}
}

static char *json_of_a_run(uint64_t seed, const char *evict)
{
	struct gpu_bench b;
	char *text;

	bench_spec(&b);
	b.spec.seed = seed;
	b.spec.vram_bytes = 150 * 4096;
	strcpy(b.spec.evict, evict);
	strcpy(b.spec.scheduler, "gto");
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
	fill(&b);
	assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 65536, (uintptr_t)b.memory,
				      512, 12, 128), 0);
	check_gather(&b, b.memory + 65536, b.memory, 512, 12 * 128);
	/* Again: what is still there depends on who was evicted. */
	assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 65536, (uintptr_t)b.memory,
				      512, 12, 128), 0);
	check_gather(&b, b.memory + 65536, b.memory, 512, 12 * 128);
	text = gpu_session_statistics(b.session);
	bench_close(&b);
	return text;
}

static void test_the_same_run_is_the_same_bytes(void **state)
{
	char *a = json_of_a_run(1, "random"), *b = json_of_a_run(1, "random");
	char *c = json_of_a_run(2, "random");

	assert_string_equal(a, b);
	/* And it is not because nothing depends on anything. */
	assert_string_not_equal(a, c);
	free(a);
	free(b);
	free(c);
}

static void test_unmanaged_access_is_named_and_survived(void **state)
{
	uint64_t params[3], fault = 0;
	struct gpu_bench b;

	bench_spec(&b);
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
	fill(&b);
	/* Lane 5 of the second warp of CTA (1,0,0) is the first that leaves the range. */
	params[0] = (uintptr_t)b.memory + b.bytes - (64 + 37) * 8;
	params[1] = (uintptr_t)b.memory;
	params[2] = 8;
	assert_int_equal(bench_launch(&b, "gather", 2, 64, params, sizeof(params), &fault),
			 -EFAULT);
	assert_int_equal(fault, (uintptr_t)b.memory + b.bytes);
	assert_non_null(strstr(b.err.text, "gather"));
	assert_non_null(strstr(b.err.text, "0x200000100000"));
	assert_non_null(strstr(b.err.text, "line 20"));
	assert_non_null(strstr(b.err.text, "thread (37,0,0)"));
	assert_non_null(strstr(b.err.text, "CTA (1,0,0)"));
	assert_non_null(strstr(b.err.text, "4-byte load"));
	/* When all SMs are on one bad page, the lowest address is named. */
	params[0] = (uintptr_t)b.memory + b.bytes;
	params[2] = 4;
	assert_int_equal(bench_launch(&b, "gather", 15, 32, params, sizeof(params), &fault),
			 -EFAULT);
	assert_int_equal(fault, params[0]);
	assert_non_null(strstr(b.err.text, "thread (0,0,0) of CTA (0,0,0)"));
	/* The session goes on. */
	assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 4096, (uintptr_t)b.memory,
				      64, 2, 64), 0);
	check_gather(&b, b.memory + 4096, b.memory, 64, 128);
	bench_close(&b);
}

static void test_misaligned_access(void **state)
{
	uint64_t params[3], fault = 0;
	struct gpu_bench b;
	char thread[64];

	bench_spec(&b);
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
	fill(&b);
	params[0] = (uintptr_t)b.memory + 4098;
	params[1] = (uintptr_t)b.memory;
	params[2] = 4;
	assert_int_equal(bench_launch(&b, "gather", 15, 32, params, sizeof(params), &fault),
			 -EFAULT);
	/* The CTA that came to it first, its first thread; which one, the parameters' way decides. */
	assert_true(fault >= params[0] && fault < params[0] + 15 * 128);
	snprintf(thread, sizeof(thread), "thread (0,0,0) of CTA (%u,0,0)",
		 (unsigned int)((fault - params[0]) / 128));
	assert_int_equal((fault - params[0]) % 128, 0);
	assert_non_null(strstr(b.err.text, "gather"));
	assert_non_null(strstr(b.err.text, "misaligned"));
	assert_non_null(strstr(b.err.text, thread));
	assert_non_null(strstr(b.err.text, "line 20"));
	/* What other SMs had under way is gone with it. */
	assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 4096, (uintptr_t)b.memory,
				      4, 16, 64), 0);
	check_gather(&b, b.memory + 4096, b.memory, 4, 1024);
	bench_close(&b);
}

static void test_paging_off_is_free(void **state)
{
	uint64_t params[3], fault = 0;
	struct gpu_bench b;
	char *text;

	bench_spec(&b);
	b.spec.paging = 0;
	/* Less device memory than the kernel touches: no matter. */
	b.spec.vram_bytes = 4 * 4096;
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
	fill(&b);
	assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 4096, (uintptr_t)b.memory,
				      4096, 1, 32), 0);
	check_gather(&b, b.memory + 4096, b.memory, 4096, 32);
	/* No walk, and no batch: one alone is 14000 cycles. */
	assert_int_equal(bench_stat(&b, "memory.walks"), 0);
	assert_true(bench_stat(&b, "kernels.0.cycles") < 3000);
	text = gpu_session_statistics(b.session);
	assert_null(strstr(text, "\"paging\""));
	free(text);
	/* An access outside is still one. */
	params[0] = (uintptr_t)b.memory + b.bytes - 16;
	params[1] = (uintptr_t)b.memory;
	params[2] = 4;
	assert_int_equal(bench_launch(&b, "gather", 1, 32, params, sizeof(params), &fault),
			 -EFAULT);
	assert_int_equal(fault, (uintptr_t)b.memory + b.bytes);
	assert_non_null(strstr(b.err.text, "thread (4,0,0)"));
	bench_close(&b);
}

static void test_pages_in_flight_are_not_there_yet(void **state)
{
	struct gpu_bench b;

	/*
	 * The first page's fault brings the next 16 along. Three other SMs look for
	 * those while the handler is busy, walking one by one: were the pages visible
	 * before they come, they would hit. So they fault too, and are the second batch, which
	 * has nothing to bring. They go on when the prefetch has come, before its service is over.
	 */
	timed_spec(&b);
	b.spec.walkers = 1;
	strcpy(b.spec.prefetch, "sequential");
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
	fill(&b);
	assert_int_equal(gpu_session_prefetch(b.session, (uintptr_t)b.memory, 4096, &b.err), 0);
	assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 65536, (uintptr_t)b.memory,
				      4096, 4, 1), 0);
	check_gather(&b, b.memory + 65536, b.memory, 4096, 4);
	assert_int_equal(bench_stat(&b, "paging.far_faults"), 4);
	assert_int_equal(bench_stat(&b, "paging.inflight_faults"), 3);
	assert_int_equal(bench_stat(&b, "paging.prefetch.late_pages"), 3);
	assert_int_equal(bench_stat(&b, "paging.batches"), 2);
	assert_int_equal(bench_stat(&b, "paging.replays"), 4);
	/* Three of the 16, and the page of the results. */
	assert_int_equal(bench_stat(&b, "paging.prefetched_pages"), 17);
	assert_int_equal(bench_stat(&b, "paging.prefetch_used_pages"), 4);
	/* Three of the four were late and so are among the far faults: one page of five. */
	bench_ratio(&b, "paging.prefetch.coverage", 1.0 / 5);
	bench_ratio(&b, "paging.prefetch.timeliness", 1.0 / 4);
	bench_ratio(&b, "paging.prefetch.accuracy", 4.0 / 17);
	/* Each faults 100 after the one before, and walks again 100 after the one before. */
	assert_int_equal(bench_stat(&b, "kernels.0.stalls.far_fault"),
			 (service_cycles(1) + WALK) + 3 * service_cycles(17));
	bench_close(&b);
}

/* --- a service that interferes ------------------------------------------- */

struct meddler {
	struct service service;
	struct service_ops ops;
	struct service *sim;
	unsigned int polls, every;	/* takes the page away at every n-th poll */
	unsigned int taken;
	uint64_t page;
	unsigned int cancel_at, lose_at;
	unsigned int pinned;		/* serves in which nothing moves */
	int refusal;			/* and why */
};
static struct meddler meddler;

static int take_page(void *ctx, struct service_batch *batch)
{
	batch->plan->migrations[0] = (struct migration){
		.addr = meddler.page, .va_space = VA_SPACE, .pages = 1, .op = MIGRATE_D2H,
	};
	batch->plan->count = 1;
	return 0;
}

static int meddler_poll(struct service *s,
			void (*invalidate)(void *ctx, const struct service_invalidate *i),
			void *ctx)
{
	static struct plan plan;
	struct service *sim = meddler.sim;
	struct fault none[1];
	struct service_batch batch = { .faults = none, .decide = take_page, .plan = &plan };

	meddler.polls++;
	if (meddler.cancel_at && meddler.polls == meddler.cancel_at)
		return -ECANCELED;
	if (meddler.lose_at && meddler.polls == meddler.lose_at)
		return -ENODEV;
	if (meddler.every && meddler.polls % meddler.every == 0 &&
	    sim->ops->walk(sim, VA_SPACE, meddler.page)) {
		sim->ops->serve(sim, &batch);
		meddler.taken++;
	}
	return sim->ops->poll(sim, invalidate, ctx);
}

static int meddler_serve(struct service *s, struct service_batch *batch)
{
	int ret;

	if (!meddler.pinned)
		return meddler.sim->ops->serve(meddler.sim, batch);
	meddler.pinned--;
	batch->plan->count = 0;
	ret = batch->decide(batch->ctx, batch);
	for (unsigned int i = 0; i < batch->plan->count; i++)
		batch->plan->migrations[i].status = meddler.refusal;
	batch->cost = (struct service_cost){ .total = 1000, .unmap = 1000 };
	return ret;
}

static void *meddler_walk(struct service *s, uint32_t va_space, uint64_t addr)
{
	return meddler.sim->ops->walk(meddler.sim, va_space, addr);
}

static uint64_t meddler_frames(struct service *s)
{
	return meddler.sim->ops->frames(meddler.sim);
}

static void meddler_resident(struct service *s,
			     void (*fn)(void *ctx, uint32_t va_space, uint64_t addr), void *ctx)
{
	meddler.sim->ops->resident(meddler.sim, fn, ctx);
}

static void meddler_managed(struct service *s, uint32_t va_space, struct addr_ranges *to)
{
	meddler.sim->ops->managed(meddler.sim, va_space, to);
}

static void meddler_reachable(struct service *s, uint32_t va_space, struct addr_ranges *to)
{
	meddler.sim->ops->reachable(meddler.sim, va_space, to);
}

static struct service *meddle(struct service *sim)
{
	meddler.sim = sim;
	meddler.ops = *sim->ops;
	meddler.ops.poll = meddler_poll;
	meddler.ops.serve = meddler_serve;
	meddler.ops.walk = meddler_walk;
	meddler.ops.entry = NULL;
	meddler.ops.frames = meddler_frames;
	meddler.ops.resident = meddler_resident;
	meddler.ops.managed = meddler_managed;
	meddler.ops.reachable = meddler_reachable;
	meddler.service.ops = &meddler.ops;
	return &meddler.service;
}

/* Sums one word 2000 times. */
#define PTX_LOOP							\
	".visible .entry loop(.param .u64 p)\n{\n"			\
	".reg .pred %p<2>;\n.reg .b32 %r<6>;\n.reg .b64 %rd<3>;\n"	\
	"ld.param.u64 %rd1, [p];\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\n"	\
	"AGAIN:\nld.volatile.global.u32 %r3, [%rd1];\n"			\
	"add.s32 %r1, %r1, %r3;\nadd.s32 %r2, %r2, 1;\n"		\
	"setp.lt.u32 %p1, %r2, 2000;\n@%p1 bra AGAIN;\n"		\
	"st.global.u32 [%rd1+4], %r1;\nret;\n}\n"

static void test_a_page_taken_away_comes_back(void **state)
{
	struct gpu_bench b;
	uint64_t p;

	memset(&meddler, 0, sizeof(meddler));
	bench_spec(&b);
	bench_open(&b, PTX_HEAD PTX_LOOP, 1 << 20, meddle);
	p = (uintptr_t)b.memory;
	((uint32_t *)b.memory)[0] = 3;
	meddler.page = p;
	meddler.every = 500;
	assert_int_equal(bench_launch(&b, "loop", 1, 1, &p, 8, NULL), 0);
	assert_int_equal(((uint32_t *)b.memory)[1], 6000);
	assert_true(meddler.taken > 5);
	/* Each time a fault, except when the kernel had ended. */
	assert_in_range(bench_stat(&b, "paging.far_faults"), meddler.taken,
			meddler.taken + 1);
	bench_close(&b);
}

static void test_cancelled_and_lost(void **state)
{
	struct gpu_bench b;
	uint64_t p;

	memset(&meddler, 0, sizeof(meddler));
	bench_spec(&b);
	bench_open(&b, PTX_HEAD PTX_LOOP, 1 << 20, meddle);
	p = (uintptr_t)b.memory;
	((uint32_t *)b.memory)[0] = 3;
	meddler.cancel_at = 100;
	assert_int_equal(bench_launch(&b, "loop", 1, 1, &p, 8, NULL), -ECANCELED);
	assert_non_null(strstr(b.err.text, "loop"));
	/* Between works a client that went is nobody's error. */
	meddler.cancel_at = meddler.polls + 1;
	assert_int_equal(gpu_poll(b.gpu), 0);
	assert_int_equal(bench_launch(&b, "loop", 1, 1, &p, 8, NULL), 0);
	assert_int_equal(((uint32_t *)b.memory)[1], 6000);
	meddler.lose_at = meddler.polls + 50;
	assert_int_equal(bench_launch(&b, "loop", 1, 1, &p, 8, NULL), -ENODEV);
	bench_close(&b);
}

static void test_a_pinned_page(void **state)
{
	struct gpu_bench b;
	uint64_t p, fault = 0;

	memset(&meddler, 0, sizeof(meddler));
	bench_spec(&b);
	bench_open(&b, PTX_HEAD PTX_LOOP, 1 << 20, meddle);
	p = (uintptr_t)b.memory + 4096;
	((uint32_t *)b.memory)[1024] = 3;
	/* For a while: the kernel waits. */
	meddler.refusal = -EBUSY;
	meddler.pinned = 100;
	assert_int_equal(bench_launch(&b, "loop", 1, 1, &p, 8, NULL), 0);
	assert_int_equal(((uint32_t *)b.memory)[1025], 6000);
	assert_int_equal(bench_stat(&b, "paging.batches"), 101);
	/* For ever: it ends, and says why. */
	p += 4096;
	meddler.pinned = UINT32_MAX;
	assert_int_equal(bench_launch(&b, "loop", 1, 1, &p, 8, &fault), -EBUSY);
	assert_int_equal(fault, p);
	assert_non_null(strstr(b.err.text, "cannot be moved"));
	bench_close(&b);
}

/* What another task works on comes in the end: no number of tries is too many. */
static void test_a_page_that_is_worked_on(void **state)
{
	/* A pinned page may have 4096. */
	const unsigned int tries = 12000;
	struct gpu_bench b;
	uint64_t p;

	memset(&meddler, 0, sizeof(meddler));
	bench_spec(&b);
	bench_open(&b, PTX_HEAD PTX_LOOP, 1 << 20, meddle);
	p = (uintptr_t)b.memory + 4096;
	((uint32_t *)b.memory)[1024] = 3;
	meddler.refusal = -EAGAIN;
	meddler.pinned = tries;
	assert_int_equal(bench_launch(&b, "loop", 1, 1, &p, 8, NULL), 0);
	assert_int_equal(((uint32_t *)b.memory)[1025], 6000);
	assert_int_equal(bench_stat(&b, "paging.batches"), tries + 1);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vecadd),
		cmocka_unit_test(test_one_fault_to_the_cycle),
		cmocka_unit_test(test_a_busy_neighbour_moves_nothing),
		cmocka_unit_test(test_faults_wait_while_the_handler_is_busy),
		cmocka_unit_test(test_simultaneous_faults_are_one_batch),
		cmocka_unit_test(test_batches_are_cut),
		cmocka_unit_test(test_mshrs_limit_what_is_outstanding),
		cmocka_unit_test(test_one_frame_is_enough),
		cmocka_unit_test(test_two_sms_share_one_frame),
		cmocka_unit_test(test_the_same_run_is_the_same_bytes),
		cmocka_unit_test(test_unmanaged_access_is_named_and_survived),
		cmocka_unit_test(test_misaligned_access),
		cmocka_unit_test(test_paging_off_is_free),
		cmocka_unit_test(test_pages_in_flight_are_not_there_yet),
		cmocka_unit_test(test_a_page_taken_away_comes_back),
		cmocka_unit_test(test_cancelled_and_lost),
		cmocka_unit_test(test_a_pinned_page),
		cmocka_unit_test(test_a_page_that_is_worked_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
