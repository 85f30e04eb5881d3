// SPDX-License-Identifier: GPL-2.0
/*
 * The small part of io_uring that the kmod backend needs: one ring a thread,
 * carrying at most one module command and one wake-up event at a time.
 * liburing 2.3 has no helper for IORING_OP_URING_CMD, so the SQE is filled here.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "service/kmod_device.h"

#define RING_ENTRIES	8	/* a command, its successor and the wake-up fit easily */

_Static_assert(sizeof(struct gpuemu_uring_cmd) <= 16, "fits the 64-byte SQE");

/*
 * The completion is run by the waiting thread itself, when it enters the kernel
 * to wait: no interrupt of the other one. DEFER_TASKRUN is missing on some
 * kernels that have the rest.
 */
int kmod_ring_init(struct io_uring *ring)
{
	static const unsigned int flags[] = {
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN,
		0,
	};
	int ret = -EINVAL;

	for (unsigned int i = 0; i < ARRAY_SIZE(flags) && ret == -EINVAL; i++)
		ret = io_uring_queue_init(RING_ENTRIES, ring, flags[i]);
	return ret;
}

void kmod_ring_command(struct io_uring *ring, int fd, uint32_t op)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	struct gpuemu_uring_cmd cmd = { 0 };

	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, fd, NULL, 0, 0);
	sqe->cmd_op = op;
	memcpy(sqe->cmd, &cmd, sizeof(cmd));
	io_uring_sqe_set_data64(sqe, KMOD_TAG_COMMAND);
}

void kmod_ring_wake_on(struct io_uring *ring, int eventfd)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	io_uring_prep_poll_add(sqe, eventfd, POLLIN);
	io_uring_sqe_set_data64(sqe, KMOD_TAG_WAKE);
}

int kmod_ring_next_within(struct io_uring *ring, int timeout_ms, int *res)
{
	struct __kernel_timespec limit = {
		.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000ll,
	};
	struct io_uring_cqe *cqe;
	int tag, ret;

	for (;;) {
		/* One system call submits and waits, unless something completed already. */
		ret = timeout_ms < 0 ? io_uring_submit_and_wait(ring, 1) :
		      io_uring_submit_and_wait_timeout(ring, &cqe, 1, &limit, NULL);
		if (ret < 0 && ret != -EINTR && ret != -EAGAIN)
			return ret;
		if (io_uring_peek_cqe(ring, &cqe) == 0)
			break;
	}
	tag = (int)io_uring_cqe_get_data64(cqe);
	*res = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return tag;
}
