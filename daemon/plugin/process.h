/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The process that a policy runs in: started, asked and answered with one byte
 * each, and ended. Knows nothing of policies. Private to plugin/.
 */
#ifndef GPUEMU_PLUGIN_PROCESS_H
#define GPUEMU_PLUGIN_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "plugin/channel.h"

struct process {
	struct channel *channel;	/* NULL: there is none */
	int socket;
	int record;			/* memfd, empty until the caller fills it */
	int pidfd;
	pid_t pid;
};

/* title is what ps(1) shows behind the program's name. -errno. */
int process_start(struct process *process, const char *title);
/*
 * One call. When the process asks something meanwhile, answer() is called (NULL: it may
 * not) and the process goes on. 0, -ETIMEDOUT after limit_ms, -EPIPE: it ended or closed the
 * connection, -EPROTO: it asked what makes no sense.
 */
int process_call(struct process *process, unsigned int limit_ms,
		 bool (*answer)(void *ctx), void *ctx);
/*
 * Ends it, if it has not; *status as of waitpid(2), -1 where somebody else has asked
 * for it. Nothing is left of it afterwards. process may be all zero.
 */
void process_end(struct process *process, int *status);

#endif
