/* SPDX-License-Identifier: GPL-2.0 */
/* Prints sentences on standard output, in lines as wide as the terminal. */
#ifndef GPUEMU_TOOLS_WRAP_H
#define GPUEMU_TOOLS_WRAP_H

#include <stdio.h>

/*
 * Breaks the text at blanks, so that no line has more than `width` characters, with `indent`
 * blanks included. A longer word gets a line of its own. Line ends of the text stay. A
 * continuation begins with the same blanks as its line.
 */
void wrap_lines(FILE *out, unsigned int indent, unsigned int width, const char *text);
/* Writes to standard output, as wide as the terminal; 80 columns where it is not a terminal. */
void wrap_print(unsigned int indent, const char *text);

#endif
