// SPDX-License-Identifier: GPL-2.0
/*
 * btree: looks keys up in a B+ tree, and ranges of keys (Bayer and McCreight, Acta Informatica
 * 1, 1972; Fix et al., 2011; b+tree in Rodinia): a CTA a query, a thread a key of the node. The
 * thread that finds the query between its key and the next says where to go on.
 */
#ifdef GPUEMU_DEVICE
#include "device.h"
#else
#include <errno.h>

#include "fill.h"
#endif

/*
 * A node is a row of `order` keys and one of `order` children: a key is the lowest behind its
 * child, and those that are missing are the greatest number there is. Children of a leaf are
 * where the records are.
 */
#define BTREE_NONE	0xffffffffu
#define BTREE_RECORD	8	/* words of a record; the first is looked at */

#ifdef GPUEMU_DEVICE

/* Where in the leaf that it leads to `key` is, or would be: the last key that is not above it. */
INLINE uint32_t descend(const uint32_t *keys, const uint32_t *children, uint32_t levels,
			uint32_t key, uint32_t *next)
{
	uint32_t order = blockDim.x, t = threadIdx.x, node = 0;

	for (uint32_t level = 0; level < levels; level++) {
		const uint32_t *row = keys + node * order;
		uint32_t above = t + 1 < order ? row[t + 1] : BTREE_NONE;

		if (row[t] <= key && key < above)
			*next = level + 1 < levels ? children[node * order + t] : node * order + t;
		__syncthreads();
		node = *next;
		__syncthreads();
	}
	return node;
}

KERNEL btree_find(const uint32_t *keys, const uint32_t *children, const uint32_t *records,
		  uint32_t levels, const uint32_t *queries, uint32_t *answers)
{
	__shared__ uint32_t next;
	uint32_t query = queries[blockIdx.x];
	uint32_t at = descend(keys, children, levels, query, &next);

	if (threadIdx.x == 0)
		answers[blockIdx.x] = keys[at] == query ? records[children[at] * BTREE_RECORD] :
							  BTREE_NONE;
}

/* The first record from a query on, and how many there are below its end. */
KERNEL btree_range(const uint32_t *keys, const uint32_t *children, uint32_t levels,
		   const uint32_t *queries, const uint32_t *ends, uint32_t *starts,
		   uint32_t *lengths)
{
	__shared__ uint32_t next;
	uint32_t query = queries[blockIdx.x], end = ends[blockIdx.x];
	uint32_t first = descend(keys, children, levels, query, &next);
	uint32_t last = descend(keys, children, levels, end, &next);

	if (threadIdx.x == 0) {
		uint32_t from = children[first] + (keys[first] < query);

		starts[blockIdx.x] = from;
		lengths[blockIdx.x] = children[last] + (keys[last] < end) - from;
	}
}

#else

enum { RECORDS, QUERIES, RANGES, ORDER };

#define BTREE_LEVELS	32

struct btree {
	uint32_t *keys, *children, *records;
	uint32_t *queries, *answers;
	uint32_t *ends, *starts, *lengths;	/* of ranges, which begin as queries do */
	uint32_t levels;
};

/* Nodes of a level: leaves are level 0. */
static uint64_t nodes(const struct workload *w, unsigned int level)
{
	uint64_t n = w->option[RECORDS];

	for (unsigned int i = 0; i <= level; i++)
		n = DIV_ROUND_UP(n, w->option[ORDER]);
	return n;
}

static uint32_t count_levels(const struct workload *w)
{
	uint32_t levels = 1;

	while (nodes(w, levels - 1) > 1)
		levels++;
	return levels;
}

static uint64_t all_nodes(const struct workload *w)
{
	uint64_t n = 0;

	for (unsigned int level = 0; level < count_levels(w); level++)
		n += nodes(w, level);
	return n;
}

/*
 * Keys rise by one to four each, and record i has the i-th; key 0 is the first, so that every
 * query is at or behind one.
 */
static void make_records(struct workload *w, uint32_t *keys, uint32_t *records)
{
	struct rng rng;
	uint32_t key = 0;

	rng_seed(&rng, fill_seed(w, 0));
	for (uint64_t i = 0; i < w->option[RECORDS]; i++) {
		keys[i] = key;
		key += 1 + (uint32_t)rng_below(&rng, 4);
		for (unsigned int k = 0; k < BTREE_RECORD; k++)
			records[i * BTREE_RECORD + k] = (uint32_t)rng_below(&rng, BTREE_NONE);
	}
}

static void make_queries(struct workload *w, uint32_t most, uint32_t *queries, uint32_t *ends)
{
	uint64_t n = MAX(w->option[QUERIES], w->option[RANGES]);
	struct rng rng;

	fill_words(w, 1, queries, n, (uint64_t)most + 8);
	rng_seed(&rng, fill_seed(w, 2));
	for (uint64_t i = 0; i < w->option[RANGES]; i++)
		ends[i] = queries[i] + (uint32_t)rng_below(&rng, 4000);
}

/* The root is node 0, then level by level downwards. */
static void make_tree(const struct workload *w, const uint32_t *record_keys, uint32_t *keys,
		      uint32_t *children)
{
	uint64_t order = w->option[ORDER], first = 0, covers = 1;

	for (unsigned int level = 1; level < count_levels(w); level++)
		covers *= order;
	for (unsigned int level = count_levels(w); level--; covers /= order) {
		uint64_t below = first + nodes(w, level), slots = nodes(w, level) * order;

		for (uint64_t i = 0; i < slots; i++) {
			bool is = i * covers < w->option[RECORDS];

			keys[first * order + i] = is ? record_keys[i * covers] : BTREE_NONE;
			children[first * order + i] = !is ? 0 : (uint32_t)(level ? below + i : i);
		}
		first = below;
	}
}

static int alloc(struct workload *w, uint32_t **to, uint64_t words, enum workload_direction d,
		 const char *what)
{
	return workload_alloc(w, (void **)to, MAX(words, 1ull) * sizeof(uint32_t), d, what);
}

static int btree_setup(struct workload *w)
{
	struct btree *b = w->state;
	uint64_t n = w->option[RECORDS], slots = all_nodes(w) * w->option[ORDER];
	uint64_t queries = w->option[QUERIES], ranges = w->option[RANGES];
	uint32_t *record_keys = check_memory(w, n, sizeof(*record_keys));
	int ret = record_keys ? 0 : -ENOMEM;

	if (!ret)
		ret = alloc(w, &b->keys, slots, WORKLOAD_IN, "keys");
	if (!ret)
		ret = alloc(w, &b->children, slots, WORKLOAD_IN, "children");
	if (!ret)
		ret = alloc(w, &b->records, n * BTREE_RECORD, WORKLOAD_IN, "records");
	if (!ret)
		ret = alloc(w, &b->queries, MAX(queries, ranges), WORKLOAD_IN, "queries");
	if (!ret)
		ret = alloc(w, &b->answers, queries, WORKLOAD_OUT, "answers");
	if (!ret)
		ret = alloc(w, &b->ends, ranges, WORKLOAD_IN, "ends");
	if (!ret)
		ret = alloc(w, &b->starts, ranges, WORKLOAD_OUT, "starts");
	if (!ret)
		ret = alloc(w, &b->lengths, ranges, WORKLOAD_OUT, "lengths");
	if (!ret) {
		b->levels = count_levels(w);
		make_records(w, record_keys, b->records);
		make_queries(w, record_keys[n - 1], b->queries, b->ends);
		make_tree(w, record_keys, b->keys, b->children);
	}
	free(record_keys);
	return ret;
}

static int btree_run(struct workload *w)
{
	struct btree *b = w->state;
	uint32_t order = (uint32_t)w->option[ORDER];
	int ret;

	ret = WORKLOAD_LAUNCH(w, "btree_find", (uint32_t)w->option[QUERIES], order,
			      gpuemu_arg_ptr(b->keys), gpuemu_arg_ptr(b->children),
			      gpuemu_arg_ptr(b->records), gpuemu_arg_u32(b->levels),
			      gpuemu_arg_ptr(b->queries), gpuemu_arg_ptr(b->answers));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "btree_range", (uint32_t)w->option[RANGES], order,
				      gpuemu_arg_ptr(b->keys), gpuemu_arg_ptr(b->children),
				      gpuemu_arg_u32(b->levels), gpuemu_arg_ptr(b->queries),
				      gpuemu_arg_ptr(b->ends), gpuemu_arg_ptr(b->starts),
				      gpuemu_arg_ptr(b->lengths));
	return ret ? ret : workload_synchronize(w);
}

/* How many of the sorted keys are below this one. */
static uint32_t below(const uint32_t *keys, uint64_t n, uint32_t key)
{
	uint64_t low = 0, high = n;

	while (low < high) {
		uint64_t middle = (low + high) / 2;

		if (keys[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low;
}

/* The inputs are as setup made them. */
static int check_inputs(struct workload *w, const uint32_t *record_keys, const uint32_t *records)
{
	struct btree *b = w->state;
	uint64_t slots = all_nodes(w) * w->option[ORDER], n = w->option[RECORDS];
	uint64_t queries = MAX(w->option[QUERIES], w->option[RANGES]);
	uint32_t *tree = check_memory(w, 2 * slots, sizeof(*tree));
	uint32_t *asked = check_memory(w, 2 * queries, sizeof(*asked));
	int ret = tree && asked ? 0 : -ENOMEM;

	if (!ret) {
		make_tree(w, record_keys, tree, tree + slots);
		make_queries(w, record_keys[n - 1], asked, asked + queries);
		ret = check_words(w, "keys", 0, b->keys, tree, slots);
	}
	if (!ret)
		ret = check_words(w, "children", 0, b->children, tree + slots, slots);
	if (!ret)
		ret = check_words(w, "records", 0, b->records, records, n * BTREE_RECORD);
	if (!ret)
		ret = check_words(w, "queries", 0, b->queries, asked, queries);
	if (!ret)
		ret = check_words(w, "ends", 0, b->ends, asked + queries, w->option[RANGES]);
	free(tree);
	free(asked);
	return ret;
}

/* By binary searches of the sorted keys. */
static int btree_verify(struct workload *w)
{
	struct btree *b = w->state;
	uint64_t n = w->option[RECORDS];
	uint32_t *keys = check_memory(w, n, sizeof(*keys));
	uint32_t *records = check_memory(w, n * BTREE_RECORD, sizeof(*records));
	int ret = keys && records ? 0 : -ENOMEM;

	if (!ret) {
		make_records(w, keys, records);
		ret = check_inputs(w, keys, records);
	}
	for (uint64_t i = 0; i < w->option[QUERIES] && !ret; i++) {
		uint32_t at = below(keys, n, b->queries[i]), want = BTREE_NONE;

		if (at < n && keys[at] == b->queries[i])
			want = records[at * BTREE_RECORD];
		ret = check_words(w, "answers", i, &b->answers[i], &want, 1);
	}
	for (uint64_t i = 0; i < w->option[RANGES] && !ret; i++) {
		uint32_t from = below(keys, n, b->queries[i]);
		uint32_t length = below(keys, n, b->ends[i]) - from;

		ret = check_words(w, "starts", i, &b->starts[i], &from, 1);
		if (!ret)
			ret = check_words(w, "lengths", i, &b->lengths[i], &length, 1);
	}
	free(keys);
	free(records);
	return ret;
}

const struct workload_ops workload_btree = {
	.name = "btree",
	.help = "queries of a B+ tree, keys and ranges (Rodinia)",
	.exercises = "dependent loads behind barriers, wide CTAs where one thread decides",
	.options = {
		[RECORDS] = { "records", 1 << 20, 1, 1u << 26, "of the tree; 40 bytes each",
			      .quick = 64 << 10, .tiny = 900 },
		[QUERIES] = { "queries", 10000, 1, 1u << 24, "of a key", .quick = 2000, .tiny = 41 },
		[RANGES] = { "ranges", 6000, 1, 1u << 24, "of keys to find", .quick = 1000,
			     .tiny = 19 },
		[ORDER] = { "order", 508, 2, 1024, "keys of a node, threads of a CTA", .tiny = 60 },
	},
	.state_bytes = sizeof(struct btree),
	.setup = btree_setup,
	.run = btree_run,
	.verify = btree_verify,
};
#endif
