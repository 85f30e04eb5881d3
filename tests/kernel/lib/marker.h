/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client of the library whose kernel writes a byte in each page of its managed memory: the
 * smallest thing that wants frames. In a header alone, because these tests link no lib.c.
 */
#ifndef _GPUEMU_TESTS_KERNEL_MARKER_H
#define _GPUEMU_TESTS_KERNEL_MARKER_H

#include <stdint.h>
#include <string.h>

#include <gpuemu.h>

enum { MARKER_PAGE = 4096, MARKER_BLOCK = 128 };

/* The byte at p + 4096 * thread becomes 1. */
static const char marker_ptx[] =
	".version 3.2\n.target sm_35\n.address_size 64\n"
	".visible .entry mark(.param .u64 p)\n{\n"
	".reg .b32 %r<8>;\n.reg .b64 %rd<6>;\n"
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
	"mad.lo.s32 %r4, %r1, %r2, %r3;\nmul.wide.u32 %rd1, %r4, 4096;\n"
	"ld.param.u64 %rd2, [p];\nadd.s64 %rd3, %rd2, %rd1;\n"
	"mov.u32 %r5, 1;\nst.global.u8 [%rd3], %r5;\nret;\n}\n";

struct marker {
	struct gpuemu_ctx *ctx;
	struct gpuemu_function *mark;
	uint8_t *p;
};

/* Settings may be NULL. A negative errno value if it fails. */
static inline int marker_open(struct marker *m, const char *settings, size_t pages)
{
	const struct gpuemu_options options = { .size = sizeof(options), .backend = "kmod" };
	struct gpuemu_module *module;
	int ret = gpuemu_open(&m->ctx, &options);

	if (!ret && settings)
		ret = gpuemu_configure(m->ctx, settings);
	if (!ret)
		ret = gpuemu_module_load_data(m->ctx, &module, marker_ptx, strlen(marker_ptx),
					      "mark.ptx");
	if (!ret)
		ret = gpuemu_module_get_function(module, &m->mark, "mark");
	return ret ?: gpuemu_mem_alloc_managed(m->ctx, (void **)&m->p, pages * MARKER_PAGE);
}

/* Marks so many pages, a multiple of MARKER_BLOCK. */
static inline int marker_run(struct marker *m, uint32_t pages)
{
	const struct gpuemu_arg arg = gpuemu_arg_ptr(m->p);
	int ret = gpuemu_launch(m->mark, (struct gpuemu_dim3){ pages / MARKER_BLOCK, 1, 1 },
				(struct gpuemu_dim3){ MARKER_BLOCK, 1, 1 }, 0, NULL, &arg, 1);

	return ret ?: gpuemu_synchronize(m->ctx);
}

#endif
