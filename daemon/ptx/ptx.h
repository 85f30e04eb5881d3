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
	PTX_TYPES
};
unsigned int ptx_type_bytes(enum ptx_type t);	/* 0 for pred and none */

enum ptx_space {
	PTX_SPACE_NONE, PTX_SPACE_REG, PTX_SPACE_PARAM, PTX_SPACE_CONST,
	PTX_SPACE_GLOBAL, PTX_SPACE_SHARED, PTX_SPACE_LOCAL, PTX_SPACE_GENERIC
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
	PTX_SREGS
};

struct ptx_operand {
	uint8_t kind;		/* enum ptx_operand_kind */
	uint8_t space;		/* enum ptx_space, for ADDR and SYMBOL */
	bool negate;		/* predicates: !p */
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
};

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
	uint32_t target;	/* branches: index of the target instruction */
	uint32_t reconv;	/* branches: immediate post-dominator's first instruction, or ninsns = at exit */
	uint32_t line;		/* in the PTX text, from 1 */
};

struct ptx_reg {
	const char *name;
	uint8_t type;		/* enum ptx_type; PTX_PRED for predicates */
};

struct ptx_param {
	uint8_t type;		/* element type */
	uint32_t offset;	/* in the parameter buffer */
	uint32_t bytes;		/* whole parameter */
	uint32_t align;
};

/*
 * One .entry. Owned by its module. Params, shared and local variables are laid
 * out with absolute offsets; a basic block starts where leader[i] is set.
 */
struct ptx_kernel {
	const char *name;
	struct ptx_insn *insns;
	uint32_t ninsns;
	struct ptx_reg *regs;
	uint32_t nregs;		/* those the text uses, in the order of first use */
	struct ptx_param *params;
	uint32_t nparams, param_bytes;
	uint32_t shared_bytes;	/* static */
	uint32_t local_bytes;	/* a thread */
	uint32_t const_bytes;
	uint32_t regs_per_thread; /* 32-bit physical registers: most live at once, at least 1 */
	uint32_t max_threads;	/* .maxntid product, or 0 */
	uint32_t line;
	const char *module;	/* ptx_module_name(), for messages */
	const void *const_data;	/* const_bytes of initialised .const variables */
};

struct ptx_module;

/*
 * Parses `len` bytes. name is for messages ("vecadd.ptx"). On error returns
 * -EINVAL (not PTX), -EOPNOTSUPP (PTX that is not supported yet) or -ENOMEM, and
 * err reads "NAME:LINE: reason: `instruction text`". Never reads past len.
 */
int ptx_module_parse(const char *text, size_t len, const char *name,
		     struct ptx_module **module, struct err *err);
void ptx_module_free(struct ptx_module *module);

const char *ptx_module_name(const struct ptx_module *module);
const struct ptx_kernel *ptx_module_kernel(const struct ptx_module *module,
					   const char *name);
/* n-th kernel in the text's order, NULL past the end. */
const struct ptx_kernel *ptx_module_kernel_at(const struct ptx_module *module,
					      unsigned int n);

const char *ptx_opcode_name(enum ptx_opcode op);

#endif
