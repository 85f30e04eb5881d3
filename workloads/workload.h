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
#define WORKLOAD_BUFFERS	8

struct workload_option {
	const char *key;
	uint64_t def, min, max;
	const char *doc;
};

struct workload_ops;

/* One run of a workload. */
struct workload {
	const struct workload_ops *ops;
	struct gpuemu_ctx *ctx;		/* the caller's */
	struct gpuemu_module *module;	/* freed with ctx */
	uint64_t option[WORKLOAD_OPTIONS]; /* in the order of ops->options */
	uint64_t seed;
	struct workload_buffer {
		void *memory;		/* managed, freed with ctx */
		size_t bytes;
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

/* Defaults, no context yet. */
void workload_init(struct workload *w, const struct workload_ops *ops,
		   uint64_t seed);
/* "n=64K". -EINVAL, -ENOENT, -ERANGE: err lists what there is. */
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
		   const char *what);
/* One launch of a kernel of w->module on the default stream, x only. */
int workload_launch(struct workload *w, const char *kernel, uint32_t ctas,
		    uint32_t threads, const struct gpuemu_arg *args,
		    unsigned int nargs);
int workload_synchronize(struct workload *w);
/* Sets w->err to the library's sentence, or to the code's name; returns code. */
int workload_failed(struct workload *w, int code, const char *what);

#define WORKLOAD_LAUNCH(w, kernel, ctas, threads, ...)			\
	workload_launch(w, kernel, ctas, threads,			\
		(const struct gpuemu_arg[]){ __VA_ARGS__ },		\
		sizeof((struct gpuemu_arg[]){ __VA_ARGS__ }) /		\
		sizeof(struct gpuemu_arg))

/* A non-negative number, with K, M or G (powers of 1024) behind it. -EINVAL, -ERANGE. */
int number_parse(const char *text, uint64_t *value);

#endif
