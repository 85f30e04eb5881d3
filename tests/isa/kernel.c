// SPDX-License-Identifier: GPL-2.0
/*
 * The smallest PTX around a form, and what the engine says to it: a module of one
 * kernel that is parsed, linked, allocated and bound. Called by isa.c and table.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "exec/exec.h"
#include "isa.h"
#include "ptx/ptx.h"

#define HEAD ".version 8.6\n.target sm_100\n.address_size 64\n"

static const struct type {
	const char *name;
	unsigned int bits;
} types[] = {
	{ ".b8", 8 }, { ".b16", 16 }, { ".b32", 32 }, { ".b64", 64 }, { ".b128", 128 },
	{ ".u8", 8 }, { ".u16", 16 }, { ".u32", 32 }, { ".u64", 64 },
	{ ".s8", 8 }, { ".s16", 16 }, { ".s32", 32 }, { ".s64", 64 },
	{ ".u16x2", 32 }, { ".s16x2", 32 },
	{ ".f16", 16 }, { ".f16x2", 32 }, { ".bf16", 16 }, { ".bf16x2", 32 },
	{ ".tf32", 32 }, { ".f32", 32 }, { ".f32x2", 64 }, { ".f64", 64 }, { ".pred", 1 },
	/* Conversions only. */
	{ ".e4m3x2", 16 }, { ".e5m2x2", 16 }, { ".e2m1x2", 8 }, { ".e2m3x2", 16 },
	{ ".e3m2x2", 16 }, { ".ue8m0x2", 16 }, { ".u4", 32 }, { ".s4", 32 }, { ".u2", 32 },
	{ ".s2", 32 },
};

/* --- PTX of a form ------------------------------------------------------------------- */

void put(struct text *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	t->len += vsnprintf(t->bytes + t->len, sizeof(t->bytes) - t->len, fmt, args);
	va_end(args);
	if (t->len >= sizeof(t->bytes))
		abort();
}

/* The types of an instruction, in order; returns how many there are. */
static unsigned int find_types(const char *mnemonic, const struct type **found)
{
	unsigned int n = 0;
	size_t i, len;

	for (mnemonic = strchr(mnemonic, '.'); mnemonic; mnemonic = strchr(mnemonic + 1, '.')) {
		len = strcspn(mnemonic + 1, ".") + 1;
		for (i = 0; i < ARRAY_SIZE(types); i++) {
			if (strlen(types[i].name) == len && !memcmp(types[i].name, mnemonic, len) &&
			    n < 4)
				found[n++] = &types[i];
		}
	}
	return n;
}

static bool has(const char *mnemonic, const char *modifier)
{
	const char *at = strstr(mnemonic, modifier);
	size_t len = strlen(modifier);

	return at && (at[len] == '.' || !at[len]);
}

static void put_register(struct text *t, unsigned int bits, unsigned int *number)
{
	char kind = bits == 1 ? 'p' : bits <= 16 ? 'h' : bits == 32 ? 'r' : bits == 64 ? 'l' : 'q';

	put(t, "%%%c%u", kind, ++*number);
}

static void put_vector(struct text *t, const char *mnemonic, unsigned int bits,
		       unsigned int *number)
{
	unsigned int n = has(mnemonic, ".v2") ? 2 : has(mnemonic, ".v4") ? 4 :
		has(mnemonic, ".v8") ? 8 : 1, i;

	for (i = 0; i < n; i++) {
		put(t, "%s", i ? ", " : n > 1 ? "{" : "");
		put_register(t, bits, number);
	}
	put(t, n > 1 ? "}" : "");
}

static const char *address_of(const char *mnemonic)
{
	return has(mnemonic, ".param") || has(mnemonic, ".param::entry") ? "[prm]" :
		has(mnemonic, ".const") ? "[cst]" :
		has(mnemonic, ".shared") || has(mnemonic, ".shared::cta") ? "[shr]" :
		has(mnemonic, ".local") ? "[loc]" : "[%l30]";
}

/* The instruction with real operands. */
void put_insn(struct text *t, const char *form)
{
	char mnemonic[200];
	const char *op = strchr(form, ' ');
	const struct type *type[4] = { 0 };
	unsigned int number = 0, wide;

	snprintf(mnemonic, sizeof(mnemonic), "%.*s", op ? (int)(op - form) : 199, form);
	find_types(mnemonic, type);
	wide = has(mnemonic, ".wide") ? 2 : 1;
	put(t, "%s", mnemonic);
	for (; op && *op; op++) {
		size_t word = strspn(op, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					 "0123456789_%");

		if (word > 1) {
			put(t, "%.*s", (int)word, op);
			op += word - 1;
		} else if (*op >= 'A' && *op <= 'C' && type[*op - 'A']) {
			put_register(t, type[*op - 'A']->bits, &number);
		} else if (*op == 'W' && type[0]) {
			put_register(t, type[0]->bits * (type[0]->bits > 1 ? wide : 1), &number);
		} else if (*op == 'V') {
			put_vector(t, mnemonic, type[0]->bits, &number);
		} else if (*op == 'M') {
			put(t, "%s", address_of(mnemonic));
		} else if (strchr("HRLQP", *op)) {
			put_register(t, *op == 'H' ? 16 : *op == 'R' ? 32 : *op == 'L' ? 64 :
				     *op == 'Q' ? 128 : 1, &number);
		} else {
			put(t, "%c", *op == '^' ? '|' : *op);
		}
	}
	put(t, ";");
}

const char variables[] =
	".global .align 16 .b8 glo[64];\n.const .align 16 .b8 cst[64] = {1};\n"
	".func FV()\n{\nret;\n}\n"
	".func (.param .b32 res) FN(.param .b32 arg)\n{\n.reg .b32 %r1;\n"
	"ld.param.b32 %r1, [arg];\nst.param.b32 [res], %r1;\nret;\n}\n";
const char locals[] =
	".shared .align 16 .b8 shr[64];\n.local .align 16 .b8 loc[64];\n"
	".reg .pred %p<32>;\n.reg .b16 %h<32>;\n.reg .b32 %r<32>;\n.reg .b64 %l<32>;\n"
	".reg .v4 .b32 %v<4>;\n.reg .v2 .b64 %w<4>;\n";

/* Everything around one instruction is there only when the instruction uses it. */
static void put_kernel(struct text *t, const char *form)
{
	bool call = strstr(form, "(R1)"), prototype = strstr(form, "FNP");
	const char *target = strstr(form, "LBL"), *table = strstr(form, "TBL");

	put(t, HEAD "%s.entry k(.param .align 16 .b8 prm[64])\n{\n%s", variables, locals);
	if (call)
		put(t, ".param .b32 R0;\n.param .b32 R1;\nst.param.b32 [R1], %%r1;\n");
	if (prototype)
		put(t, "FNP: .callprototype (.param .b32 _) _ (.param .b32 _);\n");
	if (table)
		put(t, "TBL: .branchtargets LBL;\n");
	put_insn(t, form);
	if (target || table)
		put(t, "\nLBL:");
	put(t, "\nret;\n}\n");
}

/* --- what the engine says ------------------------------------------------------------- */

/* "t.ptx:9: not supported: `text` (why)" or "t.ptx:9: why: `text`" to why. */
static void reason_of(const char *err, struct verdict *verdict)
{
	const char *from = strstr(err, "not supported: "), *tick = strchr(err, '`'), *end;

	if (from && tick) {
		end = strrchr(err, '(');
		if (end > strrchr(err, '`')) {
			snprintf(verdict->why, sizeof(verdict->why), "%s", end + 1);
			verdict->why[strcspn(verdict->why, ")")] = '\0';
		} else {
			end = strrchr(err, '`');
			snprintf(verdict->why, sizeof(verdict->why), "%s",
				 end[1] ? end + 2 : "no such instruction");
		}
		return;
	}
	for (from = strchr(err, ':'); from && strchr(" 0123456789", from[1]);)
		from = strchr(from + 1, ':') ? strchr(from + 1, ':') : NULL;
	from = strstr(err, ": ");
	snprintf(verdict->why, sizeof(verdict->why), "%.199s", from ? from + 2 : err);
	if (tick && strstr(verdict->why, ": `"))
		*strstr(verdict->why, ": `") = '\0';
}

struct verdict ask(const char *form)
{
	struct verdict verdict = { 0 };
	struct exec_program *program;
	struct ptx_module *module;
	struct text t = { .len = 0 };
	struct err err = { 0 };

	put_kernel(&t, form);
	verdict.ret = ptx_module_parse(t.bytes, t.len, "t.ptx", &module, &err);
	if (!verdict.ret) {
		verdict.ret = exec_program_create(ptx_module_kernel_at(module, 0), &program, &err);
		if (!verdict.ret)
			exec_program_free(program);
		ptx_module_free(module);
	}
	if (verdict.ret)
		reason_of(err.text, &verdict);
	return verdict;
}
