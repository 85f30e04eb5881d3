// SPDX-License-Identifier: GPL-2.0
/*
 * The uffd backend's device memory: frames in an arena of this process. Which
 * page has which frame is uffd_move.c's business; every frame is overwritten
 * whole before the GPU can read it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "service/uffd_device.h"

/* Address space that is set aside, so that frames stay where they are when more are asked for. */
#define RESERVE		(1ull << 40)
#define WARM_MAX	((256ull << 20) / PAGE_BYTES)	/* that get memory before they are used */
#define FRAMES_MAX	((1ull << 32) - 2)	/* a frame number + 1 has 32 bits */

/* Frames of [0, room) exist; what is behind is address space alone. */
static int grow(struct uffd_frames *f, uint64_t count)
{
	uint64_t *busy;

	if (count <= f->room)
		return 0;
	if (count > FRAMES_MAX || count * PAGE_BYTES > f->reserved)
		return -ENOMEM;
	busy = realloc(f->busy, BITMAP_WORDS(count) * sizeof(*busy));
	if (!busy)
		return -ENOMEM;
	f->busy = busy;
	if (mprotect(f->at, count * PAGE_BYTES, PROT_READ | PROT_WRITE))
		return -ENOMEM;
	for (uint64_t i = BITMAP_WORDS(f->room); i < BITMAP_WORDS(count); i++)
		busy[i] = 0;
	f->room = count;
	return 0;
}

int uffd_frames_init(struct uffd_frames *f, uint64_t bytes)
{
	void *p;
	int ret;

	*f = (struct uffd_frames){ .at = NULL };
	if (bytes < PAGE_BYTES)
		return -EINVAL;
	if (bytes / PAGE_BYTES > FRAMES_MAX)
		return -ENOMEM;
	f->reserved = MAX(bytes / PAGE_BYTES * PAGE_BYTES, RESERVE);
	p = mmap(NULL, f->reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) {
		/* A limit on address space: what is needed, and no more. */
		f->reserved = bytes / PAGE_BYTES * PAGE_BYTES;
		p = mmap(NULL, f->reserved, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	}
	if (p == MAP_FAILED)
		return -ENOMEM;
	f->at = p;
	/* A child has no GPU. Huge pages: the engine reads frames all over the place. */
	madvise(p, f->reserved, MADV_DONTFORK);
	madvise(p, f->reserved, MADV_HUGEPAGE);
	ret = uffd_frames_resize(f, bytes);
	if (ret)
		uffd_frames_fini(f);
	return ret;
}

void uffd_frames_fini(struct uffd_frames *f)
{
	if (f->at)
		munmap(f->at, f->reserved);
	free(f->busy);
	*f = (struct uffd_frames){ .at = NULL };
}

int uffd_frames_resize(struct uffd_frames *f, uint64_t bytes)
{
	int ret;

	if (bytes < PAGE_BYTES)
		return -EINVAL;
	if (bytes / PAGE_BYTES < f->used)
		return -EBUSY;
	ret = grow(f, bytes / PAGE_BYTES);
	if (!ret)
		f->count = bytes / PAGE_BYTES;
	return ret;
}

static bool is_busy(const struct uffd_frames *f, uint64_t frame)
{
	return f->busy[frame / 64] >> (frame % 64) & 1;
}

/*
 * While fewer than count are in use, one of the first count is free: room only
 * shrinks in count, never below what is used.
 */
uint32_t uffd_frames_take(struct uffd_frames *f, uint32_t want, uint32_t *first)
{
	uint64_t left = f->count - MIN(f->used, f->count), at = f->lowest;
	uint32_t n = 0;

	want = (uint32_t)MIN(want, left);
	if (!want)
		return 0;
	while (is_busy(f, at))
		at = f->busy[at / 64] == UINT64_MAX ? (at / 64 + 1) * 64 : at + 1;
	*first = (uint32_t)at;
	for (; n < want && at < f->count && !is_busy(f, at); n++, at++)
		f->busy[at / 64] |= 1ull << (at % 64);
	f->lowest = at;
	f->used += n;
	f->warm = MAX(f->warm, at);
	return n;
}

void uffd_frames_give(struct uffd_frames *f, uint32_t first, uint32_t n)
{
	for (uint64_t at = first; at < (uint64_t)first + n; at++)
		f->busy[at / 64] &= ~(1ull << (at % 64));
	f->used -= n;
	f->lowest = MIN(f->lowest, first);
}

void uffd_frames_warm(struct uffd_frames *f, uint64_t n)
{
	n = MIN(MIN(n, f->count), WARM_MAX);
	if (n <= f->warm)
		return;
#ifdef MADV_POPULATE_WRITE
	/* Since Linux 5.14; elsewhere the first use of a frame is a fault of its own. */
	madvise(uffd_frame(f, (uint32_t)f->warm), (n - f->warm) * PAGE_BYTES,
		MADV_POPULATE_WRITE);
#endif
	f->warm = n;
}
