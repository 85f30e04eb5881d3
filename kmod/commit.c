// SPDX-License-Identifier: GPL-2.0
/*
 * A COMMIT's migrations, in order, and with as many copies in flight as there are
 * places for: one is prepared while others are copied. What a migration is, is
 * migrate.c's.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>

#include "client.h"
#include "copy.h"
#include "dev.h"
#include "duplicate.h"
#include "engine.h"
#include "inject.h"
#include "limit.h"
#include "migrate.h"
#include "migrate_ops.h"
#include "migrate_steps.h"
#include "mirror.h"
#include "patience.h"
#include "remote_map.h"
#include "thrash.h"
#include "trace.h"
#include "va_block.h"
#include "va_space.h"

/* Another task may take the room that was made. */
#define MAKE_ROOM_MAX 4

/* How far behind an eviction a migration to the device is looked for. */
#define LOOK_AHEAD 64

#define OP_ROW(NUMBER, name) \
	[GPUEMU_MIGRATE_##NUMBER] = &gpuemu_op_##name

static const struct gpuemu_migrate_ops *const ops[] = {
	GPUEMU_MIGRATION_OPS(OP_ROW)
};

/* What the engine asks for, or NULL: no such thing. */
static const struct gpuemu_migrate_ops *op_of(const struct gpuemu_migration *m)
{
	return m->op < ARRAY_SIZE(ops) ?
	       ops[array_index_nospec(m->op, ARRAY_SIZE(ops))] : NULL;
}

static bool migration_valid(const struct gpuemu_migration *m)
{
	u64 page = m->addr >> GPUEMU_PAGE_SHIFT;

	if (!op_of(m))
		return false;
	if (m->reserved || (m->addr & ~PAGE_MASK) ||
	    m->addr >> GPUEMU_VA_BITS)
		return false;
	return m->pages && m->pages <= GPUEMU_BLOCK_PAGES &&
	       page % GPUEMU_BLOCK_PAGES + m->pages <= GPUEMU_BLOCK_PAGES;
}

/* Why the engine brings these pages; the batch's faults are in order. */
static const char *cause_of(const struct gpuemu_engine *e,
			    const struct gpuemu_migration *m)
{
	u64 end = m->addr + ((u64)m->pages << GPUEMU_PAGE_SHIFT);
	const struct gpuemu_fault *f;
	u32 lo = 0, hi = e->nfaults, mid;

	/* The first fault that is not before the run. */
	while (lo < hi) {
		mid = (lo + hi) / 2;
		f = &e->batch[mid];
		if (f->va_space < m->va_space ||
		    (f->va_space == m->va_space && f->addr < m->addr))
			lo = mid + 1;
		else
			hi = mid;
	}
	f = &e->batch[lo];
	return lo < e->nfaults && f->va_space == m->va_space && f->addr < end ?
	       gpuemu_cause_fault : "prefetch";
}

/* The strongest access of the batch that the run is for; a prefetch, if there is none. */
static enum gpuemu_access access_of(const struct gpuemu_engine *e,
				    const struct gpuemu_migration *m)
{
	u64 end = m->addr + ((u64)m->pages << GPUEMU_PAGE_SHIFT);
	enum gpuemu_access access = GPUEMU_ACCESS_PREFETCH;
	const struct gpuemu_fault *f;

	for (f = e->batch; f < e->batch + e->nfaults; f++)
		if (f->va_space == m->va_space && f->addr >= m->addr &&
		    f->addr < end && f->access > access)
			access = f->access;
	return access;
}

/* --- what a commit has in the air ------------------------------------------- */

/* Ends it, and tells the engine how it went. */
static void flight_land(struct gpuemu_flight *f, struct gpuemu_stamps *cost)
{
	struct gpuemu_block *block = f->copy.block;

	if (f->begun)
		f->op->end(f, cost);
	if (f->op->takes_frames)
		gpuemu_lru_touch(block, f->pass);
	/* Between two tries the CPU may have taken some back: these count once. */
	f->m->moved = min_t(u32, f->m->moved + f->moved, f->m->pages);
	f->m->status = f->ret;
	if (f->ret == -EFAULT)
		gpuemu_block_retire_unmanaged(block);
	mutex_unlock(&block->lock);
	gpuemu_block_put(block);
	gpuemu_client_put(f->client);
}

static void land_oldest(struct gpuemu_flights *flights,
			struct gpuemu_stamps *cost)
{
	struct gpuemu_flight *f = &flights->flight[flights->first];

	flights->first = (flights->first + 1) % ARRAY_SIZE(flights->flight);
	flights->count--;
	flight_land(f, cost);
}

/* Afterwards the commit holds no block. */
static void land_all(struct gpuemu_engine *e, struct gpuemu_stamps *cost)
{
	int way;

	for (way = 0; way < GPUEMU_LINK_WAYS; way++)
		while (e->flights[way].count)
			land_oldest(&e->flights[way], cost);
}

/* A place for one that begins. */
static struct gpuemu_flight *flight_next(struct gpuemu_flights *flights,
					 struct gpuemu_stamps *cost)
{
	while (flights->count >= GPUEMU_FLIGHTS)
		land_oldest(flights, cost);
	return &flights->flight[(flights->first + flights->count) %
				ARRAY_SIZE(flights->flight)];
}

/*
 * Locks the block. The commit holds those in the air too, several and in no order, so
 * they land before it waits: the block may be one of them. It does not wait for long:
 * -EAGAIN, the engine's replay asks for these pages again.
 */
static int block_lock(struct gpuemu_engine *e, struct gpuemu_block *block,
		      struct gpuemu_stamps *cost)
{
	u64 begin, waited = 0;
	bool locked;
	s64 left;

	if (mutex_trylock(&block->lock))
		return 0;
	land_all(e, cost);
	begin = ktime_get_ns();
	left = gpuemu_patience_left(&e->patience, begin);
	for (;;) {
		locked = mutex_trylock(&block->lock);
		if (locked || (s64)waited >= left ||
		    fatal_signal_pending(current))
			break;
		usleep_range(10, 20);
		waited = ktime_get_ns() - begin;
	}
	gpuemu_patience_spend(&e->patience, waited);
	if (locked)
		return 0;
	return fatal_signal_pending(current) ? -EINTR : -EAGAIN;
}

/*
 * The block, referenced, of pages of which the first n are asked for; made only where
 * something is managed. The task that locks the block looks whether it still is.
 */
static struct gpuemu_block *block_get(struct gpuemu_space *space, u64 addr,
				      u32 n)
{
	struct gpuemu_block *block;
	page_mask managed = { };

	block = gpuemu_space_block(space, addr >> GPUEMU_BLOCK_SHIFT);
	if (block)
		return block;
	gpuemu_space_managed_mask(space, addr >> GPUEMU_PAGE_SHIFT, n, managed,
				  0);
	if (bitmap_empty(managed, GPUEMU_BLOCK_PAGES))
		return ERR_PTR(-EFAULT);
	block = gpuemu_space_block_create(space, addr >> GPUEMU_BLOCK_SHIFT,
					  GPUEMU_ENGINE_GFP);
	if (IS_ERR(block))
		gpuemu_sysmem_ask(space);
	return block;
}

/* The same, locked. */
static struct gpuemu_block *block_of(struct gpuemu_engine *e,
				     struct gpuemu_space *space, u64 addr,
				     u32 n, struct gpuemu_stamps *cost)
{
	struct gpuemu_block *block;
	int err;

	for (;;) {
		block = block_get(space, addr, n);
		if (IS_ERR(block))
			return block;
		err = block_lock(e, block, cost);
		if (err) {
			gpuemu_block_put(block);
			return ERR_PTR(err);
		}
		if (!block->dead)
			return block;
		mutex_unlock(&block->lock);
		gpuemu_block_put(block);
	}
}

/* Evictions come before what needs their frames. */
static void land_for_frames(struct gpuemu_engine *e, u32 frames,
			    struct gpuemu_stamps *cost)
{
	struct gpuemu_flights *d2h = &e->flights[GPUEMU_LINK_D2H];

	while (d2h->count && gpuemu_vram_nfree(&e->dev->vram) < frames)
		land_oldest(d2h, cost);
}

/* One of ordinary memory: its pages have no block, and the client's worker finds them. */
static int migrate_mirrored(struct gpuemu_engine *e, struct gpuemu_space *space,
			    struct gpuemu_migration *m,
			    struct gpuemu_stamps *cost, u32 *lacking)
{
	const struct gpuemu_migrate_ops *op = op_of(m);
	u64 begin, waited;
	s64 left;
	int ret;

	/* The worker may want a block that is in the air. */
	land_all(e, cost);
	begin = ktime_get_ns();
	/* A client whose memory comes late is not waited for in each commit. */
	left = gpuemu_patience_left(&space->patience, begin);
	ret = op->mirrored(space, m, access_of(e, m), left > 0 ? e->patience_ns : 0);
	waited = ktime_get_ns() - begin;
	trace_gpuemu_migrate(space->id, m->addr, m->pages, m->op, "mirror", m->moved, ret);
	if (!op->frees_frames || ret == -EBUSY)
		e->patience_ns -= min(waited, e->patience_ns);
	if (ret == -EAGAIN || (op->frees_frames && ret == -EBUSY))
		gpuemu_patience_spend(&space->patience, waited);
	if (op->frees_frames) {
		cost->evict_ns += waited;
		cost->d2h_pages += m->moved;
		return ret;
	}
	cost->map_ns += waited;
	if (!op->takes_frames)
		return ret;
	cost->h2d_pages += m->moved;
	if (ret == -ENOSPC)
		*lacking = m->pages - m->moved;
	return ret;
}

/*
 * The operation may take locks that stand above blocks, so all copies land before. A commit waits
 * for a client that is slow with them only as far as the space's patience goes.
 */
static int migrate_prepare(struct gpuemu_engine *e, struct gpuemu_space *space,
			   const struct gpuemu_migrate_ops *op, struct gpuemu_stamps *cost)
{
	u64 begin;
	s64 left;
	int ret;

	if (!op->prepare)
		return 0;
	land_all(e, cost);
	ret = op->prepare(space, 0);
	if (ret != -EBUSY)
		return ret;
	begin = ktime_get_ns();
	left = gpuemu_patience_left(&space->patience, begin);
	if (left <= 0)
		return ret;
	ret = op->prepare(space, left);
	if (ret == -EBUSY)
		gpuemu_patience_spend(&space->patience, ktime_get_ns() - begin);
	return ret;
}

/* One descriptor, once. */
static int migrate_once(struct gpuemu_engine *e, struct gpuemu_client *client,
			struct gpuemu_migration *m, u64 pass,
			struct gpuemu_stamps *cost, u32 *lacking)
{
	u32 first = (m->addr >> GPUEMU_PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;
	const struct gpuemu_migrate_ops *op = op_of(m);
	struct gpuemu_flights *flights = &e->flights[op->way];
	struct gpuemu_block *block;
	struct gpuemu_flight *f;
	int err;

	*lacking = 0;
	if (gpuemu_mirror_has(&client->space, m->addr))
		return migrate_mirrored(e, &client->space, m, cost, lacking);
	err = migrate_prepare(e, &client->space, op, cost);
	if (err)
		return err;
	f = flight_next(flights, cost);
	if (op->takes_frames)
		land_for_frames(e, m->pages, cost);
	block = block_of(e, &client->space, m->addr, m->pages, cost);
	if (IS_ERR(block))
		return PTR_ERR(block);
	kref_get(&client->ref);
	f->client = client;
	f->m = m;
	f->pass = pass;
	f->copy.block = block;
	f->copy.pending = false;
	f->copy.many = flights->many;
	gpuemu_flight_begin(f, first, m->pages);
	f->op = op;
	f->cause = cause_of(e, m);
	op->begin(f, cost, lacking);
	if (f->copy.pending)
		flights->count++;
	else
		flight_land(f, cost);
	return m->status;
}

/*
 * One descriptor, and if it finds no frame and the engine wants it, again with
 * room made for the rest: with no block held, so that a victim never waits for
 * the task that evicts it, and everything is looked up anew.
 */
static void migrate_one(struct gpuemu_engine *e, struct gpuemu_client *client,
			struct gpuemu_migration *m, u64 pass, bool make_room,
			struct gpuemu_stamps *cost)
{
	struct gpuemu_space *space = &client->space;
	bool parts = !gpuemu_mirror_has(space, m->addr);
	u32 lacking, freed, tries;
	u64 start;

	for (tries = 0;; tries++) {
		m->status = migrate_once(e, client, m, pass, cost, &lacking);
		if (!lacking || !make_room || tries == MAKE_ROOM_MAX)
			break;
		land_all(e, cost);
		start = ktime_get_ns();
		freed = gpuemu_lru_evict(space->dev, pass, lacking,
					 gpuemu_limit_reached(space) ?
					 space : NULL);
		cost->evict_ns += ktime_get_ns() - start;
		cost->d2h_pages += freed;
		/* A huge page of ordinary memory waited for room, and there is none: its parts go. */
		if (!freed && parts)
			break;
		parts |= !freed;
	}
	if (lacking && gpuemu_limit_reached(space)) {
		gpuemu_count(space, OVER_SHARE, lacking);
		gpuemu_event_pressure(space, "the client's share");
	} else if (lacking) {
		gpuemu_count(space, NO_FRAME, lacking);
		gpuemu_event_pressure(space, "device memory");
	}
}

/* What a commit is: the engine's, whose migrations it does. */
struct commit {
	struct gpuemu_engine *e;
	u64 pass;
	bool make_room;
	struct gpuemu_client *client;	/* the last one's, referenced, or NULL */
	struct gpuemu_stamps *cost;
};

/* Whether it can be done at all; else m says why not. */
static bool commit_may(struct commit *c, struct gpuemu_migration *m)
{
	struct gpuemu_engine *e = c->e;

	m->status = 0;
	if (gpuemu_engine_lost(e)) {
		m->status = -ENODEV;
		return false;
	}
	if (fatal_signal_pending(current)) {
		m->status = -EINTR;
		return false;
	}
	if (!migration_valid(m)) {
		m->status = -EINVAL;
		return false;
	}
	if (!c->client || c->client->space.id != m->va_space) {
		if (c->client)
			gpuemu_client_put(c->client);
		c->client = gpuemu_client_get(e->dev, m->va_space);
	}
	if (!c->client)
		m->status = -ESRCH;
	return c->client;
}

static void commit_one(struct commit *c, struct gpuemu_migration *m)
{
	if (commit_may(c, m))
		migrate_one(c->e, c->client, m, c->pass, c->make_room, c->cost);
}

static bool frees_frames(const struct gpuemu_migration *m)
{
	const struct gpuemu_migrate_ops *op = op_of(m);

	return op && op->frees_frames;
}

static bool same_block(const struct gpuemu_migration *a,
		       const struct gpuemu_migration *b)
{
	return a->va_space == b->va_space &&
	       a->addr >> GPUEMU_BLOCK_SHIFT == b->addr >> GPUEMU_BLOCK_SHIFT;
}

/* How many small migrations, from m on, may be one: one VA block's, by address. */
static u32 group_length(const struct gpuemu_migration *m, u32 count)
{
	u32 n;

	for (n = 0; n < count; n++) {
		if (!migration_valid(&m[n]) || m[n].op != m[0].op ||
		    !op_of(&m[n])->joins || m[n].pages >= GPUEMU_COPY_PAGES_MIN)
			break;
		if (n && (!same_block(&m[n], &m[0]) ||
			  m[n].addr < m[n - 1].addr +
				      ((u64)m[n - 1].pages << PAGE_SHIFT)))
			break;
	}
	return n;
}

/* Bits first .. first + n - 1. */
static u32 weight_of(const unsigned long *mask, u32 first, u32 n)
{
	u32 weight = 0;

	for (; n; n--)
		weight += test_bit(first++, mask);
	return weight;
}

/*
 * Does a batch's pages of one VA block as one migration: the block is looked up, locked and
 * unmapped once. If something fails, or room has to be made, the pages are done again one by
 * one, so that each is told its own status.
 */
static void commit_group(struct commit *c, struct gpuemu_migration *m, u32 count)
{
	const struct gpuemu_migrate_ops *op = op_of(m);
	struct gpuemu_engine *e = c->e;
	struct gpuemu_block *block;
	struct gpuemu_flight *f;
	u32 lacking, first, i;
	page_mask moved, faulted;

	if (!commit_may(c, m) || gpuemu_mirror_has(&c->client->space, m->addr))
		goto singly;
	f = flight_next(&e->flights[op->way], c->cost);
	first = (m->addr >> GPUEMU_PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;
	gpuemu_flight_begin(f, first, 0);
	f->op = op;
	bitmap_zero(f->want, GPUEMU_BLOCK_PAGES);
	for (i = 0; i < count; i++)
		bitmap_set(f->want,
			   (m[i].addr >> GPUEMU_PAGE_SHIFT) % GPUEMU_BLOCK_PAGES,
			   m[i].pages);
	f->n = find_last_bit(f->want, GPUEMU_BLOCK_PAGES) - first + 1;
	f->members = count;
	land_for_frames(e, bitmap_weight(f->want, GPUEMU_BLOCK_PAGES), c->cost);
	block = block_of(e, &c->client->space, m->addr, f->n, c->cost);
	if (IS_ERR(block))
		goto singly;
	f->copy.block = block;
	f->copy.many = false;
	op->begin(f, c->cost, &lacking);
	bitmap_zero(moved, GPUEMU_BLOCK_PAGES);
	if (f->begun) {
		op->end(f, c->cost);
		bitmap_copy(moved, f->copy.mask, GPUEMU_BLOCK_PAGES);
	}
	gpuemu_lru_touch(block, c->pass);
	bitmap_zero(faulted, GPUEMU_BLOCK_PAGES);
	for (i = 0; i < count; i++) {
		const char *cause = cause_of(e, &m[i]);

		first = (m[i].addr >> GPUEMU_PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;
		m[i].moved = weight_of(moved, first, m[i].pages);
		if (m[i].moved)
			trace_gpuemu_migrate(m[i].va_space, m[i].addr, m[i].pages,
					     op->nr, cause, m[i].moved, 0);
		if (cause == gpuemu_cause_fault)
			bitmap_set(faulted, first, m[i].pages);
		m[i].status = 0;
	}
	if (bitmap_and(faulted, faulted, moved, GPUEMU_BLOCK_PAGES))
		gpuemu_thrash_device(block, faulted);
	if (f->ret == -EFAULT)
		gpuemu_block_retire_unmanaged(block);
	mutex_unlock(&block->lock);
	gpuemu_block_put(block);
	if (!f->ret)
		return;
singly:
	for (i = 0; i < count; i++)
		if (m[i].moved < m[i].pages)
			commit_one(c, &m[i]);
}

/*
 * While an eviction is being copied and the next one, i, is to come: the first large
 * migration the other way behind it is done now, if there are frames for it and nothing
 * that it passes is about its block. So a plan that has all its evictions first keeps
 * both ways of the link busy. Each page gets the frame that it would have got, because
 * migrations to the device do not pass each other.
 */
static void look_ahead(struct commit *c, u32 i, u32 count)
{
	struct gpuemu_engine *e = c->e;
	struct gpuemu_flights *h2d = &e->flights[GPUEMU_LINK_H2D];
	struct gpuemu_migration *m = e->migrations, *ahead;
	u32 end = min(count, i + LOOK_AHEAD), j, k;

	if (!frees_frames(&m[i]) || !e->flights[GPUEMU_LINK_D2H].count)
		return;
	/* No waiting for this way: the other one is what comes next. */
	while (h2d->count &&
	       gpuemu_copy_done(&h2d->flight[h2d->first].copy))
		land_oldest(h2d, c->cost);
	if (h2d->count == GPUEMU_FLIGHTS)
		return;
	for (j = i + 1; j < end; j++)
		if (migration_valid(&m[j]) && op_of(&m[j])->joins &&
		    !test_bit(j, e->ahead))
			break;
	if (j >= end)
		return;
	ahead = &m[j];
	if (ahead->pages < GPUEMU_COPY_PAGES_MIN ||
	    ahead->pages > gpuemu_vram_nfree(&e->dev->vram))
		return;
	for (k = i; k < j; k++)
		if (!test_bit(k, e->ahead) && same_block(&m[k], ahead))
			return;
	__set_bit(j, e->ahead);
	commit_one(c, ahead);
}

/**
 * gpuemu_migrate_commit() - does the first @count of e->migrations, in order
 * @e: the caller owns its batch (COMMITTING)
 * @count: at most GPUEMU_COMMIT_MAX
 * @make_room: evict by the module's own order where no frame is free
 * @cost: gets the sums
 *
 * Stops at the engine's or the caller's death; what is left says so in its
 * status. Returns how many ended with status 0. A few are in flight at a time: their
 * copies, while the next is prepared. All have landed in the end.
 */
u32 gpuemu_migrate_commit(struct gpuemu_engine *e, u32 count, bool make_room,
			  struct gpuemu_stamps *cost)
{
	struct commit c = {
		.e = e,
		.pass = gpuemu_lru_pass(&e->dev->lru),
		.make_room = make_room,
		.cost = cost,
	};
	u32 done = 0, i, n;
	u64 pages = 0;

	e->patience_ns = GPUEMU_PATIENCE_NS;
	bitmap_zero(e->ahead, count);
	for (i = 0; i < count; i++) {
		e->migrations[i].moved = 0;
		pages += e->migrations[i].pages;
	}
	e->flights[GPUEMU_LINK_H2D].many = pages >= GPUEMU_COPY_PAGES_MIN;
	e->flights[GPUEMU_LINK_D2H].many = pages >= GPUEMU_COPY_PAGES_MIN;
	for (i = 0; i < count; i += n) {
		n = 1;
		if (test_bit(i, e->ahead))
			continue;
		n = group_length(&e->migrations[i], count - i);
		if (n > 1) {
			commit_group(&c, &e->migrations[i], n);
			cond_resched();
			continue;
		}
		n = 1;
		/* So that the frames of the oldest are free for look_ahead(). */
		while (frees_frames(&e->migrations[i]) &&
		       e->flights[GPUEMU_LINK_D2H].count == GPUEMU_FLIGHTS)
			land_oldest(&e->flights[GPUEMU_LINK_D2H], cost);
		look_ahead(&c, i, count);
		commit_one(&c, &e->migrations[i]);
		gpuemu_inject_pause(e->dev, GPUEMU_INJECT_PAUSE_COMMIT);
		cond_resched();
	}
	land_all(e, cost);
	if (c.client)
		gpuemu_client_put(c.client);
	for (i = 0; i < count; i++)
		done += !e->migrations[i].status;
	return done;
}
