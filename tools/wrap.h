/* SPDX-License-Identifier: GPL-2.0 */
/* Sentences on standard output, in lines as wide as its reader's terminal. */
#ifndef GPUEMU_TOOLS_WRAP_H
#define GPUEMU_TOOLS_WRAP_H

#include <stdio.h>

/*
 * Breaks the text at blanks, so that no line has more than `width` characters, `indent` blanks
 * included. A longer word has a line of its own. Lines of the text stay lines, and what blanks a
 * line begins with, its continuations begin with too.
 */
void wrap_lines(FILE *out, unsigned int indent, unsigned int width, const char *text);
/* On standard output, as wide as the terminal; 80 where it is none. */
void wrap_print(unsigned int indent, const char *text);

#endif
