/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Warped-Slicer's arithmetic (Xu et al., ISCA 2016, section IV): what a kernel's curve of
 * performance over CTAs is, from samples of several SMs, and how many CTAs of each kernel an SM
 * then holds. Pure functions; when to sample and who gets an SM is dispatch's (gpu/).
 */
#ifndef GPUEMU_SLICER_SLICER_H
#define GPUEMU_SLICER_SLICER_H

#include "base/base.h"

/* CTAs of one kernel that a curve goes to; an SM that could hold more is treated as if it could not. */
#define SLICER_CTAS	64u

/* What CTAs take of an SM: 32-bit registers, bytes, warp slots, CTA slots. */
enum slicer_resource {
	SLICER_REGISTERS, SLICER_SHARED, SLICER_WARPS, SLICER_SLOTS,
	SLICER_RESOURCES
};

/*
 * A kernel's performance with 1 to `ctas` CTAs on an SM: at[j] is that with j + 1. Any unit; a
 * curve of zeros is flat.
 */
struct slicer_curve {
	unsigned int ctas;		/* 1 to SLICER_CTAS */
	double at[SLICER_CTAS];
};

/* What one SM showed of a kernel while it held so many of its CTAs. */
struct slicer_sample {
	double ctas;			/* on average over the sample */
	double ipc;			/* warp instructions a cycle */
	/*
	 * Of its schedulers' cycles, those in which every warp waited for memory (phi_mem): 0 to 1.
	 */
	double memory;
	double bytes;			/* that it had from behind L1D, a cycle */
};

/*
 * Equations 3 and 4: the IPC that the sample's SM would have if all SMs held as many CTAs as it
 * does. `average` is that of CTAs over the SMs that were sampled.
 */
double slicer_scale(const struct slicer_sample *sample, double average);

/*
 * What equation 3 is for, without equation 4: the IPC of the sample's SM if it had no more than
 * `fair` bytes a cycle. With its CTAs on all SMs each has that, if memory binds.
 */
double slicer_cut(const struct slicer_sample *sample, double fair);

/*
 * The curve through the samples, scaled: between two it is a straight line, before the first one
 * to zero CTAs, behind the last it is flat. n may be 0: flat. `sample` is sorted by CTAs.
 */
void slicer_curve(struct slicer_sample *sample, unsigned int n, double average,
		  struct slicer_curve *curve);

/*
 * Algorithm 1, water-filling: sets ctas[i] for each of n kernels, so that the kernel that loses
 * most of its best performance loses as little as can be (equation 1), and what then is left
 * goes to the others in turn. needs[i] is one CTA's. False: one CTA of each does not fit;
 * ctas is not set. 16 kernels at most.
 */
bool slicer_fill(const struct slicer_curve *const curve[], const uint64_t needs[][SLICER_RESOURCES],
		 unsigned int n, const uint64_t have[SLICER_RESOURCES], unsigned int ctas[]);
#define SLICER_KERNELS	16u

/* What of its best performance the kernel has with so many CTAs or fewer: 0 to 1. */
double slicer_performance(const struct slicer_curve *curve, unsigned int ctas);

/*
 * Does a kernel lose more than the n kernels may on one SM: percent / n of its best? The paper's
 * percent is 120. Then they do not share SMs.
 */
bool slicer_loses_too_much(const struct slicer_curve *const curve[], const unsigned int ctas[],
			   unsigned int n, unsigned int percent);

#endif
