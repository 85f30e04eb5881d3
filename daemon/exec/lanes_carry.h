/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lanes of extended-precision arithmetic. The carry is a predicate: what goes
 * out of the top of the adder. The hardware subtracts with that adder, a + ~b + 1,
 * so the flag is 1 when sub.cc does not borrow: the PTX ISA speaks of a borrow, which
 * is the same as long as subtractions follow one another. nvcc's division of 128
 * bits reads what sub.cc left with addc. An operation that takes no carry reads a
 * constant one, false for a sum and true for a difference; one that gives none has no
 * row to write it to. Included by lanes.h only.
 */

/* r and the two conditions see a, b, c and carry, which is 0 or 1. */
#define CARRY(name, T, k, has_c, first, carry1, second, carry2) \
static void lanes_##name##_##T(uint8_t *arena, const struct exec_op *op, uint32_t mask) \
{ \
	const ROW_##T *row_a = ROW_OF(T, op->src[0]), *row_b = ROW_OF(T, op->src[1]); \
	const ROW_##T *row_c = ROW_OF(T, op->src[has_c ? 2 : 0]); \
	ROW_##T *d = ROW_OF(T, op->dst[0]); \
	uint32_t in = pred_src(arena, op, k), out = 0; \
	enum { BITS = 8 * sizeof(C_##T) }; \
	typedef WIDE_##T wide_t __attribute__((unused)); \
	LANES { \
		C_##T a = (C_##T)row_a[i], b = (C_##T)row_b[i]; \
		UNS_##T c = (UNS_##T)row_c[i], carry = (in & lane_bit[i]) != 0; \
		UNS_##T t = (UNS_##T)(first), s = has_c ? t + c : t; \
		UNS_##T r = second; \
		d[i] = mask & lane_bit[i] ? r : d[i]; \
		out |= (0u - (uint32_t)((carry1) | (carry2))) & lane_bit[i]; \
		(void)c; \
	} \
	set_pred(arena, op->dst[1], out, mask); \
}
#define CARRIES(T) \
	CARRY(addc, T, 2, 0, a + b, t < a, s + carry, r < s) \
	CARRY(subc, T, 2, 0, a + ~b, t < a, s + carry, r < s) \
	CARRY(madc_lo, T, 3, 1, a * b, s < t, s + carry, r < s) \
	CARRY(madc_hi, T, 3, 1, (wide_t)a * b >> BITS, s < t, s + carry, r < s)
CARRIES(u32)
CARRIES(u64)
CARRY(madc_hi, s32, 3, 1, (wide_t)a * b >> BITS, s < t, s + carry, r < s)
CARRY(madc_hi, s64, 3, 1, (wide_t)a * b >> BITS, s < t, s + carry, r < s)

/* Rows of the table. */
#define CARRY_ROWS_OF(key, u, s) \
	ROW(add, SEL_CC, key, NONE, lanes_addc_##u) \
	ROW(addc, SEL_NONE, key, NONE, lanes_addc_##u) \
	ROW(sub, SEL_CC, key, NONE, lanes_subc_##u) \
	ROW(subc, SEL_NONE, key, NONE, lanes_subc_##u) \
	ROW(mad, SEL_LO_CC, key, NONE, lanes_madc_lo_##u) \
	ROW(madc, SEL_LO, key, NONE, lanes_madc_lo_##u) \
	ROW(mad, SEL_HI_CC, key, NONE, lanes_madc_hi_##s) \
	ROW(madc, SEL_HI, key, NONE, lanes_madc_hi_##s)
#define CARRY_ROWS \
	CARRY_ROWS_OF(u32, u32, u32) CARRY_ROWS_OF(s32, u32, s32) \
	CARRY_ROWS_OF(u64, u64, u64) CARRY_ROWS_OF(s64, u64, s64)
