/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sizes that the parts of an SM have in common. Private to the sm room.
 */
#ifndef GPUEMU_SM_LIMITS_H
#define GPUEMU_SM_LIMITS_H

#include "sm/build.h"
#include "sm/sm.h"

#define MAX_SCHEDULERS	8u
#define NOBODY		SM_KERNELS	/* what is no kernel's is counted there */
#define NO_INDEX	UINT32_MAX

/* Instructions of 8 bytes; two are fetched and decoded at a time. */
#define CODE_BYTES	8u
#define MAX_IBUFFER	8u

/*
 * Each kind of unit (enum sm_unit) has its issue slots (ID_OC), collectors, ports and dispatch
 * slots (OC_EX). DP exists where the configuration gives it units; else the SFU does its work.
 */
#define UNITS		SM_UNITS
#define MAX_WIDTH	16u	/* slots of ID_OC, OC_EX, EX_WB; units of a kind; ports */
#define MAX_COLLECTORS	64u	/* of all kinds together */
#define MAX_BANKS	64u

#endif
