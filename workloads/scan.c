// SPDX-License-Identifier: GPL-2.0
/*
 * scan: exclusive prefix sums of a large array (Blelloch, "Prefix sums and their applications",
 * 1990; Harris et al., GPU Gems 3, chapter 39): tiles in shared memory, up a tree and down
 * again, their sums scanned in turn, and added.
 */
/* A thread has two elements of its CTA's tile. One pad word every 32, so that banks differ. */
#define AT(i)	((i) + (i) / 32)

#ifdef GPUEMU_DEVICE
#include "device.h"

extern __shared__ uint32_t tile[];

KERNEL scan_tiles(const uint32_t *in, uint32_t *out, uint32_t *sums, uint32_t n)
{
	uint32_t t = threadIdx.x, block = blockDim.x, first = blockIdx.x * 2 * block, stride = 1;

	tile[AT(t)] = first + t < n ? in[first + t] : 0;
	tile[AT(t + block)] = first + t + block < n ? in[first + t + block] : 0;
	for (uint32_t pairs = block; pairs; pairs /= 2) {
		__syncthreads();
		if (t < pairs)
			tile[AT(stride * (2 * t + 2) - 1)] += tile[AT(stride * (2 * t + 1) - 1)];
		stride *= 2;
	}
	__syncthreads();
	if (t == 0) {
		sums[blockIdx.x] = tile[AT(2 * block - 1)];
		tile[AT(2 * block - 1)] = 0;
	}
	for (uint32_t pairs = 1; pairs <= block; pairs *= 2) {
		stride /= 2;
		__syncthreads();
		if (t < pairs) {
			uint32_t low = AT(stride * (2 * t + 1) - 1);
			uint32_t high = AT(stride * (2 * t + 2) - 1);
			uint32_t left = tile[low];

			tile[low] = tile[high];
			tile[high] += left;
		}
	}
	__syncthreads();
	if (first + t < n)
		out[first + t] = tile[AT(t)];
	if (first + t + block < n)
		out[first + t + block] = tile[AT(t + block)];
}

KERNEL scan_add(uint32_t *out, const uint32_t *sums, uint32_t n)
{
	uint32_t i = blockIdx.x * 2 * blockDim.x + threadIdx.x, sum = sums[blockIdx.x];

	if (i < n)
		out[i] += sum;
	if (i + blockDim.x < n)
		out[i + blockDim.x] += sum;
}

#else
#include <errno.h>

#include "fill.h"

enum { N, BLOCK };

/* 64 to the sixth is more than 32 bits count. */
#define SCAN_LEVELS	6

struct scan {
	uint32_t *in;
	/* Of each level: its tiles' sums, and those scanned. */
	uint32_t *sums[SCAN_LEVELS], *out[SCAN_LEVELS];
};

static uint64_t tile(const struct workload *w)
{
	return 2 * w->option[BLOCK];
}

/* Elements of a level: those of the array, then a sum a tile of the level before. */
static uint64_t elements(const struct workload *w, unsigned int level)
{
	uint64_t n = w->option[N];

	while (level--)
		n = DIV_ROUND_UP(n, tile(w));
	return n;
}

static int scan_setup(struct workload *w)
{
	struct scan *s = w->state;
	int ret = workload_power_of_two(w, BLOCK);

	if (!ret)
		ret = workload_alloc(w, (void **)&s->in, w->option[N] * sizeof(uint32_t),
				     WORKLOAD_IN, "in");

	for (unsigned int i = 0; i < SCAN_LEVELS && !ret; i++) {
		ret = workload_alloc(w, (void **)&s->out[i], elements(w, i) * sizeof(uint32_t),
				     i ? WORKLOAD_SCRATCH : WORKLOAD_OUT, i ? "scanned sums" : "out");
		if (!ret)
			ret = workload_alloc(w, (void **)&s->sums[i],
					     elements(w, i + 1) * sizeof(uint32_t),
					     WORKLOAD_SCRATCH, "sums");
		if (elements(w, i) <= tile(w))
			break;
	}
	if (!ret)
		fill_words(w, 0, s->in, w->option[N], 1ull << 32);
	return ret;
}

static int scan_run(struct workload *w)
{
	struct scan *s = w->state;
	uint32_t block = (uint32_t)w->option[BLOCK];
	unsigned int levels = 0;
	int ret = 0;

	w->shared = (AT(2 * block) + 1) * (uint32_t)sizeof(uint32_t);

	do {
		ret = WORKLOAD_LAUNCH(w, "scan_tiles", (uint32_t)elements(w, levels + 1), block,
				      gpuemu_arg_ptr(levels ? s->sums[levels - 1] : s->in),
				      gpuemu_arg_ptr(s->out[levels]),
				      gpuemu_arg_ptr(s->sums[levels]),
				      gpuemu_arg_u32((uint32_t)elements(w, levels)));
	} while (elements(w, levels++) > tile(w) && !ret);
	w->shared = 0;
	while (--levels && !ret)
		ret = WORKLOAD_LAUNCH(w, "scan_add", (uint32_t)elements(w, levels), block,
				      gpuemu_arg_ptr(s->out[levels - 1]),
				      gpuemu_arg_ptr(s->out[levels]),
				      gpuemu_arg_u32((uint32_t)elements(w, levels - 1)));
	return ret ? ret : workload_synchronize(w);
}

static int scan_verify(struct workload *w)
{
	struct scan *s = w->state;
	uint64_t n = w->option[N];
	uint32_t *want, sum = 0;
	int ret = fill_check_words(w, "in", 0, s->in, n, 1ull << 32);

	if (ret)
		return ret;
	want = check_memory(w, n, sizeof(uint32_t));
	if (!want)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++) {
		want[i] = sum;
		sum += s->in[i];
	}
	ret = check_words(w, "out", 0, s->out[0], want, n);
	free(want);
	return ret;
}

const struct workload_ops workload_scan = {
	.name = "scan",
	.help = "prefix sums of a large array (CUDA SDK's scan of large arrays)",
	.exercises = "shared-memory trees with padding, barriers, a few dependent launches",
	.options = {
		[N] = { "n", 2 << 20, 1, 1u << 30, "elements; 8 bytes each",
			.quick = 256 << 10, .tiny = 10007 },
		[BLOCK] = { "block", 256, 32, 1024, "threads of a CTA, a power of two" },
	},
	.state_bytes = sizeof(struct scan),
	.setup = scan_setup,
	.run = scan_run,
	.verify = scan_verify,
};
#endif
