// SPDX-License-Identifier: GPL-2.0
/*
 * The service as paging sees it: the real one, with a note of every page that
 * came to device memory since the last landing.
 */
#include <errno.h>
#include <stdlib.h>

#include "gpu/flight.h"

static struct flight *flight_of(struct service *s)
{
	return container_of(s, struct flight, service);
}

static int note(struct flight *f, const struct migration *m)
{
	if (f->count == f->room) {
		size_t room = f->room ? 2 * f->room : 256;
		struct flight_range *bigger = realloc(f->ranges, room * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		f->ranges = bigger;
		f->room = room;
	}
	f->ranges[f->count++] = (struct flight_range){
		.start = m->addr, .end = m->addr + m->pages * PAGE_BYTES,
		.va_space = m->va_space,
	};
	f->sorted = false;
	return 0;
}

static int flight_serve(struct service *s, struct service_batch *batch)
{
	struct flight *f = flight_of(s);
	int ret = f->real->ops->serve(f->real, batch);

	for (unsigned int i = 0; !ret && i < batch->plan->count; i++) {
		const struct migration *m = &batch->plan->migrations[i];

		if (m->op == MIGRATE_H2D && m->moved)
			ret = note(f, m);
	}
	return ret;
}

static void *flight_walk(struct service *s, uint32_t va_space, uint64_t addr)
{
	struct flight *f = flight_of(s);

	return f->real->ops->walk(f->real, va_space, addr);
}

static int flight_poll(struct service *s,
		       void (*invalidate)(void *ctx, const struct service_invalidate *i),
		       void *ctx)
{
	struct flight *f = flight_of(s);

	return f->real->ops->poll(f->real, invalidate, ctx);
}

static void flight_resident(struct service *s,
			    void (*fn)(void *ctx, uint32_t va_space, uint64_t addr),
			    void *ctx)
{
	struct flight *f = flight_of(s);

	f->real->ops->resident(f->real, fn, ctx);
}

static uint64_t flight_frames(struct service *s)
{
	struct flight *f = flight_of(s);

	return f->real->ops->frames(f->real);
}

void flight_init(struct flight *f, struct service *real)
{
	*f = (struct flight){ .real = real };
	f->ops = *real->ops;
	f->ops.serve = flight_serve;
	f->ops.walk = flight_walk;
	f->ops.poll = flight_poll;
	f->ops.resident = flight_resident;
	f->ops.frames = flight_frames;
	/* The real service is its owner's to destroy. */
	f->ops.destroy = NULL;
	f->service.ops = &f->ops;
}

void flight_fini(struct flight *f)
{
	free(f->ranges);
	f->ranges = NULL;
}

void flight_land(struct flight *f)
{
	f->count = 0;
}

static int compare(const void *a, const void *b)
{
	const struct flight_range *x = a, *y = b;

	if (x->va_space != y->va_space)
		return x->va_space < y->va_space ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

bool flight_holds(struct flight *f, uint32_t va_space, uint64_t addr)
{
	size_t low = 0, high = f->count;

	if (!f->count)
		return false;
	if (!f->sorted)
		qsort(f->ranges, f->count, sizeof(*f->ranges), compare);
	f->sorted = true;
	/* The last range that starts at or before addr. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct flight_range *r = &f->ranges[middle];

		if (r->va_space < va_space ||
		    (r->va_space == va_space && r->start <= addr))
			low = middle + 1;
		else
			high = middle;
	}
	return low && f->ranges[low - 1].va_space == va_space &&
	       addr < f->ranges[low - 1].end;
}
