// SPDX-License-Identifier: GPL-2.0
/*
 * The one device, as it is configured. Its compute capability is that of the PTX which the engine
 * runs, not of the chip that a configuration is named after: programs choose their code by it.
 */
#include <stdio.h>
#include <string.h>

#include "cudart.h"

#define MAJOR	7
#define MINOR	0
#define STACK_DEFAULT	1024
/* 0x80: cudaDeviceSyncMemops. */
#define DEVICE_FLAGS	(cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | \
			 0x80u)

static unsigned int device_flags;
#define LIMITS { STACK_DEFAULT, 1 << 20, 8 << 20, 2, 2048, 128, 0 }
static size_t limits[7] = LIMITS;

void device_forget_all(void)
{
	static const size_t first[] = LIMITS;

	memcpy(limits, first, sizeof(limits));
}

API cudaError_t cudaGetDeviceCount(int *count)
{
	cudaError_t error = enter();

	if (!count)
		return leave(cudaErrorInvalidValue);
	*count = error == cudaErrorNoDevice ? 0 : 1;
	return leave(error);
}

API cudaError_t cudaGetDevice(int *device)
{
	if (!device)
		return error_remember(cudaErrorInvalidValue);
	*device = 0;
	return cudaSuccess;
}

static cudaError_t known(int device)
{
	return error_remember(device ? cudaErrorInvalidDevice : cudaSuccess);
}

API cudaError_t cudaSetDevice(int device)
{
	return known(device);
}

API cudaError_t cudaSetValidDevices(int *devices, int count)
{
	if (!devices || count < 0)
		return error_remember(cudaErrorInvalidValue);
	for (int i = 0; i < count; i++)
		if (devices[i])
			return error_remember(cudaErrorInvalidDevice);
	return cudaSuccess;
}

API cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
	return prop ? cudaGetDevice(device) : error_remember(cudaErrorInvalidValue);
}

API cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
	unsigned int schedule = flags & cudaDeviceScheduleMask;

	/* One way to wait, or none. */
	if (flags & ~DEVICE_FLAGS || schedule & (schedule - 1))
		return error_remember(cudaErrorInvalidValue);
	device_flags = flags;
	return cudaSuccess;
}

API cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
	if (!flags)
		return error_remember(cudaErrorInvalidValue);
	*flags = device_flags | cudaDeviceMapHost;
	return cudaSuccess;
}

/* --- properties --------------------------------------------------------------------------- */

void device_properties(struct cudaDeviceProp *p);
void device_properties(struct cudaDeviceProp *p)
{
	const struct device *d = runtime_device();
	/* uffd and kmod page all device memory: a copy there is the program's own, and waits. */
	bool engines = !strcmp(gpuemu_backend(runtime_ctx()), "sim");

	*p = (struct cudaDeviceProp){
		.totalGlobalMem = d->vram,
		.sharedMemPerBlock = d->shared,
		.regsPerBlock = (int)d->registers,
		.warpSize = 32,
		.memPitch = 0x7fffffff,
		.maxThreadsPerBlock = 1024,
		.maxThreadsDim = { 1024, 1024, 64 },
		.maxGridSize = { 0x7fffffff, 65535, 65535 },
		.clockRate = (int)d->clock_mhz * 1000,
		.totalConstMem = 65536,
		.major = MAJOR,
		.minor = MINOR,
		.textureAlignment = 512,
		.texturePitchAlignment = 32,
		.multiProcessorCount = (int)d->sms,
		.canMapHostMemory = 1,
		.surfaceAlignment = 512,
		.deviceOverlap = engines,
		.asyncEngineCount = engines ? 2 : 0,
		.concurrentKernels = 1,
		.cooperativeLaunch = 1,
		.unifiedAddressing = 1,
		.memoryClockRate = (int)d->mem_khz,
		.memoryBusWidth = (int)d->bus_bits,
		.l2CacheSize = (int)d->l2,
		.maxThreadsPerMultiProcessor = (int)d->warps * 32,
		.globalL1CacheSupported = 1,
		.localL1CacheSupported = 1,
		.sharedMemPerMultiprocessor = d->shared,
		.regsPerMultiprocessor = (int)d->registers,
		.managedMemory = 1,
		.singleToDoublePrecisionPerfRatio = 8,
		.concurrentManagedAccess = 1,
		.pageableMemoryAccess = gpuemu_pageable(runtime_ctx()),
		.sharedMemPerBlockOptin = d->shared,
		.maxBlocksPerMultiProcessor = (int)d->ctas,
		/* The model's textures have no bounds of their own: these are CUDA's of sm_75. */
		.maxTexture1D = 131072,
		.maxTexture1DLinear = 1 << 28,
		.maxTexture2D = { 131072, 65536 },
		.maxTexture2DLinear = { 131072, 65000, 2097120 },
		.maxSurface1D = 32768,
		.maxSurface2D = { 131072, 65536 },
		.hostRegisterSupported = 1,
	};
	snprintf(p->name, sizeof(p->name), "gpuemu (%s)", gpuemu_backend(runtime_ctx()));
	memcpy(p->uuid.bytes, "gpuemu", 7);
}

static int attribute(enum cudaDeviceAttr attr, const struct cudaDeviceProp *p)
{
	switch (attr) {
	case cudaDevAttrMaxThreadsPerBlock: return p->maxThreadsPerBlock;
	case cudaDevAttrMaxBlockDimX: return p->maxThreadsDim[0];
	case cudaDevAttrMaxBlockDimY: return p->maxThreadsDim[1];
	case cudaDevAttrMaxBlockDimZ: return p->maxThreadsDim[2];
	case cudaDevAttrMaxGridDimX: return p->maxGridSize[0];
	case cudaDevAttrMaxGridDimY: return p->maxGridSize[1];
	case cudaDevAttrMaxGridDimZ: return p->maxGridSize[2];
	case cudaDevAttrMaxSharedMemoryPerBlock: return (int)p->sharedMemPerBlock;
	case cudaDevAttrTotalConstantMemory: return (int)p->totalConstMem;
	case cudaDevAttrWarpSize: return p->warpSize;
	case cudaDevAttrMaxPitch: return (int)p->memPitch;
	case cudaDevAttrMaxRegistersPerBlock: return p->regsPerBlock;
	case cudaDevAttrClockRate: return p->clockRate;
	case cudaDevAttrTextureAlignment: return (int)p->textureAlignment;
	case cudaDevAttrTexturePitchAlignment: return (int)p->texturePitchAlignment;
	case cudaDevAttrSurfaceAlignment: return (int)p->surfaceAlignment;
	case cudaDevAttrMultiProcessorCount: return p->multiProcessorCount;
	case cudaDevAttrCanMapHostMemory: return p->canMapHostMemory;
	case cudaDevAttrGpuOverlap: return p->deviceOverlap;
	case cudaDevAttrAsyncEngineCount: return p->asyncEngineCount;
	case cudaDevAttrConcurrentKernels: return p->concurrentKernels;
	case cudaDevAttrCooperativeLaunch: return p->cooperativeLaunch;
	case cudaDevAttrMemoryClockRate: return p->memoryClockRate;
	case cudaDevAttrGlobalMemoryBusWidth: return p->memoryBusWidth;
	case cudaDevAttrL2CacheSize: return p->l2CacheSize;
	case cudaDevAttrMaxThreadsPerMultiProcessor: return p->maxThreadsPerMultiProcessor;
	case cudaDevAttrUnifiedAddressing: return p->unifiedAddressing;
	case cudaDevAttrComputeCapabilityMajor: return p->major;
	case cudaDevAttrComputeCapabilityMinor: return p->minor;
	case cudaDevAttrGlobalL1CacheSupported: return p->globalL1CacheSupported;
	case cudaDevAttrLocalL1CacheSupported: return p->localL1CacheSupported;
	case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return (int)p->sharedMemPerMultiprocessor;
	case cudaDevAttrMaxRegistersPerMultiprocessor: return p->regsPerMultiprocessor;
	case cudaDevAttrManagedMemory: return p->managedMemory;
	case cudaDevAttrSingleToDoublePrecisionPerfRatio:
		return p->singleToDoublePrecisionPerfRatio;
	case cudaDevAttrConcurrentManagedAccess: return p->concurrentManagedAccess;
	case cudaDevAttrPageableMemoryAccess: return p->pageableMemoryAccess;
	case cudaDevAttrMaxSharedMemoryPerBlockOptin: return (int)p->sharedMemPerBlockOptin;
	case cudaDevAttrMaxBlocksPerMultiprocessor: return p->maxBlocksPerMultiProcessor;
	case cudaDevAttrMaxTexture1DWidth: return p->maxTexture1D;
	case cudaDevAttrMaxTexture1DLinearWidth: return p->maxTexture1DLinear;
	case cudaDevAttrMaxTexture2DWidth: return p->maxTexture2D[0];
	case cudaDevAttrMaxTexture2DHeight: return p->maxTexture2D[1];
	case cudaDevAttrMaxTexture2DLinearWidth: return p->maxTexture2DLinear[0];
	case cudaDevAttrMaxTexture2DLinearHeight: return p->maxTexture2DLinear[1];
	case cudaDevAttrMaxTexture2DLinearPitch: return p->maxTexture2DLinear[2];
	case cudaDevAttrMaxSurface1DWidth: return p->maxSurface1D;
	case cudaDevAttrMaxSurface2DWidth: return p->maxSurface2D[0];
	case cudaDevAttrMaxSurface2DHeight: return p->maxSurface2D[1];
	case cudaDevAttrHostRegisterSupported: return p->hostRegisterSupported;
	/* The device lacks these: textures of more dimensions, peers, pools, clusters and the like. */
	default: return 0;
	}
}

static bool is_attribute(enum cudaDeviceAttr attr)
{
	switch ((int)attr) {
#define X(name, number) case number:
#include "gpuemu/attributes.def"
#undef X
		return true;
	default:
		return false;
	}
}

API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
	struct cudaDeviceProp p;
	cudaError_t error = enter();

	if (!error && device)
		error = cudaErrorInvalidDevice;
	if (!error && (!value || !is_attribute(attr)))
		error = cudaErrorInvalidValue;
	if (!error) {
		device_properties(&p);
		*value = attribute(attr, &p);
	}
	return leave(error);
}

API cudaError_t cudaDeviceGetPCIBusId(char *id, int bytes, int device)
{
	if (!id || bytes < 13)
		return error_remember(cudaErrorInvalidValue);
	snprintf(id, (size_t)bytes, "0000:00:00.0");
	return known(device);
}

API cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
	unsigned int domain = 0, bus = 0, slot = 0, function = 0;
	char rest;

	if (!device || !id)
		return error_remember(cudaErrorInvalidValue);
	*device = 0;
	/* With a domain the function may be left out, with a function the domain. */
	if (sscanf(id, "%x:%x:%x.%x%c", &domain, &bus, &slot, &function, &rest) != 4 &&
	    sscanf(id, "%x:%x:%x%c", &domain, &bus, &slot, &rest) != 3 &&
	    sscanf(id, "%x:%x.%x%c", &bus, &slot, &function, &rest) != 3)
		return error_remember(cudaErrorInvalidValue);
	return known(domain || bus || slot || function);
}

/* --- the device as a whole ---------------------------------------------------------------- */

API cudaError_t cudaDeviceSynchronize(void)
{
	cudaError_t error = enter();

	return leave(error ? error : runtime_failed(gpuemu_synchronize(runtime_ctx())));
}

API cudaError_t cudaDeviceReset(void)
{
	enter_quietly();
	runtime_reset();
	return leave(cudaSuccess);
}

API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
	if ((unsigned int)limit >= ARRAY_SIZE(limits))
		return error_remember(cudaErrorUnsupportedLimit);
	/* The heap counts before the first launch of a kernel that calls malloc(), as in CUDA. */
	if (limit == cudaLimitMallocHeapSize || limit == cudaLimitStackSize) {
		cudaError_t error = enter();

		if (!error && (limit == cudaLimitStackSize ? gpuemu_set_stack :
			       gpuemu_set_heap)(runtime_ctx(), value))
			error = cudaErrorInvalidValue;
		if (leave(error))
			return error;
	}
	limits[limit] = value;
	return cudaSuccess;
}

API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
	if ((unsigned int)limit >= ARRAY_SIZE(limits))
		return error_remember(cudaErrorUnsupportedLimit);
	if (!value)
		return error_remember(cudaErrorInvalidValue);
	*value = limits[limit];
	return cudaSuccess;
}

/* These are preferences, and the model ignores them. */
API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
	return error_remember((unsigned int)config > cudaFuncCachePreferEqual ?
			      cudaErrorInvalidValue : cudaSuccess);
}

API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
	if (config)
		*config = cudaFuncCachePreferNone;
	return error_remember(config ? cudaSuccess : cudaErrorInvalidValue);
}

API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
	return error_remember((unsigned int)config > cudaSharedMemBankSizeEightByte ?
			      cudaErrorInvalidValue : cudaSuccess);
}

API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
	if (config)
		*config = cudaSharedMemBankSizeFourByte;
	return error_remember(config ? cudaSuccess : cudaErrorInvalidValue);
}

#define INIT_FLAGS 1u /* cudaInitDeviceFlagsAreValid */

API cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags)
{
	if (flags & ~INIT_FLAGS)
		return error_remember(cudaErrorInvalidValue);
	return flags & INIT_FLAGS && !device ? cudaSetDeviceFlags(device_flags) : known(device);
}

/* There is one device. */
API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	if (!can)
		return error_remember(cudaErrorInvalidValue);
	*can = 0;
	return known(device | peer);
}

API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
	return error_remember(flags ? cudaErrorInvalidValue : cudaErrorInvalidDevice);
}

/* The attributes are of a pair of devices, and there is only one device. */
API cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
					  int to)
{
	cudaError_t error = enter();

	if (!error)
		error = !value || (unsigned int)attribute - cudaDevP2PAttrPerformanceRank >
				  cudaDevP2PAttrCudaArrayAccessSupported -
				  cudaDevP2PAttrPerformanceRank ?
			cudaErrorInvalidValue : cudaErrorInvalidDevice;
	return leave(error);
}

API cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
	return error_remember(peer ? cudaErrorInvalidDevice : cudaErrorPeerAccessNotEnabled);
}

/* No line stays longer than others. */
API cudaError_t cudaCtxResetPersistingL2Cache(void)
{
	cudaError_t error = enter();

	return leave(error);
}

/* Nothing listens. */
API cudaError_t cudaProfilerStart(void)
{
	return cudaSuccess;
}

API cudaError_t cudaProfilerStop(void)
{
	return cudaSuccess;
}

/* --- names that CUDA has dropped ------------------------------------------------------------ */

API cudaError_t cudaThreadSynchronize(void)
{
	return cudaDeviceSynchronize();
}

API cudaError_t cudaThreadExit(void)
{
	return cudaDeviceReset();
}

API cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config)
{
	return cudaDeviceSetCacheConfig(config);
}

API cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value)
{
	return cudaDeviceSetLimit(limit, value);
}

API cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit limit)
{
	return cudaDeviceGetLimit(value, limit);
}

API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
						       enum cudaChannelFormatKind f)
{
	return (struct cudaChannelFormatDesc){ x, y, z, w, f };
}
