// SPDX-License-Identifier: GPL-2.0
/* Parameters, counters and failures through netlink; each call opens a socket of its own. */
#include "lib/knob.h"
#include "lib/nl.h"

int knob_set(const char *name, uint32_t value)
{
	struct nl nl;
	int ret = nl_open(&nl);

	if (ret)
		return ret;
	ret = nl_set_param(&nl, name, value);
	nl_close(&nl);
	return ret;
}

int knob_inject(uint32_t what, uint32_t count)
{
	struct nl nl;
	int ret = nl_open(&nl);

	if (ret)
		return ret;
	ret = nl_inject(&nl, what, count);
	nl_close(&nl);
	return ret;
}

struct wanted {
	int attr;
	uint64_t value;
};

static void take(const struct nl_reply *reply, void *arg)
{
	const struct nlattr *stats[NL_ATTRS];
	struct wanted *wanted = arg;

	nl_nested(reply->attrs[GPUEMU_A_DEVICE_STATS], stats);
	if (nl_bytes(stats[wanted->attr]) == sizeof(uint64_t))
		wanted->value = nl_u64(stats[wanted->attr]);
}

uint64_t knob_stat(int attr)
{
	struct wanted wanted = { .attr = attr, .value = UINT64_MAX };
	struct nl_request r;
	struct nl nl;

	if (nl_open(&nl))
		return UINT64_MAX;
	nl_begin(&nl, &r, GPUEMU_CMD_DEVICE_GET, 0);
	if (nl_talk(&nl, &r, take, &wanted))
		wanted.value = UINT64_MAX;
	nl_close(&nl);
	return wanted.value;
}
