/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A GPU and its sessions: what they hold, and what the files of the room do for them. Private
 * to the room.
 */
#ifndef GPUEMU_GPU_SESSION_H
#define GPUEMU_GPU_SESSION_H

#include "exec/exec.h"
#include "gpu/fault_log.h"
#include "gpu/gpu.h"
#include "gpu/link_use.h"
#include "gpu/output.h"
#include "gpu/timeline.h"
#include "paging/paging.h"
#include "stats/stats.h"

struct gpu {
	struct service *service;	/* the caller's */
	struct paging_pool *pool;
	struct gpu_session *sessions;
	/* Machines get this as sm_env.mechanism. NULL: sm.cta's. */
	const struct sm_mechanism *mechanism;
	void *mechanism_ctx;
};

/* A range of an address space that modules share; `at` is from its beginning. */
struct address_range {
	struct address_range *next;	/* behind it */
	uint64_t at, bytes;
};

/* A kernel as launches see it that ask for more or less stack; made at the first of them. */
struct stacked {
	struct stacked *next;
	uint32_t stack_bytes;
	struct ptx_kernel kernel;	/* a copy; what it points to is the module's */
	struct exec_program *program;
};

struct module {
	struct module *next;
	struct stacked *stacked;
	uint32_t id;
	struct ptx_module *ptx;
	struct address_range code, constants;
	struct exec_program **programs;	/* by kernel, made at its first launch */
	unsigned int nkernels;
};

/* The client's facts about its memory: known.c. */
struct known {
	struct paging_known now;	/* what the session's paging knows: of these */
	uint64_t *record;
	uint64_t *arriving;		/* the next record, from the next configuration on */
	uint64_t narriving, room;
	struct paging_range *ranges;
	struct advice_range *advice;
};

void known_clear(struct known *k);
/* Takes over what arrived. Nothing uses the record that was known before. */
void known_adopt(struct known *k);

/*
 * A stream that is halted when its kernels have executed so many thread instructions
 * (UINT64_MAX: never), or at the cycle (NEVER).
 */
struct halt_target {
	uint32_t stream;
	bool halted;
	uint64_t instructions, executed;	/* executed: by kernels that have ended */
	uint64_t cycle;
};

struct gpu_session {
	struct gpu *gpu;
	struct gpu_session *next;
	uint32_t va_space, user;
	struct machine *machine;
	struct paging *paging;		/* NULL: it could not be made again; launches fail */
	struct known known;		/* by its policies */
	struct module *modules;
	struct address_range *code, *constants;	/* of the modules, by place */
	bool code_moved;		/* the first one's: managed memory has come to where it was */
	uint64_t now;			/* the session's clock, core cycles */
	uint64_t copy_free[GPU_COPY_ENGINES]; /* when a copy engine has done all that it was given */
	uint64_t grids;			/* launched, for %gridid */
	struct kernel_stats *kernels;
	size_t nkernels, kernel_room;
	struct samples samples;		/* over time, stats.interval */
	struct timeline timeline;
	struct fault_log fault_log;
	struct link_use link_use;
	struct run *queue, **queue_end;	/* submitted and not told */
	unsigned int nqueued;
	struct halt_target *targets;	/* of streams, by number */
	unsigned int ntargets, target_room;
	int poll_status;		/* kept by nested polls until the loop looks */
	struct loop *loop;		/* made with the session; what runs, while it is set aside */
	bool aside;
	struct output output;		/* of the last gpu_session_launch() */
	size_t printed;			/* bytes of output that works keep */
	struct {
		_Atomic uint64_t launches, ctas_done, ctas;	/* as struct gpu_progress */
	} progress;
};

/* addresses.c: a module's place in device addresses, from load to unload. -ENOSPC. */
int addresses_take(struct gpu_session *s, struct module *m, struct err *err);
/* Nothing runs. */
void addresses_give_back(struct gpu_session *s, struct module *m);
/*
 * Before a kernel begins: code is where managed memory does not reach, as that is now. -ENOMEM. A
 * kernel that runs keeps its addresses.
 */
int addresses_look(struct gpu_session *s);
/* Device addresses of the first instruction and the first constant. */
uint64_t module_code(const struct gpu_session *s, const struct module *m);
uint64_t module_constants(const struct module *m);

/*
 * invalidate.c: drops translations that the service invalidated, of all sessions. As
 * service_ops.poll.
 */
int gpu_apply_invalidations(struct gpu *gpu);

/* progress.c: a launch begins; so many CTAs of all that run are done; nothing runs: 0 of 0. */
void progress_begin(struct gpu_session *s);
void progress_set(struct gpu_session *s, uint64_t ctas_done, uint64_t ctas);

/* submit.c: does everything that was submitted, and tells. */
void session_finish(struct gpu_session *s);

/* statistics_paging.c: the statistics' "paging". */
struct json_object *statistics_paging_json(const struct gpu_session *s);

/* Nanoseconds in core cycles, rounded up. */
static inline uint64_t cycles_of(const struct gpu_spec *spec, uint64_t ns)
{
	return (uint64_t)(((unsigned __int128)ns * spec->clock_mhz + 999) / 1000);
}

#endif
