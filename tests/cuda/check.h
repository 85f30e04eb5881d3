/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the programs of tests/cuda: a call that must succeed, a fact that must hold. Host
 * code alone.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define OK(call)										\
	do {											\
		cudaError_t error_ = (call);							\
												\
		if (error_ != cudaSuccess) {							\
			printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(error_));	\
			exit(1);								\
		}										\
	} while (0)

#define IS(call, expected)									\
	do {											\
		cudaError_t error_ = (call);							\
												\
		if (error_ != (expected)) {							\
			printf("%s:%d: %s: %s, not %s\n", __FILE__, __LINE__, #call,		\
			       cudaGetErrorName(error_), cudaGetErrorName(expected));		\
			exit(1);								\
		}										\
	} while (0)

#define HOLDS(fact)										\
	do {											\
		if (!(fact)) {									\
			printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #fact);		\
			exit(1);								\
		}										\
	} while (0)

#endif
