/* SPDX-License-Identifier: GPL-2.0 */
/* Where the headers and the library are that CUDA programs are built with: in the tree, or installed. */
#ifndef GPUEMU_TOOLS_INSTALL_H
#define GPUEMU_TOOLS_INSTALL_H

#include "base/base.h"

/* The caller frees *dir. -ENOENT: err says where it was looked for. */
int install_find_headers(char **dir, struct err *err);
int install_find_cudart(char **dir, struct err *err);

#endif
