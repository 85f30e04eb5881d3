// SPDX-License-Identifier: GPL-2.0
/*
 * The text of a launch's printf calls. What comes first is kept: it says how
 * things went wrong. Every call is kept whole or not at all, and none
 * after the first that was lost, so that the text has no holes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "gpu/gpu.h"
#include "gpu/output.h"

#define SENTENCE	128u	/* room for what is said about lost bytes, and a NUL */

static bool make_room(struct output *o, size_t bytes)
{
	return !array_reserve(o->text, o->room, o->bytes + bytes + SENTENCE);
}

void output_print(struct output *o, const char *text, size_t bytes)
{
	if (o->lost || bytes > GPU_OUTPUT_MAX - o->bytes ||
	    (o->all && bytes > GPU_OUTPUT_ALL - *o->all) || !make_room(o, bytes)) {
		o->lost += bytes;
		return;
	}
	memcpy(o->text + o->bytes, text, bytes);
	o->bytes += bytes;
	if (o->all)
		*o->all += bytes;
}

char *output_take(struct output *o, size_t *bytes)
{
	char *text;

	if (o->all)
		*o->all -= o->bytes;
	if (o->lost && make_room(o, 0))
		o->bytes += (size_t)snprintf(o->text + o->bytes, SENTENCE,
			"%s[gpuemu: %" PRIu64 " more bytes of printf are lost: a launch keeps %u]\n",
			o->bytes && o->text[o->bytes - 1] != '\n' ? "\n" : "",
			o->lost, GPU_OUTPUT_MAX);
	text = o->text;
	*bytes = o->bytes;
	if (text)
		text[o->bytes] = '\0';
	*o = (struct output){ 0 };
	return text;
}

void output_clear(struct output *o)
{
	if (o->all)
		*o->all -= o->bytes;
	free(o->text);
	*o = (struct output){ 0 };
}
