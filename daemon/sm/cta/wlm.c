// SPDX-License-Identifier: GPL-2.0
/*
 * Warp-level management (Xiang et al., HPCA 2014), Zorua's second baseline: slots and registers are
 * a warp's, so a CTA may start with some of its warps and what ends early makes room. Scratchpad
 * and the limits of CTAs and warps are as they were, and nothing is in swap. One CTA at a time
 * waits for warps' resources, and gets the first that are free: two could wait for each other's.
 */
#include "sm/cta/virtual.h"

const struct sm_mechanism mechanism_wlm = {
	.name = "wlm",
	.help = "warp-level management: slots and registers are a warp's, scratchpad a CTA's",
	.warps = 64,
	.by_warp = true,
	.create = virtual_wlm_create,
	.destroy = virtual_destroy,
	.reset = virtual_reset,
	.has_room = virtual_wlm_has_room,
	.cta_admitted = virtual_admitted,
	.cta_ended = virtual_cta_ended,
	.warp_retired = virtual_retired,
	.timer = virtual_timer,
};
