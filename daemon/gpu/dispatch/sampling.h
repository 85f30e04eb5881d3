/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How dispatch dynamic samples kernels (Warped-Slicer, section IV-A): how many CTAs
 * of which kernel each SM holds during a sample, what the SMs execute then, and the curves that
 * follow. dynamic.c decides when to sample, and what to do with the curves.
 */
#ifndef GPUEMU_GPU_DISPATCH_SAMPLING_H
#define GPUEMU_GPU_DISPATCH_SAMPLING_H

#include "gpu/dispatch.h"
#include "gpu/dispatch/profiles.h"
#include "slicer/slicer.h"

/* Percent of an SM's scheduler cycles: if more of them wait for far faults, pages are arriving. */
#define SAMPLING_ARRIVING	25u

struct sampling {
	struct sampled kernels[SM_KERNELS];	/* by slot */
	/* Each SM's counts when the sample began. */
	struct sampling_mark {
		uint64_t issued;	/* instructions of its kernel */
		uint64_t waited, faulted;	/* scheduler cycles that waited for memory, for far faults */
		uint64_t lines;		/* that it had from behind L1D */
		uint64_t retired;	/* CTAs of its kernel */
		uint64_t at;		/* the cycle of it */
		const struct dispatch_kernel *owner;	/* the SM's kernel; NULL: it has left */
	} *marks, *kept;
	uint64_t marked;		/* the cycle of the last marks of all */
};

/* -ENOMEM. */
int sampling_create(struct sampling *s, const struct dispatch *d);
void sampling_destroy(struct sampling *s);

struct sampled *sampling_of(struct sampling *s, const struct dispatch_kernel *k);
/* Are the curves of all running kernels known? */
bool sampling_all_known(const struct sampling *s, const struct dispatch *d);

/* A kernel has come: `kept` is of its earlier launches; NULL: it is to be sampled. */
void sampling_arrived(struct sampling *s, const struct dispatch_kernel *k,
		      const struct sampled *kept);
/* It is not known any more, and does not wait for pages: it is to be sampled from one CTA on. */
void sampling_forget(struct sampling *s, const struct dispatch_kernel *k);
/*
 * The layout is that of the next samples from here on: of a kernel that was being sampled as
 * another came or went, the counts that it has not had.
 */
void sampling_begin(struct sampling *s, const struct dispatch *d, uint64_t now);
/* How many CTAs of the i-th kernel the SM may hold. */
unsigned int sampling_limit(const struct sampling *s, const struct dispatch *d, unsigned int i,
			    unsigned int sm);
/* An SM of a kernel that is sampled holds CTAs of another. */
bool sampling_disturbed(const struct sampling *s, const struct dispatch *d);
/*
 * Leaves kernels out whose SMs waited for far faults since the last mark. False: none is left
 * to be sampled.
 */
bool sampling_choose(struct sampling *s, const struct dispatch *d, uint64_t now);
/*
 * Has each SM of a kernel that is sampled ended as many CTAs as it holds since the last mark? An SM
 * without a next CTA is not waited for.
 */
bool sampling_whole(const struct sampling *s, const struct dispatch *d);
/*
 * A kernel leaves while a sample of whole CTAs lasts. This keeps the marks of those that stay: if
 * another kernel comes at once, their samples can go on.
 */
void sampling_pause(struct sampling *s, const struct dispatch *d,
		    const struct dispatch_kernel *leaves);
/* After sampling_begin(): goes on with what was paused. False: an SM holds another kernel's CTAs. */
bool sampling_resume(struct sampling *s, const struct dispatch *d);
/* A sample begins. */
void sampling_mark(struct sampling *s, const struct dispatch *d, uint64_t now);
/*
 * A sample ends. Kernels that have had all counts and were seen to
 * run are known, and kept in `profiles`. True: some have not; the layout is that of their next
 * sample, and what waits for far faults is counted from here on.
 */
bool sampling_end(struct sampling *s, const struct dispatch *d, struct profiles *profiles,
		  uint64_t now);
/* Keeps what is known of the kernel for its next launch, also samples that are not all (slicer.reuse). */
void sampling_keep(const struct sampling *s, const struct dispatch *d, struct profiles *profiles,
		   const struct dispatch_kernel *k);
/* Guesses the curves that are still not known: each further CTA gains as much as the first. */
void sampling_guess(struct sampling *s, const struct dispatch *d);

#endif
