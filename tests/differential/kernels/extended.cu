// SPDX-License-Identifier: GPL-2.0
// Carries: chains of add.cc, sub.cc and mad.cc as wide arithmetic uses them.
#include "shim.h"

struct wide128 { u64 lo, hi; };

DEVICE wide128 add128(wide128 a, wide128 b)
{
	wide128 r;

	ON_DEVICE(asm("add.cc.u64 %0, %2, %4; addc.u64 %1, %3, %5;"
		      : "=l"(r.lo), "=l"(r.hi) : "l"(a.lo), "l"(a.hi), "l"(b.lo), "l"(b.hi));)
	ON_CPU(u128 s = ((u128)a.hi << 64 | a.lo) + ((u128)b.hi << 64 | b.lo);
	       r.lo = (u64)s; r.hi = (u64)(s >> 64);)
	return r;
}
DEVICE wide128 sub128(wide128 a, wide128 b)
{
	wide128 r;

	ON_DEVICE(asm("sub.cc.u64 %0, %2, %4; subc.u64 %1, %3, %5;"
		      : "=l"(r.lo), "=l"(r.hi) : "l"(a.lo), "l"(a.hi), "l"(b.lo), "l"(b.hi));)
	ON_CPU(u128 s = ((u128)a.hi << 64 | a.lo) - ((u128)b.hi << 64 | b.lo);
	       r.lo = (u64)s; r.hi = (u64)(s >> 64);)
	return r;
}
KERNEL(add_sub_128)(u64 *out, const u64 *a, const u64 *b)
{
	u32 i = GID;
	wide128 x = { a[2 * i], a[2 * i + 1] }, y = { b[2 * i], b[2 * i + 1] };
	wide128 s = add128(x, y), d = sub128(x, y);

	out[4 * i] = s.lo;
	out[4 * i + 1] = s.hi;
	out[4 * i + 2] = d.lo;
	out[4 * i + 3] = d.hi;
}
CASE(add_sub_128, d3(2), d3(64), 0, 1, "out:u64:512 in:u64:256 in:u64:256")

/* 128 bits in four words: the carry goes through three instructions. */
KERNEL(add_four_words)(u32 *out, const u32 *a, const u32 *b)
{
	u32 i = 4 * GID, r0, r1, r2, r3, top;

	ON_DEVICE(asm("add.cc.u32 %0, %5, %9; addc.cc.u32 %1, %6, %10; addc.cc.u32 %2, %7, %11;"
		      "addc.cc.u32 %3, %8, %12; addc.u32 %4, 0, 0;"
		      : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3), "=&r"(top)
		      : "r"(a[i]), "r"(a[i + 1]), "r"(a[i + 2]), "r"(a[i + 3]),
			"r"(b[i]), "r"(b[i + 1]), "r"(b[i + 2]), "r"(b[i + 3]));)
	ON_CPU(u64 s = (u64)a[i] + b[i]; r0 = (u32)s;
	       s = (u64)a[i + 1] + b[i + 1] + (s >> 32); r1 = (u32)s;
	       s = (u64)a[i + 2] + b[i + 2] + (s >> 32); r2 = (u32)s;
	       s = (u64)a[i + 3] + b[i + 3] + (s >> 32); r3 = (u32)s; top = (u32)(s >> 32);)
	out[5 * GID] = r0;
	out[5 * GID + 1] = r1;
	out[5 * GID + 2] = r2;
	out[5 * GID + 3] = r3;
	out[5 * GID + 4] = top;
}
CASE(add_four_words, d3(1), d3(64), 0, 2, "out:u32:320 in:u32:256 in:u32:256")

KERNEL(sub_three_words)(u32 *out, const u32 *a, const u32 *b)
{
	u32 i = 3 * GID, r0, r1, r2, borrow;

	ON_DEVICE(asm("sub.cc.u32 %0, %4, %7; subc.cc.u32 %1, %5, %8; subc.cc.u32 %2, %6, %9;"
		      "subc.u32 %3, 0, 0;"
		      : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(borrow)
		      : "r"(a[i]), "r"(a[i + 1]), "r"(a[i + 2]), "r"(b[i]), "r"(b[i + 1]), "r"(b[i + 2]));)
	ON_CPU(u128 x = (u128)a[i + 2] << 64 | (u64)a[i + 1] << 32 | a[i];
	       u128 y = (u128)b[i + 2] << 64 | (u64)b[i + 1] << 32 | b[i];
	       u128 d = x - y; r0 = (u32)d; r1 = (u32)(d >> 32); r2 = (u32)(d >> 64);
	       borrow = x < y ? ~0u : 0;)
	out[4 * GID] = r0;
	out[4 * GID + 1] = r1;
	out[4 * GID + 2] = r2;
	out[4 * GID + 3] = borrow;
}
CASE(sub_three_words, d3(1), d3(64), 0, 3, "out:u32:256 in:u32:192 in:u32:192")

/* What sub.cc leaves is the carry of a + ~b + 1: a sum reads 1 where nothing was borrowed. */
KERNEL(carry_of_a_difference)(u32 *out, const u32 *a, const u32 *b)
{
	u32 i = GID, d, s, r, t;

	ON_DEVICE(asm("sub.cc.u32 %0, %4, %5; addc.u32 %1, 0, 0; add.cc.u32 %2, %4, %5; subc.u32 %3, %5, 0;"
		      : "=&r"(d), "=&r"(s), "=&r"(r), "=&r"(t) : "r"(a[i]), "r"(b[i]));)
	ON_CPU(d = a[i] - b[i]; s = a[i] >= b[i]; r = a[i] + b[i]; t = b[i] - (r >= a[i]);)
	out[4 * i] = d;
	out[4 * i + 1] = s;
	out[4 * i + 2] = r;
	out[4 * i + 3] = t;
}
CASE(carry_of_a_difference, d3(2), d3(64), 0, 5, "out:u32:512 in:u32:128 in:u32:128")

/* 64 x 64 -> 128 by words, as big-number code multiplies. */
KERNEL(mul_64_by_words)(u32 *out, const u64 *a, const u64 *b)
{
	u32 i = GID, a0 = (u32)a[i], a1 = (u32)(a[i] >> 32), b0 = (u32)b[i], b1 = (u32)(b[i] >> 32);
	u32 r0, r1, r2, r3;

	ON_DEVICE(asm("mul.lo.u32 %0, %4, %6; mul.hi.u32 %1, %4, %6;"
		      "mad.lo.cc.u32 %1, %4, %7, %1; madc.hi.u32 %2, %4, %7, 0;"
		      "mad.lo.cc.u32 %1, %5, %6, %1; madc.hi.cc.u32 %2, %5, %6, %2; madc.hi.u32 %3, %5, %7, 0;"
		      "mad.lo.cc.u32 %2, %5, %7, %2; addc.u32 %3, %3, 0;"
		      : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3) : "r"(a0), "r"(a1), "r"(b0), "r"(b1));)
	ON_CPU(u128 p = (u128)a[i] * b[i]; (void)a0; (void)a1; (void)b0; (void)b1;
	       r0 = (u32)p; r1 = (u32)(p >> 32); r2 = (u32)(p >> 64); r3 = (u32)(p >> 96);)
	out[4 * i] = r0;
	out[4 * i + 1] = r1;
	out[4 * i + 2] = r2;
	out[4 * i + 3] = r3;
}
CASE(mul_64_by_words, d3(2), d3(64), 0, 4, "out:u32:512 in:u64:128 in:u64:128")

/* The carry is a lane's own: half the lanes set it, all use it. */
KERNEL(carry_by_lane)(u32 *out, const u32 *a)
{
	u32 i = GID, r, s;

	ON_DEVICE(asm("add.cc.u32 %0, %2, 0x80000000; addc.u32 %1, 0, 7;" : "=&r"(r), "=&r"(s) : "r"(a[i]));)
	ON_CPU(r = a[i] + 0x80000000; s = 7 + (a[i] >> 31);)
	if (a[i] & 1)
		s += r;
	out[i] = s;
}
CASE(carry_by_lane, d3(2), d3(64), 0, 5, "out:u32:128 in:u32:128")

/* What the compiler makes of 128-bit C. */
KERNEL(int128)(u64 *out, const u64 *a, const u64 *b)
{
	u32 i = GID;
	unsigned __int128 x = (unsigned __int128)a[i] << 64 | b[i], y = (unsigned __int128)b[i] << 64 | a[i];
	unsigned __int128 r = x * y + (x >> 3) - (y << 5);

	out[2 * i] = (u64)r;
	out[2 * i + 1] = (u64)(r >> 64) + (x < y);
}
CASE(int128, d3(2), d3(64), 0, 6, "out:u64:256 in:u64:128 in:u64:128")
