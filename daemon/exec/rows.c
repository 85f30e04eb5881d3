// SPDX-License-Identifier: GPL-2.0
/*
 * Rows of a warp's arena, as the program that is being bound asks for them: a new one, that of a
 * constant, of a special register, of the frame. Each is made when it is first asked for.
 */
#include <errno.h>
#include <stdlib.h>

#include "exec/private.h"

/* Offset 0 is the row of NO_ROW: only results that do not matter are written there, none is read. */
uint32_t new_row(struct exec_program *program, uint32_t bytes)
{
	uint32_t row = program->arena_bytes;

	if (program->arena_bytes <= MAX_ARENA)
		program->arena_bytes += bytes;
	return row;
}

uint32_t scratch_row(struct exec_program *program)
{
	if (program->scratch_row == NO_ROW) {
		program->arena_bytes = (program->arena_bytes + 63) & ~63u;
		program->scratch_row = new_row(program, SEQ_MAX * ROW8);
	}
	return program->scratch_row;
}

uint32_t frame_row(struct exec_program *program)
{
	if (program->frame_row == NO_ROW)
		program->frame_row = new_row(program, ROW8);
	return program->frame_row;
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
