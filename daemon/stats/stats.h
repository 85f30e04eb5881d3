/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters, histograms and the JSON they become. Deterministic: the same
 * numbers give the same bytes.
 */
#ifndef GPUEMU_STATS_STATS_H
#define GPUEMU_STATS_STATS_H

#include "base/base.h"
#include "base/spec.h"

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

/* The largest value that the bucket can hold, but no more than max. */
uint64_t histogram_most(const struct histogram *h, unsigned int bucket);

/* Exact percentile of an array (sorts it). permille 500 = median. 0 when empty. */
uint64_t samples_permille(uint64_t *values, size_t n, unsigned int permille);

struct json_object;	/* json-c */
/* {"count":..,"p50":..,"p90":..,"p99":..,"max":..}; NULL: no memory. */
struct json_object *histogram_json(const struct histogram *h);
/*
 * The same with "mean" and "buckets": [[most, how many], ..] of the values up to `most` and above
 * that of the bucket before, where there are any.
 */
struct json_object *histogram_json_full(const struct histogram *h);
/* A double with six significant decimals, printed the same everywhere; 0 if it is not finite. */
struct json_object *stats_json_ratio(double value);

/* Where each scheduler-cycle of an SM went (design section 7). The sum is the total. */
enum stall {
	STALL_ISSUED,		/* not a stall: a warp instruction was issued */
	STALL_PIPELINE,		/* a ready instruction found its unit busy */
	STALL_LONG,		/* every warp waits: at least one on memory */
	STALL_SHORT,		/* every warp waits on arithmetic results */
	STALL_IBUFFER,		/* nothing fetched */
	STALL_BARRIER,		/* every warp waits at a barrier */
	STALL_FAR_FAULT,	/* every warp waits, at least one on a far fault */
	STALL_NO_WARP,		/* no warp is resident */
	/* Where sm.cta is a mechanism. */
	STALL_SWAPPED,		/* its slots are empty, or their CTAs do not run, and some CTA is parked */
	STALL_HELD,		/* every warp waits, at least one for a resource at a phase point */
	STALLS
};
extern const char *const stall_names[STALLS];

/* --- counters -------------------------------------------------------------- */

/*
 * All are uint64_t that only grow (but latency_max), so that any of these structs can be
 * added and subtracted as an array: see stats_add().
 */

/* A cache. What failed to get a line, an MSHR or a place in a queue is no access yet. */
struct cache_counters {
	uint64_t reads, writes;		/* accesses, of all outcomes below */
	uint64_t read_misses, write_misses;	/* a write that allocates nothing is one */
	uint64_t pending_hits;		/* on what is being fetched: no miss, no fetch of its own */
	uint64_t fails;			/* cycles in which an access could not be taken */
};

enum sm_unit { UNIT_SP, UNIT_SFU, UNIT_DP, UNIT_LDST, SM_UNITS };
extern const char *const sm_unit_names[SM_UNITS];

/* Why an instruction stayed in the load/store unit's dispatch register after its first cycle. */
enum ldst_stall {
	LDST_CONFLICTS,		/* shared memory banks */
	LDST_PORT,		/* shared memory's pipeline is full: results find no way out */
	LDST_LINES,		/* one line a cycle */
	LDST_L1C, LDST_L1D,	/* takes none: no MSHR, line or room */
	LDST_MEMORY,		/* no room in the crossbar, for what goes past L1D */
	LDST_PAGES,		/* TLB */
	LDST_L1T,		/* takes none: fragment FIFO, reorder buffer or requests are full */
	LDST_STALLS
};
extern const char *const ldst_stall_names[LDST_STALLS];

/* Bytes that a mechanism of an SM moved behind the program's own accesses. */
struct background_counters {
	uint64_t jobs, bytes;		/* asked for */
	uint64_t shared_bytes;		/* moved through the port of shared memory, */
	uint64_t shared_cycles;		/* and the cycles that it took for them */
	uint64_t shared_waits;		/* in which the head waited for the program's accesses */
	uint64_t sectors[2];		/* of memory: read, written */
	uint64_t memory_waits;		/* cycles in which the head could not be sent */
	uint64_t l1_hits, l1_misses;	/* lines */
};

/*
 * How free registers and shared memory of an SM lay while CTAs of several kernels were there, or
 * had been since it was empty. Sums over these cycles: what was free, and the largest hole.
 */
struct fragmentation_counters {
	uint64_t cycles;
	uint64_t registers_free, registers_hole, shared_free, shared_hole;
	uint64_t refused;		/* CTAs, for which the sum would have been enough */
	uint64_t refused_cycles;	/* since such a CTA was refused, up to the next change */
};

/* One SM, or all of them added up. */
/* Zorua and WLM: warps and register sets that come and go. */
struct virtual_counters {
	uint64_t specifiers;		/* phase specifiers that warps came to; warp_instructions has none */
	uint64_t issued_specifiers;	/* of them, issued: with zorua.specifier=insn all */
	uint64_t grants;		/* times that a warp became schedulable */
	uint64_t forced;		/* of them, beyond the threshold, to keep some schedulable */
	uint64_t swapped_warps;		/* times that one lost its slot */
	uint64_t spills, fills;		/* register sets */
	/* Register sets that instructions name; of them, in swap or still on the way back. */
	uint64_t accesses, swapped;
	/* The same of sets of scratchpad, and the lines of those accesses that were in swap. */
	uint64_t scratchpad_spills, scratchpad_fills;
	uint64_t scratchpad_accesses, scratchpad_swapped, scratchpad_lines;
	uint64_t epochs, percent;	/* of o_thresh; the sum of its values */
	uint64_t lacking;		/* epochs in which warps lacked */
	uint64_t held;			/* warps that are held, at the ends of epochs */
};

/* With sm.activity: what warp instructions use. */
struct activity_counters {
	uint64_t register_reads, register_writes;	/* operands of 32 lanes */
	uint64_t collected;		/* instructions that went through an operand collector */
	uint64_t units[SM_UNITS];	/* instructions of each kind */
	uint64_t look_ups;		/* of mapping tables */
	/* Sums over epochs: 32-bit registers and bytes of shared memory that were accessed, and held. */
	uint64_t epochs;
	uint64_t registers_used, registers_held, shared_used, shared_held;
};

struct sm_counters {
	uint64_t cycles;		/* in which a CTA was resident */
	uint64_t warp_instructions, thread_instructions;
	uint64_t stalls[STALLS];	/* of its schedulers */
	/* Sums over the cycles of what was there, allocated or busy: means are these / cycles. */
	uint64_t ctas, warps;		/* resident */
	uint64_t schedulable_warps;	/* and not done, at a barrier, or waiting for memory to order */
	uint64_t registers, shared_bytes;
	uint64_t busy[SM_UNITS];	/* units whose dispatch register was held */
	uint64_t retired_ctas;
	uint64_t parked_ctas;		/* times that one was */
	/* Instructions that left that register, and stalls: cycles. Together they are busy[UNIT_LDST]. */
	uint64_t ldst_instructions, ldst_stalls[LDST_STALLS];
	uint64_t lines;			/* coalesced global and local transactions */
	uint64_t shared_accesses, shared_conflict_cycles;
	struct cache_counters l1i, l1c, l1d, l1t;
	struct background_counters background;
	struct virtual_counters virtual;
	struct activity_counters activity;
};

/* Counts of the memory behind the SMs. */
struct memory_counters {
	struct cache_counters l2;	/* in sectors, of the program's accesses */
	struct cache_counters l2_background;	/* those of mechanisms of the SMs */
	uint64_t dram_reads, dram_writes;	/* column commands */
	uint64_t dram_requests, dram_activates, dram_precharges;
	uint64_t dram_busy;		/* command cycles with data on the bus, of all channels */
	uint64_t dram_cycles;		/* of the command clock */
	uint64_t icnt_packets[2], icnt_flits[2], icnt_blocked[2];	/* [0] to memory, [1] to the SMs */
	uint64_t latency_sum, latency_count;	/* of sectors, sent to answered, core cycles */
	uint64_t latency_max;
};

/* Pages that come and go. */
struct paging_counters {
	uint64_t far_faults;		/* served, duplicates merged */
	uint64_t batches;
	uint64_t far_waits;		/* accesses that waited for a far fault, ended */
	uint64_t far_wait_cycles;	/* what they waited, summed */
	uint64_t prefetched_pages, evicted_pages;
	uint64_t h2d_bytes, d2h_bytes;	/* that the link carried, to the cycle */
	uint64_t h2d_busy, d2h_busy;	/* cycles in which it did */
};

/* TLBs, and the page walks behind them. */
struct translation_counters {
	uint64_t tlb_hits, tlb_misses;
	uint64_t walks, nacks;
	uint64_t l2tlb_hits, l2tlb_misses, pwc_hits, pwc_misses, pte_reads;
};

/* Transactions with system memory: reads, writes, atomics. */
struct remote_counters {
	uint64_t count[3], bytes[3];
	uint64_t latency_sum;		/* of reads and atomics, core cycles */
	uint64_t busy_ps[2];		/* of the link: to the device, to the host */
};

struct gpu_counters {
	uint64_t cycles;		/* core cycles */
	struct sm_counters sm;		/* of all SMs */
	struct fragmentation_counters fragmentation;	/* of all SMs; of no kernel */
	struct memory_counters memory;
	struct translation_counters translation;
	struct remote_counters remote;
	struct paging_counters paging;
};

/* How things stand, beside what was counted. */
struct gpu_state {
	uint64_t fault_buffer;		/* records that wait in it */
	uint64_t resident_pages;	/* of the VA space, in device memory or on their way */
};

/* to += what. Both are `bytes` of counters, a struct of above. */
void stats_add(void *to, const void *what, size_t bytes);
/* The first counter whose shares (kernels' and nobody's) do not add up to the GPU's; NULL: none. */
const char *stats_share_missing(const struct gpu_counters *sum, const struct gpu_counters *gpu);
/* The differences of `after` and `before`; latency_max is after's. */
void gpu_counters_since(const struct gpu_counters *after, const struct gpu_counters *before,
			struct gpu_counters *d);
/* The stalls' sum is cycles x SMs x schedulers, as it has to be. */
bool stats_stalls_add_up(const struct gpu_counters *c, const struct gpu_spec *spec);

/* --- reports --------------------------------------------------------------- */

/* One kernel launch. */
struct kernel_stats {
	char name[128];
	uint32_t grid[3], block[3];
	uint32_t regs, smem, ctas_per_sm;
	uint32_t local_bytes;		/* a thread */
	uint32_t spill_store_bytes, spill_load_bytes;	/* of the instructions */
	uint32_t stream;		/* 0: the default stream */
	/* Ran without time: ctas_per_sm, start, cycles and counters do not apply. */
	bool functional;
	bool halted;			/* its stream reached its target in it */
	uint64_t halted_cycle;		/* then, of the session's clock */
	uint64_t halted_instructions;	/* that the stream had executed since the target was set */
	uint64_t start, cycles;		/* core cycles of the session's clock */
	uint64_t warp_instructions, thread_instructions;	/* this kernel's own */
	/* Others ran at a time with it. */
	bool concurrent;
	/*
	 * The whole GPU's counts from the kernel's start to its end. A concurrent kernel has its
	 * own part instead, but for times (cycles, dram_cycles). fragmentation is the SMs'.
	 */
	struct gpu_counters gpu;
	uint64_t own_stalls[STALLS];	/* of a concurrent one: sm_kernel_stats.own_stalls */
};

/* Each NULL: no memory. The objects are those of gpuemu-json(7). */
struct json_object *kernel_stats_json(const struct kernel_stats *k, const struct gpu_spec *spec);
/* {"l1i":..,"l1c":..,"l1d":..,"l2":..,"dram":..,"icnt":..,"latency":..,"shared":..} */
struct json_object *stats_memory_json(const struct gpu_counters *c, const struct gpu_spec *spec);
/* {"sp":0..1,..,"registers":..,"shared":..,"l1d":..,"l2":..,"dram":..}, shares of c->cycles. */
struct json_object *stats_utilization_json(const struct gpu_counters *c,
					   const struct gpu_spec *spec);
/* {"jobs":..,"bytes":..,..}; NULL: nothing was moved, or no memory. */
struct json_object *stats_background_json(const struct sm_counters *sm);
/* NULL as well where no mechanism gives slots warp by warp. */
struct json_object *stats_virtual_json(const struct sm_counters *sm);
/* NULL as well where nothing was counted: sm.activity=0. */
struct json_object *stats_activity_json(const struct sm_counters *sm);
/* One object an SM, of an array of nsms. */
struct json_object *stats_sms_json(const struct sm_counters *sms, unsigned int nsms,
				   const struct gpu_spec *spec);

/* --- over time -------------------------------------------------------------- */

/* One row an interval, bounded: what comes when it is full is counted only. */
#define SAMPLES_MAX	8192u

struct samples {
	uint64_t interval;		/* core cycles; 0: none are taken */
	uint64_t due;			/* cycle of the next one */
	uint64_t dropped;
	struct gpu_counters last;	/* at the end of the last row */
	struct sample *rows;
	size_t count, room;
	struct kernel_sample *kernels;	/* rows of kernels that ran beside others */
	size_t nkernels, kernel_room;
};

/* Starts anew at cycle `now`. */
void samples_reset(struct samples *s, uint64_t interval, uint64_t now);
void samples_free(struct samples *s);
/*
 * Ends a row at cycle now, the counters being what they are before that cycle. Called at s->due
 * and, for a last row that is shorter, when a report is made. -ENOMEM.
 */
int samples_take(struct samples *s, uint64_t now, const struct gpu_counters *c,
		 const struct gpu_state *state);
/*
 * A row of a kernel that ran beside others: its own part of the interval's counters. `kernel`
 * gives name, stream and start. -ENOMEM.
 */
int samples_take_kernel(struct samples *s, uint64_t now, const struct gpu_counters *interval,
			const struct kernel_stats *kernel);
/*
 * {"interval":..,"dropped":..,"columns":[..],"rows":[[..],..]}, and with rows of kernels
 * "kernels":{"columns":[..],"rows":[[..],..]}; NULL: no memory.
 */
struct json_object *samples_json(const struct samples *s, const struct gpu_spec *spec);

#endif
