/* SPDX-License-Identifier: GPL-2.0 */
/* gpuemu run --from REPORT.json: the command line of the run that made the report. */
#ifndef GPUEMU_TOOLS_AGAIN_H
#define GPUEMU_TOOLS_AGAIN_H

#include "base/base.h"

struct again {
	int argc;
	char **argv;
	char **made;		/* argv, if this struct owns it; else NULL */
};

/*
 * The command line with --from replaced by the command line of the report, without the files
 * that it wrote. The other words of argv follow. Without --from it is argv itself. -EINVAL with
 * err: no report. The caller frees it when it needs the words no longer; until then argv[] may
 * be reordered.
 */
int again(int argc, char **argv, struct again *a, struct err *err);
void again_free(struct again *a);

#endif
