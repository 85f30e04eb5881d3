/* SPDX-License-Identifier: GPL-2.0 */
/* What it had is in cuda_runtime.h. */
#include "cuda_runtime.h"
