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

static bool is_wide(const struct ptx_reg *reg)
{
	return ptx_type_bytes(reg->type) > 4;
}

/* A row a virtual register: kernels that are not allocated. */
static void lay_out_virtual(struct exec_program *program)
{
	const struct ptx_kernel *kernel = program->kernel;
	uint32_t i;

	for (i = 0; i < kernel->nregs; i++) {
		if (kernel->regs[i].type != PTX_PRED)
			program->reg_row[i] = new_row(program,
				is_wide(&kernel->regs[i]) ? ROW8 : ROW4);
	}
	for (i = 0; i < kernel->nregs; i++) {
		if (kernel->regs[i].type == PTX_PRED)
			program->reg_row[i] = new_row(program, 4);
	}
}

/*
 * A row a physical register, and one a pair: lanes that have diverged may hold a
 * pair where others hold two single ones. A register that is never live has no
 * row: what is written to it goes where nobody reads.
 */
static void lay_out_physical(struct exec_program *program)
{
	const struct ptx_kernel *kernel = program->kernel;
	uint32_t rows4 = 0, rows8 = 0, preds = 0, i, at4, at8, at;

	for (i = 0; i < kernel->nregs; i++) {
		uint32_t phys = kernel->phys[i];

		if (phys == PTX_NO_REG)
			continue;
		if (kernel->regs[i].type == PTX_PRED)
			preds = MAX(preds, phys + 1);
		else if (is_wide(&kernel->regs[i]))
			rows8 = MAX(rows8, phys / 2 + 1);
		else
			rows4 = MAX(rows4, phys + 1);
	}
	at4 = new_row(program, rows4 * ROW4);
	at8 = new_row(program, rows8 * ROW8);
	at = new_row(program, preds * 4);
	for (i = 0; i < kernel->nregs; i++) {
		uint32_t phys = kernel->phys[i];

		if (phys == PTX_NO_REG)
			continue;
		if (kernel->regs[i].type == PTX_PRED)
			program->reg_row[i] = at + phys * 4;
		else if (is_wide(&kernel->regs[i]))
			program->reg_row[i] = at8 + phys / 2 * ROW8;
		else
			program->reg_row[i] = at4 + phys * ROW4;
	}
}

static void align_rows(struct exec_program *program)
{
	program->arena_bytes = (program->arena_bytes + 63) & ~63u;
}

static int lay_out_registers(struct exec_program *program)
{
	program->reg_row = calloc(program->kernel->nregs + 1, sizeof(*program->reg_row));
	if (!program->reg_row)
		return -ENOMEM;
	new_row(program, ROW8);
	if (program->kernel->phys)
		lay_out_physical(program);
	else
		lay_out_virtual(program);
	align_rows(program);
	program->clear_bytes = program->arena_bytes;
	return 0;
}

/* The stack and the frames are behind the rows: a warp starts without writing to them. */
static void lay_out_stack(struct exec_program *program)
{
	uint32_t calls = program->kernel->max_calls;

	align_rows(program);
	program->stack_entries = STACK_ENTRIES + calls;
	program->stack_at = new_row(program, program->stack_entries *
				    sizeof(struct exec_stack_entry));
	align_rows(program);
	program->frames_at = new_row(program, calls * sizeof(struct exec_frame));
	align_rows(program);
}

static void add_read(struct exec_info *info, uint32_t reg)
{
	if (reg != PTX_NO_REG && info->nread < EXEC_MAX_REGS)
		info->read[info->nread++] = reg;
}

static void add_write(struct exec_info *info, uint32_t reg)
{
	if (reg != PTX_NO_REG && info->nwrite < EXEC_MAX_REGS)
		info->write[info->nwrite++] = reg;
}

/*
 * A call reads the arguments and writes the formals. The results are written at
 * the ret, for which the caller's registers are not known: the call has them, early.
 */
static void fill_call_info(const struct ptx_kernel *kernel, const struct ptx_call *call,
			   struct exec_info *info)
{
	uint32_t i;

	for (i = 0; i < call->nargs; i++) {
		if (call->args[i].kind == PTX_OPND_REG)
			add_read(info, call->args[i].reg);
	}
	for (i = 0; i < call->nresults; i++)
		add_write(info, call->results[i]);
	if (call->builtin != PTX_BUILTIN_NONE)
		return;
	for (i = 0; i < kernel->functions[call->function].nformals; i++)
		add_write(info, kernel->functions[call->function].formals[i]);
}

static void fill_ret_info(const struct ptx_kernel *kernel, uint32_t pc, struct exec_info *info)
{
	uint32_t function = function_at(kernel, pc), i;

	for (i = 0; function && i < kernel->functions[function].nresults; i++)
		add_read(info, kernel->functions[function].results[i]);
}

static void fill_info(const struct ptx_kernel *kernel, uint32_t pc, struct exec_info *info)
{
	const struct ptx_insn *insn = &kernel->insns[pc];
	uint32_t i;

	info->cls = insn->cls;
	info->space = insn->space;
	info->is_store = insn->opcode == PTX_OP_st;
	info->is_atomic = insn->opcode == PTX_OP_atom || insn->opcode == PTX_OP_red;
	info->is_branch = insn->opcode == PTX_OP_bra || insn->opcode == PTX_OP_brx ||
			  insn->cls == PTX_CLASS_CALL;
	add_read(info, insn->guard);
	for (i = 0; i < insn->nsrc; i++) {
		if (insn->src[i].kind == PTX_OPND_REG || insn->src[i].kind == PTX_OPND_ADDR)
			add_read(info, insn->src[i].reg);
	}
	for (i = 0; i < insn->ndst; i++) {
		if (insn->dst[i].kind == PTX_OPND_REG)
			add_write(info, insn->dst[i].reg);
	}
	if (insn->opcode == PTX_OP_call)
		fill_call_info(kernel, &kernel->calls[insn->target], info);
	else if (insn->opcode == PTX_OP_ret)
		fill_ret_info(kernel, pc, info);
}

/* --- straight runs -------------------------------------------------------------------- */

static void mark(uint8_t *leader, const struct ptx_kernel *kernel, uint32_t pc)
{
	if (pc < kernel->ninsns)
		leader[pc] = 1;
}

/*
 * How many instructions from each one on run one after the other whatever the
 * lanes do: up to the next that moves the pc, or where a branch leads, or where
 * lanes meet again, or wait for each other.
 */
static int find_runs(struct exec_program *program)
{
	const struct ptx_kernel *kernel = program->kernel;
	uint8_t *leader = calloc(kernel->ninsns + 1, 1);
	uint32_t i, k, run;

	if (!leader)
		return -ENOMEM;
	for (i = 0; i < kernel->ninsns; i++) {
		const struct exec_op *op = &program->ops[i];

		if (op->kind == OP_BRANCH)
			mark(leader, kernel, op->target);
		if (op->sync >= SYNC_MEMBERS)
			mark(leader, kernel, i);
		if (op->kind == OP_BRX) {
			for (k = 0; k < kernel->tables[op->target].count; k++)
				mark(leader, kernel, kernel->tables[op->target].targets[k]);
		}
		if (op->kind == OP_BRANCH || op->kind == OP_BRX)
			mark(leader, kernel, op->reconv);
	}
	for (i = 1; i < kernel->nfunctions; i++)
		mark(leader, kernel, kernel->functions[i].first);
	program->ops[kernel->ninsns].leader = 1;
	for (i = kernel->ninsns, run = 0; i-- > 0;) {
		run = program->ops[i].kind >= OP_BRANCH ? 0 :
		      leader[i + 1] ? 1 : run + 1;
		program->ops[i].run = run;
		program->ops[i].leader = leader[i];
		program->ops[i].plain = program->ops[i].kind == OP_LANES &&
					program->ops[i].guard == NO_ROW && !program->ops[i].fresh &&
					!program->ops[i].skip;
	}
	free(leader);
	return 0;
}

/* The registers that lanes read of each other, each once. */
static int list_shuffled(struct exec_program *program)
{
	const struct ptx_kernel *kernel = program->kernel;
	uint32_t i, k, n = 0;

	for (i = 0; i < kernel->ninsns; i++)
		n += kernel->insns[i].opcode == PTX_OP_shfl;
	program->shuffled = n ? calloc(n, sizeof(*program->shuffled)) : NULL;
	if (n && !program->shuffled)
		return -ENOMEM;
	for (i = 0; i < kernel->ninsns; i++) {
		const struct ptx_operand *src = &kernel->insns[i].src[0];

		if (kernel->insns[i].opcode != PTX_OP_shfl || src->kind != PTX_OPND_REG)
			continue;
		for (k = 0; k < program->nshuffled; k++) {
			if (program->shuffled[k] == program->reg_row[src->reg])
				break;
		}
		program->shuffled[k] = program->reg_row[src->reg];
		program->nshuffled = MAX(program->nshuffled, k + 1);
	}
	return 0;
}

static const struct lane_table *best_lanes(void)
{
#ifdef __x86_64__
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
		return &lanes_avx512;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	    __builtin_cpu_supports("bmi2"))
		return &lanes_avx2;
#endif
	return &lanes_portable;
}

const char *exec_lanes_name(void)
{
	return best_lanes()->name;
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
	program->table = table;
	if (kernel->nregs > UINT16_MAX) {
		ret = err_set(err, -EOPNOTSUPP,
			      "%s:%u: not supported: kernel '%s' has %u registers (65535 at most)",
			      kernel->module, kernel->line, kernel->name, kernel->nregs);
		goto out;
	}
	/* One more: behind the last instruction is where lanes meet that have nothing left. */
	program->ops = calloc(kernel->ninsns + 1, sizeof(*program->ops));
	program->info = calloc(kernel->ninsns, sizeof(*program->info));
	if (!program->ops || !program->info || lay_out_registers(program) || hoist(program))
		goto out_memory;
	for (i = 0; i < kernel->ninsns; i++) {
		fill_info(kernel, i, &program->info[i]);
		ret = bind_machine(program, table, i, err);
		if (ret > 0)
			ret = bind_insn(program, table, i, err);
		if (ret == -ENOMEM)
			goto out_memory;
		if (ret)
			goto out;
	}
	if (list_shuffled(program))
		goto out_memory;
	/* The table moved while it grew; operations point into it only now. */
	for (i = 0; i < kernel->ninsns; i++) {
		if (program->ops[i].fn == sequence_run)
			program->ops[i].seq = &program->seqs[program->ops[i].offset];
	}
	lay_out_stack(program);
	if (program->arena_bytes > MAX_ARENA) {
		ret = err_set(err, -EOPNOTSUPP,
			      "%s:%u: not supported: kernel '%s' needs more than %u bytes of registers a warp",
			      kernel->module, kernel->line, kernel->name, MAX_ARENA);
		goto out;
	}
	if (find_runs(program))
		goto out_memory;
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
	free(program->shuffled);
	free(program->consts);
	free(program->params);
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
