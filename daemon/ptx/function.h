/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A function as it stands in the text, before linking makes kernels of it: parameters, calls,
 * uses of variables. Private to the room.
 */
#ifndef GPUEMU_PTX_FUNCTION_H
#define GPUEMU_PTX_FUNCTION_H

#include "ptx/symbol.h"

/*
 * A parameter or result of a .func, or the .param variable of a call. Those
 * that are only read and written as whole scalars become registers, one for
 * each piece; the others are memory in the frame of the function called.
 */
#define PTX_MAX_PIECES	24	/* of one parameter; more are memory */
#define PTX_MAX_WORDS	12	/* 32-bit registers: the arguments of a call, and its results */
struct piece {
	uint32_t offset;
	uint8_t bytes;
	bool stored;
	uint32_t reg;
};

struct param {
	const char *name;	/* the module's slab */
	uint32_t bytes, align;
	uint32_t reg;		/* declared as .reg: which one, else PTX_NO_REG */
	struct piece pieces[PTX_MAX_PIECES]; /* accesses of the text; then those in registers */
	uint32_t npieces;
	bool memory;
	bool formal;		/* of a .func */
	bool open;		/* the size is not said: a variable number of arguments */
	uint32_t frame_offset;	/* memory: in the callee's frame */
	struct call_site *site;	/* the call that uses the variable */
	bool is_result;		/* of that call */
};

/* An operand whose value is known when the module ends. */
struct var_use {
	uint32_t insn, operand;	/* of src */
	struct symbol *sym;
	const char *stmt;
};

/* An argument of a call: a variable, or a register or number; neither: `_`. */
struct call_value {
	struct param *param;
	struct ptx_operand op;
};

struct call_site {
	uint32_t insn;
	struct function *callee; /* NULL: the one at address `target`, until supply.c knows more */
	struct ptx_operand target;
	struct function *prototype;
	struct call_value *args, *results;
	uint32_t nargs, nresults;
	const char *stmt;
	uint32_t line;
};

/* A .entry or .func as it stands in the text; linking makes kernels of it. */
struct function {
	struct ptx_kernel body;	/* name, line, insns, regs, params of an entry, limits */
	bool entry, defined;
	bool lowered;
	bool addressed;		/* its address is taken: an indirect call may be of it */
	bool heap;		/* declared: malloc or free, which supply.c has */
	bool workspace;		/* reads where the grid's workspace is */
	uint8_t builtin;	/* enum ptx_builtin */
	struct function *definition; /* of a declaration, when it comes later */
	const char *refusal;	/* the message when a kernel needs it, or NULL */
	struct param **formals, **results;
	uint32_t nformals, nresults, formals_cap, results_cap;
	struct var_use *uses;
	uint32_t nuses, uses_cap;
	struct call_site **calls; /* in the order of the text */
	uint32_t ncalls, calls_cap;
	struct ptx_table *tables;
	uint32_t ntables, tables_cap;
	struct ptx_call *lowered_calls; /* as many as calls */
	struct symbol *shared, **shared_end; /* its own .shared variables */
	uint32_t extra;		/* entries of tables, shared variables: they are copied like instructions */
	uint32_t number;	/* in the text, from 1 */
	uint32_t epoch, index;	/* the kernel being linked, its place there */
};

/* Functions have a distinct address each, which nothing can be read from. */
#define CODE_WINDOW	0xffff500000000000ull
#define CODE_STRIDE	16u

/* Takes it: an indirect call may be of the function. */
static inline uint64_t function_address(struct function *f)
{
	f->addressed = true;
	return CODE_WINDOW + CODE_STRIDE * (uint64_t)f->number;
}

#endif
