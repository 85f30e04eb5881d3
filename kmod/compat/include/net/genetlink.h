/* SPDX-License-Identifier: GPL-2.0 */
/* A dump's attributes: in a genl_info from 6.7 on. */
#ifndef _GPUEMU_COMPAT_NET_GENETLINK_H
#define _GPUEMU_COMPAT_NET_GENETLINK_H

#include_next <net/genetlink.h>
#include <linux/version.h>

static inline struct nlattr **compat_genl_dump_attrs(struct netlink_callback *cb)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	return genl_dumpit_info(cb)->attrs;
#else
	return genl_dumpit_info(cb)->info.attrs;
#endif
}

#endif
