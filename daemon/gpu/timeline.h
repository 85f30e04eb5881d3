/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happened when, for people: kernels, CTAs, far faults from their SM to their
 * replay, the handlers' batches, transfers, as events of the session's clock. Off
 * unless gpu.trace gives it room. Each actor tells here what it does; trace.c makes
 * of it the trace that viewers load. Private to the gpu room.
 *
 * Nothing of the model depends on it. Cycles are the session's; events of one kind
 * come in the order in which they begin, but for faults.
 */
#ifndef GPUEMU_GPU_TIMELINE_H
#define GPUEMU_GPU_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/spec.h"
#include "base/u64map.h"
#include "paging/paging.h"
#include "sm/sm.h"

struct gpu_session;
struct json_object;

#define TRACE_NONE	UINT32_MAX	/* no batch, no transfer */

enum trace_kind {
	TRACE_KERNEL, TRACE_BATCH, TRACE_TRANSFER, TRACE_FAULT, TRACE_CTA, TRACE_PARKED,
	TRACE_STALL, TRACE_STATE,
};

struct trace_event {
	uint64_t begin, end;		/* core cycles */
	uint64_t a, b;			/* by kind, see timeline.c */
	uint32_t batch, transfer;	/* index of the event; TRACE_NONE */
	uint16_t sm, warp;
	uint8_t kind, flags;
};

/* An SM's own events. */
struct trace_span {
	struct sm_cta_span cta;		/* of a stall begin and end alone */
	uint8_t kind;
};

/* An SM tells them itself: SMs run at the same time. */
struct trace_sm {
	struct trace_span *spans;
	size_t count, room;
	uint64_t dropped;
	uint64_t far_stalls, no_warp;	/* of its counters, when it was looked at last */
	uint64_t stalled;		/* since this cycle all its warps stand; NEVER */
};

/* A launch that began. */
struct trace_launch {
	char *name;			/* NULL: it did not begin, or there was no memory */
	uint32_t stream;
};

/* A batch's details beside its event. */
struct trace_served {
	struct service_cost cost;
	unsigned int causes[FAULT_CAUSES];
};

struct timeline {
	size_t room;			/* gpu.trace: events of the trace; 0: it is off */
	size_t used;			/* of them, as far as they are promised */
	uint64_t dropped;		/* came when it was full */
	struct trace_event *events;
	size_t count, allocated;
	struct trace_served *served;	/* of the batches, by number */
	size_t nserved, served_room;
	struct trace_launch *launches;	/* by grid id, from 1 on */
	size_t nlaunches;
	struct u64map open;		/* page: its far fault that is under way */
	uint64_t page_mask;		/* of what one far fault stands for */
	struct trace_sm *sms;
	unsigned int nsms;
	uint64_t looked;		/* cycle in which trace_sms() looked last */
};

/* Forgets all and makes room for gpu.trace events; NULL: for none. -ENOMEM: it is off. */
int timeline_reset(struct timeline *t, const struct gpu_spec *spec);

/* --- told by those who do it; off, each is nothing ------------------------------- */

/* A launch begins: names it, for all that is told of it. */
void trace_launch(struct timeline *t, uint64_t grid_id, const char *name, uint32_t stream);
/* It ended. */
void trace_kernel(struct timeline *t, uint64_t grid_id, uint64_t begin, uint64_t end);
struct trace_batch {
	unsigned int handler;
	uint64_t begin, end;		/* the handler is busy with it */
	const struct fault *faults;	/* the raw records that it took */
	unsigned int n, depth;		/* depth: records in the fault buffer, these included */
	const struct paging_outcome *outcome;
};
/* A handler took a batch. Returns it for its transfers, TRACE_NONE: no room. */
uint32_t trace_batch(struct timeline *t, const struct trace_batch *batch);
struct trace_transfer {
	uint64_t begin, end;		/* on the link */
	uint64_t addr, bytes;
	uint32_t batch;			/* TRACE_NONE: nobody's, as a mem_prefetch() */
	bool d2h, prefetch;		/* prefetch: nobody demanded it */
	uint8_t kernel;			/* slot; KERNEL_SLOTS: nobody's */
};
void trace_transfer(struct timeline *t, const struct trace_transfer *x);
/* Walks find these pages from `now` on: their faults replay. */
void trace_arrived(struct timeline *t, uint64_t addr, uint64_t bytes, uint64_t now);
/* The SM's access to the page was translated. */
void trace_translated(struct timeline *t, unsigned int sm, uint64_t page, uint64_t now);
/* Pages in device memory, and records in the fault buffer. */
void trace_state(struct timeline *t, uint64_t now, uint64_t resident, uint64_t depth);
/* A CTA retired. From sm_run(), so of its SM's thread. */
void trace_cta(struct timeline *t, unsigned int sm, const struct sm_cta_span *span);
/* A CTA was without slots. From sm_run(), or between quanta, so of its SM's thread. */
void trace_parked(struct timeline *t, unsigned int sm, const struct sm_cta_span *span);
/* Looks whether SMs stand for far faults; at `now` nothing has happened yet. */
void trace_sms(struct gpu_session *s, uint64_t now);

/* {"dropped":n,"traceEvents":[..]}: the trace event format that Perfetto loads; times in us. */
struct json_object *timeline_json(struct gpu_session *s);

#endif
