// SPDX-License-Identifier: GPL-2.0
/*
 * Every floating-point instruction of every type and rounding against C, on
 * edge values: exact where PTX is exact, within the documented error where it
 * approximates.
 */
#include "exec_cases.h"

#include <fenv.h>
#include <float.h>

/* Keeps an operation where it stands between two changes of the rounding mode. */
#define OPAQUE(x) ({ __typeof__(x) x_ = (x); __asm__ volatile("" : "+m"(x_)); x_; })

#define IN_MODE(mode, expr) \
	({ \
		fesetround(mode); \
		__typeof__(expr) r_ = OPAQUE(expr); \
		fesetround(FE_TONEAREST); \
		r_; \
	})

static float ftz(float f)
{
	return fpclassify(f) == FP_SUBNORMAL ? copysignf(0, f) : f;
}

static double ftzd(double f)
{
	return fpclassify(f) == FP_SUBNORMAL ? copysign(0, f) : f;
}

static float sat(float f)
{
	return isnan(f) || f <= 0 ? 0 : f > 1 ? 1 : f;
}

/* IEEE 754-2019 minimumNumber: a NaN loses, -0 is less than +0. */
static double minimum(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) ? b : a;
	if (a == 0 && b == 0)
		return signbit(a) ? a : b;
	return a < b ? a : b;
}

static double maximum(double a, double b)
{
	return -minimum(-a, -b);
}

/* A NaN of f64 is the second source's, the third's or the first's, made quiet, or the GPU's own. */
static uint64_t with_nan(double r, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t nan = isnan(F64(b)) ? b : isnan(F64(c)) ? c : isnan(F64(a)) ? a : 0xfff8ull << 48;

	return isnan(r) ? nan | 1ull << 51 : R64(r);
}

/* From f64 to f32 and back, what is in a NaN stays. */
static uint32_t narrow(double d, uint64_t bits)
{
	return isnan(d) ? (uint32_t)(bits >> 32 & 0x80000000) | 0x7fc00000 |
			  (uint32_t)(bits >> 29 & 0x7fffff) : (uint32_t)R32((float)d);
}

static uint64_t widen(float f, uint32_t bits)
{
	return isnan(f) ? (uint64_t)(bits & 0x80000000) << 32 | 0x7ff8ull << 48 |
			  (uint64_t)(bits & 0x7fffff) << 29 : R64((double)f);
}

/* neg and abs do not keep a NaN of f32. */
static uint32_t unless_nan(float f, uint32_t r)
{
	return isnan(f) ? 0x7fffffff : r;
}

/* The sign is the exclusive or of the operands', but a NaN has none. */
static double xor_sign(double r, uint64_t signs)
{
	return isnan(r) ? r : copysign(r, signs & 0x80000000 ? -1 : 1);
}

#define X OPAQUE(F32(a))
#define Y OPAQUE(F32(b))
#define Z OPAQUE(F32(c))
#define DX OPAQUE(F64(a))
#define DY OPAQUE(F64(b))
#define DZ OPAQUE(F64(c))

#define D64(x)	with_nan(x, a, b, c)
/* div: the first source's comes first. */
#define DIV64(mode, fe) \
	CASE("div." mode ".f64", "lll", with_nan(IN_MODE(fe, DX / DY), b, a, 0))

#define MODES32(op, mods, regs, expr) \
	CASE(op ".rn" mods ".f32", regs, R32(expr)), \
	CASE(op ".rz" mods ".f32", regs, R32(IN_MODE(FE_TOWARDZERO, expr))), \
	CASE(op ".rm" mods ".f32", regs, R32(IN_MODE(FE_DOWNWARD, expr))), \
	CASE(op ".rp" mods ".f32", regs, R32(IN_MODE(FE_UPWARD, expr)))
#define MODES64(op, regs, expr) \
	CASE(op ".rn.f64", regs, D64(expr)), \
	CASE(op ".rz.f64", regs, D64(IN_MODE(FE_TOWARDZERO, expr))), \
	CASE(op ".rm.f64", regs, D64(IN_MODE(FE_DOWNWARD, expr))), \
	CASE(op ".rp.f64", regs, D64(IN_MODE(FE_UPWARD, expr)))

static void exact(void **state)
{
	const struct op_case cases[] = {
		CASE("add.f32", "www", R32(X + Y)), CASE("sub.f32", "www", R32(X - Y)),
		CASE("mul.f32", "www", R32(X * Y)),
		CASE("add.f64", "lll", D64(DX + DY)), CASE("sub.f64", "lll", D64(DX - DY)),
		CASE("mul.f64", "lll", D64(DX * DY)),
		MODES32("add", "", "www", X + Y), MODES32("sub", "", "www", X - Y), MODES32("mul", "", "www", X * Y),
		MODES32("div", "", "www", X / Y), MODES32("fma", "", "wwww", fmaf(X, Y, Z)),
		MODES32("mad", "", "wwww", fmaf(X, Y, Z)), MODES32("sqrt", "", "ww", sqrtf(X)),
		MODES32("rcp", "", "ww", 1 / X),
		MODES64("add", "lll", DX + DY), MODES64("sub", "lll", DX - DY), MODES64("mul", "lll", DX * DY),
		DIV64("rn", FE_TONEAREST), DIV64("rz", FE_TOWARDZERO), DIV64("rm", FE_DOWNWARD),
		DIV64("rp", FE_UPWARD), MODES64("fma", "llll", fma(DX, DY, DZ)),
		MODES64("sqrt", "ll", sqrt(DX)), MODES64("rcp", "ll", 1 / DX),
		CASE("add.ftz.f32", "www", R32(ftz(ftz(X) + ftz(Y)))),
		CASE("sub.rn.ftz.f32", "www", R32(ftz(ftz(X) - ftz(Y)))),
		CASE("mul.ftz.f32", "www", R32(ftz(ftz(X) * ftz(Y)))),
		CASE("fma.rn.ftz.f32", "wwww", R32(ftz(fmaf(ftz(X), ftz(Y), ftz(Z))))),
		MODES32("fma", ".ftz", "wwww", ftz(fmaf(ftz(X), ftz(Y), ftz(Z)))),
		MODES32("add", ".ftz", "www", ftz(ftz(X) + ftz(Y))), MODES32("sub", ".ftz", "www", ftz(ftz(X) - ftz(Y))),
		MODES32("mul", ".ftz", "www", ftz(ftz(X) * ftz(Y))), MODES32("div", ".ftz", "www", ftz(ftz(X) / ftz(Y))),
		CASE("mad.rn.ftz.f32", "wwww", R32(ftz(fmaf(ftz(X), ftz(Y), ftz(Z))))),
		CASE("fma.rn.ftz.sat.f32", "wwww", R32(sat(ftz(fmaf(ftz(X), ftz(Y), ftz(Z)))))),
		CASE("abs.ftz.f32", "ww", unless_nan(X, a & 0x7f800000 ? a & 0x7fffffff : 0)),
		CASE("div.rn.ftz.f32", "www", R32(ftz(ftz(X) / ftz(Y)))),
		CASE("sqrt.rn.ftz.f32", "ww", R32(sqrtf(ftz(X)))),
		CASE("rcp.rn.ftz.f32", "ww", R32(ftz(1 / ftz(X)))),
		CASE("add.sat.f32", "www", R32(sat(X + Y))), CASE("mul.ftz.sat.f32", "www", R32(sat(ftz(ftz(X) * ftz(Y))))),
		CASE("fma.rz.sat.f32", "wwww", R32(sat(IN_MODE(FE_TOWARDZERO, fmaf(X, Y, Z))))),
		CASE("min.f32", "www", R32(minimum(X, Y))), CASE("max.f32", "www", R32(maximum(X, Y))),
		CASE("min.f64", "lll", D64(minimum(DX, DY))), CASE("max.f64", "lll", D64(maximum(DX, DY))),
		CASE("min.ftz.f32", "www", R32(minimum(ftz(X), ftz(Y)))),
		CASE("min.NaN.f32", "www", R32(isunordered(X, Y) ? NAN : minimum(X, Y))),
		CASE("max.NaN.f32", "www", R32(isunordered(X, Y) ? NAN : maximum(X, Y))),
		CASE("min.xorsign.abs.f32", "www", R32(xor_sign(minimum(fabs(X), fabs(Y)), a ^ b))),
		CASE("max.xorsign.abs.f32", "www", R32(xor_sign(maximum(fabs(X), fabs(Y)), a ^ b))),
		CASE("max.ftz.NaN.xorsign.abs.f32", "www",
		     R32(isunordered(X, Y) ? NAN :
			 xor_sign(maximum(fabs(ftz(X)), fabs(ftz(Y))), a ^ b))),
		CASE("min.NaN.xorsign.abs.f32", "www",
		     R32(isunordered(X, Y) ? NAN : xor_sign(minimum(fabs(X), fabs(Y)), a ^ b))),
		CASE("abs.f32", "ww", unless_nan(X, a & 0x7fffffff)), CASE("neg.f32", "ww", unless_nan(X, a ^ 0x80000000)),
		CASE("abs.f64", "ll", isnan(DX) ? D64(DX) : a << 1 >> 1), CASE("neg.f64", "ll", isnan(DX) ? D64(DX) : a ^ 1ull << 63),
		CASE("neg.ftz.f32", "ww", unless_nan(X, a & 0x7f800000 ? a ^ 0x80000000 : ~a & 0x80000000)),
		CASE("copysign.f32", "www", (a & 0x80000000) | (b & 0x7fffffff)),
		CASE("copysign.f64", "lll", (a >> 63 << 63) | (b << 1 >> 1)),
		CASE("testp.finite.f32", "pw", isfinite(X)), CASE("testp.infinite.f32", "pw", isinf(X)),
		CASE("testp.number.f32", "pw", !isnan(X)), CASE("testp.notanumber.f64", "pl", isnan(DX)),
		/* PTX ISA: zeros of either sign are normal. */
		CASE("testp.normal.f32", "pw", isnormal(X) || X == 0),
		CASE("testp.normal.f64", "pl", isnormal(DX) || DX == 0),
		CASE("testp.subnormal.f32", "pw", fpclassify(X) == FP_SUBNORMAL),
		CASE("testp.subnormal.f64", "pl", fpclassify(DX) == FP_SUBNORMAL),
	};

	run_cases(cases, ARRAY_SIZE(cases));
}

#define ORDERED(T, regs, P, Q) \
	CASE("setp.eq." T, regs, P == Q), CASE("setp.ne." T, regs, !isunordered(P, Q) && P != Q), \
	CASE("setp.lt." T, regs, isless(P, Q)), CASE("setp.le." T, regs, islessequal(P, Q)), \
	CASE("setp.gt." T, regs, isgreater(P, Q)), CASE("setp.ge." T, regs, isgreaterequal(P, Q)), \
	CASE("setp.equ." T, regs, isunordered(P, Q) || P == Q), \
	CASE("setp.neu." T, regs, isunordered(P, Q) || P != Q), \
	CASE("setp.ltu." T, regs, isunordered(P, Q) || isless(P, Q)), \
	CASE("setp.leu." T, regs, isunordered(P, Q) || islessequal(P, Q)), \
	CASE("setp.gtu." T, regs, isunordered(P, Q) || isgreater(P, Q)), \
	CASE("setp.geu." T, regs, isunordered(P, Q) || isgreaterequal(P, Q)), \
	CASE("setp.num." T, regs, !isunordered(P, Q)), CASE("setp.nan." T, regs, isunordered(P, Q))

static void compare(void **state)
{
	const struct op_case cases[] = {
		ORDERED("f32", "pww", X, Y),
		ORDERED("f64", "pll", DX, DY),
		CASE("setp.lt.ftz.f32", "pww", isless(ftz(X), ftz(Y))),
		CASE("setp.neu.or.f32", "pwwp", isunordered(X, Y) || X != Y || c),
		CASE("set.leu.f32.f32", "www", isunordered(X, Y) || X <= Y ? 0x3f800000 : 0),
		CASE("set.gt.ftz.s32.f32", "www", isgreater(ftz(X), ftz(Y)) ? ~0u : 0),
		CASE("set.num.xor.u32.f64", "wllp", (!isunordered(DX, DY)) ^ c ? ~0u : 0),
	};

	run_cases(cases, ARRAY_SIZE(cases));
}

#define TO_INTS(mode, round, from, reg, V, bits) \
	CASE("cvt." mode ".u8." from, "w" reg, U8(to_int_from(round(V), 8, false, bits))), \
	CASE("cvt." mode ".s8." from, "w" reg, to_int_from(round(V), 8, true, bits)), \
	CASE("cvt." mode ".u16." from, "h" reg, to_int_from(round(V), 16, false, bits)), \
	CASE("cvt." mode ".s16." from, "h" reg, to_int_from(round(V), 16, true, bits)), \
	CASE("cvt." mode ".u32." from, "w" reg, to_int_from(round(V), 32, false, bits)), \
	CASE("cvt." mode ".s32." from, "w" reg, to_int_from(round(V), 32, true, bits)), \
	CASE("cvt." mode ".u64." from, "l" reg, to_int_from(round(V), 64, false, bits)), \
	CASE("cvt." mode ".s64." from, "l" reg, to_int_from(round(V), 64, true, bits))

#define FROM_INTS(mode, fe) \
	CASE("cvt." mode ".f32.u32", "ww", R32(IN_MODE(fe, (float)OPAQUE(U32(a))))), \
	CASE("cvt." mode ".f32.s32", "ww", R32(IN_MODE(fe, (float)OPAQUE(S32(a))))), \
	CASE("cvt." mode ".f32.u64", "wl", R32(IN_MODE(fe, (float)OPAQUE(U64(a))))), \
	CASE("cvt." mode ".f32.s64", "wl", R32(IN_MODE(fe, (float)OPAQUE(S64(a))))), \
	CASE("cvt." mode ".f64.u64", "ll", R64(IN_MODE(fe, (double)OPAQUE(U64(a))))), \
	CASE("cvt." mode ".f64.s64", "ll", R64(IN_MODE(fe, (double)OPAQUE(S64(a))))), \
	CASE("cvt." mode ".f32.f64", "wl", isnan(DX) ? narrow(DX, a) : R32(IN_MODE(fe, (float)DX)))

#define UPPER_NAN	0x7fffffff00000000ull

static void convert(void **state)
{
	const struct op_case cases[] = {
		TO_INTS("rzi", trunc, "f32", "w", X, 32), TO_INTS("rni", nearbyint, "f32", "w", X, 32),
		TO_INTS("rmi", floor, "f32", "w", X, 32), TO_INTS("rpi", ceil, "f32", "w", X, 32),
		TO_INTS("rzi", trunc, "f64", "l", DX, 64), TO_INTS("rni", nearbyint, "f64", "l", DX, 64),
		TO_INTS("rmi", floor, "f64", "l", DX, 64), TO_INTS("rpi", ceil, "f64", "l", DX, 64),
		CASE("cvt.rpi.ftz.s32.f32", "ww", to_int(ceil(ftz(X)), 32, true)),
		CASE("cvt.rzi.s8.f32", "lw", to_int(trunc(X), 8, true)),
		FROM_INTS("rn", FE_TONEAREST), FROM_INTS("rz", FE_TOWARDZERO),
		FROM_INTS("rm", FE_DOWNWARD), FROM_INTS("rp", FE_UPWARD),
		CASE("cvt.rn.f32.u8", "ww", R32(U8(a))), CASE("cvt.rn.f32.s8", "ww", R32(S8(a))),
		CASE("cvt.rn.f32.u16", "wh", R32(U16(a))), CASE("cvt.rn.f64.s16", "lh", R64(S16(a))),
		CASE("cvt.rn.f64.u32", "lw", R64(U32(a))), CASE("cvt.rn.f64.s32", "lw", R64(S32(a))),
		CASE("cvt.rn.sat.f32.s32", "ww", R32(sat((float)S32(a)))),
		CASE("cvt.f64.f32", "lw", widen(X, a)), CASE("cvt.ftz.f64.f32", "lw", widen(ftz(X), a)),
		CASE("cvt.rn.ftz.f32.f64", "wl", isnan(DX) ? narrow(DX, a) : R32(ftz((float)DX))),
		CASE("cvt.rni.f32.f32", "ww", R32(nearbyintf(X))), CASE("cvt.rzi.f32.f32", "ww", R32(truncf(X))),
		CASE("cvt.rmi.f64.f64", "ll", D64(floor(DX))), CASE("cvt.rpi.f64.f64", "ll", D64(ceil(DX))),
		CASE("cvt.sat.f32.f32", "ww", R32(sat(X))),
		CASE("cvt.rn.f32.u32", "wl", R32((float)U32(a))),
	};

	run_cases(cases, ARRAY_SIZE(cases));
}

/* --- approximations -------------------------------------------------------------- */

struct approx_case {
	const char *insn;
	double (*exact)(double);
	double relative, absolute, least, most;
};

static double rcp(double x)
{
	return 1 / x;
}

static double rsqrt(double x)
{
	return 1 / sqrt(x);
}

/* The angle in turns, cut to f32, of which the whole ones count for nothing. */
static double sin_of_turns(double x)
{
	float t = IN_MODE(FE_TOWARDZERO, OPAQUE((float)x) * OPAQUE(0x1.45f306p-3f));

	return sin(2 * M_PI * ((double)t - rint(t)));
}

/* PTX ISA: the documented maximum errors. */
static const struct approx_case approximations[] = {
	{ "sin.approx.f32", sin, 0, 0x1p-20, -M_PI, M_PI },
	{ "cos.approx.f32", cos, 0, 0x1p-20, -M_PI, M_PI },
	{ "sin.approx.f32", sin_of_turns, 0, 0x1p-24, -1e5, 1e5 },
	{ "sin.approx.f32", sin_of_turns, 0, 0x1p-24, 1, 1e30 },
	{ "sin.approx.ftz.f32", sin, 0x1p-22, 0, 1e-37, 0.5 },
	{ "tanh.approx.f32", tanh, 0x1p-22, 0x1p-149, -12, 12 },
	{ "tanh.approx.f32", tanh, 0x1p-22, 0x1p-149, 1e-44, 100 },
	{ "ex2.approx.ftz.f32", exp2, 0x1p-22, 0x1p-126, -160, -100 },
	{ "lg2.approx.ftz.f32", log2, 0x1p-22, 0, 1.2e-38, 0.5 },
	{ "sqrt.approx.ftz.f32", sqrt, 0x1p-23, 0, 1.2e-38, 3e38 },
	{ "ex2.approx.f32", exp2, 0x1p-22, 0, -126, 127.9 },
	{ "lg2.approx.f32", log2, 0x1p-22, 0, 2, 1e38 },
	{ "lg2.approx.f32", log2, 0, 0x1p-22, 0.5, 2 },
	{ "lg2.approx.f32", log2, 0x1p-22, 0, 1e-44, 0.5 },
	{ "rcp.approx.f32", rcp, 0x1p-23, 0, 1e-38, 1e38 },
	{ "sqrt.approx.f32", sqrt, 0x1p-23, 0, 1e-38, 1e38 },
	{ "rsqrt.approx.f32", rsqrt, 0x1p-22, 0, 1e-44, 1e38 },
	{ "rsqrt.approx.ftz.f32", rsqrt, 0x1p-22, 0, 1e-37, 1e38 },
};

static void run_unary(const char *insn, const struct lane_table *lanes, const float *in,
		      float *out, uint32_t n)
{
	struct op_case c = { insn, "ww", NULL };
	static uint64_t wide_in[MAX_VALUES], wide_out[MAX_VALUES];
	char text[4096];
	struct run run;
	uint32_t i;

	for (i = 0; i < n; i++)
		wide_in[i] = of_f32(in[i]);
	case_text(&c, text, sizeof(text));
	run_load_with(&run, text, "k", lanes);
	run_ptr(&run, wide_in);
	run_ptr(&run, wide_out);
	run_u32(&run, MAX_VALUES);
	run_u32(&run, 0);
	run_u32(&run, n);
	assert_int_equal(run_grid(&run, DIV_ROUND_UP(n, 128), 1, 128, 1), 0);
	run_free(&run);
	for (i = 0; i < n; i++)
		out[i] = F32(wide_out[i]);
}

static void approximate(void **state)
{
	static float in[MAX_VALUES], out[MAX_VALUES], portable[MAX_VALUES];
	size_t k;
	int i;

	for (k = 0; k < ARRAY_SIZE(approximations); k++) {
		const struct approx_case *c = &approximations[k];

		for (i = 0; i < MAX_VALUES; i++) {
			double t = (double)i / (MAX_VALUES - 1);

			in[i] = c->least > 0 ? c->least * pow(c->most / c->least, t) :
				c->least + (c->most - c->least) * t;
		}
		run_unary(c->insn, &lanes_portable, in, portable, MAX_VALUES);
		run_unary(c->insn, NULL, in, out, MAX_VALUES);
		assert_memory_equal(out, portable, sizeof(out));
		for (i = 0; i < MAX_VALUES; i++) {
			double exact = c->exact(in[i]), error = fabs(out[i] - exact);

			if (error > fabs(exact) * c->relative + c->absolute)
				fail_msg("%s(%a) is %a, not %a", c->insn, in[i], out[i], exact);
		}
	}
}

#define UPPER(bits)	((bits) & 0xffffffff00000000)

/* The tables of special values that PTX gives with each. */
static void approximate_edges(void **state)
{
	static const struct {
		const char *insn;
		float in, out;
	} edges[] = {
		{ "sin.approx.f32", -0.0f, -0.0f }, { "sin.approx.f32", INFINITY, NAN },
		{ "sin.approx.f32", NAN, NAN }, { "cos.approx.f32", 0.0f, 1.0f },
		{ "cos.approx.f32", -INFINITY, NAN },
		{ "tanh.approx.f32", INFINITY, 1.0f }, { "tanh.approx.f32", -INFINITY, -1.0f },
		{ "tanh.approx.f32", -0.0f, -0.0f }, { "tanh.approx.f32", NAN, NAN },
		{ "ex2.approx.f32", -INFINITY, 0.0f }, { "ex2.approx.f32", INFINITY, INFINITY },
		{ "ex2.approx.f32", -0.0f, 1.0f }, { "ex2.approx.f32", NAN, NAN },
		{ "ex2.approx.f32", 1000, INFINITY }, { "ex2.approx.f32", -1000, 0.0f },
		{ "ex2.approx.f32", -140, 0x1p-140f }, { "ex2.approx.ftz.f32", -140, 0.0f },
		{ "ex2.approx.f32", 10, 1024 },
		{ "lg2.approx.f32", 0.0f, -INFINITY }, { "lg2.approx.f32", -0.0f, -INFINITY },
		{ "lg2.approx.f32", -1.0f, NAN }, { "lg2.approx.f32", INFINITY, INFINITY },
		{ "lg2.approx.f32", 0x1p-149f, -149 }, { "lg2.approx.ftz.f32", 0x1p-149f, -INFINITY },
		{ "lg2.approx.f32", 1.0f, 0.0f }, { "lg2.approx.f32", 0x1p100f, 100 },
		{ "rsqrt.approx.f32", 0.0f, INFINITY }, { "rsqrt.approx.f32", -0.0f, -INFINITY },
		{ "rsqrt.approx.f32", -1.0f, NAN }, { "rsqrt.approx.f32", INFINITY, 0.0f },
		{ "rsqrt.approx.f32", 4.0f, 0.5f },
		{ "rcp.approx.f32", -0.0f, -INFINITY }, { "rcp.approx.f32", -INFINITY, -0.0f },
		{ "rcp.approx.ftz.f32", 0x1p127f, 0.0f },
		{ "sqrt.approx.f32", -1.0f, NAN }, { "sqrt.approx.f32", -0.0f, -0.0f },
	};
	const struct op_case divisions[] = {
		CASE("div.approx.f32", "www", R32(fabsf(Y) > 0x1p126f && fabsf(Y) <= FLT_MAX ?
						  X * copysignf(0, Y) : X / Y)),
		CASE("div.full.f32", "www", R32(X / Y)),
		/* These read the upper word and write one. */
		CASE("rcp.approx.ftz.f64", "ll", isnan(DX) ? UPPER_NAN :
		     UPPER(R64(ftzd(F64(UPPER(R64(1 / F64(UPPER(R64(ftzd(DX))))))))))),
		CASE("rsqrt.approx.ftz.f64", "ll", isnan(DX) || ftzd(DX) < 0 ? UPPER_NAN :
		     UPPER(R64(ftzd(1 / sqrt(F64(UPPER(R64(ftzd(DX)))))))))
	};
	float out;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(edges); i++) {
		run_unary(edges[i].insn, NULL, &edges[i].in, &out, 1);
		if (of_f32(out) != of_f32(edges[i].out))
			fail_msg("%s(%a) is %a, not %a", edges[i].insn, edges[i].in, out, edges[i].out);
	}
	run_cases(divisions, ARRAY_SIZE(divisions));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact),
		cmocka_unit_test(compare),
		cmocka_unit_test(convert),
		cmocka_unit_test(approximate),
		cmocka_unit_test(approximate_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
