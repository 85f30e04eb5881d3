/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PTX text in, decoded kernels out: parsed, resolved, with control flow,
 * post-dominators and liveness solved. Knows nothing of time or of lanes.
 *
 * Input is PTX as clang or nvcc write it (PTX ISA, 64-bit). What is not
 * supported is refused at load with file, line and the instruction's text.
 */
#ifndef GPUEMU_PTX_PTX_H
#define GPUEMU_PTX_PTX_H

#include "base/base.h"

/* Fundamental types, PTX ISA section "Types". */
enum ptx_type {
	PTX_NONE, PTX_B8, PTX_B16, PTX_B32, PTX_B64,
	PTX_U8, PTX_U16, PTX_U32, PTX_U64,
	PTX_S8, PTX_S16, PTX_S32, PTX_S64,
	PTX_F16, PTX_F16X2, PTX_BF16, PTX_BF16X2, PTX_F32, PTX_F64, PTX_PRED,
	PTX_U16X2, PTX_S16X2,
	PTX_TYPES
};
unsigned int ptx_type_bytes(enum ptx_type t);	/* 0 for pred and none */

enum ptx_space {
	PTX_SPACE_NONE, PTX_SPACE_REG, PTX_SPACE_PARAM, PTX_SPACE_CONST,
	PTX_SPACE_GLOBAL, PTX_SPACE_SHARED, PTX_SPACE_LOCAL, PTX_SPACE_GENERIC,
	PTX_SPACE_TEXTURE,	/* global memory, read through a handle */
};

/* One row an opcode in ptx/opcodes.def: X(name, ...). */
enum ptx_opcode {
#define X(name, ...) PTX_OP_##name,
#include "ptx/opcodes.def"
#undef X
	PTX_OPCODES
};

/*
 * What the timing model distinguishes (latency.* in base/spec.def). Derived
 * from opcode and type at decode.
 */
enum ptx_class {
	PTX_CLASS_MOVE,		/* mov, logic, shifts, setp, selp, cvt, branches */
	PTX_CLASS_INT_ADD, PTX_CLASS_INT_MINMAX, PTX_CLASS_INT_MUL,
	PTX_CLASS_INT_MAD, PTX_CLASS_INT_DIV,
	PTX_CLASS_F32_ADD, PTX_CLASS_F32_MINMAX, PTX_CLASS_F32_FMA, PTX_CLASS_F32_DIV,
	PTX_CLASS_F64_ADD, PTX_CLASS_F64_MINMAX, PTX_CLASS_F64_DIV,
	PTX_CLASS_SFU, PTX_CLASS_SHUFFLE,
	PTX_CLASS_MEMORY,	/* ld, st, atom, red: the space says where */
	PTX_CLASS_BARRIER, PTX_CLASS_EXIT,
	PTX_CLASS_CALL,		/* call; a function's ret is a CALL as well */
	PTX_CLASSES
};

/* An operand after resolution. */
enum ptx_operand_kind {
	PTX_OPND_NONE,
	PTX_OPND_REG,		/* value: virtual register number (ptx_kernel.regs) */
	PTX_OPND_IMM,		/* value: the bits, in the instruction's type */
	PTX_OPND_SREG,		/* value: enum ptx_sreg */
	PTX_OPND_ADDR,		/* [reg + offset] or [offset]: reg or PTX_NO_REG, offset absolute in its space */
	PTX_OPND_SYMBOL,	/* address of a variable: value is absolute in `space` */
};
#define PTX_NO_REG	UINT32_MAX

enum ptx_sreg {
	PTX_SREG_TID_X, PTX_SREG_TID_Y, PTX_SREG_TID_Z,
	PTX_SREG_NTID_X, PTX_SREG_NTID_Y, PTX_SREG_NTID_Z,
	PTX_SREG_CTAID_X, PTX_SREG_CTAID_Y, PTX_SREG_CTAID_Z,
	PTX_SREG_NCTAID_X, PTX_SREG_NCTAID_Y, PTX_SREG_NCTAID_Z,
	PTX_SREG_LANEID, PTX_SREG_WARPID, PTX_SREG_NWARPID, PTX_SREG_SMID, PTX_SREG_NSMID,
	PTX_SREG_GRIDID, PTX_SREG_CLOCK, PTX_SREG_CLOCK64, PTX_SREG_GLOBALTIMER,
	PTX_SREG_LANEMASK_EQ, PTX_SREG_LANEMASK_LT, PTX_SREG_LANEMASK_LE,
	PTX_SREG_LANEMASK_GT, PTX_SREG_LANEMASK_GE,
	PTX_SREG_DYNAMIC_SMEM_SIZE, PTX_SREG_TOTAL_SMEM_SIZE,
	PTX_SREG_CLOCK_HI, PTX_SREG_GLOBALTIMER_LO, PTX_SREG_GLOBALTIMER_HI,
	/* The high and the low half of the address of a cooperative grid's workspace, or 0. */
	PTX_SREG_ENVREG1, PTX_SREG_ENVREG2, PTX_SREG_ENVREG, /* the others: 0 */
	PTX_SREGS
};

struct ptx_operand {
	uint8_t kind;		/* enum ptx_operand_kind */
	uint8_t space;		/* enum ptx_space, for ADDR and SYMBOL */
	bool negate;		/* predicates: !p */
	bool callee;		/* ADDR, SYMBOL in LOCAL: in the frame of the function called next */
	uint32_t reg;		/* REG and ADDR: virtual register, else PTX_NO_REG */
	uint64_t value;		/* IMM bits, SREG, offset, symbol address */
};

/* ptx_insn.cmp. lo, ls, hi, hs are LT, LE, GT, GE of an unsigned type. */
enum ptx_cmp {
	PTX_CMP_NONE,
	PTX_CMP_EQ, PTX_CMP_NE, PTX_CMP_LT, PTX_CMP_LE, PTX_CMP_GT, PTX_CMP_GE,
	PTX_CMP_EQU, PTX_CMP_NEU, PTX_CMP_LTU, PTX_CMP_LEU, PTX_CMP_GTU, PTX_CMP_GEU,
	PTX_CMP_NUM, PTX_CMP_NAN,
	PTX_CMPS
};

/* ptx_insn.boolop: how setp and set combine with a third operand. */
enum ptx_boolop {
	PTX_BOOL_NONE, PTX_BOOL_AND, PTX_BOOL_OR, PTX_BOOL_XOR
};

/* ptx_insn.rnd. The second four round to an integral value. */
enum ptx_rnd {
	PTX_RND_NONE, PTX_RND_RN, PTX_RND_RZ, PTX_RND_RM, PTX_RND_RP,
	PTX_RND_RNI, PTX_RND_RZI, PTX_RND_RMI, PTX_RND_RPI
};

/* ptx_insn.atom: what atom and red do; which way shfl, vote and prmt go. */
enum ptx_atom {
	PTX_ATOM_NONE,
	PTX_ATOM_ADD, PTX_ATOM_MIN, PTX_ATOM_MAX, PTX_ATOM_AND, PTX_ATOM_OR,
	PTX_ATOM_XOR, PTX_ATOM_EXCH, PTX_ATOM_CAS, PTX_ATOM_INC, PTX_ATOM_DEC,
	PTX_SHFL_UP, PTX_SHFL_DOWN, PTX_SHFL_BFLY, PTX_SHFL_IDX,
	PTX_VOTE_ALL, PTX_VOTE_ANY, PTX_VOTE_UNI, PTX_VOTE_BALLOT,
	PTX_PRMT_F4E, PTX_PRMT_B4E, PTX_PRMT_RC8, PTX_PRMT_ECL, PTX_PRMT_ECR, PTX_PRMT_RC16,
	PTX_SHF_L, PTX_SHF_R,
	PTX_TESTP_FINITE, PTX_TESTP_INFINITE, PTX_TESTP_NUMBER, PTX_TESTP_NAN,
	PTX_TESTP_NORMAL, PTX_TESTP_SUBNORMAL,
	PTX_BAR_SYNC, PTX_BAR_ARRIVE, PTX_BAR_RED_POPC, PTX_BAR_RED_AND, PTX_BAR_RED_OR,
	PTX_MATCH_ANY, PTX_MATCH_ALL,
};

/*
 * ptx_insn.atom of _texel: the geometry, and of a gather the channel above; of _texquery the
 * dimension. Sources are the handle, then a layer, then coordinates.
 */
enum ptx_texel {
	PTX_TEXEL_1D = 1, PTX_TEXEL_2D, PTX_TEXEL_3D, PTX_TEXEL_A1D, PTX_TEXEL_A2D,
	PTX_TEXEL_GATHER,
};
#define PTX_TEXEL_GEOMETRY	15
#define PTX_TEXEL_CHANNEL	4	/* from this bit on */
/* _surface's immediate: how lanes outside behave; above it log2 of the bytes. Sources: handle, x, y, z. */
enum ptx_surface { PTX_SURFACE_TRAP, PTX_SURFACE_CLAMP, PTX_SURFACE_ZERO };
#define PTX_SURFACE_MODE	3
#define PTX_SURFACE_BYTES	2

/* ptx_insn.mods */
#define PTX_MOD_FTZ	(1u << 0)
#define PTX_MOD_SAT	(1u << 1)
#define PTX_MOD_APPROX	(1u << 2)
#define PTX_MOD_FULL	(1u << 3)
#define PTX_MOD_LO	(1u << 4)
#define PTX_MOD_HI	(1u << 5)
#define PTX_MOD_WIDE	(1u << 6)
#define PTX_MOD_UNI	(1u << 7)
#define PTX_MOD_TO	(1u << 8)	/* cvta.to */
#define PTX_MOD_SYNC	(1u << 9)
#define PTX_MOD_WARP	(1u << 10)	/* bar.warp.sync */
#define PTX_MOD_CLAMP	(1u << 11)	/* shf; else wrap */
#define PTX_MOD_SHIFTAMT (1u << 12)	/* bfind */
#define PTX_MOD_CC	(1u << 13)	/* writes the carry: the last destination is the register %cc */
#define PTX_MOD_NAN	(1u << 14)	/* min, max: NaN if an operand is */
#define PTX_MOD_XORSIGN	(1u << 15)	/* min, max: .xorsign.abs */
#define PTX_MOD_RELU	(1u << 16)	/* negative results and NaN become 0 and NaN (PTX ISA, fma) */
#define PTX_MOD_NOFTZ	(1u << 17)	/* atom, red on halves: a must, and what happens anyway */
#define PTX_MOD_SATFINITE (1u << 18)	/* cvt to halves: finite, the largest instead of infinity */

#define PTX_MOD_PAST_L1	(1u << 20)	/* ld, st: .cg, .cv, .volatile: not through the SM's own cache */
#define PTX_MOD_ORDERS	(1u << 21)	/* ld, st: .volatile, .acquire, .release: not out of the thread's order */
#define PTX_MOD_PHASE	(1u << 22)	/* pmevent that no text has: a phase specifier */
#define PTX_MOD_WRAP	(1u << 19)	/* shf, bmsk, szext: what no .clamp means */

#define PTX_MAX_DST	4
#define PTX_MAX_SRC	6

struct ptx_insn {
	uint16_t opcode;	/* enum ptx_opcode */
	uint8_t type, stype;	/* enum ptx_type: result (or only) type, source type where it differs */
	uint8_t cls;		/* enum ptx_class */
	uint8_t space;		/* memory instructions: enum ptx_space */
	uint8_t vec;		/* elements a lane moves: 1, 2, 4 */
	uint8_t ndst, nsrc;
	uint8_t cmp, boolop, rnd, atom; /* opcode-specific enums of the ptx room, 0 = none */
	uint32_t mods;		/* PTX_MOD_* */
	struct ptx_operand dst[PTX_MAX_DST];
	struct ptx_operand src[PTX_MAX_SRC];
	uint32_t guard;		/* predicate register or PTX_NO_REG */
	bool guard_negate;
	uint32_t target;	/* bra: instruction; brx: of kernel.tables; call: of kernel.calls */
	/* Branches: the immediate post-dominator's first instruction; ninsns: at exit or ret. */
	uint32_t reconv;
	uint32_t line;		/* in the PTX text, from 1 */
};

struct ptx_reg {
	const char *name;
	uint8_t type;		/* enum ptx_type; PTX_PRED for predicates */
	/*
	 * Made by spilling. It is read only by lanes that have just written it: what a guarded
	 * write leaves to other lanes is not live.
	 */
	bool spill;
};

struct ptx_param {
	uint8_t type;		/* element type */
	uint32_t offset;	/* in the parameter buffer */
	uint32_t bytes;		/* whole parameter */
	uint32_t align;
};

/* The targets of a brx.idx, instructions. An index of `count` or more traps. */
struct ptx_table {
	uint32_t count;
	uint32_t *targets;
};

/*
 * A function that was linked into a kernel: instructions [first, end) of it.
 * functions[0] is the entry itself. A call enters at `first` with the formals set;
 * ret leaves it. Registers of two functions are never the same.
 *
 * The local memory of a thread is a stack that grows upwards. A function's frame holds
 * its local variables, its spills and the parameters that do not fit registers; offsets
 * of local operands are in the frame, and a callee's frame begins where the caller's ends.
 */
struct ptx_function {
	const char *name;
	uint32_t first, end;
	uint32_t frame_bytes;	/* a multiple of 16, at least 16 but for the entry */
	uint32_t nformals, nresults;
	uint32_t *formals;	/* registers that hold the parameters' pieces on entry */
	uint32_t *results;	/* registers that hold the results' pieces at ret */
	uint32_t regs;		/* physical registers that it and its callees write, from 0 */
	bool recursive;		/* on a cycle of the call graph */
	uint32_t line;
};

/* Calls of functions that are not PTX: what the device runtime provides. */
enum ptx_builtin { PTX_BUILTIN_NONE, PTX_BUILTIN_VPRINTF, PTX_BUILTIN_ASSERTFAIL };

/*
 * One call instruction. Its lanes' arguments are read before any formal is
 * written; at a lane's ret the results are copied for that lane. Pieces of
 * parameters that do not fit the registers are stored by the instructions before
 * the call, at operands with `callee` set. Registers that live across a call are
 * in no register that the callee writes; across a recursive one they are saved in the frame.
 */
struct ptx_call {
	uint32_t function;	/* of ptx_kernel.functions, when builtin is NONE */
	uint8_t builtin;	/* enum ptx_builtin */
	uint32_t nargs, nresults;
	struct ptx_operand *args; /* REG or IMM, one for each formal */
	uint32_t *results;	/* registers, PTX_NO_REG: not wanted; one for each of the callee's */
};

/* Bytes of shared memory: [from, to). to == from: none. */
struct ptx_extent {
	uint32_t from, to;
};
/* To the end of the CTA's allocation, which the launch may have made larger. */
#define PTX_EXTENT_END	UINT32_MAX

/*
 * A phase of the entry (Zorua, MICRO 2016, section 4.6): what a warp needs from here until it comes
 * to the next one, whichever that is. All its lanes come together. Registers are counted in
 * sets of PTX_SET_REGS by physical number, and a set is a bit; no kernel has more than 64.
 */
#define PTX_SET_REGS	4
struct ptx_phase {
	uint32_t insn;		/* begins before it; with PTX_PHASES_INSERT it is the specifier, if any */
	uint16_t live;		/* 32-bit registers live there */
	uint16_t regs;		/* most live at once in the phase: the specifier's first field */
	/*
	 * Scratchpad of its CTA. smem: the most of the kernel's static bytes live at once in the
	 * phase, the specifier's second field; a launch's dynamic ones come with it. smem_end: the
	 * phase needs those below it on chip or in swap, PTX_EXTENT_END: all that the CTA has.
	 * smem_most: the same of the kernel's phase that needs most.
	 */
	uint32_t smem, smem_end, smem_most;
	/*
	 * No specifier: the phases before it have the same sets, ahead too, and no less
	 * scratchpad; or it is the first one, whose needs are known before a warp begins.
	 */
	bool quiet;
	uint64_t kept;		/* sets that hold something live there */
	uint64_t sets;		/* sets that the phase uses */
	uint8_t loose;		/* of `kept`, more than so many live registers would fill */
	uint8_t ahead;		/* sets: the most of this phase and of those that it leads to */
};

/*
 * One .entry and the functions that it can reach, linked. Owned by its module. Params and
 * shared variables are laid out with absolute offsets, local ones in their function's frame.
 */
struct ptx_kernel {
	const char *name;
	struct ptx_insn *insns;
	uint32_t ninsns;
	struct ptx_reg *regs;
	/*
	 * First the registers of the text, in the order of their first use. Then registers for
	 * other values of the same names (a register is one def-use web), and those of spills.
	 */
	uint32_t nregs;
	/*
	 * Allocation, by register: its 32-bit physical register, for 8 bytes the first of an
	 * aligned pair; predicates count from 0 on their own. PTX_NO_REG: never live, what
	 * is written to it is read by none and what is read from it was never written.
	 *
	 * A destination may be in the place of a source that is not live after the instruction,
	 * unless the instruction has several destinations (but for ld and the carry chain, which
	 * may) or its lanes read each other's sources (shfl, match, redux, vote). The text itself
	 * may name one register in both roles, whatever the instruction. A call's results
	 * may be in places that its callee writes, so all are read before one is written.
	 */
	uint32_t *phys;
	struct ptx_function *functions;
	uint32_t nfunctions;	/* at least 1: the entry */
	struct ptx_call *calls;
	uint32_t ncalls;
	struct ptx_table *tables;
	uint32_t ntables;
	uint32_t max_calls;	/* deepest nesting of calls; with recursion, what local_bytes allows */
	struct ptx_param *params;
	uint32_t nparams, param_bytes;
	/*
	 * It reads where its grid's workspace is: who launches it cooperatively puts the address
	 * into 8 bytes of the parameters at workspace_at, behind those of the text; else it is
	 * 0 there.
	 */
	bool has_workspace;
	uint32_t workspace_at;
	bool has_textures;	/* or surfaces: a launch says what their handles mean */
	uint32_t shared_bytes;	/* static */
	/* A thread: the deepest stack of frames; with recursion options.stack_bytes more. */
	uint32_t local_bytes;
	uint32_t stack_bytes;	/* of these, for recursion; 0: nothing recurs */
	uint32_t const_bytes;
	uint32_t regs_per_thread; /* 32-bit physical registers that the allocation takes, at least 1 */
	uint32_t preds_per_thread;
	uint32_t max_live;	/* 32-bit registers live at once before spilling: no allocation needs fewer */
	uint16_t *live;		/* by instruction: 32-bit registers live before it, after allocation */
	struct ptx_phase *phases; /* by insn, ascending, the first at 0; NULL where options.phases is 0 */
	uint32_t nphases;
	/* By instruction: the shared memory that it may access itself. NULL where phases is. */
	struct ptx_extent *extents;
	uint32_t spill_store_bytes, spill_load_bytes; /* of the instructions, as ptxas -v counts */
	uint32_t max_threads;	/* .maxntid product, or 0 */
	uint32_t max_nreg;	/* .maxnreg, or 0 */
	uint32_t line;
	const char *module;	/* ptx_module_name(), for messages */
	const void *const_data;	/* const_bytes of initialised .const variables */
	const struct ptx_module *owner;
};

struct ptx_module;

/*
 * The .global variable that a module has whose kernels call malloc() or free(): two numbers of
 * 64 bits, where the heap is and how many bytes it has. The launch of such a kernel fills them in;
 * the heap is zero at first, and may be several modules'.
 */
#define PTX_HEAP		"__gpuemu_heap"

/*
 * The .global variable that a module has whose kernels read their grid's workspace: the memory
 * that a barrier of a whole grid is in. Zero at first; a barrier leaves it as the next one needs
 * it.
 */
#define PTX_WORKSPACE		"__gpuemu_grid_workspace"
#define PTX_WORKSPACE_BYTES	64

/*
 * Parses `len` bytes. name is for messages ("vecadd.ptx"). On error returns
 * -EINVAL (not PTX), -EOPNOTSUPP (PTX that is not supported yet) or -ENOMEM, and
 * err reads "NAME:LINE: reason: `instruction text`". Never reads past len.
 */
int ptx_module_parse(const char *text, size_t len, const char *name,
		     struct ptx_module **module, struct err *err);

struct ptx_options {
	uint32_t maxregs;	/* 32-bit registers a thread, 16 to 255: more are spilled. 0: 255 */
	uint32_t stack_bytes;	/* local memory a thread for recursion. 0: PTX_STACK_BYTES */
	uint8_t phases;		/* enum ptx_phases */
	/*
	 * Registers a thread of which there are enough for all warps: a kernel that takes no more
	 * keeps them from its first phase to the end. 0: each phase has what it needs.
	 */
	uint8_t plenty;
	/* A kernel that is not supported is left out if there is another: ptx_module_refusal(). */
	bool leave_out;
};
/* Phases are not looked for; they are marked; each begins with a specifier, an instruction more. */
enum ptx_phases { PTX_PHASES_NONE, PTX_PHASES_MARK, PTX_PHASES_INSERT };
#define PTX_STACK_BYTES	1024	/* CUDA's default cudaLimitStackSize */
#define PTX_MIN_MAXREGS	16
#define PTX_MAX_MAXREGS	255

/*
 * Gives a copy of a kernel with recursion that many bytes for it, as far as a thread may have them.
 * What the copy points to is the module's still.
 */
void ptx_kernel_restack(struct ptx_kernel *copy, uint32_t stack_bytes);

/* As ptx_module_parse(), which takes the defaults. A kernel's .maxnreg counts when it is lower. */
int ptx_module_parse_with(const char *text, size_t len, const char *name,
			  const struct ptx_options *options,
			  struct ptx_module **module, struct err *err);
void ptx_module_free(struct ptx_module *module);

/*
 * A module in one piece, for another process of the same program: pack calls put() with the bytes
 * one after the other, and ends with -ENOSPC when that returns false; -ENOMEM. unpack takes over a
 * private writable mapping (mmap()) of them, and ptx_module_free() unmaps it. -EINVAL: what
 * points somewhere points outside; what numbers mean is not checked.
 */
typedef bool ptx_put(void *ctx, const void *data, size_t bytes);
int ptx_module_pack(const struct ptx_module *module, ptx_put *put, void *ctx);
int ptx_module_unpack(void *memory, size_t bytes, struct ptx_module **module);

/*
 * Module variables in .global, laid out from offset 0 in a segment of
 * `bytes`, aligned to `align`. The segment is the caller's: it puts it at an address,
 * calls ptx_module_place() and copies ptx_module_global_image(), which holds the
 * initial values, addresses of variables resolved. Placing again moves it.
 * Until it is placed, operands and const data hold addresses as if it were at 0.
 */
struct ptx_variable {
	const char *name;
	uint64_t offset, bytes;
	uint32_t align;
};
uint64_t ptx_module_global_bytes(const struct ptx_module *module, uint32_t *align);
void ptx_module_place(struct ptx_module *module, uint64_t base);
const void *ptx_module_global_image(const struct ptx_module *module);
uint64_t ptx_module_global_base(const struct ptx_module *module);
/* n-th variable in the text's order, NULL past the end. */
const struct ptx_variable *ptx_module_variable_at(const struct ptx_module *module,
						  unsigned int n);

/*
 * Module variables in .const: offset is in the bank, which a kernel reads at PTX_CONST_WINDOW. Who
 * writes the bank (ptx_module_constants(), NULL without variables) sees to it that no kernel runs.
 */
const struct ptx_variable *ptx_module_constant_at(const struct ptx_module *module,
						  unsigned int n);
void *ptx_module_constants(struct ptx_module *module, uint32_t *bytes);

const char *ptx_module_name(const struct ptx_module *module);
const struct ptx_kernel *ptx_module_kernel(const struct ptx_module *module,
					   const char *name);
/* n-th kernel in the text's order, NULL past the end. */
const struct ptx_kernel *ptx_module_kernel_at(const struct ptx_module *module,
					      unsigned int n);

/*
 * Why the module has no such kernel although the text has: the message of what is not supported.
 * NULL: the text has none of that name, or the module has it.
 */
const char *ptx_module_refusal(const struct ptx_module *module, const char *name);

/*
 * Generic addresses in these windows are shared, local, constant and parameter
 * memory; everything else is global. Non-canonical on purpose: no managed address is in them.
 */
#define PTX_SHARED_WINDOW	0xffff100000000000ull
#define PTX_LOCAL_WINDOW	0xffff200000000000ull
#define PTX_CONST_WINDOW	0xffff300000000000ull
#define PTX_PARAM_WINDOW	0xffff400000000000ull
#define PTX_WINDOW_BYTES	0x0000000100000000ull

const char *ptx_opcode_name(enum ptx_opcode op);

#endif
