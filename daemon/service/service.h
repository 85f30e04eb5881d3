/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who moves the pages. A service moves and never decides: it is handed raised
 * far faults, asks its caller for a plan (the policies), carries the plan out,
 * and says what it cost. One ops table, one row a backend: kmod (gpuemu.ko,
 * measured), uffd (userfaultfd in this process, measured) and sim (bookkeeping,
 * configured).
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
	/* What the engine thread waited, its own system calls included: what a fault costs its user. */
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
	 * its own host address whether or not the page is in device memory. NULL: it is not.
	 */
	void (*managed)(struct service *s, uint32_t va_space, struct addr_ranges *to);
	void (*destroy)(struct service *s);
};

#define SERVICE_ENTRY_REMOTE	1u	/* in system memory */
#define SERVICE_ENTRY_READ_ONLY	2u	/* a duplicate */

#define SERVICE_CAN_REMOTE	1u	/* MIGRATE_REMOTE */
#define SERVICE_CAN_DUPLICATE	2u	/* MIGRATE_DUPLICATE */

/* Embedded first in each backend's own struct. */
struct service {
	const struct service_ops *ops;
	unsigned int can;		/* SERVICE_CAN_* */
};

static inline void *service_entry(struct service *s, uint32_t va_space, uint64_t addr,
				  unsigned int *flags)
{
	*flags = 0;
	return s->ops->entry ? s->ops->entry(s, va_space, addr, flags) :
			       s->ops->walk(s, va_space, addr);
}

/* One row a backend in service/services.def. */
extern const struct service_ops *const service_rows[];	/* NULL terminated */

/* --- sim ---------------------------------------------------------------- */

/*
 * Pages move by bookkeeping: a managed address is its own host address, being
 * resident is a bit. service_ns a batch and page_ns a unique fault are what it costs.
 */
int service_sim_create(uint64_t vram_bytes, uint64_t service_ns,
		       uint64_t page_ns, struct service **service);
/* A client's managed range appears or goes; page aligned. -EEXIST overlaps. */
int service_sim_map(struct service *s, uint32_t va_space, uint64_t addr,
		    uint64_t bytes);
int service_sim_unmap(struct service *s, uint32_t va_space, uint64_t addr,
		      uint64_t bytes);
/* New costs and capacity for the next batches; resident pages stay (-EBUSY if they do not fit). */
int service_sim_configure(struct service *s, uint64_t vram_bytes,
			  uint64_t service_ns, uint64_t page_ns);

/* --- uffd --------------------------------------------------------------- */

/*
 * Pages move inside this process, which is the VA space. -EPERM, -ENOSYS,
 * -EOPNOTSUPP: no userfaultfd here, err says what is missing; -ENOMEM.
 */
int service_uffd_create(uint64_t vram_bytes, uint32_t va_space, struct service **service,
			struct err *err);
/*
 * A range of private anonymous memory becomes managed: its content is the program's, as it
 * is. Unmapping, before the memory itself is unmapped, forgets what is in device memory.
 * destroy brings it all back instead. -EEXIST overlaps; -ENOENT.
 */
int service_uffd_map(struct service *s, uint64_t addr, uint64_t bytes);
int service_uffd_unmap(struct service *s, uint64_t addr, uint64_t bytes);
/* Device memory for the next batches; resident pages stay (-EBUSY if they do not fit, -ENOMEM). */
int service_uffd_configure(struct service *s, uint64_t vram_bytes);
/*
 * Around all that walks or serves. In between, what the CPU touches comes back
 * when the engine polls, and the engine's own thread must not touch managed
 * memory; outside, it comes back at once, and poll() tells before the next frame is read.
 */
void service_uffd_enter(struct service *s);
void service_uffd_leave(struct service *s);
/* May system calls touch what is in device memory, or do they fail with EFAULT? */
bool service_uffd_kernel_faults(const struct service *s);

/* --- kmod --------------------------------------------------------------- */

/* What a work asks for; the numbers are those of the kernel ABI. */
enum work_kind {
	WORK_LOAD = 1,
	WORK_LAUNCH = 2,
	WORK_PREFETCH = 3,
	WORK_TOUCH = 4,
	WORK_CONFIGURE = 5,
	WORK_STATISTICS = 6,
	WORK_RANGES = 7,
	WORK_RECORD = 8,
	WORK_RUN = 9,
};

/* One work taken from the module. kind is enum work_kind; the client chose it. */
struct service_work {
	uint64_t id;
	uint32_t va_space, kind, stream;
	void *payload;			/* valid until the next take */
	uint32_t payload_bytes;
};

/*
 * Attaches to the module as its engine and starts the fault-handler thread.
 * -EPERM, -EBUSY, -ENOENT (no module), -EOPNOTSUPP (ABI): err says what to do.
 */
int service_kmod_create(const char *path, struct service **service,
			struct err *err);
/*
 * Waits, parked, for work, then takes it. Invalidations that came are left for poll().
 * 0; -EINTR: service_kmod_stop() was called; -ENODEV: device lost.
 */
int service_kmod_next(struct service *s, struct service_work *work);
/*
 * The same without waiting, and only of clients of which nothing is taken: -EAGAIN. With
 * several works taken, poll() asks about the current one: the last that was taken, or named.
 */
int service_kmod_try(struct service *s, struct service_work *work);
void service_kmod_current(struct service *s, uint64_t id);
/* May there be more for service_kmod_try() than when it found nothing? Cheap. */
bool service_kmod_news(struct service *s);
int service_kmod_done(struct service *s, uint64_t id, int status,
		      uint64_t fault_addr, const char *message,
		      const void *report, size_t report_bytes);
/* Copy of a client's PTX image, NUL terminated; caller frees. */
int service_kmod_image(struct service *s, uint32_t va_space, uint32_t id,
		       char **image, size_t *bytes);
/*
 * Around what takes long and reads no frame (parsing a client's PTX): the
 * service answers the module's invalidations meanwhile. poll() before the next
 * frame is read.
 */
void service_kmod_away(struct service *s);
void service_kmod_back(struct service *s);
/* True while the client keeps that PTX image loaded. */
bool service_kmod_has_image(struct service *s, uint32_t va_space, uint32_t id);
/* True while the VA space's client lives. */
bool service_kmod_alive(struct service *s, uint32_t va_space);
/* Counts the attachments to the device since the module was loaded. */
uint32_t service_kmod_generation(struct service *s);
/*
 * From a signal handler: makes service_kmod_next() return -EINTR, and poll and
 * serve -ENODEV so that a running kernel ends. Async-signal-safe.
 */
void service_kmod_stop(struct service *s);

#endif
