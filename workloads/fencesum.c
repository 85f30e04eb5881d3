// SPDX-License-Identifier: GPL-2.0
/*
 * fencesum: the sum of n integers in one launch: each CTA leaves its partial sum, passes a
 * fence and takes a number; who takes the last adds up what all have left ("thread fence
 * reduction" of the CUDA SDK; CUDA C Programming Guide, memory fence functions).
 */
#define FENCESUM_BLOCK	128

#ifdef GPUEMU_DEVICE
#include "device.h"

INLINE uint64_t tree_sum(uint64_t *tree, uint64_t value)
{
	__syncthreads();
	tree[threadIdx.x] = value;
	__syncthreads();
	for (uint32_t half = FENCESUM_BLOCK / 2; half; half /= 2) {
		if (threadIdx.x < half)
			tree[threadIdx.x] += tree[threadIdx.x + half];
		__syncthreads();
	}
	return tree[0];
}

KERNEL fencesum(const uint32_t *in, volatile uint64_t *partial, uint64_t *total,
		uint32_t *ticket, uint32_t n)
{
	__shared__ uint64_t tree[FENCESUM_BLOCK];
	__shared__ volatile uint32_t last;
	uint64_t sum = 0;

	for (uint32_t i = blockIdx.x * FENCESUM_BLOCK + threadIdx.x; i < n;
	     i += gridDim.x * FENCESUM_BLOCK)
		sum += in[i];
	sum = tree_sum(tree, sum);
	if (threadIdx.x == 0) {
		partial[blockIdx.x] = sum;
		/* The sum is there for all before the number is taken. */
		__nvvm_membar_gl();
		last = atomicAdd(ticket, 1) == gridDim.x - 1;
	}
	__syncthreads();
	if (!last)
		return;
	sum = 0;
	for (uint32_t i = threadIdx.x; i < gridDim.x; i += FENCESUM_BLOCK)
		sum += partial[i];
	sum = tree_sum(tree, sum);
	if (threadIdx.x == 0) {
		*total = sum;
		*ticket = 0;
	}
}

#else
#include <errno.h>
#include <inttypes.h>

#include "fill.h"

enum { N, CTAS };

struct fencesum {
	uint32_t *in, *ticket;
	uint64_t *partial, *total;
};

static int fencesum_setup(struct workload *w)
{
	struct fencesum *f = w->state;
	uint64_t n = w->option[N];
	int ret;

	ret = workload_alloc(w, (void **)&f->in, n * sizeof(uint32_t), WORKLOAD_IN, "in");
	if (!ret)
		ret = workload_alloc(w, (void **)&f->partial, w->option[CTAS] * sizeof(uint64_t),
				     WORKLOAD_SCRATCH, "partial");
	if (!ret)
		ret = workload_alloc(w, (void **)&f->total, sizeof(uint64_t), WORKLOAD_OUT, "total");
	if (!ret)
		ret = workload_alloc(w, (void **)&f->ticket, sizeof(uint32_t), WORKLOAD_INOUT,
				     "ticket");
	if (ret)
		return ret;
	fill_words(w, 0, f->in, n, 1ull << 32);
	*f->ticket = 0;
	return 0;
}

static int fencesum_run(struct workload *w)
{
	struct fencesum *f = w->state;
	int ret;

	ret = WORKLOAD_LAUNCH(w, "fencesum", (uint32_t)w->option[CTAS], FENCESUM_BLOCK,
			      gpuemu_arg_ptr(f->in), gpuemu_arg_ptr(f->partial),
			      gpuemu_arg_ptr(f->total), gpuemu_arg_ptr(f->ticket),
			      gpuemu_arg_u32((uint32_t)w->option[N]));
	return ret ? ret : workload_synchronize(w);
}

static int fencesum_verify(struct workload *w)
{
	struct fencesum *f = w->state;
	uint64_t n = w->option[N], ctas = w->option[CTAS], total = 0;
	int ret = fill_check_words(w, "in", 0, f->in, n, 1ull << 32);

	for (uint64_t cta = 0; cta < ctas && !ret; cta++) {
		uint64_t sum = 0;

		for (uint64_t i = 0; i < n; i++)
			if (i / FENCESUM_BLOCK % ctas == cta)
				sum += f->in[i];
		total += sum;
		if (f->partial[cta] != sum)
			ret = err_set(&w->err, -EBADMSG, "CTA %" PRIu64 "'s sum is %" PRIu64
				      ", the CPU says %" PRIu64, cta, f->partial[cta], sum);
	}
	if (!ret && *f->total != total)
		ret = err_set(&w->err, -EBADMSG, "the total is %" PRIu64 ", the CPU says %" PRIu64,
			      *f->total, total);
	if (!ret && *f->ticket)
		ret = err_set(&w->err, -EBADMSG, "the ticket is %u, not 0 again", *f->ticket);
	return ret;
}

const struct workload_ops workload_fencesum = {
	.name = "fencesum",
	.help = "sum of n integers in one launch, by a fence (CUDA SDK)",
	.exercises = "memory fences, atomics between CTAs, shared-memory trees",
	.options = {
		[N] = { "n", 4 << 20, 1, 1u << 30, "elements; 4 bytes each",
			.quick = 512 << 10, .tiny = 30011 },
		[CTAS] = { "ctas", 128, 1, 65535, "CTAs of 128 threads that share the elements",
			   .tiny = 9 },
	},
	.state_bytes = sizeof(struct fencesum),
	.setup = fencesum_setup,
	.run = fencesum_run,
	.verify = fencesum_verify,
};
#endif
