/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages in flight. The service really moves a batch in the moment in which the
 * handler takes it, but in virtual time its pages arrive when the handler is
 * done. This stands between paging and the service, notes what came, and
 * denies those pages to page walks until they have landed. Private to gpu/.
 */
#ifndef GPUEMU_GPU_FLIGHT_H
#define GPUEMU_GPU_FLIGHT_H

#include "service/service.h"

struct flight_range {
	uint64_t start, end;
	uint32_t va_space;
};

struct flight {
	struct service service;		/* what paging talks to */
	struct service_ops ops;		/* the real one's name and clock, our functions */
	struct service *real;
	struct flight_range *ranges;
	size_t count, room;
	bool sorted;
};

void flight_init(struct flight *f, struct service *real);
void flight_fini(struct flight *f);
/* Everything has arrived. */
void flight_land(struct flight *f);
bool flight_holds(struct flight *f, uint32_t va_space, uint64_t addr);

#endif
