// SPDX-License-Identifier: GPL-2.0
/*
 * The comparisons of check.h. Whole rows are compared at once and elements only
 * to find the one to name, since references are as large as the footprint.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* The number of the first element that differs, n if none does. */
static uint64_t first_wrong(const void *got, const void *want, uint64_t n, size_t size)
{
	const char *g = got, *c = want;
	uint64_t i = 0;

	if (!memcmp(g, c, n * size))
		return n;
	while (!memcmp(g + i * size, c + i * size, size))
		i++;
	return i;
}

int check_floats(struct workload *w, const char *what, uint64_t first,
		 const float *got, const float *want, uint64_t n)
{
	uint64_t i = first_wrong(got, want, n, sizeof(*got));

	if (i == n)
		return 0;
	return err_set(&w->err, -EBADMSG, "%s[%" PRIu64 "] is %a, the CPU says %a (%g, %g)",
		       what, first + i, got[i], want[i], got[i], want[i]);
}

int check_ints(struct workload *w, const char *what, uint64_t first,
	       const int32_t *got, const int32_t *want, uint64_t n)
{
	uint64_t i = first_wrong(got, want, n, sizeof(*got));

	if (i == n)
		return 0;
	return err_set(&w->err, -EBADMSG, "%s[%" PRIu64 "] is %d, the CPU says %d",
		       what, first + i, got[i], want[i]);
}

int check_words(struct workload *w, const char *what, uint64_t first,
		const uint32_t *got, const uint32_t *want, uint64_t n)
{
	uint64_t i = first_wrong(got, want, n, sizeof(*got));

	if (i == n)
		return 0;
	return err_set(&w->err, -EBADMSG, "%s[%" PRIu64 "] is %u, the CPU says %u",
		       what, first + i, got[i], want[i]);
}

int check_bytes(struct workload *w, const char *what, uint64_t first,
		const uint8_t *got, const uint8_t *want, uint64_t n)
{
	uint64_t i = first_wrong(got, want, n, sizeof(*got));

	if (i == n)
		return 0;
	return err_set(&w->err, -EBADMSG, "%s[%" PRIu64 "] is %u, the CPU says %u",
		       what, first + i, got[i], want[i]);
}

void *check_memory(struct workload *w, uint64_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		err_set(&w->err, -ENOMEM, "no memory for the CPU's reference (%" PRIu64 " x %zu bytes)",
			count, size);
	return memory;
}
