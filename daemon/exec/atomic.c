// SPDX-License-Identifier: GPL-2.0
/*
 * atom and red: read, modify, write, one lane after the other in lane order,
 * which is what makes a run repeatable. Called by memory.c with lanes whose
 * memory is there.
 */
#include <string.h>

#include "exec/private.h"

static uint64_t add_f32(uint64_t a, uint64_t b, bool global)
{
	uint32_t x = a, y = b, r;
	float fx, fy, fr;

	/* PTX ISA, atom.add.f32: on global memory subnormals are flushed. */
	if (global && !(x & 0x7f800000))
		x &= 0x80000000;
	if (global && !(y & 0x7f800000))
		y &= 0x80000000;
	memcpy(&fx, &x, sizeof(fx));
	memcpy(&fy, &y, sizeof(fy));
	fr = fx + fy;
	if (fr != fr)
		return 0x7fffffff;
	memcpy(&r, &fr, sizeof(r));
	if (global && !(r & 0x7f800000))
		r &= 0x80000000;
	return r;
}

static uint64_t add_f64(uint64_t a, uint64_t b)
{
	double x, y, r;

	memcpy(&x, &a, sizeof(x));
	memcpy(&y, &b, sizeof(y));
	r = x + y;
	if (r != r)
		return 0x7ff8000000000000ull;
	memcpy(&a, &r, sizeof(a));
	return a;
}

static bool less(uint64_t a, uint64_t b, uint8_t type)
{
	switch (type) {
	case PTX_S32:
		return (int32_t)a < (int32_t)b;
	case PTX_S64:
		return (int64_t)a < (int64_t)b;
	default:
		return a < b;
	}
}

static uint64_t modify(const struct exec_op *op, uint64_t old, uint64_t b, uint64_t c, bool global)
{
	switch (op->atom) {
	case PTX_ATOM_ADD:
		if (op->type == PTX_F32)
			return add_f32(old, b, global);
		if (op->type == PTX_F64)
			return add_f64(old, b);
		return old + b;
	case PTX_ATOM_MIN:
		return less(b, old, op->type) ? b : old;
	case PTX_ATOM_MAX:
		return less(old, b, op->type) ? b : old;
	case PTX_ATOM_AND:
		return old & b;
	case PTX_ATOM_OR:
		return old | b;
	case PTX_ATOM_XOR:
		return old ^ b;
	case PTX_ATOM_CAS:
		return old == b ? c : old;
	case PTX_ATOM_INC:
		return old >= b ? 0 : old + 1;
	case PTX_ATOM_DEC:
		return old == 0 || old > b ? b : old - 1;
	default: /* PTX_ATOM_EXCH */
		return b;
	}
}

void atomic_lanes(const struct exec_op *op, uint8_t *arena, struct exec_access *access,
		  uint32_t mask, uintptr_t base, const uint64_t *addr, bool global)
{
	bool wide = op->elem == 8;
	uint32_t lane;
	uint64_t old, new;

	for (; mask; mask &= mask - 1) {
		lane = __builtin_ctz(mask);
		old = 0;
		memcpy(&old, (const void *)(base + addr[lane]), op->elem);
		new = modify(op, old, access->data[0][lane], access->data[1][lane], global);
		memcpy((void *)(base + addr[lane]), &new, op->elem);
		/* red has no destination: the row is the one nobody reads. */
		if (wide)
			row64(arena, op->dst[0])[lane] = old;
		else
			row32(arena, op->dst[0])[lane] = old;
	}
}
