// SPDX-License-Identifier: GPL-2.0
/*
 * Makes an SM: with the mechanism of its specification, where its owner has no other, and of the
 * build that is wide enough for the warps that it knows by number. Compiled once.
 */
#include <errno.h>

#include "sm/build.h"
#include "sm/sm.h"

/* Sets of 64 are enough for so many warps. */
#define NARROW_WARPS	64u

int narrow_sm_make(unsigned int id, const struct sm_env *env, const struct sm_numbers *numbers,
		   struct sm **sm);
int wide_sm_make(unsigned int id, const struct sm_env *env, const struct sm_numbers *numbers,
		 struct sm **sm);
void narrow_sm_destroy(struct sm *sm);
void wide_sm_destroy(struct sm *sm);

int sm_create(unsigned int id, const struct sm_env *env, struct sm **sm)
{
	struct sm_env with = *env;
	struct sm_numbers n;

	if (!with.mechanism)
		with.mechanism = sm_mechanism_find(env->spec->cta);
	if (!with.mechanism)
		return -EINVAL;
	sm_numbers(env->spec, &n.warps, &n.ctas);
	sm_slots(env->spec, &n.warp_slots, &n.cta_slots);
	return n.warps > NARROW_WARPS ? wide_sm_make(id, &with, &n, sm) :
					narrow_sm_make(id, &with, &n, sm);
}

void sm_destroy(struct sm *sm)
{
	if (!sm)
		return;
	if (((const struct sm_base *)sm)->wide)
		wide_sm_destroy(sm);
	else
		narrow_sm_destroy(sm);
}
