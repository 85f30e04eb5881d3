/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What makes a batch of raw faults. Private to the services that are handed
 * them in this process; the module does it itself for kmod.
 */
#ifndef GPUEMU_SERVICE_BATCH_H
#define GPUEMU_SERVICE_BATCH_H

#include "service/service.h"

/* Sorts, merges faults on one page into the first that was raised; returns how many are left. */
unsigned int batch_merge(struct fault *faults, unsigned int n);

#endif
