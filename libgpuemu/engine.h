/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The whole engine in this process, as the backends have it that need no
 * daemon: sim and uffd. They bring the service and say on which thread the
 * engine works; everything else is here. One thread at a time.
 */
#ifndef LIBGPUEMU_ENGINE_H
#define LIBGPUEMU_ENGINE_H

#include "internal.h"
#include "service/service.h"
#include "system.h"

#define VA_SPACE	1u	/* the only one */

struct told;

struct engine {
	struct service *service;	/* engine_close() destroys it */
	struct gpu *gpu;
	struct gpu_session *session;
	struct system system;		/* the process's memory, for the service */
	uint32_t next_module;
	/* Works that ended since the last reap, oldest first. */
	struct told *told, **told_end;
};

/* The service is the engine's from here on, whatever is returned. */
int engine_open(struct engine *e, struct service *service, const struct gpu_spec *spec,
		const struct record *recorded, struct err *err);
/* Kernels may use all of the process's memory from now on. */
void engine_give_system(struct engine *e);
/*
 * The program's own memory [addr, addr + bytes) is managed memory from now on. -EINVAL: it is
 * not all mapped, or not to be written.
 */
int engine_adopt(struct engine *e, uint64_t addr, uint64_t bytes);
/* Forgets what was not reaped. Also of an engine that was not opened, all zero. */
void engine_close(struct engine *e);

/* Device memory nobody asked for by size has the default's. */
void engine_default_vram(struct gpu_spec *spec);

int engine_load(struct engine *e, struct gpuemu_module *module, const char *text, size_t bytes,
		struct err *err);

int engine_constants(struct engine *e, struct gpuemu_module *module, struct err *err);

/*
 * Works of the default stream run at once, with all that was queued before.
 * Others are queued until something waits, and then run side by side; waiting
 * takes no virtual time, so it is as if they had begun at once.
 */
int engine_launch(struct engine *e, struct gpuemu_stream *stream,
		  const struct gpu_launch *launch);
int engine_delay(struct engine *e, const struct gpuemu_stream *stream, uint64_t cycle);
/* RECORD and AWAIT. */
int engine_event(struct engine *e, struct gpuemu_stream *stream, const struct work *work);
int engine_prefetch(struct engine *e, struct gpuemu_stream *stream, const struct work *work,
		    struct err *err);
/* Cycles that the copy takes on the configured link. */
uint64_t engine_copy_cycles(const struct gpu_spec *spec, const struct copy *copy);
int engine_copy(struct engine *e, struct gpuemu_stream *stream, const struct copy *copy,
		uint64_t cycles);
int engine_touch(struct engine *e, const struct gpu_work_touch *touch, char **json,
		 struct err *err);
int engine_statistics(struct engine *e, char **json);
int engine_touches(struct engine *e, struct record *record, struct err *err);
/* Does what is queued. */
void engine_finish(struct engine *e);
/* Up to where one of the streams has nothing left to do; of the default stream, none. */
void engine_wait(struct engine *e, const uint32_t *streams, unsigned int n);
void engine_wait_mark(struct engine *e, uint64_t mark);
void engine_pass(struct engine *e, uint64_t cycles);
bool engine_idle(const struct engine *e, uint32_t stream);
/* The streams' numbers. NULL: no memory. */
uint32_t *engine_streams(struct gpuemu_stream *const *streams, unsigned int n);

/*
 * On the caller's thread, for the user's code runs in it: prints what ended
 * works printed, and leaves their errors in their streams.
 */
void engine_reap(struct gpuemu_ctx *ctx, struct engine *e);

#endif
