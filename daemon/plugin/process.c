// SPDX-License-Identifier: GPL-2.0
/*
 * Starts and ends a policy's process. Its program is part of this one (an object
 * made by scripts/mk/engine.mk) and runs from memory: it is found wherever the
 * engine is installed, and is always of the same build.
 */
#include "plugin/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/child.h"

#define END_MS		2000	/* to wait for a process that was killed */

extern const char gpuemu_policy_host[], gpuemu_policy_host_end[];

/* --- descriptors --------------------------------------------------------------- */

static int memory_fd(const char *name, off_t bytes)
{
	int fd = child_raise_fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));

	if (fd >= 0 && bytes && ftruncate(fd, bytes)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* --- starting ------------------------------------------------------------------ */

static int program_fd(void)
{
	size_t bytes = (size_t)(gpuemu_policy_host_end - gpuemu_policy_host), done = 0;
	int fd = memory_fd("gpuemu-policy-host", 0);

	while (fd >= 0 && done < bytes) {
		ssize_t n = write(fd, gpuemu_policy_host + done, bytes - done);

		if (n <= 0) {
			close(fd);
			return -1;
		}
		done += (size_t)n;
	}
	return fd;
}

/* The process has its own descriptors and stderr; the rest it closes itself. */
static int spawn(struct process *process, int program, const int fds[3], const char *title)
{
	char path[64], *argv[] = { "gpuemu-policy-host", (char *)title, NULL };
	const int own[] = {
		[HOST_SOCKET - CHILD_FD] = fds[0], [HOST_CHANNEL - CHILD_FD] = fds[1],
		[HOST_RECORD - CHILD_FD] = fds[2],
	};

	snprintf(path, sizeof(path), "/proc/self/fd/%d", program);
	return child_start(path, argv, own, ARRAY_SIZE(own), &process->pid, &process->pidfd);
}

/* The process cannot shrink what the engine reads, which would end it by SIGBUS. */
static int map_channel(struct process *process, int *fd)
{
	void *channel;

	*fd = memory_fd("gpuemu-policy-channel", sizeof(struct channel));
	if (*fd < 0 || fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return -errno;
	channel = mmap(NULL, sizeof(struct channel), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (channel == MAP_FAILED)
		return -errno;
	process->channel = channel;
	return 0;
}

static int start(struct process *process, const char *title, int fds[3], int *program)
{
	int sockets[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	process->socket = child_raise_fd(sockets[0]);
	fds[0] = child_raise_fd(sockets[1]);
	if (process->socket < 0 || fds[0] < 0)
		return -errno;
	rc = map_channel(process, &fds[1]);
	if (rc)
		return rc;
	fds[2] = memory_fd("gpuemu-policy-record", 0);
	if (fds[2] < 0)
		return -errno;
	process->record = fds[2];
	*program = program_fd();
	if (*program < 0)
		return -errno;
	return spawn(process, *program, fds, title);
}

static void drop(struct process *process)
{
	if (process->channel)
		munmap(process->channel, sizeof(*process->channel));
	close_fd(&process->socket);
	close_fd(&process->record);
	close_fd(&process->pidfd);
	process->channel = NULL;
}

int process_start(struct process *process, const char *title)
{
	int fds[3] = { -1, -1, -1 }, program = -1, rc;

	*process = (struct process){ .socket = -1, .record = -1, .pidfd = -1 };
	rc = start(process, title, fds, &program);
	close_fd(&fds[0]);
	close_fd(&fds[1]);
	close_fd(&program);
	if (rc)
		drop(process);
	return rc;
}

/* --- calls ----------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Signals of the engine's process do not make it longer. */
static int wait_until(int fd, int64_t end)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	for (;;) {
		int64_t left = end - now_ms();
		int n = poll(&poll_fd, 1, left > 0 ? (int)left : 0);

		if (n > 0)
			return 0;
		if (n == 0)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

static bool say(struct process *process, char byte)
{
	return send(process->socket, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

int process_call(struct process *process, unsigned int limit_ms,
		 bool (*answer)(void *ctx), void *ctx)
{
	const int64_t end = now_ms() + limit_ms;
	char byte = BYTE_CALL;

	for (;;) {
		int rc;

		if (!say(process, byte))
			return -EPIPE;
		rc = wait_until(process->socket, end);
		if (rc)
			return rc;
		if (recv(process->socket, &byte, 1, MSG_DONTWAIT) != 1)
			return -EPIPE;
		if (byte == BYTE_CALL)
			return 0;
		if (byte != BYTE_KEPT || !answer || !answer(ctx))
			return -EPROTO;
	}
}

/* --- ending ------------------------------------------------------------------------ */

void process_end(struct process *process, int *status)
{
	*status = -1;
	if (!process->channel)
		return;
	/* One that has ended already keeps its own reason. */
	pidfd_send_signal(process->pidfd, SIGKILL, NULL, 0);
	/* A program that waits for all its children may be quicker: then there is no status. */
	if (!wait_until(process->pidfd, now_ms() + END_MS) &&
	    waitpid(process->pid, status, WNOHANG) != process->pid)
		*status = -1;
	drop(process);
}
