// SPDX-License-Identifier: GPL-2.0
/* CUDA's errors: their names and texts, the last one of a thread, and the one that stays. */
#include "cudart.h"

static const struct {
	cudaError_t error;
	const char *name, *text;
} errors[] = {
#define X(name, number, text) { name, #name, text },
#include "gpuemu/errors.def"
#undef X
};

static __thread cudaError_t last;
static cudaError_t sticky;

cudaError_t error_remember(cudaError_t error)
{
	per_thread_call = 0;
	if (error)
		last = error;
	return error;
}

cudaError_t error_sticky(void)
{
	return __atomic_load_n(&sticky, __ATOMIC_RELAXED);
}

void error_stick(cudaError_t error)
{
	__atomic_store_n(&sticky, error, __ATOMIC_RELAXED);
}

void error_unstick(void)
{
	error_stick(cudaSuccess);
	last = cudaSuccess;
}

API cudaError_t cudaPeekAtLastError(void)
{
	return error_sticky() ? error_sticky() : last;
}

/* A kernel's error stays: asking does not clear it. */
API cudaError_t cudaGetLastError(void)
{
	cudaError_t error = cudaPeekAtLastError();

	last = cudaSuccess;
	return error;
}

API const char *cudaGetErrorName(cudaError_t error)
{
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].error == error)
			return errors[i].name;
	return "unrecognized error code";
}

API const char *cudaGetErrorString(cudaError_t error)
{
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].error == error)
			return errors[i].text;
	return "unrecognized error code";
}
