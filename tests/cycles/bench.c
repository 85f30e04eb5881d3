// SPDX-License-Identifier: GPL-2.0
/*
 * `make bench-sim`: how fast the cycle model is, on one host thread with all its
 * statistics, on the reference's kernels and sizes; beside it the reference's own speed there.
 *
 *   bench [-r FOLDER] [-n RUNS] [-t THREADS] [KERNEL|VARIANT/KERNEL|RUN]...
 *   bench -1 [-r FOLDER] RUN    that run once, for a profiler; prints its cycles
 *
 * Processor time counts (the reference's is that too), the median of RUNS. A table, no judgement.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heap.h"
#include "reference.h"

#define MAX_RUNS	99
/* Aims: the geometric mean of all kernels, and the slowest. */
#define AIM_MEAN	50.0
#define AIM_WORST	20.0

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void print_cpu(void)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "model name", 10)) {
			printf("CPU:%s", strchr(line, ':') + 1);
			break;
		}
	}
	if (f)
		fclose(f);
}

/* A probe has a warp or eight on one of the SMs: it says nothing about throughput. */
static bool is_probe(const struct reference *ref, unsigned int i)
{
	return json_number(ref->numbers[i], "ctas") < 15;
}

static int once(const struct reference *ref)
{
	struct outcome o;

	run_here(&ref->runs[0], &o);
	if (!o.done) {
		fprintf(stderr, "%s: %s\n", ref->runs[0].name, o.why);
		return 1;
	}
	printf("%s %.0f cycles %.0f warp instructions %ld KiB above %ld KiB\n", ref->runs[0].name,
	       outcome_number(&o, "kernels.0.cycles"), outcome_number(&o, "totals.warp_instructions"),
	       o.rss_kib - o.base_kib, o.base_kib);
	outcome_free(&o);
	return 0;
}

int main(int argc, char **argv)
{
	const char *folder = "tests/cycles/reference";
	unsigned int runs = 5, threads = 1, n = 0;
	double log_sum = 0, worst = INFINITY;
	const char *slowest = "";
	char select[1024] = "";
	struct reference ref;
	long most = 0;
	bool one = false, bad = false;
	int c;

	/* As the gpuemu command does. */
	heap_huge_pages();
	while ((c = getopt(argc, argv, "r:n:t:1")) != -1) {
		switch (c) {
		case 'r': folder = optarg; break;
		case 'n': runs = strtoul(optarg, NULL, 10); break;
		case 't': threads = strtoul(optarg, NULL, 10); break;
		case '1': one = true; break;
		default: return 2;
		}
	}
	runs = runs < 1 ? 1 : runs > MAX_RUNS ? MAX_RUNS : runs;
	for (; optind < argc; optind++)
		snprintf(select + strlen(select), sizeof(select) - strlen(select), " %s", argv[optind]);
	reference_load(&ref, folder, select);
	if (one)
		return once(&ref);
	print_cpu();
	printf("%-34s %9s %9s %9s %9s %8s %9s %7s %9s\n", "run", "cycles", "kwarp", "seconds", "kwarp/s",
	       "kcyc/s", "ns/SM-cyc", "ratio", "RSS KiB");
	for (unsigned int i = 0; i < ref.n; i++) {
		double seconds[MAX_RUNS], median, warps = 0, cycles = 0, ratio;
		struct run *run = &ref.runs[i];
		struct outcome o = { 0 };

		if (is_probe(&ref, i) && !*select)
			continue;
		run_setting_u(run, "gpu.threads", threads);
		for (unsigned int r = 0; r < runs; r++) {
			outcome_free(&o);
			runs_execute(run, &o, 1, 1, 600, false);
			if (!o.done || !o.right)
				break;
			/* With helpers it is the clock on the wall that they shall shorten. */
			seconds[r] = threads > 1 ? o.wall_seconds : o.cpu_seconds;
		}
		if (!o.done || !o.right) {
			printf("%-34s %s\n", run->name, o.why);
			bad = true;
			continue;
		}
		qsort(seconds, runs, sizeof(*seconds), by_value);
		median = seconds[runs / 2];
		warps = outcome_number(&o, "totals.warp_instructions");
		cycles = outcome_number(&o, "kernels.0.cycles");
		ratio = warps / 1000 / median / json_number(ref.numbers[i], "kwarp_insn_per_cpu_s");
		printf("%-34s %9.0f %9.1f %9.4f %9.0f %8.0f %9.1f %7.1f %9ld\n", run->name, cycles, warps / 1000,
		       median, warps / 1000 / median, cycles / 1000 / median,
		       median * 1e9 / cycles / 15, ratio, o.rss_kib - o.base_kib);
		fflush(stdout);
		log_sum += log(ratio);
		n++;
		if (ratio < worst) {
			worst = ratio;
			slowest = run->name;
		}
		if (o.rss_kib - o.base_kib > most)
			most = o.rss_kib - o.base_kib;
		outcome_free(&o);
	}
	if (n)
		printf("\nwarp instructions a second, over the reference's: geometric mean %.1f (aim %.0f), worst %.1f (aim %.0f) in %s\n"
		       "memory above the workload's own: %ld KiB at most (aim: under 200 MiB)\n",
		       exp(log_sum / n), AIM_MEAN, worst, AIM_WORST, slowest, most);
	reference_free(&ref);
	return bad;
}
