/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ctrl-C and SIGTERM while something runs in the library, which cannot be interrupted: a thread
 * of its own writes what is finished, and the process ends with CLI_STOPPED plus the signal's
 * number. For run and bench.
 */
#ifndef GPUEMU_TOOLS_STOP_H
#define GPUEMU_TOOLS_STOP_H

/*
 * From now on SIGINT, SIGTERM and SIGHUP (unless they are ignored) make a thread call
 * write(ctx) once and end the process. If the thread cannot be made, they end the process as
 * usual.
 */
void stop_begin(void (*write)(void *ctx, int sig), void *ctx);
/* write() is not called between lock and unlock, where the data it reads may change. */
void stop_lock(void);
void stop_unlock(void);
/* The caller has written everything itself. */
void stop_end(void);

#endif
