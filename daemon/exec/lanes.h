/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions that do 32 lanes of one opcode and type, and the table that
 * binds them. lanes_*.c include it once for each instruction set of the host,
 * with LANES_TABLE naming the table; nobody else does.
 *
 * A row of a register holds 32 values of 4 or 8 bytes; values of 8 and 16 bits
 * are in the low bits of 4 and what is above them means nothing. Two operands
 * are the same row or disjoint, so iterations do not depend on each other
 * (ivdep) whatever the registers are.
 */
#include "exec/private.h"
#include "exec/approx.h"
#include "exec/bits.h"

#define LANES	_Pragma("GCC ivdep") for (unsigned int i = 0; i < WARP_LANES; i++)

/* Lane i's bit, from memory: a vector of them is one load. */
static const uint32_t lane_bit[WARP_LANES] __attribute__((aligned(64))) = {
	1u << 0, 1u << 1, 1u << 2, 1u << 3, 1u << 4, 1u << 5, 1u << 6, 1u << 7,
	1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
	1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
	1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
};

/* By type: the C type, the row's element, and how one becomes the other. */
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
#define P_f32	PTX_F32
#define P_f64	PTX_F64

/* --- what the expressions of alu.def call ------------------------------------------- */

/* 0 - 1: all ones of any type. The most negative number by -1 is itself: 0 - a wraps. */
#define DIVIDE(a, b)	((b) == 0 ? (utype_t)-1 : \
			 NEGATIVE_ONE(b) ? (utype_t)0 - (utype_t)(a) : (utype_t)((a) / (b)))
#define REMAINDER(a, b)	((b) == 0 ? (utype_t)(a) : \
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

/* Truncates; what does not fit is the nearest value that does, NaN is 0. */
#define TRUNCATE(T, v) ((v) >= END_##T ? MAX_##T : (v) > MIN_##T ? (C_##T)(v) : \
			(v) == (v) ? MIN_##T : 0)

#define CVT_INTS(T) \
	CVT_INT(T, u8) CVT_INT(T, s8) CVT_INT(T, u16) CVT_INT(T, s16) \
	CVT_INT(T, u32) CVT_INT(T, s32) CVT_INT(T, u64) CVT_INT(T, s64) \
	ALU1(cvt, SEL_NONE, T, f32, T, f32, TRUNCATE(T, a)) \
	ALU1(cvt, SEL_NONE, T, f64, T, f64, TRUNCATE(T, a)) \
	ALU1(cvt, SEL_NONE, T, f16, T, u16, TRUNCATE(T, half_to_float(a))) \
	ALU1(cvt, SEL_NONE, f32, T, f32, T, (float)a) \
	ALU1(cvt, SEL_NONE, f64, T, f64, T, (double)a) \
	ALU1(cvt, SEL_NONE, f16, T, u16, T, double_to_half((double)a))
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

static uint32_t pred_src(uint8_t *arena, const struct exec_op *op, unsigned int k)
{
	return *pred_at(arena, op->src[k]) ^ -(uint32_t)(op->flip >> k & 1);
}

static void set_pred(uint8_t *arena, uint32_t row, uint32_t value, uint32_t mask)
{
	uint32_t *p;

	if (row == NO_ROW)
		return;
	p = pred_at(arena, row);
	*p = (*p & ~mask) | (value & mask);
}

#define SELECT(T) \
static void lanes_selp_##T(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	const ROW_##T *a = ROW_OF(T, op->src[0]), *b = ROW_OF(T, op->src[1]); \
	ROW_##T *d = ROW_OF(T, op->dst[0]); \
	uint32_t p = pred_src(arena, op, 2); \
	LANES { \
		ROW_##T value = p & lane_bit[i] ? a[i] : b[i]; \
		d[i] = mask & lane_bit[i] ? value : d[i]; \
	} \
}
SELECT(u32)
SELECT(u64)

#define PRED_OP(op_, expr) \
static void lanes_##op_##_pred(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	uint32_t a = pred_src(arena, op, 0); \
	set_pred(arena, op->dst[0], expr, mask); \
}
PRED_OP(mov, a)
PRED_OP(not, ~a)
PRED_OP(and, a & pred_src(arena, op, 1))
PRED_OP(or, a | pred_src(arena, op, 1))
PRED_OP(xor, a ^ pred_src(arena, op, 1))

static uint32_t combine(uint8_t *arena, const struct exec_op *op, uint32_t value)
{
	switch (op->boolop) {
	case PTX_BOOL_AND:
		return value & pred_src(arena, op, 2);
	case PTX_BOOL_OR:
		return value | pred_src(arena, op, 2);
	case PTX_BOOL_XOR:
		return value ^ pred_src(arena, op, 2);
	default:
		return value;
	}
}

static void lanes_setp(uint8_t *arena, const struct exec_op *op, uint32_t mask)
{
	uint32_t value = op->compare(arena, op);
	uint32_t p = combine(arena, op, value), q = combine(arena, op, ~value);

	set_pred(arena, op->dst[0], p, mask);
	set_pred(arena, op->dst[1], q, mask);
}

#define SET(T, yes) \
static void lanes_set_##T(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	uint32_t value = combine(arena, op, op->compare(arena, op)); \
	ROW_##T *d = ROW_OF(T, op->dst[0]); \
	LANES { \
		ROW_##T v = value & lane_bit[i] ? yes : 0; \
		d[i] = mask & lane_bit[i] ? v : d[i]; \
	} \
}
SET(u32, ~0u)
SET(f32, 1.0f)

/* mov d, {a, b}: the first element is the least significant. */
#define PACK(TD, n, bits) \
static void lanes_pack##n##_##TD(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	ROW_##TD *d = ROW_OF(TD, op->dst[0]); \
	LANES { \
		ROW_##TD v = 0; \
		for (unsigned int k = 0; k < n; k++) \
			v |= (ROW_##TD)(row32(arena, op->src[k])[i] & \
					(bits < 32 ? (1u << bits % 32) - 1 : ~0u)) << k * bits; \
		d[i] = mask & lane_bit[i] ? v : d[i]; \
	} \
}
PACK(u32, 2, 16)
PACK(u64, 2, 32)
PACK(u64, 4, 16)

/* The source may be one of the destinations' registers only when it has their width: never. */
#define UNPACK(TA, n, bits) \
static void lanes_unpack##n##_##TA(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	const ROW_##TA *a = ROW_OF(TA, op->src[0]); \
	ROW_##TA copy[WARP_LANES]; \
	__builtin_memcpy(copy, a, sizeof(copy)); \
	for (unsigned int k = 0; k < n; k++) { \
		uint32_t *d = row32(arena, op->dst[k]); \
		if (op->dst[k] == NO_ROW) \
			continue; \
		LANES { \
			uint32_t v = (uint32_t)(copy[i] >> k * bits); \
			if (bits == 16) \
				v &= 0xffff; \
			d[i] = mask & lane_bit[i] ? v : d[i]; \
		} \
	} \
}
UNPACK(u32, 2, 16)
UNPACK(u64, 2, 32)
UNPACK(u64, 4, 16)

static void lanes_activemask(uint8_t *arena, const struct exec_op *op, uint32_t mask)
{
	uint32_t *d = row32(arena, op->dst[0]);

	LANES
		d[i] = mask & lane_bit[i] ? mask : d[i];
}

/*
 * The lanes that are here vote; a member mask names no others that could still
 * come, because diverged lanes run one group after the other.
 */
#define VOTE(name, expr) \
static void lanes_vote_##name(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	uint32_t p = pred_src(arena, op, 0) & mask; \
	set_pred(arena, op->dst[0], expr ? ALL_LANES : 0, mask); \
}
VOTE(all, (p == mask))
VOTE(any, (p != 0))
VOTE(uni, (p == mask || p == 0))

static void lanes_ballot(uint8_t *arena, const struct exec_op *op, uint32_t mask)
{
	uint32_t p = pred_src(arena, op, 0) & mask, *d = row32(arena, op->dst[0]);

	LANES
		d[i] = mask & lane_bit[i] ? p : d[i];
}

/* PTX ISA, shfl: c holds the clamp in bits 0-4 and the segment mask in bits 8-12. */
static void shuffle(uint8_t *arena, const struct exec_op *op, uint32_t mask, int mode)
{
	const uint32_t *a = row32(arena, op->src[0]), *b = row32(arena, op->src[1]);
	const uint32_t *c = row32(arena, op->src[2]);
	uint32_t result[WARP_LANES], valid = 0;
	uint32_t *d = row32(arena, op->dst[0]);
	int i;

	for (i = 0; i < (int)WARP_LANES; i++) {
		int value = b[i] & 31, segment = c[i] >> 8 & 31, clamp = c[i] & 31;
		int least = i & segment, most = least | (clamp & ~segment), from;
		bool ok;

		switch (mode) {
		case PTX_SHFL_UP:
			from = i - value;
			ok = from >= most;
			break;
		case PTX_SHFL_DOWN:
			from = i + value;
			ok = from <= most;
			break;
		case PTX_SHFL_BFLY:
			from = i ^ value;
			ok = from <= most;
			break;
		default:
			from = least | (value & ~segment);
			ok = from <= most;
			break;
		}
		result[i] = a[ok ? from : i];
		valid |= (uint32_t)ok << i;
	}
	if (op->dst[0] != NO_ROW)
		LANES
			d[i] = mask & lane_bit[i] ? result[i] : d[i];
	set_pred(arena, op->dst[1], valid, mask);
}
#define SHUFFLE(name, mode) \
static void lanes_shfl_##name(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	shuffle(arena, op, mask, mode); \
}
SHUFFLE(up, PTX_SHFL_UP)
SHUFFLE(down, PTX_SHFL_DOWN)
SHUFFLE(bfly, PTX_SHFL_BFLY)
SHUFFLE(idx, PTX_SHFL_IDX)

#define TESTP(T, name, expr) \
static void lanes_testp_##name##_##T(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	const ROW_##T *row = ROW_OF(T, op->src[0]); \
	uint32_t value = 0; \
	LANES { \
		C_##T a = row[i] < 0 ? -row[i] : row[i]; \
		value |= expr ? lane_bit[i] : 0; \
	} \
	set_pred(arena, op->dst[0], value, mask); \
}
#define TESTPS(T, huge, tiny) \
	TESTP(T, finite, (a < huge)) \
	TESTP(T, infinite, (a == huge)) \
	TESTP(T, number, (a == a)) \
	TESTP(T, nan, (a != a)) \
	TESTP(T, normal, (a >= tiny && a < huge)) \
	TESTP(T, subnormal, (a > 0 && a < tiny))
TESTPS(f32, __builtin_inff(), 0x1p-126f)
TESTPS(f64, __builtin_inf(), 0x1p-1022)

/* Generic addresses outside every window are global. */
#define ISSPACE(name, expr) \
static void lanes_isspacep_##name(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	const uint64_t *a = row64(arena, op->src[0]); \
	uint32_t value = 0; \
	LANES { \
		bool shared = a[i] - EXEC_SHARED_WINDOW < EXEC_WINDOW_BYTES; \
		bool local = a[i] - EXEC_LOCAL_WINDOW < EXEC_WINDOW_BYTES; \
		value |= expr ? lane_bit[i] : 0; \
		(void)shared; \
		(void)local; \
	} \
	set_pred(arena, op->dst[0], value, mask); \
}
ISSPACE(shared, shared)
ISSPACE(local, local)
ISSPACE(global, (!shared && !local))
ISSPACE(none, 0)

/* --- comparisons ---------------------------------------------------------------------- */

#define COMPARE(cmp, T, expr) \
static uint32_t compare_##cmp##_##T(const uint8_t *arena, const struct exec_op *op) \
{ \
	const ROW_##T *ra = ROW_OF(T, op->src[0]), *rb = ROW_OF(T, op->src[1]); \
	uint32_t value = 0; \
	LANES { \
		C_##T a = (C_##T)ra[i], b = (C_##T)rb[i]; \
		value |= expr ? lane_bit[i] : 0; \
	} \
	return value; \
}
#define COMPARES(F, T) \
	F(EQ, T, (a == b)) F(NE, T, (a != b)) F(LT, T, (a < b)) \
	F(LE, T, (a <= b)) F(GT, T, (a > b)) F(GE, T, (a >= b))
/* An ordered ne is false for NaN, where C's != is true. */
#define FCOMPARES(F, T) \
	F(EQ, T, (a == b)) F(NE, T, (a < b || a > b)) F(LT, T, (a < b)) \
	F(LE, T, (a <= b)) F(GT, T, (a > b)) F(GE, T, (a >= b)) \
	F(EQU, T, !(a < b || a > b)) F(NEU, T, (a != b)) F(LTU, T, !(a >= b)) \
	F(LEU, T, !(a > b)) F(GTU, T, !(a <= b)) F(GEU, T, !(a < b)) \
	F(NUM, T, (a == a && b == b)) F(NAN, T, (a != a || b != b))
#define ALL_COMPARES(F) \
	COMPARES(F, u16) COMPARES(F, s16) COMPARES(F, u32) COMPARES(F, s32) \
	COMPARES(F, u64) COMPARES(F, s64) FCOMPARES(F, f32) FCOMPARES(F, f64)
ALL_COMPARES(COMPARE)

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
	ROW(selp, SEL_NONE, b16, NONE, lanes_selp_u32)
	ROW(selp, SEL_NONE, b32, NONE, lanes_selp_u32)
	ROW(selp, SEL_NONE, b64, NONE, lanes_selp_u64)
	ROW(mov, SEL_NONE, pred, NONE, lanes_mov_pred)
	ROW(not, SEL_NONE, pred, NONE, lanes_not_pred)
	ROW(and, SEL_NONE, pred, NONE, lanes_and_pred)
	ROW(or, SEL_NONE, pred, NONE, lanes_or_pred)
	ROW(xor, SEL_NONE, pred, NONE, lanes_xor_pred)
	ROW(setp, SEL_NONE, NONE, NONE, lanes_setp)
	ROW(set, SEL_NONE, u32, NONE, lanes_set_u32)
	ROW(set, SEL_NONE, s32, NONE, lanes_set_u32)
	ROW(set, SEL_NONE, f32, NONE, lanes_set_f32)
	ROW(mov, SEL_PACK2, b32, NONE, lanes_pack2_u32)
	ROW(mov, SEL_PACK2, b64, NONE, lanes_pack2_u64)
	ROW(mov, SEL_PACK4, b64, NONE, lanes_pack4_u64)
	ROW(mov, SEL_UNPACK2, b32, NONE, lanes_unpack2_u32)
	ROW(mov, SEL_UNPACK2, b64, NONE, lanes_unpack2_u64)
	ROW(mov, SEL_UNPACK4, b64, NONE, lanes_unpack4_u64)
	ROW(activemask, SEL_NONE, b32, NONE, lanes_activemask)
	ROW(vote, PTX_VOTE_ALL, pred, NONE, lanes_vote_all)
	ROW(vote, PTX_VOTE_ANY, pred, NONE, lanes_vote_any)
	ROW(vote, PTX_VOTE_UNI, pred, NONE, lanes_vote_uni)
	ROW(vote, PTX_VOTE_BALLOT, b32, NONE, lanes_ballot)
	ROW(shfl, PTX_SHFL_UP, b32, NONE, lanes_shfl_up)
	ROW(shfl, PTX_SHFL_DOWN, b32, NONE, lanes_shfl_down)
	ROW(shfl, PTX_SHFL_BFLY, b32, NONE, lanes_shfl_bfly)
	ROW(shfl, PTX_SHFL_IDX, b32, NONE, lanes_shfl_idx)
	ROW(isspacep, PTX_SPACE_SHARED, NONE, NONE, lanes_isspacep_shared)
	ROW(isspacep, PTX_SPACE_LOCAL, NONE, NONE, lanes_isspacep_local)
	ROW(isspacep, PTX_SPACE_GLOBAL, NONE, NONE, lanes_isspacep_global)
	ROW(isspacep, PTX_SPACE_CONST, NONE, NONE, lanes_isspacep_none)
	ROW(isspacep, PTX_SPACE_PARAM, NONE, NONE, lanes_isspacep_none)
#define TESTP_ROWS(T) \
	ROW(testp, PTX_TESTP_FINITE, T, NONE, lanes_testp_finite_##T) \
	ROW(testp, PTX_TESTP_INFINITE, T, NONE, lanes_testp_infinite_##T) \
	ROW(testp, PTX_TESTP_NUMBER, T, NONE, lanes_testp_number_##T) \
	ROW(testp, PTX_TESTP_NAN, T, NONE, lanes_testp_nan_##T) \
	ROW(testp, PTX_TESTP_NORMAL, T, NONE, lanes_testp_normal_##T) \
	ROW(testp, PTX_TESTP_SUBNORMAL, T, NONE, lanes_testp_subnormal_##T)
	TESTP_ROWS(f32)
	TESTP_ROWS(f64)
};

#define COMPARE_ROW(cmp, T, expr) { PTX_CMP_##cmp, P_##T, compare_##cmp##_##T },
static const struct compare_row compares[] = {
	ALL_COMPARES(COMPARE_ROW)
};

const struct lane_table LANES_TABLE = { rows, ARRAY_SIZE(rows), compares, ARRAY_SIZE(compares) };
