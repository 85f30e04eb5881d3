/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family: control and sight of the device for tools. What
 * its messages hold is in docs/gpuemu-netlink.yaml.
 */
#ifndef _GPUEMU_NETLINK_H
#define _GPUEMU_NETLINK_H

#include <net/genetlink.h>

struct gpuemu_dev;
struct gpuemu_stats;

extern struct genl_family gpuemu_family;

int gpuemu_nl_may(struct sk_buff *request, int capability,
		  struct netlink_ext_ack *extack);

int gpuemu_netlink_register(struct gpuemu_dev *dev);
void gpuemu_netlink_unregister(void);

/* For the operations, which the kernel hands no pointer: the one device. */
struct gpuemu_dev *gpuemu_netlink_dev(void);

/* Lists of objects: netlink_dump.c. */
int gpuemu_nl_client_get(struct sk_buff *skb, struct genl_info *info);
int gpuemu_nl_client_dump(struct sk_buff *skb, struct netlink_callback *cb);
int gpuemu_nl_block_dump(struct sk_buff *skb, struct netlink_callback *cb);

int gpuemu_nl_put_stats(struct sk_buff *skb, int type,
			struct gpuemu_stats *stats, bool device);

#endif
