// SPDX-License-Identifier: GPL-2.0
/*
 * The kmod backend: real pages, moved by gpuemu.ko, at measured cost. This file
 * attaches to the module and lets go of it again, and answers what the model
 * asks every few cycles (walk, poll). Batches are in kmod_serve.c and
 * kmod_handler.c, clients' works in kmod_work.c, the page table in kmod_pt.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "service/kmod.h"
#include "service/kmod_device.h"
#include "service/rows.h"

#define ATTACH_TRIES	30
#define ATTACH_PAUSE_MS	20

/* --- the model's questions -------------------------------------------------- */

static void *kmod_walk(struct service *service, uint32_t va_space, uint64_t addr)
{
	return kmod_pt_walk(&to_kmod(service)->pt, va_space, addr);
}

static void kmod_present(struct service *service, uint32_t va_space, uint64_t base,
			 uint64_t *pages)
{
	kmod_pt_present(&to_kmod(service)->pt, va_space, base, pages);
}

static void *kmod_entry(struct service *service, uint32_t va_space, uint64_t addr,
			unsigned int *flags)
{
	return kmod_pt_entry(&to_kmod(service)->pt, va_space, addr, flags);
}

static void kmod_resident(struct service *service,
			  void (*fn)(void *ctx, uint32_t va_space, uint64_t addr), void *ctx)
{
	kmod_pt_resident(&to_kmod(service)->pt, fn, ctx);
}

static uint64_t kmod_frames(struct service *service)
{
	return to_kmod(service)->pt.frames;
}

/* As of the last batch, which is when it is asked. */
static uint64_t kmod_share(struct service *service)
{
	struct kmod *k = to_kmod(service);
	uint32_t share = __atomic_load_n(&k->control->client_frames, __ATOMIC_RELAXED);

	return share ? share : k->pt.frames;
}

static void deliver_all(void (*invalidate)(void *ctx, const struct service_invalidate *i),
			void *ctx)
{
	const struct service_invalidate all = { .end = UINT64_MAX };

	invalidate(ctx, &all);
}

/*
 * Acquire, so that the check of put below comes after: the module may be
 * writing the entry over meanwhile.
 */
static struct service_invalidate read_entry(const struct gpuemu_invalidate *from)
{
	uint32_t reason = __atomic_load_n(&from->reason, __ATOMIC_ACQUIRE);

	return (struct service_invalidate){
		.start = __atomic_load_n(&from->start, __ATOMIC_ACQUIRE),
		.end = __atomic_load_n(&from->end, __ATOMIC_ACQUIRE),
		.va_space = __atomic_load_n(&from->va_space, __ATOMIC_ACQUIRE),
		.evicted = reason == GPUEMU_INVAL_EVICT,
		.reclaimed = reason == GPUEMU_INVAL_RECLAIM,
	};
}

/* Ranges that were taken away block after block become one. */
static bool joins(const struct service_invalidate *last, const struct service_invalidate *i)
{
	return i->start == last->end && i->va_space == last->va_space &&
	       i->evicted == last->evicted && i->reclaimed == last->reclaimed;
}

/*
 * The module writes entry `put` before it publishes put + 1, so an entry is
 * good if put is still less than a whole ring ahead of it after the copy.
 */
static void deliver(struct kmod *k, uint32_t put,
		    void (*invalidate)(void *ctx, const struct service_invalidate *i), void *ctx)
{
	const struct gpuemu_control *control = k->control;
	struct service_invalidate i, joined = { 0 };

	for (uint32_t seq = k->inval_seen; seq != put; seq++) {
		i = read_entry(&control->inval[seq % GPUEMU_INVAL_RING]);
		if (__atomic_load_n(&control->inval_put, __ATOMIC_RELAXED) - seq >=
		    GPUEMU_INVAL_RING) {
			deliver_all(invalidate, ctx);
			return;
		}
		if (seq != k->inval_seen && joins(&joined, &i)) {
			joined.end = i.end;
			continue;
		}
		if (seq != k->inval_seen)
			invalidate(ctx, &joined);
		joined = i;
	}
	invalidate(ctx, &joined);
}

static int kmod_poll(struct service *service,
		     void (*invalidate)(void *ctx, const struct service_invalidate *i), void *ctx)
{
	struct kmod *k = to_kmod(service);
	struct gpuemu_engine_ack ack = { .size = sizeof(ack) };
	uint32_t put = __atomic_load_n(&k->control->inval_put, __ATOMIC_ACQUIRE);

	if (put != k->inval_seen) {
		deliver(k, put, invalidate, ctx);
		k->inval_seen = put;
		ack.seq = put;
		if (ioctl(k->fd, GPUEMU_IOCTL_ENGINE_ACK, &ack))
			atomic_store_explicit(&k->lost, true, memory_order_release);
	}
	if (__atomic_load_n(&k->control->lost, __ATOMIC_RELAXED) ||
	    atomic_load_explicit(&k->lost, memory_order_relaxed) ||
	    atomic_load_explicit(&k->stopping, memory_order_relaxed))
		return -ENODEV;
	if (k->work && __atomic_load_n(&k->control->cancelled, __ATOMIC_RELAXED) == k->work)
		return -ECANCELED;
	return 0;
}

/* --- attach and detach ------------------------------------------------------- */

static void unmap(const volatile void *p, size_t bytes)
{
	if (p)
		munmap((void *)(uintptr_t)p, bytes);
}

static size_t buffer_bytes(const struct kmod *k)
{
	size_t bytes = sizeof(struct gpuemu_fault_buffer) +
		       k->fault_entries * sizeof(struct gpuemu_fault);

	return DIV_ROUND_UP(bytes, PAGE_BYTES) * PAGE_BYTES;
}

/*
 * Closing the file detaches the engine, which ends the commands that are still
 * in flight; the rings can then go.
 */
static void kmod_destroy(struct service *service)
{
	struct kmod *k = to_kmod(service);

	kmod_away_stop(k);
	kmod_handler_stop(k);
	unmap(k->pt.vram, k->pt.frames * PAGE_BYTES);
	unmap(k->pt.remote, k->pt.slots * PAGE_BYTES);
	unmap(k->pt.mirror, k->pt.mirror_slots * PAGE_BYTES);
	unmap(k->pt.tables, k->pt.count * PAGE_BYTES);
	unmap(k->faults, buffer_bytes(k));
	unmap(k->control, k->control_bytes);
	if (k->fd >= 0)
		close(k->fd);
	if (k->ring_ready)
		io_uring_queue_exit(&k->ring);
	if (k->stop_fd >= 0)
		close(k->stop_fd);
	pthread_mutex_destroy(&k->hand.lock);
	free(k->payload);
	free(k);
}

const struct service_ops service_kmod_ops = {
	.name = "kmod",
	.help = "gpuemu.ko moves real pages; costs are measured",
	.measured = true,
	.serve = kmod_serve,
	.walk = kmod_walk,
	.present = kmod_present,
	.entry = kmod_entry,
	.poll = kmod_poll,
	.resident = kmod_resident,
	.frames = kmod_frames,
	.share = kmod_share,
	.destroy = kmod_destroy,
};

static int open_device(struct kmod *k, const char *path, struct err *err)
{
	k->fd = open(path, O_RDWR | O_CLOEXEC);
	if (k->fd >= 0)
		return 0;
	switch (errno) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		return err_set(err, -ENOENT, "no device %s: load the module (insmod gpuemu.ko)",
			       path);
	case EACCES:
	case EPERM:
		return err_set(err, -EPERM, "no permission to open %s: run as root", path);
	default:
		return err_set(err, -errno, "cannot open %s: %s", path, strerror(errno));
	}
}

/* An engine that ended a moment ago is noticed within a quarter of a second. */
static int try_attach(struct kmod *k, struct gpuemu_engine_attach *a)
{
	const struct timespec pause = { .tv_nsec = ATTACH_PAUSE_MS * 1000000 };
	int ret;

	for (unsigned int i = 0; ; i++) {
		*a = (struct gpuemu_engine_attach){ .size = sizeof(*a), .abi = GPUEMU_ABI_VERSION };
		ret = ioctl(k->fd, GPUEMU_IOCTL_ENGINE_ATTACH, a) ? errno : 0;
		if (ret != EBUSY || i == ATTACH_TRIES)
			return ret;
		nanosleep(&pause, NULL);
	}
}

static int attach(struct kmod *k, const char *path, struct err *err)
{
	struct gpuemu_engine_attach a;
	int ret;

	ret = try_attach(k, &a);
	if (ret) {
		switch (ret) {
		case EPERM:
			return err_set(err, -EPERM,
				       "may not be the engine of %s: run as root (CAP_SYS_ADMIN)",
				       path);
		case EBUSY:
			return err_set(err, -EBUSY,
				       "%s has an engine already: only one gpuemud may run", path);
		case EOPNOTSUPP:
			return err_set(err, -EOPNOTSUPP,
				       "the module behind %s does not speak ABI version %d: "
				       "install module and daemon of one version",
				       path, GPUEMU_ABI_VERSION);
		case ENOTTY:
			return err_set(err, -ENOENT, "%s is not a gpuemu device", path);
		default:
			return err_set(err, -ret, "cannot attach to %s: %s", path,
				       strerror(ret));
		}
	}
	if (!a.fault_entries || a.fault_entries & (a.fault_entries - 1) || !a.vram_frames ||
	    a.control_bytes < sizeof(struct gpuemu_control))
		return err_set(err, -EOPNOTSUPP,
			       "the module behind %s describes no GPU this daemon knows: "
			       "install module and daemon of one version", path);
	k->generation = a.generation;
	k->pt.frames = a.vram_frames;
	k->pt.count = a.pt_tables;
	/* 0 from a module that has none, or does not know of them. */
	k->pt.slots = a.remote_slots;
	k->pt.mirror_slots = a.mirror_slots;
	k->fault_entries = a.fault_entries;
	k->control_bytes = a.control_bytes;
	return 0;
}

static void *map(struct kmod *k, size_t bytes, int prot, uint64_t offset)
{
	void *p = mmap(NULL, bytes, prot, MAP_SHARED, k->fd, offset);

	return p == MAP_FAILED ? NULL : p;
}

static int map_all(struct kmod *k, const char *path, struct err *err)
{
	k->pt.vram = map(k, k->pt.frames * PAGE_BYTES, PROT_READ | PROT_WRITE, GPUEMU_MMAP_VRAM);
	if (k->pt.vram)
		k->pt.tables = map(k, k->pt.count * PAGE_BYTES, PROT_READ, GPUEMU_MMAP_PAGE_TABLE);
	if (k->pt.tables)
		k->faults = map(k, buffer_bytes(k), PROT_READ | PROT_WRITE, GPUEMU_MMAP_FAULTS);
	if (k->faults)
		k->control = map(k, k->control_bytes, PROT_READ, GPUEMU_MMAP_CONTROL);
	if (k->control && k->pt.slots)
		k->pt.remote = map(k, k->pt.slots * PAGE_BYTES, PROT_READ | PROT_WRITE,
				   GPUEMU_MMAP_REMOTE);
	if (k->control && k->pt.mirror_slots)
		k->pt.mirror = map(k, k->pt.mirror_slots * PAGE_BYTES, PROT_READ | PROT_WRITE,
				   GPUEMU_MMAP_MIRROR);
	if (!k->control || (k->pt.slots && !k->pt.remote) ||
	    (k->pt.mirror_slots && !k->pt.mirror))
		return err_set(err, -errno, "cannot map device memory of %s: %s", path,
			       strerror(errno));
	if (k->pt.remote)
		k->service.can = SERVICE_CAN_REMOTE | SERVICE_CAN_DUPLICATE;
	/* Older invalidations concern no translation of this engine. */
	k->inval_seen = __atomic_load_n(&k->control->inval_put, __ATOMIC_ACQUIRE);
	return 0;
}

static int start(struct kmod *k, struct err *err)
{
	int ret;

	k->stop_fd = eventfd(0, EFD_CLOEXEC);
	k->payload = malloc(GPUEMU_PAYLOAD_MAX);
	if (k->stop_fd < 0 || !k->payload)
		return err_set(err, -ENOMEM, "no memory for the engine's buffers");
	ret = kmod_ring_init(&k->ring);
	if (!ret) {
		k->ring_ready = true;
		kmod_ring_wake_on(&k->ring, k->stop_fd);
		ret = kmod_handler_start(k);
	}
	if (!ret)
		ret = kmod_away_start(k);
	if (ret)
		return err_set(err, ret, "io_uring cannot be used: %s%s", strerror(-ret),
			       ret == -EPERM || ret == -ENOSYS ?
			       " (see /proc/sys/kernel/io_uring_disabled)" : "");
	return 0;
}

int service_kmod_create(const char *path, struct service **service, struct err *err)
{
	struct kmod *k = calloc(1, sizeof(*k));
	int ret;

	*service = NULL;
	if (!k)
		return err_set(err, -ENOMEM, "no memory for the engine");
	k->service.ops = &service_kmod_ops;
	k->fd = k->stop_fd = -1;
	kmod_away_init(k);
	pthread_mutex_init(&k->hand.lock, NULL);
	ret = open_device(k, path, err);
	if (!ret)
		ret = attach(k, path, err);
	if (!ret)
		ret = map_all(k, path, err);
	if (!ret)
		ret = start(k, err);
	if (ret) {
		kmod_destroy(&k->service);
		return ret;
	}
	*service = &k->service;
	return 0;
}
