// SPDX-License-Identifier: GPL-2.0
/*
 * Events, as libgpuemu has them. Times between events are the model's; without time
 * (gpu.functional) the host's clock is read when a record is reached, which then waits for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "cudart.h"

struct CUevent_st {
	struct CUevent_st *next;
	struct gpuemu_event *event;
	unsigned int flags;
	bool recorded;
	uint64_t ns;			/* without time */
};

static struct CUevent_st *events;

static struct CUevent_st *event_of(cudaEvent_t event)
{
	struct CUevent_st *at = events;

	while (at && at != event)
		at = at->next;
	return at;
}

/* Closing the GPU has freed what they stand for. */
void event_forget_all(void)
{
	while (events) {
		struct CUevent_st *e = events;

		events = e->next;
		free(e);
	}
}

/* Begins a call about both of them; of the flags the first bit is known. */
static cudaError_t enter_with(cudaEvent_t event, cudaStream_t stream, unsigned int flags,
			      struct CUevent_st **e, struct gpuemu_stream **s)
{
	cudaError_t error = enter();

	_Static_assert(cudaEventWaitExternal == 1 && cudaEventRecordExternal == 1, "one bit");
	if (error)
		return error;
	*e = event_of(event);
	if (!*e || !stream_of(stream, s))
		return cudaErrorInvalidResourceHandle;
	return flags & ~1u ? cudaErrorInvalidValue : cudaSuccess;
}

API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
	struct gpuemu_stream *s;
	struct CUevent_st *e;
	cudaError_t error = enter_with(event, stream, flags, &e, &s);

	if (!error)
		error = runtime_failed(gpuemu_stream_wait_event(runtime_ctx(), s, e->event));
	return leave(error);
}

API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
	struct CUevent_st *e;
	cudaError_t error = enter();

	/* What other processes wait for has no times. */
	if (!error && (!event || flags & ~7u ||
		       (flags & cudaEventInterprocess && !(flags & cudaEventDisableTiming))))
		error = cudaErrorInvalidValue;
	if (error)
		return leave(error);
	e = calloc(1, sizeof(*e));
	if (!e || gpuemu_event_create(runtime_ctx(), &e->event)) {
		free(e);
		return leave(cudaErrorMemoryAllocation);
	}
	e->flags = flags;
	e->next = events;
	events = e;
	*event = e;
	return leave(cudaSuccess);
}

API cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	return cudaEventCreateWithFlags(event, 0);
}

API cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	struct CUevent_st **at = &events;
	cudaError_t error = enter();

	if (error)
		return leave(error);
	while (*at && *at != event)
		at = &(*at)->next;
	if (!*at)
		return leave(cudaErrorInvalidResourceHandle);
	*at = event->next;
	gpuemu_event_destroy(event->event);
	free(event);
	return leave(cudaSuccess);
}

static uint64_t wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
	struct gpuemu_stream *s;
	struct CUevent_st *e;
	cudaError_t error = enter_with(event, stream, flags, &e, &s);

	if (error)
		return leave(error);
	error = runtime_failed(gpuemu_event_record(e->event, s));
	if (!error && runtime_device()->functional) {
		error = runtime_failed(gpuemu_event_synchronize(e->event));
		e->ns = wall_ns();
	}
	e->recorded = !error;
	return leave(error);
}

API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	return cudaEventRecordWithFlags(event, stream, 0);
}

API cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	struct CUevent_st *e;
	cudaError_t error = enter();

	if (error)
		return leave(error);
	e = event_of(event);
	if (!e)
		return leave(cudaErrorInvalidResourceHandle);
	return leave(runtime_failed(e->recorded ? gpuemu_event_synchronize(e->event) : 0));
}

API cudaError_t cudaEventQuery(cudaEvent_t event)
{
	struct CUevent_st *e;
	cudaError_t error = enter();
	int ret;

	if (error)
		return leave(error);
	e = event_of(event);
	if (!e)
		return leave(cudaErrorInvalidResourceHandle);
	ret = e->recorded ? gpuemu_event_query(e->event) : 0;
	return ret == -EBUSY ? leave_quietly(cudaErrorNotReady) : leave(runtime_failed(ret));
}

API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
	struct CUevent_st *a, *b;
	cudaError_t error = enter();
	int64_t cycles;
	int ret;

	if (error)
		return leave(error);
	a = event_of(start);
	b = event_of(end);
	if (!ms)
		return leave(cudaErrorInvalidValue);
	if (!a || !b || !a->recorded || !b->recorded ||
	    (a->flags | b->flags) & cudaEventDisableTiming)
		return leave(cudaErrorInvalidResourceHandle);
	if (runtime_device()->functional) {
		*ms = (float)((double)(int64_t)(b->ns - a->ns) * 1e-6);
		return leave(cudaSuccess);
	}
	ret = gpuemu_event_elapsed(a->event, b->event, &cycles);
	if (ret == -EBUSY)
		return leave_quietly(cudaErrorNotReady);
	if (ret)
		return leave(cudaErrorInvalidResourceHandle);
	*ms = (float)((double)cycles / (1e3 * (double)runtime_device()->clock_mhz));
	return leave(cudaSuccess);
}
