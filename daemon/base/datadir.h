/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds a named file (a GPU's configuration) in a list of data folders. Who
 * calls it, the daemon's main.c and libgpuemu's entry, brings the list: the
 * environment's first, then the build tree and the installed place.
 */
#ifndef GPUEMU_BASE_DATADIR_H
#define GPUEMU_BASE_DATADIR_H

#include "base/base.h"

/*
 * dirs are colon-separated lists, NULL ones skipped. A name with a '/' or
 * that ends in .conf is a path and is taken as it is; else
 * DIR/configs/NAME.conf of the first folder that has it. *path: caller frees.
 * -EINVAL: none has it (err lists what there is), -ENOMEM.
 */
int datadir_find_config(const char *const dirs[], unsigned int ndirs, const char *name,
			char **path, struct err *err);

#endif
