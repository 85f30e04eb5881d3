// SPDX-License-Identifier: GPL-2.0
// Branches: nested, divergent, unstructured, switched, loops left early, lanes that end.
#include "shim.h"

KERNEL(if_else_nested)(u32 *out, const u32 *in)
{
	u32 v = in[GID], r = 0;

	if (v & 1) {
		if (v & 2) {
			r = v * 3;
			if (v & 4)
				r ^= 0x55;
			else
				r += GID;
		} else {
			r = v - 7;
		}
		r += 1000;
	} else if (v & 8) {
		r = ~v;
	} else {
		for (u32 k = 0; k < (v >> 4 & 3); k++)
			r += v >> k;
	}
	out[GID] = r;
}
CASE(if_else_nested, d3(2), d3(128), 0, 1, "out:u32:256 in:u32:256")
KERNEL(loop_divergent)(u32 *out, const u32 *in)
{
	u32 n = in[GID] & 31, r = 1;

	for (u32 k = 0; k < n; k++)
		r = r * 5 + k;
	out[GID] = r;
}
CASE(loop_divergent, d3(2), d3(128), 0, 2, "out:u32:256 in:u32:256")
KERNEL(loops_nested)(u32 *out, const u32 *in)
{
	u32 v = in[GID], r = 0;

	for (u32 i = 0; i < (v & 7); i++) {
		for (u32 j = i; j < (v >> 3 & 7); j++) {
			r = r * 3 + i * j;
			if (r & 16)
				continue;
			for (u32 k = 0; k < (r & 3); k++)
				r ^= k << j;
			if ((r & 0xff) == 0x3c)
				break;
		}
		r += i;
	}
	out[GID] = r;
}
CASE(loops_nested, d3(2), d3(128), 0, 3, "out:u32:256 in:u32:256")
KERNEL(break_continue)(u32 *out, const u32 *in)
{
	u32 v = in[GID], r = 0;

	for (u32 k = 0; k < 50; k++) {
		if ((v >> (k & 31) & 3) == 3)
			continue;
		r += k;
		if (r > (v & 0xff))
			break;
		if ((v & 0x300) == 0x100 && k > 5)
			goto out;
		r ^= v >> k % 7;
	}
	r += 10000;
out:
	out[GID] = r;
}
CASE(break_continue, d3(2), d3(128), 0, 4, "out:u32:256 in:u32:256")
KERNEL(while_collatz)(u32 *out, const u32 *in)
{
	u32 v = (in[GID] & 1023) + 1, n = 0;

	while (v != 1) {
		v = v & 1 ? v * 3 + 1 : v / 2;
		n++;
	}
	out[GID] = n;
}
CASE(while_collatz, d3(2), d3(128), 0, 5, "out:u32:256 in:u32:256")
KERNEL(do_gcd)(u32 *out, const u32 *x, const u32 *y)
{
	u32 a = x[GID] | 1, b = y[GID] | 1, t;

	do {
		t = a % b;
		a = b;
		b = t;
	} while (b);
	out[GID] = a;
}
CASE(do_gcd, d3(2), d3(128), 0, 6, "out:u32:256 in:u32:256 in:u32:256")
/* Ways in and out of a loop that no for and while has. */
KERNEL(goto_web)(u32 *out, const u32 *in)
{
	u32 v = in[GID], r = 0, n = 0;

	if (v & 1)
		goto middle;
top:
	r += v & 0xff;
	if (r & 4)
		goto low;
middle:
	r ^= v >> 3;
	if (++n > 12)
		goto done;
	if (r & 1)
		goto top;
	if (r & 8)
		goto low;
	r = r * 3 + 1;
	goto middle;
low:
	r >>= 1;
	if (++n > 20)
		goto done;
	if (r & 2)
		goto middle;
	goto top;
done:
	out[GID] = r * 64 + n;
}
CASE(goto_web, d3(2), d3(128), 0, 7, "out:u32:256 in:u32:256")
KERNEL(goto_shared_tail)(u32 *out, const u32 *in)
{
	u32 v = in[GID], r = 0;

	if (v & 1) {
		r = 1;
		if (v & 2)
			goto tail;
		r = 2;
	} else {
		r = 3;
		if (v & 4)
			goto tail;
		r = 4;
	}
	r *= 10;
tail:
	r += v >> 8 & 0xff;
	out[GID] = r;
}
CASE(goto_shared_tail, d3(2), d3(128), 0, 8, "out:u32:256 in:u32:256")
KERNEL(switch_dense)(u32 *out, const u32 *in)
{
	u32 v = in[GID], r;

	switch (v & 15) {
	case 0: r = v + 1; break;
	case 1: r = v * 3; break;
	case 2: r = v ^ 0x1234; break;
	case 3: r = v >> 3;	/* falls through */
	case 4: r = v << 2; break;
	case 5: r = ~v; break;
	case 6: r = v / 7; break;
	case 7: r = v % 11; break;
	case 8: r = v & 0xf0f0; break;
	case 9: r = v | 0x8001; break;
	case 10: r = v - 99; break;
	default: r = 42; break;
	}
	out[GID] = r;
}
CASE(switch_dense, d3(2), d3(128), 0, 9, "out:u32:256 in:u32:256")
KERNEL(switch_sparse)(u32 *out, const s32 *in)
{
	u32 r = 0;

	switch (in[GID]) {
	case -1: r = 1; break;
	case 0: r = 2; break;
	case 31: case 32: case 33: r = 3; break;
	case 0x7fffffff: r = 4; break;
	case (int)0x80000000: r = 5; break;
	default: r = in[GID] < 0 ? 6 : 7;
	}
	out[GID] = r;
}
CASE(switch_sparse, d3(4), d3(128), 0, 10, "out:u32:512 in:s32:512")
/* An interpreter: a switch in a loop, every lane a program of its own. */
KERNEL(interpreter)(u32 *out, const u8 *programs)
{
	const u8 *p = programs + 32 * (GID & 31);
	u32 a = GID, b = 1, pc = 0;

	for (u32 steps = 0; steps < 200 && pc < 32; steps++) {
		switch (p[pc++] & 7) {
		case 0: a += b; break;
		case 1: b = a ^ b << 1; break;
		case 2: a = a * 3 + 1; break;
		case 3: if (a & 1) pc++; break;
		case 4: pc = (pc + b) & 31; break;
		case 5: b -= a >> 3; break;
		case 6: a ^= b; break;
		case 7: if (steps > 100) pc = 32; break;
		}
	}
	out[GID] = a + b * 5 + pc;
}
CASE(interpreter, d3(2), d3(64), 0, 11, "out:u32:128 in:u8:1024")
/* brx.idx in a text of its own, as nvcc writes a dense switch. */
#ifndef DIFF_CPU
DEVICE u32 table_jump(u32 index, u32 v)
{
	u32 r;

	asm volatile("{ T: .branchtargets A, B, C, A; brx.idx %1, T; A: mov.u32 %0, 11; bra.uni E;"
		     "B: add.u32 %0, %2, 22; bra.uni E; C: mul.lo.u32 %0, %2, 33; E: }"
		     : "=r"(r) : "r"(index), "r"(v));
	return r;
}
#else
DEVICE u32 table_jump(u32 index, u32 v) { return index == 1 ? v + 22 : index == 2 ? v * 33 : 11; }
#endif
KERNEL(brx)(u32 *out, const u32 *in)
{
	u32 v = in[GID];

	out[GID] = table_jump(v & 3, v);
}
CASE(brx, d3(2), d3(128), 0, 12, "out:u32:256 in:u32:256")
/* bra to the next instruction, to itself's end, predicated both ways, .uni. */
#ifndef DIFF_CPU
DEVICE u32 predicated(u32 v)
{
	u32 r;

	asm volatile("{ .reg .pred p, q; and.b32 %0, %1, 3; setp.eq.u32 p, %0, 0; setp.eq.u32 q, %0, 1;"
		     "mov.u32 %0, 5; @p add.u32 %0, %1, 1; @q bra Q; @!p bra N; bra.uni X;"
		     "Q: mul.lo.u32 %0, %1, 3; @q bra X; N: sub.u32 %0, %0, 1; @!q bra X; trap; X: }" : "=&r"(r) : "r"(v));
	return r;
}
#else
DEVICE u32 predicated(u32 v) { return (v & 3) == 0 ? v + 1 : (v & 3) == 1 ? v * 3 : 4; }
#endif
MAP1(bra_forms, u32, u32, predicated(a))
CASE(bra_forms, d3(2), d3(128), 0, 13, "out:u32:256 in:u32:256")
KERNEL(early_return)(u32 *out, const u32 *in)
{
	u32 v = in[GID];

	out[GID] = 1;
	if (v & 1)
		return;
	out[GID] = 2;
	for (u32 k = 0; k < 10; k++) {
		if ((v >> k & 5) == 5)
			return;
		out[GID] += k;
	}
	if (GID & 2)
		THREAD_EXIT();
	out[GID] += 1000;
}
CASE(early_return, d3(2), d3(128), 0, 14, "out:u32:256 in:u32:256")
KERNEL(exit_in_loop)(u32 *out, const u32 *in)
{
	u32 v = in[GID];

	for (u32 k = 0;; k++) {
		out[GID] = k * 3 + v;
		if (k == (v & 15))
			THREAD_EXIT();
	}
}
CASE(exit_in_loop, d3(2), d3(64), 0, 15, "out:u32:128 in:u32:128")
KERNEL(predicate_chain)(u32 *out, const f32 *x, const f32 *y)
{
	f32 a = x[GID], b = y[GID];
	u32 r = 0;

	if (a < b && a > 0 && b < 100)
		r |= 1;
	if (a == b || (a != a && b == b) || !(a <= b))
		r |= 2;
	r |= (u32)((a < 0) ^ (b < 0)) << 2;
	while (a > 1 && r < 64) {
		a *= 0.5f;
		r += 8;
	}
	out[GID] = r;
}
CASE(predicate_chain, d3(2), d3(128), 0, 16, "out:u32:256 in:f32:256 in:f32:256")
/* Deep: each level half the lanes. */
KERNEL(deep)(u32 *out, const u32 *in)
{
	u32 v = in[GID] ^ GID * 2654435761u, r = 0;

#define LEVEL(bit, then) if (v & (1u << bit)) { r += bit * 3; then r ^= v >> bit; } else { r = r * 2 + bit; }
	LEVEL(0, LEVEL(1, LEVEL(2, LEVEL(3, LEVEL(4, LEVEL(5, LEVEL(6, LEVEL(7, LEVEL(8, LEVEL(9, r += 7;))))))))))
	out[GID] = r;
}
CASE(deep, d3(4), d3(128), 0, 17, "out:u32:512 in:u32:512")
/* A loop whose trip count is the lane's, in a loop whose is too, with breaks out of both. */
KERNEL(search_matrix)(s32 *out, const u32 *in)
{
	u32 want = in[GID] & 127;
	s32 found = -1;

	for (u32 i = 0; i < 16; i++) {
		for (u32 j = 0; j <= i; j++) {
			if ((i * 17 + j * 5 + LANE) % 128 == want) {
				found = (s32)(i * 16 + j);
				goto done;
			}
			if (i + j > want)
				break;
		}
	}
done:
	out[GID] = found;
}
CASE(search_matrix, d3(2), d3(128), 0, 18, "out:s32:256 in:u32:256")
KERNEL(short_circuit)(u32 *out, const u32 *in, u32 n)
{
	u32 i = in[GID];

	/* The load is guarded: outside n it must not happen. */
	out[GID] = i < n && in[i] & 1 ? 1 : i >= n || in[i & 63] & 2 ? 2 : 3;
}
CASE(short_circuit, d3(2), d3(64), 0, 19, "out:u32:128 in:u32:128 u32=128")
