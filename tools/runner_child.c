// SPDX-License-Identifier: GPL-2.0
/* A run as a process. It ends when this process does, however this one ends. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "memory.h"
#include "output.h"
#include "runner.h"

/* In the child: only what may be called between fork() and exec. */
static _Noreturn void become(const char *program, char **argv, const char *errors, pid_t parent,
			     const sigset_t *mask)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int said = open(errors, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	/*
	 * posix_spawn() cannot set the parent-death signal, which works even after a kill -9
	 * of the parent.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (said >= 0)
		dup2(said, STDERR_FILENO);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execv(program, argv);
	dprintf(STDERR_FILENO, "cannot be started: %s\n", strerror(errno));
	_exit(127);
}

int run_start(const struct runner *r, struct run *run, const void *mask)
{
	char *words = runner_expand(r, run->args), *report = run_scratch(r, run, ".json");
	char *errors = run_scratch(r, run, ".err"), *save, **argv;
	size_t n = 0, room = strlen(words) / 2 + 5;
	pid_t parent = getpid(), pid;
	int ret = 0;

	argv = must(calloc(room, sizeof(*argv)));
	argv[n++] = (char *)"gpuemu";
	for (char *a = strtok_r(words, " ", &save); a; a = strtok_r(NULL, " ", &save))
		argv[n++] = a;
	argv[n++] = (char *)"--json";
	argv[n++] = report;
	fflush(NULL);
	pid = fork();
	if (!pid)
		become(r->program, argv, errors, parent, mask);
	if (pid < 0) {
		ret = -errno;
		snprintf(run->why, sizeof(run->why), "cannot be started: %s", strerror(-ret));
	} else {
		run->pid = pid;
	}
	run->began = now_ns();
	free(argv);
	free(words);
	free(report);
	free(errors);
	return ret;
}
