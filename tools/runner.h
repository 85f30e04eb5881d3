/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one runner of many runs. Each run is a child `gpuemu run ... --json`, several run at a time,
 * and each runs once. `gpuemu study` and `gpuemu sweep` use it; it knows no paper and no table.
 *
 *	struct runner r = { .who = "gpuemu study", .dir = "out", .jobs = 4 };
 *
 *	runner_begin(&r, &err);
 *	for (...)
 *		runner_want(&r, "bfs", "run bfs --backend sim --set gpu.sms=8", 0);
 *	runner_execute(&r);
 *	cycles = run_number(runner_want(&r, "bfs", "run bfs ...", 0), "totals.cycles");
 *	runner_end(&r);
 *
 * The same words give the same run, so wanting it again looks it up. The runner keeps its report
 * in DIR/runs under a digest of all that can change it: the words; the bytes of the program; the
 * PTX of every workload among the words; the whole configuration behind --config; the bytes of
 * every file that a word names (a policy, a recorded run). So a kept report is right,
 * and its run is not repeated. A report gets its name when its run has ended well, never before:
 * after a kill -9, too, the same command goes on from there.
 */
#ifndef GPUEMU_TOOLS_RUNNER_H
#define GPUEMU_TOOLS_RUNNER_H

#include <json-c/json.h>
#include <sys/types.h>

#include "base/base.h"
#include "digest.h"

/* Runs of one name are expected to take equally long. */
struct run_group {
	char *name;
	double seconds;			/* seconds of the finished runs of this name together */
	unsigned int known;		/* how many those are */
	struct run_group *next;
};

struct run {
	char *args;			/* the run's words, separated by blanks; {dir} is the runner's folder */
	char *id;			/* its file's name, without ending: NAME-DIGEST */
	char *product;			/* a file that it leaves beside its report, or NULL */
	struct run_group *group;
	/*
	 * NULL: not done, or failed. It lacks kernels and SMs, but has `stalls` (the sum
	 * over all SMs) and `warps` (the mean of them).
	 */
	struct json_object *report;
	unsigned int repeat;		/* RUN_REPEAT()'s */
	bool alone;			/* RUN_ALONE */
	bool failed, elsewhere;		/* another shard does it */
	char why[256];			/* it failed */
	double seconds;			/* seconds that the run took here; 0: not done here */
	/* While it runs. */
	pid_t pid;
	uint64_t began;			/* ns */
};

/* Flags of runner_want(). */
enum {
	RUN_ALONE = 1,			/* a run that measures: no other runs beside it */
	RUN_EVERYWHERE = 2,		/* every shard needs this run's report */
};
/* Counts runs of the same words (0: the first); each is a run of its own. */
#define RUN_REPEAT(n)	((unsigned int)(n) << 8)

struct runner {
	/* The caller sets these before runner_begin(). */
	const char *who;		/* the begin of each message: "gpuemu study" */
	const char *dir;		/* no blank in it */
	const char *program;		/* NULL: the one that runs */
	unsigned int jobs;		/* runs at a time, at least 1 */
	const char *what;		/* NULL: "runs"; else what is done now, for who stops it */
	unsigned int limit;		/* seconds a run may take; 0: any */
	unsigned int shard, shards;	/* does every shards-th run from the shard-th (1..); 0: all */
	/* The PTX of the workload of that name, false: it is none; NULL: workload_find()'s. */
	bool (*ptx)(const char *word, const char **begin, const char **end);

	/* For reading. */
	struct run **runs;		/* in the order in which they were wanted first */
	size_t nruns;
	unsigned int failures;
	int stopped;			/* by this signal; 0: not */

	/* The runner's own. */
	char program_digest[DIGEST_TEXT];
	char *scratch;			/* folder of the runs that are under way */
	struct run_group *groups;
	void *by_args, *known;		/* trees of tsearch() */
	unsigned int running;
	size_t shared;			/* runs that shards share */
	uint64_t told;			/* when the progress line was shown last, ns */
};

/* The number of CPUs that this process may use: for `jobs`. */
unsigned int runner_cpus(void);

/* Makes the folders. -errno: err says which one it cannot make. */
int runner_begin(struct runner *r, struct err *err);
/*
 * Frees everything but the caller's members; kept reports stay. Also after a runner_begin()
 * that failed.
 */
void runner_end(struct runner *r);

/*
 * The run with these words, which are gpuemu's after its own name; new ones are done by the next
 * runner_execute(). `name` is what it is called in file names and estimates: the workloads'.
 */
struct run *runner_want(struct runner *r, const char *name, const char *args, unsigned int flags);
/* The run also leaves this file ({dir} as in words). Without the file the run is not done. */
void runner_product(struct run *run, const char *file);
/*
 * Does the wanted runs that have no report. It tells of a failed run at once, counts it, leaves
 * its report NULL and does the others. SIGINT, SIGTERM and SIGHUP (unless they are ignored) end
 * the children and set `stopped`; what is finished stays.
 */
void runner_execute(struct runner *r);
/* Takes the reports that other shards have kept in the meantime. */
void runner_look_again(struct runner *r);
/*
 * The number of wanted runs that have neither a report nor a failure, without other shards'
 * runs.
 */
size_t runner_missing(const struct runner *r);
/*
 * A number of the run's report, "paging.latency_ns.p50"; NAN if the run failed or has no
 * such member.
 */
double run_number(const struct run *run, const char *path);
/*
 * The next combination of n choices, each at[i] from 0 to sizes[i] - 1, the last one fastest: a
 * loop over all starts with zeros and goes on while it is true. No size is 0.
 */
bool runner_next(size_t *at, const size_t *sizes, size_t n);
/* `text` with the runner's folder for each {dir}; the caller frees it. */
char *runner_expand(const struct runner *r, const char *text);

/* --- between the runner's files, and for its tests --------------------------------------- */

/* runner_keep.c: what reports are kept under, and as. */
char *run_digest(struct runner *r, const char *name, const char *args, unsigned int repeat);
/* Takes the kept report; false: there is none, or its run failed. */
bool run_take(const struct runner *r, struct run *run);
/* Files of a run under way: its report and its messages. The caller frees the name. */
char *run_scratch(const struct runner *r, const struct run *run, const char *ending);
/* Makes the finished report the kept one. -errno with run->why. */
int run_keep(const struct runner *r, struct run *run);
/* Keeps the messages of a failed run, and takes the last line for run->why. */
void run_complain(const struct runner *r, struct run *run);
void runner_forget(struct runner *r);

/* runner_child.c: one run as a process. */
/* -errno with run->why. `mask` is what the child has blocked (a sigset_t). */
int run_start(const struct runner *r, struct run *run, const void *mask);

/* runner_estimate.c */
/* `seconds` more of this run's kind are known. */
void run_took(struct run *run, double seconds);
struct runner_estimate {
	size_t done, all;		/* of the runs that this execution does */
	double share;			/* of its work that is done, by time; NAN: unknown */
	double remaining;		/* seconds; NAN: unknown */
};
/* At the time `now` (ns); `first` and `done`: what was missing at first, what has ended since. */
struct runner_estimate runner_estimate(const struct runner *r, size_t done, size_t all,
				       uint64_t now);
/* "1h02m", "3m20s", "45s" */
const char *runner_duration(char text[24], double seconds);
/* Shows a line on the terminal, and replaces it each time; in a log it shows one now and then. */
void runner_progress(struct runner *r, size_t done, size_t all, const struct run *latest,
		     uint64_t now);
void runner_progress_end(void);

#endif
