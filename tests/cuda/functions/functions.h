/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every function that libcudart offers, with an answer of success and one of each kind of error
 * that CUDA documents for it. A row is GIVES(ANSWER, CALL); tests/check.d/53-cuda.sh reads the
 * rows, too: a function without them fails there. The files of this folder are one program.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

/* An error is also the thread's last one; cudaErrorNotReady is no error. */
void gives(const char *file, int line, const char *call, cudaError_t expected, cudaError_t is);
void holds(const char *file, int line, const char *fact, bool is);

#define GIVES(expected, ...) gives(__FILE__, __LINE__, #__VA_ARGS__, expected, __VA_ARGS__)
#define HOLDS(fact) holds(__FILE__, __LINE__, #fact, fact)

/* Handles and memory that nobody made. */
#define NO_STREAM ((cudaStream_t)0x1234560)
#define NO_EVENT  ((cudaEvent_t)0x1234560)
#define NO_ARRAY  ((cudaArray_t)0x1234560)

void device(void);
void memory(void);
void copies(void);
void arrays(void);
void streams(void);
void events(void);
void symbols(void);
void launches(void);
void textures(void);
void dropped(void);
void sticky(void);

#endif
