/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A line on the terminal while something takes more than a second; a line a minute where
 * stderr is a log.
 */
#ifndef GPUEMU_TOOLS_PROGRESS_H
#define GPUEMU_TOOLS_PROGRESS_H

struct gpuemu_ctx;
struct progress;

/*
 * `what` is copied. The line says how far the kernels of ctx are (NULL: it does not); ctx
 * must stay open until progress_stop(). NULL: there was no memory, and no line is shown.
 */
struct progress *progress_start(const char *what, const struct gpuemu_ctx *ctx);
/* The share that is done, 0 to 1: the line then has percent and the remaining time. */
void progress_share(double done);
/* Erases the line. NULL is ignored. */
void progress_stop(struct progress *p);

#endif
