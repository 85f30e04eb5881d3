// SPDX-License-Identifier: GPL-2.0
/* Finds the driver's functions: see calls.h. */
#include <dlfcn.h>
#include <stdio.h>

#include "calls.h"

bool driver_find(const struct driver_call *calls, size_t n, char *why, size_t bytes)
{
	void *so = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!so) {
		snprintf(why, bytes, "%s", dlerror());
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		*calls[i].at = dlsym(so, calls[i].symbol);
		if (!*calls[i].at) {
			snprintf(why, bytes, "the driver has no %s", calls[i].symbol);
			return false;
		}
	}
	return true;
}
