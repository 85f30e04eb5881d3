// SPDX-License-Identifier: GPL-2.0
// Calls: arguments and results of every type, divergence inside, recursion, deep chains.
#include "shim.h"

NOINLINE u32 mix(u32 a, u32 b) { return (a ^ b >> 3) * 0x9e3779b1u; }
NOINLINE u64 wide(u64 a, u32 b, u8 c, s16 d) { return a * b + c - (u64)(s64)d; }
NOINLINE f32 scale(f32 a, f64 b) { return (f32)(a * b + 1); }
NOINLINE f64 sum8(f32 a, f64 b, f32 c, f64 d, s32 e, u64 f, s8 g, u16 h)
{
	return a + b * 2 + c * 3 + d * 4 + e * 5.0 + (f64)(f & 0xffff) * 6 + g * 7 + h * 8;
}
NOINLINE bool odd(u32 v) { return v & 1; }
NOINLINE s8 narrow(s32 v) { return (s8)(v >> 2); }
KERNEL(call_types)(u64 *out, const u64 *in)
{
	u64 v = in[GID], *o = out + 6 * GID;

	o[0] = mix((u32)v, (u32)(v >> 32));
	o[1] = wide(v, (u32)v, (u8)v, (s16)v);
	o[2] = __float_as_uint(scale((f32)(v & 0xffff), 0.125));
	o[3] = (u64)__double_as_longlong(sum8((f32)(v & 7), (f64)(v & 15), 1.5f, -2.25, (s32)(v >> 50), v, (s8)v, (u16)v));
	o[4] = odd((u32)v) ? 10 : 20;
	o[5] = (u64)(s64)narrow((s32)v);
}
CASE(call_types, d3(1), d3(64), 0, 1, "out:u64:384 in:u64:64")
NOINLINE void store_two(u32 *p, u32 *q, u32 v) { *p = v + 1; *q = v * 2; }
KERNEL(call_pointers)(u32 *out, const u32 *in)
{
	__shared__ u32 s[64];
	u32 local;

	store_two(&s[threadIdx.x], &local, in[GID]);
	__syncthreads();
	out[GID] = s[63 - threadIdx.x] + local;
}
CASE(call_pointers, d3(1), d3(64), 0, 2, "out:u32:64 in:u32:64")

struct triple { u32 a; f32 b; u8 c[6]; };
struct big { u64 v[6]; u16 tag; };
NOINLINE struct triple turn(struct triple t)
{
	struct triple r = { t.a * 3, t.b + 1, { t.c[5], t.c[4], t.c[3], t.c[2], t.c[1], t.c[0] } };

	return r;
}
NOINLINE struct big fold(struct big b, u32 at)
{
	b.v[at % 6] += b.tag;
	b.tag = (u16)(b.v[(at + 1) % 6] >> 3);
	return b;
}
KERNEL(call_structs)(u64 *out, const u64 *in)
{
	u64 v = in[GID];
	struct triple t = { (u32)v, 0.5f * (f32)(v & 255), { 1, 2, 3, 4, 5, (u8)v } };
	struct big b = { { v, v + 1, v * 2, v ^ 5, 7, 9 }, (u16)v };

	t = turn(turn(t));
	b = fold(fold(b, GID), (u32)v);
	out[4 * GID] = t.a + t.c[0] * 256 + t.c[5];
	out[4 * GID + 1] = __float_as_uint(t.b);
	out[4 * GID + 2] = b.v[0] ^ b.v[1] * 3 ^ b.v[2] * 5 ^ b.v[3] * 7;
	out[4 * GID + 3] = b.v[4] + b.v[5] * 3 + b.tag;
}
CASE(call_structs, d3(1), d3(64), 0, 3, "out:u64:256 in:u64:64")

/* Divergence inside: lanes leave the function at different places and times. */
NOINLINE u32 leave_somewhere(u32 v)
{
	if (v & 1)
		return v * 3;
	for (u32 k = 0; k < 20; k++) {
		v = v * 5 + k;
		if ((v & 7) == 3)
			return v ^ k;
	}
	if (v & 16)
		return 5;
	return ~v;
}
KERNEL(diverged_inside)(u32 *out, const u32 *in)
{
	u32 v = in[GID], r = leave_somewhere(v);

	if (v & 2)
		r += leave_somewhere(v >> 5);
	else if (v & 4)
		r -= leave_somewhere(v * 7);
	out[GID] = r + leave_somewhere(r);
}
CASE(diverged_inside, d3(2), d3(128), 0, 4, "out:u32:256 in:u32:256")
NOINLINE u32 may_exit(u32 v, u32 *out)
{
	if ((v & 7) == 3) {
		*out = 77;
		THREAD_EXIT();
	}
	return v + 1;
}
KERNEL(exit_inside)(u32 *out, const u32 *in)
{
	u32 v = in[GID];

	v = may_exit(v, &out[GID]);
	if (v & 1)
		v = may_exit(v >> 3, &out[GID]) * 3;
	out[GID] = v;
}
CASE(exit_inside, d3(2), d3(128), 0, 5, "out:u32:256 in:u32:256")

NOINLINE u32 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
KERNEL(recursion)(u32 *out, const u32 *in) { out[GID] = fib(in[GID] % 9); }
CASE(recursion, d3(1), d3(64), 0, 6, "out:u32:64 in:u32:64")
NOINLINE u32 is_odd(u32 n);
NOINLINE u32 is_even(u32 n) { return n == 0 ? 1 : is_odd(n - 1); }
NOINLINE u32 is_odd(u32 n) { return n == 0 ? 0 : is_even(n - 1); }
KERNEL(recursion_mutual)(u32 *out, const u32 *in)
{
	u32 n = in[GID] & 7;

	out[GID] = is_even(n) * 2 + is_odd(n + 1) + is_even(3);
}
CASE(recursion_mutual, d3(1), d3(64), 0, 7, "out:u32:64 in:u32:64")
NOINLINE u32 ackermann(u32 m, u32 n)
{
	u32 keep[2] = { m, n };

	if (m == 0)
		return n + 1;
	if (n == 0)
		return ackermann(m - 1, 1) + (keep[n] - m);
	return ackermann(m - 1, ackermann(m, n - 1)) + (keep[1] - n);
}
KERNEL(recursion_frames)(u32 *out, const u32 *in) { out[GID] = ackermann(in[GID] & 1, in[GID] >> 1 & 3); }
CASE(recursion_frames, d3(1), d3(64), 0, 8, "out:u32:64 in:u32:64")

#define LINK(n, m, expr) NOINLINE u32 link##n(u32 v) { u32 w = v expr; return link##m(w) + w; }
NOINLINE u32 link0(u32 v) { return v * 3 + 1; }
LINK(1, 0, ^ 5)
LINK(2, 1, >> 1)
LINK(3, 2, + 77)
LINK(4, 3, * 9)
LINK(5, 4, - 3)
LINK(6, 5, ^ 0xff)
LINK(7, 6, + 1)
KERNEL(chain)(u32 *out, const u32 *in)
{
	u32 v = in[GID];

	out[GID] = link7(v) + (v & 1 ? link4(v) : link2(v)) * 3;
}
CASE(chain, d3(1), d3(64), 0, 9, "out:u32:64 in:u32:64")
/* Many values live across the call. */
KERNEL(live_across)(u32 *out, const u32 *in)
{
	u32 a = in[GID], b = a * 3, c = a ^ 7, d = a + 9, e = a >> 2, f = a << 3, g = ~a, h = a - 1;

	for (u32 k = 0; k < 4; k++) {
		u32 m = mix(a + k, b);

		a += c; b ^= d; c -= e; d += f ^ m; e = g + k; f ^= h; g += m; h = a;
	}
	out[GID] = a ^ b * 3 ^ c * 5 ^ d * 7 ^ e * 11 ^ f * 13 ^ g * 17 ^ h * 19;
}
CASE(live_across, d3(2), d3(64), 0, 10, "out:u32:128 in:u32:128")
NOINLINE u32 local_inside(u32 v)
{
	u32 a[8];

	for (u32 k = 0; k < 8; k++)
		a[k] = mix(v, k);
	return a[v & 7] + a[v >> 3 & 7];
}
KERNEL(frames)(u32 *out, const u32 *in)
{
	u32 mine[4], v = in[GID];

	for (u32 k = 0; k < 4; k++)
		mine[k] = local_inside(v + k);
	out[GID] = mine[v & 3] ^ local_inside(mine[v >> 2 & 3]);
}
CASE(frames, d3(1), d3(64), 0, 11, "out:u32:64 in:u32:64")
/* A barrier, a shuffle and an atomic in called functions. */
NOINLINE u32 exchange(u32 *s, u32 t, u32 v)
{
	s[t] = v;
	__syncthreads();
	v = s[t ^ 33];
	__syncthreads();
	return v;
}
NOINLINE u32 warp_sum(u32 v)
{
	for (int d = 16; d; d >>= 1)
		v += __shfl_xor_sync(0xffffffff, v, d);
	return v;
}
KERNEL(together_inside)(u32 *out, u32 *total, const u32 *in)
{
	__shared__ u32 s[64];
	u32 v = exchange(s, threadIdx.x, in[GID]);

	v = exchange(s, threadIdx.x, v + warp_sum(v));
	atomicAdd(total, warp_sum(v));
	out[GID] = v;
}
CASE(together_inside, d3(2), d3(64), 0, 12, "out:u32:128 io:u32:1:zero in:u32:128")
/* Functions in PTX as other compilers write them: results in a byte array, a bool by predicate. */
template <typename T> NOINLINE T largest(const T *p, u32 n)
{
	T r = p[0];

	for (u32 k = 1; k < n; k++)
		r = p[k] > r ? p[k] : r;
	return r;
}
KERNEL(templates)(f64 *out, const s32 *a, const f32 *b, const f64 *c)
{
	u32 n = 1 + (GID & 15);

	out[3 * GID] = largest(a + GID, n);
	out[3 * GID + 1] = largest(b + GID, n);
	out[3 * GID + 2] = largest(c + GID, n);
}
CASE(templates, d3(1), d3(64), 0, 13, "out:f64:192 in:s32:128 in:f32:128:fin in:f64:128:fin")
