/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CUDA C++ without a toolkit: the runtime's functions with their C++ forms, and what device code
 * calls. `gpuemu cc` includes it before each .cu file, as nvcc does with its own.
 */
#ifndef GPUEMU_CUDA_RUNTIME_H
#define GPUEMU_CUDA_RUNTIME_H
#define __CUDA_RUNTIME_H__

/* Device overloads of the mathematical functions come before <cmath>, which would declare them constexpr. */
#if defined(__CUDA__) && defined(__cplusplus)
#include <__clang_cuda_math_forward_declares.h>
#include <cmath>
#include <cstdlib>
#include <stdlib.h>
#include <string.h>
#include <time.h>
/* Before <new>, whose operators of the device call them: clang-14 would take the host's. */
extern "C" {
__attribute__((device)) void free(void *) __attribute((nothrow));
__attribute__((device)) void *malloc(size_t) __attribute((nothrow)) __attribute__((malloc));
}
#endif

#include "cuda_runtime_api.h"
#include "vector_functions.h"

#ifdef __cplusplus
#include "gpuemu/templates.h"
#include "gpuemu/channels.h"
#endif
#ifdef __CUDA__
#include "gpuemu/device.h"
#include "gpuemu/texture.h"
#include "gpuemu/managed.h"
#ifdef __cplusplus
#include <new>
#endif
#endif

#endif
