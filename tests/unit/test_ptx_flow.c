// SPDX-License-Identifier: GPL-2.0
/*
 * Reconvergence points and register counts: known shapes by hand, then random
 * control flow against oracles that are slow and obvious.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ptx/ptx.h"

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

enum { MAX_INSNS = 80, NREGS = 12 };

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

	at = snprintf(text, bytes, "%s", OPEN);
	for (i = 0; i < n; i++) {
		const char *guard = pick(seed, 4) ? "" : "@%p0 ";
		uint32_t kind = pick(seed, 20), wide = pick(seed, 3) ? 0 : 8;
		uint32_t span = wide ? 4 : 8;

		at += snprintf(text + at, bytes - at, "L%u:\n", i);
		if (kind < 6)
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

/* Instructions that can follow instruction i; -1: none; exits: leaves the kernel. */
static void successors(const struct ptx_kernel *k, uint32_t i, int *succ, bool *exits)
{
	const struct ptx_insn *insn = &k->insns[i];
	bool guarded = insn->guard != PTX_NO_REG;

	succ[0] = succ[1] = -1;
	*exits = false;
	if (insn->opcode == PTX_OP_bra) {
		succ[0] = insn->target;
		if (guarded)
			succ[1] = i + 1;
	} else if (insn->opcode == PTX_OP_ret || insn->opcode == PTX_OP_exit) {
		*exits = !guarded;
		if (guarded)
			succ[0] = i + 1;
	} else if (insn->opcode != PTX_OP_trap || guarded) {
		succ[0] = i + 1;
	}
}

/* Whether the exit can be reached from `from` without passing through `without`. */
static bool reaches_exit(const struct ptx_kernel *k, uint32_t from, uint32_t without)
{
	bool seen[MAX_INSNS + 8] = { false }, exits;
	uint32_t stack[2 * MAX_INSNS + 16], depth = 0;
	int succ[2], e;

	stack[depth++] = from;
	while (depth) {
		uint32_t i = stack[--depth];

		if (seen[i])
			continue;
		seen[i] = true;
		successors(k, i, succ, &exits);
		if (exits)
			return true;
		for (e = 0; e < 2; e++) {
			if (succ[e] >= 0 && (uint32_t)succ[e] != without)
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

static uint32_t reads(const struct ptx_insn *insn)
{
	uint32_t set = 0, i;

	for (i = 0; i < insn->nsrc; i++)
		set |= insn->src[i].reg != PTX_NO_REG ? 1u << insn->src[i].reg : 0;
	return insn->guard != PTX_NO_REG ? set | 1u << insn->guard : set;
}

static uint32_t writes(const struct ptx_insn *insn)
{
	return insn->ndst ? 1u << insn->dst[0].reg : 0;
}

/* Sets by instruction, to the fixed point. */
static uint32_t oracle_registers(const struct ptx_kernel *k)
{
	uint32_t live[MAX_INSNS + 8] = { 0 }, holds[MAX_INSNS + 8] = { 0 };
	uint32_t most = 1, i, r, set, count;
	bool reachable[MAX_INSNS + 8] = { true }, changed, exits;
	int succ[2], e;

	do {
		changed = false;
		for (i = k->ninsns; i-- > 0;) {
			successors(k, i, succ, &exits);
			for (set = 0, e = 0; e < 2; e++)
				set |= succ[e] >= 0 ? live[succ[e]] : 0;
			if (k->insns[i].guard == PTX_NO_REG)
				set &= ~writes(&k->insns[i]);
			set |= reads(&k->insns[i]);
			changed |= set != live[i];
			live[i] = set;
		}
		for (i = 0; i < k->ninsns; i++) {
			successors(k, i, succ, &exits);
			for (e = 0; e < 2; e++) {
				if (succ[e] < 0 || !reachable[i])
					continue;
				set = holds[succ[e]] | holds[i] | writes(&k->insns[i]);
				changed |= set != holds[succ[e]] || !reachable[succ[e]];
				holds[succ[e]] = set;
				reachable[succ[e]] = true;
			}
		}
	} while (changed);
	for (i = 0; i < k->ninsns; i++) {
		for (count = 0, r = 0; r < k->nregs; r++) {
			if (k->regs[r].type != PTX_PRED && reachable[i] &&
			    live[i] & holds[i] & 1u << r)
				count += k->regs[r].type == PTX_B64 ? 2 : 1;
		}
		most = MAX(most, count);
	}
	return most;
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
			if (k->insns[i].opcode != PTX_OP_bra)
				continue;
			branches++;
			inside += k->insns[i].reconv != k->ninsns;
			if (k->insns[i].reconv != oracle_reconv(k, i))
				fail_msg("round %u: branch %u reconverges at %u, not %u in\n%s", round, i,
					 k->insns[i].reconv, oracle_reconv(k, i), text);
		}
		if (k->regs_per_thread != oracle_registers(k))
			fail_msg("round %u: %u registers, not %u in\n%s", round, k->regs_per_thread,
				 oracle_registers(k), text);
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
		cmocka_unit_test(counts),
		cmocka_unit_test(random_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
