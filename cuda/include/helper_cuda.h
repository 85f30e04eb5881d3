/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What CUDA's samples, and programs that began as one, take from the samples' own headers: a call
 * that must succeed, and the choice of a device. Written from their use.
 */
#ifndef HELPER_CUDA_H
#define HELPER_CUDA_H

#include <stdio.h>
#include <stdlib.h>

#include "cuda_runtime.h"
#include "helper_string.h"

#ifndef EXIT_WAIVED
#define EXIT_WAIVED	2
#endif

static inline void gpuemu_helper_check(cudaError_t error, const char *call, const char *file,
				       int line)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "%s:%d: %s: %s (%d)\n", file, line, call, cudaGetErrorName(error),
		(int)error);
	exit(EXIT_FAILURE);
}

#define checkCudaErrors(call)	gpuemu_helper_check((cudaError_t)(call), #call, __FILE__, __LINE__)
#define getLastCudaError(what)	gpuemu_helper_check(cudaGetLastError(), what, __FILE__, __LINE__)
#define printLastCudaError(what)							\
	do {										\
		cudaError_t error_ = cudaGetLastError();				\
											\
		if (error_ != cudaSuccess)						\
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, what,	\
				cudaGetErrorName(error_));				\
	} while (0)

static inline const char *_cudaGetErrorEnum(cudaError_t error)
{
	return cudaGetErrorName(error);
}

/* Cores of an SM: 64 from sm_60 on but for sm_61 and sm_86, 128 there and on Maxwell, 192 on Kepler. */
static inline int _ConvertSMVer2Cores(int major, int minor)
{
	if (major < 3)
		return minor ? 48 : 32;
	if (major == 3)
		return 192;
	if (major == 5 || (major == 6 && minor) || (major == 8 && minor >= 6))
		return 128;
	return major < 9 ? 64 : 128;
}

/* There is one device. */
static inline int gpuGetMaxGflopsDeviceId(void)
{
	return 0;
}

static inline int gpuDeviceInit(int device)
{
	checkCudaErrors(cudaSetDevice(device));
	return device;
}

static inline int findCudaDevice(int argc, const char **argv)
{
	int device = checkCmdLineFlag(argc, argv, "device") ?
		     getCmdLineArgumentInt(argc, argv, "device") : 0;
	struct cudaDeviceProp properties;

	gpuDeviceInit(device);
	checkCudaErrors(cudaGetDeviceProperties(&properties, device));
	printf("GPU Device %d: \"%s\" with compute capability %d.%d\n\n", device, properties.name,
	       properties.major, properties.minor);
	return device;
}

static inline bool checkCudaCapabilities(int major, int minor)
{
	struct cudaDeviceProp properties;

	checkCudaErrors(cudaGetDeviceProperties(&properties, 0));
	return properties.major > major ||
	       (properties.major == major && properties.minor >= minor);
}

#endif
