// SPDX-License-Identifier: GPL-2.0
/*
 * The uffd backend: real pages, moved inside this process with userfaultfd, at
 * measured cost, and no module. It is the peer that the kernel's own paging is
 * compared with. Batches and the model's questions are here; how pages move is
 * in uffd_move.c, who answers the CPU in uffd_pager.c.
 *
 * Its limits, which are userfaultfd's: a page that the kernel holds a reference
 * to (O_DIRECT, registered buffers of io_uring) is moved under it; system calls
 * that touch a page in device memory fail with EFAULT where userfaultfd may not
 * stop them; a mremap()ed range takes along only what is in system memory. A page that is
 * advised to be used from afar is the program's, and the engine reads it there: a program must
 * not unmap or protect it while kernels run. There are no duplicates.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "service/uffd.h"
#include "service/batch.h"
#include "service/rows.h"
#include "service/uffd_device.h"

#define VA_BITS		47u	/* managed memory lies below, as in the kernel ABI */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* --- serving a batch ------------------------------------------------------ */

static bool is_device(const struct uffd *u, uint64_t addr)
{
	return u->device.count && ranges_have(&u->device, u->va_space, addr);
}

static bool is_system(const struct uffd *u, uint64_t addr)
{
	return u->system.count && ranges_have(&u->system, u->va_space, addr);
}

static bool is_read_only(const struct uffd *u, uint64_t addr)
{
	return u->adopted.read_only.count &&
	       ranges_have(&u->adopted.read_only, u->va_space, addr);
}

static bool uffd_adopt(struct service *service, uint32_t va_space, uint64_t addr,
		       struct system_range *range)
{
	struct uffd *u = to_uffd(service);
	struct ranges *const others[] = { &u->system, &u->managed, &u->device };

	return va_space == u->va_space && addr >> VA_BITS == 0 && addr >= PAGE_BYTES &&
	       adopted_add(&u->adopted, others, ARRAY_SIZE(others), va_space, addr, range);
}

static unsigned int flags_of_system(struct uffd *u, const struct fault *f)
{
	struct system_range range;

	if (!is_system(u, f->addr) && !uffd_adopt(&u->service, f->va_space, f->addr, &range))
		return FAULT_UNMANAGED;
	if (f->access >= ACCESS_WRITE && is_read_only(u, f->addr))
		return FAULT_UNMANAGED | FAULT_PROTECTED;
	return FAULT_RESIDENT;
}

static void flag_faults(struct uffd *u, struct service_batch *batch)
{
	for (unsigned int i = 0; i < batch->nfaults; i++) {
		struct fault *f = &batch->faults[i];

		f->flags = 0;
		if (is_device(u, f->addr))
			f->flags |= FAULT_RESIDENT;
		else if (!ranges_have(&u->managed, f->va_space, f->addr))
			f->flags |= flags_of_system(u, f);
		else if (uffd_frame_of(u, f->addr) || uffd_remote(u, f->addr))
			f->flags |= FAULT_RESIDENT;
	}
}

static int uffd_serve(struct service *service, struct service_batch *batch)
{
	struct uffd *u = to_uffd(service);
	struct service_cost *cost = &batch->cost;
	uint64_t begin = now_ns(), fetched, committed;
	int ret;

	*cost = (struct service_cost){ 0 };
	batch->plan->count = 0;
	if (atomic_load_explicit(&u->lost, memory_order_relaxed))
		return -ENODEV;
	batch->nfaults = batch_merge(batch->faults, batch->nfaults);
	uffd_lock(u);
	flag_faults(u, batch);
	uffd_unlock(u);
	fetched = now_ns();
	ret = batch->decide(batch->ctx, batch);
	if (!ret && batch->plan->count > PLAN_MAX)
		ret = -EINVAL;
	if (ret)
		return ret;
	committed = now_ns();
	uffd_lock(u);
	for (unsigned int i = 0; i < batch->plan->count; i++)
		uffd_migrate(u, &batch->plan->migrations[i], cost);
	uffd_unlock(u);
	cost->raised_to_fetched = fetched - begin;
	cost->fetched_to_committed = committed - fetched;
	cost->decide = cost->fetched_to_committed;
	cost->total = now_ns() - begin;
	/* All that no other stage claims: locks, books. */
	cost->replay = cost->total - (cost->raised_to_fetched + cost->fetched_to_committed +
				      cost->evict + cost->unmap + cost->copy + cost->map);
	cost->end_to_end = cost->total;
	return 0;
}

/* --- the other operations ------------------------------------------------- */

static void *uffd_walk(struct service *service, uint32_t va_space, uint64_t addr)
{
	const struct uffd *u = to_uffd(service);
	uint32_t frame = va_space == u->va_space ? uffd_frame_of(u, addr) : 0;

	if (va_space == u->va_space && is_device(u, addr))
		return (void *)(uintptr_t)(addr & ~(PAGE_BYTES - 1));
	return frame ? uffd_frame(&u->frames, frame - 1) : NULL;
}

static void *uffd_entry(struct service *service, uint32_t va_space, uint64_t addr,
			unsigned int *flags)
{
	const struct uffd *u = to_uffd(service);
	void *frame = uffd_walk(service, va_space, addr);

	if (frame || va_space != u->va_space || !(uffd_remote(u, addr) || is_system(u, addr)))
		return frame;
	*flags |= SERVICE_ENTRY_REMOTE | (is_read_only(u, addr) ? SERVICE_ENTRY_READ_ONLY : 0);
	return (void *)(uintptr_t)(addr & ~(PAGE_BYTES - 1));
}

static void uffd_give(struct service *service, const struct system_memory *memory)
{
	to_uffd(service)->adopted.memory = *memory;
}

/* The program's memory is its own again. */
static void give_up(struct uffd *u, const struct range *range)
{
	adopted_drop(&u->adopted, range);
	ranges_cut(&u->system, range->va_space, range->start, range->end);
	uffd_lock(u);
	uffd_invalidate(u, range->start, range->end, false);
	uffd_unlock(u);
}

static void uffd_look(struct service *service)
{
	struct uffd *u = to_uffd(service);
	struct range range;

	adopted_refresh(&u->adopted);
	while (adopted_stale(&u->adopted, &range))
		give_up(u, &range);
}

static int uffd_poll(struct service *service,
		     void (*fn)(void *ctx, const struct service_invalidate *i), void *ctx)
{
	struct uffd *u = to_uffd(service);
	struct service_invalidate told[UFFD_INVALIDATES];
	unsigned int n;

	if (!atomic_load_explicit(&u->attention, memory_order_acquire))
		return 0;
	uffd_lock(u);
	uffd_grant(u);
	n = u->ninvalidates;
	memcpy(told, u->invalidates, n * sizeof(told[0]));
	u->ninvalidates = 0;
	/* uffd_grant() tries again the wishes that it cannot grant yet. */
	atomic_store_explicit(&u->attention, u->nwishes > 0, memory_order_relaxed);
	uffd_unlock(u);
	for (unsigned int i = 0; i < n; i++)
		fn(ctx, &told[i]);
	if (!atomic_load(&u->lost))
		return 0;
	atomic_store(&u->attention, true);
	return -ENODEV;
}

static void uffd_resident(struct service *service,
			  void (*fn)(void *ctx, uint32_t va_space, uint64_t addr), void *ctx)
{
	struct uffd *u = to_uffd(service);

	uffd_lock(u);
	for (size_t i = 0; i < u->nblocks; i++)
		for (unsigned int page = 0; page < BLOCK_PAGES; page++)
			if (u->blocks[i]->frame[page])
				fn(ctx, u->va_space, u->blocks[i]->addr + page * PAGE_BYTES);
	uffd_unlock(u);
}

static uint64_t uffd_count(struct service *service)
{
	return to_uffd(service)->frames.count;
}

/* Brings device memory's pages back. Memory that stays mapped is the program's as it is. */
static void uffd_destroy(struct service *service)
{
	struct uffd *u = to_uffd(service);

	uffd_lock(u);
	for (size_t i = 0; i < u->nblocks; i++) {
		uint64_t addr = u->blocks[i]->addr;

		/* Only the kernel can make room for it. */
		for (int tries = 0; tries < 100; tries++) {
			if (!uffd_bring_back(u, addr, addr + (1ull << BLOCK_SHIFT)))
				break;
			sched_yield();
		}
	}
	uffd_unlock(u);
	uffd_pager_stop(u);
	for (size_t i = 0; i < u->nblocks; i++)
		free(u->blocks[i]);
	/* Wakes who still waits, for ordinary memory. */
	if (u->fd >= 0)
		close(u->fd);
	if (u->call_fd >= 0)
		close(u->call_fd);
	if (u->pagemap >= 0)
		close(u->pagemap);
	uffd_frames_fini(&u->frames);
	u64map_clear(&u->index);
	ranges_clear(&u->managed);
	ranges_clear(&u->system);
	ranges_clear(&u->device);
	adopted_clear(&u->adopted);
	free(u->blocks);
	free(u->wishes);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

const struct service_ops service_uffd_ops = {
	.name = "uffd",
	.help = "userfaultfd moves real pages in this process; costs are measured",
	.measured = true,
	.serve = uffd_serve,
	.walk = uffd_walk,
	.entry = uffd_entry,
	.give = uffd_give,
	.adopt = uffd_adopt,
	.look = uffd_look,
	.poll = uffd_poll,
	.resident = uffd_resident,
	.frames = uffd_count,
	.destroy = uffd_destroy,
};

int service_uffd_create(uint64_t vram_bytes, uint32_t va_space, struct service **service,
			struct err *err)
{
	struct uffd *u = calloc(1, sizeof(*u));
	int ret;

	*service = NULL;
	if (!u)
		return err_set(err, -ENOMEM, "no memory for the engine");
	u->service.ops = &service_uffd_ops;
	/*
	 * A duplicate's CPU side would be write-protected, and a write would have to wait until the
	 * engine polls to have its frame taken away; system calls that write would end with EFAULT.
	 */
	u->service.can = SERVICE_CAN_REMOTE;
	u->va_space = va_space;
	u->call_fd = -1;
	pthread_mutex_init(&u->lock, NULL);
	u->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	u->fd = ret = uffd_open(&u->kernel_faults, err);
	if (ret >= 0) {
		ret = uffd_frames_init(&u->frames, vram_bytes);
		if (ret)
			err_set(err, ret, "paging.vram=%llu: no such device memory can be had",
				(unsigned long long)vram_bytes);
	}
	if (!ret) {
		ret = uffd_pager_start(u);
		if (ret)
			err_set(err, ret, "no thread for userfaultfd: %s", strerror(-ret));
	}
	if (ret) {
		uffd_destroy(&u->service);
		return ret;
	}
	*service = &u->service;
	return 0;
}

int service_uffd_configure(struct service *service, uint64_t vram_bytes)
{
	struct uffd *u = to_uffd(service);
	int ret;

	if (vram_bytes / PAGE_BYTES <= u->device_frames)
		return u->device_frames ? -EBUSY : -EINVAL;
	uffd_lock(u);
	ret = uffd_frames_resize(&u->frames, vram_bytes - u->device_frames * PAGE_BYTES);
	uffd_unlock(u);
	return ret;
}

static bool range_valid(uint64_t addr, uint64_t bytes)
{
	return addr && bytes && (addr | bytes) % PAGE_BYTES == 0 &&
	       bytes <= 1ull << VA_BITS && addr <= (1ull << VA_BITS) - bytes;
}

int service_uffd_map(struct service *service, uint64_t addr, uint64_t bytes)
{
	struct uffd *u = to_uffd(service);
	void *p = (void *)(uintptr_t)addr;
	struct range range;
	int ret;

	if (!range_valid(addr, bytes))
		return -EINVAL;
	/* The program's newest statement on its memory holds. */
	while (adopted_in(&u->adopted, u->va_space, addr, addr + bytes, &range))
		give_up(u, &range);
	uffd_lock(u);
	ret = ranges_overlap(&u->managed, u->va_space, addr, addr + bytes) ||
	      ranges_overlap(&u->device, u->va_space, addr, addr + bytes) ? -EEXIST :
	      ranges_add(&u->managed, u->va_space, addr, addr + bytes);
	if (!ret)
		u->managed_pages += bytes / PAGE_BYTES;
	/* As much device memory as can be needed at once. */
	if (!ret)
		uffd_frames_warm(&u->frames, u->managed_pages);
	uffd_unlock(u);
	if (ret)
		return ret;
	/* A child would find holes where the GPU has the content. Pages move by 4 KiB. */
	madvise(p, bytes, MADV_DONTFORK);
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return 0;
}

int service_uffd_unmap(struct service *service, uint64_t addr, uint64_t bytes)
{
	struct uffd *u = to_uffd(service);
	struct uffdio_range range = { addr, bytes };
	int ret;

	if (!range_valid(addr, bytes))
		return -EINVAL;
	uffd_lock(u);
	ret = !ranges_overlap(&u->managed, u->va_space, addr, addr + bytes) ? -ENOENT :
	      ranges_cut(&u->managed, u->va_space, addr, addr + bytes);
	if (!ret) {
		u->managed_pages -= bytes / PAGE_BYTES;
		uffd_forget(u, addr, addr + bytes);
		ioctl(u->fd, UFFDIO_UNREGISTER, &range);
	}
	uffd_unlock(u);
	return ret;
}

int service_uffd_map_device(struct service *service, uint64_t addr, uint64_t bytes)
{
	struct uffd *u = to_uffd(service);
	uint64_t frames = bytes / PAGE_BYTES;
	int ret;

	if (!range_valid(addr, bytes))
		return -EINVAL;
	if (ranges_overlap(&u->managed, u->va_space, addr, addr + bytes) ||
	    ranges_overlap(&u->device, u->va_space, addr, addr + bytes))
		return -EEXIST;
	if (frames >= u->frames.count)
		return -ENOSPC;
	uffd_lock(u);
	ret = uffd_frames_resize(&u->frames, (u->frames.count - frames) * PAGE_BYTES);
	if (!ret) {
		ret = ranges_add(&u->device, u->va_space, addr, addr + bytes);
		u->device_frames += ret ? 0 : frames;
	}
	/* More than now it was before. */
	if (ret && ret != -EBUSY)
		uffd_frames_resize(&u->frames, (u->frames.count + frames) * PAGE_BYTES);
	uffd_unlock(u);
	return ret;
}

int service_uffd_unmap_device(struct service *service, uint64_t addr)
{
	struct uffd *u = to_uffd(service);
	struct range range = ranges_at(&u->device, u->va_space, addr);
	uint64_t frames = (range.end - range.start) / PAGE_BYTES;
	int ret;

	if (!range.end || range.start != addr)
		return -ENOENT;
	uffd_lock(u);
	ret = ranges_cut(&u->device, u->va_space, range.start, range.end);
	if (!ret) {
		u->device_frames -= frames;
		/* As many were there before. */
		uffd_frames_resize(&u->frames, (u->frames.count + frames) * PAGE_BYTES);
		uffd_invalidate(u, range.start, range.end, false);
	}
	uffd_unlock(u);
	return ret;
}

void service_uffd_enter(struct service *service)
{
	struct uffd *u = to_uffd(service);

	uffd_lock(u);
	u->worker = gettid();
	uffd_unlock(u);
}

void service_uffd_leave(struct service *service)
{
	struct uffd *u = to_uffd(service);

	uffd_lock(u);
	uffd_grant(u);
	u->worker = 0;
	uffd_unlock(u);
}

bool service_uffd_kernel_faults(const struct service *service)
{
	return container_of(service, const struct uffd, service)->kernel_faults;
}
