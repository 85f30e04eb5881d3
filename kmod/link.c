// SPDX-License-Identifier: GPL-2.0
/*
 * Link pacing. A run of pages takes the way for bytes / link_gbps, after what was
 * sent before it, and arrives link_latency_ns later; the copy itself is done in
 * this time, not beside it. So a transfer takes as long as the link or the
 * machine, whichever is slower. Called by the task that has copied, before it says so.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>

#include "dev.h"
#include "link.h"
#include "params.h"
#include "va_space.h"

/* A timer is late by some of these; the rest of the time is spun. */
#define SPIN_NS (20 * NSEC_PER_USEC)

/* However many wait for a slow link: none for longer. */
#define WAIT_MAX_NS NSEC_PER_SEC

void gpuemu_link_init(struct gpuemu_link *link)
{
	spin_lock_init(&link->lock);
	memset(link->free_at, 0, sizeof(link->free_at));
}

/*
 * Sleeps until that time. It ends sooner when the task is killed, or when another task
 * waits for this one and has set *hurry: the data has arrived by then.
 */
static void wait_until(u64 due, const bool *hurry)
{
	ktime_t wake;
	u64 now;

	while ((now = ktime_get_ns()) < due && !fatal_signal_pending(current) &&
	       !READ_ONCE(*hurry)) {
		if (due - now <= SPIN_NS) {
			cpu_relax();
			continue;
		}
		wake = ns_to_ktime(due - SPIN_NS);
		set_current_state(TASK_KILLABLE);
		/* The task that sets it wakes us afterwards. */
		if (READ_ONCE(*hurry)) {
			__set_current_state(TASK_RUNNING);
			break;
		}
		schedule_hrtimeout_range(&wake, 0, HRTIMER_MODE_ABS);
	}
}

/* Whether a transfer takes longer than its copy. */
bool gpuemu_link_paced(void)
{
	return gpuemu_param(link_gbps) || gpuemu_param(link_latency_ns);
}

/**
 * gpuemu_link_pace() - waits until the link has carried what was copied
 * @space: for the statistics
 * @way: which
 * @begin: when the copy began (ktime_get_ns())
 * @bytes: of the run; none take no time
 * @hurry: ends the wait when it becomes true; the task that sets it wakes this one
 *
 * Killable, and never longer than a second.
 */
void gpuemu_link_pace(struct gpuemu_space *space, enum gpuemu_link_way way,
		      u64 begin, u64 bytes, const bool *hurry)
{
	u32 latency = gpuemu_param(link_latency_ns);
	struct gpuemu_link *link = &space->dev->link;
	u32 gbps = gpuemu_param(link_gbps);
	u64 now, end;

	if ((!gbps && !latency) || !bytes)
		return;
	now = ktime_get_ns();
	spin_lock(&link->lock);
	end = max(begin, link->free_at[way]);
	/* 10^9 bytes a second are a byte a nanosecond. */
	if (gbps)
		end += div_u64(bytes, gbps);
	end = min(end, now + WAIT_MAX_NS);
	link->free_at[way] = end;
	spin_unlock(&link->lock);

	wait_until(end + latency, hurry);
	gpuemu_count(space, LINK_WAIT_NS, ktime_get_ns() - now);
}
