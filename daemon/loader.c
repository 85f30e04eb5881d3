// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon's side of loading: starts a process for each text, looks whether it has ended, says
 * what came of it. What the process does is loader_process.c's. Called by works.c.
 */
#include "loader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "loader_private.h"

struct loading {
	pid_t pid;
	int pidfd, text, result;
	struct load_limits limits;
	char name[128];
};

static int fill(int fd, const char *text, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, text, bytes);

		if (n <= 0)
			return -ENOMEM;
		text += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int spawn(struct loading *l, const struct ptx_options *o)
{
	char numbers[7][24], *argv[] = { LOADER_NAME, l->name, numbers[0], numbers[1], numbers[2],
					 numbers[3], numbers[4], numbers[5], numbers[6], NULL };
	const int fds[] = {
		[LOADER_TEXT - CHILD_FD] = l->text, [LOADER_RESULT - CHILD_FD] = l->result,
	};
	int ret;

	snprintf(numbers[0], sizeof(numbers[0]), "%u", o->maxregs);
	snprintf(numbers[1], sizeof(numbers[1]), "%u", o->stack_bytes);
	snprintf(numbers[2], sizeof(numbers[2]), "%u", o->phases);
	snprintf(numbers[3], sizeof(numbers[3]), "%u", o->leave_out);
	snprintf(numbers[4], sizeof(numbers[4]), "%llu", (unsigned long long)l->limits.bytes);
	snprintf(numbers[5], sizeof(numbers[5]), "%u", l->limits.seconds);
	snprintf(numbers[6], sizeof(numbers[6]), "%u", o->plenty);
	ret = child_start("/proc/self/exe", argv, fds, ARRAY_SIZE(fds), &l->pid, &l->pidfd);
	if (ret)
		l->pid = 0;
	return ret;
}

int loader_start(const char *text, size_t bytes, const char *name,
		 const struct ptx_options *options, const struct load_limits *limits,
		 struct loading **loading, struct err *err)
{
	struct loading *l = calloc(1, sizeof(*l));
	int ret = l ? 0 : -ENOMEM;

	if (l) {
		*l = (struct loading){ .pidfd = -1, .limits = *limits };
		snprintf(l->name, sizeof(l->name), "%s", name);
		l->text = child_raise_fd(memfd_create("gpuemu-text", MFD_CLOEXEC));
		l->result = child_raise_fd(memfd_create("gpuemu-module", MFD_CLOEXEC | MFD_ALLOW_SEALING));
		ret = l->text < 0 || l->result < 0 ? -EMFILE : fill(l->text, text, bytes);
		if (!ret)
			ret = spawn(l, options);
	}
	if (ret) {
		loader_end(l);
		return err_set(err, ret, "%s: cannot start a process to load it: %s", name,
			       strerror(-ret));
	}
	*loading = l;
	return 0;
}

bool loader_wait(struct loading *const *loading, unsigned int n, int timeout_ms)
{
	struct pollfd fds[LOADERS];

	for (unsigned int i = 0; i < n && i < LOADERS; i++)
		fds[i] = (struct pollfd){ .fd = loading[i]->pidfd, .events = POLLIN };
	return poll(fds, MIN(n, LOADERS), timeout_ms) > 0;
}

bool loader_ended(const struct loading *l)
{
	return loader_wait((struct loading *const[]){ (struct loading *)l }, 1, 0);
}

static int ended_by(const struct loading *l, int signal, struct err *err)
{
	if (signal == SIGXCPU || signal == SIGKILL)
		return err_set(err, -ETIMEDOUT,
			       "%s: loading took more than %u s of the daemon's time (gpuemud --load-time)",
			       l->name, l->limits.seconds);
	return err_set(err, -EFAULT, "%s: the daemon's process that loads it ended by signal %d", l->name,
		       signal);
}

int loader_result(struct loading *l, int *fd, uint64_t *bytes, struct err *err)
{
	struct loaded head = { .status = -EIO };
	struct stat file;
	int status;

	if (waitpid(l->pid, &status, 0) != l->pid)
		return err_set(err, -ECHILD, "%s: the process that loads it is gone", l->name);
	l->pid = 0;
	if (WIFSIGNALED(status))
		return ended_by(l, WTERMSIG(status), err);
	if (pread(l->result, &head, sizeof(head), 0) != sizeof(head) || fstat(l->result, &file))
		return err_set(err, -EIO, "%s: the process that loads it said nothing", l->name);
	head.text[sizeof(head.text) - 1] = '\0';
	if (head.status == -ENOMEM)
		return err_set(err, -ENOMEM,
			       "%s: loading takes more memory than the %llu MiB that the daemon still has for this client (gpuemud --client-memory)",
			       l->name, (unsigned long long)l->limits.bytes >> 20);
	if (head.status)
		return err_set(err, head.status < 0 ? head.status : -EIO, "%s", head.text);
	/* No process writes to it any more, even if one still has it open. */
	if (fcntl(l->result, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
		return err_set(err, -EIO, "%s: the loaded module cannot be sealed", l->name);
	*fd = l->result;
	*bytes = (uint64_t)file.st_size;
	l->result = -1;
	return 0;
}

void loader_end(struct loading *l)
{
	if (!l)
		return;
	if (l->pid) {
		kill(l->pid, SIGKILL);
		waitpid(l->pid, NULL, 0);
	}
	if (l->pidfd >= 0)
		close(l->pidfd);
	if (l->text >= 0)
		close(l->text);
	if (l->result >= 0)
		close(l->result);
	free(l);
}

int loader_map(int fd, uint64_t bytes, struct ptx_module **module)
{
	void *at;
	int ret;

	if (bytes <= LOADED_AT)
		return -EINVAL;
	at = mmap(NULL, bytes - LOADED_AT, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, LOADED_AT);
	if (at == MAP_FAILED)
		return -ENOMEM;
	ret = ptx_module_unpack(at, bytes - LOADED_AT, module);
	if (ret)
		munmap(at, bytes - LOADED_AT);
	return ret;
}
