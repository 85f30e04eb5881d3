/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Host threads that do the independent parts of one step together, many thousand
 * steps a second. They spin for a while between steps, then sleep. Which thread
 * does which part is left to chance: parts must not depend on each other. Private to gpu/.
 */
#ifndef GPUEMU_GPU_WORKERS_H
#define GPUEMU_GPU_WORKERS_H

struct workers;

/* `threads` in all, the caller of workers_run() included; 2 or more. -ENOMEM, -EAGAIN. */
int workers_create(unsigned int threads, struct workers **workers);
void workers_destroy(struct workers *workers);

/* Calls fn(ctx, 0) to fn(ctx, parts - 1), each once, and returns when all have returned. At most 65535. */
void workers_run(struct workers *workers, void (*fn)(void *ctx, unsigned int part), void *ctx,
	      unsigned int parts);

#endif
