// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemu explain: what bound a run, in sentences, and what to try. It reads reports that
 * `gpuemu run --json` or `gpuemu ptx --json` wrote and runs nothing. Each sentence names the number
 * it rests on; the thresholds are of what is worth a change, not of what can be measured.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "output.h"
#include "report.h"
#include "wrap.h"

static uint64_t count(struct json_object *o, const char *path)
{
	return json_object_get_uint64(output_at(o, path));
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* --- what one run was bound by ------------------------------------------------------ */

/* The largest stage of a far fault tells what would shorten it. */
static void explain_latency(FILE *out, struct json_object *r)
{
	struct json_object *p = output_at(r, "paging"), *s = output_at(p, "fault_stages_sum_ns");
	double all = output_number(s, "latency"), n = output_number(p, "latency_ns.count");
	double queued = percent(output_number(s, "queued"), all);
	double link = percent(output_number(s, "link"), all);
	double decide = percent(output_number(s, "fetched_to_committed"), all);
	char a[24];

	if (n <= 0 || all <= 0)
		return;
	fprintf(out, "A far fault took %s on average", output_ns(a, all / n));
	if (queued >= 40)
		fprintf(out, ", and %.0f%% of that it waited in the fault buffer for the handler, which was busy "
			"with the batch before.\n  Try: a prefetch policy that lets a batch bring more; or see what "
			"more handlers would give (--set paging.handlers=4, 0 for one a fault).\n", queued);
	else if (link >= 30)
		fprintf(out, ", and %.0f%% of that its page waited for the link or for a frame.\n"
			"  Try: fewer prefetched pages, eviction ahead of need (--set paging.watermark=5), or reading "
			"where the data is (--advise accessed-by).\n", link);
	else if (decide >= 50)
		fprintf(out, ", %.0f%% of it %s.\n", decide,
			!strcmp(output_string(r, "clock"), "virtual") ?
			"the handler's service (configured: paging.service_ns)" : "the policies' decision");
	else
		fprintf(out, ": no single stage dominates.\n");
}

static void explain_decisions(FILE *out, struct json_object *r)
{
	struct json_object *p = output_at(r, "paging"), *charged;
	double sum = output_number(p, "decide_ns.mean") * output_number(p, "decide_ns.count");
	double share = percent(sum, output_number(p, "busy_ns"));

	if (share < 50 || json_object_object_get_ex(output_at(r, "settings"), "paging.decide", &charged))
		return;
	fprintf(out, "The policies' decisions themselves took %.0f%% of the handler's time: this says how fast "
		"the policy's process runs on this machine, not how good it decides.\n"
		"  Try: --set paging.decide=2000, which charges 2 us a batch instead.\n", share);
}

/* Of workloads: gpuemu ptx and exec lack their options. */
static bool of_run(struct json_object *r)
{
	return output_has(r, "workload") || output_has(r, "workloads");
}

/* --cta or --manage has chosen one already. */
static bool has_mechanism(struct json_object *r)
{
	struct json_object *cta;

	/* A key has a dot, so it is no path. */
	return json_object_object_get_ex(output_at(r, "settings"), "sm.cta", &cta) &&
	       strcmp(json_object_get_string(cta), "baseline");
}

/* Says why pages were missing. */
static void explain_causes(FILE *out, struct json_object *r)
{
	struct json_object *p = output_at(r, "paging");
	double faults = output_number(p, "far_faults");
	double first = percent(output_number(p, "causes.first"), faults);
	double evicted = percent(output_number(p, "causes.evicted"), faults);
	double late = percent(output_number(p, "causes.in_flight"), faults);
	uint64_t footprint = count(r, "workload.footprint_bytes");
	char size[24];

	if (faults <= 0)
		return;
	if (evicted >= 25) {
		fprintf(out, "%.0f%% of the far faults brought back pages that had been evicted: device memory is too "
			"small for what the kernels use at a time", evicted);
		if (footprint)
			fprintf(out, " (%s in all)", output_bytes(size, footprint));
		fprintf(out, ".\n  Try: more --vram, another --evict (gpuemu list evictors), or --advise accessed-by "
			"for what is used once.\n");
	} else if (first >= 75 && !count(p, "prefetched_pages")) {
		fprintf(out, "%.0f%% of the far faults were the first use of their page, and nothing was prefetched.\n"
			"  Try: --prefetch tree or sequential%s.\n", first, of_run(r) ?
			"; --copy=inputs shows what copying ahead would take" : "");
	}
	if (late >= 25)
		fprintf(out, "%.0f%% of the far faults were on pages already on their way: prefetches come late.\n"
			"  Try: a policy that looks further ahead, as --prefetch sequential:pages=64.\n", late);
	if (count(p, "prefetched_pages") > 16 && output_number(p, "prefetch.accuracy") < 0.5)
		fprintf(out, "Only %.0f%% of the prefetched pages were used: they took the link and frames from "
			"others.\n  Try: a smaller reach, or --set paging.prefetch_full=off.\n",
			100 * output_number(p, "prefetch.accuracy"));
}

static void explain_memory(FILE *out, struct json_object *r)
{
	double dram = 100 * output_number(r, "memory.dram.utilization");
	double accesses = output_number(r, "memory.l1d.accesses");
	double missed = percent(output_number(r, "memory.l1d.misses"), accesses);

	if (dram >= 60)
		fprintf(out, "DRAM was busy %.0f%% of the time: the run is bound by bandwidth.\n"
			"  Try: fewer bytes (coalescing, shared memory); more warps will not help.\n", dram);
	else
		fprintf(out, "DRAM was busy only %.0f%% of the time and %.0f%% of L1's accesses missed: it is the "
			"latency (%.0f cycles a read), not the bandwidth.\n  Try: more CTAs an SM (fewer registers: "
			"--maxregs%s), or another scheduler (gpuemu list schedulers).\n",
			dram, missed, output_number(r, "memory.latency.mean"),
			has_mechanism(r) ? "" : "; --cta vt; --manage zorua");
}

static void explain_units(FILE *out, struct json_object *r)
{
	static const char *const units[] = { "sp", "sfu", "ldst" };
	const char *most = "sp";
	double use = -1;

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		char path[32];

		snprintf(path, sizeof(path), "utilization.%s", units[i]);
		if (output_number(r, path) > use) {
			use = output_number(r, path);
			most = units[i];
		}
	}
	fprintf(out, "The busiest unit was %s, at %.0f%%: the kernels' own instructions are what takes the time.\n",
		most, 100 * use);
}

static const struct bound {
	const char *stall, *what;
	void (*explain)(FILE *out, struct json_object *r);
} bounds[] = {
	{ "far_fault", "waited for far faults", NULL },
	{ "long_latency", "waited for memory", explain_memory },
	{ "short_latency", "waited for results of arithmetic: too few warps to hide it", NULL },
	{ "pipeline", "waited for a busy unit", explain_units },
	{ "ibuffer", "waited for instructions to be fetched", NULL },
	{ "barrier", "waited at barriers", NULL },
	{ "swapped_out", "had their CTAs parked", NULL },
	{ "held", "waited for registers or slots", NULL },
	{ "issued", "executed", explain_units },
};

/* The SMs that had no warp at all: too few CTAs, or the far faults of one kernel before the next. */
static void explain_idle(FILE *out, struct json_object *r, const struct report_stalls *s)
{
	struct json_object *k = output_at(r, output_has(r, "kernels.0") ? "kernels.0" :
					  "workloads.0.kernels.0");
	double share = 100 * report_idle(s);
	uint64_t grid = 1, sms;

	if (share < 30)
		return;
	if (output_has(r, "workloads.1")) {
		fprintf(out, "During %.0f%% of all SMs' time an SM had no CTA of any kernel.\n"
			"  Try: --details, which shows when each kernel ran; another --slice.\n", share);
		return;
	}
	for (unsigned int i = 0; i < 3; i++) {
		char path[16];

		snprintf(path, sizeof(path), "grid.%u", i);
		grid *= output_has(k, path) ? count(k, path) : 1;
	}
	sms = output_at(r, "sms") ? json_object_array_length(output_at(r, "sms")) : 0;
	fprintf(out, "During %.0f%% of all SMs' time an SM had no CTA", share);
	if (grid < 2 * sms)
		fprintf(out, ": there are %" PRIu64 " SMs, and %s has %" PRIu64 " CTAs.\n"
			"  Try: a larger %s, or fewer SMs (--set gpu.sms).\n", sms,
			output_string(k, "name"), grid, of_run(r) ? "input (--size large)" : "grid");
	else
		fprintf(out, ": its part of the kernel was done, and another SM's was not.\n"
			"  Try: smaller CTAs; --trace shows which CTAs are the last.\n");
}

static const struct bound *largest(const struct report_stalls *s)
{
	const struct bound *most = &bounds[0];

	for (size_t i = 1; i < ARRAY_SIZE(bounds); i++)
		if (report_stall(s, bounds[i].stall) > report_stall(s, most->stall))
			most = &bounds[i];
	return most;
}

static void explain_where(FILE *out, struct json_object *r)
{
	const char *virt = output_string(r, "host.virt");

	if (strcmp(output_string(r, "clock"), "measured"))
		fprintf(out, "Fault times are configured (backend sim): the same input gives the same numbers.\n");
	else if (!strcmp(virt, "tcg") || !strcmp(virt, "icount"))
		fprintf(out, "Fault times were measured under emulation (TCG), many times a machine's: compare "
			"ratios of one machine, nothing else.\n");
	else
		fprintf(out, "Fault times were measured on this machine: repeat the run, and keep the machine quiet.\n");
}

static void explain_run(FILE *out, struct json_object *r)
{
	const struct bound *most;
	struct report_stalls s;

	report_stalls(r, &s);
	if (output_has(r, "workload") && !output_has(r, "workload.halted") &&
	    !json_object_get_boolean(output_at(r, "workload.verified")))
		fprintf(out, "The result is wrong or the run failed (%s): nothing below is worth much.\n",
			output_string(r, "workload.error"));
	if (!output_has(r, "totals.cycles")) {
		fprintf(out, "The run was without time (--functional): nothing bound it but this host.\n");
		return;
	}
	if (s.busy <= 0) {
		fprintf(out, "The report has no kernel: nothing was launched.\n");
		return;
	}
	most = largest(&s);
	fprintf(out, "SMs with work %s: %.0f%% of their time.\n", most->what,
		100 * report_stall(&s, most->stall));
	if (most->explain)
		most->explain(out, r);
	explain_idle(out, r, &s);
	if (report_stall(&s, "far_fault") >= 0.2) {
		explain_latency(out, r);
		explain_causes(out, r);
		explain_decisions(out, r);
		explain_where(out, r);
	} else if (output_number(r, "paging.far_faults") > 0) {
		fprintf(out, "Far faults hardly mattered: %.0f%% of the time of SMs with work.\n",
			100 * report_stall(&s, "far_fault"));
	}
}

/* --- the verb --------------------------------------------------------------------------- */

/* As wide as the terminal. */
static void explain_wrapped(struct json_object *r)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out) {
		explain_run(stdout, r);
		return;
	}
	explain_run(out, r);
	fclose(out);
	wrap_print(0, text);
	free(text);
}

static int explain_report(const struct verb *verb, const char *file, struct json_object *r,
			  bool name)
{
	struct json_object *all = output_at(r, "workloads");

	if (!json_object_is_type(r, json_type_object) || !output_has(r, "totals"))
		return cli_failed(verb, "%s: not a report of gpuemu run --json or gpuemu ptx --json", file);
	if (name)
		printf("%s:\n", output_has(r, "workload.name") ? output_string(r, "workload.name") :
		       all ? "side by side" : output_string(r, "ptx.kernel"));
	explain_wrapped(r);
	return CLI_DONE;
}

static int explain_file(const struct verb *verb, const char *file)
{
	struct err err;
	struct json_object *o = output_read(file, &err);
	int result;

	if (!o)
		return cli_failed(verb, "%s", err.text);
	if (!json_object_is_type(o, json_type_array))
		result = explain_report(verb, file, o, false);
	else if (!json_object_array_length(o))
		result = cli_failed(verb, "%s: no report in it", file);
	else
		for (size_t i = result = 0; !result && i < json_object_array_length(o); i++)
			result = explain_report(verb, file, json_object_array_get_idx(o, i), true);
	json_object_put(o);
	return result;
}

static int explain(const struct verb *verb, int argc, char **argv)
{
	struct cli_parser p;
	int c, result = CLI_DONE;

	cli_parse(&p, verb, argc, argv);
	while ((c = cli_next(&p)) != -1)
		return c ? CLI_MISUSED : CLI_DONE;
	if (optind == argc)
		return cli_misused(verb, "which report? gpuemu run WORKLOAD --json FILE writes one");
	for (int i = optind; !result && i < argc; i++) {
		if (argc - optind > 1)
			printf("%s%s:\n", i > optind ? "\n" : "", argv[i]);
		result = explain_file(verb, argv[i]);
	}
	return result;
}

const struct verb verb_explain = {
	.name = "explain",
	.usage = "REPORT.json...",
	.help = "say what bound a run, and what to try",
	.run = explain,
};
