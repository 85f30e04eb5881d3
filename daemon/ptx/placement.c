// SPDX-License-Identifier: GPL-2.0
/*
 * Which parameters of functions are registers. A parameter that its function
 * and all its callers read and write as whole scalars at consistent offsets is
 * one register a scalar; any other one is memory in the function's frame. Called
 * once the text has ended; lower.c then rewrites the instructions.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/parser.h"

static void merge(struct param *formal, const struct call_value *value, bool stored)
{
	const struct param *var = value->param;
	uint32_t i;

	if (!var) {
		if (value->op.kind)
			note_access(formal, 0, formal->bytes, stored);
		return;
	}
	formal->memory |= var->memory;
	for (i = 0; i < var->npieces; i++)
		note_access(formal, var->pieces[i].offset, var->pieces[i].bytes,
			    var->pieces[i].stored);
}

/* A call of another number of values than the function has is an error when it is lowered. */
static void merge_site(const struct call_site *site)
{
	const struct function *f = site->callee;
	uint32_t i;

	for (i = 0; i < MIN(site->nargs, f->nformals); i++)
		merge(f->formals[i], &site->args[i], true);
	for (i = 0; i < MIN(site->nresults, f->nresults); i++)
		merge(f->results[i], &site->results[i], false);
}

static int by_offset(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return y->bytes - x->bytes;
}

/*
 * Leaves the pieces that are registers. A part of one may be read from its
 * beginning; other overlaps make it memory.
 */
static void decide(struct param *param, uint32_t *words)
{
	uint32_t i, n = 0, end = 0, need = 0;

	qsort(param->pieces, param->npieces, sizeof(*param->pieces), by_offset);
	for (i = 0; i < param->npieces; i++) {
		struct piece *piece = &param->pieces[i];

		if (n && piece->offset == param->pieces[n - 1].offset) {
			param->memory |= piece->stored;
			continue;
		}
		param->memory |= piece->offset < end ||
			(piece->bytes != 1 && piece->bytes != 2 && piece->bytes != 4 &&
			 piece->bytes != 8);
		end = piece->offset + piece->bytes;
		need += piece->bytes > 4 ? 2 : 1;
		param->pieces[n++] = *piece;
	}
	param->npieces = n;
	param->memory |= need > *words;
	if (param->memory)
		param->npieces = 0;
	else
		*words -= need;
}

static int place(struct parser *p, struct function *f, struct param *param)
{
	uint32_t align = MIN(MAX(param->align, 1u), 16u);
	uint64_t offset = (f->body.local_bytes + align - 1) & ~(uint64_t)(align - 1);
	char text[200];

	if (!param->memory)
		return 0;
	if (offset + param->bytes <= PTX_MAX_LOCAL) {
		param->frame_offset = offset;
		f->body.local_bytes = offset + param->bytes;
		return 0;
	}
	snprintf(text, sizeof(text), "%s:%u: not supported: local memory of function '%.80s' (more than %u bytes)",
		 p->module->name, f->body.line, f->body.name, PTX_MAX_LOCAL);
	f->refusal = slab_strndup(&p->scratch, text, strlen(text));
	return f->refusal ? 0 : no_memory(p);
}

static int place_function(struct parser *p, struct function *f)
{
	uint32_t words = PTX_MAX_WORDS, i;
	int ret = 0;

	for (i = 0; !ret && i < f->nformals; i++) {
		decide(f->formals[i], &words);
		ret = place(p, f, f->formals[i]);
	}
	words = PTX_MAX_WORDS;
	for (i = 0; !ret && i < f->nresults; i++) {
		decide(f->results[i], &words);
		ret = place(p, f, f->results[i]);
	}
	return ret;
}

int place_params(struct parser *p)
{
	uint32_t i, j;
	int ret = 0;

	for (i = 0; i < p->nfunctions; i++) {
		struct function *f = p->functions[i];

		for (j = 0; j < f->ncalls; j++) {
			if (f->calls[j]->callee->definition)
				f->calls[j]->callee = f->calls[j]->callee->definition;
			merge_site(f->calls[j]);
		}
	}
	for (i = 0; !ret && i < p->nfunctions; i++)
		ret = place_function(p, p->functions[i]);
	return ret;
}
