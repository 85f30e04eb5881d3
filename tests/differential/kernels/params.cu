// SPDX-License-Identifier: GPL-2.0
// Kernel parameters: every type, structs by value, aligned arrays, many of them.
#include "shim.h"

KERNEL(scalars)(u64 *out, u8 a, s8 b, u16 c, s16 d, u32 e, s32 f, u64 g, s64 h, f32 i, f64 j, bool k)
{
	u64 *o = out + 11 * GID;

	o[0] = a + GID;
	o[1] = (u64)(s64)b;
	o[2] = c;
	o[3] = (u64)(s64)d;
	o[4] = e;
	o[5] = (u64)(s64)f;
	o[6] = g;
	o[7] = (u64)h;
	o[8] = __float_as_uint(i);
	o[9] = (u64)__double_as_longlong(j);
	o[10] = k ? 1 : 2;
}
CASE(scalars, d3(1), d3(32), 0, 1,
     "out:u64:352 u8=200 s8=-100 u16=60000 s16=-30000 u32=4000000000 s32=-2000000000 u64=0x123456789abcdef0 s64=-5 f32=1.25 f64=-0.1 u8=1")
struct mixed { u8 a; u64 b; u16 c; f32 d; u8 e[5]; s16 f; };
KERNEL(by_value)(u64 *out, struct mixed m, u32 n)
{
	u32 i = GID;

	out[i] = m.a + m.b * 3 + m.c * 5u + (u64)m.e[i % 5] * 7 + (u64)(s64)m.f + n + (__float_as_uint(m.d) >> (i & 3));
}
CASE(by_value, d3(1), d3(64), 0, 2, "out:u64:64 struct:32:8 u32=9")
struct matrix { u16 v[5][7]; u8 odd; };
KERNEL(array_in_struct)(u32 *out, struct matrix m)
{
	u32 i = GID;

	out[i] = m.v[i % 5][i % 7] + m.v[i & 3][i >> 2 & 3] * 3u + m.odd;
}
CASE(array_in_struct, d3(1), d3(64), 0, 3, "out:u32:64 struct:72:2")
struct __align__(16) aligned { f32 v[4]; u32 w; };
KERNEL(aligned_struct)(u32 *out, u8 pad, struct aligned a, u16 tail)
{
	out[GID] = __float_as_uint(a.v[GID & 3]) ^ a.w + pad * 3u + tail;
}
CASE(aligned_struct, d3(1), d3(32), 0, 4, "out:u32:32 u8=9 struct:32:16 u16=500")
/* Modified in the kernel: the copy is the thread's own. */
KERNEL(written_copy)(u64 *out, struct mixed m)
{
	m.b += GID;
	m.e[GID % 5] = (u8)GID;
	m.c = (u16)(m.c ^ m.e[0]);
	out[GID] = m.b + m.c + m.e[1] * 256u + m.e[4] * 65536u;
}
CASE(written_copy, d3(1), d3(64), 0, 5, "out:u64:64 struct:32:8")
struct nested { struct { u8 a; struct { u16 b; u8 c[3]; } in[2]; } x; f64 y; };
KERNEL(nested_struct)(f64 *out, struct nested n)
{
	out[GID] = (f64)n.x.a + n.x.in[GID & 1].b * 2.0 + n.x.in[GID >> 1 & 1].c[GID % 3] * 3.0 + (f64)((u64)__double_as_longlong(n.y) >> 40);
}
CASE(nested_struct, d3(1), d3(32), 0, 6, "out:f64:32 struct:24:8")
KERNEL(many)(u32 *out, const u32 *a, const u32 *b, const u32 *c, const u32 *d, const u32 *e, const u32 *f,
	     u32 x, u32 y, u32 z)
{
	u32 i = GID;

	out[i] = a[i] * x + b[i] * y + c[i] * z + d[i] - e[i] + (f[i] ^ x);
}
CASE(many, d3(1), d3(64), 0, 7,
     "out:u32:64 in:u32:64 in:u32:64 in:u32:64 in:u32:64 in:u32:64 in:u32:64 u32=3 u32=5 u32=7")
KERNEL(none_used)(u32 *out, u64 a, f32 b, struct mixed c) { out[GID] = GID; }
CASE(none_used, d3(1), d3(32), 0, 8, "out:u32:32 u64=1 f32=2 struct:32:8")
struct large { u32 v[200]; };
KERNEL(large_struct)(u32 *out, struct large a, u32 step)
{
	u32 sum = 0;

	for (u32 k = GID; k < 200; k += step)
		sum = sum * 3 + a.v[k];
	out[GID] = sum;
}
CASE(large_struct, d3(1), d3(64), 0, 9, "out:u32:64 struct:800:4 u32=7")
