/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the study warped-slicer. */
#ifndef GPUEMU_TOOLS_STUDY_WARPED_SLICER_H
#define GPUEMU_TOOLS_STUDY_WARPED_SLICER_H

#include "study.h"

#define NONE	((double)NAN)

enum slicer_type { MEMORY, COMPUTE, CACHE };

/* A row of table II. */
struct slicer_program {
	const char *abbr, *name;
	enum slicer_type type;
	double grid, block, reg, shm, alu, sfu, ls, mpki, inst;
};

/* A kernel of a pair or of a set of three: operands with its target. */
#define SLICER_SET	3
struct slicer_set {
	const struct study_workload *w[SLICER_SET];
	const struct slicer_program *p[SLICER_SET];
	size_t n;
	char name[32];			/* "DXT_MVP" */
};

/* study_warped_slicer.c: its programs that this study has; NULL past the end. */
const struct study_workload *slicer_workload(const struct study_ctx *c, size_t i);
/* NULL: it is none of the paper's. */
const struct slicer_program *slicer_program(const char *name);
/* Cycles that a program runs alone for its target. */
unsigned int slicer_cycles(const struct study_ctx *c);

/* A program alone, up to the target's cycles. */
struct run *slicer_alone(struct study_ctx *c, const struct study_workload *w, const char *more);
/* Its target, thread instructions; NAN: its run has failed. */
double slicer_target(struct study_ctx *c, const struct study_workload *w);
/* CTAs of it that an SM holds. */
unsigned int slicer_ctas(struct study_ctx *c, const struct study_workload *w);
/* Its IPC in thread instructions, with this many CTAs on an SM; NAN: not run. */
double slicer_ipc(struct study_ctx *c, const struct study_workload *w, unsigned int ctas);
/* The programs side by side, each up to its target; NULL: a target is not known. */
struct run *slicer_beside(struct study_ctx *c, const struct slicer_set *set, const char *more);

/* All pairs of the study in the paper's order, compute with cache, memory, compute. */
size_t slicer_pairs(const struct study_ctx *c, struct slicer_set *sets, size_t room);
/* With --quick the oracle and all pairs of the sensitivity take most of the time: only with --only. */
bool slicer_tries_all(const struct study_ctx *c);
size_t slicer_triples(const struct study_ctx *c, struct slicer_set *sets, size_t room);
#define SLICER_SETS	64

/* Figure 6's policies, the baseline first. */
enum { LEFT_OVER, SPATIAL, EVEN, DYNAMIC, SLICER_POLICIES };
extern const char *const slicer_policies[SLICER_POLICIES];

/* The set under a policy of gpuemu list dispatchers. */
struct run *slicer_policy(struct study_ctx *c, const struct slicer_set *set, const char *policy);
/* Under a partition, so many CTAs of each. */
struct run *slicer_fixed(struct study_ctx *c, const struct slicer_set *set,
			 const unsigned int *ctas);
/* Do so many CTAs of each fit an SM, or a K-th of each resource (part K, else 1)? */
bool slicer_fits(struct study_ctx *c, const struct slicer_set *set, const unsigned int *ctas,
		 unsigned int part);

/* --- numbers of a run side by side -------------------------------------------------- */

/* The cycle in which the i-th program reached its target. */
double slicer_reached(const struct run *run, size_t i);
/* The pair's: when the last one did. */
double slicer_time(const struct run *run, size_t n);
/* Over alone: cycles alone over cycles beside the others. */
double slicer_speedup(struct study_ctx *c, const struct slicer_set *set, const struct run *run,
		      size_t i);
/* The smallest; and the mean of the inverse. */
double slicer_fairness(struct study_ctx *c, const struct slicer_set *set, const struct run *run);
double slicer_antt(struct study_ctx *c, const struct slicer_set *set, const struct run *run);
/* CTAs of the i-th program in the partition that dynamic chose; 0: it split the SMs; NAN. */
double slicer_chosen(const struct run *run, size_t i);

/* The parts, study_warped_slicer_*.c. */
void slicer_show_table1(struct study_ctx *c);
void slicer_want_alone(struct study_ctx *c);
void slicer_show_table2(struct study_ctx *c);
void slicer_show_stalls(struct study_ctx *c);
void slicer_want_curves(struct study_ctx *c);
void slicer_show_curves(struct study_ctx *c);
void slicer_want_window(struct study_ctx *c);
void slicer_show_window(struct study_ctx *c);
void slicer_want_pairs(struct study_ctx *c);
void slicer_show_pairs(struct study_ctx *c);
void slicer_want_partitions(struct study_ctx *c);
void slicer_show_partitions(struct study_ctx *c);
void slicer_show_fairness(struct study_ctx *c);
void slicer_show_use(struct study_ctx *c);
void slicer_want_oracle(struct study_ctx *c);
void slicer_show_oracle(struct study_ctx *c);
void slicer_want_triples(struct study_ctx *c);
void slicer_show_triples(struct study_ctx *c);
void slicer_want_paging(struct study_ctx *c);
void slicer_show_paging(struct study_ctx *c);
void slicer_want_sensitivity(struct study_ctx *c);
void slicer_show_sensitivity(struct study_ctx *c);

#endif
