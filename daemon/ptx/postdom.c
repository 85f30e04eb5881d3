// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate post-dominators, where diverged lanes reconverge. The exit of all
 * functions is one node, but no edge joins two functions. The algorithm is
 * Lengauer and Tarjan's (TOPLAS 1(1), 1979) with path compression, on the
 * reversed graph from a virtual exit: O(edges * log blocks) for any graph, and
 * without recursion, because the text chooses the graph.
 */
#include <errno.h>
#include <stdlib.h>

#include "ptx/back.h"

/* Nodes are blocks, and `exit` = nblocks. Vertices are numbered by the search, from 0. */
struct solver {
	const struct cfg *cfg;
	uint32_t exit, reached;
	uint32_t *number;	/* node: vertex, or NONE while not reached */
	uint32_t *node;		/* vertex: node */
	uint32_t *parent, *semi, *idom, *ancestor, *label; /* by vertex */
	uint32_t *bucket, *bucket_next;
	uint32_t *stack, *edge;
};
#define NONE	UINT32_MAX

static bool leads_to_exit(const struct ptx_kernel *kernel, const struct cfg *cfg, uint32_t b)
{
	const struct ptx_insn *last = &kernel->insns[cfg->first[b + 1] - 1];

	return last->guard == PTX_NO_REG &&
	       (last->opcode == PTX_OP_ret || last->opcode == PTX_OP_exit);
}

static void visit(struct solver *s, uint32_t node, uint32_t parent)
{
	uint32_t v = s->reached++;

	s->number[node] = v;
	s->node[v] = node;
	s->parent[v] = parent;
	s->semi[v] = s->label[v] = v;
	s->ancestor[v] = s->bucket[v] = NONE;
}

/* Depth first from the exit along reversed edges. */
static void search(struct solver *s, const struct ptx_kernel *kernel)
{
	const struct cfg *cfg = s->cfg;
	uint32_t root, depth, node, b;

	for (b = 0; b <= cfg->nblocks; b++)
		s->number[b] = NONE;
	visit(s, s->exit, 0);
	for (root = 0; root < cfg->nblocks; root++) {
		if (!leads_to_exit(kernel, cfg, root) || s->number[root] != NONE)
			continue;
		visit(s, root, 0);
		depth = 0;
		s->stack[depth++] = root;
		s->edge[root] = cfg->pred_start[root];
		while (depth) {
			node = s->stack[depth - 1];
			if (s->edge[node] == cfg->pred_start[node + 1]) {
				depth--;
				continue;
			}
			b = cfg->pred[s->edge[node]++];
			if (s->number[b] != NONE)
				continue;
			visit(s, b, s->number[node]);
			s->stack[depth++] = b;
			s->edge[b] = cfg->pred_start[b];
		}
	}
}

/* The vertex of least semi-dominator on the path to v's forest root. */
static uint32_t eval(struct solver *s, uint32_t v)
{
	uint32_t depth = 0, u = v;

	if (s->ancestor[v] == NONE)
		return s->label[v];
	while (s->ancestor[s->ancestor[u]] != NONE) {
		s->stack[depth++] = u;
		u = s->ancestor[u];
	}
	while (depth) {
		uint32_t a;

		u = s->stack[--depth];
		a = s->ancestor[u];
		if (s->semi[s->label[a]] < s->semi[s->label[u]])
			s->label[u] = s->label[a];
		s->ancestor[u] = s->ancestor[a];
	}
	return s->label[v];
}

static void consider(struct solver *s, uint32_t v, uint32_t from)
{
	uint32_t u = eval(s, from);

	s->semi[v] = MIN(s->semi[v], s->semi[u]);
}

static void dominators(struct solver *s, const struct ptx_kernel *kernel)
{
	uint32_t v, u, w, next, b, e;

	for (v = s->reached - 1; v > 0; v--) {
		b = s->node[v];
		for (e = s->cfg->succ_start[b]; e < s->cfg->succ_start[b + 1]; e++) {
			w = s->cfg->succ[e];
			if (s->number[w] != NONE)
				consider(s, v, s->number[w]);
		}
		if (leads_to_exit(kernel, s->cfg, b))
			consider(s, v, 0);
		s->bucket_next[v] = s->bucket[s->semi[v]];
		s->bucket[s->semi[v]] = v;
		s->ancestor[v] = s->parent[v];
		for (w = s->bucket[s->parent[v]]; w != NONE; w = next) {
			next = s->bucket_next[w];
			u = eval(s, w);
			s->idom[w] = s->semi[u] < s->semi[w] ? u : s->parent[v];
		}
		s->bucket[s->parent[v]] = NONE;
	}
	s->idom[0] = 0;
	for (v = 1; v < s->reached; v++) {
		if (s->idom[v] != s->semi[v])
			s->idom[v] = s->idom[s->idom[v]];
	}
}

int postdom_solve(struct ptx_kernel *kernel, const struct cfg *cfg)
{
	uint32_t n = cfg->nblocks + 1, i, v, node;
	struct solver s = { .cfg = cfg, .exit = cfg->nblocks };
	uint32_t *mem = calloc(n, 11 * sizeof(*mem));

	if (!mem)
		return -ENOMEM;
	s.number = mem;
	s.node = mem + n;
	s.parent = mem + 2 * (size_t)n;
	s.semi = mem + 3 * (size_t)n;
	s.idom = mem + 4 * (size_t)n;
	s.ancestor = mem + 5 * (size_t)n;
	s.label = mem + 6 * (size_t)n;
	s.bucket = mem + 7 * (size_t)n;
	s.bucket_next = mem + 8 * (size_t)n;
	s.stack = mem + 9 * (size_t)n;
	s.edge = mem + 10 * (size_t)n;
	search(&s, kernel);
	dominators(&s, kernel);
	for (i = 0; i < kernel->ninsns; i++) {
		if (kernel->insns[i].opcode != PTX_OP_bra && kernel->insns[i].opcode != PTX_OP_brx)
			continue;
		/* A block that cannot reach the exit reconverges nowhere. */
		v = s.number[cfg->block_of[i]];
		node = v == NONE ? s.exit : s.node[s.idom[v]];
		kernel->insns[i].reconv = node == s.exit ? kernel->ninsns : cfg->first[node];
	}
	free(mem);
	return 0;
}
