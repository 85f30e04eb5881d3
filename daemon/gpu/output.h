/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a launch prints, kept until its client takes it. Bounded: a kernel may
 * print for ever. Private to the gpu room.
 */
#ifndef GPUEMU_GPU_OUTPUT_H
#define GPUEMU_GPU_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

/* All zero is empty. */
struct output {
	char *text;
	size_t bytes, room;
	uint64_t lost;			/* bytes that came when it was full */
	size_t *all;			/* what it and others of its session have; NULL: not counted */
};

void output_print(struct output *o, const char *text, size_t bytes);
/* Empties it: the text, NUL behind it, with a sentence about what is lost. NULL: nothing. */
char *output_take(struct output *o, size_t *bytes);
void output_clear(struct output *o);

#endif
