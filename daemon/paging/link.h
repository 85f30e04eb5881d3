/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CPU-GPU link in virtual time: two directions, each carrying one transfer at a
 * time. Pure: no pages' states, no policies, no clock but the times it is handed.
 * Times are picoseconds, so that a cycle of any core clock is a time of its own.
 *
 * In a direction demand goes before prefetch, between pieces of paging.link_chunk
 * bytes; within each, first come, first served. A piece to the device starts when
 * there are frames for it: a frame that is being evicted is free when its piece has left
 * the link. Private to paging/.
 */
#ifndef GPUEMU_PAGING_LINK_H
#define GPUEMU_PAGING_LINK_H

#include "base/base.h"
#include "base/spec.h"

#define LINK_NEVER	UINT64_MAX
#define PS_NS		1000ull

enum link_dir { LINK_H2D, LINK_D2H, LINK_DIRS };
/* LINK_PREFETCH of the way to the host is pre-eviction: nobody waits for its frames yet. */
enum link_class { LINK_DEMAND, LINK_PREFETCH, LINK_CLASSES };

/* A part of a transfer that is sent at once: at most a chunk. */
struct link_piece {
	uint64_t addr;
	uint32_t pages, va_space;
	uint32_t tag;			/* the sender's */
	uint8_t dir, class;
	uint64_t begin, end;		/* on the link */
	uint64_t landed;		/* paging.link_latency_ns behind its end */
};

/* Called in order of time. A transfer that was delivered has not begun. */
struct link_ears {
	void (*begun)(void *ctx, const struct link_piece *piece);
	void (*landed)(void *ctx, const struct link_piece *piece);
	void *ctx;
};

struct link_stats {
	/* By direction; transfers are counted when they begin, the others when a piece ends. */
	uint64_t transfers[LINK_DIRS], pages[LINK_DIRS], busy[LINK_DIRS];
};

struct link;

/* paging.link_*; -ENOMEM. */
int link_create(const struct gpu_spec *spec, struct link **link);
void link_destroy(struct link *link);

/*
 * From `at` on the pages want to go. A transfer that goes on where the last one sent ends, at
 * the same time, way and class, is one with it: the curve and the latency are the whole's. -ENOMEM.
 */
int link_send(struct link *link, uint64_t at, enum link_dir dir, enum link_class class,
	      uint32_t va_space, uint64_t addr, uint32_t pages, uint32_t tag);
/* The pages land at `at`, however they came: a measured time. -ENOMEM. */
int link_deliver(struct link *link, uint64_t at, uint32_t va_space, uint64_t addr,
		 uint32_t pages, uint32_t tag);
/* At `at`, what has not begun of these pages' prefetch becomes demand. -ENOMEM. */
int link_promote(struct link *link, uint64_t at, uint32_t va_space, uint64_t addr,
		 uint32_t pages);
/* Drops transfers of these pages to the device that have not begun. -ENOMEM. */
int link_cancel(struct link *link, uint32_t va_space, uint64_t start, uint64_t end);

/* When something happens next, if nothing else is asked for. */
uint64_t link_next(const struct link *link);
/*
 * Everything up to `upto`, in order of time. `idle` frames belong to
 * nobody in the owner's books, where what was sent to the device has one already and what was sent
 * to the host has none any more. -ENOMEM.
 */
int link_run(struct link *link, uint64_t upto, int64_t idle, const struct link_ears *ears);

/* Is something of these pages on its way in this direction, or wants to go? */
bool link_holds(const struct link *link, enum link_dir dir, uint32_t va_space, uint64_t start,
		uint64_t end);
/* Is a piece on its way in this direction? */
bool link_carries(const struct link *link, enum link_dir dir);
/* Others had the link for so long while the piece that is on its way was there: it ends later. */
void link_delay(struct link *link, enum link_dir dir, uint64_t ps);

/* Pages whose transfer to the device has not begun; to the host, not ended. */
uint64_t link_waiting(const struct link *link);
uint64_t link_leaving(const struct link *link);

const struct link_stats *link_stats(const struct link *link);
/* busy[dir] at `at`, not before the last link_run(): a piece under way counts in part. */
uint64_t link_busy(const struct link *link, enum link_dir dir, uint64_t at);
/* How long `pages` of a transfer of `whole` pages occupy the link. */
uint64_t link_time(const struct link *link, uint64_t pages, uint64_t whole);

#endif
