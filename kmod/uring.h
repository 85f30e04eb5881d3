/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine's io_uring commands: RAISE, WAIT, FETCH, COMMIT, COMMIT_AND_FETCH.
 */
#ifndef _GPUEMU_URING_H
#define _GPUEMU_URING_H

#include <linux/io_uring/cmd.h>

#include "engine.h"

int gpuemu_uring_cmd(struct io_uring_cmd *cmd, unsigned int issue_flags);
void gpuemu_uring_fail(struct io_uring_cmd *cmd);
void gpuemu_uring_fetched(struct io_uring_cmd *fetch);
void gpuemu_uring_replayed(struct io_uring_cmd *raise);
void gpuemu_uring_job_queued(struct io_uring_cmd *wait);

#endif
