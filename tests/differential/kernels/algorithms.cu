// SPDX-License-Identifier: GPL-2.0
// Whole algorithms, as users bring them.
#include "shim.h"

KERNEL(matmul)(f32 *c, const f32 *a, const f32 *b)
{
	__shared__ f32 sa[8][9], sb[8][9];
	u32 tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 8 + tx;
	f32 sum = 0;

	for (u32 k = 0; k < 24; k += 8) {
		sa[ty][tx] = a[row * 24 + k + tx];
		sb[ty][tx] = b[(k + ty) * 24 + col];
		__syncthreads();
		for (u32 j = 0; j < 8; j++)
			sum += sa[ty][j] * sb[j][tx];
		__syncthreads();
	}
	c[row * 24 + col] = sum;
}
CASE(matmul, d3(3, 3), d3(8, 8), 0, 1, "out:f32:576 in:f32:576:unit in:f32:576:range=-1~1")
KERNEL(reduce_tree)(u64 *out, const u32 *in)
{
	__shared__ u64 s[128];
	u32 t = threadIdx.x;

	s[t] = in[GID];
	__syncthreads();
	for (u32 d = 64; d > 0; d >>= 1) {
		if (t < d)
			s[t] += s[t + d];
		__syncthreads();
	}
	if (t == 0)
		out[blockIdx.x] = s[0];
}
CASE(reduce_tree, d3(4), d3(128), 0, 2, "out:u64:4 in:u32:512")
KERNEL(scan_blelloch)(u32 *out, const u32 *in)
{
	__shared__ u32 s[128];
	u32 t = threadIdx.x, offset = 1;

	s[2 * t] = in[128 * blockIdx.x + 2 * t];
	s[2 * t + 1] = in[128 * blockIdx.x + 2 * t + 1];
	for (u32 d = 64; d > 0; d >>= 1, offset *= 2) {
		__syncthreads();
		if (t < d)
			s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
	}
	if (t == 0)
		s[127] = 0;
	for (u32 d = 1; d < 128; d *= 2) {
		offset >>= 1;
		__syncthreads();
		if (t < d) {
			u32 a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, v = s[a];

			s[a] = s[b];
			s[b] += v;
		}
	}
	__syncthreads();
	out[128 * blockIdx.x + 2 * t] = s[2 * t];
	out[128 * blockIdx.x + 2 * t + 1] = s[2 * t + 1];
}
CASE(scan_blelloch, d3(2), d3(64), 0, 3, "out:u32:256 in:u32:256")
KERNEL(bitonic_block)(s32 *out, const s32 *in)
{
	EXTERN_SHARED(s32, keys);
	u32 t = threadIdx.x;

	keys[t] = in[GID];
	for (u32 k = 2; k <= blockDim.x; k *= 2) {
		for (u32 j = k / 2; j > 0; j /= 2) {
			u32 other = t ^ j;

			__syncthreads();
			if (other > t && (keys[t] > keys[other]) == ((t & k) == 0)) {
				s32 v = keys[t];

				keys[t] = keys[other];
				keys[other] = v;
			}
		}
	}
	__syncthreads();
	out[GID] = keys[t];
}
CASE(bitonic_block, d3(2), d3(128), 512, 4, "out:s32:256 in:s32:256")
KERNEL(transpose)(u16 *out, const u16 *in)
{
	__shared__ u16 tile[16][17];
	u32 x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16;

	for (u32 j = threadIdx.y; j < 16; j += 4)
		tile[j][threadIdx.x] = in[(y + j) * 32 + x];
	__syncthreads();
	for (u32 j = threadIdx.y; j < 16; j += 4)
		out[(blockIdx.x * 16 + j) * 32 + y + threadIdx.x] = tile[threadIdx.x][j];
}
CASE(transpose, d3(2, 2), d3(16, 4), 0, 5, "out:u16:1024 in:u16:1024")
KERNEL(stencil)(f64 *out, const f64 *in, u32 w, u32 h)
{
	u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

	if (x == 0 || y == 0 || x + 1 >= w || y + 1 >= h) {
		if (x < w && y < h)
			out[y * w + x] = in[y * w + x];
		return;
	}
	out[y * w + x] = 0.25 * (in[y * w + x - 1] + in[y * w + x + 1] + in[(y - 1) * w + x] + in[(y + 1) * w + x]);
}
CASE(stencil, d3(3, 4), d3(16, 8), 0, 6, "out:f64:1147 in:f64:1147:unit u32=37 u32=31")
struct body { f32 x, y, z, m; };
KERNEL(nbody)(f32 *out, const struct body *bodies, u32 n)
{
	u32 i = GID;
	f32 ax = 0, ay = 0, az = 0;

	for (u32 k = 0; k < n; k++) {
		f32 dx = bodies[k].x - bodies[i].x, dy = bodies[k].y - bodies[i].y, dz = bodies[k].z - bodies[i].z;
		f32 d = dx * dx + dy * dy + dz * dz + 0.01f, f = bodies[k].m / (d * sqrtf(d));

		ax += dx * f;
		ay += dy * f;
		az += dz * f;
	}
	out[3 * i] = ax;
	out[3 * i + 1] = ay;
	out[3 * i + 2] = az;
}
CASE(nbody, d3(2), d3(32), 0, 7, "out:f32:192 in:f32:256:unit u32=64")
KERNEL(mandelbrot)(u32 *out)
{
	f64 cx = -2 + threadIdx.x * 0.09, cy = -1.2 + blockIdx.x * 0.3, x = 0, y = 0;
	u32 n = 0;

	while (x * x + y * y < 4 && n < 60) {
		f64 t = x * x - y * y + cx;

		y = 2 * x * y + cy;
		x = t;
		n++;
	}
	out[GID] = n;
}
CASE(mandelbrot, d3(8), d3(32), 0, 8, "out:u32:256")
/* Breadth first over a graph in rows; the frontier moves in a loop of the kernel. */
KERNEL(bfs)(u32 *level, const u32 *edges)
{
	__shared__ u32 more;
	u32 t = threadIdx.x;

	level[t] = t == 0 ? 0 : 99;
	for (u32 depth = 0;; depth++) {
		__syncthreads();
		if (t == 0)
			more = 0;
		__syncthreads();
		if (level[t] == depth) {
			for (u32 k = 0; k < 3; k++) {
				u32 to = edges[3 * t + k] & 127;

				if (atomicMin(&level[to], depth + 1) > depth + 1)
					more = 1;
			}
		}
		__syncthreads();
		if (!more)
			break;
	}
}
CASE(bfs, d3(1), d3(128), 0, 9, "out:u32:128 in:u32:384:lt=128")
KERNEL(spmv)(f32 *y, const u32 *rows, const u32 *cols, const f32 *vals, const f32 *x)
{
	f32 sum = 0;
	u32 from = rows[GID] & 255, n = rows[GID] >> 8 & 15;

	for (u32 k = from; k < from + n; k++)
		sum += vals[k & 255] * x[cols[k & 255] & 63];
	y[GID] = sum;
}
CASE(spmv, d3(2), d3(64), 0, 10, "out:f32:128 in:u32:128 in:u32:256 in:f32:256:unit in:f32:64:unit")
KERNEL(sha_rounds)(u32 *out, const u32 *in)
{
	u32 s[8], w[16];

	for (u32 k = 0; k < 8; k++)
		s[k] = 0x6a09e667u * (k + 1) + GID;
	for (u32 k = 0; k < 16; k++)
		w[k] = in[(GID * 16 + k) & 511];
	for (u32 r = 0; r < 32; r++) {
		u32 e = s[4], a = s[0];
		u32 s1 = (e >> 6 | e << 26) ^ (e >> 11 | e << 21) ^ (e >> 25 | e << 7);
		u32 s0 = (a >> 2 | a << 30) ^ (a >> 13 | a << 19) ^ (a >> 22 | a << 10);
		u32 t1 = s[7] + s1 + ((e & s[5]) ^ (~e & s[6])) + w[r & 15], t2 = s0 + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

		for (u32 k = 7; k > 0; k--)
			s[k] = s[k - 1];
		s[4] += t1;
		s[0] = t1 + t2;
		w[r & 15] += w[(r + 9) & 15] ^ (w[(r + 1) & 15] >> 3);
	}
	for (u32 k = 0; k < 8; k++)
		out[8 * GID + k] = s[k];
}
CASE(sha_rounds, d3(1), d3(64), 0, 11, "out:u32:512 in:u32:512")
KERNEL(lcg_monte_carlo)(u32 *hits)
{
	u64 s = GID * 6364136223846793005ull + 1442695040888963407ull;
	u32 n = 0;

	for (u32 k = 0; k < 40; k++) {
		f32 x, y;

		s = s * 6364136223846793005ull + 1442695040888963407ull;
		x = (f32)(u32)(s >> 40) * 0x1p-24f;
		s = s * 6364136223846793005ull + 1442695040888963407ull;
		y = (f32)(u32)(s >> 40) * 0x1p-24f;
		n += x * x + y * y < 1;
	}
	atomicAdd(hits, n);
}
CASE(lcg_monte_carlo, d3(4), d3(64), 0, 12, "io:u32:1:zero")
KERNEL(string_search)(u32 *found, const u8 *text, u32 n)
{
	u32 i = GID, k = 0;
	const u8 want[3] = { 1, 0, 1 };

	while (k < 3 && i + k < n && (text[i + k] & 1) == want[k])
		k++;
	found[i] = k;
}
CASE(string_search, d3(2), d3(128), 0, 13, "out:u32:256 in:u8:256 u32=256")
/* The last CTA to finish sums up, with fences: threadFenceReduction of the SDK. */
KERNEL(last_block)(u32 *partial, u32 *ticket, u32 *result, const u32 *in)
{
	__shared__ u32 s[64], last;
	u32 t = threadIdx.x;

	s[t] = in[GID] & 0xffff;
	__syncthreads();
	for (u32 d = 32; d > 0; d >>= 1) {
		if (t < d)
			s[t] += s[t + d];
		__syncthreads();
	}
	if (t == 0) {
		partial[blockIdx.x] = s[0];
		__threadfence();
		last = atomicAdd(ticket, 1) == gridDim.x - 1;
	}
	__syncthreads();
	if (last && t == 0) {
		u32 sum = 0;

		for (u32 k = 0; k < gridDim.x; k++)
			sum += ((volatile u32 *)partial)[k];
		result[0] = sum;
	}
}
CASE(last_block, d3(6), d3(64), 0, 14, "out:u32:6 io:u32:1:zero out:u32:1 in:u32:384")
/* Many values live at once: what a limit of registers spills. */
KERNEL(pressure)(u32 *out, const u32 *in)
{
	u32 v[40], r = 0;

	for (u32 k = 0; k < 40; k++)
		v[k] = in[(GID + k * 5) & 255] * (k + 1);
	for (u32 round = 0; round < 3; round++) {
		_Pragma("unroll")
		for (u32 k = 0; k < 40; k++)
			v[k] += v[(k + 7) % 40] ^ v[(k + 23) % 40] >> 3;
	}
	for (u32 k = 0; k < 40; k++)
		r = r * 31 + v[k];
	out[GID] = r;
}
CASE(pressure, d3(2), d3(64), 0, 15, "out:u32:128 in:u32:256")
KERNEL(pressure_wide)(f64 *out, const f64 *in, const u32 *which)
{
	f64 a[16], b[16], r = 0;

	for (u32 k = 0; k < 16; k++) {
		a[k] = in[(GID + k) & 255];
		b[k] = in[(GID * 3 + k) & 255] * 0.5;
	}
	if (which[GID] & 1) {
		for (u32 k = 0; k < 16; k++)
			a[k] = a[k] * b[15 - k] + a[(k + 5) & 15];
	} else {
		for (u32 k = 0; k < 16; k++)
			b[k] = b[k] - a[k] * 0.25;
	}
	for (u32 k = 0; k < 16; k++)
		r += a[k] * b[k] + which[k];
	out[GID] = r;
}
CASE(pressure_wide, d3(2), d3(64), 0, 16, "out:f64:128 in:f64:256:unit in:u32:128")
