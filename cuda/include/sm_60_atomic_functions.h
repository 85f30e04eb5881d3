/* SPDX-License-Identifier: GPL-2.0 */
/* Its contents are in cuda_runtime.h. */
#include "cuda_runtime.h"
