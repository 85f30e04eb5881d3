/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A grid on the CPU: each thread of a CTA is a fiber, and the CTAs run one
 * after the other. What threads do together (barriers, votes, shuffles) is
 * here, by the words of the CUDA and PTX manuals; nothing is shared with the engine,
 * for which this is the reference. Used by cpu.h (kernels) and the runner.
 */
#ifndef TESTS_DIFFERENTIAL_LANES_H
#define TESTS_DIFFERENTIAL_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "case.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The thread that runs now: what the kernels read of it. */
struct lane_self {
	struct diff_dims tid, cta, block, grid;
	unsigned int linear;	/* in its CTA */
	unsigned int dynamic_bytes;
	void *dynamic;		/* shared memory sized at launch */
};
extern struct lane_self lane_self;

enum lane_barrier { LANE_SYNC, LANE_ARRIVE, LANE_POPC, LANE_AND, LANE_OR };
/* threads 0: all of the CTA that have not ended. */
unsigned int lane_barrier(unsigned int barrier, unsigned int threads, enum lane_barrier kind,
			  int predicate);

enum lane_meet {
	LANE_MEET, LANE_ACTIVE, LANE_ALL, LANE_ANY, LANE_UNI, LANE_BALLOT, LANE_SHFL,
	LANE_MATCH_ANY, LANE_MATCH_ALL,
	LANE_RED_ADD, LANE_RED_MINU, LANE_RED_MAXU, LANE_RED_MINS, LANE_RED_MAXS,
	LANE_RED_AND, LANE_RED_OR, LANE_RED_XOR,
};
/*
 * Waits until every lane of `mask` has come (0: every lane of the warp that has not
 * ended) and returns this lane's result. SHFL: `from` is the lane whose value is read.
 */
uint64_t lane_meet(enum lane_meet kind, uint32_t mask, uint64_t value, unsigned int from);

void lane_exit(void) __attribute__((noreturn));
void lane_yield(void);	/* lets the others run: for loops that wait for a store */
int lane_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For the runner. NULL, or what went wrong. *printed is what the kernel printed, malloc'd. */
const char *lane_run_grid(const struct diff_case *c, const void *params, char **printed);

#ifdef __cplusplus
}
#endif

#endif
