// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel tests' client and engine. The engine has no model: it raises the
 * faults and does the migrations that a test asks for.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/lib.h"

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

uint64_t now_ms(void)
{
	return now_ns() / 1000000;
}

void sleep_ms(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000l };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* --- clients --- */

int client_open(void)
{
	int fd = open("/dev/gpuemu", O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

int client_info(int fd, struct gpuemu_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return call(fd, GPUEMU_IOCTL_INFO, info);
}

uint32_t client_space(int fd)
{
	struct gpuemu_info info;

	return client_info(fd, &info) ? 0 : info.va_space;
}

/* Address space for managed memory, on a block's boundary. */
void *reserve(size_t bytes)
{
	uint8_t *p = mmap(NULL, bytes + BLOCK, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	return (void *)(((uintptr_t)p + BLOCK - 1) & ~(BLOCK - 1));
}

void *map_managed_at(int fd, void *at, size_t bytes)
{
	void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		       fd, (uintptr_t)at);

	return p == MAP_FAILED ? NULL : p;
}

void *map_managed(int fd, size_t bytes)
{
	void *at = reserve(bytes);

	return at ? map_managed_at(fd, at, bytes) : NULL;
}

/* Device memory that is not paged, at this place: 0, or -errno, and nothing is there. */
int map_device(int fd, void *at, size_t bytes, int rights, int flags)
{
	void *p = mmap(at, bytes, rights, flags | MAP_FIXED, fd,
		       (off_t)(GPUEMU_MMAP_DEVICE | (uintptr_t)at));

	return p == MAP_FAILED ? -errno : 0;
}

int client_submit(int fd, uint32_t kind, const void *payload, uint32_t bytes,
		  uint64_t *id)
{
	struct gpuemu_submit arg = {
		.size = sizeof(arg),
		.kind = kind,
		.payload = (uintptr_t)payload,
		.payload_bytes = bytes,
	};
	int ret = call(fd, GPUEMU_IOCTL_SUBMIT, &arg);

	*id = arg.id;
	return ret;
}

int client_wait(int fd, uint64_t id, uint32_t timeout_ms,
		struct gpuemu_wait *result)
{
	memset(result, 0, sizeof(*result));
	result->size = sizeof(*result);
	result->id = id;
	result->timeout_ms = timeout_ms;
	return call(fd, GPUEMU_IOCTL_WAIT, result);
}

static uint32_t word(uint32_t seed, size_t i)
{
	uint32_t x = seed * 2654435761u + i * 40503u + 1;

	x ^= x >> 15;
	return x * 2246822519u;
}

void fill(void *p, size_t bytes, uint32_t seed)
{
	uint32_t *w = p;
	size_t i;

	for (i = 0; i < bytes / sizeof(*w); i++)
		w[i] = word(seed, i);
}

bool filled(const void *p, size_t bytes, uint32_t seed)
{
	const uint32_t *w = p;
	size_t i;

	for (i = 0; i < bytes / sizeof(*w); i++)
		if (w[i] != word(seed, i))
			return false;
	return true;
}

/* --- an engine --- */

int engine_attach_fd(int fd, struct gpuemu_engine_attach *attach)
{
	memset(attach, 0, sizeof(*attach));
	attach->size = sizeof(*attach);
	attach->abi = GPUEMU_ABI_VERSION;
	return call(fd, GPUEMU_IOCTL_ENGINE_ATTACH, attach);
}

static void *map_region(int fd, size_t bytes, int prot, uint64_t offset)
{
	void *p = mmap(NULL, bytes, prot, MAP_SHARED, fd, offset);

	return p == MAP_FAILED ? NULL : p;
}

static size_t faults_bytes(const struct engine *e)
{
	return sizeof(struct gpuemu_fault_buffer) +
	       e->attach.fault_entries * sizeof(struct gpuemu_fault);
}

/*
 * Waits a little for a previous engine to be gone: one that closed its file with
 * commands pending is found out by the module's monitor.
 */
int engine_open(struct engine *e)
{
	uint64_t end = now_ms() + 1000 * slowness();
	int ret;

	memset(e, 0, sizeof(*e));
	e->fd = client_open();
	if (e->fd < 0)
		return e->fd;
	do {
		ret = engine_attach_fd(e->fd, &e->attach);
	} while (ret == -EBUSY && now_ms() < end && !usleep(1000));
	if (ret)
		goto out_fd;
	ret = -EIO;
	e->vram = map_region(e->fd, e->attach.vram_frames * PAGE,
			     PROT_READ | PROT_WRITE, GPUEMU_MMAP_VRAM);
	e->pt = map_region(e->fd, e->attach.pt_tables * PAGE, PROT_READ,
			   GPUEMU_MMAP_PAGE_TABLE);
	e->faults = map_region(e->fd, faults_bytes(e), PROT_READ | PROT_WRITE,
			       GPUEMU_MMAP_FAULTS);
	e->control = map_region(e->fd, e->attach.control_bytes, PROT_READ,
				GPUEMU_MMAP_CONTROL);
	e->remote = map_region(e->fd, e->attach.remote_slots * PAGE,
			       PROT_READ | PROT_WRITE, GPUEMU_MMAP_REMOTE);
	if (e->attach.mirror_slots)
		e->mirror = map_region(e->fd, e->attach.mirror_slots * PAGE,
				       PROT_READ | PROT_WRITE, GPUEMU_MMAP_MIRROR);
	if (!e->vram || !e->pt || !e->faults || !e->control || !e->remote ||
	    !e->mirror != !e->attach.mirror_slots)
		goto out_fd;
	ret = io_uring_queue_init(16, &e->ring, 0);
	if (ret)
		goto out_fd;
	return 0;
out_fd:
	close(e->fd);
	return ret;
}

/*
 * The ring goes last: a pending command holds the file until the module
 * completes it, which an engine without a ring would not see.
 */
void engine_close(struct engine *e)
{
	engine_acker_stop(e);
	munmap(e->vram, e->attach.vram_frames * PAGE);
	munmap(e->pt, e->attach.pt_tables * PAGE);
	munmap(e->faults, faults_bytes(e));
	munmap(e->control, e->attach.control_bytes);
	munmap(e->remote, e->attach.remote_slots * PAGE);
	if (e->mirror)
		munmap(e->mirror, e->attach.mirror_slots * PAGE);
	close(e->fd);
	io_uring_queue_exit(&e->ring);
}

int engine_ack(struct engine *e, uint32_t seq)
{
	struct gpuemu_engine_ack arg = { .size = sizeof(arg), .seq = seq };

	return call(e->fd, GPUEMU_IOCTL_ENGINE_ACK, &arg);
}

static void *acker(void *arg)
{
	struct engine *e = arg;
	/* What was posted before this thread ran is owed, too. */
	uint32_t seen = __atomic_load_n(&e->control->inval_put,
					__ATOMIC_ACQUIRE) - 1;
	uint32_t put;

	while (!__atomic_load_n(&e->stop_acking, __ATOMIC_ACQUIRE)) {
		put = __atomic_load_n(&e->control->inval_put, __ATOMIC_ACQUIRE);
		if (put != seen && !engine_ack(e, put))
			seen = put;
		usleep(50);
		__atomic_store_n(&e->acker_warm, true, __ATOMIC_RELEASE);
	}
	return NULL;
}

void engine_acker_start(struct engine *e)
{
	e->stop_acking = false;
	e->acker_warm = false;
	e->acking = !pthread_create(&e->acker, NULL, acker, e);
	while (e->acking && !__atomic_load_n(&e->acker_warm, __ATOMIC_ACQUIRE))
		usleep(50);
}

void engine_acker_stop(struct engine *e)
{
	if (!e->acking)
		return;
	__atomic_store_n(&e->stop_acking, true, __ATOMIC_RELEASE);
	pthread_join(e->acker, NULL);
	e->acking = false;
}

void engine_record(struct engine *e, const struct gpuemu_fault *fault)
{
	struct gpuemu_fault *slot;

	slot = &e->faults->entries[e->put % e->attach.fault_entries];
	*slot = *fault;
	__atomic_store_n(&slot->valid, fault->valid, __ATOMIC_RELEASE);
	e->put++;
	__atomic_store_n(&e->faults->put, e->put, __ATOMIC_RELEASE);
}

void engine_fault(struct engine *e, uint32_t va_space, const void *addr,
		  enum gpuemu_access access)
{
	struct gpuemu_fault fault = {
		.addr = (uintptr_t)addr,
		.va_space = va_space,
		.access = access,
		.valid = 1,
	};

	engine_record(e, &fault);
}

void engine_issue_as(struct engine *e, uint32_t op, uint64_t addr, uint32_t arg,
		     uint32_t reserved, uint64_t user_data)
{
	struct gpuemu_uring_cmd cmd = {
		.addr = addr, .arg = arg, .reserved = reserved,
	};
	struct io_uring_sqe *sqe = io_uring_get_sqe(&e->ring);

	if (!sqe)
		abort();
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = e->fd;
	sqe->cmd_op = op;
	sqe->user_data = user_data;
	memcpy(sqe->cmd, &cmd, sizeof(cmd));
	io_uring_submit(&e->ring);
}

void engine_issue(struct engine *e, uint32_t op, uint64_t addr, uint32_t arg)
{
	engine_issue_as(e, op, addr, arg, 0, op);
}

static bool take_result(struct engine *e, uint64_t what, int *res)
{
	int i;

	for (i = 0; i < e->nresults; i++) {
		if (e->results[i].what != what)
			continue;
		*res = e->results[i].res;
		e->results[i] = e->results[--e->nresults];
		return true;
	}
	return false;
}

static void reap(struct engine *e)
{
	struct io_uring_cqe *cqe;

	while (e->nresults < RESULTS_MAX && !io_uring_peek_cqe(&e->ring, &cqe)) {
		e->results[e->nresults].what = cqe->user_data;
		e->results[e->nresults++].res = cqe->res;
		io_uring_cqe_seen(&e->ring, cqe);
	}
}

bool engine_has_result(struct engine *e, uint64_t what)
{
	int i;

	/* Runs task work, so that what can complete has done so. */
	io_uring_get_events(&e->ring);
	reap(e);
	for (i = 0; i < e->nresults; i++)
		if (e->results[i].what == what)
			return true;
	return false;
}

int engine_result(struct engine *e, uint64_t what, unsigned int timeout_ms,
		  int *res)
{
	uint64_t end = now_ms() + timeout_ms * slowness(), now;
	struct __kernel_timespec t;
	struct io_uring_cqe *cqe;

	for (;;) {
		reap(e);
		if (take_result(e, what, res))
			return 0;
		now = now_ms();
		if (now >= end)
			return -ETIMEDOUT;
		t.tv_sec = (end - now) / 1000;
		t.tv_nsec = (end - now) % 1000 * 1000000;
		io_uring_wait_cqe_timeout(&e->ring, &cqe, &t);
	}
}

/* Returns the number of unique faults, or -errno. */
int engine_raise(struct engine *e, uint32_t arg)
{
	int ret, res;

	if (!e->fetch_pending) {
		engine_issue(e, GPUEMU_URING_FETCH, 0, 0);
		e->fetch_pending = true;
	}
	engine_issue(e, GPUEMU_URING_RAISE, 0, arg);
	/* A RAISE that is refused completes; a good one does not yet. */
	for (;;) {
		reap(e);
		if (take_result(e, GPUEMU_URING_RAISE, &res))
			return res;
		ret = engine_result(e, GPUEMU_URING_FETCH, 10, &res);
		if (!ret)
			break;
		if (ret != -ETIMEDOUT)
			return ret;
	}
	e->fetch_pending = false;
	return res;
}

/* Serves the batch that engine_raise() got; returns COMMIT's result. */
int engine_commit_flags(struct engine *e, struct gpuemu_migration *m, uint32_t n,
			uint32_t flags)
{
	struct gpuemu_commit commit = {
		.size = sizeof(commit),
		.gen = e->control->batch.gen,
		.count = n,
		.flags = flags,
		.migrations = (uintptr_t)m,
	};
	struct gpuemu_engine_serve serve = {
		.size = sizeof(serve), .commit = (uintptr_t)&commit,
	};
	int ret, raise;

	ret = call(e->fd, GPUEMU_IOCTL_ENGINE_SERVE, &serve);
	if (ret)
		return ret;
	ret = engine_result(e, GPUEMU_URING_RAISE, 5000, &raise);
	if (ret || raise)
		return ret ? ret : raise;
	return serve.committed;
}

int engine_commit(struct engine *e, struct gpuemu_migration *m, uint32_t n)
{
	return engine_commit_flags(e, m, n, 0);
}

/* One migration in a batch of its own; returns its status. */
int engine_migrate(struct engine *e, uint32_t va_space, const void *addr,
		   uint32_t pages, enum gpuemu_migration_op op)
{
	struct gpuemu_migration m = {
		.addr = (uintptr_t)addr,
		.va_space = va_space,
		.pages = pages,
		.op = op,
		.status = 1,
	};
	int ret = engine_raise(e, GPUEMU_RAISE_EMPTY_OK);

	if (ret < 0)
		return ret;
	ret = engine_commit(e, &m, 1);
	return ret < 0 ? ret : m.status;
}

static int migrate_range(struct engine *e, uint32_t va_space, const void *addr,
			 size_t pages, enum gpuemu_migration_op op)
{
	const uint8_t *p = addr;
	size_t n;
	int ret;

	while (pages) {
		n = (BLOCK - ((uintptr_t)p & (BLOCK - 1))) / PAGE;
		if (n > pages)
			n = pages;
		ret = engine_migrate(e, va_space, p, n, op);
		if (ret)
			return ret;
		p += n * PAGE;
		pages -= n;
	}
	return 0;
}

int engine_h2d(struct engine *e, uint32_t va_space, const void *addr,
	       size_t pages)
{
	return migrate_range(e, va_space, addr, pages, GPUEMU_MIGRATE_H2D);
}

int engine_d2h(struct engine *e, uint32_t va_space, const void *addr,
	       size_t pages)
{
	return migrate_range(e, va_space, addr, pages, GPUEMU_MIGRATE_D2H);
}

static uint64_t pt_read(const struct engine *e, uint64_t table, uint64_t i)
{
	return __atomic_load_n(e->pt + table * 512 + i, __ATOMIC_ACQUIRE);
}

/* By a page walk, as the GPU's. */
uint64_t engine_entry(struct engine *e, uint32_t va_space, const void *addr)
{
	uint64_t va = (uintptr_t)addr, entry = 0, table = 0;
	int i, shift;

	for (i = 0; i < (int)GPUEMU_SPACES_MAX && !table; i++) {
		entry = pt_read(e, 0, i);
		if (entry >> 32 == va_space)
			table = (uint32_t)entry;
	}
	if (!table)
		return 0;
	for (shift = 39; shift >= 12; shift -= 9) {
		entry = pt_read(e, table, va >> shift & 511);
		if (!(entry & GPUEMU_PTE_VALID))
			return 0;
		table = entry >> GPUEMU_PTE_SHIFT;
	}
	return entry;
}

void *engine_at(struct engine *e, uint64_t entry)
{
	if (!entry)
		return NULL;
	return (entry & GPUEMU_PTE_MIRROR ? e->mirror :
		entry & GPUEMU_PTE_REMOTE ? e->remote : e->vram) +
	       (entry >> GPUEMU_PTE_SHIFT) * PAGE;
}

/* The page's bytes as the GPU would find them, in device memory or remote mapped. */
void *engine_page(struct engine *e, uint32_t va_space, const void *addr)
{
	return engine_at(e, engine_entry(e, va_space, addr));
}

static uint32_t count_entries(struct engine *e, uint32_t va_space,
			      const uint8_t *addr, size_t pages, uint64_t remote)
{
	uint64_t entry;
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < pages; i++) {
		entry = engine_entry(e, va_space, addr + i * PAGE);
		n += entry && (entry & GPUEMU_PTE_REMOTE) == remote;
	}
	return n;
}

uint32_t engine_resident(struct engine *e, uint32_t va_space, const void *addr,
			 size_t pages)
{
	return count_entries(e, va_space, addr, pages, 0);
}

uint32_t engine_remote(struct engine *e, uint32_t va_space, const void *addr,
		       size_t pages)
{
	return count_entries(e, va_space, addr, pages, GPUEMU_PTE_REMOTE);
}

/* --- an engine in a process of its own --- */

int engine_say(int fd, uint64_t word)
{
	return write(fd, &word, sizeof(word)) == sizeof(word) ? 0 : -EPIPE;
}

int engine_hear(int fd, unsigned int timeout_ms, uint64_t *word)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, timeout_ms * slowness()) <= 0)
		return -ETIMEDOUT;
	return read(fd, word, sizeof(*word)) == sizeof(*word) ? 0 : -EPIPE;
}

int engine_spawn(struct engine_process *p,
		 int (*run)(struct engine *e, int from, int to, void *arg),
		 void *arg)
{
	int up[2], down[2], ret;
	struct engine *e;
	uint64_t hello;

	if (pipe2(up, O_CLOEXEC) || pipe2(down, O_CLOEXEC))
		return -errno;
	p->pid = fork();
	if (p->pid < 0)
		return -errno;
	if (!p->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(up[0]);
		close(down[1]);
		e = calloc(1, sizeof(*e));
		ret = e ? engine_open(e) : -ENOMEM;
		engine_say(up[1], -ret);
		if (ret)
			_exit(99);
		ret = run(e, down[0], up[1], arg);
		if (ret)
			_exit(ret);
		for (;;)
			pause();
	}
	close(up[1]);
	close(down[0]);
	p->from = up[0];
	p->to = down[1];
	ret = engine_hear(p->from, 5000, &hello);
	if (!ret && hello)
		ret = -(int)hello;
	if (ret)
		engine_kill(p);
	return ret;
}

void engine_kill(struct engine_process *p)
{
	kill(p->pid, SIGKILL);
	waitpid(p->pid, NULL, 0);
	close(p->from);
	close(p->to);
}

/*
 * A small honest engine: does each work by bringing the pages it names to the
 * device, adding one to each word, and reporting. The payload is an array of
 * struct gpuemu_migration. Runs until the engine is lost.
 */
void *engine_serve_forever(void *engine)
{
	static struct gpuemu_migration m[256];
	struct engine *e = engine;
	struct gpuemu_work_done done = { .size = sizeof(done) };
	struct gpuemu_work_take take;
	uint32_t *w;
	size_t i, j, k, n;
	int ret, res;

	for (;;) {
		memset(&take, 0, sizeof(take));
		take.size = sizeof(take);
		take.payload = (uintptr_t)m;
		take.payload_bytes = sizeof(m);
		ret = call(e->fd, GPUEMU_IOCTL_WORK_TAKE, &take);
		if (ret == -EAGAIN) {
			engine_issue(e, GPUEMU_URING_WAIT, 0, 0);
			ret = engine_result(e, GPUEMU_URING_WAIT, 60000, &res);
			if (ret || res)
				break;
			continue;
		}
		if (ret)
			break;
		n = take.payload_bytes / sizeof(m[0]);
		done.status = 0;
		for (i = 0; i < n && !done.status; i++) {
			done.status = engine_migrate(e, take.va_space,
						     (void *)(uintptr_t)m[i].addr,
						     m[i].pages,
						     GPUEMU_MIGRATE_H2D);
			for (j = 0; j < m[i].pages && !done.status; j++) {
				w = engine_page(e, take.va_space,
						(void *)(uintptr_t)(m[i].addr +
								    j * PAGE));
				for (k = 0; w && k < PAGE / sizeof(*w); k++)
					w[k]++;
			}
		}
		done.id = take.id;
		call(e->fd, GPUEMU_IOCTL_WORK_DONE, &done);
	}
	return NULL;
}
