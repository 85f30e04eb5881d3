// SPDX-License-Identifier: GPL-2.0
/*
 * Arrays: elements in rows on the device, as cudaMalloc() has them, which textures and surfaces
 * read. Copies are those of rows.
 */
#include <stdlib.h>

#include "texture.h"

#define ROW_ALIGN	512u

size_t channel_bytes(const struct cudaChannelFormatDesc *desc)
{
	const int bits[4] = { desc->x, desc->y, desc->z, desc->w };
	int n = 1;

	if (bits[0] != 8 && bits[0] != 16 && bits[0] != 32)
		return 0;
	while (n < 4 && bits[n])
		n++;
	for (int i = 1; i < 4; i++)
		if (bits[i] != (i < n ? bits[0] : 0))
			return 0;
	return n == 3 ? 0 : (size_t)n * (size_t)bits[0] / 8;
}

static struct cudaArray *arrays;

bool array_is(cudaArray_const_t array)
{
	const struct cudaArray *a = arrays;

	while (a && a != array)
		a = a->next;
	return a;
}

static cudaError_t know(cudaArray_const_t array)
{
	bool is;

	enter_quietly();
	is = array_is(array);
	return is ? leave_quietly(cudaSuccess) : leave(cudaErrorInvalidValue);
}

/* Closing the GPU has freed what they have on it. */
void array_forget_all(void)
{
	while (arrays) {
		struct cudaArray *a = arrays;

		arrays = a->next;
		free(a);
	}
}

static size_t rows_of(cudaArray_const_t array)
{
	return array->extent.height ? array->extent.height : 1;
}

/* --- allocation --------------------------------------------------------------------- */

API cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
				  struct cudaExtent extent, unsigned int flags)
{
	size_t element = desc ? channel_bytes(desc) : 0, rows, slices, bytes;
	cudaArray_t a;
	cudaError_t error;

	if (!array || !desc || !extent.width)
		return error_remember(cudaErrorInvalidValue);
	*array = NULL;
	if (!element)
		return error_remember(cudaErrorInvalidChannelDescriptor);
	if (flags & cudaArrayCubemap)
		return error_remember(cudaErrorNotSupported);
	a = calloc(1, sizeof(*a));
	if (!a)
		return error_remember(cudaErrorMemoryAllocation);
	*a = (struct cudaArray){
		.desc = *desc, .extent = extent, .flags = flags, .element = element,
	};
	a->pitch = (extent.width * element + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
	rows = rows_of(a);
	slices = extent.depth ? extent.depth : 1;
	error = __builtin_mul_overflow(rows * slices, a->pitch, &bytes) ?
			error_remember(cudaErrorMemoryAllocation) :
			cudaMalloc((void **)&a->base, bytes);
	if (error) {
		free(a);
		return error;
	}
	enter_quietly();
	a->next = arrays;
	arrays = a;
	*array = a;
	return leave_quietly(cudaSuccess);
}

API cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
				size_t width, size_t height, unsigned int flags)
{
	return cudaMalloc3DArray(array, desc, (struct cudaExtent){ width, height, 0 }, flags);
}

API cudaError_t cudaFreeArray(cudaArray_t array)
{
	struct cudaArray **at = &arrays;
	cudaError_t error = enter();
	char *base;

	if (error || !array)
		return leave(error);
	while (*at && *at != array)
		at = &(*at)->next;
	if (!*at)
		return leave(cudaErrorInvalidValue);
	*at = array->next;
	base = array->base;
	free(array);
	leave_quietly(cudaSuccess);
	return cudaFree(base);
}

API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
				 unsigned int *flags, cudaArray_t array)
{
	cudaError_t error = know(array);

	if (error)
		return error;
	if (desc)
		*desc = array->desc;
	if (extent)
		*extent = array->extent;
	if (flags)
		*flags = array->flags;
	return cudaSuccess;
}

API cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
	cudaError_t error = desc ? know(array) : error_remember(cudaErrorInvalidValue);

	if (!error)
		*desc = array->desc;
	return error;
}

/* --- copies; x is in bytes ------------------------------------------------------------ */

/* Is [x, x + width) of rows [y, y + height) in it? */
static cudaError_t inside(cudaArray_const_t array, size_t x, size_t y, size_t width, size_t height)
{
	cudaError_t error = know(array);
	size_t row;

	if (error)
		return error;
	row = array->extent.width * array->element;
	if (x > row || width > row - x || y > rows_of(array) || height > rows_of(array) - y)
		return error_remember(cudaErrorInvalidValue);
	return cudaSuccess;
}

API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src,
					 size_t spitch, size_t width, size_t height,
					 enum cudaMemcpyKind kind, cudaStream_t stream)
{
	cudaError_t error = inside(dst, x, y, width, height);

	return error ? error : cudaMemcpy2DAsync(dst->base + y * dst->pitch + x, dst->pitch, src,
						 spitch, width, height, kind, stream);
}

API cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t x, size_t y, const void *src,
				    size_t spitch, size_t width, size_t height,
				    enum cudaMemcpyKind kind)
{
	return cudaMemcpy2DToArrayAsync(dst, x, y, src, spitch, width, height, kind, 0);
}

API cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src,
					   size_t x, size_t y, size_t width, size_t height,
					   enum cudaMemcpyKind kind, cudaStream_t stream)
{
	cudaError_t error = inside(src, x, y, width, height);

	return error ? error : cudaMemcpy2DAsync(dst, dpitch, src->base + y * src->pitch + x,
						 src->pitch, width, height, kind, stream);
}

API cudaError_t cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src, size_t x,
				      size_t y, size_t width, size_t height,
				      enum cudaMemcpyKind kind)
{
	return cudaMemcpy2DFromArrayAsync(dst, dpitch, src, x, y, width, height, kind, 0);
}

/*
 * Bytes in the order of the elements, from x and y on: what is left of a row, whole rows, a part of
 * one. to NULL: into the array.
 */
static cudaError_t copy_run(cudaArray_const_t array, size_t x, size_t y, char *to, const char *from,
			    size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	size_t row, width, height, done = 0;
	cudaError_t error = inside(array, x, y, 0, 0);

	row = error ? 0 : array->extent.width * array->element;
	if (!error && x + bytes > row * (rows_of(array) - y))
		error = error_remember(cudaErrorInvalidValue);
	while (!error && done < bytes) {
		char *at;

		width = x || bytes - done < row ? row - x : row;
		width = width < bytes - done ? width : bytes - done;
		height = width == row ? (bytes - done) / row : 1;
		at = array->base + y * array->pitch + x;
		error = to ? cudaMemcpy2DAsync(to + done, width, at, array->pitch, width, height,
					       kind, stream) :
			     cudaMemcpy2DAsync(at, array->pitch, from + done, width, width, height,
					       kind, stream);
		done += width * height;
		y += height;
		x = 0;
	}
	return error;
}

API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src,
				       size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	return copy_run(dst, x, y, NULL, src, bytes, kind, stream);
}

API cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t x, size_t y, const void *src,
				  size_t bytes, enum cudaMemcpyKind kind)
{
	return copy_run(dst, x, y, NULL, src, bytes, kind, 0);
}

API cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t x, size_t y,
					 size_t bytes, enum cudaMemcpyKind kind,
					 cudaStream_t stream)
{
	return copy_run(src, x, y, dst, NULL, bytes, kind, stream);
}

API cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t x, size_t y,
				    size_t bytes, enum cudaMemcpyKind kind)
{
	return copy_run(src, x, y, dst, NULL, bytes, kind, 0);
}

/* --- from array to array: the device's own memory on both sides -------------------------------- */

static cudaError_t within_device(enum cudaMemcpyKind kind)
{
	return error_remember(kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault ?
			      cudaSuccess : cudaErrorInvalidMemcpyDirection);
}

API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t dst_x, size_t dst_y,
					 cudaArray_const_t src, size_t src_x, size_t src_y,
					 size_t width, size_t height, enum cudaMemcpyKind kind)
{
	cudaError_t error = within_device(kind);

	if (!error)
		error = inside(dst, dst_x, dst_y, width, height);
	if (!error)
		error = inside(src, src_x, src_y, width, height);
	return error ? error : cudaMemcpy2D(dst->base + dst_y * dst->pitch + dst_x, dst->pitch,
					    src->base + src_y * src->pitch + src_x, src->pitch,
					    width, height, kind);
}

/* Is there so much from that place on? */
static bool has(cudaArray_const_t array, size_t x, size_t y, size_t bytes)
{
	return x + bytes <= array->extent.width * array->element * (rows_of(array) - y);
}

API cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t dst_x, size_t dst_y,
				       cudaArray_const_t src, size_t src_x, size_t src_y,
				       size_t bytes, enum cudaMemcpyKind kind)
{
	cudaError_t error = within_device(kind);
	size_t to_row, from_row, n;

	if (!error)
		error = inside(dst, dst_x, dst_y, 0, 0);
	if (!error)
		error = inside(src, src_x, src_y, 0, 0);
	if (!error && (!has(dst, dst_x, dst_y, bytes) || !has(src, src_x, src_y, bytes)))
		error = error_remember(cudaErrorInvalidValue);
	if (error)
		return error;
	to_row = dst->extent.width * dst->element;
	from_row = src->extent.width * src->element;
	/* Up to the end of the row that ends first. */
	for (; !error && bytes; bytes -= n) {
		n = to_row - dst_x < from_row - src_x ? to_row - dst_x : from_row - src_x;
		n = n < bytes ? n : bytes;
		error = cudaMemcpy2DArrayToArray(dst, dst_x, dst_y, src, src_x, src_y, n, 1, kind);
		dst_y += dst_x + n == to_row;
		dst_x = dst_x + n == to_row ? 0 : dst_x + n;
		src_y += src_x + n == from_row;
		src_x = src_x + n == from_row ? 0 : src_x + n;
	}
	return error;
}
