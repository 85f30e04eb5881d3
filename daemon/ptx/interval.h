/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which integers a register may hold: [lo, hi]. The register's bits are those of one of these
 * integers, cut to its width. So a 32-bit register that counts down from 0 is in [-1, 0], and
 * additions and products need not know whether it is signed. interval_signed() and
 * interval_unsigned() say what the bits mean where it matters. Used by values.c and scratchpad.c.
 */
#ifndef GPUEMU_PTX_INTERVAL_H
#define GPUEMU_PTX_INTERVAL_H

#include "ptx/ptx.h"

struct interval {
	int64_t lo, hi;
};

/* Nothing is known. */
#define INTERVAL_ANY	((struct interval){ INT64_MIN, INT64_MAX })
/* As the upper end of a 64-bit unsigned reading: there may be more. */
#define INTERVAL_MORE	INT64_MAX

static inline bool interval_any(struct interval v)
{
	return v.lo == INT64_MIN && v.hi == INT64_MAX;
}

static inline bool interval_same(struct interval a, struct interval b)
{
	return a.lo == b.lo && a.hi == b.hi;
}

static inline struct interval interval_join(struct interval a, struct interval b)
{
	return (struct interval){ MIN(a.lo, b.lo), MAX(a.hi, b.hi) };
}

/* Bits of an integer type; 0: it is another type. */
unsigned int integer_bits(uint8_t type);
bool integer_signed(uint8_t type);

/* ANY where the interval says nothing about a register of so many bits. */
struct interval interval_fit(struct interval v, unsigned int bits);
/* What the lowest `bits` bits of it are, read as a signed or an unsigned integer. */
struct interval interval_signed(struct interval v, unsigned int bits);
struct interval interval_unsigned(struct interval v, unsigned int bits);
/* The same, as the integer type says. */
struct interval interval_read(struct interval v, uint8_t type);

/* By checked arithmetic: ANY where it does not fit 64 bits. */
struct interval interval_add(struct interval a, struct interval b);

/* The special register; threads is the most that a CTA has. */
struct interval interval_sreg(uint64_t sreg, uint32_t threads);
/* The first destination, of so many bits, by the sources. */
struct interval interval_evaluate(const struct ptx_insn *insn, const struct interval *src,
				  unsigned int bits);

#endif
