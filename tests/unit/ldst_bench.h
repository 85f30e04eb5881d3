/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The load/store unit alone: what the rest of the SM, the memory and the gmmu do is
 * done here, so that every cycle is the test's. Caches and coalescing are the real
 * ones. An instruction is put into the dispatch register in the cycle that the test
 * names, or as soon after it as the register is empty. For test_sm_ldst_*.c.
 */
#ifndef GPUEMU_TESTS_LDST_BENCH_H
#define GPUEMU_TESTS_LDST_BENCH_H

/* One build of the room: what it calls of others is faked here. */
#define SM_BUILD narrow

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sm/ldst_internal.h"

#define MAX_BENCH	16384u
#define PAGE(n)		(MEM_VA_BASE + (n) * PAGE_BYTES)

/* One instruction: what it does, and what became of it. */
struct bench_op {
	struct sm_op op;
	struct ptx_insn insn;
	uint64_t addr[WARP_LANES];
	uint32_t lanes, index;
	uint8_t space, bytes, warp;
	uint64_t corner;		/* of a fetch: a second texel is so many bytes behind */
	uint64_t at;			/* dispatched not before */
	uint64_t dispatched, left, released, done;
	unsigned int performed;		/* lanes */
};

struct bench_request {
	struct mem_request r;
	uint64_t sent;
	unsigned int answered;		/* sectors */
};

struct bench {
	struct gpu_spec spec;
	struct sm sm;
	struct err err;
	uint64_t wake, now;
	struct bench_op *ops;
	unsigned int nops, issued;
	struct bench_request *requests;
	unsigned int nrequests;
	/* Memory: answers `latency` cycles after the request, a sector a cycle; 0: the test answers. */
	uint64_t latency;
	unsigned int next_reply, next_sector;
	bool no_credit, no_writes;	/* memory takes none */
	uint64_t cycles;		/* in which ldst_cycle() was called */
	bool bank_taken;		/* collector_write() fails */
	bool absent[64];		/* pages that are not in the TLB */
	struct gmmu_waiter *waiting[256];
	uint64_t waiting_page[256];
	unsigned int nwaiting, lookups;
	int stores[MAX_WARPS], atomics[MAX_WARPS];
	uint32_t order[MAX_BENCH], norder; /* instructions in the order of their performance */
};

static struct sm_kernel bench_kernel = {
	.warps_per_cta = 4, .places = 6, .params = MEM_PARAM_BASE, .constants = MEM_CONST_BASE,
	.local = MEM_LOCAL_BASE,
};
static struct bench bench;		/* the stubs' */

/* --- what the SM, the memory and the gmmu do here ------------------------------------- */

static struct bench_op *op_of(uint32_t inst)
{
	return &bench.ops[inst];
}

void inst_release(struct sm *sm, uint32_t inst)
{
	assert_int_equal(op_of(inst)->released, 0);
	assert_int_equal(op_of(inst)->done, 0);
	op_of(inst)->released = bench.now;
}

void inst_done(struct sm *sm, uint32_t inst)
{
	assert_int_equal(op_of(inst)->done, 0);
	assert_true(!op_of(inst)->op.nwrite || op_of(inst)->released);
	op_of(inst)->done = bench.now;
}

bool collector_write(struct sm *sm, uint32_t inst)
{
	return !bench.bank_taken;
}

void warp_stores(struct sm *sm, unsigned int w, int n)
{
	bench.stores[w] += n;
	assert_true(bench.stores[w] >= 0);
}

void warp_atomics(struct sm *sm, unsigned int w, int n)
{
	bench.atomics[w] += n;
	assert_true(bench.atomics[w] >= 0);
}

void warp_check_order(struct sm *sm, unsigned int w)
{
}

void sm_settle(struct sm *sm, uint64_t upto)
{
}

void sm_fail(struct sm *sm, int error, uint64_t fault_addr, const struct sm_kernel *kernel)
{
	fail_msg("sm_fail(%d)", error);
}

bool mem_ready(const struct mem *mem, unsigned int sm, const struct mem_request *request,
	       uint64_t now)
{
	return !bench.no_credit && !(bench.no_writes && request->kind == MEM_WRITE);
}

uint64_t mem_ready_at(const struct mem *mem, unsigned int sm, const struct mem_request *request,
		      uint64_t now)
{
	return now + 1;
}

uint64_t mem_port_free(const struct mem *mem, unsigned int sm)
{
	return bench.nrequests ? bench.requests[bench.nrequests - 1].sent + 1 : 0;
}

void mem_send(struct mem *mem, const struct mem_request *request, uint64_t now)
{
	assert_int_equal(now, bench.now);
	assert_true(bench.nrequests < MAX_BENCH);
	bench.requests[bench.nrequests++] = (struct bench_request){ *request, now, 0 };
}

void *gmmu_translate(struct gmmu *gmmu, uint64_t page, struct gmmu_waiter *waiter, uint64_t now)
{
	bench.lookups++;
	if (page < MEM_VA_BASE || page >= PAGE(64) ||
	    !bench.absent[(page - MEM_VA_BASE) >> PAGE_SHIFT])
		return (void *)1;
	bench.waiting_page[bench.nwaiting] = page;
	bench.waiting[bench.nwaiting++] = waiter;
	return NULL;
}

void exec_perform(struct exec_warp *warp, struct exec_access *access, uint32_t lanes,
		  uint64_t page_addr, void *host)
{
	struct bench_op *op = container_of(access->insn, struct bench_op, insn);

	op->performed += (unsigned int)__builtin_popcount(lanes);
	bench.order[bench.norder++] = (uint32_t)(op - bench.ops);
}

void exec_stored(const struct exec_warp *warp, const struct exec_access *access, uint32_t lane,
		 struct exec_stored *stored)
{
}

struct exec_texels *exec_texels_create(void)
{
	return calloc(1, sizeof(struct exec_texels));
}

/* The pages of the lanes' first texels, then those of the second ones. */
uint32_t exec_texel_pages(const struct exec_access *access, uint64_t *pages, uint32_t *lanes)
{
	const struct bench_op *op = container_of(access->insn, struct bench_op, insn);
	uint32_t n = 0;

	for (unsigned int corner = 0; corner < (op->corner ? 2u : 1u); corner++) {
		for (unsigned int i = 0; i < WARP_LANES; i++) {
			uint64_t page = (op->addr[i] + corner * op->corner) & ~(PAGE_BYTES - 1);

			if (!(op->lanes >> i & 1))
				continue;
			if (!n || pages[n - 1] != page)
				lanes[n++] = 0;
			pages[n - 1] = page;
			lanes[n - 1] |= 1u << i;
		}
	}
	return n;
}

void exec_lane_name(const struct exec_warp *warp, uint32_t lanes, char *buf, size_t bytes)
{
	snprintf(buf, bytes, "lane %d", __builtin_ctz(lanes));
}

/* --- the test's ------------------------------------------------------------------------- */

static inline void bench_create(void)
{
	struct bench *b = &bench;

	memset(b, 0, sizeof(*b));
	spec_defaults(&b->spec);
	b->spec.paging = 0;
	b->latency = 100;
	b->now = 1;			/* so that 0 is "not yet" */
}

/* It does nothing, and has no mapping tables. */
static const struct sm_mechanism bench_mechanism = { .name = "bench" };

static inline void bench_start(void)
{
	struct bench *b = &bench;
	struct sm *sm = &b->sm;

	sm->spec = &b->spec;
	sm->env.spec = &b->spec;
	sm->env.wake = &b->wake;
	sm->env.err = &b->err;
	sm->env.mechanism = &bench_mechanism;
	sm->ideal = !b->spec.paging;
	sm->upto = NEVER;
	sm->warps.at = calloc(MAX_WARPS, sizeof(*sm->warps.at));
	sm->ctas.at = calloc(MAX_WARPS / 4, sizeof(*sm->ctas.at));
	assert_non_null(sm->warps.at);
	assert_non_null(sm->ctas.at);
	/* CTAs of 4 warps, 6 an SM. */
	for (unsigned int w = 0; w < MAX_WARPS; w++) {
		sm->warps.at[w].kernel = &bench_kernel;
		sm->warps.at[w].cta = (uint8_t)(w / 4);
		sm->ctas.at[w / 4].local_place = w / 4 % bench_kernel.places;
		sm->warps.at[w].ex.index = w % 4;
	}
	sm->insts.at = calloc(MAX_BENCH, sizeof(*sm->insts.at));
	b->ops = calloc(MAX_BENCH, sizeof(*b->ops));
	b->requests = calloc(MAX_BENCH, sizeof(*b->requests));
	assert_int_equal(ldst_create(sm), 0);
}

static inline void bench_end(void)
{
	ldst_destroy(&bench.sm);
	free(bench.sm.warps.at);
	free(bench.sm.ctas.at);
	free(bench.sm.insts.at);
	free(bench.ops);
	free(bench.requests);
}

/* An instruction for the bench, to be dispatched in cycle `at`. */
static inline struct bench_op *bench_add(uint64_t at, unsigned int warp, unsigned int space,
				  unsigned int kind, unsigned int bytes)
{
	struct bench_op *op = &bench.ops[bench.nops];

	assert_true(bench.nops < MAX_BENCH);
	op->index = bench.nops++;
	op->op.memory = true;
	op->op.space = (uint8_t)space;
	op->op.store = kind == MEM_WRITE;
	op->op.atomic = kind == MEM_ATOMIC;
	op->op.nwrite = kind != MEM_WRITE;
	op->insn.line = op->index + 1;
	op->space = (uint8_t)space;
	op->bytes = (uint8_t)bytes;
	op->warp = (uint8_t)warp;
	op->lanes = UINT32_MAX;
	op->at = at;
	return op;
}

/* Lane i at base + i * stride. */
static inline struct bench_op *bench_strided(uint64_t at, unsigned int warp, unsigned int space,
				      unsigned int kind, unsigned int bytes, uint64_t base,
				      uint64_t stride)
{
	struct bench_op *op = bench_add(at, warp, space, kind, bytes);

	for (unsigned int i = 0; i < WARP_LANES; i++)
		op->addr[i] = base + i * stride;
	return op;
}

#define LOAD(at, warp, base) \
	bench_strided(at, warp, PTX_SPACE_GLOBAL, MEM_READ, 4, PAGE(0) + (base), 4)
#define STORE(at, warp, base) \
	bench_strided(at, warp, PTX_SPACE_GLOBAL, MEM_WRITE, 4, PAGE(0) + (base), 4)

/* exec_step() and issue: the access as exec fills it in. */
static inline void bench_issue(struct bench_op *op)
{
	struct sm *sm = &bench.sm;
	struct sm_inst *inst = sm_inst(sm, op->index);
	bool fetch = op->space == PTX_SPACE_TEXTURE;
	struct exec_access *a = fetch ? ldst_fetch(sm) : ldst_access(sm);
	bool global = (op->space == PTX_SPACE_GLOBAL || fetch) && op->lanes;

	*inst = (struct sm_inst){ .op = &op->op, .warp = op->warp, .lanes = op->lanes };
	a->space = op->space;
	a->bytes = op->bytes;
	a->is_store = op->op.store;
	a->is_atomic = op->op.atomic;
	a->touched = op->lanes;
	a->lanes = global ? op->lanes : 0;
	a->insn = &op->insn;
	memcpy(a->addr, op->addr, sizeof(a->addr));
	ldst_issue(sm, op->index, global ? EXEC_ACCESS : EXEC_NEXT);
}

static unsigned int sectors(const struct mem_request *r)
{
	return r->kind == MEM_WRITE && r->tag == UINT32_MAX ? 0 : r->bytes / MEM_SECTOR;
}

static inline void bench_answer(unsigned int request)
{
	struct bench_request *q = &bench.requests[request];
	struct mem_reply reply = {
		.tag = q->r.tag, .kind = q->r.kind, .cls = q->r.cls,
		.sector = (uint8_t)q->answered, .sectors = 1,
	};

	assert_true(q->answered < sectors(&q->r));
	assert_true(ldst_accepts(&bench.sm));
	q->answered++;
	ldst_reply(&bench.sm, &reply, bench.now);
}

static void memory_cycle(void)
{
	struct bench *b = &bench;
	struct bench_request *q;

	while (b->next_reply < b->nrequests &&
	       b->requests[b->next_reply].answered == sectors(&b->requests[b->next_reply].r))
		b->next_reply++;
	q = &b->requests[b->next_reply];
	if (b->latency && b->next_reply < b->nrequests && q->sent + b->latency <= b->now &&
	    ldst_accepts(&b->sm))
		bench_answer(b->next_reply);
}

/* Cycle bench.now. *next: in which the unit wants to run. */
static inline void bench_step(uint64_t *next)
{
	struct bench *b = &bench;
	struct sm *sm = &b->sm;
	struct bench_op *op = &b->ops[b->issued];
	bool full;

	sm->now = b->now;
	memory_cycle();
	full = !ldst_free(sm);
	if (*next <= b->now || sm->ldst->next <= b->now) {
		b->cycles++;
		ldst_cycle(sm, b->now);
		*next = ldst_next(sm, b->now);
	}
	if (full && ldst_free(sm))
		b->ops[b->issued - 1].left = b->now;
	if (b->issued < b->nops && op->at <= b->now && ldst_free(sm)) {
		b->issued++;
		bench_issue(op);
		op->dispatched = b->now;
		ldst_dispatch(sm, op->index, b->now);
	}
	if (ldst_perform_next(sm) <= b->now)
		ldst_perform(sm, b->now);
}

/* Runs to the end of cycle upto - 1. */
static inline void bench_run(uint64_t upto)
{
	uint64_t next = 0;

	for (; bench.now < upto; bench.now++)
		bench_step(&next);
	ldst_settle(&bench.sm, upto);
}

/* Until nothing is left in it. */
static inline void bench_drain(void)
{
	uint64_t held;

	for (unsigned int i = 0; i < 4000; i++) {
		bench_run(bench.now + 100);
		if (bench.issued == bench.nops && ldst_idle(&bench.sm) &&
		    (!bench.latency || bench.next_reply == bench.nrequests))
			break;
	}
	assert_true(ldst_idle(&bench.sm));
	assert_int_equal(bench.issued, bench.nops);
	assert_int_equal(ldst_next(&bench.sm, bench.now), NEVER);
	for (unsigned int w = 0; w < MAX_WARPS; w++) {
		assert_int_equal(bench.sm.ldst->accesses[w], 0);
		assert_int_equal(bench.stores[w], bench.latency ? 0 : bench.stores[w]);
		assert_int_equal(bench.atomics[w], 0);
	}
	held = bench.sm.account.stats.ldst_instructions;
	for (unsigned int i = 0; i < LDST_STALLS; i++)
		held += bench.sm.account.stats.ldst_stalls[i];
	assert_int_equal(bench.sm.account.stats.busy[UNIT_LDST], held);
	for (unsigned int i = 0; i < bench.nops; i++) {
		const struct bench_op *op = &bench.ops[i];

		assert_true(op->done != 0);
		assert_true(!op->op.nwrite || op->released);
		assert_int_equal(op->performed, op->space == PTX_SPACE_TEXTURE && op->corner ?
				 2 * __builtin_popcount(op->lanes) :
				 op->space == PTX_SPACE_GLOBAL || op->space == PTX_SPACE_TEXTURE ?
				 __builtin_popcount(op->lanes) : 0);
	}
}

#endif
