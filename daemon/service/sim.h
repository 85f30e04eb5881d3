/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Backend sim, for the owner of one: pages move by bookkeeping. A managed address is its own host
 * address, being resident is a bit.
 */
#ifndef GPUEMU_SERVICE_SIM_H
#define GPUEMU_SERVICE_SIM_H

#include "service/service.h"

/* service_ns a batch and page_ns a unique fault are what it costs. */
int service_sim_create(uint64_t vram_bytes, uint64_t service_ns,
		       uint64_t page_ns, struct service **service);
/* A client's managed range appears or goes; page aligned. -EEXIST overlaps. */
int service_sim_map(struct service *s, uint32_t va_space, uint64_t addr,
		    uint64_t bytes);
int service_sim_unmap(struct service *s, uint32_t va_space, uint64_t addr,
		      uint64_t bytes);
/*
 * The same of device memory that a program has for itself: always there, never paged, and its
 * frames are not the managed pages'. -ENOSPC: there are not as many; one frame stays theirs.
 * -EBUSY: managed pages have them now.
 */
int service_sim_map_device(struct service *s, uint32_t va_space, uint64_t addr, uint64_t bytes);
int service_sim_unmap_device(struct service *s, uint32_t va_space, uint64_t addr);
/* New costs and capacity for the next batches; resident pages stay (-EBUSY if they do not fit). */
int service_sim_configure(struct service *s, uint64_t vram_bytes,
			  uint64_t service_ns, uint64_t page_ns);

#endif
