// SPDX-License-Identifier: GPL-2.0
/*
 * The link as a simulation of its own events: orders come due, pieces end, what has
 * landed is told, the next piece starts. serve.c sends, gpu/'s clock drives it
 * through paging_advance(). It knows how long things take and decides nothing.
 *
 * A transfer of s KiB gets BW(s) = (2a/pi) * atan(0.07292 * s) with paging.link_curve
 * (UVMSmart's fit to PCIe 3.0: a = 12 GB/s of 16), else all of paging.link_mbps.
 */
#include "paging/link.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/list.h"

#define CHUNK_TRANSFERS	64u
#define CURVE_SCALE	0.07292		/* a KiB */
#define CURVE_LIMIT	0.75		/* of the link's rate */

enum kind { SEND, DELIVER, PROMOTE };

struct transfer {
	struct list node;	/* in orders, in a queue, in flying, or free */
	uint64_t at;		/* order: when it is due */
	uint64_t addr;
	uint32_t pages;		/* that have not begun */
	uint32_t whole;		/* pages of the transfer when it began; 0: it has not */
	uint32_t va_space, tag;
	uint8_t kind, dir, class;
	struct link_piece piece;	/* in flying */
};

struct chunk {
	struct chunk *next;
	struct transfer at[CHUNK_TRANSFERS];
};

struct way {
	struct list queue[LINK_CLASSES];
	struct transfer *piece;		/* on the link, or NULL */
};

struct link {
	uint64_t mbps, latency, chunk_pages;
	bool curve;
	uint64_t now;			/* everything before is done */
	struct list orders;		/* by time, then as they were given */
	struct way ways[LINK_DIRS];
	struct list flying;		/* pieces that have left the link, by landing */
	struct list free;
	struct chunk *chunks;
	uint64_t waiting, leaving;
	struct link_stats stats;
};

/* --- making one -------------------------------------------------------------- */

int link_create(const struct gpu_spec *spec, struct link **out)
{
	struct link *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->mbps = spec->link_mbps;
	l->latency = spec->link_latency_ns * PS_NS;
	l->chunk_pages = MAX(spec->link_chunk / PAGE_BYTES, 1u);
	l->curve = spec->link_curve;
	list_init(&l->orders);
	list_init(&l->flying);
	list_init(&l->free);
	for (unsigned int d = 0; d < LINK_DIRS; d++)
		for (unsigned int c = 0; c < LINK_CLASSES; c++)
			list_init(&l->ways[d].queue[c]);
	*out = l;
	return 0;
}

void link_destroy(struct link *l)
{
	if (!l)
		return;
	while (l->chunks) {
		struct chunk *chunk = l->chunks;

		l->chunks = chunk->next;
		free(chunk);
	}
	free(l);
}

static struct transfer *first(const struct list *head)
{
	return list_empty(head) ? NULL : list_entry(head->next, struct transfer, node);
}

/* In no list. NULL: no memory. */
static struct transfer *transfer_new(struct link *l)
{
	struct transfer *t = first(&l->free);

	if (!t) {
		struct chunk *chunk = malloc(sizeof(*chunk));

		if (!chunk)
			return NULL;
		chunk->next = l->chunks;
		l->chunks = chunk;
		for (unsigned int i = 0; i < CHUNK_TRANSFERS; i++)
			list_add_tail(&l->free, &chunk->at[i].node);
		t = first(&l->free);
	}
	list_del(&t->node);
	return t;
}

static void transfer_free(struct link *l, struct transfer *t)
{
	list_del(&t->node);
	list_add_head(&l->free, &t->node);
}

/* --- orders ------------------------------------------------------------------- */

/* Behind which order one that is due at `at` comes. From the end: they mostly come in order. */
static struct list *order_place(const struct link *l, uint64_t at)
{
	struct list *behind = l->orders.prev;

	while (behind != &l->orders && list_entry(behind, struct transfer, node)->at > at)
		behind = behind->prev;
	return behind;
}

static int order(struct link *l, const struct transfer *what)
{
	struct transfer *t = transfer_new(l);

	if (!t)
		return -ENOMEM;
	*t = *what;
	list_insert(order_place(l, t->at)->next, &t->node);
	return 0;
}

/* Adds the pages to the order given before, where that is all one transfer. */
static bool join(struct link *l, const struct transfer *what)
{
	struct list *behind = order_place(l, what->at);
	struct transfer *last = list_entry(behind, struct transfer, node);

	if (behind == &l->orders || last->kind != SEND || last->at != what->at ||
	    last->dir != what->dir || last->class != what->class ||
	    last->va_space != what->va_space || last->tag != what->tag ||
	    last->addr + last->pages * PAGE_BYTES != what->addr)
		return false;
	last->pages += what->pages;
	return true;
}

int link_send(struct link *l, uint64_t at, enum link_dir dir, enum link_class class,
	      uint32_t va_space, uint64_t addr, uint32_t pages, uint32_t tag)
{
	const struct transfer t = {
		.at = at, .addr = addr, .pages = pages, .va_space = va_space, .tag = tag,
		.kind = SEND, .dir = (uint8_t)dir, .class = (uint8_t)class,
	};
	int rc = join(l, &t) ? 0 : order(l, &t);

	if (!rc && dir == LINK_H2D)
		l->waiting += pages;
	else if (!rc)
		l->leaving += pages;
	return rc;
}

int link_deliver(struct link *l, uint64_t at, uint32_t va_space, uint64_t addr, uint32_t pages,
		 uint32_t tag)
{
	return order(l, &(struct transfer){
		.at = at, .addr = addr, .pages = pages, .va_space = va_space, .tag = tag,
		.kind = DELIVER,
	});
}

int link_promote(struct link *l, uint64_t at, uint32_t va_space, uint64_t addr, uint32_t pages)
{
	return order(l, &(struct transfer){
		.at = at, .addr = addr, .pages = pages, .va_space = va_space, .kind = PROMOTE,
	});
}

/* --- cutting pages out of transfers ---------------------------------------------- */

static uint64_t end_of(const struct transfer *t)
{
	return t->addr + t->pages * PAGE_BYTES;
}

/* A new transfer behind t, of its pages from `from` on; t keeps those before. NULL: no memory. */
static struct transfer *split(struct link *l, struct transfer *t, uint64_t from)
{
	struct transfer *rest = transfer_new(l);

	if (!rest)
		return NULL;
	*rest = *t;
	rest->addr = from;
	rest->pages = (uint32_t)((end_of(t) - from) / PAGE_BYTES);
	rest->whole = 0;
	t->pages -= rest->pages;
	list_insert(t->node.next, &rest->node);
	return rest;
}

/* Makes the overlap of t and [start, end), which is not empty, a transfer. NULL: no memory. */
static struct transfer *cut_out(struct link *l, struct transfer *t, uint64_t start, uint64_t end)
{
	if (t->addr < start)
		t = split(l, t, start);
	if (t && end_of(t) > end && !split(l, t, end))
		return NULL;
	return t;
}

static bool concerns(const struct transfer *t, uint32_t va_space, uint64_t start, uint64_t end)
{
	return t->kind == SEND && t->dir == LINK_H2D && t->va_space == va_space &&
	       t->addr < end && end_of(t) > start;
}

static int promote_in(struct link *l, struct list *list, const struct transfer *what,
		      struct list *to)
{
	list_for_each_safe(node, list) {
		struct transfer *t = list_entry(node, struct transfer, node);

		if (t->class != LINK_PREFETCH ||
		    !concerns(t, what->va_space, what->addr, end_of(what)))
			continue;
		t = cut_out(l, t, what->addr, end_of(what));
		if (!t)
			return -ENOMEM;
		node_next = t->node.next;
		t->class = LINK_DEMAND;
		t->whole = 0;
		/* An order stays where its time is. */
		if (to)
			list_move_tail(to, &t->node);
	}
	return 0;
}

static int cancel_in(struct link *l, struct list *list, uint32_t va_space, uint64_t start,
		     uint64_t end)
{
	list_for_each_safe(node, list) {
		struct transfer *t = list_entry(node, struct transfer, node);

		if (!concerns(t, va_space, start, end))
			continue;
		t = cut_out(l, t, start, end);
		if (!t)
			return -ENOMEM;
		node_next = t->node.next;
		l->waiting -= t->pages;
		transfer_free(l, t);
	}
	return 0;
}

int link_cancel(struct link *l, uint32_t va_space, uint64_t start, uint64_t end)
{
	int rc = cancel_in(l, &l->orders, va_space, start, end);

	for (unsigned int c = 0; !rc && c < LINK_CLASSES; c++)
		rc = cancel_in(l, &l->ways[LINK_H2D].queue[c], va_space, start, end);
	return rc;
}

static bool touches(uint64_t addr, uint32_t pages, uint64_t start, uint64_t end)
{
	return addr < end && addr + pages * PAGE_BYTES > start;
}

/* Does a transfer of the list, which has not begun, carry a page of the range? */
static bool list_holds(const struct list *head, enum link_dir dir, uint32_t va_space,
		       uint64_t start, uint64_t end)
{
	for (const struct list *at = head->next; at != head; at = at->next) {
		const struct transfer *t = list_entry(at, struct transfer, node);

		if (t->kind != PROMOTE && t->dir == dir && t->va_space == va_space &&
		    touches(t->addr, t->pages, start, end))
			return true;
	}
	return false;
}

static bool piece_in(const struct link_piece *p, enum link_dir dir, uint32_t va_space,
		     uint64_t start, uint64_t end)
{
	return p->dir == dir && p->va_space == va_space &&
	       touches(p->addr, p->pages, start, end);
}

bool link_holds(const struct link *l, enum link_dir dir, uint32_t va_space, uint64_t start,
		uint64_t end)
{
	const struct transfer *piece = l->ways[dir].piece;

	if (list_holds(&l->orders, dir, va_space, start, end) ||
	    (piece && piece_in(&piece->piece, dir, va_space, start, end)))
		return true;
	for (unsigned int c = 0; c < LINK_CLASSES; c++)
		if (list_holds(&l->ways[dir].queue[c], dir, va_space, start, end))
			return true;
	for (const struct list *at = l->flying.next; at != &l->flying; at = at->next)
		if (piece_in(&list_entry(at, struct transfer, node)->piece, dir, va_space, start,
			     end))
			return true;
	return false;
}

/* --- time ------------------------------------------------------------------------ */

uint64_t link_time(const struct link *l, uint64_t pages, uint64_t whole)
{
	double rate;

	/* MB/s are 10^6 bytes a second: 4 KiB at 16000 MB/s are 256 ns. */
	if (!l->curve)
		return DIV_ROUND_UP(pages * PAGE_BYTES * 1000000, l->mbps);
	rate = 2 / M_PI * CURVE_LIMIT * (double)l->mbps *
	       atan(CURVE_SCALE * (double)(whole * PAGE_BYTES) / 1024);
	return (uint64_t)ceil((double)(pages * PAGE_BYTES) * 1e6 / rate);
}

uint64_t link_next(const struct link *l)
{
	uint64_t next = LINK_NEVER;

	if (!list_empty(&l->orders))
		next = first(&l->orders)->at;
	if (!list_empty(&l->flying))
		next = MIN(next, first(&l->flying)->piece.landed);
	for (unsigned int d = 0; d < LINK_DIRS; d++)
		if (l->ways[d].piece)
			next = MIN(next, l->ways[d].piece->piece.end);
	return next;
}

/* --- what happens at l->now --------------------------------------------------------- */

static void end_pieces(struct link *l)
{
	for (unsigned int d = 0; d < LINK_DIRS; d++) {
		struct transfer *t = l->ways[d].piece;

		if (!t || t->piece.end > l->now)
			continue;
		l->ways[d].piece = NULL;
		l->stats.pages[d] += t->piece.pages;
		l->stats.busy[d] += t->piece.end - t->piece.begin;
		if (d == LINK_D2H)
			l->leaving -= t->piece.pages;
		list_add_tail(&l->flying, &t->node);
	}
}

static void land(struct link *l, const struct link_ears *ears)
{
	struct transfer *t;

	while ((t = first(&l->flying)) && t->piece.landed <= l->now) {
		struct link_piece piece = t->piece;

		transfer_free(l, t);
		ears->landed(ears->ctx, &piece);
	}
}

static int accept(struct link *l, const struct link_ears *ears)
{
	struct transfer *t;
	int rc = 0;

	while (!rc && (t = first(&l->orders)) && t->at <= l->now) {
		const struct transfer what = *t;

		switch (what.kind) {
		case SEND:
			list_move_tail(&l->ways[what.dir].queue[what.class], &t->node);
			break;
		case DELIVER:
			transfer_free(l, t);
			ears->landed(ears->ctx, &(struct link_piece){
				.addr = what.addr, .pages = what.pages,
				.va_space = what.va_space, .tag = what.tag, .dir = LINK_H2D,
				.begin = what.at, .end = what.at, .landed = what.at,
			});
			break;
		case PROMOTE:
			transfer_free(l, t);
			rc = promote_in(l, &l->ways[LINK_H2D].queue[LINK_PREFETCH], &what,
					&l->ways[LINK_H2D].queue[LINK_DEMAND]);
			if (!rc)
				rc = promote_in(l, &l->orders, &what, NULL);
			break;
		}
	}
	return rc;
}

/* The next piece of a direction that is free, of at most `room` pages. */
static int start(struct link *l, enum link_dir dir, uint64_t room, const struct link_ears *ears)
{
	struct way *way = &l->ways[dir];
	struct transfer *t = first(&way->queue[LINK_DEMAND]), *piece;
	uint32_t pages;

	if (way->piece)
		return 0;
	if (!t)
		t = first(&way->queue[LINK_PREFETCH]);
	if (!t || !room)
		return 0;
	piece = transfer_new(l);
	if (!piece)
		return -ENOMEM;
	if (!t->whole) {
		t->whole = t->pages;
		l->stats.transfers[dir]++;
	}
	pages = (uint32_t)MIN(MIN(t->pages, l->chunk_pages), room);
	piece->piece = (struct link_piece){
		.addr = t->addr, .pages = pages, .va_space = t->va_space,
		.tag = t->tag, .dir = t->dir, .class = t->class,
		.begin = l->now, .end = l->now + link_time(l, pages, t->whole),
	};
	piece->piece.landed = piece->piece.end + l->latency;
	way->piece = piece;
	if (dir == LINK_H2D)
		l->waiting -= pages;
	t->addr += pages * PAGE_BYTES;
	t->pages -= pages;
	if (!t->pages)
		transfer_free(l, t);
	ears->begun(ears->ctx, &piece->piece);
	return 0;
}

/*
 * Frames that are free now: nobody's in the books, and those whose next page has not begun
 * to come, but for those whose last page has not gone.
 */
static uint64_t room_of(const struct link *l, int64_t idle)
{
	int64_t room = idle + (int64_t)l->waiting - (int64_t)l->leaving;

	return room > 0 ? (uint64_t)room : 0;
}

static int step(struct link *l, int64_t idle, const struct link_ears *ears)
{
	int rc;

	end_pieces(l);
	land(l, ears);
	rc = accept(l, ears);
	if (!rc)
		rc = start(l, LINK_D2H, UINT32_MAX, ears);
	return rc ? rc : start(l, LINK_H2D, room_of(l, idle), ears);
}

int link_run(struct link *l, uint64_t upto, int64_t idle, const struct link_ears *ears)
{
	uint64_t next;
	int rc = 0;

	while (!rc && (next = link_next(l)) <= upto && next != LINK_NEVER) {
		l->now = MAX(l->now, next);
		rc = step(l, idle, ears);
	}
	l->now = MAX(l->now, upto);
	/* A transfer may have waited for a frame that another VA space gave up. */
	return rc ? rc : start(l, LINK_H2D, room_of(l, idle), ears);
}

bool link_carries(const struct link *l, enum link_dir dir)
{
	return l->ways[dir].piece;
}

void link_delay(struct link *l, enum link_dir dir, uint64_t ps)
{
	struct transfer *t = l->ways[dir].piece;

	if (!t)
		return;
	t->piece.end += ps;
	t->piece.landed += ps;
}

/* --- to look at ------------------------------------------------------------------- */

uint64_t link_waiting(const struct link *l)
{
	return l->waiting;
}

uint64_t link_leaving(const struct link *l)
{
	return l->leaving;
}

const struct link_stats *link_stats(const struct link *l)
{
	return &l->stats;
}

uint64_t link_busy(const struct link *l, enum link_dir dir, uint64_t at)
{
	const struct transfer *t = l->ways[dir].piece;

	return l->stats.busy[dir] + (t && at > t->piece.begin ?
				     MIN(at, t->piece.end) - t->piece.begin : 0);
}
