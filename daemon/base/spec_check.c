// SPDX-License-Identifier: GPL-2.0
/*
 * Combinations of options that no model can be built from, each refused with the
 * key that is wrong. One value's range is spec_set()'s to check, names of
 * policies are their tables' owners'.
 */
#include "base/spec.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR	32u	/* bytes, of L2 and DRAM requests */
#define LINE	128u	/* bytes, of L1I, L1D and L2 */
#define PORTS	64u	/* of one side of the crossbar */
#define DECIDE_MOST	1000000000u	/* ns */

struct number {
	const char *key;
	size_t offset;
};
#define NUMBER(key, field)	{ key, offsetof(struct gpu_spec, field) }

static uint64_t value_of(const struct gpu_spec *spec, const struct number *n)
{
	return *(const uint64_t *)((const char *)spec + n->offset);
}

static int check_powers(const struct gpu_spec *spec, struct err *err)
{
	static const struct number powers[] = {
		NUMBER("l1i.sets", l1i_sets), NUMBER("l1i.line", l1i_line),
		NUMBER("l1c.sets", l1c_sets), NUMBER("l1c.line", l1c_line),
		NUMBER("l1t.sets", l1t_sets),
		NUMBER("l1d.sets", l1d_sets), NUMBER("l1d.line", l1d_line),
		NUMBER("l2.sets", l2_sets), NUMBER("l2.line", l2_line),
		NUMBER("l2.sector", l2_sector), NUMBER("l2.port", l2_port),
		NUMBER("collector.banks", register_banks),
		NUMBER("mem.shared_banks", shared_banks), NUMBER("dram.banks", dram_banks),
		NUMBER("dram.groups", dram_groups), NUMBER("dram.bus", dram_bus),
		NUMBER("dram.burst", dram_burst), NUMBER("dram.data_ratio", dram_ratio),
		NUMBER("dram.interleave", dram_interleave),
	};

	for (size_t i = 0; i < ARRAY_SIZE(powers); i++)
		if (!power_of_two(value_of(spec, &powers[i])))
			return err_set(err, -EINVAL, "%s: %" PRIu64 " is not a power of two",
				       powers[i].key, value_of(spec, &powers[i]));
	return 0;
}

/* A pipeline whose next warp would have to wait for longer than the first one takes. */
static int check_latencies(const struct gpu_spec *spec, struct err *err)
{
#define CLASS(name)	{ #name, offsetof(struct gpu_spec, lat_##name), \
			  offsetof(struct gpu_spec, ini_##name) }
	static const struct {
		const char *name;
		size_t latency, initiation;
	} classes[] = {
		CLASS(move), CLASS(int_add), CLASS(int_minmax), CLASS(int_mul), CLASS(int_mad),
		CLASS(int_div), CLASS(f32_add), CLASS(f32_minmax), CLASS(f32_mul), CLASS(f32_fma),
		CLASS(f32_div), CLASS(f64_add), CLASS(f64_minmax), CLASS(f64_mul), CLASS(f64_fma),
		CLASS(f64_div), CLASS(sfu), CLASS(shuffle),
	};
#undef CLASS

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		uint64_t latency = *(const uint64_t *)((const char *)spec + classes[i].latency);
		uint64_t every = *(const uint64_t *)((const char *)spec + classes[i].initiation);

		if (every > latency + spec->bypass)
			return err_set(err, -EINVAL, "initiation.%s: %" PRIu64
				       " cycles, longer than latency.%s, %" PRIu64,
				       classes[i].name, every, classes[i].name, latency);
	}
	return 0;
}

/* The operand collectors of an SM are bits of a word (sm/limits.h, MAX_COLLECTORS). */
#define COLLECTORS	64u

static int check_sm(const struct gpu_spec *spec, struct err *err)
{
	const uint64_t collectors = spec->collector_sp + spec->collector_sfu + spec->collector_dp +
				    spec->collector_mem;
	static const struct number dp[] = {
		NUMBER("pipe.id_oc_dp", id_oc_dp), NUMBER("pipe.oc_ex_dp", oc_ex_dp),
		NUMBER("collector.dp", collector_dp), NUMBER("collector.dp_in", collector_dp_in),
		NUMBER("collector.dp_out", collector_dp_out),
	};

	if (spec->warps % spec->schedulers)
		return err_set(err, -EINVAL, "sm.warps: %" PRIu64 " is not a multiple of the %"
			       PRIu64 " schedulers (sm.schedulers)", spec->warps, spec->schedulers);
	if (strcmp(spec->slicer_scale, "bandwidth") && strcmp(spec->slicer_scale, "printed") &&
	    strcmp(spec->slicer_scale, "off"))
		return err_set(err, -EINVAL, "slicer.scale: no '%s'; there are: bandwidth, printed, off",
			       spec->slicer_scale);
	if (strcmp(spec->placement, "extents") && strcmp(spec->placement, "sums"))
		return err_set(err, -EINVAL, "sm.placement: no '%s'; there are: extents, sums",
			       spec->placement);
	if (strcmp(spec->mem_order, "fifo") && strcmp(spec->mem_order, "mascar") &&
	    strcmp(spec->mem_order, "vt") && strcmp(spec->mem_order, "reexecute"))
		return err_set(err, -EINVAL, "sm.mem_order: no '%s'; there are: fifo, mascar, vt, reexecute",
			       spec->mem_order);
	if (collectors > COLLECTORS)
		return err_set(err, -EINVAL, "collector.sp, .sfu, .dp and .mem: %" PRIu64
			       " operand collectors together, at most %u", collectors, COLLECTORS);
	if (spec->virtual_warps && spec->virtual_warps < spec->warps)
		return err_set(err, -EINVAL, "sm.virtual_warps: %" PRIu64 " are fewer than the %"
			       PRIu64 " slots (sm.warps); 0 is as many as are needed",
			       spec->virtual_warps, spec->warps);
	if (spec->virtual_ctas && spec->virtual_ctas < spec->ctas)
		return err_set(err, -EINVAL, "sm.virtual_ctas: %" PRIu64 " are fewer than the %"
			       PRIu64 " slots (sm.ctas); 0 is as many as are needed",
			       spec->virtual_ctas, spec->ctas);
	for (size_t i = 0; i < ARRAY_SIZE(dp) && spec->units_dp; i++)
		if (!value_of(spec, &dp[i]))
			return err_set(err, -EINVAL, "%s: 0, but there are %" PRIu64
				       " double precision units (sm.units_dp)", dp[i].key,
				       spec->units_dp);
	return 0;
}

/* Fermi's hash is defined for the sets that Fermi has, of lines of 128 bytes. */
static int check_index(const char *group, const char *index, uint64_t sets, struct err *err)
{
	if (!strcmp(index, "linear"))
		return 0;
	if (strcmp(index, "fermi"))
		return err_set(err, -EINVAL, "%s.index: no '%s'; there are: linear, fermi", group,
			       index);
	if (sets != 32 && sets != 64)
		return err_set(err, -EINVAL, "%s.index: fermi is for 32 or 64 sets, %s.sets is %"
			       PRIu64, group, group, sets);
	return 0;
}

static int check_caches(const struct gpu_spec *spec, struct err *err)
{
	static const struct number whole[] = {
		NUMBER("l1i.line", l1i_line), NUMBER("l1d.line", l1d_line), NUMBER("l2.line", l2_line),
	};
	static const struct number buffers[] = {
		NUMBER("icnt.buffer", icnt_buffer), NUMBER("icnt.injection", icnt_injection),
	};
	uint64_t flits = DIV_ROUND_UP(spec->icnt_header + LINE, spec->icnt_flit);
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		if (value_of(spec, &whole[i]) != LINE)
			return err_set(err, -EINVAL, "%s: %" PRIu64 " bytes; only lines of %u, "
				       "four sectors, are modelled", whole[i].key,
				       value_of(spec, &whole[i]), LINE);
	ret = check_index("l1d", spec->l1d_index, spec->l1d_sets, err);
	if (!ret)
		ret = check_index("l2", spec->l2_index, spec->l2_sets, err);
	if (ret)
		return ret;
	if (strcmp(spec->l2_write_miss, "lazy") && strcmp(spec->l2_write_miss, "fetch"))
		return err_set(err, -EINVAL, "l2.write_miss: no '%s'; there are: lazy, fetch",
			       spec->l2_write_miss);
	if (!strcmp(spec->l2_write_miss, "fetch") && spec->l2_miss_queue < 3)
		return err_set(err, -EINVAL, "l2.miss_queue: %" PRIu64 "; l2.write_miss=fetch sends a "
			       "write, its fetch and a victim: at least 3", spec->l2_miss_queue);
	for (size_t i = 0; i < ARRAY_SIZE(buffers); i++)
		if (value_of(spec, &buffers[i]) < flits)
			return err_set(err, -EINVAL, "%s: %" PRIu64 " flits, a line is %" PRIu64,
				       buffers[i].key, value_of(spec, &buffers[i]), flits);
	return 0;
}

bool spec_decide_ns(const struct gpu_spec *spec, uint64_t *ns)
{
	const char *text = spec->decide;
	char *end;

	*ns = SPEC_DECIDE_MEASURED;
	if (!strcmp(text, "measured"))
		return true;
	if (*text < '0' || *text > '9')
		return false;
	*ns = strtoull(text, &end, 10);
	return !*end && *ns <= DECIDE_MOST;
}

/* Pages; and the crossbar's ports. The page walker has a port of its own. */
static int check_paging(const struct gpu_spec *spec, struct err *err)
{
	uint64_t decide;

	if (spec->page_bytes != 4096 && spec->page_bytes != 65536 && spec->page_bytes != 2097152)
		return err_set(err, -EINVAL, "gmmu.page: %" PRIu64
			       " bytes; there are: 4096, 65536, 2097152", spec->page_bytes);
	if (!spec_decide_ns(spec, &decide))
		return err_set(err, -EINVAL, "paging.decide: '%s' is not 'measured' nor a number of ns "
			       "from 0 to %u", spec->decide, DECIDE_MOST);
	if (spec->counter_bytes != 65536 && spec->counter_bytes != 2097152)
		return err_set(err, -EINVAL, "access_counters.granularity: %" PRIu64
			       " bytes; there are: 65536, 2097152", spec->counter_bytes);
	if (spec->paging && !spec->walk_latency && spec->sms >= PORTS)
		return err_set(err, -EINVAL, "gpu.sms: %" PRIu64 ", but the page walker needs one of the %u"
			       " ports of the crossbar; at most %u, or give gmmu.walk_latency",
			       spec->sms, PORTS, PORTS - 1);
	return 0;
}

/* How many numbers slicer.fixed has; -1: it is no list of them. ctas[] takes KERNEL_SLOTS. */
static int read_fixed(const char *text, unsigned int ctas[KERNEL_SLOTS])
{
	int n = 0;

	for (;;) {
		char *end;
		unsigned long v;

		if (n == (int)KERNEL_SLOTS || *text < '0' || *text > '9')
			return -1;
		v = strtoul(text, &end, 10);
		if (!v || v > UINT16_MAX)
			return -1;
		ctas[n++] = (unsigned int)v;
		if (!*end)
			return n;
		if (*end != ',')
			return -1;
		text = end + 1;
	}
}

unsigned int spec_fixed_ctas(const struct gpu_spec *spec, unsigned int i)
{
	unsigned int ctas[KERNEL_SLOTS];
	int n = read_fixed(spec->slicer_fixed, ctas);

	return n > 0 && i < (unsigned int)n ? ctas[i] : UINT_MAX;
}

static int check_fixed(const struct gpu_spec *spec, struct err *err)
{
	unsigned int ctas[KERNEL_SLOTS];
	bool none = !strcmp(spec->slicer_fixed, "none");

	if (none && !strcmp(spec->dispatch, "fixed"))
		return err_set(err, -EINVAL, "gpu.dispatch: fixed needs the CTAs of each program, as in "
			       "slicer.fixed=4,2");
	if (!none && read_fixed(spec->slicer_fixed, ctas) < 0)
		return err_set(err, -EINVAL, "slicer.fixed: '%s' is not up to %u numbers of CTAs from 1, "
			       "with commas between them, as 4,2", spec->slicer_fixed, KERNEL_SLOTS);
	return 0;
}

/* dram.map against the banks and bytes that it has to address. */
static int check_map(const struct gpu_spec *spec, struct err *err)
{
	const struct {
		char letter;
		const char *what;
		unsigned int bits;
	} need[] = {
		{ 'B', "dram.banks", log2_of(spec->dram_banks) },
		{ 'S', "dram.bus x dram.burst", log2_of(spec->dram_bus * spec->dram_burst) },
	};
	const char *map = spec->dram_map;

	if (map[strspn(map, "RBCS")] || !strchr(map, 'R'))
		return err_set(err, -EINVAL, "dram.map: '%s' is not made of R (at least one), B, C and S",
			       map);
	for (size_t i = 0; i < ARRAY_SIZE(need); i++) {
		unsigned int bits = 0;

		for (const char *c = map; *c; c++)
			bits += *c == need[i].letter;
		if (bits != need[i].bits)
			return err_set(err, -EINVAL, "dram.map: '%s' has %u %c, %s needs %u", map,
				       bits, need[i].letter, need[i].what, need[i].bits);
	}
	if (strspn(map + strcspn(map, "S"), "S") != need[1].bits || map[strlen(map) - 1] != 'S')
		return err_set(err, -EINVAL, "dram.map: '%s' does not end in its S", map);
	return 0;
}

static int check_dram(const struct gpu_spec *spec, struct err *err)
{
	uint64_t each = spec->l2_slices / spec->dram_channels;

	if (spec->l2_slices % spec->dram_channels || !power_of_two(each))
		return err_set(err, -EINVAL, "l2.slices: %" PRIu64 " is not 1, 2, 4, .. times the %"
			       PRIu64 " channels (dram.channels)", spec->l2_slices,
			       spec->dram_channels);
	if (each > spec->dram_banks)
		return err_set(err, -EINVAL, "l2.slices: %" PRIu64 " for each channel, which has %"
			       PRIu64 " banks (dram.banks)", each, spec->dram_banks);
	if (spec->dram_interleave < spec->l2_line)
		return err_set(err, -EINVAL, "dram.interleave: %" PRIu64
			       " bytes, less than a line of L2", spec->dram_interleave);
	if (spec->dram_bus * spec->dram_burst < SECTOR)
		return err_set(err, -EINVAL, "dram.burst: a column command moves %" PRIu64
			       " bytes, less than a sector of %u", spec->dram_bus * spec->dram_burst,
			       SECTOR);
	if (spec->dram_burst < spec->dram_ratio)
		return err_set(err, -EINVAL, "dram.burst: %" PRIu64
			       " transfers, less than dram.data_ratio has in a cycle, %" PRIu64,
			       spec->dram_burst, spec->dram_ratio);
	if (spec->dram_groups > spec->dram_banks)
		return err_set(err, -EINVAL, "dram.groups: %" PRIu64 " of %" PRIu64
			       " banks (dram.banks)", spec->dram_groups, spec->dram_banks);
	if (spec->dram_ccdl < spec->dram_ccd)
		return err_set(err, -EINVAL, "dram.ccdl: %" PRIu64 ", less than dram.ccd, %" PRIu64,
			       spec->dram_ccdl, spec->dram_ccd);
	if (spec->dram_rcd <= spec->dram_wl)
		return err_set(err, -EINVAL, "dram.rcd: %" PRIu64 ", not above dram.wl, %" PRIu64,
			       spec->dram_rcd, spec->dram_wl);
	if (spec->dram_wl > spec->dram_cl + spec->dram_burst / spec->dram_ratio)
		return err_set(err, -EINVAL, "dram.wl: %" PRIu64
			       ", longer than a read takes (dram.cl %" PRIu64 " and the burst)",
			       spec->dram_wl, spec->dram_cl);
	if (spec->dram_rc < spec->dram_ras)
		return err_set(err, -EINVAL, "dram.rc: %" PRIu64 ", less than dram.ras, %" PRIu64,
			       spec->dram_rc, spec->dram_ras);
	return check_map(spec, err);
}

int spec_check(const struct gpu_spec *spec, struct err *err)
{
	int ret = check_powers(spec, err);

	if (!ret)
		ret = check_latencies(spec, err);
	if (!ret)
		ret = check_sm(spec, err);
	if (!ret)
		ret = check_caches(spec, err);
	if (!ret)
		ret = check_paging(spec, err);
	if (!ret)
		ret = check_fixed(spec, err);
	return ret ? ret : check_dram(spec, err);
}
