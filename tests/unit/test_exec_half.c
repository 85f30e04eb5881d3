// SPDX-License-Identifier: GPL-2.0
/*
 * f16, f16x2, bf16 and bf16x2 against the definition of the formats: all
 * 65536 values where there is one operand, and where there are more, edges by
 * edges and random bits.
 */
#include "exec_cases.h"

#include "base/rng.h"
#include "half_reference.h"

enum { ALL = 65536 };

static const uint16_t edges[] = {
	0, 1, 2, 0x3fe, 0x3ff, 0x400, 0x401, 0x7f, 0x80, 0x81, 0x1400, 0x3bff, 0x3c00, 0x3c01,
	0x3f7f, 0x3f80, 0x3f81, 0x3e00, 0x4248, 0x5640, 0x63ff, 0x6400, 0x7bfe, 0x7bff, 0x7c00,
	0x7c01, 0x7e00, 0x7f7f, 0x7f80, 0x7f81, 0x7fff, 0x0bff, 0x1c00, 0x2c00,
};

static uint32_t half_edge(uint32_t i)
{
	uint32_t h = edges[i / 2 % ARRAY_SIZE(edges)];

	return i & 1 ? h | 0x8000 : h;
}

/* Operands: edges in every combination of two, then random ones of close exponents. */
static void fill_operands(uint64_t *in, uint32_t n, bool pair)
{
	uint32_t i, k, e = 2 * ARRAY_SIZE(edges);
	struct rng rng;

	rng_seed(&rng, 42);
	for (i = 0; i < n; i++) {
		uint64_t r = rng_next(&rng), other = rng_next(&rng);
		uint32_t near = r & 0x7f80;

		for (k = 0; k < 3; k++) {
			uint32_t h = r >> 16 * (k + 1) & 0xffff;

			if (i < e * e)
				h = half_edge(k == 0 ? i % e : k == 1 ? i / e : i * 7 + i / 61);
			else if (i & 1)
				h = (h & 0x83ff) + near;
			else if (i & 2 && k == 2)
				h = (h & 0x807f) | (near > 0x1000 ? near - 0x0800 : near);
			in[k * n + i] = pair ? h | (other >> 16 * k & 0xffff) << 16 : h;
		}
	}
}

static void run_filled(const struct op_case *cases, size_t count, bool pair)
{
	static uint64_t in[3 * 16384], out[16384];
	const struct lane_table *lanes;
	unsigned int t;
	size_t i;

	fill_operands(in, 16384, pair);
	for (i = 0; i < count; i++) {
		for (t = 0; (lanes = test_table(t)); t++) {
			run_values(&cases[i], lanes, i & 1, in, out, 16384);
			check_values(&cases[i], i & 1, in, out, 16384);
		}
	}
}

static const struct format *fmt(const char *name)
{
	return name[0] == 'b' ? &bf16 : &f16;
}

static uint32_t ftz(uint32_t h)
{
	return h & 0x7c00 ? h : h & 0x8000;
}

static bool is_nan(uint32_t h, const struct format *f)
{
	return (h & 0x7fff) > f->inf;
}

static uint32_t sat(uint32_t h, const struct format *f)
{
	double v = value_of(h, f);

	return !(v > 0) ? 0 : v > 1 ? encode(of_double(1), f, FE_TONEAREST) : h;
}

static uint32_t relu(uint32_t h, const struct format *f)
{
	return is_nan(h, f) ? 0x7fff : h & 0x8000 ? 0 : h;
}

#define D(h, f)	decode((h) & 0xffff, &f)
#define RN(x, f) encode(x, &f, FE_TONEAREST)
#define ADD(a, b, f) RN(add(D(a, f), D(b, f)), f)
/* neg and abs do not keep a NaN. */
static uint32_t no_nan(uint32_t h, const struct format *f)
{
	return (h & 0x7fff) > f->inf ? 0x7fff : h & 0xffff;
}

#define F16_NAN(h)	no_nan(h, &f16)
#define BF16_NAN(h)	no_nan(h, &bf16)
#define NAN2(w, f)	BOTH(no_nan((w) & 0xffff, &f), no_nan((w) >> 16, &f))
#define SUB(a, b, f) RN(add(D(a, f), negate(D(b, f))), f)
#define MUL(a, b, f) RN(multiply(D(a, f), D(b, f)), f)
#define FMA(a, b, c, f) RN(add(multiply(D(a, f), D(b, f)), D(c, f)), f)

/* IEEE 754-2019: minimumNumber, or minimum with .NaN; by values. */
static uint32_t extreme(uint32_t a, uint32_t b, const struct format *f, int direction, bool nan,
			bool xorsign)
{
	uint32_t sign = (a ^ b) & 0x8000, r;
	double x, y;

	if (xorsign) {
		a &= 0x7fff;
		b &= 0x7fff;
	}
	x = value_of(a, f);
	y = value_of(b, f);
	if ((isnan(x) && isnan(y)) || (nan && (isnan(x) || isnan(y))))
		return 0x7fff;
	if (isnan(x) || isnan(y))
		r = isnan(x) ? b : a;
	else if (x == y)
		r = (signbit(x) ? -1 : 1) * direction > 0 ? a : b;
	else
		r = (x > y) == (direction > 0) ? a : b;
	return xorsign ? r | sign : r;
}
#define MINMAX(op, type, f, dir) \
	CASE(op "." type, "hhh", extreme(a, b, &f, dir, false, false)), \
	CASE(op ".NaN." type, "hhh", extreme(a, b, &f, dir, true, false)), \
	CASE(op ".xorsign.abs." type, "hhh", extreme(a, b, &f, dir, false, true)), \
	CASE(op ".NaN.xorsign.abs." type, "hhh", extreme(a, b, &f, dir, true, true))

static void scalar(void **state)
{
	const struct op_case cases[] = {
		CASE("add.f16", "hhh", ADD(a, b, f16)), CASE("sub.rn.f16", "hhh", SUB(a, b, f16)),
		CASE("mul.f16", "hhh", MUL(a, b, f16)), CASE("fma.rn.f16", "hhhh", FMA(a, b, c, f16)),
		CASE("add.rn.bf16", "hhh", ADD(a, b, bf16)), CASE("sub.bf16", "hhh", SUB(a, b, bf16)),
		CASE("mul.bf16", "hhh", MUL(a, b, bf16)), CASE("fma.rn.bf16", "hhhh", FMA(a, b, c, bf16)),
		CASE("add.ftz.f16", "hhh", ftz(ADD(ftz(a), ftz(b), f16))),
		CASE("sub.sat.f16", "hhh", sat(SUB(a, b, f16), &f16)),
		CASE("mul.ftz.sat.f16", "hhh", sat(ftz(MUL(ftz(a), ftz(b), f16)), &f16)),
		CASE("fma.rn.ftz.f16", "hhhh", ftz(FMA(ftz(a), ftz(b), ftz(c), f16))),
		CASE("fma.rn.sat.f16", "hhhh", sat(FMA(a, b, c, f16), &f16)),
		CASE("fma.rn.relu.f16", "hhhh", relu(FMA(a, b, c, f16), &f16)),
		CASE("fma.rn.ftz.relu.f16", "hhhh", relu(ftz(FMA(ftz(a), ftz(b), ftz(c), f16)), &f16)),
		CASE("fma.rn.relu.bf16", "hhhh", relu(FMA(a, b, c, bf16), &bf16)),
		MINMAX("min", "f16", f16, -1), MINMAX("max", "f16", f16, 1),
		MINMAX("min", "bf16", bf16, -1), MINMAX("max", "bf16", bf16, 1),
		CASE("min.ftz.f16", "hhh", ftz(extreme(ftz(a), ftz(b), &f16, -1, false, false))),
		CASE("abs.f16", "hh", F16_NAN(a & 0x7fff)), CASE("neg.bf16", "hh", BF16_NAN(a ^ 0x8000)),
		CASE("abs.ftz.f16", "hh", F16_NAN(ftz(a) & 0x7fff)), CASE("neg.ftz.f16", "hh", F16_NAN(ftz(a) ^ 0x8000)),
		CASE("neg.f16", "hh", F16_NAN(a ^ 0x8000)), CASE("abs.bf16", "hh", BF16_NAN(a & 0x7fff)),
		CASE("selp.b16", "hhhp", U32(c) ? a : b), CASE("mov.b16", "hh", a),
	};

	run_filled(cases, ARRAY_SIZE(cases), false);
}

#define BOTH(low, high)	((uint64_t)(low) | (uint64_t)(high) << 16)
#define PAIR2(F, f)	BOTH(F(a & 0xffff, b & 0xffff, f), F(a >> 16, b >> 16, f))
#define PAIR3(F, f)	BOTH(F(a & 0xffff, b & 0xffff, c & 0xffff, f), \
			     F(a >> 16, b >> 16, c >> 16, f))
#define MIN_H(a, b, f)	extreme(a, b, &f, -1, false, false)
#define MAX_NAN(a, b, f) extreme(a, b, &f, 1, true, false)
#define MIN_XOR(a, b, f) extreme(a, b, &f, -1, false, true)
#define ADD_SAT(a, b, f) sat(ADD(a, b, f), &f)
#define MUL_FTZ(a, b, f) ftz(MUL(ftz(a), ftz(b), f))
#define FMA_RELU(a, b, c, f) relu(FMA(a, b, c, f), &f)
#define FMA_SAT(a, b, c, f) sat(ftz(FMA(ftz(a), ftz(b), ftz(c), f)), &f)

static void pairs(void **state)
{
	const struct op_case cases[] = {
		CASE("add.f16x2", "www", PAIR2(ADD, f16)), CASE("sub.rn.f16x2", "www", PAIR2(SUB, f16)),
		CASE("mul.f16x2", "www", PAIR2(MUL, f16)), CASE("fma.rn.f16x2", "wwww", PAIR3(FMA, f16)),
		CASE("add.bf16x2", "www", PAIR2(ADD, bf16)), CASE("sub.bf16x2", "www", PAIR2(SUB, bf16)),
		CASE("mul.rn.bf16x2", "www", PAIR2(MUL, bf16)), CASE("fma.rn.bf16x2", "wwww", PAIR3(FMA, bf16)),
		CASE("add.sat.f16x2", "www", PAIR2(ADD_SAT, f16)), CASE("mul.ftz.f16x2", "www", PAIR2(MUL_FTZ, f16)),
		CASE("fma.rn.relu.f16x2", "wwww", PAIR3(FMA_RELU, f16)),
		CASE("fma.rn.ftz.sat.f16x2", "wwww", PAIR3(FMA_SAT, f16)),
		CASE("fma.rn.relu.bf16x2", "wwww", PAIR3(FMA_RELU, bf16)),
		CASE("min.f16x2", "www", PAIR2(MIN_H, f16)), CASE("max.NaN.f16x2", "www", PAIR2(MAX_NAN, f16)),
		CASE("min.xorsign.abs.bf16x2", "www", PAIR2(MIN_XOR, bf16)),
		CASE("max.NaN.bf16x2", "www", PAIR2(MAX_NAN, bf16)),
		CASE("abs.f16x2", "ww", NAN2(a & 0x7fff7fff, f16)), CASE("neg.f16x2", "ww", NAN2(a ^ 0x80008000, f16)),
		CASE("abs.bf16x2", "ww", NAN2(a & 0x7fff7fff, bf16)), CASE("neg.bf16x2", "ww", NAN2(a ^ 0x80008000, bf16)),
		CASE("neg.ftz.f16x2", "ww", NAN2(BOTH(ftz(a & 0xffff), ftz(a >> 16)) ^ 0x80008000, f16)),
	};

	run_filled(cases, ARRAY_SIZE(cases), true);
}

/* --- comparisons ---------------------------------------------------------------------- */

#define X(f)	value_of(a & 0xffff, &f)
#define Y(f)	value_of(b & 0xffff, &f)
#define X_HIGH(f) value_of(a >> 16, &f)
#define Y_HIGH(f) value_of(b >> 16, &f)
#define ORDERED(T, f) \
	CASE("setp.eq." T, "phh", X(f) == Y(f)), CASE("setp.ne." T, "phh", islessgreater(X(f), Y(f))), \
	CASE("setp.lt." T, "phh", isless(X(f), Y(f))), CASE("setp.le." T, "phh", islessequal(X(f), Y(f))), \
	CASE("setp.gt." T, "phh", isgreater(X(f), Y(f))), CASE("setp.ge." T, "phh", isgreaterequal(X(f), Y(f))), \
	CASE("setp.equ." T, "phh", !islessgreater(X(f), Y(f))), CASE("setp.neu." T, "phh", X(f) != Y(f)), \
	CASE("setp.ltu." T, "phh", !isgreaterequal(X(f), Y(f))), CASE("setp.leu." T, "phh", !isgreater(X(f), Y(f))), \
	CASE("setp.gtu." T, "phh", !islessequal(X(f), Y(f))), CASE("setp.geu." T, "phh", !isless(X(f), Y(f))), \
	CASE("setp.num." T, "phh", !isunordered(X(f), Y(f))), CASE("setp.nan." T, "phh", isunordered(X(f), Y(f)))

static void compare(void **state)
{
	const struct op_case cases[] = {
		ORDERED("f16", f16), ORDERED("bf16", bf16),
		CASE("setp.lt.ftz.f16", "phh", isless(value_of(ftz(a), &f16), value_of(ftz(b), &f16))),
		CASE("setp.gt.and.f16", "phhp", isgreater(X(f16), Y(f16)) && U32(c)),
		CASE("set.lt.f16.f16", "hhh", isless(X(f16), Y(f16)) ? 0x3c00 : 0),
		CASE("set.geu.bf16.bf16", "hhh", !isless(X(bf16), Y(bf16)) ? 0x3f80 : 0),
		CASE("set.eq.u16.f16", "hhh", X(f16) == Y(f16) ? 0xffff : 0),
		CASE("set.neu.s32.bf16", "whh", X(bf16) != Y(bf16) ? ~0u : 0),
		CASE("set.nan.or.u32.f16", "whhp", isunordered(X(f16), Y(f16)) || U32(c) ? ~0u : 0),
		CASE("set.gt.f16.u16", "hhh", (a & 0xffff) > (b & 0xffff) ? 0x3c00 : 0),
	};

	run_filled(cases, ARRAY_SIZE(cases), false);
}

/* setp gives two predicates; their instruction is a text of its own. */
#define TWO(insn)	".reg .pred %a, %b;\n" insn ";\nselp.u32 %w0, 1, 0, %a;\n" \
			"selp.u32 %t, 2, 0, %b;\nor.b32 %w0, %w0, %t;"

static void compare_pairs(void **state)
{
	const struct op_case cases[] = {
		CASE(TWO("setp.lt.f16x2 %a|%b, %w1, %w2"), "www",
		     isless(X(f16), Y(f16)) | isless(X_HIGH(f16), Y_HIGH(f16)) << 1),
		CASE(TWO("setp.neu.bf16x2 %a|%b, %w1, %w2"), "www",
		     (X(bf16) != Y(bf16)) | (X_HIGH(bf16) != Y_HIGH(bf16)) << 1),
		CASE(TWO("setp.ge.xor.f16x2 %a|%b, %w1, %w2, %p3"), "wwwp",
		     (isgreaterequal(X(f16), Y(f16)) ^ !!U32(c)) |
		     (isgreaterequal(X_HIGH(f16), Y_HIGH(f16)) ^ !!U32(c)) << 1),
		CASE(TWO("setp.eq.ftz.f16x2 %a|%b, %w1, %w2"), "www",
		     (value_of(ftz(a & 0xffff), &f16) == value_of(ftz(b & 0xffff), &f16)) |
		     (value_of(ftz(a >> 16), &f16) == value_of(ftz(b >> 16), &f16)) << 1),
		CASE("set.lt.f16x2.f16x2", "www",
		     BOTH(isless(X(f16), Y(f16)) ? 0x3c00 : 0,
			  isless(X_HIGH(f16), Y_HIGH(f16)) ? 0x3c00 : 0)),
		CASE("set.num.bf16x2.bf16x2", "www",
		     BOTH(isunordered(X(bf16), Y(bf16)) ? 0 : 0x3f80,
			  isunordered(X_HIGH(bf16), Y_HIGH(bf16)) ? 0 : 0x3f80)),
		CASE("set.gtu.u32.f16x2", "www",
		     BOTH(!islessequal(X(f16), Y(f16)) ? 0xffff : 0,
			  !islessequal(X_HIGH(f16), Y_HIGH(f16)) ? 0xffff : 0)),
	};

	run_filled(cases, ARRAY_SIZE(cases), true);
}

/* --- approximations ------------------------------------------------------------------- */

/* PTX ISA: ex2 2^-9.9 (f16) and 2^-7 (bf16) relative; tanh 2^-10.987 and 2^-8. */
static void approximate(void **state)
{
	static const struct {
		const char *insn;
		double (*exact)(double);
		double relative, absolute;
	} cases[] = {
		{ "ex2.approx.f16", exp2, 0x1p-10, 0x1p-25 },
		{ "ex2.approx.ftz.bf16", exp2, 0x1p-7, 0x1p-126 },
		{ "tanh.approx.f16", tanh, 0x1p-11, 0x1p-25 },
		{ "tanh.approx.bf16", tanh, 0x1p-8, 0x1p-134 },
		{ "ex2.approx.f16x2", exp2, 0x1p-10, 0x1p-25 },
		{ "ex2.approx.ftz.bf16x2", exp2, 0x1p-7, 0x1p-126 },
		{ "tanh.approx.f16x2", tanh, 0x1p-11, 0x1p-25 },
		{ "tanh.approx.bf16x2", tanh, 0x1p-8, 0x1p-134 },
	};
	static uint64_t in[ALL], out[ALL];
	const struct lane_table *lanes;
	unsigned int k, i, t;

	for (k = 0; k < ARRAY_SIZE(cases); k++) {
		const struct format *f = fmt(strchr(cases[k].insn, 'b') ? "bf16" : "f16");
		bool pair = strstr(cases[k].insn, "16x2");
		const struct op_case c = { cases[k].insn, pair ? "ww" : "hh", NULL };

		for (i = 0; i < ALL; i++)
			in[i] = pair ? i << 16 | (ALL - 1 - i) : i;
		for (t = 0; (lanes = test_table(t)); t++) {
			run_values(&c, lanes, false, in, out, ALL);
			for (i = 0; i < ALL; i++) {
				uint32_t bits = pair ? out[i] >> 16 : out[i];
				double x = value_of(i, f), y = value_of(bits, f);
				double e = cases[k].exact(x);
				double largest = value_of(f->inf - 1, f);

				double most = fabs(e) * cases[k].relative + cases[k].absolute;

				if (isnan(x) ? bits == 0x7fff : fabs(y - e) <= most || y == e ||
				    (isinf(y) && e > largest))
					continue;
				fail_msg("%s(%a) is %a, not %a", cases[k].insn, x, y, e);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scalar),
		cmocka_unit_test(pairs),
		cmocka_unit_test(compare),
		cmocka_unit_test(compare_pairs),
		cmocka_unit_test(approximate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
