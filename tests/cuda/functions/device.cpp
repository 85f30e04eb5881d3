// SPDX-License-Identifier: GPL-2.0
/* The device, its attributes, limits and preferences. */
#include "functions.h"

static void which(void)
{
	int n = 7, list[2] = { 0, 7 };
	char id[32];

	GIVES(cudaSuccess, cudaGetDeviceCount(&n));
	HOLDS(n == 1);
	GIVES(cudaErrorInvalidValue, cudaGetDeviceCount(NULL));
	GIVES(cudaSuccess, cudaSetDevice(0));
	GIVES(cudaErrorInvalidDevice, cudaSetDevice(1));
	GIVES(cudaErrorInvalidDevice, cudaSetDevice(-1));
	GIVES(cudaSuccess, cudaGetDevice(&n));
	HOLDS(n == 0);
	GIVES(cudaErrorInvalidValue, cudaGetDevice(NULL));
	GIVES(cudaSuccess, cudaSetValidDevices(list, 1));
	GIVES(cudaErrorInvalidDevice, cudaSetValidDevices(list, 2));
	GIVES(cudaErrorInvalidValue, cudaSetValidDevices(NULL, 1));
	GIVES(cudaErrorInvalidValue, cudaSetValidDevices(list, -1));
	GIVES(cudaSuccess, cudaDeviceGetPCIBusId(id, sizeof(id), 0));
	GIVES(cudaErrorInvalidValue, cudaDeviceGetPCIBusId(NULL, sizeof(id), 0));
	GIVES(cudaErrorInvalidValue, cudaDeviceGetPCIBusId(id, 5, 0));
	GIVES(cudaErrorInvalidDevice, cudaDeviceGetPCIBusId(id, sizeof(id), 1));
	n = 7;
	GIVES(cudaSuccess, cudaDeviceGetByPCIBusId(&n, id));
	HOLDS(n == 0);
	GIVES(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(NULL, id));
	GIVES(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&n, NULL));
	GIVES(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&n, "a bus"));
	GIVES(cudaErrorInvalidDevice, cudaDeviceGetByPCIBusId(&n, "0000:7f:00.0"));
	n = 7;
	GIVES(cudaSuccess, cudaDeviceGetByPCIBusId(&n, "00:00.0"));
	HOLDS(n == 0);
	GIVES(cudaSuccess, cudaInitDevice(0, 0, 0));
	GIVES(cudaErrorInvalidDevice, cudaInitDevice(1, 0, 0));
	GIVES(cudaErrorInvalidValue, cudaInitDevice(0, 0, 8));
}

static void what(void)
{
	cudaDeviceProp p, q;
	int n = 0;

	memset(&p, 0xff, sizeof(p));
	GIVES(cudaSuccess, cudaGetDeviceProperties(&p, 0));
	GIVES(cudaErrorInvalidDevice, cudaGetDeviceProperties(&p, 1));
	GIVES(cudaErrorInvalidValue, cudaGetDeviceProperties(NULL, 0));
	HOLDS(!strncmp(p.name, "gpuemu", 6));
	HOLDS(p.warpSize == 32 && p.major == 7 && p.multiProcessorCount == 15);
	HOLDS(p.maxThreadsPerBlock == 1024 && p.managedMemory == 1 && p.cooperativeLaunch == 1);
	memset(&q, 0, sizeof(q));
	n = 7;
	GIVES(cudaSuccess, cudaChooseDevice(&n, &q));
	HOLDS(n == 0);
	GIVES(cudaErrorInvalidValue, cudaChooseDevice(NULL, &q));
	GIVES(cudaErrorInvalidValue, cudaChooseDevice(&n, NULL));
	GIVES(cudaSuccess, cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0));
	HOLDS(n == p.multiProcessorCount);
	GIVES(cudaSuccess, cudaDeviceGetAttribute(&n, cudaDevAttrMaxSharedMemoryPerBlock, 0));
	HOLDS((size_t)n == p.sharedMemPerBlock);
	GIVES(cudaErrorInvalidValue, cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0));
	GIVES(cudaErrorInvalidValue, cudaDeviceGetAttribute(&n, (cudaDeviceAttr)9999, 0));
	GIVES(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 1));
	GIVES(cudaSuccess, cudaDriverGetVersion(&n));
	HOLDS(n / 1000 == CUDART_VERSION / 1000);
	GIVES(cudaErrorInvalidValue, cudaDriverGetVersion(NULL));
	GIVES(cudaSuccess, cudaRuntimeGetVersion(&n));
	HOLDS(n / 1000 == CUDART_VERSION / 1000);
	GIVES(cudaErrorInvalidValue, cudaRuntimeGetVersion(NULL));
}

static void how(void)
{
	unsigned int flags;
	size_t value, before;

	GIVES(cudaSuccess, cudaSetDeviceFlags(cudaDeviceScheduleYield));
	GIVES(cudaSuccess, cudaGetDeviceFlags(&flags));
	HOLDS((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleYield);
	GIVES(cudaErrorInvalidValue, cudaSetDeviceFlags(0x1000));
	GIVES(cudaErrorInvalidValue, cudaSetDeviceFlags(cudaDeviceScheduleYield | cudaDeviceScheduleSpin));
	GIVES(cudaSuccess, cudaGetDeviceFlags(&flags));
	HOLDS((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleYield);
	GIVES(cudaErrorInvalidValue, cudaGetDeviceFlags(NULL));
	GIVES(cudaSuccess, cudaSetDeviceFlags(0));

	GIVES(cudaSuccess, cudaDeviceGetLimit(&before, cudaLimitStackSize));
	GIVES(cudaSuccess, cudaDeviceSetLimit(cudaLimitStackSize, 2048));
	GIVES(cudaSuccess, cudaDeviceGetLimit(&value, cudaLimitStackSize));
	HOLDS(value == 2048);
	GIVES(cudaErrorUnsupportedLimit, cudaDeviceSetLimit((cudaLimit)77, 1));
	GIVES(cudaErrorInvalidValue, cudaDeviceSetLimit(cudaLimitMallocHeapSize, (size_t)1 << 50));
	GIVES(cudaErrorUnsupportedLimit, cudaDeviceGetLimit(&value, (cudaLimit)77));
	GIVES(cudaErrorInvalidValue, cudaDeviceGetLimit(NULL, cudaLimitStackSize));
	GIVES(cudaSuccess, cudaDeviceReset());
	GIVES(cudaSuccess, cudaDeviceGetLimit(&value, cudaLimitStackSize));
	HOLDS(value == before);
}

static void preferences(void)
{
	cudaFuncCache cache;
	cudaSharedMemConfig banks;
	int n = 7, least, greatest;

	GIVES(cudaSuccess, cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
	GIVES(cudaErrorInvalidValue, cudaDeviceSetCacheConfig((cudaFuncCache)9));
	GIVES(cudaSuccess, cudaDeviceGetCacheConfig(&cache));
	HOLDS(cache == cudaFuncCachePreferNone);
	GIVES(cudaErrorInvalidValue, cudaDeviceGetCacheConfig(NULL));
	GIVES(cudaSuccess, cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
	GIVES(cudaErrorInvalidValue, cudaDeviceSetSharedMemConfig((cudaSharedMemConfig)9));
	GIVES(cudaSuccess, cudaDeviceGetSharedMemConfig(&banks));
	HOLDS(banks == cudaSharedMemBankSizeFourByte);
	GIVES(cudaErrorInvalidValue, cudaDeviceGetSharedMemConfig(NULL));
	GIVES(cudaSuccess, cudaDeviceGetStreamPriorityRange(&least, &greatest));
	HOLDS(least == 0 && greatest == 0);
	GIVES(cudaSuccess, cudaCtxResetPersistingL2Cache());
	GIVES(cudaSuccess, cudaProfilerStart());
	GIVES(cudaSuccess, cudaProfilerStop());
	/* There is one device: it is nobody's peer. */
	GIVES(cudaSuccess, cudaDeviceCanAccessPeer(&n, 0, 0));
	HOLDS(n == 0);
	GIVES(cudaErrorInvalidDevice, cudaDeviceCanAccessPeer(&n, 0, 1));
	GIVES(cudaErrorInvalidValue, cudaDeviceCanAccessPeer(NULL, 0, 0));
	GIVES(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(0, 0));
	GIVES(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(1, 0));
	GIVES(cudaErrorInvalidValue, cudaDeviceEnablePeerAccess(1, 1));
	GIVES(cudaErrorInvalidDevice, cudaDeviceDisablePeerAccess(1));
	GIVES(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(0));
	GIVES(cudaErrorInvalidDevice,
	      cudaDeviceGetP2PAttribute(&n, cudaDevP2PAttrAccessSupported, 0, 0));
	GIVES(cudaErrorInvalidDevice,
	      cudaDeviceGetP2PAttribute(&n, cudaDevP2PAttrPerformanceRank, 0, 1));
	GIVES(cudaErrorInvalidValue,
	      cudaDeviceGetP2PAttribute(NULL, cudaDevP2PAttrAccessSupported, 0, 0));
	GIVES(cudaErrorInvalidValue, cudaDeviceGetP2PAttribute(&n, (enum cudaDeviceP2PAttr)0, 0, 1));
	GIVES(cudaErrorInvalidValue, cudaDeviceGetP2PAttribute(&n, (enum cudaDeviceP2PAttr)9, 0, 1));
}

void device(void)
{
	which();
	what();
	how();
	preferences();
	GIVES(cudaSuccess, cudaDeviceSynchronize());
	HOLDS(!strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue"));
	HOLDS(!strcmp(cudaGetErrorName((cudaError_t)12345), "unrecognized error code"));
	HOLDS(!strcmp(cudaGetErrorString(cudaSuccess), "no error"));
	HOLDS(!strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code"));
	/* One error is remembered, the latest, until somebody asks for it. */
	cudaSetDevice(1);
	cudaGetDevice(NULL);
	HOLDS(cudaPeekAtLastError() == cudaErrorInvalidValue);
	HOLDS(cudaGetLastError() == cudaErrorInvalidValue);
	HOLDS(cudaGetLastError() == cudaSuccess);
}
