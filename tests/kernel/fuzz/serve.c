// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's service threads: each takes batches and commits plans of its own for
 * them, some of it wrong on purpose, and tries for the other's batch as well.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/engine.h"
#include "fuzz/kcov.h"
#include "lib/slow.h"

enum { PLAN = 48 };

static void make_migration(uint64_t *x, struct gpuemu_migration *m, int client, int page)
{
	uint32_t pages = one_in(x, 3) ? 1 + below(x, 128) : 1 + below(x, 8);
	uint64_t block_end;

	memset(m, 0, sizeof(*m));
	m->va_space = atomic_load(&fe.s->client[client].space);
	m->addr = (uintptr_t)page_addr(fe.s, page);
	block_end = (m->addr | (BLOCK - 1)) + 1;
	if (pages > (block_end - m->addr) / PAGE)
		pages = (block_end - m->addr) / PAGE;
	/* A huge page moves whole, if it moves at once. */
	if (page >= PAGES && page < PAGES + HUGE_PAGES && !one_in(x, 8)) {
		m->addr = (uintptr_t)page_addr(fe.s, PAGES);
		pages = HUGE_PAGES;
	}
	m->pages = pages;
	m->status = 1;
}

/* One that must be refused with this status. */
static int spoil(uint64_t *x, struct gpuemu_migration *m)
{
	switch (below(x, 6)) {
	case 0:
		m->op = 5 + below(x, 250);
		return -EINVAL;
	case 1:
		m->addr += 1 + below(x, PAGE - 1);
		return -EINVAL;
	case 2:
		m->pages = one_in(x, 2) ? 0 : GPUEMU_BLOCK_PAGES + 1 + below(x, 1000);
		return -EINVAL;
	case 3:
		m->reserved = 1;
		return -EINVAL;
	case 4:
		m->va_space = 0x70000000 + below(x, 1000);
		return -ESRCH;
	}
	m->addr |= 1ull << (47 + below(x, 17));
	return -EINVAL;
}

/* For a page that somebody wants, or somebody might. */
static enum gpuemu_migration_op bring(uint64_t *x, enum gpuemu_access access)
{
	if (one_in(x, 6))
		return GPUEMU_MIGRATE_REMOTE;
	/* What is to be written is duplicated by mistake alone. */
	if (one_in(x, access < GPUEMU_ACCESS_WRITE ? 2 : 20))
		return GPUEMU_MIGRATE_DUPLICATE;
	return GPUEMU_MIGRATE_H2D;
}

/*
 * A slow kernel needs longer to find pages of ordinary memory than a COMMIT waits for, and a
 * later COMMIT for the same pages has them. So most faults of ordinary memory there are answered
 * with a migration of their page alone.
 */
static uint32_t make_plan(uint64_t *x, struct gpuemu_migration *m, int *want)
{
	struct gpuemu_batch *batch = &fe.e.control->batch;
	uint32_t n = 0, count = batch->count, i, evictions = below(x, 8);
	int c, page;

	if (fe.e.control->vram_free < 64)
		evictions += 12;
	for (i = 0; i < evictions; i++, n++) {
		c = below(x, fe.s->clients);
		make_migration(x, &m[n], c, some_page(fe.s, c, x));
		m[n].op = one_in(x, 6) ? bring(x, below(x, 4)) : GPUEMU_MIGRATE_D2H;
		want[n] = one_in(x, 30) ? spoil(x, &m[n]) : 1;
	}
	for (i = 0; i < count && i < GPUEMU_BATCH_MAX && n < PLAN; i++) {
		struct gpuemu_fault f = batch->faults[i];

		page = page_of(fe.s, f.addr);
		for (c = 0; c < fe.s->clients; c++)
			if (atomic_load(&fe.s->client[c].space) == f.va_space)
				break;
		/* Some are forgotten; others are nobody's. */
		if (c == fe.s->clients || page < 0 || one_in(x, 20))
			continue;
		make_migration(x, &m[n], c, page);
		if (page >= PAGES && slowness() > 1 && !one_in(x, 4)) {
			m[n].addr = (uintptr_t)page_addr(fe.s, page);
			m[n].pages = 1;
		}
		m[n].op = bring(x, f.access);
		want[n] = one_in(x, 60) ? spoil(x, &m[n]) : 1;
		n++;
	}
	return n;
}

static enum op op_of(const struct gpuemu_migration *m)
{
	static const enum op ops[] = {
		[GPUEMU_MIGRATE_H2D] = OP_H2D, [GPUEMU_MIGRATE_D2H] = OP_D2H,
		[GPUEMU_MIGRATE_REMOTE] = OP_REMOTE, [GPUEMU_MIGRATE_DUPLICATE] = OP_DUPLICATE,
	};

	return ops[m->op];
}

/* A result that no commit has: what the command said, and how many more have none. */
static void say_unwritten(const struct gpuemu_migration *m, const int *want, uint32_t n,
			  uint32_t at, const char *how, int res)
{
	uint32_t i, unwritten = 0;

	for (i = 0; i < n; i++)
		unwritten += want[i] == 1 && m[i].status > 0;
	fail(fe.s, -1, -1, "%s ended with %d; migration %u of %u, op %u of %u pages at page %d: status %d, moved %u; %u have a status above 0",
	     how, res, at, n, m[at].op, m[at].pages, page_of(fe.s, m[at].addr), m[at].status,
	     m[at].moved, unwritten);
}

static void note_plan(const struct gpuemu_migration *m, const int *want, uint32_t n,
		      const char *how, int res)
{
	int c, page;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (want[i] != 1) {
			if (m[i].status != want[i] && m[i].status != -ENODEV)
				fail(fe.s, -1, -1, "a bad migration ended with %d instead of %d",
				     m[i].status, want[i]);
			continue;
		}
		page = page_of(fe.s, m[i].addr);
		for (c = 0; c < fe.s->clients; c++)
			if (atomic_load(&fe.s->client[c].space) == m[i].va_space)
				note(fe.s, op_of(&m[i]), c, page, m[i].pages, m[i].status);
		if (page >= PAGES && m[i].op != GPUEMU_MIGRATE_REMOTE)
			atomic_fetch_add(&fe.s->heap_moved, m[i].moved);
		if (m[i].moved > m[i].pages || m[i].status > 0)
			say_unwritten(m, want, n, i, how, res);
		atomic_fetch_add(&fe.s->moved, m[i].moved);
	}
}

/* What must be refused, and must not disturb the batch that is served. */
static void bad_commands(struct engine *e, uint64_t *x, struct gpuemu_commit *good)
{
	struct gpuemu_commit bad = *good;
	int res, want;

	switch (below(x, 8)) {
	case 0:
		/* A later one may have come meanwhile; these never come again. */
		bad.gen -= 1 + below(x, 1000);
		want = -ESTALE;
		res = engine_command(e, GPUEMU_URING_COMMIT, (uintptr_t)&bad, 0, 0);
		break;
	case 1:
		bad.flags = 2u << below(x, 31);
		want = -EOPNOTSUPP;
		res = engine_command(e, GPUEMU_URING_COMMIT, (uintptr_t)&bad, 0, 0);
		break;
	case 2:
		bad.count = GPUEMU_COMMIT_MAX + 1 + next_random(x) % 100000;
		want = -E2BIG;
		res = engine_command(e, GPUEMU_URING_COMMIT_AND_FETCH, (uintptr_t)&bad, 0, 0);
		break;
	case 3:
		want = -EFAULT;
		res = engine_command(e, GPUEMU_URING_COMMIT, 16 + next_random(x) % 4000, 0, 0);
		break;
	case 4:
		want = -EINVAL;
		res = engine_command(e, GPUEMU_URING_COMMIT, (uintptr_t)good, 0, 1 + below(x, 99));
		break;
	case 5:
		want = -EOPNOTSUPP;
		res = engine_command(e, GPUEMU_URING_RAISE, 0, 2u << below(x, 29), 0);
		break;
	case 6:
		want = -EINVAL;
		res = engine_command(e, GPUEMU_URING_WAIT, 0, 1 + below(x, 99), 0);
		break;
	default:
		want = -EOPNOTSUPP;
		res = engine_command(e, GPUEMU_URING_RAISE + 16 + below(x, 1000), 0, 0, 0);
	}
	note(fe.s, OP_COMMIT_BAD, 0, 0, 0, res);
	if (res != want)
		fail(fe.s, -1, -1, "a bad uring command ended with %d instead of %d", res, want);
}

void *engine_serve(void *arg)
{
	uint64_t x = fe.x + (uintptr_t)arg * 1234567;
	struct gpuemu_migration m[PLAN];
	struct engine e = fe.e;
	struct gpuemu_commit commit;
	int want[PLAN], res;
	const char *how;
	bool have = false;
	uint32_t n, op, stay;

	kcov_begin();
	engine_ring(&e, (uintptr_t)arg);
	for (;;) {
		kcov_take();
		if (!have) {
			res = engine_command(&e, GPUEMU_URING_FETCH, 0, 0, 0);
			if (res < 0)
				usleep(below(&x, 2000));
			if (res < 0 && res != -EBUSY)
				fail(fe.s, -1, -1, "FETCH: %d", res);
			/* Without a batch of its own it tries to serve the other's. */
			if (res < 0 && !one_in(&x, 8))
				continue;
		}
		have = false;
		n = make_plan(&x, m, want);
		memset(&commit, 0, sizeof(commit));
		commit.size = sizeof(commit);
		commit.gen = fe.e.control->batch.gen;
		commit.count = n;
		commit.flags = one_in(&x, 3) ? GPUEMU_COMMIT_EVICT : 0;
		commit.migrations = (uintptr_t)m;
		while (one_in(&x, 6))
			bad_commands(&e, &x, &commit);
		if (one_in(&x, 50))
			usleep(below(&x, 20000));
		op = one_in(&x, 2) ? GPUEMU_URING_COMMIT : GPUEMU_URING_COMMIT_AND_FETCH;
		stay = op == GPUEMU_URING_COMMIT ? 0 : may_stay(&x);
		how = stay ? "SERVE" : op == GPUEMU_URING_COMMIT ? "COMMIT" : "COMMIT_AND_FETCH";
		res = engine_command(&e, op, (uintptr_t)&commit, stay, 0);
		have = op == GPUEMU_URING_COMMIT_AND_FETCH && res >= 0;
		/* The other's FETCH was first: before the commit, or after it. */
		if (res == -EBUSY) {
			how = "COMMIT after EBUSY";
			res = engine_command(&e, GPUEMU_URING_COMMIT, (uintptr_t)&commit, 0, 0);
		}
		if (res < 0 && res != -ESTALE)
			fail(fe.s, -1, -1, "COMMIT: %d", res);
		if (res >= 0)
			note_plan(m, want, n, how, res);
	}
	return NULL;
}
