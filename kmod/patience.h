/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long commits wait for a task of a client. All clients wait for the commit meanwhile. The
 * task may get no CPU, or no memory, for a second. The commits of that second do not each wait
 * for it: what one has waited the next ones do not.
 */
#ifndef _GPUEMU_PATIENCE_H
#define _GPUEMU_PATIENCE_H

#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/* Longer than a task needs that only copies a page. */
#define GPUEMU_PATIENCE_NS ((s64)(200 * NSEC_PER_USEC))

/* The part of the time that they may wait in the long run. */
#define GPUEMU_PATIENCE_PART 1000

/**
 * struct gpuemu_patience - what is left of it
 * @left_ns: below 0: nothing, and for longer
 * @since: when it was looked at last
 *
 * The commit's that owns the batch. One of an engine that was lost may still run beside it;
 * what either waits is then counted once or twice.
 */
struct gpuemu_patience {
	s64 left_ns;
	u64 since;
};

/* How long a commit may wait, from now on. */
static inline s64 gpuemu_patience_left(struct gpuemu_patience *p, u64 now)
{
	s64 more = (now - READ_ONCE(p->since)) / GPUEMU_PATIENCE_PART;
	s64 left = min(GPUEMU_PATIENCE_NS, READ_ONCE(p->left_ns) + more);

	WRITE_ONCE(p->left_ns, left);
	WRITE_ONCE(p->since, now);
	return left;
}

/* A sleep may take long for other causes than the task, so the debt has a bound. */
static inline void gpuemu_patience_spend(struct gpuemu_patience *p, u64 waited)
{
	WRITE_ONCE(p->left_ns, max(READ_ONCE(p->left_ns) - (s64)waited,
				   -GPUEMU_PATIENCE_NS));
}

#endif
