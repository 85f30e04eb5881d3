// SPDX-License-Identifier: GPL-2.0
/*
 * Pauses that a test asks for. Who comes to such a point holds what he would
 * hold if his work took that long.
 */
#include <linux/delay.h>
#include <linux/sched/signal.h>

#include "inject.h"

/*
 * Each millisecond takes one from the count, so it is over in time, as soon as a
 * test sets it to 0, or when the task is killed. Several share one pause.
 */
void gpuemu_inject_pausing(struct gpuemu_dev *dev, enum gpuemu_inject what)
{
	atomic_t *left = &gpuemu_inject_left[what];

	/* Who sees it counted knows that somebody is here. */
	gpuemu_count_dev(dev, INJECTED, 1);
	while (!fatal_signal_pending(current) &&
	       atomic_dec_if_positive(left) >= 0)
		usleep_range_state(1000, 1100, TASK_KILLABLE);
}
