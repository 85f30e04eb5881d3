// SPDX-License-Identifier: GPL-2.0
/*
 * Background traffic beside the load/store unit, derived by hand: shared memory's idle
 * cycles, the crossbar's port behind the program's requests, L1D. The SM's cycle is done here:
 * the unit's, then the background's in the cycles that it asks for.
 */
#include "ldst_bench.h"
#include "sm/background.h"

#define STRIDED	bench_strided
#define OWN	mem_background(0)

static void step_to(uint64_t upto)
{
	struct bench *b = &bench;
	uint64_t next = 0;

	for (; b->now < upto; b->now++) {
		bench_step(&next);
		if (b->sm.background && background_next(&b->sm, b->now - 1) <= b->now)
			background_cycle(&b->sm, b->now);
	}
	ldst_settle(&b->sm, upto);
}

/* In which cycle the job was told that it is done. */
static void done(void *ctx, struct sm *sm, uint64_t now)
{
	uint64_t *when = ctx;

	assert_int_equal(*when, 0);
	*when = now;
}

static void move(struct background_job job, uint64_t *when)
{
	*when = 0;
	job.done = done;
	job.ctx = when;
	assert_int_equal(background_move(&bench.sm, &job), 0);
}

static void finish(void)
{
	assert_true(background_idle(&bench.sm));
	assert_int_equal(background_next(&bench.sm, bench.now), NEVER);
	assert_true(ldst_idle(&bench.sm));
	background_fini(&bench.sm);
	bench_end();
}

static const struct background_counters *counters(void)
{
	return &bench.sm.account.stats.background;
}

/* --- shared memory ------------------------------------------------------------------------- */

static void test_shared_alone(void **state)
{
	uint64_t when[3];

	bench_create();
	bench_start();
	/* 1000 bytes, 64 a cycle: 16 cycles, 10 to 25. Behind them 1000, 128 a cycle: 8. */
	move((struct background_job){ .way = BACKGROUND_SHARED, .from = 10, .bytes = 1000,
				      .width = 64 }, &when[0]);
	move((struct background_job){ .way = BACKGROUND_SHARED, .from = 5, .bytes = 1000 },
	     &when[1]);
	move((struct background_job){ .way = BACKGROUND_SHARED, .from = 100, .bytes = 1 },
	     &when[2]);
	step_to(200);
	assert_int_equal(when[0], 25);
	assert_int_equal(when[1], 33);
	assert_int_equal(when[2], 100);
	assert_int_equal(counters()->jobs, 3);
	assert_int_equal(counters()->bytes, 2001);
	assert_int_equal(counters()->shared_bytes, 2001);
	assert_int_equal(counters()->shared_cycles, 16 + 8 + 1);
	assert_int_equal(counters()->shared_waits, 0);
	finish();
}

/* When each of a few instructions left the unit; some are at the banks, some are not. */
static void demand(uint64_t when[8])
{
	struct bench_op *ops[4];

	ops[0] = STRIDED(12, 0, PTX_SPACE_SHARED, MEM_READ, 4, 0, 16);	/* 4 cycles: 13 to 16 */
	ops[1] = STRIDED(20, 1, PTX_SPACE_SHARED, MEM_WRITE, 4, 0, 8);	/* 2 cycles: 21, 22 */
	ops[2] = LOAD(24, 2, 0);
	ops[3] = STRIDED(40, 3, PTX_SPACE_SHARED, MEM_READ, 4, 0, 4);	/* 41 */
	step_to(400);
	for (unsigned int i = 0; i < 4; i++) {
		when[2 * i] = ops[i]->left;
		when[2 * i + 1] = ops[i]->done;
		assert_true(ops[i]->done);
	}
}

static void test_shared_behind_demand(void **state)
{
	uint64_t alone[8], beside[8], first, second;

	bench_create();
	bench_start();
	demand(alone);
	bench_end();

	bench_create();
	bench_start();
	/* 10 cycles: 10 to 12, 17 to 20, 23 to 25. Then 20: 26 to 40, 42 to 46. */
	move((struct background_job){ .way = BACKGROUND_SHARED, .from = 10, .bytes = 1280 },
	     &first);
	move((struct background_job){ .way = BACKGROUND_SHARED, .bytes = 2560 }, &second);
	demand(beside);
	assert_int_equal(first, 25);
	assert_int_equal(second, 46);
	assert_int_equal(counters()->shared_cycles, 30);
	assert_int_equal(counters()->shared_waits, 4 + 2 + 1);
	assert_memory_equal(alone, beside, sizeof(alone));
	finish();
}

/* Asked for while an instruction is at the banks: it waits for the rest of its cycles. */
static void test_asked_for_late(void **state)
{
	uint64_t first, second;

	bench_create();
	bench_start();
	move((struct background_job){ .way = BACKGROUND_SHARED, .from = 2, .bytes = 1 }, &first);
	STRIDED(12, 0, PTX_SPACE_SHARED, MEM_READ, 4, 0, 64);	/* 16 cycles: 13 to 28 */
	step_to(20);
	move((struct background_job){ .way = BACKGROUND_SHARED, .bytes = 256 }, &second);
	step_to(100);
	assert_int_equal(first, 2);
	assert_int_equal(second, 30);
	finish();
}

/* --- memory ---------------------------------------------------------------------------------- */

static void test_past_l1(void **state)
{
	static const uint32_t bytes[] = { 32, 64, 128, 64, 32 };
	uint64_t when;

	bench_create();
	bench_start();
	/* From the middle of a line: 32, 64, a line, 64, 32; one a cycle from 10 on. */
	move((struct background_job){ .way = BACKGROUND_L2, .kind = MEM_WRITE, .from = 10,
				      .addr = OWN + 32, .bytes = 320, .kernel = 3 }, &when);
	step_to(400);
	assert_int_equal(bench.nrequests, 5);
	for (unsigned int i = 0; i < 5; i++) {
		const struct mem_request *r = &bench.requests[i].r;

		assert_int_equal(bench.requests[i].sent, 10 + i);
		assert_int_equal(r->bytes, bytes[i]);
		assert_int_equal(r->kind, MEM_WRITE);
		assert_int_equal(r->cls, MEM_BACKGROUND);
		assert_int_equal(r->kernel, 3);
		assert_int_equal(r->addr % r->bytes, 0);
		assert_int_equal(r->byte_mask[0], UINT32_MAX);
	}
	/* The first sector's answer in 110, of ten in all, one a cycle. */
	assert_int_equal(when, 119);
	assert_int_equal(counters()->memory_waits, 0);
	assert_int_equal(counters()->sectors[1], 10);
	assert_int_equal(counters()->sectors[0], 0);
	finish();
}

/* A job's turn comes when the one before it has been sent: until then it waits for nobody. */
static void test_jobs_in_a_row(void **state)
{
	uint64_t when[2];

	bench_create();
	bench_start();
	for (unsigned int i = 0; i < 2; i++)
		move((struct background_job){ .way = BACKGROUND_L2, .kind = MEM_WRITE, .from = 10,
					      .addr = OWN + 1024 * i, .bytes = 512 }, &when[i]);
	step_to(400);
	assert_int_equal(bench.nrequests, 8);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(bench.requests[i].sent, 10 + i);
	assert_int_equal(counters()->memory_waits, 0);
	finish();
}

/* What the program has on its way goes first, also where memory would take what is smaller. */
static void test_memory_behind_demand(void **state)
{
	uint64_t when;

	bench_create();
	bench_start();
	bench.no_writes = true;
	move((struct background_job){ .way = BACKGROUND_L2, .kind = MEM_READ, .from = 100,
				      .addr = OWN, .bytes = 256 }, &when);
	for (unsigned int i = 0; i < 3; i++)
		STORE(1, i, 4096 + 128 * i);
	step_to(200);
	assert_int_equal(bench.nrequests, 0);
	bench.no_writes = false;
	step_to(1000);
	assert_int_equal(bench.nrequests, 5);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(bench.requests[i].r.cls, MEM_GLOBAL);
	assert_int_equal(bench.requests[3].r.cls, MEM_BACKGROUND);
	assert_int_equal(bench.requests[4].r.cls, MEM_BACKGROUND);
	assert_true(bench.requests[3].sent > bench.requests[2].sent);
	/* It could have been sent in 100 and in the cycle behind the first. */
	assert_int_equal(counters()->memory_waits, bench.requests[4].sent - 101);
	assert_true(when >= bench.requests[4].sent + bench.latency);
	finish();
}

static void test_through_l1(void **state)
{
	uint64_t when;

	bench_create();
	bench_start();
	/* Two lines, fetched whole. */
	move((struct background_job){ .way = BACKGROUND_L1, .kind = MEM_READ, .from = 10,
				      .addr = OWN, .bytes = 160 }, &when);
	step_to(400);
	assert_int_equal(bench.nrequests, 2);
	assert_int_equal(bench.requests[0].r.cls, MEM_BACKGROUND);
	assert_int_equal(bench.requests[0].r.bytes, MEM_LINE);
	assert_int_equal(counters()->l1_misses, 2);
	assert_int_equal(counters()->l1_hits, 0);
	assert_int_equal(counters()->sectors[0], 8);
	/* 4 sectors a line, in 111 to 114 and 115 to 118: looked up in 10 and 11, sent a cycle later. */
	assert_int_equal(when, 118);
	/* They are there now, also for what is written; a line a cycle. */
	move((struct background_job){ .way = BACKGROUND_L1, .kind = MEM_READ, .from = 500,
				      .addr = OWN, .bytes = 160 }, &when);
	step_to(600);
	assert_int_equal(when, 501);
	move((struct background_job){ .way = BACKGROUND_L1, .kind = MEM_WRITE, .from = 700,
				      .addr = OWN + 96, .bytes = 64 }, &when);
	step_to(800);
	assert_int_equal(when, 701);
	assert_int_equal(bench.nrequests, 2);
	assert_int_equal(counters()->l1_hits, 4);
	/* A write that misses goes on. */
	move((struct background_job){ .way = BACKGROUND_L1, .kind = MEM_WRITE, .from = 900,
				      .addr = OWN + 4096, .bytes = 64 }, &when);
	step_to(1100);
	assert_int_equal(bench.nrequests, 3);
	assert_int_equal(bench.requests[2].r.bytes, 64);
	assert_int_equal(counters()->l1_misses, 3);
	assert_int_equal(counters()->sectors[1], 2);
	assert_true(when >= 1000);
	/* None of it is the program's. */
	assert_int_equal(bench.sm.account.stats.l1d.reads + bench.sm.account.stats.l1d.writes, 0);
	finish();
}

/* A dirty line of a job that the program's load pushes out goes back as the job's class. */
static void test_pushed_out(void **state)
{
	unsigned int back = 0;
	uint64_t when;

	bench_create();
	bench.spec.l1d_sets = 1;
	bench.spec.l1d_ways = 1;
	bench_start();
	move((struct background_job){ .way = BACKGROUND_L1, .kind = MEM_READ, .from = 10,
				      .addr = OWN, .bytes = 128 }, &when);
	step_to(300);
	move((struct background_job){ .way = BACKGROUND_L1, .kind = MEM_WRITE, .from = 310,
				      .addr = OWN, .bytes = 128 }, &when);
	LOAD(400, 0, 0);
	step_to(1000);
	for (unsigned int i = 0; i < bench.nrequests; i++)
		if (bench.requests[i].r.tag == TAG_NOBODY) {
			assert_int_equal(bench.requests[i].r.cls, MEM_BACKGROUND);
			assert_int_equal(bench.requests[i].r.addr, OWN);
			back++;
		}
	assert_int_equal(back, 1);
	finish();
}

/* --- many ----------------------------------------------------------------------------------------- */

#define MANY	100u

/* Each is told once, in order by way. The callback that is told asks for more. */
static unsigned int told;

static void again(void *ctx, struct sm *sm, uint64_t now)
{
	struct background_job *job = ctx;

	told++;
	job->done = done;
	job->ctx = job + 1;		/* the word behind it */
	*(uint64_t *)(job + 1) = 0;
	assert_int_equal(background_move(sm, job), 0);
}

static void test_many(void **state)
{
	struct {
		struct background_job job;
		uint64_t when;
	} many[MANY];
	uint64_t bytes = 0, last = 0;

	bench_create();
	bench_start();
	told = 0;
	for (unsigned int i = 0; i < MANY; i++) {
		many[i].job = (struct background_job){
			.way = (uint8_t)(i % 3), .kind = i % 2 ? MEM_READ : MEM_WRITE,
			.addr = OWN + 128 * i, .bytes = 32 * (1 + i % 9), .done = again,
			.ctx = &many[i].job,
		};
		bytes += many[i].job.bytes;
		assert_int_equal(background_move(&bench.sm, &many[i].job), 0);
	}
	for (unsigned int i = 0; i < 30; i++)
		STRIDED(10 + 5 * i, i % 8, i % 3 ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL, MEM_READ, 4,
			i % 3 ? 0 : PAGE(0) + 128 * i, 4 * (1 + i % 4));
	step_to(20000);
	assert_int_equal(told, MANY);
	for (unsigned int i = 0; i < MANY; i++) {
		assert_true(many[i].when);
		if (i % 3)
			continue;
		assert_true(many[i].when > last);
		last = many[i].when;
	}
	assert_int_equal(counters()->jobs, 2 * MANY);
	assert_int_equal(counters()->bytes, 2 * bytes);
	finish();
}

static void test_cancelled(void **state)
{
	uint64_t when[3];

	bench_create();
	bench_start();
	for (unsigned int way = 0; way < 3; way++)
		move((struct background_job){ .way = (uint8_t)way, .kind = MEM_READ, .from = 10,
					      .addr = OWN, .bytes = 4096 }, &when[way]);
	step_to(30);
	assert_false(background_idle(&bench.sm));
	background_cancel(&bench.sm);
	ldst_cancel(&bench.sm);
	assert_true(background_idle(&bench.sm));
	bench.next_reply = bench.nrequests;
	step_to(500);
	assert_int_equal(when[0] + when[1] + when[2], 0);
	move((struct background_job){ .way = BACKGROUND_SHARED, .from = 600, .bytes = 128 },
	     &when[0]);
	step_to(700);
	assert_int_equal(when[0], 600);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_alone),
		cmocka_unit_test(test_shared_behind_demand),
		cmocka_unit_test(test_asked_for_late),
		cmocka_unit_test(test_past_l1),
		cmocka_unit_test(test_jobs_in_a_row),
		cmocka_unit_test(test_memory_behind_demand),
		cmocka_unit_test(test_through_l1),
		cmocka_unit_test(test_pushed_out),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
