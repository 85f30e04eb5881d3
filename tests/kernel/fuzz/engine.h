/* SPDX-License-Identifier: GPL-2.0 */
/* What the threads of the fuzzer's engine share; engine.c has it, serve.c and race.c too. */
#ifndef _GPUEMU_TESTS_KERNEL_FUZZ_ENGINE_H
#define _GPUEMU_TESTS_KERNEL_FUZZ_ENGINE_H

#include <pthread.h>

#include "fuzz/fuzz.h"

enum {
	TLB = 512,
	SERVERS = 2,
	THREADS = 2 + SERVERS,	/* that do commands: the GPU, these, and the one that races */
};

struct fuzz_engine {
	struct shared *s;
	struct engine e;		/* the GPU thread's; its ring too */
	pthread_mutex_t gpu;		/* who uses translations, or forgets them */
	uint32_t seen;			/* invalidates that were applied */
	bool parked;			/* it was, and has not looked at them since */
	/* remaps: the client's, before the look-up. */
	struct {
		uint32_t space, remaps;
		uint64_t va;
		uint8_t *frame;
		bool read_only, on_device;
	} tlb[TLB];
	/* Of the accesses that are on: see by_gpu_managed(). */
	_Atomic uint32_t *space_now;
	uint32_t space;
	/* Of the GPU's access to ordinary memory that is on: see by_gpu(). */
	_Atomic uint32_t *remaps_now;
	_Atomic bool *dying;
	uint32_t remaps;
	bool slow, on_device;
	uint64_t x;
	/* By number: the GPU, those that serve, the one that races. */
	pthread_t thread[THREADS];
	_Atomic int ring[THREADS];	/* 0: it has none yet */
};

extern struct fuzz_engine fe;

_Noreturn void engine_lost(void);
int engine_command(struct engine *e, uint32_t op, uint64_t addr, uint32_t arg, uint32_t reserved);
void *engine_serve(void *number);
void *engine_race(void *number);

/* For an engine that is a thread's own but for the ring. */
void engine_ring(struct engine *e, uintptr_t number);

/* No bit of the ABI: the ioctl that waits, instead of the command. */
#define BY_IOCTL (1u << 31)

/* At random. */
static inline uint32_t may_stay(uint64_t *x)
{
	return one_in(x, 2) ? BY_IOCTL : 0;
}

#endif
