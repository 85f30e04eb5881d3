/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of the text: what each stands for, and where it is seen. Private to the room.
 */
#ifndef GPUEMU_PTX_SYMBOL_H
#define GPUEMU_PTX_SYMBOL_H

#include "ptx/map.h"
#include "ptx/ptx.h"

enum symbol_kind {
	SYM_REG,	/* index: kernel register */
	SYM_RANGE,	/* .reg %r<count>: registers made when they are used */
	SYM_VAR,	/* variable: space, offset */
	SYM_LABEL,	/* index: instruction */
	SYM_FUNC,	/* a .func, or an entry */
	SYM_TABLE,	/* .branchtargets; index: of the function's tables */
	SYM_PROTOTYPE,	/* .callprototype, .calltargets; function: it has the parameters of this one */
};

struct param;
struct function;

struct symbol {
	uint8_t kind;		/* enum symbol_kind */
	uint8_t type, space;
	bool dynamic;		/* extern .shared: after the static ones */
	bool module_scope;
	bool undefined;		/* extern .global whose definition was not seen */
	const char *name;	/* not terminated */
	uint32_t name_len, line;
	uint32_t index, count;
	uint8_t vec;		/* SYM_REG, SYM_RANGE: elements of a vector, else 0 or 1 */
	struct symbol *elements; /* of a vector, once one is used */
	uint64_t offset, bytes;
	uint32_t align;
	uint32_t epoch;		/* .shared: the kernel that `offset` is for, from 1 */
	struct param *param;	/* .param of a .func or a call */
	struct function *function; /* SYM_FUNC, SYM_PROTOTYPE */
	struct symbol *next;	/* the function's next .shared variable */
};

/* A { } of a kernel's body; names of an outer one are seen in an inner one. */
#define SCOPES	64
struct scope {
	struct map names;
	uint32_t first_fixup;
};

/* A branch to a label that may stand further down, or an entry of a table. */
struct fixup {
	uint32_t insn;		/* or PTX_NO_REG */
	uint32_t table, entry;
	const char *stmt;	/* the branch, for messages */
	uint32_t line;
	const char *name;
	uint32_t len;
};

#endif
