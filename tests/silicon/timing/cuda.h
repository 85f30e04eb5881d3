/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of the CUDA driver that the measurements use. */
#ifndef TESTS_SILICON_TIMING_CUDA_H
#define TESTS_SILICON_TIMING_CUDA_H

#include "silicon/calls.h"

#define CUDA_CALLS(X)		DRIVER_CALLS(X)					\
	X(device_bytes, "cuDeviceTotalMem_v2", (size_t *, int)) \
	X(function_attribute, "cuFuncGetAttribute", (int *, int, void *)) \
	X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor", \
	  (int *, void *, int, size_t)) \
	X(to_device_async, "cuMemcpyHtoDAsync_v2", (uint64_t, const void *, size_t, void *)) \
	X(to_host_async, "cuMemcpyDtoHAsync_v2", (void *, uint64_t, size_t, void *)) \
	X(device_to_device, "cuMemcpyDtoD_v2", (uint64_t, uint64_t, size_t)) \
	X(host_alloc, "cuMemHostAlloc", (void **, size_t, unsigned int)) \
	X(host_free, "cuMemFreeHost", (void *)) \
	X(host_address, "cuMemHostGetDevicePointer_v2", (uint64_t *, void *, unsigned int)) \
	X(event_create, "cuEventCreate", (void **, unsigned int)) \
	X(event_record, "cuEventRecord", (void *, void *)) \
	X(event_wait, "cuEventSynchronize", (void *)) \
	X(event_time, "cuEventElapsedTime", (float *, void *, void *)) \
	X(stream_create, "cuStreamCreate", (void **, unsigned int)) \
	X(get_resource, "cuDeviceGetDevResource", (int, void *, int)) \
	X(split_sms, "cuDevSmResourceSplitByCount", \
	  (void *, unsigned int *, const void *, void *, unsigned int, unsigned int)) \
	X(describe, "cuDevResourceGenerateDesc", (void **, void *, unsigned int)) \
	X(green_create, "cuGreenCtxCreate", (void **, void *, int, unsigned int)) \
	X(green_context, "cuCtxFromGreenCtx", (void **, void *))
extern struct cuda {
	CUDA_CALLS(DRIVER_MEMBER)
} cu;
extern int cuda_device;

/* Ends the program, with the call and the error's name, unless error is 0. */
void cuda_try(int error, const char *call);
#define TRY(call) cuda_try(call, #call)

/* From now on kernels run on so many SMs alone, or a few more: a green context. Returns how many. */
unsigned int cuda_restrict(unsigned int sms);
/* maxregs 0: no limit */
void *cuda_load(const char *ptx, unsigned int maxregs);

#endif
