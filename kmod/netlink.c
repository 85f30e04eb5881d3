// SPDX-License-Identifier: GPL-2.0
/*
 * The family and its operations on single things: the device, a parameter, the
 * counters, injected failures. Lists of clients and blocks are netlink_dump.c's.
 * Every policy is strict, and what is refused beyond them is refused with a
 * sentence (extack). Operations run in parallel and take no lock for long: they
 * are issued under a lock that all of generic netlink shares.
 */
#include <net/genetlink.h>
#include <uapi/linux/gpuemu.h>
#include <uapi/linux/gpuemu_netlink.h>

#include "client.h"
#include "dev.h"
#include "engine.h"
#include "inject.h"
#include "mirror_pages.h"
#include "netlink.h"
#include "params.h"

#define NAME_MAX_BYTES 31

static struct gpuemu_dev *netlink_dev;

/*
 * Whether the sender has the capability, in the first user namespace. GENL_ADMIN_PERM
 * would ask for CAP_NET_ADMIN, and this is no network.
 */
int gpuemu_nl_may(struct sk_buff *request, int capability,
		  struct netlink_ext_ack *extack)
{
	if (netlink_capable(request, capability))
		return 0;
	if (capability == CAP_SYS_PTRACE)
		NL_SET_ERR_MSG(extack, "it takes CAP_SYS_PTRACE (root)");
	else
		NL_SET_ERR_MSG(extack, "it takes CAP_SYS_ADMIN (root)");
	return -EPERM;
}

struct gpuemu_dev *gpuemu_netlink_dev(void)
{
	return netlink_dev;
}

static int put_u64(struct sk_buff *skb, int type, u64 value, int pad)
{
	return nla_put_u64_64bit(skb, type, value, pad);
}

/* A reply of one message that is filled by put(). */
static int send_reply(struct genl_info *info, u8 cmd,
		      int (*put)(struct sk_buff *skb, const void *what),
		      const void *what)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr;

	if (!skb) {
		GENL_SET_ERR_MSG(info, "no memory for the reply");
		return -ENOMEM;
	}
	hdr = genlmsg_put_reply(skb, info, &gpuemu_family, 0, cmd);
	if (!hdr || put(skb, what)) {
		nlmsg_free(skb);
		GENL_SET_ERR_MSG(info, "the reply does not fit a message");
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

/* --- statistics --- */

#define BOTH true
#define DEVICE false
static const struct {
	int attr;
	bool both;
} stats_attrs[] = {
#define X(NAME, scope, kind) \
	[GPUEMU_STAT_##NAME] = { GPUEMU_A_STATS_##NAME, scope },
#include "stats.def"
#undef X
};
#undef BOTH
#undef DEVICE

/* Nests the counters. A client has none of those that are only the device's. */
int gpuemu_nl_put_stats(struct sk_buff *skb, int type,
			struct gpuemu_stats *stats, bool device)
{
	struct gpuemu_counters sum;
	struct nlattr *nest;
	int i;

	nest = nla_nest_start(skb, type);
	if (!nest)
		return -EMSGSIZE;
	gpuemu_stats_read(stats, &sum);
	for (i = 0; i < GPUEMU_STATS; i++) {
		if (!device && !stats_attrs[i].both)
			continue;
		if (put_u64(skb, stats_attrs[i].attr, sum.value[i],
			    GPUEMU_A_STATS_PAD))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* --- the device --- */

static u32 count_clients(struct gpuemu_dev *dev)
{
	struct gpuemu_client *client;
	unsigned long id;
	u32 n = 0;

	rcu_read_lock();
	xa_for_each(&dev->clients, id, client)
		n++;
	rcu_read_unlock();
	return n;
}

static u32 live_generation(struct gpuemu_dev *dev)
{
	u32 generation = 0;

	spin_lock(&dev->lock);
	if (dev->engine && !gpuemu_engine_lost(dev->engine))
		generation = dev->engine->generation;
	spin_unlock(&dev->lock);
	return generation;
}

static int put_the_device(struct sk_buff *skb, const void *unused)
{
	struct gpuemu_dev *dev = netlink_dev;
	u64 events, dropped;

	spin_lock(&dev->events.lock);
	events = dev->events.seq;
	dropped = dev->events.dropped;
	spin_unlock(&dev->events.lock);
	/* Frames that the engine has forgotten since are free. */
	gpuemu_mirror_pages_reap(dev);

	if (nla_put_u32(skb, GPUEMU_A_DEVICE_ABI, GPUEMU_ABI_VERSION) ||
	    nla_put_u32(skb, GPUEMU_A_DEVICE_GENERATION,
			live_generation(dev)) ||
	    nla_put_u32(skb, GPUEMU_A_DEVICE_CLIENTS, count_clients(dev)) ||
	    nla_put_u32(skb, GPUEMU_A_DEVICE_TABLES, dev->pt.tables) ||
	    nla_put_u32(skb, GPUEMU_A_DEVICE_TABLES_FREE,
			READ_ONCE(dev->pt.nfree)))
		return -EMSGSIZE;
	if (put_u64(skb, GPUEMU_A_DEVICE_VRAM_BYTES,
		    (u64)dev->vram.frames << PAGE_SHIFT,
		    GPUEMU_A_DEVICE_PAD) ||
	    put_u64(skb, GPUEMU_A_DEVICE_VRAM_FREE_BYTES,
		    (u64)gpuemu_vram_nfree(&dev->vram) << PAGE_SHIFT,
		    GPUEMU_A_DEVICE_PAD) ||
	    put_u64(skb, GPUEMU_A_DEVICE_EVENTS, events,
		    GPUEMU_A_DEVICE_PAD) ||
	    put_u64(skb, GPUEMU_A_DEVICE_EVENTS_DROPPED, dropped,
		    GPUEMU_A_DEVICE_PAD))
		return -EMSGSIZE;
	return gpuemu_nl_put_stats(skb, GPUEMU_A_DEVICE_STATS, &dev->stats,
				   true);
}

static int device_get(struct sk_buff *skb, struct genl_info *info)
{
	return send_reply(info, GPUEMU_CMD_DEVICE_GET, put_the_device, NULL);
}

/* --- parameters --- */

static int put_param(struct sk_buff *skb, const void *what)
{
	const struct gpuemu_param_row *row = what;

	if (nla_put_string(skb, GPUEMU_A_PARAM_NAME, row->name) ||
	    nla_put_u32(skb, GPUEMU_A_PARAM_VALUE, READ_ONCE(*row->value)) ||
	    nla_put_u32(skb, GPUEMU_A_PARAM_MIN_VALUE, row->min) ||
	    nla_put_u32(skb, GPUEMU_A_PARAM_MAX_VALUE, row->max) ||
	    nla_put_u32(skb, GPUEMU_A_PARAM_DEFAULT_VALUE, row->def) ||
	    nla_put_string(skb, GPUEMU_A_PARAM_DOC, row->doc))
		return -EMSGSIZE;
	return row->live ? nla_put_flag(skb, GPUEMU_A_PARAM_SETTABLE) : 0;
}

/* The parameter that the request names, or an error that it was told of. */
static const struct gpuemu_param_row *named_param(struct genl_info *info)
{
	const struct gpuemu_param_row *row;
	char name[NAME_MAX_BYTES + 1];

	if (!info->attrs[GPUEMU_A_PARAM_NAME]) {
		GENL_SET_ERR_MSG(info, "which parameter? its name is missing");
		return ERR_PTR(-EINVAL);
	}
	nla_strscpy(name, info->attrs[GPUEMU_A_PARAM_NAME], sizeof(name));
	row = gpuemu_param_find(name);
	if (!row) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    info->attrs[GPUEMU_A_PARAM_NAME],
				    "no parameter of that name");
		return ERR_PTR(-ENOENT);
	}
	return row;
}

static int param_get(struct sk_buff *skb, struct genl_info *info)
{
	const struct gpuemu_param_row *row = named_param(info);

	if (IS_ERR(row))
		return PTR_ERR(row);
	return send_reply(info, GPUEMU_CMD_PARAM_GET, put_param, row);
}

/* The cursor, args[0], is the next row. */
static int param_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct gpuemu_param_row *row;
	void *hdr;

	if (compat_genl_dump_attrs(cb)[GPUEMU_A_PARAM_NAME]) {
		NL_SET_ERR_MSG(cb->extack, "a dump is of all parameters: no name");
		return -EINVAL;
	}
	for (; (row = gpuemu_param_row(cb->args[0])); cb->args[0]++) {
		hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, &gpuemu_family,
				  NLM_F_MULTI, GPUEMU_CMD_PARAM_GET);
		if (!hdr || put_param(skb, row)) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
	}
	return skb->len;
}

static int param_set(struct sk_buff *skb, struct genl_info *info)
{
	const struct gpuemu_param_row *row = named_param(info);
	struct nlattr *attr = info->attrs[GPUEMU_A_PARAM_VALUE];
	u32 value;
	int ret;

	ret = gpuemu_nl_may(skb, CAP_SYS_ADMIN, info->extack);
	if (ret)
		return ret;
	if (IS_ERR(row))
		return PTR_ERR(row);
	if (!attr) {
		GENL_SET_ERR_MSG(info, "set to what? the value is missing");
		return -EINVAL;
	}
	if (!row->live) {
		GENL_SET_ERR_MSG(info, "this parameter can only be given when the module is loaded");
		return -EPERM;
	}
	value = nla_get_u32(attr);
	if (value < row->min || value > row->max) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "the value is outside the parameter's range");
		return -ERANGE;
	}
	WRITE_ONCE(*row->value, value);
	gpuemu_event_param(netlink_dev, row->name, value);
	return 0;
}

/* --- reset --- */

static void reset_all(struct gpuemu_dev *dev)
{
	struct gpuemu_client *client;
	unsigned long id;

	gpuemu_stats_reset(&dev->stats);
	for (id = 0; (client = gpuemu_client_next(dev, &id)); id++) {
		gpuemu_stats_reset(&client->space.stats);
		gpuemu_client_put(client);
	}
}

/* Resets one client, or the device and all clients. */
static int stats_reset(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[GPUEMU_A_CLIENT_VA_SPACE];
	struct gpuemu_client *client;
	int ret;

	ret = gpuemu_nl_may(skb, CAP_SYS_ADMIN, info->extack);
	if (ret)
		return ret;
	if (!attr) {
		reset_all(netlink_dev);
		gpuemu_event_reset(netlink_dev, 0);
		return 0;
	}
	client = gpuemu_client_get(netlink_dev, nla_get_u32(attr));
	if (!client) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "no such VA space");
		return -ESRCH;
	}
	gpuemu_stats_reset(&client->space.stats);
	gpuemu_event_reset(netlink_dev, client->space.id);
	gpuemu_client_put(client);
	return 0;
}

/* --- injected failures --- */

static int inject_failure(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *what = info->attrs[GPUEMU_A_INJECT_WHAT];
	struct nlattr *count = info->attrs[GPUEMU_A_INJECT_COUNT];
	int ret;

	ret = gpuemu_nl_may(skb, CAP_SYS_ADMIN, info->extack);
	if (ret)
		return ret;
	return gpuemu_inject_ask(netlink_dev, what, count, info->extack);
}

/* --- the family --- */

static const struct nla_policy client_policy[] = {
	[GPUEMU_A_CLIENT_VA_SPACE] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy block_policy[] = {
	[GPUEMU_A_BLOCK_VA_SPACE] = NLA_POLICY_MIN(NLA_U32, 1),
	[GPUEMU_A_BLOCK_ADDR] = { .type = NLA_U64 },
};

static const struct nla_policy param_policy[] = {
	[GPUEMU_A_PARAM_NAME] = { .type = NLA_NUL_STRING,
				  .len = NAME_MAX_BYTES },
	[GPUEMU_A_PARAM_VALUE] = { .type = NLA_U32 },
};

static const struct nla_policy inject_policy[] = {
	[GPUEMU_A_INJECT_WHAT] = { .type = NLA_U32 },
	[GPUEMU_A_INJECT_COUNT] = NLA_POLICY_MAX(NLA_U32, 10000),
};

#define POLICY(name, last) \
	.policy = name##_policy, .maxattr = GPUEMU_A_##last

static const struct genl_ops netlink_ops[] = {
	{
		.cmd = GPUEMU_CMD_DEVICE_GET,
		.doit = device_get,
	}, {
		.cmd = GPUEMU_CMD_CLIENT_GET,
		.doit = gpuemu_nl_client_get,
		.dumpit = gpuemu_nl_client_dump,
		POLICY(client, CLIENT_VA_SPACE),
	}, {
		.cmd = GPUEMU_CMD_BLOCK_GET,
		.dumpit = gpuemu_nl_block_dump,
		POLICY(block, BLOCK_ADDR),
	}, {
		.cmd = GPUEMU_CMD_PARAM_GET,
		.doit = param_get,
		.dumpit = param_dump,
		POLICY(param, PARAM_NAME),
	}, {
		.cmd = GPUEMU_CMD_PARAM_SET,
		.doit = param_set,
		POLICY(param, PARAM_VALUE),
	}, {
		.cmd = GPUEMU_CMD_STATS_RESET,
		.doit = stats_reset,
		POLICY(client, CLIENT_VA_SPACE),
	}, {
		.cmd = GPUEMU_CMD_INJECT,
		.doit = inject_failure,
		POLICY(inject, INJECT_COUNT),
	},
};

static const struct genl_multicast_group groups[] = {
	{ .name = GPUEMU_MCGRP_EVENTS },
};

struct genl_family gpuemu_family __ro_after_init = {
	.name = GPUEMU_FAMILY_NAME,
	.version = GPUEMU_FAMILY_VERSION,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = netlink_ops,
	.n_ops = ARRAY_SIZE(netlink_ops),
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

int gpuemu_netlink_register(struct gpuemu_dev *dev)
{
	netlink_dev = dev;
	return genl_register_family(&gpuemu_family);
}

void gpuemu_netlink_unregister(void)
{
	genl_unregister_family(&gpuemu_family);
	netlink_dev = NULL;
}
