/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs one instruction on every pair of edge values and compares with an
 * expression of C, for test_exec_*.c: with all lanes and with the odd ones only,
 * with each build of the lanes.
 */
#ifndef TESTS_UNIT_EXEC_CASES_H
#define TESTS_UNIT_EXEC_CASES_H

#include <math.h>

#include "exec_runner.h"
#include "exec_tables.h"

/*
 * types: of the destination and the sources: h, w, l: 16, 32, 64 bits; p: predicate.
 * insn is an instruction without its operands, or with a ';' in it several, which
 * read %w1, %w2, ... and write %w0 (%h, %l, %p by the types).
 */
struct op_case {
	const char *insn, *types;
	uint64_t (*expect)(uint64_t a, uint64_t b, uint64_t c, uint64_t e);
};

#define CASE(insn, types, expr) \
	{ insn, types, ({ \
		uint64_t expect_(uint64_t a, uint64_t b, uint64_t c, uint64_t e) \
		{ \
			(void)a, (void)b, (void)c, (void)e; \
			return (uint64_t)(expr); \
		} \
		expect_; }) }

static inline float f32_of(uint64_t bits)
{
	uint32_t low = bits;
	float f;

	memcpy(&f, &low, sizeof(f));
	return f;
}

static inline double f64_of(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

/* Results: NaN is PTX's. */
static inline uint64_t of_f32(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return f != f ? 0x7fffffff : bits;
}

static inline uint64_t of_f64(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return d != d ? 0x7ff8000000000000ull : bits;
}

#define U8(x)	((uint8_t)(x))
#define S8(x)	((int8_t)(x))
#define U16(x)	((uint16_t)(x))
#define S16(x)	((int16_t)(x))
#define U32(x)	((uint32_t)(x))
#define S32(x)	((int32_t)(x))
#define U64(x)	((uint64_t)(x))
#define S64(x)	((int64_t)(x))
#define F32(x)	f32_of(x)
#define F64(x)	f64_of(x)
#define R32(x)	of_f32(x)
#define R64(x)	of_f64(x)

/*
 * Saturating conversion of an integral value. NaN is the top bit alone, 0 when neither the
 * source nor the destination has 64 bits (PTX ISA 9.0, cvt).
 */
static inline uint64_t to_int_from(double v, int bits, bool is_signed, int source_bits)
{
	double end = ldexp(1, bits - is_signed), least = is_signed ? -end : 0;

	if (isnan(v) && bits != 64 && source_bits != 64)
		return 0;
	if (isnan(v))
		return is_signed ? -(1ull << (bits - 1)) : 1ull << (bits - 1);
	if (v >= end)
		return is_signed ? (1ull << (bits - 1)) - 1 : ~0ull >> (64 - bits);
	if (v <= least)
		return is_signed ? -(1ull << (bits - 1)) : 0;
	return is_signed ? (uint64_t)(int64_t)v : (uint64_t)v;
}

/* From f32 and halves. */
static inline uint64_t to_int(double v, int bits, bool is_signed)
{
	return to_int_from(v, bits, is_signed, 32);
}

static const uint64_t edges16[] = {
	0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 0x7f, 0x80, 0xff, 0x100, 0x3c00, 0x7bff, 0x7c00, 0x7e01,
	0x7fff, 0x8000, 0x8001, 0xfc00, 0xfffe, 0xffff, 0x0400, 0x03ff, 0x5640, 0xd640,
};
static const uint64_t edges32[] = {
	0, 1, 2, 3, 5, 8, 15, 16, 31, 32, 33, 63, 64, 100, 0x7f, 0x80, 0xff, 0x100, 0x105, 0x1234,
	0x7fff, 0x8000, 0xffff, 0x10000, 0x12345678, 0x7fffffff, 0x80000000, 0x80000001,
	0xfedcba98, 0xfffffffe, 0xffffffff, 0x00800000, 0x007fffff, 0x80400000, 0x3f800000,
	0x3f7fffff, 0x3f000000, 0x3fc00000, 0xbfc00000, 0x40200000, 0xbf800000, 0x40490fdb,
	0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0x4b7fffff, 0x7f7fffff, 0xff7fffff,
	0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 0x7e967699, 0x7f000001,
	0x3e99999a, 0xc3000000, 0x437f8000, 0x33800000, 0x477fefff, 0x477ff000, 0x387fe000,
};
static const uint64_t edges64[] = {
	0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 100, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000,
	0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x123456789abcdef0, 0x7fffffffffffffff,
	0x8000000000000000, 0x8000000000000001, 0xfffffffffffffffe, 0xffffffffffffffff,
	0xffffffff80000000, 0xffffffff7fffffff, 0x0010000000000000, 0x000fffffffffffff,
	0x3ff0000000000000, 0x3fe0000000000000, 0x3ff8000000000000, 0xbff8000000000000,
	0x4004000000000000, 0xbff0000000000000, 0x41e0000000000000, 0xc1e0000000000000,
	0x41dfffffffe00000, 0xc1e0000000100000, 0x41f0000000000000, 0x43e0000000000000,
	0xc3e0000000000000, 0x43f0000000000000, 0x47efffffe0000000, 0x47efffffefffffff,
	0x47f0000000000000, 0x36a0000000000000, 0x380fffffffffffff, 0x7fefffffffffffff,
	0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001,
	0x3ff0000010000000, 0x3ff0000030000000, 0x40effc0000000000, 0x40efff0000000000,
};

static inline uint64_t edge_of(char type, uint32_t i)
{
	switch (type) {
	case 'h':
		return edges16[i % ARRAY_SIZE(edges16)];
	case 'l':
		return edges64[i % ARRAY_SIZE(edges64)];
	case 'p':
		return i & 1;
	default:
		return edges32[i % ARRAY_SIZE(edges32)];
	}
}

static inline uint32_t edge_count(char type)
{
	return type == 'h' ? ARRAY_SIZE(edges16) : type == 'l' ? ARRAY_SIZE(edges64) :
	       type == 'p' ? 2 : ARRAY_SIZE(edges32);
}

static inline void case_text(const struct op_case *c, char *text, size_t bytes)
{
	static const char *const loads[] = { ['h'] = "b16", ['w'] = "b32", ['l'] = "b64" };
	size_t n = strlen(c->types), k, at;

	at = snprintf(text, bytes,
		".version 7.0\n.target sm_70\n.address_size 64\n"
		".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 stride,\n"
		"  .param .u32 odd, .param .u32 total)\n{\n"
		".reg .pred %%p<9>, %%g, %%o;\n.reg .b16 %%h<9>;\n.reg .b32 %%w<9>, %%i, %%s, %%t;\n"
		".reg .b64 %%l<9>, %%in, %%out, %%at;\n"
		"mov.u32 %%i, %%ctaid.x;\nmov.u32 %%s, %%ntid.x;\nmov.u32 %%t, %%tid.x;\n"
		"mad.lo.u32 %%i, %%i, %%s, %%t;\n"
		"ld.param.u32 %%t, [total];\nsetp.ge.u32 %%o, %%i, %%t;\n@%%o ret;\n"
		"ld.param.u64 %%in, [in];\nld.param.u64 %%out, [out];\n"
		"mul.wide.u32 %%at, %%i, 8;\nadd.u64 %%in, %%in, %%at;\nadd.u64 %%out, %%out, %%at;\n"
		"ld.param.u32 %%s, [stride];\nmul.wide.u32 %%at, %%s, 8;\n"
		"mov.b16 %%h0, 0x5a5a;\nmov.b32 %%w0, 0x5a5a5a5a;\nmov.b64 %%l0, 0x5a5a5a5a5a5a5a5a;\n"
		"mov.pred %%p0, 0;\n");
	for (k = 1; k < n; k++) {
		char t = c->types[k];

		if (t == 'p')
			at += snprintf(text + at, bytes - at,
				       "ld.global.b32 %%s, [%%in];\nsetp.ne.u32 %%p%zu, %%s, 0;\n", k);
		else
			at += snprintf(text + at, bytes - at, "ld.global.%s %%%c%zu, [%%in];\n",
				       loads[(int)t], t, k);
		at += snprintf(text + at, bytes - at, "add.u64 %%in, %%in, %%at;\n");
	}
	/* Odd lanes only, when asked: the guard is true for lanes that run. */
	at += snprintf(text + at, bytes - at,
		"ld.param.u32 %%s, [odd];\nand.b32 %%t, %%i, 1;\nxor.b32 %%t, %%t, 1;\n"
		"and.b32 %%s, %%s, %%t;\nsetp.eq.u32 %%g, %%s, 0;\n");
	if (strchr(c->insn, ';')) {
		at += snprintf(text + at, bytes - at, "@!%%g bra skip;\n%s\nskip:\n", c->insn);
	} else {
		at += snprintf(text + at, bytes - at, "@%%g %s ", c->insn);
		for (k = 0; k < n; k++)
			at += snprintf(text + at, bytes - at, "%s%%%c%zu", k ? ", " : "",
				       c->types[k], k);
		at += snprintf(text + at, bytes - at, ";\n");
	}
	if (c->types[0] == 'p')
		at += snprintf(text + at, bytes - at, "selp.u32 %%w0, 1, 0, %%p0;\n");
	snprintf(text + at, bytes - at, "st.global.%s [%%out], %%%c0;\nret;\n}\n",
		 loads[c->types[0] == 'p' ? 'w' : (int)c->types[0]],
		 c->types[0] == 'p' ? 'w' : c->types[0]);
}

enum { MAX_VALUES = 64 * 64 };

/* Runs the case on n operands; in[k * n + i] is source k + 1 of value i. */
static inline void run_values(const struct op_case *c, const struct lane_table *lanes, bool odd,
			      const uint64_t *in, uint64_t *out, uint32_t n)
{
	char text[8192];
	struct run run;

	memset(out, 0, n * sizeof(*out));
	case_text(c, text, sizeof(text));
	run_load_with(&run, text, "k", lanes);
	run_ptr(&run, in);
	run_ptr(&run, out);
	run_u32(&run, n);
	run_u32(&run, odd);
	run_u32(&run, n);
	assert_int_equal(run_grid(&run, DIV_ROUND_UP(n, 128), 1, 128, 1), 0);
	run_free(&run);
}

static inline uint64_t mask_of(char type)
{
	return type == 'h' ? 0xffff : type == 'l' ? ~0ull : type == 'p' ? 1 : 0xffffffff;
}

/* What a lane that does not run keeps. */
static inline uint64_t kept(char type)
{
	return type == 'p' ? 0 : 0x5a5a5a5a5a5a5a5a & mask_of(type);
}

static inline void check_values(const struct op_case *c, bool odd, const uint64_t *in,
				const uint64_t *out, uint32_t n)
{
	size_t nsrc = strlen(c->types) - 1, k;
	uint64_t expected, s[4] = { 0 };
	uint32_t i;

	for (i = 0; i < n; i++) {
		for (k = 0; k < nsrc; k++)
			s[k] = in[k * n + i];
		expected = c->expect(s[0], s[1], s[2], s[3]) & mask_of(c->types[0]);
		if (odd && !(i & 1))
			expected = kept(c->types[0]);
		if (out[i] != expected)
			fail_msg("%s of %#llx, %#llx, %#llx, %#llx is %#llx, not %#llx", c->insn,
				 (unsigned long long)s[0], (unsigned long long)s[1],
				 (unsigned long long)s[2], (unsigned long long)s[3],
				 (unsigned long long)out[i], (unsigned long long)expected);
	}
}

static inline void run_case(const struct op_case *c, const struct lane_table *lanes, bool odd)
{
	static uint64_t in[4 * MAX_VALUES], out[MAX_VALUES];
	uint32_t na = edge_count(c->types[1]), i, k, n;
	size_t nsrc = strlen(c->types) - 1;

	n = nsrc > 1 ? MIN(na * edge_count(c->types[2]), (uint32_t)MAX_VALUES) : na;
	for (i = 0; i < n; i++) {
		in[i] = edge_of(c->types[1], i % na);
		for (k = 1; k < nsrc; k++)
			in[k * n + i] = edge_of(c->types[1 + k],
						k == 1 ? i / na : i * (2 * k + 3) + i / 37);
	}
	run_values(c, lanes, odd, in, out, n);
	check_values(c, odd, in, out, n);
}

static inline void run_cases(const struct op_case *cases, size_t n)
{
	const struct lane_table *lanes;
	unsigned int t;
	size_t i;

	for (i = 0; i < n; i++) {
		for (t = 0; (lanes = test_table(t)); t++) {
			run_case(&cases[i], lanes, false);
			run_case(&cases[i], lanes, true);
		}
	}
}

#endif
