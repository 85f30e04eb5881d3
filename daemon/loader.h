/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clients' PTX, parsed in a process of its own: it takes as long and as much memory as a stranger's
 * text makes it take, and may fail in ways that nobody foresaw. The process has no rights and no
 * descriptors but the text and the result, and works on any CPU, behind what else runs there.
 */
#ifndef GPUEMU_LOADER_H
#define GPUEMU_LOADER_H

#include "ptx/ptx.h"

/* Limits of a process that loads. */
struct load_limits {
	uint64_t bytes;		/* of memory */
	unsigned int seconds;	/* of a CPU's time */
};

/*
 * The first thing that main() of a program does that loads: it comes back when the program was
 * not started to load.
 */
void loader_process(int argc, char **argv);

struct loading;

/* Starts to parse a copy of the text. -errno, err set. */
int loader_start(const char *text, size_t bytes, const char *name,
		 const struct ptx_options *options, const struct load_limits *limits,
		 struct loading **loading, struct err *err);
/* Has it ended? Waits up to timeout_ms for the first of n that has; a signal ends the wait. */
bool loader_wait(struct loading *const *loading, unsigned int n, int timeout_ms);
bool loader_ended(const struct loading *loading);
/*
 * The result of a process that has ended: a file with the parsed module, which the caller closes
 * and whose size is *bytes; or -errno, and in err the parser's message or the limit that was
 * reached.
 */
int loader_result(struct loading *loading, int *fd, uint64_t *bytes, struct err *err);
/* Ends the process, whatever it does. Nothing is left of it. */
void loader_end(struct loading *loading);
/* A module of its own of such a file, whose unchanged pages are shared. -ENOMEM, -EINVAL. */
int loader_map(int fd, uint64_t bytes, struct ptx_module **module);

#endif
