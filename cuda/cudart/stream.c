// SPDX-License-Identifier: GPL-2.0
/*
 * Streams and events, as libgpuemu has them. Times between events are the model's; without time
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

static struct CUstream_st *streams;
static struct CUevent_st *events;

bool stream_of(cudaStream_t stream, struct gpuemu_stream **s)
{
	*s = NULL;
	if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
		return true;
	for (struct CUstream_st *at = streams; at; at = at->next) {
		if (at == stream) {
			*s = at->stream;
			return true;
		}
	}
	return false;
}

static struct CUevent_st *event_of(cudaEvent_t event)
{
	struct CUevent_st *at = events;

	while (at && at != event)
		at = at->next;
	return at;
}

/* Closing the GPU has freed what they stand for. */
void stream_forget_all(void)
{
	while (streams) {
		struct CUstream_st *s = streams;

		streams = s->next;
		free(s);
	}
	while (events) {
		struct CUevent_st *e = events;

		events = e->next;
		free(e);
	}
}

/* --- streams --------------------------------------------------------------------------------- */

API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
	struct CUstream_st *s;
	cudaError_t error = enter();

	if (!error && (!stream || flags > cudaStreamNonBlocking))
		error = cudaErrorInvalidValue;
	if (error)
		return leave(error);
	s = calloc(1, sizeof(*s));
	if (!s || gpuemu_stream_create(runtime_ctx(), &s->stream)) {
		free(s);
		return leave(cudaErrorMemoryAllocation);
	}
	s->flags = flags;
	s->next = streams;
	streams = s;
	*stream = s;
	return leave(cudaSuccess);
}

API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
	return cudaStreamCreateWithPriority(stream, flags, 0);
}

API cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	return cudaStreamCreateWithPriority(stream, 0, 0);
}

API cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	struct CUstream_st **at = &streams;
	cudaError_t error = enter();

	if (error)
		return leave(error);
	while (*at && *at != stream)
		at = &(*at)->next;
	if (!*at)
		return leave(cudaErrorInvalidResourceHandle);
	*at = stream->next;
	error = runtime_failed(gpuemu_stream_synchronize(runtime_ctx(), stream->stream));
	gpuemu_stream_destroy(stream->stream);
	free(stream);
	return leave(error);
}

API cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	struct gpuemu_stream *s;
	cudaError_t error = enter();

	if (!error && !stream_of(stream, &s))
		error = cudaErrorInvalidResourceHandle;
	if (!error)
		error = runtime_failed(gpuemu_stream_synchronize(runtime_ctx(), s));
	return leave(error);
}

API cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	struct gpuemu_stream *s;
	cudaError_t error = enter();
	int ret;

	if (!error && !stream_of(stream, &s))
		error = cudaErrorInvalidResourceHandle;
	if (error)
		return leave(error);
	ret = gpuemu_stream_query(runtime_ctx(), s);
	return ret == -EBUSY ? leave_quietly(cudaErrorNotReady) : leave(runtime_failed(ret));
}

API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
	struct gpuemu_stream *s;
	struct CUevent_st *e;
	cudaError_t error = enter();

	if (error)
		return leave(error);
	e = event_of(event);
	if (!e || !stream_of(stream, &s))
		error = cudaErrorInvalidResourceHandle;
	else if (flags & ~(unsigned int)cudaEventWaitExternal)
		error = cudaErrorInvalidValue;
	else
		error = runtime_failed(gpuemu_stream_wait_event(runtime_ctx(), s, e->event));
	return leave(error);
}

static cudaError_t of_stream(cudaStream_t stream, unsigned int *flags, int *priority)
{
	struct gpuemu_stream *s;
	cudaError_t error = enter();

	if (!error && !flags && !priority)
		error = cudaErrorInvalidValue;
	if (!error && !stream_of(stream, &s))
		error = cudaErrorInvalidResourceHandle;
	if (!error && flags)
		*flags = s ? stream->flags : 0;
	if (!error && priority)
		*priority = 0;
	return leave(error);
}

API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags)
{
	return of_stream(stream, flags, NULL);
}

API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
	return of_stream(stream, NULL, priority);
}

API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
	unsigned int flags;
	cudaError_t error = device ? of_stream(stream, &flags, NULL) : cudaErrorInvalidValue;

	if (!error)
		*device = 0;
	return error_remember(error);
}

API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
	struct gpuemu_stream *s;
	cudaError_t error = enter();

	if (!error && !stream_of(stream, &s))
		error = cudaErrorInvalidResourceHandle;
	if (!error && !id)
		error = cudaErrorInvalidValue;
	if (!error)
		*id = s ? gpuemu_stream_id(s) : 0;
	return leave(error);
}

/* There are no graphs to capture into. */
API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
	unsigned int flags;
	cudaError_t error = status ? of_stream(stream, &flags, NULL) : cudaErrorInvalidValue;

	if (!error)
		*status = cudaStreamCaptureStatusNone;
	return error_remember(error);
}

API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = 0;
	return cudaSuccess;
}

/* The works before it have ended; then it is called, by this thread. */
API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *arg)
{
	cudaError_t error = fn ? cudaStreamSynchronize(stream) : cudaErrorInvalidValue;

	if (!error)
		fn(arg);
	return error_remember(error);
}

API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *arg,
				      unsigned int flags)
{
	cudaError_t error = callback && !flags ? cudaStreamSynchronize(stream) :
						 cudaErrorInvalidValue;

	/* A kernel's error is for the callback to know; of another there is no callback. */
	if (!error || error == error_sticky())
		callback(stream, error, arg);
	return error_remember(error);
}

/* All threads see all managed memory: it is attached to all streams. */
API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *ptr, size_t bytes,
					 unsigned int flags)
{
	struct gpuemu_stream *s;
	const struct range *r;
	cudaError_t error = enter();

	if (!error && !stream_of(stream, &s))
		error = cudaErrorInvalidResourceHandle;
	r = error ? NULL : memory_at(ptr);
	if (!error && (!r || r->kind != MANAGED || (bytes && bytes != r->bytes)))
		error = cudaErrorInvalidValue;
	/* To one stream, which the default stream is not; or to all; or to the host. */
	if (!error && flags != cudaMemAttachGlobal && flags != cudaMemAttachHost &&
	    (flags != cudaMemAttachSingle || !s))
		error = cudaErrorInvalidValue;
	return leave(error);
}

/*
 * --- events ------------------------------------------------------------------------------------
 */

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
	cudaError_t error = enter();

	if (error)
		return leave(error);
	e = event_of(event);
	if (!e || !stream_of(stream, &s))
		return leave(cudaErrorInvalidResourceHandle);
	if (flags & ~(unsigned int)cudaEventRecordExternal)
		return leave(cudaErrorInvalidValue);
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
