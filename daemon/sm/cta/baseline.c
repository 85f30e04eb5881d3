// SPDX-License-Identifier: GPL-2.0
/*
 * A plain GPU: as many CTAs as slots, registers and shared memory allow, each with all that it
 * was launched with until it ends. Nothing is called.
 */
#include "sm/cta/rows.h"

const struct sm_mechanism mechanism_baseline = {
	.name = "baseline",
	.help = "CTAs up to the limits of slots, registers and shared memory, all active",
};
