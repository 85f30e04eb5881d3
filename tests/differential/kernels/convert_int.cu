// SPDX-License-Identifier: GPL-2.0
// Every pair of integer types, with and without saturation.
#include "shim.h"

/*
 * A narrow result in a wide register is extended as its type says; a narrow source is
 * the low bits of its register.
 */
#define PAIR(d, s, ctype_d, ctype_s, reg_t, c)								\
	OP1(cvt_##d##_##s, u32, "r", reg_t, c, "cvt." #d "." #s, (u32)(ctype_d)(ctype_s)a)
#define PAIR64(d, s, ctype_d, ctype_s, reg_t, c)							\
	OP1(cvt_##d##_##s, u64, "l", reg_t, c, "cvt." #d "." #s, (u64)(ctype_d)(ctype_s)a)
#define FROM(s, ctype_s, reg_t, c)									\
	PAIR(u8, s, u8, ctype_s, reg_t, c)								\
	PAIR(s8, s, s8, ctype_s, reg_t, c)								\
	PAIR(u16, s, u16, ctype_s, reg_t, c)								\
	PAIR(s16, s, s16, ctype_s, reg_t, c)								\
	PAIR(u32, s, u32, ctype_s, reg_t, c)								\
	PAIR(s32, s, s32, ctype_s, reg_t, c)								\
	PAIR64(u64, s, u64, ctype_s, reg_t, c)								\
	PAIR64(s64, s, s64, ctype_s, reg_t, c)								\
	KERNEL(cvt_from_##s)(u64 *out, const u64 *in)							\
	{												\
		u32 i = GID;										\
		reg_t a = (reg_t)in[i];									\
		u64 *o = out + 8 * i;									\
		o[0] = cvt_u8_##s(a);									\
		o[1] = cvt_s8_##s(a);									\
		o[2] = cvt_u16_##s(a);									\
		o[3] = cvt_s16_##s(a);									\
		o[4] = cvt_u32_##s(a);									\
		o[5] = cvt_s32_##s(a);									\
		o[6] = cvt_u64_##s(a);									\
		o[7] = cvt_s64_##s(a);									\
	}												\
	CASE(cvt_from_##s, d3(2), d3(128), 0, 1, "out:u64:2048 in:u64:256")
FROM(u8, u8, u32, "r")
FROM(s8, s8, u32, "r")
FROM(u16, u16, u16, "h")
FROM(s16, s16, u16, "h")
FROM(u32, u32, u32, "r")
FROM(s32, s32, u32, "r")
FROM(u64, u64, u64, "l")
FROM(s64, s64, u64, "l")

/* PTX takes no .sat where there is nothing to saturate: m16, u, m32 leave it out. */
#define SAT(d, s, ctype_d, ctype_s, low, high, reg_t, c, m)						\
	OP1(sat_##d##_##s, u32, "r", reg_t, c, "cvt" m "." #d "." #s,					\
	    (u32)clamp_to<ctype_d, __int128>((ctype_s)a, low, high))
#define SATS(s, ctype_s, reg_t, c, m16, u, m32)								\
	SAT(u8, s, u8, ctype_s, 0, 255, reg_t, c, ".sat")							\
	SAT(s8, s, s8, ctype_s, -128, 127, reg_t, c, ".sat")							\
	SAT(u16, s, u16, ctype_s, 0, 65535, reg_t, c, ".sat")							\
	SAT(s16, s, s16, ctype_s, -32768, 32767, reg_t, c, m16)						\
	SAT(u32, s, u32, ctype_s, 0, 0xffffffffll, reg_t, c, u)						\
	SAT(s32, s, s32, ctype_s, -0x80000000ll, 0x7fffffff, reg_t, c, m32)					\
	KERNEL(cvt_sat_from_##s)(u32 *out, const u64 *in)						\
	{												\
		u32 i = GID;										\
		reg_t a = (reg_t)in[i];									\
		u32 *o = out + 6 * i;									\
		o[0] = sat_u8_##s(a);									\
		o[1] = sat_s8_##s(a);									\
		o[2] = sat_u16_##s(a);									\
		o[3] = sat_s16_##s(a);									\
		o[4] = sat_u32_##s(a);									\
		o[5] = sat_s32_##s(a);									\
	}												\
	CASE(cvt_sat_from_##s, d3(2), d3(128), 0, 2, "out:u32:1536 in:u64:256")
SATS(s16, s16, u16, "h", "", ".sat", "")
SATS(s32, s32, u32, "r", ".sat", ".sat", "")
SATS(u32, u32, u32, "r", ".sat", "", ".sat")
SATS(s64, s64, u64, "l", ".sat", ".sat", ".sat")
SATS(u64, u64, u64, "l", ".sat", ".sat", ".sat")

/* Casts in C, chained as code does. */
MAP1(cast_chain, u64, u64, (u64)(s64)(s8)(u16)a + (u64)(s16)(s32)(u32)(a >> 5) + (u8)(a >> 9) * 3u)
CASE(cast_chain, d3(2), d3(128), 0, 3, "out:u64:256 in:u64:256")
