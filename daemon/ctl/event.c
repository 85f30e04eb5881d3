// SPDX-License-Identifier: GPL-2.0
/*
 * Listening to the module's events. A listener that is too slow loses some: the
 * numbers say how many.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "ctl/socket.h"

static const char *const types[] = {
	[GPUEMU_EVENT_TYPE_CLIENT_OPENED] = "client-opened",
	[GPUEMU_EVENT_TYPE_CLIENT_CLOSED] = "client-closed",
	[GPUEMU_EVENT_TYPE_ENGINE_ATTACHED] = "engine-attached",
	[GPUEMU_EVENT_TYPE_ENGINE_LOST] = "engine-lost",
	[GPUEMU_EVENT_TYPE_MEMORY_PRESSURE] = "memory-pressure",
	[GPUEMU_EVENT_TYPE_PARAM_CHANGED] = "param-changed",
	[GPUEMU_EVENT_TYPE_STATS_RESET] = "stats-reset",
};

int ctl_listen(struct ctl *ctl, struct err *err)
{
	int group = genl_ctrl_resolve_grp(ctl->sock, GPUEMU_FAMILY_NAME, GPUEMU_MCGRP_EVENTS);
	int ret = group < 0 ? group : nl_socket_add_membership(ctl->sock, group);

	if (ret < 0)
		return err_set(err, -EIO, "cannot listen to the events: %s", nl_geterror(ret));
	/* Events answer no request, so their numbers are not this socket's. */
	nl_socket_disable_seq_check(ctl->sock);
	return 0;
}

static void take_event(struct ctl *ctl, struct nlattr **a, struct ctl_event *e)
{
	uint32_t type = ctl_u32(a[GPUEMU_A_EVENT_TYPE]);

	memset(e, 0, sizeof(*e));
	e->type = type < ARRAY_SIZE(types) && types[type] ? types[type] : "unknown";
	e->seq = ctl_u64(a[GPUEMU_A_EVENT_SEQ]);
	e->dropped = ctl_u64(a[GPUEMU_A_EVENT_DROPPED]);
	e->time_ns = ctl_u64(a[GPUEMU_A_EVENT_TIME]);
	e->va_space = ctl_u32(a[GPUEMU_A_EVENT_VA_SPACE]);
	e->generation = ctl_u32(a[GPUEMU_A_EVENT_GENERATION]);
	e->value = ctl_u32(a[GPUEMU_A_EVENT_VALUE]);
	ctl_text(a[GPUEMU_A_EVENT_REASON], e->reason, sizeof(e->reason));
	ctl_text(a[GPUEMU_A_EVENT_NAME], e->name, sizeof(e->name));
	if (ctl->last_seq && e->seq > ctl->last_seq + 1)
		e->missed = e->seq - ctl->last_seq - 1;
	ctl->last_seq = e->seq;
}

/* 1, 0, or -errno. */
static int wait_readable(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int ret = poll(&p, 1, timeout_ms);

	if (ret < 0)
		return errno == EINTR ? 0 : -errno;
	return ret;
}

/* One message a datagram: the module sends each event on its own. */
int ctl_event(struct ctl *ctl, int timeout_ms, struct ctl_event *event, struct err *err)
{
	int fd = nl_socket_get_fd(ctl->sock), ret;
	struct nlattr *attrs[GPUEMU_A_EVENT_MAX + 1];
	struct nlmsghdr *hdr;
	union {
		struct nlmsghdr hdr;
		char bytes[4096];
	} buffer;
	ssize_t n;

	for (;;) {
		ret = wait_readable(fd, timeout_ms);
		if (ret <= 0)
			return ret ? err_set(err, ret, "cannot wait for events: %s",
					     strerror(-ret)) : 0;
		n = recv(fd, &buffer, sizeof(buffer), MSG_DONTWAIT);
		/* ENOBUFS: some did not fit; the next one's number tells how many. */
		if (n < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOBUFS))
			continue;
		if (n < 0)
			return err_set(err, -errno, "cannot read events: %s", strerror(errno));
		hdr = &buffer.hdr;
		if (!nlmsg_ok(hdr, (int)n) || hdr->nlmsg_type != ctl->family ||
		    genlmsg_hdr(hdr)->cmd != GPUEMU_CMD_EVENT ||
		    genlmsg_parse(hdr, 0, attrs, GPUEMU_A_EVENT_MAX, NULL))
			continue;
		take_event(ctl, attrs, event);
		return 1;
	}
}
