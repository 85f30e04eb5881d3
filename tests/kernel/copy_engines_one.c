// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=16 copy_engines=1
 *
 * copy_engines.c with one engine, which goes both ways.
 */
#include "copy_engines.c"
