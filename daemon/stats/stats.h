/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters, histograms and the JSON they become. Deterministic: the same
 * numbers give the same bytes.
 */
#ifndef GPUEMU_STATS_STATS_H
#define GPUEMU_STATS_STATS_H

#include "base/base.h"

/*
 * Log-linear histogram: 64 buckets an octave, so a percentile is within 1.6%
 * of the exact value; count, sum, min and max are exact.
 */
#define HISTOGRAM_SUB	64u
#define HISTOGRAM_BUCKETS ((64u - 6u + 1u) * HISTOGRAM_SUB)

struct histogram {
	uint64_t count, sum, min, max;
	uint32_t bucket[HISTOGRAM_BUCKETS];
};

void histogram_reset(struct histogram *h);
void histogram_add(struct histogram *h, uint64_t value);
void histogram_merge(struct histogram *h, const struct histogram *from);
/*
 * Upper bound, but no more than max, of the smallest bucket with at least permille/1000 of the
 * values at or below; 0 when empty.
 */
uint64_t histogram_permille(const struct histogram *h, unsigned int permille);

/* Exact percentile of an array (sorts it). permille 500 = median. 0 when empty. */
uint64_t samples_permille(uint64_t *values, size_t n, unsigned int permille);

struct json_object;	/* json-c */
/* {"count":..,"p50":..,"p90":..,"p99":..,"max":..}; NULL: no memory. */
struct json_object *histogram_json(const struct histogram *h);
/* A double with six significant decimals, printed the same everywhere; 0 if it is not finite. */
struct json_object *stats_json_ratio(double value);

/* Where each scheduler-cycle of an SM went (design section 7). The sum is the total. */
enum stall {
	STALL_ISSUED,		/* not a stall: a warp instruction was issued */
	STALL_PIPELINE,		/* a ready instruction found its unit busy */
	STALL_LONG,		/* every warp waits: at least one on a long-latency load */
	STALL_SHORT,		/* every warp waits on arithmetic results */
	STALL_IBUFFER,		/* nothing fetched */
	STALL_BARRIER,		/* every warp waits at a barrier */
	STALL_FAR_FAULT,	/* every warp waits, at least one on a far fault */
	STALL_NO_WARP,		/* no warp is resident */
	STALLS
};
extern const char *const stall_names[STALLS];

/* One kernel launch. */
struct kernel_stats {
	char name[128];
	uint32_t grid[3], block[3];
	uint32_t regs, smem, ctas_per_sm;
	uint32_t local_bytes;		/* a thread */
	uint32_t spill_store_bytes, spill_load_bytes;	/* of the instructions */
	/* Ran without time: ctas_per_sm, cycles and stalls do not apply. */
	bool functional;
	uint64_t cycles;
	uint64_t warp_instructions, thread_instructions;
	uint64_t stalls[STALLS];	/* summed over SMs and schedulers: cycles * sms * schedulers in all */
};
/* The object of design section 10's kernels[]; NULL: no memory. */
struct json_object *kernel_stats_json(const struct kernel_stats *k);

#endif
