// SPDX-License-Identifier: GPL-2.0
/*
 * What kernels print. SMs run apart from one another, so text is kept with its
 * cycle until the GPU asks for it (sm_perform()), in one order for all SMs. Strings in global
 * memory are read then; what was stored before and is not there yet goes with them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sm/state.h"

static void no_memory(struct sm_cta *cta)
{
	struct sm *sm = cta->sm;

	err_set(sm->env.err, 0, "out of memory");
	sm_fail(sm, -ENOMEM, 0, cta->kernel);
}

/* Room for a text of the CTA in this cycle; NULL: the SM fails. */
static char *add(struct sm_cta *cta, size_t bytes, bool string)
{
	struct sm *sm = cta->sm;
	struct print *p = &sm->print;
	char *to;

	if (array_reserve(p->text, p->text_size, p->text_used + bytes) ||
	    array_grow(p->texts, p->texts_size, p->texts_used)) {
		no_memory(cta);
		return NULL;
	}
	to = p->text + p->text_used;
	p->texts[p->texts_used++] = (struct sm_text){
		.cycle = sm->now, .launch = cta->kernel->launch,
		.bytes = (uint32_t)bytes, .at = (uint32_t)p->text_used, .string = string,
	};
	p->text_used += bytes;
	return to;
}

/* Text of the CTA that is the context; from exec_step(). */
void sm_print_text(void *ctx, const char *text, size_t bytes)
{
	char *to = add(ctx, bytes, false);

	if (to)
		memcpy(to, text, bytes);
}

#define NEAR	65536u		/* a string whose end is farther is not being written */

/* Stores of the SM that came before it may wait for a page still. */
void sm_print_string(void *ctx, const struct exec_string *string)
{
	struct sm_cta *cta = ctx;
	uint32_t n;
	struct exec_stored *stored = ldst_stored(cta->sm, string->addr, NEAR, &n);
	size_t bytes = n * sizeof(*stored);
	char *to;

	if (n && !stored) {
		no_memory(cta);
		return;
	}
	to = add(cta, sizeof(*string) + bytes, true);
	if (to) {
		memcpy(to, string, sizeof(*string));
		if (n)
			memcpy(to + sizeof(*string), stored, bytes);
	}
	free(stored);
}

static void tell_string(const struct print *p, const struct sm_text *t)
{
	const size_t bytes = t->bytes - sizeof(struct exec_string);
	struct exec_stored *stored = NULL;
	struct exec_string string;

	memcpy(&string, p->text + t->at, sizeof(string));
	/* Texts are not aligned. */
	if (bytes)
		stored = malloc(bytes);
	if (stored) {
		memcpy(stored, p->text + t->at + sizeof(string), bytes);
		string.stored = stored;
		string.nstored = (uint32_t)(bytes / sizeof(*stored));
	}
	t->launch->print_string(t->launch->print_ctx, &string);
	free(stored);
}

uint64_t sm_print_next(const struct sm *sm)
{
	const struct print *p = &sm->print;

	return p->texts_told < p->texts_used ? p->texts[p->texts_told].cycle : NEVER;
}

void sm_print_perform(struct sm *sm, uint64_t cycle)
{
	struct print *p = &sm->print;

	while (sm_print_next(sm) <= cycle) {
		const struct sm_text *t = &p->texts[p->texts_told++];

		if (t->string)
			tell_string(p, t);
		else
			t->launch->print(t->launch->print_ctx, p->text + t->at, t->bytes);
	}
	if (p->texts_told < p->texts_used)
		return;
	p->texts_told = p->texts_used = 0;
	p->text_used = 0;
}
