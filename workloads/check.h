/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comparisons with the CPU's results, bit for bit, for the verify functions of
 * workloads. Not the references themselves: those are each workload's own.
 */
#ifndef GPUEMU_WORKLOADS_CHECK_H
#define GPUEMU_WORKLOADS_CHECK_H

#include "workload.h"

/*
 * 0, or -EBADMSG with w->err naming the first of n elements that differs. `what` and
 * the element's number, counted from `first`, are how the message calls it.
 */
int check_floats(struct workload *w, const char *what, uint64_t first,
		 const float *got, const float *want, uint64_t n);
int check_ints(struct workload *w, const char *what, uint64_t first,
	       const int32_t *got, const int32_t *want, uint64_t n);
int check_words(struct workload *w, const char *what, uint64_t first,
		const uint32_t *got, const uint32_t *want, uint64_t n);
int check_bytes(struct workload *w, const char *what, uint64_t first,
		const uint8_t *got, const uint8_t *want, uint64_t n);

/* Memory of the CPU's for a reference, zeroed; NULL: w->err says so. */
void *check_memory(struct workload *w, uint64_t count, size_t size);

#endif
