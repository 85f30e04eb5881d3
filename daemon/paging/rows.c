// SPDX-License-Identifier: GPL-2.0
/* The tables of policies, from prefetch.def and evict.def. For paging_create() and listings. */
#include "paging/rows.h"

const struct prefetch_ops *const prefetch_rows[] = {
#define X(name) &prefetch_##name##_ops,
#include "paging/prefetch.def"
#undef X
	NULL,
};

const struct evict_ops *const evict_rows[] = {
#define X(name) &evict_##name##_ops,
#include "paging/evict.def"
#undef X
	NULL,
};
