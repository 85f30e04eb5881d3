/* SPDX-License-Identifier: GPL-2.0 */
/* What gpuemu cc mends in a .cu file before clang sees it. */
#ifndef GPUEMU_CC_SOURCE_H
#define GPUEMU_CC_SOURCE_H

#include <stdbool.h>

/*
 * nvcc takes `<< <` and `>> >` for the brackets of a launch; clang knows them in one piece alone.
 * Joins them where they are: no character moves but the spaces between. Comments, literals, and
 * `operator<< <T>` stay. True if there were any.
 */
bool cc_join_launches(char *text);

#endif
