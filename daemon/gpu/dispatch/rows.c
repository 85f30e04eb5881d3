// SPDX-License-Identifier: GPL-2.0
/*
 * The table of CTA dispatch policies, from gpu/dispatch.def. Looked up by dispatch.c
 * when a machine is made, and by listings.
 */
#include "gpu/dispatch.h"

#define X(name) extern const struct dispatch_ops dispatch_##name;
#include "gpu/dispatch.def"
#undef X

const struct dispatch_ops *const dispatch_rows[] = {
#define X(name) &dispatch_##name,
#include "gpu/dispatch.def"
#undef X
	NULL
};
