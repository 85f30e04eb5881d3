// SPDX-License-Identifier: GPL-2.0
/*
 * How a run of pages moves under userfaultfd, and the books of where each page is.
 *
 * To device memory: watch the block, write-protect the run so that the CPU
 * cannot write while it is copied, copy to frames, take the pages away. A
 * thread that touches one from then on stops at a missing page. One that stopped at the
 * protection is woken later and stops again there. Back: UFFDIO_COPY from the
 * frame, which puts content and mapping there at once and wakes.
 */
#include <errno.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "service/uffd_device.h"

/* /proc/PID/pagemap: in memory, or on swap (Documentation/admin-guide/mm/pagemap.rst). */
#define PAGEMAP_THERE	(1ull << 63 | 1ull << 62)

/* Pages in a row with one answer. */
struct run {
	uint64_t addr;
	uint32_t pages;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Adds what passed since *at to a stage; *at is now. */
static void stage(uint64_t *sum, uint64_t *at)
{
	uint64_t now = now_ns();

	*sum += now - *at;
	*at = now;
}

/* --- the books --------------------------------------------------------------- */

struct uffd_block *uffd_block_find(const struct uffd *u, uint64_t addr)
{
	uint64_t i;

	return u64map_get(&u->index, addr >> BLOCK_SHIFT, &i) ? u->blocks[i] : NULL;
}

static struct uffd_block *block_make(struct uffd *u, uint64_t addr)
{
	struct uffd_block *block = uffd_block_find(u, addr);

	if (block)
		return block;
	if (array_grow(u->blocks, u->block_room, u->nblocks))
		return NULL;
	block = calloc(1, sizeof(*block));
	if (!block || u64map_put(&u->index, addr >> BLOCK_SHIFT, u->nblocks)) {
		free(block);
		return NULL;
	}
	block->addr = addr >> BLOCK_SHIFT << BLOCK_SHIFT;
	u->blocks[u->nblocks++] = block;
	return block;
}

uint32_t uffd_frame_of(const struct uffd *u, uint64_t addr)
{
	const struct uffd_block *block = uffd_block_find(u, addr);

	return block ? block->frame[uffd_page(addr)] : 0;
}

bool uffd_remote(const struct uffd *u, uint64_t addr)
{
	const struct uffd_block *block = uffd_block_find(u, addr);

	return block && bitmap_test(block->remote, uffd_page(addr));
}

void uffd_invalidate(struct uffd *u, uint64_t start, uint64_t end, bool evicted)
{
	unsigned int n = u->ninvalidates;
	struct service_invalidate *last = n ? &u->invalidates[n - 1] : NULL;

	atomic_store_explicit(&u->attention, true, memory_order_release);
	if (last && !last->va_space)
		return;
	if (last && last->evicted == evicted && last->end == start) {
		last->end = end;
	} else if (n == UFFD_INVALIDATES) {
		u->invalidates[0] = (struct service_invalidate){ .end = UINT64_MAX };
		u->ninvalidates = 1;
	} else {
		u->invalidates[u->ninvalidates++] = (struct service_invalidate){
			.start = start, .end = end, .va_space = u->va_space, .evicted = evicted,
		};
	}
}

/* Pages from start on, before end and in one block, that lie in frames that lie together. */
static struct run framed_run(const struct uffd *u, uint64_t start, uint64_t end)
{
	const struct uffd_block *block = uffd_block_find(u, start);
	unsigned int page = uffd_page(start);
	struct run run = { start, 0 };

	end = MIN(end, ((start >> BLOCK_SHIFT) + 1) << BLOCK_SHIFT);
	if (!block || !block->frame[page])
		return run;
	do {
		run.pages++;
	} while (start + run.pages * PAGE_BYTES < end &&
		 block->frame[page + run.pages] == block->frame[page] + run.pages);
	return run;
}

static void release(struct uffd *u, const struct run *run)
{
	struct uffd_block *block = uffd_block_find(u, run->addr);
	unsigned int page = uffd_page(run->addr);

	uffd_frames_give(&u->frames, block->frame[page] - 1, run->pages);
	memset(&block->frame[page], 0, run->pages * sizeof(block->frame[0]));
}

static void release_all(struct uffd *u, uint64_t start, uint64_t end)
{
	while (start < end) {
		struct run run = framed_run(u, start, end);

		if (run.pages)
			release(u, &run);
		start += MAX(run.pages, 1u) * PAGE_BYTES;
	}
}

void uffd_forget(struct uffd *u, uint64_t start, uint64_t end)
{
	const uint64_t block_bytes = 1ull << BLOCK_SHIFT;

	for (uint64_t at = start, next; at < end; at = next) {
		struct uffd_block *block = uffd_block_find(u, at);

		next = MIN((at / block_bytes + 1) * block_bytes, end);
		if (!block)
			continue;
		release_all(u, at, next);
		for (; at < next; at += PAGE_BYTES) {
			bitmap_clear(block->watched, uffd_page(at));
			bitmap_clear(block->remote, uffd_page(at));
		}
	}
	uffd_invalidate(u, start, end, false);
}

/* --- to system memory --------------------------------------------------------- */

/*
 * A run whose frames lie together goes back in one call, or as much of it as
 * can; returns how many pages. One call is for one mapping, and a program may
 * have cut what it was given: then page by page. What is not mapped any more is
 * dropped: nobody can miss it.
 */
static uint32_t give_run(struct uffd *u, struct run run, bool evicted, int *status)
{
	const unsigned char *from =
		uffd_frame(&u->frames, uffd_frame_of(u, run.addr) - 1);
	uint32_t done = 0, step = run.pages;

	*status = 0;
	while (done < run.pages && !*status) {
		struct uffdio_copy copy = {
			.dst = run.addr + done * PAGE_BYTES,
			.src = (uintptr_t)from + done * PAGE_BYTES,
			.len = MIN(step, run.pages - done) * PAGE_BYTES,
		};

		if (!ioctl(u->fd, UFFDIO_COPY, &copy) || copy.copy > 0)
			done += (uint32_t)((uint64_t)copy.copy / PAGE_BYTES);
		else if (errno == EAGAIN && !atomic_load(&u->lost))
			/* The address space is changing; the pager reads what is in the way. */
			sched_yield();
		else if (errno == EAGAIN)
			*status = -ENODEV;
		else if (errno == ENOMEM || errno == EFAULT)
			*status = -ENOMEM;
		else if (step > 1)
			step = 1;
		else
			done++;
	}
	run.pages = done;
	if (done) {
		release(u, &run);
		uffd_invalidate(u, run.addr, run.addr + done * PAGE_BYTES, evicted);
	}
	return done;
}

int uffd_bring_back(struct uffd *u, uint64_t start, uint64_t end)
{
	int status = 0;

	while (start < end) {
		struct run run = framed_run(u, start, end);
		uint32_t done = run.pages ? give_run(u, run, false, &status) : 1;

		if (status)
			return status;
		start += done * PAGE_BYTES;
	}
	return 0;
}

static void migrate_back(struct uffd *u, struct migration *m, struct service_cost *cost)
{
	uint64_t at = m->addr, end = m->addr + m->pages * PAGE_BYTES, clock = now_ns();

	while (at < end) {
		struct run run = framed_run(u, at, end);
		int status = 0;
		uint32_t done;

		if (!run.pages) {
			if (!ranges_have(&u->managed, u->va_space, at) && !m->status)
				m->status = -EFAULT;
			at += PAGE_BYTES;
			continue;
		}
		done = give_run(u, run, true, &status);
		m->moved += done;
		at += done * PAGE_BYTES;
		if (status && !m->status)
			m->status = status;
		if (status)
			break;
	}
	stage(&cost->evict, &clock);
}

/* The engine does not use the run's pages in system memory any more. */
static void end_remote(struct uffd *u, struct uffd_block *block, const struct run *run)
{
	for (uint64_t at = run->addr; at < run->addr + run->pages * PAGE_BYTES; at += PAGE_BYTES) {
		if (!bitmap_test(block->remote, uffd_page(at)))
			continue;
		bitmap_clear(block->remote, uffd_page(at));
		uffd_invalidate(u, at, at + PAGE_BYTES, true);
	}
}

/*
 * The engine uses pages that have come back, or were never away, where they are: engine and program
 * are one process. It does not hold them: a program that unmaps such a page makes the engine fault.
 */
static void begin_remote(struct uffd *u, struct migration *m)
{
	struct uffd_block *block = block_make(u, m->addr);

	for (uint64_t at = m->addr; at < m->addr + m->pages * PAGE_BYTES; at += PAGE_BYTES) {
		int status = !block ? -ENOMEM :
			     !ranges_have(&u->managed, u->va_space, at) ? -EFAULT : 0;

		if (!status && !block->frame[uffd_page(at)])
			bitmap_set(block->remote, uffd_page(at));
		if (status && !m->status)
			m->status = status;
	}
}

/* --- to device memory ---------------------------------------------------------- */

/* Has userfaultfd watch the range's part of the block. */
static int watch(struct uffd *u, struct uffd_block *block, uint64_t addr)
{
	struct uffdio_register r = {
		.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP,
	};
	struct range range = ranges_at(&u->managed, u->va_space, addr);
	uint64_t start = MAX(range.start, block->addr);
	uint64_t end = MIN(range.end, block->addr + (1ull << BLOCK_SHIFT));

	r.range.start = start;
	r.range.len = end - start;
	if (ioctl(u->fd, UFFDIO_REGISTER, &r))
		return errno == ENOMEM ? -ENOMEM : -EFAULT;
	for (; start < end; start += PAGE_BYTES)
		bitmap_set(block->watched, uffd_page(start));
	return 0;
}

static int protect(struct uffd *u, const struct run *run, bool on)
{
	struct uffdio_writeprotect wp = {
		.range = { run->addr, run->pages * PAGE_BYTES },
		.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0,
	};

	while (ioctl(u->fd, UFFDIO_WRITEPROTECT, &wp)) {
		if (errno != EAGAIN || atomic_load(&u->lost))
			return errno == ENOMEM ? -ENOMEM : -EFAULT;
		sched_yield();
	}
	return 0;
}

/*
 * Which of the run's pages are there; of a page that never was touched nothing
 * is copied. mincore() is cheap and takes what is on swap for a hole, so pagemap
 * has the last word on holes. Without /proc all are taken to be there: the pager
 * fills what the copy then meets.
 */
static void look(const struct uffd *u, const struct run *run, uint64_t *there)
{
	unsigned char core[BLOCK_PAGES];
	uint64_t entries[BLOCK_PAGES];
	size_t bytes = run->pages * sizeof(*entries);
	off_t offset = (off_t)((run->addr >> PAGE_SHIFT) * sizeof(*entries));

	memset(there, 0xff, BITMAP_WORDS(BLOCK_PAGES) * sizeof(*there));
	if (!mincore((void *)(uintptr_t)run->addr, run->pages * PAGE_BYTES, core) &&
	    !memchr(core, 0, run->pages))
		return;
	if (pread(u->pagemap, entries, bytes, offset) != (ssize_t)bytes)
		return;
	for (uint32_t i = 0; i < run->pages; i++)
		if (!(entries[i] & PAGEMAP_THERE))
			bitmap_clear(there, i);
}

/* Fills n frames from the run's page `first` on. */
static void fill(unsigned char *to, const struct run *run, const uint64_t *there,
		 uint32_t first, uint32_t n)
{
	const unsigned char *from = (const unsigned char *)(uintptr_t)run->addr;

	for (uint32_t i = 0, same; i < n; i += same) {
		bool full = bitmap_test(there, first + i);

		for (same = 1; i + same < n && bitmap_test(there, first + i + same) == full; )
			same++;
		if (full)
			memcpy(to + i * PAGE_BYTES, from + (first + i) * PAGE_BYTES,
			       same * PAGE_BYTES);
		else
			memset(to + i * PAGE_BYTES, 0, same * PAGE_BYTES);
	}
}

/* Copies the run, which nobody writes, to frames and enters them. There is room. */
static void copy_run(struct uffd *u, struct uffd_block *block, const struct run *run,
		     const uint64_t *there)
{
	unsigned int page = uffd_page(run->addr);

	atomic_store(&u->mover, u->worker ? u->worker : (int)gettid());
	for (uint32_t done = 0, n; done < run->pages; done += n) {
		uint32_t frame;

		n = uffd_frames_take(&u->frames, run->pages - done, &frame);
		fill(uffd_frame(&u->frames, frame), run, there, done, n);
		for (uint32_t i = 0; i < n; i++)
			block->frame[page + done + i] = frame + i + 1;
	}
	atomic_store(&u->mover, 0);
}

/* Frees the run's pages, of locked memory too. */
static int take_away(const struct run *run)
{
	void *addr = (void *)(uintptr_t)run->addr;
	size_t bytes = run->pages * PAGE_BYTES;
	int ret = madvise(addr, bytes, MADV_DONTNEED);

#ifdef MADV_DONTNEED_LOCKED
	if (ret && errno == EINVAL)
		ret = madvise(addr, bytes, MADV_DONTNEED_LOCKED);
#endif
	return !ret ? 0 : errno == ENOMEM ? -EFAULT : -EBUSY;
}

/* Pages of one block and one managed range, none in device memory, that have room there. */
static int take_run(struct uffd *u, struct uffd_block *block, struct run run,
		    struct service_cost *cost)
{
	uint64_t there[BITMAP_WORDS(BLOCK_PAGES)], clock = now_ns();
	int ret = 0;

	if (!bitmap_test(block->watched, uffd_page(run.addr)))
		ret = watch(u, block, run.addr);
	stage(&cost->map, &clock);
	if (!ret)
		ret = protect(u, &run, true);
	if (ret)
		return ret;
	look(u, &run, there);
	stage(&cost->unmap, &clock);
	end_remote(u, block, &run);
	copy_run(u, block, &run, there);
	stage(&cost->copy, &clock);
	ret = take_away(&run);
	if (ret) {
		/* It stays where it was. */
		release_all(u, run.addr, run.addr + run.pages * PAGE_BYTES);
		protect(u, &run, false);
	}
	stage(&cost->unmap, &clock);
	return ret;
}

/* The longest run from addr on that one call can take. */
static struct run bare_run(const struct uffd *u, const struct uffd_block *block, uint64_t addr,
			   uint64_t end)
{
	struct range range = ranges_at(&u->managed, u->va_space, addr);
	uint64_t room = u->frames.count - MIN(u->frames.used, u->frames.count);
	struct run run = { addr, 0 };

	end = MIN(end, range.end);
	while (addr < end && run.pages < room && !block->frame[uffd_page(addr)]) {
		run.pages++;
		addr += PAGE_BYTES;
	}
	return run;
}

static void migrate_there(struct uffd *u, struct migration *m, struct service_cost *cost)
{
	struct uffd_block *block = block_make(u, m->addr);
	uint64_t end = m->addr + m->pages * PAGE_BYTES;
	struct run run;

	for (uint64_t at = m->addr; at < end; at += run.pages * PAGE_BYTES) {
		int status = 0;

		run = (struct run){ at, 1 };
		if (!ranges_have(&u->managed, u->va_space, at)) {
			status = -EFAULT;
		} else if (!block) {
			status = -ENOMEM;
		} else if (block->frame[uffd_page(at)]) {
			continue;
		} else {
			run = bare_run(u, block, at, end);
			status = run.pages ? take_run(u, block, run, cost) : -ENOSPC;
			if (status == -EFAULT && run.pages > 1) {
				/* A program has cut the mapping: one page lies in one. */
				run.pages = 1;
				status = take_run(u, block, run, cost);
			}
			if (!status)
				m->moved += run.pages;
			run.pages = MAX(run.pages, 1u);
		}
		if (status && !m->status)
			m->status = status;
	}
}

static void migrate_home(struct uffd *u, struct migration *m, struct service_cost *cost)
{
	struct uffd_block *block = uffd_block_find(u, m->addr);
	const struct run run = { m->addr, m->pages };

	migrate_back(u, m, cost);
	if (m->op == MIGRATE_REMOTE)
		begin_remote(u, m);
	else if (block)
		end_remote(u, block, &run);
}

void uffd_migrate(struct uffd *u, struct migration *m, struct service_cost *cost)
{
	m->status = 0;
	m->moved = 0;
	if (m->addr % PAGE_BYTES || m->pages < 1 || m->pages > BLOCK_PAGES ||
	    uffd_page(m->addr) + m->pages > BLOCK_PAGES)
		m->status = -EINVAL;
	else if (m->va_space != u->va_space)
		m->status = -EFAULT;
	else if (m->op == MIGRATE_H2D)
		migrate_there(u, m, cost);
	else if (m->op == MIGRATE_D2H || m->op == MIGRATE_REMOTE)
		migrate_home(u, m, cost);
	else
		m->status = -EINVAL;
}
