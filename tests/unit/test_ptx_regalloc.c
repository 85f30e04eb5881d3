// SPDX-License-Identifier: GPL-2.0
/*
 * Register allocation and spilling: what holds of every kernel at every limit,
 * on generated programs with loops, tables, vectors, guards, calls and recursion, and
 * on the kernels in tests/unit/data; then what a few kernels must come to.
 */
#include <errno.h>
#include <stdio.h>

#include "ptx_machine.h"
#include "ptx/back.h"

static const uint32_t limits[] = { 255, 64, 40, 32, 28, 24, 20, 18, 17, 16 };

static struct ptx_module *parse(const char *text, uint32_t maxregs)
{
	struct ptx_options options = { .maxregs = maxregs };
	struct ptx_module *module;
	struct err err = { 0 };

	if (ptx_module_parse_with(text, strlen(text), "alloc.ptx", &options, &module, &err))
		fail_msg("%u registers: %s in\n%s", maxregs, err.text, text);
	return module;
}

/* --- what must hold ------------------------------------------------------------------- */

struct places {
	const struct ptx_kernel *k;
	uint32_t owner[3][512];	/* 1 + register: predicates, 32-bit registers */
};

static void take(struct places *p, uint32_t i, uint32_t r)
{
	uint32_t words = words_of(p->k, r), w, phys = p->k->phys[r];

	if (phys == PTX_NO_REG)
		fail_msg("%s is live at %u and has no place", p->k->regs[r].name, i);
	if (words == 2)
		assert_int_equal(phys % 2, 0);
	assert_true(phys + MAX(words, 1) <= (words ? p->k->regs_per_thread :
					     p->k->preds_per_thread));
	for (w = 0; w < MAX(words, 1); w++) {
		uint32_t *owner = &p->owner[words != 0][phys + w];

		if (*owner && *owner != r + 1)
			fail_msg("%s (%u) and %s (%u) are both live at %u and in %u", p->k->regs[r].name, r,
				 p->k->regs[*owner - 1].name, *owner - 1, i, phys + w);
		*owner = r + 1;
	}
}

/* Whether a call of function f can end up in function g. */
static bool leads_to(const struct ptx_kernel *k, uint32_t f, uint32_t g, bool *seen)
{
	uint32_t i;

	if (f == g)
		return true;
	seen[f] = true;
	for (i = k->functions[f].first; i < k->functions[f].end; i++) {
		const struct ptx_insn *insn = &k->insns[i];

		if (insn->opcode == PTX_OP_call && !seen[k->calls[insn->target].function] &&
		    leads_to(k, k->calls[insn->target].function, g, seen))
			return true;
	}
	return false;
}

static void check_calls(const struct ptx_kernel *k, const struct sets *sets, uint32_t i)
{
	const struct ptx_call *call = &k->calls[k->insns[i].target];
	const struct ptx_function *callee = &k->functions[call->function];
	bool seen[8] = { false };
	bool comes_back = leads_to(k, call->function, function_at(k, i) - k->functions, seen);
	uint32_t r, j;

	for (r = 0; r < k->nregs; r++) {
		if (!sets_live(sets, i + 1, r) || !sets_live(sets, i, r) || call->builtin)
			continue;
		for (j = 0; j < call->nresults && call->results[j] != r; j++)
			;
		if (j < call->nresults)
			continue;
		if (comes_back)
			fail_msg("%s is live across the recursive call %u", k->regs[r].name, i);
		if (words_of(k, r) && k->phys[r] < callee->regs)
			fail_msg("%s is in %u, which call %u writes", k->regs[r].name, k->phys[r], i);
	}
}

static bool has_place(const struct ptx_kernel *k, uint32_t r)
{
	return r != PTX_NO_REG && k->phys[r] != PTX_NO_REG;
}

static void check_function(const struct ptx_kernel *k, const struct ptx_function *f)
{
	uint32_t i, d;

	assert_int_equal(f->frame_bytes % 16, 0);
	assert_true(f == k->functions || f->frame_bytes >= 16);
	for (i = f->first; i < f->end; i++) {
		for (d = 0; d < k->insns[i].ndst; d++) {
			uint32_t r = k->insns[i].dst[d].reg;

			if (has_place(k, r) && words_of(k, r))
				assert_true(k->phys[r] + words_of(k, r) <= f->regs);
		}
	}
}

static void check(const struct ptx_kernel *k, uint32_t maxregs)
{
	static struct places p;
	struct sets sets;
	uint32_t i, r, d, stores = 0, loads = 0;

	sets_solve(&sets, k);
	assert_true(k->regs_per_thread <= maxregs);
	for (i = 0; i < k->ninsns; i++) {
		const struct ptx_insn *insn = &k->insns[i];

		if (!sets.reachable[i])
			continue;
		assert_int_equal(k->live[i], sets_count(&sets, i));
		memset(&p, 0, sizeof(p));
		p.k = k;
		for (r = 0; r < k->nregs; r++) {
			if (sets_live(&sets, i, r))
				take(&p, i, r);
		}
		/* Several destinations are in nobody's place, not even a dying source's. */
		for (d = 0; d < insn->ndst && insn_is_wide(insn); d++) {
			if (has_place(k, insn->dst[d].reg))
				take(&p, i, insn->dst[d].reg);
		}
		/* What is written and read by none is nowhere, or where nobody is. */
		memset(&p, 0, sizeof(p));
		p.k = k;
		for (d = 0; d < insn->ndst; d++) {
			if (has_place(k, insn->dst[d].reg))
				take(&p, i, insn->dst[d].reg);
		}
		for (r = 0; r < k->nregs && insn->ndst; r++) {
			if (sets_live(&sets, i + 1, r))
				take(&p, i, r);
		}
		if (insn->opcode == PTX_OP_call)
			check_calls(k, &sets, i);
		if (insn->opcode == PTX_OP_st && insn->space == PTX_SPACE_LOCAL)
			stores += ptx_type_bytes(insn->type);
		if (insn->opcode == PTX_OP_ld && insn->space == PTX_SPACE_LOCAL)
			loads += ptx_type_bytes(insn->type);
	}
	for (i = 0; i < k->nfunctions; i++)
		check_function(k, &k->functions[i]);
	assert_true(k->spill_store_bytes <= stores && k->spill_load_bytes <= loads);
	sets_free(&sets);
}

/* --- random programs ------------------------------------------------------------------ */

struct gen {
	uint64_t seed;
	char *text;
	size_t at, bytes;
	uint32_t n32, n64, npred;	/* registers of each kind */
	uint32_t nfuncs, self;		/* functions of the module; the one being written, from 1 */
	uint32_t ncalls;		/* of the module */
};

static uint32_t pick(struct gen *g, uint32_t n)
{
	g->seed = g->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (g->seed >> 33) % n;
}

static void __attribute__((format(printf, 2, 3))) put(struct gen *g, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	g->at += vsnprintf(g->text + g->at, g->bytes - g->at, fmt, args);
	va_end(args);
	assert_true(g->at < g->bytes);
}

#define R	pick(g, g->n32)
#define D	pick(g, g->n64)
#define P	pick(g, g->npred)

/*
 * The first argument counts down, so that recursion comes to an end. Each call's parameters
 * have names of their own, because the machine tells a function's variables apart by name.
 */
static void put_call(struct gen *g)
{
	uint32_t f = pick(g, g->nfuncs) + 1, c = g->ncalls++;
	char guard[16] = "";

	/* Functions call later ones, and now and then whom they like. */
	if (g->self && f <= g->self && pick(g, 2))
		return;
	if (!pick(g, 3))
		sprintf(guard, "@%s%%p%u ", pick(g, 2) ? "!" : "", P);
	put(g, "{ .param .b32 ca%u; .param .b64 cb%u; .param .b32 cc%u; .param .b64 cd%u;\n", c, c, c,
	    c);
	put(g, "sub.u32 %%m, %%n, 1;\nst.param.b32 [ca%u], %%m; st.param.b64 [cb%u], %%d%u;\n", c, c, D);
	put(g, "%scall (cc%u, cd%u), f%u, (ca%u, cb%u);\n", guard, c, c, f, c, c);
	put(g, "%sld.param.b32 %%r%u, [cc%u]; %sld.param.b64 %%d%u, [cd%u]; }\n", guard, R, c, guard, D,
	    c);
}

static void put_insn(struct gen *g, uint32_t labels)
{
	uint32_t kind = pick(g, 30);

	if (kind > 3 && kind < 24 && !pick(g, 4))
		put(g, "@%s%%p%u ", pick(g, 2) ? "!" : "", P);
	switch (kind) {
	case 0:
		put(g, "@%%p%u bra L%u;\n", P, pick(g, labels));
		break;
	case 1:
		put(g, "@%%p%u bra L%u;\n", P, pick(g, labels));
		break;
	case 2:
		put(g, "%s", pick(g, 30) ? "" : "brx.idx %r0, T;\n");
		break;
	case 3:
		put(g, "@%%p%u %s;\n", P, pick(g, 3) ? "ret" : "exit");
		break;
	case 4:
		put(g, "mov.u32 %%r%u, %u;\n", R, pick(g, 100));
		break;
	case 5:
		put(g, "mov.u64 %%d%u, %u;\n", D, pick(g, 100));
		break;
	case 6:
		put(g, "mov.u32 %%r%u, %%tid.x;\n", R);
		break;
	case 7:
		put(g, "setp.lt.u32 %%p%u|%%p%u, %%r%u, %%r%u;\n", P, P, R, R);
		break;
	case 8:
		put(g, "setp.eq.u64 %%p%u, %%d%u, %%d%u;\n", P, D, D);
		break;
	case 9:
		put(g, "mov.b64 {%%r%u, %%r%u}, %%d%u;\n", R, R, D);
		break;
	case 10:
		put(g, "mov.b64 %%d%u, {%%r%u, %%r%u};\n", D, R, R);
		break;
	case 11:
		put(g, "ld.global.v4.u32 {%%r%u, %%r%u, %%r%u, %%r%u}, [%%d%u];\n", R, R, R, R, D);
		break;
	case 12:
		put(g, "ld.global.v2.u64 {%%d%u, %%d%u}, [%%d%u];\n", D, D, D);
		break;
	case 13:
		put(g, "st.global.v4.u32 [%%d%u], {%%r%u, %%r%u, %%r%u, %%r%u};\n", D, R, R, R, R);
		break;
	case 14:
		put(g, "shfl.sync.down.b32 %%r%u|%%p%u, %%r%u, %%r%u, 31, -1;\n", R, P, R, R);
		break;
	case 15:
		put(g, "selp.b64 %%d%u, %%d%u, %%d%u, %%p%u;\n", D, D, D, P);
		break;
	case 16:
		put(g, "mad.wide.u32 %%d%u, %%r%u, %%r%u, %%d%u;\n", D, R, R, D);
		break;
	case 17:
		put(g, "cvt.u16.u32 %%h%u, %%r%u;\n", pick(g, 3), R);
		break;
	case 18:
		put(g, "cvt.u32.u16 %%r%u, %%h%u;\n", R, pick(g, 3));
		break;
	case 19:
		put(g, "st.global.u64 [8], %%d%u;\n", D);
		break;
	case 24:
		/* The guard is among what it writes. */
		put(g, "@%%p1 shfl.sync.down.b32 %%r%u|%%p1, %%r%u, %%r%u, 31, -1;\n", R, R, R);
		break;
	case 25:
		put(g, "st.global.u32 [4], %%r%u;\n", R);
		break;
	case 26:
	case 27:
		if (g->nfuncs)
			put_call(g);
		break;
	default:
		if (kind & 1)
			put(g, "add.u32 %%r%u, %%r%u, %%r%u;\n", R, R, R);
		else
			put(g, "fma.rn.f64 %%d%u, %%d%u, %%d%u, %%d%u;\n", D, D, D, D);
		break;
	}
}

/* Everything is written before it is read, so that both ways to run it must agree. */
static void put_start(struct gen *g)
{
	uint32_t i;

	put(g, ".reg .b32 %%n, %%m; .reg .b32 %%r<%u>; .reg .b64 %%d<%u>; .reg .b16 %%h<3>; .reg .pred %%p<%u>;\n",
	    g->n32, g->n64, g->npred);
	for (i = 0; i < g->n32; i++) {
		if (!g->self)
			put(g, "ld.param.u32 %%r%u, [x+%u];\n", i, 4 * i);
		else if (i)
			put(g, "add.u32 %%r%u, %%r%u, %u;\n", i, i - 1, i);
		else
			put(g, "ld.param.b32 %%n, [a]; add.u32 %%r0, %%n, 1;\n");
	}
	if (!g->self)
		put(g, "mov.u32 %%n, 3;\n");
	for (i = 0; i < g->n64; i++) {
		if (!g->self || i)
			put(g, "cvt.u64.u32 %%d%u, %%r%u;\n", i, i % g->n32);
		else
			put(g, "ld.param.b64 %%d0, [b];\n");
	}
	for (i = 0; i < 3; i++)
		put(g, "cvt.u16.u32 %%h%u, %%r%u;\n", i, i);
	for (i = 0; i < g->npred; i++)
		put(g, "setp.gt.u32 %%p%u, %%r%u, %u;\n", i, i, 7 * i);
	if (g->self)
		put(g, "st.param.b32 [c], %%r0; st.param.b64 [d], %%d0;\n"
		    "setp.ne.u32 %%p0, %%n, 0;\n@!%%p0 ret;\n");
}

static void put_body(struct gen *g)
{
	uint32_t n = 4 + pick(g, 60), i;

	put_start(g);
	put(g, "T: .branchtargets L0, L%u, L%u;\n", n / 2, n - 1);
	for (i = 0; i < n; i++) {
		put(g, "L%u:\n", i);
		put_insn(g, n);
	}
	/* All that is left matters. */
	for (i = 0; i < g->n32; i++)
		put(g, "st.global.u32 [4], %%r%u;\n", i);
	for (i = 0; i < g->n64; i++)
		put(g, "st.global.u64 [8], %%d%u;\n", i);
	if (g->self)
		put(g, "st.param.b32 [c], %%r%u; st.param.b64 [d], %%d%u;\n", R, D);
	put(g, "ret;\n}\n");
}

static void put_program(struct gen *g)
{
	uint32_t f;

	g->at = 0;
	g->ncalls = 0;
	g->nfuncs = pick(g, 4);
	put(g, ".version 7.0\n.target sm_70\n.address_size 64\n");
	for (f = 1; f <= g->nfuncs; f++)
		put(g, ".func (.param .b32 c, .param .b64 d) f%u(.param .b32 a, .param .b64 b);\n", f);
	for (f = 0; f <= g->nfuncs; f++) {
		g->self = f;
		g->n32 = 3 + pick(g, f ? 8 : 30);
		g->n64 = 3 + pick(g, f ? 6 : 20);
		g->npred = 3;
		if (f)
			put(g, ".func (.param .b32 c, .param .b64 d) f%u(.param .b32 a, .param .b64 b) {\n", f);
		else
			put(g, ".entry k(.param .align 8 .b8 x[256]) {\n");
		put_body(g);
	}
}

static void same(const struct machine *a, const struct machine *b, uint32_t round, uint32_t limit,
		 const char *text)
{
	uint32_t n = MIN(a->ntrace, b->ntrace), i;

	if (!a->cut && !b->cut)
		assert_int_equal(a->ntrace, b->ntrace);
	for (i = 0; i < n; i++) {
		if (a->trace[i] != b->trace[i])
			fail_msg("round %u, %u registers: store %u of %u differs in\n%s", round, limit, i,
				 n, text);
	}
}

static void random_programs(void **state)
{
	static struct machine reference, allocated;
	static char text[65536];
	uint32_t round, l, f, spilled = 0, recursive = 0, stores = 0;

	for (round = 0; round < 200; round++) {
		struct gen g = { .seed = round, .text = text, .bytes = sizeof(text) };
		struct ptx_module *module;
		const struct ptx_kernel *k;

		put_program(&g);
		module = parse(text, 255);
		machine_run(&reference, ptx_module_kernel_at(module, 0), false, round << 16);
		stores += reference.ntrace;
		ptx_module_free(module);
		for (l = 0; l < ARRAY_SIZE(limits); l++) {
			module = parse(text, limits[l]);
			k = ptx_module_kernel_at(module, 0);
			check(k, limits[l]);
			machine_run(&allocated, k, true, round << 16);
			same(&reference, &allocated, round, limits[l], text);
			spilled += k->spill_store_bytes != 0;
			for (f = 0; f < k->nfunctions; f++)
				recursive += k->functions[f].recursive;
			ptx_module_free(module);
		}
	}
	/* The generator makes what it is meant to. */
	assert_true(spilled > 400);
	assert_true(recursive > 100);
	assert_true(stores > 10000);
}

/* --- kernels that compilers wrote -------------------------------------------------------- */

static char *read_data(const char *file)
{
	char path[512], *slash, *text;
	FILE *in;
	long len;

	snprintf(path, sizeof(path), "%s", __FILE__);
	slash = strrchr(path, '/');
	snprintf(slash, path + sizeof(path) - slash, "/data/%s", file);
	in = fopen(path, "rb");
	if (!in)
		fail_msg("cannot read %s", path);
	fseek(in, 0, SEEK_END);
	len = ftell(in);
	rewind(in);
	text = calloc(1, len + 1);
	assert_int_equal(fread(text, 1, len, in), len);
	fclose(in);
	return text;
}

static void compiled_kernels(void **state)
{
	static const char *const files[] = {
		"kernels_O0.ptx", "kernels_O1.ptx", "kernels_O2.ptx", "kernels_O3.ptx",
	};
	uint32_t kernels = 0, tight = 0, i, l, n;
	const struct ptx_kernel *k;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		char *text = read_data(files[i]);

		for (l = 0; l < ARRAY_SIZE(limits); l++) {
			struct ptx_module *module = parse(text, limits[l]);

			for (n = 0; (k = ptx_module_kernel_at(module, n)); n++) {
				check(k, limits[l]);
				if (k->max_live > limits[l]) {
					assert_true(k->regs_per_thread < k->max_live);
					continue;
				}
				kernels++;
				tight += k->regs_per_thread == k->max_live;
				assert_true(k->regs_per_thread <= k->max_live + 1);
			}
			ptx_module_free(module);
		}
		free(text);
	}
	assert_true(kernels > 400);
	assert_true(tight * 10 >= kernels * 9);
}

/* --- known cases --------------------------------------------------------------------------- */

#define OPEN ".version 7.0\n.target sm_70\n.address_size 64\n"

static uint32_t count(const struct ptx_kernel *k, enum ptx_opcode op, enum ptx_space space,
		      uint32_t from, uint32_t to)
{
	uint32_t i, n = 0;

	for (i = from; i < to; i++)
		n += k->insns[i].opcode == op && k->insns[i].space == space;
	return n;
}

/* `kind` makes value i, all of which are used once again at the end. */
static struct ptx_module *crowd(const char *first, const char *kind, uint32_t n, uint32_t maxregs,
				const char *middle)
{
	struct gen g = { .bytes = 32768, .text = calloc(1, 32768) };
	struct ptx_module *module;
	uint32_t i;

	put(&g, OPEN ".entry k(.param .u64 x) {\n.reg .b32 %%r<100>;\n.reg .b64 %%d<100>;\n"
	    ".reg .pred %%p<4>;\n%s", first);
	for (i = 0; i < n; i++) {
		put(&g, kind, i, i);
		put(&g, "\n");
	}
	put(&g, "%s\n", middle);
	for (i = 0; i < n; i++)
		put(&g, "st.global.u32 [%u], %%r%u;\n", 4 * i, i);
	put(&g, "ret;\n}\n");
	module = parse(g.text, maxregs);
	free(g.text);
	return module;
}

static void what_is_made_again(void **state)
{
	static const struct {
		const char *kind;
		bool again;
	} kinds[] = {
		{ "mov.u32 %%r%u, %u;", true },
		{ "mov.u32 %%r%u, %%ntid.x;", true },
		{ "ld.param.u32 %%r%u, [x];", true },
		{ "mov.u32 %%r%u, %%clock;", false },
		{ "mov.u32 %%r%u, %%smid;", false },
		{ "ld.global.u32 %%r%u, [%u];", false },
	};
	const struct ptx_kernel *k;
	struct ptx_module *module;
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		module = crowd("", kinds[i].kind, 40, 16, "");
		k = ptx_module_kernel_at(module, 0);
		check(k, 16);
		assert_int_equal(k->max_live, 40);
		if ((k->spill_store_bytes == 0) != kinds[i].again)
			fail_msg("%s: %u bytes", kinds[i].kind, k->spill_store_bytes);
		/* The first definition moves to its use: no instruction more. */
		if (kinds[i].again)
			assert_int_equal(k->ninsns, 81);
		else
			assert_int_equal(k->local_bytes, (k->spill_store_bytes + 15) & ~15u);
		ptx_module_free(module);
	}
}

/* A guarded definition is not made again where the guard may say something else. */
static void guarded_constants(void **state)
{
	static struct machine reference, allocated;
	struct ptx_module *module;
	uint32_t l;

	for (l = 0; l < ARRAY_SIZE(limits); l++) {
		module = crowd("setp.ne.u32 %p0, 1, 0;\nsetp.ne.u32 %p1, 1, 0;\n",
			       "@%%p0 mov.u32 %%r%u, %u;", 40, limits[l],
			       "@%p1 setp.ne.u32 %p0, 0, 0;\n@%p0 st.global.u32 [400], 1;");
		check(ptx_module_kernel_at(module, 0), limits[l]);
		machine_run(l ? &allocated : &reference, ptx_module_kernel_at(module, 0), l, 0);
		assert_int_equal((l ? &allocated : &reference)->ntrace, 40);
		if (l)
			same(&reference, &allocated, 0, limits[l], "guarded constants");
		ptx_module_free(module);
	}
}

/* What is used much, but around a loop, goes before what is used once in it. */
static void loops_come_last(void **state)
{
	struct gen g = { .bytes = 32768, .text = calloc(1, 32768) };
	struct ptx_module *module;
	const struct ptx_kernel *k;
	uint32_t i, use;

	put(&g, OPEN ".entry k() {\n.reg .b32 %%r<100>;\n.reg .b32 %%s;\n.reg .pred %%p;\n");
	for (i = 0; i < 24; i++)
		put(&g, "ld.global.u32 %%r%u, [%u];\n", i, 4 * i);
	put(&g, "mov.u32 %%s, 0;\nL:\n");
	for (i = 0; i < 8; i++)
		put(&g, "add.u32 %%s, %%s, %%r%u;\n", i);
	put(&g, "setp.lt.u32 %%p, %%s, 100;\n@%%p bra L;\n");
	for (use = 0; use < 4; use++) {
		for (i = 8; i < 24; i++)
			put(&g, "st.global.u32 [%u], %%r%u;\n", 4 * i, i);
	}
	put(&g, "ret;\n}\n");
	module = parse(g.text, 16);
	free(g.text);
	k = ptx_module_kernel_at(module, 0);
	check(k, 16);
	assert_true(k->spill_load_bytes > 0);
	for (i = 0; k->insns[i].opcode != PTX_OP_bra; i++)
		;
	assert_int_equal(count(k, PTX_OP_ld, PTX_SPACE_LOCAL, k->insns[i].target, i), 0);
	assert_int_equal(count(k, PTX_OP_st, PTX_SPACE_LOCAL, k->insns[i].target, i), 0);
	ptx_module_free(module);
}

/*
 * 17 values for 16 registers. Fifteen are used six times each; %a is written once and read four
 * times, %b is written in each of five arms and read once. A read costs 3 and a write 2: 14 for
 * %a, 13 for %b, which is named more often.
 */
static void the_cheapest_goes(void **state)
{
	struct gen g = { .bytes = 32768, .text = calloc(1, 32768) };
	struct ptx_module *module;
	const struct ptx_kernel *k;
	uint32_t i, use;

	put(&g, OPEN ".entry k() {\n.reg .b32 %%r<16>;\n.reg .b32 %%a, %%b, %%c;\n.reg .pred %%p;\n"
	    "ld.global.u32 %%c, [800];\nsetp.eq.u32 %%p, %%c, 0;\n");
	for (i = 0; i < 4; i++)
		put(&g, "@%%p bra X%u;\nld.global.u32 %%b, [%u];\nbra J;\nX%u:\n", i, 804 + 4 * i, i);
	put(&g, "ld.global.u32 %%b, [820];\nJ:\nld.global.u32 %%a, [824];\n");
	for (i = 0; i < 15; i++)
		put(&g, "ld.global.u32 %%r%u, [%u];\n", i, 4 * i);
	for (use = 0; use < 6; use++) {
		for (i = 0; i < 15; i++)
			put(&g, "st.global.u32 [%u], %%r%u;\n", 4 * i, i);
	}
	for (i = 0; i < 5; i++)
		put(&g, "st.global.u32 [%u], %%%c;\n", 900 + 4 * i, i == 2 ? 'b' : 'a');
	put(&g, "ret;\n}\n");
	module = parse(g.text, 16);
	free(g.text);
	k = ptx_module_kernel_at(module, 0);
	check(k, 16);
	assert_int_equal(k->max_live, 17);
	/* %b: five stores and a load of 4 bytes. */
	assert_int_equal(k->spill_store_bytes, 5 * 4);
	assert_int_equal(k->spill_load_bytes, 4);
	ptx_module_free(module);
}

/* A value that is used twice in close succession is loaded once. */
static void one_load_for_two_uses(void **state)
{
	struct gen g = { .bytes = 32768, .text = calloc(1, 32768) };
	struct ptx_module *module;
	const struct ptx_kernel *k;
	uint32_t i;

	put(&g, OPEN ".entry k() {\n.reg .b32 %%r<100>;\n");
	for (i = 0; i < 40; i++)
		put(&g, "ld.global.u32 %%r%u, [%u];\n", i, 4 * i);
	for (i = 0; i < 40; i++)
		put(&g, "st.global.u32 [%u], %%r%u;\nmembar.gl;\nst.global.u32 [%u], %%r%u;\n", 8 * i, i,
		    8 * i + 4, i);
	put(&g, "ret;\n}\n");
	module = parse(g.text, 16);
	free(g.text);
	k = ptx_module_kernel_at(module, 0);
	check(k, 16);
	assert_int_equal(k->spill_load_bytes, k->spill_store_bytes);
	ptx_module_free(module);
}

/* Two crowds, one after the other, use the same places. */
static void slots_are_shared(void **state)
{
	struct gen g = { .bytes = 32768, .text = calloc(1, 32768) };
	const struct ptx_kernel *k;
	struct ptx_module *module;
	uint32_t i, c;

	put(&g, OPEN ".entry k() {\n.reg .b32 %%r<100>;\n");
	for (c = 0; c < 4; c++) {
		for (i = 0; i < 40; i++)
			put(&g, "ld.global.u32 %%r%u, [%u];\n", i, i * 4);
		for (i = 0; i < 40; i++)
			put(&g, "st.global.u32 [%u], %%r%u;\n", i * 4, i);
	}
	put(&g, "ret;\n}\n");
	module = parse(g.text, 16);
	k = ptx_module_kernel_at(module, 0);
	check(k, 16);
	assert_true(k->spill_store_bytes >= 4 * 4 * 24);
	assert_true(k->local_bytes <= 4 * 26 + 15);
	ptx_module_free(module);
	free(g.text);
}

static void limits_from_the_text(void **state)
{
	static const char text[] = OPEN ".entry k() .maxnreg 20 {\n.reg .b32 %r<40>;\n";
	struct gen g = { .bytes = 32768, .text = calloc(1, 32768) };
	uint32_t i, l, got[] = { 255, 20, 16 }, want[] = { 20, 20, 16 };
	const struct ptx_kernel *k;
	struct ptx_module *module;

	put(&g, "%s", text);
	for (i = 0; i < 30; i++)
		put(&g, "ld.global.u32 %%r%u, [%u];\n", i, i * 4);
	for (i = 0; i < 30; i++)
		put(&g, "st.global.u32 [%u], %%r%u;\n", i * 4, i);
	put(&g, "ret;\n}\n");
	for (l = 0; l < ARRAY_SIZE(got); l++) {
		module = parse(g.text, got[l]);
		k = ptx_module_kernel_at(module, 0);
		assert_int_equal(k->max_nreg, 20);
		assert_int_equal(k->regs_per_thread, want[l]);
		assert_int_equal(k->max_live, 30);
		ptx_module_free(module);
	}
	free(g.text);
}

/* A function writes from 0 on; what lives across its call is above. */
static void calls(void **state)
{
	static const char text[] = OPEN
		".func (.param .b32 c) f(.param .b32 a) {\n.reg .b32 %r<4>;\nld.param.b32 %r0, [a];\n"
		"mul.lo.u32 %r1, %r0, %r0;\nadd.u32 %r2, %r1, %r0;\nst.param.b32 [c], %r2;\nret;\n}\n"
		".entry k(.param .u32 x) {\n.reg .b32 %r<4>;\nld.param.u32 %r0, [x];\n"
		"{ .param .b32 pa; .param .b32 pc; st.param.b32 [pa], %r0; call (pc), f, (pa); ld.param.b32 %r1, [pc]; }\n"
		"add.u32 %r2, %r1, %r0;\nst.global.u32 [0], %r2;\nret;\n}\n";
	struct ptx_module *module = parse(text, 255);
	const struct ptx_kernel *k = ptx_module_kernel_at(module, 0);

	check(k, 255);
	assert_int_equal(k->nfunctions, 2);
	assert_int_equal(k->functions[1].regs, 2);
	assert_int_equal(k->max_live, 3);
	assert_int_equal(k->regs_per_thread, 3);
	assert_int_equal(k->functions[1].frame_bytes, 16);
	assert_int_equal(k->functions[0].frame_bytes, 0);
	assert_int_equal(k->local_bytes, 16);
	assert_int_equal(k->max_calls, 1);
	assert_false(k->functions[1].recursive);
	ptx_module_free(module);
}

static void recursion(void **state)
{
	static const char text[] = OPEN
		".func (.param .b32 c) f(.param .b32 a);\n"
		".func (.param .b32 c) g(.param .b32 a) {\n.reg .b32 %r<8>;\nld.param.b32 %r0, [a];\n"
		"{ .param .b32 pa; .param .b32 pc; st.param.b32 [pa], %r0; call (pc), f, (pa); ld.param.b32 %r1, [pc]; }\n"
		"ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [0];\nst.global.v4.u32 [0], {%r6, %r5, %r4, %r3};\n"
		"add.u32 %r2, %r1, %r0;\nst.param.b32 [c], %r2;\nret;\n}\n"
		".func (.param .b32 c) f(.param .b32 a) {\n.reg .b32 %r<4>;\n.reg .pred %p<2>;\nld.param.b32 %r0, [a];\n"
		"setp.eq.u32 %p0, %r0, 0;\nst.param.b32 [c], %r0;\n@%p0 ret;\nsub.u32 %r1, %r0, 1;\n"
		"{ .param .b32 pa; .param .b32 pc; st.param.b32 [pa], %r1; call (pc), g, (pa); ld.param.b32 %r2, [pc]; }\n"
		"@%p0 add.u32 %r2, %r2, %r0;\nst.param.b32 [c], %r2;\nret;\n}\n"
		".entry k(.param .u32 x) {\n.reg .b32 %r<4>;\nld.param.u32 %r0, [x];\n"
		"{ .param .b32 pa; .param .b32 pc; st.param.b32 [pa], %r0; call (pc), f, (pa); ld.param.b32 %r1, [pc]; }\n"
		"st.global.u32 [0], %r1;\nret;\n}\n";
	struct ptx_options options = { .stack_bytes = 4096 };
	const struct ptx_kernel *k;
	struct ptx_module *module;
	struct err err = { 0 };

	assert_int_equal(ptx_module_parse_with(text, strlen(text), "r.ptx", &options, &module, &err), 0);
	k = ptx_module_kernel_at(module, 0);
	check(k, 255);
	assert_false(k->functions[0].recursive);
	assert_true(k->functions[1].recursive && k->functions[2].recursive);
	/* Six at once in g, which f can find itself below. */
	assert_int_equal(k->functions[1].regs, 6);
	assert_int_equal(k->functions[2].regs, 6);
	/* g keeps one register, f one and a predicate. */
	assert_int_equal(k->spill_store_bytes, 12);
	assert_int_equal(k->spill_load_bytes, 12);
	assert_int_equal(k->local_bytes, 16 + 16 + 4096);
	/* As many as the smallest frames leave room for. */
	assert_int_equal(k->max_calls, 2 + 4096 / 16);
	ptx_module_free(module);
}

/*
 * A formal that is written again, by a loop that comes back to the function's first
 * instruction; a result that a guarded call may leave as it was.
 */
static void formals_and_results(void **state)
{
	static const char text[] = OPEN
		".func (.reg .b32 %c) f(.reg .b32 %a) {\n.reg .pred %p, %q;\n"
		"L:\nst.global.u32 [4], %a;\nmov.u32 %c, 7;\nsetp.ne.u32 %p, %a, 0;\nsub.u32 %a, %a, 1;\n"
		"@%p call (%c), f, (%a);\nsetp.ne.u32 %q, %c, 7;\n@%q st.global.u32 [12], %c;\n"
		"sub.u32 %c, %c, 1;\nst.global.u32 [8], %c;\n@%p bra L;\nret;\n}\n"
		".entry k() {\n.reg .b32 %r;\ncall (%r), f, (4);\nst.global.u32 [0], %r;\nret;\n}\n";
	static struct machine reference, allocated;
	uint32_t l;

	for (l = 0; l < ARRAY_SIZE(limits); l++) {
		struct ptx_module *module = parse(text, limits[l]);

		check(ptx_module_kernel_at(module, 0), limits[l]);
		machine_run(&reference, ptx_module_kernel_at(module, 0), false, 0);
		machine_run(&allocated, ptx_module_kernel_at(module, 0), true, 0);
		/*
		 * f(n) has n + 1 rounds and calls f(n - 1), f(n - 2), ... in all but the last.
		 * All of them store twice, and once more when there is a result, which is not 7.
		 */
		assert_int_equal(reference.ntrace, 1 + 2 * 31 + 15);
		same(&reference, &allocated, 0, limits[l], text);
		ptx_module_free(module);
	}
}

/* --- what cannot be done ---------------------------------------------------------------------- */

static void refused(const char *text, const char *message)
{
	struct ptx_module *module;
	struct err err = { 0 };

	assert_int_equal(ptx_module_parse(text, strlen(text), "a.ptx", &module, &err), -EOPNOTSUPP);
	if (strcmp(err.text, message))
		fail_msg("%s", err.text);
}

static void too_much(void **state)
{
	struct gen g = { .bytes = 65536, .text = calloc(1, 65536) };
	uint32_t i;

	put(&g, OPEN ".entry k() {\n.reg .pred %%p<300>;\n.reg .b32 %%r<2>;\n");
	for (i = 0; i < 300; i++)
		put(&g, "setp.eq.u32 %%p%u, 1, %u;\n", i, i);
	for (i = 0; i < 300; i++)
		put(&g, "@%%p%u st.global.u32 [0], %u;\n", i, i);
	put(&g, "ret;\n}\n");
	refused(g.text, "a.ptx:4: not supported: more than 255 predicates of kernel 'k' are in use at once");
	free(g.text);
	refused(OPEN ".func f() {\n.local .b8 x[300000];\n.reg .b64 %d<2>;\nmov.u64 %d0, x;\nst.local.u32 [%d0], 1;\nret;\n}\n"
		".entry k() {\n.local .b8 x[300000];\n.reg .b64 %d<2>;\nmov.u64 %d0, x;\nst.local.u32 [%d0], 1;\ncall f;\nret;\n}\n",
		"a.ptx:11: not supported: kernel 'k' takes more than 524288 bytes of local memory a thread");
}

/* No instruction of PTX takes 16 registers, but a kernel made by hand can have a call that does. */
static void one_instruction_too_wide(void **state)
{
	enum { ARGS = 17 };
	struct ptx_function function = { .name = "k", .end = ARGS + 2 };
	struct ptx_operand args[ARGS] = { 0 };
	struct ptx_call call = { .builtin = PTX_BUILTIN_VPRINTF, .nargs = ARGS, .args = args };
	struct ptx_kernel k = {
		.name = "k", .module = "hand.ptx", .functions = &function, .nfunctions = 1,
		.calls = &call, .ncalls = 1, .ninsns = ARGS + 2, .nregs = ARGS,
		.insns = calloc(ARGS + 2, sizeof(struct ptx_insn)),
		.regs = calloc(ARGS, sizeof(struct ptx_reg)),
	};
	struct ptx_options options = { .maxregs = 16 };
	struct slab slab = { 0 };
	struct err err = { 0 };
	uint32_t i;

	for (i = 0; i < ARGS + 2; i++)
		k.insns[i] = (struct ptx_insn){ .guard = PTX_NO_REG, .line = 10 + i, .vec = 1 };
	for (i = 0; i < ARGS; i++) {
		k.regs[i] = (struct ptx_reg){ .name = "r", .type = PTX_B32 };
		k.insns[i].opcode = PTX_OP_activemask;
		k.insns[i].ndst = 1;
		k.insns[i].dst[0] = (struct ptx_operand){ .kind = PTX_OPND_REG, .reg = i };
		args[i] = k.insns[i].dst[0];
	}
	k.insns[ARGS].opcode = PTX_OP_call;
	k.insns[ARGS + 1].opcode = PTX_OP_ret;
	assert_int_equal(kernel_finish(&k, &slab, &options, &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "hand.ptx:27: not supported: kernel 'k' does not fit 16 registers: "
			    "this instruction needs more at once");
	slab_free(&slab);
	free(k.insns);
	free(k.regs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_programs),
		cmocka_unit_test(compiled_kernels),
		cmocka_unit_test(what_is_made_again),
		cmocka_unit_test(guarded_constants),
		cmocka_unit_test(loops_come_last),
		cmocka_unit_test(the_cheapest_goes),
		cmocka_unit_test(one_load_for_two_uses),
		cmocka_unit_test(slots_are_shared),
		cmocka_unit_test(limits_from_the_text),
		cmocka_unit_test(calls),
		cmocka_unit_test(recursion),
		cmocka_unit_test(formals_and_results),
		cmocka_unit_test(too_much),
		cmocka_unit_test(one_instruction_too_wide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
