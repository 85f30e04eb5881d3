// SPDX-License-Identifier: GPL-2.0
/* The client in a process of its own; see other.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/other.h"

enum { SEED = 91 };

static int filter(const char *text)
{
	int fd = open("/proc/self/coredump_filter", O_WRONLY), ret;

	ret = write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return ret;
}

static uint64_t obey(int fd, uint8_t *p, enum other_command what)
{
	int prot = -1;
	void *more;

	switch (what) {
	case OTHER_READ_ONLY:
		prot = PROT_READ;
		break;
	case OTHER_NO_ACCESS:
		prot = PROT_NONE;
		break;
	case OTHER_READ_WRITE:
		prot = PROT_READ | PROT_WRITE;
		break;
	case OTHER_DONTDUMP:
		return madvise(p, MANAGED_BYTES, MADV_DONTDUMP) ? errno : 0;
	case OTHER_FILTER_NONE:
		return filter("0");
	case OTHER_FILTER_SHARED:
		return filter("2");
	case OTHER_UNTOUCHED:
		more = map_managed(fd, UNTOUCHED_PAGES * PAGE);
		return (uintptr_t)more;
	default:
		return EINVAL;
	}
	return mprotect(p, MANAGED_BYTES, prot) ? errno : 0;
}

static void run(int from, int to)
{
	const struct rlimit core = { RLIM_INFINITY, RLIM_INFINITY };
	int fd = client_open();
	uint8_t *at = reserve(2 * BLOCK), *p;
	uint64_t word;

	setrlimit(RLIMIT_CORE, &core);
	fcntl(fd, F_SETFD, 0);
	p = map_managed_at(fd, at + BLOCK - MANAGED_BYTES / 2, MANAGED_BYTES);
	if (p)
		fill(p, MANAGED_BYTES, SEED);
	engine_say(to, client_space(fd));
	engine_say(to, (uintptr_t)p);
	while (!engine_hear(from, 60000, &word)) {
		switch (word) {
		case OTHER_SEND:
			if (write(to, p, MANAGED_BYTES) != MANAGED_BYTES)
				_exit(1);
			break;
		case OTHER_EXEC:
			execl("/bin/sleep", "sleep", "60", NULL);
			_exit(2);
		case OTHER_ABORT:
			abort();
		default:
			engine_say(to, obey(fd, p, word));
		}
	}
	_exit(0);
}

int other_open(struct other *o, enum placement where)
{
	int down[2], up[2], ret;
	uint64_t word;

	ret = engine_open(&o->m.e);
	if (ret)
		return ret;
	if (pipe2(down, O_CLOEXEC) || pipe2(up, O_CLOEXEC))
		return -errno;
	o->from = up[0];
	o->to = down[1];
	o->pid = fork();
	if (!o->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(down[1]);
		close(up[0]);
		run(down[0], up[1]);
	}
	close(down[0]);
	close(up[1]);
	engine_acker_start(&o->m.e);
	if (engine_hear(o->from, 10000, &word))
		return -EIO;
	o->m.space = word;
	if (engine_hear(o->from, 10000, &word) || !word)
		return -EIO;
	o->m.mem = (uint8_t *)(uintptr_t)word;
	o->m.fd = -1;
	o->m.where = where;
	fill(o->m.copy, MANAGED_BYTES, SEED);
	return managed_move(&o->m);
}

void other_close(struct other *o)
{
	if (o->pid > 0) {
		kill(o->pid, SIGKILL);
		waitpid(o->pid, NULL, 0);
	}
	close(o->from);
	close(o->to);
	engine_close(&o->m.e);
}

uint64_t other_do(struct other *o, enum other_command what)
{
	uint64_t word;

	if (engine_say(o->to, what) || engine_hear(o->from, 10000, &word))
		return ~0ull;
	return word;
}

bool other_intact(struct other *o)
{
	uint8_t *got = malloc(MANAGED_BYTES);
	size_t have = 0;
	ssize_t n;
	bool ok;

	if (!got || engine_say(o->to, OTHER_SEND))
		return false;
	while (have < MANAGED_BYTES) {
		n = read(o->from, got + have, MANAGED_BYTES - have);
		if (n <= 0)
			break;
		have += n;
	}
	ok = have == MANAGED_BYTES && !memcmp(got, o->m.copy, MANAGED_BYTES);
	free(got);
	return ok;
}
