/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What dispatch dynamic keeps of kernels that ran: their curves, for their next launches
 * (slicer.reuse). Sampling fills it.
 */
#ifndef GPUEMU_GPU_DISPATCH_PROFILES_H
#define GPUEMU_GPU_DISPATCH_PROFILES_H

#include "gpu/dispatch.h"
#include "slicer/slicer.h"

struct profiles;

/* NULL: no memory. */
struct profiles *profiles_create(void);
void profiles_destroy(struct profiles *all);
/* The kernel's curve; NULL: it is not kept. Valid until the next profiles_keep(). */
const struct slicer_curve *profiles_find(const struct profiles *all,
					 const struct dispatch_kernel *k);
/* Keeps the curve in the place of what was kept of the kernel; the oldest kernel may go for it. */
void profiles_keep(struct profiles *all, const struct dispatch_kernel *k,
		   const struct slicer_curve *curve);

#endif
