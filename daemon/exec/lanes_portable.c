// SPDX-License-Identifier: GPL-2.0
/*
 * The lanes for whatever instruction set the compiler was asked for: what runs
 * where nothing better is there, and what the others must agree with bit for
 * bit. bind.c chooses.
 */
#pragma GCC optimize("fp-contract=off", "rounding-math", "no-math-errno", "no-trapping-math")
#define LANES_TABLE lanes_portable
#define LANES_NAME "portable"
#include "exec/lanes.h"
