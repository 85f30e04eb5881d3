// SPDX-License-Identifier: GPL-2.0
// Bits: counting, finding, reversing, fields, permutations, funnels, dot products.
// arch: 61
#include "shim.h"

#define B1(name, r_t, r_s, t, spec, ...)							\
	MAP1(name, r_t, t, __VA_ARGS__)								\
	CASE(name, d3(2), d3(128), 0, 1, "out:" r_s ":256 in:" spec ":256")
#define B3(name, t, spec, ...)									\
	MAP3(name, t, t, t, t, __VA_ARGS__)							\
	CASE(name, d3(2), d3(128), 0, 3,							\
	     "out:" spec ":256 in:" spec ":256 in:" spec ":256 in:" spec ":256")

B1(popc, u32, "u32", u64, "u64", (u32)(__popcll(a) * 100 + __popc((u32)a)))
B1(clz, u32, "u32", u64, "u64", (u32)(__clzll((s64)a) * 100 + __clz((int)a)))
B1(ffs, u32, "u32", u64, "u64", (u32)(__ffsll((s64)a) * 100 + __ffs((int)a)))
B1(brev, u64, "u64", u64, "u64", __brevll(a) ^ __brev((u32)a))

/* bfind: the highest bit that is not the sign's; none is ~0. */
ON_CPU(static u32 find_top(u64 v, int bits) { for (int i = bits - 1; i >= 0; i--) if (v >> i & 1) return (u32)i; return ~0u; })
OP1(ptx_bfind_u32, u32, "r", u32, "r", "bfind.u32", find_top(a, 32))
OP1(ptx_bfind_s32, u32, "r", s32, "r", "bfind.s32", find_top((u32)(a < 0 ? ~a : a), 32))
OP1(ptx_bfind_u64, u32, "r", u64, "l", "bfind.u64", find_top(a, 64))
OP1(ptx_bfind_s64, u32, "r", s64, "l", "bfind.s64", find_top((u64)(a < 0 ? ~a : a), 64))
OP1(ptx_bfind_shift, u32, "r", u32, "r", "bfind.shiftamt.u32", a ? 31 - find_top(a, 32) : ~0u)
OP1(ptx_bfind_shift64, u32, "r", s64, "l", "bfind.shiftamt.s64",
    find_top((u64)(a < 0 ? ~a : a), 64) == ~0u ? ~0u : 63 - find_top((u64)(a < 0 ? ~a : a), 64))
B1(bfind_32, u32, "u32", u32, "u32", ptx_bfind_u32(a) * 1000 + ptx_bfind_s32((s32)a))
B1(bfind_64, u32, "u32", u64, "u64", ptx_bfind_u64(a) * 1000 + ptx_bfind_s64((s64)a))
B1(bfind_shiftamt, u32, "u32", u64, "u64", ptx_bfind_shift((u32)a) * 1000 + ptx_bfind_shift64((s64)a))

/* bfe, bfi: position and length are the low bytes; what lies outside is the sign, or kept. */
ON_CPU(static u64 extract(u64 a, u32 pos, u32 len, int bits, bool sgn) {
	pos &= 255; len &= 255;
	u64 r = 0;
	bool s = sgn && len && (a >> (pos + len - 1 < (u32)bits ? pos + len - 1 : (u32)bits - 1) & 1);
	for (u32 i = 0; i < (u32)bits; i++)
		r |= (u64)(i < len && pos + i < (u32)bits ? a >> (pos + i) & 1 : s) << i;
	return r; }
static u64 insert(u64 a, u64 b, u32 pos, u32 len, int bits) {
	pos &= 255; len &= 255;
	for (u32 i = 0; i < len && pos + i < (u32)bits; i++)
		b = (b & ~(1ull << (pos + i))) | (a >> i & 1) << (pos + i);
	return b; })
OP3(ptx_bfe_u32, u32, "r", u32, "r", u32, "r", u32, "r", "bfe.u32", (u32)extract(a, b, c, 32, false))
OP3(ptx_bfe_s32, u32, "r", u32, "r", u32, "r", u32, "r", "bfe.s32", (u32)extract(a, b, c, 32, true))
OP3(ptx_bfe_u64, u64, "l", u64, "l", u32, "r", u32, "r", "bfe.u64", extract(a, b, c, 64, false))
OP3(ptx_bfe_s64, u64, "l", u64, "l", u32, "r", u32, "r", "bfe.s64", extract(a, b, c, 64, true))
B3(bfe_u32, u32, "u32", ptx_bfe_u32(a, b & 63, c & 63))
B3(bfe_s32, u32, "u32", ptx_bfe_s32(a, b & 63, c & 63) ^ ptx_bfe_s32(a, b & 31, c & 15))
B3(bfe_u64, u64, "u64", ptx_bfe_u64(a, (u32)b & 127, (u32)c & 127))
B3(bfe_s64, u64, "u64", ptx_bfe_s64(a, (u32)b & 127, (u32)c & 127) ^ ptx_bfe_s64(a, (u32)b & 63, (u32)c & 31))
B3(bfe_whole_byte, u32, "u32", ptx_bfe_u32(a, b, c) ^ ptx_bfe_s32(b, c, a))
KERNEL(bfi_32)(u32 *out, const u32 *a, const u32 *b, const u32 *c)
{
	u32 i = GID, r;

	ON_DEVICE(asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a[i]), "r"(b[i]), "r"(c[i] & 63), "r"(c[i] >> 8 & 63));)
	ON_CPU(r = (u32)insert(a[i], b[i], c[i] & 63, c[i] >> 8 & 63, 32);)
	out[i] = r;
}
CASE(bfi_32, d3(2), d3(128), 0, 4, "out:u32:256 in:u32:256 in:u32:256 in:u32:256")
KERNEL(bfi_64)(u64 *out, const u64 *a, const u64 *b, const u32 *c)
{
	u32 i = GID;
	u64 r;

	ON_DEVICE(asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(r) : "l"(a[i]), "l"(b[i]), "r"(c[i] & 127), "r"(c[i] >> 8 & 127));)
	ON_CPU(r = insert(a[i], b[i], c[i] & 127, c[i] >> 8 & 127, 64);)
	out[i] = r;
}
CASE(bfi_64, d3(2), d3(128), 0, 5, "out:u64:256 in:u64:256 in:u64:256 in:u32:256")

OP3(ptx_prmt, u32, "r", u32, "r", u32, "r", u32, "r", "prmt.b32", soft_prmt(a, b, c))
B3(prmt, u32, "u32", ptx_prmt(a, b, c) ^ __byte_perm(c, a, b))
B3(prmt_constants, u32, "u32", __byte_perm(a, b, 0x3210) ^ __byte_perm(a, c, 0x0123) ^ ptx_prmt(b, c, 0xfb62))
ON_CPU(static u32 permute(u32 a, u32 b, const u8 sel[4]) {
	u64 v = (u64)b << 32 | a; u32 r = 0;
	for (int i = 0; i < 4; i++) r |= (u32)(v >> 8 * sel[i] & 255) << 8 * i;
	return r; }
static u32 permute_mode(u32 a, u32 b, u32 c, int mode) {
	u8 s[4]; u32 n = c & 3;
	for (u32 i = 0; i < 4; i++) switch (mode) {
	case 0: s[i] = (u8)(n + i); break;			/* f4e */
	case 1: s[i] = (u8)((8 + n - i) & 7); break;		/* b4e */
	case 2: s[i] = (u8)n; break;				/* rc8 */
	case 3: s[i] = (u8)(i < n ? n : i); break;		/* ecl */
	case 4: s[i] = (u8)(i < n ? i : n); break;		/* ecr */
	case 5: s[i] = (u8)((n & 1) * 2 + (i & 1)); break;	/* rc16 */
	}
	return permute(a, b, s); })
OP3(ptx_f4e, u32, "r", u32, "r", u32, "r", u32, "r", "prmt.b32.f4e", permute_mode(a, b, c, 0))
OP3(ptx_b4e, u32, "r", u32, "r", u32, "r", u32, "r", "prmt.b32.b4e", permute_mode(a, b, c, 1))
OP3(ptx_rc8, u32, "r", u32, "r", u32, "r", u32, "r", "prmt.b32.rc8", permute_mode(a, b, c, 2))
OP3(ptx_ecl, u32, "r", u32, "r", u32, "r", u32, "r", "prmt.b32.ecl", permute_mode(a, b, c, 3))
OP3(ptx_ecr, u32, "r", u32, "r", u32, "r", u32, "r", "prmt.b32.ecr", permute_mode(a, b, c, 4))
OP3(ptx_rc16, u32, "r", u32, "r", u32, "r", u32, "r", "prmt.b32.rc16", permute_mode(a, b, c, 5))
B3(prmt_modes_1, u32, "u32", ptx_f4e(a, b, c) ^ (ptx_b4e(a, b, c) * 3) ^ (ptx_rc8(a, b, c) * 5))
B3(prmt_modes_2, u32, "u32", ptx_ecl(a, b, c) ^ (ptx_ecr(a, b, c) * 3) ^ (ptx_rc16(a, b, c) * 5))

ON_CPU(static u32 lop3(u32 a, u32 b, u32 c, u32 lut) { u32 r = 0;
	for (int i = 0; i < 32; i++) r |= (lut >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
	return r; })
TEXT3(ptx_lop_e8, u32, "r", u32, "r", u32, "r", u32, "r", "lop3.b32 %0, %1, %2, %3, 0xe8;", lop3(a, b, c, 0xe8))
TEXT3(ptx_lop_96, u32, "r", u32, "r", u32, "r", u32, "r", "lop3.b32 %0, %1, %2, %3, 0x96;", lop3(a, b, c, 0x96))
TEXT3(ptx_lop_1b, u32, "r", u32, "r", u32, "r", u32, "r", "lop3.b32 %0, %1, %2, %3, 0x1b;", lop3(a, b, c, 0x1b))
TEXT3(ptx_lop_7f, u32, "r", u32, "r", u32, "r", u32, "r", "lop3.b32 %0, %1, %2, %3, 127;", lop3(a, b, c, 127))
TEXT3(ptx_lop_01, u32, "r", u32, "r", u32, "r", u32, "r", "lop3.b32 %0, %1, %2, %3, 1;", lop3(a, b, c, 1))
B3(lop3, u32, "u32", ptx_lop_e8(a, b, c) ^ (ptx_lop_96(a, b, c) << 1) ^ (ptx_lop_1b(a, b, c) << 2) ^
		     (ptx_lop_7f(a, b, c) << 3) ^ (ptx_lop_01(a, b, c) << 4))
B3(lop3_by_compiler, u32, "u32", (a & b) | (~a & c))

B3(funnel, u32, "u32", __funnelshift_l(a, b, c) ^ (__funnelshift_r(a, b, c) * 3))
OP3(ptx_shf_l_clamp, u32, "r", u32, "r", u32, "r", u32, "r", "shf.l.clamp.b32",
    c >= 32 ? a : (u32)(((u64)b << 32 | a) << c >> 32))
OP3(ptx_shf_r_clamp, u32, "r", u32, "r", u32, "r", u32, "r", "shf.r.clamp.b32",
    c >= 32 ? b : (u32)(((u64)b << 32 | a) >> c))
OP3(ptx_shf_l_wrap, u32, "r", u32, "r", u32, "r", u32, "r", "shf.l.wrap.b32",
    (u32)(((u64)b << 32 | a) << (c & 31) >> 32))
OP3(ptx_shf_r_wrap, u32, "r", u32, "r", u32, "r", u32, "r", "shf.r.wrap.b32",
    (u32)(((u64)b << 32 | a) >> (c & 31)))
B3(shf_clamp, u32, "u32", ptx_shf_l_clamp(a, b, c & 63) ^ (ptx_shf_r_clamp(a, b, c) * 3))
B3(shf_wrap, u32, "u32", ptx_shf_l_wrap(a, b, c) ^ (ptx_shf_r_wrap(a, b, c) * 3))
/* The amounts are below 64: clang 14 drops the mask of a rotation by more, and is wrong then. */
MAP3(rotate, u64, u64, u64, u64, (a << (b & 63) | a >> (-b & 63)) ^ ((u32)c << (b & 31) | (u32)c >> (-b & 31)))
CASE(rotate, d3(2), d3(128), 0, 3, "out:u64:256 in:u64:256 in:u64:256:lt=64 in:u64:256")

ON_CPU(static u32 dot4(u32 a, u32 b, u32 c, bool sa, bool sb) { for (int i = 0; i < 32; i += 8) {
	int x = a >> i & 255, y = b >> i & 255;
	c += (u32)((sa ? (s8)x : x) * (sb ? (s8)y : y)); } return c; }
static u32 dot2(u32 a, u32 b, u32 c, bool sa, bool sb, int high) { for (int i = 0; i < 2; i++) {
	int x = a >> 16 * i & 0xffff, y = b >> (16 * high + 8 * i) & 255;
	c += (u32)((sa ? (s16)x : x) * (sb ? (s8)y : y)); } return c; })
OP3(dp4a_uu, u32, "r", u32, "r", u32, "r", u32, "r", "dp4a.u32.u32", dot4(a, b, c, false, false))
OP3(dp4a_ss, u32, "r", u32, "r", u32, "r", u32, "r", "dp4a.s32.s32", dot4(a, b, c, true, true))
OP3(dp4a_us, u32, "r", u32, "r", u32, "r", u32, "r", "dp4a.u32.s32", dot4(a, b, c, false, true))
OP3(dp4a_su, u32, "r", u32, "r", u32, "r", u32, "r", "dp4a.s32.u32", dot4(a, b, c, true, false))
OP3(dp2a_lo_uu, u32, "r", u32, "r", u32, "r", u32, "r", "dp2a.lo.u32.u32", dot2(a, b, c, false, false, 0))
OP3(dp2a_hi_ss, u32, "r", u32, "r", u32, "r", u32, "r", "dp2a.hi.s32.s32", dot2(a, b, c, true, true, 1))
OP3(dp2a_hi_us, u32, "r", u32, "r", u32, "r", u32, "r", "dp2a.hi.u32.s32", dot2(a, b, c, false, true, 1))
OP3(dp2a_lo_su, u32, "r", u32, "r", u32, "r", u32, "r", "dp2a.lo.s32.u32", dot2(a, b, c, true, false, 0))
B3(dp4a, u32, "u32", dp4a_uu(a, b, c) ^ (dp4a_ss(a, b, c) * 3) ^ (dp4a_us(a, b, c) * 5) ^ (dp4a_su(a, b, c) * 7))
B3(dp2a, u32, "u32", dp2a_lo_uu(a, b, c) ^ (dp2a_hi_ss(a, b, c) * 3) ^ (dp2a_hi_us(a, b, c) * 5) ^ (dp2a_lo_su(a, b, c) * 7))

/* fns: the position of the |offset|-th set bit from `base` on, up or down; none is ~0. */
ON_CPU(static u32 find_nth(u32 mask, u32 base, s32 offset) {
	if (base > 31) return ~0u;
	if (offset == 0) return mask >> base & 1 ? base : ~0u;
	int step = offset > 0 ? 1 : -1, n = offset > 0 ? offset : -offset;
	for (int i = (int)base; i >= 0 && i < 32; i += step)
		if (mask >> i & 1 && --n == 0) return (u32)i;
	return ~0u; })
OP3(ptx_fns, u32, "r", u32, "r", u32, "r", s32, "r", "fns.b32", find_nth(a, b, c))
B3(fns, u32, "u32", ptx_fns(a, b & 31, (s32)(c & 15) - 8) * 3 + ptx_fns(a | b, c & 31, 2))
