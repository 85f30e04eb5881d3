/* SPDX-License-Identifier: GPL-2.0 */
/* Half precision: __half, __half2, their conversions, arithmetic and functions. */
#ifndef GPUEMU_CUDA_FP16_H
#define GPUEMU_CUDA_FP16_H

#include <math.h>

#include "cuda_runtime.h"
#include "gpuemu/half_bits.h"
#include "gpuemu/saturate.h"

#define GPUEMU_N	half
#define GPUEMU_H	__half
#define GPUEMU_H2	__half2
#define GPUEMU_RAW	__half_raw
#define GPUEMU_RAW2	__half2_raw
#define GPUEMU_PTX	"f16"
#define GPUEMU_TO	gpuemu::float_of_half
#define GPUEMU_FROM	gpuemu::half_of
#define GPUEMU_MAKE	__float2half
#define GPUEMU_VALUE	__half2float
#include "gpuemu/half_types.h"
#include "gpuemu/half_functions.h"
#include "gpuemu/half_conversions.h"
#include "gpuemu/half_undefine.h"

typedef __half half;
typedef __half nv_half;
typedef __half __nv_half;
typedef __half2 half2;
typedef __half2 nv_half2;

#endif
