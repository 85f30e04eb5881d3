/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Warped-Slicer's arithmetic (Xu et al., ISCA 2016, section IV). It makes a kernel's curve of
 * performance over CTAs of samples from several SMs, and says how many CTAs of each kernel an SM
 * then holds. All functions are pure. The dispatch (gpu/dispatch/) decides when to sample and which
 * kernel gets an SM.
 */
#ifndef GPUEMU_SLICER_SLICER_H
#define GPUEMU_SLICER_SLICER_H

#include "base/base.h"

/* The most CTAs of a curve. An SM that could hold more is treated as if it held these. */
#define SLICER_CTAS	64u

/* What a CTA takes of an SM: 32-bit registers, bytes of shared memory, warp slots, CTA slots. */
enum slicer_resource {
	SLICER_REGISTERS, SLICER_SHARED, SLICER_WARPS, SLICER_SLOTS,
	SLICER_RESOURCES
};

/*
 * A kernel's performance with 1 to `ctas` CTAs on an SM: at[j] is the one with j + 1. The unit does
 * not matter. A curve of zeros counts as flat.
 */
struct slicer_curve {
	unsigned int ctas;		/* 1 to SLICER_CTAS */
	double at[SLICER_CTAS];
};

/* What one SM measured of a kernel while it held some of its CTAs. */
struct slicer_sample {
	double ctas;			/* that the SM held, averaged over the sample */
	double ipc;			/* warp instructions a cycle */
	double memory;			/* phi_mem: share of cycles that waited for memory */
	double bytes;			/* bytes a cycle that came from behind L1D */
};

/*
 * Equations 3 and 4: the IPC that the sample's SM would have if all SMs held as many CTAs as it
 * does. `average` is the mean number of CTAs of the SMs that were sampled.
 */
double slicer_scale(const struct slicer_sample *sample, double average);

/*
 * This serves equation 3's purpose without equation 4: the IPC of the sample's SM if it had no more
 * than `fair` bytes a cycle. Each SM has that many if all SMs hold these CTAs and memory binds.
 */
double slicer_cut(const struct slicer_sample *sample, double fair);

/*
 * Sets curve->at to the curve through the scaled samples. The curve has straight lines from zero
 * CTAs to the first sample and from each sample to the next, and is flat behind the last one.
 * Without samples (n is 0) it is flat. The function sorts `sample` by CTAs.
 */
void slicer_curve(struct slicer_sample *sample, unsigned int n, double average,
		  struct slicer_curve *curve);

/*
 * Algorithm 1, water-filling: sets ctas[i] for each of n kernels. The kernel that loses most of its
 * best performance loses as little as it can (equation 1). The other kernels then get what is
 * left, in turn. needs[i] is what one CTA of kernel i takes. False: one CTA of each kernel does not
 * fit, and ctas is not set. n is 16 at most.
 */
bool slicer_fill(const struct slicer_curve *const curve[], const uint64_t needs[][SLICER_RESOURCES],
		 unsigned int n, const uint64_t have[SLICER_RESOURCES], unsigned int ctas[]);
#define SLICER_KERNELS	16u

/* The share of its best performance that a kernel has with so many CTAs or fewer: 0 to 1. */
double slicer_performance(const struct slicer_curve *curve, unsigned int ctas);

/*
 * Whether a kernel loses more than percent / n of its best performance. The paper has 120 percent.
 * If one does, the kernels do not share SMs.
 */
bool slicer_loses_too_much(const struct slicer_curve *const curve[], const unsigned int ctas[],
			   unsigned int n, unsigned int percent);

#endif
