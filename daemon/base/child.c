// SPDX-License-Identifier: GPL-2.0
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_FD	10	/* above every descriptor that a child gets */

int child_raise_fd(int fd)
{
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return high;
}

static int spawn(const char *path, char *const argv[], const int *fds, size_t nfds,
		 posix_spawnattr_t *attr, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	sigset_t none, all;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return -error;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
				 POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(attr, &none);
	posix_spawnattr_setsigdefault(attr, &all);
	for (size_t i = 0; !error && i < nfds; i++)
		error = posix_spawn_file_actions_adddup2(&actions, fds[i], CHILD_FD + (int)i);
	if (!error)
		error = posix_spawn(pid, path, &actions, attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -error;
}

int child_start(const char *path, char *const argv[], const int *fds, size_t nfds, pid_t *pid,
		int *pidfd)
{
	posix_spawnattr_t attr;
	int ret = -posix_spawnattr_init(&attr);

	if (ret)
		return ret;
	ret = spawn(path, argv, fds, nfds, &attr, pid);
	posix_spawnattr_destroy(&attr);
	if (ret)
		return ret;
	*pidfd = child_raise_fd(pidfd_open(*pid, 0));
	if (*pidfd < 0) {
		ret = -errno;
		kill(*pid, SIGKILL);
		waitpid(*pid, NULL, 0);
	}
	return ret;
}
