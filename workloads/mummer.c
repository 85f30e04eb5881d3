// SPDX-License-Identifier: GPL-2.0
/*
 * mummer: the longest matches of DNA reads in a reference genome, by a suffix tree (Schatz et
 * al., BMC Bioinformatics 8, 2007; MUMmerGPU in Rodinia): a thread a read walks down the tree from
 * the root for each place of its read. Every step waits for the one before, lanes part ways.
 */
#define MUMMER_BLOCK	256u
#define MUMMER_LETTERS	4u

#ifdef GPUEMU_DEVICE
#include "device.h"
#else
#include <errno.h>

#include "fill.h"
#endif

/* The edge to a node says letters [from, to) of the reference; children: 0 is none. */
struct mummer_node {
	uint32_t child[MUMMER_LETTERS];
	uint32_t from, to;
	uint32_t place;		/* of the first of the suffixes below, in their order */
	uint32_t unused;
};

#ifdef GPUEMU_DEVICE

KERNEL mummer(const struct mummer_node *nodes, const uint8_t *reference, const uint8_t *reads,
	      uint32_t count, uint32_t length, uint32_t *lengths, uint32_t *places)
{
	uint32_t i = blockIdx.x * MUMMER_BLOCK + threadIdx.x;
	const uint8_t *read = reads + i * length;

	if (i >= count)
		return;
	for (uint32_t start = 0; start < length; start++) {
		uint32_t node = 0, at = start, edge = 0, end = 0, out = start * count + i;

		while (at < length) {
			if (edge == end) {
				uint32_t next = nodes[node].child[read[at]];

				if (!next)
					break;
				node = next;
				edge = nodes[node].from;
				end = nodes[node].to;
			}
			if (reference[edge] != read[at])
				break;
			edge++;
			at++;
		}
		lengths[out] = at - start;
		places[out] = nodes[node].place;
	}
}

#else

#include <string.h>

enum { REFERENCE, READS, LENGTH };

struct text {
	const uint8_t *letters;
	uint64_t n;
};

struct mummer {
	struct mummer_node *nodes;
	uint8_t *reference, *reads;
	uint32_t *lengths, *places;
};

static void make(struct workload *w, uint8_t *reference, uint8_t *reads)
{
	uint64_t n = w->option[REFERENCE], length = w->option[LENGTH];
	struct rng rng;

	rng_seed(&rng, fill_seed(w, 0));
	for (uint64_t i = 0; i < n; i++)
		reference[i] = (uint8_t)rng_below(&rng, MUMMER_LETTERS);
	/* From anywhere, and one letter in ten misread. */
	for (uint64_t i = 0; i < w->option[READS]; i++) {
		uint64_t from = rng_below(&rng, n);

		for (uint64_t k = 0; k < length; k++)
			reads[i * length + k] = rng_below(&rng, 10) ? reference[(from + k) % n] :
						(uint8_t)rng_below(&rng, MUMMER_LETTERS);
	}
}

/* A suffix that begins another is before it. */
static int compare(const void *a, const void *b, void *arg)
{
	const struct text *t = arg;
	uint64_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = memcmp(t->letters + x, t->letters + y, t->n - MAX(x, y));

	return order ? order : x > y ? -1 : 1;
}

static void sort_suffixes(const struct text *t, uint32_t *suffixes)
{
	for (uint64_t i = 0; i < t->n; i++)
		suffixes[i] = (uint32_t)i;
	qsort_r(suffixes, t->n, sizeof(*suffixes), compare, (void *)t);
}

static uint32_t common(const struct text *t, uint32_t a, uint32_t b)
{
	uint32_t length = 0;

	while (MAX(a, b) + length < t->n && t->letters[a + length] == t->letters[b + length])
		length++;
	return length;
}

/*
 * The tree from the suffixes in their order: the path to the last one is on a stack, whose nodes
 * below what it has in common with the next one are done. Returns how many nodes there are.
 */
static uint32_t make_tree(const struct text *t, const uint32_t *suffixes, uint32_t *stack,
			  uint32_t *depth, struct mummer_node *nodes)
{
	uint32_t count = 1, top = 0;

	memset(nodes, 0, sizeof(*nodes));
	nodes[0].place = suffixes[0];
	stack[0] = 0;
	depth[0] = 0;
	for (uint64_t i = 0; i < t->n; i++) {
		uint32_t suffix = suffixes[i], l = i ? common(t, suffixes[i - 1], suffix) : 0;

		while (depth[top] > l) {
			uint32_t child = stack[top--], place = nodes[child].place;
			struct mummer_node *above = &nodes[stack[top]], *middle = &nodes[count];

			if (depth[top] >= l)
				continue;
			*middle = (struct mummer_node){
				.from = place + depth[top], .to = place + l, .place = place,
			};
			middle->child[t->letters[place + l]] = child;
			above->child[t->letters[place + depth[top]]] = count;
			nodes[child].from = place + l;
			stack[++top] = count++;
			depth[top] = l;
		}
		nodes[count] = (struct mummer_node){
			.from = suffix + l, .to = (uint32_t)t->n, .place = suffix,
		};
		nodes[stack[top]].child[t->letters[suffix + l]] = count;
		stack[++top] = count++;
		depth[top] = (uint32_t)t->n - suffix;
	}
	return count;
}

/* A leaf a suffix, fewer nodes between them, and the root. */
static uint64_t nodes(const struct workload *w)
{
	return 2 * w->option[REFERENCE] + 1;
}

static uint64_t places(const struct workload *w)
{
	return w->option[READS] * w->option[LENGTH];
}

static int build(struct workload *w, const uint8_t *reference, uint32_t *suffixes,
		 struct mummer_node *to)
{
	struct text t = { reference, w->option[REFERENCE] };
	uint32_t *stack = check_memory(w, 2 * (t.n + 2), sizeof(*stack));
	uint32_t count;

	if (!stack)
		return -ENOMEM;
	sort_suffixes(&t, suffixes);
	count = make_tree(&t, suffixes, stack, stack + t.n + 2, to);
	memset(to + count, 0, (nodes(w) - count) * sizeof(*to));
	free(stack);
	return 0;
}

static int mummer_setup(struct workload *w)
{
	struct mummer *m = w->state;
	uint32_t *suffixes = check_memory(w, w->option[REFERENCE], sizeof(*suffixes));
	int ret = suffixes ? 0 : -ENOMEM;

	if (!ret)
		ret = workload_alloc(w, (void **)&m->nodes, nodes(w) * sizeof(*m->nodes),
				     WORKLOAD_IN, "nodes");
	if (!ret)
		ret = workload_alloc(w, (void **)&m->reference, w->option[REFERENCE], WORKLOAD_IN,
				     "reference");
	if (!ret)
		ret = workload_alloc(w, (void **)&m->reads, places(w), WORKLOAD_IN, "reads");
	if (!ret)
		ret = workload_alloc(w, (void **)&m->lengths, places(w) * sizeof(uint32_t),
				     WORKLOAD_OUT, "lengths");
	if (!ret)
		ret = workload_alloc(w, (void **)&m->places, places(w) * sizeof(uint32_t),
				     WORKLOAD_OUT, "places");
	if (!ret) {
		make(w, m->reference, m->reads);
		ret = build(w, m->reference, suffixes, m->nodes);
	}
	free(suffixes);
	return ret;
}

static int mummer_run(struct workload *w)
{
	struct mummer *m = w->state;
	uint32_t reads = (uint32_t)w->option[READS];
	int ret;

	ret = WORKLOAD_LAUNCH(w, "mummer", DIV_ROUND_UP(reads, MUMMER_BLOCK), MUMMER_BLOCK,
			      gpuemu_arg_ptr(m->nodes), gpuemu_arg_ptr(m->reference),
			      gpuemu_arg_ptr(m->reads), gpuemu_arg_u32(reads),
			      gpuemu_arg_u32((uint32_t)w->option[LENGTH]),
			      gpuemu_arg_ptr(m->lengths), gpuemu_arg_ptr(m->places));
	return ret ? ret : workload_synchronize(w);
}

/* The first of suffixes [low, high) whose letter behind `length` common ones is not below. */
static uint64_t first_with(const struct text *t, const uint32_t *suffixes, uint64_t low,
			   uint64_t high, uint32_t length, unsigned int letter)
{
	while (low < high) {
		uint64_t middle = (low + high) / 2, at = suffixes[middle] + (uint64_t)length;

		if (at >= t->n || t->letters[at] < letter)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* In the sorted suffixes, without the tree: how far any goes along with the n letters. */
static uint32_t longest(const struct text *t, const uint32_t *suffixes, const uint8_t *letters,
			uint64_t n, uint32_t *place)
{
	uint64_t low = 0, high = t->n;
	uint32_t length = 0;

	while (length < n) {
		uint64_t from = first_with(t, suffixes, low, high, length, letters[length]);
		uint64_t to = first_with(t, suffixes, from, high, length, letters[length] + 1u);

		if (from == to)
			break;
		low = from;
		high = to;
		length++;
	}
	*place = suffixes[low];
	return length;
}

static int check_matches(struct workload *w, const struct text *t, const uint32_t *suffixes,
			 const uint8_t *reads)
{
	struct mummer *m = w->state;
	uint64_t count = w->option[READS], length = w->option[LENGTH];
	int ret = 0;

	for (uint64_t i = 0; i < places(w) && !ret; i++) {
		uint64_t read = i % count, start = i / count;
		uint32_t place, most;

		most = longest(t, suffixes, reads + read * length + start, length - start, &place);
		ret = check_words(w, "lengths", i, &m->lengths[i], &most, 1);
		if (!ret)
			ret = check_words(w, "places", i, &m->places[i], &place, 1);
	}
	return ret;
}

static int mummer_verify(struct workload *w)
{
	struct mummer *m = w->state;
	uint64_t n = w->option[REFERENCE], words = nodes(w) * sizeof(*m->nodes) / 4;
	uint8_t *letters = check_memory(w, n + places(w), 1), *reads = letters + n;
	uint32_t *suffixes = check_memory(w, n, sizeof(*suffixes));
	struct mummer_node *tree = check_memory(w, nodes(w), sizeof(*tree));
	struct text t = { letters, n };
	int ret = letters && suffixes && tree ? 0 : -ENOMEM;

	if (!ret) {
		make(w, letters, reads);
		ret = build(w, letters, suffixes, tree);
	}
	if (!ret)
		ret = check_words(w, "words of nodes", 0, (uint32_t *)m->nodes, (uint32_t *)tree,
				  words);
	if (!ret)
		ret = check_bytes(w, "reference", 0, m->reference, letters, n);
	if (!ret)
		ret = check_bytes(w, "reads", 0, m->reads, reads, places(w));
	if (!ret)
		ret = check_matches(w, &t, suffixes, reads);
	free(letters);
	free(suffixes);
	free(tree);
	return ret;
}

const struct workload_ops workload_mummer = {
	.name = "mummer",
	.help = "DNA reads matched by a suffix tree (MUMmerGPU of Rodinia)",
	.exercises = "pointer chasing, divergence, loads of single bytes",
	.options = {
		[REFERENCE] = { "reference", 256 << 10, 1, 1u << 24, "letters; 65 bytes each",
				.quick = 32 << 10, .tiny = 700 },
		[READS] = { "reads", 16384, 1, 1u << 20, "9 bytes a letter of each",
			    .quick = 2048, .tiny = 150 },
		[LENGTH] = { "length", 25, 1, 1000, "letters of a read", .tiny = 11 },
	},
	.state_bytes = sizeof(struct mummer),
	.setup = mummer_setup,
	.run = mummer_run,
	.verify = mummer_verify,
};
#endif
