/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kselftest_harness.h for these tests: it defines the fixtures' functions
 * without prototypes, and counts each case's time and waits for its end as case_clock.h says. With
 * tests/vm/run.sh --slow the time is longer, since some kernels check themselves.
 */
#ifndef _GPUEMU_TESTS_KERNEL_HARNESS_H
#define _GPUEMU_TESTS_KERNEL_HARNESS_H

#include <sys/wait.h>
#include <unistd.h>

#include "lib/case_clock.h"

#define alarm(seconds) case_alarm(seconds)
#define waitpid(pid, status, options) case_wait(pid, status, options)

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "kselftest_harness.h"

#undef waitpid

#endif
