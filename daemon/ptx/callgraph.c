// SPDX-License-Identifier: GPL-2.0
/*
 * Which of a kernel's functions calls which: an order in which callees come first,
 * and the cycles, by Tarjan's algorithm (SIAM J. Comput. 1(2), 1972) without
 * recursion. Called by finish.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/back.h"

struct search {
	uint32_t *start, *callee;	/* callees of f: callee[start[f] .. start[f + 1]) */
	uint32_t *edge, *number, *low, *stack, *path;
	bool *open;
};

/* Calls that are never reached count: their callees are there and take registers too. */
static int find_callees(const struct ptx_kernel *kernel, struct search *s)
{
	uint32_t f, i, n = 0;

	s->callee = calloc((size_t)kernel->ninsns + 1, sizeof(*s->callee));
	if (!s->callee)
		return -ENOMEM;
	for (f = 0; f < kernel->nfunctions; f++) {
		s->start[f] = n;
		for (i = kernel->functions[f].first; i < kernel->functions[f].end; i++) {
			const struct ptx_function *callee = insn_callee(kernel, &kernel->insns[i]);

			if (callee)
				s->callee[n++] = callee - kernel->functions;
		}
	}
	s->start[f] = n;
	return 0;
}

static void tarjan(const struct ptx_kernel *kernel, struct search *s, struct callgraph *graph)
{
	uint32_t root, numbered = 0, done = 0, held = 0, depth, f, c, cycles = 0;

	for (root = 0; root < kernel->nfunctions; root++) {
		if (s->number[root])
			continue;
		depth = 0;
		s->path[depth++] = root;
		while (depth) {
			f = s->path[depth - 1];
			if (!s->number[f]) {
				s->number[f] = s->low[f] = ++numbered;
				s->edge[f] = s->start[f];
				s->stack[held++] = f;
				s->open[f] = true;
			}
			if (s->edge[f] < s->start[f + 1]) {
				c = s->callee[s->edge[f]++];
				if (!s->number[c])
					s->path[depth++] = c;
				else if (s->open[c])
					s->low[f] = MIN(s->low[f], s->number[c]);
				continue;
			}
			depth--;
			if (depth)
				s->low[s->path[depth - 1]] =
					MIN(s->low[s->path[depth - 1]], s->low[f]);
			if (s->low[f] != s->number[f])
				continue;
			do {
				c = s->stack[--held];
				s->open[c] = false;
				graph->cycle[c] = cycles;
				graph->order[done++] = c;
			} while (c != f);
			cycles++;
		}
	}
}

int callgraph_build(const struct ptx_kernel *kernel, struct callgraph *graph)
{
	size_t n = kernel->nfunctions;
	uint32_t *mem = calloc(6 * n + 1, sizeof(*mem));
	struct search s = { .open = calloc(n, sizeof(bool)) };
	int ret = -ENOMEM;

	graph->order = calloc(n, sizeof(*graph->order));
	graph->cycle = calloc(n, sizeof(*graph->cycle));
	if (mem && s.open && graph->order && graph->cycle) {
		s.edge = mem;
		s.number = mem + n;
		s.low = mem + 2 * n;
		s.stack = mem + 3 * n;
		s.path = mem + 4 * n;
		s.start = mem + 5 * n;
		ret = find_callees(kernel, &s);
	}
	if (!ret)
		tarjan(kernel, &s, graph);
	free(s.callee);
	free(s.open);
	free(mem);
	if (ret)
		callgraph_free(graph);
	return ret;
}

void callgraph_free(struct callgraph *graph)
{
	free(graph->order);
	free(graph->cycle);
	memset(graph, 0, sizeof(*graph));
}

bool call_recurs(const struct callgraph *graph, const struct ptx_kernel *kernel, uint32_t caller,
		 const struct ptx_insn *insn)
{
	const struct ptx_function *callee = insn_callee(kernel, insn);

	return callee && graph->cycle[callee - kernel->functions] == graph->cycle[caller];
}

void callgraph_mark(const struct callgraph *graph, struct ptx_kernel *kernel)
{
	uint32_t i, f;

	/* A function that calls into its own cycle is on it, and so are all others of the cycle. */
	for (f = 0; f < kernel->nfunctions; f++) {
		for (i = kernel->functions[f].first; i < kernel->functions[f].end; i++)
			kernel->functions[f].recursive |=
				call_recurs(graph, kernel, f, &kernel->insns[i]);
	}
}
