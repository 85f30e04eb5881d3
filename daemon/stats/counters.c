// SPDX-License-Identifier: GPL-2.0
/*
 * Arithmetic on counters: sums, differences, shares. What counts them is sm and
 * mem, what puts them together is gpu; json.c and samples.c print.
 */
#include "stats/json.h"

#include <string.h>

#define WORDS(type)	(sizeof(type) / sizeof(uint64_t))
_Static_assert(sizeof(struct sm_counters) % sizeof(uint64_t) == 0, "counters alone");
_Static_assert(sizeof(struct memory_counters) % sizeof(uint64_t) == 0, "counters alone");
_Static_assert(sizeof(struct gpu_counters) == sizeof(uint64_t) +
	       sizeof(struct sm_counters) + sizeof(struct fragmentation_counters) +
	       sizeof(struct memory_counters) + sizeof(struct translation_counters) +
	       sizeof(struct remote_counters) +
	       sizeof(struct paging_counters), "no padding");

const char *const stall_names[STALLS] = {
	[STALL_ISSUED] = "issued",
	[STALL_PIPELINE] = "pipeline",
	[STALL_LONG] = "long_latency",
	[STALL_SHORT] = "short_latency",
	[STALL_IBUFFER] = "ibuffer",
	[STALL_BARRIER] = "barrier",
	[STALL_FAR_FAULT] = "far_fault",
	[STALL_NO_WARP] = "no_warp",
	[STALL_SWAPPED] = "swapped_out",
	[STALL_HELD] = "held",
};

const char *const ldst_stall_names[LDST_STALLS] = {
	[LDST_CONFLICTS] = "conflicts",
	[LDST_PORT] = "port",
	[LDST_LINES] = "lines",
	[LDST_L1C] = "l1c",
	[LDST_L1D] = "l1d",
	[LDST_L1T] = "l1t",
	[LDST_MEMORY] = "memory",
	[LDST_PAGES] = "pages",
};

const char *const sm_unit_names[SM_UNITS] = {
	[UNIT_SP] = "sp",
	[UNIT_SFU] = "sfu",
	[UNIT_DP] = "dp",
	[UNIT_LDST] = "ldst",
};

void stats_add(void *to, const void *what, size_t bytes)
{
	uint64_t *sum = to;
	const uint64_t *add = what;

	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
		sum[i] += add[i];
}

void gpu_counters_since(const struct gpu_counters *after, const struct gpu_counters *before,
			struct gpu_counters *d)
{
	uint64_t words[3][WORDS(struct gpu_counters)];

	memcpy(words[0], after, sizeof(*after));
	memcpy(words[1], before, sizeof(*before));
	for (size_t i = 0; i < WORDS(struct gpu_counters); i++)
		words[2][i] = words[0][i] - words[1][i];
	memcpy(d, words[2], sizeof(*d));
	/* The largest of an interval cannot be told from those of before and after. */
	d->memory.latency_max = after->memory.latency_max;
}

const char *stats_share_missing(const struct gpu_counters *sum, const struct gpu_counters *gpu)
{
	struct gpu_counters s = *sum, g = *gpu;

	/* Times and a maximum are no sums. */
	s.memory.dram_cycles = g.memory.dram_cycles;
	s.memory.latency_max = g.memory.latency_max;
	if (memcmp(&s.memory, &g.memory, sizeof(s.memory)))
		return "memory";
	if (memcmp(&s.translation, &g.translation, sizeof(s.translation)))
		return "translation";
	if (memcmp(&s.remote, &g.remote, sizeof(s.remote)))
		return "remote";
	/* Pages that programs and access counters ask for are no kernel's. */
	if (s.paging.far_faults != g.paging.far_faults || s.paging.batches > g.paging.batches ||
	    s.paging.far_waits != g.paging.far_waits ||
	    s.paging.far_wait_cycles != g.paging.far_wait_cycles ||
	    s.paging.prefetched_pages > g.paging.prefetched_pages ||
	    s.paging.evicted_pages > g.paging.evicted_pages ||
	    s.paging.h2d_bytes > g.paging.h2d_bytes || s.paging.d2h_bytes > g.paging.d2h_bytes ||
	    s.paging.h2d_busy > g.paging.h2d_busy || s.paging.d2h_busy > g.paging.d2h_busy)
		return "paging";
	return NULL;
}

bool stats_stalls_add_up(const struct gpu_counters *c, const struct gpu_spec *spec)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < STALLS; i++)
		sum += c->sm.stalls[i];
	return sum == c->cycles * spec->sms * spec->schedulers;
}

double counters_ratio(double x, double y)
{
	return y > 0 ? x / y : 0;
}

double counters_unit_share(const struct gpu_counters *c, const struct gpu_spec *spec,
			   enum sm_unit unit)
{
	const uint64_t units[SM_UNITS] = {
		[UNIT_SP] = spec->units_sp,
		[UNIT_SFU] = spec->units_sfu,
		[UNIT_DP] = spec->units_dp,
		[UNIT_LDST] = 1,
	};

	return counters_ratio((double)c->sm.busy[unit],
			      (double)c->cycles * (double)(spec->sms * units[unit]));
}

double counters_register_share(const struct gpu_counters *c, const struct gpu_spec *spec)
{
	return counters_ratio((double)c->sm.registers,
			      (double)c->cycles * (double)(spec->sms * spec->registers));
}

double counters_shared_share(const struct gpu_counters *c, const struct gpu_spec *spec)
{
	return counters_ratio((double)c->sm.shared_bytes,
			      (double)c->cycles * (double)(spec->sms * spec->shared_bytes));
}

/* The tags take one access a cycle. */
double counters_l1d_share(const struct gpu_counters *c, const struct gpu_spec *spec)
{
	return counters_ratio((double)(c->sm.l1d.reads + c->sm.l1d.writes),
			      (double)c->cycles * (double)spec->sms);
}

double counters_l2_share(const struct gpu_counters *c, const struct gpu_spec *spec)
{
	const struct cache_counters *own = &c->memory.l2, *others = &c->memory.l2_background;

	return counters_ratio((double)(own->reads + own->writes + others->reads + others->writes),
			      (double)c->cycles * (double)spec->l2_slices);
}

double counters_dram_share(const struct gpu_counters *c, const struct gpu_spec *spec)
{
	return counters_ratio((double)c->memory.dram_busy,
			      (double)c->memory.dram_cycles * (double)spec->dram_channels);
}
