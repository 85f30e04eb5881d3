// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of CUDA's runtime that are not built: each says so by its name, once, and returns
 * cudaErrorNotSupported, so that a program which can do without goes on. missing.def lists them.
 */
#include "cudart.h"

static cudaError_t missing(const char *name, bool *said)
{
	if (!__atomic_exchange_n(said, true, __ATOMIC_RELAXED))
		runtime_say("%s() is not supported: docs/cuda.md lists what is", name);
	return error_remember(cudaErrorNotSupported);
}

#define X(name)						\
	API cudaError_t name(void);			\
	API cudaError_t name(void)			\
	{						\
		static bool said;			\
							\
		return missing(#name, &said);		\
	}
#include "missing.def"
#undef X
