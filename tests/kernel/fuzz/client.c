// SPDX-License-Identifier: GPL-2.0
/*
 * A client's process: random operations on its managed memory. An operation
 * must not change a byte, or it changes the model too. The process lives until it
 * is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz/client.h"
#include "fuzz/kcov.h"

enum { NOBODY = 65534 };

struct client *client_self;

static void on_touch(int sig, siginfo_t *info, void *context)
{
	struct client *c = client_self;

	(void)context;
	fail(c->s, c->me, page_of(c->s, (uintptr_t)info->si_addr), "client %d got signal %d at %p while it did: %s", c->me, sig,
	     info->si_addr, op_name(c->m->doing));
	_exit(1);
}

static void on_alarm(int sig)
{
	(void)sig;
}

static void signals(void)
{
	struct sigaction touch = { .sa_sigaction = on_touch, .sa_flags = SA_SIGINFO };
	struct sigaction alarm = { .sa_handler = on_alarm };
	struct itimerval often = { { 0, 7000 }, { 0, 7000 } };

	sigaction(SIGSEGV, &touch, NULL);
	sigaction(SIGBUS, &touch, NULL);
	/* No SA_RESTART: what can be interrupted is. */
	sigaction(SIGALRM, &alarm, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

/* --- mappings --- */

static uint8_t *map_at(struct client *c, int page, int pages)
{
	return page < PAGES ? map_managed_at(c->fd, page_addr(c->s, page), pages * PAGE) :
			      heap_map(c, page, pages);
}

static enum left left_by_mapping(int page)
{
	return heap_stays(page) ? LEFT_SAME : LEFT_ZERO;
}

void map_again(struct client *c, int page, int pages, enum op what)
{
	int i;

	remap_begin(c->s, c->me, page, pages, left_by_mapping(page));
	if (!map_at(c, page, pages)) {
		fail(c->s, c->me, page, "client %d: mmap of %d pages at %d: errno %d", c->me,
		     pages, page, errno);
		_exit(1);
	}
	remap_end(c->s, c->me, page, pages);
	for (i = page; i < page + pages; i++)
		c->m->hole[i] = 0;
	note(c->s, what, c->me, page, pages, 0);
}

static void unmap(struct client *c, int page, int pages)
{
	int ret, i;

	remap_begin(c->s, c->me, page, pages, left_by_mapping(page));
	ret = munmap(page_addr(c->s, page), pages * PAGE);
	for (i = page; i < page + pages; i++)
		c->m->hole[i] = 1;
	note(c->s, OP_MUNMAP, c->me, page, pages, ret);
}

static void fill_holes(struct client *c)
{
	int i, n, end;

	for (i = 0; i < c->s->pages; i += n) {
		end = section_of(i)->first + section_of(i)->pages;
		for (n = 0; i + n < end && c->m->hole[i + n]; n++)
			;
		if (n)
			map_again(c, i, n, OP_MMAP);
		else
			n = 1;
	}
}

static bool has_hole(struct client *c, int page, int pages)
{
	return memchr(c->m->hole + page, 1, pages);
}

/* What is refused must cost nothing. */
static void map_refused(struct client *c, int page, int pages)
{
	const int rw = PROT_READ | PROT_WRITE;
	uint8_t *at = page_addr(c->s, page), *got;

	if (one_in(&c->x, 2))
		got = mmap(at, pages * PAGE, rw, MAP_SHARED | MAP_FIXED, c->fd,
			   (uintptr_t)at + PAGE);
	else
		got = mmap(at, pages * PAGE, rw, MAP_PRIVATE | MAP_FIXED, c->fd, (uintptr_t)at);
	if (got != MAP_FAILED)
		fail(c->s, c->me, page, "a mapping that must be refused was made");
	note(c->s, OP_MMAP_BAD, c->me, page, pages, -errno);
	if (mremap(at, pages * PAGE, pages * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		   c->s->mem + 4 * BLOCK) != MAP_FAILED)
		fail(c->s, c->me, page, "mremap moved managed memory");
	note(c->s, OP_MREMAP, c->me, page, pages, -errno);
}

/*
 * What the CPU alone may have: the GPU writes nothing there. What it writes meanwhile is lost
 * where it is ordinary memory, and so may be what it wrote a moment before.
 */
static void protect(struct client *c, int page, int pages)
{
	int prot = one_in(&c->x, 2) ? PROT_READ : PROT_NONE, lane, ret;
	uint64_t before = 0, begun = now_ms(), *at;
	bool heap = page >= PAGES;

	if (has_hole(c, page, pages))
		return;
	if (heap)
		remap_begin(c->s, c->me, page, pages, LEFT_SAME);
	ret = mprotect(page_addr(c->s, page), pages * PAGE, prot) ? -errno : 0;
	note(c->s, OP_PROTECT, c->me, page, pages, ret);
	lane = GPU_LANE + below(&c->x, LANES - GPU_LANE);
	at = lane_at(c, page, lane);
	/* mm waits for an engine for so long. */
	if (!ret && prot == PROT_READ && (!heap || now_ms() - begun < FORGET_MS)) {
		before = __atomic_load_n(at, __ATOMIC_RELAXED);
		usleep(below(&c->x, 2000));
		if (__atomic_load_n(at, __ATOMIC_RELAXED) != before)
			fail(c->s, c->me, page, "the GPU wrote a page that is read-only");
	}
	ret = mprotect(page_addr(c->s, page), pages * PAGE, PROT_READ |
		       (section_of(page)->kind == KIND_READ_ONLY ? 0 : PROT_WRITE));
	if (heap)
		remap_end(c->s, c->me, page, pages);
	note(c->s, OP_PROTECT, c->me, page, pages, ret);
	if (ret) {
		fail(c->s, c->me, page, "mprotect to read and write: errno %d", errno);
		_exit(1);
	}
}

static void advise(struct client *c, int page, int pages)
{
	static const int advice[] = {
		MADV_DONTNEED, MADV_DONTNEED, MADV_WILLNEED, MADV_POPULATE_READ,
		MADV_POPULATE_WRITE, MADV_COLD, MADV_PAGEOUT, MADV_FREE, MADV_REMOVE,
		MADV_HUGEPAGE, MADV_DONTFORK, MADV_RANDOM,
	};
	int which = advice[below(&c->x, sizeof(advice) / sizeof(advice[0]))];
	int ret;

	if (page >= PAGES) {
		heap_advise(c, page, pages);
	} else {
		ret = madvise(page_addr(c->s, page), pages * PAGE, which) ? -errno : 0;
		note(c->s, OP_ADVISE, c->me, page, pages, ret);
	}
	if (one_in(&c->x, 4)) {
		ret = mlock(page_addr(c->s, page), pages * PAGE) ? -errno : 0;
		munlock(page_addr(c->s, page), pages * PAGE);
		note(c->s, OP_LOCK, c->me, page, pages, ret);
	}
}

/* A pipe holds the page: it is not moved, and written all the same. */
static void pin(struct client *c, int page)
{
	struct iovec iov = { page_at(c, page), PAGE };
	uint8_t bytes[PAGE];
	ssize_t n = 0;

	if (c->pinned && one_in(&c->x, 2)) {
		n = read(c->pins[0], bytes, PAGE);
		c->pinned -= n == (ssize_t)PAGE;
	} else if (c->pinned < 8 && !c->m->hole[page]) {
		n = vmsplice(c->pins[1], &iov, 1, 0);
		c->pinned += n == (ssize_t)PAGE;
	}
	note(c->s, OP_PIN, c->me, page, 1, n);
}

/* A child that does what it likes to what it does not have. */
static void forked(struct client *c, int page, int pages)
{
	uint32_t what = below(&c->x, 3);
	pid_t pid = fork();
	int status;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (what == 1)
			munmap(page_addr(c->s, page), pages * PAGE);
		if (what == 2)
			mmap(page_addr(c->s, page), pages * PAGE, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_FIXED, c->fd,
			     (uintptr_t)page_addr(c->s, page));
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	note(c->s, OP_FORK, c->me, page, pages, pid > 0 ? 0 : -errno);
}

/* --- the life --- */

/* What may only be done to managed memory, or only to ordinary memory, is done to that. */
static enum op suited(enum op what, int page)
{
	bool heap = page >= PAGES;

	if (what == OP_MMAP_BAD && heap)
		return OP_AWAY;
	if ((what == OP_AWAY || what == OP_WATCH) && !heap)
		return OP_ADVISE;
	return what;
}

static void operate(struct client *c)
{
	static const uint8_t often[] = {
		OP_CPU_WRITE, OP_CPU_WRITE, OP_CPU_WRITE, OP_CPU_WRITE, OP_CPU_WRITE,
		OP_CPU_WRITE, OP_CPU_READ, OP_CPU_READ, OP_CPU_READ, OP_CPU_READ,
		OP_CPU_READ, OP_WORK, OP_WORK,
	};
	static const uint8_t seldom[] = {
		OP_MUNMAP, OP_MMAP, OP_MMAP_OVER, OP_MMAP_OVER, OP_MMAP_BAD, OP_PROTECT,
		OP_ADVISE, OP_ADVISE, OP_FORK, OP_IMAGE, OP_PIN, OP_PIN, OP_AWAY, OP_WATCH,
		OP_GARBAGE,
	};
	int pages = 1 + below(&c->x, one_in(&c->x, 8) ? 256 : 16);
	int page = some_page(c->s, c->me, &c->x);
	const struct section *of = section_of(page);
	enum op what = one_in(&c->x, 4) ? seldom[below(&c->x, sizeof(seldom))] :
					  often[below(&c->x, sizeof(often))];

	if (pages > of->first + of->pages - page)
		pages = of->first + of->pages - page;
	/* Otherwise no mapping would have a huge page for long. */
	if (of->kind == KIND_HUGE && one_in(&c->x, 4)) {
		page = of->first;
		pages = of->pages;
		what = one_in(&c->x, 3) ? OP_MMAP_OVER : what;
	}
	what = suited(what, page);
	if (one_in(&c->x, 40))
		atomic_store(&c->m->hot, page);
	atomic_store(&c->m->doing, what);
	switch (what) {
	case OP_CPU_WRITE:
		client_write(c, page, pages);
		break;
	case OP_CPU_READ:
		client_read(c, page, pages);
		break;
	case OP_MUNMAP:
		unmap(c, page, pages);
		break;
	case OP_MMAP:
		fill_holes(c);
		break;
	case OP_MMAP_OVER:
		map_again(c, page, pages, what);
		/* Makes a huge page of a mapping that can have one. */
		if (pages == HUGE_PAGES)
			client_write(c, page, 1);
		break;
	case OP_MMAP_BAD:
		map_refused(c, page, pages);
		break;
	case OP_PROTECT:
		protect(c, page, pages);
		break;
	case OP_ADVISE:
		advise(c, page, pages);
		break;
	case OP_FORK:
		if (page >= PAGES)
			heap_fork(c, page, pages);
		else
			forked(c, page, pages);
		break;
	case OP_AWAY:
		heap_away(c, page, pages);
		break;
	case OP_WATCH:
		heap_watch(c, page, pages);
		break;
	case OP_IMAGE:
		client_image(c);
		break;
	case OP_PIN:
		pin(c, page);
		break;
	case OP_WORK:
		client_work(c);
		break;
	default:
		garbage_ioctl(c->s, c->fd, &c->x);
		note(c->s, OP_GARBAGE, c->me, 0, 0, 0);
	}
}

/* Writes what is there: the page is the CPU's, and nobody has another copy. */
static void own(volatile uint64_t *word)
{
	*word = *word;
}

/* Every byte of every page, which brings it home. */
static void check_all(struct client *c)
{
	uint32_t mapped = 0;
	int i, lane;

	for (i = 0; i < c->s->pages; i++) {
		if (c->m->hole[i])
			continue;
		mapped += i < PAGES;
		own(lane_at(c, i, 0));
		for (lane = 0; lane < LANES; lane++) {
			if (!lane_check(c->s, c->me, i, lane, lane_at(c, i, lane), NULL,
					"round's end"))
				_exit(1);
			lane_settle(c->s, c->me, i, lane, lane_at(c, i, lane));
		}
	}
	atomic_store(&c->m->mapped, mapped);
	note(c->s, OP_CHECK, c->me, 0, c->s->pages, 0);
}

/* Each second client is a user's without rights: what a user may have is its limit. */
static int become_other(struct shared *s)
{
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return -1;
	atomic_fetch_add(&s->rightless, 1);
	/* The change of the user took it back. */
	return prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void client_run(struct shared *s, int me, uint64_t seed)
{
	struct client c = { .s = s, .m = &s->client[me], .x = seed, .me = me };
	uint32_t round, rested = 0, checked = 0, checks;
	bool resting = true;
	pthread_t helper;

	kcov_begin();
	if (me % 2 && become_other(s)) {
		fail(s, me, -1, "client %d does not become another user's: %d", me, -errno);
		_exit(1);
	}
	client_self = &c;
	c.fd = client_open();
	if (c.fd < 0 || pipe2(c.pipe, O_CLOEXEC) || pipe2(c.pins, O_CLOEXEC | O_NONBLOCK)) {
		fail(s, me, -1, "client %d does not begin: %d", me, c.fd);
		_exit(1);
	}
	signals();
	map_again(&c, 0, PAGES, OP_MMAP);
	if (s->pages > PAGES && heap_open(&c)) {
		fail(s, me, -1, "client %d has no ordinary memory: errno %d", me, errno);
		_exit(1);
	}
	atomic_store(&c.m->space, client_space(c.fd));
	pthread_mutex_init(&c.helping, NULL);
	pthread_mutex_lock(&c.helping);
	if (pthread_create(&helper, NULL, client_help, &c))
		_exit(1);
	while (!s->failed) {
		kcov_take();
		round = atomic_load(&s->round);
		switch (atomic_load(&s->phase)) {
		case PHASE_RUN:
			if (resting)
				pthread_mutex_unlock(&c.helping);
			resting = false;
			operate(&c);
			break;
		case PHASE_CHECK:
			checks = atomic_load(&s->checks);
			if (checked != checks) {
				atomic_store(&c.m->doing, OP_CHECK);
				check_all(&c);
				checked = checks;
			}
			atomic_store(&c.m->checked, checks);
			usleep(2000);
			break;
		default:
			if (!resting)
				pthread_mutex_lock(&c.helping);
			resting = true;
			if (rested != round) {
				while (c.works)
					client_work_end(&c, 0);
				heap_fork_end(&c, true);
				rested = round;
			}
			atomic_store(&c.m->idle, round);
			usleep(2000);
		}
	}
	_exit(1);
}
