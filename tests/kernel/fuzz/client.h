/* SPDX-License-Identifier: GPL-2.0 */
/* A client of the fuzzer, in its own process; client.c has it, client_io.c too. */
#ifndef _GPUEMU_TESTS_KERNEL_FUZZ_CLIENT_H
#define _GPUEMU_TESTS_KERNEL_FUZZ_CLIENT_H

#include <pthread.h>

#include "fuzz/fuzz.h"

enum { WORKS = 6, PAYLOAD_MAX = 8192 };

struct client {
	struct shared *s;
	struct client_model *m;
	uint64_t x;
	int me, fd, pipe[2], pins[2];
	int pinned;
	/* Works that were submitted and not waited for. */
	struct { uint64_t id; uint32_t seed, bytes; } work[WORKS];
	int works;
	uint8_t *mem;
	pthread_mutex_t helping;	/* the main thread has it while all rest */
};

extern struct client *client_self;

static inline uint8_t *page_at(struct client *c, int page)
{
	return c->mem + page * PAGE;
}

static inline uint64_t *lane_at(struct client *c, int page, int lane)
{
	return (uint64_t *)page_at(c, page) + lane * LANE_WORDS;
}

void client_write(struct client *c, int page, int pages);
void client_read(struct client *c, int page, int pages);
void *client_help(void *client);
void client_image(struct client *c);
void client_work(struct client *c);
void client_work_end(struct client *c, int which);

#endif
