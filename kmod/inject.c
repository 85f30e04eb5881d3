// SPDX-License-Identifier: GPL-2.0
/*
 * Failures and pauses that a test asks for. A task that comes to a pause holds there
 * what it would hold if its work took that long. Built with GPUEMU_FAULT_INJECTION=y only.
 */
#include <linux/delay.h>
#include <linux/sched/signal.h>

#include "engine.h"
#include "inject.h"
#include "params.h"

atomic_t gpuemu_inject_left[GPUEMU_INJECTS];

/* One task waits before it unmaps, and others that unmap pass it. */
static unsigned long unmapping;

/*
 * Each millisecond takes one from the count, so it is over in time, as soon as a
 * test sets it to 0, or when the task is killed. Several share one pause.
 */
void gpuemu_inject_pausing(struct gpuemu_dev *dev, enum gpuemu_inject what)
{
	atomic_t *left = &gpuemu_inject_left[what];

	if (what == GPUEMU_INJECT_PAUSE_UNMAP && test_and_set_bit(0, &unmapping))
		return;
	/* A test that sees it counted knows that a task is here. */
	gpuemu_count_dev(dev, INJECTED, 1);
	/* A dead engine's revocation is not over sooner because its process is killed. */
	while ((what == GPUEMU_INJECT_PAUSE_REVOKE ||
		!fatal_signal_pending(current)) &&
	       atomic_dec_if_positive(left) >= 0)
		usleep_range_state(1000, 1100, TASK_KILLABLE);
	if (what == GPUEMU_INJECT_PAUSE_UNMAP)
		clear_bit(0, &unmapping);
}

/* The engine loses the device. */
static int inject_loss(struct gpuemu_dev *dev, struct netlink_ext_ack *extack)
{
	struct gpuemu_engine *e;

	spin_lock(&dev->lock);
	e = dev->engine;
	if (e)
		kref_get(&e->ref);
	spin_unlock(&dev->lock);
	if (!e) {
		NL_SET_ERR_MSG(extack, "no engine is attached");
		return -ENODEV;
	}
	gpuemu_count_dev(dev, INJECTED, 1);
	gpuemu_engine_kill(e, "a test took it away");
	gpuemu_engine_put(e);
	return 0;
}

/**
 * gpuemu_inject_ask() - a test asks for failures or a pause
 * @dev: the device
 * @what: GPUEMU_INJECT_WHAT_*
 * @count: how many; of a pause, its milliseconds; NULL: 1
 * @extack: gets the sentence for an error
 *
 * The caller has checked that the asker may.
 */
int gpuemu_inject_ask(struct gpuemu_dev *dev, const struct nlattr *what,
		      const struct nlattr *count, struct netlink_ext_ack *extack)
{
	static const enum gpuemu_inject kinds[] = {
		[GPUEMU_INJECT_WHAT_FRAME_ALLOC] = GPUEMU_INJECT_FRAME,
		[GPUEMU_INJECT_WHAT_PAGE_ALLOC] = GPUEMU_INJECT_PAGE,
		[GPUEMU_INJECT_WHAT_PAUSE_COMMIT] = GPUEMU_INJECT_PAUSE_COMMIT,
		[GPUEMU_INJECT_WHAT_PAUSE_COPY] = GPUEMU_INJECT_PAUSE_COPY,
		[GPUEMU_INJECT_WHAT_PAUSE_EVICT] = GPUEMU_INJECT_PAUSE_EVICT,
		[GPUEMU_INJECT_WHAT_PAUSE_CLOSE] = GPUEMU_INJECT_PAUSE_CLOSE,
		[GPUEMU_INJECT_WHAT_PAUSE_FAULT] = GPUEMU_INJECT_PAUSE_FAULT,
		[GPUEMU_INJECT_WHAT_PAUSE_INVALIDATE] = GPUEMU_INJECT_PAUSE_INVALIDATE,
		[GPUEMU_INJECT_WHAT_PAUSE_REVOKE] = GPUEMU_INJECT_PAUSE_REVOKE,
		[GPUEMU_INJECT_WHAT_PAUSE_MIRROR] = GPUEMU_INJECT_PAUSE_MIRROR,
		[GPUEMU_INJECT_WHAT_PAUSE_RECLAIM] = GPUEMU_INJECT_PAUSE_RECLAIM,
		[GPUEMU_INJECT_WHAT_PAUSE_UNMAP] = GPUEMU_INJECT_PAUSE_UNMAP,
		[GPUEMU_INJECT_WHAT_PAUSE_HOME] = GPUEMU_INJECT_PAUSE_HOME,
	};
	u32 kind;

	if (!gpuemu_param(enable_tests)) {
		NL_SET_ERR_MSG(extack, "the module was loaded without enable_tests=1");
		return -EPERM;
	}
	if (!what) {
		NL_SET_ERR_MSG(extack, "inject what? it is missing");
		return -EINVAL;
	}
	kind = nla_get_u32(what);
	if (kind == GPUEMU_INJECT_WHAT_ENGINE_LOSS) {
		if (!count)
			return inject_loss(dev, extack);
		NL_SET_ERR_MSG_ATTR(extack, count,
				    "an engine can be lost once: no count");
		return -EINVAL;
	}
	if (!kind || kind >= ARRAY_SIZE(kinds)) {
		NL_SET_ERR_MSG_ATTR(extack, what, "unknown thing to inject");
		return -EOPNOTSUPP;
	}
	atomic_set(&gpuemu_inject_left[kinds[kind]],
		   count ? nla_get_u32(count) : 1);
	return 0;
}
