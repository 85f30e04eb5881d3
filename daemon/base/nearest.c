// SPDX-License-Identifier: GPL-2.0
/* Levenshtein's distance with neighbours that changed places, for what a user typed: short words. */
#include <string.h>

#include "base/base.h"
#include "base/nearest.h"

#define WORD_MAX	64u

unsigned int nearest_distance(const char *a, const char *b, unsigned int limit)
{
	size_t na = strlen(a), nb = strlen(b);
	unsigned int rows[3][WORD_MAX + 1], *before = rows[0], *last = rows[1], *row = rows[2];

	if (na > WORD_MAX || nb > WORD_MAX)
		return limit;
	for (size_t j = 0; j <= nb; j++)
		last[j] = (unsigned int)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned int *oldest = before;

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned int best = last[j - 1] + (a[i - 1] != b[j - 1]);

			best = MIN(best, last[j] + 1);
			best = MIN(best, row[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = MIN(best, before[j - 2] + 1);
			row[j] = best;
		}
		before = last;
		last = row;
		row = oldest;
	}
	return MIN(last[nb], limit);
}

void nearest_begin(struct nearest *n, const char *word)
{
	*n = (struct nearest){
		.word = word, .limit = (unsigned int)(MIN(strlen(word), WORD_MAX) / 2 + 1),
	};
}

void nearest_try(struct nearest *n, const char *name)
{
	unsigned int distance = nearest_distance(n->word, name, n->limit);

	if (distance < n->limit) {
		n->limit = distance;
		n->name = name;
	}
}
