// SPDX-License-Identifier: GPL-2.0
/*
 * What a client does to its ordinary memory, and to nothing else: mappings of each kind, advice
 * that frees, moves to another address and back, children that have the same pages, and
 * a userfaultfd that it serves itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz/client.h"
#include "fuzz/kcov.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum {
	LOOK = 8,		/* pages that a child compares */
	CHILD_US = 200000,	/* it lives for so long at most */
};

/* --- the section that is watched --- */

/* A page that lacks is a page of zeroes, and what must not be written may be. */
static int answer(struct client *c, const struct uffd_msg *msg)
{
	uint64_t page = msg->arg.pagefault.address & ~(PAGE - 1);
	struct uffdio_writeprotect may = { .range = { page, PAGE } };
	struct uffdio_zeropage zero = { .range = { page, PAGE } };
	int ret;

	do {
		ret = msg->arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WP ?
			      ioctl(c->watch, UFFDIO_WRITEPROTECT, &may) :
			      ioctl(c->watch, UFFDIO_ZEROPAGE, &zero);
	} while (ret && errno == EAGAIN);
	/* Somebody else has been faster, or the mapping is gone. */
	return ret ? ioctl(c->watch, UFFDIO_WAKE, &zero.range) : 0;
}

static void *serve_watch(void *arg)
{
	struct client *c = arg;
	struct uffd_msg msg;

	kcov_begin();
	while (!c->s->failed) {
		if (read(c->watch, &msg, sizeof(msg)) == sizeof(msg) &&
		    msg.event == UFFD_EVENT_PAGEFAULT)
			answer(c, &msg);
		kcov_take();
	}
	return NULL;
}

static int watch_open(struct client *c)
{
	struct uffdio_api api = {
		.api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP,
	};
	pthread_t thread;

	c->watch = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (c->watch < 0 || ioctl(c->watch, UFFDIO_API, &api))
		return -1;
	return pthread_create(&thread, NULL, serve_watch, c);
}

static int watch_pages(struct client *c, const uint8_t *at, size_t bytes)
{
	struct uffdio_register range = {
		.range = { (uintptr_t)at, bytes },
		.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP,
	};

	return ioctl(c->watch, UFFDIO_REGISTER, &range);
}

/* Writes are watched from now on: by its userfaultfd, or seldom by soft-dirty bits. */
void heap_watch(struct client *c, int page, int pages)
{
	struct uffdio_writeprotect wp = {
		.range = { (uintptr_t)page_addr(c->s, page), pages * PAGE },
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};
	int ret = 0, fd;

	if (section_of(page)->kind == KIND_WATCHED) {
		ret = ioctl(c->watch, UFFDIO_WRITEPROTECT, &wp);
	} else if (one_in(&c->x, 40)) {
		fd = open("/proc/self/clear_refs", O_WRONLY);
		ret = write(fd, "4", 1);
		close(fd);
	} else {
		return;
	}
	note(c->s, OP_WATCH, c->me, page, pages, ret < 0 ? -errno : 0);
}

/* --- mappings --- */

bool heap_stays(int page)
{
	enum kind kind = section_of(page)->kind;

	return kind == KIND_FILE || kind == KIND_READ_ONLY;
}

static bool is_private(enum kind kind)
{
	return kind == KIND_ANONYMOUS || kind == KIND_HUGE || kind == KIND_WATCHED ||
	       kind == KIND_PRIVATE;
}

uint8_t *heap_map(struct client *c, int page, int pages)
{
	const int rw = PROT_READ | PROT_WRITE;
	enum kind kind = section_of(page)->kind;
	off_t offset = (off_t)(page - PAGES) * PAGE;
	uint8_t *at = page_addr(c->s, page), *got;
	size_t bytes = pages * PAGE;

	if (kind == KIND_PRIVATE)
		got = mmap(at, bytes, rw, MAP_PRIVATE | MAP_FIXED, c->file, offset);
	else if (kind == KIND_SHARED)
		got = mmap(at, bytes, rw, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	else if (kind == KIND_FILE)
		got = mmap(at, bytes, rw, MAP_SHARED | MAP_FIXED, c->file, offset);
	else if (kind == KIND_READ_ONLY)
		got = mmap(at, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, c->file, offset);
	else
		got = mmap(at, bytes, rw, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (got != at)
		return NULL;
	if (kind == KIND_HUGE)
		madvise(at, bytes, MADV_HUGEPAGE);
	if (kind == KIND_WATCHED && watch_pages(c, at, bytes))
		return NULL;
	return at;
}

static int map_alias(struct client *c, const struct section *of)
{
	return mmap(c->s->alias, of->pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		    c->file, (off_t)(of->first - PAGES) * PAGE) == c->s->alias ? 0 : -1;
}

/* The GPU may have all of it from now on. */
int heap_open(struct client *c)
{
	struct gpuemu_pageable give = { .size = sizeof(give) };
	const struct section *of;
	int page;

	c->file = memfd_create("fuzz", MFD_CLOEXEC);
	if (c->file < 0 || ftruncate(c->file, (off_t)(ALL_PAGES - PAGES) * PAGE) || watch_open(c))
		return -1;
	errno = -call(c->fd, GPUEMU_IOCTL_PAGEABLE, &give);
	if (errno)
		return -1;
	for (page = PAGES; page < ALL_PAGES; page += of->pages) {
		of = section_of(page);
		if (of->kind == KIND_READ_ONLY && map_alias(c, of))
			return -1;
		map_again(c, page, of->pages, OP_MMAP);
	}
	return 0;
}

/* --- advice --- */

/* What the advice leaves there. -1: it does nothing to a page's content, nor to the GPU's. */
static int left_by(int advice, enum kind kind)
{
	bool anonymous = is_private(kind) && kind != KIND_PRIVATE;

	if (advice == MADV_DONTNEED && is_private(kind))
		return LEFT_ZERO;
	if (advice == MADV_REMOVE && (kind == KIND_SHARED || kind == KIND_FILE))
		return LEFT_ZERO;
	return advice == MADV_FREE && anonymous ? LEFT_EITHER : -1;
}

void heap_advise(struct client *c, int page, int pages)
{
	static const int advice[] = {
		MADV_DONTNEED, MADV_DONTNEED, MADV_DONTNEED, MADV_FREE, MADV_FREE, MADV_REMOVE,
		MADV_COLLAPSE, MADV_COLLAPSE, MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_COLD,
		MADV_PAGEOUT, MADV_PAGEOUT, MADV_WILLNEED, MADV_POPULATE_READ,
		MADV_POPULATE_WRITE,
	};
	int which = advice[below(&c->x, sizeof(advice) / sizeof(advice[0]))], left, ret;

	if (memchr(c->m->hole + page, 1, pages))
		return;
	/* A kernel may let it free pages of a file that it could map to be written. */
	if (which == MADV_REMOVE && section_of(page)->kind == KIND_READ_ONLY)
		return;
	left = left_by(which, section_of(page)->kind);
	if (left >= 0)
		remap_begin(c->s, c->me, page, pages, left);
	ret = madvise(page_addr(c->s, page), pages * PAGE, which) ? -errno : 0;
	note(c->s, OP_ADVISE, c->me, page, pages, ret);
	if (left < 0)
		return;
	if (ret)
		fail(c->s, c->me, page, "madvise %d of %d pages at %d: %d", which, pages, page,
		     ret);
	remap_end(c->s, c->me, page, pages);
}

/* --- another address --- */

/* Away, and back again: nothing changes, but for what the GPU writes meanwhile, which is lost. */
void heap_away(struct client *c, int page, int pages)
{
	uint8_t *at = page_addr(c->s, page), *away = c->s->heap + 4 * BLOCK, *got;
	enum kind kind = section_of(page)->kind;
	const size_t mine = HELPER_LANE * LANE_WORDS * 8, bytes = pages * PAGE;
	uint8_t before[HELPER_LANE * LANE_WORDS * 8];

	if (kind == KIND_WATCHED || memchr(c->m->hole + page, 1, pages))
		return;
	remap_begin(c->s, c->me, page, pages, LEFT_SAME);
	memcpy(before, at, mine);
	got = mremap(at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, away);
	note(c->s, OP_AWAY, c->me, page, pages, got == away ? 0 : -errno);
	/* It was several mappings, which older kernels do not move. */
	if (got != away)
		goto out;
	usleep(below(&c->x, 1000));
	if (one_in(&c->x, 2) && memcmp(before, away, mine))
		fail(c->s, c->me, page, "the page is another one at its new address");
	got = mremap(away, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at);
	if (got != at) {
		fail(c->s, c->me, page, "mremap back to page %d: errno %d", page, errno);
		_exit(1);
	}
out:
	remap_end(c->s, c->me, page, pages);
}

/* --- children --- */

/* Before a fork and behind it: an engine that is slow may write what is the child's, too. */
static void around_fork(struct client *c, bool begin)
{
	int i;

	for (i = PAGES; i < c->s->pages; i++) {
		if (c->m->hole[i] || !is_private(section_of(i)->kind))
			continue;
		if (begin)
			remap_begin(c->s, c->me, i, 1, LEFT_SAME);
		else
			remap_end(c->s, c->me, i, 1);
	}
}

/* What a child does with pages of its own: nobody else sees it. */
static void play(struct client *c, int page, int pages)
{
	switch (below(&c->x, 4)) {
	case 0:
		memset(page_addr(c->s, page), 0xee, pages * PAGE);
		break;
	case 1:
		munmap(page_addr(c->s, page), pages * PAGE);
		break;
	case 2:
		madvise(page_addr(c->s, page), pages * PAGE, MADV_DONTNEED);
		break;
	}
}

/*
 * Has what its parent had, and keeps it, whatever the parent and the GPU do. state: the
 * parent's, before; quick: so the GPU had forgotten the pages before there were two of them.
 */
static void live(struct client *c, int page, int pages, uint64_t (*state)[LANES], bool quick)
{
	static uint8_t copy[LOOK][PAGE];
	int look = pages < LOOK ? pages : LOOK, i, lane;

	for (i = 0; i < look; i++) {
		memcpy(copy[i], page_addr(c->s, page + i), PAGE);
		for (lane = 0; lane < LANES; lane++)
			if (!lane_was(c->s, c->me, page + i, lane, state[i][lane],
				      (uint64_t *)copy[i] + lane * LANE_WORDS))
				fail(c->s, c->me, page + i,
				     "a child of client %d does not have lane %d of page %d",
				     c->me, lane, page + i);
	}
	if (pages > look)
		play(c, page + look, pages - look);
	usleep(below(&c->x, CHILD_US));
	for (i = 0; quick && i < look; i++)
		if (memcmp(copy[i], page_addr(c->s, page + i), PAGE))
			fail(c->s, c->me, page + i,
			     "page %d of a child of client %d has changed", page + i, c->me);
	atomic_fetch_add(&c->s->children, quick);
}

void heap_fork(struct client *c, int page, int pages)
{
	uint64_t state[LOOK][LANES], begun;
	int i, lane;
	pid_t pid;

	heap_fork_end(c, false);
	if (c->child || !is_private(section_of(page)->kind) ||
	    memchr(c->m->hole + page, 1, pages))
		return;
	around_fork(c, true);
	for (i = 0; i < LOOK && i < pages; i++)
		for (lane = 0; lane < LANES; lane++)
			state[i][lane] = atomic_load(&c->m->lane[page + i][lane]);
	begun = now_ms();
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		kcov_begin();
		live(c, page, pages, state, now_ms() - begun < FORGET_MS);
		kcov_take();
		_exit(0);
	}
	around_fork(c, false);
	c->child = pid > 0 ? pid : 0;
	note(c->s, OP_FORK, c->me, page, pages, pid > 0 ? 0 : -errno);
}

void heap_fork_end(struct client *c, bool wait)
{
	int status;
	pid_t pid;

	if (!c->child)
		return;
	do {
		pid = waitpid(c->child, &status, wait ? 0 : WNOHANG);
	} while (pid < 0 && errno == EINTR);
	if (!pid)
		return;
	c->child = 0;
	if (pid < 0 || status)
		fail(c->s, c->me, -1, "a child of client %d ended with %#x", c->me, status);
}
