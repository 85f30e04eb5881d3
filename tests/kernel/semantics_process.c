// SPDX-License-Identifier: GPL-2.0
/*
 * Managed memory of another process, which a debugger reads and writes, and
 * what fork, vfork, exec and a passed descriptor make of it. Cores are in
 * semantics_core.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/other.h"

/* --- a process and its debugger --- */

FIXTURE(debug)
{
	struct other o;
};

PLACEMENTS(debug);

FIXTURE_SETUP(debug)
{
	ASSERT_EQ(0, other_open(&self->o, variant->where));
}

FIXTURE_TEARDOWN(debug)
{
	other_close(&self->o);
}

TEST_F(debug, process_vm)
{
	struct other *o = &self->o;
	struct iovec local, remote = { o->m.mem, MANAGED_BYTES };
	uint8_t *got = malloc(MANAGED_BYTES);

	local = (struct iovec){ got, MANAGED_BYTES };
	ASSERT_EQ(MANAGED_BYTES,
		  process_vm_readv(o->pid, &local, 1, &remote, 1, 0));
	EXPECT_EQ(0, memcmp(got, o->m.copy, MANAGED_BYTES));
	ASSERT_EQ(0, managed_move(&o->m));
	fill(o->m.copy, MANAGED_BYTES, 33);
	local.iov_base = o->m.copy;
	ASSERT_EQ(MANAGED_BYTES,
		  process_vm_writev(o->pid, &local, 1, &remote, 1, 0));
	ASSERT_EQ(0, managed_move(&o->m));
	EXPECT_TRUE(other_intact(o));
	free(got);
}

TEST_F(debug, proc_mem)
{
	struct other *o = &self->o;
	uint8_t *got = malloc(MANAGED_BYTES);
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", o->pid);
	fd = open(path, O_RDWR);
	ASSERT_LE(0, fd);
	ASSERT_EQ(MANAGED_BYTES, pread(fd, got, MANAGED_BYTES,
				       (uintptr_t)o->m.mem));
	EXPECT_EQ(0, memcmp(got, o->m.copy, MANAGED_BYTES));
	ASSERT_EQ(0, managed_move(&o->m));
	fill(o->m.copy, MANAGED_BYTES, 34);
	ASSERT_EQ(MANAGED_BYTES, pwrite(fd, o->m.copy, MANAGED_BYTES,
					(uintptr_t)o->m.mem));
	ASSERT_EQ(0, managed_move(&o->m));
	EXPECT_TRUE(other_intact(o));
	close(fd);
	free(got);
}

/* The process is stopped, as at a breakpoint, while its pages come home. */
TEST_F(debug, ptrace)
{
	struct other *o = &self->o;
	long word, want;
	int status;
	size_t i;

	ASSERT_EQ(0, ptrace(PTRACE_ATTACH, o->pid, 0, 0));
	ASSERT_EQ(o->pid, waitpid(o->pid, &status, 0));
	for (i = 0; i < MANAGED_PAGES; i++) {
		memcpy(&want, o->m.copy + i * PAGE + 8, sizeof(want));
		errno = 0;
		word = ptrace(PTRACE_PEEKDATA, o->pid, o->m.mem + i * PAGE + 8,
			      0);
		EXPECT_EQ(0, errno);
		EXPECT_EQ(want, word);
	}
	ASSERT_EQ(0, managed_move(&o->m));
	for (i = 0; i < MANAGED_PAGES; i++) {
		word = 0x1111111111111111l * (i + 1);
		memcpy(o->m.copy + (i + 1) * PAGE - 8, &word, sizeof(word));
		EXPECT_EQ(0, ptrace(PTRACE_POKEDATA, o->pid,
				    o->m.mem + (i + 1) * PAGE - 8, word));
	}
	/* What was written goes to the device, too. */
	ASSERT_EQ(0, managed_move(&o->m));
	EXPECT_EQ(managed_placed(&o->m, 0, MANAGED_PAGES),
		  managed_resident(&o->m, 0, MANAGED_PAGES));
	ASSERT_EQ(0, ptrace(PTRACE_DETACH, o->pid, 0, 0));
	EXPECT_TRUE(other_intact(o));
}

/*
 * Read-only for the process: as any shared mapping, a debugger cannot write it
 * either; inaccessible: it reads it all the same.
 */
TEST_F(debug, protected)
{
	struct other *o = &self->o;
	uint8_t got[2 * PAGE];
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", o->pid);
	fd = open(path, O_RDWR);
	ASSERT_LE(0, fd);
	/* Since 6.12 a kernel may let none but who traces it pass protection. */
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, o->pid, 0, 0));
	ASSERT_EQ(0, other_do(o, OTHER_READ_ONLY));
	EXPECT_EQ(-1, pwrite(fd, got, 1, (uintptr_t)o->m.mem));
	EXPECT_EQ(EIO, errno);
	ASSERT_EQ(2 * PAGE, pread(fd, got, 2 * PAGE, (uintptr_t)o->m.mem));
	EXPECT_EQ(0, memcmp(got, o->m.copy, 2 * PAGE));
	ASSERT_EQ(0, other_do(o, OTHER_NO_ACCESS));
	ASSERT_EQ(2 * PAGE, pread(fd, got, 2 * PAGE,
				  (uintptr_t)o->m.mem + 4 * PAGE));
	EXPECT_EQ(0, memcmp(got, o->m.copy + 4 * PAGE, 2 * PAGE));
	ASSERT_EQ(0, other_do(o, OTHER_READ_WRITE));
	ASSERT_EQ(0, managed_move(&o->m));
	EXPECT_TRUE(other_intact(o));
	close(fd);
}

/* exec: the memory goes, even while others have the file; the next program gets new memory. */
TEST_F(debug, exec)
{
	struct other *o = &self->o;
	struct gpuemu_info info;
	uint64_t end = now_ms() + 5000 * slowness();

	ASSERT_EQ(0, engine_say(o->to, OTHER_EXEC));
	do {
		sleep_ms(20);
		ASSERT_EQ(0, client_info(o->m.e.fd, &info));
	} while (info.vram_free_bytes != info.vram_bytes && now_ms() < end);
	EXPECT_EQ(info.vram_bytes, info.vram_free_bytes);
	do {
		sleep_ms(20);
	} while (engine_h2d(&o->m.e, o->m.space, o->m.mem, 1) != -EFAULT &&
		 now_ms() < end);
	/* The file outlived the program: its VA space is there, and empty. */
	EXPECT_EQ(-EFAULT, engine_h2d(&o->m.e, o->m.space, o->m.mem, 1));
	EXPECT_EQ(0, waitpid(o->pid, NULL, WNOHANG));
}

/* --- children --- */

MANAGED_FIXTURE(child)

static int status_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(child, fork)
{
	struct managed *m = &self->m;
	pid_t pid = fork();

	if (!pid) {
		/* Not there; and what it maps instead is its own affair. */
		if (signal_of(m->mem, false) != SIGSEGV)
			_exit(1);
		if (mmap(m->mem, MANAGED_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
		    m->mem)
			_exit(2);
		memset(m->mem, 0xee, MANAGED_BYTES);
		munmap(m->mem, MANAGED_BYTES);
		_exit(0);
	}
	EXPECT_EQ(0, status_of(pid));
	EXPECT_EQ(managed_placed(m, 0, MANAGED_PAGES),
		  managed_resident(m, 0, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	managed_refill(m, 35);
	EXPECT_EQ(0, engine_h2d(&m->e, m->space, m->mem, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

/* MADV_DOFORK gives the child a mapping that is of no use and does no harm. */
TEST_F(child, fork_with_dofork)
{
	struct managed *m = &self->m;
	int want = SIGBUS;
	size_t i;
	pid_t pid;

	/* Newer kernels do not let it be inherited, whatever is asked. */
	if (madvise(m->mem, MANAGED_BYTES, MADV_DOFORK)) {
		ASSERT_EQ(EINVAL, errno);
		want = SIGSEGV;
	}
	pid = fork();
	if (!pid) {
		for (i = 0; i < MANAGED_PAGES; i++)
			if (signal_of(m->mem + i * PAGE, i & 1) != want)
				_exit(1);
		if (munmap(m->mem + 4 * PAGE, 8 * PAGE))
			_exit(2);
		mprotect(m->mem, PAGE, PROT_READ);
		madvise(m->mem, PAGE, MADV_DONTNEED);
		_exit(0);
	}
	EXPECT_EQ(0, status_of(pid));
	EXPECT_EQ(managed_placed(m, 0, MANAGED_PAGES),
		  managed_resident(m, 0, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	EXPECT_EQ(0, engine_h2d(&m->e, m->space, m->mem, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

/* Until it execs or exits, a vforked child is the parent: it has the memory. */
TEST_F(child, vfork)
{
	struct managed *m = &self->m;
	volatile int bad = -1;
	pid_t pid = vfork();

	if (!pid) {
		bad = memcmp(m->mem, m->copy, MANAGED_BYTES);
		m->mem[5 * PAGE] ^= 1;
		_exit(0);
	}
	EXPECT_EQ(0, status_of(pid));
	EXPECT_EQ(0, bad);
	m->copy[5 * PAGE] ^= 1;
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

/* --- a descriptor that is passed on --- */

static int send_fd(int socket, int fd)
{
	union { char buf[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } u;
	struct iovec iov = { "", 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = u.buf, .msg_controllen = sizeof(u.buf),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(socket, &msg, 0) == 1 ? 0 : -errno;
}

static int receive_fd(int socket)
{
	union { char buf[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } u;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = u.buf, .msg_controllen = sizeof(u.buf),
	};
	int fd;

	if (recvmsg(socket, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

/* The VA space is its first mapper's; who else has the file cannot map it. */
static int receiver(int socket, uint32_t space)
{
	uint8_t *at;
	int fd;

	fd = receive_fd(socket);
	if (fd < 0 || client_space(fd) != space)
		return 1;
	at = reserve(BLOCK);
	at = mmap(at, PAGE, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	*at = 7;
	errno = 0;
	if (map_managed_at(fd, at, PAGE) || errno != EPERM)
		return 2;
	/* The refusal cost it nothing of its own. */
	if (*at != 7)
		return 3;
	return 0;
}

TEST_F(child, passed_descriptor)
{
	struct managed *m = &self->m;
	int s[2];
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	pid = fork();
	if (!pid) {
		close(m->fd);
		_exit(receiver(s[1], m->space));
	}
	ASSERT_EQ(0, send_fd(s[0], m->fd));
	EXPECT_EQ(0, status_of(pid));
	EXPECT_EQ(managed_placed(m, 0, MANAGED_PAGES),
		  managed_resident(m, 0, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	close(s[0]);
	close(s[1]);
}

TEST_HARNESS_MAIN
