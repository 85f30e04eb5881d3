// SPDX-License-Identifier: GPL-2.0
/*
 * Entries of memory instructions that have lines, in chunks that never move. Called by what fills
 * them and by what is done with them: access.c, shared.c, ldst.c, perform.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "sm/ldst_internal.h"

static bool add_chunk(struct ldst *l)
{
	uint32_t first = l->nchunks * ENTRY_CHUNK;

	if (array_resize(l->chunks, l->nchunks + 1))
		return false;
	/* Waiters are linked into the gmmu: an entry never moves. */
	l->chunks[l->nchunks] = calloc(ENTRY_CHUNK, sizeof(**l->chunks));
	if (!l->chunks[l->nchunks])
		return false;
	l->nchunks++;
	for (uint32_t i = first + ENTRY_CHUNK; i-- > first; ) {
		entry_at(l, i)->next_free = l->free_entry;
		l->free_entry = i;
	}
	return true;
}

struct exec_access *ldst_access(struct sm *sm)
{
	struct ldst *l = sm->ldst;

	if (l->free_entry == NO_INDEX && !add_chunk(l))
		return NULL;
	return &entry_at(l, l->free_entry)->access;
}

struct exec_access *ldst_fetch(struct sm *sm)
{
	struct exec_access *a = ldst_access(sm);

	if (a && !a->texels)
		a->texels = exec_texels_create();
	return a && a->texels ? a : NULL;
}

static uint8_t kind_of(const struct sm_op *op)
{
	return op->atomic ? MEM_ATOMIC : op->store ? MEM_WRITE : MEM_READ;
}

struct access_entry *entry_claim(struct ldst *l, uint32_t index, const struct sm_inst *inst)
{
	struct access_entry *e = entry_at(l, l->free_entry);

	l->free_entry = e->next_free;
	l->used_entries++;
	e->used = true;
	e->inst = index;
	e->order = l->entries++;
	e->warp = inst->warp;
	e->kind = kind_of(inst->op);
	e->refs = 1;
	e->ngroups = 0;
	e->waiting = 0;
	e->looked_up = 0;
	e->direct = false;
	e->any_remote = false;
	return e;
}

void entry_put(struct ldst *l, uint32_t i)
{
	struct access_entry *e = entry_at(l, i);

	if (--e->refs)
		return;
	e->used = false;
	e->next_free = l->free_entry;
	l->free_entry = i;
	l->used_entries--;
}

unsigned int entry_sectors(const struct access_entry *e)
{
	unsigned int sectors = 0;

	for (unsigned int i = 0; i < e->nlines; i++)
		sectors += e->lines[i].bytes / MEM_SECTOR;
	return sectors;
}
