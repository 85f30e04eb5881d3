// SPDX-License-Identifier: GPL-2.0
/*
 * What kernels print. SMs run apart from one another, so text is kept with its
 * cycle until the GPU asks for it (sm_perform()), in one order for all SMs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sm/state.h"

/* Text of the CTA that is the context; from exec_step(). */
void sm_print_text(void *ctx, const char *text, size_t bytes)
{
	struct sm_cta *cta = ctx;
	struct sm *sm = cta->sm;
	struct print *p = &sm->print;

	if (array_reserve(p->text, p->text_size, p->text_used + bytes) ||
	    array_grow(p->texts, p->texts_size, p->texts_used))
		goto fail;
	memcpy(p->text + p->text_used, text, bytes);
	p->texts[p->texts_used++] = (struct sm_text){
		.cycle = sm->now, .launch = cta->kernel->launch,
		.bytes = (uint32_t)bytes, .at = (uint32_t)p->text_used,
	};
	p->text_used += bytes;
	return;
fail:
	err_set(sm->env.err, 0, "out of memory");
	sm_fail(sm, -ENOMEM, 0, cta->kernel);
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

		t->launch->print(t->launch->print_ctx, p->text + t->at, t->bytes);
	}
	if (p->texts_told < p->texts_used)
		return;
	p->texts_told = p->texts_used = 0;
	p->text_used = 0;
}
