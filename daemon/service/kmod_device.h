/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kmod backend's own view of gpuemu.ko: the attached file, its
 * mappings, and the engine thread's ring. Private to service/kmod*.c.
 *
 * Two threads serve faults. The *engine thread* calls the service's functions and owns
 * `ring`. The *handler thread* belongs to the service, and works only between the engine's
 * RAISE and its end. What passes between them is under `hand.lock`: the module's calls order
 * nothing that a reader of this code, or ThreadSanitizer, could see, and a RAISE
 * that ends early (device lost) must not take the batch away under the handler.
 */
#ifndef GPUEMU_SERVICE_KMOD_DEVICE_H
#define GPUEMU_SERVICE_KMOD_DEVICE_H

#include <liburing.h>
#include <linux/gpuemu.h>
#include <pthread.h>
#include <stdatomic.h>

#include "service/service.h"

/* --- the GPU page table, as mapped --------------------------------------- */

/* Trusts no number in it: a table or frame out of range is not present. */
struct kmod_pt {
	const uint64_t *tables;		/* count * 512 entries, written by the module */
	uint32_t count;
	unsigned char *vram;
	uint32_t frames;
	unsigned char *remote;		/* pages in system memory; NULL: the module maps none */
	uint32_t slots;			/* of them */
	unsigned char *mirror;		/* ordinary memory of programs; NULL: the module has none */
	uint32_t mirror_slots;
	uint32_t slot;			/* directory entry of the last VA space looked up */
};

/* Where the page's frame is; NULL: it has none. */
void *kmod_pt_walk(struct kmod_pt *pt, uint32_t va_space, uint64_t addr);
/* Which pages of the VA block are there, a bit each. */
void kmod_pt_present(struct kmod_pt *pt, uint32_t va_space, uint64_t base, uint64_t *pages);
/* The same of any page with an entry, and what it says, SERVICE_ENTRY_*. */
void *kmod_pt_entry(struct kmod_pt *pt, uint32_t va_space, uint64_t addr, unsigned int *flags);
void kmod_pt_resident(const struct kmod_pt *pt,
		      void (*fn)(void *ctx, uint32_t va_space, uint64_t addr), void *ctx);

/* --- rings ---------------------------------------------------------------- */

/* user_data of what is in flight. */
enum kmod_tag { KMOD_TAG_COMMAND = 1, KMOD_TAG_WAKE = 2 };

int kmod_ring_init(struct io_uring *ring);
/* Queues a module command; NULL cannot happen, a ring has room for all it carries. */
void kmod_ring_command(struct io_uring *ring, int fd, uint32_t op);
void kmod_ring_wake_on(struct io_uring *ring, int eventfd);
/*
 * Submits, waits for one completion: its tag, and its result in *res. -ETIME: none came for so
 * long (timeout_ms below 0: for ever); -errno: the ring broke.
 */
int kmod_ring_next_within(struct io_uring *ring, int timeout_ms, int *res);

/* --- the device ------------------------------------------------------------- */

struct kmod_handler {
	pthread_t thread;
	bool started;
	atomic_bool quit;
	/* Written by the handler thread before it commits, results by the module. */
	struct gpuemu_commit commit;
	struct gpuemu_migration *migrations;	/* GPUEMU_COMMIT_MAX */
};

/* The batch between the threads. The lock is held while it is decided. */
struct kmod_hand {
	pthread_mutex_t lock;
	struct service_batch *batch;	/* the engine's; NULL when none is raised */
	bool decided;
	uint64_t decide_ns;		/* that decide() took */
	bool committed;			/* the plan, not an empty one */
	int error;			/* 0, what decide() returned, or the refused commit's error */
	uint32_t gen;			/* of the module's batch */
	struct fault wild[GPUEMU_BATCH_MAX];	/* at addresses that the module knows nothing of */
	unsigned int nwild;
	unsigned int room;		/* in the batch's faults */
	unsigned int taken;		/* faults of the pass' batches so far */
	unsigned int merged;		/* records that they stand for */
	/* What was raised, by address, if the module may have older records to give. */
	bool strangers;
	struct fault raised[GPUEMU_BATCH_MAX];
	unsigned int nraised;
};

/* The thread that acknowledges while the engine is away; all under the lock. */
struct kmod_away {
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool away, quit;
	uint32_t acked;
};

struct kmod {
	struct service service;	/* first */
	int fd;
	uint32_t generation;
	uint32_t fault_entries;
	size_t control_bytes;
	struct kmod_pt pt;
	struct gpuemu_fault_buffer *faults;
	const struct gpuemu_control *control;

	/* The engine thread's. */
	struct io_uring ring;
	bool ring_ready;
	bool waiting;			/* a WAIT is in flight */
	int stop_fd;			/* eventfd: stop was asked for, or the handler gave up */
	uint32_t inval_seen;
	uint64_t work;			/* id of the current work, 0 none */
	uint32_t events_seen;		/* of the control page, when there was no work */
	bool ended;			/* one of ours since: its client may have another */
	void *payload;			/* GPUEMU_PAYLOAD_MAX */

	/* Set from anywhere. */
	atomic_bool stopping;
	atomic_bool lost;

	struct kmod_hand hand;
	struct kmod_handler handler;
	struct kmod_away away;
};

static inline struct kmod *to_kmod(struct service *service)
{
	return container_of(service, struct kmod, service);
}

/* --- kmod_away.c, kmod_handler.c, kmod_serve.c ------------------------------- */

void kmod_away_init(struct kmod *k);
int kmod_away_start(struct kmod *k);
void kmod_away_stop(struct kmod *k);

int kmod_handler_start(struct kmod *k);
void kmod_handler_stop(struct kmod *k);

int kmod_serve(struct service *service, struct service_batch *batch);
/* Copies the raised records, for a look-up of a fault among them. */
void kmod_note_raised(struct kmod_hand *hand, const struct service_batch *batch);
/* Moves the faults that no record can carry from the batch to the hand, and back, answered. */
void kmod_take_wild(struct kmod_hand *hand, struct service_batch *batch);
void kmod_give_wild(const struct kmod_hand *hand, struct service_batch *batch);
/* Adds the pass' next faults to the batch's: what was raised, and each page once. */
void kmod_take_faults(struct kmod_hand *hand, struct service_batch *batch,
		      const struct gpuemu_fault *from, unsigned int count);
/* The faults that are fatal if they still are when they are raised again; returns how many. */
unsigned int kmod_suspects(const struct service_batch *batch, struct fault *suspects);
/* Those that are not, or have not come back, are faults to be raised again. */
void kmod_acquit(struct service_batch *batch, const struct service_batch *again);
uint64_t kmod_now_ns(void);
void kmod_cost(const struct gpuemu_stamps *stamps, struct service_cost *cost);

void kmod_wake(int eventfd);

#endif
