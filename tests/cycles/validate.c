// SPDX-License-Identifier: GPL-2.0
/*
 * `make validate`: every run of the reference on this engine, and how far the
 * numbers are apart.
 *
 *   validate [-r FOLDER] [-j JOBS] [-t SECONDS] [-J DIR] [-q] [-s KEY=VALUE]... [SELECT]...
 *
 * SELECT is a kernel, VARIANT/KERNEL or a run. -q: the first table alone; -J: each run's statistics
 * to DIR/RUN.json; -s: a setting over the variant's, to see what it changes. The exit status is 1
 * when an aim is missed: a result is wrong, instructions differ, or an error is too large.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "reference.h"

struct metric {
	const char *label, *theirs, *ours;
	double aim;		/* of each run, percent; 0: none */
};

/* What the first table has of memory, and what the errors may be (docs/design.md section 11). */
static const struct metric counts[] = {
	{ "L1D acc", "L1D_accesses", "memory.l1d.accesses", 5 },
	{ "L1D miss", "L1D_misses", "memory.l1d.misses", 10 },
	{ "L2 acc", "L2_accesses", "memory.l2.accesses", 5 },
	{ "L2 miss", "L2_misses", "memory.l2.misses", 10 },
	{ "DRAM rd", "dram_reads", "memory.dram.reads", 10 },
	{ "DRAM wr", "dram_writes", "memory.dram.writes", 10 },
};

/* What tells causes apart. */
static const struct metric causes[] = {
	{ "L1I acc", "L1I_accesses", "memory.l1i.accesses", 0 },
	{ "L1I miss", "L1I_misses", "memory.l1i.misses", 0 },
	{ "L1C acc", "L1C_accesses", "memory.l1c.accesses", 0 },
	{ "L1C miss", "L1C_misses", "memory.l1c.misses", 0 },
	{ "L1D resfail", "L1D_reservation_fails", "memory.l1d.reservation_fails", 0 },
	{ "L2 pending", "L2_pending_hits", "memory.l2.pending_hits", 0 },
	{ "conflicts", "gpgpu_n_shmem_bkconflict", "memory.shared.conflict_cycles", 0 },
	{ "flits to mem", "icnt_pkts_simt_to_mem", "memory.icnt.flits_to_memory", 0 },
	{ "flits to SM", "icnt_pkts_mem_to_simt", "memory.icnt.flits_to_sm", 0 },
	{ "DRAM req", "dram_req", "memory.dram.requests", 0 },
	{ "activate", "dram_act", "memory.dram.activates", 0 },
	{ "precharge", "dram_pre", "memory.dram.precharges", 0 },
	{ "latency avg", "averagemflatency", "memory.latency.mean", 0 },
	{ "latency max", "maxmflatency", "memory.latency.max", 0 },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const stalls[] = {
	"stalls.issued", "stalls.pipeline", "stalls.long_latency", "stalls.short_latency",
	"stalls.ibuffer", "stalls.barrier", "stalls.far_fault", "stalls.swapped_out", "stalls.no_warp",
};

#define AIM_CYCLES_MEAN		10.0
#define AIM_CYCLES_WORST	25.0
/* Below this many events a percentage says nothing: a hundred cold fills are noise of one. */
#define FEW			100

struct summary {
	double sum, worst;
	unsigned int n, missing;
	const char *where;
};

static double error_of(double ours, double theirs)
{
	return theirs ? 100 * (ours - theirs) / theirs : ours ? INFINITY : 0;
}

static void take(struct summary *s, double error, const char *where)
{
	s->sum += fabs(error);
	s->n++;
	if (fabs(error) > s->worst || !s->where) {
		s->worst = fabs(error);
		s->where = where;
	}
}

static bool summary_line(const char *what, const struct summary *s, double mean_aim, double aim)
{
	double mean = s->n ? s->sum / s->n : 0;
	bool bad = s->worst > aim || (mean_aim && mean > mean_aim) || s->missing;

	printf("%-18s mean %6.2f%%  worst %6.2f%%  %-34s", what, mean, s->worst, s->where ? s->where : "");
	if (mean_aim)
		printf(" aim: mean %g%%, worst %g%%", mean_aim, aim);
	else
		printf(" aim: worst %g%%", aim);
	if (s->missing)
		printf(", not counted in %u runs", s->missing);
	printf("%s\n", bad ? "  MISSED" : "");
	return !bad;
}

/* The launch's own cycles. */
static double cycles_of(const struct outcome *o)
{
	return outcome_number(o, "kernels.0.cycles");
}

static void print_pair(double ours, double theirs)
{
	if (ours < 0)
		printf(" %9s /%8.0f %6s", "-", theirs, "");
	else if (fabs(theirs) < FEW && fabs(ours - theirs) < FEW)
		printf(" %9.0f /%8.0f %+6.0f ", ours, theirs, ours - theirs);
	else
		printf(" %9.0f /%8.0f %+6.1f%%", ours, theirs, error_of(ours, theirs));
}

/* The first table and its summary; false: an aim was missed. */
static bool table_counts(const struct reference *ref, const struct outcome *outcomes)
{
	struct summary cycles = { 0 }, each[COUNT(counts)] = { { 0 } };
	unsigned int wrong = 0, insns = 0, rounded = 0;
	bool good = true;

	printf("%-34s %8s %9s  %19s %7s", "run", "warp", "thread", "cycles: ours / ref", "error");
	for (size_t m = 0; m < COUNT(counts); m++)
		printf(" %19s %7s", counts[m].label, "error");
	printf("\n");
	for (unsigned int i = 0; i < ref->n; i++) {
		const struct outcome *o = &outcomes[i];
		struct json_object *r = ref->numbers[i];
		const char *name = ref->runs[i].name;
		double warps, threads, explained[2];

		wrong += !o->right;
		if (!o->done) {
			printf("%-34s FAILED: %s\n", name, o->why);
			continue;
		}
		warps = outcome_number(o, "totals.warp_instructions") - json_number(r, "warp_insn");
		threads = outcome_number(o, "totals.thread_instructions") - json_number(r, "thread_insn");
		input_difference(&ref->runs[i], &explained[0], &explained[1]);
		insns += warps != explained[0] || threads != explained[1];
		rounded += explained[0] || explained[1];
		printf("%-34s", name);
		if (warps)
			printf(" %+8.0f", warps);
		else
			printf(" %8s", "equal");
		if (threads)
			printf(" %+9.0f ", threads);
		else
			printf(" %9s ", "equal");
		print_pair(cycles_of(o), json_number(r, "gpu_sim_cycle"));
		take(&cycles, error_of(cycles_of(o), json_number(r, "gpu_sim_cycle")), name);
		for (size_t m = 0; m < COUNT(counts); m++) {
			double ours = outcome_number(o, counts[m].ours);
			double theirs = json_number(r, counts[m].theirs);

			print_pair(ours, theirs);
			if (ours < 0)
				each[m].missing++;
			else if (fabs(theirs) >= FEW || fabs(ours - theirs) >= FEW)
				take(&each[m], error_of(ours, theirs), name);
		}
		printf(o->right ? "\n" : "  WRONG: %s\n", o->why);
	}
	printf("\n%-18s %u of %u runs%s\n", "results wrong", wrong, ref->n, wrong ? "  MISSED" : "");
	printf("%-18s %u of %u runs differ%s\n", "instructions", insns, ref->n, insns ? "  MISSED" : "");
	if (rounded)
		printf("%-18s %u runs differ by exactly what rounding fma once, not twice, changes\n", "", rounded);
	good &= summary_line("cycles", &cycles, AIM_CYCLES_MEAN, AIM_CYCLES_WORST);
	for (size_t m = 0; m < COUNT(counts); m++)
		good &= summary_line(counts[m].label, &each[m], 0, counts[m].aim);
	return good && !wrong && !insns;
}

/*
 * The reference does not count an SM without work; here that is no_warp, as a scheduler without
 * warps on a busy SM is.
 */
static double idle_of(const struct outcome *o)
{
	double cycles = cycles_of(o), idle = 0;
	struct json_object *sms, *sm;

	if (!json_object_object_get_ex(o->statistics, "sms", &sms))
		return -1;
	for (size_t i = 0; i < json_object_array_length(sms); i++) {
		double slots = 0, asleep = 0;

		sm = json_object_array_get_idx(sms, i);
		for (size_t k = 0; k < COUNT(stalls); k++)
			slots += fmax(0, json_number(sm, stalls[k]));
		asleep = slots / cycles * (cycles - json_number(sm, "busy_cycles"));
		idle += json_number(sm, "stalls.ibuffer") + json_number(sm, "stalls.barrier") +
			fmax(0, json_number(sm, "stalls.no_warp") - asleep);
	}
	return idle;
}

static void table_causes(const struct reference *ref, const struct outcome *outcomes)
{
	printf("\nwhere the schedulers' cycles went, ours / reference, and memory\n%-34s", "run");
	printf(" %19s %7s %19s %7s %19s %7s", "Stall", "", "Idle", "", "Scoreboard", "");
	for (size_t m = 0; m < COUNT(causes); m++)
		printf(" %19s %7s", causes[m].label, "");
	printf("\n");
	for (unsigned int i = 0; i < ref->n; i++) {
		const struct outcome *o = &outcomes[i];
		struct json_object *r = ref->numbers[i];

		if (!o->done)
			continue;
		printf("%-34s", ref->runs[i].name);
		print_pair(outcome_number(o, "kernels.0.stalls.pipeline"), json_number(r, "sched_Stall"));
		print_pair(idle_of(o), json_number(r, "sched_W0_Idle"));
		print_pair(outcome_number(o, "kernels.0.stalls.long_latency") +
			   outcome_number(o, "kernels.0.stalls.short_latency"), json_number(r, "sched_W0_Scoreboard"));
		for (size_t m = 0; m < COUNT(causes); m++)
			print_pair(outcome_number(o, causes[m].ours),
				   json_number(r, causes[m].theirs));
		printf("\n");
	}
}

/* Two lengths of a probe: the difference is the loop alone, cold misses cancel. */
static void table_probes(const struct reference *ref, const struct outcome *outcomes)
{
	static const struct {
		const char *what, *shorter, *longer;
		double iterations;
	} probes[] = {
		{ "load, L1D hit", "gto__chase_64_512", "gto__chase_64_1024", 512 },
		{ "load, L2 hit", "gto__chase_2048_1024", "gto__chase_2048_2048", 1024 },
		{ "load, DRAM", "gto__chase_65536_256", "gto__chase_65536_512", 256 },
		{ "8 dependent fma", "gto__fmadep_32_256", "gto__fmadep_32_2048", 224 },
		{ "8 dependent mad.lo", "gto__imuldep_32_256", "gto__imuldep_32_2048", 224 },
		{ "neg, ex2", "gto__sfudep_32_256", "gto__sfudep_32_2048", 1792 },
		{ "load, shared", "gto__smemchase_32_256", "gto__smemchase_32_1280", 1024 },
		{ "barrier, 8 warps", "gto__barloop_256_256", "gto__barloop_256_1280", 1024 },
		{ "empty, cold", NULL, "gto__fmadep_32_0", 1 },
	};

	for (size_t k = 0, titled = 0; k < COUNT(probes); k++) {
		double cycles[2] = { 0, 0 }, theirs[2] = { 0, 0 };
		unsigned int found = !probes[k].shorter;

		for (unsigned int i = 0; i < ref->n; i++) {
			for (int s = 0; s < 2; s++) {
				const char *name = s ? probes[k].longer : probes[k].shorter;

				if (!name || strcmp(name, ref->runs[i].name) || !outcomes[i].done)
					continue;
				cycles[s] = cycles_of(&outcomes[i]);
				theirs[s] = json_number(ref->numbers[i], "gpu_sim_cycle");
				found++;
			}
		}
		if (found < 2)
			continue;
		if (!titled++)
			printf("\ncycles an iteration, between two lengths\n");
		printf("%-34s %9.2f /%8.2f\n", probes[k].what, (cycles[1] - cycles[0]) / probes[k].iterations,
		       (theirs[1] - theirs[0]) / probes[k].iterations);
	}
}

static void write_json(const char *folder, const struct reference *ref,
		       const struct outcome *outcomes)
{
	for (unsigned int i = 0; i < ref->n; i++) {
		char path[512];
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s.json", folder, ref->runs[i].name);
		f = outcomes[i].json ? fopen(path, "w") : NULL;
		if (!f)
			continue;
		fputs(outcomes[i].json, f);
		fclose(f);
	}
}

int main(int argc, char **argv)
{
	const char *folder = "tests/cycles/reference", *json = NULL;
	unsigned int jobs = 1, seconds = 600;
	char select[1024] = "", settings[200] = "";
	struct reference ref;
	struct outcome *outcomes;
	bool quiet = false, good;
	int c;

	while ((c = getopt(argc, argv, "r:j:t:J:qs:")) != -1) {
		switch (c) {
		case 'r': folder = optarg; break;
		case 'j': jobs = strtoul(optarg, NULL, 10); break;
		case 't': seconds = strtoul(optarg, NULL, 10); break;
		case 'J': json = optarg; break;
		case 'q': quiet = true; break;
		case 's':
			snprintf(settings + strlen(settings), sizeof(settings) - strlen(settings), "%s\n",
				 optarg);
			break;
		default: return 2;
		}
	}
	for (; optind < argc; optind++)
		snprintf(select + strlen(select), sizeof(select) - strlen(select), " %s", argv[optind]);
	reference_load(&ref, folder, select);
	for (unsigned int i = 0; i < ref.n; i++)
		strcat(ref.runs[i].settings, settings);
	outcomes = calloc(ref.n, sizeof(*outcomes));
	runs_execute(ref.runs, outcomes, ref.n, jobs ? jobs : 1, seconds, isatty(2));
	if (json)
		write_json(json, &ref, outcomes);
	good = table_counts(&ref, outcomes);
	if (!quiet) {
		table_causes(&ref, outcomes);
		table_probes(&ref, outcomes);
	}
	for (unsigned int i = 0; i < ref.n; i++)
		outcome_free(&outcomes[i]);
	free(outcomes);
	reference_free(&ref);
	return !good;
}
