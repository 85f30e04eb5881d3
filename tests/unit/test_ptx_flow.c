// SPDX-License-Identifier: GPL-2.0
/*
 * Reconvergence points and what is live: known shapes by hand, then random
 * control flow against oracles that are slow and obvious.
 */
#include <stdio.h>

#include "ptx_sets.h"
#include "ptx/back.h"

/* Six lines; the body comes after them. */
#define OPEN ".version 7.0\n.target sm_70\n.address_size 64\n" \
	".entry k() {.reg .pred %p<4>;\n.reg .b32 %r<40>;\n.reg .b64 %d<40>;\n"

static struct ptx_module *parse(const char *text)
{
	struct ptx_module *module;
	struct err err = { 0 };

	if (ptx_module_parse(text, strlen(text), "flow.ptx", &module, &err))
		fail_msg("%s", err.text);
	return module;
}

/* The line, within the body, where the branch on line `from` of it reconverges; 0: at the exit. */
static uint32_t reconverges(const char *body, uint32_t from)
{
	const struct ptx_kernel *k;
	struct ptx_module *module;
	uint32_t i, line = UINT32_MAX;
	char text[2048];

	snprintf(text, sizeof(text), "%s%s}\n", OPEN, body);
	module = parse(text);
	k = ptx_module_kernel_at(module, 0);
	for (i = 0; i < k->ninsns; i++) {
		uint32_t reconv = k->insns[i].reconv;

		if (k->insns[i].line == from + 6)
			line = reconv == k->ninsns ? 0 : k->insns[reconv].line - 6;
	}
	ptx_module_free(module);
	return line;
}

static void shapes(void **state)
{
	/* if */
	assert_int_equal(reconverges("@%p0 bra J;\nmov.u32 %r0, 1;\nJ:\nmov.u32 %r1, 1;\nret;\n", 1), 4);
	/* if else */
	assert_int_equal(reconverges("@%p0 bra A;\nbra.uni J;\nA:\nmov.u32 %r0, 1;\nJ:\nret;\n", 1), 6);
	/* loop */
	assert_int_equal(reconverges("L:\nadd.u32 %r0, %r0, 1;\n@%p0 bra L;\nmov.u32 %r1, 1;\nret;\n", 3), 4);
	/* loop with break to the same place */
	assert_int_equal(reconverges("L:\n@%p1 bra X;\n@%p0 bra L;\nX:\nret;\n", 2), 5);
	assert_int_equal(reconverges("L:\n@%p1 bra X;\n@%p0 bra L;\nX:\nret;\n", 3), 5);
	/* continue: meets at the latch */
	assert_int_equal(reconverges("L:\n@%p1 bra C;\nmov.u32 %r0, 1;\nC:\n@%p0 bra L;\nret;\n", 2), 5);
	/* goto into the other arm */
	assert_int_equal(reconverges("@%p0 bra A;\n@%p1 bra B;\nmov.u32 %r0, 1;\nbra J;\nA:\nmov.u32 %r1, 1;\nB:\n"
				     "mov.u32 %r2, 1;\nJ:\nret;\n", 1), 10);
	/* irreducible */
	assert_int_equal(reconverges("@%p0 bra B;\nA:\nmov.u32 %r0, 1;\nB:\n@%p1 bra A;\nret;\n", 1), 5);
	/* two ways out */
	assert_int_equal(reconverges("@%p0 bra A;\nret;\nA:\nret;\n", 1), 0);
	/* a guarded return is no way out for those who stay */
	assert_int_equal(reconverges("@%p0 bra A;\n@%p1 ret;\nA:\nmov.u32 %r0, 1;\nret;\n", 1), 4);
	/* a trap does not move the reconvergence point */
	assert_int_equal(reconverges("@%p0 bra A;\n@%p1 bra T;\nA:\nmov.u32 %r0, 1;\nret;\nT:\ntrap;\n", 1), 4);
	/* no way to the exit at all */
	assert_int_equal(reconverges("L:\n@%p0 bra L;\nbra L;\n", 2), 0);
}

/* How many loops are around what is on this line of the body. */
static unsigned int loops_around(const char *body, uint32_t line)
{
	const struct ptx_kernel *k;
	struct ptx_module *module;
	unsigned int depth = UINT32_MAX;
	char text[2048];
	struct cfg cfg;

	snprintf(text, sizeof(text), "%s%s}\n", OPEN, body);
	module = parse(text);
	k = ptx_module_kernel_at(module, 0);
	assert_int_equal(cfg_build(k, &cfg), 0);
	for (uint32_t i = 0; i < k->ninsns; i++) {
		if (k->insns[i].line == line + 6)
			depth = cfg.depth[cfg.block_of[i]];
	}
	cfg_free(&cfg);
	ptx_module_free(module);
	return depth;
}

static void loops(void **state)
{
	/* A loop in a loop, with two ways back to the outer one; then another loop. */
	static const char nested[] =
		"membar.gl;\nA:\nmembar.gl;\nB:\nmembar.gl;\n@%p0 bra B;\nmembar.gl;\n@%p1 bra A;\n"
		"membar.gl;\n@%p2 bra A;\nmembar.gl;\nC:\nmembar.gl;\n@%p0 bra C;\nmembar.gl;\nret;\n";
	static const struct { uint32_t line; unsigned int depth; } at[] = {
		{ 1, 0 }, { 3, 1 }, { 5, 2 }, { 6, 2 }, { 7, 1 }, { 8, 1 }, { 9, 1 }, { 10, 1 },
		{ 11, 0 }, { 13, 1 }, { 14, 1 }, { 15, 0 },
	};
	char deep[1024] = "";

	for (unsigned int i = 0; i < ARRAY_SIZE(at); i++)
		assert_int_equal(loops_around(nested, at[i].line), at[i].depth);
	/* Lines 2n have the n-th of ten loops; from the eighth on they count as eight. */
	for (unsigned int i = 1; i <= 10; i++)
		sprintf(deep + strlen(deep), "L%u:\nmembar.gl;\n", i);
	for (unsigned int i = 10; i >= 1; i--)
		sprintf(deep + strlen(deep), "@%%p0 bra L%u;\n", i);
	strcat(deep, "ret;\n");
	for (uint32_t i = 1; i <= 10; i++)
		assert_int_equal(loops_around(deep, 2 * i), MIN(i, 8));
	/* Its way back is the loop's last line: 21 of the tenth, 24 of the seventh, 30 of the first. */
	assert_int_equal(loops_around(deep, 21), 8);
	assert_int_equal(loops_around(deep, 24), 7);
	assert_int_equal(loops_around(deep, 30), 1);
	assert_int_equal(loops_around(deep, 31), 0);
	/* What nobody reaches is no way back. */
	assert_int_equal(loops_around("A:\nmembar.gl;\nret;\nbra A;\n", 2), 0);
}

static uint32_t registers(const char *body)
{
	struct ptx_module *module;
	char text[2048];
	uint32_t n;

	snprintf(text, sizeof(text), "%s%s}\n", OPEN, body);
	module = parse(text);
	n = ptx_module_kernel_at(module, 0)->regs_per_thread;
	ptx_module_free(module);
	return n;
}

static void counts(void **state)
{
	assert_int_equal(registers("ret;\n"), 1);
	assert_int_equal(registers("mov.u32 %r0, 1;\nst.global.u32 [0], %r0;\nret;\n"), 1);
	/* 64 bits are two */
	assert_int_equal(registers("mov.u64 %d0, 1;\nmov.u32 %r0, 1;\nst.global.u32 [%d0], %r0;\nret;\n"), 3);
	/* a source's register is free for the result */
	assert_int_equal(registers("mov.u32 %r0, 1;\nadd.u32 %r1, %r0, 1;\nadd.u32 %r2, %r1, 1;\n"
				   "st.global.u32 [0], %r2;\nret;\n"), 1);
	/* predicates are apart */
	assert_int_equal(registers("setp.eq.u32 %p0, 1, 1;\nsetp.eq.u32 %p1, 1, 1;\nmov.u32 %r0, 1;\n"
				   "@%p0 st.global.u32 [0], %r0;\n@%p1 st.global.u32 [0], %r0;\nret;\n"), 1);
	/* live around a loop */
	assert_int_equal(registers("mov.u32 %r0, 1;\nmov.u32 %r1, 1;\nL:\nadd.u32 %r2, %r0, 1;\n"
				   "setp.eq.u32 %p0, %r2, %r1;\n@%p0 bra L;\nret;\n"), 3);
	/* a guarded write keeps the old value of the other lanes */
	assert_int_equal(registers("mov.u32 %r0, 1;\nmov.u32 %r1, 2;\nst.global.u32 [0], %r1;\n"
				   "@%p0 mov.u32 %r0, 3;\nst.global.u32 [0], %r0;\nret;\n"), 2);
	assert_int_equal(registers("mov.u32 %r0, 1;\nmov.u32 %r1, 2;\nst.global.u32 [0], %r1;\n"
				   "mov.u32 %r0, 3;\nst.global.u32 [0], %r0;\nret;\n"), 1);
	/* what is never written holds nothing */
	assert_int_equal(registers("mov.u32 %r1, 2;\nst.global.u32 [0], %r1;\n"
				   "@%p0 mov.u32 %r0, 3;\nst.global.u32 [0], %r0;\nret;\n"), 1);
}

/* --- random programs ------------------------------------------------------------------ */

enum { MAX_INSNS = 80, TARGETS = 6 };

static uint32_t pick(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 33) % n;
}

/* Registers 0 to 7 are %r, 8 to 11 are %d. */
static const char *reg_name(uint32_t r, char *buf)
{
	sprintf(buf, "%%%c%u", r < 8 ? 'r' : 'd', r);
	return buf;
}

static void random_text(uint64_t *seed, char *text, size_t bytes)
{
	uint32_t n = 5 + pick(seed, MAX_INSNS - 6), i;
	char d[16], a[16], b[16];
	size_t at;

	at = snprintf(text, bytes, "%sT: .branchtargets ", OPEN);
	for (i = 0; i < TARGETS; i++)
		at += snprintf(text + at, bytes - at, "%sL%u", i ? ", " : "", pick(seed, n));
	at += snprintf(text + at, bytes - at, ";\n");
	for (i = 0; i < n; i++) {
		const char *guard = pick(seed, 4) ? "" : "@%p0 ";
		uint32_t kind = pick(seed, 20), wide = pick(seed, 3) ? 0 : 8;
		uint32_t span = wide ? 4 : 8;

		at += snprintf(text + at, bytes - at, "L%u:\n", i);
		if (kind == 0)
			at += snprintf(text + at, bytes - at, "%sbrx.idx %%r%u, T;\n", guard,
				       pick(seed, 8));
		else if (kind < 6)
			at += snprintf(text + at, bytes - at, "@%%p0 bra L%u;\n", pick(seed, n));
		else if (kind == 6)
			at += snprintf(text + at, bytes - at, "bra.uni L%u;\n", pick(seed, n));
		else if (kind == 7)
			at += snprintf(text + at, bytes - at, "%s%s;\n", guard,
				       pick(seed, 2) ? "ret" : pick(seed, 2) ? "exit" : "trap");
		else if (kind < 10)
			at += snprintf(text + at, bytes - at, "%smov.b%u %s, 5;\n", guard,
				       wide ? 64 : 32, reg_name(wide + pick(seed, span), d));
		else if (kind < 12)
			at += snprintf(text + at, bytes - at, "%sst.global.b%u [0], %s;\n", guard,
				       wide ? 64 : 32, reg_name(wide + pick(seed, span), d));
		else
			at += snprintf(text + at, bytes - at, "%sadd.u%u %s, %s, %s;\n", guard,
				       wide ? 64 : 32, reg_name(wide + pick(seed, span), d),
				       reg_name(wide + pick(seed, span), a),
				       reg_name(wide + pick(seed, span), b));
	}
	snprintf(text + at, bytes - at, "ret;\n}\n");
}

/* Whether the exit can be reached from `from` without passing through `without`. */
static bool reaches_exit(const struct ptx_kernel *k, uint32_t from, uint32_t without)
{
	bool seen[MAX_INSNS + 8] = { false }, exits;
	uint32_t stack[TARGETS * MAX_INSNS + 64], depth = 0;
	uint32_t succ[MAX_SUCC], e, n;

	stack[depth++] = from;
	while (depth) {
		uint32_t i = stack[--depth];

		if (seen[i])
			continue;
		seen[i] = true;
		n = successors(k, i, succ, &exits);
		if (exits)
			return true;
		for (e = 0; e < n; e++) {
			if (succ[e] != without)
				stack[depth++] = succ[e];
		}
	}
	return false;
}

/* d is on every way from i to the exit. */
static bool postdominates(const struct ptx_kernel *k, uint32_t d, uint32_t i)
{
	return d == i || !reaches_exit(k, i, d);
}

/* The post-dominator of i that every other one of i post-dominates too. */
static uint32_t oracle_reconv(const struct ptx_kernel *k, uint32_t i)
{
	uint32_t d, e;

	if (!reaches_exit(k, i, UINT32_MAX))
		return k->ninsns;
	for (d = 0; d < k->ninsns; d++) {
		if (d == i || !reaches_exit(k, d, UINT32_MAX) || !postdominates(k, d, i))
			continue;
		for (e = 0; e < k->ninsns; e++) {
			if (e != i && e != d && reaches_exit(k, e, UINT32_MAX) &&
			    postdominates(k, e, i) && !postdominates(k, e, d))
				break;
		}
		if (e == k->ninsns)
			return d;
	}
	return k->ninsns;
}

/* Every register at every instruction, and what the kernel says of them. */
static void check_live(const struct ptx_kernel *k, uint32_t round, const char *text)
{
	uint32_t i, r, count, most = 1;
	struct ranges ranges;
	struct sets sets;
	struct cfg cfg;

	sets_solve(&sets, k);
	assert_int_equal(cfg_build(k, &cfg), 0);
	assert_int_equal(liveness_ranges(k, &cfg, &ranges), 0);
	for (i = 0; i < k->ninsns; i++) {
		for (r = 0; r < k->nregs; r++) {
			if (ranges_live(&ranges, r, i) != sets_live(&sets, i, r))
				fail_msg("round %u: %s is %slive before instruction %u in\n%s", round,
					 k->regs[r].name, sets_live(&sets, i, r) ? "" : "not ", i,
					 text);
		}
		count = sets_count(&sets, i);
		assert_int_equal(k->live[i], count);
		most = MAX(most, count);
	}
	assert_int_equal(k->max_live, most);
	assert_true(k->regs_per_thread >= most);
	ranges_free(&ranges);
	cfg_free(&cfg);
	sets_free(&sets);
}

static void random_programs(void **state)
{
	static char text[16384];
	const struct ptx_kernel *k;
	struct ptx_module *module;
	uint32_t round, i, branches = 0, inside = 0;

	for (round = 0; round < 1500; round++) {
		uint64_t seed = round;

		random_text(&seed, text, sizeof(text));
		module = parse(text);
		k = ptx_module_kernel_at(module, 0);
		for (i = 0; i < k->ninsns; i++) {
			if (k->insns[i].opcode != PTX_OP_bra && k->insns[i].opcode != PTX_OP_brx)
				continue;
			branches++;
			inside += k->insns[i].reconv != k->ninsns;
			if (k->insns[i].reconv != oracle_reconv(k, i))
				fail_msg("round %u: branch %u reconverges at %u, not %u in\n%s", round, i,
					 k->insns[i].reconv, oracle_reconv(k, i), text);
		}
		check_live(k, round, text);
		ptx_module_free(module);
	}
	/* The generator makes what it is meant to. */
	assert_true(branches > 10000);
	assert_true(inside > 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes),
		cmocka_unit_test(loops),
		cmocka_unit_test(counts),
		cmocka_unit_test(random_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
