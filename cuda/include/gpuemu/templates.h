/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The runtime's C++ forms: typed pointers, symbols and kernels by themselves. cuda_runtime.h
 * includes it.
 */
#ifndef GPUEMU_TEMPLATES_H
#define GPUEMU_TEMPLATES_H

template <class T> static inline cudaError_t cudaMalloc(T **ptr, size_t bytes)
{
	return ::cudaMalloc((void **)(void *)ptr, bytes);
}

template <class T>
static inline cudaError_t cudaMallocManaged(T **ptr, size_t bytes,
					    unsigned int flags = cudaMemAttachGlobal)
{
	return ::cudaMallocManaged((void **)(void *)ptr, bytes, flags);
}

template <class T> static inline cudaError_t cudaMallocPitch(T **ptr, size_t *pitch, size_t width,
							     size_t height)
{
	return ::cudaMallocPitch((void **)(void *)ptr, pitch, width, height);
}

template <class T> static inline cudaError_t cudaMallocAsync(T **ptr, size_t bytes,
							     cudaStream_t stream)
{
	return ::cudaMallocAsync((void **)(void *)ptr, bytes, stream);
}

template <class T> static inline cudaError_t cudaMallocHost(T **ptr, size_t bytes,
							    unsigned int flags = 0)
{
	return ::cudaHostAlloc((void **)(void *)ptr, bytes, flags);
}

template <class T> static inline cudaError_t cudaHostAlloc(T **ptr, size_t bytes,
							   unsigned int flags)
{
	return ::cudaHostAlloc((void **)(void *)ptr, bytes, flags);
}

template <class T> static inline cudaError_t cudaHostGetDevicePointer(T **device, void *host,
								      unsigned int flags)
{
	return ::cudaHostGetDevicePointer((void **)(void *)device, host, flags);
}

static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags)
{
	return ::cudaEventCreateWithFlags(event, flags);
}

/* The names that CUDA 13 has them by. */
static inline cudaError_t cudaMemPrefetchAsync(const void *ptr, size_t bytes,
					       cudaMemLocation location, unsigned int flags,
					       cudaStream_t stream = 0)
{
	return ::cudaMemPrefetchAsync_v2(ptr, bytes, location, flags, stream);
}

static inline cudaError_t cudaMemAdvise(const void *ptr, size_t bytes, cudaMemoryAdvise advice,
					cudaMemLocation location)
{
	return ::cudaMemAdvise_v2(ptr, bytes, advice, location);
}

/* --- symbols ------------------------------------------------------------------- */

template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t bytes,
					     size_t offset = 0,
					     cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
	return ::cudaMemcpyToSymbol((const void *)&symbol, src, bytes, offset, kind);
}

template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t bytes,
					       size_t offset = 0,
					       cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
	return ::cudaMemcpyFromSymbol(dst, (const void *)&symbol, bytes, offset, kind);
}

template <class T>
static inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t bytes,
						  size_t offset = 0,
						  cudaMemcpyKind kind = cudaMemcpyHostToDevice,
						  cudaStream_t stream = 0)
{
	return ::cudaMemcpyToSymbolAsync((const void *)&symbol, src, bytes, offset, kind, stream);
}

template <class T>
static inline cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t bytes,
						    size_t offset = 0,
						    cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
						    cudaStream_t stream = 0)
{
	return ::cudaMemcpyFromSymbolAsync(dst, (const void *)&symbol, bytes, offset, kind, stream);
}

template <class T> static inline cudaError_t cudaGetSymbolAddress(void **ptr, const T &symbol)
{
	return ::cudaGetSymbolAddress(ptr, (const void *)&symbol);
}

template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol)
{
	return ::cudaGetSymbolSize(bytes, (const void *)&symbol);
}

/* --- kernels --------------------------------------------------------------------- */

template <class T>
static inline cudaError_t cudaLaunchKernel(T *func, dim3 grid, dim3 block, void **args,
					   size_t shared = 0,
					   cudaStream_t stream = 0)
{
	return ::cudaLaunchKernel((const void *)func, grid, block, args, shared, stream);
}

template <class T>
static inline cudaError_t cudaLaunchCooperativeKernel(T *func, dim3 grid, dim3 block, void **args,
						      size_t shared = 0,
						      cudaStream_t stream = 0)
{
	return ::cudaLaunchCooperativeKernel((const void *)func, grid, block, args, shared,
					     stream);
}

template <class T> static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
								   T *func)
{
	return ::cudaFuncGetAttributes(attributes, (const void *)func);
}

template <class T>
static inline cudaError_t cudaFuncSetAttribute(T *func, cudaFuncAttribute attribute, int value)
{
	return ::cudaFuncSetAttribute((const void *)func, attribute, value);
}

template <class T> static inline cudaError_t cudaFuncSetCacheConfig(T *func, cudaFuncCache config)
{
	return ::cudaFuncSetCacheConfig((const void *)func, config);
}

template <class T> static inline cudaError_t cudaFuncSetSharedMemConfig(T *func,
									cudaSharedMemConfig config)
{
	return ::cudaFuncSetSharedMemConfig((const void *)func, config);
}

template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *ctas, T func,
									int threads,
									size_t shared)
{
	return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(ctas, (const void *)func, threads,
							       shared);
}

/* The block that fills an SM best: the largest of those that give the most resident threads. */
template <class T, class F>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block,
									 T func,
									 F shared_of, int limit = 0)
{
	cudaFuncAttributes attributes;
	int device, sms, ctas, most = 0;
	cudaError_t ret = cudaGetDevice(&device);

	if (!ret)
		ret = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
	if (!ret)
		ret = cudaFuncGetAttributes(&attributes, func);
	if (ret)
		return ret;
	*grid = *block = 0;
	if (limit <= 0 || limit > attributes.maxThreadsPerBlock)
		limit = attributes.maxThreadsPerBlock;
	for (int threads = (limit + 31) / 32 * 32; threads > 0; threads -= 32) {
		int n = threads < limit ? threads : limit;

		ret = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, func, n, shared_of(n));
		if (ret)
			return ret;
		if (ctas * n > most) {
			most = ctas * n;
			*block = n;
			*grid = ctas * sms;
		}
	}
	return cudaSuccess;
}

template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T func,
							     size_t shared = 0, int limit = 0)
{
	auto same = [shared](int) { return shared; };

	return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, func, same, limit);
}

#endif
