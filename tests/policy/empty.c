// SPDX-License-Identifier: GPL-2.0
/* An object that is no policy. */
extern const int gpuemu_policy_none;
const int gpuemu_policy_none = 1;
