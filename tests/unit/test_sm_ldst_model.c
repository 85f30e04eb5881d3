// SPDX-License-Identifier: GPL-2.0
/*
 * The load/store unit against the machine written out: pipeline registers that
 * shift, a latency queue that shifts, everything tried in every cycle. Random
 * instructions, memory latencies, credits and bank conflicts; every instruction leaves and is
 * released in the same cycle in both, and the counters are the same. The unit runs only
 * in the cycles that it asks for.
 */
#include "ldst_bench.h"

#define PIPE	26
#define QUEUE	35
#define FIFO	2
#define MISSES	8
#define CONSTS	4

static uint64_t seed;

static uint64_t mix(uint64_t x)
{
	x = (x + seed) * 0x9e3779b97f4a7c15ull;
	x ^= x >> 31;
	x *= 0xbf58476d1ce4e5b9ull;
	return x ^ x >> 29;
}

/* What both see of the world, by cycle or address. */
static unsigned int credit_1_in, bank_1_in, latency_max;

static bool credit_at(uint64_t now)
{
	return credit_1_in <= 1 || mix(now * 2) % credit_1_in == 0;
}

static bool bank_taken_at(uint64_t now)
{
	return bank_1_in && mix(now * 2 + 1) % bank_1_in == 0;
}

static uint64_t latency_of(unsigned int request)
{
	return 1 + mix(1000000 + request) % latency_max;
}

/* --- the machine, written out ---------------------------------------------------------- */

struct plain_queue {
	struct mem_request at[16];
	unsigned int count;
};

struct plain_list {
	uint32_t at[MAX_BENCH];
	unsigned int head, tail;
};

static struct plain {
	unsigned int issued;
	int inst;
	unsigned int line, delay;
	int pipe[PIPE];
	struct { int inst; unsigned int line; } queue[QUEUE];
	struct cache *l1d, *l1c;
	struct plain_queue l1d_queue, l1c_queue;
	struct plain_list l1d_ready, l1c_ready;
	struct { struct mem_request r; uint64_t sent; unsigned int answered, filled; } *requests;
	unsigned int nrequests, next_reply;
	unsigned int fifo[FIFO], fifo_count;	/* requests */
	int direct, port;
	unsigned int arbiter;
	bool no_mshr;
	uint64_t hold;
	unsigned int *left;
	struct mem_line (*lines)[64];
	unsigned int *nlines;
	uint64_t *released, *gone;
	uint64_t l1d_fails, l1c_fails, finished;
} p;

static void plain_answered(int inst, uint64_t now)
{
	if (--p.left[inst])
		return;
	p.released[inst] = now;
}

static void plain_writeback(uint64_t now)
{
	if (p.port >= 0 && !bank_taken_at(now)) {
		plain_answered(p.port, now);
		p.port = -1;
	}
	for (unsigned int c = 0; p.port < 0 && c < 5; c++) {
		unsigned int client = (p.arbiter + c) % 5;

		if (client == 0 && p.pipe[0] >= 0) {
			p.port = p.pipe[0];
			p.pipe[0] = -1;
		} else if (client == 2 && p.l1c_ready.head != p.l1c_ready.tail) {
			p.port = (int)p.l1c_ready.at[p.l1c_ready.head++];
		} else if (client == 3 && p.direct >= 0) {
			p.port = p.direct;
			p.direct = -1;
		} else if (client == 4 && p.l1d_ready.head != p.l1d_ready.tail) {
			p.port = (int)p.l1d_ready.at[p.l1d_ready.head++];
		}
		if (p.port >= 0)
			p.arbiter = (client + 1) % 5;
	}
	for (unsigned int s = 0; s + 1 < PIPE; s++) {
		if (p.pipe[s] < 0) {
			p.pipe[s] = p.pipe[s + 1];
			p.pipe[s + 1] = -1;
		}
	}
}

static void plain_respond(uint64_t now)
{
	struct mem_request *r;
	uint32_t waiters[64];
	unsigned int n = 0;

	if (!p.fifo_count)
		return;
	r = &p.requests[p.fifo[0]].r;
	if (r->kind == MEM_ATOMIC) {
		if (p.direct >= 0)
			return;
		p.direct = (int)r->tag;
	} else if (r->kind == MEM_READ && ++p.requests[p.fifo[0]].filled == r->bytes / MEM_SECTOR) {
		struct plain_list *ready = r->cls == MEM_CONST ? &p.l1c_ready : &p.l1d_ready;

		n = cache_fill(r->cls == MEM_CONST ? p.l1c : p.l1d, r->addr, waiters);
		for (unsigned int i = 0; i < n; i++)
			ready->at[ready->tail++] = waiters[i];
		if (r->cls != MEM_CONST && p.no_mshr)
			p.hold = now + n;
	}
	p.fifo[0] = p.fifo[1];
	p.fifo_count--;
}

static void plain_to_memory(const struct mem_request *r, uint64_t now)
{
	p.requests[p.nrequests].r = *r;
	p.requests[p.nrequests++].sent = now;
}

static void plain_send(struct plain_queue *q, uint64_t now)
{
	if (!q->count || !credit_at(now))
		return;
	plain_to_memory(&q->at[0], now);
	memmove(&q->at[0], &q->at[1], --q->count * sizeof(q->at[0]));
}

static struct mem_request request_of(int inst, unsigned int line)
{
	const struct bench_op *op = &bench.ops[inst];

	return (struct mem_request){
		.addr = mem_device(p.lines[inst][line].addr), .bytes = p.lines[inst][line].bytes,
		.kind = op->op.atomic ? MEM_ATOMIC : op->op.store ? MEM_WRITE : MEM_READ,
		.cls = MEM_GLOBAL, .tag = (uint32_t)inst,
	};
}

static void plain_l1d(uint64_t now)
{
	enum cache_outcome outcome;
	struct mem_request r;

	if (p.queue[0].inst >= 0) {
		r = request_of(p.queue[0].inst, p.queue[0].line);
		if (r.kind == MEM_WRITE) {
			outcome = p.l1d_queue.count < MISSES ? cache_write_evict(p.l1d, r.addr) :
							       CACHE_NO_QUEUE;
			if (outcome < CACHE_NO_MSHR)
				p.l1d_queue.at[p.l1d_queue.count++] = r;
		} else if (p.no_mshr && now < p.hold) {
			outcome = CACHE_NO_MSHR;
		} else {
			r.addr &= ~127ull;
			r.bytes = 128;
			outcome = cache_read(p.l1d, r.addr, r.tag, p.l1d_queue.count + 1 < MISSES,
					     NULL);
			if (outcome == CACHE_MISS)
				p.l1d_queue.at[p.l1d_queue.count++] = r;
			if (outcome == CACHE_HIT)
				plain_answered(p.queue[0].inst, now);
		}
		p.no_mshr = outcome == CACHE_NO_MSHR;
		if (outcome >= CACHE_NO_MSHR)
			p.l1d_fails++;
		else
			p.queue[0].inst = -1;
	}
	for (unsigned int s = 0; s + 1 < QUEUE; s++) {
		if (p.queue[s].inst < 0) {
			p.queue[s] = p.queue[s + 1];
			p.queue[s + 1].inst = -1;
		}
	}
}

static void plain_leave(uint64_t now)
{
	p.gone[p.inst] = now;
	if (bench.ops[p.inst].op.store || !p.left[p.inst])
		p.released[p.inst] = now;
	p.inst = -1;
}

static void plain_constant(uint64_t now)
{
	struct mem_request r = {
		.addr = p.lines[p.inst][p.line].addr, .tag = (uint32_t)p.inst,
		.cls = MEM_CONST, .bytes = 64,
	};
	enum cache_outcome outcome = cache_read(p.l1c, r.addr, r.tag, p.l1c_queue.count < CONSTS,
						NULL);

	if (outcome >= CACHE_NO_MSHR) {
		p.l1c_fails++;
		return;
	}
	if (outcome == CACHE_HIT)
		p.left[p.inst]--;
	else if (outcome == CACHE_MISS)
		p.l1c_queue.at[p.l1c_queue.count++] = r;
	if (++p.line == p.nlines[p.inst])
		plain_leave(now);
}

static void plain_dispatch(uint64_t now)
{
	const struct bench_op *op;

	if (p.inst < 0)
		return;
	op = &bench.ops[p.inst];
	if (op->space == PTX_SPACE_SHARED) {
		if (p.delay && --p.delay)
			return;
		if (!op->op.store) {
			if (p.pipe[PIPE - 1] >= 0)
				return;
			p.pipe[PIPE - 1] = p.inst;
			p.left[p.inst] = 1;
		}
		plain_leave(now);
		return;
	}
	if (op->space == PTX_SPACE_PARAM || op->space == PTX_SPACE_CONST) {
		plain_constant(now);
		return;
	}
	if (op->op.atomic) {
		struct mem_request r = request_of(p.inst, p.line);

		if (!credit_at(now))
			return;
		plain_to_memory(&r, now);
	} else {
		if (p.queue[QUEUE - 1].inst >= 0)
			return;
		p.queue[QUEUE - 1].inst = p.inst;
		p.queue[QUEUE - 1].line = p.line;
	}
	if (++p.line == p.nlines[p.inst])
		plain_leave(now);
}

static int falling(const void *a, const void *b)
{
	const struct mem_line *x = a, *y = b;

	return x->addr < y->addr ? 1 : x->addr > y->addr ? -1 : 0;
}

static void plain_take(uint64_t now)
{
	const struct bench_op *op = &bench.ops[p.issued];
	struct mem_line *lines = p.lines[p.issued];
	unsigned int n = 0;

	if (p.inst >= 0 || p.issued == bench.nops || op->at > now)
		return;
	if (op->space == PTX_SPACE_SHARED) {
		p.delay = mem_bank_cycles(op->addr, op->lanes, op->bytes, 32);
	} else if (op->space == PTX_SPACE_GLOBAL) {
		n = op->op.atomic ? mem_coalesce_atomic(op->addr, op->lanes, op->bytes, lines) :
				    mem_coalesce(op->addr, op->lanes, op->bytes, lines);
	} else {
		uint64_t base = op->space == PTX_SPACE_CONST ? MEM_CONST_BASE : 0;

		for (unsigned int i = 0, k; i < WARP_LANES; i++) {
			uint64_t line = base + op->addr[i] / 64 * 64;

			for (k = 0; k < n && lines[k].addr != line; k++)
				;
			if (k == n)
				lines[n++].addr = line;
		}
		qsort(lines, n, sizeof(*lines), falling);
	}
	p.inst = (int)p.issued++;
	p.nlines[p.inst] = p.left[p.inst] = n;
	p.line = 0;
}

static void plain_run(void)
{
	for (uint64_t now = 1, idle = 0; idle < 2000; now++, idle++) {
		if (p.inst >= 0 || p.issued < bench.nops || p.next_reply < p.nrequests ||
		    p.l1d_queue.count || p.l1c_queue.count)
			idle = 0;

		unsigned int i = p.next_reply;

		while (i < p.nrequests &&
		       p.requests[i].answered == p.requests[i].r.bytes / MEM_SECTOR)
			i++;
		p.next_reply = i;
		if (i < p.nrequests && p.requests[i].sent + latency_of(i) <= now &&
		    p.fifo_count < FIFO) {
			p.requests[i].answered++;
			p.fifo[p.fifo_count++] = i;
		}
		plain_writeback(now);
		plain_respond(now);
		plain_send(&p.l1c_queue, now);
		plain_send(&p.l1d_queue, now);
		plain_l1d(now);
		plain_dispatch(now);
		plain_take(now);
	}
}

static void plain_create(void)
{
	const struct gpu_spec *s = &bench.spec;
	const struct cache_shape l1d = {
		(uint32_t)s->l1d_sets, (uint32_t)s->l1d_ways, 128, 128, (uint32_t)s->l1d_mshrs,
		(uint32_t)s->l1d_merges, CACHE_FERMI_HASH, false,
	};
	const struct cache_shape l1c = { 64, 2, 64, 64, 2, 32, CACHE_LINEAR, true };

	memset(&p, 0, sizeof(p));
	p.inst = p.direct = p.port = -1;
	for (unsigned int i = 0; i < PIPE; i++)
		p.pipe[i] = -1;
	for (unsigned int i = 0; i < QUEUE; i++)
		p.queue[i].inst = -1;
	p.requests = calloc(MAX_BENCH, sizeof(*p.requests));
	p.left = calloc(MAX_BENCH, sizeof(*p.left));
	p.lines = calloc(MAX_BENCH, sizeof(*p.lines));
	p.nlines = calloc(MAX_BENCH, sizeof(*p.nlines));
	p.released = calloc(MAX_BENCH, sizeof(*p.released));
	p.gone = calloc(MAX_BENCH, sizeof(*p.gone));
	assert_int_equal(cache_create(&l1d, &p.l1d), 0);
	assert_int_equal(cache_create(&l1c, &p.l1c), 0);
}

static void plain_free(void)
{
	cache_destroy(p.l1d);
	cache_destroy(p.l1c);
	free(p.requests);
	free(p.left);
	free(p.lines);
	free(p.nlines);
	free(p.released);
	free(p.gone);
}

/* --- the comparison ------------------------------------------------------------------------ */

static void add_random(unsigned int i, uint64_t at, uint64_t footprint)
{
	static const uint64_t strides[] = { 0, 4, 4, 4, 8, 32, 128, 132, 1024, 4096 };
	uint64_t r = mix(5000000 + i * 8);
	unsigned int kind = r % 16;
	uint64_t base = mix(5000001 + i * 8) % footprint / 128 * 128;
	uint64_t stride = strides[mix(5000002 + i * 8) % ARRAY_SIZE(strides)];
	unsigned int warp = (unsigned int)(mix(5000003 + i * 8) % 48);
	struct bench_op *op;

	if (kind < 3)
		op = bench_strided(at, warp, PTX_SPACE_SHARED, kind ? MEM_READ : MEM_WRITE, 4, base,
				   stride);
	else if (kind == 3)
		op = bench_strided(at, warp, PTX_SPACE_PARAM, MEM_READ, 4, base % 512, 0);
	else if (kind == 4)
		op = bench_strided(at, warp, PTX_SPACE_CONST, MEM_READ, 4, base % 16384,
				   stride % 64);
	else if (kind < 7)
		op = bench_strided(at, warp, PTX_SPACE_GLOBAL, MEM_WRITE, 4, PAGE(0) + base,
				   stride);
	else if (kind == 7)
		op = bench_strided(at, warp, PTX_SPACE_GLOBAL, MEM_ATOMIC, 4, PAGE(0) + base,
				   stride % 64);
	else
		op = bench_strided(at, warp, PTX_SPACE_GLOBAL, MEM_READ, 4, PAGE(0) + base, stride);
	if (op->space == PTX_SPACE_GLOBAL && r >> 20 & 1)
		op->lanes = (uint32_t)(r >> 32) | 1;
}

static void unit_run(void)
{
	uint64_t next = 0;

	for (unsigned int idle = 0; idle < 4000; bench.now++, idle++) {
		assert_true(bench.now < 1000000);
		bench.no_credit = !credit_at(bench.now);
		bench.bank_taken = bank_taken_at(bench.now);
		while (bench.next_reply < bench.nrequests &&
		       bench.requests[bench.next_reply].answered ==
		       sectors(&bench.requests[bench.next_reply].r))
			bench.next_reply++;
		bench.latency = latency_of(bench.next_reply);
		bench_step(&next);
		if (!ldst_idle(&bench.sm) || bench.issued < bench.nops)
			idle = 0;
	}
	ldst_settle(&bench.sm, bench.now);
}

static void compare(uint64_t s, unsigned int n, uint64_t footprint, unsigned int gap)
{
	uint64_t at = 1;

	seed = s;
	for (unsigned int i = 0; i < n; i++) {
		at += mix(9000000 + i) % (gap + 1);
		add_random(i, at, footprint);
	}
	plain_create();
	plain_run();
	unit_run();
	for (unsigned int i = 0; i < n; i++) {
		const struct bench_op *op = &bench.ops[i];

		if (op->left != p.gone[i] || (op->op.nwrite && op->released != p.released[i]))
			fail_msg("seed %llu, instruction %u (space %u, store %d, atomic %d): left "
				 "%llu, not %llu; released %llu, not %llu", (unsigned long long)s, i,
				 op->space, op->op.store, op->op.atomic,
				 (unsigned long long)op->left, (unsigned long long)p.gone[i],
				 (unsigned long long)op->released,
				 (unsigned long long)p.released[i]);
	}
	assert_int_equal(bench.nrequests, p.nrequests);
	for (unsigned int i = 0; i < p.nrequests; i++)
		assert_int_equal(bench.requests[i].sent, p.requests[i].sent);
	assert_int_equal(bench.sm.account.stats.l1d.fails, p.l1d_fails);
	assert_int_equal(bench.sm.account.stats.l1c.fails, p.l1c_fails);
	assert_true(ldst_idle(&bench.sm));
	plain_free();
}

static void test_random(void **state)
{
	static const struct {
		unsigned int gap, credit, bank, latency;
		uint64_t footprint, mshrs, merges;
	} rows[] = {
		{ 40, 1, 0, 300, 1 << 16, 64, 8 },	/* mostly idle */
		{ 2, 1, 0, 300, 1 << 14, 64, 8 },	/* saturated */
		{ 2, 6, 3, 100, 1 << 18, 64, 8 },	/* no credit most of the time */
		{ 10, 2, 5, 50, 1 << 13, 64, 2 },	/* merges run out */
		{ 5, 1, 2, 200, 1 << 20, 6, 8 },	/* MSHRs run out */
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		for (uint64_t s = 1; s <= 2; s++) {
			bench_create();
			bench.spec.l1d_mshrs = rows[i].mshrs;
			bench.spec.l1d_merges = rows[i].merges;
			credit_1_in = rows[i].credit;
			bank_1_in = rows[i].bank;
			latency_max = rows[i].latency;
			bench_start();
			compare(s * 77 + i, 300, rows[i].footprint, rows[i].gap);
			bench_end();
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
