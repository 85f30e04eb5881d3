// SPDX-License-Identifier: GPL-2.0
/*
 * Copies and memsets. All memory of the GPU has addresses of this process, so that a copy is
 * memcpy() when the works before it have ended. What it takes on the link is told to the library;
 * where device memory is paged, by a prefetch of what the copy wrote. An asynchronous copy
 * of pinned memory in a stream of its own is the library's: it returns at once. Copies by symbol
 * are symbol.c's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "texture.h"

/*
 * Where libgpuemu puts its memory (the GPU's constant window is above): a pointer there is no
 * host's.
 */
static bool in_arena(const void *ptr)
{
	return (uintptr_t)ptr >> 44 == 0x2 || (uintptr_t)ptr >> 48 == 0xffff;
}

/* Is [ptr, ptr + bytes) memory, of an allocation or of the host? */
static bool usable(const void *ptr, size_t bytes)
{
	return (!in_arena(ptr) && !memory_at(ptr)) || memory_holds(ptr, bytes);
}

/* Bytes from the first row's first to the last row's last. */
static bool span(size_t pitch, size_t width, size_t height, size_t *bytes)
{
	return !__builtin_mul_overflow(pitch, height - 1, bytes) &&
	       !__builtin_add_overflow(*bytes, width, bytes);
}

static bool on_device(const void *ptr)
{
	const struct range *r = memory_at(ptr);

	return r && !memory_is_pinned(r);
}

static cudaError_t check(const void *dst, const void *src, size_t to, size_t from,
			 enum cudaMemcpyKind kind)
{
	if ((unsigned int)kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if (!dst || !src || !usable(dst, to) || !usable(src, from))
		return cudaErrorInvalidValue;
	if ((kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) &&
	    !memory_at(dst) &&
	    !in_arena(dst))
		return cudaErrorInvalidValue;
	if ((kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice) &&
	    !memory_at(src) &&
	    !in_arena(src))
		return cudaErrorInvalidValue;
	return cudaSuccess;
}

static void count(const void *dst, const void *src, size_t bytes)
{
	struct copies *c = &runtime_copies;

	if (on_device(dst) && on_device(src)) {
		c->d2d++;
		c->d2d_bytes += bytes;
	} else if (on_device(dst)) {
		c->h2d++;
		c->h2d_bytes += bytes;
	} else if (on_device(src)) {
		c->d2h++;
		c->d2h_bytes += bytes;
	}
}

static bool is_pinned(const struct range *r)
{
	return r && memory_is_pinned(r);
}

/* How the copy engine sees it. */
static unsigned int way(const void *dst, const void *src)
{
	if (on_device(dst) && on_device(src))
		return GPUEMU_COPY_INSIDE;
	if (on_device(dst))
		return is_pinned(memory_at(src)) ? 0 : GPUEMU_COPY_PAGEABLE;
	return GPUEMU_COPY_HOME | (is_pinned(memory_at(dst)) ? 0 : GPUEMU_COPY_PAGEABLE);
}

/* The bytes have crossed the link, in the stream's order. */
static void cross(const void *dst, const void *src, size_t bytes, cudaStream_t stream)
{
	const struct range *to = memory_at(dst), *from = src ? memory_at(src) : NULL;
	bool device = (to && to->kind == DEVICE) || (from && from->kind == DEVICE);
	struct gpuemu_stream *s;

	if (runtime_device()->functional || !stream_of(stream, &s) || !device)
		return;
	if (to && to->kind == DEVICE && memory_is_paged(dst))
		gpuemu_mem_prefetch(runtime_ctx(), dst, bytes, s);
	else if (src && (!on_device(dst) || !on_device(src)))
		gpuemu_mem_copy(runtime_ctx(), NULL, NULL, bytes, way(dst, src), s);
}

static bool within(const void *ptr, size_t bytes, enum kind kind)
{
	const struct range *r = memory_at(ptr);

	return r && (kind == HOST ? memory_is_pinned(r) : r->kind == kind) &&
	       r->bytes - ((uintptr_t)ptr - r->addr) >= bytes;
}

/* Both sides stay where they are: unpaged device memory, and pinned memory of the host. */
static bool can_wait(const void *dst, const void *src, size_t bytes)
{
	bool here = within(dst, bytes, DEVICE), from_here = within(src, bytes, DEVICE);

	if ((here && memory_is_paged(dst)) || (from_here && memory_is_paged(src)))
		return false;
	return (here && from_here) || (here && within(src, bytes, HOST)) ||
	       (from_here && within(dst, bytes, HOST));
}

/* Given to the copy engine: true, with what came of it. */
static bool copied_later(void *dst, const void *src, size_t bytes, cudaStream_t stream,
			 cudaError_t *error)
{
	struct gpuemu_stream *s;
	int ret;

	if (!stream_of(stream, &s) || !s || !can_wait(dst, src, bytes))
		return false;
	ret = gpuemu_mem_copy(runtime_ctx(), dst, src, bytes, way(dst, src), s);
	if (ret == -EOPNOTSUPP)
		return false;
	*error = runtime_failed(ret);
	if (!ret)
		count(dst, src, bytes);
	return true;
}

static bool is_constant(const void *ptr)
{
	return in_arena(ptr) && !memory_at(ptr) && symbol_is_constant(ptr);
}

/* One side, or each, is a constant of a module: the library keeps its bytes. */
static cudaError_t copy_constant(void *dst, const void *src, size_t bytes,
				 enum cudaMemcpyKind kind, cudaStream_t stream)
{
	bool to = is_constant(dst), from = is_constant(src);
	cudaError_t error;
	char *between;

	if ((unsigned int)kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if ((to && (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)) ||
	    (from && (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)) ||
	    !dst || !src || (!to && !usable(dst, bytes)) || (!from && !usable(src, bytes)))
		return cudaErrorInvalidValue;
	error = stream_settle(stream);
	if (error)
		return error;
	if (!to)
		return symbol_read(src, dst, bytes);
	if (!from)
		return symbol_write(dst, src, bytes);
	between = malloc(bytes);
	if (!between)
		return cudaErrorMemoryAllocation;
	error = symbol_read(src, between, bytes);
	if (!error)
		error = symbol_write(dst, between, bytes);
	free(between);
	return error;
}

static cudaError_t copy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
			cudaStream_t stream)
{
	cudaError_t error;

	if (bytes && (is_constant(dst) || is_constant(src)))
		return copy_constant(dst, src, bytes, kind, stream);
	error = bytes ? check(dst, src, bytes, bytes, kind) : cudaSuccess;
	if (!error && bytes && copied_later(dst, src, bytes, stream, &error))
		return error;
	if (!error)
		error = stream_settle(stream);
	if (error || !bytes)
		return error;
	memmove(dst, src, bytes);
	count(dst, src, bytes);
	cross(dst, src, bytes, stream);
	return cudaSuccess;
}

API cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
				cudaStream_t stream)
{
	cudaError_t error = enter();

	return leave(error ? error : copy(dst, src, bytes, kind, stream));
}

API cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	return cudaMemcpyAsync(dst, src, bytes, kind, 0);
}

API cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device,
			       size_t bytes)
{
	if (dst_device || src_device)
		return leave(enter() ? error_sticky() : cudaErrorInvalidDevice);
	return cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, 0);
}

API cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device,
				    size_t bytes, cudaStream_t stream)
{
	if (dst_device || src_device)
		return leave(enter() ? error_sticky() : cudaErrorInvalidDevice);
	return cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, stream);
}

/* --- rows and slices -------------------------------------------------------------------------- */

static cudaError_t copy_rows(char *dst, size_t dpitch, const char *src, size_t spitch, size_t width,
			     size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	size_t to, from, row;
	cudaError_t error;

	if (width > dpitch || width > spitch)
		return cudaErrorInvalidPitchValue;
	if (!width || !height)
		return cudaSuccess;
	if (!span(dpitch, width, height, &to) || !span(spitch, width, height, &from))
		return cudaErrorInvalidValue;
	error = check(dst, src, to, from, kind);
	if (!error)
		error = stream_settle(stream);
	for (row = 0; !error && row < height; row++)
		memmove(dst + row * dpitch, src + row * spitch, width);
	if (!error) {
		count(dst, src, width * height);
		cross(dst, src, width * height, stream);
	}
	return error;
}

API cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
				  size_t width, size_t height, enum cudaMemcpyKind kind,
				  cudaStream_t stream)
{
	cudaError_t error = enter();

	return leave(error ? error : copy_rows(dst, dpitch, src, spitch, width, height, kind,
					       stream));
}

API cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
			     size_t height, enum cudaMemcpyKind kind)
{
	return cudaMemcpy2DAsync(dst, dpitch, src, spitch, width, height, kind, 0);
}

static char *slice(const struct cudaPitchedPtr *p, const struct cudaPos *at, size_t z)
{
	return (char *)p->ptr + ((at->z + z) * p->ysize + at->y) * p->pitch + at->x;
}

static struct cudaPitchedPtr as_rows(const struct cudaArray *array)
{
	return (struct cudaPitchedPtr){
		.ptr = array->base, .pitch = array->pitch, .xsize = array->extent.width,
		.ysize = array->extent.height ? array->extent.height : 1,
	};
}

/* An array's places are counted in elements. */
static struct cudaPos in_bytes(const struct cudaArray *array, struct cudaPos at)
{
	at.x *= array ? array->element : 1;
	return at;
}

API cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
	cudaError_t error = enter();

	struct cudaPitchedPtr dst, src;
	struct cudaPos to, from;
	size_t width;

	if (!error && (!p || (p->dstArray && !array_is(p->dstArray)) ||
		       (p->srcArray && !array_is(p->srcArray))))
		error = cudaErrorInvalidValue;
	if (!error && (!(p->dstArray || p->dstPtr.ptr) || !(p->srcArray || p->srcPtr.ptr)))
		error = cudaErrorInvalidValue;
	if (error)
		return leave(error);
	dst = p->dstArray ? as_rows(p->dstArray) : p->dstPtr;
	src = p->srcArray ? as_rows(p->srcArray) : p->srcPtr;
	to = in_bytes(p->dstArray, p->dstPos);
	from = in_bytes(p->srcArray, p->srcPos);
	width = p->extent.width;
	/* Elements, where an array takes part. */
	if (p->dstArray || p->srcArray)
		width *= (p->dstArray ? p->dstArray : p->srcArray)->element;
	for (size_t z = 0; !error && z < p->extent.depth; z++)
		error = copy_rows(slice(&dst, &to, z), dst.pitch, slice(&src, &from, z), src.pitch,
				  width, p->extent.height, p->kind, stream);
	return leave(error);
}

API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
	return cudaMemcpy3DAsync(p, 0);
}

static cudaError_t set_constant(char *ptr, size_t pitch, int value, size_t width, size_t height,
				cudaStream_t stream)
{
	cudaError_t error;
	char *row;

	if (width > pitch)
		return cudaErrorInvalidValue;
	error = stream_settle(stream);
	if (error)
		return error;
	row = malloc(width);
	if (!row)
		return cudaErrorMemoryAllocation;
	memset(row, value, width);
	for (size_t i = 0; !error && i < height; i++)
		error = is_constant(ptr + i * pitch) ? symbol_write(ptr + i * pitch, row, width) :
			cudaErrorInvalidValue;
	free(row);
	return error;
}

static cudaError_t set_rows(char *ptr, size_t pitch, int value, size_t width, size_t height,
			    cudaStream_t stream)
{
	cudaError_t error;
	size_t bytes;

	if (!width || !height)
		return cudaSuccess;
	if (is_constant(ptr))
		return set_constant(ptr, pitch, value, width, height, stream);
	/* A host's pointer is none of the device's. */
	if (!ptr || width > pitch || !span(pitch, width, height, &bytes) ||
	    !memory_holds(ptr, bytes))
		return cudaErrorInvalidValue;
	error = stream_settle(stream);
	for (size_t row = 0; !error && row < height; row++)
		memset(ptr + row * pitch, value, width);
	if (!error) {
		runtime_copies.memsets++;
		runtime_copies.memset_bytes += width * height;
		cross(ptr, NULL, bytes, stream);
	}
	return error;
}

API cudaError_t cudaMemset2DAsync(void *ptr, size_t pitch, int value, size_t width, size_t height,
				  cudaStream_t stream)
{
	cudaError_t error = enter();

	return leave(error ? error : set_rows(ptr, pitch, value, width, height, stream));
}

API cudaError_t cudaMemset2D(void *ptr, size_t pitch, int value, size_t width, size_t height)
{
	return cudaMemset2DAsync(ptr, pitch, value, width, height, 0);
}

API cudaError_t cudaMemsetAsync(void *ptr, int value, size_t bytes, cudaStream_t stream)
{
	return cudaMemset2DAsync(ptr, bytes, value, bytes, 1, stream);
}

API cudaError_t cudaMemset(void *ptr, int value, size_t bytes)
{
	return cudaMemsetAsync(ptr, value, bytes, 0);
}

API cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr ptr, int value, struct cudaExtent extent,
				  cudaStream_t stream)
{
	cudaError_t error = enter();

	for (size_t z = 0; !error && z < extent.depth; z++)
		error = set_rows((char *)ptr.ptr + z * ptr.ysize * ptr.pitch, ptr.pitch, value,
				 extent.width, extent.height, stream);
	return leave(error);
}

API cudaError_t cudaMemset3D(struct cudaPitchedPtr ptr, int value, struct cudaExtent extent)
{
	return cudaMemset3DAsync(ptr, value, extent, 0);
}
