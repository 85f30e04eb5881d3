/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Host threads that do the independent parts of one step together, many thousand
 * steps a second. They spin for a while between steps, then sleep. Which thread
 * does which part is left to chance: parts must not depend on each other. Private to gpu/.
 */
#ifndef GPUEMU_GPU_POOL_H
#define GPUEMU_GPU_POOL_H

struct pool;

/* `threads` in all, the caller of pool_run() included; 2 or more. -ENOMEM, -EAGAIN. */
int pool_create(unsigned int threads, struct pool **pool);
void pool_destroy(struct pool *pool);

/* Calls fn(ctx, 0) to fn(ctx, parts - 1), each once, and returns when all have returned. At most 65535. */
void pool_run(struct pool *pool, void (*fn)(void *ctx, unsigned int part), void *ctx,
	      unsigned int parts);

#endif
