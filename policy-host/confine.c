// SPDX-License-Identifier: GPL-2.0
/*
 * What a policy's process gives up before it loads the object. It protects against
 * mistakes in a policy; a daemon's policies also run as nobody and are the
 * administrator's choice.
 */
#include "host.h"

#include "base/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define MEMORY_MAX	(4ull << 30)	/* bytes of address space */
#define CPU_MAX		86400u		/* seconds; each call has a limit of its own */
#define FILES_MAX	64u

/*
 * The engine's end of the socket closes when it ends in any way, whatever the policy is
 * doing. PR_SET_PDEATHSIG would follow the thread that made the context, not the engine.
 */
static void *end_with_engine(void *unused)
{
	struct pollfd fd = { .fd = HOST_SOCKET };

	while (poll(&fd, 1, -1) < 0 && errno == EINTR)
		;
	_exit(0);
}

static void limit(int what, uint64_t value)
{
	const struct rlimit limit = { value, value };

	setrlimit(what, &limit);
}

void confine_process(void)
{
	int null = open("/dev/null", O_RDWR);

	/* A policy may print; a report on the program's stdout stays whole. */
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 && null >= 0)
		dup2(null, STDOUT_FILENO);
	close_range(HOST_RECORD + 1, ~0u, 0);
	limit(RLIMIT_NOFILE, FILES_MAX);
	limit(RLIMIT_AS, MEMORY_MAX);
	limit(RLIMIT_CPU, CPU_MAX);
	prctl(PR_SET_NAME, "gpuemu-policy");
}

int confine_user(uint32_t uid)
{
	pthread_attr_t attr;
	pthread_t thread;
	int rc;

	if (uid && (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
		return -errno;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 << 10);
	rc = pthread_create(&thread, &attr, end_with_engine, NULL);
	pthread_attr_destroy(&attr);
	return -rc;
}

/* What no policy needs, and what could reach beyond its process. */
static const int refused[] = {
	SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(clone), SCMP_SYS(clone3),
	SCMP_SYS(execve), SCMP_SYS(execveat),
	SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
	SCMP_SYS(pidfd_getfd), SCMP_SYS(pidfd_send_signal),
	SCMP_SYS(kill), SCMP_SYS(tkill), SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(rt_tgsigqueueinfo),
	SCMP_SYS(socket), SCMP_SYS(io_uring_setup),
};

int confine_calls(void)
{
	const uint32_t eperm = SCMP_ACT_ERRNO(EPERM);
	scmp_filter_ctx filter;
	int rc = filter_begin(&filter, SCMP_ACT_ALLOW);

	/* The thread that waits for the engine's end, too. */
	if (!rc)
		rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	for (size_t i = 0; !rc && i < ARRAY_SIZE(refused); i++)
		rc = seccomp_rule_add(filter, eperm, refused[i], 0);
	/* abort() sends a signal to its own process. */
	if (!rc)
		rc = seccomp_rule_add(filter, eperm, SCMP_SYS(tgkill), 1,
				      SCMP_A0(SCMP_CMP_NE, (scmp_datum_t)getpid()));
	return filter_end(filter, rc);
}
