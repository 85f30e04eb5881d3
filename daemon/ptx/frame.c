// SPDX-License-Identifier: GPL-2.0
/*
 * The local memory of a thread: how large the frames of its functions are when
 * they are stacked as deep as calls can go. Called by finish.c, when all spills are
 * in the frames.
 */
#include <errno.h>
#include <stdlib.h>

#include "ptx/back.h"

#define FRAME_ALIGN	16u

/* The stack that one cycle of the call graph needs, with all that it calls. */
struct depth {
	uint64_t bytes;
	uint32_t calls;
	bool recurs;
};

static void add_calls(const struct ptx_kernel *kernel, const struct callgraph *graph, uint32_t f,
		      const struct depth *below, struct depth *deepest)
{
	uint32_t i;

	for (i = kernel->functions[f].first; i < kernel->functions[f].end; i++) {
		const struct ptx_function *callee = insn_callee(kernel, &kernel->insns[i]);
		const struct depth *d;

		if (!callee)
			continue;
		if (call_recurs(graph, kernel, f, &kernel->insns[i])) {
			deepest->recurs = true;
			continue;
		}
		d = &below[callee - kernel->functions];
		deepest->bytes = MAX(deepest->bytes, d->bytes);
		deepest->calls = MAX(deepest->calls, d->calls + 1);
		deepest->recurs |= d->recurs;
	}
}

int frames_lay_out(struct ptx_kernel *kernel, const struct callgraph *graph,
		   uint32_t stack_bytes)
{
	uint32_t n = kernel->nfunctions, i, j, k, f;
	struct depth *below = calloc(n, sizeof(*below)), deepest;
	uint64_t frames, bytes;

	if (!below)
		return -ENOMEM;
	for (f = 0; f < n; f++) {
		bytes = kernel->functions[f].frame_bytes;
		bytes = (bytes + FRAME_ALIGN - 1) & ~(uint64_t)(FRAME_ALIGN - 1);
		kernel->functions[f].frame_bytes = f ? MAX(bytes, FRAME_ALIGN) : bytes;
	}
	for (i = 0; i < n; i = j) {
		uint32_t cycle = graph->cycle[graph->order[i]];

		deepest = (struct depth){ 0 };
		for (frames = 0, j = i; j < n && graph->cycle[graph->order[j]] == cycle; j++) {
			f = graph->order[j];
			frames += kernel->functions[f].frame_bytes;
			add_calls(kernel, graph, f, below, &deepest);
		}
		deepest.bytes += frames;
		deepest.calls += j - i - 1;
		for (k = i; k < j; k++)
			below[graph->order[k]] = deepest;
	}
	deepest = below[0];
	free(below);
	if (deepest.recurs) {
		/* The smallest frames that recursion can stack up decide how many fit. */
		deepest.bytes += stack_bytes;
		deepest.calls += stack_bytes / FRAME_ALIGN;
	}
	if (deepest.bytes > PTX_MAX_LOCAL)
		return -E2BIG;
	kernel->local_bytes = deepest.bytes;
	kernel->max_calls = deepest.calls;
	kernel->stack_bytes = deepest.recurs ? stack_bytes : 0;
	return 0;
}

void ptx_kernel_restack(struct ptx_kernel *copy, uint32_t stack_bytes)
{
	const uint32_t frames = copy->local_bytes - copy->stack_bytes;
	const uint32_t bytes = MIN(stack_bytes / FRAME_ALIGN * FRAME_ALIGN, PTX_MAX_LOCAL - frames);

	copy->max_calls += bytes / FRAME_ALIGN - copy->stack_bytes / FRAME_ALIGN;
	copy->local_bytes = frames + bytes;
	copy->stack_bytes = bytes;
}
