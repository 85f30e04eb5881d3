/* SPDX-License-Identifier: GPL-2.0 */
/* list_lru_add_obj() and list_lru_del_obj(): from 6.8; list_lru_add() and list_lru_del() before. */
#ifndef _GPUEMU_COMPAT_LIST_LRU_H
#define _GPUEMU_COMPAT_LIST_LRU_H

#include_next <linux/list_lru.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
static inline bool list_lru_add_obj(struct list_lru *lru, struct list_head *item)
{
	return list_lru_add(lru, item);
}

static inline bool list_lru_del_obj(struct list_lru *lru, struct list_head *item)
{
	return list_lru_del(lru, item);
}
#endif

#endif
