/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The inside of the ptx room: what its files share. Nobody else includes it.
 *
 * A module is parsed in one pass over the text, a kernel at a time; the text is
 * hostile until proven otherwise, so no function recurses on its nesting, every
 * table grows by doubling and every count that a short text can make large (a
 * register range, an array) is checked before memory is taken for it.
 */
#ifndef GPUEMU_PTX_PRIVATE_H
#define GPUEMU_PTX_PRIVATE_H

#include "ptx/ptx.h"

/* --- pool.c: memory that is freed all at once ------------------------------- */

struct pool {
	struct pool_chunk *chunks;
};

void *pool_alloc(struct pool *pool, size_t bytes);	/* zeroed; NULL: no memory */
char *pool_strndup(struct pool *pool, const char *s, size_t len);
void pool_free(struct pool *pool);

/* --- map.c: names to pointers ------------------------------------------------ */

/*
 * A crit-bit tree: the work of a look-up is bounded by the length of the name
 * whatever other names are in it, which no hash table promises to hostile text.
 * Nodes come from the pool; names are kept by reference.
 */
struct map {
	struct pool *pool;
	uintptr_t root;
};

void *map_get(const struct map *map, const char *name, uint32_t len);
/* -EEXIST when the name is there, -ENOMEM. */
int map_put(struct map *map, const char *name, uint32_t len, void *value);

/* --- lex.c ------------------------------------------------------------------- */

enum token_kind {
	TOK_END,
	TOK_IDENT,	/* name, %name, $name, _ */
	TOK_DOT,	/* .name, the dot not in text */
	TOK_INT,	/* bits */
	TOK_F32,	/* 0f: bits */
	TOK_F64,	/* 0d and decimal: bits */
	TOK_STRING,	/* the quotes not in text */
	TOK_PUNCT,	/* punct */
	TOK_BAD,	/* a byte or number that is not PTX; text says which */
};

struct token {
	enum token_kind kind;
	char punct;
	const char *text;	/* into the module's text, not terminated */
	uint32_t len;
	uint32_t line;
	uint64_t bits;
};

struct lexer {
	const char *pos, *end;
	uint32_t line;
};

void lex_next(struct lexer *lx, struct token *tok);
/* Moves to the end of the line: .loc and .file have no terminator. */
void lex_skip_line(struct lexer *lx);

/* --- symbols ----------------------------------------------------------------- */

enum symbol_kind {
	SYM_REG,	/* index: kernel register */
	SYM_RANGE,	/* .reg %r<count>: registers made when they are used */
	SYM_VAR,	/* variable: space, offset */
	SYM_LABEL,	/* index: instruction */
	SYM_FUNC,	/* a .func, or an entry */
	SYM_TABLE,	/* .branchtargets; index: of the function's tables */
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
	struct function *function; /* SYM_FUNC */
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

/* --- functions ------------------------------------------------------------------ */

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
	const char *name;	/* the module's pool */
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

/* What a call passes: a variable, or a register or number; neither: `_`. */
struct call_value {
	struct param *param;
	struct ptx_operand op;
};

struct call_site {
	uint32_t insn;
	struct function *callee;
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

/* --- initialisers ------------------------------------------------------------- */

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

/* --- the parser -------------------------------------------------------------- */

/*
 * A text that stays below these is parsed in seconds and in less than a GiB;
 * compilers stay orders of magnitude below.
 */
#define PTX_MAX_INSNS	(1u << 20)	/* a module; functions count in every kernel that has them */
#define PTX_MAX_NAMES	(1u << 20)	/* a module: declared, and registers used */
#define PTX_MAX_VALUES	128		/* arguments, and results, of a function */
#define PTX_MAX_PARAM	(64u << 10)	/* bytes a kernel */
#define PTX_MAX_SHARED	(1u << 20)	/* bytes a kernel */
#define PTX_MAX_LOCAL	(512u << 10)	/* bytes a thread, the hardware's limit */
#define PTX_MAX_CONST	(64u << 10)	/* bytes a module, the hardware's limit */
#define PTX_MAX_GLOBAL	(256u << 20)	/* bytes a module */

struct ptx_module {
	struct pool pool;
	const char *name;
	struct ptx_kernel **kernels;
	uint32_t nkernels, kernels_cap;
	uint8_t *const_data;
	uint32_t const_bytes;
	uint8_t *global_image;
	uint64_t global_bytes, global_base;
	uint32_t global_align;
	struct ptx_variable *variables;
	uint32_t nvariables, variables_cap;
	struct address *addresses;
	uint32_t naddresses, addresses_cap;
	struct ptx_options options;
};

struct parser {
	struct lexer lx;
	struct token tok;	/* the current one */
	struct err *err;
	struct ptx_module *module;
	struct pool scratch;	/* symbols; freed with the parser */
	struct scope scopes[SCOPES + 1]; /* [0] is the module's */
	uint32_t nscopes;
	bool seen_version, seen_target, in_body;
	const char *stmt;	/* the statement's first byte, for messages */
	uint32_t stmt_line;
	uint32_t total_insns, total_names;
	uint32_t epoch;		/* kernels linked */
	struct function *function; /* the one being parsed, else NULL */
	struct ptx_kernel *kernel; /* its body */
	struct function **functions;
	uint32_t nfunctions, functions_cap;
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

/* parse.c: what the files of the parser share */
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

/* decl.c */
bool parse_type(const struct token *tok, enum ptx_type *type);
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

/* call.c */
int parse_call(struct parser *p, struct ptx_insn *insn);

/* function.c: .entry and .func */
int parse_entry(struct parser *p);
int parse_func(struct parser *p);
void function_free(struct function *f);

/* settle.c: which parameters of all functions are registers */
int settle_params(struct parser *p);

/* lower.c: parameters to registers and memory */
int lower_function(struct parser *p, struct function *f);

/* link.c */
int link_module(struct parser *p);

/* body.c: a kernel's { } */
int parse_body(struct parser *p);

/* insn.c */
void insn_tables_init(struct parser *p);
int parse_insn(struct parser *p);
int new_insn(struct parser *p, struct ptx_insn **insn);

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
struct ptx_operand *new_dst(struct ptx_insn *insn);
struct ptx_operand *new_src(struct ptx_insn *insn);

/* mov.c */
int parse_mov(struct parser *p, struct ptx_insn *insn);
/* mov of a whole vector is as many instructions as it has elements. */
int split_mov(struct parser *p, struct ptx_insn *insn);

/* form.c */
/* {a, b}, a vector register or, of one element, a. Returns the number of elements through *n. */
int parse_vector(struct parser *p, struct ptx_insn *insn, bool is_dst, enum ptx_type type,
		 enum width width, unsigned int *n);
int parse_operands(struct parser *p, struct ptx_insn *insn, const char *form);
int parse_table(struct parser *p);	/* .branchtargets */

/* --- after parsing ----------------------------------------------------------- */

/*
 * finish.c. All that is done to a linked kernel, once: control flow, post-dominators,
 * liveness, allocation with spills, frames. What it comes with: insns (malloc), regs (malloc),
 * nregs, functions (name, first, end, formals, results, line, and frame_bytes: what the local
 * variables take, not rounded), calls, tables, max_nreg. Memory that it adds is the pool's; insns
 * and regs it may
 * reallocate. On an error err is set.
 */
int kernel_finish(struct ptx_kernel *kernel, struct pool *pool,
		  const struct ptx_options *options, struct err *err);

/* --- what opcodes.def and modifiers.def are written in ------------------------ */

#define T_NONE	0u
#define T_B8	(1u << PTX_B8)
#define T_B16	(1u << PTX_B16)
#define T_B32	(1u << PTX_B32)
#define T_B64	(1u << PTX_B64)
#define T_U32	(1u << PTX_U32)
#define T_U64	(1u << PTX_U64)
#define T_S32	(1u << PTX_S32)
#define T_S64	(1u << PTX_S64)
#define T_F16	(1u << PTX_F16)
#define T_F16X2	(1u << PTX_F16X2)
#define T_BF16	(1u << PTX_BF16)
#define T_BF16X2 (1u << PTX_BF16X2)
#define T_F32	(1u << PTX_F32)
#define T_F64	(1u << PTX_F64)
#define T_PRED	(1u << PTX_PRED)
#define T_X2	(1u << PTX_U16X2 | 1u << PTX_S16X2)
#define T_BITS	(T_B16 | T_B32 | T_B64)
#define T_SINT	(1u << PTX_S16 | T_S32 | T_S64)
#define T_INT	(T_SINT | 1u << PTX_U16 | T_U32 | T_U64)
#define T_WORD	(T_U32 | T_S32 | T_U64 | T_S64)
#define T_SMALL	(1u << PTX_U8 | 1u << PTX_S8)
#define T_HALF	(T_F16 | T_F16X2 | T_BF16 | T_BF16X2)
#define T_FLOAT	(T_F32 | T_F64)
#define T_MEM	(T_BITS | T_INT | T_SMALL | T_B8 | T_F16 | T_BF16 | T_F16X2 | T_BF16X2 | T_FLOAT)
#define T_CVT	(T_INT | T_SMALL | T_F16 | T_BF16 | T_FLOAT)
#define T_MOV	(T_BITS | T_INT | T_HALF | T_FLOAT | T_PRED)
#define T_ATOM	(T_B16 | T_B32 | T_B64 | T_WORD | T_HALF | T_FLOAT)
#define T_SET	(T_INT | T_HALF | T_F32)

#define G_RND	(1ull << 0)
#define G_RNDI	(1ull << 1)
#define G_FTZ	(1ull << 2)
#define G_SAT	(1ull << 3)
#define G_APPROX (1ull << 4)
#define G_HALF	(1ull << 5)
#define G_CMP	(1ull << 6)
#define G_BOOL	(1ull << 7)
#define G_SPACE	(1ull << 8)
#define G_CACHE	(1ull << 9)
#define G_ORDER	(1ull << 10)
#define G_VEC	(1ull << 11)
#define G_ATOM	(1ull << 12)
#define G_UNI	(1ull << 13)
#define G_TO	(1ull << 14)
#define G_SYNC	(1ull << 15)
#define G_SHFL	(1ull << 16)
#define G_VOTE	(1ull << 17)
#define G_PRMT	(1ull << 18)
#define G_SHF	(1ull << 19)
#define G_WARP	(1ull << 20)
#define G_SHIFTAMT (1ull << 21)
#define G_LEVEL	(1ull << 22)
#define G_TESTP	(1ull << 23)
#define G_CC	(1ull << 24)
#define G_BAR	(1ull << 25)
#define G_BARRED (1ull << 26)	/* after bar.red */
#define G_MATCH	(1ull << 27)
#define G_REDUX	(1ull << 28)
#define G_CLAMP	(1ull << 29)
#define G_NAN	(1ull << 30)
#define G_RELU	(1ull << 31)
#define G_NOFTZ	(1ull << 32)
#define G_IDX	(1ull << 33)
#define G_ABS	(1ull << 34)	/* after .xorsign */
#define G_MASK	(1ull << 35)
#define G_SIMD	(1ull << 38)
#define G_PROXY	(1ull << 36)
#define G_SATFINITE (1ull << 37)

enum mod_field {
	F_IGNORE, F_MODS, F_RND, F_CMP, F_UCMP, F_BOOL, F_SPACE, F_VEC, F_ATOM
};

/* How the timing class follows from the type: see class_of() in insn.c. */
enum class_rule {
	R_MOVE, R_ADD, R_MINMAX, R_MUL, R_MAD, R_DIV, R_SFU, R_SHUFFLE, R_MEMORY,
	R_BARRIER, R_EXIT, R_CALL
};

#endif
