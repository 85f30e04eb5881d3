// SPDX-License-Identifier: GPL-2.0
/*
 * `make validate`: every run of the reference on this engine, and how far the
 * numbers are apart.
 *
 *   validate [-r FOLDER] [-j JOBS] [-t SECONDS] [-J DIR] [-q] [-s KEY=VALUE]... [SELECT]...
 *
 * SELECT is a kernel, VARIANT/KERNEL or a run. -q: not where the cycles went; -J: each run's
 * statistics to DIR/RUN.json; -s: a setting over the variant's, to see what it changes. The exit
 * status is 1 when an aim is missed: a result is wrong, instructions or a probe's latency differ,
 * or an error is too large.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "reference.h"

/*
 * What the errors may be, in percent: a ratchet, a little above what they are. 0: not judged.
 * A mean and a sum are of every run of the reference, and judged when all were made.
 */
struct aim {
	double mean, worst;
	double sum;		/* of the sums of all runs: what is apart by chaos stays small here */
};

struct metric {
	const char *label, *theirs, *ours;
	struct aim aim;
	double (*count)(const struct outcome *outcome);	/* where OURS is not one number */
};

static double cycles_of(const struct outcome *o);
static double idle_of(const struct outcome *o);
static double scoreboard_of(const struct outcome *o);

/* Equal, but for what a percentage of doubles rounds to. */
#define EQUAL { 0.001, 0.001, 0.001 }

static const struct metric run_cycles = {
	"cycles", "gpu_sim_cycle", "kernels.0.cycles", { 0.6, 4.6, 0.2 }, cycles_of
};

/*
 * What the first table has of memory. Of gather, DRAM's traffic hangs on the order of its accesses:
 * one cycle more or less of l2.rop_latency changes lrr/gather's L2 misses and DRAM's writes by
 * up to 1.1%.
 */
static const struct metric counts[] = {
	{ "L1D acc", "L1D_accesses", "memory.l1d.accesses", EQUAL },
	{ "L1D miss", "L1D_misses", "memory.l1d.misses", { 0.17, 2.2, 0.2 } },
	{ "L2 acc", "L2_accesses", "memory.l2.accesses", { 0.16, 2.3, 0.2 } },
	{ "L2 miss", "L2_misses", "memory.l2.misses", { 0.04, 0.48, 0.05 } },
	{ "DRAM rd", "dram_reads", "memory.dram.reads", { 0.06, 0.48, 0.05 } },
	{ "DRAM wr", "dram_writes", "memory.dram.writes", { 0.55, 2.8, 0.15 } },
};

/*
 * What tells causes apart. The latencies are not the same quantity: the reference has no
 * instruction fetches in it, and begins to count a request of several sectors when L2 has
 * cut it up. So their aims tell a change alone; what a latency is, the probes tell.
 */
static const struct metric causes[] = {
	{ "Stall", "sched_Stall", "kernels.0.stalls.pipeline", { 4.9, 25, 1.9 } },
	{ "Idle", "sched_W0_Idle", "", { 5.7, 65, 1.5 }, idle_of },
	{ "Scoreboard", "sched_W0_Scoreboard", "", { 2.1, 18, 0.3 }, scoreboard_of },
	{ "L1I acc", "L1I_accesses", "memory.l1i.accesses", { 0.02, 0.3, 0.05 } },
	{ "L1I miss", "L1I_misses", "memory.l1i.misses", { 2.6, 21, 0.9 } },
	{ "L1C acc", "L1C_accesses", "memory.l1c.accesses", EQUAL },
	{ "L1C miss", "L1C_misses", "memory.l1c.misses", EQUAL },
	/* Counted each cycle: 221 in a run where the reference has none are chaos. */
	{ "L1D resfail", "L1D_reservation_fails", "memory.l1d.reservation_fails", { 0, 0, 3.5 } },
	{ "L2 pending", "L2_pending_hits", "memory.l2.pending_hits", { 7.7, 15, 3.3 } },
	{ "conflicts", "gpgpu_n_shmem_bkconflict", "memory.shared.conflict_cycles", EQUAL },
	{ "flits to mem", "icnt_pkts_simt_to_mem", "memory.icnt.flits_to_memory", { 0.16, 2.1, 0.2 } },
	{ "flits to SM", "icnt_pkts_mem_to_simt", "memory.icnt.flits_to_sm", { 0.16, 2.3, 0.2 } },
	{ "DRAM req", "dram_req", "memory.dram.requests", { 0.07, 0.48, 0.05 } },
	{ "activate", "dram_act", "memory.dram.activates", { 2.9, 11, 1.0 } },
	{ "precharge", "dram_pre", "memory.dram.precharges", { 2.9, 11.5, 1.0 } },
	{ "latency avg", "averagemflatency", "memory.latency.mean", { 26, 240, 16 } },
	{ "latency max", "maxmflatency", "memory.latency.max", { 16, 175, 23 } },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Below this many events a percentage says nothing: a hundred cold fills are noise of one. */
#define FEW			100
/* By less than this many cycles a probe's iteration may differ. */
#define PROBE_APART		0.01
/* By how many events such counts may differ. */
#define FEW_APART		10

struct summary {
	double sum, worst;
	double ours, theirs;
	unsigned int n, missing, apart;
	const char *where;
};

static double error_of(double ours, double theirs)
{
	return theirs ? 100 * (ours - theirs) / theirs : ours ? INFINITY : 0;
}

static bool few(double ours, double theirs)
{
	return fabs(theirs) < FEW && fabs(ours - theirs) < FEW;
}

static double ours_of(const struct metric *m, const struct outcome *o)
{
	return m->count ? m->count(o) : outcome_number(o, m->ours);
}

static void take(struct summary *s, double ours, double theirs, const char *where)
{
	double error = error_of(ours, theirs);

	if (ours < 0) {
		s->missing++;
		return;
	}
	s->ours += ours;
	s->theirs += theirs;
	if (few(ours, theirs)) {
		s->apart += fabs(ours - theirs) > FEW_APART;
		return;
	}
	s->sum += fabs(error);
	s->n++;
	if (fabs(error) > s->worst || !s->where) {
		s->worst = fabs(error);
		s->where = where;
	}
}

/* False: an aim was missed. */
static bool summary_line(const struct metric *m, const struct reference *ref,
			 const struct outcome *outcomes, bool all)
{
	struct summary s = { 0 };
	double mean, sum;
	bool bad;

	for (unsigned int i = 0; i < ref->n; i++)
		if (outcomes[i].done)
			take(&s, ours_of(m, &outcomes[i]), json_number(ref->numbers[i], m->theirs),
			     ref->runs[i].name);
	mean = s.n ? s.sum / s.n : 0;
	sum = error_of(s.ours, s.theirs);
	bad = s.missing || s.apart || (m->aim.worst && s.worst > m->aim.worst) ||
	      (all && m->aim.mean && mean > m->aim.mean) || (all && fabs(sum) > m->aim.sum);
	printf("%-14s mean %6.2f%%  sum %+7.2f%%  worst %6.2f%%  %-34s", m->label, mean, sum, s.worst,
	       s.where ? s.where : "");
	if (m->aim.worst)
		printf(" aim: mean %g%%, sum %g%%, worst %g%%", m->aim.mean, m->aim.sum, m->aim.worst);
	else
		printf(" aim: sum %g%%", m->aim.sum);
	if (s.missing)
		printf(", not counted in %u runs", s.missing);
	if (s.apart)
		printf(", few but more than %d apart in %u runs", FEW_APART, s.apart);
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
	else if (few(ours, theirs))
		printf(" %9.0f /%8.0f %+6.0f ", ours, theirs, ours - theirs);
	else
		printf(" %9.0f /%8.0f %+6.1f%%", ours, theirs, error_of(ours, theirs));
}

/* The first table and what is to be equal in it; false: it is not. */
static bool table_counts(const struct reference *ref, const struct outcome *outcomes)
{
	unsigned int wrong = 0, insns = 0, rounded = 0;

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
		print_pair(cycles_of(o), json_number(r, run_cycles.theirs));
		for (size_t m = 0; m < COUNT(counts); m++)
			print_pair(ours_of(&counts[m], o), json_number(r, counts[m].theirs));
		printf(o->right ? "\n" : "  WRONG: %s\n", o->why);
	}
	printf("\n%-14s %u of %u runs%s\n", "results wrong", wrong, ref->n, wrong ? "  MISSED" : "");
	printf("%-14s %u of %u runs differ%s\n", "instructions", insns, ref->n, insns ? "  MISSED" : "");
	if (rounded)
		printf("%-14s %u runs differ by exactly what rounding fma once, not twice, changes\n", "", rounded);
	return !wrong && !insns;
}

/*
 * The reference does not count an SM without work; here that is no_warp, as a scheduler without
 * warps on a busy SM is.
 */
static double idle_of(const struct outcome *o)
{
	double cycles = cycles_of(o), idle = 0;
	struct json_object *sms, *sm, *stalls;

	if (!json_object_object_get_ex(o->statistics, "sms", &sms))
		return -1;
	for (size_t i = 0; i < json_object_array_length(sms); i++) {
		double slots = 0, asleep = 0;

		sm = json_object_array_get_idx(sms, i);
		if (!json_object_object_get_ex(sm, "stalls", &stalls))
			return -1;
		json_object_object_foreach(stalls, why, n) {
			(void)why;
			slots += json_object_get_double(n);
		}
		asleep = slots / cycles * (cycles - json_number(sm, "busy_cycles"));
		idle += json_number(sm, "stalls.ibuffer") + json_number(sm, "stalls.barrier") +
			fmax(0, json_number(sm, "stalls.no_warp") - asleep);
	}
	return idle;
}

static double scoreboard_of(const struct outcome *o)
{
	return outcome_number(o, "kernels.0.stalls.long_latency") +
	       outcome_number(o, "kernels.0.stalls.short_latency");
}

static void table_causes(const struct reference *ref, const struct outcome *outcomes)
{
	printf("\nwhere the schedulers' cycles went, ours / reference, and memory\n%-34s", "run");
	for (size_t m = 0; m < COUNT(causes); m++)
		printf(" %19s %7s", causes[m].label, "");
	printf("\n");
	for (unsigned int i = 0; i < ref->n; i++) {
		const struct outcome *o = &outcomes[i];
		struct json_object *r = ref->numbers[i];

		if (!o->done)
			continue;
		printf("%-34s", ref->runs[i].name);
		for (size_t m = 0; m < COUNT(causes); m++)
			print_pair(ours_of(&causes[m], o), json_number(r, causes[m].theirs));
		printf("\n");
	}
}

/*
 * Two lengths of a probe: the difference is the loop alone, cold misses cancel. What is left is
 * a latency, and equal; false: it is not.
 */
static bool table_probes(const struct reference *ref, const struct outcome *outcomes)
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

	bool good = true;

	for (size_t k = 0, titled = 0; k < COUNT(probes); k++) {
		double cycles[2] = { 0, 0 }, theirs[2] = { 0, 0 };
		unsigned int found = !probes[k].shorter;
		bool equal;

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
		cycles[1] = (cycles[1] - cycles[0]) / probes[k].iterations;
		theirs[1] = (theirs[1] - theirs[0]) / probes[k].iterations;
		equal = fabs(cycles[1] - theirs[1]) < PROBE_APART;
		printf("%-34s %9.3f /%8.3f%s\n", probes[k].what, cycles[1], theirs[1], equal ? "" : "  MISSED");
		good &= equal;
	}
	return good;
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
	good &= summary_line(&run_cycles, &ref, outcomes, !*select);
	for (size_t m = 0; m < COUNT(counts); m++)
		good &= summary_line(&counts[m], &ref, outcomes, !*select);
	for (size_t m = 0; m < COUNT(causes); m++)
		good &= summary_line(&causes[m], &ref, outcomes, !*select);
	good &= table_probes(&ref, outcomes);
	if (!quiet)
		table_causes(&ref, outcomes);
	for (unsigned int i = 0; i < ref.n; i++)
		outcome_free(&outcomes[i]);
	free(outcomes);
	reference_free(&ref);
	return !good;
}
