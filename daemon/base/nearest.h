/* SPDX-License-Identifier: GPL-2.0 */
/* Which of several names was probably meant by a misspelt one. */
#ifndef GPUEMU_BASE_NEAREST_H
#define GPUEMU_BASE_NEAREST_H

/*
 * Edits (insert, delete, replace one character, exchange two neighbours) that turn a into b, or
 * `limit` if more.
 */
unsigned int nearest_distance(const char *a, const char *b, unsigned int limit);

struct nearest {
	const char *word;		/* the misspelt one */
	const char *name;		/* the nearest so far; NULL: none is near */
	unsigned int limit;		/* a nearer one takes fewer edits */
};

/* At most half of the word's characters may be wrong. */
void nearest_begin(struct nearest *n, const char *word);
/* If names are equally near, the first one stays. */
void nearest_try(struct nearest *n, const char *name);

#endif
