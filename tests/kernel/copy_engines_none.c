// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=16 copy_engines=0
 *
 * copy_engines.c with no engine: who commits copies.
 */
#include "copy_engines.c"
