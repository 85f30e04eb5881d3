/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An array that grows: a pointer from malloc() and how many elements it has room for, two
 * variables of its owner. It at least doubles, so that many small steps cost little. The room
 * may be of any unsigned type and never grows beyond it. The owner counts what is in use, and
 * frees.
 */
#ifndef GPUEMU_BASE_ARRAY_H
#define GPUEMU_BASE_ARRAY_H

#include <errno.h>
#include <stdlib.h>

#include "base/base.h"

/*
 * Room for `want` elements in all. 0, or -ENOMEM: then array and room are as before. The
 * new elements are not initialised.
 */
#define array_reserve(array, room, want) ({						\
	uint64_t want_ = (want), room_ = (room);					\
	int rc_ = 0;									\
	if (want_ > room_) {								\
		void *bigger_ = array_bigger((array), &room_, want_, (typeof(room))-1,	\
					     sizeof(*(array)));				\
		if (bigger_) {								\
			(array) = bigger_;						\
			(room) = (typeof(room))room_;					\
		} else {								\
			rc_ = -ENOMEM;							\
		}									\
	}										\
	rc_;										\
})

/* Room for one more than the `count` that are in use. */
#define array_grow(array, room, count)	array_reserve(array, room, (uint64_t)(count) + 1)

/* Room for exactly `n`, more or fewer than now; the owner sets his room. 0 or -ENOMEM. */
#define array_resize(array, n) ({							\
	void *moved_ = reallocarray((array), MAX((n), 1u), sizeof(*(array)));		\
	if (moved_)									\
		(array) = moved_;							\
	moved_ ? 0 : -ENOMEM;								\
})

/* For the macros: the array with room for at least `want`, *room updated; NULL: it stays. */
void *array_bigger(void *array, uint64_t *room, uint64_t want, uint64_t max, size_t bytes);

#endif
