// SPDX-License-Identifier: GPL-2.0
/*
 * Shared memory is not looked at cycle by cycle: an instruction says when it comes for how
 * long it is at the banks, and the cycles between two of them are the head's. Memory is
 * tried in each cycle in which the program leaves the port alone.
 */
#include "base/array.h"
#include "sm/background.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sm/ldst_internal.h"
#include "sm/reexec.h"

struct job {
	struct background_job what;
	uint32_t moved;			/* bytes that are done with, or whose answers are to come */
	uint32_t answers;		/* to come: sectors, lines of L1D */
	uint32_t next;			/* of its list; NO_INDEX */
};

/* Jobs in order. */
struct list {
	uint32_t first, last;
};

struct background {
	struct job *jobs;
	uint32_t room, free;
	struct list shared;		/* the first has the port */
	struct list unsent;		/* of memory; the first is being sent */
	struct list ended;		/* to be told at the cycle's end */
	uint64_t seen;			/* shared memory: cycles before are accounted for */
	uint64_t banks;			/* an instruction is there before this cycle */
	uint64_t left;			/* cycles that the first still needs */
	uint64_t try;			/* memory: cycle of the next attempt */
	uint64_t due;			/* cycle in which the first would be sent, if nothing else was */
};

/* Adds n to a counter of the job's kernel. */
#define count(sm, job, field, n)	sm_count(sm, (job)->kernel, background.field, n)

/* --- jobs and lists ----------------------------------------------------------------- */

static void list_add(struct background *b, struct list *list, uint32_t job)
{
	b->jobs[job].next = NO_INDEX;
	if (list->first == NO_INDEX)
		list->first = job;
	else
		b->jobs[list->last].next = job;
	list->last = job;
}

static uint32_t list_take(struct background *b, struct list *list)
{
	uint32_t job = list->first;

	list->first = b->jobs[job].next;
	return job;
}

static int more_jobs(struct background *b)
{
	uint32_t first = b->room;

	if (array_grow(b->jobs, b->room, first))
		return -ENOMEM;
	for (uint32_t i = first; i < b->room; i++) {
		b->jobs[i].next = b->free;
		b->free = i;
	}
	return 0;
}

static void clear(struct background *b)
{
	b->free = NO_INDEX;
	for (uint32_t i = 0; i < b->room; i++) {
		b->jobs[i].next = b->free;
		b->free = i;
	}
	b->shared.first = b->unsent.first = b->ended.first = NO_INDEX;
	b->banks = 0;
	b->try = NEVER;
}

static struct background *get(struct sm *sm)
{
	if (!sm->background) {
		sm->background = calloc(1, sizeof(*sm->background));
		if (sm->background)
			clear(sm->background);
	}
	return sm->background;
}

static uint32_t width_of(const struct sm *sm, const struct background_job *job)
{
	return job->width ? job->width : (uint32_t)sm->spec->shared_banks * 4;
}

/* The first job of shared memory begins. */
static void begin_shared(struct sm *sm, uint64_t now)
{
	struct background *b = sm->background;
	const struct background_job *job = &b->jobs[b->shared.first].what;

	b->left = DIV_ROUND_UP(job->bytes, width_of(sm, job));
	b->seen = MAX(job->from, now);
}

int background_move(struct sm *sm, const struct background_job *what)
{
	struct background *b = get(sm);
	uint64_t from = MAX(what->from, sm->now + 1);
	bool first;
	uint32_t i;

	if (!b || (b->free == NO_INDEX && more_jobs(b)))
		return -ENOMEM;
	assert(what->bytes && what->done);
	assert(what->way == BACKGROUND_SHARED ||
	       (what->addr >= MEM_BACKGROUND_BASE &&
		what->addr + what->bytes <= MEM_BACKGROUND_END &&
		what->addr % MEM_SECTOR == 0 && what->bytes % MEM_SECTOR == 0));
	i = b->free;
	b->free = b->jobs[i].next;
	b->jobs[i] = (struct job){ .what = *what };
	sm->jobs++;
	count(sm, what, jobs, 1);
	count(sm, what, bytes, what->bytes);
	if (what->way == BACKGROUND_SHARED) {
		first = b->shared.first == NO_INDEX;
		list_add(b, &b->shared, i);
		if (first)
			begin_shared(sm, from);
	} else {
		if (b->unsent.first == NO_INDEX)
			b->due = from;
		list_add(b, &b->unsent, i);
		b->try = MIN(b->try, from);
	}
	*sm->env.wake = MIN(*sm->env.wake, from);
	return 0;
}

int sm_move(struct sm *sm, const struct background_job *job)
{
	return background_move(sm, job);
}

void background_fini(struct sm *sm)
{
	if (sm->background)
		free(sm->background->jobs);
	free(sm->background);
	sm->background = NULL;
}

void background_cancel(struct sm *sm)
{
	if (sm->background)
		clear(sm->background);
	sm->jobs = 0;
}

bool background_idle(const struct sm *sm)
{
	return !sm->jobs;
}

/* --- shared memory ---------------------------------------------------------------------- */

/* Counts what the first job has moved in the cycles before `upto`. */
static void look(struct sm *sm, uint64_t upto)
{
	struct background *b = sm->background;
	uint64_t begin = MAX(b->seen, b->banks), n;
	const struct background_job *job;

	if (b->shared.first == NO_INDEX || b->seen >= upto)
		return;
	job = &b->jobs[b->shared.first].what;
	count(sm, job, shared_waits, MIN(begin, upto) - b->seen);
	n = begin < upto ? MIN(b->left, upto - begin) : 0;
	b->left -= n;
	count(sm, job, shared_cycles, n);
	b->seen = upto;
}

void background_banks(struct sm *sm, uint64_t from, uint64_t to)
{
	look(sm, from);
	sm->background->banks = to;
}

static void shared_cycle(struct sm *sm, uint64_t now)
{
	struct background *b = sm->background;
	uint32_t i = b->shared.first;

	look(sm, now + 1);
	if (b->left)
		return;
	list_take(b, &b->shared);
	b->jobs[i].moved = b->jobs[i].what.bytes;
	count(sm, &b->jobs[i].what, shared_bytes, b->jobs[i].what.bytes);
	list_add(b, &b->ended, i);
	if (b->shared.first != NO_INDEX)
		begin_shared(sm, now + 1);
}

/* --- memory -------------------------------------------------------------------------------- */

/* Does the program want the port, or L1D's tags? */
static bool demand_waits(const struct ldst *l)
{
	return l->l1d_queue.count || l->l1c_queue.count || l->texture.queue.count ||
	       l->late_count || l->stuck;
}

/* Gives the bytes of the largest transaction that may begin at addr. */
static uint32_t piece_of(uint64_t addr, uint32_t bytes)
{
	for (uint32_t size = MEM_LINE; size > MEM_SECTOR; size /= 2)
		if (addr % size == 0 && size <= bytes)
			return size;
	return MEM_SECTOR;
}

static struct mem_request request_of(const struct sm *sm, uint32_t i, uint64_t addr,
				     uint32_t bytes)
{
	const struct background_job *job = &sm->background->jobs[i].what;
	struct mem_request r = {
		.addr = addr, .tag = TAG_BACKGROUND | i, .sm = (uint16_t)sm->id,
		.kind = job->kind, .cls = MEM_BACKGROUND, .bytes = (uint8_t)bytes,
		.kernel = job->kernel,
	};

	if (job->kind == MEM_WRITE)
		memset(r.byte_mask, 0xff, sizeof(r.byte_mask));
	return r;
}

/* Sends past L1D, and gives the bytes that went; 0: none, b->try says when to try again. */
static uint32_t send(struct sm *sm, uint32_t i, uint64_t now)
{
	struct background *b = sm->background;
	struct job *job = &b->jobs[i];
	uint64_t addr = job->what.addr + job->moved;
	uint32_t bytes = piece_of(addr, job->what.bytes - job->moved);
	const struct mem_request r = request_of(sm, i, addr, bytes);
	uint64_t free = mem_port_free(sm->env.mem, sm->id);

	if (free > now || !mem_ready(sm->env.mem, sm->id, &r, now)) {
		b->try = MAX(free, credit_next(sm, &r, now));
		return 0;
	}
	mem_send(sm->env.mem, &r, now);
	job->answers += bytes / MEM_SECTOR;
	count(sm, &job->what, sectors[job->what.kind == MEM_WRITE], bytes / MEM_SECTOR);
	return bytes;
}

/* Looks one line up in L1D, as an access of local memory does. Gives bytes as send() does. */
static uint32_t look_up(struct sm *sm, uint32_t i, uint64_t now)
{
	struct background *b = sm->background;
	struct ldst *l = sm->ldst;
	struct job *job = &b->jobs[i];
	uint64_t addr = job->what.addr + job->moved, line = addr & ~(uint64_t)(MEM_LINE - 1);
	uint32_t bytes = MIN(job->what.bytes - job->moved, (uint32_t)(line + MEM_LINE - addr));
	enum cache_outcome outcome;

	/* A load that is refused in each cycle is at them, too. */
	if (l->tags_used == now || reexec_refused(l))
		return 0;
	if (job->what.kind == MEM_WRITE) {
		if (cache_write_if_there(l->l1d, line) != CACHE_HIT) {
			bytes = send(sm, i, now);
			count(sm, &job->what, l1_misses, bytes != 0);
			return bytes;
		}
		count(sm, &job->what, l1_hits, 1);
		return bytes;
	}
	outcome = l1d_background(sm, line, BACKGROUND_WAITER | i, job->what.kernel, now);
	if (outcome >= CACHE_NO_MSHR)
		return 0;
	count(sm, &job->what, l1_hits, outcome == CACHE_HIT);
	count(sm, &job->what, l1_misses, outcome != CACHE_HIT);
	count(sm, &job->what, sectors[0], outcome == CACHE_MISS ? MEM_SECTORS : 0);
	job->answers += outcome != CACHE_HIT;
	return bytes;
}

static void end(struct background *b, uint32_t i)
{
	list_add(b, &b->ended, i);
}

static void memory_cycle(struct sm *sm, uint64_t now)
{
	struct background *b = sm->background;
	uint32_t i = b->unsent.first;
	struct job *job = &b->jobs[i];
	uint32_t bytes;

	b->try = MAX(now + 1, job->what.from);
	if (job->what.from > now || demand_waits(sm->ldst))
		return;
	bytes = job->what.way == BACKGROUND_L1 ? look_up(sm, i, now) : send(sm, i, now);
	if (!bytes)
		return;
	count(sm, &job->what, memory_waits, now - b->due);
	b->due = now + 1;
	job->moved += bytes;
	if (job->moved < job->what.bytes)
		return;
	list_take(b, &b->unsent);
	if (!job->answers)
		end(b, i);
	b->try = NEVER;
	if (b->unsent.first == NO_INDEX)
		return;
	b->try = now + 1;
	b->due = MAX(b->due, b->jobs[b->unsent.first].what.from);
}

static void answered(struct sm *sm, uint32_t i, uint32_t n)
{
	struct background *b = sm->background;
	struct job *job = &b->jobs[i];

	assert(job->answers >= n);
	job->answers -= n;
	if (!job->answers && job->moved == job->what.bytes)
		end(b, i);
}

void background_reply(struct sm *sm, uint32_t job, unsigned int sectors)
{
	answered(sm, job, sectors);
}

void background_filled(struct sm *sm, uint32_t waiter)
{
	answered(sm, waiter & ~BACKGROUND_WAITER, 1);
}

/* --- the cycle ---------------------------------------------------------------------------------- */

void background_cycle(struct sm *sm, uint64_t now)
{
	struct background *b = sm->background;

	if (b->shared.first != NO_INDEX)
		shared_cycle(sm, now);
	if (b->try <= now)
		memory_cycle(sm, now);
	/* A mechanism that is told may ask for more. */
	while (b->ended.first != NO_INDEX) {
		uint32_t i = list_take(b, &b->ended);
		struct background_job what = b->jobs[i].what;

		b->jobs[i].next = b->free;
		b->free = i;
		sm->jobs--;
		what.done(what.ctx, sm, now);
	}
}

uint64_t background_next(const struct sm *sm, uint64_t now)
{
	const struct background *b = sm->background;
	uint64_t next = b->try;

	if (b->ended.first != NO_INDEX)
		return now + 1;
	if (b->shared.first != NO_INDEX)
		next = MIN(next, MAX(b->seen, b->banks) + b->left - 1);
	return MAX(next, now + 1);
}
