// SPDX-License-Identifier: GPL-2.0
/*
 * mergesort: sorts keys with their values, equal keys staying in order, by merging (Satish,
 * Harris and Garland, IPDPS 2009; "mergeSort" of the CUDA SDK). Runs of 1024 come about in
 * shared memory; then each pass ranks every 128th key in the run beside its own, cuts both
 * runs there, and merges the pieces, none longer than 128.
 */
#define MERGE_RUN	1024u	/* pairs of a CTA of the first launch; a thread has two */
#define MERGE_PIECE	128u	/* keys of a piece at most, and threads of a CTA that merges two */
#define MERGE_RANK	256u	/* threads of a CTA that ranks */

#ifdef GPUEMU_DEVICE
#include "device.h"

/* How many of n sorted keys are below `key`, or below or equal. */
INLINE uint32_t rank(const uint32_t *keys, uint32_t n, uint32_t key, bool equal)
{
	uint32_t low = 0;

	while (n) {
		uint32_t half = n / 2, k = keys[low + half];

		if (k < key || (equal && k == key)) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}

/* Each thread has an element of the left and one of the right run of its pair of runs. */
KERNEL mergesort_run(const uint32_t *in_keys, const uint32_t *in_values, uint32_t *keys,
		     uint32_t *values)
{
	__shared__ uint32_t key[MERGE_RUN], value[MERGE_RUN];
	uint32_t t = threadIdx.x, first = blockIdx.x * MERGE_RUN;

	for (uint32_t i = t; i < MERGE_RUN; i += MERGE_RUN / 2) {
		key[i] = in_keys[first + i];
		value[i] = in_values[first + i];
	}
	for (uint32_t run = 1; run < MERGE_RUN; run *= 2) {
		uint32_t at = t & (run - 1), base = 2 * (t - at);
		uint32_t ka, va, kb, vb, pa, pb;

		__syncthreads();
		ka = key[base + at];
		va = value[base + at];
		kb = key[base + run + at];
		vb = value[base + run + at];
		pa = base + at + rank(key + base + run, run, ka, false);
		pb = base + at + rank(key + base, run, kb, true);
		__syncthreads();
		key[pa] = ka;
		value[pa] = va;
		key[pb] = kb;
		value[pb] = vb;
	}
	__syncthreads();
	for (uint32_t i = t; i < MERGE_RUN; i += MERGE_RUN / 2) {
		keys[first + i] = key[i];
		values[first + i] = value[i];
	}
}

/*
 * A thread a sample: sample s of the array begins piece s of its pair of runs, in the order of
 * the samples' keys. cut[2 p] and cut[2 p + 1] are where piece p begins in the left run and in the
 * right one.
 */
KERNEL mergesort_rank(const uint32_t *keys, uint32_t *cut, uint32_t run, uint32_t samples)
{
	uint32_t s = blockIdx.x * MERGE_RANK + threadIdx.x, per = run / MERGE_PIECE;
	uint32_t at = s % per, pair = s / per / 2, right = s / per % 2, other, piece;
	const uint32_t *left = keys + pair * 2 * run;

	if (s >= samples)
		return;
	/* The left run's come first among equal keys. */
	other = rank(right ? left : left + run, run, left[right * run + at * MERGE_PIECE], right);
	piece = pair * 2 * per + at + (other + MERGE_PIECE - 1) / MERGE_PIECE;
	cut[2 * piece + right] = at * MERGE_PIECE;
	cut[2 * piece + !right] = other;
}

/* A CTA merges piece blockIdx.x of all. */
KERNEL mergesort_merge(const uint32_t *in_keys, const uint32_t *in_values, uint32_t *keys,
		       uint32_t *values, const uint32_t *cut, uint32_t run)
{
	__shared__ uint32_t left[MERGE_PIECE], right[MERGE_PIECE];
	uint32_t t = threadIdx.x, pieces = 2 * run / MERGE_PIECE, piece = blockIdx.x;
	uint32_t first = piece / pieces * 2 * run, last = piece % pieces == pieces - 1;
	uint32_t a = cut[2 * piece], b = cut[2 * piece + 1];
	uint32_t na = (last ? run : cut[2 * piece + 2]) - a;
	uint32_t nb = (last ? run : cut[2 * piece + 3]) - b;
	uint32_t out = first + a + b;

	if (t < na)
		left[t] = in_keys[first + a + t];
	if (t < nb)
		right[t] = in_keys[first + run + b + t];
	__syncthreads();
	if (t < na) {
		uint32_t to = out + t + rank(right, nb, left[t], false);

		keys[to] = left[t];
		values[to] = in_values[first + a + t];
	}
	if (t < nb) {
		uint32_t to = out + t + rank(left, na, right[t], true);

		keys[to] = right[t];
		values[to] = in_values[first + run + b + t];
	}
}

#else
#include <errno.h>

#include "fill.h"

enum { RUNS };

/* Pairs go to and fro between two arrays. */
struct mergesort {
	uint32_t *in_keys, *in_values, *keys[2], *values[2], *cut;
	unsigned int sorted;		/* which of the two has them */
};

/* A power of two of runs, so that each has one to merge with. */
static uint64_t pairs(const struct workload *w)
{
	uint64_t n = MERGE_RUN;

	while (n < w->option[RUNS] * MERGE_RUN)
		n *= 2;
	return n;
}

/* The one of the two that has the result after all passes. */
static unsigned int result(const struct workload *w)
{
	unsigned int at = 0;

	for (uint64_t n = pairs(w); n > MERGE_RUN; n /= 2)
		at = !at;
	return at;
}

static int mergesort_setup(struct workload *w)
{
	struct mergesort *m = w->state;
	uint64_t n = pairs(w), bytes = n * sizeof(uint32_t);
	unsigned int to = result(w);
	int ret;

	ret = workload_alloc(w, (void **)&m->in_keys, bytes, WORKLOAD_IN, "keys to sort");
	if (!ret)
		ret = workload_alloc(w, (void **)&m->in_values, bytes, WORKLOAD_IN, "their values");
	for (unsigned int i = 0; i < 2 && !ret; i++) {
		ret = workload_alloc(w, (void **)&m->keys[i], bytes,
				     i == to ? WORKLOAD_OUT : WORKLOAD_SCRATCH, "keys");
		if (!ret)
			ret = workload_alloc(w, (void **)&m->values[i], bytes,
					     i == to ? WORKLOAD_OUT : WORKLOAD_SCRATCH, "values");
	}
	if (!ret)
		ret = workload_alloc(w, (void **)&m->cut, 2 * n / MERGE_PIECE * sizeof(uint32_t),
				     WORKLOAD_SCRATCH, "cuts");
	if (ret)
		return ret;
	/* Many keys are there twice. */
	fill_words(w, 0, m->in_keys, n, n);
	for (uint64_t i = 0; i < n; i++)
		m->in_values[i] = (uint32_t)i;
	return 0;
}

static int mergesort_go(struct workload *w)
{
	struct mergesort *m = w->state;
	uint32_t n = (uint32_t)pairs(w), samples = n / MERGE_PIECE;
	unsigned int from = 0;
	int ret;

	ret = WORKLOAD_LAUNCH(w, "mergesort_run", n / MERGE_RUN, MERGE_RUN / 2,
			      gpuemu_arg_ptr(m->in_keys), gpuemu_arg_ptr(m->in_values),
			      gpuemu_arg_ptr(m->keys[0]), gpuemu_arg_ptr(m->values[0]));
	for (uint32_t run = MERGE_RUN; run < n && !ret; run *= 2, from = !from) {
		ret = WORKLOAD_LAUNCH(w, "mergesort_rank", DIV_ROUND_UP(samples, MERGE_RANK),
				      MERGE_RANK, gpuemu_arg_ptr(m->keys[from]),
				      gpuemu_arg_ptr(m->cut), gpuemu_arg_u32(run),
				      gpuemu_arg_u32(samples));
		if (!ret)
			ret = WORKLOAD_LAUNCH(w, "mergesort_merge", samples, MERGE_PIECE,
					      gpuemu_arg_ptr(m->keys[from]),
					      gpuemu_arg_ptr(m->values[from]),
					      gpuemu_arg_ptr(m->keys[!from]),
					      gpuemu_arg_ptr(m->values[!from]),
					      gpuemu_arg_ptr(m->cut), gpuemu_arg_u32(run));
	}
	return ret ? ret : workload_synchronize(w);
}

/* By counting: where each key's first place is, and then one place after another. */
static void sort(const uint32_t *keys, uint64_t n, uint32_t *place, uint32_t *to_keys,
		 uint32_t *to_values)
{
	for (uint64_t i = 0; i < n; i++)
		place[keys[i] + 1]++;
	for (uint64_t i = 0; i < n; i++)
		place[i + 1] += place[i];
	for (uint64_t i = 0; i < n; i++) {
		uint32_t at = place[keys[i]]++;

		to_keys[at] = keys[i];
		to_values[at] = (uint32_t)i;
	}
}

static int mergesort_verify(struct workload *w)
{
	struct mergesort *m = w->state;
	uint64_t n = pairs(w);
	unsigned int at = result(w);
	uint32_t *keys = check_memory(w, 4 * n + 1, sizeof(*keys));
	int ret = fill_check_words(w, "keys to sort", 0, m->in_keys, n, n);

	for (uint64_t i = 0; i < n && !ret; i++)
		if (m->in_values[i] != i)
			ret = err_set(&w->err, -EBADMSG, "value %u is not its own number",
				      (unsigned int)i);
	if (!ret && !keys)
		ret = -ENOMEM;
	if (!ret) {
		fill_words(w, 0, keys, n, n);
		sort(keys, n, keys + 3 * n, keys + n, keys + 2 * n);
		ret = check_words(w, "keys", 0, m->keys[at], keys + n, n);
	}
	if (!ret)
		ret = check_words(w, "values", 0, m->values[at], keys + 2 * n, n);
	free(keys);
	return ret;
}

const struct workload_ops workload_mergesort = {
	.name = "mergesort",
	.help = "sorts pairs by merging (CUDA SDK's mergeSort)",
	.exercises = "shared memory, searches that part ways, scattered stores, passes over all",
	.options = {
		[RUNS] = { "runs", 256, 1, 1u << 16,
			   "of 1024 pairs, rounded up to a power of two; 24 bytes a pair",
			   .quick = 32, .tiny = 2 },
	},
	.state_bytes = sizeof(struct mergesort),
	.setup = mergesort_setup,
	.run = mergesort_go,
	.verify = mergesort_verify,
};
#endif
