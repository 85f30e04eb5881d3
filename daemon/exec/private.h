/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The inside of the exec room: what its files share. Nobody else includes it.
 *
 * A kernel is bound once (bind.c): each instruction becomes an exec_op whose
 * operands are byte offsets into the warp's arena and whose function does all
 * lanes of one opcode and type (lanes.h). Stepping a warp (warp.c, memory.c)
 * looks nothing up, allocates nothing and formats no text unless it traps.
 */
#ifndef GPUEMU_EXEC_PRIVATE_H
#define GPUEMU_EXEC_PRIVATE_H

#include "exec/exec.h"

struct exec_op;

/* Does the lanes of `mask`; the other lanes of what it writes stay as they are. */
typedef void (*lane_fn)(uint8_t *arena, const struct exec_op *op, uint32_t mask);
/* Which lanes compare true; lanes of any mask. */
typedef uint32_t (*compare_fn)(const uint8_t *arena, const struct exec_op *op);

enum op_kind {
	OP_LANES,	/* fn does it */
	OP_NOP,
	OP_BRANCH, OP_EXIT, OP_TRAP, OP_BARRIER,
	OP_LOAD, OP_STORE, OP_ATOMIC,
};

/* Operands that are not there. Offset 0 of every arena is a row nobody reads. */
#define NO_ROW	0u

struct exec_op {
	lane_fn fn;
	union {
		compare_fn compare;		/* setp, set */
		const struct exec_sequence *seq; /* fn == sequence_run */
		uint64_t offset;		/* memory: added to the address register */
	};
	uint32_t dst[4], src[5];	/* arena offsets */
	uint32_t guard;			/* arena offset of the predicate, NO_ROW: none */
	uint32_t guard_flip;		/* ~0 for @!p */
	uint32_t target, reconv;	/* branches */
	uint8_t kind;			/* enum op_kind */
	uint8_t flip;			/* bit i: source i is a predicate that is negated */
	uint8_t boolop;			/* enum ptx_boolop */
	uint8_t fresh;			/* reads a special register that changes while the warp runs */
	/* memory */
	uint8_t space;			/* enum ptx_space */
	uint8_t elem, vec;		/* bytes of an element, elements of a lane */
	uint8_t extend;			/* loads: sign extend */
	uint8_t wide;			/* bit e: element e's row has 8 bytes a lane */
	uint8_t addr_bytes;		/* address row: 4, 8, or 0: none */
	uint8_t atom, type;		/* enum ptx_atom, ptx_type */
};

/*
 * An instruction that is several steps: operands are flushed or narrowed into
 * scratch rows, the core runs (in another rounding mode if need be), and its
 * result is flushed, saturated or widened. Only the last step writes registers.
 */
#define SEQ_MAX	8
struct exec_sequence {
	uint8_t n;
	int8_t core;		/* the step that runs in `round`, -1: none */
	int round;		/* fesetround() */
	struct exec_op ops[SEQ_MAX];
};

/* What distinguishes rows of one opcode and type. */
enum lane_sel {
	SEL_NONE, SEL_LO, SEL_HI, SEL_WIDE, SEL_SAT, SEL_APPROX, SEL_PACK2, SEL_PACK4,
	SEL_UNPACK2, SEL_UNPACK4, SEL_SHIFTAMT,
	SEL_L_CLAMP, SEL_L_WRAP, SEL_R_CLAMP, SEL_R_WRAP,
	SEL_PRED,
};

/* Steps of sequences that are no instruction have an opcode of their own. */
#define PTX_OP_PSEUDO	PTX_OPCODES
enum pseudo_sel {
	PSEUDO_FLUSH = 100,	/* subnormals to zero, f32 and f64 */
	PSEUDO_SATURATE,	/* to [0, 1], NaN to 0 */
	PSEUDO_RNI, PSEUDO_RZI, PSEUDO_RMI, PSEUDO_RPI, /* to an integral value */
	PSEUDO_RESIZE,		/* cvt between row widths: type from stype */
};

struct lane_row {
	uint16_t opcode;
	uint8_t type, stype, sel;
	lane_fn fn;
};
struct compare_row {
	uint8_t cmp, type;
	compare_fn fn;
};

/* One build of lanes.h: the functions for one instruction set of the host. */
struct lane_table {
	const struct lane_row *rows;
	uint32_t nrows;
	const struct compare_row *compares;
	uint32_t ncompares;
};
extern const struct lane_table lanes_portable, lanes_avx2;

struct exec_program {
	const struct ptx_kernel *kernel;
	struct exec_op *ops;		/* by instruction */
	struct exec_info *info;		/* by instruction */
	struct exec_sequence *seqs;
	uint32_t nseqs, seqs_cap;
	/* The arena: the rows of the registers, special registers, constants, scratch. */
	uint32_t *reg_row;		/* by register */
	uint32_t arena_bytes;
	uint32_t sreg_row[PTX_SREGS];	/* NO_ROW: not read */
	struct exec_const {
		uint64_t value;
		uint32_t row;
		uint8_t bytes;		/* 4, 8; 0: a predicate */
	} *consts;
	uint32_t nconsts, consts_cap;
	uint32_t scratch_row;		/* SEQ_MAX rows of 8 bytes a lane */
};

#define ROW4	(4 * WARP_LANES)
#define ROW8	(8 * WARP_LANES)
#define ALL_LANES UINT32_MAX

/* program.c: exec_program_create() with a table of one's choice, for tests of each. */
int program_create_with(const struct ptx_kernel *kernel, const struct lane_table *table,
			struct exec_program **program, struct err *err);

/* An instruction while it is bound. */
struct binder {
	struct exec_program *program;
	const struct lane_table *table;
	const struct ptx_insn *insn;
	struct exec_op *op;
	struct err *err;
};

/* sequence.c: puts a sequence around b->op when the instruction needs one. */
int sequence_wrap(struct binder *b);
void sequence_run(uint8_t *arena, const struct exec_op *op, uint32_t mask);

/* bind.c */
lane_fn find_row(const struct lane_table *table, uint16_t opcode, uint8_t type, uint8_t stype,
		 uint8_t sel);
bool type_is_float(uint8_t type);
bool is_predicate(const struct ptx_insn *insn, unsigned int source);
/* Bytes a lane: of a register's row; of a source's; of what the function reads there. */
unsigned int register_bytes(const struct binder *b, const struct ptx_operand *op);
unsigned int source_bytes(const struct binder *b, unsigned int source);
unsigned int wanted_bytes(const struct ptx_insn *insn, unsigned int source);
int bind_insn(struct exec_program *program, const struct lane_table *table, uint32_t pc,
	      struct err *err);
uint32_t const_row(struct exec_program *program, uint64_t value, uint8_t bytes);
uint32_t sreg_row(struct exec_program *program, uint32_t sreg);

/* sreg.c */
unsigned int sreg_bytes(uint32_t sreg);
bool sreg_changes(uint32_t sreg);
void sregs_init(struct exec_warp *warp);
void sregs_refresh(struct exec_warp *warp);

/* memory.c */
enum exec_outcome memory_step(struct exec_warp *warp, const struct exec_op *op, uint32_t mask,
			      struct exec_access *access, uint64_t *fault_addr, struct err *err);

/* atomic.c: the read-modify-write of the lanes in `mask`, in order. */
void atomic_lanes(const struct exec_op *op, uint8_t *arena, struct exec_access *access,
		  uint32_t mask, uintptr_t base, const uint64_t *addr, bool global);

/* warp.c: "(FILE line N, thread (x,y,z) of CTA (x,y,z))" after the message; EXEC_TRAP. */
enum exec_outcome trap(const struct exec_warp *warp, const struct ptx_insn *insn, uint32_t lanes,
		       struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

static inline uint32_t *row32(uint8_t *arena, uint32_t row)
{
	return __builtin_assume_aligned(arena + row, 64);
}

static inline uint64_t *row64(uint8_t *arena, uint32_t row)
{
	return __builtin_assume_aligned(arena + row, 64);
}

/* Predicates are one word, 4-byte aligned. */
static inline uint32_t *pred_at(uint8_t *arena, uint32_t row)
{
	return (uint32_t *)(arena + row);
}

#endif
