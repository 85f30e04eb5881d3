/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lanes of what reads or writes predicates: selection, comparison, tests,
 * logic of predicates. A predicate is one word, a bit a lane. Included by
 * lanes.h only, once for each instruction set.
 */

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
static void lanes_set_##yes(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	uint32_t value = combine(arena, op, op->compare(arena, op)); \
	uint32_t *d = row32(arena, op->dst[0]); \
	LANES { \
		uint32_t v = value & lane_bit[i] ? YES_##yes : 0; \
		d[i] = mask & lane_bit[i] ? v : d[i]; \
	} \
}
/* True, by type: all ones, or 1.0. */
#define YES_ones	~0u
#define YES_f32		0x3f800000u
#define YES_f16		0x3c00u
#define YES_bf16	0x3f80u
SET(u32, ones)
SET(f32, f32)
SET(f16, f16)
SET(bf16, bf16)

/*
 * Two halves: the low ones are sources 0 and 1 as for any comparison, the high
 * ones 3 and 4, all widened to f32 by a sequence.
 */
static uint32_t compare_high(uint8_t *arena, const struct exec_op *op)
{
	struct exec_op high = *op;

	high.src[0] = op->src[3];
	high.src[1] = op->src[4];
	return op->compare(arena, &high);
}

static void lanes_setp_x2(uint8_t *arena, const struct exec_op *op, uint32_t mask)
{
	uint32_t p = combine(arena, op, op->compare(arena, op));
	uint32_t q = combine(arena, op, compare_high(arena, op));

	set_pred(arena, op->dst[0], p, mask);
	set_pred(arena, op->dst[1], q, mask);
}

#define SET_X2(name, yes) \
static void lanes_set_x2_##name(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	uint32_t low = combine(arena, op, op->compare(arena, op)); \
	uint32_t high = combine(arena, op, compare_high(arena, op)); \
	uint32_t *d = row32(arena, op->dst[0]); \
	LANES { \
		uint32_t v = low & lane_bit[i] ? yes : 0; \
		v |= high & lane_bit[i] ? yes << 16 : 0; \
		d[i] = mask & lane_bit[i] ? v : d[i]; \
	} \
}
SET_X2(ones, 0xffffu)
SET_X2(f16, 0x3c00u)
SET_X2(bf16, 0x3f80u)

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
/* PTX ISA, "testp": +0 and -0 count as normal, not as subnormal. IEEE 754 says neither. */
#define TESTPS(T, huge, tiny) \
	TESTP(T, finite, (a < huge)) \
	TESTP(T, infinite, (a == huge)) \
	TESTP(T, number, (a == a)) \
	TESTP(T, nan, (a != a)) \
	TESTP(T, normal, ((a >= tiny || a == 0) && a < huge)) \
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
		value |= expr ? lane_bit[i] : 0; \
	} \
	set_pred(arena, op->dst[0], value, mask); \
}
#define WITHIN(window)	(a[i] - (window) < PTX_WINDOW_BYTES)
ISSPACE(shared, WITHIN(PTX_SHARED_WINDOW))
ISSPACE(local, WITHIN(PTX_LOCAL_WINDOW))
ISSPACE(const, WITHIN(PTX_CONST_WINDOW))
ISSPACE(param, WITHIN(PTX_PARAM_WINDOW))
ISSPACE(global, (!WITHIN(PTX_SHARED_WINDOW) & !WITHIN(PTX_LOCAL_WINDOW) & \
		 !WITHIN(PTX_CONST_WINDOW) & !WITHIN(PTX_PARAM_WINDOW)))

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

/* Rows of the table. */
#define TESTP_ROWS(T) \
	ROW(testp, PTX_TESTP_FINITE, T, NONE, lanes_testp_finite_##T) \
	ROW(testp, PTX_TESTP_INFINITE, T, NONE, lanes_testp_infinite_##T) \
	ROW(testp, PTX_TESTP_NUMBER, T, NONE, lanes_testp_number_##T) \
	ROW(testp, PTX_TESTP_NAN, T, NONE, lanes_testp_nan_##T) \
	ROW(testp, PTX_TESTP_NORMAL, T, NONE, lanes_testp_normal_##T) \
	ROW(testp, PTX_TESTP_SUBNORMAL, T, NONE, lanes_testp_subnormal_##T)
#define PRED_ROWS \
	ROW(selp, SEL_NONE, b16, NONE, lanes_selp_u32) \
	ROW(selp, SEL_NONE, b32, NONE, lanes_selp_u32) \
	ROW(selp, SEL_NONE, b64, NONE, lanes_selp_u64) \
	ROW(mov, SEL_NONE, pred, NONE, lanes_mov_pred) \
	ROW(not, SEL_NONE, pred, NONE, lanes_not_pred) \
	ROW(and, SEL_NONE, pred, NONE, lanes_and_pred) \
	ROW(or, SEL_NONE, pred, NONE, lanes_or_pred) \
	ROW(xor, SEL_NONE, pred, NONE, lanes_xor_pred) \
	ROW(setp, SEL_NONE, NONE, NONE, lanes_setp) \
	ROW(setp, SEL_X2, NONE, NONE, lanes_setp_x2) \
	ROW(set, SEL_NONE, u16, NONE, lanes_set_ones) \
	ROW(set, SEL_NONE, s16, NONE, lanes_set_ones) \
	ROW(set, SEL_NONE, u32, NONE, lanes_set_ones) \
	ROW(set, SEL_NONE, s32, NONE, lanes_set_ones) \
	ROW(set, SEL_NONE, f32, NONE, lanes_set_f32) \
	ROW(set, SEL_NONE, f16, NONE, lanes_set_f16) \
	ROW(set, SEL_NONE, bf16, NONE, lanes_set_bf16) \
	ROW(set, SEL_X2, u32, NONE, lanes_set_x2_ones) \
	ROW(set, SEL_X2, s32, NONE, lanes_set_x2_ones) \
	ROW(set, SEL_X2, f16x2, NONE, lanes_set_x2_f16) \
	ROW(set, SEL_X2, bf16x2, NONE, lanes_set_x2_bf16) \
	ROW(isspacep, PTX_SPACE_SHARED, NONE, NONE, lanes_isspacep_shared) \
	ROW(isspacep, PTX_SPACE_LOCAL, NONE, NONE, lanes_isspacep_local) \
	ROW(isspacep, PTX_SPACE_GLOBAL, NONE, NONE, lanes_isspacep_global) \
	ROW(isspacep, PTX_SPACE_CONST, NONE, NONE, lanes_isspacep_const) \
	ROW(isspacep, PTX_SPACE_PARAM, NONE, NONE, lanes_isspacep_param) \
	TESTP_ROWS(f32) TESTP_ROWS(f64)
