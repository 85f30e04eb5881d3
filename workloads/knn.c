// SPDX-License-Identifier: GPL-2.0
/*
 * knn: the records nearest to a place: a launch computes each record's distance, and the CPU
 * picks the k smallest (nn in Rodinia, Che et al., IISWC 2009). Two loads, a square root and a
 * store a thread: nothing is used twice.
 */
#define KNN_BLOCK	256

#ifdef GPUEMU_DEVICE
#include "device.h"

struct place {
	float lat, lng;
};

KERNEL knn(const struct place *records, float *distance, int n, float lat, float lng)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	float dlat, dlng;

	if (i >= n)
		return;
	dlat = records[i].lat - lat;
	dlng = records[i].lng - lng;
	distance[i] = __builtin_sqrtf(fmaf(dlat, dlat, dlng * dlng));
}

#else
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "fill.h"

enum { RECORDS, NEAREST };

#define KNN_LAT	30.0f
#define KNN_LNG	90.0f

struct knn {
	float *records, *distance;	/* pairs of latitude and longitude */
};

static int knn_setup(struct workload *w)
{
	struct knn *k = w->state;
	uint64_t n = w->option[RECORDS];
	int ret;

	ret = workload_alloc(w, (void **)&k->records, 2 * n * sizeof(float), WORKLOAD_IN,
			     "records");
	if (!ret)
		ret = workload_alloc(w, (void **)&k->distance, n * sizeof(float), WORKLOAD_OUT,
				     "distance");
	if (!ret)
		fill_floats(w, 0, k->records, 2 * n, 0, 180);
	return ret;
}

static int knn_run(struct workload *w)
{
	struct knn *k = w->state;
	uint32_t n = (uint32_t)w->option[RECORDS];
	int ret;

	ret = WORKLOAD_LAUNCH(w, "knn", DIV_ROUND_UP(n, KNN_BLOCK), KNN_BLOCK,
			      gpuemu_arg_ptr(k->records), gpuemu_arg_ptr(k->distance),
			      gpuemu_arg_s32((int32_t)n), gpuemu_arg_f32(KNN_LAT),
			      gpuemu_arg_f32(KNN_LNG));
	return ret ? ret : workload_synchronize(w);
}

/* The k smallest by insertion, the first of equal ones first. */
static void nearest(const float *distance, uint64_t n, uint64_t *found, uint64_t k)
{
	uint64_t have = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = have;

		if (have == k && distance[i] >= distance[found[k - 1]])
			continue;
		while (at && distance[found[at - 1]] > distance[i])
			at--;
		have = MIN(have + 1, k);
		for (uint64_t j = have - 1; j > at; j--)
			found[j] = found[j - 1];
		found[at] = i;
	}
}

static int knn_verify(struct workload *w)
{
	struct knn *k = w->state;
	uint64_t n = w->option[RECORDS], most = MIN(w->option[NEAREST], n);
	uint64_t *found;
	float *want;
	int ret = fill_check(w, "records", 0, k->records, 2 * n, 0, 180);

	if (ret)
		return ret;
	want = check_memory(w, n, sizeof(float));
	found = check_memory(w, 2 * most, sizeof(*found));
	ret = want && found ? 0 : -ENOMEM;
	for (uint64_t i = 0; i < n && !ret; i++) {
		float dlat = k->records[2 * i] - KNN_LAT, dlng = k->records[2 * i + 1] - KNN_LNG;

		want[i] = sqrtf(fmaf(dlat, dlat, dlng * dlng));
	}
	if (!ret) {
		nearest(k->distance, n, found, most);
		nearest(want, n, found + most, most);
		for (uint64_t i = 0; i < most && !ret; i++)
			if (found[i] != found[most + i])
				ret = err_set(&w->err, -EBADMSG, "nearest %" PRIu64 " is %" PRIu64
					      ", the CPU says %" PRIu64, i, found[i], found[most + i]);
	}
	if (!ret)
		ret = check_floats(w, "distance", 0, k->distance, want, n);
	free(want);
	free(found);
	return ret;
}

const struct workload_ops workload_knn = {
	.name = "knn",
	.help = "the records nearest to a place (nn of Rodinia)",
	.exercises = "streaming without reuse, square roots, few registers",
	.options = {
		[RECORDS] = { "records", 1 << 20, 1, 1u << 28, "12 bytes each",
			      .quick = 256 << 10, .tiny = 9001 },
		[NEAREST] = { "nearest", 10, 1, 1000, "records to find" },
	},
	.state_bytes = sizeof(struct knn),
	.setup = knn_setup,
	.run = knn_run,
	.verify = knn_verify,
};
#endif
