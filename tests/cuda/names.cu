// SPDX-License-Identifier: GPL-2.0
/* Intrinsics that compilers other than nvcc have to be given: each gives what the host computes. */
#include <math.h>
#include <string.h>

#include "check.h"

#if defined(__clang__) || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define REDUCES 1
#endif

__constant__ int fixed = 5;

__global__ void dots(const int *in, int *out)
{
	int a = in[0], b = in[1];
	unsigned int ua = in[0], ub = in[1];

	out[0] = __dp4a(a, b, 100);
	out[1] = __dp4a(ua, ub, 100u);
	out[2] = __dp2a_lo(a, b, 7);
	out[3] = __dp2a_hi(a, b, 7);
	out[4] = __dp2a_lo(ua, ub, 7u);
	out[5] = __dp2a_hi(ua, ub, 7u);
	out[6] = __dp4a(make_char4(1, -2, 3, -4), make_char4(5, 6, 7, 8), 9);
}

template <class T> __device__ bool equal(T a, T b)
{
	const char *x = (const char *)&a, *y = (const char *)&b;

	for (size_t i = 0; i < sizeof(T); i++)
		if (x[i] != y[i])
			return false;
	return true;
}

template <class T> __device__ bool same(T *p, T v)
{
	bool ok = true;
	const T *q = p;

	__stcg(p, v);
	ok = ok && equal(__ldcg(q), v) && equal(__ldca(q), v);
	__stwb(p, v);
	ok = ok && equal(__ldcs(q), v) && equal(__ldcv(q), v);
	__stcs(p, v);
	ok = ok && equal(__ldlu(p), v);
	__stwt(p, v);
	return ok && equal(*p, v);
}

__global__ void caches(void *at, int *out)
{
	*out = same((char *)at, (char)-3) && same((signed char *)at, (signed char)-4) &&
	       same((unsigned char *)at, (unsigned char)200) && same((short *)at, (short)-3000) &&
	       same((unsigned short *)at, (unsigned short)65000) && same((int *)at, -70000) &&
	       same((unsigned int *)at, 4000000000u) && same((long *)at, -(1l << 40)) &&
	       same((unsigned long *)at, 1ul << 63) && same((long long *)at, -(1ll << 50)) &&
	       same((unsigned long long *)at, ~0ull) && same((float *)at, 2.5f) &&
	       same((double *)at, -1e300) && same((char4 *)at, make_char4(1, -2, 3, -4)) &&
	       same((uchar2 *)at, make_uchar2(250, 3)) && same((short4 *)at, make_short4(1, -2, 3, -4)) &&
	       same((int4 *)at, make_int4(1, -2, 3, -4)) && same((float4 *)at, make_float4(1, 2, 3, 4)) &&
	       same((double2 *)at, make_double2(1, -2)) &&
	       same((ulonglong2 *)at, make_ulonglong2(~0ull, 7)) && same((float2 *)at, make_float2(8, 9));
}

__global__ void spaces(int *at, int *out)
{
	__shared__ int shared[4];
	int local[4];

	local[threadIdx.x] = shared[threadIdx.x] = 9;
	out[0] = __isGlobal(at) && !__isShared(at) && !__isLocal(at) && !__isConstant(at);
	out[1] = __isShared(shared) && !__isGlobal(shared);
	out[2] = __isLocal(local) && !__isShared(local);
	out[3] = __isConstant(&fixed) && !__isLocal(&fixed);
	out[4] = *(int *)__cvta_shared_to_generic(__cvta_generic_to_shared(shared)) == 9;
	out[5] = *(int *)__cvta_local_to_generic(__cvta_generic_to_local(local)) == 9;
	out[6] = *(int *)__cvta_constant_to_generic(__cvta_generic_to_constant(&fixed)) == 5;
	out[7] = __cvta_global_to_generic(__cvta_generic_to_global(at)) == (void *)at;
}

__global__ void warp(unsigned int *out)
{
	int lane = threadIdx.x, all;
	unsigned int *o = out + 16 * lane;

	o[0] = __match_any_sync(~0u, (long)(lane % 3));
	o[1] = __match_any_sync(~0u, (float)(lane % 5) + 0.5f);
	o[2] = __match_any_sync(~0u, (double)(lane / 8) * 1e100);
	o[3] = __match_all_sync(~0u, 2.5, &all);
	o[4] = all;
	o[5] = __match_all_sync(~0u, (unsigned long)lane, &all);
	o[6] = all;
	__nanosleep(100);
#ifdef REDUCES
	o[7] = __reduce_add_sync(~0u, lane - 40);
	o[8] = __reduce_min_sync(~0u, lane - 10);
	o[9] = __reduce_max_sync(~0u, (unsigned int)(lane - 10));
	o[10] = __reduce_xor_sync(~0u, 1u << lane % 7);
	o[11] = __reduce_and_sync(~0u, ~(1u << lane / 2));
#endif
}

__global__ void choices(const unsigned int *in, unsigned int *out)
{
	bool low, high;
	int a = in[0], b = in[1], c = in[2];

	out[0] = __vimax3_s32(a, b, c);
	out[1] = __vimin3_u32(a, b, c);
	out[2] = __vimax3_s16x2(a, b, c);
	out[3] = __vimin3_s16x2_relu(a, b, c);
	out[4] = __viaddmax_s32(a, b, c);
	out[5] = __viaddmin_u16x2(a, b, c);
	out[6] = __vimin_s32_relu(a, b);
	out[7] = __vibmax_s16x2(a, b, &high, &low);
	out[8] = high << 1 | low;
	out[9] = min(5ll, 3ull) + max(-1ll, 7ull) % 1000;
}

__global__ void atomics(double *sum, long long *bits, float *exchanged, unsigned short *halves, int *n)
{
	atomicAdd_system(sum, 1.5);
	atomicAdd_block(sum, 0.25);
	atomicAnd(bits, ~(1ll << threadIdx.x));
	atomicOr_system(bits, 1ll << (32 + threadIdx.x));
	atomicSub_block(n, 3);
	if (!threadIdx.x)
		*exchanged = atomicExch_system(exchanged, 7.5f);
	/* Each thread adds one to one half of a word. */
	unsigned short *p = halves + threadIdx.x % 2, seen = *p, old;

	while ((old = atomicCAS(p, seen, (unsigned short)(seen + 1))) != seen)
		seen = old;
}

__global__ void functions(double *out)
{
	int q;
	float s, c;

	out[0] = cyl_bessel_i0(1.0);
	out[1] = cyl_bessel_i1(-1.0);
	out[2] = cyl_bessel_i0(30.0);
	out[3] = cyl_bessel_i1f(2.0f);
	out[4] = normcdf(1.0);
	sincos(0.5f, &s, &c);
	out[5] = s * s + c * c;
	out[6] = ilogb(10.0f) + lround(2.5f) + llrint(3.5f) + lrint(2.5f) + llround(-1.5f);
	out[7] = remquo(7.0f, 2.0f, &q);
	out[7] += 10 * (q & 7);
	out[8] = scalbln(1.5f, 3l);
	out[9] = __funnelshift_l(0x80000001u, 0x7u, 4) + __fns(0xf0f0u, 5, 2) + __ffsll(1ll << 40) + __clzll(1);
	out[10] = cyl_bessel_i0(712.0) / 1e307;
}

static int dot(const int *in, int from, bool sign)
{
	int sum = 7;

	for (int i = 0; i < 2; i++) {
		int half = in[0] >> 16 * i & 0xffff, byte = in[1] >> (8 * i + from) & 0xff;

		sum += (sign ? (short)half : half) * (sign ? (signed char)byte : byte);
	}
	return sum;
}

int main()
{
	static const int some[3] = { (int)0x807f01fe, 0x03ff7f81, 77 };
	int *in, *out;
	void *at;
	double *d;

	OK(cudaMallocManaged(&in, 64));
	OK(cudaMallocManaged(&out, 32 * 64));
	OK(cudaMallocManaged(&d, 256));
	OK(cudaMalloc(&at, 64));
	memcpy(in, some, sizeof(some));
	dots<<<1, 1>>>(in, out);
	OK(cudaDeviceSynchronize());
	int sum = 100, usum = 100;
	for (int i = 0; i < 32; i += 8) {
		sum += (signed char)(some[0] >> i) * (signed char)(some[1] >> i);
		usum += (unsigned char)(some[0] >> i) * (unsigned char)(some[1] >> i);
	}
	HOLDS(out[0] == sum && out[1] == usum && out[6] == 5 - 12 + 21 - 32 + 9);
	HOLDS(out[2] == dot(some, 0, true) && out[3] == dot(some, 16, true));
	HOLDS(out[4] == dot(some, 0, false) && out[5] == dot(some, 16, false));

	caches<<<1, 1>>>(at, out);
	OK(cudaDeviceSynchronize());
	HOLDS(*out == 1);
	spaces<<<1, 1>>>((int *)at, out);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 8; i++)
		HOLDS(out[i]);

	warp<<<1, 32>>>((unsigned int *)out);
	OK(cudaDeviceSynchronize());
	for (int lane = 0; lane < 32; lane++) {
		unsigned int *o = (unsigned int *)out + 16 * lane, three = 0, five = 0, eight = 0;

		for (int i = 0; i < 32; i++) {
			three |= (unsigned int)(i % 3 == lane % 3) << i;
			five |= (unsigned int)(i % 5 == lane % 5) << i;
			eight |= (unsigned int)(i / 8 == lane / 8) << i;
		}
		HOLDS(o[0] == three && o[1] == five && o[2] == eight);
		HOLDS(o[3] == ~0u && o[4] && !o[5] && !o[6]);
#ifdef __clang__
		/* Bit i of seven is set in the fifth or the fourth lane: 5 times for i of 0 to 3. */
		HOLDS((int)o[7] == 31 * 16 - 32 * 40 && (int)o[8] == -10 && o[9] == ~0u);
		HOLDS(o[10] == 0xf && o[11] == 0xffff0000u);
#endif
	}

	memcpy(in, (const int[3]){ (int)0xfffb0009, 0x00078000, 0x00030002 }, 12);
	choices<<<1, 1>>>((unsigned int *)in, (unsigned int *)out);
	OK(cudaDeviceSynchronize());
	HOLDS(out[0] == 0x00078000 && out[1] == 0x00030002 && out[2] == 0x00070009 && out[3] == 0);
	HOLDS(out[4] == 0x00030002 && out[5] == 0x00020002);
	HOLDS(out[6] == 0 && out[7] == 0x00070009 && out[8] == 1 && out[9] == 3 + 615);

	long long *bits = (long long *)out;
	float *exchanged = (float *)(out + 4);
	unsigned short *halves = (unsigned short *)(out + 6);

	*d = 0;
	*bits = 0xffffffff;
	*exchanged = 2.5f;
	out[6] = 0;
	out[8] = 1000;
	atomics<<<1, 20>>>(d, bits, exchanged, halves, out + 8);
	OK(cudaDeviceSynchronize());
	HOLDS(*d == 20 * 1.75 && *bits == (long long)0x000ffffffff00000 && *exchanged == 2.5f);
	HOLDS(halves[0] == 10 && halves[1] == 10 && out[8] == 940);

	functions<<<1, 1>>>(d);
	OK(cudaDeviceSynchronize());
	HOLDS(fabs(d[0] - 1.2660658777520084) < 1e-15 && fabs(d[1] + 0.5651591039924850) < 1e-15);
	HOLDS(fabs(d[2] / 781672297823.9775 - 1) < 1e-14 && fabs(d[3] - 1.5906368546373291) < 1e-6);
	HOLDS(fabs(d[4] - 0.8413447460685429) < 1e-14 && fabs(d[5] - 1) < 1e-6);
	HOLDS(d[6] == 3 + 3 + 4 + 2 - 2 && d[7] == -1 + 40 && d[8] == 12);
	HOLDS(d[9] == 0x78 + 6 + 41 + 63 && d[10] > 0.5 && d[10] < 1e2);
	printf("names: passed\n");
	return 0;
}
