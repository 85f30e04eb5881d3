// SPDX-License-Identifier: GPL-2.0
/*
 * MAX of Virtual Thread (Yoon et al., ISCA 2016, section V): a plain GPU whose scheduling
 * structures are as many as registers and shared memory have use for, and cost nothing. It
 * shows what can be gained at most. Nothing is called.
 */
#include "sm/cta/rows.h"

const struct sm_mechanism mechanism_max = {
	.name = "max",
	.help = "as baseline, with slots for all CTAs that registers and shared memory hold",
	.warps = 256,
	.ctas = 256,
	.slots_for_all = true,
};
