// SPDX-License-Identifier: GPL-2.0
/*
 * How far the kernels are, for another thread that shows it. The engine's thread writes, others
 * read: each number is whole, and numbers of one moment may be of two. Nothing of the model reads
 * it.
 */
#include <stdatomic.h>

#include "gpu/session.h"

void progress_begin(struct gpu_session *s)
{
	atomic_fetch_add_explicit(&s->progress.launches, 1, memory_order_relaxed);
}

void progress_set(struct gpu_session *s, uint64_t ctas_done, uint64_t ctas)
{
	atomic_store_explicit(&s->progress.ctas_done, ctas_done, memory_order_relaxed);
	atomic_store_explicit(&s->progress.ctas, ctas, memory_order_relaxed);
}

struct gpu_progress gpu_session_progress(const struct gpu_session *s)
{
	struct gpu_progress p = {
		.launches = atomic_load_explicit(&s->progress.launches, memory_order_relaxed),
		.ctas_done = atomic_load_explicit(&s->progress.ctas_done, memory_order_relaxed),
		.ctas = atomic_load_explicit(&s->progress.ctas, memory_order_relaxed),
	};

	p.ctas_done = MIN(p.ctas_done, p.ctas);
	return p;
}
