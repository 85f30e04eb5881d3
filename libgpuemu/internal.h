/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libgpuemu's inside: what a context is made of, and the table of backends
 * that carry its calls out. The calls check, keep the books and lock; a
 * backend only acts, always under ctx->lock.
 */
#ifndef LIBGPUEMU_INTERNAL_H
#define LIBGPUEMU_INTERNAL_H

#include <pthread.h>

#include "base/advice.h"
#include "base/base.h"
#include "base/spec.h"
#include "gpu/gpu.h"
#include "gpuemu.h"
#include "ptx/ptx.h"

/* All that is not in libgpuemu.map stays in; this marks what is. */
#define PUBLIC	__attribute__((visibility("default")))

/*
 * Where managed memory is: far from where Linux puts programs, stacks and libraries,
 * and from what the sanitizers reserve.
 */
#ifndef ARENA_START		/* a test with ThreadSanitizer, whose own addresses these are */
#define ARENA_START	0x200000000000ull
#define ARENA_END	0x300000000000ull
#endif

/* Page addresses in the order in which a run touched them. */
struct record {
	uint64_t *pages;		/* NULL: no record */
	uint64_t count, room;
};

struct gpuemu_stream {
	struct gpuemu_ctx *ctx;
	struct gpuemu_stream *next;
	uint32_t id;			/* 0: the default stream */
	int status;			/* first error since the last synchronize */
	struct err err;
	/* kmod: works that were not sent, and the flights with works that may not have ended. */
	unsigned int collected;
	uint64_t first, last;		/* first 0: there are none */
};

/* Describes the record that was made last. */
struct gpuemu_event {
	struct gpuemu_ctx *ctx;
	struct gpuemu_event *next;
	uint64_t mark;			/* of that record; 0: none was made */
	bool recorded;			/* its turn in its stream has come, at the cycle */
	uint64_t cycle;
	int status;			/* < 0: it never will */
};

struct gpuemu_function {
	struct gpuemu_function *next;
	struct gpuemu_module *module;
	const struct ptx_kernel *kernel;
};

struct gpuemu_module {
	struct gpuemu_module *next;
	struct gpuemu_ctx *ctx;
	uint32_t id;
	char *name;
	struct ptx_module *ptx;		/* placed at the segment */
	void *segment;			/* managed memory of its .global variables, or NULL */
	struct gpuemu_function *functions;
	bool heap_known;		/* its kernels know where the heap is, or call no malloc() */
	bool constants_written;		/* .const variables are not what the text says */
};

/*
 * A module's segment is managed, and not the user's to free. Device memory is not paged.
 * Registered memory is the program's own, and stays when it is managed no more.
 */
enum mem_kind { MEM_MANAGED, MEM_SEGMENT, MEM_DEVICE, MEM_REGISTERED };

/* One allocation; the list is sorted by address. */
struct allocation {
	struct allocation *next;
	uintptr_t addr;
	size_t bytes;			/* whole pages */
	enum mem_kind kind;
};

struct gpuemu_ctx {
	pthread_mutex_t lock;
	const struct backend_ops *backend;
	void *state;			/* the backend's */
	bool pageable;			/* the program gives kernels all of its memory */
	struct gpu_spec spec;		/* vram_bytes 0: not asked for */
	struct record recorded;		/* an earlier run, for policies that know the future */
	char *settings;			/* "key=value" lines that differ from the engine's own */
	struct allocation *allocations;
	/* The advice, sorted by address: pieces of allocations that do not overlap. */
	struct advice_range *advice;
	uint32_t nadvice;
	struct gpuemu_module *modules;
	struct texture *textures;	/* by handle */
	uint32_t ntextures, texture_room;
	void *heap;			/* of kernels' malloc(); NULL: no kernel called it */
	size_t heap_bytes;
	uint32_t stack_bytes;		/* of a thread; 0: compiler.stack */
	struct gpuemu_stream default_stream;	/* the head of the list of streams */
	uint32_t next_stream;
	struct gpuemu_event *events;
	uint64_t next_mark;
	void (*print)(void *arg, const char *text, size_t bytes);	/* NULL: stdout */
	void *print_arg;
	struct err err;			/* of the last call that failed */
};

/* A work of one stream. */
struct work {
	enum { LAUNCH, PREFETCH, DELAY, RECORD, AWAIT } kind;
	union {
		struct gpu_launch launch;
		struct {
			uint64_t addr, bytes;
			bool to_host;	/* else to device memory */
		} prefetch;
		uint64_t cycle;		/* DELAY: until then */
		uint64_t mark;		/* RECORD, AWAIT: of the event */
	};
};

/* The arguments of gpuemu_mem_copy(). */
struct copy {
	void *dst;
	const void *src;
	size_t bytes;
	unsigned int flags;	/* GPUEMU_COPY_* */
};

/*
 * Errors: returned, with err set. submit() returns what can be known at once;
 * what goes wrong later is put into the stream with stream_fail().
 */
struct backend_ops {
	const char *name;
	bool pageable;			/* kernels may be given any pointer of the process */
	/* Usable without being asked for by name? */
	bool (*present)(const char *device);
	int (*open)(struct gpuemu_ctx *ctx, const char *device, struct err *err);
	void (*close)(struct gpuemu_ctx *ctx);
	/* ctx->spec is already the new one, settings the lines that are new. */
	int (*configure)(struct gpuemu_ctx *ctx, const char *settings, struct err *err);
	/* Makes a reserved range managed memory; drop() undoes it and leaves it unmapped. */
	int (*map)(struct gpuemu_ctx *ctx, void *addr, size_t bytes, struct err *err);
	void (*drop)(struct gpuemu_ctx *ctx, void *addr, size_t bytes);
	/*
	 * The same of memory that is in use, which stays as it is; NULL: what is there is kept
	 * aside while map() and drop() put other pages in its place.
	 */
	int (*adopt)(struct gpuemu_ctx *ctx, void *addr, size_t bytes, struct err *err);
	void (*release)(struct gpuemu_ctx *ctx, void *addr, size_t bytes);
	/* Memory of the program's own is managed until the program unmaps it; NULL: it cannot. */
	int (*manage)(struct gpuemu_ctx *ctx, uintptr_t addr, size_t bytes);
	/* The same of device memory that is not paged; NULL: the backend has none. */
	int (*map_device)(struct gpuemu_ctx *ctx, void *addr, size_t bytes, struct err *err);
	void (*drop_device)(struct gpuemu_ctx *ctx, void *addr, size_t bytes);
	/* A copy on the copy engine, dst NULL: its time alone; NULL: the backend has none. */
	int (*copy)(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream, const struct copy *copy);
	/* The module's segment is there and filled. */
	int (*load)(struct gpuemu_ctx *ctx, struct gpuemu_module *module, const char *text,
		    size_t bytes, struct err *err);
	void (*unload)(struct gpuemu_ctx *ctx, struct gpuemu_module *module);
	/* The module's .const variables, as its ptx has them, are for works from now on. */
	int (*constants)(struct gpuemu_ctx *ctx, struct gpuemu_module *module, struct err *err);
	int (*submit)(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream,
		      const struct work *work, struct err *err);
	/*
	 * Waits until one of the streams has nothing left to do; with the default stream, until
	 * none has. What ended works print is printed.
	 */
	void (*wait)(struct gpuemu_ctx *ctx, struct gpuemu_stream *const *streams, unsigned int n);
	/* Has it nothing left to do? Right after wait(), or one of these two. */
	bool (*idle)(struct gpuemu_ctx *ctx, const struct gpuemu_stream *stream);
	/* The same until event_recorded() was called for the mark. */
	void (*wait_mark)(struct gpuemu_ctx *ctx, uint64_t mark);
	/* How far the kernels are, without the lock, from any thread. */
	struct gpu_progress (*progress)(const struct gpuemu_ctx *ctx);
	/* Lets so much virtual time pass, if there is something to do. */
	void (*pass)(struct gpuemu_ctx *ctx, uint64_t cycles);
	int (*halt_after)(struct gpuemu_ctx *ctx, const struct gpuemu_stream *stream,
			  uint64_t instructions, struct err *err);
	int (*halt_at)(struct gpuemu_ctx *ctx, const struct gpuemu_stream *stream,
		       uint64_t cycle, struct err *err);
	/* ctx->advice is what it shall be for works from now on. */
	int (*advise)(struct gpuemu_ctx *ctx, struct err *err);
	bool no_duplicates;		/* it cannot follow ADVICE_READ_MOSTLY */
	int (*statistics)(struct gpuemu_ctx *ctx, char **json, struct err *err);
	/* What this run touched, with paging.record. *record is empty, and the caller's, also on error. */
	int (*touches)(struct gpuemu_ctx *ctx, struct record *record, struct err *err);
	int (*touch)(struct gpuemu_ctx *ctx, const struct gpu_work_touch *touch, char **json,
		     struct err *err);
};

#define X(name) extern const struct backend_ops backend_##name;
#include "backends.def"
#undef X

/* enter.c: leaves ctx, keeping the text of a failure. Returns ret. */
int ctx_leave(struct gpuemu_ctx *ctx, int ret, const struct err *err);
void ctx_enter(struct gpuemu_ctx *ctx);

/* settings.c */
int settings_from_config(struct gpu_spec *spec, const char *config, char **settings,
			 struct err *err);
/* *settings with the lines of `more` over it, one line a key. */
int settings_merge(char **settings, const char *more);
/* The same lines with absolute paths of loaded policies, the caller's to free; NULL: no memory. */
char *settings_absolute(const char *settings);
/* Checks as the engine will, with the default where vram is not asked for. */
int settings_check(const struct gpu_spec *spec, struct err *err);

/* mem.c */
int mem_alloc(struct gpuemu_ctx *ctx, void **ptr, size_t bytes, enum mem_kind kind,
	      struct err *err);
/* No submitted work may use it any more. -EINVAL: no such allocation of that sort. */
int mem_free(struct gpuemu_ctx *ctx, void *ptr, bool segment);
bool mem_is_managed(const struct gpuemu_ctx *ctx, const void *ptr, size_t bytes);
/* The same, or memory of the program's own, which is managed from then on. */
bool mem_is_pageable(struct gpuemu_ctx *ctx, const void *ptr, size_t bytes);
void mem_free_all(struct gpuemu_ctx *ctx);

/* advice.c: [addr, addr + bytes) is freed: nothing is advised on what comes there next. */
void advice_forget(struct gpuemu_ctx *ctx, uint64_t addr, uint64_t bytes);

/* module.c */
void module_free(struct gpuemu_module *module);

/* heap.c */
#define HEAP_BYTES	(8ull << 20)	/* as CUDA's default cudaLimitMallocHeapSize */
#define HEAP_UNIT	(64ull << 10)
#define HEAP_MAX	(32ull << 30)
#define STACK_MIN	16u
#define STACK_MAX	(512u << 10)	/* of a thread's local memory, as the hardware's */
/* Before a kernel of the module is launched. */
int heap_prepare(struct gpuemu_module *module, struct err *err);

/* record.c */
/* -EINVAL, -E2BIG, -ENOMEM. */
int record_read(const char *path, struct record *record, struct err *err);
int record_add(struct record *record, uint64_t addr);
void record_free(struct record *record);

/* print.c: to whom kernels print. */
void print_text(struct gpuemu_ctx *ctx, const char *text, size_t bytes);

/* stream.c */
/* NULL is the default stream; NULL back: not a stream of ctx. */
struct gpuemu_stream *stream_of(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream);
void stream_fail(struct gpuemu_stream *stream, int status, const struct err *err);
void stream_wait(struct gpuemu_stream *stream);
void stream_wait_all(struct gpuemu_ctx *ctx);
void stream_free_all(struct gpuemu_ctx *ctx);

/* event.c: what a backend tells of a record. */
void event_recorded(struct gpuemu_ctx *ctx, uint64_t mark, int status, uint64_t cycle);
void event_free_all(struct gpuemu_ctx *ctx);
/* Cycles that a query lets pass, so that a program that polls gets on. */
#define QUERY_CYCLES	1000u

#endif
