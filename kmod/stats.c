// SPDX-License-Identifier: GPL-2.0
/*
 * The reading and resetting of counters. A reset moves the zero, because the
 * CPUs' copies may be counted up at any moment.
 */
#include <linux/cpumask.h>

#include "stats.h"

static const bool is_gauge[] = {
#define COUNT false
#define GAUGE true
#define X(NAME, scope, kind) \
	[GPUEMU_STAT_##NAME] = kind,
#include "stats.def"
#undef X
#undef COUNT
#undef GAUGE
};

int gpuemu_stats_init(struct gpuemu_stats *stats)
{
	spin_lock_init(&stats->lock);
	memset(&stats->base, 0, sizeof(stats->base));
	stats->now = alloc_percpu_gfp(struct gpuemu_counters,
				      GFP_KERNEL_ACCOUNT);
	return stats->now ? 0 : -ENOMEM;
}

void gpuemu_stats_destroy(struct gpuemu_stats *stats)
{
	free_percpu(stats->now);
	stats->now = NULL;
}

static void add_up(const struct gpuemu_stats *stats,
		   struct gpuemu_counters *sum)
{
	const struct gpuemu_counters *one;
	int cpu, i;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		one = per_cpu_ptr(stats->now, cpu);
		for (i = 0; i < GPUEMU_STATS; i++)
			sum->value[i] += READ_ONCE(one->value[i]);
	}
}

/* What was counted since the last reset; a gauge that is moving is never below 0. */
void gpuemu_stats_read(struct gpuemu_stats *stats, struct gpuemu_counters *sum)
{
	int i;

	spin_lock(&stats->lock);
	add_up(stats, sum);
	for (i = 0; i < GPUEMU_STATS; i++) {
		if (!is_gauge[i])
			sum->value[i] -= stats->base.value[i];
		else if ((s64)sum->value[i] < 0)
			sum->value[i] = 0;
	}
	spin_unlock(&stats->lock);
}

void gpuemu_stats_reset(struct gpuemu_stats *stats)
{
	spin_lock(&stats->lock);
	add_up(stats, &stats->base);
	spin_unlock(&stats->lock);
}
