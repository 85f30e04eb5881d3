/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does the clients' works one by one. Each VA space has a session, made at its first work and let
 * go when its client is gone. The payloads come from
 * clients and are not trusted.
 */
#ifndef GPUEMU_WORKS_H
#define GPUEMU_WORKS_H

#include "base/spec.h"
#include "gpu/gpu.h"
#include "log.h"
#include "service/kmod.h"

struct works;

/* Device memory that nobody asked for is all there is (vram_bytes 0); more is -ERANGE. */
int works_check_vram(struct gpu_spec *spec, struct service *service, struct err *err);

struct works_limits {
	unsigned int slice_ms;		/* when a work is set aside for another client's; 0: never */
	unsigned int load_seconds;	/* of a CPU, for a client's PTX */
	uint64_t client_bytes, all_bytes; /* that this process holds for one, and for all together */
};

/*
 * spec is every session's start. Takes no ownership of gpu and service; log outlives works.
 */
int works_create(struct gpu *gpu, struct service *service, const struct gpu_spec *spec,
		 const struct log *log, const struct works_limits *limits, struct works **works);
void works_destroy(struct works *works);

/*
 * Does one work and reports it to its client, or sets it aside when its slice is over and
 * another client waits. 0, or -ENODEV: the device is lost.
 */
int works_do(struct works *works, const struct service_work *work);
/* Keeps it until it is its turn. */
void works_add(struct works *works, const struct service_work *work);
/* Is anything kept or set aside? Then works_next() does the next of them, as works_do(). */
bool works_wait(const struct works *works);
int works_next(struct works *works);
/* Is PTX being parsed? Then works_look_at_loads() is called now and then. -ENODEV. */
bool works_load(const struct works *works);
int works_look_at_loads(struct works *works);
/* Does a session keep works of streams, whose client may die before it runs them? */
bool works_kept(const struct works *works);
/* Frees sessions of clients that are dead. Touches no frame: the engine may be parked. */
void works_forget_dead(struct works *works);

#endif
