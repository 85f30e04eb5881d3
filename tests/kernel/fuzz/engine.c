// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's process. One thread is the GPU: it reads and writes frames through
 * the page table and a TLB of its own, which it believes until it has
 * acknowledged an invalidate, and raises faults. One acknowledges. Two serve
 * batches and race for them. It ends when the device is taken from it, and is
 * killed or stopped at any moment.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

enum { TLB = 512, SERVERS = 2, PLAN = 48, BURST = 24 };

struct fuzz_engine {
	struct shared *s;
	struct engine e;		/* the GPU thread's; its ring too */
	pthread_mutex_t gpu;		/* who uses translations, or forgets them */
	uint32_t seen;			/* invalidates that were applied */
	struct { uint32_t space; uint64_t va; uint8_t *frame; } tlb[TLB];
	uint64_t x;
};

static struct fuzz_engine fe;

/* The module took it away, as it may at any time. */
static _Noreturn void lost(void)
{
	_exit(0);
}

static void on_bus(int sig, siginfo_t *info, void *context)
{
	uint8_t *at = info->si_addr;

	(void)context;
	if (sig == SIGBUS && fe.e.vram &&
	    ((at >= fe.e.vram && at < fe.e.vram + fe.e.attach.vram_frames * PAGE) ||
	     (at >= (uint8_t *)fe.e.pt &&
	      at < (uint8_t *)fe.e.pt + fe.e.attach.pt_tables * PAGE) ||
	     (at >= (uint8_t *)fe.e.faults && at < (uint8_t *)fe.e.faults + PAGE +
	      fe.e.attach.fault_entries * sizeof(struct gpuemu_fault)) ||
	     (at >= (uint8_t *)fe.e.control &&
	      at < (uint8_t *)fe.e.control + fe.e.attach.control_bytes)))
		lost();
	fail(fe.s, -1, -1, "the engine got signal %d at %p", sig, info->si_addr);
	_exit(1);
}

/* --- translations --- */

/* With the GPU's lock: forgets what the invalidates say. */
static void apply_invalidates(void)
{
	struct gpuemu_control *control = fe.e.control;
	uint32_t put = __atomic_load_n(&control->inval_put, __ATOMIC_ACQUIRE), i;
	struct gpuemu_invalidate entry;
	bool all = put - fe.seen > GPUEMU_INVAL_RING;

	for (; fe.seen != put && !all; fe.seen++) {
		entry = control->inval[fe.seen % GPUEMU_INVAL_RING];
		for (i = 0; i < TLB; i++)
			if (fe.tlb[i].space == entry.va_space && fe.tlb[i].va >= entry.start &&
			    fe.tlb[i].va < entry.end)
				fe.tlb[i].space = 0;
		all = __atomic_load_n(&control->inval_put, __ATOMIC_ACQUIRE) - fe.seen >
		      GPUEMU_INVAL_RING - 1;
	}
	if (all)
		memset(fe.tlb, 0, sizeof(fe.tlb));
	fe.seen = put;
}

static uint8_t *translate(uint32_t space, uint64_t va)
{
	uint32_t at = (va / PAGE + space * 31) % TLB;

	if (fe.tlb[at].space != space || fe.tlb[at].va != va) {
		uint8_t *frame = engine_page(&fe.e, space, (void *)(uintptr_t)va);

		if (!frame)
			return NULL;
		fe.tlb[at].space = space;
		fe.tlb[at].va = va;
		fe.tlb[at].frame = frame;
	}
	return fe.tlb[at].frame;
}

static void *acknowledge(void *arg)
{
	uint32_t acked = fe.seen - 1, put;
	uint64_t x = fe.x ^ 77;

	(void)arg;
	for (;;) {
		put = __atomic_load_n(&fe.e.control->inval_put, __ATOMIC_ACQUIRE);
		if (put != acked) {
			pthread_mutex_lock(&fe.gpu);
			apply_invalidates();
			put = fe.seen;
			pthread_mutex_unlock(&fe.gpu);
			if (engine_ack(&fe.e, put) == -ENODEV)
				lost();
			acked = put;
		}
		usleep(one_in(&x, 100) ? below(&x, 5000) : 30);
	}
	return NULL;
}

/* --- service threads --- */

static void make_migration(uint64_t *x, struct gpuemu_migration *m, int client, int page)
{
	uint32_t pages = one_in(x, 3) ? 1 + below(x, 128) : 1 + below(x, 8);
	uint64_t block_end;

	memset(m, 0, sizeof(*m));
	m->va_space = atomic_load(&fe.s->client[client].space);
	m->addr = (uintptr_t)fe.s->mem + page * PAGE;
	block_end = (m->addr | (BLOCK - 1)) + 1;
	if (pages > (block_end - m->addr) / PAGE)
		pages = (block_end - m->addr) / PAGE;
	m->pages = pages;
	m->status = 1;
}

/* One that must be refused with this status. */
static int spoil(uint64_t *x, struct gpuemu_migration *m)
{
	switch (below(x, 6)) {
	case 0:
		m->op = 3 + below(x, 250);
		return -EINVAL;
	case 1:
		m->addr += 1 + below(x, PAGE - 1);
		return -EINVAL;
	case 2:
		m->pages = one_in(x, 2) ? 0 : GPUEMU_BLOCK_PAGES + 1 + below(x, 1000);
		return -EINVAL;
	case 3:
		m->reserved = 1;
		return -EINVAL;
	case 4:
		m->va_space = 0x70000000 + below(x, 1000);
		return -ESRCH;
	}
	m->addr |= 1ull << (47 + below(x, 17));
	return -EINVAL;
}

static uint32_t make_plan(uint64_t *x, struct gpuemu_migration *m, int *want)
{
	struct gpuemu_batch *batch = &fe.e.control->batch;
	uint32_t n = 0, count = batch->count, i, evictions = below(x, 8);
	uint64_t page;
	int c;

	if (fe.e.control->vram_free < 64)
		evictions += 12;
	for (i = 0; i < evictions; i++, n++) {
		make_migration(x, &m[n], below(x, fe.s->clients), below(x, PAGES));
		m[n].op = one_in(x, 8) ? GPUEMU_MIGRATE_H2D : GPUEMU_MIGRATE_D2H;
		want[n] = one_in(x, 30) ? spoil(x, &m[n]) : 1;
	}
	for (i = 0; i < count && i < GPUEMU_BATCH_MAX && n < PLAN; i++) {
		struct gpuemu_fault f = batch->faults[i];

		page = (f.addr - (uintptr_t)fe.s->mem) / PAGE;
		for (c = 0; c < fe.s->clients; c++)
			if (atomic_load(&fe.s->client[c].space) == f.va_space)
				break;
		/* Some are forgotten; others are nobody's. */
		if (c == fe.s->clients || page >= PAGES || one_in(x, 20))
			continue;
		make_migration(x, &m[n], c, page);
		m[n].op = GPUEMU_MIGRATE_H2D;
		want[n] = one_in(x, 60) ? spoil(x, &m[n]) : 1;
		n++;
	}
	return n;
}

static void note_plan(const struct gpuemu_migration *m, const int *want, uint32_t n)
{
	uint32_t i;
	int c;

	for (i = 0; i < n; i++) {
		if (want[i] != 1) {
			if (m[i].status != want[i] && m[i].status != -ENODEV)
				fail(fe.s, -1, -1, "a bad migration ended with %d instead of %d",
				     m[i].status, want[i]);
			continue;
		}
		for (c = 0; c < fe.s->clients; c++)
			if (atomic_load(&fe.s->client[c].space) == m[i].va_space)
				note(fe.s, m[i].op == GPUEMU_MIGRATE_H2D ? OP_H2D : OP_D2H, c,
				     (m[i].addr - (uintptr_t)fe.s->mem) / PAGE, m[i].pages,
				     m[i].status);
		if (m[i].moved > m[i].pages || m[i].status > 0)
			fail(fe.s, -1, -1, "a migration of %u pages: status %d, moved %u",
			     m[i].pages, m[i].status, m[i].moved);
		atomic_fetch_add(&fe.s->moved, m[i].moved);
	}
}

static int command(struct engine *e, uint32_t op, uint64_t addr, uint32_t arg, uint32_t reserved)
{
	uint64_t end = now_ms() + HANG_MS;
	int res;

	engine_issue_as(e, op, addr, arg, reserved, op);
	while (engine_result(e, op, 200, &res)) {
		/* A FETCH may wait for as long as nothing happens. */
		if (op != GPUEMU_URING_FETCH && op != GPUEMU_URING_COMMIT_AND_FETCH &&
		    now_ms() > end) {
			fail(fe.s, -1, -1, "hang: uring command %#x does not end", op);
			_exit(1);
		}
	}
	if (res == -ENODEV)
		lost();
	return res;
}

/* What must be refused, and must not disturb the batch that is served. */
static void bad_commands(struct engine *e, uint64_t *x, struct gpuemu_commit *good)
{
	struct gpuemu_commit bad = *good;
	int res, want;

	switch (below(x, 8)) {
	case 0:
		/* A later one may have come meanwhile; these never come again. */
		bad.gen -= 1 + below(x, 1000);
		want = -ESTALE;
		res = command(e, GPUEMU_URING_COMMIT, (uintptr_t)&bad, 0, 0);
		break;
	case 1:
		bad.flags = 1u << below(x, 32);
		want = -EOPNOTSUPP;
		res = command(e, GPUEMU_URING_COMMIT, (uintptr_t)&bad, 0, 0);
		break;
	case 2:
		bad.count = GPUEMU_COMMIT_MAX + 1 + next_random(x) % 100000;
		want = -E2BIG;
		res = command(e, GPUEMU_URING_COMMIT_AND_FETCH, (uintptr_t)&bad, 0, 0);
		break;
	case 3:
		want = -EFAULT;
		res = command(e, GPUEMU_URING_COMMIT, 16 + next_random(x) % 4000, 0, 0);
		break;
	case 4:
		want = -EINVAL;
		res = command(e, GPUEMU_URING_COMMIT, (uintptr_t)good, 0, 1 + below(x, 99));
		break;
	case 5:
		want = -EOPNOTSUPP;
		res = command(e, GPUEMU_URING_RAISE, 0, 2u << below(x, 31), 0);
		break;
	case 6:
		want = -EINVAL;
		res = command(e, GPUEMU_URING_WAIT, 0, 1 + below(x, 99), 0);
		break;
	default:
		want = -EOPNOTSUPP;
		res = command(e, GPUEMU_URING_RAISE + 16 + below(x, 1000), 0, 0, 0);
	}
	note(fe.s, OP_COMMIT_BAD, 0, 0, 0, res);
	if (res != want)
		fail(fe.s, -1, -1, "a bad uring command ended with %d instead of %d", res, want);
}

static void *serve(void *arg)
{
	uint64_t x = fe.x + (uintptr_t)arg * 1234567;
	struct gpuemu_migration m[PLAN];
	struct engine e = fe.e;
	struct gpuemu_commit commit;
	int want[PLAN], res;
	bool have = false;
	uint32_t n, op;

	e.nresults = 0;
	if (io_uring_queue_init(8, &e.ring, 0))
		lost();
	for (;;) {
		if (!have) {
			res = command(&e, GPUEMU_URING_FETCH, 0, 0, 0);
			if (res < 0)
				usleep(below(&x, 2000));
			if (res < 0 && res != -EBUSY)
				fail(fe.s, -1, -1, "FETCH: %d", res);
			/* Without a batch of its own it tries to serve the other's. */
			if (res < 0 && !one_in(&x, 8))
				continue;
		}
		have = false;
		n = make_plan(&x, m, want);
		memset(&commit, 0, sizeof(commit));
		commit.size = sizeof(commit);
		commit.gen = fe.e.control->batch.gen;
		commit.count = n;
		commit.migrations = (uintptr_t)m;
		while (one_in(&x, 6))
			bad_commands(&e, &x, &commit);
		if (one_in(&x, 50))
			usleep(below(&x, 20000));
		op = one_in(&x, 2) ? GPUEMU_URING_COMMIT : GPUEMU_URING_COMMIT_AND_FETCH;
		res = command(&e, op, (uintptr_t)&commit, 0, 0);
		have = op == GPUEMU_URING_COMMIT_AND_FETCH && res >= 0;
		/* The other's FETCH was first: before the commit, or after it. */
		if (res == -EBUSY)
			res = command(&e, GPUEMU_URING_COMMIT, (uintptr_t)&commit, 0, 0);
		if (res < 0 && res != -ESTALE)
			fail(fe.s, -1, -1, "COMMIT: %d", res);
		if (res >= 0)
			note_plan(m, want, n);
	}
	return NULL;
}

/* --- the GPU --- */

static void raise_faults(uint32_t arg)
{
	int res = command(&fe.e, GPUEMU_URING_RAISE, 0, arg, 0);

	note(fe.s, OP_RAISE, 0, 0, 0, res);
	if (res && res != -EAGAIN && res != -EINVAL)
		fail(fe.s, -1, -1, "RAISE: %d", res);
}

/* Records that no GPU writes: dropped, or a batch of nothing. */
static void bad_records(void)
{
	struct gpuemu_fault f = { .va_space = next_random(&fe.x), .valid = 1 };

	f.addr = (uint64_t)next_random(&fe.x) << below(&fe.x, 33);
	f.access = below(&fe.x, 8);
	f.flags = below(&fe.x, 2);
	f.reserved = one_in(&fe.x, 4);
	f.valid = below(&fe.x, 3);
	engine_record(&fe.e, &f);
	if (one_in(&fe.x, 20)) {
		/* A put that cannot be: all is flushed. */
		fe.e.put += 2 * fe.e.attach.fault_entries + below(&fe.x, 1000);
		__atomic_store_n(&fe.e.faults->put, fe.e.put, __ATOMIC_RELEASE);
	}
	atomic_fetch_add(&fe.s->garbage, 1);
}

static void burst(void)
{
	struct shared *s = fe.s;
	int c = below(&fe.x, s->clients), base = below(&fe.x, PAGES), tries, i, left = BURST;
	uint32_t space = atomic_load(&s->client[c].space), missing;
	int span = 1 + below(&fe.x, 64), page[BURST];

	for (i = 0; i < BURST; i++)
		page[i] = (base + below(&fe.x, span)) % PAGES;
	for (tries = 0; space && left && tries < 4; tries++) {
		missing = 0;
		pthread_mutex_lock(&fe.gpu);
		apply_invalidates();
		for (i = 0; i < left;) {
			uint64_t va = (uintptr_t)s->mem + page[i] * PAGE;
			uint8_t *frame = translate(space, va);
			int lane = below(&fe.x, LANES);
			uint64_t *at = (uint64_t *)frame + lane * LANE_WORDS;

			if (!frame) {
				engine_fault(&fe.e, space, (void *)(uintptr_t)va,
					     below(&fe.x, 4));
				missing++, i++;
				continue;
			}
			if (lane >= GPU_LANE && !one_in(&fe.x, 3)) {
				lane_write(s, c, page[i], lane, at, NULL);
				note(s, OP_GPU_WRITE, c, page[i], 1, frame - fe.e.vram);
			} else {
				lane_check(s, c, page[i], lane, at, "GPU read");
				note(s, OP_GPU_READ, c, page[i], 1, frame - fe.e.vram);
			}
			page[i] = page[--left];
		}
		pthread_mutex_unlock(&fe.gpu);
		atomic_fetch_add(&s->faults, missing);
		if (one_in(&fe.x, 10))
			bad_records();
		if (missing)
			raise_faults(0);
	}
}

/* A work: what came is answered with the pattern that its client expects. */
static bool take_work(void)
{
	static uint8_t bytes[1 << 16], want[1 << 16];
	struct gpuemu_work_take take = {
		.size = sizeof(take), .payload = (uintptr_t)bytes, .payload_bytes = sizeof(bytes),
	};
	struct gpuemu_work_done done = { .size = sizeof(done) };
	uint32_t seed;
	int ret = call(fe.e.fd, GPUEMU_IOCTL_WORK_TAKE, &take);

	if (ret == -ENODEV)
		lost();
	if (ret)
		return false;
	memcpy(&seed, bytes, 4);
	pattern(want, take.payload_bytes, seed);
	if (take.payload_bytes >= 8 && memcmp(want, bytes + 4, take.payload_bytes - 4))
		fail(fe.s, -1, -1, "the payload of work %llu is another's",
		     (unsigned long long)take.id);
	pattern(bytes, take.payload_bytes, seed + 1);
	done.id = take.id;
	done.report = (uintptr_t)bytes;
	done.report_bytes = take.payload_bytes;
	ret = call(fe.e.fd, GPUEMU_IOCTL_WORK_DONE, &done);
	if (ret == -ENODEV)
		lost();
	if (ret && ret != -ENOENT)
		fail(fe.s, -1, -1, "WORK_DONE: %d", ret);
	return true;
}

static void read_image(void)
{
	static uint8_t bytes[1 << 16], want[1 << 16];
	struct client_model *m = &fe.s->client[below(&fe.x, fe.s->clients)];
	struct image *i = &m->image[below(&fe.x, IMAGES)];
	struct gpuemu_module_read read = {
		.size = sizeof(read), .va_space = m->space, .id = i->id,
		.image = (uintptr_t)bytes, .image_bytes = sizeof(bytes),
	};
	uint32_t size = i->bytes, seed = i->seed;
	int ret = call(fe.e.fd, GPUEMU_IOCTL_MODULE_READ, &read);

	if (ret || !read.id)
		return;
	pattern(want, size, seed);
	/* Still the one that was read of? */
	if (i->id != read.id || m->space != read.va_space || size != i->bytes || seed != i->seed)
		return;
	if (read.image_bytes != size || memcmp(want, bytes, size))
		fail(fe.s, -1, -1, "image %u of VA space %u is another's", read.id, read.va_space);
}

/* Parked until there is work; that is resting, too. */
static void wait_for_work(void)
{
	int res;

	engine_issue(&fe.e, GPUEMU_URING_WAIT, 0, 0);
	while (engine_result(&fe.e, GPUEMU_URING_WAIT, 20, &res)) {
		if (atomic_load(&fe.s->phase) != PHASE_RUN)
			atomic_store(&fe.s->engine_idle, atomic_load(&fe.s->round));
		if (fe.s->failed)
			_exit(1);
	}
	if (res == -ENODEV)
		lost();
	note(fe.s, OP_WAIT, 0, 0, 0, res);
}

static void gpu(void)
{
	static const uint8_t ops[] = {
		OP_GPU_WRITE, OP_GPU_WRITE, OP_GPU_WRITE, OP_GPU_WRITE, OP_GPU_WRITE,
		OP_GPU_WRITE, OP_WORK, OP_RAISE, OP_IMAGE, OP_WAIT, OP_GARBAGE,
	};
	uint8_t op = ops[below(&fe.x, sizeof(ops))];

	atomic_store(&fe.s->doing, op);
	switch (op) {
	case OP_GPU_WRITE:
		burst();
		break;
	case OP_WORK:
		take_work();
		break;
	case OP_RAISE:
		raise_faults(one_in(&fe.x, 4) ? 0 : GPUEMU_RAISE_EMPTY_OK);
		break;
	case OP_IMAGE:
		read_image();
		break;
	case OP_WAIT:
		if (one_in(&fe.x, 4))
			wait_for_work();
		break;
	default:
		garbage_ioctl(fe.s, fe.e.fd, &fe.x);
	}
}

void engine_run(struct shared *s, uint64_t seed)
{
	struct sigaction bus = { .sa_sigaction = on_bus, .sa_flags = SA_SIGINFO };
	pthread_t thread;
	uintptr_t i;
	int ret;

	fe.s = s;
	fe.x = seed;
	pthread_mutex_init(&fe.gpu, NULL);
	sigaction(SIGBUS, &bus, NULL);
	sigaction(SIGSEGV, &bus, NULL);
	ret = engine_open(&fe.e);
	if (ret == -EBUSY || ret == -ENODEV || ret == -EIO)
		lost();
	if (ret) {
		fail(s, -1, -1, "the engine does not attach: %d", ret);
		_exit(1);
	}
	fe.seen = __atomic_load_n(&fe.e.control->inval_put, __ATOMIC_ACQUIRE);
	atomic_store(&s->generation, fe.e.attach.generation);
	pthread_create(&thread, NULL, acknowledge, NULL);
	for (i = 1; i <= SERVERS; i++)
		pthread_create(&thread, NULL, serve, (void *)i);
	while (!s->failed) {
		if (atomic_load(&s->phase) == PHASE_RUN) {
			gpu();
			continue;
		}
		atomic_store(&s->engine_idle, atomic_load(&s->round));
		if (!take_work())
			usleep(1000);
	}
	_exit(1);
}
