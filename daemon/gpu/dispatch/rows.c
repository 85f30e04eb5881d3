// SPDX-License-Identifier: GPL-2.0
/*
 * The table of CTA dispatch policies, from gpu/dispatch.def. Looked up when a machine
 * is made, and by listings.
 */
#include <string.h>

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

const struct dispatch_ops *dispatch_find(const char *name)
{
	for (unsigned int i = 0; dispatch_rows[i]; i++)
		if (!strcmp(dispatch_rows[i]->name, name))
			return dispatch_rows[i];
	return NULL;
}
