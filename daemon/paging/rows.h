/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ops table that each row of prefetch.def and evict.def defines in its own
 * file. Included there, so that the definitions are checked, and by rows.c.
 */
#ifndef GPUEMU_PAGING_ROWS_H
#define GPUEMU_PAGING_ROWS_H

#include "paging/paging.h"

#define X(name) extern const struct prefetch_ops prefetch_##name##_ops;
#include "paging/prefetch.def"
#undef X

#define X(name) extern const struct evict_ops evict_##name##_ops;
#include "paging/evict.def"
#undef X

#endif
