/* SPDX-License-Identifier: GPL-2.0 */
/* The version; there is no driver API here yet. Programs of the runtime API include it too. */
#ifndef GPUEMU_CUDA_H
#define GPUEMU_CUDA_H

#define CUDA_VERSION	12000

#include "driver_types.h"

#endif
