// SPDX-License-Identifier: GPL-2.0
/*
 * What crosses lanes: vote, match, redux, shfl, activemask, against a loop over
 * the lanes of a warp; with all lanes and with the odd ones, one member mask or
 * a mask for each group of lanes.
 */
#include "exec_cases.h"

#include "base/rng.h"

enum { N = 32 * 64, WARPS = N / 32 };

/* What lane `lane` gets: a, b, c are the sources of the warp's lanes, here those that run. */
typedef uint64_t (*lane_result)(const uint64_t *a, const uint64_t *b, const uint64_t *c,
				unsigned int lane, uint32_t here);

struct crossing {
	struct op_case op;
	lane_result expect;
	int member_source;	/* which source is the member mask, from 0; -1: none */
};

static uint64_t pick(struct rng *rng, char type)
{
	uint64_t v = rng_next(rng);

	if (type == 'p')
		return v & 1;
	/* Few different values, so that lanes match. */
	switch (v >> 60) {
	case 0:
		return rng_next(rng);
	case 1:
		return edges32[v % ARRAY_SIZE(edges32)] | (v & 1) << 40;
	default:
		return v & 3;
	}
}

/* A warp's masks: all of it; halves down to single lanes; every third lane. */
static uint32_t members_of(unsigned int warp, unsigned int lane)
{
	unsigned int size = 32 >> warp % 6;

	if (warp % 7 == 6)
		return 0x49249249u << lane % 3;
	return (size == 32 ? ~0u : (1u << size) - 1) << lane / size * size;
}

static void run_crossing(const struct crossing *c, const struct lane_table *lanes, bool odd)
{
	static uint64_t in[3 * N], out[N];
	size_t nsrc = strlen(c->op.types) - 1, k;
	uint32_t here = odd ? 0xaaaaaaaa : ALL_LANES, i;
	uint64_t expected;
	struct rng rng;

	rng_seed(&rng, 11);
	for (i = 0; i < N; i++) {
		unsigned int kind = i / 32 % 5;

		for (k = 0; k < nsrc; k++) {
			in[k * N + i] = pick(&rng, c->op.types[1 + k]);
			/* Some warps agree. */
			if (k == 0 && (kind == 0 || (kind == 1 && i % 32 != 17)))
				in[i] = c->op.types[1] == 'p' ? i / 32 & 1 : i / 32;
			if ((int)k == c->member_source)
				in[k * N + i] = members_of(i / 32, i % 32);
		}
	}
	run_values(&c->op, lanes, odd, in, out, N);
	for (i = 0; i < N; i++) {
		const uint64_t *warp = &in[i / 32 * 32];

		expected = here >> i % 32 & 1 ?
			c->expect(warp, warp + N, warp + 2 * N, i % 32, here) :
			kept(c->op.types[0]);
		if (out[i] != (expected & mask_of(c->op.types[0])))
			fail_msg("%s: warp %u lane %u is %#llx, not %#llx", c->op.insn, i / 32, i % 32,
				 (unsigned long long)out[i], (unsigned long long)expected);
	}
}

static void run_crossings(const struct crossing *cases, size_t n)
{
	const struct lane_table *lanes;
	unsigned int t;
	size_t i;

	for (i = 0; i < n; i++) {
		for (t = 0; (lanes = test_table(t)); t++) {
			run_crossing(&cases[i], lanes, false);
			run_crossing(&cases[i], lanes, true);
		}
	}
}

#define CROSS(insn, types, member, expr) \
	{ { insn, types, NULL }, ({ \
		uint64_t expect_(const uint64_t *a, const uint64_t *b, const uint64_t *c, \
				 unsigned int lane, uint32_t here) \
		{ \
			(void)a, (void)b, (void)c, (void)lane, (void)here; \
			return (uint64_t)(expr); \
		} \
		expect_; }), member }

/* The lanes that take part with this one. */
#define TOGETHER	(here & (uint32_t)b[lane])

static uint32_t votes(const uint64_t *a, uint32_t lanes)
{
	uint32_t v = 0;
	unsigned int i;

	for (i = 0; i < 32; i++)
		v |= lanes >> i & a[i] & 1 ? 1u << i : 0;
	return v;
}

static uint32_t same(const uint64_t *a, uint32_t lanes, unsigned int lane, uint64_t bits)
{
	uint32_t v = 0;
	unsigned int i;

	for (i = 0; i < 32; i++)
		v |= lanes >> i & 1 && !((a[i] ^ a[lane]) & bits) ? 1u << i : 0;
	return v;
}

/* As in a C loop, lane after lane. */
#define FOLD(start, T, expr) ({ \
	T r = start; \
	unsigned int i_; \
	for (i_ = 0; i_ < 32; i_++) { \
		T x = (T)a[i_]; \
		if (TOGETHER >> i_ & 1) \
			r = expr; \
	} \
	(uint32_t)r; })

/* Both results in one word. */
#define WITH_PRED(insn)	".reg .pred %q;\n" insn ";\nselp.u32 %t, 1, 0, %q;\n" \
			"mul.lo.u32 %t, %t, 0x9e3779b9;\nadd.u32 %w0, %w0, %t;"
#define PRED_TERM(p)	((p) ? 0x9e3779b9u : 0)

static void voting(void **state)
{
	const struct crossing cases[] = {
		CROSS("vote.sync.all.pred", "ppw", 1, votes(a, TOGETHER) == TOGETHER),
		CROSS("vote.sync.any.pred", "ppw", 1, votes(a, TOGETHER) != 0),
		CROSS("vote.sync.uni.pred", "ppw", 1, votes(a, TOGETHER) == TOGETHER || !votes(a, TOGETHER)),
		CROSS("vote.sync.ballot.b32", "wpw", 1, votes(a, TOGETHER)),
		CROSS("vote.sync.ballot.b32 %w0, !%p1, %w2;", "wpw", 1, TOGETHER & ~votes(a, TOGETHER)),
		CROSS("vote.ballot.b32", "wp", -1, votes(a, here)),
		CROSS("vote.all.pred", "pp", -1, votes(a, here) == here),
		CROSS("activemask.b32 %w0;", "ww", -1, here),
	};

	run_crossings(cases, ARRAY_SIZE(cases));
}

static void matching(void **state)
{
	const struct crossing cases[] = {
		CROSS("match.any.sync.b32", "www", 1, same(a, TOGETHER, lane, 0xffffffff)),
		CROSS("match.any.sync.b64", "wlw", 1, same(a, TOGETHER, lane, ~0ull)),
		CROSS("match.all.sync.b32", "www", 1,
		      same(a, TOGETHER, lane, 0xffffffff) == TOGETHER ? TOGETHER : 0),
		CROSS("match.all.sync.b64", "wlw", 1, same(a, TOGETHER, lane, ~0ull) == TOGETHER ? TOGETHER : 0),
		CROSS(WITH_PRED("match.all.sync.b32 %w0|%q, %w1, %w2"), "www", 1,
		      same(a, TOGETHER, lane, 0xffffffff) == TOGETHER ?
		      TOGETHER + PRED_TERM(1) : 0),
		CROSS(WITH_PRED("match.all.sync.b64 %w0|%q, %l1, %w2"), "wlw", 1,
		      same(a, TOGETHER, lane, ~0ull) == TOGETHER ? TOGETHER + PRED_TERM(1) : 0),
	};

	run_crossings(cases, ARRAY_SIZE(cases));
}

static void reducing(void **state)
{
	const struct crossing cases[] = {
		CROSS("redux.sync.add.u32", "www", 1, FOLD(0, uint32_t, r + x)),
		CROSS("redux.sync.add.s32", "www", 1, FOLD(0, uint32_t, r + x)),
		CROSS("redux.sync.min.u32", "www", 1, FOLD(~0u, uint32_t, MIN(r, x))),
		CROSS("redux.sync.max.u32", "www", 1, FOLD(0, uint32_t, MAX(r, x))),
		CROSS("redux.sync.min.s32", "www", 1, FOLD(INT32_MAX, int32_t, MIN(r, x))),
		CROSS("redux.sync.max.s32", "www", 1, FOLD(INT32_MIN, int32_t, MAX(r, x))),
		CROSS("redux.sync.and.b32", "www", 1, FOLD(~0u, uint32_t, r & x)),
		CROSS("redux.sync.or.b32", "www", 1, FOLD(0, uint32_t, r | x)),
		CROSS("redux.sync.xor.b32", "www", 1, FOLD(0, uint32_t, r ^ x)),
	};

	run_crossings(cases, ARRAY_SIZE(cases));
}

/* PTX ISA, shfl: the source lane, or -1 when it is out of range. */
static int source_lane(char mode, int lane, uint32_t b, uint32_t c)
{
	int bval = b & 31, cval = c & 31, mask = c >> 8 & 31, j;
	int max = (lane & mask) | (cval & ~mask), min = lane & mask;

	switch (mode) {
	case 'u':
		j = lane - bval;
		return j >= max ? j : -1;
	case 'd':
		j = lane + bval;
		break;
	case 'b':
		j = lane ^ bval;
		break;
	default:
		j = min | (bval & ~mask);
		break;
	}
	return j <= max ? j : -1;
}

static uint64_t shuffled(char mode, const uint64_t *a, const uint64_t *b, const uint64_t *c,
			 unsigned int lane, bool with_pred)
{
	int from = source_lane(mode, lane, b[lane], c[lane]);
	uint32_t value = a[from < 0 ? (int)lane : from];

	return with_pred ? value + PRED_TERM(from >= 0) : value;
}

#define SHUFFLES(name, mode) \
	CROSS("shfl." name ".b32", "wwww", -1, shuffled(mode, a, b, c, lane, false)), \
	CROSS("shfl.sync." name ".b32 %w0, %w1, %w2, %w3, 0xffffffff;", "wwww", -1, \
	      shuffled(mode, a, b, c, lane, false)), \
	CROSS(WITH_PRED("shfl.sync." name ".b32 %w0|%q, %w1, %w2, %w3, -1"), "wwww", -1, \
	      shuffled(mode, a, b, c, lane, true)), \
	/* A destination that is a source. */ \
	CROSS("shfl.sync." name ".b32 %w1, %w1, %w2, 0x181f, -1;\nmov.u32 %w0, %w1;", "wwww", -1, \
	      ({ uint64_t c2[32]; for (int i_ = 0; i_ < 32; i_++) c2[i_] = 0x181f; \
		 shuffled(mode, a, b, c2, lane, false); }))

static void shuffling(void **state)
{
	const struct crossing cases[] = {
		SHUFFLES("up", 'u'), SHUFFLES("down", 'd'), SHUFFLES("bfly", 'b'), SHUFFLES("idx", 'i'),
	};

	run_crossings(cases, ARRAY_SIZE(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(voting),
		cmocka_unit_test(matching),
		cmocka_unit_test(reducing),
		cmocka_unit_test(shuffling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
