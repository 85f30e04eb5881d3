/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A kernel with much of everything, and a mechanism that parks and restores its CTAs by chance and
 * checks what it is told. For test_sm_residency.c and test_sm_halt.c, on sm_bench.h.
 */
#ifndef GPUEMU_TESTS_SM_STORM_H
#define GPUEMU_TESTS_SM_STORM_H

#include "sm_bench.h"

#define PAGES		(BENCH_BYTES / PAGE_BYTES)
#define MAX_CTAS	256u

/* Loads, divergence, shared and local memory, barriers of all kinds, fences, atomics, exits. */
static const char storm[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n"
	".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<12>;\n"
	".shared .align 4 .b8 buf[400];\n.local .align 4 .b8 own[16];\n"
	"mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r3, %r2, 96, %r1;\n"
	"ld.param.u64 %rd1, [p];\nmul.wide.u32 %rd2, %r3, 68;\nadd.s64 %rd3, %rd1, %rd2;\n"
	"mov.u32 %r4, buf;\nshl.b32 %r5, %r1, 2;\nadd.s32 %r6, %r4, %r5;\nmov.u32 %r7, 0;\n"
	"mov.u64 %rd6, own;\nsetp.eq.u32 %p4, %r1, 0;\n@%p4 st.shared.u32 [%r4+384], %r7;\n"
	"bar.sync 0;\n"
	"LOOP:\n"
	"ld.global.u32 %r8, [%rd3];\nst.local.u32 [%rd6], %r8;\n"
	"and.b32 %r9, %r1, 3;\nsetp.eq.u32 %p1, %r9, 1;\n@%p1 bra ODD;\n"
	"mul.lo.u32 %r10, %r8, 3;\nbra.uni JOIN;\n"
	"ODD:\ndiv.u32 %r10, %r8, 7;\n"
	"JOIN:\n"
	"add.s32 %r11, %r10, %r3;\nst.shared.u32 [%r6], %r11;\nred.shared.add.u32 [%r4+384], 1;\n"
	"bar.sync 0;\n"
	"xor.b32 %r12, %r5, 124;\nadd.s32 %r13, %r4, %r12;\nld.shared.u32 %r14, [%r13];\n"
	"setp.gt.u32 %p2, %r14, 1000;\nbar.red.popc.u32 %r15, 0, %p2;\n"
	"setp.lt.u32 %p3, %r1, 32;\n@%p3 bra SKIP;\nbar.sync 1, 64;\n"
	"SKIP:\n"
	"ld.local.u32 %r16, [%rd6];\nadd.s32 %r17, %r14, %r15;\nadd.s32 %r17, %r17, %r16;\n"
	"st.global.u32 [%rd3], %r17;\nmembar.gl;\n"
	"atom.global.add.u32 %r18, [%rd1+1048576], 1;\nmul.wide.u32 %rd7, %r18, 4;\n"
	"add.s64 %rd8, %rd1, %rd7;\nmov.u32 %r19, 1;\nst.global.u32 [%rd8+2097152], %r19;\n"
	"add.s32 %r7, %r7, 1;\nsetp.lt.u32 %p5, %r7, 4;\n@%p5 bra LOOP;\n"
	"setp.ge.u32 %p6, %r1, 64;\n@%p6 ret;\n"
	"bar.sync 0;\nld.shared.u32 %r20, [%r4+384];\nmul.wide.u32 %rd9, %r3, 4;\n"
	"add.s64 %rd10, %rd1, %rd9;\nst.global.u32 [%rd10+3145728], %r20;\nret;\n}\n";

#define STORM_CTAS	24u
#define STORM_BYTES	(4u << 20)

/* Pages come to memory a while after they were asked for. */
struct pages {
	bool absent[PAGES];
	struct fault faults[64];
	uint64_t due[64];
	unsigned int n;
};

static inline void serve(struct bench *b, struct pages *p)
{
	unsigned int got = gmmu_take(b->gmmu, &p->faults[p->n], 64 - p->n);

	for (unsigned int i = 0; i < got; i++)
		p->due[p->n++] = b->upto + 400;
	while (p->n && p->due[0] <= b->upto) {
		uint64_t page = p->faults[0].addr & ~(PAGE_BYTES - 1);

		p->absent[(page - BENCH_BASE) / PAGE_BYTES] = false;
		gmmu_arrived(b->gmmu, page, PAGE_BYTES, b->upto - 1);
		p->n--;
		memmove(p->faults, p->faults + 1, p->n * sizeof(p->faults[0]));
		memmove(p->due, p->due + 1, p->n * sizeof(p->due[0]));
	}
}

/* A mechanism that does as chance says, and checks what it is told. */
struct chance {
	uint64_t seed;
	struct pages *pages;
	enum sm_cta_state state[MAX_CTAS];	/* as told */
	bool ready[MAX_CTAS], stalled[MAX_CTAS], warp_stalled[MAX_CTAS];
	unsigned int admitted, ended, parked, restored, early, exited, retired;
};

static inline uint32_t chance_of(struct chance *t, uint32_t n)
{
	t->seed = t->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(t->seed >> 33) % n;
}

static inline void chance_admitted(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct chance *t = state;
	struct sm_cta_view view;

	sm_cta_look(sm, cta, &view);
	assert_int_equal(t->state[cta], SM_CTA_NONE);
	t->state[cta] = SM_CTA_PARKED;
	t->ready[cta] = true;
	t->admitted++;
}

static inline void chance_started(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct chance *t = state;

	assert_int_equal(t->state[cta], SM_CTA_PARKED);
	/* A parked warp was not stalled meanwhile, whatever it waits for. */
	for (unsigned int w = 0; w < MAX_CTAS; w++)
		assert_false(t->warp_stalled[w] && sm_warp_cta(sm, w) == cta);
	t->state[cta] = SM_CTA_ACTIVE;
	t->ready[cta] = false;
}

static inline void chance_parked(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct chance *t = state;

	assert_int_equal(t->state[cta], SM_CTA_ACTIVE);
	assert_false(t->stalled[cta]);
	t->state[cta] = SM_CTA_PARKED;
	t->parked++;
}

static inline void chance_ready(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct chance *t = state;

	assert_int_equal(t->state[cta], SM_CTA_PARKED);
	assert_false(t->ready[cta]);
	t->ready[cta] = true;
}

static inline void chance_stalled(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct chance *t = state;
	struct sm_cta_view view;

	sm_cta_look(sm, cta, &view);
	assert_int_equal(view.state, SM_CTA_ACTIVE);
	assert_int_equal(view.stalled, view.running);
	assert_false(t->stalled[cta]);
	t->stalled[cta] = true;
	/* Half of them go at once. */
	if (chance_of(t, 2)) {
		assert_int_equal(sm_park(sm, cta, 0, now), 0);
		t->stalled[cta] = false;
	}
}

static inline void chance_resumed(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct chance *t = state;

	assert_true(t->stalled[cta]);
	t->stalled[cta] = false;
}

static inline void chance_ended(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct chance *t = state;

	assert_int_equal(t->state[cta], SM_CTA_ACTIVE);
	t->state[cta] = SM_CTA_NONE;
	t->stalled[cta] = false;
	t->ended++;
}

static inline void chance_warp_stalled(void *state, struct sm *sm, unsigned int w,
				       enum sm_wait wait, uint64_t now)
{
	struct chance *t = state;

	assert_false(t->warp_stalled[w]);
	t->warp_stalled[w] = true;
}

static inline void chance_warp_resumed(void *state, struct sm *sm, unsigned int w, uint64_t now)
{
	struct chance *t = state;

	assert_true(t->warp_stalled[w]);
	t->warp_stalled[w] = false;
}

static inline void chance_exited(void *state, struct sm *sm, unsigned int w, uint64_t now)
{
	((struct chance *)state)->exited++;
}

static inline void chance_retired(void *state, struct sm *sm, unsigned int w, uint64_t now)
{
	((struct chance *)state)->retired++;
}

static inline bool storm_has_room(void *state, const struct sm *sm, const struct sm_kernel *kernel)
{
	return sm_fits(sm, kernel);
}

static inline unsigned int storm_stalls(const struct gpu_spec *spec)
{
	return SM_WAIT_MEMORY | SM_WAIT_FAULT | SM_WAIT_BARRIER;
}

static const struct sm_mechanism by_chance = {
	.name = "chance", .stall_on = storm_stalls, .has_room = storm_has_room,
	.cta_admitted = chance_admitted, .cta_started = chance_started,
	.cta_parked = chance_parked, .cta_ready = chance_ready, .cta_stalled = chance_stalled,
	.cta_resumed = chance_resumed, .cta_ended = chance_ended,
	.warp_stalled = chance_warp_stalled, .warp_resumed = chance_warp_resumed,
	.warp_exited = chance_exited, .warp_retired = chance_retired,
};

static inline void chance_quantum(struct bench *b)
{
	struct chance *t = b->mechanism_ctx;
	uint64_t now = b->upto - 1;
	struct sm_cta_view view;

	if (b->spec.paging)
		serve(b, t->pages);
	for (unsigned int c = 0; c < b->spec.virtual_ctas; c++) {
		sm_cta_look(b->sm, c, &view);
		if (view.state == SM_CTA_ACTIVE && view.running && !chance_of(t, 150)) {
			assert_int_equal(sm_park(b->sm, c, chance_of(t, 20), now), 0);
			t->stalled[c] = false;
		} else if (view.state == SM_CTA_PARKED && !chance_of(t, 40)) {
			bool ready = view.ready;

			if (!sm_restore(b->sm, c, chance_of(t, 3) * 10, now)) {
				t->restored++;
				t->early += !ready;
			}
		}
	}
}

static inline uint8_t *storm_reference(void)
{
	uint8_t *want = malloc(STORM_BYTES);
	struct bench b;

	assert_non_null(want);
	bench_init(&b);
	bench_load(&b, storm, 96);
	for (uint32_t i = 0; i < STORM_CTAS * 96; i++)
		*(uint32_t *)(b.memory + i * 68) = i * 2654435761u;
	bench_run(&b, STORM_CTAS);
	assert_int_equal(b.status, 0);
	memcpy(want, b.memory, STORM_BYTES);
	bench_fini(&b);
	/* Each thread has a ticket of each round. */
	assert_int_equal(*(uint32_t *)(want + 1048576), STORM_CTAS * 96 * 4);
	return want;
}

/* The kernel with what is set in b->spec, after bench_init(). */
static inline void run_storm(struct bench *b, const uint8_t *want)
{
	bench_load(b, storm, 96);
	for (uint32_t i = 0; i < STORM_CTAS * 96; i++)
		*(uint32_t *)(b->memory + i * 68) = i * 2654435761u;
	bench_run(b, STORM_CTAS);
	if (b->status)
		print_error("%s\n", b->err.text);
	assert_int_equal(b->status, 0);
	assert_true(sm_idle(b->sm));
	assert_memory_equal(b->memory, want, STORM_BYTES);
	assert_int_equal(bench_stall_sum(b), b->now * b->spec.schedulers);
	assert_int_equal(sm_stats(b->sm)->retired_ctas, STORM_CTAS);
}

#endif
