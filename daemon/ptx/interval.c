// SPDX-License-Identifier: GPL-2.0
/*
 * What an instruction makes of intervals. An opcode that is not here may make anything. Called by
 * values.c, instruction by instruction.
 */
#include "base/launch.h"
#include "ptx/interval.h"

unsigned int integer_bits(uint8_t type)
{
	switch (type) {
	case PTX_B8: case PTX_U8: case PTX_S8:
		return 8;
	case PTX_B16: case PTX_U16: case PTX_S16:
		return 16;
	case PTX_B32: case PTX_U32: case PTX_S32:
		return 32;
	case PTX_B64: case PTX_U64: case PTX_S64:
		return 64;
	default:
		return 0;
	}
}

bool integer_signed(uint8_t type)
{
	return type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64;
}

/* --- readings -------------------------------------------------------------------------- */

struct interval interval_fit(struct interval v, unsigned int bits)
{
	uint64_t width = (uint64_t)v.hi - (uint64_t)v.lo;

	return v.lo > v.hi || (bits < 64 && width >= (1ull << bits) - 1) ? INTERVAL_ANY : v;
}

struct interval interval_signed(struct interval v, unsigned int bits)
{
	int64_t top = bits < 64 ? (int64_t)((1ull << (bits - 1)) - 1) : INT64_MAX;

	return v.lo >= -top - 1 && v.hi <= top ? v : (struct interval){ -top - 1, top };
}

struct interval interval_unsigned(struct interval v, unsigned int bits)
{
	int64_t top = bits < 64 ? (int64_t)((1ull << bits) - 1) : INTERVAL_MORE;

	if (v.lo >= 0 && v.hi <= top)
		return v;
	/* -4 is 2^bits - 4. */
	if (bits < 64 && v.hi < 0 && v.lo >= -top - 1)
		return (struct interval){ v.lo + top + 1, v.hi + top + 1 };
	return (struct interval){ 0, top };
}

struct interval interval_read(struct interval v, uint8_t type)
{
	return integer_signed(type) ? interval_signed(v, integer_bits(type)) :
	       interval_unsigned(v, integer_bits(type));
}

/* --- arithmetic that knows no sign ------------------------------------------------------ */

struct interval interval_add(struct interval a, struct interval b)
{
	struct interval sum;

	if (__builtin_add_overflow(a.lo, b.lo, &sum.lo) ||
	    __builtin_add_overflow(a.hi, b.hi, &sum.hi))
		return INTERVAL_ANY;
	return sum;
}

static struct interval negate(struct interval v)
{
	return v.lo == INT64_MIN ? INTERVAL_ANY : (struct interval){ -v.hi, -v.lo };
}

static struct interval multiply(struct interval a, struct interval b)
{
	int64_t p[4];

	if (__builtin_mul_overflow(a.lo, b.lo, &p[0]) ||
	    __builtin_mul_overflow(a.lo, b.hi, &p[1]) ||
	    __builtin_mul_overflow(a.hi, b.lo, &p[2]) ||
	    __builtin_mul_overflow(a.hi, b.hi, &p[3]))
		return INTERVAL_ANY;
	return (struct interval){ MIN(MIN(p[0], p[1]), MIN(p[2], p[3])),
				  MAX(MAX(p[0], p[1]), MAX(p[2], p[3])) };
}

/* mul and mad, without what is added. mul24 is of the lowest 24 bits. */
static struct interval product(const struct ptx_insn *insn, struct interval a, struct interval b)
{
	bool small = insn->opcode == PTX_OP_mul24 || insn->opcode == PTX_OP_mad24;
	unsigned int bits = small ? 24 : integer_bits(insn->type);

	if (insn->mods & PTX_MOD_HI)
		return INTERVAL_ANY;
	if (small || insn->mods & PTX_MOD_WIDE) {
		bool sign = integer_signed(insn->type);

		a = sign ? interval_signed(a, bits) : interval_unsigned(a, bits);
		b = sign ? interval_signed(b, bits) : interval_unsigned(b, bits);
	}
	return multiply(a, b);
}

/* --- the rest, which takes readings ---------------------------------------------------------- */

/* At most 2^n - 1 where v is at most 2^n - 1 and not negative. */
static int64_t filled(int64_t v)
{
	return v > 0 ? (int64_t)(UINT64_MAX >> __builtin_clzll((uint64_t)v)) : 0;
}

static struct interval bits_of(const struct ptx_insn *insn, struct interval a, struct interval b)
{
	unsigned int bits = integer_bits(insn->type);
	int64_t most;

	a = interval_unsigned(a, bits);
	b = interval_unsigned(b, bits);
	if (insn->opcode == PTX_OP_and) {
		most = MIN(a.hi, b.hi);
		return most == INTERVAL_MORE ? INTERVAL_ANY : (struct interval){ 0, most };
	}
	if (a.hi == INTERVAL_MORE || b.hi == INTERVAL_MORE)
		return INTERVAL_ANY;
	/* Neither carries, so the sum is a bound too. */
	most = filled(MAX(a.hi, b.hi));
	if (a.hi <= most - b.hi)
		most = a.hi + b.hi;
	return (struct interval){ insn->opcode == PTX_OP_or ? MAX(a.lo, b.lo) : 0, most };
}

static struct interval shift_left(const struct ptx_insn *insn, struct interval v,
				  struct interval by)
{
	int64_t bits = integer_bits(insn->type);

	by = interval_unsigned(by, 32);
	if (by.lo >= bits)
		return (struct interval){ 0, 0 };
	if (by.hi >= bits || by.hi > 62)
		return INTERVAL_ANY;
	return multiply(v, (struct interval){ (int64_t)1 << by.lo, (int64_t)1 << by.hi });
}

static struct interval shift_right(const struct ptx_insn *insn, struct interval v,
				   struct interval by)
{
	bool more;

	by = interval_unsigned(by, 32);
	by = (struct interval){ MIN(by.lo, 63), MIN(by.hi, 63) };
	v = interval_read(v, insn->type);
	more = !integer_signed(insn->type) && v.hi == INTERVAL_MORE;
	if (more && !by.lo)
		return INTERVAL_ANY;
	return (struct interval){
		v.lo < 0 ? v.lo >> by.lo : v.lo >> by.hi,
		more ? (int64_t)(UINT64_MAX >> by.lo) : v.hi < 0 ? v.hi >> by.hi : v.hi >> by.lo,
	};
}

/* min and max; div and rem of what is not negative by what is positive. */
static struct interval compare_or_divide(const struct ptx_insn *insn, struct interval a,
					 struct interval b)
{
	struct interval v;

	a = interval_read(a, insn->type);
	b = interval_read(b, insn->type);
	switch (insn->opcode) {
	case PTX_OP_min:
		v = (struct interval){ MIN(a.lo, b.lo), MIN(a.hi, b.hi) };
		break;
	case PTX_OP_max:
		v = (struct interval){ MAX(a.lo, b.lo), MAX(a.hi, b.hi) };
		break;
	default:
		if (b.lo < 1)
			return INTERVAL_ANY;
		if (insn->opcode == PTX_OP_rem) {
			v = (struct interval){ a.lo < 0 ? -(b.hi - 1) : 0, MAX(a.hi, 0) };
			if (b.hi < INTERVAL_MORE)
				v.hi = MIN(v.hi, b.hi - 1);
			break;
		}
		if (a.lo < 0 || a.hi == INTERVAL_MORE)
			return INTERVAL_ANY;
		v = (struct interval){ a.lo / b.hi, a.hi / b.lo };
		break;
	}
	return !integer_signed(insn->type) && v.hi == INTERVAL_MORE ? INTERVAL_ANY : v;
}

static struct interval field(const struct ptx_insn *insn, const struct interval *src)
{
	struct interval length = interval_unsigned(src[2], 8);

	if (integer_signed(insn->type) || length.hi > 62)
		return INTERVAL_ANY;
	return (struct interval){ 0, ((int64_t)1 << length.hi) - 1 };
}

static struct interval convert(const struct ptx_insn *insn, struct interval v, unsigned int bits)
{
	unsigned int to = integer_bits(insn->type), from = integer_bits(insn->stype);

	if (!to || !from)
		return INTERVAL_ANY;
	if (from < to)
		v = interval_read(v, insn->stype);
	/* A wider register has the result extended as its type says. */
	return to < bits ? interval_read(v, insn->type) : v;
}

static struct interval magnitude(const struct ptx_insn *insn, struct interval v)
{
	v = interval_read(v, insn->type);
	if (v.lo == INT64_MIN)
		return INTERVAL_ANY;
	return v.lo >= 0 ? v : (struct interval){ 0, MAX(-v.lo, v.hi) };
}

/* --- one instruction --------------------------------------------------------------------- */

struct interval interval_sreg(uint64_t sreg, uint32_t threads)
{
	int64_t most = threads ? MIN(threads, BLOCK_THREADS_MAX) : BLOCK_THREADS_MAX;

	switch (sreg) {
	case PTX_SREG_TID_X: case PTX_SREG_TID_Y:
		return (struct interval){ 0, most - 1 };
	case PTX_SREG_TID_Z:
		return (struct interval){ 0, MIN(most, BLOCK_Z_MAX) - 1 };
	case PTX_SREG_NTID_X: case PTX_SREG_NTID_Y:
		return (struct interval){ 1, most };
	case PTX_SREG_NTID_Z:
		return (struct interval){ 1, MIN(most, BLOCK_Z_MAX) };
	case PTX_SREG_LANEID:
		return (struct interval){ 0, WARP_LANES - 1 };
	default:
		return INTERVAL_ANY;
	}
}

/* A load of less than its register has. Of vectors each element is one. */
static struct interval loaded(const struct ptx_insn *insn, unsigned int bits)
{
	unsigned int has = integer_bits(insn->type);

	return has && has < bits ? interval_read(INTERVAL_ANY, insn->type) : INTERVAL_ANY;
}

static struct interval evaluate(const struct ptx_insn *insn, const struct interval *src,
				unsigned int bits)
{
	switch (insn->opcode) {
	case PTX_OP_mov:
		return insn->nsrc == 1 ? src[0] : INTERVAL_ANY;
	case PTX_OP_add:
		return interval_add(src[0], src[1]);
	case PTX_OP_sub:
		return interval_add(src[0], negate(src[1]));
	case PTX_OP_neg:
		return negate(src[0]);
	case PTX_OP_not:
		return interval_add(negate(src[0]), (struct interval){ -1, -1 });
	case PTX_OP_mul: case PTX_OP_mul24:
		return product(insn, src[0], src[1]);
	case PTX_OP_mad: case PTX_OP_mad24:
		return interval_add(product(insn, src[0], src[1]), src[2]);
	case PTX_OP_and: case PTX_OP_or: case PTX_OP_xor:
		return bits_of(insn, src[0], src[1]);
	case PTX_OP_shl:
		return shift_left(insn, src[0], src[1]);
	case PTX_OP_shr:
		return shift_right(insn, src[0], src[1]);
	case PTX_OP_min: case PTX_OP_max: case PTX_OP_div: case PTX_OP_rem:
		return insn->nsrc == 2 ? compare_or_divide(insn, src[0], src[1]) : INTERVAL_ANY;
	case PTX_OP_abs:
		return magnitude(insn, src[0]);
	case PTX_OP_bfe:
		return field(insn, src);
	case PTX_OP_selp:
		return interval_join(src[0], src[1]);
	default:
		return INTERVAL_ANY;
	}
}

struct interval interval_evaluate(const struct ptx_insn *insn, const struct interval *src,
				  unsigned int bits)
{
	const struct interval window = { (int64_t)PTX_SHARED_WINDOW, (int64_t)PTX_SHARED_WINDOW };
	unsigned int has = integer_bits(insn->type);
	struct interval v = INTERVAL_ANY;

	if (insn->mods & (PTX_MOD_SAT | PTX_MOD_RELU))
		return INTERVAL_ANY;
	switch (insn->opcode) {
	case PTX_OP_ld: case PTX_OP_ldu:
		return loaded(insn, bits);
	case PTX_OP_cvta:
		if (insn->space == PTX_SPACE_SHARED && bits == 64)
			v = interval_add(src[0], insn->mods & PTX_MOD_TO ? negate(window) : window);
		break;
	case PTX_OP_cvt:
		v = convert(insn, src[0], bits);
		break;
	case PTX_OP_popc: case PTX_OP_clz:
		return (struct interval){ 0, 64 };
	default:
		/* The type is the register's, or half of it. */
		if (has && has * (insn->mods & PTX_MOD_WIDE ? 2 : 1) == bits)
			v = evaluate(insn, src, bits);
		break;
	}
	return interval_fit(v, bits);
}
