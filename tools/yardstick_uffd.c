// SPDX-License-Identifier: GPL-2.0
/*
 * The yardstick: userfaultfd resolves a missing page, as a pager in user space does it
 * (userfaultfd(2)). The fault wakes a handler thread in poll(); the thread reads the message
 * and copies a page with UFFDIO_COPY, which wakes the faulting thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "output.h"
#include "yardstick.h"

struct pager {
	int uffd, stop;		/* stop: an eventfd */
	uint8_t *source;	/* one page, copied each time */
	size_t resolved;
	int error;
};

static void *pager_thread(void *arg)
{
	struct pager *p = arg;
	struct pollfd fds[2] = {
		{ .fd = p->uffd, .events = POLLIN },
		{ .fd = p->stop, .events = POLLIN },
	};
	struct uffd_msg msg;

	for (;;) {
		struct uffdio_copy copy = { .src = (uintptr_t)p->source, .len = PAGE_BYTES };

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			return NULL;
		if (read(p->uffd, &msg, sizeof(msg)) != sizeof(msg))
			continue;
		if (msg.event != UFFD_EVENT_PAGEFAULT)
			continue;
		copy.dst = msg.arg.pagefault.address & ~(PAGE_BYTES - 1);
		if (ioctl(p->uffd, UFFDIO_COPY, &copy))
			break;
		p->resolved++;
	}
	p->error = -errno;
	/* Nobody will resolve later faults: they get zeroes. */
	close(p->uffd);
	p->uffd = -1;
	return NULL;
}

static int open_uffd(struct err *err)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	struct uffdio_api api = { .api = UFFD_API };

	if (fd < 0)
		return err_set(err, -errno, "userfaultfd: %s", strerror(errno));
	if (ioctl(fd, UFFDIO_API, &api)) {
		int ret = err_set(err, -errno, "UFFDIO_API: %s", strerror(errno));

		close(fd);
		return ret;
	}
	return fd;
}

/* Touches each page once; the pager has it to itself. */
static int touch_all(struct pager *p, volatile uint8_t *pages, uint64_t *samples,
		     size_t n, struct err *err)
{
	uint64_t one = 1;
	pthread_t thread;
	int ret;

	ret = -pthread_create(&thread, NULL, pager_thread, p);
	if (ret)
		return err_set(err, ret, "thread: %s", strerror(-ret));
	for (size_t i = 0; i < n; i++) {
		uint64_t begin = now_ns();

		pages[i * PAGE_BYTES] = 1;
		samples[i] = now_ns() - begin;
	}
	if (write(p->stop, &one, sizeof(one)) != sizeof(one))
		pthread_cancel(thread);
	pthread_join(thread, NULL);
	if (p->error)
		return err_set(err, p->error, "userfaultfd: %s", strerror(-p->error));
	if (p->resolved != n)
		return err_set(err, -EPROTO, "userfaultfd resolved %zu of %zu faults",
			       p->resolved, n);
	for (size_t i = 0; i < n; i++)
		if (pages[i * PAGE_BYTES + 1] != 0x5a)
			return err_set(err, -EBADMSG, "userfaultfd: page %zu was not copied", i);
	return 0;
}

int yardstick_uffd(uint64_t *samples, size_t n, struct err *err)
{
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	size_t bytes = (n + 1) * PAGE_BYTES;
	struct pager p = { 0 };
	uint8_t *area;
	int ret;

	p.uffd = open_uffd(err);
	if (p.uffd < 0)
		return p.uffd;
	p.stop = eventfd(0, EFD_CLOEXEC);
	area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p.stop < 0 || area == MAP_FAILED) {
		ret = err_set(err, -errno, "userfaultfd: %s", strerror(errno));
		goto out;
	}
	madvise(area, bytes, MADV_NOHUGEPAGE);
	/* The last page is the source and stays out of the registered range. */
	p.source = area + n * PAGE_BYTES;
	memset(p.source, 0x5a, PAGE_BYTES);
	reg.range.start = (uintptr_t)area;
	reg.range.len = n * PAGE_BYTES;
	if (ioctl(p.uffd, UFFDIO_REGISTER, &reg))
		ret = err_set(err, -errno, "UFFDIO_REGISTER: %s", strerror(errno));
	else
		ret = touch_all(&p, area, samples, n, err);
out:
	if (area != MAP_FAILED)
		munmap(area, bytes);
	if (p.stop >= 0)
		close(p.stop);
	if (p.uffd >= 0)
		close(p.uffd);
	return ret;
}
