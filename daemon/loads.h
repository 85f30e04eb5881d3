/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The PTX images of clients on their way into sessions: parsed by processes (loader.h), a few at a
 * time, while the engine serves others. Texts that one client loads twice are parsed once, and
 * the modules share what does not differ.
 */
#ifndef GPUEMU_LOADS_H
#define GPUEMU_LOADS_H

#include "base/account.h"
#include "gpu/gpu.h"

struct loads;
struct load;
struct image;

int loads_create(unsigned int seconds, struct loads **loads);
void loads_destroy(struct loads *loads);

/* A load that is wished for; text and name are only read during the call. */
struct load_wish {
	struct gpu_session *gpu;
	struct account *account;
	uint32_t va_space, id;
	uint64_t global_base;
	const char *name, *text;
	size_t bytes;
};

/* -ENOMEM and what a process cannot be started for; err set. */
int loads_begin(struct loads *loads, const struct load_wish *wish, struct load **load,
		struct err *err);
/* Can it be finished? Begins others that wait for their turn. */
bool loads_ready(struct loads *loads, struct load *load);
/*
 * Puts the module into the session. *image: the caller's until image_put(), for as long as the
 * session has the module. Frees the load; so does loads_abandon(), without the rest.
 */
int loads_finish(struct loads *loads, struct load *load, struct image **image, struct err *err);
void loads_abandon(struct loads *loads, struct load *load);
void image_put(struct loads *loads, struct image *image);

#endif
