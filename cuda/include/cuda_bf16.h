/* SPDX-License-Identifier: GPL-2.0 */
/* bfloat16: __nv_bfloat16, __nv_bfloat162, their conversions, arithmetic and functions. */
#ifndef GPUEMU_CUDA_BF16_H
#define GPUEMU_CUDA_BF16_H

#include <math.h>

#include "cuda_runtime.h"
#include "gpuemu/half_bits.h"
#include "gpuemu/saturate.h"

#define GPUEMU_N	bfloat16
#define GPUEMU_H	__nv_bfloat16
#define GPUEMU_H2	__nv_bfloat162
#define GPUEMU_RAW	__nv_bfloat16_raw
#define GPUEMU_RAW2	__nv_bfloat162_raw
#define GPUEMU_PTX	"bf16"
#define GPUEMU_TO	gpuemu::float_of_bfloat
#define GPUEMU_FROM	gpuemu::bfloat_of
#define GPUEMU_MAKE	__float2bfloat16
#define GPUEMU_VALUE	__bfloat162float
#include "gpuemu/half_types.h"
#include "gpuemu/half_functions.h"
#include "gpuemu/half_conversions.h"
#include "gpuemu/half_undefine.h"

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#endif
