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
 * what is copied. The line says how far the kernels of ctx are (NULL: it does not); ctx stays
 * open until progress_stop(). NULL: no line will be shown (no memory).
 */
struct progress *progress_start(const char *what, const struct gpuemu_ctx *ctx);
/* So much of it is done, 0 to 1: the line has percent, and how long the rest takes. */
void progress_share(double done);
/* Erases the line. NULL is ignored. */
void progress_stop(struct progress *p);

#endif
