// SPDX-License-Identifier: GPL-2.0
// Bit-field masks and sign extension: PTX 7.6, which stock clang 14 cannot declare but pass on.
// arch: 90
#include "shim.h"

ON_CPU(static u32 mask_of(u32 pos, u32 len, bool wrap) {
	if (wrap) { pos &= 31; len &= 31; }
	u64 m = len >= 32 ? 0xffffffffull : (1ull << len) - 1;
	return pos >= 32 ? 0 : (u32)(m << pos); })
OP2(ptx_bmsk_clamp, u32, "r", u32, "r", u32, "r", "bmsk.clamp.b32", mask_of(a, b, false))
OP2(ptx_bmsk_wrap, u32, "r", u32, "r", u32, "r", "bmsk.wrap.b32", mask_of(a, b, true))
MAP2(bmsk, u32, u32, u32, ptx_bmsk_clamp(a & 63, b & 63) ^ (ptx_bmsk_wrap(a, b) * 3) ^ (ptx_bmsk_clamp(a, b) * 5))
CASE(bmsk, d3(2), d3(128), 0, 1, "out:u32:256 in:u32:256 in:u32:256")

/* The low n bits, extended; n = 0 is 0, n >= 32 the value. */
ON_CPU(static u32 extended(u32 a, u32 n, bool sgn) {
	if (!n) return 0;
	if (n >= 32) return a;
	u32 low = a & ((1u << n) - 1);
	return sgn && low >> (n - 1) ? low | ~((1u << n) - 1) : low; })
OP2(ptx_szext_s_clamp, u32, "r", u32, "r", u32, "r", "szext.clamp.s32", extended(a, b, true))
OP2(ptx_szext_u_clamp, u32, "r", u32, "r", u32, "r", "szext.clamp.u32", extended(a, b, false))
OP2(ptx_szext_s_wrap, u32, "r", u32, "r", u32, "r", "szext.wrap.s32", extended(a, b & 31, true))
MAP2(szext, u32, u32, u32, ptx_szext_s_clamp(a, b & 63) ^ (ptx_szext_u_clamp(a, b) * 3) ^ (ptx_szext_s_wrap(a, b) * 5))
CASE(szext, d3(2), d3(128), 0, 2, "out:u32:256 in:u32:256 in:u32:256")
