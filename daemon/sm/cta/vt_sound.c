// SPDX-License-Identifier: GPL-2.0
/*
 * The counters of Virtual Thread's status table against a recount of its CTAs and of what the SM
 * says of them. Changes nothing. mechanism.c asks at the end of each cycle, where tests run.
 */
#include "sm/cta/vt.h"

/* What a CTA's state says of where it is, and the SM. */
static bool state_fits(const struct vt_cta *c, const struct sm_cta_view *view)
{
	switch ((enum vt_state)c->state) {
	case VT_ACTIVE:
		/* It counts as stalled while the SM's count of its stalled warps is that of all. */
		return (view->state == SM_CTA_ACTIVE || view->state == SM_CTA_RESTORING) &&
		       !view->outside && (!c->stalled || view->stalled == view->running);
	case VT_LEAVING:
		return view->state == SM_CTA_PARKING && !view->outside;
	case VT_OUTSIDE:
	case VT_OUTSIDE_READY:
		return view->state == SM_CTA_PARKED && view->outside;
	default:
		return view->state == SM_CTA_PARKED && !view->outside;
	}
}

static bool same(const struct vt *v, const struct vt *counted)
{
	return v->leaving == counted->leaving && v->ready == counted->ready &&
	       v->resident == counted->resident && v->warps == counted->warps &&
	       v->shared == counted->shared && v->contexts == counted->contexts &&
	       v->out.ready == counted->out.ready && v->out.ctas == counted->out.ctas &&
	       v->out.warps == counted->out.warps;
}

bool vt_sound(void *state, const struct sm *sm)
{
	const struct vt *v = state;
	struct vt counted = { .resident = 0 };
	unsigned int ctas = 0;
	bool fits = true;

	for (unsigned int i = 0; i < MAX_CTAS; i++) {
		const struct vt_cta *c = &v->ctas[i];
		struct sm_cta_view view;

		if (c->state == VT_NONE)
			continue;
		ctas++;
		sm_cta_look(sm, i, &view);
		fits = fits && state_fits(c, &view);
		counted.leaving += c->state == VT_LEAVING;
		counted.ready += c->state == VT_READY;
		counted.out.ready += c->state == VT_OUTSIDE_READY;
		if (view.outside) {
			counted.out.ctas++;
			counted.out.warps += c->warps;
			continue;
		}
		counted.resident++;
		counted.warps += c->warps;
		counted.shared += c->shared;
		counted.contexts += vt_context_bytes(v->spec, c->warps);
	}
	return fits && same(v, &counted) && ctas == sm_resident_ctas(sm, NULL);
}
