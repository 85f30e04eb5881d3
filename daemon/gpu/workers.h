/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Host threads that do the independent parts of one step together, many thousand
 * steps a second. They spin for a while between steps, then sleep. A part has a home, a
 * thread that most often does it; a thread that has nothing left takes others'. Private to gpu/.
 */
#ifndef GPUEMU_GPU_WORKERS_H
#define GPUEMU_GPU_WORKERS_H

#include <stdint.h>

struct workers;

/*
 * `threads` in all, the caller of workers_run() included; 2 or more. A step has at most `parts`
 * parts, its last one included, which is at most 65535. -ENOMEM, -EAGAIN.
 */
int workers_create(unsigned int threads, unsigned int parts, struct workers **workers);
void workers_destroy(struct workers *workers);
unsigned int workers_threads(const struct workers *workers);

/*
 * A step: fn(ctx, 0) to fn(ctx, parts - 1) are called once each, in any order, on any thread. When
 * they have returned, the caller calls then(ctx). The last part, fn(ctx, parts), begins when part
 * `parts - 1` has returned, and may run beside then(). parts: 1 or more.
 */
struct workers_step {
	void (*fn)(void *ctx, unsigned int part);
	/* The thread may call fn(ctx, part) next; it can fetch what that begins with. */
	void (*soon)(void *ctx, unsigned int part);
	void *ctx;
	/* The first parts' threads, ascending; the last thread begins with part `parts - 1`. */
	const uint16_t *homes;
	unsigned int parts;
	void (*then)(void *ctx);
};

/* Returns when all of the step has. */
void workers_run(struct workers *workers, const struct workers_step *step);

#endif
