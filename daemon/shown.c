// SPDX-License-Identifier: GPL-2.0
/*
 * Tells the module how far a client's kernels are. One ioctl each time, so it is told seldom, and
 * of short kernels not at all.
 */
#include "service/kmod.h"
#include "shown.h"

#define EVERY_NS	250000000ull

static void tell(struct shown *shown, struct service *service, const struct gpu_progress *p)
{
	service_kmod_progress(service, shown->va_space, p->launches, p->ctas_done, p->ctas);
	shown->told = *p;
}

void shown_go_on(struct shown *shown, struct service *service, const struct gpu_session *gpu,
		 uint64_t now_ns)
{
	struct gpu_progress p;

	if (now_ns < shown->next)
		return;
	p = gpu_session_progress(gpu);
	if (!p.ctas)
		return;
	tell(shown, service, &p);
	shown->next = now_ns + EVERY_NS;
}

void shown_end(struct shown *shown, struct service *service, const struct gpu_session *gpu)
{
	struct gpu_progress p;

	if (!shown->told.ctas)
		return;
	p = gpu_session_progress(gpu);
	tell(shown, service, &p);
}
