/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parser: what its files share, in the order in which they know each other.
 *
 * A module is parsed in one pass over the text, a kernel at a time; the text is
 * hostile until proven otherwise, so no function recurses on its nesting, every
 * table grows by doubling and every count that a short text can make large (a
 * register range, an array) is checked before memory is taken for it.
 */
#ifndef GPUEMU_PTX_PARSER_H
#define GPUEMU_PTX_PARSER_H

#include "ptx/function.h"
#include "ptx/lex.h"
#include "ptx/limits.h"
#include "ptx/opcodes.h"

/* An address in the initial values of .global or .const. */
struct address {
	bool in_const;		/* where it is: `at` of .const, else of .global */
	uint8_t bytes;
	uint8_t space;		/* GLOBAL: `value` is relative to the segment */
	uint64_t at, value, mask;
	struct symbol *sym;	/* while parsing: to be added to value */
	const char *stmt;
	uint32_t line;
};

/* A kernel that the module does without: it is not supported, and why. */
struct refused {
	const char *name, *why;
};

struct ptx_module {
	struct slab slab;
	const char *name;
	struct ptx_kernel **kernels;
	uint32_t nkernels, kernels_cap;
	struct refused *refused;
	uint32_t nrefused, refused_cap;
	uint8_t *const_data;
	uint32_t const_bytes;
	uint8_t *global_image;
	uint64_t global_bytes, global_base;
	uint32_t global_align;
	struct ptx_variable *variables, *constants;
	uint32_t nvariables, variables_cap;
	uint32_t nconstants, constants_cap;
	struct address *addresses;
	uint32_t naddresses, addresses_cap;
	struct ptx_options options;
	void *memory;		/* pack.c: a mapping that all of it is in; NULL: its parts are its own */
	size_t memory_bytes;
};

struct parser {
	struct lexer lx;
	struct token tok;	/* the current one */
	struct err *err;
	struct ptx_module *module;
	struct slab scratch;	/* symbols; freed with the parser */
	struct scope scopes[SCOPES + 1]; /* [0] is the module's */
	uint32_t nscopes;
	bool seen_version, seen_target, in_body;
	bool replaced;		/* what is parsed stands for a statement of the text */
	const char *stmt;	/* the statement's first byte, for messages */
	uint32_t stmt_line;
	uint32_t total_insns, total_names;
	uint32_t epoch;		/* kernels linked */
	struct function *function; /* the one being parsed, else NULL */
	struct ptx_kernel *kernel; /* its body */
	struct function **functions;
	uint32_t nfunctions, functions_cap;
	struct function **prototypes;
	uint32_t nprototypes, prototypes_cap;
	uint32_t callers;	/* functions that indirect calls go through */
	uint32_t insns_cap, regs_cap, params_cap;
	struct fixup *fixups;
	uint32_t nfixups, fixups_cap;
	struct symbol *last_label;
	struct symbol *reserved; /* shared memory that cooperative groups ask for, or NULL */
	struct init *inits;	/* initial values of .global */
	uint8_t *init_data;	/* of the variable at hand */
	uint32_t init_bytes, init_cap;
	uint64_t init_at;	/* in the variable: where init_data begins */
	uint32_t carry;		/* register %cc of the function, or PTX_NO_REG */
	uint8_t op_slots[256];		/* name hash to opcode + 1 */
	uint8_t mod_slots[512];		/* text hash to modifiers.def row + 1 */
};

/* statement.c */
void next(struct parser *p);
bool is_punct(const struct parser *p, char c);
bool is_dot(const struct parser *p, const char *name);
bool accept(struct parser *p, char c);
int expect(struct parser *p, char c);
bool token_is(const struct token *tok, const char *text);
/* NAME:LINE: reason: `statement`. The first for -EINVAL, the second for -EOPNOTSUPP. */
int bad(struct parser *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int unsupported(struct parser *p, const char *why, ...) __attribute__((format(printf, 2, 3)));
int no_memory(struct parser *p);
int skip_braces(struct parser *p);	/* past the } of the current { */
int skip_statement(struct parser *p);	/* past the ; */
struct symbol *find_symbol(struct parser *p, const char *name, uint32_t len);
int add_symbol(struct parser *p, struct symbol *sym);	/* to the innermost scope */
int add_symbol_to(struct parser *p, struct symbol *sym, uint32_t scope);
struct symbol *new_symbol(struct parser *p, enum symbol_kind kind, const struct token *tok);

/* types.c */
bool parse_type(const struct token *tok, enum ptx_type *type);

/* decl.c */
int parse_element_type(struct parser *p, enum ptx_type *type);
int parse_align(struct parser *p, uint32_t *align);
/* [N][M] after a name. dims[0] is 0 when it is []. */
#define MAX_DIMS	8
struct dims {
	uint64_t size[MAX_DIMS];
	uint32_t n;
	uint64_t count;		/* the product; of the others when size[0] is open */
	bool open;
};
int parse_dimensions(struct parser *p, struct dims *dims);
uint32_t parse_vec(struct parser *p);	/* .v2, .v4 or nothing: how many elements */

/* register.c */
int parse_reg(struct parser *p);
/* .v4 .f32: what a register is, and of how many elements. */
int parse_reg_type(struct parser *p, enum ptx_type *type, uint32_t *vec);
/* A register gets its number when the text first uses it. */
uint32_t number_register(struct parser *p, struct symbol *sym, int *ret);
/*
 * The register at the current token, an element of a vector with its suffix. PTX_NO_REG:
 * an error is in *ret, or the token, which stays the current one, is no register's name.
 */
uint32_t parse_register(struct parser *p, int *ret);
/* The vector register that the current token names as a whole; or NULL, perhaps with an error. */
struct symbol *vector_here(struct parser *p, int *ret);
uint32_t element_register(struct parser *p, struct symbol *vector, uint32_t i, int *ret);
/* A register without a name in the text; PTX_NO_REG through an error in *ret. */
uint32_t new_register(struct parser *p, struct ptx_kernel *body, uint32_t *cap,
		      const char *name, enum ptx_type type, int *ret);

/* variable.c */
enum linkage { LINK_NONE, LINK_EXTERN };
int parse_variable(struct parser *p, enum ptx_space space, enum linkage linkage);
/* A .global variable of the module that the text does not declare, once. */
int add_global(struct parser *p, const char *name, uint32_t bytes, uint32_t align);

/* init.c: initial values */
struct init;
int parse_initialiser(struct parser *p, enum ptx_type type, uint32_t vec, struct dims *dims);
/* The variable has its place: moves what was read since these there. */
void keep_initialiser(struct parser *p, const struct symbol *sym, uint32_t first_address,
		      struct init *before);
int resolve_initialisers(struct parser *p);
void place_addresses(struct ptx_module *module);

/* param.c */
int parse_params(struct parser *p);		/* of an entry */
int parse_formals(struct parser *p, bool results); /* of a .func */
int parse_call_variable(struct parser *p);	/* .param in a body */
/* The text reads or writes `bytes` at `offset`; a param of other sizes than pieces can be is memory. */
void note_access(struct param *param, uint64_t offset, uint32_t bytes, bool stored);

/* Parses text as if it stood behind the module's, from a line on; it lives as long as p. */
typedef int parse_text_fn(struct parser *p, const char *text, size_t len, uint32_t line);

/* texture.c */
bool is_texture_insn(const struct token *tok);
/* A statement with one, its guard included: parses what stands for it. */
int parse_texture_insn(struct parser *p, parse_text_fn *parse);
/* The operands of _texel, _texquery and _surface. */
int parse_texture_operands(struct parser *p, struct ptx_insn *insn);

/* supply.c. The text has ended: functions that it calls and does not have. */
int supply_functions(struct parser *p, parse_text_fn *parse);

/* call.c */
int parse_prototype(struct parser *p);		/* .callprototype */
int parse_targets(struct parser *p);		/* .calltargets */
int parse_call(struct parser *p, struct ptx_insn *insn);

/* function.c: .entry and .func */
int parse_entry(struct parser *p);
int parse_func(struct parser *p);
void function_free(struct function *f);

/* placement.c: which parameters of all functions are registers */
int place_params(struct parser *p);

/* lower.c: parameters to registers and memory */
int lower_function(struct parser *p, struct function *f);

/* pack.c: a module that is one piece of memory. */
void packed_free(struct ptx_module *module);

/* link.c */
int link_module(struct parser *p);

/* body.c: a kernel's { } */
int parse_body(struct parser *p);

/* emit.c */
int new_insn(struct parser *p, struct ptx_insn **insn);
struct ptx_operand *new_dst(struct ptx_insn *insn);
struct ptx_operand *new_src(struct ptx_insn *insn);

/* insn.c */
void insn_tables_init(struct parser *p);
int parse_insn(struct parser *p);

static inline bool is_float(enum ptx_type type)
{
	return type >= PTX_F16 && type <= PTX_F64;
}

static inline bool is_bits(enum ptx_type type)
{
	return type >= PTX_B8 && type <= PTX_B64;
}

static inline bool is_half(enum ptx_type type)
{
	return type >= PTX_F16 && type <= PTX_BF16X2;
}

/* check.c */
int check_insn(struct parser *p, struct ptx_insn *insn);

/* operand.c */
/* A value: register, number, special register, address of a variable. */
enum width { EXACT, OR_WIDER };
int parse_source(struct parser *p, struct ptx_insn *insn, struct ptx_operand *op,
		 enum ptx_type type, enum width width);
/* %tid and its like, whole: their four elements as sources. */
int parse_sreg_vector(struct parser *p, struct ptx_insn *insn, bool *found);
/* `_` throws the result away: an operand of no kind. */
int parse_destination(struct parser *p, struct ptx_operand *op, enum ptx_type type,
		      enum width width);
/* A vector register that is named whole, an operand for each element. *n is 0: there is none here. */
int parse_whole_vector(struct parser *p, struct ptx_insn *insn, bool is_dst, enum ptx_type type,
		       enum width width, unsigned int *n);
int parse_address(struct parser *p, struct ptx_insn *insn);
/* + N and - N after a symbol or a register; +-N too. */
int parse_offset(struct parser *p, uint64_t *offset);

/* mov.c */
int parse_mov(struct parser *p, struct ptx_insn *insn);
/* mov of a whole vector is as many instructions as it has elements. */
int split_mov(struct parser *p, struct ptx_insn *insn);

/* vector.c */
/* {a, b}, a vector register or, of one element, a. Returns the number of elements through *n. */
int parse_vector(struct parser *p, struct ptx_insn *insn, bool is_dst, enum ptx_type type,
		 enum width width, unsigned int *n);

/* form.c */
int parse_operands(struct parser *p, struct ptx_insn *insn, const char *form);
int parse_table(struct parser *p);	/* .branchtargets */

#endif
