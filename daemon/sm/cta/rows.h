/* SPDX-License-Identifier: GPL-2.0 */
/* Declares what sm/cta/<name>.c defines. Private to the sm room. */
#ifndef GPUEMU_SM_CTA_ROWS_H
#define GPUEMU_SM_CTA_ROWS_H

#include "sm/build.h"
#include "sm/sm.h"

#define X(name) extern const struct sm_mechanism mechanism_##name;
#include "sm/cta.def"
#undef X

#endif
