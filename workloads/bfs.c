// SPDX-License-Identifier: GPL-2.0
/*
 * bfs: how many edges each node of a random graph is from node 0: breadth-first
 * search, a level at a time (Harish and Narayanan, HiPC 2007; in Rodinia, Che et
 * al., IISWC 2009). One kernel goes along the frontier's edges, a second makes the
 * next frontier, and the CPU reads a flag to know whether there is one.
 */
#ifdef GPUEMU_DEVICE
#include "device.h"

/* first is CSR's row offsets. Several warps may give one node the same level. */
KERNEL bfs_expand(const uint32_t *first, const uint32_t *edges, uint8_t *frontier,
		  uint8_t *next, const uint8_t *visited, uint32_t *level,
		  uint32_t nodes)
{
	uint32_t node = blockIdx.x * blockDim.x + threadIdx.x;

	if (node >= nodes || !frontier[node])
		return;
	frontier[node] = 0;
	for (uint32_t i = first[node]; i < first[node + 1]; i++) {
		uint32_t to = edges[i];

		if (!visited[to]) {
			level[to] = level[node] + 1;
			next[to] = 1;
		}
	}
}

KERNEL bfs_advance(uint8_t *frontier, uint8_t *next, uint8_t *visited,
		   uint32_t *more, uint32_t nodes)
{
	uint32_t node = blockIdx.x * blockDim.x + threadIdx.x;

	if (node >= nodes || !next[node])
		return;
	frontier[node] = 1;
	visited[node] = 1;
	next[node] = 0;
	*more = 1;
}

#else
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { NODES, DEGREE, BLOCK };

struct bfs {
	uint32_t *first, *edges, *level, *more;
	uint8_t *frontier, *next, *visited;
};

/*
 * Degrees are uniform around their mean, and no node is without an edge, so that every seed's
 * search gets far; edges go anywhere. Returns the edges' number.
 */
static uint64_t make_first(const struct workload *w, uint32_t *first)
{
	uint64_t nodes = w->option[NODES], degree = w->option[DEGREE], count = 0;
	struct rng rng;

	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i <= nodes; i++) {
		if (first)
			first[i] = (uint32_t)count;
		if (i < nodes && degree)
			count += 1 + rng_below(&rng, 2 * degree - 1);
	}
	return count;
}

static void make_edges(const struct workload *w, uint32_t *edges, uint64_t count)
{
	struct rng rng;

	rng_seed(&rng, ~w->seed);
	for (uint64_t i = 0; i < count; i++)
		edges[i] = (uint32_t)rng_below(&rng, w->option[NODES]);
}

static int bfs_setup(struct workload *w)
{
	struct bfs *b = w->state;
	uint64_t nodes = w->option[NODES], count = make_first(w, NULL);
	int ret;

	ret = workload_alloc(w, (void **)&b->first, (nodes + 1) * sizeof(uint32_t),
			     WORKLOAD_IN, "first");
	if (!ret && count)
		ret = workload_alloc(w, (void **)&b->edges, count * sizeof(uint32_t),
				     WORKLOAD_IN, "edges");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->frontier, nodes, WORKLOAD_IN, "frontier");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->next, nodes, WORKLOAD_IN, "next");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->visited, nodes, WORKLOAD_IN, "visited");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->level, nodes * sizeof(uint32_t),
				     WORKLOAD_INOUT, "level");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->more, sizeof(uint32_t), WORKLOAD_SCRATCH,
				     "more");
	if (ret)
		return ret;
	make_first(w, b->first);
	make_edges(w, b->edges, count);
	memset(b->level, 0xff, nodes * sizeof(uint32_t));
	b->level[0] = 0;
	b->frontier[0] = 1;
	b->visited[0] = 1;
	return 0;
}

static int bfs_level(struct workload *w)
{
	struct bfs *b = w->state;
	uint32_t nodes = (uint32_t)w->option[NODES], block = (uint32_t)w->option[BLOCK];
	uint32_t ctas = DIV_ROUND_UP(nodes, block);
	int ret;

	*b->more = 0;
	ret = workload_to_device(w, b->more, sizeof(*b->more));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "bfs_expand", ctas, block,
				      gpuemu_arg_ptr(b->first), gpuemu_arg_ptr(b->edges),
				      gpuemu_arg_ptr(b->frontier), gpuemu_arg_ptr(b->next),
				      gpuemu_arg_ptr(b->visited), gpuemu_arg_ptr(b->level),
				      gpuemu_arg_u32(nodes));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "bfs_advance", ctas, block,
				      gpuemu_arg_ptr(b->frontier), gpuemu_arg_ptr(b->next),
				      gpuemu_arg_ptr(b->visited), gpuemu_arg_ptr(b->more),
				      gpuemu_arg_u32(nodes));
	return ret ? ret : workload_to_host(w, b->more, sizeof(*b->more));
}

static int bfs_run(struct workload *w)
{
	struct bfs *b = w->state;
	int ret;

	/* No node is further than there are nodes: a wrong flag does not run for ever. */
	for (uint64_t level = 0; level < w->option[NODES]; level++) {
		ret = bfs_level(w);
		if (ret || !*b->more)
			return ret;
	}
	return err_set(&w->err, -EBADMSG, "more than %" PRIu64 " levels", w->option[NODES]);
}

/* The CPU's way: a queue of nodes in the order they are found. */
static void search(const struct workload *w, const uint32_t *first, const uint32_t *edges,
		   uint32_t *level, uint32_t *queue)
{
	uint64_t nodes = w->option[NODES], head = 0, tail = 0;

	for (uint64_t i = 0; i < nodes; i++)
		level[i] = UINT32_MAX;
	level[0] = 0;
	queue[tail++] = 0;
	while (head < tail) {
		uint32_t node = queue[head++];

		for (uint32_t i = first[node]; i < first[node + 1]; i++) {
			if (level[edges[i]] != UINT32_MAX)
				continue;
			level[edges[i]] = level[node] + 1;
			queue[tail++] = edges[i];
		}
	}
}

/* No node is on a frontier any more, and those with a level are the visited ones. */
static int check_masks(struct workload *w, const uint32_t *level)
{
	struct bfs *b = w->state;

	for (uint64_t i = 0; i < w->option[NODES]; i++) {
		uint8_t visited = level[i] != UINT32_MAX;

		if (b->frontier[i] || b->next[i] || b->visited[i] != visited)
			return err_set(&w->err, -EBADMSG, "node %" PRIu64 ": frontier %u, next %u, "
				       "visited %u; the CPU says 0, 0, %u", i, b->frontier[i],
				       b->next[i], b->visited[i], visited);
	}
	return 0;
}

static int bfs_verify(struct workload *w)
{
	struct bfs *b = w->state;
	uint64_t nodes = w->option[NODES], count = make_first(w, NULL);
	uint32_t *first = check_memory(w, 3 * nodes + 1 + count, sizeof(uint32_t));
	uint32_t *level, *queue, *edges;
	int ret;

	if (!first)
		return -ENOMEM;
	level = first + nodes + 1;
	queue = level + nodes;
	edges = queue + nodes;
	make_first(w, first);
	make_edges(w, edges, count);
	search(w, first, edges, level, queue);
	ret = check_words(w, "first", 0, b->first, first, nodes + 1);
	if (!ret && count)
		ret = check_words(w, "edges", 0, b->edges, edges, count);
	if (!ret)
		ret = check_words(w, "level", 0, b->level, level, nodes);
	if (!ret)
		ret = check_masks(w, level);
	if (!ret)
		ret = check_words(w, "more", 0, b->more, &(uint32_t){ 0 }, 1);
	free(first);
	return ret;
}

const struct workload_ops workload_bfs = {
	.name = "bfs",
	.help = "breadth-first search of a random graph (Rodinia)",
	.exercises = "divergence, scattered byte accesses, a launch pair a level, a flag for the CPU",
	.options = {
		[NODES] = { "nodes", 384 << 10, 1, 1u << 24, "of the graph; 11 bytes each",
			    .quick = 64000, .tiny = 3001 },
		[DEGREE] = { "degree", 6, 0, 64, "edges a node on average; 4 bytes each" },
		[BLOCK] = { "block", 256, 32, 1024, "threads of a CTA (Rodinia: 512)" },
	},
	.state_bytes = sizeof(struct bfs),
	.setup = bfs_setup,
	.run = bfs_run,
	.verify = bfs_verify,
};
#endif
