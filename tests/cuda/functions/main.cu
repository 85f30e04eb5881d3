// SPDX-License-Identifier: GPL-2.0
/* The functions in their groups, each with a device that was reset; what sticks comes last. */
#include "functions.h"

static int failed;

void gives(const char *file, int line, const char *call, cudaError_t expected, cudaError_t is)
{
	cudaError_t last = cudaGetLastError();
	cudaError_t remembered = expected == cudaErrorNotReady ? cudaSuccess : expected;

	if (is == expected && last == remembered)
		return;
	failed++;
	printf("%s:%d: %s: %s", file, line, call, cudaGetErrorName(is));
	if (is != expected)
		printf(", not %s\n", cudaGetErrorName(expected));
	else
		printf("; the last error is %s\n", cudaGetErrorName(last));
}

void holds(const char *file, int line, const char *fact, bool is)
{
	if (is)
		return;
	failed++;
	printf("%s:%d: %s does not hold\n", file, line, fact);
}

int main(void)
{
	static void (*const groups[])(void) = {
		device, memory, copies, arrays, streams, events, symbols, launches, textures,
#if CUDART_VERSION < 13000
		dropped,
#endif
		sticky,
	};

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		groups[i]();
		GIVES(cudaSuccess, cudaDeviceReset());
	}
	if (!failed)
		printf("functions: passed\n");
	return failed != 0;
}
