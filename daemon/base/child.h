/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program that runs as a child process with descriptors of its own. The child inherits neither
 * the caller's signal handlers and mask nor its terminal.
 */
#ifndef GPUEMU_BASE_CHILD_H
#define GPUEMU_BASE_CHILD_H

#include <stddef.h>
#include <sys/types.h>

/* The child gets its descriptors at CHILD_FD, CHILD_FD + 1, ... */
#define CHILD_FD	3

/*
 * Moves a descriptor to a number that no child's descriptor has, close-on-exec; the old number is
 * closed. -1 with errno if there is none, or if fd is -1.
 */
int child_raise_fd(int fd);

/*
 * Starts the program at path with argv. fds[i], raised, becomes the child's CHILD_FD + i. The child
 * keeps stdin, stdout, stderr and what the caller has without close-on-exec. *pidfd, raised, is
 * readable when the child has ended. Returns -errno; there is no child then.
 */
int child_start(const char *path, char *const argv[], const int *fds, size_t nfds, pid_t *pid,
		int *pidfd);

#endif
