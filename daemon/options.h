/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gpuemud's command line, turned into a plain spec. Reads the configuration
 * file and the environment; nothing below it does.
 */
#ifndef GPUEMU_OPTIONS_H
#define GPUEMU_OPTIONS_H

#include "base/spec.h"
#include "log.h"

struct options {
	const char *device;
	enum log_level log_level;
	struct gpu_spec spec;	/* vram_bytes 0: all of the device */
	unsigned int load_seconds; /* of a CPU's time, to load a client's PTX */
	uint64_t client_memory;	/* bytes that the daemon holds for a client; 0: not given */
	unsigned int slice_ms;	/* of a client's turn; 0: a work is done to its end */
	const char **policies;	/* absolute paths of objects that may be loaded, NULL ended */
};

/* 0: run; 1: done (--help, --version); -EINVAL: misused, a line was printed. */
int options_parse(struct options *options, int argc, char **argv);

#endif
