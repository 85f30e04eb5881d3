// SPDX-License-Identifier: GPL-2.0
/*
 * The process that parses a client's PTX: the daemon's own program, started again. It gives up
 * what rights it has before it reads the text, and ends when the result is written.
 */
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/filter.h"
#include "loader.h"
#include "loader_private.h"

#define NOBODY	65534u

#ifdef __SANITIZE_ADDRESS__
#define CHECKED	1	/* the sanitiser's own memory and calls are beyond any limit */
#else
#define CHECKED	0
#endif

/* --- rights --------------------------------------------------------------------------- */

/* The system calls of parsing, of writing the result, and of glibc's allocator. */
static const int allowed[] = {
	SCMP_SYS(write), SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap),
	SCMP_SYS(madvise), SCMP_SYS(exit_group), SCMP_SYS(exit), SCMP_SYS(rt_sigreturn),
	SCMP_SYS(futex), SCMP_SYS(getrandom), SCMP_SYS(pwrite64), SCMP_SYS(lseek),
	SCMP_SYS(sysinfo),
};

/* A libc that asks for something else goes on without it. */
static int filter(void)
{
	scmp_filter_ctx filter;
	int rc = filter_begin(&filter, SCMP_ACT_ERRNO(EPERM));

	for (size_t i = 0; !rc && i < ARRAY_SIZE(allowed); i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	return filter_end(filter, rc);
}

static int limit(int resource, uint64_t most)
{
	struct rlimit r = { most, most };

	return setrlimit(resource, &r) ? -errno : 0;
}

static int give_up_rights(uint64_t bytes, unsigned int seconds)
{
	cpu_set_t any;
	int ret;

	close_range(LOADER_RESULT + 1, ~0u, 0);
	/* The engine is on one CPU alone; this is on any, behind what else runs there. */
	memset(&any, 0xff, sizeof(any));
	sched_setaffinity(0, sizeof(any), &any);
	setpriority(PRIO_PROCESS, 0, 19);
	if (!geteuid() && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			   setresuid(NOBODY, NOBODY, NOBODY)))
		return -errno;
	/* Behind the change of the user, which would undo it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_DUMPABLE, 0))
		return -errno;
	ret = limit(RLIMIT_CPU, seconds);
	ret = ret ? ret : limit(RLIMIT_CORE, 0);
	ret = ret ? ret : limit(RLIMIT_NOFILE, LOADER_RESULT + 1);
	ret = ret ? ret : limit(RLIMIT_FSIZE, LOADED_AT + bytes);
	if (CHECKED || ret)
		return ret;
	/* The kernel counts what may be written: stack, heap, data. */
	ret = limit(RLIMIT_DATA, bytes + (4u << 20));
	return ret ? ret : filter();
}

/* --- parsing -------------------------------------------------------------------------- */

/* The packed module goes out in pieces of this size. */
static struct {
	size_t used;
	uint64_t left;		/* that may yet be written */
	char at[64u << 10];
} out;

static bool flush(void)
{
	size_t done = 0;

	while (done < out.used) {
		ssize_t n = write(LOADER_RESULT, out.at + done, out.used - done);

		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	out.used = 0;
	return true;
}

static bool put(void *ctx, const void *data, size_t bytes)
{
	const char *from = data;

	if (bytes > out.left)
		return false;
	out.left -= bytes;
	while (bytes) {
		size_t n = MIN(bytes, sizeof(out.at) - out.used);

		memcpy(out.at + out.used, from, n);
		out.used += n;
		from += n;
		bytes -= n;
		if (out.used == sizeof(out.at) && !flush())
			return false;
	}
	return true;
}

static void __attribute__((noreturn)) answer(int status, const struct err *err)
{
	struct loaded head = { .status = status };

	snprintf(head.text, sizeof(head.text), "%s", err->text[0] ? err->text : strerror(-status));
	_exit(pwrite(LOADER_RESULT, &head, sizeof(head), 0) == sizeof(head) ? 0 : 1);
}

void loader_process(int argc, char **argv)
{
	struct ptx_options options;
	struct ptx_module *module;
	struct err err = { "" };
	struct stat file;
	const char *text;
	int ret;

	if (argc != LOADER_ARGS || strcmp(argv[0], LOADER_NAME))
		return;
	options = (struct ptx_options){
		.maxregs = (uint32_t)strtoul(argv[2], NULL, 10),
		.stack_bytes = (uint32_t)strtoul(argv[3], NULL, 10),
		.phases = (uint8_t)strtoul(argv[4], NULL, 10),
		.leave_out = argv[5][0] == '1',
		.plenty = (uint8_t)strtoul(argv[8], NULL, 10),
	};
	/* The program's file has no name that says what it is. */
	prctl(PR_SET_NAME, LOADER_NAME);
	out.left = strtoull(argv[6], NULL, 10);
	if (fstat(LOADER_TEXT, &file) || !file.st_size)
		answer(-EINVAL, &err);
	text = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, LOADER_TEXT, 0);
	if (text == MAP_FAILED)
		answer(-ENOMEM, &err);
	ret = give_up_rights(out.left, (unsigned int)strtoul(argv[7], NULL, 10));
	if (!ret)
		ret = ptx_module_parse_with(text, (size_t)file.st_size, argv[1], &options, &module,
					    &err);
	if (ret)
		answer(ret, &err);
	if (lseek(LOADER_RESULT, LOADED_AT, SEEK_SET) < 0)
		answer(-EIO, &err);
	ret = ptx_module_pack(module, put, NULL);
	if (!ret && !flush())
		ret = -ENOSPC;
	answer(ret == -ENOSPC ? -ENOMEM : ret, &err);
}
