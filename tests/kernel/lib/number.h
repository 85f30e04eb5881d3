/* SPDX-License-Identifier: GPL-2.0 */
/* A number of the command line, of the programs that take one. */
#ifndef _GPUEMU_TESTS_KERNEL_NUMBER_H
#define _GPUEMU_TESTS_KERNEL_NUMBER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with status 2 if it is none. */
static inline uint32_t number(const char *program, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	if (*text && !*end && n <= UINT32_MAX)
		return n;
	fprintf(stderr, "%s: '%s' is not a number\n", program, text);
	exit(2);
}

#endif
