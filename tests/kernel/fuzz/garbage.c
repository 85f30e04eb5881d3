// SPDX-License-Identifier: GPL-2.0
/*
 * What nobody should send: ioctls with random bytes, and a process that asks,
 * resets and breaks things through netlink all the time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "fuzz/kcov.h"
#include "lib/nl.h"

/*
 * Of the size that the command has, so that it gets past the first check, or not. Left
 * out is what can be right by chance and breaks the protocol then: an attachment
 * and an acknowledgement that nobody meant.
 */
void garbage_ioctl(struct shared *s, int fd, uint64_t *x)
{
	static const struct { unsigned long nr; uint32_t size; } all[] = {
		{ GPUEMU_IOCTL_INFO, sizeof(struct gpuemu_info) },
		{ GPUEMU_IOCTL_MODULE_LOAD, sizeof(struct gpuemu_module_load) },
		{ GPUEMU_IOCTL_SUBMIT, sizeof(struct gpuemu_submit) },
		{ GPUEMU_IOCTL_WORK_DONE, sizeof(struct gpuemu_work_done) },
		{ GPUEMU_IOCTL_MODULE_READ, sizeof(struct gpuemu_module_read) },
		{ GPUEMU_IOCTL_ENGINE_PROGRESS, sizeof(struct gpuemu_engine_progress) },
	};
	uint32_t i = below(x, sizeof(all) / sizeof(all[0])), k, size = all[i].size;
	uint8_t bytes[1024];
	struct gpuemu_engine_ack ack = { .size = sizeof(ack) };
	unsigned long nr = all[i].nr;
	int ret;

	memset(bytes, 0, sizeof(bytes));
	/* Pointers stay bad and lengths large: nothing of this process is written. */
	for (k = 4; k < sizeof(bytes); k++)
		bytes[k] = one_in(x, 2) ? 0 : next_random(x);
	if (one_in(x, 8))
		size = next_random(x);
	if (one_in(x, 8))
		nr = _IOWR('G', below(x, 0x80), char[64]);
	memcpy(bytes, &size, 4);
	if (nr == GPUEMU_IOCTL_SUBMIT || nr == GPUEMU_IOCTL_MODULE_LOAD ||
	    nr == GPUEMU_IOCTL_MODULE_READ)
		/* The pointer: never this process' memory. */
		memset(bytes + (nr == GPUEMU_IOCTL_MODULE_LOAD ? 8 : 16), 0xfe, 8);
	if (nr == GPUEMU_IOCTL_SUBMIT)
		/* A payload there is, so that none of these is queued. */
		bytes[12] |= 1;
	if (nr == GPUEMU_IOCTL_WORK_DONE)
		memset(bytes + 8, 0xfe, 8);
	if (nr == GPUEMU_IOCTL_ENGINE_PROGRESS)
		/* No VA space has that number. */
		memset(bytes + 4, 0xfe, 4);
	ret = call(fd, nr, bytes);
	if (!ret && nr != GPUEMU_IOCTL_INFO)
		fail(s, -1, -1, "an ioctl %#lx of garbage was accepted", nr);
	/* Of a future that does not come: refused from an engine and from a client. */
	ack.seq = one_in(x, 2) ? 0x7fffffff : 0x70000000;
	ret = call(fd, GPUEMU_IOCTL_ENGINE_ACK, &ack);
	if (!ret)
		fail(s, -1, -1, "an acknowledgement of what was never posted was accepted");
	atomic_fetch_add(&s->garbage, 1);
}

/* Whatever it is set to, contents are right; some values are refused. */
static void set_param(const struct nl *nl, struct nl_request *r, uint64_t *x)
{
	/* A share of device memory lets each client do something. */
	static const struct { const char *name; uint32_t below, from; } params[] = {
		{ "client_vram_pct", 76, 25 }, { "client_vram_pct", 1 },
		{ "pressure_ms", 600 }, { "monitor_ms", 600 }, { "fault_batch", 300 },
		{ "fault_batch", 20 }, { "replay_policy", 5 }, { "replay_policy", 4 },
		{ "replay_update_put_ratio", 110 }, { "max_batches_per_service", 6 },
		{ "thrash_enable", 3 }, { "thrash_threshold", 8 },
		{ "thrash_pin_threshold", 20 }, { "thrash_lapse_us", 1000000 },
		{ "thrash_nap_us", 5000 }, { "thrash_pin_ms", 200 },
	};
	uint32_t i = below(x, sizeof(params) / sizeof(params[0]));

	nl_begin(nl, r, GPUEMU_CMD_PARAM_SET, NLM_F_ACK);
	nl_put_text(r, GPUEMU_A_PARAM_NAME, params[i].name);
	nl_put_u32(r, GPUEMU_A_PARAM_VALUE, params[i].from + below(x, params[i].below));
}

static void inject(struct shared *s, struct nl *nl, struct nl_request *r, uint64_t *x)
{
	uint32_t what = GPUEMU_INJECT_WHAT_FRAME_ALLOC + below(x, 2);

	if (s->calm || one_in(x, 2))
		return;
	if (one_in(x, 30))
		what = GPUEMU_INJECT_WHAT_ENGINE_LOSS;
	nl_begin(nl, r, GPUEMU_CMD_INJECT, NLM_F_ACK);
	nl_put_u32(r, GPUEMU_A_INJECT_WHAT, what);
	if (what != GPUEMU_INJECT_WHAT_ENGINE_LOSS)
		nl_put_u32(r, GPUEMU_A_INJECT_COUNT, 1 + below(x, 5));
	if (what == GPUEMU_INJECT_WHAT_ENGINE_LOSS)
		note(s, OP_ENGINE_LOST, 0, 0, 0, 0);
	note(s, OP_INJECT, 0, 0, 0, nl_talk(nl, r, NULL, NULL));
}

static void ask(struct shared *s, struct nl *nl, uint64_t *x)
{
	static const uint8_t dumps[] = {
		GPUEMU_CMD_CLIENT_GET, GPUEMU_CMD_BLOCK_GET, GPUEMU_CMD_PARAM_GET,
	};
	uint32_t space = atomic_load(&s->client[below(x, s->clients)].space), i;
	struct nl_request r;
	uint8_t cmd;
	int ret = 0;

	switch (below(x, 8)) {
	case 0:
		nl_begin(nl, &r, GPUEMU_CMD_DEVICE_GET, NLM_F_ACK);
		break;
	case 1:
		nl_begin(nl, &r, GPUEMU_CMD_CLIENT_GET, NLM_F_ACK);
		nl_put_u32(&r, GPUEMU_A_CLIENT_VA_SPACE, space);
		break;
	case 2:
	case 3:
		cmd = dumps[below(x, 3)];
		nl_begin(nl, &r, cmd, NLM_F_DUMP);
		if (cmd == GPUEMU_CMD_BLOCK_GET)
			nl_put_u32(&r, GPUEMU_A_BLOCK_VA_SPACE, space);
		/* A dump that nobody reads to its end. */
		if (one_in(x, 4)) {
			nl_send(nl, &r);
			nl_read(nl, NULL, NULL);
			nl_close(nl);
			nl_open(nl);
			return;
		}
		break;
	case 4:
		nl_begin(nl, &r, GPUEMU_CMD_STATS_RESET, NLM_F_ACK);
		if (one_in(x, 2))
			nl_put_u32(&r, GPUEMU_A_CLIENT_VA_SPACE, space);
		atomic_fetch_add(&s->resets, 1);
		break;
	case 5:
		set_param(nl, &r, x);
		break;
	case 6:
		inject(s, nl, &r, x);
		return;
	default:
		nl_begin(nl, &r, below(x, 12), one_in(x, 2) ? NLM_F_DUMP : NLM_F_ACK);
		if (((struct genlmsghdr *)NLMSG_DATA(&r.hdr))->cmd == GPUEMU_CMD_INJECT)
			return;
		for (i = below(x, 4); i; i--) {
			uint64_t value = (uint64_t)next_random(x) << below(x, 33);

			nl_put(&r, below(x, 12), &value, below(x, 9));
		}
		/* It must not set a parameter that the others rely on. */
		if (((struct genlmsghdr *)NLMSG_DATA(&r.hdr))->cmd == GPUEMU_CMD_PARAM_SET)
			return;
	}
	ret = nl_talk(nl, &r, NULL, NULL);
	note(s, OP_NETLINK, 0, 0, 0, ret);
}

void garbage_run(struct shared *s, uint64_t seed)
{
	const struct timeval limit = { HANG_MS / 1000, 0 };
	uint64_t x = seed;
	struct nl nl;
	int fd = -1;

	kcov_begin();
	if (nl_open(&nl)) {
		fail(s, -1, -1, "no netlink family");
		_exit(1);
	}
	while (!s->failed) {
		if (atomic_load(&s->phase) != PHASE_RUN) {
			usleep(2000);
			continue;
		}
		setsockopt(nl.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		ask(s, &nl, &x);
		if (fd < 0 || one_in(&x, 50)) {
			if (fd >= 0)
				close(fd);
			fd = client_open();
		}
		garbage_ioctl(s, fd, &x);
		kcov_take();
		usleep(below(&x, 3000));
	}
	_exit(1);
}
