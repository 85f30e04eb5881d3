// SPDX-License-Identifier: GPL-2.0
// Module variables: global, constant and shared, initialised, with addresses in them.
#include "shim.h"

__device__ u32 plain;
__device__ u32 answer = 42;
__device__ u8 bytes[13] = { 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 250 };
__device__ s16 shorts[6] = { -1, 2, -3, 4, -5, 6 };
__device__ f32 floats[4] = { 1.5f, -0.25f, 1e30f, 0 };
__device__ f64 doubles[3] = { 3.141592653589793, -1e-300, 2 };
__device__ u64 longs[4] = { 0x123456789abcdef0ull, 1, ~0ull, 0 };
__device__ const char text[] = "the quick brown fox";
__device__ __align__(64) u32 aligned[16] = { 9, 8, 7 };
__device__ u32 *to_answer = &answer;
/* clang 14 takes addresses of scalars and structs only; variables_nvcc.cu has the others. */
struct six { s16 v[6]; };
__device__ struct six six = { { -1, 2, -3, 4, -5, 6 } };
__device__ struct six *to_six = &six;
__device__ u32 counter;
struct word { char c[8]; };
__device__ struct word one = { "one" }, three = { "three" };
struct item { const struct word *name; u32 value; f32 weight; };
__device__ struct item items[3] = { { &one, 1, 0.5f }, { &three, 3, 0.25f }, { &one, 19, 8 } };

KERNEL(initialised)(u64 *out)
{
	u32 i = GID;

	out[8 * i] = answer + plain;
	out[8 * i + 1] = bytes[i % 13];
	out[8 * i + 2] = (u64)(s64)shorts[i % 6];
	out[8 * i + 3] = __float_as_uint(floats[i & 3]);
	out[8 * i + 4] = (u64)__double_as_longlong(doubles[i % 3]);
	out[8 * i + 5] = longs[i & 3];
	out[8 * i + 6] = (u64)text[i % 20];
	out[8 * i + 7] = aligned[i & 15];
}
CASE(initialised, d3(1), d3(64), 0, 1, "out:u64:512")
KERNEL(addresses)(u32 *out)
{
	u32 i = GID, n = 0;
	const struct item *it = &items[i % 3];

	for (const char *p = it->name->c; *p; p++)
		n = n * 31 + (u8)*p;
	out[4 * i] = *to_answer;
	out[4 * i + 1] = (u32)(s32)to_six->v[i % 6];
	out[4 * i + 2] = n + it->value;
	out[4 * i + 3] = __float_as_uint(it->weight);
}
CASE(addresses, d3(1), d3(64), 0, 2, "out:u32:256")
__device__ u32 scratch[64];
KERNEL(written)(u32 *out, const u32 *in)
{
	u32 t = threadIdx.x;

	scratch[t] = in[t] * 3;
	__syncthreads();
	out[t] = scratch[63 - t] + atomicAdd(&counter, 0);
	__syncthreads();
	atomicAdd(&counter, in[t] & 7);
	__syncthreads();
	out[64 + t] = counter;
}
CASE(written, d3(1), d3(64), 0, 3, "out:u32:128 in:u32:64")

__constant__ u32 squares[10] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 81 };
__constant__ f64 coefficients[5] = { 1, -0.5, 0.25, -0.125, 0.0625 };
__constant__ u8 small[3] = { 7, 8, 9 };
__constant__ struct { u16 a; u32 b[3]; u8 c; } record = { 5, { 10, 20, 30 }, 77 };
struct row { u32 v[3]; };
__constant__ struct row rows[3] = { { { 1, 2, 3 } }, { { 40, 50, 60 } }, { { 700, 800, 900 } } };
__constant__ struct row first = { { 5, 6, 7 } }, second = { { 8, 9, 10 } };
__constant__ struct row *const_table[3] = { &second, &first, &second };
__constant__ u32 *const_answer = &answer;
KERNEL(constants)(f64 *out)
{
	u32 i = GID;
	f64 r = 0;

	for (u32 k = 0; k < 5; k++)
		r = r * (i + 0.5) + coefficients[k];
	out[2 * i] = r + squares[i % 10] * 3 + small[i % 3];
	out[2 * i + 1] = record.a + record.b[i % 3] + record.c * 0.5;
}
CASE(constants, d3(1), d3(64), 0, 4, "out:f64:128")
KERNEL(constant_pointers)(u32 *out)
{
	u32 i = GID;

	out[i] = const_table[i % 3]->v[i & 1] * 10 + rows[i % 3].v[i & 1] + *const_answer;
}
CASE(constant_pointers, d3(1), d3(64), 0, 5, "out:u32:64")

__shared__ u32 module_shared[64];
KERNEL(shared_of_module)(u32 *out, const u32 *in)
{
	u32 t = threadIdx.x;

	module_shared[t] = in[GID];
	__syncthreads();
	out[GID] = module_shared[t ^ 21];
}
CASE(shared_of_module, d3(2), d3(64), 0, 6, "out:u32:128 in:u32:128")
KERNEL(extern_shared)(u32 *out, const u32 *in, u32 n)
{
	EXTERN_SHARED(u32, dynamic);
	u32 t = threadIdx.x;

	for (u32 k = t; k < n; k += blockDim.x)
		dynamic[k] = in[k] + blockIdx.x;
	__syncthreads();
	for (u32 k = t; k < n; k += blockDim.x)
		out[blockIdx.x * n + k] = dynamic[n - 1 - k];
}
CASE(extern_shared, d3(2), d3(64), 800, 7, "out:u32:400 in:u32:200 u32=200")
KERNEL(extern_and_static)(u32 *out, const u64 *in)
{
	EXTERN_SHARED(u64, dynamic_wide);
	__shared__ u8 s[33];
	__shared__ __align__(16) u64 w[8];
	u32 t = threadIdx.x;

	if (t < 33)
		s[t] = (u8)in[t];
	if (t < 8)
		w[t] = in[t] * 3;
	dynamic_wide[t] = in[t] + 1;
	__syncthreads();
	out[t] = s[t % 33] + (u32)w[t & 7] + (u32)(dynamic_wide[63 - t] >> 5);
}
CASE(extern_and_static, d3(1), d3(64), 512, 8, "out:u32:64 in:u64:64")
/* Shared memory as several types at once, by offsets, as templates of libraries do it. */
KERNEL(shared_carved)(f32 *out, const f32 *in)
{
	EXTERN_SHARED(u8, raw);
	f32 *values = (f32 *)raw;
	u16 *order = (u16 *)(raw + 256);
	u32 t = threadIdx.x;

	values[t] = in[t];
	order[t] = (u16)((t * 37 + 11) & 63);
	__syncthreads();
	out[t] = values[order[t]] + order[63 - t];
}
CASE(shared_carved, d3(1), d3(64), 384, 9, "out:f32:64 in:f32:64")
