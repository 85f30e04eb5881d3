// SPDX-License-Identifier: GPL-2.0
/*
 * Clients and VA blocks through netlink. A dump goes on where its last message
 * ended, by the id of what comes next: what is created or destroyed meanwhile
 * is seen or not, and everything that was there throughout is seen once. Others' clients
 * and anybody's addresses are for CAP_SYS_PTRACE, as /proc/PID/maps is: what has to do
 * with the network is no right to look into a process.
 */
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/user_namespace.h>
#include <net/genetlink.h>
#include <uapi/linux/gpuemu_netlink.h>

#include "client.h"
#include "dev.h"
#include "netlink.h"
#include "va_block.h"

/* --- clients --- */

static bool may_see(const struct gpuemu_client *client, struct sk_buff *request)
{
	return netlink_capable(request, CAP_SYS_PTRACE) ||
	       uid_eq(client->uid, NETLINK_CB(request).creds.uid);
}

static int put_client(struct sk_buff *skb, struct gpuemu_client *client)
{
	if (nla_put_u32(skb, GPUEMU_A_CLIENT_VA_SPACE, client->space.id) ||
	    nla_put_u32(skb, GPUEMU_A_CLIENT_PID, pid_vnr(client->opener)) ||
	    nla_put_u32(skb, GPUEMU_A_CLIENT_UID,
			from_kuid_munged(current_user_ns(), client->uid)) ||
	    nla_put_u32(skb, GPUEMU_A_CLIENT_WORKS,
			READ_ONCE(client->njobs)) ||
	    nla_put_u64_64bit(skb, GPUEMU_A_CLIENT_CHARGED_BYTES,
			      atomic64_read(&client->bytes),
			      GPUEMU_A_CLIENT_PAD))
		return -EMSGSIZE;
	if (gpuemu_client_engine(client) &&
	    nla_put_flag(skb, GPUEMU_A_CLIENT_ENGINE))
		return -EMSGSIZE;
	return gpuemu_nl_put_stats(skb, GPUEMU_A_CLIENT_STATS,
				   &client->space.stats, false);
}

int gpuemu_nl_client_get(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[GPUEMU_A_CLIENT_VA_SPACE];
	struct gpuemu_client *client;
	struct sk_buff *msg;
	int ret = -EMSGSIZE;
	void *hdr;

	if (!attr) {
		GENL_SET_ERR_MSG(info, "which client? its VA space is missing");
		return -EINVAL;
	}
	client = gpuemu_client_get(gpuemu_netlink_dev(), nla_get_u32(attr));
	/* Whether it is there is not for everybody either. */
	if (!client || !may_see(client, skb)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "no such VA space");
		ret = -ESRCH;
		goto out;
	}
	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg) {
		GENL_SET_ERR_MSG(info, "no memory for the reply");
		ret = -ENOMEM;
		goto out;
	}
	hdr = genlmsg_put_reply(msg, info, &gpuemu_family, 0,
				GPUEMU_CMD_CLIENT_GET);
	if (!hdr || put_client(msg, client)) {
		nlmsg_free(msg);
		GENL_SET_ERR_MSG(info, "the reply does not fit a message");
		goto out;
	}
	genlmsg_end(msg, hdr);
	ret = genlmsg_reply(msg, info);
out:
	if (client)
		gpuemu_client_put(client);
	return ret;
}

/* The cursor, args[0], is the lowest VA space id that was not shown yet. */
int gpuemu_nl_client_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct gpuemu_dev *dev = gpuemu_netlink_dev();
	unsigned long next = cb->args[0];
	struct gpuemu_client *client;
	int ret = 0;
	void *hdr;

	if (compat_genl_dump_attrs(cb)[GPUEMU_A_CLIENT_VA_SPACE]) {
		NL_SET_ERR_MSG(cb->extack, "a dump is of all clients: no VA space");
		return -EINVAL;
	}
	for (; (client = gpuemu_client_next(dev, &next)); next++) {
		if (may_see(client, cb->skb)) {
			hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
					  cb->nlh->nlmsg_seq, &gpuemu_family,
					  NLM_F_MULTI, GPUEMU_CMD_CLIENT_GET);
			if (!hdr || put_client(skb, client)) {
				genlmsg_cancel(skb, hdr);
				ret = -EMSGSIZE;
			} else {
				genlmsg_end(skb, hdr);
			}
		}
		gpuemu_client_put(client);
		if (ret)
			break;
	}
	cb->args[0] = next;
	return skb->len;
}

/* --- VA blocks --- */

/* Not a .start: until 6.2 that has no extack to say its sentence with. */
static int block_dump_begin(struct netlink_callback *cb)
{
	struct nlattr **attrs = compat_genl_dump_attrs(cb);
	struct gpuemu_client *client;
	u64 addr = 0;
	u32 id;

	if (!attrs[GPUEMU_A_BLOCK_VA_SPACE]) {
		NL_SET_ERR_MSG(cb->extack, "whose blocks? the VA space is missing");
		return -EINVAL;
	}
	id = nla_get_u32(attrs[GPUEMU_A_BLOCK_VA_SPACE]);
	client = gpuemu_client_get(gpuemu_netlink_dev(), id);
	if (!client) {
		NL_SET_ERR_MSG_ATTR(cb->extack, attrs[GPUEMU_A_BLOCK_VA_SPACE],
				    "no such VA space");
		return -ESRCH;
	}
	gpuemu_client_put(client);
	if (attrs[GPUEMU_A_BLOCK_ADDR])
		addr = nla_get_u64(attrs[GPUEMU_A_BLOCK_ADDR]);
	if (addr >> GPUEMU_VA_BITS) {
		NL_SET_ERR_MSG_ATTR(cb->extack, attrs[GPUEMU_A_BLOCK_ADDR],
				    "the address is above 2^47");
		return -EINVAL;
	}
	cb->args[0] = id;
	cb->args[1] = addr >> GPUEMU_BLOCK_SHIFT;
	return 0;
}

static int put_block(struct sk_buff *skb, const struct gpuemu_block *block,
		     const struct gpuemu_block_look *look)
{
	if (nla_put_u32(skb, GPUEMU_A_BLOCK_VA_SPACE, block->space->id) ||
	    nla_put_u64_64bit(skb, GPUEMU_A_BLOCK_ADDR,
			      gpuemu_block_addr(block, 0),
			      GPUEMU_A_BLOCK_PAD) ||
	    nla_put(skb, GPUEMU_A_BLOCK_RESIDENT, sizeof(look->resident),
		    look->resident) ||
	    nla_put(skb, GPUEMU_A_BLOCK_CPU_MAPPED, sizeof(look->cpu_mapped),
		    look->cpu_mapped) ||
	    nla_put(skb, GPUEMU_A_BLOCK_REMOTE, sizeof(look->remote),
		    look->remote) ||
	    nla_put(skb, GPUEMU_A_BLOCK_DUPLICATED, sizeof(look->duplicate),
		    look->duplicate) ||
	    nla_put_u32(skb, GPUEMU_A_BLOCK_SYSTEM_PAGES, look->system_pages))
		return -EMSGSIZE;
	return look->busy ? nla_put_flag(skb, GPUEMU_A_BLOCK_BUSY) : 0;
}

/*
 * The cursor is args[1], the index of the next block; args[0] is the VA space,
 * found anew each time: a dump that nobody reads on must not keep a client.
 */
int gpuemu_nl_block_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct gpuemu_block_look look;
	struct gpuemu_client *client;
	struct gpuemu_block *block;
	unsigned long next;
	int ret = 0;
	void *hdr;

	if (!cb->args[0]) {
		ret = gpuemu_nl_may(cb->skb, CAP_SYS_PTRACE, cb->extack) ?:
		      block_dump_begin(cb);
		if (ret)
			return ret;
	}
	next = cb->args[1];
	client = gpuemu_client_get(gpuemu_netlink_dev(), cb->args[0]);
	/* It ended: and with it the list. */
	if (!client)
		return skb->len;
	for (; (block = gpuemu_space_next_block(&client->space, &next,
						ULONG_MAX)); next++) {
		gpuemu_block_look(block, &look);
		hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, &gpuemu_family,
				  NLM_F_MULTI, GPUEMU_CMD_BLOCK_GET);
		if (!hdr || put_block(skb, block, &look)) {
			genlmsg_cancel(skb, hdr);
			ret = -EMSGSIZE;
		} else {
			genlmsg_end(skb, hdr);
		}
		gpuemu_block_put(block);
		if (ret)
			break;
	}
	cb->args[1] = next;
	gpuemu_client_put(client);
	return skb->len;
}
