// SPDX-License-Identifier: GPL-2.0
/*
 * Device code that a program registers itself, by the calls that compilers leave in it: wrappers of
 * both versions, and those that no compiler writes. A bad one is an error of its own kernels' launches
 * alone, whatever its bytes are.
 */
#include <stdint.h>
#include <string.h>

#include "check.h"

extern "C" {
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int limit, void *tid, void *bid, void *block, void *grid, int *warps);
void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int ext,
		       size_t size, int constant, int global);
void __cudaUnregisterFatBinary(void **handle);
}

enum { MAGIC = 0x466243b1, HEAD = 16, ENTRY = 64, ROOM = 1024, BITS = 4000 };

struct wrapper {
	int magic, version;
	const void *data;
	const void *const *prelinked;
};

static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .align 4 .u32 seven = 7;\n"
	".visible .entry put(.param .u64 p)\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<2>;\n"
	"ld.param.u64 %rd1, [p];\nld.global.u32 %r1, [seven];\nst.global.u32 [%rd1], %r1;\nret;\n}\n";
static unsigned char image[ROOM] __attribute__((aligned(8)));
static char kernel, variable;
static int *result;

static void put(size_t at, uint64_t value, unsigned int bytes)
{
	memcpy(image + at, &value, bytes);
}

/* A fatbin of the text, plain. */
static void make_image(void)
{
	uint64_t bytes = (sizeof(text) + 7) & ~7ull;

	HOLDS(HEAD + ENTRY + bytes <= ROOM);
	memset(image, 0, sizeof(image));
	put(0, 0xba55ed50, 4);
	put(4, 1, 2);
	put(6, HEAD, 2);
	put(8, ENTRY + bytes, 8);
	put(HEAD, 1, 2);
	put(HEAD + 2, 0x101, 2);
	put(HEAD + 4, ENTRY, 4);
	put(HEAD + 8, bytes, 8);
	put(HEAD + 28, 70, 4);
	memcpy(image + HEAD + ENTRY, text, sizeof(text));
}

static cudaError_t launch(void)
{
	void *args[] = { &result };

	*result = 0;
	return cudaLaunchKernel(&kernel, dim3(1), dim3(1), args, 0, 0);
}

/* What its kernel's launch gives; a kernel that is launched is the text's. */
static cudaError_t try_it(struct wrapper *w)
{
	void **handle = __cudaRegisterFatBinary(w);
	cudaError_t error;
	size_t bytes;

	__cudaRegisterFunction(handle, &kernel, &kernel, "put", -1, 0, 0, 0, 0, 0);
	__cudaRegisterVar(handle, &variable, &variable, "seven", 0, 4, 0, 0);
	error = launch();
	if (!error) {
		OK(cudaDeviceSynchronize());
		HOLDS(*result == 7);
		OK(cudaGetSymbolSize(&bytes, (const void *)&variable));
		HOLDS(bytes == 4);
	}
	__cudaUnregisterFatBinary(handle);
	IS(launch(), cudaErrorInvalidDeviceFunction);
	cudaGetLastError();
	return error;
}

static cudaError_t try_with(int magic, int version, const void *data, const void *const *prelinked)
{
	struct wrapper w = { magic, version, data, prelinked };

	return try_it(&w);
}

static void versions(void)
{
	const void *const one[] = { image, NULL }, *const none[] = { NULL };

	OK(try_with(MAGIC, 1, image, NULL));
	OK(try_with(MAGIC, 2, NULL, one));
	OK(try_with(MAGIC, 2, image, NULL));
	IS(try_it(NULL), cudaErrorInvalidKernelImage);
	IS(try_with(MAGIC + 1, 1, image, NULL), cudaErrorInvalidKernelImage);
	IS(try_with(MAGIC, 0, image, one), cudaErrorInvalidKernelImage);
	IS(try_with(MAGIC, 3, image, one), cudaErrorInvalidKernelImage);
	IS(try_with(MAGIC, -1, image, one), cudaErrorInvalidKernelImage);
	IS(try_with(MAGIC, 1, NULL, one), cudaErrorInvalidKernelImage);
	IS(try_with(MAGIC, 2, NULL, NULL), cudaErrorInvalidKernelImage);
	IS(try_with(MAGIC, 2, image, none), cudaErrorInvalidKernelImage);
	IS(try_with(MAGIC, 1, text, NULL), cudaErrorInvalidKernelImage);
}

/* Handles that nobody gave, and names that are not there. */
static void names(void)
{
	struct wrapper w = { MAGIC, 1, image, NULL };
	void **handle = __cudaRegisterFatBinary(&w), *unknown[4] = { NULL };

	__cudaRegisterFunction(NULL, &kernel, &kernel, "put", -1, 0, 0, 0, 0, 0);
	__cudaRegisterFunction(unknown, &kernel, &kernel, "put", -1, 0, 0, 0, 0, 0);
	__cudaRegisterFunction(handle, &kernel, &kernel, NULL, -1, 0, 0, 0, 0, 0);
	IS(launch(), cudaErrorInvalidDeviceFunction);
	__cudaRegisterFunction(handle, &kernel, &kernel, "nobody", -1, 0, 0, 0, 0, 0);
	IS(launch(), cudaErrorInvalidDeviceFunction);
	__cudaRegisterVar(unknown, &variable, &variable, "seven", 0, 4, 0, 0);
	__cudaRegisterVar(handle, &variable, &variable, NULL, 0, 4, 0, 0);
	IS(cudaMemcpyToSymbol((const void *)&variable, "abc", 4), cudaErrorInvalidSymbol);
	cudaGetLastError();
	__cudaUnregisterFatBinary(unknown);
	__cudaUnregisterFatBinary(NULL);
	__cudaUnregisterFatBinary(handle);
}

/* A bit of the wrapper's numbers, or of the entry's head: the text is what it was, or is not taken. */
static void bits(void)
{
	unsigned int taken = 0, refused = 0;
	uint64_t seed = 1;

	for (int i = 0; i < BITS; i++) {
		struct wrapper w = { MAGIC, 1 + i % 2, image, NULL };
		unsigned int bit, n;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		n = 1 + (seed >> 60) % 3;
		make_image();
		while (n--) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			bit = (unsigned int)(seed >> 33) % (8 * (8 + ENTRY));
			if (bit < 64)
				((unsigned char *)&w)[bit / 8] ^= 1u << bit % 8;
			else
				image[HEAD + (bit - 64) / 8] ^= 1u << bit % 8;
		}
		if (try_it(&w))
			refused++;
		else
			taken++;
	}
	make_image();
	HOLDS(taken > BITS / 20 && refused > BITS / 20);
}

int main()
{
	OK(cudaMallocManaged(&result, sizeof(*result)));
	make_image();
	versions();
	names();
	bits();
	OK(try_with(MAGIC, 1, image, NULL));
	printf("wrappers: passed\n");
	return 0;
}
