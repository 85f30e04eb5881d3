/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libgpuemu: run PTX kernels on an emulated GPU that pages.
 *
 * The shape is the CUDA driver API's (contexts, modules, functions, streams,
 * managed memory), so that what a CUDA programmer expects holds: launches are
 * asynchronous, errors of a kernel come back from the next synchronize,
 * managed pointers are the same on both sides.
 *
 * Every int function returns 0 or a negative errno; gpuemu_strerror() names
 * it, gpuemu_last_error() has the sentence with the details. A context may be
 * used from several threads, one call at a time is carried out.
 *
 * Which GPU: gpuemu_options.backend, else $GPUEMU_BACKEND, else "kmod" when an
 * engine is attached to /dev/gpuemu, else "sim" (in this process, virtual
 * service times, deterministic).
 */
#ifndef GPUEMU_H
#define GPUEMU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPUEMU_VERSION_MAJOR	0
#define GPUEMU_VERSION_MINOR	1

struct gpuemu_ctx;	/* an open GPU: one VA space, its modules, streams, statistics */
struct gpuemu_module;	/* a loaded PTX text */
struct gpuemu_function;	/* a kernel of a module */
struct gpuemu_event;	/* a mark in the order of a stream */
struct gpuemu_stream;	/* works of one stream run in order; NULL is the default stream */

/* --- version and errors -------------------------------------------------- */

/* Major << 16 | minor of the library that runs. */
unsigned int gpuemu_version(void);

/* A short name for a (negative) error code, e.g. "device lost" for -EIO. Never NULL. */
const char *gpuemu_strerror(int error);

/*
 * The sentence for the last call on ctx that failed, e.g. "kernel 'saxpy': 4-byte load
 * at 0x7f.. outside managed memory (saxpy.ptx line 31, thread (3,0,0) of CTA
 * (0,0,0))". "" if none failed. ctx NULL: of gpuemu_open() in this thread.
 * Valid until the next call on ctx.
 */
const char *gpuemu_last_error(const struct gpuemu_ctx *ctx);

/* --- context ------------------------------------------------------------- */

struct gpuemu_options {
	size_t size;		/* sizeof(struct gpuemu_options) */
	const char *backend;	/* "kmod", "uffd", "sim", or NULL: see above */
	const char *config;	/* a GPU of gpuemu list configs or a path, or NULL: the default GPU */
	const char *settings;	/* "key=value" lines over it ("paging.vram=16M\n"), or NULL */
	const char *device;	/* NULL: /dev/gpuemu */
	const char *recorded;	/* a file of gpuemu_record(), for policies that know the future; or NULL */
};

/*
 * -ENODEV no engine attached (gpuemud is not running), -ENOENT no /dev/gpuemu
 * (module not loaded), -EACCES no permission, -EINVAL unknown backend,
 * config, key or value; backend uffd: -EPERM, -ENOSYS, -EOPNOTSUPP no userfaultfd.
 * options may be NULL.
 */
int gpuemu_open(struct gpuemu_ctx **ctx, const struct gpuemu_options *options);

/* Waits for nothing; frees everything of ctx, managed memory included. NULL is ignored. */
void gpuemu_close(struct gpuemu_ctx *ctx);

/* "kmod", "uffd" or "sim". */
const char *gpuemu_backend(const struct gpuemu_ctx *ctx);

/*
 * 1: a kernel may be given any pointer of this process (heap, stack, variables, mapped files): sim
 * moves its pages as managed ones, uffd uses them across the link. 0: managed and device memory
 * alone, as on kmod and where $GPUEMU_PAGEABLE is 0. While a kernel runs the program must not unmap
 * or protect what the kernel uses.
 */
int gpuemu_pageable(const struct gpuemu_ctx *ctx);

/* Applies "key=value" lines; statistics start anew. -EINVAL, -ERANGE, -ENOENT name the key. */
int gpuemu_configure(struct gpuemu_ctx *ctx, const char *settings);

/*
 * The value of an option of gpuemu-config(5) in this context, as its text ("sm.warps": "48"). -ENOENT:
 * there is no such option; -ERANGE: it does not fit `bytes`.
 */
int gpuemu_get_setting(struct gpuemu_ctx *ctx, const char *key, char *value, size_t bytes);

/* --- managed memory ------------------------------------------------------ */

/*
 * `bytes` of zeroed memory (rounded up to pages) that CPU and GPU both use at
 * the same address; a page moves to the side that touches it. -EINVAL bytes 0, -ENOMEM.
 */
int gpuemu_mem_alloc_managed(struct gpuemu_ctx *ctx, void **ptr, size_t bytes);

/*
 * `bytes` of zeroed device memory (rounded up to 2 MiB), as cudaMalloc() has it: not paged, always
 * there, taken from what managed pages may use. The CPU may use it between works, at the same
 * address; what that takes is for gpuemu_mem_copy() to say. -EINVAL bytes 0, -ENOMEM not as
 * much is left, -EOPNOTSUPP the module knows none (kmod).
 */
int gpuemu_mem_alloc_device(struct gpuemu_ctx *ctx, void **ptr, size_t bytes);

/*
 * Makes memory that the program has managed memory, with what it holds: [ptr, ptr + bytes) and
 * the rest of its first and last page, where they lie. gpuemu_mem_free(ptr) makes them the
 * program's alone again; they keep what they hold. With backends other than sim other threads
 * must leave these pages alone while either call is made. -EINVAL bytes 0, -EEXIST a page of it
 * is managed already, -ENOMEM.
 */
int gpuemu_mem_register(struct gpuemu_ctx *ctx, void *ptr, size_t bytes);

/*
 * Frees what gpuemu_mem_alloc_managed() or _device() returned, when the works submitted so
 * far are done. -EINVAL: no such allocation.
 */
int gpuemu_mem_free(struct gpuemu_ctx *ctx, void *ptr);

/*
 * Gives a texture or surface a handle for kernels launched from now on, and says where its elements
 * are and how kernels read them. The caller chooses any number as the handle; the handle of a
 * .texref or .surfref variable is its address. texture NULL: the handle ends.
 * -EINVAL: no such format; -ENOMEM.
 */
enum gpuemu_texel { GPUEMU_TEXEL_UNSIGNED, GPUEMU_TEXEL_SIGNED, GPUEMU_TEXEL_FLOAT };
#define GPUEMU_TEXTURE_LINEAR		1u	/* filtered; else the nearest element */
#define GPUEMU_TEXTURE_NORMALIZED	2u	/* coordinates are parts of the whole */
#define GPUEMU_TEXTURE_AS_FLOAT		4u	/* integers are read as fractions of their largest */
#define GPUEMU_TEXTURE_MEMORY		8u	/* linear memory: zeros outside */
/* Dimension i wraps around (0), is clamped (1), mirrored (2) or has a border (3). */
#define GPUEMU_TEXTURE_MODE(mode, i)	((unsigned int)(mode) << (4 + 2 * (i)))
struct gpuemu_texture {
	const void *base;
	size_t pitch, slice;		/* bytes from row to row, from slice or layer to the next */
	unsigned int width, height, depth; /* elements; 0: there is no such dimension */
	unsigned int channels, channel_bytes; /* each 1, 2 or 4 */
	enum gpuemu_texel kind;
	unsigned int flags;
	unsigned int border[4];		/* the bits of its colour */
};
int gpuemu_texture_set(struct gpuemu_ctx *ctx, uint64_t handle,
		       const struct gpuemu_texture *texture);

/*
 * A copy on one of the device's copy engines, which there is one of for each direction, in the
 * stream's order: works of other streams run beside it, works behind it see what it wrote. The
 * memory is the copy's until then. dst and src NULL: the program copies so many bytes itself, and
 * the engine is busy as long; with backends other than sim only so (-EOPNOTSUPP). -EINVAL.
 */
#define GPUEMU_COPY_HOME	1u	/* from the device; else to it */
#define GPUEMU_COPY_INSIDE	2u	/* within the device: no engine, and no time */
#define GPUEMU_COPY_PAGEABLE	4u	/* the host's memory is not pinned: paging.pageable_mbps */
int gpuemu_mem_copy(struct gpuemu_ctx *ctx, void *dst, const void *src, size_t bytes,
		    unsigned int flags, struct gpuemu_stream *stream);

/*
 * Hint: bring [ptr, ptr + bytes) to device memory, in the stream's order; returns at once.
 * Advice does not prevent it. Pages of READ_MOSTLY memory are duplicated. -EINVAL outside
 * managed memory and, with sim and kmod, ordinary memory that the program may write.
 */
int gpuemu_mem_prefetch(struct gpuemu_ctx *ctx, const void *ptr, size_t bytes,
			struct gpuemu_stream *stream);
/*
 * The same the other way: pages that are in device memory go back, because the CPU will use them.
 * Duplicates stay. Pages that are ACCESSED_BY the GPU are mapped where they go.
 */
int gpuemu_mem_prefetch_host(struct gpuemu_ctx *ctx, const void *ptr, size_t bytes,
			     struct gpuemu_stream *stream);

/* The kinds of advice of gpuemu_mem_advise(); the numbers are cudaMemoryAdvise's. */
enum gpuemu_advice {
	GPUEMU_ADVISE_SET_READ_MOSTLY = 1,
	GPUEMU_ADVISE_UNSET_READ_MOSTLY = 2,
	GPUEMU_ADVISE_SET_PREFERRED_LOCATION = 3,
	GPUEMU_ADVISE_UNSET_PREFERRED_LOCATION = 4,
	GPUEMU_ADVISE_SET_ACCESSED_BY = 5,
	GPUEMU_ADVISE_UNSET_ACCESSED_BY = 6,
};

#define GPUEMU_LOCATION_HOST	(-1)	/* cudaCpuDeviceId */
#define GPUEMU_LOCATION_DEVICE	0	/* the context's GPU */

/*
 * Advice on how [ptr, ptr + bytes), whole pages around it, will be used; as cudaMemAdvise().
 * It says where pages go, never what they hold, and is for works that are submitted from now on
 * (it may wait for those before). It stays until it is unset or the memory is freed.
 *
 * READ_MOSTLY: a page that the GPU reads is copied to device memory, read-only on both sides; a
 *   write, by either, collapses it to one copy again. location is ignored.
 * PREFERRED_LOCATION: pages stay there while they can. HOST: the GPU uses them in system memory,
 *   across the link, without moving them. DEVICE: far faults bring them, also those of pages
 *   that are ACCESSED_BY. The last one said holds. location is ignored when it is unset.
 * ACCESSED_BY, DEVICE: pages stay where they are and are mapped for the GPU, which does not fault
 *   on them; what leaves device memory is mapped where it went. HOST: nothing, as in CUDA.
 *
 * -EINVAL: no bytes, not memory that can be prefetched, unknown advice or location; -EOPNOTSUPP:
 * SET_READ_MOSTLY on backend uffd, which has no duplicates; -ENOSPC: a context's advice has more
 * than 4096 pieces; -ENOMEM; -ENODEV.
 */
int gpuemu_mem_advise(struct gpuemu_ctx *ctx, const void *ptr, size_t bytes,
		      enum gpuemu_advice advice, int location);

/*
 * How large the heap is that kernels' malloc() and free() use, 8 MiB if nobody says. Before the
 * first launch from a module with such a kernel; then -EBUSY. -EINVAL: no bytes, or more than
 * 32 GiB.
 */
int gpuemu_set_heap(struct gpuemu_ctx *ctx, size_t bytes);

/*
 * How many bytes of local memory a thread has for recursive calls, in launches from now on;
 * compiler.stack if nobody says. -EINVAL: none, or more than 512 KiB.
 */
int gpuemu_set_stack(struct gpuemu_ctx *ctx, size_t bytes);

/* --- modules ------------------------------------------------------------- */

/*
 * Loads PTX text (bytes long; need not end in NUL). name is for messages, may
 * be NULL. -EINVAL not PTX, -EOPNOTSUPP an instruction that is not supported;
 * the last error names file, line and instruction. Where there are kernels without such an
 * instruction the module is loaded, and gpuemu_module_get_function() refuses the others.
 */
int gpuemu_module_load_data(struct gpuemu_ctx *ctx,
			    struct gpuemu_module **module, const char *text,
			    size_t bytes, const char *name);
int gpuemu_module_load(struct gpuemu_ctx *ctx, struct gpuemu_module **module,
		       const char *path);
/* Unloads the module and frees its functions. */
int gpuemu_module_unload(struct gpuemu_module *module);

/*
 * -ENOENT: the module has no kernel of that name; -EOPNOTSUPP: it has, with an instruction that is
 * not supported, which the last error names. Owned by the module.
 */
int gpuemu_module_get_function(struct gpuemu_module *module,
			       struct gpuemu_function **function,
			       const char *name);

/* n-th kernel in the text's order, owned by the module; -ENOENT past the last. */
int gpuemu_module_function_at(struct gpuemu_module *module,
			      struct gpuemu_function **function,
			      unsigned int n);
const char *gpuemu_function_name(const struct gpuemu_function *function);

/*
 * Where a module variable (.global) is and how large: managed memory, used by
 * CPU and GPU as any other until the module is unloaded. ptr or bytes may be
 * NULL. -ENOENT: the module has no such variable.
 */
int gpuemu_module_get_global(struct gpuemu_module *module, void **ptr,
			     size_t *bytes, const char *name);

/*
 * Where the GPU sees a variable in constant memory (.const), and how large it is. The CPU has no
 * such address: it writes and reads by the calls below. -ENOENT: the module has no such variable.
 */
int gpuemu_module_get_constant(struct gpuemu_module *module, uint64_t *address, size_t *bytes,
			       const char *name);
/*
 * Writes [offset, offset + bytes) of the variable, for works that are submitted from now on; waits
 * for those before. -EINVAL: it is not that large.
 */
int gpuemu_module_write_constant(struct gpuemu_module *module, const char *name, size_t offset,
				 const void *data, size_t bytes);
int gpuemu_module_read_constant(struct gpuemu_module *module, const char *name, size_t offset,
				void *data, size_t bytes);

/* A kernel's resources under this context's compiler.* options, as `ptxas -v` prints them. */
struct gpuemu_function_attributes {
	size_t size;		/* sizeof(struct gpuemu_function_attributes) */
	uint32_t regs;		/* 32-bit registers a thread */
	uint32_t preds;		/* predicates a thread */
	uint32_t max_live;	/* 32-bit registers live at once, before spilling */
	uint32_t spill_store_bytes, spill_load_bytes;	/* of its instructions */
	uint32_t shared_bytes;	/* static, a CTA */
	uint32_t const_bytes, param_bytes;
	uint32_t local_bytes;	/* a thread: stack and spills */
	uint32_t max_threads;	/* of a CTA */
	uint32_t instructions;	/* functions that it calls included */
	uint32_t nparams;
};

/* Set attributes->size first. -EINVAL: a size that no version has. */
int gpuemu_function_get_attributes(const struct gpuemu_function *function,
				   struct gpuemu_function_attributes *attributes);

/* --- streams ------------------------------------------------------------- */

/*
 * Works of one stream run in the order of submission; those of different streams may run
 * at the same time. NULL is CUDA's legacy default stream: a work in it begins when all before
 * it have ended, and none behind it begins before it has ended. Works of streams other than
 * NULL are queued until something waits (gpuemu_stream_create(3)), and a wait for one stream
 * runs the others' works only up to the cycle in which that one has nothing left to do.
 */
int gpuemu_stream_create(struct gpuemu_ctx *ctx, struct gpuemu_stream **stream);
/* Waits for its works. */
int gpuemu_stream_destroy(struct gpuemu_stream *stream);

/* Waits; returns the first error of the stream's works since the last synchronize. */
int gpuemu_stream_synchronize(struct gpuemu_ctx *ctx,
			      struct gpuemu_stream *stream);
/*
 * Waits until one of n streams has nothing left to do: *which is the first such in the array.
 * Its works' error is left to synchronize. -EINVAL: n is 0, not a stream of ctx; -ENOMEM.
 */
int gpuemu_stream_wait_any(struct gpuemu_ctx *ctx, struct gpuemu_stream *const *streams,
			   unsigned int n, unsigned int *which);
/*
 * Works behind it in the stream begin at this core cycle of the context's virtual time (the
 * statistics' totals.cycles) at the soonest. -ERANGE: it is later than 2^43.
 */
int gpuemu_stream_delay(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream, uint64_t cycle);
/*
 * 0: the stream has nothing left to do, and its works' error is left to synchronize; -EBUSY: it
 * has. A query that finds so lets 1000 cycles of virtual time pass; not where works of the
 * default stream are running, on kmod.
 */
int gpuemu_stream_query(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream);
/*
 * When the stream's kernels have executed so many thread instructions from now on, the stream is
 * halted: the kernel that runs executes nothing more and ends when what it issued is performed, and
 * no launch behind it begins; each of them has error -ECANCELED. -ENOSPC: 1024 streams have a
 * target (on kmod the stream's error).
 */
int gpuemu_stream_halt_after(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream,
			     uint64_t instructions);
/*
 * The same at a core cycle of the context's virtual time, for what comes behind it then. It
 * replaces a target of instructions, and such a target replaces it.
 */
int gpuemu_stream_halt_at(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream, uint64_t cycle);
/* The stream's number in statistics; of the default stream, 0. */
uint32_t gpuemu_stream_id(const struct gpuemu_stream *stream);
/* The same for all streams of ctx. */
int gpuemu_synchronize(struct gpuemu_ctx *ctx);

/* --- events -------------------------------------------------------------- */

/*
 * As CUDA's: recorded in a stream, an event is reached when the works before it in the stream
 * have ended. Recorded again, it is the new record's. What waits for an event that was never
 * recorded does not wait.
 */
int gpuemu_event_create(struct gpuemu_ctx *ctx, struct gpuemu_event **event);
/* A work or thread that waits for it goes on waiting for its last record. */
int gpuemu_event_destroy(struct gpuemu_event *event);
int gpuemu_event_record(struct gpuemu_event *event, struct gpuemu_stream *stream);
/* Works behind it in the stream begin when the event's last record, as of now, is reached. */
int gpuemu_stream_wait_event(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream,
			     const struct gpuemu_event *event);
/* Waits until it is reached, and for no more. < 0: it never will be. */
int gpuemu_event_synchronize(struct gpuemu_event *event);
/* 0, or -EBUSY, as gpuemu_stream_query(). */
int gpuemu_event_query(struct gpuemu_event *event);
/*
 * Core cycles of virtual time from one to the other. -EINVAL: one was not recorded; -EBUSY: one is
 * still to come, or nobody has synchronized with it or with what is behind it.
 */
int gpuemu_event_elapsed(const struct gpuemu_event *start, const struct gpuemu_event *end,
			 int64_t *cycles);

/* --- launch -------------------------------------------------------------- */

struct gpuemu_dim3 {
	uint32_t x, y, z;
};

/* A kernel argument with its type; checked against the PTX parameter's size. */
enum gpuemu_arg_type {
	GPUEMU_ARG_U8 = 1, GPUEMU_ARG_U16, GPUEMU_ARG_U32, GPUEMU_ARG_U64,
	GPUEMU_ARG_S8, GPUEMU_ARG_S16, GPUEMU_ARG_S32, GPUEMU_ARG_S64,
	GPUEMU_ARG_F32, GPUEMU_ARG_F64, GPUEMU_ARG_PTR,
	GPUEMU_ARG_BYTES,	/* a struct by value */
};

struct gpuemu_arg {
	enum gpuemu_arg_type type;
	size_t bytes;		/* GPUEMU_ARG_BYTES */
	union {
		uint64_t u;	/* unsigned, and two's complement of signed */
		float f32;
		double f64;
		const void *ptr;
	} v;
};

static inline struct gpuemu_arg gpuemu_arg_u32(uint32_t v)
{
	struct gpuemu_arg a = { GPUEMU_ARG_U32, 4, { v } };
	return a;
}

static inline struct gpuemu_arg gpuemu_arg_u64(uint64_t v)
{
	struct gpuemu_arg a = { GPUEMU_ARG_U64, 8, { v } };
	return a;
}

static inline struct gpuemu_arg gpuemu_arg_s32(int32_t v)
{
	struct gpuemu_arg a = { GPUEMU_ARG_S32, 4, { (uint32_t)v } };
	return a;
}

static inline struct gpuemu_arg gpuemu_arg_f32(float v)
{
	struct gpuemu_arg a = { GPUEMU_ARG_F32, 4, { 0 } };
	a.v.f32 = v;
	return a;
}

static inline struct gpuemu_arg gpuemu_arg_f64(double v)
{
	struct gpuemu_arg a = { GPUEMU_ARG_F64, 8, { 0 } };
	a.v.f64 = v;
	return a;
}

static inline struct gpuemu_arg gpuemu_arg_ptr(const void *v)
{
	struct gpuemu_arg a = { GPUEMU_ARG_PTR, 8, { 0 } };
	a.v.ptr = v;
	return a;
}

/*
 * Queues a grid. Arguments are copied now. -EINVAL: wrong number or size of
 * arguments, a grid or block of 0 or too many threads. What goes wrong while it
 * runs comes back from synchronize: -EFAULT access outside managed memory,
 * -ECANCELED an assertion failed, the kernel trapped, or one that ran at the same
 * time failed, -EDEADLK no warp can go on, -ETIMEDOUT gpu.watchdog, -EIO device lost,
 * -ENOTRECOVERABLE accesses to ordinary memory were lost, because the process held it too long.
 */
int gpuemu_launch(struct gpuemu_function *function, struct gpuemu_dim3 grid,
		  struct gpuemu_dim3 block, size_t dynamic_shared,
		  struct gpuemu_stream *stream, const struct gpuemu_arg *args,
		  unsigned int nargs);

/* As cuLaunchKernel: params[i] points to the i-th argument, as large as the PTX parameter. */
int gpuemu_launch_params(struct gpuemu_function *function,
			 struct gpuemu_dim3 grid, struct gpuemu_dim3 block,
			 size_t dynamic_shared, struct gpuemu_stream *stream,
			 void *const *params);

/*
 * The same of a grid whose CTAs may wait for each other, as cuLaunchCooperativeKernel: all of them
 * run at once, beside no other such grid, and its %envreg1 and %envreg2 are the high and low half
 * of the address of memory for a barrier. What does not fit the GPU at once is -EINVAL from
 * synchronize.
 */
int gpuemu_launch_cooperative(struct gpuemu_function *function,
			      struct gpuemu_dim3 grid, struct gpuemu_dim3 block,
			      size_t dynamic_shared, struct gpuemu_stream *stream,
			      void *const *params);

/*
 * Sets the function that gets the kernels' output. The thread that launches or synchronizes calls
 * print() with each piece of text, in the order of the launches. The text has no NUL at its end.
 * print() must not call the library. print NULL: stdout, as at the start.
 */
int gpuemu_set_printf(struct gpuemu_ctx *ctx,
		      void (*print)(void *arg, const char *text, size_t bytes),
		      void *arg);

/* --- measurement --------------------------------------------------------- */

/*
 * Statistics of ctx since it was opened or configured, as JSON (docs: gpuemu-json(7));
 * waits for the works submitted. Free with gpuemu_free().
 */
int gpuemu_statistics(struct gpuemu_ctx *ctx, char **json);

/*
 * How far the kernels are that run now. Any thread may ask while another one waits for them, from
 * gpuemu_open() to gpuemu_close(). On kmod the daemon tells it four times a second at most.
 */
struct gpuemu_progress {
	size_t size;		/* sizeof(struct gpuemu_progress) */
	uint64_t launches;	/* that have begun since gpuemu_open() */
	uint64_t ctas_done, ctas;	/* of those that run; 0 of 0: none does */
};
int gpuemu_progress(const struct gpuemu_ctx *ctx, struct gpuemu_progress *progress);

/*
 * Writes the order in which kernels touched pages since ctx was opened or configured, with
 * the setting paging.record=on, to a file (gpuemu-record(5)): the `recorded` of a later
 * gpuemu_open(). Waits for the works submitted. -EINVAL: nothing was recorded; -errno of the file.
 */
int gpuemu_record(struct gpuemu_ctx *ctx, const char *path);

/* Flags of gpuemu_touch(). */
#define GPUEMU_TOUCH_WRITE	1	/* for writing */
#define GPUEMU_TOUCH_SAMPLES	2	/* the text also has the times of each of up to 4096 far faults */

/*
 * Wall-clock far faults without an SM model: the engine touches one page every
 * `stride` bytes of the range, `batch` at a time, and measures each from raise
 * to replay. JSON with far_fault_ns and stages_ns. If json is NULL, the engine makes no text:
 * that takes time, which a caller's own clock would measure. Waits. On sim the times are
 * the configured ones. Of managed memory, or any where gpuemu_pageable() says so.
 */
int gpuemu_touch(struct gpuemu_ctx *ctx, const void *ptr, size_t bytes,
		 size_t stride, unsigned int batch, int flags, char **json);

void gpuemu_free(void *p);

#ifdef __cplusplus
}
#endif

#endif
