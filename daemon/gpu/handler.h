/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The far-fault handlers, which work in virtual time. Private to the room.
 */
#ifndef GPUEMU_GPU_HANDLER_H
#define GPUEMU_GPU_HANDLER_H

#include "base/u64map.h"
#include "gmmu/gmmu.h"
#include "mem/mem.h"
#include "paging/paging.h"

struct gpu_session;
struct run;

/*
 * Consecutive batches that move nothing, with faults that cannot be served,
 * before the kernel is ended. A page is pinned for as long as someone else's
 * I/O on it takes, and each batch takes its real time: this is a fifth of a second at
 * 50 us a batch.
 */
#define HANDLER_PATIENCE	4096u

/* One handler and its batch. */
struct handler_slot {
	uint64_t until;			/* its service's end */
	uint64_t taken;			/* counts the batches */
	unsigned int number;		/* for the trace */
	unsigned int n;
	uint64_t *pages;		/* of its faults */
};

struct handler {
	/* Its wires, from handler_init() on; the session's paging may change. */
	const struct gpu_spec *spec;
	struct gmmu *gmmu;
	struct mem *mem;
	struct gpu_session *session;

	unsigned int handlers;		/* paging.handlers */
	unsigned int most;		/* faults in a batch */
	struct handler_slot *slots;	/* the busy ones first, a heap */
	unsigned int nslots, busy;
	uint64_t taken;
	uint32_t futile;		/* consecutive batches that moved nothing */
	struct u64map traced;		/* batches of paging to those of the timeline, if it is on */
	bool link_busy[2];		/* with migrations, to the device and to the host */
	struct fault batch[256];
};

void handler_init(struct handler *h, const struct gpu_spec *spec, struct gmmu *gmmu,
		  struct mem *mem, struct gpu_session *session);
void handler_fini(struct handler *h);
/* Makes every handler idle. */
void handler_cancel(struct handler *h);
/* Paging tells the handler these events; the context is the handler. */
extern const struct paging_events handler_events;
/* The fault handlers' cycle. 0, or what ends the kernel, r->err set. */
int handler_step(struct handler *h, struct run *r, uint64_t now);
/* Remote accesses and migrations are on one link: each is told what the other took. */
void handler_share_link(struct handler *h);
/* Cycle in which a handler is done or a page arrives next, or NEVER. */
uint64_t handler_next(const struct handler *h);
/* When the last of the handlers that are busy is done; 0: none is. */
uint64_t handler_until(const struct handler *h);

#endif
