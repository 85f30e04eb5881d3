/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Host threads that do the independent parts of one step together, many thousand
 * steps a second. They spin for a while between steps, then sleep. A part has a home, a
 * thread that most often does it; who has nothing left takes others'. Parts must not depend
 * on each other. Private to gpu/.
 */
#ifndef GPUEMU_GPU_WORKERS_H
#define GPUEMU_GPU_WORKERS_H

#include <stdint.h>

struct workers;

/*
 * `threads` in all, the caller of workers_run() included; 2 or more. A step has at most `parts`,
 * which is at most 65535. -ENOMEM, -EAGAIN.
 */
int workers_create(unsigned int threads, unsigned int parts, struct workers **workers);
void workers_destroy(struct workers *workers);
unsigned int workers_threads(const struct workers *workers);

/*
 * Calls fn(ctx, 0) to fn(ctx, parts - 1), each once, and returns when all have returned. homes:
 * each part's thread, ascending, below `threads`; the last thread begins with the last part.
 */
void workers_run(struct workers *workers, void (*fn)(void *ctx, unsigned int part), void *ctx,
		 const uint16_t *homes, unsigned int parts);

#endif
