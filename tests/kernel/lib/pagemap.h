/* SPDX-License-Identifier: GPL-2.0 */
/* Where a page of this process is. */
#ifndef _GPUEMU_TESTS_KERNEL_PAGEMAP_H
#define _GPUEMU_TESTS_KERNEL_PAGEMAP_H

#include <stdint.h>

/* The page's entry of /proc/self/pagemap; 0: none. */
uint64_t pagemap(const void *addr);

#endif
