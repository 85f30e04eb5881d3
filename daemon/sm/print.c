// SPDX-License-Identifier: GPL-2.0
/*
 * What kernels print. SMs run apart from one another, so text is kept with its
 * cycle until the GPU asks for it (sm_perform()), in one order for all SMs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sm/internal.h"

/* Text of the CTA that is the context; from exec_step(). */
void sm_print_text(void *ctx, const char *text, size_t bytes)
{
	struct sm_cta *cta = ctx;
	struct sm *sm = cta->sm;

	if (array_reserve(sm->text, sm->text_size, sm->text_used + bytes) ||
	    array_grow(sm->texts, sm->texts_size, sm->texts_used))
		goto fail;
	memcpy(sm->text + sm->text_used, text, bytes);
	sm->texts[sm->texts_used++] = (struct sm_text){
		.cycle = sm->now, .launch = cta->kernel->launch,
		.bytes = (uint32_t)bytes, .at = (uint32_t)sm->text_used,
	};
	sm->text_used += bytes;
	return;
fail:
	err_set(sm->env.err, 0, "out of memory");
	sm_fail(sm, -ENOMEM, 0, cta->kernel);
}

uint64_t sm_print_next(const struct sm *sm)
{
	return sm->texts_told < sm->texts_used ? sm->texts[sm->texts_told].cycle : NEVER;
}

void sm_print_perform(struct sm *sm, uint64_t cycle)
{
	while (sm_print_next(sm) <= cycle) {
		const struct sm_text *t = &sm->texts[sm->texts_told++];

		t->launch->print(t->launch->print_ctx, sm->text + t->at, t->bytes);
	}
	if (sm->texts_told < sm->texts_used)
		return;
	sm->texts_told = sm->texts_used = 0;
	sm->text_used = 0;
}
