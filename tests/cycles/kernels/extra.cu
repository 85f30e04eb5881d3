// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels of many kinds for the cycle model, all of one shape: three buffers and a
 * number. Their results must not depend on the order of warps, so that without time, and
 * under every scheduler, they are the same bytes. Rows in kernels.def.
 */
#include "device.h"

#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define THREADS (gridDim.x * blockDim.x)
#define __constant__ __attribute__((constant))
typedef unsigned short uint16_t;

static const __constant__ uint32_t weights[64] = {
	1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181, 6765, 10946,
};

/* A tree in shared memory, a sum a CTA. */
KERNEL tree(const uint32_t *a, const uint32_t *b, uint32_t *c, uint32_t n)
{
	__shared__ uint32_t s[256];
	uint32_t t = threadIdx.x, sum = 0;

	for (uint32_t i = I; i < n; i += THREADS)
		sum += a[i] ^ b[i];
	s[t] = sum;
	__syncthreads();
	for (uint32_t d = 128; d; d >>= 1) {
		if (t < d)
			s[t] += s[t + d];
		__syncthreads();
	}
	if (!t)
		c[blockIdx.x] = s[0];
}

/* Five points of a grid n wide. */
KERNEL stencil(const float *a, const float *b, float *c, uint32_t n)
{
	uint32_t x = I % n, y = I / n;

	if (x && x < n - 1 && y && y < n - 1)
		c[I] = b[0] * a[I] + b[1] * (a[I - 1] + a[I + 1]) + b[2] * (a[I - n] + a[I + n]);
}

/* A sparse matrix by rows, a thread a row: lengths differ, columns are anywhere. */
KERNEL spmv(const uint32_t *a, const uint32_t *b, uint32_t *c, uint32_t n)
{
	uint32_t row = I, sum = 0;

	if (row >= n)
		return;
	for (uint32_t k = 0; k < a[row] % 13; k++)
		sum += b[(row * 13 + k) % n] * a[b[(row * 7 + k) % n] % n];
	c[row] = sum;
}

/* One step of a search from a frontier: few lanes have work, and different much. */
KERNEL frontier(const uint32_t *a, const uint32_t *b, uint32_t *c, uint32_t n)
{
	uint32_t i = I;

	if (i >= n || a[i] % 5)
		return;
	for (uint32_t k = 0; k < a[i] % 9; k++)
		__nvvm_atom_min_gen_ui(&c[b[(i + k * 31) % n] % n], a[i] & 0xffff);
}

/* Every 33rd word. */
KERNEL strided(const uint32_t *a, const uint32_t *b, uint32_t *c, uint32_t n)
{
	uint32_t i = I * 33 % n;

	c[i] = a[i] + b[I % 32];
}

KERNEL triad(const float *a, const float *b, float *c, uint32_t n)
{
	for (uint32_t i = I; i < n; i += THREADS)
		c[i] = a[i] + 3.0f * b[i];
}

/* Everybody with everybody, a tile at a time. */
KERNEL bodies(const float *a, const float *b, float *c, uint32_t n)
{
	__shared__ float tile[128];
	float x = a[I], force = 0;

	for (uint32_t at = 0; at < n; at += 128) {
		tile[threadIdx.x] = a[at + threadIdx.x];
		__syncthreads();
		for (uint32_t k = 0; k < 128; k++) {
			float d = tile[k] - x, r;

			asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(d * d + 0.01f));
			force += d * r * r * r;
		}
		__syncthreads();
	}
	c[I] = force * b[0];
}

KERNEL bitonic(const uint32_t *a, const uint32_t *b, uint32_t *c, uint32_t n)
{
	__shared__ uint32_t s[256];
	uint32_t t = threadIdx.x;

	s[t] = a[I] ^ b[I];
	__syncthreads();
	for (uint32_t k = 2; k <= 256; k <<= 1) {
		for (uint32_t j = k >> 1; j; j >>= 1) {
			uint32_t other = t ^ j;

			if (other > t) {
				uint32_t x = s[t], y = s[other];

				if ((x > y) == !(t & k)) {
					s[t] = y;
					s[other] = x;
				}
			}
			__syncthreads();
		}
	}
	c[I] = s[t];
}

/* A row a warp, lanes reduced by exchange. */
KERNEL matvec(const uint32_t *a, const uint32_t *b, uint32_t *c, uint32_t n)
{
	uint32_t lane = threadIdx.x % 32, row = I / 32, sum = 0;

	for (uint32_t k = lane; k < n; k += 32)
		sum += a[row * n + k] * b[k];
	for (uint32_t d = 16; d; d >>= 1)
		sum += __nvvm_shfl_down_i32(sum, d, 31);
	if (!lane)
		c[row] = sum;
}

/* Atomics on few words of global memory. */
KERNEL histogram(const uint32_t *a, const uint32_t *b, uint32_t *c, uint32_t n)
{
	for (uint32_t i = I; i < n; i += THREADS)
		__nvvm_atom_add_gen_i((int *)&c[(a[i] ^ b[i]) % 61], 1);
}

KERNEL doubles(const double *a, const double *b, double *c, uint32_t n)
{
	double x = a[I % n], y = b[I % n];

	for (uint32_t k = 0; k < 8; k++) {
		x = x * 0.5 + y;
		y = y / (1.0 + x * x);
	}
	c[I % n] = x + y;
}

/* Arrays of a thread's own: local memory. */
KERNEL locals(const uint32_t *a, const uint32_t *b, uint32_t *c, uint32_t n)
{
	uint32_t own[16], sum = 0;

	for (uint32_t k = 0; k < 16; k++)
		own[k] = a[(I + k) % n];
	for (uint32_t k = 0; k < 24; k++)
		own[(own[k % 16] + b[I % n]) % 16] += k;
	for (uint32_t k = 0; k < 16; k++)
		sum = sum * 31 + own[k];
	c[I % n] = sum;
}

/* Constants, the same for a warp or not; division; integers' long latencies. */
KERNEL constants(const uint32_t *a, const uint32_t *b, uint32_t *c, uint32_t n)
{
	uint32_t i = I % n, sum = 0;

	for (uint32_t k = 0; k < 8; k++)
		sum += weights[k] * a[i] + weights[(a[i] + k) % 64] / (1 + (b[i] + k) % 7);
	c[i] = sum;
}

/* Bytes and halves: small segments. */
KERNEL small(const uint8_t *a, const uint16_t *b, uint8_t *c, uint32_t n)
{
	uint32_t i = I % n;

	c[i] = (uint8_t)(a[i] + b[n - 1 - i] + a[i * 7 % n]);
}

/* Half of a CTA's warps are done long before the others. */
KERNEL uneven(const uint32_t *a, const uint32_t *b, uint32_t *c, uint32_t n)
{
	uint32_t v = a[I % n] | 1, rounds = threadIdx.x / 32 % 2 ? 2 : 40;

	for (uint32_t k = 0; k < rounds + b[I % n] % 4; k++)
		v = v % 3 ? v * 5 + 1 : v / 3;
	c[I % n] = v;
}
