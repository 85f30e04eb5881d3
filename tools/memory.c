// SPDX-License-Identifier: GPL-2.0
/* See memory.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "memory.h"

void *must(void *p)
{
	if (p)
		return p;
	fputs("gpuemu: no memory\n", stderr);
	exit(1);
}

char *text_of(const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	return must(text);
}
