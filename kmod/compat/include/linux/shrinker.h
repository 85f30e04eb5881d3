/* SPDX-License-Identifier: GPL-2.0 */
/*
 * shrinker_alloc() and its like: from 6.7. compat_shrinker_register(): also where it
 * may fail.
 */
#ifndef _GPUEMU_COMPAT_SHRINKER_H
#define _GPUEMU_COMPAT_SHRINKER_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/types.h>
#include_next <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
static inline struct shrinker *shrinker_alloc(unsigned int flags, const char *name)
{
	struct shrinker *shrinker = kzalloc(sizeof(*shrinker), GFP_KERNEL);

	if (shrinker) {
		shrinker->flags = flags;
		shrinker->seeks = DEFAULT_SEEKS;
	}
	return shrinker;
}

static inline int compat_shrinker_register(struct shrinker *shrinker,
					   const char *name)
{
	return register_shrinker(shrinker, "%s", name);
}

static inline void shrinker_free(struct shrinker *shrinker)
{
	/* One that was not registered has none of what this frees. */
	unregister_shrinker(shrinker);
	kfree(shrinker);
}
#else
static inline int compat_shrinker_register(struct shrinker *shrinker,
					   const char *name)
{
	shrinker_register(shrinker);
	return 0;
}
#endif

#endif
