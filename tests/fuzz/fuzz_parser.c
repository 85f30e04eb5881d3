// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer's view of what happens to a PTX text that a user hands in: parsed,
 * linked, allocated under several limits, bound, and run a little. Any bytes must
 * be taken or refused with a message; what is taken must be sound (check_kernel).
 * Built by scripts/mk/fuzz.mk; tests/check.d/43-fuzz.sh and `make fuzz-parser` run it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/exec.h"
#include "ptx/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

#define DEMAND(what) \
	do { \
		if (!(what)) { \
			fprintf(stderr, "unsound: %s (line %d)\n", #what, __LINE__); \
			abort(); \
		} \
	} while (0)

/* --- what a parsed kernel promises (ptx/ptx.h) --------------------------------------- */

static void check_operand(const struct ptx_kernel *kernel, const struct ptx_operand *op)
{
	switch (op->kind) {
	case PTX_OPND_REG:
		DEMAND(op->reg < kernel->nregs);
		break;
	case PTX_OPND_ADDR:
		DEMAND(op->reg == PTX_NO_REG || op->reg < kernel->nregs);
		break;
	case PTX_OPND_SREG:
		DEMAND(op->value < PTX_SREGS);
		break;
	default:
		DEMAND(op->kind <= PTX_OPND_SYMBOL);
	}
}

static void check_insn(const struct ptx_kernel *kernel, const struct ptx_insn *insn)
{
	uint32_t i;

	DEMAND(insn->opcode < PTX_OPCODES);
	DEMAND(insn->cls < PTX_CLASSES);
	DEMAND(insn->ndst <= PTX_MAX_DST && insn->nsrc <= PTX_MAX_SRC);
	DEMAND(insn->guard == PTX_NO_REG || insn->guard < kernel->nregs);
	DEMAND(insn->line);
	for (i = 0; i < insn->ndst; i++)
		check_operand(kernel, &insn->dst[i]);
	for (i = 0; i < insn->nsrc; i++)
		check_operand(kernel, &insn->src[i]);
	if (insn->opcode == PTX_OP_bra) {
		DEMAND(insn->target < kernel->ninsns);
		DEMAND(insn->reconv <= kernel->ninsns);
	}
	if (insn->opcode == PTX_OP_brx)
		DEMAND(insn->target < kernel->ntables);
	if (insn->opcode == PTX_OP_call)
		DEMAND(insn->target < kernel->ncalls);
}

static void check_registers(const struct ptx_kernel *kernel, uint32_t limit)
{
	uint32_t i, bytes;

	DEMAND(kernel->regs_per_thread >= 1);
	DEMAND(kernel->regs_per_thread <= limit);
	if (!kernel->phys)
		return;
	for (i = 0; i < kernel->nregs; i++) {
		if (kernel->phys[i] == PTX_NO_REG)
			continue;
		bytes = ptx_type_bytes(kernel->regs[i].type);
		if (kernel->regs[i].type == PTX_PRED) {
			DEMAND(kernel->phys[i] < kernel->preds_per_thread);
		} else {
			DEMAND(kernel->phys[i] + (bytes > 4) < kernel->regs_per_thread);
			DEMAND(bytes <= 4 || kernel->phys[i] % 2 == 0);
		}
	}
}

static void check_kernel(const struct ptx_kernel *kernel, uint32_t limit)
{
	uint32_t i, j;

	DEMAND(kernel->ninsns && kernel->nfunctions);
	DEMAND(kernel->functions[0].first == 0);
	DEMAND(kernel->functions[kernel->nfunctions - 1].end == kernel->ninsns);
	for (i = 1; i < kernel->nfunctions; i++)
		DEMAND(kernel->functions[i].first == kernel->functions[i - 1].end);
	for (i = 0; i < kernel->ninsns; i++)
		check_insn(kernel, &kernel->insns[i]);
	for (i = 0; i < kernel->ntables; i++) {
		for (j = 0; j < kernel->tables[i].count; j++)
			DEMAND(kernel->tables[i].targets[j] < kernel->ninsns);
	}
	for (i = 0; i < kernel->ncalls; i++) {
		const struct ptx_call *call = &kernel->calls[i];

		if (call->builtin)
			continue;
		DEMAND(call->function < kernel->nfunctions);
		DEMAND(call->nargs == kernel->functions[call->function].nformals);
		DEMAND(call->nresults == kernel->functions[call->function].nresults);
	}
	check_registers(kernel, limit);
}

/* --- running ---------------------------------------------------------------------------- */

static uint32_t asked;

static bool stop_soon(void *ctx)
{
	return ++asked > 1;
}

/* A CTA of a warp and a bit. Most texts touch memory they do not have: that must be an error. */
static void run(const struct exec_program *program)
{
	const struct ptx_kernel *kernel = exec_program_kernel(program);
	static _Alignas(64) uint8_t memory[4096];
	struct exec_range range = { 0x10000, sizeof(memory), memory };
	uint8_t *params = calloc(1, kernel->param_bytes + 1);
	struct exec_launch launch = {
		.program = program, .grid = { 1, 1, 1 }, .block = { 40, 1, 1 },
		.dynamic_shared = 64, .params = params,
	};
	struct exec_grid grid = {
		.launch = &launch, .ranges = &range, .nranges = 1, .stop = stop_soon,
	};
	struct err err = { 0 };
	uint32_t i;

	if (!params)
		return;
	memset(memory, 0, sizeof(memory));
	/* Pointers to the memory, and small numbers. */
	for (i = 0; i + 8 <= kernel->param_bytes; i += 8)
		memcpy(params + i, &(uint64_t){ i % 16 ? 3 : 0x10100 }, 8);
	asked = 0;
	if (exec_grid_run(&grid, &err) && asked <= 1)
		DEMAND(*err.text);
	free(params);
}

static int parse(const uint8_t *data, size_t size, uint32_t maxregs, bool run_it)
{
	struct ptx_options options = { .maxregs = maxregs };
	const struct ptx_kernel *kernel;
	struct exec_program *program;
	struct ptx_module *module;
	struct err err = { 0 };
	unsigned int i;
	int ret;

	ret = ptx_module_parse_with((const char *)data, size, "t.ptx", &options, &module, &err);
	if (ret) {
		DEMAND(ret == -EINVAL || ret == -EOPNOTSUPP || ret == -ENOMEM);
		DEMAND(!strncmp(err.text, "t.ptx:", 6) && !strchr(err.text, '\n'));
		/* 16 registers are enough for any instruction: see refused_ptx.txt. */
		DEMAND(strchr(err.text, '`') || !strstr(err.text, "needs more at once"));
		return ret;
	}
	ptx_module_place(module, 0x10000);
	for (i = 0; (kernel = ptx_module_kernel_at(module, i)); i++) {
		check_kernel(kernel, maxregs ? maxregs : PTX_MAX_MAXREGS);
		ret = exec_program_create(kernel, &program, &err);
		if (ret) {
			DEMAND(ret == -EOPNOTSUPP || ret == -ENOMEM || ret == -EINVAL);
			DEMAND(!strncmp(err.text, "t.ptx:", 6));
			continue;
		}
		if (run_it)
			run(program);
		exec_program_free(program);
	}
	ptx_module_free(module);
	return 0;
}

/* The test of the test: FUZZ_HARM says what to do with the next text. */
static void do_harm(const char *harm)
{
	static void *volatile lost;

	if (!strcmp(harm, "abort"))
		abort();
	while (!strcmp(harm, "hang"))
		lost = NULL;
	if (!strcmp(harm, "leak")) {
		lost = malloc(100);
		lost = NULL;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *harm = getenv("FUZZ_HARM");
	/* A block of its own, so that a read past the end is seen. */
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		return 0;
	if (harm)
		do_harm(harm);
	memcpy(copy, data, size);
	if (!parse(copy, size, 0, true)) {
		parse(copy, size, 16, true);
		parse(copy, size, 24, false);
	}
	free(copy);
	return 0;
}

/* --- changes that keep a text nearly PTX -------------------------------------------------- */

static uint32_t pick(uint64_t *seed, size_t n)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return n ? (*seed >> 33) % n : 0;
}

static bool word(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '%' || c == '_' || c == '.' || c == '$' || c == ':';
}

/* Pieces of a text: a line, a word, an element of a list with the comma before it. */
enum piece_kind { LINE, WORD, ELEMENT, PIECE_KINDS };

static void find_piece(const uint8_t *data, size_t size, uint64_t *seed, enum piece_kind kind,
		       size_t *at, size_t *len)
{
	size_t from = pick(seed, size), to, tries;

	for (tries = 0; kind == ELEMENT && data[from] != ',' && tries < 64; tries++)
		from = from + 1 < size ? from + 1 : 0;
	while (kind != ELEMENT && from &&
	       !(kind == LINE ? data[from - 1] == '\n' : !word(data[from - 1])))
		from--;
	to = from;
	if (kind == ELEMENT) {
		for (to++; to < size && data[to] == ' '; to++)
			;
	}
	for (; to < size && (kind == LINE ? data[to] != '\n' : word(data[to])); to++)
		;
	*at = from;
	*len = to - from + (kind == LINE && to < size);
}

/* Replaces `cut` bytes at `at` by the `len` bytes of `piece`. */
static size_t splice(uint8_t *data, size_t size, size_t max_size, size_t at, size_t cut,
		     const uint8_t *piece, size_t len)
{
	if (size - cut + len > max_size)
		return size;
	memmove(data + at + len, data + at + cut, size - at - cut);
	memcpy(data + at, piece, len);
	return size - cut + len;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed_in)
{
	size_t from, len, at, cut;
	uint64_t seed = seed_in;
	enum piece_kind kind;
	uint8_t piece[512];
	int edits, times;

	if (size < 16 || !pick(&seed, 3))
		return LLVMFuzzerMutate(data, size, max_size);
	for (edits = 1 + pick(&seed, 3); edits; edits--) {
		kind = pick(&seed, PIECE_KINDS);
		find_piece(data, size, &seed, kind, &from, &len);
		len = MIN(len, sizeof(piece));
		memcpy(piece, data + from, len);
		find_piece(data, size, &seed, kind, &at, &cut);
		switch (pick(&seed, 4)) {
		case 0:	/* one more of it, or several */
			for (times = pick(&seed, 4) ? 1 : pick(&seed, 9); times; times--)
				size = splice(data, size, max_size, at, 0, piece, len);
			break;
		case 1:	/* gone */
			size = splice(data, size, max_size, at, cut, piece, 0);
			break;
		default: /* that for this */
			size = splice(data, size, max_size, at, cut, piece, len);
			break;
		}
		if (size < 16)
			break;
	}
	return size;
}
