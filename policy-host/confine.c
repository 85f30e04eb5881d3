// SPDX-License-Identifier: GPL-2.0
/*
 * What a policy's process gives up before it loads the object. It protects against
 * mistakes in a policy; a daemon's policies also run as nobody and are the
 * administrator's choice.
 */
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
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

#if defined(__x86_64__)
#define ARCH	0xc000003eu	/* AUDIT_ARCH_X86_64 */
#elif defined(__aarch64__)
#define ARCH	0xc00000b7u	/* AUDIT_ARCH_AARCH64 */
#endif

#define REFUSE(number)							\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),		\
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

void confine_calls(void)
{
#ifdef ARCH
	const uint32_t self = (uint32_t)getpid();
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		/* x32's calls have other numbers. */
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
#ifdef __NR_fork
		REFUSE(__NR_fork),
		REFUSE(__NR_vfork),
#endif
		REFUSE(__NR_clone),
		REFUSE(__NR_clone3),
		REFUSE(__NR_execve),
		REFUSE(__NR_execveat),
		REFUSE(__NR_ptrace),
		REFUSE(__NR_process_vm_readv),
		REFUSE(__NR_process_vm_writev),
		REFUSE(__NR_pidfd_getfd),
		REFUSE(__NR_pidfd_send_signal),
		REFUSE(__NR_kill),
		REFUSE(__NR_tkill),
		REFUSE(__NR_rt_sigqueueinfo),
		REFUSE(__NR_rt_tgsigqueueinfo),
		REFUSE(__NR_socket),
		REFUSE(__NR_io_uring_setup),
		/* abort() sends a signal to its own process. */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_tgkill, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, self, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { ARRAY_SIZE(filter), filter };

	/* A kernel without it has the other limits still. */
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
#endif
}
