// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel bound to functions: the layout of a warp's arena, the operations and
 * what the timing model asks of an instruction. Made once a kernel, then only
 * read, by any number of warps and threads. What an instruction binds to is in
 * bind.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exec/private.h"

/* A warp whose state is larger than this is no kernel a GPU could hold. */
#define MAX_ARENA	(8u << 20)

/* Offset 0 is the row of NO_ROW: written by nobody who matters, read by nobody. */
static uint32_t new_row(struct exec_program *program, uint32_t bytes)
{
	uint32_t row = program->arena_bytes;

	if (program->arena_bytes <= MAX_ARENA)
		program->arena_bytes += bytes;
	return row;
}

static int lay_out_registers(struct exec_program *program)
{
	const struct ptx_kernel *kernel = program->kernel;
	uint32_t i;

	program->reg_row = calloc(kernel->nregs + 1, sizeof(*program->reg_row));
	if (!program->reg_row)
		return -ENOMEM;
	new_row(program, ROW8);
	for (i = 0; i < kernel->nregs; i++) {
		if (kernel->regs[i].type != PTX_PRED)
			program->reg_row[i] = new_row(program,
				ptx_type_bytes(kernel->regs[i].type) > 4 ? ROW8 : ROW4);
	}
	for (i = 0; i < kernel->nregs; i++) {
		if (kernel->regs[i].type == PTX_PRED)
			program->reg_row[i] = new_row(program, 4);
	}
	program->arena_bytes = (program->arena_bytes + 63) & ~63u;
	program->scratch_row = new_row(program, SEQ_MAX * ROW8);
	return 0;
}

uint32_t sreg_row(struct exec_program *program, uint32_t sreg)
{
	if (program->sreg_row[sreg] == NO_ROW)
		program->sreg_row[sreg] = new_row(program, sreg_bytes(sreg) * WARP_LANES);
	return program->sreg_row[sreg];
}

/* Constants are found again by a table that grows with them; -ENOMEM is NO_ROW. */
static int grow_consts(struct exec_program *program)
{
	uint32_t cap = program->consts_cap ? 2 * program->consts_cap : 64, i, slot;
	struct exec_const *consts = calloc(cap, sizeof(*consts)), *old = program->consts;

	if (!consts)
		return -ENOMEM;
	for (i = 0; i < program->consts_cap; i++) {
		if (old[i].row == NO_ROW)
			continue;
		slot = (old[i].value * 0x9e3779b97f4a7c15ull) >> 40;
		while (consts[slot % cap].row != NO_ROW)
			slot++;
		consts[slot % cap] = old[i];
	}
	free(old);
	program->consts = consts;
	program->consts_cap = cap;
	return 0;
}

uint32_t const_row(struct exec_program *program, uint64_t value, uint8_t bytes)
{
	uint32_t slot = (value * 0x9e3779b97f4a7c15ull) >> 40;
	struct exec_const *entry;

	if (4 * (program->nconsts + 1) > 3 * program->consts_cap && grow_consts(program))
		return NO_ROW;
	for (;; slot++) {
		entry = &program->consts[slot % program->consts_cap];
		if (entry->row == NO_ROW)
			break;
		if (entry->value == value && entry->bytes == bytes)
			return entry->row;
	}
	entry->value = value;
	entry->bytes = bytes;
	entry->row = new_row(program, bytes ? bytes * WARP_LANES : 64);
	program->nconsts++;
	return entry->row;
}

static void add_read(struct exec_info *info, uint32_t reg)
{
	if (reg != PTX_NO_REG && info->nread < EXEC_MAX_REGS)
		info->read[info->nread++] = reg;
}

static void fill_info(const struct ptx_insn *insn, struct exec_info *info)
{
	uint32_t i;

	info->cls = insn->cls;
	info->space = insn->space;
	info->is_store = insn->opcode == PTX_OP_st;
	info->is_atomic = insn->opcode == PTX_OP_atom || insn->opcode == PTX_OP_red;
	info->is_branch = insn->opcode == PTX_OP_bra;
	add_read(info, insn->guard);
	for (i = 0; i < insn->nsrc; i++) {
		if (insn->src[i].kind == PTX_OPND_REG || insn->src[i].kind == PTX_OPND_ADDR)
			add_read(info, insn->src[i].reg);
	}
	for (i = 0; i < insn->ndst; i++) {
		if (insn->dst[i].kind == PTX_OPND_REG)
			info->write[info->nwrite++] = insn->dst[i].reg;
	}
}

static const struct lane_table *best_lanes(void)
{
#ifdef __x86_64__
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	    __builtin_cpu_supports("bmi2"))
		return &lanes_avx2;
#endif
	return &lanes_portable;
}

int exec_program_create(const struct ptx_kernel *kernel, struct exec_program **out,
			struct err *err)
{
	return program_create_with(kernel, best_lanes(), out, err);
}

int program_create_with(const struct ptx_kernel *kernel, const struct lane_table *table,
			struct exec_program **out, struct err *err)
{
	struct exec_program *program = calloc(1, sizeof(*program));
	int ret = -ENOMEM;
	uint32_t i;

	if (!program)
		return err_set(err, -ENOMEM, "%s: kernel '%s': out of memory", kernel->module,
			       kernel->name);
	program->kernel = kernel;
	if (kernel->nregs > UINT16_MAX) {
		ret = err_set(err, -EOPNOTSUPP,
			      "%s:%u: not supported: kernel '%s' has %u registers (65535 at most)",
			      kernel->module, kernel->line, kernel->name, kernel->nregs);
		goto out;
	}
	program->ops = calloc(kernel->ninsns, sizeof(*program->ops));
	program->info = calloc(kernel->ninsns, sizeof(*program->info));
	if (!program->ops || !program->info || lay_out_registers(program))
		goto out_memory;
	for (i = 0; i < kernel->ninsns; i++) {
		fill_info(&kernel->insns[i], &program->info[i]);
		ret = bind_insn(program, table, i, err);
		if (ret == -ENOMEM)
			goto out_memory;
		if (ret)
			goto out;
	}
	/* The table moved while it grew; operations point into it only now. */
	for (i = 0; i < kernel->ninsns; i++) {
		if (program->ops[i].fn == sequence_run)
			program->ops[i].seq = &program->seqs[program->ops[i].offset];
	}
	if (program->arena_bytes > MAX_ARENA) {
		ret = err_set(err, -EOPNOTSUPP,
			      "%s:%u: not supported: kernel '%s' needs more than %u bytes of registers a warp",
			      kernel->module, kernel->line, kernel->name, MAX_ARENA);
		goto out;
	}
	program->arena_bytes = (program->arena_bytes + 63) & ~63u;
	*out = program;
	return 0;

out_memory:
	ret = err_set(err, -ENOMEM, "%s: kernel '%s': out of memory", kernel->module,
		      kernel->name);
out:
	exec_program_free(program);
	return ret;
}

void exec_program_free(struct exec_program *program)
{
	if (!program)
		return;
	free(program->ops);
	free(program->info);
	free(program->seqs);
	free(program->reg_row);
	free(program->consts);
	free(program);
}

const struct ptx_kernel *exec_program_kernel(const struct exec_program *program)
{
	return program->kernel;
}

const struct exec_info *exec_program_info(const struct exec_program *program, uint32_t pc)
{
	return &program->info[pc];
}

uint32_t exec_program_nregs(const struct exec_program *program)
{
	return program->kernel->nregs;
}

size_t exec_program_arena_bytes(const struct exec_program *program)
{
	return program->arena_bytes;
}
