/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Backend kmod, for the daemon, which owns it: the module's device, and the works that clients
 * send through it.
 */
#ifndef GPUEMU_SERVICE_KMOD_H
#define GPUEMU_SERVICE_KMOD_H

#include "service/service.h"

/* Kinds of work; the numbers are those of the kernel ABI. */
enum work_kind {
	WORK_LOAD = 1,
	WORK_LAUNCH = 2,
	WORK_PREFETCH = 3,
	WORK_TOUCH = 4,
	WORK_CONFIGURE = 5,
	WORK_STATISTICS = 6,
	WORK_RANGES = 7,
	WORK_RECORD = 8,
	WORK_RUN = 9,
};

/* One work taken from the module. kind is enum work_kind; the client chose it. */
struct service_work {
	uint64_t id;
	uint32_t va_space, kind, stream;
	uint32_t user;			/* id of the VA space's user */
	void *payload;			/* valid until the next take */
	uint32_t payload_bytes;
};

/*
 * Attaches to the module as its engine and starts the fault-handler thread.
 * -EPERM, -EBUSY, -ENOENT (no module), -EOPNOTSUPP (ABI): err says what to do.
 */
int service_kmod_create(const char *path, struct service **service,
			struct err *err);
/*
 * Waits, parked, for work of a client that has none taken, then takes it. Invalidations that came
 * are left for poll(). 0; -EINTR: service_kmod_stop() was called; -ETIME: no work came for
 * timeout_ms (below 0: it waits for ever), the engine stays parked; -ENODEV: device lost.
 */
int service_kmod_next(struct service *s, struct service_work *work, int timeout_ms);
/*
 * The same without waiting, and only for clients that have no work taken: -EAGAIN. With
 * several works taken, poll() asks about the current one: the last that was taken, or named.
 */
int service_kmod_try(struct service *s, struct service_work *work);
void service_kmod_current(struct service *s, uint64_t id);
/* May there be more for service_kmod_try() than when it found nothing? Cheap. */
bool service_kmod_news(struct service *s);
int service_kmod_done(struct service *s, uint64_t id, int status,
		      uint64_t fault_addr, const char *message,
		      const void *report, size_t report_bytes);
/* Copy of a client's PTX image, NUL terminated; caller frees. */
int service_kmod_image(struct service *s, uint32_t va_space, uint32_t id,
		       char **image, size_t *bytes);
/*
 * Around what takes long and reads no frame (parsing a client's PTX): the
 * service answers the module's invalidations meanwhile. poll() before the next
 * frame is read.
 */
void service_kmod_away(struct service *s);
void service_kmod_back(struct service *s);
/* True while the client keeps that PTX image loaded. */
bool service_kmod_has_image(struct service *s, uint32_t va_space, uint32_t id);
/* True while the VA space's client lives. */
bool service_kmod_alive(struct service *s, uint32_t va_space);
/* Tells the VA space's client how far its kernels are. */
void service_kmod_progress(struct service *s, uint32_t va_space, uint64_t launches,
			   uint64_t ctas_done, uint64_t ctas);
/* Counts the attachments to the device since the module was loaded. */
uint32_t service_kmod_generation(struct service *s);
/*
 * From a signal handler: makes service_kmod_next() return -EINTR, and poll and
 * serve -ENODEV so that a running kernel ends. Async-signal-safe.
 */
void service_kmod_stop(struct service *s);

#endif
