/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes whose threads do what they are told, one thing at a time: an engine
 * or a client that a test brings into a state and then lets die. Each thread has
 * its own pair of pipes, so that one may hang in the kernel while another is
 * told something.
 */
#ifndef _GPUEMU_TESTS_KERNEL_PUPPET_H
#define _GPUEMU_TESTS_KERNEL_PUPPET_H

#include "lib/lib.h"

enum puppet_kind { PUPPET_ENGINE, PUPPET_CLIENT };

enum { PUPPET_THREADS = 3, PUPPET_PAGES = 160, PUPPET_SEED = 40 };
#define PUPPET_BYTES (PUPPET_PAGES * PAGE)

/* What a thread answers when it did not get an end in time. */
enum { PUPPET_LATE = -9999 };

/* What a thread can be told. Each answers one number, if nothing else is said. */
enum puppet_op {
	/* an engine's */
	PUPPET_ISSUE = 1,	/* a = command, b = arg */
	PUPPET_RESULT,		/* a = command; answers its result */
	PUPPET_FAULT,		/* a = space, b = address */
	PUPPET_COMMIT,		/* list[], a = flags; answers COMMIT's result */
	PUPPET_TAKE,		/* answers the work's id */
	PUPPET_DONE,		/* a = id */
	PUPPET_ACK,		/* a = whether invalidates are acknowledged */
	PUPPET_PROBE,		/* touches a frame; answers the signal */
	PUPPET_RESIDENT,	/* a = space, b = address, c = pages */
	PUPPET_SERVE,		/* engine_serve_forever(); no answer */
	/* a client's */
	PUPPET_SUBMIT,		/* a = kind, b = first page, c = pages; answers the id */
	PUPPET_WAIT,		/* a = id; answers its status */
	PUPPET_TOUCH,		/* b = page; answers whether it is right */
	PUPPET_UNDO,		/* b = first page, c = pages: takes one from each word */
	PUPPET_VERIFY,		/* answers whether all pages are right */
	/* either's */
	PUPPET_EXIT_THREAD,	/* no answer */
	PUPPET_FORK,		/* answers the child's pid */
	PUPPET_EXEC,		/* no answer */
	PUPPET_CLOSE,		/* the file */
	PUPPET_TID,
};

enum { PUPPET_LIST = 4 };

struct puppet_order {
	uint64_t op, a, b, c;
	struct gpuemu_migration list[PUPPET_LIST];
	uint64_t n;
};

struct puppet {
	enum puppet_kind kind;
	pid_t pid;
	struct { int to, from; pid_t tid; } thread[PUPPET_THREADS];
	/* a client's */
	uint32_t space;
	uint8_t *mem;
};

/* 0 or -errno. */
int puppet_spawn(struct puppet *p, enum puppet_kind kind);
void puppet_kill(struct puppet *p);
void puppet_tell(struct puppet *p, int thread, const struct puppet_order *order);
/* Its answer, or PUPPET_LATE. */
int64_t puppet_hear(struct puppet *p, int thread, unsigned int timeout_ms);
int64_t puppet_do(struct puppet *p, int thread, const struct puppet_order *order);
/* Whether a thread gets into that system call, and sleeps there, in a while. */
bool in_call(pid_t pid, pid_t tid, long nr);

#define ORDER(...) (&(struct puppet_order){ .op = __VA_ARGS__ })

#endif
