/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happened when, for people: kernels and the fault handler's batches as
 * spans of the session's clock. Off unless gpu.trace gives it room. Private to
 * the gpu room.
 */
#ifndef GPUEMU_GPU_TIMELINE_H
#define GPUEMU_GPU_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

struct gpu_session;
struct json_object;

struct timeline_span {
	uint64_t begin, end;		/* core cycles */
	uint64_t faults, h2d_pages, d2h_pages;	/* of a batch */
	size_t kernel;			/* index in kernels, or TIMELINE_BATCH */
};
#define TIMELINE_BATCH	SIZE_MAX

struct timeline {
	struct timeline_span *spans;	/* gpu.trace of them, or NULL */
	size_t count, room;
	uint64_t dropped;		/* came when it was full */
};

/* Forgets all and makes room for `room` spans. -ENOMEM: it is off. */
int timeline_reset(struct timeline *t, size_t room);
void timeline_add(struct timeline *t, const struct timeline_span *span);

/* {"traceEvents":[..],"dropped":n}: the trace event format that Perfetto loads; times in us. */
struct json_object *timeline_json(const struct gpu_session *s);

#endif
