// SPDX-License-Identifier: GPL-2.0
/* Streams, as libgpuemu has them. What waits for an event is event.c's. */
#include <errno.h>
#include <stdlib.h>

#include "cudart.h"

static struct CUstream_st *streams;

/* The default stream that the thread has of its own? */
static bool is_own(cudaStream_t stream)
{
	return stream == cudaStreamPerThread || (!stream && per_thread_call);
}

bool stream_of(cudaStream_t stream, struct gpuemu_stream **s)
{
	*s = NULL;
	if (is_own(stream)) {
		stream = per_thread_stream();
		if (!stream)
			return false;
	}
	if (!stream || stream == cudaStreamLegacy)
		return true;
	for (struct CUstream_st *at = streams; at; at = at->next) {
		if (at == stream) {
			*s = at->stream;
			return true;
		}
	}
	return false;
}

cudaError_t stream_settle(cudaStream_t stream)
{
	struct gpuemu_stream *s;

	if (!stream_of(stream, &s))
		return cudaErrorInvalidResourceHandle;
	return runtime_failed(s ? gpuemu_stream_synchronize(runtime_ctx(), s) :
				  gpuemu_synchronize(runtime_ctx()));
}

/* NULL: no memory. */
struct CUstream_st *stream_new(void)
{
	struct CUstream_st *s = calloc(1, sizeof(*s));

	if (!s || gpuemu_stream_create(runtime_ctx(), &s->stream)) {
		free(s);
		return NULL;
	}
	s->policy = cudaSyncPolicyAuto;
	s->next = streams;
	streams = s;
	return s;
}

/* Closing the GPU has freed what they stand for. */
void stream_forget_all(void)
{
	per_thread_forget_all();
	while (streams) {
		struct CUstream_st *s = streams;

		streams = s->next;
		free(s);
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
	s = stream_new();
	if (!s)
		return leave(cudaErrorMemoryAllocation);
	s->flags = flags;
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

static cudaError_t of_stream(cudaStream_t stream, unsigned int *flags, int *priority)
{
	struct gpuemu_stream *s;
	cudaError_t error = enter();

	if (!error && !flags && !priority)
		error = cudaErrorInvalidValue;
	if (!error && !stream_of(stream, &s))
		error = cudaErrorInvalidResourceHandle;
	if (!error && flags)
		*flags = s && !is_own(stream) ? stream->flags : 0;
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

/* --- attributes: kept, and nothing else ------------------------------------------------------- */

static struct CUstream_st default_stream = { .policy = cudaSyncPolicyAuto };

/* NULL: not a stream. */
static struct CUstream_st *attributes_of(cudaStream_t stream)
{
	struct gpuemu_stream *s;

	if (!stream_of(stream, &s))
		return NULL;
	return !s ? &default_stream : is_own(stream) ? per_thread_stream() : stream;
}

/* Begins a call about its attributes. */
static cudaError_t enter_with(cudaStream_t stream, const cudaStreamAttrValue *value,
			      struct CUstream_st **s)
{
	cudaError_t error = enter();

	if (error)
		return error;
	*s = attributes_of(stream);
	if (!*s)
		return cudaErrorInvalidResourceHandle;
	return value ? cudaSuccess : cudaErrorInvalidValue;
}

API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
				       const cudaStreamAttrValue *value)
{
	struct CUstream_st *s;
	cudaError_t error = enter_with(stream, value, &s);

	if (error)
		return leave(error);
	switch ((int)attribute) {
	case cudaLaunchAttributeAccessPolicyWindow:
		if (!(value->accessPolicyWindow.hitRatio >= 0 &&
		      value->accessPolicyWindow.hitRatio <= 1) ||
		    value->accessPolicyWindow.missProp == cudaAccessPropertyPersisting)
			return leave(cudaErrorInvalidValue);
		s->window = value->accessPolicyWindow;
		return leave(cudaSuccess);
	case cudaLaunchAttributeSynchronizationPolicy:
		if (value->syncPolicy < cudaSyncPolicyAuto ||
		    value->syncPolicy > cudaSyncPolicyBlockingSync)
			return leave(cudaErrorInvalidValue);
		s->policy = value->syncPolicy;
		return leave(cudaSuccess);
	case cudaLaunchAttributePriority:
		/* There is one. */
		return leave(cudaSuccess);
	default:
		return leave(cudaErrorInvalidValue);
	}
}

API cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
				       cudaStreamAttrValue *value)
{
	struct CUstream_st *s;
	cudaError_t error = enter_with(stream, value, &s);

	if (error)
		return leave(error);
	switch ((int)attribute) {
	case cudaLaunchAttributeAccessPolicyWindow:
		value->accessPolicyWindow = s->window;
		return leave(cudaSuccess);
	case cudaLaunchAttributeSynchronizationPolicy:
		value->syncPolicy = s->policy;
		return leave(cudaSuccess);
	case cudaLaunchAttributePriority:
		value->priority = 0;
		return leave(cudaSuccess);
	default:
		return leave(cudaErrorInvalidValue);
	}
}

API cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
	cudaError_t error = enter();
	struct CUstream_st *a, *b;

	if (error)
		return leave(error);
	a = attributes_of(to);
	b = attributes_of(from);
	if (!a || !b)
		return leave(cudaErrorInvalidResourceHandle);
	a->window = b->window;
	a->policy = b->policy;
	return leave(cudaSuccess);
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
