// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into a program of cuda-suite.sh: writes what the program gets back from the device to
 * the file $CUDA_RECORD, each piece with its size before it. That is what copies bring to the host,
 * and managed memory when it is freed or the program ends. Of a piece the first 256 KiB count.
 * The time of day stands still, and the machine's random numbers are always the same.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SUCCESS = 0, DEVICE_TO_HOST = 2, DEFAULT = 4, PIECES = 4096 };

static struct {
	const void *where;
	size_t bytes;
} managed[PIECES];

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static void record(const void *data, size_t bytes)
{
	static FILE *out;
	const uint64_t n = bytes < 262144 ? bytes : 262144;
	const char *name = getenv("CUDA_RECORD");

	if (!out && name)
		out = fopen(name, "w");
	if (!out || !data)
		return;
	fwrite(&n, sizeof(n), 1, out);
	fwrite(data, n, 1, out);
	fflush(out);
}

static void record_managed(const void *where)
{
	for (unsigned int i = 0; i < PIECES; i++) {
		if (!managed[i].where || (where && managed[i].where != where))
			continue;
		record(managed[i].where, managed[i].bytes);
		managed[i].where = NULL;
	}
}

/* Registered by the first allocation, after the library's own, so that it comes before it. */
static void record_rest(void)
{
	if (!((int (*)(void))real("cudaDeviceSynchronize"))())
		record_managed(NULL);
}

/* For programs that begin their random numbers by it. */
long time(long *to)
{
	if (to)
		*to = 1700000000;
	return 1700000000;
}

/* std::random_device, by the name that C++ gives to the function that draws a number. */
unsigned int drawn(void) __asm__("_ZNSt13random_device9_M_getvalEv");
unsigned int drawn(void)
{
	static unsigned int number = 12345;

	return number = number * 1103515245u + 12345;
}

int cudaMallocManaged(void **ptr, size_t bytes, unsigned int flags)
{
	static int registered;
	int ret = ((int (*)(void **, size_t, unsigned int))real("cudaMallocManaged"))(ptr, bytes, flags);

	if (!registered++)
		atexit(record_rest);
	for (unsigned int i = 0; i < PIECES && ret == SUCCESS; i++) {
		if (managed[i].where)
			continue;
		managed[i].where = *ptr;
		managed[i].bytes = bytes;
		break;
	}
	return ret;
}

int cudaFree(void *ptr)
{
	if (ptr && !((int (*)(void))real("cudaDeviceSynchronize"))())
		record_managed(ptr);
	return ((int (*)(void *))real("cudaFree"))(ptr);
}

/* It frees all memory. A program may free its pointers again, as errors, after it. */
int cudaDeviceReset(void)
{
	record_rest();
	return ((int (*)(void))real("cudaDeviceReset"))();
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
	int ret = ((int (*)(void *, const void *, size_t, int))real("cudaMemcpy"))(to, from, bytes, kind);

	if (ret == SUCCESS && kind == DEVICE_TO_HOST)
		record(to, bytes);
	return ret;
}

int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
	int ret = ((int (*)(void *, const void *, size_t, int, void *))real("cudaMemcpyAsync"))(to, from, bytes, kind, stream);

	if (ret == SUCCESS && kind == DEVICE_TO_HOST && !((int (*)(void *))real("cudaStreamSynchronize"))(stream))
		record(to, bytes);
	return ret;
}

int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int kind)
{
	int ret = ((int (*)(void *, const void *, size_t, size_t, int))real("cudaMemcpyFromSymbol"))(to, symbol, bytes, offset, kind);

	if (ret == SUCCESS && (kind == DEVICE_TO_HOST || kind == DEFAULT))
		record(to, bytes);
	return ret;
}
