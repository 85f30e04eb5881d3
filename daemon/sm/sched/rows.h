/* SPDX-License-Identifier: GPL-2.0 */
/* Declares what sm/sched/<name>.c defines. Private to the sm room. */
#ifndef GPUEMU_SM_SCHED_ROWS_H
#define GPUEMU_SM_SCHED_ROWS_H

#include "sm/sm.h"

#define X(name) extern const struct sched_ops sched_##name;
#include "sm/sched.def"
#undef X

#endif
