/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kselftest_harness.h for these tests: it defines the fixtures' functions
 * without prototypes, and gives each test a time that a kernel which checks
 * itself does not keep (tests/vm/run.sh --slow).
 */
#ifndef _GPUEMU_TESTS_KERNEL_HARNESS_H
#define _GPUEMU_TESTS_KERNEL_HARNESS_H

#include <unistd.h>

#include "lib/slow.h"

static inline unsigned int slow_alarm(unsigned int seconds)
{
	return alarm(seconds * slowness());
}
#define alarm(seconds) slow_alarm(seconds)

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "kselftest_harness.h"

#endif
