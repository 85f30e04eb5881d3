/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Failures that a test asks for through netlink (enable_tests=1): the next so
 * many allocations of a kind fail; and pauses, where something ends in the
 * middle of a test only by luck. They are there in a module that is built with
 * GPUEMU_FAULT_INJECTION=y; in any other one the hooks below are nothing.
 */
#ifndef _GPUEMU_INJECT_H
#define _GPUEMU_INJECT_H

#include <linux/atomic.h>
#include <linux/netlink.h>
#include <net/netlink.h>
#include <uapi/linux/gpuemu_netlink.h>

#include "dev.h"

enum gpuemu_inject {
	GPUEMU_INJECT_FRAME,	/* an allocation of frames finds none */
	GPUEMU_INJECT_PAGE,	/* a sysmem page cannot be had */
	GPUEMU_INJECT_PAUSE_COMMIT, /* between two migrations of a commit */
	GPUEMU_INJECT_PAUSE_COPY, /* copied to the device, not mapped there */
	GPUEMU_INJECT_PAUSE_EVICT, /* copied from the device, not free there */
	GPUEMU_INJECT_PAUSE_CLOSE, /* a mapping is closed, its pages are not free */
	GPUEMU_INJECT_PAUSE_FAULT, /* a CPU's fault has its block locked */
	GPUEMU_INJECT_PAUSE_INVALIDATE, /* entries are cleared, the engine is not told */
	GPUEMU_INJECT_PAUSE_REVOKE, /* an engine is lost and still has its mappings */
	GPUEMU_INJECT_PAUSE_MIRROR, /* pages of a process are found, not mapped yet */
	GPUEMU_INJECT_PAUSE_RECLAIM, /* a CPU's fault takes a page, and may reclaim for it */
	GPUEMU_INJECT_PAUSE_UNMAP, /* an engine is to lose pages in system memory, and has them */
	GPUEMU_INJECT_PAUSE_HOME, /* ordinary memory is to leave the device, and is there */
	GPUEMU_INJECTS
};

#ifdef GPUEMU_FAULT_INJECTION
/* How many are still to fail; of a pause, its milliseconds. */
extern atomic_t gpuemu_inject_left[GPUEMU_INJECTS];

/* Whether some are to fail: one at a time, then. */
static inline bool gpuemu_inject_pending(enum gpuemu_inject what)
{
	return unlikely(atomic_read(&gpuemu_inject_left[what]) > 0);
}

/* Whether this one is to fail. */
static inline bool gpuemu_inject(struct gpuemu_dev *dev,
				 enum gpuemu_inject what)
{
	if (!gpuemu_inject_pending(what) ||
	    atomic_dec_if_positive(&gpuemu_inject_left[what]) < 0)
		return false;
	gpuemu_count_dev(dev, INJECTED, 1);
	return true;
}

void gpuemu_inject_pausing(struct gpuemu_dev *dev, enum gpuemu_inject what);

/* Waits here, if that is asked for; killable. */
static inline void gpuemu_inject_pause(struct gpuemu_dev *dev,
				       enum gpuemu_inject what)
{
	if (gpuemu_inject_pending(what))
		gpuemu_inject_pausing(dev, what);
}

int gpuemu_inject_ask(struct gpuemu_dev *dev, const struct nlattr *what,
		      const struct nlattr *count, struct netlink_ext_ack *extack);

#else

static inline bool gpuemu_inject_pending(enum gpuemu_inject what)
{
	return false;
}

static inline bool gpuemu_inject(struct gpuemu_dev *dev,
				 enum gpuemu_inject what)
{
	return false;
}

static inline void gpuemu_inject_pause(struct gpuemu_dev *dev,
				       enum gpuemu_inject what)
{
}

static inline int gpuemu_inject_ask(struct gpuemu_dev *dev,
				    const struct nlattr *what,
				    const struct nlattr *count,
				    struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "the module was built without GPUEMU_FAULT_INJECTION=y");
	return -EOPNOTSUPP;
}

#endif

#endif
