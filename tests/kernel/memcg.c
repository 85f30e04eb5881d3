// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=8 enable_tests=1
 *
 * Sysmem pages are charged to the client's memory cgroup, also those that the engine
 * allocates. A page that goes to the device has one, so the way home takes no memory: an
 * eviction and an mprotect() work in a memory cgroup that is full. Without one it does
 * not go, and the client alone notices.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cgroup.h"
#include "lib/harness.h"
#include "lib/knob.h"
#include "lib/lib.h"
#include "lib/nl.h"
#include "lib/oom.h"

enum { MIB = 8, PAGES = MIB * 256 };
#define BYTES ((size_t)PAGES * PAGE)

FIXTURE(memcg)
{
	struct engine e;
	pid_t pid;
	int to, from;
	uint32_t space;
	uint8_t *mem;
};

/* What the client is told to do. */
enum {
	CHECK = 1,	/* that each page begins with its number */
	READ_ONLY,	/* makes all so */
	SUBMIT,		/* a work */
	WAIT,		/* for it */
};

/* The status of the work, or why the client got no whole report. */
static int wait_for_report(int fd, uint64_t id)
{
	static uint8_t report[GPUEMU_REPORT_MAX];
	struct gpuemu_wait arg = {
		.size = sizeof(arg), .id = id, .timeout_ms = 5000,
		.report = (uintptr_t)report, .report_bytes = sizeof(report),
	};
	int ret = call(fd, GPUEMU_IOCTL_WAIT, &arg);

	if (!ret && (arg.report_bytes != sizeof(report) || !filled(report, sizeof(report), 5)))
		ret = -EIO;
	return ret ? ret : arg.status;
}

/* The client: tells where its memory is, then does what it is told, and says what came of it. */
static void client(int from, int to)
{
	int fd = client_open();
	uint8_t *p = map_managed(fd, BYTES);
	uint64_t word, id = 0;
	uint32_t i;

	engine_say(to, client_space(fd));
	engine_say(to, (uintptr_t)p);
	while (!engine_hear(from, 60000, &word) && word >= CHECK && word <= WAIT) {
		if (word == READ_ONLY) {
			engine_say(to, mprotect(p, BYTES, PROT_READ) ? errno :
				   0);
			continue;
		}
		if (word == SUBMIT) {
			engine_say(to, client_submit(fd, GPUEMU_WORK_LAUNCH, NULL, 0, &id));
			continue;
		}
		if (word == WAIT) {
			engine_say(to, wait_for_report(fd, id));
			continue;
		}
		for (i = 0; i < PAGES; i++)
			if (*(uint32_t *)(p + i * PAGE) != i + 1)
				break;
		engine_say(to, i);
	}
	_exit(0);
}

FIXTURE_SETUP(memcg)
{
	int down[2], up[2];
	uint64_t word;

	ASSERT_EQ(0, cgroup_make());
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	ASSERT_EQ(0, pipe(down));
	ASSERT_EQ(0, pipe(up));
	self->from = up[0];
	self->to = down[1];
	self->pid = fork();
	if (!self->pid) {
		if (cgroup_enter(GROUP))
			_exit(1);
		client(down[0], up[1]);
	}
	ASSERT_EQ(0, engine_hear(self->from, 5000, &word));
	self->space = word;
	ASSERT_EQ(0, engine_hear(self->from, 5000, &word));
	self->mem = (uint8_t *)(uintptr_t)word;
}

FIXTURE_TEARDOWN(memcg)
{
	kill(self->pid, SIGKILL);
	waitpid(self->pid, NULL, 0);
	engine_close(&self->e);
	rmdir(GROUP);
}

/* All pages on the device, each with its number in it. */
static int write_on_device(FIXTURE_DATA(memcg) *self)
{
	uint32_t *w, i;
	int ret = engine_h2d(&self->e, self->space, self->mem, PAGES);

	for (i = 0; i < PAGES && !ret; i++) {
		w = engine_page(&self->e, self->space, self->mem + i * PAGE);
		if (!w)
			return -EIO;
		*w = i + 1;
	}
	return ret;
}

TEST_F(memcg, the_way_home_is_charged)
{
	long before = cgroup_charged(), after;
	uint64_t word;

	ASSERT_LE(0, before);
	ASSERT_EQ(0, write_on_device(self));
	after = cgroup_charged();
	EXPECT_LT(before + (long)BYTES * 9 / 10, after)
		TH_LOG("%ld before, %ld after", before, after);
	ASSERT_EQ(0, engine_d2h(&self->e, self->space, self->mem, PAGES));
	EXPECT_GT(after + (long)BYTES / 10, cgroup_charged());
	ASSERT_EQ(0, engine_say(self->to, CHECK));
	ASSERT_EQ(0, engine_hear(self->from, 5000, &word));
	EXPECT_EQ(PAGES, word);
}

TEST_F(memcg, no_memory)
{
	struct gpuemu_migration m[PAGES / 512];
	uint32_t moved = 0, i, failed = 0, resident;
	char limit[32];
	uint64_t word;

	snprintf(limit, sizeof(limit), "%ld", cgroup_charged() + (long)BYTES / 2);
	ASSERT_EQ(0, put_text(GROUP "memory.max", limit));
	memset(m, 0, sizeof(m));
	for (i = 0; i < PAGES / 512; i++) {
		m[i].addr = (uintptr_t)self->mem + i * BLOCK;
		m[i].va_space = self->space;
		m[i].pages = 512;
		m[i].op = GPUEMU_MIGRATE_H2D;
	}
	ASSERT_EQ(0, engine_raise(&self->e, GPUEMU_RAISE_EMPTY_OK));
	ASSERT_LE(0, engine_commit(&self->e, m, PAGES / 512));
	for (i = 0; i < PAGES / 512; i++) {
		moved += m[i].moved;
		failed += m[i].status == -ENOMEM;
	}
	EXPECT_LT(0, failed);
	EXPECT_LT(0, moved);
	resident = engine_resident(&self->e, self->space, self->mem, PAGES);
	EXPECT_EQ(moved, resident);
	EXPECT_GT(PAGES, resident);
	/* Nobody was killed for it, and with memory it goes on. */
	EXPECT_EQ(0, waitpid(self->pid, NULL, WNOHANG));
	ASSERT_EQ(0, put_text(GROUP "memory.max", "max"));
	ASSERT_EQ(0, write_on_device(self));
	EXPECT_EQ(0, engine_d2h(&self->e, self->space, self->mem, PAGES));
	ASSERT_EQ(0, engine_say(self->to, CHECK));
	ASSERT_EQ(0, engine_hear(self->from, 5000, &word));
	EXPECT_EQ(PAGES, word);
}

TEST_F(memcg, home_without_memory)
{
	char limit[32];
	uint64_t word;

	ASSERT_EQ(0, write_on_device(self));
	/* As much as it has, and what its next system call takes. */
	snprintf(limit, sizeof(limit), "%ld", cgroup_charged() + 64 * (long)PAGE);
	ASSERT_EQ(0, put_text(GROUP "memory.max", limit));
	ASSERT_EQ(0, engine_d2h(&self->e, self->space, self->mem, PAGES / 2));
	ASSERT_EQ(0, engine_say(self->to, READ_ONLY));
	ASSERT_EQ(0, engine_hear(self->from, 10000, &word));
	EXPECT_EQ(0, word);
	EXPECT_EQ(0, engine_resident(&self->e, self->space, self->mem, PAGES));
	ASSERT_EQ(0, put_text(GROUP "memory.max", "max"));
	ASSERT_EQ(0, engine_say(self->to, CHECK));
	ASSERT_EQ(0, engine_hear(self->from, 5000, &word));
	EXPECT_EQ(PAGES, word);
}

/* A process of the memory cgroup whose memory can be reclaimed. */
static void reclaimable(size_t bytes, int to)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (cgroup_enter(GROUP) || p == MAP_FAILED)
		_exit(1);
	memset(p, 1, bytes);
	engine_say(to, madvise(p, bytes, MADV_FREE));
	pause();
	_exit(0);
}

/*
 * Where the memory cgroup is full of what can be reclaimed, a worker does that on the
 * client's account, and the engine, which tries again, finds pages.
 */
TEST_F(memcg, reclaimed_by_a_worker)
{
	enum { FREE = 12 << 20 };
	uint32_t moved = 0, tries;
	uint64_t word;
	int ready[2];
	pid_t other;

	ASSERT_EQ(0, put_text(GROUP "memory.max", "16777216"));
	ASSERT_EQ(0, pipe(ready));
	other = fork();
	if (!other)
		reclaimable(FREE, ready[1]);
	ASSERT_EQ(0, engine_hear(ready[0], 20000, &word));
	ASSERT_EQ(0, word);
	EXPECT_LT(FREE, cgroup_charged());
	for (tries = 0; tries < 1000 && moved < PAGES; tries++) {
		moved = 0;
		engine_h2d(&self->e, self->space, self->mem, PAGES);
		moved = engine_resident(&self->e, self->space, self->mem, PAGES);
		usleep(1000);
	}
	EXPECT_EQ(PAGES, moved) TH_LOG("after %u tries", tries);
	EXPECT_LT(1, tries);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	close(ready[0]);
	close(ready[1]);
}

/* Pages that were looked at to reclaim memory of the group; -1: unknown. */
static long scanned(void)
{
	static const char key[] = "pgscan ";
	FILE *file = fopen(GROUP "memory.stat", "r");
	char line[128];
	long n = -1;

	while (file && n < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, sizeof(key) - 1))
			n = atol(line + sizeof(key) - 1);
	if (file)
		fclose(file);
	return n;
}

/*
 * The engine reclaims nothing for a report that a client's memory cgroup has no room for, for
 * all clients would wait. The client gets its report all the same.
 */
TEST_F(memcg, a_report_reclaims_nothing)
{
	struct gpuemu_work_take take = { .size = sizeof(take) };
	struct gpuemu_work_done done = { .size = sizeof(done) };
	static uint8_t report[GPUEMU_REPORT_MAX];
	char limit[32];
	uint64_t word;
	int ready[2];
	pid_t other;
	long before;

	fill(report, sizeof(report), 5);
	ASSERT_EQ(0, engine_say(self->to, SUBMIT));
	ASSERT_EQ(0, engine_hear(self->from, 5000, &word));
	ASSERT_EQ(0, word);
	ASSERT_EQ(0, call(self->e.fd, GPUEMU_IOCTL_WORK_TAKE, &take));
	ASSERT_EQ(0, pipe(ready));
	other = fork();
	if (!other)
		reclaimable(12 << 20, ready[1]);
	ASSERT_EQ(0, engine_hear(ready[0], 20000, &word));
	ASSERT_EQ(0, word);
	snprintf(limit, sizeof(limit), "%ld", cgroup_charged() + (1 << 20));
	ASSERT_EQ(0, put_text(GROUP "memory.max", limit));

	done.id = take.id;
	done.report = (uintptr_t)report;
	done.report_bytes = sizeof(report);
	before = scanned();
	ASSERT_LE(0, before);
	ASSERT_EQ(0, call(self->e.fd, GPUEMU_IOCTL_WORK_DONE, &done));
	EXPECT_EQ(before, scanned());
	/* The client itself may reclaim. */
	ASSERT_EQ(0, engine_say(self->to, WAIT));
	ASSERT_EQ(0, engine_hear(self->from, 20000, &word));
	EXPECT_EQ(0, word);
	EXPECT_LT(before, scanned());
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	close(ready[0]);
	close(ready[1]);
}

/* One page of the client's after the other, with the module's own eviction. */
static uint32_t bring_evicting(struct engine *e, uint32_t space, uint8_t *mem, uint32_t pages)
{
	struct gpuemu_migration m = { .va_space = space, .op = GPUEMU_MIGRATE_H2D };
	uint32_t i, n = 0;

	for (i = 0; i < pages; i += m.pages) {
		m.addr = (uintptr_t)mem + i * PAGE;
		m.pages = 64;
		if (engine_raise(e, GPUEMU_RAISE_EMPTY_OK) < 0 ||
		    engine_commit_flags(e, &m, 1, GPUEMU_COMMIT_EVICT) < 0)
			break;
		n += m.moved;
	}
	return n;
}

enum { FILES = 64 };

/* A process with many files and a page of memory of each: it says where, and waits. */
static void many(int to)
{
	if (cgroup_enter(GROUP))
		_exit(1);
	for (int i = 0; i < FILES; i++) {
		int fd = client_open();

		engine_say(to, client_space(fd));
		engine_say(to, (uintptr_t)map_managed(fd, PAGE));
	}
	pause();
	_exit(1);
}

/*
 * The engine takes some pages more than it needs, for the client's next ones. The machine gets
 * them back when it asks.
 */
TEST_F(memcg, pages_that_are_ready_are_given_back)
{
	uint64_t space, mem;
	long before;
	int p[2], i;
	pid_t pid;

	ASSERT_EQ(0, pipe(p));
	pid = fork();
	if (!pid)
		many(p[1]);
	for (i = 0; i < FILES; i++) {
		ASSERT_EQ(0, engine_hear(p[0], 10000, &space));
		ASSERT_EQ(0, engine_hear(p[0], 10000, &mem));
		if (!i)
			ASSERT_EQ(0, put_text("/proc/sys/vm/drop_caches", "2"));
		ASSERT_EQ(0, engine_h2d(&self->e, (uint32_t)space, (void *)(uintptr_t)mem, 1));
	}
	before = cgroup_charged();
	ASSERT_EQ(0, put_text("/proc/sys/vm/drop_caches", "2"));
	/* Seven of each. */
	EXPECT_LE(FILES * 4 * (long)PAGE, before - cgroup_charged());
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	close(p[0]);
	close(p[1]);
}

/* Pages of the process' own, with nothing of the GPU's; ends with 0 when it has them all. */
static void innocent(size_t bytes)
{
	uint8_t *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || cgroup_enter(GROUP))
		_exit(1);
	for (size_t i = 0; i < bytes; i += PAGE)
		p[i] = 1;
	_exit(0);
}

/*
 * The pages behind device memory cannot be reclaimed: they count as their process', wherever
 * they are. So in a memory cgroup that is full the process with device memory ends, and not
 * one beside it that has less. A pause holds it just before its pages are free, and the OOM
 * killer waits for it. Where the OOM killer does not see processes that are exiting, it may kill
 * the second, too.
 */
TEST_F(memcg, the_oom_killer_finds_who_has_it)
{
	long before = oom_resident(self->pid);
	uint64_t before_pauses = knob_stat(GPUEMU_A_STATS_INJECTED);
	siginfo_t end = { };
	int tries, log, status;
	uint64_t word;
	pid_t pid;

	log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	ASSERT_LE(0, log);
	ASSERT_LE(0, lseek(log, 0, SEEK_END));
	ASSERT_EQ(0, write_on_device(self));
	/* Linux counts per CPU, and sums up now and then; its program's own pages come, too. */
	EXPECT_LE(before + PAGES - 256, oom_resident(self->pid));
	EXPECT_GE(before + PAGES + 1024, oom_resident(self->pid));
	engine_say(self->to, CHECK);
	ASSERT_EQ(0, engine_hear(self->from, 60000, &word));
	ASSERT_EQ(PAGES, word);
	EXPECT_LE(before + PAGES - 256, oom_resident(self->pid));
	EXPECT_GE(before + PAGES + 1024, oom_resident(self->pid));

	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, PAGES));
	ASSERT_EQ(0, put_text(GROUP "memory.max", "14M"));
	/* Less than the OOM killer waits for a victim at all, 2 s. */
	ASSERT_EQ(0, knob_inject(GPUEMU_INJECT_WHAT_PAUSE_CLOSE, 400));
	pid = fork();
	if (!pid)
		innocent(7 << 20);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	if (oom_sees_exiting()) {
		EXPECT_EQ(0, status);
		EXPECT_EQ(before_pauses + 1, knob_stat(GPUEMU_A_STATS_INJECTED));
	}
	for (tries = 0; tries < 1000 && !end.si_code; tries++) {
		EXPECT_EQ(0, waitid(P_PID, self->pid, &end, WEXITED | WNOWAIT | WNOHANG));
		sleep_ms(10);
	}
	EXPECT_EQ(CLD_KILLED, end.si_code);
	EXPECT_EQ(self->pid, oom_first_killed(log));
	close(log);
}

/*
 * A client whose memory cgroup is small asks for all of device memory. What it has there
 * has a page to go home to, so another client gets the frames that it asks for.
 */
TEST_F(memcg, device_memory_is_no_hostage)
{
	const uint32_t frames = self->e.attach.vram_frames;
	int fd = client_open();
	uint32_t space = client_space(fd);
	uint8_t *mem = map_managed(fd, frames * PAGE);
	uint64_t word;
	uint32_t i;

	ASSERT_NE(NULL, mem);
	/* The client's memory is as large as device memory. */
	ASSERT_EQ(BYTES, frames * PAGE);
	ASSERT_EQ(0, put_text(GROUP "memory.max", "4194304"));
	EXPECT_GT(BYTES / 2, PAGE * bring_evicting(&self->e, self->space, self->mem, PAGES));
	EXPECT_EQ(frames, bring_evicting(&self->e, space, mem, frames));
	EXPECT_EQ(frames, engine_resident(&self->e, space, mem, frames));
	/* The small one was not killed, and has what it had. */
	EXPECT_EQ(0, waitpid(self->pid, NULL, WNOHANG));
	ASSERT_EQ(0, put_text(GROUP "memory.max", "max"));
	EXPECT_LT(0, bring_evicting(&self->e, self->space, self->mem, PAGES));
	for (i = 0; i < PAGES; i++)
		*(uint32_t *)engine_page(&self->e, self->space, self->mem + i * PAGE) = i + 1;
	ASSERT_EQ(0, engine_say(self->to, CHECK));
	ASSERT_EQ(0, engine_hear(self->from, 10000, &word));
	EXPECT_EQ(PAGES, word);
	close(fd);
	munmap(mem, frames * PAGE);
}

/* Nor is device memory that is not paged kept from another by one whose memory cgroup is full. */
TEST_F(memcg, room_for_device_memory)
{
	uint8_t *p = reserve(4 * BLOCK);
	uint8_t *at = (uint8_t *)(((uintptr_t)p + BLOCK - 1) & ~(BLOCK - 1));
	int fd = client_open();
	char full[24];
	uint64_t word;

	ASSERT_EQ(0, write_on_device(self));
	EXPECT_EQ(0, self->e.control->vram_free);
	snprintf(full, sizeof(full), "%ld", cgroup_charged());
	ASSERT_EQ(0, put_text(GROUP "memory.max", full));
	EXPECT_EQ(0, map_device(fd, at, 3 * BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED));
	memset(at, 0xff, 3 * BLOCK);
	ASSERT_EQ(0, put_text(GROUP "memory.max", "max"));
	ASSERT_EQ(0, engine_say(self->to, CHECK));
	ASSERT_EQ(0, engine_hear(self->from, 10000, &word));
	EXPECT_EQ(PAGES, word);
	ASSERT_EQ(0, munmap(at, 3 * BLOCK));
	close(fd);
}

TEST_HARNESS_MAIN
