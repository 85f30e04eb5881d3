/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of this room: a netlink socket with its family resolved. */
#ifndef GPUEMU_CTL_SOCKET_H
#define GPUEMU_CTL_SOCKET_H

#include <linux/gpuemu_netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "ctl/ctl.h"

struct ctl {
	struct nl_sock *sock;
	int family;
	char said[160];		/* the kernel's sentence about the last error */
	uint64_t last_seq;	/* of the events; 0: none yet */
};

/*
 * Sends the message (taken) and hands each reply's attributes, attrs[0 .. max],
 * to each(). 0 or -errno with err, which `what` begins.
 */
struct ctl_request {
	const char *what;
	struct nl_msg *msg;
	int max;
	void (*each)(struct nlattr **attrs, void *arg);
	void *arg;
};

struct nl_msg *ctl_message(struct ctl *ctl, int cmd, int flags);
int ctl_talk(struct ctl *ctl, const struct ctl_request *request, struct err *err);

/* 0, "" and false when the attribute is not there or not of its type. */
uint32_t ctl_u32(struct nlattr *attr);
uint64_t ctl_u64(struct nlattr *attr);
void ctl_text(struct nlattr *attr, char *text, size_t size);

#endif
