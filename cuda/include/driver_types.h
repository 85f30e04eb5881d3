/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The enumerations and structures of CUDA's runtime, as CUDA 12 has them, with names that older
 * programs use. Programs include it through cuda_runtime.h; the library is built with it too.
 */
#ifndef GPUEMU_DRIVER_TYPES_H
#define GPUEMU_DRIVER_TYPES_H

/* The toolkit's name for it: programs ask whether the runtime's headers came before. */
#ifndef __DRIVER_TYPES_H__
#define __DRIVER_TYPES_H__
#endif

#include <limits.h>
#include <stddef.h>

#include "host_defines.h"
#include "vector_types.h"

typedef enum cudaError {
#define X(name, number, text) name = number,
#include "gpuemu/errors.def"
#undef X
} cudaError;
typedef cudaError cudaError_t;

enum cudaDeviceP2PAttr {
	cudaDevP2PAttrPerformanceRank = 1,
	cudaDevP2PAttrAccessSupported = 2,
	cudaDevP2PAttrNativeAtomicSupported = 3,
	cudaDevP2PAttrCudaArrayAccessSupported = 4,
};

enum cudaDeviceAttr {
#define X(name, number) name = number,
#include "gpuemu/attributes.def"
#undef X
};

/* --- memory ------------------------------------------------------------------ */

enum cudaMemcpyKind {
	cudaMemcpyHostToHost = 0, cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2,
	cudaMemcpyDeviceToDevice = 3, cudaMemcpyDefault = 4,
};

enum cudaMemoryAdvise {
	cudaMemAdviseSetReadMostly = 1, cudaMemAdviseUnsetReadMostly = 2,
	cudaMemAdviseSetPreferredLocation = 3, cudaMemAdviseUnsetPreferredLocation = 4,
	cudaMemAdviseSetAccessedBy = 5, cudaMemAdviseUnsetAccessedBy = 6,
};

#define cudaCpuDeviceId			((int)-1)
#define cudaInvalidDeviceId		((int)-2)

enum cudaMemLocationType {
	cudaMemLocationTypeInvalid = 0, cudaMemLocationTypeDevice = 1, cudaMemLocationTypeHost = 2,
	cudaMemLocationTypeHostNuma = 3, cudaMemLocationTypeHostNumaCurrent = 4,
};
struct cudaMemLocation {
	enum cudaMemLocationType type;
	int id;
};

enum cudaMemoryType {
	cudaMemoryTypeUnregistered = 0, cudaMemoryTypeHost = 1, cudaMemoryTypeDevice = 2,
	cudaMemoryTypeManaged = 3,
};
struct cudaPointerAttributes {
	enum cudaMemoryType type;
	int device;
	void *devicePointer;
	void *hostPointer;
};

#define cudaMemAttachGlobal		0x01
#define cudaMemAttachHost		0x02
#define cudaMemAttachSingle		0x04
#define cudaHostAllocDefault		0x00
#define cudaHostAllocPortable		0x01
#define cudaHostAllocMapped		0x02
#define cudaHostAllocWriteCombined	0x04
#define cudaHostRegisterDefault		0x00
#define cudaHostRegisterPortable	0x01
#define cudaHostRegisterMapped		0x02
#define cudaHostRegisterIoMemory	0x04
#define cudaHostRegisterReadOnly	0x08

enum cudaChannelFormatKind {
	cudaChannelFormatKindSigned = 0, cudaChannelFormatKindUnsigned = 1,
	cudaChannelFormatKindFloat = 2, cudaChannelFormatKindNone = 3,
};
struct cudaChannelFormatDesc {
	int x, y, z, w;
	enum cudaChannelFormatKind f;
};

struct cudaPitchedPtr {
	void *ptr;
	size_t pitch, xsize, ysize;
};
struct cudaExtent {
	size_t width, height, depth;
};
struct cudaPos {
	size_t x, y, z;
};

typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
struct cudaMemcpy3DParms {
	cudaArray_t srcArray;
	struct cudaPos srcPos;
	struct cudaPitchedPtr srcPtr;
	cudaArray_t dstArray;
	struct cudaPos dstPos;
	struct cudaPitchedPtr dstPtr;
	struct cudaExtent extent;
	enum cudaMemcpyKind kind;
};

/* --- functions --------------------------------------------------------------- */

enum cudaFuncCache {
	cudaFuncCachePreferNone = 0, cudaFuncCachePreferShared = 1, cudaFuncCachePreferL1 = 2,
	cudaFuncCachePreferEqual = 3,
};
enum cudaSharedMemConfig {
	cudaSharedMemBankSizeDefault = 0, cudaSharedMemBankSizeFourByte = 1,
	cudaSharedMemBankSizeEightByte = 2,
};
enum cudaFuncAttribute {
	cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
	cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};
enum cudaSharedCarveout {
	cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxL1 = 0,
	cudaSharedmemCarveoutMaxShared = 100,
};
struct cudaFuncAttributes {
	size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
	int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
	int maxDynamicSharedSizeBytes, preferredShmemCarveout;
	int clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight, requiredClusterDepth;
	int clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed;
	int reserved[16];
};

#define cudaOccupancyDefault			0x00
#define cudaOccupancyDisableCachingOverride	0x01

/* --- streams, events ------------------------------------------------------------ */

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUfunc_st *cudaFunction_t;
typedef struct CUkern_st *cudaKernel_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *arg);
enum cudaStreamCaptureStatus {
	cudaStreamCaptureStatusNone = 0,
	cudaStreamCaptureStatusActive = 1,
	cudaStreamCaptureStatusInvalidated = 2,
};

typedef void (*cudaHostFn_t)(void *arg);

#define cudaStreamDefault		0x00
#define cudaStreamNonBlocking		0x01
#define cudaStreamLegacy		((cudaStream_t)0x1)
#define cudaStreamPerThread		((cudaStream_t)0x2)
#define cudaEventDefault		0x00
#define cudaEventBlockingSync		0x01
#define cudaEventDisableTiming		0x02
#define cudaEventInterprocess		0x04
#define cudaEventRecordDefault		0x00
#define cudaEventRecordExternal		0x01
#define cudaEventWaitDefault		0x00
#define cudaEventWaitExternal		0x01

enum cudaAccessProperty {
	cudaAccessPropertyNormal = 0, cudaAccessPropertyStreaming = 1,
	cudaAccessPropertyPersisting = 2,
};
struct cudaAccessPolicyWindow {
	void *base_ptr;
	size_t num_bytes;
	float hitRatio;
	enum cudaAccessProperty hitProp, missProp;
};
enum cudaSynchronizationPolicy {
	cudaSyncPolicyAuto = 1, cudaSyncPolicySpin = 2, cudaSyncPolicyYield = 3,
	cudaSyncPolicyBlockingSync = 4,
};
typedef enum cudaLaunchAttributeID {
	cudaLaunchAttributeIgnore = 0, cudaLaunchAttributeAccessPolicyWindow = 1,
	cudaLaunchAttributeCooperative = 2, cudaLaunchAttributeSynchronizationPolicy = 3,
	cudaLaunchAttributePriority = 8,
} cudaLaunchAttributeID;
typedef union cudaLaunchAttributeValue {
	char pad[64];
	struct cudaAccessPolicyWindow accessPolicyWindow;
	int cooperative;
	enum cudaSynchronizationPolicy syncPolicy;
	int priority;
} cudaLaunchAttributeValue;
#define cudaStreamAttrID			cudaLaunchAttributeID
#define cudaStreamAttrValue			cudaLaunchAttributeValue
#define cudaStreamAttributeAccessPolicyWindow	cudaLaunchAttributeAccessPolicyWindow
#define cudaStreamAttributeSynchronizationPolicy cudaLaunchAttributeSynchronizationPolicy
#define cudaStreamAttributePriority		cudaLaunchAttributePriority

/* --- device --------------------------------------------------------------------- */

#define cudaDeviceScheduleAuto		0x00
#define cudaDeviceScheduleSpin		0x01
#define cudaDeviceScheduleYield		0x02
#define cudaDeviceScheduleBlockingSync	0x04
#define cudaDeviceBlockingSync		0x04
#define cudaDeviceScheduleMask		0x07
#define cudaDeviceMapHost		0x08
#define cudaDeviceLmemResizeToMax	0x10

enum cudaComputeMode {
	cudaComputeModeDefault = 0, cudaComputeModeExclusive = 1, cudaComputeModeProhibited = 2,
	cudaComputeModeExclusiveProcess = 3,
};
enum cudaLimit {
	cudaLimitStackSize = 0, cudaLimitPrintfFifoSize = 1, cudaLimitMallocHeapSize = 2,
	cudaLimitDevRuntimeSyncDepth = 3, cudaLimitDevRuntimePendingLaunchCount = 4,
	cudaLimitMaxL2FetchGranularity = 5, cudaLimitPersistingL2CacheSize = 6,
};

typedef unsigned int cuuint32_t;
typedef unsigned long long cuuint64_t;

struct CUuuid_st {
	char bytes[16];
};
typedef struct CUuuid_st cudaUUID_t;

/* The layout of CUDA 12; sizeof() is 1032. CUDA 11's ends after reservedSharedMemPerBlock. */
struct cudaDeviceProp {
	char name[256];
	cudaUUID_t uuid;
	char luid[8];
	unsigned int luidDeviceNodeMask;
	size_t totalGlobalMem;
	size_t sharedMemPerBlock;
	int regsPerBlock;
	int warpSize;
	size_t memPitch;
	int maxThreadsPerBlock;
	int maxThreadsDim[3];
	int maxGridSize[3];
	int clockRate;
	size_t totalConstMem;
	int major, minor;
	size_t textureAlignment, texturePitchAlignment;
	int deviceOverlap;
	int multiProcessorCount;
	int kernelExecTimeoutEnabled;
	int integrated;
	int canMapHostMemory;
	int computeMode;
	int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear;
	int maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2];
	int maxTexture3D[3], maxTexture3DAlt[3];
	int maxTextureCubemap;
	int maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2];
	int maxSurface1D, maxSurface2D[2], maxSurface3D[3];
	int maxSurface1DLayered[2], maxSurface2DLayered[3];
	int maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
	size_t surfaceAlignment;
	int concurrentKernels;
	int ECCEnabled;
	int pciBusID, pciDeviceID, pciDomainID;
	int tccDriver;
	int asyncEngineCount;
	int unifiedAddressing;
	int memoryClockRate;
	int memoryBusWidth;
	int l2CacheSize;
	int persistingL2CacheMaxSize;
	int maxThreadsPerMultiProcessor;
	int streamPrioritiesSupported;
	int globalL1CacheSupported, localL1CacheSupported;
	size_t sharedMemPerMultiprocessor;
	int regsPerMultiprocessor;
	int managedMemory;
	int isMultiGpuBoard, multiGpuBoardGroupID;
	int hostNativeAtomicSupported;
	int singleToDoublePrecisionPerfRatio;
	int pageableMemoryAccess;
	int concurrentManagedAccess;
	int computePreemptionSupported;
	int canUseHostPointerForRegisteredMem;
	int cooperativeLaunch, cooperativeMultiDeviceLaunch;
	size_t sharedMemPerBlockOptin;
	int pageableMemoryAccessUsesHostPageTables;
	int directManagedMemAccessFromHost;
	int maxBlocksPerMultiProcessor;
	int accessPolicyMaxWindowSize;
	size_t reservedSharedMemPerBlock;
	int hostRegisterSupported;
	int sparseCudaArraySupported;
	int hostRegisterReadOnlySupported;
	int timelineSemaphoreInteropSupported;
	int memoryPoolsSupported;
	int gpuDirectRDMASupported;
	unsigned int gpuDirectRDMAFlushWritesOptions;
	int gpuDirectRDMAWritesOrdering;
	unsigned int memoryPoolSupportedHandleTypes;
	int deferredMappingCudaArraySupported;
	int ipcEventSupported;
	int clusterLaunch;
	int unifiedFunctionPointers;
	int reserved[63];
};

#endif
