// SPDX-License-Identifier: GPL-2.0
/*
 * The socket and the conversation: requests, replies, and the kernel's own
 * sentence when it refuses. What the messages mean is in the other files.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl/socket.h"

/* libnl's errors have numbers of their own, and lose the kernel's. */
static int errno_of(int nl)
{
	switch (-nl) {
	case NLE_OBJ_NOTFOUND:
		return -ENOENT;
	case NLE_PERM:
		return -EPERM;
	case NLE_NOMEM:
		return -ENOMEM;
	}
	return -EIO;
}

int ctl_open(struct ctl **out, struct err *err)
{
	struct ctl *ctl = calloc(1, sizeof(*ctl));
	int ret, on = 1;

	*out = NULL;
	if (!ctl)
		return err_set(err, -ENOMEM, "no memory");
	ctl->sock = nl_socket_alloc();
	if (!ctl->sock) {
		free(ctl);
		return err_set(err, -ENOMEM, "no memory");
	}
	ret = genl_connect(ctl->sock);
	if (ret) {
		err_set(err, 0, "cannot open a netlink socket: %s", nl_geterror(ret));
		ctl_close(ctl);
		return errno_of(ret);
	}
	ctl->family = genl_ctrl_resolve(ctl->sock, GPUEMU_FAMILY_NAME);
	if (ctl->family < 0) {
		ret = errno_of(ctl->family);
		if (ret == -ENOENT)
			err_set(err, 0, "no netlink family 'gpuemu': %s",
				access("/sys/module/gpuemu", F_OK) ?
				"load the module (insmod gpuemu.ko)" :
				"it is in the first network namespace alone (nsenter --target 1 --net)");
		else
			err_set(err, 0, "cannot find the netlink family 'gpuemu': %s",
				nl_geterror(ctl->family));
		ctl_close(ctl);
		return ret;
	}
	/* The kernel's sentences; a kernel without them has its numbers. */
	setsockopt(nl_socket_get_fd(ctl->sock), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(nl_socket_get_fd(ctl->sock), SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on,
		   sizeof(on));
	*out = ctl;
	return 0;
}

void ctl_close(struct ctl *ctl)
{
	if (!ctl)
		return;
	nl_socket_free(ctl->sock);
	free(ctl);
}

struct nl_msg *ctl_message(struct ctl *ctl, int cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, ctl->family, 0,
				flags, (uint8_t)cmd, GPUEMU_FAMILY_VERSION)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

/* One exchange. */
struct talk {
	struct ctl *ctl;
	const struct ctl_request *request;
	int error;		/* the kernel's, or 0 */
	bool done;
};

static int on_reply(struct nl_msg *msg, void *arg)
{
	struct talk *talk = arg;
	const struct ctl_request *request = talk->request;
	struct nlattr *attrs[request->max + 1];

	if (request->each &&
	    !genlmsg_parse(nlmsg_hdr(msg), 0, attrs, request->max, NULL))
		request->each(attrs, request->arg);
	return NL_OK;
}

/* The sentence among the attributes behind an error, if there is one. */
static void take_sentence(struct talk *talk, struct nlattr *attrs, int length)
{
	struct nlattr *said = nla_find(attrs, length, NLMSGERR_ATTR_MSG);

	if (said)
		ctl_text(said, talk->ctl->said, sizeof(talk->ctl->said));
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *arg)
{
	struct nlmsghdr *hdr = (struct nlmsghdr *)((char *)error - NLMSG_HDRLEN);
	struct talk *talk = arg;
	size_t skip = sizeof(*error);

	talk->error = error->error;
	talk->done = true;
	if (!(hdr->nlmsg_flags & NLM_F_ACK_TLVS))
		return NL_STOP;
	/* Without NLM_F_CAPPED the whole request stands in between. */
	if (!(hdr->nlmsg_flags & NLM_F_CAPPED))
		skip += error->msg.nlmsg_len - sizeof(error->msg);
	skip = NLMSG_ALIGN(skip);
	if (hdr->nlmsg_len > NLMSG_HDRLEN + skip)
		take_sentence(talk, (struct nlattr *)((char *)error + skip),
			      (int)(hdr->nlmsg_len - NLMSG_HDRLEN - skip));
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	((struct talk *)arg)->done = true;
	return NL_STOP;
}

/* A dump's end carries its error, and the sentence behind it. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	struct talk *talk = arg;
	int length = nlmsg_datalen(hdr);

	talk->done = true;
	if (length < (int)sizeof(int))
		return NL_STOP;
	memcpy(&talk->error, nlmsg_data(hdr), sizeof(int));
	if (talk->error > 0)
		talk->error = 0;
	if (hdr->nlmsg_flags & NLM_F_ACK_TLVS)
		take_sentence(talk, (struct nlattr *)((char *)nlmsg_data(hdr) + sizeof(int)),
			      length - (int)sizeof(int));
	return NL_STOP;
}

static int refused(struct ctl *ctl, const char *what, int error, struct err *err)
{
	if (ctl->said[0])
		return err_set(err, error, "%s: %s", what, ctl->said);
	if (error == -EPERM)
		return err_set(err, error, "%s: not permitted; it takes CAP_SYS_ADMIN or, to look, CAP_SYS_PTRACE (root)",
			       what);
	if (error == -EOPNOTSUPP)
		return err_set(err, error, "%s: this module does not know it; it is older than this program",
			       what);
	return err_set(err, error, "%s: %s", what, strerror(-error));
}

int ctl_talk(struct ctl *ctl, const struct ctl_request *request, struct err *err)
{
	struct talk talk = { .ctl = ctl, .request = request };
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int ret = -NLE_NOMEM;

	ctl->said[0] = '\0';
	if (request->msg && cb) {
		nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_reply, &talk);
		nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, &talk);
		nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, &talk);
		nl_cb_err(cb, NL_CB_CUSTOM, on_error, &talk);
		ret = nl_send_auto(ctl->sock, request->msg);
		while (ret >= 0 && !talk.done)
			ret = nl_recvmsgs(ctl->sock, cb);
	}
	nlmsg_free(request->msg);
	nl_cb_put(cb);
	if (talk.error)
		return refused(ctl, request->what, talk.error, err);
	if (ret < 0)
		return err_set(err, errno_of(ret), "%s: netlink: %s", request->what,
			       nl_geterror(ret));
	return 0;
}

uint32_t ctl_u32(struct nlattr *attr)
{
	return attr && nla_len(attr) == 4 ? nla_get_u32(attr) : 0;
}

uint64_t ctl_u64(struct nlattr *attr)
{
	return attr && nla_len(attr) == 8 ? nla_get_u64(attr) : 0;
}

void ctl_text(struct nlattr *attr, char *text, size_t size)
{
	size_t n = attr ? (size_t)nla_len(attr) : 0;

	if (n > size - 1)
		n = size - 1;
	if (n)
		memcpy(text, nla_data(attr), n);
	text[n] = '\0';
}
