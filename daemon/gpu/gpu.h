/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The whole GPU: one device (service, frames, clock) and the sessions on it.
 * Used by the daemon and, in process, by libgpuemu; both go through the same
 * calls, so a program sees the same GPU either way. One thread at a time.
 */
#ifndef GPUEMU_GPU_GPU_H
#define GPUEMU_GPU_GPU_H

#include "base/advice.h"
#include "base/base.h"
#include "base/spec.h"
#include "base/texture.h"
#include "gpuemu_policy.h"
#include "service/service.h"

struct gpu;
struct gpu_session;

/* Takes no ownership of the service. */
int gpu_create(struct service *service, struct gpu **gpu, struct err *err);
void gpu_destroy(struct gpu *gpu);
/*
 * Which policies its sessions may load (plugin/plugin.h). NULL, as at first: any. Kept by
 * reference.
 */
struct plugin_site;
void gpu_policy_site(struct gpu *gpu, const struct plugin_site *site);

/*
 * Applies invalidations that came while nothing ran. Called between works.
 * As service_ops.poll, but the work's cancellation is not reported.
 */
int gpu_poll(struct gpu *gpu);

/* Checks names and combinations that spec_set() cannot: policies, schedulers. */
int gpu_spec_check(const struct gpu_spec *spec, struct err *err);

/* Can this GPU's service do what the spec asks? -EOPNOTSUPP: gpu.functional where it cannot be. */
int gpu_supports(const struct gpu *gpu, const struct gpu_spec *spec, struct err *err);

/* One client's VA space on this GPU: its options, PTX modules, statistics. */
int gpu_session_create(struct gpu *gpu, uint32_t va_space,
		       const struct gpu_spec *spec,
		       struct gpu_session **session, struct err *err);
void gpu_session_destroy(struct gpu_session *session);
/* Says whose the session is, because users share device memory (paging_set_user()). -ENOMEM. */
int gpu_session_set_user(struct gpu_session *session, uint32_t user);

/* New options; statistics start anew, resident pages are kept track of. */
int gpu_session_configure(struct gpu_session *session,
			  const struct gpu_spec *spec, struct err *err);

/*
 * -EEXIST if id is loaded. The text is parsed, with the session's compiler.* options as
 * they are now, and not kept. global_base: where the client put the segment of the module's
 * .global variables and its initial values; -EINVAL: 0, and the module has variables.
 */
int gpu_session_load(struct gpu_session *session, uint32_t id, const char *name,
		     const char *text, size_t bytes, uint64_t global_base,
		     struct err *err);
/*
 * The same of a module that somebody else parsed, with the options that loading here would take. It
 * is taken over, also where this fails.
 */
struct ptx_module;
struct ptx_options;
/* Most registers a thread of modules that are loaded from now on. */
uint32_t gpu_maxregs(const struct gpu_spec *spec);
void gpu_session_ptx_options(const struct gpu_session *session, struct ptx_options *options);
int gpu_session_adopt(struct gpu_session *session, uint32_t id, struct ptx_module *ptx,
		      uint64_t global_base, struct err *err);
bool gpu_session_loaded(const struct gpu_session *session, uint32_t id);
/*
 * The module's bank of .const variables, whole, for launches from now on; what was submitted has
 * ended. -ENOENT: no such module; -EINVAL: its bank has another size.
 */
int gpu_session_set_constants(struct gpu_session *session, uint32_t id, const void *data,
			      size_t bytes);
void gpu_session_unload(struct gpu_session *session, uint32_t id);

struct gpu_launch {
	uint32_t module;
	const char *kernel;
	uint32_t grid[3], block[3];
	uint32_t dynamic_shared;	/* bytes */
	uint32_t stack_bytes;		/* of a thread, for recursion; 0: compiler.stack */
	const void *params;		/* laid out as ptx_kernel.params */
	uint32_t param_bytes;
	/* The textures, indexed by handle; for kernels with textures or surfaces. */
	uint32_t ntextures;
	const struct texture *textures;
};

/*
 * Does what was submitted, then runs one grid to its end.
 * -ENOENT no such kernel; -EINVAL a bad launch (zero or too many threads, too much
 * shared memory, wrong parameter bytes); -EFAULT an access outside managed memory or
 * misaligned (*fault_addr set); -ECANCELED the kernel ended itself (an assertion, a trap,
 * a barrier that cannot be) or the client is gone; -EDEADLK no warp can ever go on;
 * -ETIMEDOUT gpu.watchdog; -EOPNOTSUPP; -ENOMEM; -ENODEV device lost. err names the
 * kernel and, for -EFAULT, line, thread and address.
 * The session can go on after any but -ENODEV.
 */
int gpu_session_launch(struct gpu_session *session,
		       const struct gpu_launch *launch, uint64_t *fault_addr,
		       struct err *err);

/*
 * The same, later: queued in a stream (0 is the default stream; params are copied) until
 * gpu_session_finish(), so that works of several streams run at the same time, up to
 * gpu.concurrent_kernels. A stream's works run one after the other; one of the default
 * stream begins when all before it have ended, and none behind it begins before its end.
 * A kernel that fails ends those that run with it, with -ECANCELED.
 *
 * done() is called once for each, of those that ended since the last time in the order of
 * submission, from gpu_session_finish(), what calls it (a launch, prefetch, touch,
 * configuration, statistics), or what runs the GPU for a while (below); output as from
 * gpu_session_take_output(), the callee's to free. It must not call the session. -ENOMEM.
 */
typedef void gpu_done(void *ctx, int status, uint64_t fault_addr, const struct err *err,
		      char *output, size_t bytes);
int gpu_session_submit(struct gpu_session *session, uint32_t stream,
		       const struct gpu_launch *launch, gpu_done *done, void *ctx);
void gpu_session_finish(struct gpu_session *session);

/*
 * A work that does nothing: works behind it in its stream begin at this cycle of the session's
 * clock at the soonest. -ERANGE: it is later than GPU_CYCLE_MAX; -ENOMEM.
 */
#define GPU_CYCLE_MAX	(1ull << 43)	/* so that no clock in picoseconds overflows */
int gpu_session_delay(struct gpu_session *session, uint32_t stream, uint64_t cycle);

/*
 * A prefetch (below) as a work of a stream, to device memory or home. While it moves, kernels of
 * other streams run, and what they demand goes before it; beside them nothing is put into
 * L2. In the default stream as gpu_session_prefetch(). -ENOMEM.
 */
int gpu_session_move(struct gpu_session *session, uint32_t stream, uint64_t addr, uint64_t bytes,
		     bool home, gpu_done *done, void *ctx);

/*
 * A copy as a work of a stream. The GPU has a copy engine for each direction, which does one copy
 * at a time, in the order in which their turns come; inside the device there is none to wait for.
 * After `cycles` copied() is called, which moves the bytes, so that works behind it see them;
 * without time, in its turn. It must not call the session. done() as above, of the same ctx,
 * also of a copy that was cancelled. -ENOMEM.
 */
enum gpu_copy { GPU_COPY_HERE, GPU_COPY_HOME, GPU_COPY_INSIDE };
#define GPU_COPY_ENGINES	2
typedef void gpu_copied(void *ctx);
int gpu_session_copy(struct gpu_session *session, uint32_t stream, enum gpu_copy way,
		     uint64_t cycles, gpu_copied *copied, gpu_done *done, void *ctx);

/*
 * An event: recorded() is told the cycle in which its turn in the stream came, as done() is.
 * mark is the caller's number of it, not 0. A work behind an await, in any stream, begins when
 * what was recorded under the mark before it is. -ENOMEM.
 */
typedef void gpu_recorded(void *ctx, int status, uint64_t cycle);
int gpu_session_record(struct gpu_session *session, uint32_t stream, uint64_t mark,
		       gpu_recorded *recorded, void *ctx);
int gpu_session_await(struct gpu_session *session, uint32_t stream, uint64_t mark);
bool gpu_session_recorded(const struct gpu_session *session, uint64_t mark);

/*
 * When the stream's kernels have executed so many thread instructions from now on, it is halted:
 * the one that runs gets no more CTAs, and those that run execute nothing more. Instructions
 * that they issued are performed, then it ends with -ECANCELED, with statistics
 * (kernel_stats.halted); launches
 * behind it do not begin, with the same error. Until the next configuration, or target. Without
 * time nothing is halted. -ENOSPC: GPU_TARGETS_MAX streams have one; -ENOMEM.
 */
#define GPU_TARGETS_MAX	1024u
int gpu_session_halt_after(struct gpu_session *session, uint32_t stream, uint64_t instructions);
/* The same at this cycle of the session's clock. It replaces a target, and a target replaces it. */
int gpu_session_halt_at(struct gpu_session *session, uint32_t stream, uint64_t cycle);

/*
 * How far its kernels are. Any thread may ask at any time of the session's life; the answer may
 * be some thousand cycles old.
 */
struct gpu_progress {
	uint64_t launches;		/* that have begun since the session was made */
	uint64_t ctas_done, ctas;	/* of those that run; 0 of 0: none does */
};
struct gpu_progress gpu_session_progress(const struct gpu_session *session);

/* The session's clock, core cycles: when what is submitted now can begin. */
uint64_t gpu_session_now(const struct gpu_session *session);
/* How many works were submitted and not told. */
unsigned int gpu_session_queued(const struct gpu_session *session);
/* Has the stream nothing left to do? */
bool gpu_session_idle(const struct gpu_session *session, uint32_t stream);
/* The numbers of the streams with works that were not told, each once, up to `room`; how many. */
unsigned int gpu_session_busy(const struct gpu_session *session, uint32_t *streams,
			      unsigned int room);
/*
 * Ends all that was submitted, running kernels too, without running it: each is told, with
 * -ECANCELED. The session can go on.
 */
void gpu_session_cancel(struct gpu_session *session);

/*
 * Runs the GPU until one of the streams has nothing left to do, or (mark not 0) the event is
 * recorded, or (cycles not 0) so many of them have passed. The others' works, running ones too,
 * stay where they are at that cycle, and go on from there with the next call. Those that ended
 * are told. Without time all streams' works are done. over and false: as below.
 */
struct gpu_until {
	const uint32_t *streams;
	unsigned int nstreams;
	uint64_t mark;
	uint64_t cycles;		/* all three 0: until all streams have nothing left to do */
};
typedef bool gpu_over(void *ctx);
bool gpu_session_go_until(struct gpu_session *session, const struct gpu_until *until,
			  gpu_over *over, void *ctx);

/*
 * The same for all, and comes back where over() says that it is another session's turn: what
 * runs is set aside between two quanta, and goes on from there, as if nothing had been, with
 * the next call or with anything that does what was submitted. False: it is not all done. over() is
 * asked every few quanta and batches, and not before something was executed in this call.
 */
bool gpu_session_go_on(struct gpu_session *session, gpu_over *over, void *ctx);

/*
 * The text that the last gpu_session_launch() printed, whether or not it failed: *bytes of text and
 * a NUL. The caller frees it. NULL: it printed nothing. It is at most GPU_OUTPUT_MAX bytes and a
 * sentence that says how many are lost. All launches of the session together keep at most
 * GPU_OUTPUT_ALL bytes that were not taken yet.
 */
char *gpu_session_take_output(struct gpu_session *session, size_t *bytes);
#define GPU_OUTPUT_MAX	(1u << 20)	/* CUDA's default cudaLimitPrintfFifoSize */
#define GPU_OUTPUT_ALL	(3u << 20)
/*
 * In such a text: a string that the client has to read, for its page is not in device memory, and
 * its bytes are out of the service's reach: address, bytes at most, width, l when the spaces are
 * behind it, else r. The client checks the address.
 */
#define GPU_STRING_MARK	"\033]gpuemu-string:%" PRIx64 ",%" PRIx64 ",%" PRIx64 ",%c\a"

/*
 * Does what was submitted, then moves the range's pages. With gpu.functional or paging off:
 * nothing, all is where it is needed. With l2.prefill the range, to the byte, is in L2
 * afterwards, as an upload by a copy would leave it, as far as it fits.
 */
int gpu_session_prefetch(struct gpu_session *session, uint64_t addr,
			 uint64_t bytes, struct err *err);
/* The same the other way: the range's pages that are in device memory go to the host. */
int gpu_session_prefetch_host(struct gpu_session *session, uint64_t addr,
			      uint64_t bytes, struct err *err);

/*
 * A recorded run for policies that know the future (gpuemu_policy.h): page addresses, in
 * pieces, from the next gpu_session_configure() on. -EINVAL: no page addresses; -E2BIG: more than
 * GPU_RECORD_MAX; -ENOMEM.
 */
int gpu_session_add_record(struct gpu_session *session, const uint64_t *pages, uint64_t n);
#define GPU_RECORD_MAX	(1u << 25)	/* touches: 256 MiB */

/*
 * The managed ranges, ascending, for policies that look at them; where the service knows
 * them (service_ops.managed) they are not asked for. -EINVAL: they are none; -ENOMEM.
 */
struct gpu_range {
	uint64_t addr, bytes;
};
int gpu_session_set_ranges(struct gpu_session *session, const struct gpu_range *ranges,
			   uint64_t n);

/*
 * What the program advised, ascending, all of it (base/advice.h), for works from now on. Does
 * what was submitted. Mapping what the device accesses, and ending what is advised no more,
 * takes no virtual time. What the service cannot do is not done. -EINVAL: malformed; -ENOMEM;
 * -ENODEV device lost.
 */
int gpu_session_set_advice(struct gpu_session *session, const struct advice_range *advice,
			   uint64_t n, struct err *err);
/* Is it advised already? Then setting it runs nothing of what was submitted. */
bool gpu_session_advised(const struct gpu_session *session, const struct advice_range *advice,
			 uint64_t n);

/*
 * Does what was submitted; the page of each touch since creation or configuration, in order,
 * valid until the next call. -EINVAL: paging.record is off; -ENOMEM: not all are there.
 */
int gpu_session_touches(struct gpu_session *session, const uint64_t **pages, uint64_t *n,
			struct err *err);

enum gpu_touch_flag {
	GPU_TOUCH_WRITE = 1 << 0,
	GPU_TOUCH_SAMPLES = 1 << 1,	/* *json has each far fault's times, too */
	GPU_TOUCH_SILENT = 1 << 2,	/* there is no *json */
	GPU_TOUCH_FLAGS = (1 << 3) - 1,
};

/*
 * Wall time: raises one far fault for every `stride` bytes from addr, one at a time, without an
 * SM model, and waits for each. *json (caller frees): {"far_fault_ns":{..},"stages_ns":{..},
 * "faults":n} as design section 10's bench fault; percentiles are exact. batch > 1 raises that
 * many at once. What is in device memory already does not fault and is not counted. flags are
 * of enum gpu_touch_flag.
 */
int gpu_session_touch(struct gpu_session *session, uint64_t addr,
		      uint64_t bytes, uint64_t stride, unsigned int batch,
		      unsigned int flags, char **json, struct err *err);

/*
 * The same in parts: over() is asked between batches. NULL: err set. False: not all is done.
 * The end frees it, done or not.
 */
struct gpu_touch;
struct gpu_touch *gpu_touch_begin(struct gpu_session *session, uint64_t addr, uint64_t bytes,
				  uint64_t stride, unsigned int batch, unsigned int flags,
				  int *status, struct err *err);
bool gpu_touch_go_on(struct gpu_touch *touch, gpu_over *over, void *ctx);
int gpu_touch_end(struct gpu_touch *touch, char **json, struct err *err);

/*
 * Statistics since creation or configuration as JSON text (caller frees):
 * version, clock, kernels, totals, memory, paging of design section 10. Kernels
 * that failed are not listed; totals.cycles is the session's clock, explicit prefetches
 * included; stages_ns are means a batch; paging is absent when it is off.
 * host_seconds is left out, because it is not deterministic. The printing tool adds it.
 */
char *gpu_session_statistics(struct gpu_session *session);

/* Rows for listings: policies of every table. kind: "schedulers", "prefetchers", "evictors", "backends". */
bool gpu_list_row(const char *kind, unsigned int n, const char **name,
		  const char **help);
/* The options of such a row, as `NAME:KEY=VALUE,...` sets them; NULL: it has none. */
const struct gpuemu_policy_option *gpu_list_options(const char *kind, unsigned int n);

/* --- payloads of works, as libgpuemu sends them to the daemon ------------ */

/* Little endian, 8-byte aligned, sizes checked by gpu_work_*(); a client is not trusted. */
struct gpu_work_launch {
	uint32_t size;			/* of this struct */
	uint32_t module;
	uint32_t grid[3], block[3];
	uint32_t dynamic_shared;
	uint32_t name_bytes;		/* kernel name with its NUL, right behind this struct */
	uint32_t param_bytes;		/* behind the name, at the next multiple of 8 */
	uint32_t ntextures;		/* struct texture each, behind that, at the next multiple of 8 */
	uint32_t stack_bytes;		/* of a thread, for recursion; 0: compiler.stack */
	uint32_t reserved;
};

struct gpu_work_prefetch {
	uint32_t size;
	uint32_t to_host;		/* 0: to device memory; 1: back */
	uint64_t addr, bytes;
};

struct gpu_work_touch {
	uint32_t size;
	uint32_t batch;
	uint64_t addr, bytes, stride;
	uint32_t flags;			/* enum gpu_touch_flag */
	uint32_t reserved;
};

/*
 * Payload of GPUEMU_WORK_LOAD. The bytes behind it are the module's bank of .const variables from
 * now on; none: it stays as it is. For a module that is loaded already, only the bank counts.
 */
struct gpu_work_load {
	uint32_t size;
	uint32_t module;
	uint64_t global_base;		/* of the segment of .global variables; 0: there is none */
	char name[112];			/* for messages, NUL terminated */
};
/*
 * Payload of GPUEMU_WORK_RANGES: count struct gpu_range behind it, and behind those the advice,
 * count_advice struct advice_range. Ranges are as they were allocated; advice divides them further.
 */
struct gpu_work_ranges {
	uint32_t size;
	uint32_t count;
	uint32_t count_advice;
	uint32_t reserved;
};
/*
 * Payload of GPUEMU_WORK_RECORD. fetch 0: page addresses (uint64_t) behind it are added to the
 * recorded run that is known from the next configuration on. fetch 1: report := uint64_t
 * count of all touches of this run, then the addresses of those from `from` on, up to
 * GPU_TOUCHES_MAX.
 */
struct gpu_work_record {
	uint32_t size;
	uint32_t fetch;
	uint64_t from;
};
#define GPU_TOUCHES_MAX	(256u << 10)
/* Payload of GPUEMU_WORK_CONFIGURE: spec_to_text() lines, NUL terminated. */

/*
 * Payload of GPUEMU_WORK_RUN: works of any streams, which the engine keeps with what it kept
 * of this client before, and how far it runs what it keeps (struct gpu_until). Behind the struct
 * are the numbers of the streams that are waited for, then at the next multiple of 8 the works,
 * each a struct gpu_run_item.
 */
struct gpu_work_run {
	uint32_t size;
	uint32_t flags;			/* GPU_RUN_* */
	uint32_t generation;		/* of the engine that keeps what was sent before, or will */
	uint32_t nitems;
	uint64_t mark, cycles;		/* as in struct gpu_until; with no stream: all is run */
	uint32_t nstreams;
	uint32_t reserved;
};
#define GPU_RUN_HOLD	1u		/* nothing is run */
#define GPU_RUN_DROP	2u		/* what was kept before ends, and is not reported */
#define GPU_RUN_ITEMS	512u		/* works that the engine keeps of one client */
#define GPU_RUN_STREAMS	1024u		/* that are waited for at once */

/* data_bytes of data behind it; the next item is at the next multiple of 8. */
struct gpu_run_item {
	uint32_t kind;			/* enum gpu_run_kind */
	uint32_t stream;
	uint32_t data_bytes;
	uint32_t reserved;
};

/* Each says what its data is. */
enum gpu_run_kind {
	GPU_RUN_LAUNCH = 1,		/* as GPUEMU_WORK_LAUNCH's payload */
	GPU_RUN_MOVE = 2,		/* struct gpu_work_prefetch */
	GPU_RUN_DELAY = 3,		/* uint64_t: gpu_session_delay()'s cycle */
	GPU_RUN_RECORD = 4,		/* uint64_t: the event's mark, not 0 */
	GPU_RUN_AWAIT = 5,		/* the same */
	GPU_RUN_HALT = 6,		/* uint64_t: gpu_session_halt_after()'s instructions */
	GPU_RUN_HALT_AT = 7,		/* uint64_t: gpu_session_halt_at()'s cycle */
	GPU_RUN_COPY = 8,		/* uint64_t: GPU_RUN_COPY_OF(); the client copies itself */
};
/* A copy engine is busy for so many cycles. */
#define GPU_RUN_COPY_OF(way, cycles)	((uint64_t)(cycles) << 2 | (way))
#define GPU_RUN_COPY_WAY(number)	((enum gpu_copy)((number) & 3))
#define GPU_RUN_COPY_CYCLES(number)	((number) >> 2)

/* One item, decoded; pointers into the payload. */
struct gpu_run_work {
	uint32_t kind, stream;
	union {
		struct gpu_launch launch;
		struct gpu_work_prefetch move;
		uint64_t number;
	};
};

/*
 * Checks the whole payload, which is 8-byte aligned. *streams is head->nstreams numbers in
 * it, *at the first item's place, for gpu_run_next(). -EINVAL: malformed.
 */
int gpu_run_decode(const void *payload, size_t bytes, struct gpu_work_run *head,
		   const uint32_t **streams, size_t *at);
/* The next item of a payload that was checked. */
void gpu_run_next(const void *payload, size_t *at, struct gpu_run_work *work);

/* Items on their way to be encoded. All zero is empty; free(bytes) when done. */
struct gpu_run_items {
	char *bytes;
	size_t used, room;
	unsigned int count;
};
int gpu_run_add(struct gpu_run_items *items, uint32_t kind, uint32_t stream, const void *data,
		size_t data_bytes);
/* size, nitems are set. *payload is allocated, caller frees. -ENOMEM. */
int gpu_run_encode(const struct gpu_work_run *head, const uint32_t *streams,
		   const struct gpu_run_items *items, void **payload, size_t *bytes);
/* How long that payload would be. */
size_t gpu_run_bytes(unsigned int nstreams, const struct gpu_run_items *items);

/*
 * Its report: what ended, the oldest first, and what did not. Behind the struct the numbers of
 * the streams that have something left to do, then at multiples of 8 a struct gpu_run_ended each.
 */
struct gpu_run_report {
	uint32_t size;
	uint32_t nended;
	uint64_t now;			/* the session's clock */
	uint32_t kept;			/* works that are not done */
	uint32_t nbusy;
};
/* The end of a launch, a move, a record or a work that could not be done. */
struct gpu_run_ended {
	uint32_t stream;
	int32_t status;
	uint64_t mark;			/* of the event that was recorded; else 0 */
	uint64_t cycle;			/* when it was */
	uint64_t fault_addr;
	uint32_t message_bytes;		/* of text behind this, without a NUL */
	uint32_t output_bytes;		/* of what it printed, behind that */
};
/* As gpu_run_decode() and gpu_run_next(), of a report. *text: message, then output. */
int gpu_run_report_decode(const void *report, size_t bytes, struct gpu_run_report *head,
			  const uint32_t **busy, size_t *at);
void gpu_run_report_next(const void *report, size_t *at, struct gpu_run_ended *ended,
			 const char **text);
/* One more to a report that grows in items->bytes. */
int gpu_run_report_add(struct gpu_run_items *items, const struct gpu_run_ended *ended,
		       const char *message, const char *output);
int gpu_run_report_encode(const struct gpu_run_report *head, const uint32_t *busy,
			  const struct gpu_run_items *items, void **report, size_t *bytes);

/* Decodes a launch payload into *launch (pointers into payload). -EINVAL: malformed. */
int gpu_work_decode_launch(const void *payload, size_t bytes,
			   struct gpu_launch *launch);
/* Encodes; *payload is allocated, caller frees. */
int gpu_work_encode_launch(const struct gpu_launch *launch, void **payload,
			   size_t *bytes);

#endif
