// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of what resource managers may change of an SM, and their first rows: a plain
 * GPU, in which nothing is asked.
 */
#include "sm/internal.h"

static const struct sm_admission admission_limits = {
	.name = "limits",
	.help = "CTAs up to the limits of slots, threads, registers and shared memory, all active",
};

static const struct sm_resources resources_whole = {
	.name = "whole",
	.help = "a CTA has all that it was launched with until it ends",
};

static const struct sm_quota quota_none = {
	.name = "none",
	.help = "as many CTAs of a kernel as there is room for",
};

#define X(name) &admission_##name,
const struct sm_admission *const sm_admission_rows[] = {
#include "sm/admission.def"
	NULL
};
#undef X

#define X(name) &resources_##name,
const struct sm_resources *const sm_resources_rows[] = {
#include "sm/resources.def"
	NULL
};
#undef X

#define X(name) &quota_##name,
const struct sm_quota *const sm_quota_rows[] = {
#include "sm/quota.def"
	NULL
};
#undef X
