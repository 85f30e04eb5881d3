// SPDX-License-Identifier: GPL-2.0
/*
 * generate SEED FIRST COUNT: a kernel file (shim.h) with kernels FIRST .. FIRST + COUNT - 1
 * of SEED on stdout. A kernel is of its seed and number alone, so that any of a file
 * can be made again by itself.
 *
 * Every kernel is well defined in C and the same on any machine: unsigned
 * arithmetic, guarded divisions and shifts, float to integer only within range, NaNs
 * seen as NaN only; barriers and warp functions where all threads are; atomics
 * whose order no result shows; loops with a bound. So any difference is a defect.
 *
 * clang 14 lowers 64-bit rotations wrongly (it drops the mask of the amount), and makes them
 * of things like ~(1ull << (n & 63)); so 64 bits are shifted left by amounts that need no mask.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/rng.h"

enum type { U8, S8, U16, S16, U32, S32, U64, S64, F32, F64, TYPES };
static const struct {
	const char *name;
	unsigned int bits;
	bool sgn, flt;
} types[TYPES] = {
	{ "u8", 8 }, { "s8", 8, true }, { "u16", 16 }, { "s16", 16, true }, { "u32", 32 }, { "s32", 32, true },
	{ "u64", 64 }, { "s64", 64, true }, { "f32", 32, true, true }, { "f64", 64, true, true },
};

#define MAX_VARS	10
#define FUNCTIONS	4	/* of a kernel's own */
#define MAX_ARGS	4

struct function {
	enum type result, arg[MAX_ARGS];
	unsigned int nargs;
};

struct gen {
	struct rng rng;
	FILE *out;
	unsigned int kernel;	/* its number, in every name */
	enum type var[MAX_VARS];
	unsigned int nvars;
	struct function function[FUNCTIONS];
	unsigned int nfunctions; /* that may be called here */
	unsigned int threads;	/* of a CTA */
	unsigned int loops;	/* counters in use: c0 .. */
	unsigned int indent, left; /* statements that may still be made */
	bool in_kernel;		/* else in a function */
	bool may_return;	/* no thread waits for another in this kernel */
	bool shared, warps;	/* barriers; warp functions may be used */
	int label;		/* to which a goto may jump, or -1 */
	unsigned int nlabels;
};

static unsigned int below(struct gen *g, unsigned int n)
{
	return rng_below(&g->rng, n);
}

static bool one_in(struct gen *g, unsigned int n)
{
	return !below(g, n);
}

static void line(struct gen *g)
{
	fprintf(g->out, "\n%.*s", (int)g->indent, "\t\t\t\t\t\t\t\t\t\t\t\t");
}

static enum type any_type(struct gen *g)
{
	/* 32 and 64 bits most often, as in programs. */
	static const enum type often[] = { U32, U32, U32, S32, S32, U64, S64, F32, F32, F64 };

	return one_in(g, 3) ? below(g, TYPES) : often[below(g, ARRAY_SIZE(often))];
}

static enum type any_int(struct gen *g)
{
	enum type t = any_type(g);

	return types[t].flt ? (one_in(g, 2) ? U32 : S32) : t;
}

static void expr(struct gen *g, enum type t, int depth);

static void constant(struct gen *g, enum type t)
{
	static const char *const ints[] = { "0", "1", "2", "3", "7", "31", "255", "0x7f", "0x8000", "0xffff",
					    "0x7fffffff", "0x80000000u", "0xffffffffu", "1000003",
					    "0x123456789abcdefull", "0x8000000000000000ull", "~0ull" };
	static const char *const floats[] = { "0.0", "1.0", "-1.0", "0.5", "3.1415926", "1e10", "-1e-10", "65536.0",
					      "1e-40", "1e38", "-0.0", "0.1" };

	if (types[t].flt)
		fprintf(g->out, "(%s)%s", types[t].name, floats[below(g, ARRAY_SIZE(floats))]);
	else if (one_in(g, 2))
		fprintf(g->out, "(%s)%s", types[t].name, ints[below(g, ARRAY_SIZE(ints))]);
	else
		fprintf(g->out, "(%s)%lluull", types[t].name, (unsigned long long)rng_next(&g->rng) >> below(g, 64));
}

/* From `from` to t, in a way that C defines. */
static void convert_open(struct gen *g, enum type t, enum type from)
{
	if (types[from].flt && !types[t].flt)
		fprintf(g->out, "(%s)%s_to_s%d(", types[t].name, types[from].name, types[t].bits == 64 ? 64 : 32);
	else
		fprintf(g->out, "(%s)(", types[t].name);
}

static void variable(struct gen *g, enum type t)
{
	unsigned int first = below(g, g->nvars);

	for (unsigned int i = 0; i < g->nvars; i++) {
		unsigned int v = (first + i) % g->nvars;

		if (g->var[v] == t) {
			fprintf(g->out, "v%u", v);
			return;
		}
	}
	convert_open(g, t, g->var[first]);
	fprintf(g->out, "v%u)", first);
}

static void masked(struct gen *g, unsigned int n, int depth)
{
	fputs("((u32)(", g->out);
	expr(g, one_in(g, 3) ? any_int(g) : U32, depth);
	fprintf(g->out, ") & %u)", n - 1);
}

static void load(struct gen *g, enum type t, int depth)
{
	static const struct {
		const char *name;
		enum type type;
		unsigned int n;
	} from[] = { { "in32", U32, 256 }, { "in64", U64, 256 }, { "inf", F32, 256 }, { "ind", F64, 256 },
		     { "in8", S8, 256 }, { "constants", U32, 16 }, { "table", S64, 8 }, { "local", U32, 8 } };
	unsigned int i = below(g, ARRAY_SIZE(from));

	/* Functions see the module's variables only. */
	if (!g->in_kernel)
		i = 5 + below(g, 2);
	convert_open(g, t, from[i].type);
	fprintf(g->out, "%s[", from[i].name);
	masked(g, from[i].n, depth - 1);
	fputs("])", g->out);
}

static void condition(struct gen *g, int depth)
{
	static const char *const compares[] = { "<", "<=", ">", ">=", "==", "!=" };
	enum type t = any_type(g);

	switch (depth > 0 ? below(g, 6) : 0) {
	case 0:
	case 1:
	case 2:
		fputs("(", g->out);
		expr(g, t, depth - 1);
		fprintf(g->out, " %s ", compares[below(g, 6)]);
		expr(g, t, depth - 1);
		fputs(")", g->out);
		break;
	case 3:
		fputs("(", g->out);
		condition(g, depth - 1);
		fputs(one_in(g, 2) ? " && " : " || ", g->out);
		condition(g, depth - 1);
		fputs(")", g->out);
		break;
	case 4:
		fputs("!", g->out);
		condition(g, depth - 1);
		break;
	default:
		/* Few lanes or many: bits of what differs by lane. */
		fputs("((", g->out);
		expr(g, U32, depth - 1);
		fprintf(g->out, " >> %u & %u) != 0)", below(g, 8), 1 + below(g, 7));
		break;
	}
}

static void call(struct gen *g, enum type t, int depth)
{
	unsigned int f = below(g, g->nfunctions);
	const struct function *function = &g->function[f];

	convert_open(g, t, function->result);
	fprintf(g->out, "f%u_%u(", g->kernel, f);
	for (unsigned int i = 0; i < function->nargs; i++) {
		fputs(i ? ", " : "", g->out);
		expr(g, function->arg[i], depth - 2);
	}
	fputs("))", g->out);
}

static void int_expr(struct gen *g, enum type t, int depth)
{
	static const char *const ops[] = { "+", "-", "*", "&", "|", "^" };
	static const char *const counts[] = { "__popc", "__clz", "__ffs" };
	const char *name = types[t].name, *wide = types[t].bits == 64 ? "u64" : "u32";

	switch (below(g, 12)) {
	case 0:
	case 1:
	case 2:
	case 3:
		fprintf(g->out, "(%s)((%s)", name, wide);
		expr(g, t, depth - 1);
		fprintf(g->out, " %s (%s)", ops[below(g, 6)], wide);
		expr(g, t, depth - 1);
		fputs(")", g->out);
		break;
	case 4: /* a shift, arithmetic for signed types */
		fprintf(g->out, "(%s)((%s)", name, one_in(g, 2) && types[t].bits >= 32 ? wide : name);
		expr(g, t, depth - 1);
		fputs(" >> ", g->out);
		masked(g, types[t].bits, depth - 2);
		fputs(")", g->out);
		break;
	case 5:
		fprintf(g->out, "(%s)((%s)", name, wide);
		expr(g, t, depth - 1);
		fputs(" << ", g->out);
		if (types[t].bits == 64) {
			fputs("(", g->out);
			masked(g, 32, depth - 2);
			fprintf(g->out, " + %u)", below(g, 32));
		} else {
			masked(g, types[t].bits, depth - 2);
		}
		fputs(")", g->out);
		break;
	case 6:
		fprintf(g->out, "(%s)%s_%s(", name, one_in(g, 2) ? "div" : "rem", types[t].bits == 64 ?
			(types[t].sgn ? "s64" : "u64") : (types[t].sgn ? "s32" : "u32"));
		expr(g, t, depth - 1);
		fputs(", ", g->out);
		if (one_in(g, 3))
			constant(g, t);
		else
			expr(g, t, depth - 1);
		fputs(")", g->out);
		break;
	case 7:
		fprintf(g->out, "(%s)(~(%s)", name, wide);
		expr(g, t, depth - 1);
		fputs(")", g->out);
		break;
	case 8:
		fprintf(g->out, "(%s)%s((%s)", name, counts[below(g, 3)], "u32");
		expr(g, t, depth - 1);
		fputs(")", g->out);
		break;
	case 9:
		fprintf(g->out, "(%s)__umulhi((u32)", name);
		expr(g, t, depth - 1);
		fputs(", (u32)", g->out);
		expr(g, U32, depth - 1);
		fputs(")", g->out);
		break;
	case 10:
		fprintf(g->out, "(%s)", name);
		condition(g, depth - 1);
		break;
	default: {
		enum type from = any_type(g);

		convert_open(g, t, from);
		expr(g, from, depth - 1);
		fputs(")", g->out);
		break;
	}
	}
}

static void float_expr(struct gen *g, enum type t, int depth)
{
	static const char *const ops[] = { "+", "-", "*", "/" };
	static const char *const functions[] = { "fabs", "floor", "ceil", "trunc" };
	const char *suffix = t == F32 ? "f" : "";
	enum type from;

	switch (below(g, 8)) {
	case 0:
	case 1:
	case 2:
		fputs("(", g->out);
		expr(g, t, depth - 1);
		fprintf(g->out, " %s ", ops[below(g, 4)]);
		expr(g, t, depth - 1);
		fputs(")", g->out);
		break;
	case 3:
		fprintf(g->out, "fma%s(", suffix);
		expr(g, t, depth - 1);
		fputs(", ", g->out);
		expr(g, t, depth - 1);
		fputs(", ", g->out);
		expr(g, t, depth - 1);
		fputs(")", g->out);
		break;
	case 4:
		fprintf(g->out, "%s%s(", functions[below(g, 4)], suffix);
		expr(g, t, depth - 1);
		fputs(")", g->out);
		break;
	case 5:
		fprintf(g->out, "sqrt%s(fabs%s(", suffix, suffix);
		expr(g, t, depth - 1);
		fputs("))", g->out);
		break;
	case 6:
		fputs("(-", g->out);
		expr(g, t, depth - 1);
		fputs(")", g->out);
		break;
	default:
		from = any_type(g);
		convert_open(g, t, from);
		expr(g, from, depth - 1);
		fputs(")", g->out);
		break;
	}
}

static void expr(struct gen *g, enum type t, int depth)
{
	unsigned int pick = depth <= 0 ? below(g, 4) : 4 + below(g, 10);

	switch (pick) {
	case 0:
	case 1:
	case 2:
		variable(g, t);
		break;
	case 3:
		constant(g, t);
		break;
	case 4:
		load(g, t, depth);
		break;
	case 5:
		variable(g, t);
		break;
	case 6:
		fputs("(", g->out);
		condition(g, depth - 1);
		fputs(" ? ", g->out);
		expr(g, t, depth - 1);
		fputs(" : ", g->out);
		expr(g, t, depth - 1);
		fputs(")", g->out);
		break;
	case 7:
		if (g->nfunctions && one_in(g, 2)) {
			call(g, t, depth);
			break;
		}
		/* falls through */
	default:
		if (types[t].flt)
			float_expr(g, t, depth);
		else
			int_expr(g, t, depth);
		break;
	}
}

static void statements(struct gen *g, unsigned int n, bool converged, bool in_loop);

static void block(struct gen *g, unsigned int n, bool converged, bool in_loop)
{
	fputs(" {", g->out);
	g->indent++;
	statements(g, n, converged, in_loop);
	g->indent--;
	line(g);
	fputs("}", g->out);
}

static void loop(struct gen *g, bool converged)
{
	unsigned int c = g->loops++;
	bool same = one_in(g, 2); /* every thread as often */

	if (one_in(g, 4)) {
		/* At the bottom, and a counter that ends it whatever the condition says. */
		fprintf(g->out, "c%u = 0;", c);
		line(g);
		fputs("do", g->out);
		block(g, 1 + below(g, 3), false, true);
		fprintf(g->out, " while (++c%u < %u && ", c, 2 + below(g, 6));
		condition(g, 1);
		fputs(");", g->out);
	} else {
		fprintf(g->out, "for (c%u = 0; c%u < ", c, c);
		if (same)
			fprintf(g->out, "%u", 1 + below(g, 5));
		else
			masked(g, 8, 1);
		fprintf(g->out, "; c%u++)", c);
		/* What is common to all threads stays so if none may leave it alone. */
		block(g, 1 + below(g, 3), converged && same, !(converged && same));
	}
	g->loops--;
}

static void choice(struct gen *g)
{
	unsigned int n = 3 + below(g, 6);

	fputs("switch (", g->out);
	masked(g, n > 4 ? 8 : 4, 1);
	fputs(") {", g->out);
	for (unsigned int i = 0; i < n; i++) {
		line(g);
		if (i + 1 == n && one_in(g, 2))
			fputs("default:", g->out);
		else
			fprintf(g->out, "case %u:", i);
		g->indent++;
		statements(g, 1, false, false);
		line(g);
		/* A label needs a statement. */
		fputs(one_in(g, 5) ? ";" : "break;", g->out);
		g->indent--;
	}
	line(g);
	fputs("}", g->out);
}

/* A round through shared memory: all write, wait, read others', wait. */
static void exchange(struct gen *g)
{
	unsigned int v = below(g, g->nvars);

	if (one_in(g, 3)) {
		static const char *const ops[] = { "Add", "Xor", "Or", "And", "Min", "Max" };
		unsigned int op = below(g, ARRAY_SIZE(ops));

		fprintf(g->out, "for (c3 = LINEAR_TID; c3 < 8; c3 += %u)", g->threads);
		line(g);
		fprintf(g->out, "\tsums[c3] = %u;", below(g, 100));
		line(g);
		fputs("__syncthreads();", g->out);
		line(g);
		fprintf(g->out, "atomic%s(&sums[", ops[op]);
		masked(g, 8, 1);
		fputs("], ", g->out);
		expr(g, U32, 1);
		fputs(");", g->out);
		line(g);
		fputs("__syncthreads();", g->out);
		line(g);
		fprintf(g->out, "v%u = ", v);
		convert_open(g, g->var[v], U32);
		fputs("sums[", g->out);
		masked(g, 8, 1);
		fputs("]);", g->out);
	} else {
		fputs("shared[LINEAR_TID] = ", g->out);
		expr(g, U64, 2);
		fputs(";", g->out);
		line(g);
		fputs("__syncthreads();", g->out);
		line(g);
		fprintf(g->out, "v%u = ", v);
		convert_open(g, g->var[v], U64);
		fputs("shared[(u32)(", g->out);
		expr(g, U32, 1);
		fprintf(g->out, ") %% %u]);", g->threads);
	}
	line(g);
	switch (below(g, 4)) {
	case 0:
		fprintf(g->out, "v%u = (%s)__syncthreads_count(", v, types[g->var[v]].name);
		condition(g, 1);
		fputs(");", g->out);
		break;
	case 1:
		fprintf(g->out, "v%u = (%s)(__syncthreads_or(", v, types[g->var[v]].name);
		condition(g, 1);
		fputs(") != 0);", g->out);
		break;
	default:
		fputs("__syncthreads();", g->out);
		break;
	}
}

static void warp_function(struct gen *g)
{
	static const enum type shuffled[] = { U32, S32, F32, U64, F64 };
	static const char *const shuffles[] = { "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync" };
	static const char *const reductions[] = { "add", "min", "max", "and", "or", "xor" };
	unsigned int v = below(g, g->nvars);
	enum type t = shuffled[below(g, ARRAY_SIZE(shuffled))];

	fprintf(g->out, "v%u = ", v);
	/* In a warp that is not full a shuffle might read a lane that is not there. */
	switch (below(g, g->threads % 32 ? 4 : 7)) {
	case 0:
		convert_open(g, g->var[v], U32);
		fputs("__ballot_sync(lanes, ", g->out);
		condition(g, 1);
		fputs("));", g->out);
		break;
	case 1:
		fprintf(g->out, "(%s)(%s(lanes, ", types[g->var[v]].name, one_in(g, 2) ? "__all_sync" : "__any_sync");
		condition(g, 1);
		fputs(") != 0);", g->out);
		break;
	case 2:
		convert_open(g, g->var[v], U32);
		fputs("__match_any_sync(lanes, (u32)", g->out);
		masked(g, 4, 1);
		fputs("));", g->out);
		break;
	case 3:
		convert_open(g, g->var[v], U32);
		fprintf(g->out, "__reduce_%s_sync(lanes, ", reductions[below(g, ARRAY_SIZE(reductions))]);
		expr(g, U32, 1);
		fputs("));", g->out);
		break;
	default:
		convert_open(g, g->var[v], t);
		fprintf(g->out, "%s(lanes, ", shuffles[below(g, 4)]);
		expr(g, t, 1);
		fputs(", (int)", g->out);
		if (one_in(g, 2))
			masked(g, 32, 1);
		else
			fprintf(g->out, "%u", below(g, 32));
		fprintf(g->out, ", %u));", 4u << below(g, 4));
		break;
	}
}

/* Nobody reads what comes out, and each operation has words of its own. */
static void atomic(struct gen *g)
{
	static const char *const ops[] = { "Add", "Xor", "Or", "And", "Min", "Max" };
	unsigned int op = below(g, ARRAY_SIZE(ops));
	bool wide = one_in(g, 3);

	fprintf(g->out, "atomic%s(&%s[%u + ", ops[op], wide ? "acc64" : "acc32", 4 * op);
	masked(g, 4, 1);
	fprintf(g->out, "], %s", wide ? "" : "(u32)");
	expr(g, wide ? U64 : U32, 2);
	fputs(");", g->out);
}

static void assign(struct gen *g)
{
	unsigned int v = below(g, g->nvars);

	if (g->in_kernel && one_in(g, 6)) {
		fputs("local[", g->out);
		masked(g, 8, 1);
		fputs("] = ", g->out);
		expr(g, U32, 3);
	} else {
		fprintf(g->out, "v%u = ", v);
		expr(g, g->var[v], 2 + below(g, 2));
	}
	fputs(";", g->out);
}

static void store_results(struct gen *g)
{
	for (unsigned int i = 0; i < g->nvars; i++) {
		line(g);
		fprintf(g->out, "out[%u * me + %u] = bits_of_%s(v%u);", g->nvars + 1, i, types[g->var[i]].name, i);
	}
	line(g);
	fprintf(g->out, "out[%u * me + %u] = local[me & 7];", g->nvars + 1, g->nvars);
}

static void statement(struct gen *g, bool converged, bool in_loop)
{
	bool deep = g->indent > 5;

	line(g);
	switch (below(g, 16)) {
	case 0:
	case 1:
		if (deep)
			break;
		fputs("if (", g->out);
		condition(g, 2);
		fputs(")", g->out);
		block(g, 1 + below(g, 3), false, in_loop);
		if (one_in(g, 2)) {
			fputs(" else", g->out);
			block(g, 1 + below(g, 3), false, in_loop);
		}
		return;
	case 2:
	case 3:
		if (deep || g->loops == 3)
			break;
		loop(g, converged);
		return;
	case 4:
		if (deep)
			break;
		choice(g);
		return;
	case 5:
		if (!in_loop)
			break;
		fputs("if (", g->out);
		condition(g, 1);
		fprintf(g->out, ")\n%.*s%s;", (int)g->indent + 1, "\t\t\t\t\t\t\t\t\t\t\t\t",
			one_in(g, 2) ? "break" : "continue");
		return;
	case 6:
		if (g->label < 0 || converged)
			break;
		fputs("if (", g->out);
		condition(g, 1);
		fprintf(g->out, ")\n%.*sgoto done%d;", (int)g->indent + 1, "\t\t\t\t\t\t\t\t\t\t\t\t", g->label);
		return;
	case 7:
	case 8:
		if (!converged || !g->shared)
			break;
		exchange(g);
		return;
	case 9:
	case 10:
		if (!converged || !g->warps)
			break;
		warp_function(g);
		return;
	case 11:
		if (!g->in_kernel)
			break;
		atomic(g);
		return;
	case 12:
		if (!g->may_return || !one_in(g, 2))
			break;
		fputs("if (", g->out);
		condition(g, 2);
		fputs(") {", g->out);
		g->indent++;
		if (g->in_kernel) {
			store_results(g);
			line(g);
			fputs(one_in(g, 2) ? "THREAD_EXIT();" : "return;", g->out);
		} else {
			line(g);
			fputs("return ", g->out);
			expr(g, g->function[g->nfunctions].result, 1);
			fputs(";", g->out);
		}
		g->indent--;
		line(g);
		fputs("}", g->out);
		return;
	default:
		break;
	}
	assign(g);
}

static void statements(struct gen *g, unsigned int n, bool converged, bool in_loop)
{
	while (n--) {
		if (!g->left)
			break;
		g->left--;
		statement(g, converged, in_loop);
	}
}

/* A region that its gotos leave forwards. */
static void region(struct gen *g, unsigned int n, bool converged)
{
	bool jumps = one_in(g, 3);

	if (!jumps) {
		statements(g, n, converged, false);
		return;
	}
	/* All come together at the label; in between no thread may count on the others. */
	g->label = g->nlabels++;
	statements(g, n, false, false);
	line(g);
	fputs("if (", g->out);
	condition(g, 1);
	fprintf(g->out, ") goto done%d;", g->label);
	line(g);
	assign(g);
	fprintf(g->out, "\ndone%d:", g->label);
	line(g);
	fputs(";", g->out);
	g->label = -1;
}

static void variables(struct gen *g)
{
	for (unsigned int i = 0; i < 4; i++) {
		line(g);
		fprintf(g->out, "u32 c%u = 0;", i);
	}
	line(g);
	fputs("(void)c0; (void)c1; (void)c2; (void)c3;", g->out);
}

static void function(struct gen *g)
{
	struct function *f = &g->function[g->nfunctions];
	bool recursive = one_in(g, 4);

	g->in_kernel = g->shared = g->warps = false;
	g->may_return = true;
	g->label = -1;
	g->loops = 1;	/* two levels of loops at most: c1, c2 */
	g->left = 6;
	f->result = any_type(g);
	f->nargs = 1 + below(g, MAX_ARGS);
	fprintf(g->out, "NOINLINE %s f%u_%u(", types[f->result].name, g->kernel, g->nfunctions);
	for (unsigned int i = 0; i < f->nargs; i++) {
		f->arg[i] = g->var[i] = recursive && i == 0 ? U32 : any_type(g);
		fprintf(g->out, "%s%s v%u", i ? ", " : "", types[f->arg[i]].name, i);
	}
	g->nvars = f->nargs;
	fputs(")\n{", g->out);
	g->indent = 1;
	if (recursive) {
		/* At most three deep. */
		line(g);
		fputs("u32 depth = v0 & 3;", g->out);
	}
	variables(g);
	statements(g, 4, false, false);
	if (recursive) {
		line(g);
		fprintf(g->out, "if (depth != 0)");
		line(g);
		fprintf(g->out, "\treturn f%u_%u(depth - 1", g->kernel, g->nfunctions);
		for (unsigned int i = 1; i < f->nargs; i++) {
			fputs(", ", g->out);
			expr(g, f->arg[i], 1);
		}
		fputs(");", g->out);
	}
	line(g);
	fputs("return ", g->out);
	expr(g, f->result, 2);
	fputs(";\n}\n", g->out);
	g->nfunctions++;
}

static void kernel(uint64_t seed, unsigned int number, FILE *out)
{
	static const struct {
		unsigned int x, y;
	} blocks[] = { { 32, 1 }, { 64, 1 }, { 96, 1 }, { 128, 1 }, { 16, 4 }, { 40, 1 }, { 7, 9 },
		       { 33, 1 }, { 5, 1 } };
	struct gen g = { .out = out, .kernel = number, .label = -1 };
	unsigned int b, grid, sum = 0;
	bool together;

	rng_seed(&g.rng, seed * 0x9e3779b97f4a7c15ull + number);
	for (unsigned int n = below(&g, FUNCTIONS + 1); n > 0; n--)
		function(&g);
	b = below(&g, ARRAY_SIZE(blocks));
	grid = 1 + below(&g, 3);
	g.threads = blocks[b].x * blocks[b].y;
	together = !one_in(&g, 4);
	g.in_kernel = true;
	g.may_return = !together;
	g.shared = g.warps = together;
	g.nvars = 3 + below(&g, MAX_VARS - 2);
	fprintf(out, "KERNEL(g%u)(u64 *out, u32 *acc32, u64 *acc64, const u32 *in32, const u64 *in64, const f32 *inf,\n"
		"\tconst f64 *ind, const s8 *in8, struct by_value p, s64 q)\n{", number);
	g.indent = 1;
	line(&g);
	fprintf(out, "u32 me = blockIdx.x * %u + LINEAR_TID, local[8];", g.threads);
	line(&g);
	fprintf(out, "u32 lanes = LINEAR_TID / 32 == %u ? 0x%xu : 0xffffffffu;", g.threads / 32,
		(1u << g.threads % 32) - 1);
	line(&g);
	fprintf(out, "__shared__ u64 shared[%u];", g.threads);
	line(&g);
	fputs("__shared__ u32 sums[8];", out);
	variables(&g);
	for (unsigned int i = 0; i < g.nvars; i++) {
		static const struct {
			const char *text;
			enum type type;
		} start[] = { { "in32[me & 255]", U32 }, { "in64[me & 255]", U64 }, { "inf[me & 255]", F32 },
			      { "ind[me & 255]", F64 }, { "in8[me & 255]", S8 }, { "p.a + me", U64 }, { "p.b", F32 },
			      { "p.c", U16 }, { "q", S64 }, { "me", U32 }, { "LANE", U32 } };
		unsigned int s = below(&g, ARRAY_SIZE(start));

		g.var[i] = any_type(&g);
		line(&g);
		fprintf(out, "%s v%u = ", types[g.var[i]].name, i);
		convert_open(&g, g.var[i], start[s].type);
		fprintf(out, "%s);", start[s].text);
	}
	line(&g);
	fputs("(void)lanes; (void)shared; (void)sums;", out);
	line(&g);
	fputs("for (c0 = 0; c0 < 8; c0++)", out);
	line(&g);
	fputs("\tlocal[c0] = in32[(me + c0) & 255] ^ c0;", out);
	g.left = 12 + below(&g, 25);
	g.loops = 0;
	while (g.left)
		region(&g, 3 + below(&g, 6), together);
	store_results(&g);
	fputs("\n}\n", out);
	sum = grid * g.threads * (g.nvars + 1);
	fprintf(out, "CASE(g%u, d3(%u), d3(%u, %u), 0, %llu, \"out:u64:%u io:u32:24 io:u64:24 "
		"in:u32:256 in:u64:256 in:f32:256 in:f64:256 in:s8:256 struct:24:8 s64=%lld\")\n\n",
		number, grid, blocks[b].x, blocks[b].y, (unsigned long long)(seed & 0xffffff), sum,
		(long long)(rng_next(&g.rng) >> below(&g, 64)));
}

static const char prelude[] =
	"#include \"shim.h\"\n\n"
	"struct by_value { u64 a; f32 b; u16 c; u8 d[10]; };\n"
	"__constant__ u32 constants[16] = { 0, 1, 2, 5, 31, 0x7fffffff, 0x80000000, 0xffffffff, 12345, 77, 3, 9, 1u << 20, 8, 6, 4 };\n"
	"__device__ s64 table[8] = { 0, -1, 1, 0x7fffffffffffffff, -5000000000, 42, 1ll << 33, -7 };\n"
	"DEVICE u32 div_u32(u32 a, u32 b) { return b ? a / b : a; }\n"
	"DEVICE u32 rem_u32(u32 a, u32 b) { return b ? a % b : a; }\n"
	"DEVICE s32 div_s32(s32 a, s32 b) { return b == 0 || b == -1 ? a : a / b; }\n"
	"DEVICE s32 rem_s32(s32 a, s32 b) { return b == 0 || b == -1 ? a : a % b; }\n"
	"DEVICE u64 div_u64(u64 a, u64 b) { return b ? a / b : a; }\n"
	"DEVICE u64 rem_u64(u64 a, u64 b) { return b ? a % b : a; }\n"
	"DEVICE s64 div_s64(s64 a, s64 b) { return b == 0 || b == -1 ? a : a / b; }\n"
	"DEVICE s64 rem_s64(s64 a, s64 b) { return b == 0 || b == -1 ? a : a % b; }\n"
	"DEVICE s32 f32_to_s32(f32 v) { return v > -2e9f && v < 2e9f ? (s32)v : 7; }\n"
	"DEVICE s32 f64_to_s32(f64 v) { return v > -2e9 && v < 2e9 ? (s32)v : 7; }\n"
	"DEVICE s64 f32_to_s64(f32 v) { return v > -9e18f && v < 9e18f ? (s64)v : 7; }\n"
	"DEVICE s64 f64_to_s64(f64 v) { return v > -9e18 && v < 9e18 ? (s64)v : 7; }\n"
	"DEVICE u64 bits_of_u8(u8 v) { return v; }\n"
	"DEVICE u64 bits_of_s8(s8 v) { return (u64)v; }\n"
	"DEVICE u64 bits_of_u16(u16 v) { return v; }\n"
	"DEVICE u64 bits_of_s16(s16 v) { return (u64)v; }\n"
	"DEVICE u64 bits_of_u32(u32 v) { return v; }\n"
	"DEVICE u64 bits_of_s32(s32 v) { return (u64)v; }\n"
	"DEVICE u64 bits_of_u64(u64 v) { return v; }\n"
	"DEVICE u64 bits_of_s64(s64 v) { return (u64)v; }\n"
	"DEVICE u64 bits_of_f32(f32 v) { return v != v ? 0x7fffffff : __float_as_uint(v); }\n"
	"DEVICE u64 bits_of_f64(f64 v) { return v != v ? 0x7fffffffffffffff : (u64)__double_as_longlong(v); }\n\n";

int main(int argc, char **argv)
{
	uint64_t seed;
	unsigned int first, count;

	if (argc != 4) {
		fprintf(stderr, "usage: generate SEED FIRST COUNT\n");
		return 2;
	}
	seed = strtoull(argv[1], NULL, 0);
	first = atoi(argv[2]);
	count = atoi(argv[3]);
	printf("// SPDX-License-Identifier: GPL-2.0\n// Kernels %u to %u of seed %llu.\n// arch: 80\n// warnings: off\n", first,
	       first + count - 1, (unsigned long long)seed);
	fputs(prelude, stdout);
	for (unsigned int i = first; i < first + count; i++)
		kernel(seed, i, stdout);
	return 0;
}
