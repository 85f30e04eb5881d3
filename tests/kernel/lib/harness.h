/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kselftest_harness.h for these tests: it defines the fixtures' functions
 * without prototypes.
 */
#ifndef _GPUEMU_TESTS_KERNEL_HARNESS_H
#define _GPUEMU_TESTS_KERNEL_HARNESS_H

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "kselftest_harness.h"

#endif
