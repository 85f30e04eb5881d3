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

/*
 * Makes room for one more element of `bytes` in *array, which holds `count` of
 * *cap. Returns -ENOMEM and leaves everything as it was when there is none.
 */
int array_grow(void *array, uint32_t count, uint32_t *cap, size_t bytes);

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
};

struct symbol {
	uint8_t kind;		/* enum symbol_kind */
	uint8_t type, space;
	bool dynamic;		/* extern .shared: after the static ones */
	bool module_scope;
	const char *name;	/* not terminated */
	uint32_t name_len, line;
	uint32_t index, count;
	uint64_t offset, bytes;
	uint32_t align;
	uint32_t epoch;		/* module-scope .shared: the kernel `offset` is for, from 1 */
};

/* A { } of a kernel's body; names of an outer one are seen in an inner one. */
#define SCOPES	64
struct scope {
	struct map names;
	uint32_t first_fixup;
};

/* A branch to a label that may stand further down. */
struct fixup {
	uint32_t insn;
	const char *stmt;	/* the branch, for messages */
	const char *name;
	uint32_t len;
};

/* An operand whose address is relative to the dynamic shared memory. */
struct dynamic_use {
	uint32_t insn, operand;
};

/* --- the parser -------------------------------------------------------------- */

/*
 * A text that stays below these is parsed in seconds and in less than a GiB;
 * compilers stay orders of magnitude below.
 */
#define PTX_MAX_INSNS	(1u << 20)	/* a module */
#define PTX_MAX_NAMES	(1u << 20)	/* a module: declared, and registers used */
#define PTX_MAX_PARAM	(64u << 10)	/* bytes a kernel */
#define PTX_MAX_SHARED	(1u << 20)	/* bytes a kernel */
#define PTX_MAX_LOCAL	(512u << 10)	/* bytes a thread, the hardware's limit */
#define PTX_MAX_CONST	(64u << 10)	/* bytes a module, the hardware's limit */

struct ptx_module {
	struct pool pool;
	const char *name;
	struct ptx_kernel **kernels;
	uint32_t nkernels, kernels_cap;
	uint8_t *const_data;
	uint32_t const_bytes;
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
	uint32_t epoch;		/* kernels opened */
	struct ptx_kernel *kernel; /* the one being parsed, else NULL */
	uint32_t insns_cap, regs_cap, params_cap;
	struct fixup *fixups;
	uint32_t nfixups, fixups_cap;
	struct dynamic_use *dynamics;
	uint32_t ndynamics, dynamics_cap;
	uint32_t dynamic_align;
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
enum linkage { LINK_NONE, LINK_EXTERN };
int parse_reg(struct parser *p);
int parse_params(struct parser *p, struct ptx_kernel *kernel);
int parse_variable(struct parser *p, enum ptx_space space, enum linkage linkage);
/* The register `name` of the kernel, PTX_NO_REG: no such register; -ENOMEM through *ret. */
uint32_t find_register(struct parser *p, const char *name, uint32_t len, int *ret);
/* Where a variable is in the kernel being parsed. */
int place_variable(struct parser *p, struct symbol *sym);
bool parse_type(const struct token *tok, enum ptx_type *type);

/* body.c: a kernel's { } */
int parse_body(struct parser *p);

/* insn.c */
void insn_tables_init(struct parser *p);
int parse_insn(struct parser *p);
int new_insn(struct parser *p, struct ptx_insn **insn);

/* operand.c */
int parse_operands(struct parser *p, struct ptx_insn *insn, const char *form);
int add_fixup(struct parser *p, uint32_t insn, const struct token *tok);

/* --- after parsing ----------------------------------------------------------- */

/* Basic blocks and the edges between them. Block b is [first[b], first[b + 1]). */
struct cfg {
	uint32_t nblocks;
	uint32_t *first;	/* nblocks + 1 */
	uint32_t *block_of;	/* by instruction */
	uint32_t (*succ)[2];	/* PTX_NO_BLOCK where there is none */
	uint32_t *pred_start, *pred; /* predecessors of b: pred[pred_start[b] .. pred_start[b + 1]) */
};
#define PTX_NO_BLOCK	UINT32_MAX

int cfg_build(const struct ptx_kernel *kernel, struct cfg *cfg);
void cfg_free(struct cfg *cfg);
/* Fills `reconv` of every branch. */
int postdom_solve(struct ptx_kernel *kernel, const struct cfg *cfg);
/* Fills regs_per_thread. -E2BIG: more work than any real kernel. */
int liveness_solve(struct ptx_kernel *kernel, const struct cfg *cfg);

/* --- what opcodes.def and modifiers.def are written in ------------------------ */

#define T_NONE	0u
#define T_B16	(1u << PTX_B16)
#define T_B32	(1u << PTX_B32)
#define T_B64	(1u << PTX_B64)
#define T_U32	(1u << PTX_U32)
#define T_U64	(1u << PTX_U64)
#define T_S32	(1u << PTX_S32)
#define T_S64	(1u << PTX_S64)
#define T_F16	(1u << PTX_F16)
#define T_F32	(1u << PTX_F32)
#define T_F64	(1u << PTX_F64)
#define T_PRED	(1u << PTX_PRED)
#define T_BITS	(T_B16 | T_B32 | T_B64)
#define T_SINT	(1u << PTX_S16 | T_S32 | T_S64)
#define T_INT	(T_SINT | 1u << PTX_U16 | T_U32 | T_U64)
#define T_SMALL	(1u << PTX_U8 | 1u << PTX_S8)
#define T_MEM	(T_BITS | T_INT | T_SMALL | 1u << PTX_B8 | T_F16 | T_F32 | T_F64)
#define T_CVT	(T_INT | T_SMALL | T_F16 | T_F32 | T_F64)
#define T_MOV	(T_BITS | T_INT | T_F16 | T_F32 | T_F64 | T_PRED)
#define T_ATOM	(T_B32 | T_B64 | T_U32 | T_U64 | T_S32 | T_S64 | T_F32 | T_F64)
#define T_SET	(T_U32 | T_S32 | T_F32)

#define G_RND	(1u << 0)
#define G_RNDI	(1u << 1)
#define G_FTZ	(1u << 2)
#define G_SAT	(1u << 3)
#define G_APPROX (1u << 4)
#define G_HALF	(1u << 5)
#define G_CMP	(1u << 6)
#define G_BOOL	(1u << 7)
#define G_SPACE	(1u << 8)
#define G_CACHE	(1u << 9)
#define G_ORDER	(1u << 10)
#define G_VEC	(1u << 11)
#define G_ATOM	(1u << 12)
#define G_UNI	(1u << 13)
#define G_TO	(1u << 14)
#define G_SYNC	(1u << 15)
#define G_SHFL	(1u << 16)
#define G_VOTE	(1u << 17)
#define G_PRMT	(1u << 18)
#define G_SHF	(1u << 19)
#define G_WARP	(1u << 20)
#define G_SHIFTAMT (1u << 21)
#define G_LEVEL	(1u << 22)
#define G_TESTP	(1u << 23)

enum mod_field {
	F_IGNORE, F_MODS, F_RND, F_CMP, F_UCMP, F_BOOL, F_SPACE, F_VEC, F_ATOM
};

/* How the timing class follows from the type: see class_of() in insn.c. */
enum class_rule {
	R_MOVE, R_ADD, R_MINMAX, R_MUL, R_MAD, R_DIV, R_SFU, R_SHUFFLE, R_MEMORY,
	R_BARRIER, R_EXIT
};

#endif
