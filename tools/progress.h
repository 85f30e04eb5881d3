/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A line on the terminal while something takes more than a second; nothing
 * when stderr is not a terminal.
 */
#ifndef GPUEMU_TOOLS_PROGRESS_H
#define GPUEMU_TOOLS_PROGRESS_H

struct progress;

/* what is copied. NULL: no line will be shown (not a terminal, no memory). */
struct progress *progress_start(const char *what);
/* Erases the line. NULL is ignored. */
void progress_stop(struct progress *p);

#endif
