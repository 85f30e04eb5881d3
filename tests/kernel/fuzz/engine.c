// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's process. One thread is the GPU: it reads and writes frames, and pages
 * that are mapped for it in system memory, through the page table and a TLB of its
 * own, which it believes until it has acknowledged an invalidate, and raises faults.
 * One acknowledges. Two serve batches and race for them (serve.c). One disturbs what
 * the others submit (race.c). It ends when the device is taken from it, and is killed or
 * stopped at any moment.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/engine.h"
#include "fuzz/kcov.h"
#include "lib/slow.h"

/* SLOW_MS: less than an access waits for a page that has left (mirror_slots.c). */
enum { BURST = 24, SLOW_MS = 50 };

struct fuzz_engine fe;

/* The module took it away, as it may at any time. */
_Noreturn void engine_lost(void)
{
	_exit(0);
}

static void on_bus(int sig, siginfo_t *info, void *context)
{
	uint8_t *at = info->si_addr;

	(void)context;
	/* Of a slot that it believes in, the module may take the page with the device alone. */
	if (sig == SIGBUS &&
	    ((fe.e.remote && at >= fe.e.remote &&
	      at < fe.e.remote + fe.e.attach.remote_slots * PAGE) ||
	     (fe.e.mirror && at >= fe.e.mirror &&
	      at < fe.e.mirror + fe.e.attach.mirror_slots * PAGE)) &&
	    engine_ack(&fe.e, fe.seen) == -ENODEV)
		engine_lost();
	if (sig == SIGBUS && fe.e.vram &&
	    ((at >= fe.e.vram && at < fe.e.vram + fe.e.attach.vram_frames * PAGE) ||
	     (at >= (uint8_t *)fe.e.pt &&
	      at < (uint8_t *)fe.e.pt + fe.e.attach.pt_tables * PAGE) ||
	     (at >= (uint8_t *)fe.e.faults && at < (uint8_t *)fe.e.faults + PAGE +
	      fe.e.attach.fault_entries * sizeof(struct gpuemu_fault)) ||
	     (at >= (uint8_t *)fe.e.control &&
	      at < (uint8_t *)fe.e.control + fe.e.attach.control_bytes)))
		engine_lost();
	fail(fe.s, -1, -1, "the engine got signal %d at %p", sig, info->si_addr);
	_exit(1);
}

/* No SA_RESTART: what can be interrupted is. */
static void on_disturbed(int sig)
{
	(void)sig;
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

/*
 * NULL: the page is not there, or must not be written. What was looked up while the client
 * mapped the page anew says nothing of the new page; it is looked up again now and then.
 */
static uint8_t *translate(int client, int page, uint32_t space, bool write)
{
	_Atomic uint32_t *remaps = &fe.s->client[client].remaps[page];
	uint64_t va = (uintptr_t)page_addr(fe.s, page), entry;
	uint32_t at = (va / PAGE + space * 31) % TLB;

	fe.remaps_now = remaps;
	/* One that does not allow it is looked up anew: it may do so by now. */
	if (fe.tlb[at].space != space || fe.tlb[at].va != va ||
	    (write && fe.tlb[at].read_only) || (fe.tlb[at].remaps & 1 && one_in(&fe.x, 2))) {
		fe.tlb[at].remaps = atomic_load(remaps);
		fe.tlb[at].space = 0;
		entry = engine_entry(&fe.e, space, (void *)(uintptr_t)va);
		if (!entry)
			return NULL;
		fe.tlb[at].space = space;
		fe.tlb[at].va = va;
		fe.tlb[at].frame = engine_at(&fe.e, entry);
		fe.tlb[at].read_only = entry & GPUEMU_PTE_READ_ONLY;
		fe.tlb[at].on_device = !(entry & (GPUEMU_PTE_MIRROR | GPUEMU_PTE_REMOTE));
	}
	fe.remaps = fe.tlb[at].remaps;
	fe.on_device = fe.tlb[at].on_device;
	return write && fe.tlb[at].read_only ? NULL : fe.tlb[at].frame;
}

static void copy_words(void *to, const void *from, size_t bytes)
{
	const volatile uint64_t *words = from;
	volatile uint64_t *at = to;
	size_t i;

	for (i = 0; i < bytes / 8; i++)
		at[i] = words[i];
}

/*
 * The GPU's access to managed memory. The VA space of a client that was killed may outlast its
 * process, because another task holds the process' memory for a moment. The engine may go on to
 * use that space's translations then. -EFAULT: it did, and its access says nothing of the next
 * client's memory.
 */
static int by_gpu_managed(void *to, const void *from, size_t bytes)
{
	copy_words(to, from, bytes);
	return atomic_load(fe.space_now) == fe.space ? 0 : -EFAULT;
}

/*
 * The GPU's access to ordinary memory. mm waits for no engine, so one that has not heard yet
 * that the page was mapped anew uses the old one, which nobody else has. One that comes too late
 * for a page that has left goes nowhere, and takes longer than any other: then nothing that
 * the engine believes is sure. A process that was killed has nothing at its addresses any more, so
 * an access there goes nowhere at once, until the engine hears of it. -EFAULT: this is one of
 * those.
 */
static int by_gpu(void *to, const void *from, size_t bytes)
{
	bool sure = !(fe.remaps & 1) && atomic_load(fe.remaps_now) == fe.remaps && !fe.slow;
	uint64_t begun = now_ms();

	copy_words(to, from, bytes);
	fe.slow |= now_ms() - begun > SLOW_MS;
	sure &= !fe.slow && !atomic_load(fe.dying) && atomic_load(fe.space_now) == fe.space;
	atomic_fetch_add(sure ? &fe.s->sure : &fe.s->unsure, 1);
	if (sure && fe.on_device)
		atomic_fetch_add(&fe.s->sure_on_device, 1);
	return sure ? 0 : -EFAULT;
}

static void *acknowledge(void *arg)
{
	uint32_t acked = fe.seen - 1, put;
	uint64_t x = fe.x ^ 77;

	(void)arg;
	kcov_begin();
	for (;;) {
		kcov_take();
		put = __atomic_load_n(&fe.e.control->inval_put, __ATOMIC_ACQUIRE);
		if (put != acked) {
			pthread_mutex_lock(&fe.gpu);
			apply_invalidates();
			put = fe.seen;
			pthread_mutex_unlock(&fe.gpu);
			if (engine_ack(&fe.e, put) == -ENODEV)
				engine_lost();
			acked = put;
		}
		usleep(one_in(&x, 100) ? below(&x, 5000) : 30);
	}
	return NULL;
}

/* --- commands --- */

/* RAISE or COMMIT_AND_FETCH by ioctl. A signal may end the wait: then it goes on. */
static int engine_call(struct engine *e, uint32_t op, uint64_t addr, uint32_t arg)
{
	struct gpuemu_engine_raise raise = { .size = sizeof(raise), .flags = arg };
	struct gpuemu_engine_serve serve = {
		.size = sizeof(serve), .flags = GPUEMU_SERVE_FETCH, .commit = addr,
	};
	uint64_t end = now_ms() + HANG_MS;
	bool stayed = true;
	int res;

	for (;;) {
		if (op == GPUEMU_URING_RAISE)
			res = call(e->fd, GPUEMU_IOCTL_ENGINE_RAISE, &raise);
		else
			res = call(e->fd, GPUEMU_IOCTL_ENGINE_SERVE, &serve) ?: (int)serve.faults;
		if (res != -EINTR)
			break;
		stayed = false;
		if (op == GPUEMU_URING_RAISE && now_ms() > end) {
			fail(fe.s, -1, -1, "hang: RAISE does not end");
			_exit(1);
		}
	}
	if (res == -ENODEV)
		engine_lost();
	if (res >= 0) {
		atomic_fetch_add(&fe.s->stays, 1);
		atomic_fetch_add(&fe.s->stayed, stayed);
	}
	return res;
}

int engine_command(struct engine *e, uint32_t op, uint64_t addr, uint32_t arg, uint32_t reserved)
{
	uint64_t end = now_ms() + HANG_MS;
	int res;

	if (arg & BY_IOCTL)
		return engine_call(e, op, addr, arg & ~BY_IOCTL);
	do {
		engine_issue_as(e, op, addr, arg, reserved, op);
		while (engine_result(e, op, 200, &res)) {
			/* A FETCH may wait for as long as nothing happens. */
			if (op != GPUEMU_URING_FETCH && op != GPUEMU_URING_COMMIT_AND_FETCH &&
			    now_ms() > end) {
				fail(fe.s, -1, -1, "hang: uring command %#x does not end", op);
				_exit(1);
			}
		}
		/* The thread that disturbs has submitted it, and has ended before it was done. */
	} while (res == -ECANCELED && !fe.s->calm);
	if (res == -ENODEV)
		engine_lost();
	return res;
}

void engine_ring(struct engine *e, uintptr_t number)
{
	uint64_t x = fe.x + number;
	/* As the daemon has them, which nobody else can submit to; or as they come. */
	unsigned int flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;

	e->nresults = 0;
	if (io_uring_queue_init(8, &e->ring, one_in(&x, 2) ? flags : 0))
		engine_lost();
	atomic_store(&fe.ring[number], e->ring.ring_fd);
}

/* --- the GPU --- */

static void raise_faults(uint32_t arg)
{
	int res = engine_command(&fe.e, GPUEMU_URING_RAISE, 0, arg | may_stay(&fe.x), 0);

	fe.parked = true;
	note(fe.s, OP_RAISE, 0, 0, 0, res);
	/* -EBUSY: another's was first. */
	if (res && res != -EAGAIN && res != -EINVAL && res != -EBUSY)
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
	int c = below(&fe.x, s->clients), base = some_page(s, c, &fe.x), tries, i, left = BURST;
	uint32_t space = atomic_load(&s->client[c].space), missing;
	int span = 1 + below(&fe.x, one_in(&fe.x, 3) ? 64 : 8), page[BURST];

	fe.space = space;
	fe.space_now = &s->client[c].space;
	fe.dying = &s->client[c].dying;
	for (i = 0; i < BURST; i++)
		page[i] = (base + below(&fe.x, span)) % s->pages;
	/* On a slow kernel ordinary memory comes by a later fault (make_plan()). */
	for (tries = 0; space && left && tries < 3 + (int)slowness(); tries++) {
		missing = 0;
		pthread_mutex_lock(&fe.gpu);
		/* Those that it has not acknowledged it need not know. */
		if (fe.parked || one_in(&fe.x, 4))
			apply_invalidates();
		fe.parked = false;
		for (i = 0; i < left;) {
			copy_fn way = page[i] < PAGES ? by_gpu_managed : by_gpu;
			int lane = below(&fe.x, LANES);
			bool write = lane >= GPU_LANE && !one_in(&fe.x, 3);
			uint8_t *frame = translate(c, page[i], space, write);
			uint64_t *at = (uint64_t *)frame + lane * LANE_WORDS;

			if (!frame) {
				engine_fault(&fe.e, space, page_addr(s, page[i]),
					     (write ? GPUEMU_ACCESS_WRITE : 0) + below(&fe.x, 2));
				missing++, i++;
				continue;
			}
			/* A slow access: what moves the page has to wait for it. */
			if (one_in(&fe.x, 100))
				usleep(below(&fe.x, 1500));
			if (write) {
				if (section_of(page[i])->kind == KIND_READ_ONLY)
					fail(s, c, page[i], "the GPU may write page %d", page[i]);
				lane_write(s, c, page[i], lane, at, way);
				note(s, OP_GPU_WRITE, c, page[i], 1, frame - fe.e.vram);
			} else {
				lane_check(s, c, page[i], lane, at, way, "GPU read");
				note(s, OP_GPU_READ, c, page[i], 1, frame - fe.e.vram);
			}
			page[i] = page[--left];
		}
		if (fe.slow)
			memset(fe.tlb, 0, sizeof(fe.tlb));
		fe.slow = false;
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
		.flags = one_in(&fe.x, 2) ? GPUEMU_TAKE_IDLE : 0,
	};
	struct gpuemu_work_done done = { .size = sizeof(done) };
	uint32_t seed;
	int ret = call(fe.e.fd, GPUEMU_IOCTL_WORK_TAKE, &take);

	if (ret == -ENODEV)
		engine_lost();
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
		engine_lost();
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
	fe.parked = true;
	if (res == -ENODEV)
		engine_lost();
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
	struct sigaction disturbed = { .sa_handler = on_disturbed };
	pthread_t acker;
	uintptr_t i;
	int ret;

	kcov_begin();
	fe.s = s;
	fe.x = seed;
	pthread_mutex_init(&fe.gpu, NULL);
	sigaction(SIGBUS, &bus, NULL);
	sigaction(SIGSEGV, &bus, NULL);
	sigaction(SIGUSR1, &disturbed, NULL);
	ret = engine_open(&fe.e);
	if (ret == -EBUSY || ret == -ENODEV || ret == -EIO)
		engine_lost();
	if (ret) {
		fail(s, -1, -1, "the engine does not attach: %d", ret);
		_exit(1);
	}
	fe.seen = __atomic_load_n(&fe.e.control->inval_put, __ATOMIC_ACQUIRE);
	atomic_store(&s->generation, fe.e.attach.generation);
	fe.thread[0] = pthread_self();
	atomic_store(&fe.ring[0], fe.e.ring.ring_fd);
	pthread_create(&acker, NULL, acknowledge, NULL);
	for (i = 1; i < THREADS; i++)
		pthread_create(&fe.thread[i], NULL, i <= SERVERS ? engine_serve : engine_race,
			       (void *)i);
	while (!s->failed) {
		kcov_take();
		if (atomic_load(&s->phase) == PHASE_RUN) {
			gpu();
			continue;
		}
		/* A thread that raised too has come to its end, and does not begin anew. */
		pthread_mutex_lock(&fe.gpu);
		pthread_mutex_unlock(&fe.gpu);
		atomic_store(&s->engine_idle, atomic_load(&s->round));
		if (!take_work())
			usleep(1000);
	}
	_exit(1);
}
