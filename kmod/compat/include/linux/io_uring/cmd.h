/* SPDX-License-Identifier: GPL-2.0 */
/*
 * io_uring commands on every kernel that gpuemu builds on. Mainline's names
 * where an older kernel merely lacks them; compat_uring_*() where the signature
 * itself differs.
 */
#ifndef _GPUEMU_COMPAT_IO_URING_CMD_H
#define _GPUEMU_COMPAT_IO_URING_CMD_H

#include <linux/version.h>

/* Until 6.7 everything is in linux/io_uring.h. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
#include_next <linux/io_uring/cmd.h>
#else
#include <linux/io_uring.h>
#endif

/*
 * Cancellation at ring exit: from 6.7. Before, only the monitor and .flush see
 * that an engine died.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define IO_URING_F_CANCEL 0
static inline void io_uring_cmd_mark_cancelable(struct io_uring_cmd *cmd,
						unsigned int issue_flags)
{
}
#endif

/* From 6.8. */
#ifndef io_uring_cmd_to_pdu
#define io_uring_cmd_to_pdu(cmd, pdu_type) ({ \
	BUILD_BUG_ON(sizeof(pdu_type) > sizeof((cmd)->pdu)); \
	(pdu_type *)(cmd)->pdu; \
})
#endif

/* The flags that a user may set; older kernels have but one. */
#ifndef IORING_URING_CMD_MASK
#define IORING_URING_CMD_MASK IORING_URING_CMD_FIXED
#endif

/* The command's 16 bytes, in memory that the user can still change. */
static inline const void *compat_uring_payload(struct io_uring_cmd *cmd)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 1, 0)
	return &cmd->sqe->cmd[0];
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	return io_uring_sqe_cmd(cmd->sqe);
#else
	return cmd->cmd;
#endif
}

static inline void compat_uring_done(struct io_uring_cmd *cmd, s32 result,
				     unsigned int issue_flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	io_uring_cmd_done(cmd, result, issue_flags);
#else
	io_uring_cmd_done(cmd, result, 0, issue_flags);
#endif
}

/*
 * Defines fn##_tw, to be handed to io_uring_cmd_complete_in_task(), around
 * fn(cmd, issue_flags, dead). dead: the submitting task is gone or going, and
 * this may be a kworker.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
#define COMPAT_URING_TW(fn) \
static void fn##_tw(struct io_tw_req tw_req, io_tw_token_t tw) \
{ \
	fn(io_uring_cmd_from_tw(tw_req), IO_URING_CMD_TASK_WORK_ISSUE_FLAGS, \
	   tw.cancel); \
}
#else
#define COMPAT_URING_TW(fn) \
static void fn##_tw(struct io_uring_cmd *cmd, unsigned int issue_flags) \
{ \
	fn(cmd, issue_flags, current->flags & (PF_EXITING | PF_KTHREAD)); \
}
#endif

#endif
