// SPDX-License-Identifier: GPL-2.0
/* A policy of another ABI, and an eviction policy that lacks an operation: both are refused. */
#include "gpuemu_policy.h"

const struct gpuemu_prefetch_ops gpuemu_prefetch = { .abi = 77, .name = "old" };
const struct gpuemu_evict_ops gpuemu_evict = { .abi = GPUEMU_POLICY_ABI, .name = "half" };
