// SPDX-License-Identifier: GPL-2.0
/*
 * mst: the minimum spanning tree of a graph (Boruvka, 1926; on GPUs as LonestarGPU has it:
 * Burtscher, Nasre and Pingali, IISWC 2012). A round finds the lightest edge that leaves each
 * component, joins components along these, and gives each node its new component.
 */
#ifdef GPUEMU_DEVICE
#include "device.h"

#define MST_NONE	0xffffffffu

INLINE uint32_t atomicMin(uint32_t *p, uint32_t v)
{
	return __atomic_fetch_min(p, v, __ATOMIC_RELAXED);
}

/* No two edges weigh the same, so a weight is an edge's name, too. */
KERNEL mst_find(const uint32_t *first, const uint32_t *to, const uint32_t *weight,
		const uint32_t *component, uint32_t *lightest, uint32_t n)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, mine, best = MST_NONE;

	if (i >= n)
		return;
	mine = component[i];
	for (uint32_t e = first[i]; e < first[i + 1]; e++)
		if (component[to[e]] != mine)
			best = min(best, weight[e]);
	if (best != MST_NONE)
		atomicMin(&lightest[mine], best);
}

/*
 * A component's node hangs on the component that its lightest edge leads to. Where each is the
 * other's choice, the one of the lower number stays.
 */
KERNEL mst_join(const uint32_t *ends, const uint32_t *component, const uint32_t *lightest,
		uint32_t *parent, uint8_t *chosen, uint32_t *joined, uint32_t n)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, edge, other;

	if (i >= n || component[i] != i)
		return;
	edge = lightest[i];
	parent[i] = i;
	if (edge == MST_NONE)
		return;
	other = component[ends[2 * edge]];
	if (other == i)
		other = component[ends[2 * edge + 1]];
	if (lightest[other] == edge && i < other)
		return;
	parent[i] = other;
	chosen[edge] = 1;
	atomicAdd(joined, 1);
}

KERNEL mst_follow(const uint32_t *parent, uint32_t *component, uint32_t *lightest, uint32_t n)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, root;

	if (i >= n)
		return;
	root = component[i];
	while (parent[root] != root)
		root = parent[root];
	component[i] = root;
	lightest[i] = MST_NONE;
}

#else
#include <errno.h>
#include <string.h>

#include "fill.h"

enum { NODES, DEGREE, BLOCK };
enum { FIRST, TO, WEIGHT, ENDS, INPUTS };

struct mst {
	uint32_t *in[INPUTS], *component, *lightest, *parent, *joined;
	uint8_t *chosen;
};

/* Undirected edges; each is in the lists of both its ends. */
static uint64_t edges(const struct workload *w)
{
	return w->option[NODES] * w->option[DEGREE] / 2 + w->option[NODES];
}

static uint64_t words(const struct workload *w, unsigned int i)
{
	return i == FIRST ? w->option[NODES] + 1 : 2 * edges(w);
}

/*
 * ends[2 k] and ends[2 k + 1] are the ends of the edge that weighs k. Some edges make a ring, so
 * all nodes are reached; which weights these have is chance.
 */
static void make(struct workload *w, uint32_t *const in[INPUTS])
{
	uint64_t n = w->option[NODES], m = edges(w);
	struct rng rng;

	rng_seed(&rng, fill_seed(w, 0));
	for (uint64_t k = 0; k < m; k++) {
		uint64_t swap = rng_below(&rng, k + 1);
		uint32_t a = k < n ? (uint32_t)k : (uint32_t)rng_below(&rng, n);
		uint32_t b = k < n ? (uint32_t)((k + 1) % n) : (uint32_t)rng_below(&rng, n);

		memcpy(&in[ENDS][2 * k], &in[ENDS][2 * swap], 2 * sizeof(uint32_t));
		in[ENDS][2 * swap] = a;
		in[ENDS][2 * swap + 1] = b;
	}
	memset(in[FIRST], 0, (n + 1) * sizeof(uint32_t));
	for (uint64_t i = 0; i < 2 * m; i++)
		in[FIRST][in[ENDS][i] + 1]++;
	for (uint64_t i = 0; i < n; i++)
		in[FIRST][i + 1] += in[FIRST][i];
	/* Each node's place moves on as its list fills, to where the next one's begins. */
	for (uint64_t i = 0; i < 2 * m; i++) {
		uint32_t at = in[FIRST][in[ENDS][i]]++;

		in[TO][at] = in[ENDS][i ^ 1];
		in[WEIGHT][at] = (uint32_t)(i / 2);
	}
	memmove(in[FIRST] + 1, in[FIRST], n * sizeof(uint32_t));
	in[FIRST][0] = 0;
}

static int mst_setup(struct workload *w)
{
	static const char *const names[] = { "first edges", "other ends", "weights", "ends" };
	struct mst *s = w->state;
	uint64_t n = w->option[NODES], bytes = n * sizeof(uint32_t);
	int ret = 0;

	for (unsigned int i = 0; i < INPUTS && !ret; i++)
		ret = workload_alloc(w, (void **)&s->in[i], words(w, i) * sizeof(uint32_t),
				     WORKLOAD_IN, names[i]);
	if (!ret)
		ret = workload_alloc(w, (void **)&s->component, bytes, WORKLOAD_INOUT, "components");
	if (!ret)
		ret = workload_alloc(w, (void **)&s->lightest, bytes, WORKLOAD_INOUT, "lightest");
	if (!ret)
		ret = workload_alloc(w, (void **)&s->parent, bytes, WORKLOAD_SCRATCH, "parents");
	if (!ret)
		ret = workload_alloc(w, (void **)&s->joined, sizeof(uint32_t), WORKLOAD_SCRATCH,
				     "joined");
	if (!ret)
		ret = workload_alloc(w, (void **)&s->chosen, edges(w), WORKLOAD_INOUT, "chosen");
	if (ret)
		return ret;
	make(w, s->in);
	for (uint64_t i = 0; i < n; i++)
		s->component[i] = (uint32_t)i;
	memset(s->lightest, 0xff, bytes);
	return 0;
}

static int round_of(struct workload *w)
{
	struct mst *s = w->state;
	uint32_t n = (uint32_t)w->option[NODES], block = (uint32_t)w->option[BLOCK];
	uint32_t ctas = DIV_ROUND_UP(n, block);
	int ret;

	ret = WORKLOAD_LAUNCH(w, "mst_find", ctas, block, gpuemu_arg_ptr(s->in[FIRST]),
			      gpuemu_arg_ptr(s->in[TO]), gpuemu_arg_ptr(s->in[WEIGHT]),
			      gpuemu_arg_ptr(s->component), gpuemu_arg_ptr(s->lightest),
			      gpuemu_arg_u32(n));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "mst_join", ctas, block, gpuemu_arg_ptr(s->in[ENDS]),
				      gpuemu_arg_ptr(s->component), gpuemu_arg_ptr(s->lightest),
				      gpuemu_arg_ptr(s->parent), gpuemu_arg_ptr(s->chosen),
				      gpuemu_arg_ptr(s->joined), gpuemu_arg_u32(n));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "mst_follow", ctas, block, gpuemu_arg_ptr(s->parent),
				      gpuemu_arg_ptr(s->component), gpuemu_arg_ptr(s->lightest),
				      gpuemu_arg_u32(n));
	return ret;
}

/* Until no component has joined another. */
static int mst_run(struct workload *w)
{
	struct mst *s = w->state;
	uint32_t joined = 1;
	int ret = 0;

	while (joined && !ret) {
		*s->joined = 0;
		ret = workload_to_device(w, s->joined, sizeof(*s->joined));
		if (!ret)
			ret = round_of(w);
		if (!ret)
			ret = workload_to_host(w, s->joined, sizeof(*s->joined));
		joined = *s->joined;
	}
	return ret;
}

static uint32_t find(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

/* Kruskal's algorithm: edges are in the order of their weights already. */
static void kruskal(const uint32_t *ends, uint64_t m, uint32_t *parent, uint64_t n, uint8_t *chosen)
{
	for (uint64_t i = 0; i < n; i++)
		parent[i] = (uint32_t)i;
	for (uint64_t k = 0; k < m; k++) {
		uint32_t a = find(parent, ends[2 * k]), b = find(parent, ends[2 * k + 1]);

		if (a == b)
			continue;
		parent[a] = b;
		chosen[k] = 1;
	}
}

/* The graph is connected: all nodes end in the same component, with no edge that leaves it. */
static int check_ends(struct workload *w)
{
	struct mst *s = w->state;
	int ret = 0;

	for (uint64_t i = 0; i < w->option[NODES] && !ret; i++) {
		uint32_t none = 0xffffffff;

		ret = check_words(w, "components", i, &s->component[i], &s->component[0], 1);
		if (!ret)
			ret = check_words(w, "lightest", i, &s->lightest[i], &none, 1);
	}
	if (!ret && s->component[0] >= w->option[NODES])
		ret = err_set(&w->err, -EBADMSG, "components[0] is %u, which is no node",
			      s->component[0]);
	return ret;
}

static int mst_verify(struct workload *w)
{
	struct mst *s = w->state;
	uint64_t n = w->option[NODES], m = edges(w);
	uint32_t *memory = check_memory(w, 2 * n + 1 + 6 * m, sizeof(uint32_t));
	uint32_t *const in[INPUTS] = { memory + n, memory + 2 * n + 1, memory + 2 * n + 1 + 2 * m,
				       memory + 2 * n + 1 + 4 * m };
	uint8_t *chosen = check_memory(w, m, 1);
	int ret = memory && chosen ? 0 : -ENOMEM;

	if (!ret)
		make(w, in);
	for (unsigned int i = 0; i < INPUTS && !ret; i++)
		ret = check_words(w, "inputs", 0, s->in[i], in[i], words(w, i));
	if (!ret) {
		kruskal(in[ENDS], m, memory, n, chosen);
		ret = check_bytes(w, "chosen", 0, s->chosen, chosen, m);
	}
	if (!ret)
		ret = check_ends(w);
	free(memory);
	free(chosen);
	return ret;
}

const struct workload_ops workload_mst = {
	.name = "mst",
	.help = "minimum spanning tree by Boruvka's algorithm (LonestarGPU)",
	.exercises = "scattered loads, atomics, pointers followed to their end, rounds that shrink",
	.options = {
		[NODES] = { "nodes", 64 << 10, 1, 1u << 24, "of the graph; 33 bytes each",
			    .quick = 8 << 10, .tiny = 390 },
		[DEGREE] = { "degree", 4, 0, 64, "edges a node on average, besides two; 12.5 bytes each" },
		[BLOCK] = { "block", 256, 32, 1024, "threads of a CTA" },
	},
	.state_bytes = sizeof(struct mst),
	.setup = mst_setup,
	.run = mst_run,
	.verify = mst_verify,
};
#endif
