/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel arguments as the command line spells them (--arg KIND:..., the rows of
 * arg_kinds.def): parsed and checked before a GPU is open, then put into its
 * managed memory, then, what was asked for, into files. Argument and parameter
 * numbers count from 0, as in the names that compilers give PTX parameters.
 */
#ifndef GPUEMU_TOOLS_ARG_H
#define GPUEMU_TOOLS_ARG_H

#include "base/base.h"
#include "gpuemu.h"
#include "ptx/ptx.h"

enum arg_fill { ARG_ZERO, ARG_FILE, ARG_IOTA32, ARG_RAND32, ARG_RANDF32 };

struct arg_buffer {
	enum arg_fill fill;
	uint64_t bytes;		/* of ARG_FILE: once placed */
	uint64_t seed;
	char *in, *out;		/* files, or NULL */
	void *memory;		/* managed memory of the context; NULL: not placed */
};

/* Where an argument holds a buffer's address. */
struct arg_slot {
	size_t offset;
	unsigned int buffer;
	uint64_t add;
};

/* The type of the argument's value, to catch an integer given for a float. */
enum arg_sort { ARG_INTEGER, ARG_FLOAT, ARG_BYTES };

struct arg {
	const char *spec;	/* the caller's text */
	enum arg_sort sort;
	unsigned char *image;	/* addresses 0 until placed */
	size_t bytes;
	size_t align;		/* the struct's own alignment, while it is laid out */
	struct arg_slot *slots;
	unsigned int nslots;
};

struct arg_list {
	struct arg *args;
	unsigned int count;
	struct arg_buffer *buffers;
	unsigned int nbuffers;
};

/* Appends one. -EINVAL, -ERANGE: err says what was expected. Opens no file. */
int arg_parse(struct arg_list *list, const char *spec, struct err *err);
/* Compares count, sizes and floats with the kernel's parameters. -EINVAL with err. */
int arg_check(const struct arg_list *list, const struct ptx_kernel *kernel,
	      struct err *err);
void arg_free(struct arg_list *list);

/* Allocates and fills the buffers; the arguments then hold their addresses. */
int arg_place(struct arg_list *list, struct gpuemu_ctx *ctx, struct err *err);
/*
 * Uploads the filled buffers in order (gpuemu_mem_prefetch()), so that L2 may start with
 * them. Call it after arg_place().
 */
int arg_upload(const struct arg_list *list, struct gpuemu_ctx *ctx, struct err *err);
/* Tells before a launch whether the output files can be written. */
int arg_check_files(const struct arg_list *list, struct err *err);
/* Writes the buffers that have an output file. */
int arg_write(const struct arg_list *list, struct err *err);
/* Bytes of the buffers together. */
uint64_t arg_footprint(const struct arg_list *list);

/* n-th row of arg_kinds.def, false past the end. */
bool arg_kind_row(unsigned int n, const char **name, const char **form,
		  const char **help);

#endif
