/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many objects of each kind are alive. Every create and destroy counts;
 * the module prints the balance when it is unloaded, and it must be zero.
 */
#ifndef _GPUEMU_OBJECTS_H
#define _GPUEMU_OBJECTS_H

#include <linux/atomic.h>

/* In the order of the line that is printed. */
#define GPUEMU_OBJECTS(X) \
	X(clients) X(spaces) X(blocks) X(pages) X(frames) X(tables) X(jobs) \
	X(images) X(cmds) X(slots) X(ranges) X(ends) X(reserves) X(marks)

enum gpuemu_object {
#define X(name) GPUEMU_OBJ_##name,
	GPUEMU_OBJECTS(X)
#undef X
	GPUEMU_OBJ_KINDS
};

extern atomic_t gpuemu_live[GPUEMU_OBJ_KINDS];

#define gpuemu_created(kind)	atomic_inc(&gpuemu_live[GPUEMU_OBJ_##kind])
#define gpuemu_destroyed(kind)	atomic_dec(&gpuemu_live[GPUEMU_OBJ_##kind])

#endif
