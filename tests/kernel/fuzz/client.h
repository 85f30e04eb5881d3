/* SPDX-License-Identifier: GPL-2.0 */
/* A client of the fuzzer, in its own process; client.c has it, client_io.c too. */
#ifndef _GPUEMU_TESTS_KERNEL_FUZZ_CLIENT_H
#define _GPUEMU_TESTS_KERNEL_FUZZ_CLIENT_H

#include <pthread.h>

#include "fuzz/fuzz.h"

/* FORGET_MS: less than the module makes mm wait for an engine (mirror_range.c). */
enum { WORKS = 6, PAYLOAD_MAX = 8192, FORGET_MS = 40 };

struct client {
	struct shared *s;
	struct client_model *m;
	uint64_t x;
	int me, fd, pipe[2], pins[2];
	int pinned;
	int file;		/* of the sections that are a file's */
	int watch;		/* the userfaultfd of its section */
	pid_t child;		/* 0: none */
	/* Works that were submitted and not waited for. */
	struct { uint64_t id; uint32_t seed, bytes; } work[WORKS];
	int works;
	pthread_mutex_t helping;	/* the main thread has it while all rest */
};

extern struct client *client_self;

/* Where the CPU reads and writes it. */
static inline uint8_t *page_at(struct client *c, int page)
{
	const struct section *of = section_of(page);

	return of->kind == KIND_READ_ONLY ? c->s->alias + (page - of->first) * PAGE :
					    page_addr(c->s, page);
}

static inline uint64_t *lane_at(struct client *c, int page, int lane)
{
	return (uint64_t *)page_at(c, page) + lane * LANE_WORDS;
}

/* --- client.c --- */
void map_again(struct client *c, int page, int pages, enum op what);

/* --- client_heap.c: ordinary memory --- */
int heap_open(struct client *c);
/* Whether what is written there is the file's, and so outlives a mapping. */
bool heap_stays(int page);
uint8_t *heap_map(struct client *c, int page, int pages);
void heap_advise(struct client *c, int page, int pages);
void heap_away(struct client *c, int page, int pages);
void heap_fork(struct client *c, int page, int pages);
void heap_fork_end(struct client *c, bool wait);
void heap_watch(struct client *c, int page, int pages);

/* --- client_io.c --- */
void client_write(struct client *c, int page, int pages);
void client_read(struct client *c, int page, int pages);
void *client_help(void *client);
void client_image(struct client *c);
void client_work(struct client *c);
void client_work_end(struct client *c, int which);

#endif
