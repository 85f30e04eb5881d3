// SPDX-License-Identifier: GPL-2.0
/*
 * The kernels of `make bench-exec`, compiled twice by the same clang with -O2:
 * as CUDA to PTX, and as C++ for the CPU, where each is a function of one
 * CTA and what its threads do between two barriers is a loop over them, which
 * the compiler may inline, unroll and vectorise as it likes. bench.c runs both.
 */
#include <stdint.h>

#ifdef __CUDA__
#define DEVICE	__attribute__((device)) static inline
#define KERNEL(name, A, a, B, b, C, c, BX, BY) \
	extern "C" __attribute__((global)) void name(A *__restrict a, B *__restrict b, \
						     C *__restrict c, uint32_t n)
#define SHARED	__attribute__((shared))
#define TX	((uint32_t)__nvvm_read_ptx_sreg_tid_x())
#define TY	((uint32_t)__nvvm_read_ptx_sreg_tid_y())
#define CX	((uint32_t)__nvvm_read_ptx_sreg_ctaid_x())
#define CY	((uint32_t)__nvvm_read_ptx_sreg_ctaid_y())
#define EACH_THREAD(BX, BY)
#define SYNC	__nvvm_bar_sync(0)
/* A variable of each thread that lives across a barrier. */
#define PRIVATE(T, x, threads) T x
#define MY(x)	x
#define ADD_ATOMIC(p, v) __nvvm_atom_add_gen_i((int *)(p), (int)(v))
#define SQRT(x)	__nvvm_sqrt_rn_f(x)
#else
#define DEVICE	static inline
#define KERNEL(name, A, a, B, b, C, c, BX, BY) \
	extern "C" void name(A *__restrict a, B *__restrict b, C *__restrict c, uint32_t n, \
			     uint32_t CX, uint32_t CY)
#define SHARED
#define EACH_THREAD(BX, BY) \
	for (uint32_t TY = 0; TY < (BY); TY++) \
		for (uint32_t TX = 0; TX < (BX); TX++)
#define SYNC
#define PRIVATE(T, x, threads) T x[threads] = {}
#define MY(x)	x[TY * 16 + TX]
#define ADD_ATOMIC(p, v) (*(p) += (v))
#define SQRT(x)	__builtin_sqrtf(x)
#endif

/* --- compute ---------------------------------------------------------------------------- */

KERNEL(xorshift, const uint32_t, in, uint32_t, out, void, unused, 256, 1)
{
	EACH_THREAD(256, 1) {
		uint32_t x = in[CX * 256 + TX] | 1;

		for (uint32_t i = 0; i < n; i++) {
			x ^= x << 13;
			x ^= x >> 17;
			x ^= x << 5;
			x += i;
		}
		out[CX * 256 + TX] = x;
	}
}

/* One step of n bodies on each body: x, y, z, mass. */
KERNEL(nbody, const float, body, float, accel, void, unused, 256, 1)
{
	EACH_THREAD(256, 1) {
		uint32_t me = CX * 256 + TX;
		float x = body[4 * me], y = body[4 * me + 1], z = body[4 * me + 2];
		float ax = 0, ay = 0, az = 0;

		for (uint32_t i = 0; i < n; i++) {
			float dx = body[4 * i] - x, dy = body[4 * i + 1] - y, dz = body[4 * i + 2] - z;
			float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
			float s = body[4 * i + 3] / (r2 * SQRT(r2));

			ax += dx * s;
			ay += dy * s;
			az += dz * s;
		}
		accel[4 * me] = ax;
		accel[4 * me + 1] = ay;
		accel[4 * me + 2] = az;
	}
}

KERNEL(horner, const double, in, double, out, void, unused, 256, 1)
{
	EACH_THREAD(256, 1) {
		double x = in[CX * 256 + TX], r = 1;

		for (uint32_t i = 1; i <= n; i++)
			r = r * x + 1.0 / i;
		out[CX * 256 + TX] = r;
	}
}

/* --- shared memory ---------------------------------------------------------------------- */

KERNEL(matmul, const float, a, const float, b, float, c, 16, 16)
{
	SHARED static float ta[16][16], tb[16][16];
	PRIVATE(float, sum, 256);

	EACH_THREAD(16, 16)
		MY(sum) = 0;
	for (uint32_t t = 0; t < n / 16; t++) {
		EACH_THREAD(16, 16) {
			ta[TY][TX] = a[(CY * 16 + TY) * n + t * 16 + TX];
			tb[TY][TX] = b[(t * 16 + TY) * n + CX * 16 + TX];
		}
		SYNC;
		EACH_THREAD(16, 16) {
			float s = MY(sum);

			for (uint32_t k = 0; k < 16; k++)
				s += ta[TY][k] * tb[k][TX];
			MY(sum) = s;
		}
		SYNC;
	}
	EACH_THREAD(16, 16)
		c[(CY * 16 + TY) * n + CX * 16 + TX] = MY(sum);
}

KERNEL(reduce, const uint32_t, in, uint32_t, out, void, unused, 256, 1)
{
	SHARED static uint32_t tree[256];

	EACH_THREAD(256, 1)
		tree[TX] = in[CX * 256 + TX];
	SYNC;
	for (uint32_t half = 128; half > 0; half /= 2) {
		EACH_THREAD(256, 1) {
			if (TX < half)
				tree[TX] += tree[TX + half];
		}
		SYNC;
	}
	EACH_THREAD(256, 1) {
		if (TX == 0)
			out[CX] = tree[0];
	}
}

/* The CTA's histogram of 256 bins over n values a thread. */
KERNEL(histogram, const uint32_t, in, uint32_t, out, void, unused, 256, 1)
{
	SHARED static uint32_t bins[256];

	EACH_THREAD(256, 1)
		bins[TX] = 0;
	SYNC;
	EACH_THREAD(256, 1) {
		for (uint32_t i = 0; i < n; i++)
			ADD_ATOMIC(&bins[in[(CX * n + i) * 256 + TX] >> 24], 1);
	}
	SYNC;
	EACH_THREAD(256, 1)
		out[CX * 256 + TX] = bins[TX];
}

/* Sorts 512 keys a CTA. */
KERNEL(bitonic, const uint32_t, in, uint32_t, out, void, unused, 256, 1)
{
	SHARED static uint32_t key[512];

	EACH_THREAD(256, 1) {
		key[TX] = in[CX * 512 + TX];
		key[TX + 256] = in[CX * 512 + 256 + TX];
	}
	SYNC;
	for (uint32_t size = 2; size <= 512; size *= 2) {
		for (uint32_t stride = size / 2; stride > 0; stride /= 2) {
			EACH_THREAD(256, 1) {
				uint32_t at = 2 * TX - (TX & (stride - 1));
				uint32_t x = key[at], y = key[at + stride];
				bool up = (at & size) == 0;

				if ((x > y) == up) {
					key[at] = y;
					key[at + stride] = x;
				}
			}
			SYNC;
		}
	}
	EACH_THREAD(256, 1) {
		out[CX * 512 + TX] = key[TX];
		out[CX * 512 + 256 + TX] = key[TX + 256];
	}
}

KERNEL(transpose, const uint32_t, in, uint32_t, out, void, unused, 16, 16)
{
	SHARED static uint32_t tile[16][17];

	EACH_THREAD(16, 16)
		tile[TY][TX] = in[(CY * 16 + TY) * n + CX * 16 + TX];
	SYNC;
	EACH_THREAD(16, 16)
		out[(CX * 16 + TY) * n + CY * 16 + TX] = tile[TX][TY];
}

/* --- streaming -------------------------------------------------------------------------- */

KERNEL(saxpy, const float, x, float, y, void, unused, 256, 1)
{
	EACH_THREAD(256, 1) {
		uint32_t i = CX * 256 + TX;

		if (i < n)
			y[i] = 2.5f * x[i] + y[i];
	}
}

/* Five points of a torus, n wide and 512 high. */
KERNEL(stencil, const float, in, float, out, void, unused, 32, 8)
{
	EACH_THREAD(32, 8) {
		uint32_t x = CX * 32 + TX, y = CY * 8 + TY;
		uint32_t left = (x - 1) & (n - 1), right = (x + 1) & (n - 1);
		uint32_t above = (y - 1) & 511, below = (y + 1) & 511;

		out[y * n + x] = 0.5f * in[y * n + x] +
				 0.125f * (in[y * n + left] + in[y * n + right] +
					   in[above * n + x] + in[below * n + x]);
	}
}

KERNEL(gather, const uint32_t, index, const uint32_t, in, uint32_t, out, 256, 1)
{
	EACH_THREAD(256, 1) {
		uint32_t i = CX * 256 + TX;

		out[i] = in[index[i]] + i;
	}
}

/* --- divergent -------------------------------------------------------------------------- */

KERNEL(mandelbrot, uint32_t, out, void, unused, void, unused2, 16, 8)
{
	EACH_THREAD(16, 8) {
		uint32_t px = CX * 16 + TX, py = CY * 8 + TY, i;
		float cx = px * (3.0f / 512) - 2.0f, cy = py * (2.0f / 512) - 1.0f;
		float x = 0, y = 0;

		for (i = 0; i < 128 && x * x + y * y < 4.0f; i++) {
			float t = x * x - y * y + cx;

			y = 2.0f * x * y + cy;
			x = t;
		}
		out[py * n + px] = i;
	}
}

KERNEL(collatz, uint32_t, out, void, unused, void, unused2, 256, 1)
{
	EACH_THREAD(256, 1) {
		uint32_t i = CX * 256 + TX, steps = 0;
		uint64_t v = i + 1;

		while (v != 1) {
			v = v & 1 ? 3 * v + 1 : v / 2;
			steps++;
		}
		out[i] = steps;
	}
}

/* The first of n sorted keys that is no less. */
KERNEL(search, const uint32_t, wanted, const uint32_t, key, uint32_t, out, 256, 1)
{
	EACH_THREAD(256, 1) {
		uint32_t i = CX * 256 + TX, v = wanted[i], low = 0, high = n;

		while (low < high) {
			uint32_t middle = (low + high) / 2;

			if (key[middle] < v)
				low = middle + 1;
			else
				high = middle;
		}
		out[i] = low;
	}
}

/* Rows of a sparse matrix, 0 to 31 elements each, times a vector; columns are spread by a hash. */
KERNEL(spmv, const uint32_t, start, const float, value, float, out, 256, 1)
{
	EACH_THREAD(256, 1) {
		uint32_t row = CX * 256 + TX;
		float sum = 0;

		for (uint32_t k = start[row]; k < start[row + 1]; k++)
			sum += value[k] * value[(k * 2654435761u) % n];
		out[row] = sum;
	}
}
