/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client in a process of its own, with managed pages as in managed.h, of
 * which this process is the engine and may be the debugger.
 */
#ifndef _GPUEMU_TESTS_KERNEL_OTHER_H
#define _GPUEMU_TESTS_KERNEL_OTHER_H

#include "lib/managed.h"

/* m.mem is the other's address and nothing here; m.fd is no file. */
struct other {
	struct managed m;
	pid_t pid;
	int to, from;
};

enum other_command {
	OTHER_SEND = 1,		/* sends its pages through the pipe */
	OTHER_READ_ONLY,	/* mprotect() */
	OTHER_NO_ACCESS,
	OTHER_READ_WRITE,
	OTHER_DONTDUMP,		/* madvise() */
	OTHER_FILTER_NONE,	/* coredump_filter 0 */
	OTHER_FILTER_SHARED,	/* coredump_filter 2 */
	OTHER_UNTOUCHED,	/* maps more, untouched; answers where */
	OTHER_EXEC,		/* becomes sleep(1), the file open; no answer */
	OTHER_ABORT,		/* no answer */
};

enum { UNTOUCHED_PAGES = 256 };

int other_open(struct other *o, enum placement where);
void other_close(struct other *o);
/* Returns what it answers: 0, or an address. */
uint64_t other_do(struct other *o, enum other_command what);
/* What the other itself sees is what it must be. */
bool other_intact(struct other *o);

#endif
