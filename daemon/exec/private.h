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

/* Memory at the host that an access may touch; a generic address of it is base + offset. */
struct exec_window {
	uint64_t base, bytes;
	uint8_t *host;
	uint64_t stride;	/* local memory: bytes from a lane's part to the next one's; else 0 */
};
/* Does all of `mask`, which is not empty, or, when one of them is misaligned or outside, nothing. */
typedef bool (*access_fn)(uint8_t *arena, const struct exec_op *op, uint32_t mask,
			  const struct exec_window *window);

enum op_kind {
	OP_LANES,	/* fn does it */
	OP_NOP,
	OP_LOAD, OP_STORE, OP_ATOMIC, OP_TEXEL,
	OP_QUERY, OP_SURFACE,	/* of textures and surfaces, without memory */
	/* Each of these moves the pc in its own way, and ends a straight run. */
	OP_BRANCH, OP_BRX, OP_CALL, OP_RET, OP_EXIT, OP_TRAP, OP_BARRIER, OP_BUILTIN,
};

/*
 * The address register of an access. Those of a space that has 32-bit addresses are
 * added to modulo 2^32; generic and global ones are of 64 bits (PTX ISA, "Addresses as
 * Operands": zero-extended, or truncated, to the width of the space).
 */
enum op_address {
	ADDRESS_NONE,
	ADDRESS_32,	/* 4 bytes, the space's addresses too */
	ADDRESS_32_IN_64,
	ADDRESS_64,	/* 8 bytes, from here on */
	ADDRESS_64_IN_32,
};

/* Operands that are not there. Offset 0 of every arena is a row nobody reads. */
#define NO_ROW	0u

/* An operation of several lanes: for all of the warp, or for those that source i names. */
#define SYNC_ALL	1u
#define SYNC_MEMBERS	2u

struct exec_op {
	union {
		lane_fn fn;
		access_fn access;	/* memory; NULL: only lane by lane */
	};
	union {
		compare_fn compare;		/* setp, set */
		const struct exec_sequence *seq; /* fn == sequence_run */
		uint64_t offset;		/* memory: added to the address register */
	};
	uint32_t dst[4], src[5];	/* arena offsets */
	uint32_t guard;			/* arena offset of the predicate, NO_ROW: none */
	uint32_t guard_flip;		/* ~0 for @!p */
	/* Instructions from here to the end of the basic block that just do their lanes. */
	uint32_t run;
	/* Branches; brx: of the kernel's tables; calls: of the kernel's calls. */
	uint32_t target, reconv;
	uint8_t kind;			/* enum op_kind */
	uint8_t flip;			/* bit i: source i is a predicate that is negated */
	uint8_t boolop;			/* enum ptx_boolop */
	uint8_t fresh;			/* reads a special register that changes while the warp runs */
	uint8_t plain;			/* fn does it, without a guard and not fresh */
	uint8_t leader;			/* branches lead here, or lanes meet or wait here */
	uint8_t sync;			/* waits for lanes of the warp: SYNC_ALL or SYNC_MEMBERS + i */
	uint8_t skip;			/* in whole grids its result is there already (hoist.c) */
	/* memory */
	uint8_t space;			/* enum ptx_space */
	uint8_t elem, vec;		/* bytes of an element, elements of a lane */
	uint8_t extend;			/* loads: sign extend */
	uint8_t wide;			/* bit e: element e's row has 8 bytes a lane */
	uint8_t address;		/* enum op_address */
	uint8_t framed;			/* the address is in the running function's frame */
	uint8_t atom, type;		/* enum ptx_atom, ptx_type */
};

/*
 * An instruction that is several steps: operands are flushed or narrowed into
 * scratch rows, the core runs (in another rounding mode if need be), and its
 * result is flushed, saturated or widened. Only the last step writes registers.
 */
#define SEQ_MAX	10
struct exec_sequence {
	uint8_t n;
	int8_t core;		/* the step that runs in `round`, -1: none */
	int round;		/* fesetround() */
	struct exec_op ops[SEQ_MAX];
};

/* Distinguishes rows of one opcode and type. Atomics have the instruction's enum ptx_atom here. */
enum lane_sel {
	SEL_NONE, SEL_LO, SEL_HI, SEL_WIDE, SEL_SAT, SEL_APPROX, SEL_PACK2, SEL_PACK4,
	SEL_UNPACK2, SEL_UNPACK4, SEL_SHIFTAMT,
	SEL_L_CLAMP, SEL_L_WRAP, SEL_R_CLAMP, SEL_R_WRAP,
	SEL_CLAMP, SEL_CC, SEL_LO_CC, SEL_HI_CC, SEL_X2, SEL_FTZ,
	/* min and max */
	SEL_NAN, SEL_XORSIGN, SEL_NAN_XORSIGN,
	/* cvt to f16 and bf16, in the order of enum ptx_rnd */
	SEL_RN, SEL_RZ, SEL_RM, SEL_RP,
};

/* Steps of sequences that are no instruction have an opcode of their own. */
#define PTX_OP_PSEUDO	PTX_OPCODES
enum pseudo_sel {
	PSEUDO_FLUSH = 100,	/* subnormals to zero, f32 and f64 */
	PSEUDO_SATURATE,	/* to [0, 1], NaN to 0 */
	PSEUDO_RNI, PSEUDO_RZI, PSEUDO_RMI, PSEUDO_RPI, /* to an integral value */
	PSEUDO_RESIZE,		/* cvt between row widths: type from stype */
	PSEUDO_ODD,		/* any number to f32, rounded to odd */
	PSEUDO_HIGH,		/* the upper half of a pair of them, to f32 */
	PSEUDO_RELU, PSEUDO_FINITE, /* halves */
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

/* The functions of lanes_memory.h: one element a lane, vectors. */
struct memory_lanes {
	access_fn load[4][2][2][2];	/* log2 of bytes, wide row, signed, vector */
	access_fn store[4][2][2];	/* log2 of bytes, wide row, vector */
	/* rel[i] := where lane i's bytes are, from the window's host. */
	bool (*locate)(const uint8_t *arena, const struct exec_op *op, uint32_t mask,
		       const struct exec_window *window, uint64_t *rel);
};

/* One build of lanes.h: the functions for one instruction set of the host. */
struct lane_table {
	const char *name;
	const struct lane_row *rows;
	uint32_t nrows;
	const struct compare_row *compares;
	uint32_t ncompares;
	const struct memory_lanes *memory;
};
extern const struct lane_table lanes_portable, lanes_avx2, lanes_avx512;

struct exec_program {
	const struct ptx_kernel *kernel;
	const struct lane_table *table;
	struct exec_op *ops;		/* by instruction */
	struct exec_info *info;		/* by instruction */
	struct exec_sequence *seqs;
	uint32_t nseqs, seqs_cap;
	/*
	 * The arena: the rows of the registers, scratch, special registers, constants;
	 * then the SIMT stack and the frames. The registers' come first: they are
	 * what a warp starts with cleared.
	 */
	uint32_t *reg_row;		/* by register */
	uint32_t arena_bytes, clear_bytes;
	uint32_t stack_at, stack_entries, frames_at; /* arena offsets */
	uint32_t frame_row;		/* 8 bytes a lane: where the running function's frame is */
	uint32_t sreg_row[PTX_SREGS];	/* NO_ROW: not read */
	struct exec_const {
		uint64_t value;
		uint32_t row;
		uint8_t bytes;		/* 4, 8; 0: a predicate */
	} *consts;
	uint32_t nconsts, consts_cap;
	uint32_t *shuffled;		/* rows that some shfl reads of other lanes */
	uint32_t nshuffled;
	uint32_t scratch_row;		/* NO_ROW: no instruction takes several steps */
	struct exec_param {		/* what the launch's parameters are hoisted into */
		uint32_t row, offset;
		uint8_t bytes;
		bool wide, extend;
	} *params;
	uint32_t nparams;
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

/*
 * bind_machine.c: what the machine does itself: control, memory, calls. 1: the
 * instruction is none of these, bind_insn() knows it.
 */
int bind_machine(struct exec_program *program, const struct lane_table *table, uint32_t pc,
		 struct err *err);
/* The function that instruction pc belongs to. */
uint32_t function_at(const struct ptx_kernel *kernel, uint32_t pc);

/* hoist.c: rows for registers that never change; their values, for whole grids. */
int hoist(struct exec_program *program);
void hoist_fill(struct exec_warp *warp);
/* program.c */
/* rows.c */
/* A warp whose state is larger than this is no kernel a GPU could hold. */
#define MAX_ARENA	(8u << 20)
uint32_t new_row(struct exec_program *program, uint32_t bytes);
/* SEQ_MAX rows of 8 bytes a lane, for the steps of an instruction. */
uint32_t scratch_row(struct exec_program *program);

/* sequence.c: puts a sequence around b->op when the instruction needs one. */
int sequence_wrap(struct binder *b);
void sequence_run(uint8_t *arena, const struct exec_op *op, uint32_t mask);

/* select.c. No row: NULL. */
lane_fn find_row(const struct lane_table *table, uint16_t opcode, uint8_t type, uint8_t stype,
		 uint8_t sel);
compare_fn find_compare(const struct lane_table *table, uint8_t cmp, uint8_t type);
lane_fn select_function(const struct lane_table *table, const struct ptx_insn *insn);
bool type_is_float(uint8_t type);	/* halves included */
bool type_is_half(uint8_t type);	/* pairs included */
bool type_is_pair(uint8_t type);
uint8_t compared_type(const struct ptx_insn *insn);
bool copies_half(const struct ptx_insn *insn);
bool has_own_ftz(const struct ptx_insn *insn);

/* bind.c */
bool is_predicate(const struct ptx_insn *insn, unsigned int source);
/* Bytes a lane: of a register's row; of a source's; of what the function reads there. */
unsigned int register_bytes(const struct binder *b, const struct ptx_operand *op);
unsigned int source_bytes(const struct binder *b, unsigned int source);
unsigned int wanted_bytes(const struct ptx_insn *insn, unsigned int source);
int bind_insn(struct exec_program *program, const struct lane_table *table, uint32_t pc,
	      struct err *err);
uint32_t const_row(struct exec_program *program, uint64_t value, uint8_t bytes);
uint32_t sreg_row(struct exec_program *program, uint32_t sreg);
uint32_t frame_row(struct exec_program *program);

/* sreg.c */
unsigned int sreg_bytes(uint32_t sreg);
bool sreg_changes(uint32_t sreg);
void sregs_init(struct exec_warp *warp);
void sregs_refresh(struct exec_warp *warp);

/* stack.c: the SIMT stack. All of them move warp->pc. */
#define STACK_ENTRIES	(1 + 2 * (WARP_LANES - 1))
void stack_reconverge(struct exec_warp *warp);
void stack_branch(struct exec_warp *warp, const struct exec_op *op, uint32_t taken);
enum exec_outcome stack_brx(struct exec_warp *warp, const struct exec_op *op, uint32_t taken,
			    struct err *err);
enum exec_outcome stack_exit(struct exec_warp *warp, uint32_t lanes);

static inline void stack_advance(struct exec_warp *warp)
{
	warp->pc++;
	if (warp->pc == warp->stack[warp->depth - 1].reconv)
		stack_reconverge(warp);
}

void stack_load_top(struct exec_warp *warp);

/* spin.c. True: other lanes of the warp run now. */
bool spin_watch(struct exec_warp *warp, uint32_t branch); /* after a way back, some lanes not there */
bool spin_yield(struct exec_warp *warp);

/*
 * sync.c. Before an operation with `sync` where sync_asks(). SYNC_OTHERS: other lanes of the warp
 * run now. SYNC_DONE: the lanes here have its result already.
 */
enum sync_met { SYNC_GO, SYNC_OTHERS, SYNC_DONE };
enum sync_met sync_gather(struct exec_warp *warp);
/* Lanes that the operation at pc names are not here, though they could come. */
uint32_t sync_misses(const struct exec_warp *warp, uint32_t pc);

static inline bool sync_asks(const struct exec_warp *warp, const struct exec_op *op)
{
	return op->sync && (warp->depth > 1 || warp->split);
}

/* call.c */
enum exec_outcome call_step(struct exec_warp *warp, const struct exec_op *op, uint32_t mask,
			    struct err *err);
void call_return(struct exec_warp *warp, uint32_t lanes);
/* The last frame has no lanes left: its caller's is the running one again. */
void call_pop(struct exec_warp *warp);

/* barrier.c */
enum exec_outcome barrier_step(struct exec_warp *warp, const struct exec_op *op, uint32_t mask,
			       struct exec_access *access, struct err *err);

/* printf.c */
enum exec_outcome builtin_step(struct exec_warp *warp, const struct exec_op *op, uint32_t mask,
			       struct err *err);

/* memory.c */
enum exec_outcome memory_step(struct exec_warp *warp, const struct exec_op *op, uint32_t mask,
			      struct exec_access *access, uint64_t *fault_addr, struct err *err);

/* texture.c */
enum exec_outcome texture_step(struct exec_warp *warp, const struct exec_op *op, uint32_t mask,
			       struct exec_access *access, struct err *err);
/* Lanes that want texels of [from, from + bytes), which is at host. */
void texture_perform(struct exec_warp *warp, const struct exec_op *op, struct exec_access *access,
		     uint32_t lanes, uint64_t from, uint64_t bytes, const uint8_t *host);
enum exec_outcome texture_query(const struct exec_warp *warp, const struct exec_op *op,
				uint32_t mask, struct err *err);
enum exec_outcome surface_step(const struct exec_warp *warp, const struct exec_op *op,
			       uint32_t mask, struct err *err);

/* The space of a generic address; where a space's generic addresses begin; where it is for a warp. */
uint8_t space_at(uint64_t addr);
uint64_t space_start(uint8_t space);
struct exec_window space_window(const struct exec_warp *warp, uint8_t space);

/*
 * atomic.c: the read-modify-write of the lanes in `mask`, in order, with the
 * operands as they are in the registers, or as they were when access was made.
 */
void atomic_rows(const struct exec_op *op, uint8_t *arena, uint32_t mask, uintptr_t base,
		 const uint64_t *addr, bool global);
void atomic_lanes(const struct exec_op *op, uint8_t *arena, struct exec_access *access,
		  uint32_t mask, uintptr_t base, const uint64_t *addr, bool global);

/*
 * warp.c: exec_warp_init() for a warp that was the same one of another CTA of the
 * launch: constants and what every CTA has in common are there.
 */
void warp_again(struct exec_warp *warp);

/* warp.c: an instruction of kind OP_BRX or later, its guard true in `mask`. */
enum exec_outcome control_step(struct exec_warp *warp, const struct exec_op *op, uint32_t mask,
			       struct exec_access *access, struct err *err);

/* warp.c: "(FILE line N, thread (x,y,z) of CTA (x,y,z))" after the message; EXEC_TRAP. */
enum exec_outcome trap(const struct exec_warp *warp, const struct ptx_insn *insn, uint32_t lanes,
		       struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Most masks are full; there may be no instruction for the others. */
static inline uint32_t count_lanes(uint32_t mask)
{
	if (mask == ALL_LANES)
		return WARP_LANES;
	mask -= mask >> 1 & 0x55555555;
	mask = (mask & 0x33333333) + (mask >> 2 & 0x33333333);
	return ((mask + (mask >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

static inline const struct exec_program *program_of(const struct exec_warp *warp)
{
	return warp->program;
}

static inline const struct ptx_insn *insn_of(const struct exec_warp *warp,
					     const struct exec_op *op)
{
	const struct exec_program *program = program_of(warp);

	return &program->kernel->insns[op - program->ops];
}

/*
 * The compiler was asked for phases and says where in shared memory the instruction may access
 * (ptx_kernel.extents). extent_holds(): it is right about these lanes. An assertion asks both.
 */
static inline bool has_extent(const struct exec_warp *warp, const struct exec_op *op)
{
	return (op->space == PTX_SPACE_SHARED || op->space == PTX_SPACE_GENERIC) &&
	       program_of(warp)->kernel->extents;
}
bool extent_holds(const struct exec_warp *warp, const struct exec_op *op, uint32_t mask);

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
