/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A service moves the pages and never decides: it is handed raised far faults, asks its caller for
 * a plan (the policies), carries the plan out, and says what it cost. There is one ops table with a
 * row a backend: kmod (gpuemu.ko, measured), uffd (userfaultfd in this process, measured) and sim
 * (bookkeeping, configured). This header has what all have in common. service/kmod.h, uffd.h and
 * sim.h have what is one backend's own, and how its owner makes it.
 *
 * Not thread safe: one engine thread calls a service. (kmod has a thread of
 * its own for the fault handler; the plan callback runs there, while the
 * engine thread waits inside service_serve().)
 */
#ifndef GPUEMU_SERVICE_SERVICE_H
#define GPUEMU_SERVICE_SERVICE_H

#include "base/addr_range.h"
#include "base/base.h"
#include "base/fault.h"
#include "service/system.h"

/*
 * MIGRATE_REMOTE and MIGRATE_DUPLICATE are for services that can (struct service, can). A
 * page that is duplicated goes to system memory without its bytes, which are there;
 * MIGRATE_H2D makes its frame the only place.
 */
enum migration_op {
	MIGRATE_H2D = 1,	/* to device memory */
	MIGRATE_D2H = 2,	/* to system memory: eviction; a remote mapping ends */
	MIGRATE_REMOTE = 3,	/* to system memory, and mapped there: -ENOSPC no room for mappings */
	MIGRATE_DUPLICATE = 4,	/* a copy to device memory, to be read alone */
};

/* A run of pages inside one VA block; executed in the plan's order. */
struct migration {
	uint64_t addr;
	uint32_t va_space;
	uint16_t pages;		/* 1 .. BLOCK_PAGES */
	uint8_t op;		/* enum migration_op */
	int status;		/* out: 0 or -errno as GPUEMU_MIGRATE_* in the kernel ABI */
	uint32_t moved;		/* out: pages really moved */
};

#define PLAN_MAX	4096u	/* migrations in one plan */

struct plan {
	struct migration migrations[PLAN_MAX];
	unsigned int count;
};

/* Nanoseconds of each stage; 0 where a backend has no such stage. The stages' sum is total up to rounding. */
struct service_cost {
	uint64_t total;			/* raised to replayed */
	uint64_t raised_to_fetched, fetched_to_committed;
	uint64_t evict, unmap, copy, map, replay;
	uint64_t decide;		/* of fetched_to_committed: the policies'; 0: not measured */
	/* The engine thread's wait with its own system calls: a fault's cost to its user. */
	uint64_t end_to_end;
};

struct service_batch {
	/* in */
	struct fault *faults;		/* raw; the service sorts by (va_space, addr), merges and flags them */
	/* In: raw; out: unique, and perhaps not all of them. 0 is a batch for explicit requests. */
	unsigned int nfaults;
	/* Called once, with the unique faults; fills batch->plan. Non-zero ends the batch with that error. */
	int (*decide)(void *ctx, struct service_batch *batch);
	void *ctx;
	/* out */
	unsigned int raw;		/* raw faults that these stand for; the others are raised again */
	struct plan *plan;		/* the caller's; statuses are filled */
	struct service_cost cost;
};

/* Translations of [start, end) that are no longer valid. */
struct service_invalidate {
	uint64_t start, end;
	uint32_t va_space;		/* 0: of every VA space */
	bool evicted;			/* the engine's own D2H migration */
	bool reclaimed;			/* the module's, for a migration whose plan left it no frame */
};

struct service;

struct service_ops {
	const char *name, *help;
	bool measured;			/* clock of the costs: measured or virtual */
	/* 0, or -errno: -ENODEV the device is lost. */
	int (*serve)(struct service *s, struct service_batch *batch);
	/* Host address of the page's frame, or NULL: not in device memory. Reads the GPU page table. */
	void *(*walk)(struct service *s, uint32_t va_space, uint64_t addr);
	/*
	 * Which pages of the VA block at `base` are in device memory, as walk() of each would say:
	 * a bit each. NULL: ask walk().
	 */
	void (*present)(struct service *s, uint32_t va_space, uint64_t base, uint64_t *pages);
	/*
	 * What the page's entry says, wherever the page is: its host address, and in *flags
	 * SERVICE_ENTRY_*. NULL: there is none. Without the op entries say no more than walk().
	 */
	void *(*entry)(struct service *s, uint32_t va_space, uint64_t addr, unsigned int *flags);
	/*
	 * Calls invalidate() for each invalidation that came since the last poll
	 * and acknowledges them. 0, -ECANCELED: the client of the current work is
	 * gone; -ENODEV: the device is lost. Cheap when nothing came.
	 */
	int (*poll)(struct service *s,
		    void (*invalidate)(void *ctx, const struct service_invalidate *i),
		    void *ctx);
	/* Calls fn for each page that is in device memory now (a new engine learns what a lost one left). */
	void (*resident)(struct service *s,
			 void (*fn)(void *ctx, uint32_t va_space, uint64_t addr), void *ctx);
	uint64_t (*frames)(struct service *s);	/* device memory, in frames */
	uint64_t (*share)(struct service *s);	/* that one VA space may have now; NULL: all */
	/*
	 * Adds the managed ranges of the VA space, by address, where a managed address is
	 * its own host address whether or not the page is in device memory; not what the program
	 * may only read. NULL: it is not.
	 */
	void (*managed)(struct service *s, uint32_t va_space, struct addr_ranges *to);
	/* Adds those, and the ranges that are always in device memory. NULL: there are no such. */
	void (*reachable)(struct service *s, uint32_t va_space, struct addr_ranges *to);
	/*
	 * Services in the program's process have the next three. give(): kernels may use the
	 * program's own memory from now on. look(), before a work: what the program has unmapped
	 * or protected is not managed memory any more. (While a work runs it must not change.)
	 */
	void (*give)(struct service *s, const struct system_memory *memory);
	void (*look)(struct service *s);
	/*
	 * The program's own memory at addr becomes managed memory of the VA space: *range is the
	 * piece of its mapping that does. false: there is none, or the program did not give it.
	 */
	bool (*adopt)(struct service *s, uint32_t va_space, uint64_t addr,
		      struct system_range *range);
	void (*destroy)(struct service *s);
};

#define SERVICE_ENTRY_REMOTE	1u	/* in system memory */
#define SERVICE_ENTRY_READ_ONLY	2u	/* a duplicate; with PAGEABLE: the program may not write it */
#define SERVICE_ENTRY_PAGEABLE	4u	/* with REMOTE: ordinary memory, which is used where it is */

#define SERVICE_CAN_REMOTE	1u	/* MIGRATE_REMOTE */
#define SERVICE_CAN_DUPLICATE	2u	/* MIGRATE_DUPLICATE */

/* Embedded first in each backend's own struct. */
struct service {
	const struct service_ops *ops;
	unsigned int can;		/* SERVICE_CAN_* */
};

/* All that the VA space can use, where service_ops.managed is. */
static inline void service_reachable(struct service *s, uint32_t va_space, struct addr_ranges *to)
{
	(s->ops->reachable ? s->ops->reachable : s->ops->managed)(s, va_space, to);
}

static inline bool service_adopt(struct service *s, uint32_t va_space, uint64_t addr,
				 struct system_range *range)
{
	return s->ops->adopt && s->ops->adopt(s, va_space, addr, range);
}

static inline void *service_entry(struct service *s, uint32_t va_space, uint64_t addr,
				  unsigned int *flags)
{
	*flags = 0;
	return s->ops->entry ? s->ops->entry(s, va_space, addr, flags) :
			       s->ops->walk(s, va_space, addr);
}

/* One row a backend in service/services.def. */
extern const struct service_ops *const service_rows[];	/* NULL terminated */

#endif
