// SPDX-License-Identifier: GPL-2.0
/*
 * The table of mechanisms, from sm/cta.def, and how many CTAs and warps an SM knows by number
 * and can schedule.
 * Looked up by the SM and the kernel when they are made, by checks and by listings.
 */
#include <string.h>

#include "sm/cta/rows.h"

const struct sm_mechanism *const sm_mechanism_rows[] = {
#define X(name) &mechanism_##name,
#include "sm/cta.def"
#undef X
	NULL
};

const struct sm_mechanism *sm_mechanism_find(const char *name)
{
	for (unsigned int i = 0; sm_mechanism_rows[i]; i++) {
		if (!strcmp(sm_mechanism_rows[i]->name, name))
			return sm_mechanism_rows[i];
	}
	return NULL;
}

void sm_numbers(const struct gpu_spec *spec, unsigned int *warps, unsigned int *ctas)
{
	const struct sm_mechanism *m = sm_mechanism_find(spec->cta);
	uint64_t w = spec->virtual_warps, c = spec->virtual_ctas;

	if (!w)
		w = m ? m->warps : 0;
	if (!c)
		c = m ? m->ctas : 0;
	*warps = (unsigned int)MAX(w, spec->warps);
	/* A CTA has a warp at least. */
	*ctas = (unsigned int)MAX(c, spec->ctas);
}

void sm_slots(const struct gpu_spec *spec, unsigned int *warps, unsigned int *ctas)
{
	const struct sm_mechanism *m = sm_mechanism_find(spec->cta);

	*warps = (unsigned int)spec->warps;
	*ctas = (unsigned int)spec->ctas;
	if (m && m->slots_for_all)
		sm_numbers(spec, warps, ctas);
}
