/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink by hand, because the tests send what a library would refuse
 * to. Functions return 0 or -errno; the tests assert, this does not.
 */
#ifndef _GPUEMU_TESTS_KERNEL_NL_H
#define _GPUEMU_TESTS_KERNEL_NL_H

#include <linux/genetlink.h>
#include <linux/gpuemu_netlink.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nl {
	int fd;
	uint16_t family;
	uint32_t group;		/* of the events */
	uint32_t seq;
	char said[256];		/* the kernel's sentence about the last error */
	unsigned int reads;	/* of the last talk */
};

struct nl_request {
	union {
		struct nlmsghdr hdr;
		uint8_t bytes[1024];
	};
};

enum { NL_ATTRS = 64 };

/* What one message said: attribute n at attrs[n], or NULL. */
struct nl_reply {
	const struct nlmsghdr *hdr;
	const struct nlattr *attrs[NL_ATTRS];
	uint8_t cmd;
};

int nl_open(struct nl *nl);
void nl_close(struct nl *nl);
int nl_listen(struct nl *nl);

void nl_begin(const struct nl *nl, struct nl_request *r, uint8_t cmd, uint16_t flags);
void nl_put(struct nl_request *r, uint16_t type, const void *data, size_t bytes);
void nl_put_u32(struct nl_request *r, uint16_t type, uint32_t value);
void nl_put_u64(struct nl_request *r, uint16_t type, uint64_t value);
void nl_put_text(struct nl_request *r, uint16_t type, const char *text);

/* Sends it and hands each message of the answer to each(). */
int nl_send(struct nl *nl, struct nl_request *r);
int nl_answer(struct nl *nl, void (*each)(const struct nl_reply *reply, void *arg), void *arg);
int nl_talk(struct nl *nl, struct nl_request *r,
	    void (*each)(const struct nl_reply *reply, void *arg), void *arg);
/* A parameter of the module. 0 or -errno. */
int nl_set_param(struct nl *nl, const char *name, uint32_t value);
/* So many failures, GPUEMU_INJECT_WHAT_*, or milliseconds of a pause. 0 or -errno. */
int nl_inject(struct nl *nl, uint32_t what, uint32_t count);
/* One read of an answer. 1: there is more to come; 0: it ended; or -errno. */
int nl_read(struct nl *nl, void (*each)(const struct nl_reply *reply, void *arg), void *arg);

/* 1: there is an event; 0: none in that time; or -errno, -ENOBUFS: some were lost. */
int nl_event(struct nl *nl, unsigned int timeout_ms, struct nl_reply *reply);

/* A counter (GPUEMU_A_STATS_*) of a VA space, 0: of the device; ~0 if it is not told. */
uint64_t nl_stat(struct nl *nl, uint32_t va_space, int counter);

void nl_nested(const struct nlattr *nest, const struct nlattr **attrs);
uint32_t nl_u32(const struct nlattr *attr);
uint64_t nl_u64(const struct nlattr *attr);
const char *nl_text(const struct nlattr *attr);
const void *nl_data(const struct nlattr *attr);
size_t nl_bytes(const struct nlattr *attr);

#endif
