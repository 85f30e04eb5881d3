// SPDX-License-Identifier: GPL-2.0
/*
 * sssp: how far each node of a weighted graph is from node 0 (Bellman, 1958; Ford, 1956; with a
 * worklist, as LonestarGPU has it: Burtscher, Nasre and Pingali, IISWC 2012): a launch relaxes the
 * edges of the nodes in the list by an atomic minimum, and puts what came nearer in the next one.
 */
#ifdef GPUEMU_DEVICE
#include "device.h"

/* Returns the value that was there before. */
INLINE uint32_t atomicMin(uint32_t *p, uint32_t v)
{
	return __atomic_fetch_min(p, v, __ATOMIC_RELAXED);
}

INLINE uint32_t atomicExch(uint32_t *p, uint32_t v)
{
	return __atomic_exchange_n(p, v, __ATOMIC_RELAXED);
}

/* A thread a node of the list; listed keeps a node from being in the next one twice. */
KERNEL sssp(const uint32_t *first, const uint32_t *to, const uint32_t *weight,
	    uint32_t *distance, const uint32_t *list, uint32_t count, uint32_t *next,
	    uint32_t *next_count, uint32_t *listed)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, node, from;

	if (i >= count)
		return;
	node = list[i];
	from = distance[node];
	for (uint32_t e = first[node]; e < first[node + 1]; e++) {
		uint32_t far = from + weight[e], other = to[e];

		if (atomicMin(&distance[other], far) > far && !atomicExch(&listed[other], 1))
			next[atomicAdd(next_count, 1)] = other;
	}
}

/* The list's nodes may be in the next one again. */
KERNEL sssp_clear(const uint32_t *list, uint32_t count, uint32_t *listed)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		listed[list[i]] = 0;
}

#else
#include <errno.h>
#include <string.h>

#include "fill.h"

enum { NODES, DEGREE, BLOCK };
enum { FIRST, TO, WEIGHT, INPUTS };

#define SSSP_FAR	0xffffffffu

struct sssp {
	uint32_t *in[INPUTS], *distance, *list[2], *listed, *count;
};

static uint64_t words(const struct workload *w, unsigned int i)
{
	return i == FIRST ? w->option[NODES] + 1 : w->option[NODES] * w->option[DEGREE];
}

/* From 1 to twice DEGREE - 1 edges a node; the first leads to the next node, so all are reached. */
static void make(struct workload *w, uint32_t *const in[INPUTS])
{
	uint64_t n = w->option[NODES], degree = w->option[DEGREE], edges = n * degree, e = 0;
	struct rng rng;

	rng_seed(&rng, fill_seed(w, 0));
	for (uint64_t i = 0; i < n; i++) {
		uint64_t most = edges - e - (n - 1 - i);
		uint64_t wanted = 1 + rng_below(&rng, 2 * degree - 1);
		uint64_t mine = i + 1 < n ? MIN(wanted, most) : most;

		in[FIRST][i] = (uint32_t)e;
		for (uint64_t k = 0; k < mine; k++, e++) {
			in[TO][e] = k ? (uint32_t)rng_below(&rng, n) : (uint32_t)((i + 1) % n);
			in[WEIGHT][e] = 1 + (uint32_t)rng_below(&rng, k ? 100 : 1000);
		}
	}
	in[FIRST][n] = (uint32_t)e;
}

static int sssp_setup(struct workload *w)
{
	static const char *const names[] = { "first edges", "ends", "weights" };
	struct sssp *s = w->state;
	uint64_t bytes = w->option[NODES] * sizeof(uint32_t);
	int ret = 0;

	for (unsigned int i = 0; i < INPUTS && !ret; i++)
		ret = workload_alloc(w, (void **)&s->in[i], words(w, i) * sizeof(uint32_t),
				     WORKLOAD_IN, names[i]);
	if (!ret)
		ret = workload_alloc(w, (void **)&s->distance, bytes, WORKLOAD_INOUT, "distances");
	for (unsigned int i = 0; i < 2 && !ret; i++)
		ret = workload_alloc(w, (void **)&s->list[i], bytes, WORKLOAD_SCRATCH, "lists");
	if (!ret)
		ret = workload_alloc(w, (void **)&s->listed, bytes, WORKLOAD_SCRATCH, "listed");
	if (!ret)
		ret = workload_alloc(w, (void **)&s->count, sizeof(uint32_t), WORKLOAD_SCRATCH,
				     "count");
	if (ret)
		return ret;
	make(w, s->in);
	memset(s->distance, 0xff, bytes);
	s->distance[0] = 0;
	s->list[0][0] = 0;
	return 0;
}

/* The lengths of the lists go through the CPU, as the frontier's flag of bfs does. */
static int sssp_run(struct workload *w)
{
	struct sssp *s = w->state;
	uint32_t block = (uint32_t)w->option[BLOCK], count = 1;
	unsigned int from = 0;
	int ret = 0;

	for (; count && !ret; from = !from) {
		uint32_t ctas = DIV_ROUND_UP(count, block);

		*s->count = 0;
		ret = workload_to_device(w, s->count, sizeof(*s->count));
		if (!ret)
			ret = WORKLOAD_LAUNCH(w, "sssp_clear", ctas, block,
					      gpuemu_arg_ptr(s->list[from]), gpuemu_arg_u32(count),
					      gpuemu_arg_ptr(s->listed));
		if (!ret)
			ret = WORKLOAD_LAUNCH(w, "sssp", ctas, block,
					      gpuemu_arg_ptr(s->in[FIRST]),
					      gpuemu_arg_ptr(s->in[TO]),
					      gpuemu_arg_ptr(s->in[WEIGHT]),
					      gpuemu_arg_ptr(s->distance),
					      gpuemu_arg_ptr(s->list[from]), gpuemu_arg_u32(count),
					      gpuemu_arg_ptr(s->list[!from]),
					      gpuemu_arg_ptr(s->count), gpuemu_arg_ptr(s->listed));
		if (!ret)
			ret = workload_to_host(w, s->count, sizeof(*s->count));
		count = *s->count;
	}
	return ret;
}

/* A heap of distances, the least on top; a node may be there more than once. */
struct heap {
	struct { uint32_t distance, node; } *entry;
	uint64_t n;
};

static void push(struct heap *h, uint32_t distance, uint32_t node)
{
	uint64_t at = h->n++;

	for (; at && h->entry[(at - 1) / 2].distance > distance; at = (at - 1) / 2)
		h->entry[at] = h->entry[(at - 1) / 2];
	h->entry[at].distance = distance;
	h->entry[at].node = node;
}

static uint32_t pop(struct heap *h, uint32_t *distance)
{
	uint32_t node = h->entry[0].node, last = h->entry[--h->n].distance;
	uint64_t at = 0, below;

	*distance = h->entry[0].distance;
	while ((below = 2 * at + 1) < h->n) {
		below += below + 1 < h->n &&
			 h->entry[below + 1].distance < h->entry[below].distance;
		if (h->entry[below].distance >= last)
			break;
		h->entry[at] = h->entry[below];
		at = below;
	}
	h->entry[at] = h->entry[h->n];
	return node;
}

/* Dijkstra's algorithm. */
static void dijkstra(uint32_t *const in[INPUTS], uint64_t n, struct heap *h, uint32_t *want)
{
	memset(want, 0xff, n * sizeof(*want));
	want[0] = 0;
	push(h, 0, 0);
	while (h->n) {
		uint32_t distance, node = pop(h, &distance);

		if (distance > want[node])
			continue;
		for (uint32_t e = in[FIRST][node]; e < in[FIRST][node + 1]; e++) {
			uint32_t far = distance + in[WEIGHT][e], to = in[TO][e];

			if (far < want[to]) {
				want[to] = far;
				push(h, far, to);
			}
		}
	}
}

static int sssp_verify(struct workload *w)
{
	struct sssp *s = w->state;
	uint64_t n = w->option[NODES], edges = words(w, TO);
	uint32_t *memory = check_memory(w, 2 * n + 1 + 2 * edges, sizeof(uint32_t));
	uint32_t *const in[INPUTS] = { memory + n, memory + 2 * n + 1, memory + 2 * n + 1 + edges };
	struct heap heap = { check_memory(w, edges + 1, sizeof(*heap.entry)), 0 };
	int ret = memory && heap.entry ? 0 : -ENOMEM;

	if (!ret)
		make(w, in);
	for (unsigned int i = 0; i < INPUTS && !ret; i++)
		ret = check_words(w, "inputs", 0, s->in[i], in[i], words(w, i));
	if (!ret) {
		dijkstra(in, n, &heap, memory);
		ret = check_words(w, "distances", 0, s->distance, memory, n);
	}
	free(memory);
	free(heap.entry);
	return ret;
}

const struct workload_ops workload_sssp = {
	.name = "sssp",
	.help = "shortest paths from one node by a worklist (LonestarGPU)",
	.exercises = "atomics in global memory, scattered loads, launches of very different sizes",
	.options = {
		[NODES] = { "nodes", 64 << 10, 1, 1u << 24, "of the graph; 20 bytes each",
			    .quick = 8 << 10, .tiny = 700 },
		[DEGREE] = { "degree", 6, 1, 64, "edges a node on average; 8 bytes each" },
		[BLOCK] = { "block", 256, 32, 1024, "threads of a CTA" },
	},
	.state_bytes = sizeof(struct sssp),
	.setup = sssp_setup,
	.run = sssp_run,
	.verify = sssp_verify,
};
#endif
