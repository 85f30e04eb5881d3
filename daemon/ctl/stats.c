// SPDX-License-Identifier: GPL-2.0
/*
 * The device, its clients and their VA blocks: from attributes to structs, and
 * the reset of the counters.
 */
#include <errno.h>
#include <string.h>

#include "ctl/socket.h"

static const struct {
	int attr;
	const char *name, *help;
} stats[] = {
#define X(NAME, name, help) { GPUEMU_A_STATS_##NAME, #name, help },
#include "ctl/stats.def"
#undef X
};

const char *ctl_stat_name(unsigned int n)
{
	return n < CTL_STATS ? stats[n].name : NULL;
}

const char *ctl_stat_help(unsigned int n)
{
	return n < CTL_STATS ? stats[n].help : NULL;
}

static void take_stats(struct nlattr *nest, struct ctl_stats *out)
{
	struct nlattr *attrs[GPUEMU_A_STATS_MAX + 1];

	memset(out, 0, sizeof(*out));
	if (!nest || nla_parse_nested(attrs, GPUEMU_A_STATS_MAX, nest, NULL))
		return;
	for (int i = 0; i < CTL_STATS; i++) {
		out->value[i] = ctl_u64(attrs[stats[i].attr]);
		out->has[i] = attrs[stats[i].attr] != NULL;
	}
}

static void take_device(struct nlattr **a, void *arg)
{
	struct ctl_device *d = arg;

	d->abi = ctl_u32(a[GPUEMU_A_DEVICE_ABI]);
	d->generation = ctl_u32(a[GPUEMU_A_DEVICE_GENERATION]);
	d->clients = ctl_u32(a[GPUEMU_A_DEVICE_CLIENTS]);
	d->tables = ctl_u32(a[GPUEMU_A_DEVICE_TABLES]);
	d->tables_free = ctl_u32(a[GPUEMU_A_DEVICE_TABLES_FREE]);
	d->vram_bytes = ctl_u64(a[GPUEMU_A_DEVICE_VRAM_BYTES]);
	d->vram_free_bytes = ctl_u64(a[GPUEMU_A_DEVICE_VRAM_FREE_BYTES]);
	d->events = ctl_u64(a[GPUEMU_A_DEVICE_EVENTS]);
	d->events_dropped = ctl_u64(a[GPUEMU_A_DEVICE_EVENTS_DROPPED]);
	take_stats(a[GPUEMU_A_DEVICE_STATS], &d->stats);
}

int ctl_device(struct ctl *ctl, struct ctl_device *device, struct err *err)
{
	struct ctl_request request = {
		.what = "the device's statistics",
		.msg = ctl_message(ctl, GPUEMU_CMD_DEVICE_GET, NLM_F_ACK),
		.max = GPUEMU_A_DEVICE_MAX,
		.each = take_device,
		.arg = device,
	};

	memset(device, 0, sizeof(*device));
	return ctl_talk(ctl, &request, err);
}

struct take_clients {
	void (*each)(const struct ctl_client *client, void *arg);
	void *arg;
};

static void take_client(struct nlattr **a, void *arg)
{
	struct take_clients *take = arg;
	struct ctl_client c = {
		.va_space = ctl_u32(a[GPUEMU_A_CLIENT_VA_SPACE]),
		.pid = ctl_u32(a[GPUEMU_A_CLIENT_PID]),
		.uid = ctl_u32(a[GPUEMU_A_CLIENT_UID]),
		.works = ctl_u32(a[GPUEMU_A_CLIENT_WORKS]),
		.engine = a[GPUEMU_A_CLIENT_ENGINE] != NULL,
		.charged_bytes = ctl_u64(a[GPUEMU_A_CLIENT_CHARGED_BYTES]),
	};

	take_stats(a[GPUEMU_A_CLIENT_STATS], &c.stats);
	take->each(&c, take->arg);
}

int ctl_clients(struct ctl *ctl, void (*each)(const struct ctl_client *client, void *arg),
		void *arg, struct err *err)
{
	struct take_clients take = { each, arg };
	struct ctl_request request = {
		.what = "the clients",
		.msg = ctl_message(ctl, GPUEMU_CMD_CLIENT_GET, NLM_F_DUMP),
		.max = GPUEMU_A_CLIENT_MAX,
		.each = take_client,
		.arg = &take,
	};

	return ctl_talk(ctl, &request, err);
}

struct take_blocks {
	void (*each)(const struct ctl_block *block, void *arg);
	void *arg;
};

static uint32_t take_mask(struct nlattr *attr, uint64_t *mask, size_t bytes)
{
	uint32_t n = 0;

	if (attr && (size_t)nla_len(attr) == bytes)
		memcpy(mask, nla_data(attr), bytes);
	for (size_t i = 0; i < bytes / sizeof(*mask); i++)
		n += (uint32_t)__builtin_popcountll(mask[i]);
	return n;
}

static void take_block(struct nlattr **a, void *arg)
{
	struct take_blocks *take = arg;
	struct ctl_block b = {
		.va_space = ctl_u32(a[GPUEMU_A_BLOCK_VA_SPACE]),
		.addr = ctl_u64(a[GPUEMU_A_BLOCK_ADDR]),
		.system_pages = ctl_u32(a[GPUEMU_A_BLOCK_SYSTEM_PAGES]),
		.busy = a[GPUEMU_A_BLOCK_BUSY] != NULL,
	};

	b.resident_pages = take_mask(a[GPUEMU_A_BLOCK_RESIDENT], b.resident,
				     sizeof(b.resident));
	b.cpu_mapped_pages = take_mask(a[GPUEMU_A_BLOCK_CPU_MAPPED], b.cpu_mapped,
				       sizeof(b.cpu_mapped));
	take->each(&b, take->arg);
}

int ctl_blocks(struct ctl *ctl, uint32_t va_space,
	       void (*each)(const struct ctl_block *block, void *arg), void *arg, struct err *err)
{
	struct take_blocks take = { each, arg };
	struct ctl_request request = {
		.what = "the VA blocks",
		.msg = ctl_message(ctl, GPUEMU_CMD_BLOCK_GET, NLM_F_DUMP),
		.max = GPUEMU_A_BLOCK_MAX,
		.each = take_block,
		.arg = &take,
	};

	if (request.msg && nla_put_u32(request.msg, GPUEMU_A_BLOCK_VA_SPACE, va_space))
		return err_set(err, -ENOMEM, "no memory");
	return ctl_talk(ctl, &request, err);
}

int ctl_reset(struct ctl *ctl, uint32_t va_space, struct err *err)
{
	struct ctl_request request = {
		.what = "resetting the statistics",
		.msg = ctl_message(ctl, GPUEMU_CMD_STATS_RESET, NLM_F_ACK),
	};

	if (va_space && request.msg &&
	    nla_put_u32(request.msg, GPUEMU_A_CLIENT_VA_SPACE, va_space)) {
		nlmsg_free(request.msg);
		return err_set(err, -ENOMEM, "no memory");
	}
	return ctl_talk(ctl, &request, err);
}
