// SPDX-License-Identifier: GPL-2.0
/* Raw faults to a batch. A service without the module calls this: sim and uffd. */
#include "service/batch.h"

#include <stdlib.h>

/* A total order, so that the result does not depend on how qsort() works. */
static int compare_faults(const void *a, const void *b)
{
	const struct fault *x = a, *y = b;

	if (x->va_space != y->va_space)
		return x->va_space < y->va_space ? -1 : 1;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->cycle != y->cycle)
		return x->cycle < y->cycle ? -1 : 1;
	if (x->sm != y->sm)
		return x->sm < y->sm ? -1 : 1;
	if (x->warp != y->warp)
		return x->warp < y->warp ? -1 : 1;
	return (x->access > y->access) - (x->access < y->access);
}

unsigned int batch_merge(struct fault *faults, unsigned int n)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < n; i++)
		faults[i].addr &= ~(PAGE_BYTES - 1);
	/* A batch of explicit requests alone has none, and no array. */
	if (n)
		qsort(faults, n, sizeof(*faults), compare_faults);
	for (unsigned int i = 0; i < n; i++) {
		struct fault *last = kept ? &faults[kept - 1] : NULL;

		if (last && last->va_space == faults[i].va_space &&
		    last->addr == faults[i].addr) {
			last->access = MAX(last->access, faults[i].access);
			last->merged = (uint16_t)(last->merged + faults[i].merged);
		} else {
			faults[kept++] = faults[i];
		}
	}
	return kept;
}
