/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel tests share: a client file with managed memory, and an engine
 * that does what it is told, so that no daemon is needed. Functions return 0 or
 * -errno unless they say otherwise; the tests assert, this does not.
 */
#ifndef _GPUEMU_TESTS_KERNEL_LIB_H
#define _GPUEMU_TESTS_KERNEL_LIB_H

#include <liburing.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/gpuemu.h>

#include "lib/pagemap.h"
#include "lib/slow.h"

#define PAGE		((size_t)GPUEMU_PAGE_SIZE)
#define BLOCK		((size_t)1 << GPUEMU_BLOCK_SHIFT)

/* --- time; slow.h: how slow all is here --- */
uint64_t now_ns(void);
uint64_t now_ms(void);
void sleep_ms(unsigned int ms);

/* --- clients --- */
int client_open(void);
uint32_t client_space(int fd);
int client_info(int fd, struct gpuemu_info *info);
void *reserve(size_t bytes);
void *map_managed(int fd, size_t bytes);
void *map_managed_at(int fd, void *at, size_t bytes);
int map_device(int fd, void *at, size_t bytes, int rights, int flags);
int call(int fd, unsigned long request, void *arg);
int client_submit(int fd, uint32_t kind, const void *payload, uint32_t bytes,
		  uint64_t *id);
int client_wait(int fd, uint64_t id, uint32_t timeout_ms,
		struct gpuemu_wait *result);
void fill(void *p, size_t bytes, uint32_t seed);
bool filled(const void *p, size_t bytes, uint32_t seed);

/* --- an engine --- */
enum { RESULTS_MAX = 64 };

struct engine {
	int fd;
	struct gpuemu_engine_attach attach;
	uint8_t *vram;
	uint8_t *remote;
	uint8_t *mirror;	/* NULL: this kernel mirrors no memory */
	uint64_t *pt;
	struct gpuemu_fault_buffer *faults;
	struct gpuemu_control *control;
	struct io_uring ring;
	uint32_t put;
	bool fetch_pending;
	/* Completions that came while another one was awaited. */
	struct { uint64_t what; int res; } results[RESULTS_MAX];
	int nresults;
	/* A thread that acknowledges invalidates while the test computes. */
	pthread_t acker;
	bool acking, stop_acking, acker_warm;
};

int engine_open(struct engine *e);
void engine_close(struct engine *e);
int engine_attach_fd(int fd, struct gpuemu_engine_attach *attach);
int engine_ack(struct engine *e, uint32_t seq);
/*
 * Returns after the thread's first acknowledgement. The thread has then taken the page
 * faults of its code and its stack. It could not take one later, while mmap() or
 * munmap() of the same process holds the mmap_lock and waits for the acknowledgement.
 */
void engine_acker_start(struct engine *e);
void engine_acker_stop(struct engine *e);

void engine_record(struct engine *e, const struct gpuemu_fault *fault);
void engine_fault(struct engine *e, uint32_t va_space, const void *addr,
		  enum gpuemu_access access);

/* A command's number is its user_data. */
void engine_issue(struct engine *e, uint32_t op, uint64_t addr, uint32_t arg);
void engine_issue_as(struct engine *e, uint32_t op, uint64_t addr, uint32_t arg,
		     uint32_t reserved, uint64_t user_data);
int engine_result(struct engine *e, uint64_t what, unsigned int timeout_ms,
		  int *res);
bool engine_has_result(struct engine *e, uint64_t what);

/* Raises what is in the fault buffer; the batch is in control->batch. */
int engine_raise(struct engine *e, uint32_t arg);
int engine_commit(struct engine *e, struct gpuemu_migration *m, uint32_t n);
int engine_commit_flags(struct engine *e, struct gpuemu_migration *m, uint32_t n,
			uint32_t flags);
int engine_migrate(struct engine *e, uint32_t va_space, const void *addr,
		   uint32_t pages, enum gpuemu_migration_op op);
int engine_h2d(struct engine *e, uint32_t va_space, const void *addr,
	       size_t pages);
int engine_d2h(struct engine *e, uint32_t va_space, const void *addr,
	       size_t pages);
/* The page's entry in the GPU page table, or 0. */
uint64_t engine_entry(struct engine *e, uint32_t va_space, const void *addr);
/* Where an entry leads, and where the page's own does; NULL: nowhere. */
void *engine_at(struct engine *e, uint64_t entry);
void *engine_page(struct engine *e, uint32_t va_space, const void *addr);
/* How many are in device memory, and how many the engine has where they are. */
uint32_t engine_resident(struct engine *e, uint32_t va_space, const void *addr,
			 size_t pages);
uint32_t engine_remote(struct engine *e, uint32_t va_space, const void *addr,
		       size_t pages);

/* --- an engine in a process of its own, to be killed --- */
struct engine_process {
	pid_t pid;
	int from;	/* what it says */
	int to;		/* what it is told */
};

/*
 * Forks. The child attaches, calls run(), then waits for its end; a return of
 * run() other than 0 is its exit status. run() may talk through say().
 */
int engine_spawn(struct engine_process *p,
		 int (*run)(struct engine *e, int from, int to, void *arg),
		 void *arg);
int engine_say(int fd, uint64_t word);
int engine_hear(int fd, unsigned int timeout_ms, uint64_t *word);
void engine_kill(struct engine_process *p);
void *engine_serve_forever(void *engine);

#endif
