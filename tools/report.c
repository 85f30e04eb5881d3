// SPDX-License-Identifier: GPL-2.0
/*
 * The run report. What the engine counted comes from the library as JSON and
 * is passed on as it is; the tool adds where it ran and whether it verified.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "host.h"
#include "output.h"
#include "report.h"
#include "trace.h"

struct json_object *report_workload(const struct workload *w, int failed)
{
	struct json_object *o = json_object_new_object();
	struct json_object *options = json_object_new_object();

	json_object_object_add(o, "name", json_object_new_string(w->ops->name));
	json_object_object_add(o, "verified", json_object_new_boolean(!failed));
	for (unsigned int i = 0; i < WORKLOAD_OPTIONS && w->ops->options[i].key; i++)
		json_object_object_add(options, w->ops->options[i].key,
				       json_object_new_uint64(w->option[i]));
	json_object_object_add(o, "options", options);
	json_object_object_add(o, "seed", json_object_new_uint64(w->seed));
	json_object_object_add(o, "footprint_bytes", json_object_new_uint64(w->footprint));
	if (failed)
		json_object_object_add(o, "error", json_object_new_string(w->err.text));
	return o;
}

/* Moves key from one object to the other, if it is there. */
static void take(struct json_object *to, struct json_object *from, const char *key)
{
	struct json_object *value;

	if (from && json_object_object_get_ex(from, key, &value))
		json_object_object_add(to, key, json_object_get(value));
}

/* Options whose files decide what the run does. */
static void add_file(struct json_object *files, const char *name)
{
	char digest[DIGEST_TEXT];
	char path[PATH_MAX];
	size_t n;

	if (!name || !strchr(name, '/'))
		return;
	/* A policy's options follow a colon. */
	n = strcspn(name, ":");
	if (n >= sizeof(path))
		return;
	memcpy(path, name, n);
	path[n] = '\0';
	if (!digest_file(path, digest))
		json_object_object_add(files, path, json_object_new_string(digest));
}

/* The run: enough to do it again (gpuemu run --from), and to see that it is the same. */
static struct json_object *run_json(const struct report_facts *f)
{
	struct json_object *o = json_object_new_object(), *words = json_object_new_array();
	struct json_object *files = json_object_new_object();
	unsigned int version = gpuemu_version();
	char text[32], digest[DIGEST_TEXT];

	snprintf(text, sizeof(text), "%u.%u", version >> 16, version & 0xffff);
	json_object_object_add(o, "version", json_object_new_string(text));
	if (!digest_file("/proc/self/exe", digest))
		json_object_object_add(o, "program_sha256", json_object_new_string(digest));
	for (int i = 0; i < f->target->argc; i++)
		json_object_array_add(words, json_object_new_string(f->target->argv[i]));
	json_object_object_add(o, "command", words);
	if (f->ptx) {
		struct digest *d = digest_begin();

		digest_add(d, "ptx", f->ptx, f->ptx_bytes);
		digest_end(d, digest);
		json_object_object_add(o, "ptx_sha256", json_object_new_string(digest));
	}
	add_file(files, f->target->spec.prefetch);
	add_file(files, f->target->spec.evict);
	add_file(files, f->target->recorded);
	add_file(files, f->target->config);
	json_object_object_add(o, "files", files);
	return o;
}

struct json_object *report_json(const struct report_facts *f, const char *subject,
				struct json_object *about, struct err *err)
{
	static const char *const rest[] = { "kernels", "totals", "memory", "utilization", "sms",
					    "fragmentation", "background", "virtual", "activity",
					    "dispatch", "paging", "samples", "faults", "trace" };
	struct json_object *statistics = NULL, *report, *totals;

	if (f->statistics) {
		statistics = trace_split(f->target->trace, f->statistics);
		if (!json_object_is_type(statistics, json_type_object)) {
			json_object_put(statistics);
			json_object_put(about);
			err_set(err, -EPROTO, "the library's statistics are not a JSON object");
			return NULL;
		}
	}
	report = json_object_new_object();
	take(report, statistics, "version");
	/*
	 * Without --config the GPU is the library's default, or the one that gpuemud was given.
	 */
	json_object_object_add(report, "config", json_object_new_string(
		f->target->config ? f->target->config : "default"));
	if (f->backend)
		json_object_object_add(report, "backend", json_object_new_string(f->backend));
	take(report, statistics, "clock");
	take(report, statistics, "clock_mhz");
	take(report, statistics, "settings");
	json_object_object_add(report, "run", run_json(f));
	json_object_object_add(report, "host", host_json());
	json_object_object_add(report, subject, about);
	for (size_t i = 0; i < ARRAY_SIZE(rest); i++)
		take(report, statistics, rest[i]);
	totals = output_at(report, "totals");
	if (totals)
		json_object_object_add(totals, "host_seconds", output_decimal(f->host_seconds, 6));
	json_object_put(statistics);
	return report;
}

/* --- text ------------------------------------------------------------------- */

static uint64_t count(struct json_object *o, const char *path)
{
	return json_object_get_uint64(output_at(o, path));
}

static const char *dim(char text[48], struct json_object *o, const char *path)
{
	struct json_object *d = output_at(o, path);
	uint64_t v[3] = { 1, 1, 1 };

	for (size_t i = 0; i < 3 && d && i < json_object_array_length(d); i++)
		v[i] = json_object_get_uint64(json_object_array_get_idx(d, i));
	if (v[1] == 1 && v[2] == 1)
		snprintf(text, 48, "%" PRIu64, v[0]);
	else
		snprintf(text, 48, "%" PRIu64 ",%" PRIu64 ",%" PRIu64, v[0], v[1], v[2]);
	return text;
}

/*
 * "far_fault 71%, long_latency 12%, issued 9%": the cycles of SMs with a warp by cause, the
 * largest first, those of at least 1%; then the share of all cycles in which SMs had no
 * warp.
 */
static void print_stalls(FILE *out, struct json_object *stalls)
{
	const char *separator = "    scheduler cycles: ";
	uint64_t total = 0, printed = 0, idle = count(stalls, "no_warp");

	if (!stalls)
		return;
	{
		json_object_object_foreach(stalls, key, value) {
			if (strcmp(key, "no_warp"))
				total += json_object_get_uint64(value);
		}
	}
	for (;;) {
		const char *name = NULL;
		uint64_t largest = 0;
		unsigned int index = 0, which = 0;

		json_object_object_foreach(stalls, key, value) {
			uint64_t v = json_object_get_uint64(value);

			if (index < 64 && !(printed >> index & 1) && v > largest &&
			    strcmp(key, "no_warp")) {
				largest = v;
				name = key;
				which = index;
			}
			index++;
		}
		if (!name || largest * 100 < total)
			break;
		fprintf(out, "%s%s %.0f%%", separator, name,
			100.0 * (double)largest / (double)total);
		separator = ", ";
		printed |= 1ull << which;
	}
	if (printed && idle * 100 >= total + idle)
		fprintf(out, "; no warp on an SM in %.0f%% of all",
			100.0 * (double)idle / (double)(total + idle));
	if (printed)
		fputc('\n', out);
}

/* "16/24": bytes that the spills' stores and loads move; "none". */
static const char *spills(char text[48], struct json_object *k, const char *path)
{
	uint64_t stores = count(k, "spill_store_bytes"), loads = count(k, "spill_load_bytes");

	(void)path;
	if (!stores && !loads)
		return "none";
	snprintf(text, 48, "%" PRIu64 "/%" PRIu64, stores, loads);
	return text;
}

static const char *integer(char text[48], struct json_object *k, const char *path)
{
	snprintf(text, 48, "%" PRIu64, count(k, path));
	return text;
}

static const char *decimal(char text[48], struct json_object *k, const char *path)
{
	snprintf(text, 48, "%.3f", output_number(k, path));
	return text;
}

static const struct column {
	const char *title, *path;
	int width;
	const char *(*cell)(char text[48], struct json_object *k, const char *path);
} columns[] = {
	{ "grid", "grid", 10, dim },
	{ "block", "block", 8, dim },
	{ "regs", "regs", 5, integer },
	{ "spills", "spill_store_bytes", 7, spills },
	{ "shared", "smem", 7, integer },
	{ "CTAs/SM", "ctas_per_sm", 8, integer },
	{ "cycles", "cycles", 11, integer },
	{ "warp instr", "warp_instructions", 11, integer },
	{ "thread instr", "thread_instructions", 13, integer },
	{ "IPC", "ipc", 8, decimal },
};

/* "L1D 4096 accesses, 25.0% missed" */
static void print_cache(FILE *out, const char *before, const char *name, struct json_object *c)
{
	uint64_t accesses = count(c, "accesses");

	fprintf(out, "%s%s %" PRIu64 " accesses, %.1f%% missed", before, name, accesses,
		accesses ? 100.0 * (double)count(c, "misses") / (double)accesses : 0.0);
}

/* A kernel's share of caches, DRAM and pages, if it ran beside others. */
static void print_own(FILE *out, struct json_object *k)
{
	struct json_object *m = output_at(k, "memory"), *p = output_at(k, "paging");
	char a[24], b[24];

	if (!output_has(k, "concurrent") || !m)
		return;
	print_cache(out, "    ", "L1D", output_at(m, "l1d"));
	print_cache(out, "; ", "L2", output_at(m, "l2"));
	fprintf(out, "; DRAM %" PRIu64 " reads, %" PRIu64 " writes", count(m, "dram.reads"),
		count(m, "dram.writes"));
	if (p)
		fprintf(out, "; far faults %" PRIu64 ", moved %s to the GPU, %s back",
			count(p, "far_faults"), output_bytes(a, count(p, "h2d_bytes")),
			output_bytes(b, count(p, "d2h_bytes")));
	fputc('\n', out);
}

/* The first kernel decides which columns there are: without time there are none of times. */
static void print_kernels(FILE *out, struct json_object *kernels)
{
	struct json_object *first;
	char text[48];

	if (!kernels || !json_object_array_length(kernels))
		return;
	first = json_object_array_get_idx(kernels, 0);
	fprintf(out, "  %-16s", "kernel");
	for (size_t j = 0; j < ARRAY_SIZE(columns); j++)
		if (output_has(first, columns[j].path))
			fprintf(out, " %*s", columns[j].width, columns[j].title);
	fputc('\n', out);
	for (size_t i = 0; i < json_object_array_length(kernels); i++) {
		struct json_object *k = json_object_array_get_idx(kernels, i);

		fprintf(out, "  %-16s", output_string(k, "name"));
		for (size_t j = 0; j < ARRAY_SIZE(columns); j++)
			if (output_has(first, columns[j].path))
				fprintf(out, " %*s", columns[j].width,
					columns[j].cell(text, k, columns[j].path));
		fputc('\n', out);
		print_stalls(out, output_at(k, "stalls"));
		print_own(out, k);
	}
}

static void print_prefetch(FILE *out, struct json_object *p)
{
	if (!count(p, "prefetched_pages"))
		return;
	fprintf(out, "  prefetch %s: accuracy %.0f%%, coverage %.0f%%, in time %.0f%%, "
		"evicted unused %.0f%%\n", output_string(p, "prefetch.policy"),
		100 * output_number(p, "prefetch.accuracy"),
		100 * output_number(p, "prefetch.coverage"),
		100 * output_number(p, "prefetch.timeliness"),
		100 * output_number(p, "prefetch.pollution"));
}

static void print_returns(FILE *out, struct json_object *p)
{
	if (!count(p, "evicted_pages"))
		return;
	fprintf(out, "  evict %s: %" PRIu64 " far faults on evicted pages, %" PRIu64
		" pages came back twice or more, %" PRIu64 " evicted ahead of need\n",
		output_string(p, "evict.policy"), count(p, "evict.returned_pages"),
		count(p, "evict.thrashing_pages"), count(p, "evict.pre_evicted_pages"));
}

/* The effects of advice, if the program gave any. */
static void print_advice(FILE *out, struct json_object *p)
{
	char a[24], b[24], c[24];

	if (count(p, "remote.mapped_pages"))
		fprintf(out, "  remote: %" PRIu64 " pages mapped; %" PRIu64 " reads of %s, %" PRIu64
			" writes of %s, %" PRIu64 " atomics of %s; a read takes %" PRIu64
			" cycles\n", count(p, "remote.mapped_pages"), count(p, "remote.reads"),
			output_bytes(a, count(p, "remote.read_bytes")), count(p, "remote.writes"),
			output_bytes(b, count(p, "remote.write_bytes")), count(p, "remote.atomics"),
			output_bytes(c, count(p, "remote.atomic_bytes")),
			count(p, "remote.latency_cycles"));
	if (count(p, "remote.notifications"))
		fprintf(out, "  access counters: %" PRIu64 " notifications, %" PRIu64
			" regions migrated, %" PRIu64 " pages\n", count(p, "remote.notifications"),
			count(p, "remote.migrations"), count(p, "remote.migrated_pages"));
	if (count(p, "duplicates.made_pages"))
		fprintf(out, "  duplicates: %" PRIu64 " pages made, %" PRIu64 " collapsed\n",
			count(p, "duplicates.made_pages"), count(p, "duplicates.collapsed_pages"));
}

/*
 * Tells when a policy's code is slow on this machine, which says nothing about its
 * decisions.
 */
void report_decisions(FILE *out, struct json_object *r)
{
	struct json_object *p = output_at(r, "paging"), *charged;
	double sum = output_number(p, "decide_ns.mean") * output_number(p, "decide_ns.count");
	double busy = output_number(p, "busy_ns");
	char a[24], b[24];

	if (json_object_object_get_ex(output_at(r, "settings"), "paging.decide", &charged))
		return;
	if (busy > 0 && 2 * sum > busy)
		fprintf(out, "  the policies' decisions took %.0f%% of the handler's time (p50 %s, p99 %s "
			"a batch): paging.decide=NS charges a time of your choice instead\n",
			100 * sum / busy, output_ns(a, output_number(p, "decide_ns.p50")),
			output_ns(b, output_number(p, "decide_ns.p99")));
}

static void print_paging(FILE *out, struct json_object *r)
{
	struct json_object *p = output_at(r, "paging");
	char a[24], b[24], c[24], d[24];

	if (!p)
		return;
	fprintf(out, "  far faults %" PRIu64 " in %" PRIu64 " batches; the handler sent %"
		PRIu64 " replays; %" PRIu64 " look-ups dropped (NACKs: no free MSHR); prefetched %" PRIu64 " pages (%" PRIu64 " used), evicted %"
		PRIu64 " pages\n", count(p, "far_faults"), count(p, "batches"),
		count(p, "replays"), count(p, "nacks"), count(p, "prefetched_pages"),
		count(p, "prefetch_used_pages"), count(p, "evicted_pages"));
	fprintf(out, "  moved %s to the GPU, %s back\n", output_bytes(a, count(p, "h2d_bytes")),
		output_bytes(b, count(p, "d2h_bytes")));
	if (count(p, "latency_ns.count"))
		fprintf(out, "  far fault, raised to replayed: p50 %s, p90 %s, p99 %s, max %s\n",
			output_ns(a, output_number(p, "latency_ns.p50")),
			output_ns(b, output_number(p, "latency_ns.p90")),
			output_ns(c, output_number(p, "latency_ns.p99")),
			output_ns(d, output_number(p, "latency_ns.max")));
	report_fault_stages(out, r);
	report_decisions(out, r);
	print_prefetch(out, p);
	print_returns(out, p);
	print_advice(out, p);
	if (count(p, "far_wait_cycles.count"))
		fprintf(out, "  accesses waited for far faults %" PRIu64 " times, %.0f cycles each; "
			"link %.0f%% busy to the GPU, %.0f%% back\n",
			count(p, "far_wait_cycles.count"), output_number(p, "far_wait_cycles.mean"),
			100 * output_number(p, "link.h2d_busy"),
			100 * output_number(p, "link.d2h_busy"));
}

static void print_utilization(FILE *out, struct json_object *u)
{
	const char *separator = "  utilization: ";

	if (!u)
		return;
	json_object_object_foreach(u, key, value) {
		fprintf(out, "%s%s %.0f%%", separator, key, 100 * json_object_get_double(value));
		separator = ", ";
	}
	fputc('\n', out);
}

static void print_memory(FILE *out, struct json_object *m)
{
	/* Without time there is no memory system. */
	if (!output_has(m, "l1d"))
		return;
	print_cache(out, "  ", "L1D", output_at(m, "l1d"));
	print_cache(out, "; ", "L2", output_at(m, "l2"));
	fputs(" (sectors)", out);
	if (output_has(m, "l2_background"))
		print_cache(out, ", ", "for the background",
			    output_at(m, "l2_background"));
	fprintf(out, "\n  DRAM %" PRIu64 " reads, %" PRIu64
		" writes, row hits %.0f%%, bus busy %.0f%%; a read of 32 bytes takes %.0f cycles from "
		"the SM and back\n",
		count(m, "dram.reads"), count(m, "dram.writes"),
		100 * output_number(m, "dram.row_hit_rate"),
		100 * output_number(m, "dram.utilization"), output_number(m, "latency.mean"));
}

/* The share of free space outside the largest hole, percent. */
static double scattered(struct json_object *f, const char *free, const char *hole)
{
	double all = output_number(f, free);

	return all > 0 ? 100 * (all - output_number(f, hole)) / all : 0;
}

static void print_fragmentation(FILE *out, struct json_object *f)
{
	if (f)
		fprintf(out, "  fragmentation, where kernels share an SM: %.1f%% of the free registers "
			"and %.1f%% of the free shared memory not in the largest hole; %" PRIu64
			" CTAs refused for it, for %" PRIu64 " cycles of an SM\n",
			scattered(f, "registers_free", "registers_hole"),
			scattered(f, "shared_free", "shared_hole"), count(f, "refused_ctas"),
			count(f, "refused_cycles"));
}

/* The bytes that mechanisms moved behind the program's accesses, if there were any. */
static void print_background(FILE *out, struct json_object *b)
{
	char bytes[24];

	if (b)
		fprintf(out, "  background: %s in %" PRIu64 " jobs; shared memory %" PRIu64
			" cycles, waited %" PRIu64 "; %" PRIu64 " sectors read, %" PRIu64
			" written, waited %" PRIu64 " cycles\n",
			output_bytes(bytes, count(b, "bytes")), count(b, "jobs"),
			count(b, "shared_cycles"), count(b, "shared_wait_cycles"),
			count(b, "sectors_read"), count(b, "sectors_written"),
			count(b, "memory_wait_cycles"));
}

/* Warps and register sets that Zorua or WLM gave and took. */
static void print_virtual(FILE *out, struct json_object *v)
{
	uint64_t all, swapped;

	if (!v)
		return;
	all = count(v, "set_accesses");
	swapped = count(v, "set_accesses_swapped");
	fprintf(out, "  virtual: %" PRIu64 " specifiers; warps granted %" PRIu64 ", forced %" PRIu64
		", swapped out %" PRIu64 "; register sets spilled %" PRIu64 ", filled %" PRIu64,
		count(v, "specifiers"), count(v, "grants"), count(v, "forced"),
		count(v, "swapped_warps"), count(v, "spilled_sets"), count(v, "filled_sets"));
	if (all)
		fprintf(out, "; %.2f%% of accesses on chip",
			100.0 * (double)(all - swapped) / (double)all);
	all = count(v, "scratchpad_accesses");
	swapped = count(v, "scratchpad_accesses_swapped");
	if (all)
		fprintf(out, "; scratchpad's spilled %" PRIu64 ", filled %" PRIu64
			"; %.2f%% of accesses on chip", count(v, "scratchpad_spilled_sets"),
			count(v, "scratchpad_filled_sets"),
			100.0 * (double)(all - swapped) / (double)all);
	if (output_has(v, "o_thresh"))
		fprintf(out, "; o_thresh %.1f%% on average",
			100.0 * json_object_get_double(output_at(v, "o_thresh")));
	fputc('\n', out);
}

void report_options(FILE *out, struct json_object *w)
{
	struct json_object *options = output_at(w, "options");

	fprintf(out, "%s", output_string(w, "name"));
	if (options) {
		json_object_object_foreach(options, key, value)
			fprintf(out, " %s=%s", key, json_object_get_string(value));
	}
}

static void print_workload(FILE *out, struct json_object *w)
{
	report_options(out, w);
	if (output_has(w, "halted"))
		fprintf(out, ": halted at cycle %" PRIu64 " after %" PRIu64 " thread instructions, "
			"not verified\n", count(w, "halted_cycle"), count(w, "halted_instructions"));
	else
		fprintf(out, ": %s\n", json_object_get_boolean(output_at(w, "verified")) ?
			"verified" : "NOT VERIFIED");
}

/* One line of the phases; a paged run that brings nothing before its kernels has two. */
static void print_phases(FILE *out, struct json_object *w)
{
	if (output_has(w, "copy"))
		fprintf(out, "  copy: %" PRIu64 " cycles to the device, %" PRIu64 " of kernels, %" PRIu64
			" back; with perfect overlap %" PRIu64 "\n", count(w, "copy.h2d_cycles"),
			count(w, "copy.kernel_cycles"), count(w, "copy.d2h_cycles"),
			count(w, "copy.overlap_bound_cycles"));
	else if (output_has(w, "phases"))
		fprintf(out, "  %" PRIu64 " cycles of kernels, %" PRIu64 " for the results to the host\n",
			count(w, "phases.kernel_cycles"), count(w, "phases.d2h_cycles"));
}

/* Workloads side by side: each one with the numbers of its own kernels. */
static void print_workloads(FILE *out, struct json_object *workloads)
{
	for (size_t i = 0; i < json_object_array_length(workloads); i++) {
		struct json_object *w = json_object_array_get_idx(workloads, i);

		print_workload(out, w);
		fprintf(out, "  managed memory %" PRIu64 " bytes; stream %" PRIu64,
			count(w, "footprint_bytes"), count(w, "stream"));
		if (output_has(w, "cycles"))
			fprintf(out, ", arrived at cycle %" PRIu64 ", kernels from %" PRIu64
				" to %" PRIu64 ", %" PRIu64 " cycles, IPC %.3f",
				count(w, "arrival"), count(w, "start"), count(w, "end"),
				count(w, "cycles"), output_number(w, "ipc"));
		fputc('\n', out);
		print_kernels(out, output_at(w, "kernels"));
	}
	fprintf(out, "all %zu on one GPU\n", json_object_array_length(workloads));
}

/* Times were measured, on a CPU that is emulated. */
static bool emulated(struct json_object *r)
{
	const char *virt = output_string(r, "host.virt");

	return !strcmp(output_string(r, "clock"), "measured") &&
	       (!strcmp(virt, "tcg") || !strcmp(virt, "icount"));
}

/* Workloads that ran together share the session's clock. */
static void print_total(FILE *out, struct json_object *totals)
{
	double cycles = output_number(totals, "cycles");

	if (cycles > 0)
		fprintf(out, "  %" PRIu64 " cycles, %" PRIu64 " thread instructions, IPC %.3f\n",
			count(totals, "cycles"), count(totals, "thread_instructions"),
			(double)count(totals, "thread_instructions") / cycles);
}

/* Metrics of workloads with measured targets: speedup.h. */
void report_metrics(FILE *out, struct json_object *r)
{
	struct json_object *m = output_at(r, "metrics"), *all = output_at(m, "workloads");

	if (!all)
		return;
	fprintf(out, "  targets over the time of all: IPC %.3f; ANTT %.3f, STP %.3f, fairness %.3f; "
		"speed-ups over alone", output_number(m, "combined_ipc"), output_number(m, "antt"),
		output_number(m, "stp"), output_number(m, "fairness"));
	for (size_t i = 0; i < json_object_array_length(all); i++)
		fprintf(out, "%s %.3f", i ? "," : "",
			output_number(json_object_array_get_idx(all, i), "speedup"));
	fputc('\n', out);
}

static void print_ptx(FILE *out, struct json_object *p)
{
	fprintf(out, "%s of %s: %s\n", output_string(p, "kernel"), output_string(p, "file"),
		json_object_get_boolean(output_at(p, "done")) ? "done" : "FAILED");
}

void report_program(FILE *out, struct json_object *p)
{
	const char *error = output_string(p, "error");
	char a[24], b[24];

	fprintf(out, "%s: %s\n", output_string(p, "name"), strcmp(error, "cudaSuccess") ? error : "done");
	fprintf(out, "  copies: %" PRIu64 " to the device (%s), %" PRIu64 " back (%s)\n",
		count(p, "copies.h2d"), output_bytes(a, count(p, "copies.h2d_bytes")),
		count(p, "copies.d2h"), output_bytes(b, count(p, "copies.d2h_bytes")));
}

/* Without time, the speed is that of the host. */
static void print_speed(FILE *out, struct json_object *totals)
{
	double seconds = output_number(totals, "host_seconds");

	if (!totals || output_has(totals, "cycles") || seconds <= 0)
		return;
	fprintf(out, "  without time: %" PRIu64 " warp instructions, %" PRIu64
		" thread instructions in %.6f s, %.1f million thread instructions a second\n",
		count(totals, "warp_instructions"), count(totals, "thread_instructions"), seconds,
		(double)count(totals, "thread_instructions") / seconds * 1e-6);
}

void report_text(FILE *out, struct json_object *r)
{
	struct json_object *about = output_at(r, "workload"), *all = output_at(r, "workloads");
	char size[24];

	if (all) {
		print_workloads(out, all);
	} else if (about) {
		print_workload(out, about);
	} else if (output_at(r, "program")) {
		report_program(out, output_at(r, "program"));
	} else {
		about = output_at(r, "ptx");
		print_ptx(out, about);
	}
	fprintf(out, "  backend %s, GPU %s", output_string(r, "backend"), output_string(r, "config"));
	if (about)
		fprintf(out, ", managed memory %s", output_bytes(size, count(about, "footprint_bytes")));
	if (output_has(r, "totals.host_seconds"))
		fprintf(out, ", took %.3f s", output_number(r, "totals.host_seconds"));
	if (output_has(r, "paging"))
		fprintf(out, ", fault times %s%s", output_string(r, "clock"),
			emulated(r) ? " under emulation (TCG): not those of a machine" : "");
	fputc('\n', out);
	if (all)
		print_total(out, output_at(r, "totals"));
	report_metrics(out, r);
	print_phases(out, output_at(r, "workload"));
	print_kernels(out, output_at(r, "kernels"));
	print_utilization(out, output_at(r, "utilization"));
	print_fragmentation(out, output_at(r, "fragmentation"));
	print_background(out, output_at(r, "background"));
	print_virtual(out, output_at(r, "virtual"));
	print_memory(out, output_at(r, "memory"));
	print_speed(out, output_at(r, "totals"));
	print_paging(out, r);
}
