// SPDX-License-Identifier: GPL-2.0
/*
 * The pager: the thread that reads userfaultfd's messages and answers the CPU.
 * What the CPU touches for the first time is zero; what is in device memory
 * comes back at once while the engine rests, else when it polls.
 */
#include <errno.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/array.h"
#include "service/uffd_device.h"

#define MESSAGES	16

static void wake(struct uffd *u, uint64_t addr)
{
	struct uffdio_range range = { addr, PAGE_BYTES };

	ioctl(u->fd, UFFDIO_WAKE, &range);
}

/* A page of zeros, protected where the caller copies the page away. It may be there already. */
static void fill_zero(struct uffd *u, uint64_t addr, bool protected)
{
	static const unsigned char zeros[PAGE_BYTES] __attribute__((aligned(4096)));
	struct uffdio_copy copy = {
		.dst = addr, .src = (uintptr_t)zeros, .len = PAGE_BYTES,
		.mode = protected ? UFFDIO_COPY_MODE_WP : 0,
	};

	/* A thread that is woken faults again, so nothing else matters here. */
	if (ioctl(u->fd, UFFDIO_COPY, &copy))
		wake(u, addr);
}

static void unprotect(struct uffd *u, uint64_t addr)
{
	struct uffdio_writeprotect wp = { .range = { addr, PAGE_BYTES } };

	if (ioctl(u->fd, UFFDIO_WRITEPROTECT, &wp))
		wake(u, addr);
}

/* --- what the engine is asked for ------------------------------------------------ */

static int wish(struct uffd *u, uint64_t start, uint64_t end, bool gone)
{
	if (array_grow(u->wishes, u->wish_room, u->nwishes))
		return -ENOMEM;
	u->wishes[u->nwishes++] = (struct uffd_wish){ start, end, gone };
	atomic_store_explicit(&u->attention, true, memory_order_release);
	return 0;
}

/* A page that cannot come back for want of memory is tried again: its toucher waits. */
void uffd_grant(struct uffd *u)
{
	size_t left = 0;

	for (size_t i = 0; i < u->nwishes; i++) {
		struct uffd_wish w = u->wishes[i];

		if (w.gone)
			uffd_forget(u, w.start, w.end);
		else if (uffd_bring_back(u, w.start, w.end))
			u->wishes[left++] = w;
		else
			wake(u, w.start);
	}
	u->nwishes = left;
	if (left)
		atomic_store_explicit(&u->attention, true, memory_order_release);
}

/* --- messages ----------------------------------------------------------------------- */

static void touched(struct uffd *u, uint64_t addr, bool protection)
{
	if (uffd_frame_of(u, addr)) {
		/* Without memory for the wish: it faults again. */
		if (!u->worker ? uffd_bring_back(u, addr, addr + PAGE_BYTES) :
				 wish(u, addr, addr + PAGE_BYTES, false))
			wake(u, addr);
	} else if (protection) {
		/* It was to move and did not, or has come back meanwhile. */
		unprotect(u, addr);
	} else {
		fill_zero(u, addr, false);
	}
}

/* A program has unmapped managed memory by itself. */
static void unmapped(struct uffd *u, uint64_t start, uint64_t end)
{
	ranges_cut(&u->managed, u->va_space, start, end);
	if (!u->worker || wish(u, start, end, true))
		uffd_forget(u, start, end);
}

static uint64_t page_of(const struct uffd_msg *msg)
{
	return msg->arg.pagefault.address & ~(PAGE_BYTES - 1);
}

/* With the lock. */
static void answer(struct uffd *u, const struct uffd_msg *msg)
{
	if (msg->event == UFFD_EVENT_PAGEFAULT)
		touched(u, page_of(msg), msg->arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WP);
	else if (msg->event == UFFD_EVENT_UNMAP)
		unmapped(u, msg->arg.remove.start, msg->arg.remove.end);
}

/* Messages that were read and are not answered yet. */
struct backlog {
	struct uffd_msg *at;
	size_t count, room;
};

static void put_off(struct uffd *u, struct backlog *b, const struct uffd_msg *msg)
{
	if (array_grow(b->at, b->room, b->count)) {
		/* No memory: a toucher asks again. */
		if (msg->event == UFFD_EVENT_PAGEFAULT)
			wake(u, page_of(msg));
		return;
	}
	b->at[b->count++] = *msg;
}

/* The mover holds the lock while it waits for its hole: it is answered at once. */
static int read_messages(struct uffd *u, struct backlog *b)
{
	struct uffd_msg messages[MESSAGES];
	ssize_t bytes = read(u->fd, messages, sizeof(messages));

	if (bytes < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	for (size_t i = 0; i < (size_t)bytes / sizeof(messages[0]); i++) {
		const struct uffd_msg *msg = &messages[i];

		if (msg->event == UFFD_EVENT_PAGEFAULT &&
		    (int)msg->arg.pagefault.feat.ptid == atomic_load(&u->mover))
			fill_zero(u, page_of(msg), true);
		else
			put_off(u, b, msg);
	}
	return 0;
}

/* The lock's holder calls it when the pager waits. So the pager looks again after it said so. */
static bool take_lock(struct uffd *u)
{
	if (!pthread_mutex_trylock(&u->lock))
		return true;
	atomic_store(&u->pager_waits, true);
	return !pthread_mutex_trylock(&u->lock);
}

void uffd_lock(struct uffd *u)
{
	pthread_mutex_lock(&u->lock);
}

void uffd_unlock(struct uffd *u)
{
	pthread_mutex_unlock(&u->lock);
	if (atomic_exchange(&u->pager_waits, false))
		eventfd_write(u->call_fd, 1);
}

static void *pager_thread(void *arg)
{
	struct uffd *u = arg;
	struct pollfd fds[2] = {
		{ .fd = u->fd, .events = POLLIN },
		{ .fd = u->call_fd, .events = POLLIN },
	};
	struct backlog backlog = { NULL };
	eventfd_t calls;

	while (!atomic_load(&u->quit)) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			eventfd_read(u->call_fd, &calls);
		if (read_messages(u, &backlog))
			break;
		if (!backlog.count || !take_lock(u))
			continue;
		for (size_t i = 0; i < backlog.count; i++)
			answer(u, &backlog.at[i]);
		backlog.count = 0;
		pthread_mutex_unlock(&u->lock);
	}
	free(backlog.at);
	if (!atomic_load(&u->quit)) {
		atomic_store(&u->lost, true);
		atomic_store(&u->attention, true);
	}
	return NULL;
}

int uffd_pager_start(struct uffd *u)
{
	sigset_t all, old;
	int ret;

	u->call_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (u->call_fd < 0)
		return -errno;
	/* The program's signals are its own threads'. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = -pthread_create(&u->pager, NULL, pager_thread, u);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	u->pager_runs = !ret;
	return ret;
}

void uffd_pager_stop(struct uffd *u)
{
	if (!u->pager_runs)
		return;
	atomic_store(&u->quit, true);
	eventfd_write(u->call_fd, 1);
	pthread_join(u->pager, NULL);
	u->pager_runs = false;
}
