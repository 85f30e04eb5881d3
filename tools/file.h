/* SPDX-License-Identifier: GPL-2.0 */
/* Reads and writes whole files of any kind: regular files, pipes, - for standard input. */
#ifndef GPUEMU_TOOLS_FILE_H
#define GPUEMU_TOOLS_FILE_H

#include "base/base.h"

/* The caller frees *data, which ends in a NUL that *bytes does not count. */
int file_read(const char *path, char **data, size_t *bytes, struct err *err);
int file_write(const char *path, const void *data, size_t bytes, struct err *err);

#endif
