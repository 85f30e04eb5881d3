/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the measurements of timing.c need of a GPU. There are two: a real one, through its driver
 * (cuda.c), and gpuemu's model (sim.c). Every function ends the program when it
 * fails, after it has printed why.
 */
#ifndef TESTS_SILICON_TIMING_H
#define TESTS_SILICON_TIMING_H

#include <stddef.h>
#include <stdint.h>

/* settings: "key=value" lines of gpuemu-config(5); a real GPU ignores them. */
void gpu_open(const char *config, const char *settings);
void gpu_close(void);
uint64_t gpu_alloc(size_t bytes);
void gpu_free(uint64_t address);
void gpu_write(uint64_t to, const void *from, size_t bytes);
void gpu_read(void *to, uint64_t from, size_t bytes);
void *gpu_load(const char *ptx);
void gpu_unload(void *module);
void *gpu_function(void *module, const char *name);
/* Launches and waits. */
void gpu_launch(void *function, unsigned int grid, unsigned int block, unsigned int shared,
		void **params);
/* Streaming multiprocessors that a launch may use. */
unsigned int gpu_sms(void);
/* 1: a real GPU, whose times vary from run to run. */
int gpu_real(void);

#endif
