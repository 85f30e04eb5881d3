/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions that do 32 lanes of one opcode and type, and the table that
 * binds them. lanes_*.c include it once for each instruction set of the host,
 * with LANES_TABLE naming the table and LANES_NAME saying so; nobody else does.
 *
 * A row of a register holds 32 values of 4 or 8 bytes; values of 8 and 16 bits
 * are in the low bits of 4 and what is above them means nothing. Two operands
 * are the same row or disjoint, so iterations do not depend on each other
 * (ivdep) whatever the registers are.
 */
#include "exec/private.h"
#include "exec/approx.h"
#include "exec/bits.h"
#include "exec/half.h"

#define LANES	_Pragma("GCC ivdep") for (unsigned int i = 0; i < WARP_LANES; i++)

/* Lane i's bit, from memory: a vector of them is one load. */
static const uint32_t lane_bit[WARP_LANES] __attribute__((aligned(64))) = {
	1u << 0, 1u << 1, 1u << 2, 1u << 3, 1u << 4, 1u << 5, 1u << 6, 1u << 7,
	1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
	1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
	1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
};

/* For each type: the C type, the row's element, and how one becomes the other. */
#define C_u8	uint8_t
#define C_s8	int8_t
#define C_u16	uint16_t
#define C_s16	int16_t
#define C_u32	uint32_t
#define C_s32	int32_t
#define C_u64	uint64_t
#define C_s64	int64_t
#define C_f32	float
#define C_f64	double
#define ROW_u8	uint32_t
#define ROW_s8	uint32_t
#define ROW_u16	uint32_t
#define ROW_s16	uint32_t
#define ROW_u32	uint32_t
#define ROW_s32	uint32_t
#define ROW_u64	uint64_t
#define ROW_s64	uint64_t
#define ROW_f32	float
#define ROW_f64	double
#define WIDE_u16 uint32_t
#define WIDE_s16 int32_t
#define WIDE_u32 uint64_t
#define WIDE_s32 int64_t
#define WIDE_u64 unsigned __int128
#define WIDE_s64 __int128
#define WIDE_u8	uint16_t
#define WIDE_s8	int16_t
#define WIDE_f32 double
#define WIDE_f64 double
#define UNS_u8	uint8_t
#define UNS_s8	uint8_t
#define UNS_u16	uint16_t
#define UNS_s16	uint16_t
#define UNS_u32	uint32_t
#define UNS_s32	uint32_t
#define UNS_u64	uint64_t
#define UNS_s64	uint64_t
#define UNS_f32	uint32_t
#define UNS_f64	uint64_t

/* Types of rows of the tables. */
#define P_NONE	PTX_NONE
#define P_b16	PTX_B16
#define P_b32	PTX_B32
#define P_b64	PTX_B64
#define P_u8	PTX_U8
#define P_s8	PTX_S8
#define P_u16	PTX_U16
#define P_s16	PTX_S16
#define P_u32	PTX_U32
#define P_s32	PTX_S32
#define P_u64	PTX_U64
#define P_s64	PTX_S64
#define P_f16	PTX_F16
#define P_f16x2	PTX_F16X2
#define P_bf16	PTX_BF16
#define P_bf16x2 PTX_BF16X2
#define P_u16x2	PTX_U16X2
#define P_s16x2	PTX_S16X2
#define P_f32	PTX_F32
#define P_f64	PTX_F64

/* --- what the expressions of alu.def call ------------------------------------------- */

/* 0 - 1: all ones of any type. The most negative number by -1 is itself: 0 - a wraps. */
#define DIVIDE(a, b)	((b) == 0 ? (utype_t)-1 : \
			 NEGATIVE_ONE(b) ? (utype_t)0 - (utype_t)(a) : (utype_t)((a) / (b)))
#define REMAINDER(a, b)	((b) == 0 ? (utype_t)-1 : \
			 NEGATIVE_ONE(b) ? (utype_t)0 : (utype_t)((a) % (b)))
#define NEGATIVE_ONE(b)	((type_t)-1 < (type_t)1 && (b) == (type_t)-1)

/* Limits by type, for conversions. */
#define MIN_u8	0
#define MAX_u8	UINT8_MAX
#define MIN_s8	INT8_MIN
#define MAX_s8	INT8_MAX
#define MIN_u16	0
#define MAX_u16	UINT16_MAX
#define MIN_s16	INT16_MIN
#define MAX_s16	INT16_MAX
#define MIN_u32	0
#define MAX_u32	UINT32_MAX
#define MIN_s32	INT32_MIN
#define MAX_s32	INT32_MAX
#define MIN_u64	0
#define MAX_u64	UINT64_MAX
#define MIN_s64	INT64_MIN
#define MAX_s64	INT64_MAX
/* One past the largest value: exact in every floating-point type. */
#define END_u8	0x1p8f
#define END_s8	0x1p7f
#define END_u16	0x1p16f
#define END_s16	0x1p15f
#define END_u32	0x1p32f
#define END_s32	0x1p31f
#define END_u64	0x1p64f
#define END_s64	0x1p63f

/* Truncates; what does not fit is the nearest value that does. */
#define TRUNCATE(T, v, nan) ((v) >= END_##T ? MAX_##T : (v) > MIN_##T ? (C_##T)(v) : \
			     (v) == (v) ? MIN_##T : (nan))
/*
 * What NaN becomes (PTX ISA 9.0, cvt): the top bit alone, but 0 when neither the source
 * nor the destination has 64 bits. Halves come here as f32.
 */
#define TOP_BIT(T)	((C_##T)(1ull << (8 * sizeof(C_##T) - 1)))
#define NAN_OF_F32(T)	(sizeof(C_##T) == 8 ? TOP_BIT(T) : (C_##T)0)

#define CVT_INTS(T) \
	CVT_INT(T, u8) CVT_INT(T, s8) CVT_INT(T, u16) CVT_INT(T, s16) \
	CVT_INT(T, u32) CVT_INT(T, s32) CVT_INT(T, u64) CVT_INT(T, s64) \
	ALU1(cvt, SEL_NONE, T, f32, T, f32, TRUNCATE(T, a, NAN_OF_F32(T))) \
	ALU1(cvt, SEL_NONE, T, f64, T, f64, TRUNCATE(T, a, TOP_BIT(T))) \
	ALU1(cvt, SEL_NONE, f32, T, f32, T, (float)a) \
	ALU1(cvt, SEL_NONE, f64, T, f64, T, (double)a)
#define CVT_INT(T, S) \
	ALU1(cvt, SEL_NONE, T, S, T, S, (C_##T)a) \
	ALU1(cvt, SEL_SAT, T, S, T, S, clamp(a, MIN_##T, MAX_##T))

/* --- the functions -------------------------------------------------------------------- */

#define FN(op, sel, key, stype)	lanes_##op##_##sel##_##key##_##stype

/* Values of a row go through the C type, so that they are extended as the type says. */
#define ROW_OF(T, row)	((ROW_##T *)__builtin_assume_aligned(arena + (row), 64))
#define BODY(TD, TA, pointers, loads, expr) \
{ \
	ROW_##TD *d = ROW_OF(TD, op->dst[0]); \
	pointers \
	typedef WIDE_##TA wide_t __attribute__((unused)); \
	typedef UNS_##TA utype_t __attribute__((unused)); \
	typedef C_##TA type_t __attribute__((unused)); \
	enum { BITS = 8 * sizeof(C_##TA) }; \
	if (mask == ALL_LANES) { \
		LANES { \
			loads \
			d[i] = (ROW_##TD)(C_##TD)(expr); \
		} \
	} else { \
		LANES { \
			loads \
			ROW_##TD value = (ROW_##TD)(C_##TD)(expr); \
			d[i] = mask & lane_bit[i] ? value : d[i]; \
		} \
	} \
}
#define POINT(name, T, k)	const ROW_##T *row_##name = ROW_OF(T, op->src[k]);
#define LOAD(name, T)		C_##T name = (C_##T)row_##name[i];

#define ALU1(op_, sel, key, stype, TD, TA, expr) \
static void FN(op_, sel, key, stype)(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
BODY(TD, TA, POINT(a, TA, 0), LOAD(a, TA), expr)
#define ALU2(op_, sel, key, stype, TD, TA, TB, expr) \
static void FN(op_, sel, key, stype)(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
BODY(TD, TA, POINT(a, TA, 0) POINT(b, TB, 1), LOAD(a, TA) LOAD(b, TB), expr)
#define ALU3(op_, sel, key, stype, TD, TA, TB, TC, expr) \
static void FN(op_, sel, key, stype)(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
BODY(TD, TA, POINT(a, TA, 0) POINT(b, TB, 1) POINT(c, TC, 2), \
     LOAD(a, TA) LOAD(b, TB) LOAD(c, TC), expr)
#define ALU4(op_, sel, key, stype, TD, TA, TB, TC, TE, expr) \
static void FN(op_, sel, key, stype)(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
BODY(TD, TA, POINT(a, TA, 0) POINT(b, TB, 1) POINT(c, TC, 2) POINT(e, TE, 3), \
     LOAD(a, TA) LOAD(b, TB) LOAD(c, TC) LOAD(e, TE), expr)

#define U1(op, sel, expr) T1(op, sel, u16, expr) T1(op, sel, u32, expr) T1(op, sel, u64, expr)
#define U2(op, sel, expr) T2(op, sel, u16, expr) T2(op, sel, u32, expr) T2(op, sel, u64, expr)
#define U3(op, sel, expr) T3(op, sel, u16, expr) T3(op, sel, u32, expr) T3(op, sel, u64, expr)
#define S1(op, sel, expr) T1(op, sel, s16, expr) T1(op, sel, s32, expr) T1(op, sel, s64, expr)
#define I2(op, sel, expr) \
	T2(op, sel, u16, expr) T2(op, sel, u32, expr) T2(op, sel, u64, expr) \
	T2(op, sel, s16, expr) T2(op, sel, s32, expr) T2(op, sel, s64, expr)
#define I3(op, sel, expr) \
	T3(op, sel, u16, expr) T3(op, sel, u32, expr) T3(op, sel, u64, expr) \
	T3(op, sel, s16, expr) T3(op, sel, s32, expr) T3(op, sel, s64, expr)
#define F1(op, sel, expr) T1(op, sel, f32, expr) T1(op, sel, f64, expr)
#define F2(op, sel, expr) T2(op, sel, f32, expr) T2(op, sel, f64, expr)
#define F3(op, sel, expr) T3(op, sel, f32, expr) T3(op, sel, f64, expr)
#define T1(op, sel, T, expr) ALU1(op, sel, T, NONE, T, T, expr)
#define T2(op, sel, T, expr) ALU2(op, sel, T, NONE, T, T, T, expr)
#define T3(op, sel, T, expr) ALU3(op, sel, T, NONE, T, T, T, T, expr)
#define SHIFT(op, key, T, expr) ALU2(op, SEL_NONE, key, NONE, T, T, u32, expr)
#include "exec/alu.def"
#undef ALU1
#undef ALU2
#undef ALU3
#undef ALU4

/* --- what is not an expression of its lanes alone ------------------------------------ */

#include "exec/lanes_pred.h"
#include "exec/lanes_carry.h"
#include "exec/lanes_warp.h"

#include "exec/lanes_memory.h"

/* --- the tables ----------------------------------------------------------------------- */

#define ROW(op, sel, key, stype, fn) { PTX_OP_##op, P_##key, P_##stype, sel, fn },
#define ALU1(op, sel, key, stype, ...) ROW(op, sel, key, stype, FN(op, sel, key, stype))
#define ALU2	ALU1
#define ALU3	ALU1
#define ALU4	ALU1
/* One function serves the bits, the unsigned and the signed type of a size. */
#define SAME_SIZE(op, sel, b, u, s) \
	ROW(op, sel, b, NONE, FN(op, sel, u, NONE)) ROW(op, sel, u, NONE, FN(op, sel, u, NONE)) \
	ROW(op, sel, s, NONE, FN(op, sel, u, NONE))
#undef U1
#undef U2
#undef U3
#undef SHIFT
#define U1(op, sel, ...) \
	SAME_SIZE(op, sel, b16, u16, s16) SAME_SIZE(op, sel, b32, u32, s32) \
	SAME_SIZE(op, sel, b64, u64, s64)
#define U2	U1
#define U3	U1
#define SHIFT(op, key, T, ...) \
	ROW(op, SEL_NONE, key, NONE, FN(op, SEL_NONE, key, NONE)) \
	SHIFT_##key(op, FN(op, SEL_NONE, key, NONE))
#define SHIFT_u16(op, fn)	ROW(op, SEL_NONE, b16, NONE, fn)
#define SHIFT_u32(op, fn)	ROW(op, SEL_NONE, b32, NONE, fn)
#define SHIFT_u64(op, fn)	ROW(op, SEL_NONE, b64, NONE, fn)
#define P_pred	PTX_PRED

static const struct lane_row rows[] = {
#include "exec/alu.def"
	PRED_ROWS
	CARRY_ROWS
	WARP_ROWS
};

#define COMPARE_ROW(cmp, T, expr) { PTX_CMP_##cmp, P_##T, compare_##cmp##_##T },
static const struct compare_row compares[] = {
	ALL_COMPARES(COMPARE_ROW)
};

const struct lane_table LANES_TABLE = {
	LANES_NAME, rows, ARRAY_SIZE(rows), compares, ARRAY_SIZE(compares),
	&memory_lanes,
};
