/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Before 6.7, exec waits without end for pending io_uring commands and nobody
 * tells their driver; so the monitor has to see it. From 6.7 on they are
 * cancelled (IO_URING_F_CANCEL).
 */
#ifndef _GPUEMU_COMPAT_SCHED_H
#define _GPUEMU_COMPAT_SCHED_H

#include_next <linux/sched.h>
#include <linux/version.h>

static inline bool compat_task_in_exec(const struct task_struct *task)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	/*
	 * The task changes the other bits of this word as it likes, without a lock. If this
	 * look is too early, the next one finds the bit.
	 */
	return data_race(!!task->in_execve);
#else
	return false;
#endif
}

#endif
