// SPDX-License-Identifier: GPL-2.0
// printf, assert, __trap, and the errors that end a grid with a message.
#include "shim.h"

KERNEL(print_numbers)(u32 *out, const u32 *in)
{
	u32 v = in[GID];

	if (GID < 6)
		printf("%u %d %x %X %o %c|%5d|%-5u|%05u\n", v, (int)v, v, v, v, 'a' + (int)(v & 15), (int)(v & 255), v & 63, v & 127);
	out[GID] = v;
}
CASE(print_numbers, d3(1), d3(32), 0, 1, "out:u32:32 in:u32:32")
KERNEL(print_wide)(u32 *out, const u64 *in)
{
	u64 v = in[GID];

	if (GID < 5)
		printf("%llu %lld %llx %hd %hu %ld\n", v, (s64)v, v, (s16)v, (u16)v, (long)v);
	out[GID] = (u32)v;
}
CASE(print_wide, d3(1), d3(32), 0, 2, "out:u32:32 in:u64:32")
KERNEL(print_floats)(f32 *out, const f32 *in)
{
	f32 v = in[GID];

	if (GID < 6)
		printf("%f %.3f %e %g %10.4f %+.1e 100%%\n", v, v, v, v, v, (f64)v * 0.5);
	out[GID] = v;
}
CASE(print_floats, d3(1), d3(32), 0, 3, "out:f32:32 in:f32:32:range=-1000~1000")
KERNEL(print_strings)(u32 *out)
{
	const char *name = GID & 1 ? "odd" : "even";

	if (GID < 4)
		printf("thread %u is %s, %8s.%-6s.%.2s\n", GID, name, name, "left", "cut here");
	if (GID == 9)
		printf("no arguments at all\n");
	out[GID] = 1;
}
CASE(print_strings, d3(1), d3(32), 0, 4, "out:u32:32")
KERNEL(print_diverged)(u32 *out, const u32 *in)
{
	u32 n = 0;

	for (u32 k = 0; k < (in[GID] & 3); k++)
		if (k != 1)
			n += (u32)printf("%u:%u in CTA %u\n", GID, k, blockIdx.x) > 0;
	out[GID] = n;
}
CASE(print_diverged, d3(2), d3(40), 0, 5, "out:u32:80 in:u32:80")
KERNEL(assert_holds)(u32 *out, const u32 *in)
{
	assert(in[GID] < 100);
	out[GID] = in[GID];
}
CASE(assert_holds, d3(1), d3(64), 0, 6, "out:u32:64 in:u32:64:lt=100")
KERNEL(assert_fails)(u32 *out, const u32 *in)
{
	assert(GID != 37 || out == nullptr);
	out[GID] = in[GID];
}
FAILS(assert_fails, d3(1), d3(64), 0, 7, "out:u32:64 in:u32:64", "thread: [37,0,0] Assertion `GID != 37 || out == nullptr` failed")
KERNEL(trap_one)(u32 *out)
{
	if (GID == 40)
		__trap();
	out[GID] = 1;
}
FAILS(trap_one, d3(1), d3(64), 0, 8, "out:u32:64", "thread (40,0,0) of CTA (0,0,0)")
KERNEL(load_outside)(u32 *out, const u32 *in, u32 at) { out[GID] = in[GID == 5 ? at : GID]; }
FAILS(load_outside, d3(1), d3(64), 0, 9, "out:u32:64 in:u32:64 u32=2000000", "thread (5,0,0) of CTA (0,0,0)")
KERNEL(store_outside)(u32 *out, u32 at) { out[GID == 33 ? at : GID] = 1; }
FAILS(store_outside, d3(1), d3(64), 0, 10, "out:u32:64 u32=3000000", "4-byte store")
KERNEL(misaligned)(u32 *out, const u8 *in)
{
	out[GID] = *(const u32 *)(in + GID * 4 + (GID == 3));
}
FAILS(misaligned, d3(1), d3(32), 0, 11, "out:u32:32 in:u8:132", "misaligned")
KERNEL(shared_outside)(u32 *out, u32 at)
{
	__shared__ u32 s[16];

	s[threadIdx.x & 15] = 1;
	out[GID] = s[GID == 7 ? at : 0];
}
FAILS(shared_outside, d3(1), d3(32), 0, 12, "out:u32:32 u32=100000", "thread (7,0,0) of CTA (0,0,0)")
KERNEL(local_outside)(u32 *out, const u32 *in, u32 at)
{
	u32 a[8];

	for (u32 k = 0; k < 8; k++)
		a[k] = in[k];
	a[in[GID] & 7] = 3;
	out[GID] = a[GID == 2 ? at : 1];
}
FAILS(local_outside, d3(1), d3(32), 0, 13, "out:u32:32 in:u32:32 u32=20000000", "thread (2,0,0) of CTA (0,0,0)")
KERNEL(null_pointer)(u32 *out, const u32 *in, u64 null, u32 which)
{
	const u32 *p = (const u32 *)(GID == which ? null : (u64)in);

	out[GID] = *p;
}
FAILS(null_pointer, d3(1), d3(32), 0, 14, "out:u32:32 in:u32:32 u64=0 u32=20", "thread (20,0,0) of CTA (0,0,0)")
/* A warp waits for threads that never come: an error, not a hang. */
KERNEL(deadlock)(u32 *out)
{
	if (threadIdx.x < 32)
		ON_DEVICE(asm volatile("bar.sync 1, 64;" ::: "memory"));
	out[GID] = 1;
}
FAILS(deadlock, d3(1), d3(64), 0, 15, "out:u32:64", "barrier")
KERNEL(deadlock_mutual)(u32 *out)
{
	if (threadIdx.x < 32)
		ON_DEVICE(asm volatile("bar.sync 1, 64;" ::: "memory"));
	else
		ON_DEVICE(asm volatile("bar.sync 2, 64;" ::: "memory"));
	out[GID] = 1;
}
FAILS(deadlock_mutual, d3(1), d3(64), 0, 16, "out:u32:64", "barrier")
