/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stateful fuzzer of the module's ABI: processes that do random operations,
 * and a model, in memory that they share, of what each page of the clients must hold: of
 * managed memory and, where the kernel mirrors processes, of ordinary memory.
 *
 * A page is eight lanes of 64 words. Two belong to each of the client's threads
 * and four to the GPU (the engine's process), so all write the same page at the
 * same time and each still knows what it wrote. A word says whose it
 * is: version, client, page, lane and place. What is there is compared with what
 * must be there by anyone who reads.
 */
#ifndef _GPUEMU_TESTS_KERNEL_FUZZ_H
#define _GPUEMU_TESTS_KERNEL_FUZZ_H

#include "lib/lib.h"

enum {
	CLIENTS_MAX = 8,
	PAGES = 600,		/* of a client's managed memory; its blocks are not full */
	HUGE_PAGES = 512,	/* of its ordinary memory: what may be one huge page, */
	SMALL_PAGES = 560,	/* and what is none */
	ALL_PAGES = PAGES + HUGE_PAGES + SMALL_PAGES,
	LANES = 8,
	HELPER_LANE = 2,	/* the first of the client's second thread */
	GPU_LANE = 4,		/* the first of the GPU's */
	LANE_WORDS = 4096 / 8 / LANES,
	IMAGES = 4,		/* of a client at a time */
	LOG = 1 << 15,
	HANG_MS = 30000,	/* what takes longer never ends */
};

/* A lane's state, in one word so that it changes at once. */
#define LANE_BITS	28
#define LANE_MASK	((1ull << LANE_BITS) - 1)
#define LANE_REMAP	(1ull << 63)	/* being mapped anew: nobody may say what is there */
#define LANE_FREED	(1ull << 62)	/* MADV_FREE: zero is right, too */
#define LANE_EPOCH	(1ull << (2 * LANE_BITS))
#define LANE_EPOCHS	(LANE_FREED - LANE_EPOCH)

enum phase { PHASE_RUN, PHASE_STOP, PHASE_CHECK, PHASE_END };

enum op {
	OP_CPU_WRITE, OP_CPU_READ, OP_HELP, OP_GPU_WRITE, OP_GPU_READ, OP_H2D,
	OP_D2H, OP_REMOTE, OP_DUPLICATE,
	OP_MUNMAP, OP_MMAP, OP_MMAP_OVER, OP_MMAP_BAD, OP_MREMAP, OP_PROTECT,
	OP_ADVISE, OP_FORK, OP_IMAGE, OP_WORK, OP_PIN, OP_LOCK, OP_AWAY,
	OP_WATCH, OP_GARBAGE,
	OP_RAISE, OP_WAIT, OP_COMMIT_BAD, OP_NETLINK, OP_INJECT, OP_CHECK,
	OP_CLIENT_KILLED, OP_CLIENT_STOPPED, OP_ENGINE_KILLED,
	OP_ENGINE_STOPPED, OP_ENGINE_LOST, OP_KINDS,
};

struct op_record {
	uint32_t seq;		/* written last; of another turn: being written */
	uint8_t what, client;
	uint16_t page, pages;
	int32_t result;
};

struct image {
	_Atomic uint32_t id;	/* 0: none */
	uint32_t bytes, seed;
};

struct client_model {
	_Atomic uint32_t space;	/* 0: nobody is there */
	_Atomic bool dying;	/* it was killed, or soon is */
	_Atomic uint32_t idle;	/* the round in which it rests */
	_Atomic uint32_t checked;
	_Atomic uint8_t doing;
	_Atomic uint32_t mapped; /* pages; right between rounds */
	_Atomic uint64_t lane[ALL_PAGES][LANES];
	_Atomic uint32_t remaps[ALL_PAGES];	/* odd: the page is being mapped anew */
	uint8_t hole[ALL_PAGES];
	_Atomic uint32_t hot;	/* the first of the pages that all work on */
	struct image image[IMAGES];
};

struct shared {
	uint32_t seed;
	int clients, pages;	/* pages: PAGES, or ALL_PAGES */
	bool calm;
	/* The same addresses in each client. alias: where it writes what it may read alone. */
	uint8_t *mem, *heap, *alias;
	_Atomic uint32_t phase, round, checks, version, engine_idle, generation;
	_Atomic uint8_t doing;	/* the engine's GPU */
	struct client_model client[CLIENTS_MAX];
	_Atomic uint64_t count[OP_KINDS], moved, faults, garbage, resets;
	_Atomic uint64_t rightless;	/* lives of clients that are another user's */
	/*
	 * Pages of ordinary memory, of those moved: without the ones that came after the answer
	 * -EAGAIN.
	 */
	_Atomic uint64_t heap_moved;
	/* The GPU's accesses to ordinary memory: those that must be right, and the others. */
	_Atomic uint64_t sure, unsure, sure_on_device;
	_Atomic uint64_t late;		/* works that ended so */
	_Atomic uint64_t children;	/* that looked twice at what they had */
	/* Commands by ioctl that were good; of them, those that no signal interrupted. */
	_Atomic uint64_t stays, stayed;
	_Atomic uint32_t failed;
	int fail_client, fail_page;
	char why[512];
	_Atomic uint32_t log_next;
	struct op_record log[LOG];
};

/* --- where the pages are: sections.c --- */
enum kind {
	KIND_MANAGED, KIND_HUGE, KIND_PRIVATE, KIND_SHARED, KIND_FILE, KIND_READ_ONLY,
	KIND_WATCHED, KIND_ANONYMOUS,
};

struct section {
	enum kind kind;
	int first, pages;
};

const struct section *section_of(int page);
uint8_t *page_addr(const struct shared *s, int page);
/* -1: of none. */
int page_of(const struct shared *s, uint64_t addr);
int some_page(const struct shared *s, int client, uint64_t *x);

/* --- chance --- */
static inline uint32_t next_random(uint64_t *x)
{
	*x = *x * 6364136223846793005ull + 1442695040888963407ull;
	return *x >> 33;
}

static inline uint32_t below(uint64_t *x, uint32_t n)
{
	return next_random(x) % n;
}

static inline bool one_in(uint64_t *x, uint32_t n)
{
	return !below(x, n);
}

/* --- model.c --- */
void note(struct shared *s, enum op what, int client, int page, int pages, int result);
const char *op_name(enum op what);
void fail(struct shared *s, int client, int page, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void print_failure(struct shared *s);

/*
 * What a copy goes through: stores (NULL), or a system call. -EFAULT: some of it is
 * there or nothing, and that is all right; another error: stores shall do it.
 */
typedef int (*copy_fn)(void *to, const void *from, size_t bytes);
bool lane_write(struct shared *s, int client, int page, int lane, uint64_t *at, copy_fn copy);
bool lane_check(struct shared *s, int client, int page, int lane, const uint64_t *at,
		copy_fn copy, const char *who);
void lane_settle(struct shared *s, int client, int page, int lane, uint64_t *at);
/* What is there afterwards: zeroes, what was there, or either. */
enum left { LEFT_ZERO, LEFT_SAME, LEFT_EITHER };
void remap_begin(struct shared *s, int client, int page, int pages, enum left left);
void remap_end(struct shared *s, int client, int page, int pages);
void pattern(uint8_t *p, size_t bytes, uint32_t seed);

/* For who had a copy of the lane at that state: whether it was right, as far as one can say. */
bool lane_was(struct shared *s, int client, int page, int lane, uint64_t state,
	      const uint64_t *words);

/* --- the processes: they do not return --- */
void client_run(struct shared *s, int me, uint64_t seed);
void engine_run(struct shared *s, uint64_t seed);
void garbage_run(struct shared *s, uint64_t seed);

/* Random bytes to a command of the ABI; the engine's file too. */
void garbage_ioctl(struct shared *s, int fd, uint64_t *x);

#endif
