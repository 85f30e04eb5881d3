// SPDX-License-Identifier: GPL-2.0
/*
 * The short report: what ran, whether it was right, how long it took and where the time went,
 * and what far faults cost, in some twenty lines that need no man page. report_text() is the
 * long one (--details). Both print what the JSON has.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "report.h"

#define KERNELS_SHOWN	6u

static uint64_t count(struct json_object *o, const char *path)
{
	return json_object_get_uint64(output_at(o, path));
}

static size_t length(struct json_object *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

/* --- where the SMs' time went --------------------------------------------------- */

static const struct waited {
	const char *stall, *what;
} waits[REPORT_STALLS] = {
	{ "far_fault", "waited for far faults" },
	{ "long_latency", "waited for memory" },
	{ "short_latency", "waited for results of arithmetic" },
	{ "pipeline", "waited for a busy unit" },
	{ "ibuffer", "waited for instructions" },
	{ "barrier", "waited at barriers" },
	{ "swapped_out", "had their CTAs parked" },
	{ "held", "waited for registers or slots" },
	{ "issued", "executed" },
};

static void add_stalls(struct report_stalls *s, struct json_object *kernels)
{
	for (size_t i = 0; i < length(kernels); i++) {
		struct json_object *stalls = output_at(json_object_array_get_idx(kernels, i), "stalls");

		for (unsigned int k = 0; stalls && k < REPORT_STALLS; k++) {
			uint64_t v = count(stalls, waits[k].stall);

			s->of[k] += (double)v;
			s->busy += (double)v;
		}
		s->idle += stalls ? (double)count(stalls, "no_warp") : 0;
	}
}

void report_stalls(struct json_object *r, struct report_stalls *s)
{
	memset(s, 0, sizeof(*s));
	/* Kernels side by side are idle at the same time: the SMs' own counts have it once. */
	add_stalls(s, output_at(r, output_at(r, "workloads") ? "sms" : "kernels"));
}

double report_stall(const struct report_stalls *s, const char *name)
{
	for (unsigned int k = 0; k < REPORT_STALLS; k++)
		if (!strcmp(waits[k].stall, name))
			return s->busy > 0 ? s->of[k] / s->busy : 0;
	return 0;
}

double report_idle(const struct report_stalls *s)
{
	return s->idle + s->busy > 0 ? s->idle / (s->idle + s->busy) : 0;
}

/* The largest first, those of at least 1%. */
static void print_time(FILE *out, struct json_object *r)
{
	struct report_stalls s;
	bool printed[REPORT_STALLS] = { false };
	const char *separator = "  SMs with work: ";

	report_stalls(r, &s);
	if (s.busy <= 0)
		return;
	for (;;) {
		unsigned int most = REPORT_STALLS;

		for (unsigned int k = 0; k < REPORT_STALLS; k++)
			if (!printed[k] && (most == REPORT_STALLS || s.of[k] > s.of[most]))
				most = k;
		if (most == REPORT_STALLS || s.of[most] < 0.01 * s.busy)
			break;
		fprintf(out, "%s%s %.0f%%", separator, waits[most].what, 100 * s.of[most] / s.busy);
		separator = ", ";
		printed[most] = true;
	}
	if (report_idle(&s) >= 0.01)
		fprintf(out, "\n  no work for an SM during %.0f%% of all SMs' time",
			100 * report_idle(&s));
	fputc('\n', out);
}

/* --- what ran --------------------------------------------------------------------- */

static void print_workload(FILE *out, struct json_object *w)
{
	report_options(out, w);
	if (output_has(w, "halted"))
		fprintf(out, ": halted at cycle %" PRIu64 " after %" PRIu64 " thread instructions, "
			"not verified", count(w, "halted_cycle"), count(w, "halted_instructions"));
	else
		fprintf(out, ": %s", json_object_get_boolean(output_at(w, "verified")) ?
			"verified" : "NOT VERIFIED");
	if (output_has(w, "stream") && output_has(w, "cycles"))
		fprintf(out, "; kernels from %" PRIu64 " to %" PRIu64 ", %" PRIu64 " cycles, IPC %.3f",
			count(w, "start"), count(w, "end"), count(w, "cycles"),
			output_number(w, "ipc"));
	fputc('\n', out);
}

static void print_where(FILE *out, struct json_object *r)
{
	const char *virt = output_string(r, "host.virt"), *clock = output_string(r, "clock");
	bool emulated = !strcmp(clock, "measured") &&
			(!strcmp(virt, "tcg") || !strcmp(virt, "icount"));
	struct json_object *about = output_at(r, "workload");
	char size[24];

	if (!about)
		about = output_at(r, "ptx");
	fprintf(out, "  backend %s, GPU %s", output_string(r, "backend"), output_string(r, "config"));
	if (about)
		fprintf(out, ", managed memory %s",
			output_bytes(size, count(about, "footprint_bytes")));
	if (output_has(r, "totals.host_seconds"))
		fprintf(out, ", took %.3f s", output_number(r, "totals.host_seconds"));
	if (output_has(r, "paging"))
		fprintf(out, ", fault times %s%s", clock,
			emulated ? " under emulation (TCG): not those of a machine" : "");
	fputc('\n', out);
}

/* The virtual time, and the kernels' part of it. */
static void print_cycles(FILE *out, struct json_object *r)
{
	double cycles = output_number(r, "totals.cycles");
	struct json_object *w = output_at(r, "workload");
	char a[24];

	if (cycles <= 0)
		return;
	fprintf(out, "  GPU time %s: %.0f cycles at %" PRIu64 " MHz",
		output_ns(a, 1000 * cycles / output_number(r, "clock_mhz")), cycles,
		count(r, "clock_mhz"));
	if (output_has(w, "copy"))
		fprintf(out, " (%" PRIu64 " to copy to the device, %" PRIu64 " of kernels, %" PRIu64
			" back)", count(w, "copy.h2d_cycles"), count(w, "copy.kernel_cycles"),
			count(w, "copy.d2h_cycles"));
	else if (output_has(w, "phases"))
		fprintf(out, " (%" PRIu64 " of kernels, %" PRIu64 " for the results to the host)",
			count(w, "phases.kernel_cycles"), count(w, "phases.d2h_cycles"));
	fprintf(out, ", %" PRIu64 " thread instructions, IPC %.3f\n",
		count(r, "totals.thread_instructions"),
		output_number(r, "totals.thread_instructions") / cycles);
}

/* Without time, the speed is that of the host. */
static void print_speed(FILE *out, struct json_object *r)
{
	double n = output_number(r, "totals.thread_instructions");
	double seconds = output_number(r, "totals.host_seconds");

	if (output_has(r, "totals") && !output_has(r, "totals.cycles") && seconds > 0)
		fprintf(out, "  without time: %.0f thread instructions, %.1f million thread instructions "
			"a second\n", n,
			n / seconds * 1e-6);
}

struct sum {
	const char *name;
	uint64_t launches, cycles, instructions, ctas_per_sm;
};

static int by_cycles(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->cycles != y->cycles)
		return x->cycles < y->cycles ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Merges launches of one kernel name. Returns how many names there are. */
static size_t add_kernels(struct sum *sums, size_t n, struct json_object *kernels)
{
	for (size_t i = 0; i < length(kernels); i++) {
		struct json_object *k = json_object_array_get_idx(kernels, i);
		size_t at = 0;

		while (at < n && strcmp(sums[at].name, output_string(k, "name")))
			at++;
		n += at == n;
		sums[at].name = output_string(k, "name");
		sums[at].launches++;
		sums[at].cycles += count(k, "cycles");
		sums[at].instructions += count(k, "thread_instructions");
		sums[at].ctas_per_sm = count(k, "ctas_per_sm");
	}
	return n;
}

/* One line for each kernel name, those that took longest first. */
static void print_kernels(FILE *out, struct json_object *r)
{
	struct json_object *kernels = output_at(r, "kernels"), *all = output_at(r, "workloads");
	size_t n = 0, most = length(kernels);
	struct sum *sums;

	for (size_t i = 0; i < length(all); i++)
		most += length(output_at(json_object_array_get_idx(all, i), "kernels"));
	if (!most || !output_has(r, "totals.cycles"))
		return;
	sums = calloc(most, sizeof(*sums));
	if (!sums)
		return;
	n = add_kernels(sums, 0, kernels);
	for (size_t i = 0; i < length(all); i++)
		n = add_kernels(sums, n, output_at(json_object_array_get_idx(all, i), "kernels"));
	qsort(sums, n, sizeof(*sums), by_cycles);
	fprintf(out, "  %-24s %8s %12s %8s %8s\n", "kernel", "launches", "cycles", "CTAs/SM", "IPC");
	for (size_t i = 0; i < n && i < KERNELS_SHOWN; i++)
		fprintf(out, "  %-24s %8" PRIu64 " %12" PRIu64 " %8" PRIu64 " %8.3f\n", sums[i].name,
			sums[i].launches, sums[i].cycles, sums[i].ctas_per_sm, sums[i].cycles ?
			(double)sums[i].instructions / (double)sums[i].cycles : 0);
	if (n > KERNELS_SHOWN)
		fprintf(out, "  and %zu kernels more\n", n - KERNELS_SHOWN);
	free(sums);
}

/* --- memory and far faults ---------------------------------------------------------- */

static double missed(struct json_object *r, const char *cache)
{
	char accesses[48], misses[48];

	snprintf(accesses, sizeof(accesses), "memory.%s.accesses", cache);
	snprintf(misses, sizeof(misses), "memory.%s.misses", cache);
	return output_number(r, accesses) > 0 ?
	       100 * output_number(r, misses) / output_number(r, accesses) : 0;
}

static void print_memory(FILE *out, struct json_object *r)
{
	if (output_has(r, "memory.l1d"))
		fprintf(out, "  caches: L1 missed %.0f%%, L2 %.0f%%; DRAM %.0f%% busy; a read took %.0f "
			"cycles from the SM and back\n", missed(r, "l1d"), missed(r, "l2"),
			100 * output_number(r, "memory.dram.utilization"),
			output_number(r, "memory.latency.mean"));
}

void report_fault_stages(FILE *out, struct json_object *r)
{
	struct json_object *p = output_at(r, "paging"), *stages = output_at(p, "fault_stages_sum_ns");
	bool configured = !strcmp(output_string(r, "clock"), "virtual");
	double sum = output_number(stages, "latency"), n = output_number(p, "latency_ns.count");
	static const struct {
		const char *key, *what;
	} parts[] = {
		{ "queued", "waiting for a handler" }, { "raised_to_fetched", "reaching it" },
		{ "fetched_to_committed", "the policies' decision" }, { "evict", "evicting" },
		{ "unmap", "unmapping" }, { "link", "waiting for the link" },
		{ "copy", "copying" }, { "map", "mapping" }, { "replay", "the replay" },
	};
	const char *separator = ": ";
	char a[24];

	if (n <= 0 || sum <= 0)
		return;
	fprintf(out, "  a far fault took %s on average", output_ns(a, sum / n));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		double share = output_number(stages, parts[i].key) / sum;

		if (share < 0.005)
			continue;
		/*
		 * If nothing is measured, the stage of the decision is all of paging.service_ns.
		 */
		fprintf(out, "%s%.0f%% %s", separator, 100 * share,
			configured && !strcmp(parts[i].key, "fetched_to_committed") ?
			"the handler's service (configured)" : parts[i].what);
		separator = ", ";
	}
	fputc('\n', out);
}

static void print_faults(FILE *out, struct json_object *r)
{
	struct json_object *p = output_at(r, "paging");
	char a[24], b[24];

	if (!p)
		return;
	fprintf(out, "  far faults %" PRIu64 " in %" PRIu64 " batches; moved %s to the GPU, %s back",
		count(p, "far_faults"), count(p, "batches"), output_bytes(a, count(p, "h2d_bytes")),
		output_bytes(b, count(p, "d2h_bytes")));
	if (count(p, "evicted_pages"))
		fprintf(out, "; evicted %" PRIu64 " pages", count(p, "evicted_pages"));
	if (count(p, "prefetched_pages"))
		fprintf(out, "; prefetched %" PRIu64 " pages, %" PRIu64 " of them used",
			count(p, "prefetched_pages"), count(p, "prefetch_used_pages"));
	fputc('\n', out);
	report_fault_stages(out, r);
	if (count(p, "causes.evicted"))
		fprintf(out, "  %" PRIu64 " of them brought back a page that had been evicted\n",
			count(p, "causes.evicted"));
	if (count(p, "remote.mapped_pages"))
		fprintf(out, "  %" PRIu64 " pages were used where they are, across the link: %" PRIu64
			" reads, %" PRIu64 " writes\n", count(p, "remote.mapped_pages"),
			count(p, "remote.reads"), count(p, "remote.writes"));
	report_decisions(out, r);
}

void report_short(FILE *out, struct json_object *r)
{
	struct json_object *all = output_at(r, "workloads");

	for (size_t i = 0; i < length(all); i++)
		print_workload(out, json_object_array_get_idx(all, i));
	if (output_has(r, "workload"))
		print_workload(out, output_at(r, "workload"));
	else if (output_has(r, "program"))
		report_program(out, output_at(r, "program"));
	else if (!all)
		fprintf(out, "%s of %s: %s\n", output_string(r, "ptx.kernel"),
			output_string(r, "ptx.file"),
			json_object_get_boolean(output_at(r, "ptx.done")) ? "done" : "FAILED");
	print_where(out, r);
	print_cycles(out, r);
	report_metrics(out, r);
	print_speed(out, r);
	print_time(out, r);
	print_kernels(out, r);
	print_memory(out, r);
	print_faults(out, r);
}
