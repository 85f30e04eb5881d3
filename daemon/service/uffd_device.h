/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The uffd backend's own view: managed memory is private anonymous memory of
 * this process, device memory is an arena of it, and userfaultfd stands between
 * the CPU and what is in device memory. Private to service/uffd*.c.
 *
 * Two threads: the *engine thread* calls the service's functions;
 * the *pager* belongs to the service and reads userfaultfd's messages. All that
 * is shared is under `lock`. While the engine works (between enter and leave)
 * a page leaves device memory on the engine thread alone, in serve and poll, so
 * the engine's walks need no lock; the pager only notes what the CPU wants.
 *
 * A page's content is in one place: in its frame while it has one, else in
 * managed memory, where what was never touched is a hole. A page is given its
 * frame under the lock, so the pager never fills what is being moved.
 */
#ifndef GPUEMU_SERVICE_UFFD_DEVICE_H
#define GPUEMU_SERVICE_UFFD_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/bitmap.h"
#include "base/u64map.h"
#include "service/adopted.h"
#include "service/service.h"

#define UFFD_INVALIDATES	1024u

/* 2 MiB of managed memory that some page of was asked for once. */
struct uffd_block {
	uint64_t addr;
	uint32_t frame[BLOCK_PAGES];	/* number + 1; 0: not in device memory */
	/*
	 * Pages that userfaultfd watches. Memory is registered a block at a time,
	 * when the first page of it goes to device memory: until then the CPU's
	 * first touches are ordinary faults, and system calls may do them.
	 */
	uint64_t watched[BITMAP_WORDS(BLOCK_PAGES)];
	/* Pages without a frame that the engine uses where they are, as the program does. */
	uint64_t remote[BITMAP_WORDS(BLOCK_PAGES)];
};

/* Device memory: frames from the lowest free one on, so that runs lie together. */
struct uffd_frames {
	unsigned char *at;
	uint64_t reserved;		/* bytes of address space */
	uint64_t count, used;		/* how many may be used, and are */
	uint64_t *busy;			/* a bit each of `room` */
	uint64_t room, lowest;		/* no frame below lowest is free */
	uint64_t warm;			/* frames with memory behind them */
};

/* A range that the CPU wants back while the engine works. */
struct uffd_wish {
	uint64_t start, end;
	bool gone;			/* unmapped: nothing to bring back */
};

struct uffd {
	struct service service;		/* first */
	uint32_t va_space;
	int fd, pagemap;
	int call_fd;			/* eventfd: the pager looks again */
	bool kernel_faults;		/* system calls may touch what is in device memory */
	pthread_t pager;
	bool pager_runs;
	atomic_bool quit;
	atomic_bool pager_waits;	/* for the lock, with messages in hand */
	atomic_bool lost;		/* the pager ended: nobody would answer the CPU */
	atomic_bool attention;		/* poll has something to do */
	/* Reads managed memory now: a hole that it meets is filled, whatever the books say. */
	atomic_int mover;

	pthread_mutex_t lock;
	int worker;			/* thread id between enter and leave, else 0 */
	struct ranges managed;
	/* The program's own memory, which is used where it is; no page of it moves. The engine's thread's. */
	struct ranges system;
	struct adopted adopted;
	uint64_t managed_pages;		/* as the program asked for them */
	/* In device memory always, where the program has it. `frames` are without theirs. */
	struct ranges device;
	uint64_t device_frames;
	struct uffd_block **blocks;	/* in the order of creation, found through `index` */
	size_t nblocks, block_room;
	struct u64map index;
	struct uffd_frames frames;
	struct uffd_wish *wishes;
	size_t nwishes, wish_room;
	/* Invalidations that poll() has not told yet. Overflow: one entry that means all. */
	struct service_invalidate invalidates[UFFD_INVALIDATES];
	unsigned int ninvalidates;
};

static inline struct uffd *to_uffd(struct service *service)
{
	return container_of(service, struct uffd, service);
}

static inline unsigned int uffd_page(uint64_t addr)
{
	return (unsigned int)(addr >> PAGE_SHIFT) % BLOCK_PAGES;
}

/* --- uffd_open.c ------------------------------------------------------------- */

/* A userfaultfd that can do what is needed, or -errno with what is missing. */
int uffd_open(bool *kernel_faults, struct err *err);

/* --- uffd_frames.c ----------------------------------------------------------- */

int uffd_frames_init(struct uffd_frames *f, uint64_t bytes);
void uffd_frames_fini(struct uffd_frames *f);
/* -EBUSY: more are in use; -ENOMEM. */
int uffd_frames_resize(struct uffd_frames *f, uint64_t bytes);
/* Up to `want` frames that lie together, zero or more; *first is the number of the first. */
uint32_t uffd_frames_take(struct uffd_frames *f, uint32_t want, uint32_t *first);
void uffd_frames_give(struct uffd_frames *f, uint32_t first, uint32_t n);
/* Puts memory behind frames before they are needed, so that no fault pays for it. */
void uffd_frames_warm(struct uffd_frames *f, uint64_t n);

static inline unsigned char *uffd_frame(const struct uffd_frames *f, uint32_t frame)
{
	return f->at + frame * PAGE_BYTES;
}

/* --- uffd_move.c: with the lock ----------------------------------------------- */

struct uffd_block *uffd_block_find(const struct uffd *u, uint64_t addr);
/* Frame number + 1 of the page, 0: not in device memory. */
uint32_t uffd_frame_of(const struct uffd *u, uint64_t addr);
/* Does the engine use the page in system memory? */
bool uffd_remote(const struct uffd *u, uint64_t addr);
/* Carries one migration out; its time goes to the stages of *cost. */
void uffd_migrate(struct uffd *u, struct migration *m, struct service_cost *cost);
/* Brings the range's pages back from device memory and invalidates them; -errno: some stayed. */
int uffd_bring_back(struct uffd *u, uint64_t start, uint64_t end);
/* Forgets what is in device memory of [start, end), and that it was watched. */
void uffd_forget(struct uffd *u, uint64_t start, uint64_t end);
void uffd_invalidate(struct uffd *u, uint64_t start, uint64_t end, bool evicted);

/* --- uffd_pager.c -------------------------------------------------------------- */

int uffd_pager_start(struct uffd *u);
void uffd_pager_stop(struct uffd *u);
/* Does what the CPU wants; with the lock. */
void uffd_grant(struct uffd *u);
/*
 * The lock, but for the pager, which must not sleep on it: the mover, who holds
 * it, may need an answer.
 */
void uffd_lock(struct uffd *u);
void uffd_unlock(struct uffd *u);

#endif
