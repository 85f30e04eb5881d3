// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels from functions: what a call becomes, which parameters are registers and
 * which are memory, what is linked into which kernel, tables of branches, and the
 * messages of everything that cannot be linked.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ptx/ptx.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

static struct ptx_module *module;

static const struct ptx_kernel *parse(const char *text)
{
	struct err err = { 0 };
	int ret = ptx_module_parse(text, strlen(text), "t.ptx", &module, &err);

	if (ret)
		fail_msg("%d: %s", ret, err.text);
	return ptx_module_kernel_at(module, 0);
}

static void done(void)
{
	ptx_module_free(module);
	module = NULL;
}

static void refuse(const char *text, int code, const char *message)
{
	struct err err = { 0 };
	int ret = ptx_module_parse(text, strlen(text), "t.ptx", &module, &err);

	if (!ret) {
		done();
		fail_msg("accepted: %s", text);
	}
	if (ret != code || strcmp(err.text, message))
		fail_msg("%d %s\ninstead of\n%d %s", ret, err.text, code, message);
}

/* The n-th instruction of this opcode in function f. */
static const struct ptx_insn *find(const struct ptx_kernel *k, uint32_t f, uint16_t opcode,
				   uint32_t n)
{
	uint32_t i;

	for (i = k->functions[f].first; i < k->functions[f].end; i++) {
		if (k->insns[i].opcode == opcode && !n--)
			return &k->insns[i];
	}
	fail_msg("there is no %s in %s", ptx_opcode_name(opcode), k->functions[f].name);
	return NULL;
}

static uint32_t count(const struct ptx_kernel *k, uint32_t f, uint16_t opcode, uint8_t space)
{
	uint32_t i, n = 0;

	for (i = k->functions[f].first; i < k->functions[f].end; i++)
		n += k->insns[i].opcode == opcode && (!space || k->insns[i].space == space);
	return n;
}

static const struct ptx_call *call_at(const struct ptx_kernel *k, uint32_t f, uint32_t n)
{
	return &k->calls[find(k, f, PTX_OP_call, n)->target];
}

/* As compilers write a call of int f(int a, long b). */
#define CALL(name) \
	"{ .param .b32 p0; st.param.b32 [p0+0], %r1; .param .b64 p1; st.param.b64 [p1+0], %d1;\n" \
	".param .b32 v; call.uni (v), " name ", (p0, p1); ld.param.b32 %r2, [v+0]; }\n"
#define REGS ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>;\n"

static void registers(void **state)
{
	const struct ptx_kernel *k = parse(HEAD
		".func (.param .b32 r) f(.param .b32 a, .param .b64 b);\n"
		".entry k() { " REGS "mov.u32 %r1, 5; mov.u64 %d1, 6;\n" CALL("f")
		"st.global.b32 [%d1], %r2; ret; }\n"
		".func unused() { ret; }\n"
		".func (.param .b32 r) f(.param .b32 a, .param .b64 b) { " REGS
		"ld.param.u32 %r1, [a]; ld.param.u64 %d1, [b]; cvt.u32.u64 %r2, %d1; add.u32 %r2, %r1, %r2;\n"
		"L: st.param.b32 [r+0], %r2; @%p1 bra L; ret; }\n");
	const struct ptx_call *call = call_at(k, 0, 0);
	const struct ptx_function *f = &k->functions[1];

	assert_int_equal(k->nfunctions, 2);
	assert_string_equal(f->name, "f");
	assert_int_equal(f->first, k->functions[0].end);
	assert_int_equal(f->end, k->ninsns);
	assert_int_equal(call->function, 1);
	assert_int_equal(call->builtin, PTX_BUILTIN_NONE);
	assert_int_equal(call->nargs, 2);
	assert_int_equal(call->nresults, 1);
	assert_int_equal(f->nformals, 2);
	assert_int_equal(f->nresults, 1);
	assert_int_equal(ptx_type_bytes(k->regs[f->formals[0]].type), 4);
	assert_int_equal(ptx_type_bytes(k->regs[f->formals[1]].type), 8);
	/* Moves are all that is left of parameters. */
	assert_int_equal(count(k, 0, PTX_OP_st, PTX_SPACE_PARAM), 0);
	assert_int_equal(count(k, 1, PTX_OP_ld, 0), 0);
	assert_int_equal(count(k, 1, PTX_OP_st, 0), 0);
	assert_int_equal(find(k, 1, PTX_OP_ret, 0)->cls, PTX_CLASS_CALL);
	assert_int_equal(find(k, 0, PTX_OP_ret, 0)->cls, PTX_CLASS_EXIT);
	assert_int_equal(find(k, 0, PTX_OP_call, 0)->cls, PTX_CLASS_CALL);
	/* The branch leads to what became of the store that the label was at. */
	assert_true(find(k, 1, PTX_OP_bra, 0)->target > f->first);
	assert_int_equal(k->insns[find(k, 1, PTX_OP_bra, 0)->target].dst[0].reg, f->results[0]);
	done();
}

/* A load narrower than the register extends it as it would have in memory. */
static void narrow(void **state)
{
	const struct ptx_kernel *k = parse(HEAD
		".func (.param .b32 r) f(.param .b32 a) { " REGS
		"ld.param.s8 %h1, [a]; cvt.s32.s16 %r1, %h1; st.param.b32 [r], %r1; ret; }\n"
		".entry k() { " REGS "{ .param .b32 p; st.param.b32 [p], %r1; .param .b32 v;\n"
		"call (v), f, (p); ld.param.u16 %r3, [v]; st.global.u32 [%d1], %r3; } ret; }\n");
	const struct ptx_insn *cvt = find(k, 1, PTX_OP_cvt, 0);

	assert_int_equal(cvt->type, PTX_S16);
	assert_int_equal(cvt->stype, PTX_S8);
	assert_int_equal(cvt->src[0].reg, k->functions[1].formals[0]);
	cvt = find(k, 0, PTX_OP_cvt, 0);
	assert_int_equal(cvt->type, PTX_U32);
	assert_int_equal(cvt->stype, PTX_U16);
	assert_int_equal(cvt->src[0].reg, call_at(k, 0, 0)->results[0]);
	done();
}

/* A struct in pieces: vectors, floats and bytes at their offsets. */
static void pieces(void **state)
{
	const struct ptx_kernel *k = parse(HEAD
		".func f(.param .align 8 .b8 s[24]) { " REGS
		"ld.param.v2.f32 {%f1, %f2}, [s+8]; ld.param.u8 %h1, [s+16]; ld.param.u64 %d1, [s];\n"
		"@%p1 bra END; st.global.f32 [%d1], %f1; st.global.f32 [%d1], %f2; st.global.u8 [%d1], %h1; END: ret; }\n"
		".entry k() { " REGS "{ .param .align 8 .b8 p[24];\n"
		"st.param.b64 [p], 7; st.param.v2.f32 [p+8], {%f1, %f2}; st.param.b8 [p+16], -1;\n"
		"call.uni f, (p); } ret; }\n");
	const struct ptx_call *call = call_at(k, 0, 0);
	uint32_t i;

	assert_int_equal(call->nargs, 4);
	for (i = 0; i < 4; i++)
		assert_int_equal(ptx_type_bytes(k->regs[k->functions[1].formals[i]].type),
				 i ? 4 : 8);
	/* A vector has become two moves; the branch leads to the return all the same. */
	assert_int_equal(k->insns[find(k, 1, PTX_OP_bra, 0)->target].opcode, PTX_OP_ret);
	/* Bytes that nobody reads are not passed on. */
	assert_int_equal(find(k, 0, PTX_OP_mov, 0)->src[0].value, 7);
	assert_int_equal(k->functions[1].frame_bytes, 16);
	done();
}

static void memory(void **state)
{
	/* An address that is taken, an overlap and too many words each make a parameter memory. */
	const struct ptx_kernel *k = parse(HEAD
		".func (.param .align 4 .b8 r[8]) f(.param .align 8 .b8 s[16], .param .b64 o) { " REGS
		".local .align 8 .b8 mine[8];\n"
		"mov.u64 %d1, s; ld.param.u32 %r1, [%d1+4]; ld.param.u32 %r2, [s+8];\n"
		"ld.param.u32 %r3, [o+4]; ld.param.u64 %d2, [o]; st.local.u64 [mine], %d2;\n"
		"add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;\n"
		"st.param.b32 [r], %r1; st.param.b32 [r+4], %r2; ret; }\n"
		".entry k() { " REGS ".local .b8 own[20]; { .param .align 8 .b8 p[16]; .param .b64 q;\n"
		"st.param.b32 [p+8], 7; st.param.b64 [q], %d1; .param .align 4 .b8 v[8]; call (v), f, (p, q);\n"
		"ld.param.b32 %r1, [v+4]; st.local.b32 [own], %r1; } ret; }\n");
	const struct ptx_insn *st = find(k, 0, PTX_OP_st, 0), *ld;

	assert_int_equal(call_at(k, 0, 0)->nargs, 0);
	assert_int_equal(call_at(k, 0, 0)->nresults, 2);
	assert_int_equal(call_at(k, 0, 0)->results[0], PTX_NO_REG);
	assert_int_not_equal(call_at(k, 0, 0)->results[1], PTX_NO_REG);
	/* The caller stores in the frame of the function, behind its own variables. */
	assert_int_equal(st->space, PTX_SPACE_LOCAL);
	assert_int_equal(st->src[0].space, PTX_SPACE_LOCAL);
	assert_true(st->src[0].callee);
	assert_int_equal(st->src[0].value, 8 + 8);
	st = find(k, 0, PTX_OP_st, 1);
	assert_true(st->src[0].callee);
	assert_int_equal(st->src[0].value, 24);
	assert_false(find(k, 0, PTX_OP_st, 2)->src[0].callee);
	assert_int_equal(find(k, 1, PTX_OP_mov, 0)->src[0].kind, PTX_OPND_SYMBOL);
	assert_int_equal(find(k, 1, PTX_OP_mov, 0)->src[0].space, PTX_SPACE_LOCAL);
	assert_int_equal(find(k, 1, PTX_OP_mov, 0)->src[0].value, 8);
	ld = find(k, 1, PTX_OP_ld, 0);
	assert_int_equal(ld->space, PTX_SPACE_LOCAL);
	assert_int_not_equal(ld->src[0].reg, PTX_NO_REG);
	ld = find(k, 1, PTX_OP_ld, 1);
	assert_int_equal(ld->space, PTX_SPACE_LOCAL);
	assert_false(ld->src[0].callee);
	assert_int_equal(ld->src[0].value, 16);
	assert_true(k->functions[1].frame_bytes >= 32);
	done();
}

static void words(void **state)
{
	char text[8192] = HEAD ".func f(", *at = text + strlen(text);
	const struct ptx_kernel *k;
	uint32_t i;

	for (i = 0; i < 14; i++)
		at += sprintf(at, "%s.param .b32 a%u", i ? ", " : "", i);
	at += sprintf(at, ") { .reg .b32 %%r<20>;\n");
	for (i = 0; i < 14; i++)
		at += sprintf(at, "ld.param.u32 %%r%u, [a%u]; st.global.u32 [0], %%r%u;\n", i, i, i);
	at += sprintf(at, "ret; }\n.entry k() { call f, (");
	for (i = 0; i < 14; i++)
		at += sprintf(at, "%s%u", i ? ", " : "", 100 + i);
	sprintf(at, "); ret; }\n");
	k = parse(text);
	assert_int_equal(call_at(k, 0, 0)->nargs, 12);
	for (i = 0; i < 12; i++) {
		assert_int_equal(call_at(k, 0, 0)->args[i].kind, PTX_OPND_IMM);
		assert_int_equal(call_at(k, 0, 0)->args[i].value, 100 + i);
	}
	assert_int_equal(count(k, 0, PTX_OP_st, PTX_SPACE_LOCAL), 2);
	assert_int_equal(find(k, 0, PTX_OP_st, 1)->src[1].value, 113);
	assert_int_equal(count(k, 1, PTX_OP_ld, PTX_SPACE_LOCAL), 2);
	done();
}

/* Parameters that are registers, in the function and in the call. */
static void register_parameters(void **state)
{
	const struct ptx_kernel *k = parse(HEAD
		".func (.reg .u32 %o) f(.reg .u32 %i, .reg .u64 %j, .param .b16 s) { " REGS
		"ld.param.u16 %h1, [s]; cvt.u32.u16 %r1, %h1; add.u32 %o, %i, %r1; @%p1 ret; cvt.u32.u64 %o, %j; ret; }\n"
		".entry k() { " REGS "call (%r1), f, (%r2, 0x123456789a, %h1);\n"
		"call (_), f, (%r3, %d1, 65537); st.global.u32 [%d1], %r1; ret; }\n");
	const struct ptx_call *call = call_at(k, 0, 0);

	assert_int_equal(call->nargs, 3);
	assert_int_equal(call->args[0].kind, PTX_OPND_REG);
	assert_true(call->args[1].value == 0x123456789a);
	/* A 16-bit register is widened first. */
	assert_int_equal(find(k, 0, PTX_OP_cvt, 0)->dst[0].reg, call->args[2].reg);
	assert_int_equal(find(k, 0, PTX_OP_st, 0)->src[1].reg, call->results[0]);
	call = call_at(k, 0, 1);
	assert_int_equal(call->results[0], PTX_NO_REG);
	assert_int_equal(call->args[2].value, 1);
	assert_int_equal(find(k, 1, PTX_OP_add, 0)->dst[0].reg, k->functions[1].results[0]);
	assert_int_equal(find(k, 1, PTX_OP_add, 0)->src[0].reg, k->functions[1].formals[0]);
	done();
}

/* Functions that call: their registers are others than the kernel's. */
static void nested(void **state)
{
	const struct ptx_kernel *k = parse(HEAD
		".func (.param .b32 r) f(.param .b32 a, .param .b64 b) { " REGS "st.param.b32 [r], 1; ret; }\n"
		".func g() { " REGS "mov.u32 %r1, 5; mov.u64 %d1, 6;\n" CALL("f") "st.global.b32 [%d1], %r2; ret; }\n"
		".entry k() { " REGS "mov.u32 %r1, 7; st.global.u32 [0], %r1; call g; ret; }\n");
	const struct ptx_call *call = call_at(k, 1, 0);
	const struct ptx_insn *mov = find(k, 1, PTX_OP_mov, 4);

	assert_int_equal(call->function, 2);
	assert_int_equal(mov->src[0].reg, call->results[0]);
	assert_int_equal(find(k, 1, PTX_OP_mov, 2)->dst[0].reg, call->args[0].reg);
	assert_int_equal(find(k, 1, PTX_OP_mov, 2)->src[0].reg,
			 find(k, 1, PTX_OP_mov, 0)->dst[0].reg);
	assert_int_not_equal(find(k, 1, PTX_OP_mov, 0)->dst[0].reg,
			     find(k, 0, PTX_OP_mov, 0)->dst[0].reg);
	done();
}

static void recursion(void **state)
{
	const struct ptx_kernel *k = parse(HEAD
		".func even(.param .b32 n);\n.func odd(.param .b32 n) { " REGS
		"{ .param .b32 p; st.param.b32 [p], 1; call even, (p); } ret; }\n"
		".func even(.param .b32 n) { " REGS "ld.param.u32 %r1, [n];\n"
		"{ .param .b32 p; st.param.b32 [p], %r1; @%p1 call odd, (p); } ret; }\n"
		".func self() { .reg .pred p; @p call self; ret; }\n"
		".func leaf() { ret; }\n"
		".func calls_leaf() { call leaf; call leaf; ret; }\n"
		".entry k() { call odd, (3); call self; call calls_leaf; ret; }\n"
		".entry flat() { call calls_leaf; ret; }\n");
	uint32_t i;

	assert_int_equal(k->nfunctions, 6);
	for (i = 1; i < 6; i++) {
		const char *name = k->functions[i].name;

		assert_int_equal(k->functions[i].recursive,
				 strcmp(name, "leaf") && strcmp(name, "calls_leaf"));
	}
	assert_true(k->max_calls >= 2);
	k = ptx_module_kernel(module, "flat");
	assert_int_equal(k->nfunctions, 3);
	assert_int_equal(k->max_calls, 2);
	done();
}

/* Shared variables are the kernel's, and each has those of the functions that it reaches. */
static void shared(void **state)
{
	const struct ptx_kernel *k = parse(HEAD
		".shared .align 4 .b8 common[100];\n.extern .shared .align 8 .b8 dyn[];\n"
		".func f() { .reg .b64 %d<9>; .shared .align 8 .b8 own[16];\n"
		"mov.u64 %d1, own; st.shared.u64 [%d1], 1; mov.u64 %d2, common+4; st.shared.u64 [%d2], %d2;\n"
		"st.shared.u64 [dyn+8], %d1; ret; }\n"
		".entry k() { .shared .b8 mine[3]; .reg .b64 %d<9>; mov.u64 %d1, mine; st.shared.u64 [%d1], 0; call f; ret; }\n"
		".entry other() { .reg .b64 %d; mov.u64 %d, dyn; st.shared.u64 [%d], 0; ret; }\n"
		".entry third() { call f; ret; }\n"
		".entry groups() { .reg .u32 r; .shared .u32 s; mov.u32 r, %reserved_smem_offset_1; st.shared.u32 [r], r; ret; }\n");

	assert_int_equal(find(k, 1, PTX_OP_mov, 0)->src[0].value, 8);
	assert_int_equal(find(k, 1, PTX_OP_mov, 1)->src[0].value, 24 + 4);
	assert_int_equal(k->shared_bytes, 128);
	assert_int_equal(find(k, 1, PTX_OP_st, 2)->src[0].value, 128 + 8);
	k = ptx_module_kernel(module, "other");
	assert_int_equal(k->shared_bytes, 0);
	assert_int_equal(find(k, 0, PTX_OP_mov, 0)->src[0].value, 0);
	k = ptx_module_kernel(module, "third");
	/* Dynamic memory begins at a multiple of 16. */
	assert_int_equal(k->shared_bytes, 128);
	assert_int_equal(find(k, 1, PTX_OP_mov, 0)->src[0].value, 0);
	/* What cooperative groups find reserved is a variable like others. */
	k = ptx_module_kernel(module, "groups");
	assert_int_equal(find(k, 0, PTX_OP_mov, 0)->src[0].value, 128);
	assert_int_equal(k->shared_bytes, 128 + 1024);
	done();
}

static void builtins(void **state)
{
	const struct ptx_kernel *k = parse(HEAD
		".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
		".extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c) .noreturn;\n"
		".entry k() { " REGS "{ .param .b64 p0; st.param.b64 [p0], %d1; .param .b64 p1; st.param.b64 [p1], 0;\n"
		".param .b32 v; call.uni (v), vprintf, (p0, p1); ld.param.b32 %r1, [v+0]; st.global.u32 [%d1], %r1; }\n"
		"call __assertfail, (%d1, %d2, 7, %d3, 1); ret; }\n");
	const struct ptx_call *call = call_at(k, 0, 0);

	assert_int_equal(k->nfunctions, 1);
	assert_int_equal(call->builtin, PTX_BUILTIN_VPRINTF);
	assert_int_equal(call->nargs, 2);
	assert_int_equal(call->nresults, 1);
	assert_int_not_equal(call->results[0], PTX_NO_REG);
	call = call_at(k, 0, 1);
	assert_int_equal(call->builtin, PTX_BUILTIN_ASSERTFAIL);
	assert_int_equal(call->nargs, 5);
	assert_int_equal(call->args[2].value, 7);
	assert_int_equal(call->nresults, 0);
	done();
}

static void tables(void **state)
{
	const struct ptx_kernel *k = parse(HEAD
		".func f() { .reg .b32 i; T: .branchtargets B, A, A; brx.idx i, T; A: ret; B: trap; }\n"
		".entry k() { .reg .b32 i; call f;\n"
		"{ T: .branchtargets\n\tL0,\n\tL1; brx.idx.uni i, T; L1: exit; } L0: ret; }\n");
	const struct ptx_insn *brx = find(k, 0, PTX_OP_brx, 0);
	const struct ptx_table *table = &k->tables[brx->target];

	assert_int_equal(table->count, 2);
	assert_int_equal(k->insns[table->targets[0]].opcode, PTX_OP_ret);
	assert_int_equal(k->insns[table->targets[1]].opcode, PTX_OP_exit);
	brx = find(k, 1, PTX_OP_brx, 0);
	table = &k->tables[brx->target];
	assert_int_equal(table->count, 3);
	assert_int_equal(k->insns[table->targets[0]].opcode, PTX_OP_trap);
	assert_int_equal(table->targets[1], table->targets[2]);
	assert_true(table->targets[1] >= k->functions[1].first);
	done();
}

/* What is not supported in a function matters when a kernel calls it. */
static void refused_later(void **state)
{
	const char *const text = HEAD
		".func bad() { .reg .b32 r; add.u32 r, r, 1;\n{ cp.async.wait_all; } call gone; ret; }\n"
		".extern .func elsewhere(.param .b64 n);\n"
		".func calls() { call elsewhere, (8); ret; }\n"
		".entry k() { %s ret; }\n";
	char all[1024];
	const struct ptx_kernel *k;

	snprintf(all, sizeof(all), text, "");
	k = parse(all);
	assert_int_equal(k->nfunctions, 1);
	done();
	snprintf(all, sizeof(all), text, "call bad;");
	refuse(all, -EOPNOTSUPP, "t.ptx:5: not supported: `cp.async.wait_all;` (asynchronous copies)");
	snprintf(all, sizeof(all), text, "call calls;");
	refuse(all, -EOPNOTSUPP,
	       "t.ptx:7: not supported: `call elsewhere, (8);` (the function 'elsewhere' is not in the module)");
}

/* Each kind is a function of its own, for which all functions are looked at. */
static void too_many_kinds(void **state)
{
	static const char head[] = ".version 7.0\n.target sm_70\n.address_size 64\n.entry k() { .reg .b64 d;\n";
	static char text[200000];
	struct ptx_module *module;
	struct err err;
	int n = snprintf(text, sizeof(text), "%s", head);

	for (int i = 1; i <= 1025; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      "{ .param .b8 a[%d]; P: .callprototype _ (.param .b8 _[%d]); call d, (a), P; }\n",
			      i, i);
	snprintf(text + n, sizeof(text) - (size_t)n, "ret; }\n");
	assert_int_equal(ptx_module_parse(text, strlen(text), "t.ptx", &module, &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "t.ptx:1029: not supported: `call d, (a), P;` (indirect calls of functions of more than 1024 kinds)");
}

static void refusals(void **state)
{
	static const struct {
		const char *text, *message;
		int code;
	} cases[] = {
		{ ".func f(.param .b32 a) { ret; }\n.entry k() {\ncall f; ret; }",
		  "t.ptx:6: the function has 1 arguments, the call 0: `call f;`", -EINVAL },
		{ ".func f(.param .b32 a) { ret; }\n.entry k() { .param .b64 p;\ncall f, (p); ret; }",
		  "t.ptx:6: argument 1 has 4 bytes, in the call 8: `call f, (p);`", -EINVAL },
		{ ".func f(.param .b32 a) { ret; }\n.entry k() { .param .b32 p; .param .b32 v;\ncall (v), f, (p); ret; }",
		  "t.ptx:6: the function has 0 results, the call 1: `call (v), f, (p);`", -EINVAL },
		{ ".func f(.param .b32 a) { ret; }\n.entry k() { .param .b32 p; call f, (p);\ncall f, (p); ret; }",
		  "t.ptx:6: not supported: `call f, (p);` (the parameter 'p' is used twice)", -EOPNOTSUPP },
		{ ".entry k() {\ncall g; ret; }", "t.ptx:5: there is no function 'g': `call g;`", -EINVAL },
		{ ".entry k() { .reg .b64 d;\ncall d, (d), P; ret; }",
		  "t.ptx:5: there is no prototype 'P': `call d, (d), P;`", -EINVAL },
		{ ".entry k() { .reg .b64 d;\ncall d, (d); ret; }",
		  "t.ptx:5: ',' expected: `call d, (d);`", -EINVAL },
		{ ".entry k() { .reg .b32 d;\ncall d, (1), P; ret; }",
		  "t.ptx:5: the address of a function takes 64 bits: `call d, (1), P;`", -EINVAL },
		{ ".entry k() { .reg .b64 d; P: .callprototype _ (.param .b32 _);\ncall d, (), P; ret; }",
		  "t.ptx:5: the function has 2 arguments, the call 1: `call d, (), P;`", -EINVAL },
		{ ".entry k() {\n.callprototype _ (.param .b32 _); ret; }",
		  "t.ptx:5: a prototype needs a name: `.callprototype _ (.param .b32 _);`", -EINVAL },
		{ ".entry k() { .reg .b64 d;\nP: .callprototype _ (.param .b8 a[]); call d, (1), P; ret; }",
		  "t.ptx:5: not supported: `call d, (1), P;` (a variable number of arguments)", -EOPNOTSUPP },
		{ ".entry k() {\nP: .calltargets f; ret; }", "t.ptx:5: a function's name is expected: `.calltargets f;`", -EINVAL },
		{ ".entry j() { ret; }\n.entry k() {\ncall j; ret; }",
		  "t.ptx:6: not supported: `call j;` (calls of kernels)", -EOPNOTSUPP },
		{ ".func f(.param .b32 a, .param .b8 v[]);\n.func f(.param .b32 a, .param .b8 v[]) { ret; }\n"
		  ".entry k() { .param .b8 q[4];\ncall f, (1, q); ret; }",
		  "t.ptx:7: not supported: `call f, (1, q);` (a variable number of arguments)", -EOPNOTSUPP },
		{ ".entry k() { .param .b32 p;\nst.param.b32 [p], 1; ret; }",
		  "t.ptx:5: no call uses the parameter 'p': `st.param.b32 [p], 1;`", -EINVAL },
		{ ".func f(.param .b32 a) { ret; }\n.entry k() { .param .b32 p;\nst.param.b64 [p], 1; call f, (p); ret; }",
		  "t.ptx:6: this is outside the parameter 'p': `st.param.b64 [p], 1;`", -EINVAL },
		{ ".func f(.param .pred a) { ret; }\n", "t.ptx:4: a parameter cannot be a predicate: `.param .pred a) {`", -EINVAL },
		{ ".func f() { ret; }\n.func f() { ret; }\n", "t.ptx:5: 'f' is declared twice: `.func f() {`", -EINVAL },
		{ ".func f();\n.alias g, f;\n", "t.ptx:5: not supported: `.alias g, f;` (aliases of functions)", -EOPNOTSUPP },
		{ ".func f(.param .b64 a) { .reg .b64 d; mov.u64 d, a; ret; }\n.func g() { ret; }\n.entry k() { .param .b64 p;\n"
		  "st.param.b64 [p], 1; call g; call f, (p); ret; }",
		  "t.ptx:7: not supported: `st.param.b64 [p], 1;` (the parameter 'p' is in memory, and used far from its call)", -EOPNOTSUPP },
		{ ".func f(.param .align 8 .b8 s[65536]) { .local .b8 big[500000]; .reg .b64 d; mov.u64 d, s; ret; }\n"
		  ".entry k() { .param .align 8 .b8 p[65536]; call f, (p); ret; }",
		  "t.ptx:4: not supported: local memory of function 'f' (more than 524288 bytes)", -EOPNOTSUPP },
		{ ".entry k() {\n.branchtargets a; ret; }", "t.ptx:5: a table of labels needs a name: `.branchtargets a;`", -EINVAL },
		{ ".entry k() { .reg .b32 r;\nbrx.idx r, T; ret; }", "t.ptx:5: there is no table of labels 'T': `brx.idx r, T;`", -EINVAL },
		{ ".entry k() {\nT: .branchtargets nowhere; ret; }",
		  "t.ptx:5: there is no label 'nowhere': `.branchtargets nowhere;`", -EINVAL },
	};
	char text[1024];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(text, sizeof(text), HEAD "%s\n", cases[i].text);
		refuse(text, cases[i].code, cases[i].message);
	}
}

/* Every kernel has its copy of a function: the sum is bounded, not only the text. */
static void bounded(void **state)
{
	enum { CALLS = 4000, KERNELS = 400 };
	char *text = malloc(1 << 20), *at = text;
	struct err err = { 0 };
	int i;

	assert_non_null(text);
	at += sprintf(at, HEAD ".func f() {\n");
	for (i = 0; i < CALLS; i++)
		at += sprintf(at, "membar.gl;\n");
	at += sprintf(at, "ret; }\n");
	for (i = 0; i < KERNELS; i++)
		at += sprintf(at, ".entry k%d() { call f; ret; }\n", i);
	assert_int_equal(ptx_module_parse(text, at - text, "t.ptx", &module, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, ": not supported: kernel 'k"));
	assert_non_null(strstr(err.text, "the module's kernels are more than 1048576 instructions with the functions they call"));
	/* A copy has every parameter too. */
	at = text + sprintf(text, HEAD ".func f(");
	for (i = 0; i < 129; i++)
		at += sprintf(at, "%s.param .b32 a%d", i ? ", " : "", i);
	at += sprintf(at, ") { ret; }\n");
	assert_int_equal(ptx_module_parse(text, at - text, "t.ptx", &module, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "functions of more than 128 parameters"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers),
		cmocka_unit_test(narrow),
		cmocka_unit_test(pieces),
		cmocka_unit_test(memory),
		cmocka_unit_test(words),
		cmocka_unit_test(register_parameters),
		cmocka_unit_test(nested),
		cmocka_unit_test(recursion),
		cmocka_unit_test(shared),
		cmocka_unit_test(builtins),
		cmocka_unit_test(tables),
		cmocka_unit_test(refused_later),
		cmocka_unit_test(refusals),
		cmocka_unit_test(too_many_kinds),
		cmocka_unit_test(bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
