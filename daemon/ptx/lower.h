/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What lower.c and lower_call.c share: a function's instructions while they are
 * written anew. Nobody else includes it.
 */
#ifndef GPUEMU_PTX_LOWER_H
#define GPUEMU_PTX_LOWER_H

#include "ptx/parser.h"

struct lowering {
	struct parser *p;
	struct function *f;
	struct ptx_insn *out;
	uint32_t nout, out_cap, regs_cap;
	struct var_use *uses;
	uint32_t nuses, uses_cap;
	uint32_t *map;		/* by old instruction, and one past: the new one */
};

/* lower.c. A new instruction with the guard and line of another. */
int emit(struct lowering *l, const struct ptx_insn *like, uint16_t opcode, enum ptx_type type,
	 struct ptx_insn **out);
/* The unsigned or signed type of so many bytes. */
enum ptx_type integer(uint32_t bytes, bool is_signed);
uint32_t reg_bytes(const struct lowering *l, uint32_t reg);
/* A register for a piece. */
int new_piece(struct lowering *l, struct param *param, struct piece *piece);
struct piece *piece_at(struct param *param, uint64_t offset);
/* reg = the piece's first bytes, as a load of `type` gives them. */
int read_piece(struct lowering *l, const struct ptx_insn *like, uint32_t reg, enum ptx_type type,
	       const struct piece *piece);
int write_piece(struct lowering *l, const struct ptx_insn *like, const struct piece *piece,
		const struct ptx_operand *op);
/* A load or store of a whole parameter in the frame: the function's, or the callee's. */
int frame_access(struct lowering *l, const struct ptx_insn *like, const struct param *param,
		 bool is_store, bool callee, const struct ptx_operand *value);

/* lower_call.c. Checks a call, and gives registers to what it passes; before all instructions. */
int lower_prepare(struct lowering *l, struct call_site *site);
int lower_call(struct lowering *l, uint32_t insn);

#endif
