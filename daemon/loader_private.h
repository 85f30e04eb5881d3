/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the daemon and the process that loads. Private to loader*.c. */
#ifndef GPUEMU_LOADER_PRIVATE_H
#define GPUEMU_LOADER_PRIVATE_H

#include "base/base.h"

#define LOADER_NAME	"gpuemud-load"	/* argv[0]; then name, five options, bytes, seconds */
#define LOADER_ARGS	9
#define LOADER_TEXT	3		/* descriptors */
#define LOADER_RESULT	4
#define LOADERS		4u		/* processes at a time */

/* The result file's first page. The packed module is behind it. */
#define LOADED_AT	PAGE_BYTES
struct loaded {
	int32_t status;
	char text[512];			/* why, if it failed */
};

#endif
