// SPDX-License-Identifier: GPL-2.0
/* Generic netlink by hand: the socket, messages, attributes. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/nl.h"

#define READ_BYTES 4096	/* small: a dump takes several reads */

static _Alignas(8) __thread uint8_t buffer[READ_BYTES * 4];

static void parse(const void *data, size_t bytes, const struct nlattr **attrs)
{
	const uint8_t *at = data;

	memset(attrs, 0, NL_ATTRS * sizeof(*attrs));
	while (bytes >= sizeof(struct nlattr)) {
		const struct nlattr *a = (const void *)at;
		size_t step = NLA_ALIGN(a->nla_len);

		if (a->nla_len < sizeof(*a) || a->nla_len > bytes)
			break;
		if ((a->nla_type & NLA_TYPE_MASK) < NL_ATTRS)
			attrs[a->nla_type & NLA_TYPE_MASK] = a;
		if (step > bytes)
			break;
		at += step;
		bytes -= step;
	}
}

const void *nl_data(const struct nlattr *attr)
{
	return (const uint8_t *)attr + NLA_HDRLEN;
}

size_t nl_bytes(const struct nlattr *attr)
{
	return attr ? attr->nla_len - NLA_HDRLEN : 0;
}

void nl_nested(const struct nlattr *nest, const struct nlattr **attrs)
{
	parse(nest ? nl_data(nest) : NULL, nl_bytes(nest), attrs);
}

uint32_t nl_u32(const struct nlattr *attr)
{
	uint32_t value = 0;

	if (nl_bytes(attr) == sizeof(value))
		memcpy(&value, nl_data(attr), sizeof(value));
	return value;
}

uint64_t nl_u64(const struct nlattr *attr)
{
	uint64_t value = 0;

	if (nl_bytes(attr) == sizeof(value))
		memcpy(&value, nl_data(attr), sizeof(value));
	return value;
}

const char *nl_text(const struct nlattr *attr)
{
	return attr ? nl_data(attr) : "";
}

void nl_begin(const struct nl *nl, struct nl_request *r, uint8_t cmd, uint16_t flags)
{
	struct genlmsghdr *genl = NLMSG_DATA(&r->hdr);

	memset(r, 0, sizeof(*r));
	r->hdr.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	r->hdr.nlmsg_type = nl->family;
	r->hdr.nlmsg_flags = NLM_F_REQUEST | (flags ? flags : NLM_F_ACK);
	genl->cmd = cmd;
	genl->version = GPUEMU_FAMILY_VERSION;
}

void nl_put(struct nl_request *r, uint16_t type, const void *data, size_t bytes)
{
	struct nlattr *a = (void *)(r->bytes + NLMSG_ALIGN(r->hdr.nlmsg_len));

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + bytes;
	if (bytes)
		memcpy((uint8_t *)a + NLA_HDRLEN, data, bytes);
	r->hdr.nlmsg_len = NLMSG_ALIGN(r->hdr.nlmsg_len) + NLA_ALIGN(a->nla_len);
}

void nl_put_u32(struct nl_request *r, uint16_t type, uint32_t value)
{
	nl_put(r, type, &value, sizeof(value));
}

void nl_put_u64(struct nl_request *r, uint16_t type, uint64_t value)
{
	nl_put(r, type, &value, sizeof(value));
}

void nl_put_text(struct nl_request *r, uint16_t type, const char *text)
{
	nl_put(r, type, text, strlen(text) + 1);
}

int nl_send(struct nl *nl, struct nl_request *r)
{
	r->hdr.nlmsg_seq = ++nl->seq;
	nl->said[0] = '\0';
	nl->reads = 0;
	return send(nl->fd, r->bytes, r->hdr.nlmsg_len, 0) < 0 ? -errno : 0;
}

static void take_said(struct nl *nl, const uint8_t *at, size_t bytes)
{
	const struct nlattr *attrs[NL_ATTRS];

	parse(at, bytes, attrs);
	snprintf(nl->said, sizeof(nl->said), "%s", nl_text(attrs[NLMSGERR_ATTR_MSG]));
}

/* The end of an answer: its error. */
static int take_end(struct nl *nl, const struct nlmsghdr *hdr)
{
	const struct nlmsgerr *e = NLMSG_DATA(hdr);
	size_t skip = sizeof(int);

	if (hdr->nlmsg_type == NLMSG_ERROR) {
		skip = sizeof(*e);
		if (!(hdr->nlmsg_flags & NLM_F_CAPPED))
			skip += e->msg.nlmsg_len - sizeof(e->msg);
	}
	skip = NLMSG_ALIGN(skip);
	if ((hdr->nlmsg_flags & NLM_F_ACK_TLVS) &&
	    hdr->nlmsg_len > NLMSG_HDRLEN + skip)
		take_said(nl, (const uint8_t *)e + skip,
			  hdr->nlmsg_len - NLMSG_HDRLEN - skip);
	return e->error < 0 ? e->error : 0;
}

static void take_reply(const struct nlmsghdr *hdr, struct nl_reply *reply)
{
	const struct genlmsghdr *genl = NLMSG_DATA(hdr);

	reply->hdr = hdr;
	reply->cmd = genl->cmd;
	parse((const uint8_t *)genl + GENL_HDRLEN,
	      hdr->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN, reply->attrs);
}

int nl_read(struct nl *nl, void (*each)(const struct nl_reply *reply, void *arg), void *arg)
{
	const struct nlmsghdr *hdr = (void *)buffer;
	struct nl_reply reply;
	ssize_t n = recv(nl->fd, buffer, READ_BYTES, 0);

	if (n < 0)
		return -errno;
	nl->reads++;
	for (; NLMSG_OK(hdr, n); hdr = NLMSG_NEXT(hdr, n)) {
		if (hdr->nlmsg_type == NLMSG_ERROR || hdr->nlmsg_type == NLMSG_DONE)
			return take_end(nl, hdr);
		take_reply(hdr, &reply);
		if (each)
			each(&reply, arg);
	}
	return 1;
}

int nl_answer(struct nl *nl, void (*each)(const struct nl_reply *reply, void *arg), void *arg)
{
	int ret;

	do {
		ret = nl_read(nl, each, arg);
	} while (ret == 1);
	return ret;
}

int nl_talk(struct nl *nl, struct nl_request *r,
	    void (*each)(const struct nl_reply *reply, void *arg), void *arg)
{
	int ret = nl_send(nl, r);

	return ret ? ret : nl_answer(nl, each, arg);
}

int nl_set_param(struct nl *nl, const char *name, uint32_t value)
{
	struct nl_request r;

	nl_begin(nl, &r, GPUEMU_CMD_PARAM_SET, 0);
	nl_put_text(&r, GPUEMU_A_PARAM_NAME, name);
	nl_put_u32(&r, GPUEMU_A_PARAM_VALUE, value);
	return nl_talk(nl, &r, NULL, NULL);
}

int nl_inject(struct nl *nl, uint32_t what, uint32_t count)
{
	struct nl_request r;

	nl_begin(nl, &r, GPUEMU_CMD_INJECT, 0);
	nl_put_u32(&r, GPUEMU_A_INJECT_WHAT, what);
	nl_put_u32(&r, GPUEMU_A_INJECT_COUNT, count);
	return nl_talk(nl, &r, NULL, NULL);
}

int nl_event(struct nl *nl, unsigned int timeout_ms, struct nl_reply *reply)
{
	struct pollfd p = { .fd = nl->fd, .events = POLLIN };
	int ret = poll(&p, 1, timeout_ms);
	ssize_t n;

	if (ret <= 0)
		return ret ? -errno : 0;
	n = recv(nl->fd, buffer, sizeof(buffer), MSG_DONTWAIT);
	if (n < 0)
		return -errno;
	if (!NLMSG_OK((struct nlmsghdr *)buffer, n))
		return -EBADMSG;
	take_reply((struct nlmsghdr *)buffer, reply);
	return 1;
}

/* The controller's answer about the family. */
static void on_family(const struct nl_reply *reply, void *arg)
{
	const struct nlattr *groups[NL_ATTRS], *group[NL_ATTRS];
	const struct nlattr *id = reply->attrs[CTRL_ATTR_FAMILY_ID];
	struct nl *nl = arg;
	int i;

	if (nl_bytes(id) == sizeof(nl->family))
		memcpy(&nl->family, nl_data(id), sizeof(nl->family));
	nl_nested(reply->attrs[CTRL_ATTR_MCAST_GROUPS], groups);
	for (i = 0; i < NL_ATTRS; i++) {
		if (!groups[i])
			continue;
		nl_nested(groups[i], group);
		if (!strcmp(nl_text(group[CTRL_ATTR_MCAST_GRP_NAME]), GPUEMU_MCGRP_EVENTS))
			nl->group = nl_u32(group[CTRL_ATTR_MCAST_GRP_ID]);
	}
}

int nl_open(struct nl *nl)
{
	struct nl_request r;
	int on = 1, ret;

	memset(nl, 0, sizeof(*nl));
	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (nl->fd < 0)
		return -errno;
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	nl->family = GENL_ID_CTRL;
	nl_begin(nl, &r, CTRL_CMD_GETFAMILY, 0);
	nl_put_text(&r, CTRL_ATTR_FAMILY_NAME, GPUEMU_FAMILY_NAME);
	ret = nl_talk(nl, &r, on_family, nl);
	if (ret)
		nl_close(nl);
	return ret;
}

struct counter {
	int which;
	uint64_t value;
};

static void on_stat(const struct nl_reply *reply, void *arg)
{
	const struct nlattr *stats[NL_ATTRS];
	struct counter *c = arg;

	nl_nested(reply->attrs[reply->cmd == GPUEMU_CMD_DEVICE_GET ? GPUEMU_A_DEVICE_STATS :
			       GPUEMU_A_CLIENT_STATS], stats);
	if (stats[c->which])
		c->value = nl_u64(stats[c->which]);
}

uint64_t nl_stat(struct nl *nl, uint32_t va_space, int counter)
{
	struct counter c = { counter, ~0ull };
	struct nl_request r;

	nl_begin(nl, &r, va_space ? GPUEMU_CMD_CLIENT_GET : GPUEMU_CMD_DEVICE_GET, 0);
	if (va_space)
		nl_put_u32(&r, GPUEMU_A_CLIENT_VA_SPACE, va_space);
	return nl_talk(nl, &r, on_stat, &c) ? ~0ull : c.value;
}

void nl_close(struct nl *nl)
{
	if (nl->fd >= 0)
		close(nl->fd);
	nl->fd = -1;
}

int nl_listen(struct nl *nl)
{
	return setsockopt(nl->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &nl->group,
			  sizeof(nl->group)) ? -errno : 0;
}
