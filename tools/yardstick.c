// SPDX-License-Identifier: GPL-2.0
/*
 * The yardsticks that need no handler: minor fault, pipe round trip, memcpy.
 * (userfaultfd: yardstick_uffd.c.) A sample includes one clock reading, as the
 * far fault's own stamps do.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "output.h"
#include "yardstick.h"

#define COLD_BYTES	(32u << 20)	/* bytes of each ring of the memcpy */
/*
 * Keeps source and target apart in everything that low address bits index: caches, and the
 * translations of an emulated CPU, where it halves the time.
 */
#define SKEW_BYTES	(37u * PAGE_BYTES)

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t yardstick_permille(uint64_t *samples, size_t n, unsigned int permille)
{
	size_t rank;

	if (!n)
		return 0;
	qsort(samples, n, sizeof(*samples), compare);
	rank = DIV_ROUND_UP(n * permille, 1000);
	return samples[rank ? rank - 1 : 0];
}

/* Small pages, not mapped yet. */
static uint8_t *anonymous(size_t bytes, struct err *err)
{
	uint8_t *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		err_set(err, -errno, "mmap of %zu bytes: %s", bytes, strerror(errno));
		return NULL;
	}
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

int yardstick_minor_fault(uint64_t *samples, size_t n, struct err *err)
{
	volatile uint8_t *p = anonymous(n * PAGE_BYTES, err);

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint64_t begin = now_ns();

		p[i * PAGE_BYTES] = 1;
		samples[i] = now_ns() - begin;
	}
	munmap((void *)p, n * PAGE_BYTES);
	return 0;
}

struct echo {
	int from, to;
};

static void *echo_thread(void *arg)
{
	struct echo *e = arg;
	char byte;

	/* Ends when the other side closes its pipe. */
	while (read(e->from, &byte, 1) == 1 && write(e->to, &byte, 1) == 1)
		;
	return NULL;
}

int yardstick_pipe(uint64_t *samples, size_t n, struct err *err)
{
	int there[2], back[2], ret = 0;
	pthread_t thread;
	struct echo e;
	char byte = 0;

	if (pipe(there))
		return err_set(err, -errno, "pipe: %s", strerror(errno));
	if (pipe(back)) {
		ret = err_set(err, -errno, "pipe: %s", strerror(errno));
		goto close_there;
	}
	e.from = there[0];
	e.to = back[1];
	ret = -pthread_create(&thread, NULL, echo_thread, &e);
	if (ret) {
		err_set(err, ret, "thread: %s", strerror(-ret));
		goto close_back;
	}
	for (size_t i = 0; i < n && !ret; i++) {
		uint64_t begin = now_ns();

		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			ret = err_set(err, -EIO, "pipe: %s", strerror(errno));
		samples[i] = now_ns() - begin;
	}
	close(there[1]);
	there[1] = -1;
	pthread_join(thread, NULL);
close_back:
	close(back[0]);
	close(back[1]);
close_there:
	close(there[0]);
	if (there[1] >= 0)
		close(there[1]);
	return ret;
}

int yardstick_memcpy(uint64_t *samples, size_t n, size_t bytes, struct err *err)
{
	size_t ring = MAX(COLD_BYTES / bytes, 1u);
	uint8_t *area = anonymous(2 * ring * bytes + SKEW_BYTES, err);
	uint8_t *from = area, *to = area + ring * bytes + SKEW_BYTES;

	if (!area)
		return -ENOMEM;
	memset(from, 0x5a, ring * bytes);
	memset(to, 0xa5, ring * bytes);
	for (size_t i = 0; i < n; i++) {
		/* An odd step through the ring reaches every piece, but not in order. */
		size_t at = (i * 7919 % ring) * bytes;
		uint64_t begin = now_ns();

		memcpy(to + at, from + at, bytes);
		/* The compiler must not see that nobody reads the copy. */
		__asm__ volatile("" : : "r"(to + at) : "memory");
		samples[i] = now_ns() - begin;
	}
	munmap(area, 2 * ring * bytes + SKEW_BYTES);
	return 0;
}
