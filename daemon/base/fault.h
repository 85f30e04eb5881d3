/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A far fault as it travels from the GMMU, which writes it to the fault buffer,
 * to the handler (paging) and on to the mover of the page (service). The message
 * belongs to no room, so that its producer and consumer need not know each
 * other. HPCA'16 section 3, steps 3 and 5.
 */
#ifndef GPUEMU_BASE_FAULT_H
#define GPUEMU_BASE_FAULT_H

#include <stdint.h>

/* In order of strength; the numbers are those of the kernel ABI. */
enum access_type {
	ACCESS_PREFETCH = 0,
	ACCESS_READ = 1,
	ACCESS_WRITE = 2,
	ACCESS_ATOMIC = 3,
};

/* Flags that the service sets before it asks for a plan. */
#define FAULT_UNMANAGED	1u	/* no managed memory there: fatal, unless it is a prefetch */
#define FAULT_RESIDENT	2u	/* the page's entry allows the access: the replay is enough */
#define FAULT_PIN	4u	/* it thrashes: best left in system memory, and used there */
#define FAULT_THROTTLE	8u	/* it thrashes: not in this batch; it is raised again */
#define FAULT_PROTECTED	16u	/* with UNMANAGED: managed, but the program took a right away */
#define FAULT_PAGEABLE	32u	/* ordinary memory of the program: to be used where it is */
#define FAULT_MOVES	64u	/* with PAGEABLE: it may go to device memory all the same */

struct fault {
	uint64_t addr;		/* the page's address, PAGE_BYTES aligned */
	uint64_t cycle;		/* core cycle in which it was raised */
	uint32_t va_space;
	uint16_t sm;
	uint16_t warp;		/* the SM's warp slot */
	uint8_t access;		/* enum access_type */
	uint8_t flags;		/* FAULT_*, 0 from the GMMU */
	uint16_t merged;	/* raw faults that this one stands for; 1 from the GMMU */
	uint8_t kernel;		/* slot of the kernel whose access was the first; the GMMU's records alone have it */
};

#endif
