// SPDX-License-Identifier: GPL-2.0
/*
 * Conversions to and from f16 and bf16, every pair of types and every rounding,
 * against the definition of the formats. Sources of more bits stand on and
 * beside the points where the rounding turns: a conversion that rounds twice fails.
 */
#include "exec_cases.h"

#include "base/rng.h"
#include "half_reference.h"

enum { MANY = 65536 };

/* A number of the format or between two, and a little beside it. */
static double beside(struct rng *rng, uint32_t i, bool narrow)
{
	static const double little[] = { 0, 0x1p-52, -0x1p-52, 0x1p-24, -0x1p-24, 0x1p-40 };
	const struct format *f = rng_next(rng) & 1 ? &f16 : &bf16;
	double v = value_of(i & 0xffff, f), next = value_of((i & 0x7fff) + 1, f);
	uint64_t r = rng_next(rng);

	next = i & 0x8000 ? -next : next;
	if (r & 1 && isfinite(next) && isfinite(v))
		v = (v + next) / 2;
	v += v * little[(r >> 8) % ARRAY_SIZE(little)];
	if ((r >> 16) % 32 == 0)
		v = f64_of(rng_next(rng));
	if ((r >> 16) % 32 == 1)
		v *= 0x1p-60 * ((r >> 32) & 0xff);
	return narrow ? (float)v : v;
}

/* Around powers of two and halves of a unit of either format. */
static uint64_t whole(struct rng *rng)
{
	uint64_t r = rng_next(rng), v = rng_next(rng) >> (r & 63);
	unsigned int bits = (r >> 8 & 1 ? 12 : 9), shift = (r >> 16) % 54;

	if (r >> 40 & 1) {
		v = (rng_next(rng) & ((1u << bits) - 1)) << shift;
		v += (r >> 48) % 3 - 1;
	}
	return r >> 41 & 1 ? 0 - v : v;
}

/* Integers halfway between two numbers of a format, and one bit above that, wherever it is. */
enum { TIES = 4096 };
static uint64_t beside_tie(uint32_t i)
{
	unsigned int bits = i & 1 ? f16.precision : bf16.precision, low = i >> 1 & 63;
	uint64_t odd = i >> 7 & 1, half = 1ull << (63 - bits);
	uint64_t v = 1ull << 63 | odd << (64 - bits) | half;

	v |= low < 63 - bits ? 1ull << low : 0;
	return v >> (i >> 8 & 15);
}

/* type of the source: h, s, d: half, float, double; w, l: integers, H: an integer of 16 bits. */
static void fill_source(char kind, uint64_t *in)
{
	struct rng rng;
	uint32_t i;

	rng_seed(&rng, kind);
	for (i = 0; i < MANY; i++) {
		switch (kind) {
		case 'h':
			in[i] = i;
			break;
		case 's':
			in[i] = i & 15 ? of_f32(beside(&rng, i, true)) :
				edges32[i / 16 % ARRAY_SIZE(edges32)];
			break;
		case 'd':
			in[i] = i & 15 ? of_f64(beside(&rng, i, false)) :
				edges64[i / 16 % ARRAY_SIZE(edges64)];
			break;
		default:
			in[i] = i < MANY - TIES ? whole(&rng) : beside_tie(i - (MANY - TIES));
			break;
		}
	}
}

struct conversion {
	struct op_case op;
	const char *kinds;	/* of the sources */
};

static void run_conversions(const struct conversion *cases, size_t n)
{
	static uint64_t in[2 * MANY], out[MANY];
	const struct lane_table *lanes;
	unsigned int t, k;
	size_t i;

	for (i = 0; i < n; i++) {
		for (k = 0; cases[i].kinds[k]; k++) {
			fill_source(cases[i].kinds[k], in + k * MANY);
			/* The second source is the first one's in another order. */
			if (k) {
				for (uint32_t j = 0; j < MANY; j++)
					in[MANY + j] = in[j * 40503u % MANY];
			}
		}
		for (t = 0; (lanes = test_table(t)); t++) {
			run_values(&cases[i].op, lanes, t & 1, in, out, MANY);
			check_values(&cases[i].op, t & 1, in, out, MANY);
		}
	}
}

#define CONV(insn, types, kinds, expr) { CASE(insn, types, expr), kinds }

#define FROM_FLOAT	of_double(F32(a))
#define FROM_DOUBLE	of_double(F64(a))
#define TO(f, mode, number) encode(number, &f, mode)

/* One rounding of every type to a half. */
#define TO_HALF(T, f, r, mode) \
	CONV("cvt." r "." T ".f32", "hw", "s", TO(f, mode, FROM_FLOAT)), \
	CONV("cvt." r "." T ".f64", "hl", "d", TO(f, mode, FROM_DOUBLE)), \
	CONV("cvt." r "." T ".u16", "hh", "h", TO(f, mode, of_int(U16(a)))), \
	CONV("cvt." r "." T ".s16", "hh", "h", TO(f, mode, of_int(S16(a)))), \
	CONV("cvt." r "." T ".u32", "hw", "w", TO(f, mode, of_int(U32(a)))), \
	CONV("cvt." r "." T ".s32", "hw", "w", TO(f, mode, of_int(S32(a)))), \
	CONV("cvt." r "." T ".u64", "hl", "l", TO(f, mode, of_int(U64(a)))), \
	CONV("cvt." r "." T ".s64", "hl", "l", TO(f, mode, of_int(S64(a))))
#define TO_HALVES(T, f) \
	TO_HALF(T, f, "rn", FE_TONEAREST), TO_HALF(T, f, "rz", FE_TOWARDZERO), \
	TO_HALF(T, f, "rm", FE_DOWNWARD), TO_HALF(T, f, "rp", FE_UPWARD)

static void to_halves(void **state)
{
	const struct conversion cases[] = {
		TO_HALVES("f16", f16), TO_HALVES("bf16", bf16),
		CONV("cvt.rn.f16.u8", "hh", "h", TO(f16, FE_TONEAREST, of_int(U8(a)))),
		CONV("cvt.rn.f16.s8", "hw", "w", TO(f16, FE_TONEAREST, of_int(S8(a)))),
		CONV("cvt.rn.f16.bf16", "hh", "h", TO(f16, FE_TONEAREST, decode(a & 0xffff, &bf16))),
		CONV("cvt.rz.f16.bf16", "hh", "h", TO(f16, FE_TOWARDZERO, decode(a & 0xffff, &bf16))),
		CONV("cvt.rn.bf16.f16", "hh", "h", TO(bf16, FE_TONEAREST, decode(a & 0xffff, &f16))),
		CONV("cvt.rp.bf16.f16", "hh", "h", TO(bf16, FE_UPWARD, decode(a & 0xffff, &f16))),
	};

	run_conversions(cases, ARRAY_SIZE(cases));
}

static uint32_t relu(uint32_t h, const struct format *f)
{
	return (h & 0x7fff) > f->inf ? 0x7fff : h & 0x8000 ? 0 : h;
}

static uint32_t bounded(uint32_t h, const struct format *f)
{
	return (h & 0x7fff) == f->inf ? h - 1 : h;
}

static uint32_t sat(uint32_t h, const struct format *f)
{
	double v = value_of(h, f);

	return !(v > 0) ? 0 : v > 1 ? encode(of_double(1), f, FE_TONEAREST) : h;
}

static float ftz(float v)
{
	return fpclassify(v) == FP_SUBNORMAL ? copysignf(0, v) : v;
}

#define RN(f, v)	encode(of_double(v), &f, FE_TONEAREST)
#define RZ(f, v)	encode(of_double(v), &f, FE_TOWARDZERO)
/* The first source is the upper half. */
#define BOTH(F, f)	((uint64_t)F(f, F32(a)) << 16 | F(f, F32(b)))
#define RN_RELU(f, v)	relu(RN(f, v), &f)
#define RZ_FINITE(f, v)	bounded(RZ(f, v), &f)
#define RN_FINITE(f, v)	bounded(RN(f, v), &f)
#define ALL_MODS(f, v)	relu(bounded(RN(f, v), &f), &f)

static void modified(void **state)
{
	const struct conversion cases[] = {
		CONV("cvt.rn.sat.f16.f32", "hw", "s", sat(RN(f16, F32(a)), &f16)),
		CONV("cvt.rn.sat.f16.s32", "hw", "w", sat(RN(f16, S32(a)), &f16)),
		CONV("cvt.sat.f16.f16", "hh", "h", sat(a & 0xffff, &f16)),
		CONV("cvt.sat.f32.f16", "wh", "h", ({ double v_ = value_of(a & 0xffff, &f16);
						     R32(!(v_ > 0) ? 0 : v_ > 1 ? 1 : v_); })),
		CONV("cvt.rn.ftz.f16.f32", "hw", "s", RN(f16, ftz(F32(a)))),
		CONV("cvt.f16.f16", "hh", "h", isnan(value_of(a & 0xffff, &f16)) ? 0x7fff : a),
		CONV("cvt.rn.relu.f16.f32", "hw", "s", RN_RELU(f16, F32(a))),
		CONV("cvt.rz.relu.bf16.f32", "hw", "s", relu(RZ(bf16, F32(a)), &bf16)),
		CONV("cvt.rn.satfinite.f16.f32", "hw", "s", RN_FINITE(f16, F32(a))),
		CONV("cvt.rn.relu.satfinite.bf16.f32", "hw", "s", ALL_MODS(bf16, F32(a))),
		CONV("cvt.rn.f16x2.f32", "www", "ss", BOTH(RN, f16)), CONV("cvt.rz.f16x2.f32", "www", "ss", BOTH(RZ, f16)),
		CONV("cvt.rn.bf16x2.f32", "www", "ss", BOTH(RN, bf16)), CONV("cvt.rz.bf16x2.f32", "www", "ss", BOTH(RZ, bf16)),
		CONV("cvt.rn.relu.f16x2.f32", "www", "ss", BOTH(RN_RELU, f16)),
		CONV("cvt.rn.relu.bf16x2.f32", "www", "ss", BOTH(RN_RELU, bf16)),
		CONV("cvt.rz.satfinite.bf16x2.f32", "www", "ss", BOTH(RZ_FINITE, bf16)),
		CONV("cvt.rn.relu.satfinite.f16x2.f32", "www", "ss", BOTH(ALL_MODS, f16)),
	};

	run_conversions(cases, ARRAY_SIZE(cases));
}

/* --- from halves ---------------------------------------------------------------------- */

/* A NaN of f32 in f64: quiet, with its sign and what is in it. */
static uint64_t nan64(uint32_t u)
{
	return (uint64_t)(u & 0x80000000) << 32 | 0x7ff8000000000000ull |
	       (uint64_t)(u & 0x3fffff) << 29;
}

#define V(f)	value_of(a & 0xffff, &f)
#define TO_INT(T, f, r, round) \
	CONV("cvt." r ".u16." T, "hh", "h", to_int(round(V(f)), 16, false)), \
	CONV("cvt." r ".s16." T, "hh", "h", to_int(round(V(f)), 16, true)), \
	CONV("cvt." r ".u32." T, "wh", "h", to_int(round(V(f)), 32, false)), \
	CONV("cvt." r ".s32." T, "wh", "h", to_int(round(V(f)), 32, true)), \
	CONV("cvt." r ".u64." T, "lh", "h", to_int(round(V(f)), 64, false)), \
	CONV("cvt." r ".s64." T, "lh", "h", to_int(round(V(f)), 64, true)), \
	CONV("cvt." r "." T "." T, "hh", "h", RN(f, round(V(f))))
#define TO_OTHERS(T, f) \
	CONV("cvt.f32." T, "wh", "h", isnan(V(f)) ? NAN32_##f(a) : R32(V(f))), \
	CONV("cvt.f64." T, "lh", "h", isnan(V(f)) ? nan64(NAN32_##f(a)) : R64(V(f))), \
	TO_INT(T, f, "rni", nearbyint), TO_INT(T, f, "rzi", trunc), \
	TO_INT(T, f, "rmi", floor), TO_INT(T, f, "rpi", ceil)
/* A bf16 NaN is the upper half of an f32 one. */
#define NAN32_f16(a)	0x7fffffff
#define NAN32_bf16(a)	((a) << 16)

static void from_halves(void **state)
{
	const struct conversion cases[] = {
		TO_OTHERS("f16", f16), TO_OTHERS("bf16", bf16),
		CONV("cvt.rzi.s8.f16", "wh", "h", to_int(trunc(V(f16)), 8, true)),
		CONV("cvt.rni.u8.f16", "hh", "h", U16(to_int(nearbyint(V(f16)), 8, false) & 0xff)),
	};

	run_conversions(cases, ARRAY_SIZE(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(to_halves),
		cmocka_unit_test(modified),
		cmocka_unit_test(from_halves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
