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
	/* Each SM's counts when its kernel's sample began. */
	struct sampling_mark {
		uint64_t issued;	/* instructions of its kernel */
		uint64_t waited, faulted;	/* scheduler cycles that waited for memory, for far faults */
		uint64_t lines;		/* that it had from behind L1D */
		uint64_t cycles, ctas;	/* in which its kernel had CTAs there; their sum over these */
		uint64_t retired;	/* CTAs of its kernel */
		uint64_t at;		/* the cycle of it */
		const struct dispatch_kernel *owner;	/* the SM's kernel; NULL: it has left */
		unsigned int limit;	/* CTAs that the SM may hold of it */
	} *marks;
	/* The SM's own counts when the sample of all began. */
	struct sampling_start {
		uint64_t lines, ctas;
	} *starts;
	uint64_t marked;		/* the cycle of it */
};

/* -ENOMEM. */
int sampling_create(struct sampling *s, const struct dispatch *d);
void sampling_destroy(struct sampling *s);

struct sampled *sampling_of(struct sampling *s, const struct dispatch_kernel *k);
/* Is no running kernel to be sampled: its curve is known, or its pages arrive? */
bool sampling_none(const struct sampling *s, const struct dispatch *d);
/*
 * Is the kernel's curve known, or can it be guessed from launches that ended too soon to be
 * sampled?
 */
bool sampling_settled(const struct sampling *s, const struct dispatch *d,
		      const struct dispatch_kernel *k);

/*
 * A kernel has come: `kept` is of its earlier launches, also that it waits for pages; NULL: it is
 * to be sampled.
 */
void sampling_arrived(struct sampling *s, const struct dispatch_kernel *k,
		      const struct sampled *kept);
/* It is not known any more, and does not wait for pages: it is to be sampled from one CTA on. */
void sampling_forget(struct sampling *s, const struct dispatch_kernel *k);
/*
 * The layout is that of the next samples from here on: of a kernel that was being sampled as
 * another came or went, the counts that it has not had.
 */
void sampling_begin(struct sampling *s, const struct dispatch *d, uint64_t now);
/*
 * A kernel leaves. While it was to be sampled, what it did since its marks is its sample, though
 * only for want of a better one if that was a warm-up (`cold`).
 */
void sampling_left(struct sampling *s, const struct dispatch *d, const struct dispatch_kernel *k,
		   bool cold, uint64_t now);
/*
 * Another launch may have taken the place of one that left: sampling goes on with it. `warm`: there
 * is a warm-up yet.
 */
void sampling_join(struct sampling *s, const struct dispatch *d, const struct dispatch_kernel *k,
		   bool warm, uint64_t now);
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
/* Has a kernel just come, of which nothing is known and of which the sample would say little? */
bool sampling_too_short(const struct sampling *s, const struct dispatch *d, uint64_t now);
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
/*
 * Guesses the curves that are still not known: from what samples there are. Behind these, or
 * without, each further CTA gains as much as those before.
 */
void sampling_guess(struct sampling *s, const struct dispatch *d);

#endif
