// SPDX-License-Identifier: GPL-2.0
/*
 * stride: one access a page, each load giving the address of the next. With
 * one walker nothing overlaps, so the run takes the far-fault latency times
 * the pages; with more, the walkers share the pages between them.
 */
#ifdef GPUEMU_DEVICE
#include "device.h"

/* A page's first word is the byte offset of the page that its walker visits next. */
KERNEL stride(const uint8_t *buffer, uint64_t *sums, uint64_t step,
	      uint32_t pages, uint32_t walkers)
{
	uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
	uint64_t at = t * step, sum = 0;

	if (t >= walkers)
		return;
	for (uint32_t page = t; page < pages; page += walkers) {
		at = *(const uint64_t *)(buffer + at);
		sum += at;
	}
	sums[t] = sum;
}

#else
#include <errno.h>
#include <inttypes.h>

#include "workload.h"

#define STRIDE_BLOCK	32	/* walkers of a CTA: a warp */

enum { PAGES, STEP, WALKERS };

struct stride {
	uint8_t *buffer;
	uint64_t *sums;
};

/* 4096 bytes is the natural step; no less than a word, and words stay aligned. */
static uint64_t step_bytes(const struct workload *w)
{
	return w->option[STEP] / sizeof(uint64_t) * sizeof(uint64_t);
}

static int stride_setup(struct workload *w)
{
	struct stride *s = w->state;
	uint64_t pages = w->option[PAGES], walkers = w->option[WALKERS];
	uint64_t step = step_bytes(w);
	int ret;

	ret = workload_alloc(w, (void **)&s->buffer, pages * step,
			     WORKLOAD_IN, "buffer");
	if (!ret)
		ret = workload_alloc(w, (void **)&s->sums, walkers * sizeof(*s->sums),
				     WORKLOAD_OUT, "sums");
	if (ret)
		return ret;
	for (uint64_t page = 0; page < pages; page++)
		*(uint64_t *)(s->buffer + page * step) = (page + walkers) * step;
	return 0;
}

static int stride_run(struct workload *w)
{
	struct stride *s = w->state;
	uint32_t walkers = (uint32_t)w->option[WALKERS];
	int ret;

	ret = WORKLOAD_LAUNCH(w, "stride", DIV_ROUND_UP(walkers, STRIDE_BLOCK),
			      MIN(walkers, STRIDE_BLOCK), gpuemu_arg_ptr(s->buffer),
			      gpuemu_arg_ptr(s->sums), gpuemu_arg_u64(step_bytes(w)),
			      gpuemu_arg_u32((uint32_t)w->option[PAGES]),
			      gpuemu_arg_u32(walkers));
	return ret ? ret : workload_synchronize(w);
}

static int stride_verify(struct workload *w)
{
	struct stride *s = w->state;
	uint64_t pages = w->option[PAGES], walkers = w->option[WALKERS];
	uint64_t step = step_bytes(w);

	for (uint64_t page = 0; page < pages; page++) {
		uint64_t next = *(uint64_t *)(s->buffer + page * step);

		if (next != (page + walkers) * step)
			return err_set(&w->err, -EBADMSG, "page %" PRIu64 " changed: %" PRIu64
				       ", was %" PRIu64, page, next, (page + walkers) * step);
	}
	for (uint64_t t = 0; t < walkers; t++) {
		uint64_t sum = 0;

		for (uint64_t page = t; page < pages; page += walkers)
			sum += (page + walkers) * step;
		if (s->sums[t] != sum)
			return err_set(&w->err, -EBADMSG, "walker %" PRIu64 "'s sum is %" PRIu64
				       ", the CPU says %" PRIu64, t, s->sums[t], sum);
	}
	return 0;
}

const struct workload_ops workload_stride = {
	.name = "stride",
	.help = "one dependent load a page",
	.exercises = "far-fault latency with nothing to hide it",
	.options = {
		[PAGES] = { "pages", 512, 1, 1u << 20, "loads, a page each", .tiny = 67 },
		[STEP] = { "step", 4096, 8, 1u << 21, "bytes between loads, rounded down to 8" },
		[WALKERS] = { "walkers", 1, 1, 65536, "threads that share the pages",
			      .tiny = 7 },
	},
	.state_bytes = sizeof(struct stride),
	.setup = stride_setup,
	.run = stride_run,
	.verify = stride_verify,
};
#endif
