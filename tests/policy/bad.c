// SPDX-License-Identifier: GPL-2.0
/*
 * A policy that does wrong what the option `how` says, in its first decisions, and else
 * is a plain one: no prefetch, eviction in the order of arrival. Loaded by
 * tests/unit/test_plugin_bad.c, tests/check.d/48-policy.sh and the VM's suite.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpuemu_policy.h"

/* The order is that of docs in options[]; tests use the numbers. */
enum how {
	GOOD, HANG, CRASH, EXIT, NONSENSE, KEPT, TOO_MANY, HANG_IN_TOUCH, CRASH_IN_INSERT,
	INSERT_FAILS, CREATE_FAILS, CRASH_IN_CREATE, HANG_IN_CREATE, NOTHING, MEMORY, BREAK_OUT,
	SCRIBBLE, CLOSE, KILLED, HANG_IN_DESTROY, ASK_AGAIN, SIGHT, HOWS
};

static const struct gpuemu_policy_option options[] = {
	{ "how", 0, 0, HOWS - 1, "1 hang, 2 crash, 3 exit, 4 nonsense, 5 kept and double pages, ..." },
	{ NULL },
};
static const char *const counters[] = { "calls", "touches", "record", NULL };

#define ROOM	(1u << 16)

struct state {
	const struct gpuemu_policy_view *view;
	enum how how;
	uint64_t pages[ROOM];		/* in the order of arrival */
	unsigned int count;
};

static void hang(void)
{
	for (;;)
		__asm__ volatile("" ::: "memory");
}

static int *volatile nowhere;

static void crash(void)
{
	*nowhere = 1;
}

static int create(const struct gpuemu_policy_view *view, void **out)
{
	struct state *s = calloc(1, sizeof(*s));

	s->view = view;
	s->how = (enum how)view->options[0];
	*out = s;
	for (uint64_t i = 0; i < view->record_length; i++)
		view->count(view->ctx, 2, view->record[i]);
	if (s->how == CRASH_IN_CREATE)
		crash();
	if (s->how == HANG_IN_CREATE)
		hang();
	return s->how == CREATE_FAILS ? -ENOSYS : 0;
}

static void destroy(void *state)
{
	if (((struct state *)state)->how == HANG_IN_DESTROY)
		hang();
	free(state);
}

static void take_memory(void)
{
	/* Touched, else it would cost nothing. */
	for (;;) {
		char *p = malloc(64 << 20);

		if (!p)
			abort();
		for (size_t i = 0; i < 64 << 20; i += 1 << 20)
			p[i] = 1;
	}
}

/* Everything here must be refused; what is not ends the process with a number. */
static void break_out(void)
{
	char byte;
	struct iovec here = { &byte, 1 }, there = { (void *)&counters, 1 };

	if (fork() >= 0)
		_exit(11);
	if (!kill(getppid(), 0))
		_exit(12);
	if (ptrace(PTRACE_ATTACH, getppid(), 0, 0) >= 0)
		_exit(13);
	if (process_vm_readv(getppid(), &here, 1, &there, 1, 0) >= 0)
		_exit(14);
	if (socket(AF_INET, SOCK_STREAM, 0) >= 0)
		_exit(15);
	execl("/bin/true", "true", NULL);
	if (errno != EPERM)
		_exit(16);
	if (!syscall(SYS_tgkill, getppid(), getppid(), 0) || errno != EPERM)
		_exit(18);
	if (syscall(SYS_io_uring_setup, 1, NULL) >= 0 || errno != EPERM)
		_exit(19);
	/* Its own process is its own: abort() needs that. */
	if (syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), 0))
		_exit(20);
	for (int fd = 3; fd < 64; fd++)
		if (fd != 3 && fd != 5 && write(fd, &byte, 0) >= 0)
			_exit(17);
}

/* The memory that it shares with the engine, all of it but the head of this call. */
static void scribble(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "gpuemu-policy-channel") &&
		    sscanf(line, "%lx-%lx", &start, &end) == 2)
			memset((char *)start + 64, 0xff, (16 << 20) < end - start ?
			       16 << 20 : end - start - 64);
	if (!maps)
		_exit(18);
	fclose(maps);
}

static void misbehave(struct state *s)
{
	s->view->count(s->view->ctx, 0, 1);
	switch (s->how) {
	case HANG:
		hang();
		break;
	case CRASH:
		crash();
		break;
	case EXIT:
		exit(3);
	case MEMORY:
		take_memory();
		break;
	case BREAK_OUT:
		break_out();
		break;
	case SCRIBBLE:
		scribble();
		break;
	case CLOSE:
		close(3);
		hang();
		break;
	case ASK_AGAIN:
		/* What keep() says to the engine, without end. */
		while (write(3, "k", 1) == 1)
			;
		hang();
		break;
	case KILLED:
		raise(SIGKILL);
		break;
	default:
		break;
	}
}

/* Answers that are no page, and one that is no managed one. */
static unsigned int nonsense(uint64_t *pages, unsigned int max)
{
	static const uint64_t bad[] = {
		0, 1, 4097, 0x123456789001ull, ~0ull, 1ull << 63, 0xffff800000000000ull,
		1ull << 47, 0x7ffffffff000ull,
	};
	unsigned int n = sizeof(bad) / sizeof(bad[0]);

	if (n > max)
		n = max;
	memcpy(pages, bad, n * sizeof(*pages));
	return n;
}

/* What it sees: the first range and the last page, faults that are resident, two random pages. */
static unsigned int sight(const struct gpuemu_policy_view *view,
			  const struct gpuemu_policy_fault *faults, unsigned int n, uint64_t *pages)
{
	struct gpuemu_policy_range first = { 0, 0 }, last;
	unsigned int count = 0;
	uint64_t at = 0;

	view->next_range(view->ctx, 0, &first);
	while (view->next_range(view->ctx, at, &last))
		at = last.end;
	pages[count++] = first.start;
	pages[count++] = at - GPUEMU_POLICY_PAGE;
	for (unsigned int i = 0; i < n; i++)
		if (view->resident(view->ctx, faults[i].addr))
			pages[count++] = faults[i].addr;
	for (unsigned int i = 0; i < 2; i++)
		pages[count++] = first.start + view->random(view->ctx) % 16 * GPUEMU_POLICY_PAGE;
	return count;
}

/* --- prefetch ------------------------------------------------------------------------ */

static unsigned int on_batch(void *state, const struct gpuemu_policy_view *view,
			     const struct gpuemu_policy_fault *faults, unsigned int n,
			     uint64_t *pages, unsigned int max)
{
	struct state *s = state;

	misbehave(s);
	if (s->how == SIGHT)
		return sight(view, faults, n, pages);
	if (s->how == NONSENSE)
		return nonsense(pages, max);
	if (s->how == TOO_MANY) {
		for (unsigned int i = 0; i < max; i++)
			pages[i] = faults[0].addr;
		return ~0u;
	}
	if (s->how != KEPT || !n)
		return 0;
	for (unsigned int i = 0; i < max && i < 64; i++)
		pages[i] = faults[0].addr;
	return max < 64 ? max : 64;
}

static void on_arrive(void *state, uint64_t addr, bool prefetched)
{
	if (((struct state *)state)->how == CRASH_IN_INSERT)
		crash();
}

static void on_touch(void *state, uint64_t addr, bool write)
{
	struct state *s = state;

	s->view->count(s->view->ctx, 1, 1);
	if (s->how == HANG_IN_TOUCH)
		hang();
}

const struct gpuemu_prefetch_ops gpuemu_prefetch = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "bad",
	.help = "does wrong what `how` says",
	.options = options,
	.counters = counters,
	.create = create,
	.destroy = destroy,
	.on_batch = on_batch,
	.on_arrive = on_arrive,
	.on_touch = on_touch,
};

/* --- eviction ------------------------------------------------------------------------- */

static unsigned int find(const struct state *s, uint64_t addr)
{
	unsigned int i = 0;

	while (i < s->count && s->pages[i] != addr)
		i++;
	return i;
}

static int insert(void *state, uint64_t addr, bool prefetched)
{
	struct state *s = state;

	if (s->how == CRASH_IN_INSERT)
		crash();
	if (s->how == INSERT_FAILS || s->count == ROOM)
		return -ENOMEM;
	if (find(s, addr) == s->count)
		s->pages[s->count++] = addr;
	return 0;
}

static void leave(void *state, uint64_t addr)
{
	struct state *s = state;
	unsigned int i = find(s, addr);

	if (i == s->count)
		return;
	memmove(&s->pages[i], &s->pages[i + 1], (s->count - i - 1) * sizeof(*s->pages));
	s->count--;
}

static unsigned int pick(void *state, const struct gpuemu_policy_view *view, unsigned int need,
			 bool (*keep)(void *ctx, uint64_t addr), void *ctx,
			 uint64_t *pages, unsigned int max)
{
	struct state *s = state;
	unsigned int n = 0;

	misbehave(s);
	if (s->how == NOTHING)
		return 0;
	if (s->how == NONSENSE)
		n = nonsense(pages, max - need);
	/* Those that must stay, and each other one twice. */
	for (unsigned int i = 0; s->how == KEPT && i < s->count && n + need < max; i++)
		if (keep(ctx, s->pages[i]))
			pages[n++] = s->pages[i];
	for (unsigned int i = 0; i < s->count && n < max && need; i++) {
		if (keep(ctx, s->pages[i]))
			continue;
		pages[n++] = s->pages[i];
		if (s->how == KEPT && n < max)
			pages[n++] = s->pages[i];
		need--;
	}
	return s->how == TOO_MANY ? ~0u : n;
}

const struct gpuemu_evict_ops gpuemu_evict = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "bad",
	.help = "does wrong what `how` says",
	.options = options,
	.counters = counters,
	.create = create,
	.destroy = destroy,
	.insert = insert,
	.touch = on_touch,
	.remove = leave,
	.pick = pick,
};
