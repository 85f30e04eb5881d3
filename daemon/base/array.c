// SPDX-License-Identifier: GPL-2.0
/* How an array grows; base/array.h is the only caller. */
#include "base/array.h"

#include <stdlib.h>

#define FIRST	16u	/* elements */

void *array_bigger(void *array, uint64_t *room, uint64_t want, uint64_t max, size_t bytes)
{
	uint64_t twice = *room > max / 2 ? max : MAX(2 * *room, FIRST);
	uint64_t bigger = MAX(want, MIN(twice, max));

	if (want > max || bigger > SIZE_MAX / bytes)
		return NULL;
	array = realloc(array, bigger * bytes);
	if (array)
		*room = bigger;
	return array;
}
