// SPDX-License-Identifier: GPL-2.0
/*
 * atom and red: read, modify, write, one lane after the other in lane order,
 * which is what makes a run repeatable. Called with lanes whose memory is there:
 * by memory.c with operands that were kept from the issue, by grid_memory.c with those
 * in the registers.
 */
#pragma GCC optimize("fp-contract=off", "rounding-math", "no-math-errno", "no-trapping-math")
#include <string.h>

#include "exec/private.h"
#include "exec/approx.h"
#include "exec/half.h"

static uint32_t flushed(uint32_t x)
{
	return x & 0x7f800000 ? x : x & 0x80000000;
}

static uint32_t add_f32(uint32_t x, uint32_t y)
{
	float fx, fy, fr;
	uint32_t r;

	memcpy(&fx, &x, sizeof(fx));
	memcpy(&fy, &y, sizeof(fy));
	fr = fx + fy;
	if (fr != fr)
		return 0x7fffffff;
	memcpy(&r, &fr, sizeof(r));
	return r;
}

/* PTX ISA, atom.add.f32: on global memory subnormals are flushed. */
static uint32_t add_f32_ftz(uint32_t x, uint32_t y)
{
	return flushed(add_f32(flushed(x), flushed(y)));
}

static uint64_t add_f64(uint64_t a, uint64_t b)
{
	double x, y, r;

	memcpy(&x, &a, sizeof(x));
	memcpy(&y, &b, sizeof(y));
	r = from2_f64(x + y, x, y);
	memcpy(&a, &r, sizeof(a));
	return a;
}

/* The sum of two halves is exact in f32 but for one rounding, as add.f16 has it. */
static uint32_t add_f16(uint32_t a, uint32_t b)
{
	return float_to_half(half_to_float(a) + half_to_float(b), PTX_RND_RN) & 0xffff;
}

static uint32_t add_bf16(uint32_t a, uint32_t b)
{
	return float_to_bhalf(bhalf_to_float(a) + bhalf_to_float(b), PTX_RND_RN) & 0xffff;
}

static uint32_t add_f16x2(uint32_t a, uint32_t b)
{
	return add_f16(a & 0xffff, b & 0xffff) | add_f16(a >> 16, b >> 16) << 16;
}

static uint32_t add_bf16x2(uint32_t a, uint32_t b)
{
	return add_bf16(a & 0xffff, b & 0xffff) | add_bf16(a >> 16, b >> 16) << 16;
}

/* The lanes' operands; red has no destination: its row is the one nobody reads. */
struct operands {
	uint8_t *base;
	const uint64_t *addr;
	const uint64_t *b, *c;
	uint64_t *old;
};

#define EACH(T, expr) \
	do { \
		for (; mask; mask &= mask - 1) { \
			uint32_t lane = __builtin_ctz(mask); \
			uint8_t *at = o->base + o->addr[lane]; \
			T old, new, b = (T)o->b[lane], c = (T)o->c[lane]; \
			(void)c; \
			memcpy(&old, at, sizeof(old)); \
			new = (T)(expr); \
			memcpy(at, &new, sizeof(new)); \
			o->old[lane] = old; \
		} \
	} while (0)

#define INTEGERS(U, S, is_signed) \
	switch (op->atom) { \
	case PTX_ATOM_ADD: \
		EACH(U, old + b); \
		break; \
	case PTX_ATOM_MIN: \
		if (is_signed) \
			EACH(U, (S)b < (S)old ? b : old); \
		else \
			EACH(U, b < old ? b : old); \
		break; \
	case PTX_ATOM_MAX: \
		if (is_signed) \
			EACH(U, (S)b > (S)old ? b : old); \
		else \
			EACH(U, b > old ? b : old); \
		break; \
	case PTX_ATOM_AND: \
		EACH(U, old & b); \
		break; \
	case PTX_ATOM_OR: \
		EACH(U, old | b); \
		break; \
	case PTX_ATOM_XOR: \
		EACH(U, old ^ b); \
		break; \
	case PTX_ATOM_CAS: \
		EACH(U, old == b ? c : old); \
		break; \
	case PTX_ATOM_INC: \
		EACH(U, old >= b ? 0 : old + 1); \
		break; \
	case PTX_ATOM_DEC: \
		EACH(U, old == 0 || old > b ? b : old - 1); \
		break; \
	default: /* PTX_ATOM_EXCH */ \
		EACH(U, b); \
		break; \
	}

static void modify(const struct exec_op *op, uint32_t mask, const struct operands *o, bool global)
{
	bool adds = op->atom == PTX_ATOM_ADD;
	bool is_signed = op->type >= PTX_S8 && op->type <= PTX_S64;

	if (adds && op->type == PTX_F32 && global)
		EACH(uint32_t, add_f32_ftz(old, b));
	else if (adds && op->type == PTX_F32)
		EACH(uint32_t, add_f32(old, b));
	else if (adds && op->type == PTX_F64)
		EACH(uint64_t, add_f64(old, b));
	else if (adds && op->type == PTX_F16)
		EACH(uint16_t, add_f16(old, b));
	else if (adds && op->type == PTX_BF16)
		EACH(uint16_t, add_bf16(old, b));
	else if (adds && op->type == PTX_F16X2)
		EACH(uint32_t, add_f16x2(old, b));
	else if (adds && op->type == PTX_BF16X2)
		EACH(uint32_t, add_bf16x2(old, b));
	else if (op->elem == 8)
		INTEGERS(uint64_t, int64_t, is_signed)
	else if (op->elem == 2)
		INTEGERS(uint16_t, int16_t, is_signed)
	else
		INTEGERS(uint32_t, int32_t, is_signed)
}

void atomic_lanes(const struct exec_op *op, uint8_t *arena, struct exec_access *access,
		  uint32_t mask, uintptr_t base, const uint64_t *addr, bool global)
{
	uint64_t old[WARP_LANES];
	struct operands o = {
		(uint8_t *)base, addr, access->data[0], access->data[1], old
	};
	uint32_t rest;

	modify(op, mask, &o, global);
	for (rest = mask; rest; rest &= rest - 1) {
		uint32_t lane = __builtin_ctz(rest);

		if (op->elem == 8)
			row64(arena, op->dst[0])[lane] = old[lane];
		else
			row32(arena, op->dst[0])[lane] = old[lane];
	}
}

/* The values of a row as 64-bit numbers. */
static const uint64_t *widened(uint8_t *arena, uint32_t row, bool wide, uint64_t *copy)
{
	const uint32_t *row4 = row32(arena, row);
	uint32_t i;

	if (wide)
		return row64(arena, row);
	for (i = 0; i < WARP_LANES; i++)
		copy[i] = row4[i];
	return copy;
}

void atomic_rows(const struct exec_op *op, uint8_t *arena, uint32_t mask, uintptr_t base,
		 const uint64_t *addr, bool global)
{
	uint64_t b[WARP_LANES], c[WARP_LANES], old[WARP_LANES];
	struct operands o = { (uint8_t *)base, addr, NULL, NULL, old };
	uint32_t rest;

	o.b = o.c = widened(arena, op->src[1], op->wide & 1, b);
	if (op->atom == PTX_ATOM_CAS)
		o.c = widened(arena, op->src[2], op->wide & 2, c);
	modify(op, mask, &o, global);
	if (op->dst[0] == NO_ROW)
		return;
	for (rest = mask; rest; rest &= rest - 1) {
		uint32_t lane = __builtin_ctz(rest);

		if (op->elem == 8)
			row64(arena, op->dst[0])[lane] = old[lane];
		else
			row32(arena, op->dst[0])[lane] = old[lane];
	}
}
