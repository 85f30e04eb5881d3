// SPDX-License-Identifier: GPL-2.0
/*
 * Clients' works as the module queues them: wait for one, take it, finish it,
 * read a PTX image. What a work means is the daemon's business.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "service/kmod.h"
#include "service/kmod_device.h"

_Static_assert((int)WORK_LOAD == GPUEMU_WORK_LOAD, "");
_Static_assert((int)WORK_LAUNCH == GPUEMU_WORK_LAUNCH, "");
_Static_assert((int)WORK_PREFETCH == GPUEMU_WORK_PREFETCH, "");
_Static_assert((int)WORK_TOUCH == GPUEMU_WORK_TOUCH, "");
_Static_assert((int)WORK_CONFIGURE == GPUEMU_WORK_CONFIGURE, "");
_Static_assert((int)WORK_STATISTICS == GPUEMU_WORK_STATISTICS, "");
_Static_assert((int)WORK_RANGES == GPUEMU_WORK_RANGES, "");
_Static_assert((int)WORK_RECORD == GPUEMU_WORK_RECORD, "");
_Static_assert((int)WORK_RUN == GPUEMU_WORK_RUN, "");

static bool is_lost(struct kmod *k)
{
	return atomic_load_explicit(&k->lost, memory_order_acquire);
}

static int lose(struct kmod *k)
{
	atomic_store_explicit(&k->lost, true, memory_order_release);
	return -ENODEV;
}

static int take(struct kmod *k, struct service_work *work, uint32_t flags)
{
	uint32_t events = __atomic_load_n(&k->control->events, __ATOMIC_ACQUIRE);
	struct gpuemu_work_take t = {
		.size = sizeof(t),
		.payload_bytes = GPUEMU_PAYLOAD_MAX,
		.payload = (uint64_t)(uintptr_t)k->payload,
		.flags = flags,
	};
	int ret;

	do {
		ret = ioctl(k->fd, GPUEMU_IOCTL_WORK_TAKE, &t) ? -errno : 0;
	} while (ret == -EINTR);
	if (ret == -EAGAIN) {
		k->events_seen = events;
		k->ended = false;
	}
	if (ret)
		return ret;
	*work = (struct service_work){
		.id = t.id,
		.va_space = t.va_space,
		.kind = t.kind,
		.stream = t.stream,
		.user = t.user,
		.payload = k->payload,
		.payload_bytes = MIN(t.payload_bytes, GPUEMU_PAYLOAD_MAX),
	};
	k->work = t.id;
	return 0;
}

/* Parked from WAIT's submission to its completion. */
static int wait_for_work(struct kmod *k, int timeout_ms)
{
	int tag, res;

	if (!k->waiting) {
		kmod_ring_command(&k->ring, k->fd, GPUEMU_URING_WAIT);
		k->waiting = true;
	}
	tag = kmod_ring_next_within(&k->ring, timeout_ms, &res);
	if (tag == -ETIME)
		return tag;
	if (tag < 0)
		return tag == -EINTR ? 0 : -ENODEV;
	if (tag == KMOD_TAG_WAKE)
		return 0;	/* stop or loss: the caller looks */
	k->waiting = false;
	return res;
}

int service_kmod_next(struct service *service, struct service_work *work, int timeout_ms)
{
	struct kmod *k = to_kmod(service);
	bool woken = false;
	int ret;

	for (;;) {
		if (is_lost(k))
			return -ENODEV;
		if (atomic_load_explicit(&k->stopping, memory_order_acquire))
			return -EINTR;
		/* A parked engine takes nothing: the WAIT must have ended. */
		ret = k->waiting ? -EAGAIN : take(k, work, GPUEMU_TAKE_IDLE);
		if (ret == 0)
			return 0;
		/* The work that woke it belongs to a client whose work is taken: do not look at once again. */
		if (ret == -EAGAIN && woken && timeout_ms >= 0) {
			usleep(1000);
			return -ETIME;
		}
		if (ret == -EAGAIN)
			ret = wait_for_work(k, timeout_ms);
		woken = !ret;
		/* The WAIT goes on with the next call. */
		if (ret == -ETIME)
			return ret;
		if (ret && ret != -EAGAIN && ret != -EINTR)
			return lose(k);
	}
}

bool service_kmod_news(struct service *service)
{
	struct kmod *k = to_kmod(service);

	return k->ended ||
	       __atomic_load_n(&k->control->events, __ATOMIC_RELAXED) != k->events_seen;
}

int service_kmod_try(struct service *service, struct service_work *work)
{
	struct kmod *k = to_kmod(service);
	int ret;

	if (is_lost(k))
		return -ENODEV;
	if (!service_kmod_news(service))
		return -EAGAIN;
	ret = take(k, work, GPUEMU_TAKE_IDLE);
	return ret && ret != -EAGAIN ? lose(k) : ret;
}

void service_kmod_current(struct service *service, uint64_t id)
{
	to_kmod(service)->work = id;
}

int service_kmod_done(struct service *service, uint64_t id, int status,
		      uint64_t fault_addr, const char *message,
		      const void *report, size_t report_bytes)
{
	struct kmod *k = to_kmod(service);
	struct gpuemu_work_done d = {
		.size = sizeof(d),
		.status = status,
		.id = id,
		.report = (uint64_t)(uintptr_t)report,
		.report_bytes = (uint32_t)report_bytes,
		.fault_addr = fault_addr,
	};
	int ret;

	if (report_bytes > GPUEMU_REPORT_MAX) {
		d.status = -E2BIG;
		d.report = d.report_bytes = 0;
		message = "the report is larger than the module carries";
	}
	snprintf((char *)d.message, sizeof(d.message), "%s", message ? message : "");
	do {
		ret = ioctl(k->fd, GPUEMU_IOCTL_WORK_DONE, &d) ? -errno : 0;
	} while (ret == -EINTR);
	if (k->work == id)
		k->work = 0;
	k->ended = true;
	if (ret == -ENODEV)
		return lose(k);
	return ret;
}

int service_kmod_image(struct service *service, uint32_t va_space, uint32_t id,
		       char **image, size_t *bytes)
{
	struct kmod *k = to_kmod(service);
	struct gpuemu_module_read r = { .size = sizeof(r), .va_space = va_space, .id = id };
	char *text = NULL;
	int ret;

	*image = NULL;
	/* The first call asks for the length. */
	for (;;) {
		ret = ioctl(k->fd, GPUEMU_IOCTL_MODULE_READ, &r) ? -errno : 0;
		if (ret == -EINTR)
			continue;
		if (ret != -ENOSPC || r.image_bytes > GPUEMU_MODULE_MAX)
			break;
		free(text);
		text = malloc((size_t)r.image_bytes + 1);
		if (!text)
			return -ENOMEM;
		r.image = (uint64_t)(uintptr_t)text;
	}
	if (ret || !text) {
		free(text);
		return ret ? ret : -EINVAL;
	}
	text[r.image_bytes] = '\0';
	*image = text;
	*bytes = r.image_bytes;
	return 0;
}

bool service_kmod_has_image(struct service *service, uint32_t va_space, uint32_t id)
{
	struct gpuemu_module_read r = { .size = sizeof(r), .va_space = va_space, .id = id };

	return !ioctl(to_kmod(service)->fd, GPUEMU_IOCTL_MODULE_READ, &r) ||
	       (errno != ENOENT && errno != ESRCH);
}

bool service_kmod_alive(struct service *service, uint32_t va_space)
{
	/* No image has the id 0: what is asked is why there is none. */
	struct gpuemu_module_read r = { .size = sizeof(r), .va_space = va_space };

	return !ioctl(to_kmod(service)->fd, GPUEMU_IOCTL_MODULE_READ, &r) || errno != ESRCH;
}

void service_kmod_progress(struct service *service, uint32_t va_space, uint64_t launches,
			   uint64_t ctas_done, uint64_t ctas)
{
	struct gpuemu_engine_progress p = {
		.size = sizeof(p), .va_space = va_space,
		.launches = launches, .ctas_done = ctas_done, .ctas = ctas,
	};

	/* An older module does not know it, and a dead client does not read it. */
	ioctl(to_kmod(service)->fd, GPUEMU_IOCTL_ENGINE_PROGRESS, &p);
}

uint32_t service_kmod_generation(struct service *service)
{
	return to_kmod(service)->generation;
}

void service_kmod_stop(struct service *service)
{
	struct kmod *k = to_kmod(service);
	int saved = errno;

	atomic_store_explicit(&k->stopping, true, memory_order_release);
	kmod_wake(k->stop_fd);
	errno = saved;
}
