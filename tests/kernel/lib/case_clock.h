/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The time that a test case has: alarm(2) for kselftest_harness.h, in ticks of one second that
 * this process saw pass. A host can stop the whole VM for longer than a case may run; the clock
 * goes on meanwhile, the ticks do not. A case that hangs still gets its SIGALRM, and the clock
 * first prints what each process of the case is doing.
 */
#ifndef _GPUEMU_TESTS_KERNEL_CASE_CLOCK_H
#define _GPUEMU_TESTS_KERNEL_CASE_CLOCK_H

#include <sys/types.h>

/* SIGALRM for the caller after three times as many ticks; 0 stops the clock. Returns 0. */
unsigned int case_alarm(unsigned int seconds);

/*
 * waitpid(2) for the harness. The harness kills a case when its time is over; this waits up to ten
 * seconds until the case is gone, so that the next case does not meet its engine or its client.
 */
pid_t case_wait(pid_t pid, int *status, int options);

#endif
