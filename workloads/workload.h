/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A workload: kernels, and the host side that feeds them, runs them and checks
 * every result against the CPU. One file and one row in workloads.def make
 * one; its options then appear in --help, `gpuemu list` and the tests. A
 * workload knows libgpuemu's public API alone; the tool knows this header.
 */
#ifndef GPUEMU_WORKLOADS_WORKLOAD_H
#define GPUEMU_WORKLOADS_WORKLOAD_H

#include "base/base.h"
#include "base/rng.h"
#include "gpuemu.h"

#define WORKLOAD_OPTIONS	8	/* at most, of one workload */
#define WORKLOAD_BUFFERS	16

/*
 * What a buffer is to the run as a whole, so that programs that copy by hand
 * know what to copy: the CPU writes it before, reads it afterwards, both, neither.
 */
enum workload_direction { WORKLOAD_IN, WORKLOAD_OUT, WORKLOAD_INOUT, WORKLOAD_SCRATCH };

struct workload_option {
	const char *key;
	uint64_t def, min, max;
	const char *doc;
	uint64_t quick, tiny;		/* as def where they are 0 */
	uint64_t large;			/* 0: by the rule of WORKLOAD_LARGE */
};

/*
 * How large a workload is unless its options say. MEDIUM is its default, tens of megabytes where
 * a paper has it so; SMALL is its options' quick, a few megabytes and seconds; TINY is some
 * pages, for tests, awkward numbers rather than round ones. LARGE: an option that SMALL lowers is
 * four times its default, or twice where SMALL lowers several; its maximum at most.
 */
enum workload_size { WORKLOAD_TINY, WORKLOAD_SMALL, WORKLOAD_MEDIUM, WORKLOAD_LARGE };

struct workload_ops;

/*
 * What brings the pages: the GPU's far faults, or the program, which copies all buffers, as
 * HPCA'16 compares with (all pages are in system memory first), or only what the kernels read.
 */
enum workload_copies { WORKLOAD_PAGES, WORKLOAD_COPIES_ALL, WORKLOAD_COPIES_INPUTS };

/* One run of a workload. */
struct workload {
	const struct workload_ops *ops;
	struct gpuemu_ctx *ctx;		/* the caller's */
	struct gpuemu_stream *stream;	/* the caller's: of all its works; NULL: the default one */
	/*
	 * Called before it waits for its stream, where others run beside it: comes back when
	 * the stream has nothing left to do. NULL: it waits by itself.
	 */
	void (*wait)(struct workload *w);
	void *waiter;			/* wait's */
	unsigned int launched;		/* since it waited last */
	uint32_t shared;		/* bytes of dynamic shared memory of its launches' CTAs */
	struct gpuemu_module *module;	/* freed with ctx */
	uint64_t option[WORKLOAD_OPTIONS]; /* in the order of ops->options */
	uint64_t seed;
	enum workload_copies copies;
	struct workload_buffer {
		void *memory;		/* managed, freed with ctx */
		size_t bytes;
		enum workload_direction direction;
	} buffers[WORKLOAD_BUFFERS];	/* that setup took */
	unsigned int nbuffers;
	uint64_t footprint;		/* their bytes together */
	void *state;			/* ops->state_bytes, zeroed; owned by the framework */
	struct err err;			/* why a step failed */
};

struct workload_ops {
	const char *name;
	const char *help;
	const char *exercises;		/* the parts of the GPU that it leans on */
	struct workload_option options[WORKLOAD_OPTIONS]; /* ends with a NULL key */
	size_t state_bytes;
	/*
	 * Each returns 0 or -errno with w->err set. setup allocates and has the
	 * CPU write the inputs; run launches and synchronizes; verify compares
	 * every result with the CPU's own, and every input with what it was
	 * (-EBADMSG: the first wrong one).
	 */
	int (*setup)(struct workload *w);
	int (*run)(struct workload *w);
	int (*verify)(struct workload *w);
};

/* One row of workloads.def: the host side and its PTX text. */
struct workload_row {
	const struct workload_ops *ops;
	const char *ptx, *ptx_end;
};

/* The n-th row, NULL past the end. */
const struct workload_row *workload_row(unsigned int n);
/* NULL: no such workload. */
const struct workload_row *workload_find(const char *name);
/* The sentence for a name that is none: which one was probably meant. -EINVAL. */
int workload_unknown(const char *name, struct err *err);

/* Default options, no context yet. */
void workload_init(struct workload *w, const struct workload_ops *ops,
		   uint64_t seed);
/* An option's value at that size. */
uint64_t workload_option_at(const struct workload_ops *ops, unsigned int option,
			    enum workload_size size);
/* "tiny", "small", "medium", "large"; "quick" is small, "default" medium. -EINVAL: err says so. */
int workload_size_parse(const char *name, enum workload_size *size, struct err *err);
/* All options as that size has them. */
void workload_resize(struct workload *w, enum workload_size size);
/* "n=64K", or "size=small". -EINVAL, -ENOENT, -ERANGE: err lists what there is. */
int workload_set(struct workload *w, const char *setting, struct err *err);

/*
 * The life of a run on an open context: begin loads the PTX and sets up, then
 * ops->run and ops->verify, then end. begin has nothing to undo when it fails.
 */
int workload_begin(struct workload *w, const struct workload_row *row,
		   struct gpuemu_ctx *ctx);
void workload_end(struct workload *w);

/* --- for the workloads' own use ------------------------------------------ */

/* Managed memory, one of w->buffers. what names it in messages. */
int workload_alloc(struct workload *w, void **ptr, size_t bytes,
		   enum workload_direction direction, const char *what);
/* One launch of a kernel of w->module in w->stream, x only. */
int workload_launch(struct workload *w, const char *kernel, uint32_t ctas,
		    uint32_t threads, const struct gpuemu_arg *args,
		    unsigned int nargs);
/* The same of a grid and blocks of up to three dimensions. */
int workload_launch_grid(struct workload *w, const char *kernel,
			 struct gpuemu_dim3 grid, struct gpuemu_dim3 block,
			 const struct gpuemu_arg *args, unsigned int nargs);
int workload_synchronize(struct workload *w);
/*
 * Between launches: what the launches so far left in [ptr, ptr + bytes) is the CPU's to read and
 * write (its pages go to system memory); and back, for those that copy by hand: others page.
 */
int workload_to_host(struct workload *w, const void *ptr, size_t bytes);
int workload_to_device(struct workload *w, const void *ptr, size_t bytes);
/* -EINVAL with w->err unless the option is a power of two. */
int workload_power_of_two(struct workload *w, unsigned int option);
/* Sets w->err to the library's sentence, or to the code's name; returns code. */
int workload_failed(struct workload *w, int code, const char *what);

#define WORKLOAD_LAUNCH(w, kernel, ctas, threads, ...)			\
	workload_launch(w, kernel, ctas, threads,			\
		(const struct gpuemu_arg[]){ __VA_ARGS__ },		\
		sizeof((struct gpuemu_arg[]){ __VA_ARGS__ }) /		\
		sizeof(struct gpuemu_arg))

/* grid and block are struct gpuemu_dim3. */
#define WORKLOAD_LAUNCH_GRID(w, kernel, grid, block, ...)		\
	workload_launch_grid(w, kernel, grid, block,			\
		(const struct gpuemu_arg[]){ __VA_ARGS__ },		\
		sizeof((struct gpuemu_arg[]){ __VA_ARGS__ }) /		\
		sizeof(struct gpuemu_arg))

/* A non-negative number, with K, M or G (powers of 1024) behind it. -EINVAL, -ERANGE. */
int number_parse(const char *text, uint64_t *value);

#endif
