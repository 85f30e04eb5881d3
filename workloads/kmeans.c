// SPDX-License-Identifier: GPL-2.0
/*
 * kmeans: Lloyd's clustering (IEEE Trans. Information Theory 28, 1982), as Che et
 * al. lay it out ("Rodinia", IISWC 2009): the points are transposed once, so that a
 * warp reads one feature of 32 points at a time; then, in each iteration, a kernel
 * gives each point its nearest centre, a second adds up each cluster's points in
 * shared memory, and the CPU divides.
 */
#define KM_BLOCK	256
#define KM_CTAS		60	/* that add up */
#define KM_SUMS		2048	/* sums and counts of all clusters, at most */

#ifdef GPUEMU_DEVICE
#include "device.h"

KERNEL kmeans_transpose(const float *points, float *features, uint32_t n, uint32_t width)
{
	uint32_t point = blockIdx.x * blockDim.x + threadIdx.x;

	if (point < n)
		for (uint32_t f = 0; f < width; f++)
			features[(uint64_t)f * n + point] = points[(uint64_t)point * width + f];
}

/* The nearest centre, the first of equals; counts the points that changed theirs. */
KERNEL kmeans_assign(const float *features, const float *centres, uint32_t *member,
		     uint32_t *changed, uint32_t n, uint32_t width, uint32_t clusters)
{
	uint32_t point = blockIdx.x * blockDim.x + threadIdx.x, nearest = 0;
	float least = 0;

	if (point >= n)
		return;
	for (uint32_t c = 0; c < clusters; c++) {
		const float *feature = features + point;
		float distance = 0;

		for (uint32_t f = 0; f < width; f++, feature += n) {
			float off = *feature - centres[c * width + f];

			distance = fmaf(off, off, distance);
		}
		if (c == 0 || distance < least) {
			least = distance;
			nearest = c;
		}
	}
	if (member[point] != nearest) {
		member[point] = nearest;
		atomicAdd(changed, 1);
	}
}

/*
 * tally: the sum of each cluster's each feature, then each cluster's number of points.
 * Features are small integers.
 */
KERNEL kmeans_sum(const float *features, const uint32_t *member, uint32_t *tally,
		  uint32_t n, uint32_t width, uint32_t clusters)
{
	__shared__ uint32_t sum[KM_SUMS];
	uint32_t *count = sum + clusters * width;

	for (uint32_t i = threadIdx.x; i < clusters * (width + 1); i += KM_BLOCK)
		sum[i] = 0;
	__syncthreads();
	for (uint32_t point = blockIdx.x * KM_BLOCK + threadIdx.x; point < n;
	     point += KM_CTAS * KM_BLOCK) {
		const float *feature = features + point;
		uint32_t c = member[point];

		atomicAdd(&count[c], 1);
		for (uint32_t f = 0; f < width; f++, feature += n)
			atomicAdd(&sum[c * width + f], (uint32_t)*feature);
	}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < clusters * (width + 1); i += KM_BLOCK)
		atomicAdd(&tally[i], sum[i]);
}

#else
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { POINTS, FEATURES, CLUSTERS, ITERATIONS };

/*
 * Features are integers of 0 to 15 and centres are rounded to sixteenths, so that sums of
 * squares of up to KM_WIDE features are exact in single precision, in every order.
 */
#define KM_LEVELS	16
#define KM_UNIT		16	/* of a centre's one */
#define KM_WIDE		256

struct kmeans {
	float *points, *features, *centres;
	uint32_t *member;
	/* One buffer, since the CPU reads all three in each iteration. */
	uint32_t *sums, *counts, *changed;
};

static uint64_t cells(const struct workload *w)
{
	return w->option[CLUSTERS] * w->option[FEATURES];
}

static uint64_t tallies(const struct workload *w)
{
	return cells(w) + w->option[CLUSTERS] + 1;
}

/*
 * Clouds around as many places as there are clusters, so wide that they overlap and it takes
 * some iterations to tell them apart.
 */
static void make_point(const struct workload *w, struct rng *rng, uint8_t *point)
{
	uint64_t cloud = rng_below(rng, w->option[CLUSTERS]);
	struct rng place;

	rng_seed(&place, w->seed ^ ~cloud);
	for (uint64_t f = 0; f < w->option[FEATURES]; f++) {
		uint64_t level = rng_below(&place, 3) + rng_below(rng, KM_LEVELS - 2);

		point[f] = (uint8_t)level;
	}
}

/* Which point a cluster's centre is to begin with. */
static uint64_t first_centre(const struct workload *w, uint64_t cluster)
{
	return cluster * (w->option[POINTS] / w->option[CLUSTERS]);
}

static int check_options(struct workload *w)
{
	if (tallies(w) - 1 > KM_SUMS)
		return err_set(&w->err, -EINVAL, "(features + 1) x clusters is %" PRIu64
			       ", no more than %d fit in shared memory", tallies(w) - 1, KM_SUMS);
	if (w->option[POINTS] < w->option[CLUSTERS])
		return err_set(&w->err, -EINVAL, "%" PRIu64 " points for %" PRIu64 " clusters",
			       w->option[POINTS], w->option[CLUSTERS]);
	return 0;
}

static int kmeans_alloc(struct workload *w)
{
	struct kmeans *k = w->state;
	uint64_t n = w->option[POINTS], bytes = n * w->option[FEATURES] * sizeof(float);
	int ret;

	ret = workload_alloc(w, (void **)&k->points, bytes, WORKLOAD_IN, "points");
	if (!ret)
		ret = workload_alloc(w, (void **)&k->features, bytes, WORKLOAD_SCRATCH, "features");
	if (!ret)
		ret = workload_alloc(w, (void **)&k->member, n * sizeof(uint32_t),
				     WORKLOAD_INOUT, "member");
	if (!ret)
		ret = workload_alloc(w, (void **)&k->centres, cells(w) * sizeof(float),
				     WORKLOAD_INOUT, "centres");
	if (!ret)
		ret = workload_alloc(w, (void **)&k->sums, tallies(w) * sizeof(uint32_t),
				     WORKLOAD_SCRATCH, "sums");
	if (ret)
		return ret;
	k->counts = k->sums + cells(w);
	k->changed = k->counts + w->option[CLUSTERS];
	return 0;
}

static int kmeans_setup(struct workload *w)
{
	struct kmeans *k = w->state;
	uint64_t width = w->option[FEATURES], n = w->option[POINTS];
	uint8_t point[KM_WIDE];
	struct rng rng;
	int ret;

	ret = check_options(w);
	if (!ret)
		ret = kmeans_alloc(w);
	if (ret)
		return ret;
	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < n; i++) {
		make_point(w, &rng, point);
		for (uint64_t f = 0; f < width; f++)
			k->points[i * width + f] = point[f];
	}
	for (uint64_t c = 0; c < w->option[CLUSTERS]; c++)
		memcpy(k->centres + c * width, k->points + first_centre(w, c) * width,
		       width * sizeof(float));
	memset(k->member, 0xff, n * sizeof(uint32_t));
	return 0;
}

/* The mean in sixteenths, to the nearest; count is not 0. */
static uint32_t centre_units(uint32_t sum, uint32_t count)
{
	return (uint32_t)((2 * (uint64_t)sum * KM_UNIT + count) / (2 * (uint64_t)count));
}

/* A cluster without points keeps its centre. */
static void move_centres(struct workload *w)
{
	struct kmeans *k = w->state;
	uint64_t width = w->option[FEATURES];

	for (uint64_t i = 0; i < cells(w); i++) {
		uint32_t count = k->counts[i / width];

		if (count)
			k->centres[i] = (float)centre_units(k->sums[i], count) / KM_UNIT;
	}
}

static int kmeans_iterate(struct workload *w)
{
	struct kmeans *k = w->state;
	uint32_t n = (uint32_t)w->option[POINTS], width = (uint32_t)w->option[FEATURES];
	uint32_t clusters = (uint32_t)w->option[CLUSTERS];
	size_t bytes = tallies(w) * sizeof(uint32_t);
	int ret;

	memset(k->sums, 0, bytes);
	ret = workload_to_device(w, k->sums, bytes);
	if (!ret)
		ret = workload_to_device(w, k->centres, cells(w) * sizeof(float));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "kmeans_assign", DIV_ROUND_UP(n, KM_BLOCK), KM_BLOCK,
				      gpuemu_arg_ptr(k->features), gpuemu_arg_ptr(k->centres),
				      gpuemu_arg_ptr(k->member), gpuemu_arg_ptr(k->changed),
				      gpuemu_arg_u32(n), gpuemu_arg_u32(width),
				      gpuemu_arg_u32(clusters));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "kmeans_sum", KM_CTAS, KM_BLOCK,
				      gpuemu_arg_ptr(k->features), gpuemu_arg_ptr(k->member),
				      gpuemu_arg_ptr(k->sums), gpuemu_arg_u32(n),
				      gpuemu_arg_u32(width),
				      gpuemu_arg_u32(clusters));
	if (!ret)
		ret = workload_to_host(w, k->sums, bytes);
	if (!ret)
		ret = workload_to_host(w, k->centres, cells(w) * sizeof(float));
	if (!ret)
		move_centres(w);
	return ret;
}

static int kmeans_run(struct workload *w)
{
	struct kmeans *k = w->state;
	uint32_t n = (uint32_t)w->option[POINTS];
	int ret;

	ret = WORKLOAD_LAUNCH(w, "kmeans_transpose", DIV_ROUND_UP(n, KM_BLOCK), KM_BLOCK,
			      gpuemu_arg_ptr(k->points), gpuemu_arg_ptr(k->features),
			      gpuemu_arg_u32(n), gpuemu_arg_u32((uint32_t)w->option[FEATURES]));
	for (uint64_t i = 0; i < w->option[ITERATIONS] && !ret; i++) {
		ret = kmeans_iterate(w);
		if (!*k->changed)
			break;
	}
	return ret;
}

/*
 * The CPU's way, in integers: of |x - c|^2 in sixteenths squared, |x|^2 is the same for all
 * centres and left out; points are rows, and sums are made as points find their centre.
 */
struct km_reference {
	uint8_t *points;
	uint32_t *member, *tally;
	int32_t *centres;
};

static uint32_t nearest(const struct workload *w, const int32_t *centres, const uint8_t *x)
{
	uint64_t width = w->option[FEATURES], clusters = w->option[CLUSTERS];
	int64_t least = INT64_MAX;
	uint32_t best = 0;

	for (uint32_t c = 0; c < clusters; c++) {
		const int32_t *centre = centres + c * width;
		int64_t distance = 0;

		for (uint64_t f = 0; f < width; f++)
			distance += centre[f] * (centre[f] - 2 * KM_UNIT * x[f]);
		if (distance < least) {
			least = distance;
			best = c;
		}
	}
	return best;
}

static void cluster(const struct workload *w, struct km_reference *r)
{
	uint64_t width = w->option[FEATURES], n = w->option[POINTS];
	uint32_t *counts = r->tally + cells(w), *changed = counts + w->option[CLUSTERS];

	for (uint64_t c = 0; c < w->option[CLUSTERS]; c++)
		for (uint64_t f = 0; f < width; f++)
			r->centres[c * width + f] =
				KM_UNIT * r->points[first_centre(w, c) * width + f];
	memset(r->member, 0xff, n * sizeof(uint32_t));
	*changed = 1;
	for (uint64_t i = 0; i < w->option[ITERATIONS] && *changed; i++) {
		memset(r->tally, 0, tallies(w) * sizeof(uint32_t));
		for (uint64_t p = 0; p < n; p++) {
			const uint8_t *x = r->points + p * width;
			uint32_t c = nearest(w, r->centres, x);

			*changed += c != r->member[p];
			r->member[p] = c;
			counts[c]++;
			for (uint64_t f = 0; f < width; f++)
				r->tally[c * width + f] += x[f];
		}
		for (uint64_t c = 0; c < cells(w); c++)
			if (counts[c / width])
				r->centres[c] = (int32_t)centre_units(r->tally[c],
								      counts[c / width]);
	}
}

static int check_points(struct workload *w, const struct km_reference *r)
{
	struct kmeans *k = w->state;
	uint64_t width = w->option[FEATURES], n = w->option[POINTS];

	for (uint64_t i = 0; i < n * width; i++) {
		float want = r->points[i];
		uint64_t transposed = i % width * n + i / width;

		if (memcmp(&k->points[i], &want, sizeof(want)) ||
		    memcmp(&k->features[transposed], &want, sizeof(want)))
			return err_set(&w->err, -EBADMSG, "feature %" PRIu64 " of point %" PRIu64
				       " is %g, transposed %g, the CPU says %g", i % width,
				       i / width, k->points[i], k->features[transposed], want);
	}
	return 0;
}

static int compare(struct workload *w, const struct km_reference *r)
{
	struct kmeans *k = w->state;
	int ret;

	ret = check_words(w, "member", 0, k->member, r->member, w->option[POINTS]);
	if (!ret)
		ret = check_words(w, "sums, counts, changed", 0, k->sums, r->tally, tallies(w));
	for (uint64_t i = 0; i < cells(w) && !ret; i++)
		ret = check_floats(w, "centres", i, &k->centres[i],
				   &(float){ (float)r->centres[i] / KM_UNIT }, 1);
	return ret ? ret : check_points(w, r);
}

static int kmeans_verify(struct workload *w)
{
	uint64_t n = w->option[POINTS], width = w->option[FEATURES];
	uint32_t *m = check_memory(w, n + tallies(w) + cells(w) + n * width / 4 + 1,
				   sizeof(uint32_t));
	struct km_reference r = {
		.member = m, .tally = m + n, .centres = (int32_t *)(m + n + tallies(w)),
	};
	struct rng rng;
	int ret;

	if (!m)
		return -ENOMEM;
	r.points = (uint8_t *)(r.centres + cells(w));
	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < n; i++)
		make_point(w, &rng, r.points + i * width);
	cluster(w, &r);
	ret = compare(w, &r);
	free(m);
	return ret;
}

const struct workload_ops workload_kmeans = {
	.name = "kmeans",
	.help = "clusters of points with many features (Rodinia)",
	.exercises = "streams that are read again and again, shared-memory atomics, the CPU between launches",
	.options = {
		[POINTS] = { "points", 64 << 10, 1, 1u << 26, "each 8 bytes a feature, and 4",
			     .quick = 10000, .tiny = 401 },
		[FEATURES] = { "features", 34, 1, KM_WIDE, "of a point" },
		[CLUSTERS] = { "clusters", 5, 1, KM_SUMS / 2, "to find; times features + 1, 2048 at most" },
		[ITERATIONS] = { "iterations", 3, 1, 1u << 20, "at most; fewer when no point moves" },
	},
	.state_bytes = sizeof(struct kmeans),
	.setup = kmeans_setup,
	.run = kmeans_run,
	.verify = kmeans_verify,
};
#endif
