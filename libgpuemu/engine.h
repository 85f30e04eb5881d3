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

#define VA_SPACE	1u	/* the only one */

struct told;

struct engine {
	struct service *service;	/* engine_close() destroys it */
	struct gpu *gpu;
	struct gpu_session *session;
	uint32_t next_module;
	unsigned int queued;		/* launches that wait for a finish */
	/* What ended since the last reap, oldest first. */
	struct told *told, **told_end;
};

/* The service is the engine's from here on, whatever is returned. */
int engine_open(struct engine *e, struct service *service, const struct gpu_spec *spec,
		const struct record *recorded, struct err *err);
/* Forgets what was not reaped. Also of an engine that was not opened, all zero. */
void engine_close(struct engine *e);

/* Device memory nobody asked for by size has the default's. */
void engine_settle_vram(struct gpu_spec *spec);

int engine_load(struct engine *e, struct gpuemu_module *module, const char *text, size_t bytes,
		struct err *err);

/*
 * Launches in the default stream run at once, with all that was queued before.
 * Others are queued until something waits, and then run side by side; waiting
 * takes no virtual time, so it is as if they had begun at once.
 */
int engine_launch(struct engine *e, struct gpuemu_stream *stream,
		  const struct gpu_launch *launch);
int engine_prefetch(struct engine *e, const struct work *work, struct err *err);
int engine_touch(struct engine *e, const struct gpu_work_touch *touch, char **json,
		 struct err *err);
int engine_statistics(struct engine *e, char **json);
int engine_touches(struct engine *e, struct record *record, struct err *err);
/* Does what is queued. */
void engine_finish(struct engine *e);

/*
 * On the caller's thread, for the user's code runs in it: prints what ended
 * works printed, and leaves their errors in their streams.
 */
void engine_reap(struct gpuemu_ctx *ctx, struct engine *e);

#endif
