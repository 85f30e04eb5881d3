// SPDX-License-Identifier: GPL-2.0
/*
 * Bits that a shift to the right brings from the sign, in 64 and 32 bits: clang up to 16 takes them for zeros in 64
 * (`x < 0 ? 7 : 0`, a step of a random number's polynomial). And a difference of ints that is shifted by 31 in 64 bits:
 * clang-14 makes its sign wrong. Each result is the host's.
 */
#include "check.h"

#define ROWS(X) \
	X(v < 0 ? 7 : 0) \
	X((long long)((unsigned long long)v << 1 ^ (v < 0 ? 7ull : 0ull))) \
	X(v >> 40 & 0xffffffffll) \
	X(v >> 33 & 0x7fffffffll) \
	X(v >> 33 & 0xffffffffll) \
	X(v >> 62 & 0xff) \
	X(v >> 32 & 0xffffffffll) \
	X((long long)((unsigned long long)v >> 40 & 0xffffffull)) \
	X((long long)((int)v >> 28 & 0xff)) \
	X((long long)((int)v < 0 ? 7 : 0)) \
	X((long long)((int)v / 2 - 3) << 31) \
	X((long long)((int)v / 2 - 3) * (-2147483647ll - 1))

#define STORE(e)	out[n++] = e;

__host__ __device__ static inline int all(long long v, long long *out)
{
	int n = 0;

	ROWS(STORE)
	return n;
}

__global__ void device(const long long *in, long long *out, int each)
{
	all(in[threadIdx.x], out + threadIdx.x * each);
}

int main()
{
	static const long long some[] = { 0, 1, -1, 5, -5, 1ll << 40, -(1ll << 40), 0x7fffffffffffffffll,
					  -0x7fffffffffffffffll - 1, 0x80000000ll, -0x80000000ll, 0x123456789abcdef0ll };
	const int n = sizeof(some) / sizeof(*some), each = 12;
	long long *in, *out, host[each];

	OK(cudaMallocManaged(&in, sizeof(some)));
	OK(cudaMallocManaged(&out, n * each * sizeof(*out)));
	memcpy(in, some, sizeof(some));
	device<<<1, n>>>(in, out, each);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < n; i++) {
		HOLDS(all(some[i], host) == each);
		for (int j = 0; j < each; j++) {
			if (out[i * each + j] != host[j])
				printf("%llx, %d: %llx, the host has %llx\n", some[i], j, out[i * each + j], host[j]);
			HOLDS(out[i * each + j] == host[j]);
		}
	}
	printf("signs: passed\n");
	return 0;
}
