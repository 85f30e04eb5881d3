// SPDX-License-Identifier: GPL-2.0
// Loads and stores of every width, vector, space and qualifier.
// arch: 75
// ptx: 8.2
#include "shim.h"

/* Each type as C loads and stores it, through a stride that is not the type's. */
#define COPY(t, T)											\
	KERNEL(copy_##t)(T *out, const T *in) { out[255 - GID] = in[GID] + (T)1; }			\
	CASE(copy_##t, d3(2), d3(128), 0, 1, "out:" #t ":256 in:" #t ":256")
COPY(u8, u8)
COPY(s8, s8)
COPY(u16, u16)
COPY(s16, s16)
COPY(u32, u32)
COPY(u64, u64)
COPY(f32, f32)
COPY(f64, f64)

#define VECTOR(name, V, spec, n, ...)									\
	KERNEL(name)(V *out, const V *in)								\
	{												\
		V v = in[GID], r;									\
		__VA_ARGS__										\
		out[GID] = r;										\
	}												\
	CASE(name, d3(2), d3(64), 0, 2, "out:" spec ":" n " in:" spec ":" n)
VECTOR(vector_uchar4, uchar4, "u8", "512", r.x = v.w; r.y = v.x; r.z = v.y; r.w = v.z;)
VECTOR(vector_uchar2, uchar2, "u8", "256", r.x = v.y; r.y = v.x;)
VECTOR(vector_ushort2, ushort2, "u16", "256", r.x = v.y; r.y = (u16)(v.x + 1);)
VECTOR(vector_ushort4, ushort4, "u16", "512", r.x = v.w; r.y = v.z; r.z = v.y; r.w = v.x;)
VECTOR(vector_uint2, uint2, "u32", "256", r.x = v.y; r.y = v.x + 1;)
VECTOR(vector_int4, int4, "s32", "512", r.x = v.w; r.y = v.x; r.z = v.y; r.w = v.z ^ v.x;)
VECTOR(vector_float2, float2, "f32", "256", r.x = v.y; r.y = v.x;)
VECTOR(vector_float4, float4, "f32", "512", r.x = v.w; r.y = v.x; r.z = v.y; r.w = v.z * 2;)
VECTOR(vector_double2, double2, "f64", "256", r.x = v.y; r.y = v.x;)
VECTOR(vector_ulong2, ulonglong2, "u64", "256", r.x = v.y; r.y = v.x;)

/* Qualifiers: where they order or cache, one thread alone sees a plain access. */
#define LD(name, text) TEXT1(name, u32, "r", const u32 *, "l", text " %0, [%1];", *a)
#define ST(name, text)											\
	DEVICE void name(u32 *a, u32 v)									\
	{ ON_DEVICE(asm volatile(text " [%0], %1;" :: "l"(a), "r"(v) : "memory");) ON_CPU(*a = v;) }
LD(ld_global_ca, "ld.global.ca.u32")
LD(ld_cg, "ld.global.cg.u32")
LD(ld_cs, "ld.global.cs.u32")
LD(ld_lu, "ld.global.lu.u32")
LD(ld_cv, "ld.global.cv.u32")
LD(ld_volatile, "ld.volatile.global.u32")
LD(ld_nc, "ld.global.nc.u32")
LD(ld_relaxed, "ld.relaxed.gpu.global.u32")
LD(ld_acquire, "ld.acquire.sys.global.u32")
LD(ld_generic_acquire, "ld.acquire.cta.u32")
LD(ldu, "ldu.global.u32")
ST(st_wb, "st.global.wb.u32")
ST(st_cg, "st.global.cg.u32")
ST(st_cs, "st.global.cs.u32")
ST(st_wt, "st.global.wt.u32")
ST(st_volatile, "st.volatile.global.u32")
ST(st_relaxed, "st.relaxed.cta.global.u32")
ST(st_release, "st.release.gpu.u32")
KERNEL(ld_qualifiers)(u32 *out, const u32 *in)
{
	const u32 *p = in + GID;

	out[GID] = ld_global_ca(p) + ld_cg(p) * 3 + ld_cs(p) * 5 + ld_lu(p) * 7 + ld_cv(p) * 9 +
		   ld_volatile(p) * 11 + ld_nc(p) * 13 + ld_relaxed(p) * 15 + ld_acquire(p) * 17 +
		   ld_generic_acquire(p) * 19 + ldu(in) * 21;
}
CASE(ld_qualifiers, d3(2), d3(64), 0, 3, "out:u32:128 in:u32:128")
KERNEL(st_qualifiers)(u32 *out, const u32 *in)
{
	u32 v = in[GID], *p = out + 7 * GID;

	st_wb(p, v);
	st_cg(p + 1, v + 1);
	st_cs(p + 2, v + 2);
	st_wt(p + 3, v + 3);
	st_volatile(p + 4, v + 4);
	st_relaxed(p + 5, v + 5);
	st_release(p + 6, v + 6);
}
CASE(st_qualifiers, d3(2), d3(64), 0, 4, "out:u32:896 in:u32:128")
#ifndef DIFF_CPU
DEVICE u32 level_hints(const u32 *p)
{
	u32 a, b, c;

	asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(a) : "l"(p));
	asm volatile("ld.global.L1::evict_last.L2::128B.u32 %0, [%1];" : "=r"(b) : "l"(p));
	asm volatile("prefetch.global.L2 [%0]; prefetch.L1 [%0]; prefetchu.L1 [%0];" :: "l"(p));
	asm volatile("ld.mmio.relaxed.sys.global.u32 %0, [%1];" : "=r"(c) : "l"(p));
	return a + b * 3 + c * 5;
}
#else
DEVICE u32 level_hints(const u32 *p) { return *p * 9; }
#endif
MAP1(ld_levels, u32, u32, a + level_hints(in + i))
CASE(ld_levels, d3(2), d3(64), 0, 5, "out:u32:128 in:u32:128")

/* Narrow loads into wide registers extend, narrow stores take the low bits. */
TEXT1(ld_s8_wide, s32, "r", const s8 *, "l", "ld.global.s8 %0, [%1];", *a)
TEXT1(ld_u8_wide, u32, "r", const s8 *, "l", "ld.global.u8 %0, [%1];", (u8)*a)
TEXT1(ld_s16_wide, s64, "l", const s16 *, "l", "ld.global.s16 %0, [%1];", *a)
TEXT1(ld_s32_wide, s64, "l", const s16 *, "l", "ld.global.s32 %0, [%1];", *(const s32 *)a)
KERNEL(ld_extends)(s64 *out, const s8 *in)
{
	u32 i = GID;

	out[4 * i] = ld_s8_wide(in + i);
	out[4 * i + 1] = ld_u8_wide(in + i);
	out[4 * i + 2] = ld_s16_wide((const s16 *)in + i);
	out[4 * i + 3] = ld_s32_wide((const s16 *)in + 2 * i);
}
CASE(ld_extends, d3(1), d3(64), 0, 6, "out:s64:256 in:s8:256")
KERNEL(st_truncates)(u8 *out, const u64 *in)
{
	u8 *p = out + 8 * GID;

	ON_DEVICE(asm volatile("{ .reg .u32 t; cvt.u32.u64 t, %1; st.global.u8 [%0], t; st.global.u16 [%0+2], t;"
			       "st.global.b32 [%0+4], t; st.global.s8 [%0+1], t; }" :: "l"(p), "l"(in[GID]) : "memory");)
	ON_CPU(u64 v = in[GID]; memcpy(p, &v, 1); memcpy(p + 2, &v, 2); memcpy(p + 4, &v, 4); memcpy(p + 1, &v, 1);)
}
CASE(st_truncates, d3(1), d3(64), 0, 7, "out:u8:512 in:u64:64")
KERNEL(v4_explicit)(u32 *out, const u32 *in)
{
	const u32 *p = in + 4 * GID;
	u32 a, b, c, d, *q = out + 6 * GID;

	ON_DEVICE(asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p));
		  asm volatile("st.global.v2.u32 [%0], {%1, %2}; st.global.v2.b32 [%0+8], {%3, %4}; st.global.v2.f32 [%0+16], {%2, %3};"
			       :: "l"(q), "r"(d), "r"(c), "r"(b), "r"(a) : "memory");)
	ON_CPU(a = p[0]; b = p[1]; c = p[2]; d = p[3]; q[0] = d; q[1] = c; q[2] = b; q[3] = a; q[4] = c; q[5] = b;)
}
CASE(v4_explicit, d3(1), d3(64), 0, 8, "out:u32:384 in:u32:256")
KERNEL(v4_bytes)(u32 *out, const u8 *in)
{
	const u8 *p = in + 4 * GID;
	u32 r;

	ON_DEVICE(asm volatile("{ .reg .u16 a, b, c, d; .reg .u32 t; ld.global.v4.u8 {a, b, c, d}, [%1];"
			       "mad.lo.u16 a, b, c, a; xor.b16 a, a, d; cvt.u32.u16 %0, a; }" : "=r"(r) : "l"(p));)
	ON_CPU(r = (u16)((u16)(p[1] * p[2] + p[0]) ^ p[3]);)
	out[GID] = r;
}
CASE(v4_bytes, d3(1), d3(64), 0, 9, "out:u32:64 in:u8:256")

/* mov packs and unpacks. */
TEXT2(pack64, u64, "l", u32, "r", u32, "r", "mov.b64 %0, {%1, %2};", (u64)b << 32 | a)
TEXT1(pack_bytes, u32, "r", u32, "r", "{ .reg .b8 a, b, c, d; .reg .b16 x, y, z, w; mov.b32 {x, y}, %1; mov.b32 %0, {y, x}; }", a << 16 | a >> 16)
TEXT1(unpack64, u32, "r", u64, "l", "{ .reg .b32 lo, hi; mov.b64 {lo, hi}, %1; xor.b32 %0, lo, hi; }", (u32)a ^ (u32)(a >> 32))
TEXT1(unpack4, u64, "l", u64, "l", "{ .reg .b16 a, b, c, d; mov.b64 {a, b, c, d}, %1; mov.b64 %0, {d, c, b, a}; }",
      a << 48 | (a << 16 & 0xffff00000000ull) | (a >> 16 & 0xffff0000u) | a >> 48)
KERNEL(mov_vectors)(u64 *out, const u64 *in)
{
	u32 i = GID;
	u64 a = in[i];

	out[4 * i] = pack64((u32)(a >> 32), (u32)a);
	out[4 * i + 1] = pack_bytes((u32)a);
	out[4 * i + 2] = unpack64(a);
	out[4 * i + 3] = unpack4(a);
}
CASE(mov_vectors, d3(1), d3(64), 0, 10, "out:u64:256 in:u64:64")

/* Local memory: an array that is indexed by what is not known, and grows past a page. */
KERNEL(local_array)(u32 *out, const u32 *in)
{
	u32 a[24], sum = 0;

	for (u32 k = 0; k < 24; k++)
		a[k] = in[(GID + k) & 127] ^ k;
	for (u32 k = 0; k < 48; k++) {
		u32 at = (in[k] + GID) % 24;

		sum = sum * 31 + a[at];
		a[(at * 7 + k) % 24] += sum;
	}
	out[GID] = sum;
}
CASE(local_array, d3(2), d3(64), 0, 11, "out:u32:128 in:u32:128")
KERNEL(local_types)(f64 *out, const u32 *in)
{
	u8 a[8];
	f64 b[4];
	u16 c[6];
	u32 n = in[GID];

	for (u32 k = 0; k < 8; k++)
		a[k] = (u8)(n >> k);
	for (u32 k = 0; k < 4; k++)
		b[k] = n * 0.25 + k;
	for (u32 k = 0; k < 6; k++)
		c[k] = (u16)(n + k * 1000);
	out[GID] = a[n & 7] + b[n & 3] + c[n % 6];
}
CASE(local_types, d3(2), d3(64), 0, 12, "out:f64:128 in:u32:128")
KERNEL(local_large)(u32 *out, const u32 *in)
{
	u32 a[1500], h = GID + 1;

	for (u32 k = 0; k < 1500; k++)
		a[k] = k * 3 + GID;
	for (u32 k = 0; k < 40; k++) {
		h = a[(h + in[k]) % 1500] * 5 + k;
		a[h % 1500] = h;
	}
	out[GID] = h;
}
CASE(local_large, d3(1), d3(64), 0, 13, "out:u32:64 in:u32:64")
/* Unaligned structures are read by bytes. */
struct __attribute__((packed)) packed_record { u8 tag; u32 value; u16 more; f32 x; };
KERNEL(packed_struct)(u32 *out, const u8 *in)
{
	const struct packed_record *r = (const struct packed_record *)in + GID;
	u32 x = 0;

	for (int k = 0; k < 4; k++)
		x = x << 8 | ((const u8 *)&r->x)[k];
	out[GID] = r->tag + r->value * 3 + r->more * 7 + x;
}
CASE(packed_struct, d3(1), d3(64), 0, 14, "out:u32:64 in:u8:704")
