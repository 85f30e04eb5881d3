/* SPDX-License-Identifier: GPL-2.0 */
/* What gpuemu cc mends in a .cu file before clang sees it. */
#ifndef GPUEMU_CC_SOURCE_H
#define GPUEMU_CC_SOURCE_H

#include <stdbool.h>

/*
 * nvcc takes `<< <` and `>> >` for the brackets of a launch; clang only knows them without
 * spaces. This joins them in place: only the spaces between them move. Comments, literals
 * and `operator<< <T>` stay. True if there were any.
 */
bool cc_join_launches(char *text);

#endif
