/* SPDX-License-Identifier: GPL-2.0 */
/* Small allocations of the tool's tables. Without memory the program ends. */
#ifndef GPUEMU_TOOLS_MEMORY_H
#define GPUEMU_TOOLS_MEMORY_H

/* Returns p. If p is NULL, prints a sentence on stderr and ends the program. */
void *must(void *p);
/* asprintf() that ends the program when there is no memory. The caller frees the text. */
char *text_of(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
