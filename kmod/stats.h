/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters, of a VA space and of the device. Counting is one instruction on this
 * CPU's copy and takes no lock, so it may stand anywhere; reading adds the
 * copies up. netlink.c reads them.
 */
#ifndef _GPUEMU_STATS_H
#define _GPUEMU_STATS_H

#include <linux/percpu.h>
#include <linux/spinlock.h>

enum gpuemu_stat {
#define X(NAME, scope, kind) GPUEMU_STAT_##NAME,
#include "stats.def"
#undef X
	GPUEMU_STATS
};

struct gpuemu_counters {
	u64 value[GPUEMU_STATS];
};

/**
 * struct gpuemu_stats - the counters of one VA space, or of the device
 * @now: what was counted, a copy for each CPU; never written by a reader
 * @lock: see locks.h; protects @base
 * @base: what the sums were at the last reset
 */
struct gpuemu_stats {
	struct gpuemu_counters __percpu *now;
	spinlock_t lock;
	struct gpuemu_counters base;
};

int gpuemu_stats_init(struct gpuemu_stats *stats);
void gpuemu_stats_destroy(struct gpuemu_stats *stats);
void gpuemu_stats_read(struct gpuemu_stats *stats, struct gpuemu_counters *sum);
void gpuemu_stats_reset(struct gpuemu_stats *stats);

/* Counts for the device alone. */
#define gpuemu_count_dev(dev, NAME, n) \
	this_cpu_add((dev)->stats.now->value[GPUEMU_STAT_##NAME], n)

/* Counts for a VA space alone: the device counts it another way. */
#define gpuemu_count_client(space, NAME, n) \
	this_cpu_add((space)->stats.now->value[GPUEMU_STAT_##NAME], n)

/* Counts for a VA space, and so for the device. */
#define gpuemu_count(space, NAME, n) do { \
	struct gpuemu_space *__space = (space); \
	u64 __n = (n); \
	\
	gpuemu_count_client(__space, NAME, __n); \
	gpuemu_count_dev(__space->dev, NAME, __n); \
} while (0)

#endif
