// SPDX-License-Identifier: GPL-2.0
/*
 * The uffd backend against a plain model of contents: pages that move while
 * threads use them, device memory that is too small, memory that goes away, and
 * what fork and system calls see. Run twice where that is possible: with the
 * privileges it was started with, and as nobody.
 */
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "service/uffd.h"

#define SPACE	1u
#define PAGES	1536u		/* three blocks, not aligned to them */
#define AREA	((char *)0x2a00000c0000ull)
#define WORDS	(PAGE_BYTES / sizeof(uint64_t))

static struct service *service;
static struct plan plan;
static unsigned int told_pages, told_evicted;

static uint64_t page_addr(unsigned int page)
{
	return (uintptr_t)AREA + page * PAGE_BYTES;
}

static volatile uint64_t *word(unsigned int page, unsigned int i)
{
	return (volatile uint64_t *)(AREA + page * PAGE_BYTES) + i;
}

static void setup(unsigned int frames)
{
	struct err err = { "" };
	void *p;

	p = mmap(AREA, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	assert_ptr_equal(p, AREA);
	if (service_uffd_create(frames * PAGE_BYTES, SPACE, &service, &err))
		fail_msg("%s", err.text);
	assert_int_equal(service_uffd_map(service, page_addr(0), PAGES * PAGE_BYTES), 0);
	told_pages = told_evicted = 0;
}

static void teardown(void)
{
	service->ops->destroy(service);
	service = NULL;
	munmap(AREA, PAGES * PAGE_BYTES);
}

static int keep_plan(void *ctx, struct service_batch *batch)
{
	const struct plan *wanted = ctx;

	memcpy(batch->plan->migrations, wanted->migrations,
	       wanted->count * sizeof(wanted->migrations[0]));
	batch->plan->count = wanted->count;
	return 0;
}

static void add(struct plan *p, unsigned int page, unsigned int pages, enum migration_op op)
{
	while (pages) {
		uint64_t addr = page_addr(page);
		unsigned int left = BLOCK_PAGES - (unsigned int)(addr >> PAGE_SHIFT) % BLOCK_PAGES;
		unsigned int n = MIN(pages, left);

		p->migrations[p->count++] = (struct migration){
			.addr = addr, .va_space = SPACE, .pages = (uint16_t)n, .op = op,
			.status = 1, .moved = 999,
		};
		page += n;
		pages -= n;
	}
}

static struct service_cost serve(const struct plan *wanted)
{
	struct service_batch batch = { .decide = keep_plan, .ctx = (void *)wanted, .plan = &plan };

	assert_int_equal(service->ops->serve(service, &batch), 0);
	return batch.cost;
}

/* Returns how many pages moved; *status (may be NULL): the first that is not 0. */
static unsigned int move(unsigned int page, unsigned int pages, enum migration_op op, int *status)
{
	static struct plan wanted;
	unsigned int moved = 0;

	wanted.count = 0;
	add(&wanted, page, pages, op);
	serve(&wanted);
	if (status)
		*status = 0;
	for (unsigned int i = 0; i < plan.count; i++) {
		moved += plan.migrations[i].moved;
		if (status && !*status)
			*status = plan.migrations[i].status;
	}
	return moved;
}

static uint64_t *frame(unsigned int page)
{
	return service->ops->walk(service, SPACE, page_addr(page));
}

static void tell(void *ctx, const struct service_invalidate *i)
{
	unsigned int pages = (unsigned int)((i->end - i->start) / PAGE_BYTES);

	if (i->evicted)
		told_evicted += pages;
	else
		told_pages += pages;
}

static int poll_now(void)
{
	return service->ops->poll(service, tell, NULL);
}

static void pause_ms(unsigned int ms)
{
	const struct timespec t = { .tv_nsec = ms * 1000000l };

	nanosleep(&t, NULL);
}

/* --- one thread -------------------------------------------------------------------- */

static void test_contents_move_both_ways(void **state)
{
	int status;

	setup(PAGES);
	for (unsigned int p = 0; p < PAGES; p++)
		*word(p, p % WORDS) = p + 1;
	service_uffd_enter(service);
	assert_int_equal(move(0, PAGES, MIGRATE_H2D, &status), PAGES);
	assert_int_equal(status, 0);
	for (unsigned int p = 0; p < PAGES; p++) {
		assert_non_null(frame(p));
		assert_int_equal(frame(p)[p % WORDS], p + 1);
		frame(p)[(p + 1) % WORDS] = ~(uint64_t)p;
	}
	/* Half is evicted, half comes as it is touched. */
	assert_int_equal(move(0, PAGES / 2, MIGRATE_D2H, &status), PAGES / 2);
	service_uffd_leave(service);
	for (unsigned int p = 0; p < PAGES; p++) {
		assert_int_equal(*word(p, p % WORDS), p + 1);
		assert_int_equal(*word(p, (p + 1) % WORDS), ~(uint64_t)p);
	}
	/* The last one woke this thread before it was off the books; poll waits for that. */
	assert_int_equal(poll_now(), 0);
	for (unsigned int p = 0; p < PAGES; p++)
		assert_null(frame(p));
	assert_int_equal(told_evicted, PAGES / 2);
	assert_int_equal(told_pages, PAGES - PAGES / 2);
	teardown();
}

/* Used where it is: the program's own memory, watched or not, until it moves. */
static void test_remote_pages(void **state)
{
	unsigned int flags;
	int status;

	setup(16);
	assert_int_equal(service->can, SERVICE_CAN_REMOTE);
	*word(0, 3) = 7;
	*word(2, 3) = 9;
	service_uffd_enter(service);
	assert_int_equal(move(0, 2, MIGRATE_H2D, NULL), 2);
	frame(0)[4] = 8;
	/* One comes home for it, one is a hole that was never touched. */
	assert_int_equal(move(0, 4, MIGRATE_REMOTE, &status), 2);
	assert_int_equal(status, 0);
	assert_int_equal(poll_now(), 0);
	assert_int_equal(told_evicted, 2);
	for (unsigned int p = 0; p < 4; p++) {
		assert_null(frame(p));
		assert_ptr_equal(service_entry(service, SPACE, page_addr(p), &flags), word(p, 0));
		assert_int_equal(flags, SERVICE_ENTRY_REMOTE);
	}
	assert_int_equal(*word(0, 3), 7);
	assert_int_equal(*word(0, 4), 8);
	assert_int_equal(*word(2, 3), 9);
	/* The engine touches it as the program does: the pager fills what nobody had. */
	assert_int_equal(*word(3, 0), 0);
	*word(3, 0) = 5;
	/* It moves, and who used it there hears of it. */
	assert_int_equal(move(2, 2, MIGRATE_H2D, NULL), 2);
	assert_int_equal(frame(3)[0], 5);
	assert_int_equal(poll_now(), 0);
	assert_int_equal(told_evicted, 4);
	service_entry(service, SPACE, page_addr(2), &flags);
	assert_int_equal(flags, 0);
	/* No longer. */
	assert_int_equal(move(0, 1, MIGRATE_D2H, &status), 0);
	assert_null(service_entry(service, SPACE, page_addr(0), &flags));
	/* Duplicates are not its business. */
	assert_int_equal(move(5, 1, MIGRATE_DUPLICATE, &status), 0);
	assert_int_equal(status, -EINVAL);
	assert_int_equal(move(PAGES, 1, MIGRATE_REMOTE, &status), 0);
	assert_int_equal(status, -EFAULT);
	service_uffd_leave(service);
	teardown();
}

static void test_frames_show_nobody_elses_bytes(void **state)
{
	setup(64);
	memset(AREA, 0xee, 64 * PAGE_BYTES);
	assert_int_equal(move(0, 64, MIGRATE_H2D, NULL), 64);
	assert_int_equal(move(0, 64, MIGRATE_D2H, NULL), 64);
	/* Never touched, some of them read: all of it is zero, there and back. */
	assert_int_equal(*word(130, 7), 0);
	assert_int_equal(move(100, 64, MIGRATE_H2D, NULL), 64);
	for (unsigned int p = 100; p < 164; p++)
		for (unsigned int i = 0; i < WORDS; i++)
			assert_int_equal(frame(p)[i], 0);
	assert_int_equal(*word(120, 3), 0);
	/* What is touched first in a block that is watched already. */
	assert_int_equal(*word(200, 1), 0);
	*word(201, 1) = 5;
	assert_int_equal(move(164, 1, MIGRATE_H2D, NULL), 1);
	assert_int_equal(move(201, 1, MIGRATE_H2D, NULL), 0);
	assert_int_equal(move(100, 20, MIGRATE_D2H, NULL), 20);
	assert_int_equal(move(200, 2, MIGRATE_H2D, NULL), 2);
	assert_int_equal(frame(200)[1], 0);
	assert_int_equal(frame(201)[1], 5);
	teardown();
}

static void test_device_memory_is_as_large_as_it_is(void **state)
{
	int status;

	setup(10);
	assert_int_equal(service->ops->frames(service), 10);
	memset(AREA, 1, 32 * PAGE_BYTES);
	assert_int_equal(move(0, 16, MIGRATE_H2D, &status), 10);
	assert_int_equal(status, -ENOSPC);
	/* Every other one leaves, so that what comes lies apart. */
	for (unsigned int p = 0; p < 10; p += 2)
		assert_int_equal(move(p, 1, MIGRATE_D2H, NULL), 1);
	assert_int_equal(move(16, 5, MIGRATE_H2D, &status), 5);
	assert_int_equal(status, 0);
	assert_int_equal(move(21, 1, MIGRATE_H2D, &status), 0);
	assert_int_equal(status, -ENOSPC);
	/* Larger while in use; not smaller than what is in use. */
	assert_int_equal(service_uffd_configure(service, 12 * PAGE_BYTES), 0);
	assert_int_equal(move(21, 5, MIGRATE_H2D, &status), 2);
	assert_int_equal(service_uffd_configure(service, 11 * PAGE_BYTES), -EBUSY);
	assert_int_equal(service_uffd_configure(service, 0), -EINVAL);
	for (unsigned int p = 0; p < 32; p++)
		assert_int_equal(*word(p, 9), 0x0101010101010101);
	assert_int_equal(service_uffd_configure(service, PAGE_BYTES), 0);
	assert_int_equal(move(0, 3, MIGRATE_H2D, NULL), 1);
	teardown();
}

static void test_what_cannot_move_says_why(void **state)
{
	static struct plan wanted;

	setup(16);
	wanted.count = 0;
	add(&wanted, 0, 1, MIGRATE_H2D);
	add(&wanted, 0, 1, 7);
	add(&wanted, 0, 1, MIGRATE_H2D);
	wanted.migrations[2].va_space = SPACE + 1;
	add(&wanted, 0, 1, MIGRATE_H2D);
	wanted.migrations[3].addr += 8;
	add(&wanted, 0, 1, MIGRATE_H2D);
	wanted.migrations[4].pages = BLOCK_PAGES + 1;
	add(&wanted, 0, 1, MIGRATE_H2D);
	wanted.migrations[5].addr = page_addr(PAGES);
	add(&wanted, 0, 1, MIGRATE_D2H);
	wanted.migrations[6].addr = page_addr(PAGES);
	add(&wanted, 0, 1, MIGRATE_H2D);
	add(&wanted, 1, 1, MIGRATE_D2H);
	serve(&wanted);
	assert_int_equal(plan.migrations[0].status, 0);
	assert_int_equal(plan.migrations[0].moved, 1);
	assert_int_equal(plan.migrations[1].status, -EINVAL);
	assert_int_equal(plan.migrations[2].status, -EFAULT);
	assert_int_equal(plan.migrations[3].status, -EINVAL);
	assert_int_equal(plan.migrations[4].status, -EINVAL);
	assert_int_equal(plan.migrations[5].status, -EFAULT);
	assert_int_equal(plan.migrations[6].status, -EFAULT);
	/* Where it should be already: no error, nothing moved. */
	assert_int_equal(plan.migrations[7].status, 0);
	assert_int_equal(plan.migrations[7].moved, 0);
	assert_int_equal(plan.migrations[8].status, 0);
	assert_int_equal(plan.migrations[8].moved, 0);
	assert_int_equal(service_uffd_map(service, page_addr(3), PAGE_BYTES), -EEXIST);
	assert_int_equal(service_uffd_map(service, page_addr(3) + 1, PAGE_BYTES), -EINVAL);
	assert_int_equal(service_uffd_unmap(service, page_addr(PAGES), PAGE_BYTES), -ENOENT);
	teardown();
}

static int no_plan(void *ctx, struct service_batch *batch)
{
	return 0;
}

static void test_faults_are_merged_and_flagged(void **state)
{
	struct fault faults[] = {
		{ .addr = page_addr(2) + 12, .va_space = SPACE, .access = ACCESS_READ,
		  .merged = 1 },
		{ .addr = page_addr(PAGES), .va_space = SPACE, .merged = 1 },
		{ .addr = page_addr(2), .va_space = SPACE, .access = ACCESS_WRITE, .merged = 1 },
		{ .addr = page_addr(1), .va_space = SPACE, .merged = 1 },
		{ .addr = page_addr(1), .va_space = SPACE + 1, .merged = 1 },
	};
	struct service_batch batch = {
		.faults = faults, .nfaults = 5, .decide = no_plan, .plan = &plan,
	};

	setup(16);
	assert_int_equal(move(1, 1, MIGRATE_H2D, NULL), 1);
	assert_int_equal(service->ops->serve(service, &batch), 0);
	assert_int_equal(batch.nfaults, 4);
	assert_int_equal(faults[0].addr, page_addr(1));
	assert_int_equal(faults[0].flags, FAULT_RESIDENT);
	assert_int_equal(faults[1].flags, 0);
	assert_int_equal(faults[1].merged, 2);
	assert_int_equal(faults[1].access, ACCESS_WRITE);
	assert_int_equal(faults[2].flags, FAULT_UNMANAGED);
	assert_int_equal(faults[3].flags, FAULT_UNMANAGED);
	teardown();
}

static void test_stages_sum_to_the_total(void **state)
{
	static struct plan wanted;
	struct service_cost c;

	setup(64);
	memset(AREA, 3, 64 * PAGE_BYTES);
	wanted.count = 0;
	add(&wanted, 0, 32, MIGRATE_H2D);
	add(&wanted, 0, 16, MIGRATE_D2H);
	add(&wanted, 32, 32, MIGRATE_H2D);
	c = serve(&wanted);
	assert_true(c.evict && c.unmap && c.copy && c.map && c.fetched_to_committed);
	assert_int_equal(c.total, c.raised_to_fetched + c.fetched_to_committed + c.evict +
			 c.unmap + c.copy + c.map + c.replay);
	assert_true(c.end_to_end >= c.total && c.total < 1000000000);
	teardown();
}

static void see(void *ctx, uint32_t va_space, uint64_t addr)
{
	assert_int_equal(va_space, SPACE);
	*(uint64_t *)ctx += (addr - page_addr(0)) / PAGE_BYTES + 1;
}

static void test_resident_lists_every_page(void **state)
{
	uint64_t sum = 0;

	setup(PAGES);
	move(1, 2, MIGRATE_H2D, NULL);
	move(PAGES - 1, 1, MIGRATE_H2D, NULL);
	service->ops->resident(service, see, &sum);
	assert_int_equal(sum, 2 + 3 + PAGES);
	teardown();
}

/* --- threads ---------------------------------------------------------------------------- */

struct toucher {
	pthread_t thread;
	unsigned int page;
	uint64_t seen;
	atomic_bool done;
};

static void *touch_thread(void *arg)
{
	struct toucher *t = arg;

	t->seen = *word(t->page, 0);
	*word(t->page, 0) = t->seen + 1;
	atomic_store(&t->done, true);
	return NULL;
}

static void test_a_working_engine_gives_when_it_polls(void **state)
{
	struct toucher t = { .page = 5 };

	setup(64);
	*word(5, 0) = 41;
	service_uffd_enter(service);
	assert_int_equal(move(5, 1, MIGRATE_H2D, NULL), 1);
	pthread_create(&t.thread, NULL, touch_thread, &t);
	pause_ms(30);
	assert_false(atomic_load(&t.done));
	assert_non_null(frame(5));
	frame(5)[0]++;
	for (unsigned int i = 0; i < 1000 && !atomic_load(&t.done); i++) {
		assert_int_equal(poll_now(), 0);
		pause_ms(1);
	}
	pthread_join(t.thread, NULL);
	assert_int_equal(t.seen, 42);
	assert_int_equal(told_pages, 1);
	assert_null(frame(5));
	service_uffd_leave(service);
	assert_int_equal(*word(5, 0), 43);
	teardown();
}

/* A thread that waits for a working engine is not forgotten when the engine leaves. */
static void test_leaving_gives_too(void **state)
{
	struct toucher t = { .page = 9 };

	setup(64);
	service_uffd_enter(service);
	move(9, 1, MIGRATE_H2D, NULL);
	frame(9)[0] = 7;
	pthread_create(&t.thread, NULL, touch_thread, &t);
	pause_ms(20);
	service_uffd_leave(service);
	pthread_join(t.thread, NULL);
	assert_int_equal(t.seen, 7);
	teardown();
}

static void test_destroy_with_faults_pending(void **state)
{
	struct toucher t[8];

	setup(64);
	service_uffd_enter(service);
	move(0, 16, MIGRATE_H2D, NULL);
	for (unsigned int i = 0; i < 8; i++) {
		t[i] = (struct toucher){ .page = i };
		frame(i)[0] = 100 + i;
		pthread_create(&t[i].thread, NULL, touch_thread, &t[i]);
	}
	frame(12)[5] = 1234;
	pause_ms(20);
	service->ops->destroy(service);
	for (unsigned int i = 0; i < 8; i++) {
		pthread_join(t[i].thread, NULL);
		assert_int_equal(t[i].seen, 100 + i);
		assert_int_equal(*word(i, 0), 101 + i);
	}
	assert_int_equal(*word(12, 5), 1234);
	assert_int_equal(*word(700, 5), 0);
	munmap(AREA, PAGES * PAGE_BYTES);
}

struct writer {
	pthread_t thread;
	unsigned int page, slot;
	_Atomic uint64_t written;
	atomic_bool *stop;
	bool lost;
};

/* Counts in memory as fast as it can; what it finds must be what it left. */
static void *writer_thread(void *arg)
{
	struct writer *w = arg;

	while (!atomic_load_explicit(w->stop, memory_order_relaxed)) {
		volatile uint64_t *at = word(w->page, w->slot);

		if (*at != w->written)
			w->lost = true;
		*at = ++w->written;
	}
	return NULL;
}

static bool all_wrote(const struct writer *w, unsigned int n, uint64_t enough)
{
	for (unsigned int i = 0; i < n; i++)
		if (w[i].written < enough)
			return false;
	return true;
}

/* Lets the thread go on, so that it is writing when its page is taken away. */
static void wait_for_a_write(const struct writer *w)
{
	uint64_t before = w->written;

	for (unsigned int i = 0; i < 300 && w->written == before; i++)
		assert_int_equal(poll_now(), 0);
}

/* Two threads write one page and a third the next, while both pages go back and forth. */
static void test_no_write_is_lost(void **state)
{
	unsigned int rounds;
	atomic_bool stop = false;
	struct writer w[3];
	uint64_t gpu = 0;

	setup(64);
	for (unsigned int i = 0; i < 3; i++) {
		w[i] = (struct writer){ .page = i < 2 ? 0 : 1, .slot = i * 64, .stop = &stop };
		pthread_create(&w[i].thread, NULL, writer_thread, &w[i]);
	}
	service_uffd_enter(service);
	for (rounds = 0; rounds < 3000 || !all_wrote(w, 3, 1000); rounds++) {
		wait_for_a_write(&w[rounds % 3]);
		move(0, 1 + rounds % 3 * 30, MIGRATE_H2D, NULL);
		if (frame(0) && frame(0)[500] == gpu)
			frame(0)[500] = ++gpu;
		else
			assert_null(frame(0));
		if (rounds % 4 == 0)
			move(0, 2, MIGRATE_D2H, NULL);
		assert_int_equal(poll_now(), 0);
	}
	service_uffd_leave(service);
	atomic_store(&stop, true);
	for (unsigned int i = 0; i < 3; i++) {
		pthread_join(w[i].thread, NULL);
		assert_false(w[i].lost);
		assert_int_equal(*word(w[i].page, w[i].slot), w[i].written);
	}
	assert_int_equal(*word(0, 500), gpu);
	assert_true(gpu > rounds / 4);
	teardown();
}

struct sweeper {
	pthread_t thread;
	atomic_bool go;
};

static void *sweep_thread(void *arg)
{
	struct sweeper *s = arg;

	while (!atomic_load(&s->go))
		sched_yield();
	for (unsigned int p = 0; p < 300; p++)
		*word(p, 1) = p + 1;
	return NULL;
}

/* Pages that are touched for the first time while they are copied. */
static void test_first_touches_while_pages_move(void **state)
{
	for (unsigned int round = 0; round < 20; round++) {
		struct sweeper s = { .go = false };

		setup(300);
		service_uffd_enter(service);
		/* The blocks are watched from the start. */
		move(299, 1, MIGRATE_H2D, NULL);
		move(0, 1, MIGRATE_H2D, NULL);
		pthread_create(&s.thread, NULL, sweep_thread, &s);
		atomic_store(&s.go, true);
		move(0, 300, MIGRATE_H2D, NULL);
		service_uffd_leave(service);
		pthread_join(s.thread, NULL);
		for (unsigned int p = 0; p < 300; p++)
			assert_int_equal(*word(p, 1), p + 1);
		teardown();
	}
}

#define TRACE_PAGES	600u
#define TRACERS		3u

/* One word of each page is a thread's own: the model of it needs no lock. */
struct tracer {
	pthread_t thread;
	unsigned int slot;
	uint64_t model[TRACE_PAGES];
	atomic_bool *stop;
	uint64_t wrong;
	_Atomic uint64_t accesses;
};

static void *tracer_thread(void *arg)
{
	struct tracer *t = arg;
	struct rng rng;

	rng_seed(&rng, t->slot);
	while (!atomic_load_explicit(t->stop, memory_order_relaxed)) {
		unsigned int page = (unsigned int)rng_below(&rng, TRACE_PAGES);
		volatile uint64_t *at = word(page, t->slot * 17);

		t->wrong += *at != t->model[page];
		if (rng_below(&rng, 2))
			*at = ++t->model[page];
		t->accesses++;
	}
	return NULL;
}

static bool all_traced(const struct tracer *t, uint64_t enough)
{
	for (unsigned int i = 0; i < TRACERS; i++)
		if (t[i].accesses < enough)
			return false;
	return true;
}

/* Device memory of a third of the pages: everything moves all the time. */
static void test_random_trace_agrees_with_a_model(void **state)
{
	static struct tracer t[TRACERS];
	static uint64_t model[TRACE_PAGES];
	atomic_bool stop = false;
	unsigned int moved = 0, checked = 0;
	struct rng rng;

	setup(TRACE_PAGES / 3);
	rng_seed(&rng, 99);
	memset(model, 0, sizeof(model));
	for (unsigned int i = 0; i < TRACERS; i++) {
		memset(&t[i], 0, sizeof(t[i]));
		t[i].slot = i + 1;
		t[i].stop = &stop;
		pthread_create(&t[i].thread, NULL, tracer_thread, &t[i]);
	}
	for (unsigned int round = 0; round < 1500 || !all_traced(t, 1000); round++) {
		unsigned int page = (unsigned int)rng_below(&rng, TRACE_PAGES);
		unsigned int n = 1 + (unsigned int)rng_below(&rng, round % 8 ? 12 : 200);

		if (round % 100 == 0)
			service_uffd_enter(service);
		n = MIN(n, TRACE_PAGES - page);
		moved += move(page, n, rng_below(&rng, 3) ? MIGRATE_H2D : MIGRATE_D2H, NULL);
		for (unsigned int p = page; p < page + n; p++) {
			uint64_t *f = frame(p);

			if (!f)
				continue;
			assert_int_equal(f[0], model[p]);
			f[0] = ++model[p];
			checked++;
		}
		assert_int_equal(poll_now(), 0);
		if (round % 100 == 99) {
			service_uffd_leave(service);
			pause_ms(1);
		}
	}
	atomic_store(&stop, true);
	for (unsigned int i = 0; i < TRACERS; i++) {
		pthread_join(t[i].thread, NULL);
		assert_int_equal(t[i].wrong, 0);
	}
	for (unsigned int p = 0; p < TRACE_PAGES; p++) {
		assert_int_equal(*word(p, 0), model[p]);
		for (unsigned int i = 0; i < TRACERS; i++)
			assert_int_equal(*word(p, (i + 1) * 17), t[i].model[p]);
	}
	assert_true(moved > 1000 && checked > 1000);
	teardown();
}

/* --- memory that goes away, and who else looks ---------------------------------------------- */

static void test_unmapped_memory_leaves_its_frames(void **state)
{
	int status;

	setup(20);
	memset(AREA, 5, 40 * PAGE_BYTES);
	assert_int_equal(move(0, 20, MIGRATE_H2D, NULL), 20);
	/* As the library does. */
	assert_int_equal(service_uffd_unmap(service, page_addr(0), 4 * PAGE_BYTES), 0);
	assert_null(frame(3));
	poll_now();
	assert_int_equal(told_pages, 4);
	assert_int_equal(move(20, 4, MIGRATE_H2D, NULL), 4);
	assert_int_equal(move(2, 1, MIGRATE_H2D, &status), 0);
	assert_int_equal(status, -EFAULT);
	/* By the program itself, behind the library's back. */
	assert_int_equal(munmap(AREA + 4 * PAGE_BYTES, 6 * PAGE_BYTES), 0);
	for (unsigned int i = 0; i < 1000 && told_pages < 10; i++) {
		pause_ms(1);
		poll_now();
	}
	assert_int_equal(told_pages, 10);
	assert_null(frame(4));
	assert_int_equal(move(5, 2, MIGRATE_H2D, &status), 0);
	assert_int_equal(status, -EFAULT);
	assert_int_equal(move(24, 6, MIGRATE_H2D, NULL), 6);
	assert_int_equal(*word(10, 0), 0x0505050505050505);
	assert_int_equal(*word(29, 0), 0x0505050505050505);
	teardown();
}

/* A program may cut its mapping in pieces; one call of userfaultfd is for one piece. */
static void test_a_mapping_in_pieces_moves(void **state)
{
	setup(64);
	memset(AREA, 6, 32 * PAGE_BYTES);
	assert_int_equal(mprotect(AREA + 8 * PAGE_BYTES, PAGE_BYTES, PROT_READ), 0);
	assert_int_equal(move(0, 32, MIGRATE_H2D, NULL), 32);
	assert_int_equal(mprotect(AREA + 20 * PAGE_BYTES, PAGE_BYTES, PROT_READ), 0);
	assert_int_equal(move(0, 32, MIGRATE_D2H, NULL), 32);
	for (unsigned int p = 0; p < 32; p++)
		assert_int_equal(*word(p, 77), 0x0606060606060606);
	teardown();
}

static void test_locked_memory_moves_or_stays(void **state)
{
	int status;

	setup(64);
	if (mlock(AREA, 8 * PAGE_BYTES)) {
		struct rlimit limit;

		/* Nobody's limit may be smaller. */
		assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
		assert_true(limit.rlim_cur < 8 * PAGE_BYTES);
	}
	memset(AREA, 4, 8 * PAGE_BYTES);
	if (move(0, 8, MIGRATE_H2D, &status) != 8)
		assert_int_equal(status, -EBUSY);
	for (unsigned int p = 0; p < 8; p++)
		assert_int_equal(*word(p, 3), 0x0404040404040404);
	*word(3, 3) = 1;
	assert_int_equal(*word(3, 3), 1);
	teardown();
}

static void test_system_calls_see_it_or_fail(void **state)
{
	uint64_t value = 77, got = 0;
	int fds[2];
	ssize_t n;

	setup(64);
	*word(0, 0) = 55;
	move(0, 8, MIGRATE_H2D, NULL);
	assert_int_equal(pipe(fds), 0);
	errno = 0;
	n = write(fds[1], (const void *)word(0, 0), 8);
	if (service_uffd_kernel_faults(service)) {
		assert_int_equal(n, 8);
		assert_int_equal(read(fds[0], &got, 8), 8);
		assert_int_equal(got, 55);
	} else {
		assert_int_equal(n, -1);
		assert_int_equal(errno, EFAULT);
		assert_non_null(frame(0));
	}
	assert_int_equal(write(fds[1], &value, 8), 8);
	n = read(fds[0], (void *)word(1, 0), 8);
	if (service_uffd_kernel_faults(service))
		assert_int_equal(n, 8);
	else
		assert_int_equal(errno, EFAULT);
	/* What is in system memory is ordinary memory, and what the CPU touched has become that. */
	assert_int_equal(*word(2, 0), 0);
	*word(0, 1) = 1;
	assert_int_equal(write(fds[1], (const void *)word(0, 0), 8), 8);
	assert_int_equal(*word(0, 0), 55);
	/* Nor does a page that never was in a block with the GPU need it. */
	assert_int_equal(read(fds[0], (void *)word(PAGES - 1, 0), 8), 8);
	close(fds[0]);
	close(fds[1]);
	teardown();
}

static void test_a_child_has_none_of_it(void **state)
{
	int fds[2], status;
	pid_t pid;

	setup(64);
	*word(0, 0) = 55;
	*word(40, 0) = 56;
	move(0, 8, MIGRATE_H2D, NULL);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		/* A hole, not zeros where the parent has data. */
		bool hole = write(fds[1], (const void *)word(0, 0), 8) < 0 && errno == EFAULT &&
			    write(fds[1], (const void *)word(40, 0), 8) < 0 && errno == EFAULT;

		_exit(hole ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(*word(0, 0), 55);
	teardown();
}

static void test_refused_in_one_sentence(void **state)
{
	struct service *s = (struct service *)&plan;
	struct err err = { "" };

	assert_int_equal(service_uffd_create(100, SPACE, &s, &err), -EINVAL);
	assert_null(s);
	assert_non_null(strstr(err.text, "paging.vram=100"));
	assert_int_equal(service_uffd_create(1ull << 60, SPACE, &s, &err), -ENOMEM);
	assert_non_null(strstr(err.text, "paging.vram="));
}

static int run_all(const char *as)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contents_move_both_ways),
		cmocka_unit_test(test_remote_pages),
		cmocka_unit_test(test_frames_show_nobody_elses_bytes),
		cmocka_unit_test(test_device_memory_is_as_large_as_it_is),
		cmocka_unit_test(test_what_cannot_move_says_why),
		cmocka_unit_test(test_faults_are_merged_and_flagged),
		cmocka_unit_test(test_stages_sum_to_the_total),
		cmocka_unit_test(test_resident_lists_every_page),
		cmocka_unit_test(test_a_working_engine_gives_when_it_polls),
		cmocka_unit_test(test_leaving_gives_too),
		cmocka_unit_test(test_destroy_with_faults_pending),
		cmocka_unit_test(test_no_write_is_lost),
		cmocka_unit_test(test_first_touches_while_pages_move),
		cmocka_unit_test(test_random_trace_agrees_with_a_model),
		cmocka_unit_test(test_unmapped_memory_leaves_its_frames),
		cmocka_unit_test(test_a_mapping_in_pieces_moves),
		cmocka_unit_test(test_locked_memory_moves_or_stays),
		cmocka_unit_test(test_system_calls_see_it_or_fail),
		cmocka_unit_test(test_a_child_has_none_of_it),
		cmocka_unit_test(test_refused_in_one_sentence),
	};

	return cmocka_run_group_tests_name(as, tests, NULL, NULL);
}

/* As nobody, userfaultfd stops this process's own instructions alone, and /proc is closed. */
static int run_as_nobody(void)
{
	pid_t pid = fork();
	int status = 1;

	if (!pid) {
		if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
			_exit(1);
		exit(run_all("uffd, as nobody") ? 1 : 0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

int main(void)
{
	int failed = run_all("uffd");

	return failed || (getuid() == 0 && run_as_nobody());
}
