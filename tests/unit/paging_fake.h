/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A service for the tests of paging: one byte a page, pinned pages, frames that
 * it lacks, a plan that is kept to be looked at. It refuses to be asked for
 * anything pointless: moving what is there already, or what cannot fit.
 */
#ifndef TESTS_PAGING_FAKE_H
#define TESTS_PAGING_FAKE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "paging/paging.h"

#define SPACES		4u
#define PAGES		1600u		/* four VA blocks, the last one short */
#define BASE		(68ull << 20)	/* page 1024 begins a part of an explicit prefetch */
#define PAGE(n)		(BASE + (n) * PAGE_BYTES)
#define INDEX(addr)	(unsigned int)(((addr) - BASE) / PAGE_BYTES)
#define KEPT_PLANS	8u
#define SERVE_NS	1000u

struct fake {
	struct service service;
	bool there[SPACES][PAGES], unmanaged[SPACES][PAGES], pinned[SPACES][PAGES];
	bool busy[SPACES][PAGES];	/* somebody else has the page's block */
	bool in_batch[SPACES][PAGES];
	bool throttled[SPACES][PAGES], is_protected[SPACES][PAGES];
	uint64_t frames, used, lacking;	/* lacking: frames that are not really there */
	uint64_t share, of[SPACES];	/* frames that a VA space may have, and has; share 0: all */
	bool strict;			/* -ENOSPC fails the test */
	unsigned int vanish;		/* page of VA space 1 that goes while the plan is made */
	int fail;			/* serve() returns it, nothing done */
	struct service_cost cost;
	struct plan plans[KEPT_PLANS];
	unsigned int serves;
};

static inline struct fake *fake_of(struct service *s)
{
	return container_of(s, struct fake, service);
}

static inline int fake_move(struct fake *f, unsigned int space, unsigned int page, uint8_t op)
{
	if (f->unmanaged[space][page])
		return -EFAULT;
	/* Nobody asks for what is so already. */
	assert_int_equal(f->there[space][page], op == MIGRATE_D2H);
	if (f->pinned[space][page])
		return -EBUSY;
	if (f->busy[space][page])
		return -EAGAIN;
	if (op == MIGRATE_D2H) {
		assert_false(f->in_batch[space][page]);
		f->there[space][page] = false;
		f->used--;
		f->of[space]--;
		return 0;
	}
	if (f->used >= f->frames - f->lacking || (f->share && f->of[space] >= f->share)) {
		assert_false(f->strict);
		return -ENOSPC;
	}
	f->there[space][page] = true;
	f->used++;
	f->of[space]++;
	return 0;
}

static inline void fake_migrate(struct fake *f, struct migration *m)
{
	m->status = 0;
	m->moved = 0;
	assert_true(m->pages >= 1 && m->addr >= BASE);
	assert_true(m->addr >> BLOCK_SHIFT ==
		    (m->addr + (m->pages - 1) * PAGE_BYTES) >> BLOCK_SHIFT);
	for (unsigned int i = 0; i < m->pages; i++) {
		unsigned int page = INDEX(m->addr) + i;
		int status = page < PAGES ? fake_move(f, m->va_space, page, m->op) : -EFAULT;

		if (status && !m->status)
			m->status = status;
		m->moved += !status;
	}
}

static inline int compare_fake(const void *a, const void *b)
{
	const struct fault *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->cycle > y->cycle) - (x->cycle < y->cycle);
}

static inline int fake_serve(struct service *s, struct service_batch *b)
{
	struct fake *f = fake_of(s);
	unsigned int n = 0;
	int rc;

	qsort(b->faults, b->nfaults, sizeof(*b->faults), compare_fake);
	for (unsigned int i = 0; i < b->nfaults; i++)
		if (!n || b->faults[n - 1].addr != b->faults[i].addr)
			b->faults[n++] = b->faults[i];
	b->nfaults = n;
	for (unsigned int i = 0; i < n; i++) {
		struct fault *fault = &b->faults[i];
		unsigned int page = INDEX(fault->addr);

		if (page >= PAGES || f->unmanaged[fault->va_space][page])
			fault->flags = FAULT_UNMANAGED;
		else
			fault->flags = f->there[fault->va_space][page] ? FAULT_RESIDENT : 0;
		if (page < PAGES && f->throttled[fault->va_space][page])
			fault->flags |= FAULT_THROTTLE;
		if (page < PAGES && f->is_protected[fault->va_space][page])
			fault->flags |= FAULT_PROTECTED;
		if (page < PAGES)
			f->in_batch[fault->va_space][page] = true;
	}
	b->plan->count = 0;
	rc = b->decide(b->ctx, b);
	if (f->vanish)
		f->unmanaged[1][f->vanish] = true;
	if (!rc)
		rc = f->fail;
	if (!rc) {
		for (unsigned int i = 0; i < b->plan->count; i++)
			fake_migrate(f, &b->plan->migrations[i]);
		f->plans[f->serves % KEPT_PLANS] = *b->plan;
		f->serves++;
		b->cost = f->cost;
	}
	memset(f->in_batch, 0, sizeof(f->in_batch));
	return rc;
}

static inline void *fake_walk(struct service *s, uint32_t va_space, uint64_t addr)
{
	struct fake *f = fake_of(s);

	if (addr < BASE || INDEX(addr) >= PAGES || !f->there[va_space][INDEX(addr)])
		return NULL;
	return f;
}

static inline void fake_resident(struct service *s,
				 void (*fn)(void *ctx, uint32_t va_space, uint64_t addr),
				 void *ctx)
{
	for (unsigned int space = 0; space < SPACES; space++)
		for (unsigned int page = 0; page < PAGES; page++)
			if (fake_of(s)->there[space][page])
				fn(ctx, space, PAGE(page));
}

static inline uint64_t fake_frames(struct service *s)
{
	return fake_of(s)->frames;
}

static inline uint64_t fake_share(struct service *s)
{
	return fake_of(s)->share ? fake_of(s)->share : fake_of(s)->frames;
}

static inline struct fake *fake_create(uint64_t frames)
{
	static const struct service_ops ops = {
		.name = "fake",
		.serve = fake_serve,
		.walk = fake_walk,
		.resident = fake_resident,
		.frames = fake_frames,
		.share = fake_share,
	};
	struct fake *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->service.ops = &ops;
	f->frames = frames;
	f->strict = true;
	f->cost = (struct service_cost){ .total = SERVE_NS, .fetched_to_committed = SERVE_NS };
	return f;
}

/* The n-th migration of the last plan but `back`. */
static inline void assert_step(struct fake *f, unsigned int back, unsigned int n, uint8_t op,
			       uint32_t space, unsigned int page, unsigned int pages)
{
	const struct plan *plan = &f->plans[(f->serves - 1 - back) % KEPT_PLANS];

	assert_true(n < plan->count);
	assert_int_equal(plan->migrations[n].op, op);
	assert_int_equal(plan->migrations[n].va_space, space);
	assert_int_equal(INDEX(plan->migrations[n].addr), page);
	assert_int_equal(plan->migrations[n].pages, pages);
}

static inline void assert_steps(struct fake *f, unsigned int back, unsigned int count)
{
	assert_int_equal(f->plans[(f->serves - 1 - back) % KEPT_PLANS].count, count);
}

#endif
