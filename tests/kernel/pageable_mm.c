// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=4 remote_mb=8 timeout=120 enable_tests=1
 *
 * Ordinary memory that the engine uses where it is, and what mm does with it of its own:
 * huge pages, userfaultfd, soft-dirty bits, lazy freeing; and a change of the mapping while
 * the module maps a page. What a program does to it is in pageable.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/knob.h"
#include "lib/pageable.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum { PAGES = PAGEABLE_PAGES, PAUSE_MS = 10000 };

PAGEABLE_FIXTURE(pageable_mm)

/* Of 2 MiB, aligned, in a mapping of twice as much; NULL: no memory. */
static uint8_t *map_block(uint8_t **all, int advice)
{
	uint8_t *p;

	*all = map_anonymous(2 * BLOCK);
	if (!*all)
		return NULL;
	p = (uint8_t *)(((uintptr_t)*all + BLOCK - 1) & ~(BLOCK - 1));
	return madvise(p, BLOCK, advice) ? NULL : p;
}

/* A page that another task holds for a moment cannot be collapsed: EAGAIN (madvise(2)). */
static int collapse(uint8_t *p)
{
	int tries;

	for (tries = 0; tries < 200 && madvise(p, BLOCK, MADV_COLLAPSE); tries++) {
		if (errno != EAGAIN && errno != EBUSY)
			return -errno;
		sleep_ms(10);
	}
	return tries < 200 ? 0 : -ETIMEDOUT;
}

static bool write_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY);
	bool ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return ok;
}

/* --- a change meanwhile --- */

static int pause_mirror(struct nl *nl, uint32_t ms)
{
	struct nl_request r;

	nl_begin(nl, &r, GPUEMU_CMD_INJECT, 0);
	nl_put_u32(&r, GPUEMU_A_INJECT_WHAT, GPUEMU_INJECT_WHAT_PAUSE_MIRROR);
	nl_put_u32(&r, GPUEMU_A_INJECT_COUNT, ms);
	return nl_talk(nl, &r, NULL, NULL);
}

struct change {
	uint8_t *page, *to;
	uint64_t before;
	int ret;
};

/* When the module has found the page, it moves elsewhere, and another one takes its place. */
static void *change_it(void *arg)
{
	struct change *c = arg;
	uint64_t end = now_ms() + PAUSE_MS * slowness();
	struct nl nl;

	c->ret = nl_open(&nl);
	while (!c->ret && knob_stat(GPUEMU_A_STATS_INJECTED) == c->before) {
		if (now_ms() > end)
			c->ret = -ETIMEDOUT;
		sleep_ms(1);
	}
	if (!c->ret &&
	    (mremap(c->page, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, c->to) != c->to ||
	     mmap(c->page, PAGE, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != c->page))
		c->ret = -errno;
	if (!c->ret)
		c->page[0] = 3;
	pause_mirror(&nl, 0);
	nl_close(&nl);
	return NULL;
}

/*
 * mapped: a page of the same VA block that the engine uses already, or NULL. The engine asks
 * once: a COMMIT that finds the number of the worker's look-up outdated has it look again.
 */
static void expect_change_seen(struct __test_metadata *_metadata,
			       FIXTURE_DATA(pageable_mm) *self, uint8_t *page, uint8_t *mapped)
{
	struct change c = {
		.page = page, .to = map_anonymous(PAGE),
		.before = knob_stat(GPUEMU_A_STATS_INJECTED),
	};
	uint8_t was = page[0], flags;
	pthread_t thread;
	int ret;

	ASSERT_EQ(0, pthread_create(&thread, NULL, change_it, &c));
	if (mapped)
		ASSERT_EQ(0, pageable_writes(&self->p, mapped, 1));
	ASSERT_EQ(0, pause_mirror(&self->p.nl, PAUSE_MS));
	ret = pageable_try(&self->p, page, 1, GPUEMU_ACCESS_WRITE, &flags);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, c.ret);
	if (ret)
		ASSERT_EQ(-EAGAIN, ret);
	for (int i = 0; i < 5000 && !pageable_entry(&self->p, page); i++)
		sleep_ms(1);
	ASSERT_EQ(PAGEABLE_USED, pageable_entry(&self->p, page) & PAGEABLE_BITS);
	EXPECT_EQ(3, *pageable_gpu(&self->p, page));
	*pageable_gpu(&self->p, page) = 4;
	EXPECT_EQ(4, page[0]);
	EXPECT_EQ(was, c.to[0]);
	munmap(c.to, PAGE);
}

/* The worker found the page. */
TEST_F(pageable_mm, changed_before_the_worker_maps)
{
	expect_change_seen(_metadata, self, self->p.mem, NULL);
}

/* The COMMIT found it itself: something of the VA block is mapped already. */
TEST_F(pageable_mm, changed_before_the_commit_maps)
{
	expect_change_seen(_metadata, self, self->p.mem, self->p.mem + PAGE);
}

/* --- lazy freeing --- */

/* What the GPU writes after MADV_FREE stays, as what the CPU writes does. */
TEST_F(pageable_mm, free)
{
	uint8_t *mem = self->p.mem;
	volatile uint8_t *g;

	ASSERT_EQ(0, pageable_writes(&self->p, mem, PAGES));
	g = pageable_gpu(&self->p, mem);
	g[0] = 1;
	ASSERT_EQ(0, madvise(mem, PAGES * PAGE, MADV_FREE));
	EXPECT_EQ(0, pageable_entry(&self->p, mem));
	/* One by an engine that has not heard, one by one that has, and none of the rest. */
	g[1] = 2;
	ASSERT_EQ(0, pageable_writes(&self->p, mem + PAGE, 1));
	*pageable_gpu(&self->p, mem + PAGE) = 3;
	ASSERT_EQ(0, madvise(mem, PAGES * PAGE, MADV_PAGEOUT));
	EXPECT_EQ(1, mem[0]);
	EXPECT_EQ(2, mem[1]);
	EXPECT_EQ(3, mem[PAGE]);
	for (int i = 2; i < PAGES; i++)
		if (mem[i * PAGE])
			EXPECT_EQ(self->p.copy[i * PAGE], mem[i * PAGE]);
}

/* --- huge pages --- */

TEST_F(pageable_mm, collapse)
{
	volatile uint8_t *g;
	uint8_t *all, *p;

	p = map_block(&all, MADV_NOHUGEPAGE);
	ASSERT_NE(NULL, p);
	for (size_t at = 0; at < BLOCK; at += PAGE)
		p[at] = at / PAGE;
	ASSERT_EQ(0, pageable_writes(&self->p, p, PAGES));
	g = pageable_gpu(&self->p, p + PAGE);
	g[1] = 77;
	ASSERT_EQ(0, madvise(p, BLOCK, MADV_HUGEPAGE));
	ASSERT_EQ(0, collapse(p));
	EXPECT_EQ(0, pageable_entry(&self->p, p + PAGE));
	EXPECT_EQ(1, g[0]);
	g[2] = 78;
	EXPECT_EQ(77, p[PAGE + 1]);
	EXPECT_EQ(78, p[PAGE + 2]);
	ASSERT_EQ(0, pageable_writes(&self->p, p, PAGES));
	*pageable_gpu(&self->p, p) = 79;
	EXPECT_EQ(79, p[0]);
	munmap(all, 2 * BLOCK);
}

/* A huge page is used as its small ones, and may be split below the GPU. */
TEST_F(pageable_mm, split)
{
	volatile uint8_t *g[3];
	uint8_t *all, *p;

	p = map_block(&all, MADV_HUGEPAGE);
	ASSERT_NE(NULL, p);
	for (size_t at = 0; at < BLOCK; at += PAGE)
		p[at] = at / PAGE;
	ASSERT_EQ(0, pageable_writes(&self->p, p, BLOCK / PAGE));
	EXPECT_EQ(BLOCK / PAGE, pageable_count(&self->p, GPUEMU_A_STATS_REMOTE_MAPPED));
	for (int i = 0; i < 3; i++) {
		g[i] = pageable_gpu(&self->p, p + i * PAGE);
		EXPECT_EQ(i, g[i][0]);
		g[i][1] = 40 + i;
	}
	ASSERT_EQ(0, madvise(p + PAGE, PAGE, MADV_DONTNEED));
	EXPECT_EQ(0, pageable_entry(&self->p, p + PAGE));
	EXPECT_EQ(40, g[0][1]);
	EXPECT_EQ(0, g[1][1]);
	EXPECT_EQ(42, g[2][1]);
	ASSERT_EQ(0, mprotect(p, PAGE, PROT_READ));
	g[0][1] = 50;
	g[2][1] = 52;
	EXPECT_EQ(40, p[1]);
	EXPECT_EQ(52, p[2 * PAGE + 1]);
	ASSERT_EQ(0, pageable_writes(&self->p, p + 2 * PAGE, BLOCK / PAGE - 2));
	for (size_t i = 2; i < BLOCK / PAGE; i++)
		ASSERT_EQ((uint8_t)i, *pageable_gpu(&self->p, p + i * PAGE));
	munmap(all, 2 * BLOCK);
}

/* A huge page moves as one. */
TEST_F(pageable_mm, mremap_huge)
{
	uint8_t *all, *other, *p, *to;
	volatile uint8_t *g;

	p = map_block(&all, MADV_HUGEPAGE);
	to = map_block(&other, MADV_HUGEPAGE);
	ASSERT_NE(NULL, p);
	ASSERT_NE(NULL, to);
	memset(p, 5, BLOCK);
	ASSERT_EQ(0, pageable_writes(&self->p, p, PAGES));
	g = pageable_gpu(&self->p, p);
	ASSERT_EQ(to, mremap(p, BLOCK, BLOCK, MREMAP_MAYMOVE | MREMAP_FIXED, to));
	EXPECT_EQ(0, pageable_entry(&self->p, p));
	g[0] = 6;
	EXPECT_EQ(5, to[0]);
	ASSERT_EQ(0, pageable_writes(&self->p, to, PAGES));
	*pageable_gpu(&self->p, to) = 7;
	EXPECT_EQ(7, to[0]);
	munmap(all, 2 * BLOCK);
	munmap(other, 2 * BLOCK);
}

TEST_F(pageable_mm, hugetlb)
{
	volatile uint8_t *g;
	uint8_t *p;

	ASSERT_TRUE(write_file("/proc/sys/vm/nr_hugepages", "1"));
	p = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	ASSERT_NE(MAP_FAILED, p);
	p[PAGE] = 1;
	ASSERT_EQ(0, pageable_writes(&self->p, p, PAGES));
	g = pageable_gpu(&self->p, p + PAGE);
	EXPECT_EQ(1, g[0]);
	g[0] = 2;
	EXPECT_EQ(2, p[PAGE]);
	ASSERT_EQ(0, munmap(p, BLOCK));
	EXPECT_EQ(0, pageable_entry(&self->p, p + PAGE));
	EXPECT_EQ(0, g[0]);
	EXPECT_TRUE(write_file("/proc/sys/vm/nr_hugepages", "0"));
}

/* --- who else has the page --- */

TEST_F(pageable_mm, fork_of_shared_memory)
{
	uint8_t *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, p);
	ASSERT_EQ(0, pageable_writes(&self->p, p, 1));
	*pageable_gpu(&self->p, p) = 1;
	pid = fork();
	if (!pid) {
		if (p[0] != 1)
			_exit(1);
		p[1] = 2;
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, pageable_writes(&self->p, p, 1));
	EXPECT_EQ(2, pageable_gpu(&self->p, p)[1]);
	munmap(p, PAGE);
}

/* A pipe has the page: what the GPU writes is in it, as what the CPU writes. */
TEST_F(pageable_mm, held_by_a_pipe)
{
	struct iovec page = { self->p.mem, PAGE };
	uint8_t seen[2];
	int fds[2];

	ASSERT_EQ(0, pageable_writes(&self->p, self->p.mem, 1));
	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ((ssize_t)PAGE, vmsplice(fds[1], &page, 1, 0));
	ASSERT_EQ(0, pageable_writes(&self->p, self->p.mem, 1));
	*pageable_gpu(&self->p, self->p.mem) = 9;
	self->p.mem[1] = 10;
	ASSERT_EQ(2, read(fds[0], seen, 2));
	EXPECT_EQ(9, seen[0]);
	EXPECT_EQ(10, seen[1]);
	close(fds[0]);
	close(fds[1]);
}

/* --- watchers of the program's writes --- */

#define SOFT_DIRTY (1ull << 55)

TEST_F(pageable_mm, soft_dirty)
{
	uint8_t *mem = self->p.mem;
	volatile uint8_t *g;

	/* Without CONFIG_MEM_SOFT_DIRTY nothing is ever dirty. */
	mem[0]++;
	if (!(pagemap(mem) & SOFT_DIRTY))
		return;
	ASSERT_EQ(0, pageable_writes(&self->p, mem, PAGES));
	g = pageable_gpu(&self->p, mem);
	g[0] = 1;
	ASSERT_TRUE(write_file("/proc/self/clear_refs", "4"));
	for (int i = 0; i < PAGES; i++) {
		EXPECT_EQ(0, pageable_entry(&self->p, mem + i * PAGE));
		EXPECT_EQ(0, pagemap(mem + i * PAGE) & SOFT_DIRTY);
	}
	g[0] = 2;
	ASSERT_EQ(0, pageable_writes(&self->p, mem + PAGE, 1));
	*pageable_gpu(&self->p, mem + PAGE) = 3;
	ASSERT_EQ(0, pageable_reads(&self->p, mem + 2 * PAGE, 1));
	EXPECT_EQ(self->p.copy[2 * PAGE], *pageable_gpu(&self->p, mem + 2 * PAGE));
	EXPECT_NE(0, pagemap(mem) & SOFT_DIRTY);
	EXPECT_NE(0, pagemap(mem + PAGE) & SOFT_DIRTY);
	EXPECT_EQ(0, pagemap(mem + 2 * PAGE) & SOFT_DIRTY);
}

/* --- userfaultfd --- */

struct watcher {
	int fd, stop[2];
	pthread_t thread;
	uint8_t content[PAGE] __attribute__((aligned(4096)));
	int missing, protected;
};

/* Answers a missing page with its content, and a write with the right to it. */
static void *watch(void *arg)
{
	struct watcher *w = arg;
	struct pollfd fds[] = { { w->fd, POLLIN, 0 }, { w->stop[0], POLLIN, 0 } };
	struct uffd_msg msg;

	while (poll(fds, 2, -1) > 0 && !fds[1].revents) {
		if (read(w->fd, &msg, sizeof(msg)) != sizeof(msg))
			continue;
		uint64_t page = msg.arg.pagefault.address & ~(PAGE - 1);

		if (msg.arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WP) {
			struct uffdio_writeprotect wp = { .range = { page, PAGE } };

			w->protected++;
			ioctl(w->fd, UFFDIO_WRITEPROTECT, &wp);
		} else {
			struct uffdio_copy copy = { page, (uintptr_t)w->content, PAGE, 0, 0 };

			w->missing++;
			ioctl(w->fd, UFFDIO_COPY, &copy);
		}
	}
	return NULL;
}

static int watcher_open(struct watcher *w, uint8_t *p, size_t bytes, uint64_t mode)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = mode & UFFDIO_REGISTER_MODE_WP ? UFFD_FEATURE_PAGEFAULT_FLAG_WP : 0,
	};
	struct uffdio_register range = { .range = { (uintptr_t)p, bytes }, .mode = mode };

	memset(w, 0, sizeof(*w));
	memset(w->content, 0x5a, PAGE);
	w->fd = syscall(SYS_userfaultfd, O_NONBLOCK | O_CLOEXEC);
	if (w->fd < 0 || pipe(w->stop) || ioctl(w->fd, UFFDIO_API, &api) ||
	    ioctl(w->fd, UFFDIO_REGISTER, &range))
		return -errno;
	return -pthread_create(&w->thread, NULL, watch, w);
}

static void watcher_close(struct watcher *w)
{
	close(w->stop[1]);
	pthread_join(w->thread, NULL);
	close(w->stop[0]);
	close(w->fd);
}

/* The worker waits for the program that has the page, as the CPU would. */
TEST_F(pageable_mm, userfaultfd_missing)
{
	uint8_t *p = map_anonymous(PAGES * PAGE);
	struct watcher w;

	ASSERT_EQ(0, watcher_open(&w, p, PAGES * PAGE, UFFDIO_REGISTER_MODE_MISSING));
	ASSERT_EQ(0, pageable_reads(&self->p, p, 1));
	EXPECT_EQ(0x5a, *pageable_gpu(&self->p, p));
	ASSERT_EQ(0, pageable_writes(&self->p, p + PAGE, PAGES - 1));
	*pageable_gpu(&self->p, p + 2 * PAGE) = 1;
	EXPECT_EQ(0x5a, p[PAGE]);
	EXPECT_EQ(1, p[2 * PAGE]);
	EXPECT_EQ(PAGES, w.missing);
	watcher_close(&w);
	munmap(p, PAGES * PAGE);
}

TEST_F(pageable_mm, userfaultfd_write_protect)
{
	uint8_t *p = self->p.mem;
	volatile uint8_t *g;
	struct watcher w;

	ASSERT_EQ(0, watcher_open(&w, p, PAGES * PAGE, UFFDIO_REGISTER_MODE_WP));
	struct uffdio_writeprotect wp = {
		.range = { (uintptr_t)p, PAGES * PAGE }, .mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};

	ASSERT_EQ(0, pageable_writes(&self->p, p, PAGES));
	g = pageable_gpu(&self->p, p);
	g[0] = 1;
	ASSERT_EQ(0, ioctl(w.fd, UFFDIO_WRITEPROTECT, &wp));
	EXPECT_EQ(0, pageable_entry(&self->p, p));
	ASSERT_EQ(0, pageable_reads(&self->p, p, 1));
	EXPECT_EQ(1, *pageable_gpu(&self->p, p));
	EXPECT_EQ(0, w.protected);
	ASSERT_EQ(0, pageable_writes(&self->p, p, 1));
	EXPECT_EQ(1, w.protected);
	*pageable_gpu(&self->p, p) = 2;
	EXPECT_EQ(2, p[0]);
	EXPECT_EQ(1, w.protected);
	watcher_close(&w);
}

/*
 * The worker waits for a page that nobody brings yet, and has been asked for another one. The
 * program writes that page meanwhile, and the engine uses it. So the worker leaves it out: the
 * program then protects the page, and sees no write that nothing does.
 */
TEST_F(pageable_mm, answered_without_the_worker)
{
	uint8_t *all[2], *late = map_block(&all[0], MADV_NOHUGEPAGE);
	uint8_t *p = map_block(&all[1], MADV_NOHUGEPAGE);
	struct uffdio_writeprotect wp = {
		.range = { (uintptr_t)p, PAGE }, .mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};
	struct uffdio_zeropage zero = { .range = { (uintptr_t)late, PAGE } };
	struct uffdio_register range = {
		.range = { (uintptr_t)late, PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct uffdio_api api = { .api = UFFD_API };
	int uffd = syscall(SYS_userfaultfd, O_NONBLOCK | O_CLOEXEC);
	struct watcher w;
	uint8_t flags;

	ASSERT_EQ(0, ioctl(uffd, UFFDIO_API, &api));
	ASSERT_EQ(0, ioctl(uffd, UFFDIO_REGISTER, &range));
	/* Of a block that the worker has looked at the engine finds pages itself. */
	ASSERT_EQ(0, pageable_writes(&self->p, p + 2 * PAGE, 1));
	ASSERT_EQ(-EAGAIN, pageable_try(&self->p, late, 1, GPUEMU_ACCESS_WRITE, &flags));
	ASSERT_EQ(-EAGAIN, pageable_try(&self->p, p, 1, GPUEMU_ACCESS_WRITE, &flags));
	p[0] = 1;
	ASSERT_EQ(0, pageable_writes(&self->p, p, 1));
	ASSERT_EQ(0, watcher_open(&w, p, PAGE, UFFDIO_REGISTER_MODE_WP));
	ASSERT_EQ(0, ioctl(w.fd, UFFDIO_WRITEPROTECT, &wp));
	ASSERT_EQ(0, ioctl(uffd, UFFDIO_ZEROPAGE, &zero));
	/* This one comes after all of them. */
	ASSERT_EQ(0, pageable_writes(&self->p, p + PAGE, 1));
	EXPECT_EQ(0, w.protected);
	EXPECT_EQ(0, pageable_entry(&self->p, p));
	ASSERT_EQ(0, pageable_reads(&self->p, late, 1));
	watcher_close(&w);
	close(uffd);
	for (int i = 0; i < 2; i++)
		munmap(all[i], 2 * BLOCK);
}

/* Nobody answers, and the process is killed: the worker does not outlive that. */
TEST_F(pageable_mm, userfaultfd_and_the_end)
{
	int from[2], fd = client_open(), status;
	uint8_t *p = map_anonymous(PAGE), byte;
	struct gpuemu_migration m;
	pid_t pid;

	ASSERT_EQ(0, pipe(from));
	pid = fork();
	if (!pid) {
		struct uffdio_api api = { .api = UFFD_API };
		struct uffdio_register range = {
			.range = { (uintptr_t)p, PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING,
		};
		int uffd = syscall(SYS_userfaultfd, O_NONBLOCK);

		byte = ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &range) ||
		       pageable_give(fd);
		if (write(from[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	ASSERT_EQ(1, read(from[0], &byte, 1));
	ASSERT_EQ(0, byte);
	self->p.space = client_space(fd);
	close(fd);
	engine_fault(&self->p.e, self->p.space, p, GPUEMU_ACCESS_READ);
	ASSERT_EQ(1, engine_raise(&self->p.e, 0));
	m = (struct gpuemu_migration){
		.addr = (uintptr_t)p, .va_space = self->p.space, .pages = 1,
		.op = GPUEMU_MIGRATE_REMOTE,
	};
	ASSERT_LE(0, engine_commit(&self->p.e, &m, 1));
	EXPECT_EQ(-EAGAIN, m.status);
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	/* The client goes when its worker does. */
	for (int i = 0; i < 5000 && nl_stat(&self->p.nl, self->p.space,
					    GPUEMU_A_STATS_REMOTE_MAPPED) != UINT64_MAX; i++)
		sleep_ms(1);
	EXPECT_EQ(UINT64_MAX, nl_stat(&self->p.nl, self->p.space, GPUEMU_A_STATS_REMOTE_MAPPED));
	munmap(p, PAGE);
}

/*
 * A page leaves, and the program that has to bring it again does not. The engine's access is
 * lost then, and the client hears of it.
 */
TEST_F(pageable_mm, an_access_that_is_lost)
{
	struct uffdio_api api = { .api = UFFD_API };
	uint8_t *p = map_anonymous(PAGE), content[PAGE];
	struct uffdio_register range = {
		.range = { (uintptr_t)p, PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct uffdio_copy copy = { (uintptr_t)p, (uintptr_t)content, PAGE, 0, 0 };
	struct gpuemu_work_take take = { .size = sizeof(take) };
	struct gpuemu_work_done done = { .size = sizeof(done) };
	int uffd = syscall(SYS_userfaultfd, O_NONBLOCK | O_CLOEXEC);
	struct gpuemu_wait wait;
	volatile uint8_t *g;
	uint64_t id[2];

	memset(content, 0x5a, PAGE);
	p[0] = 1;
	ASSERT_EQ(0, pageable_writes(&self->p, p, 1));
	g = pageable_gpu(&self->p, p);
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, client_submit(self->p.fd, GPUEMU_WORK_TOUCH, NULL, 0, &id[i]));
	/* A store that came in time. */
	g[0] = 2;
	EXPECT_EQ(2, p[0]);
	ASSERT_EQ(0, call(self->p.e.fd, GPUEMU_IOCTL_WORK_TAKE, &take));
	done.id = take.id;
	ASSERT_EQ(0, call(self->p.e.fd, GPUEMU_IOCTL_WORK_DONE, &done));
	ASSERT_EQ(0, client_wait(self->p.fd, id[0], 10000, &wait));
	EXPECT_EQ(0, wait.status);

	ASSERT_EQ(0, ioctl(uffd, UFFDIO_API, &api));
	ASSERT_EQ(0, ioctl(uffd, UFFDIO_REGISTER, &range));
	ASSERT_EQ(0, madvise(p, PAGE, MADV_DONTNEED));
	g[0] = 3;
	ASSERT_EQ(0, ioctl(uffd, UFFDIO_COPY, &copy));
	EXPECT_EQ(0x5a, p[0]);
	take = (struct gpuemu_work_take){ .size = sizeof(take) };
	ASSERT_EQ(0, call(self->p.e.fd, GPUEMU_IOCTL_WORK_TAKE, &take));
	done.id = take.id;
	ASSERT_EQ(0, call(self->p.e.fd, GPUEMU_IOCTL_WORK_DONE, &done));
	ASSERT_EQ(0, client_wait(self->p.fd, id[1], 10000, &wait));
	EXPECT_EQ(-ENOTRECOVERABLE, wait.status);
	EXPECT_NE(NULL, strstr((char *)wait.message, "too late"));
	close(uffd);
	munmap(p, PAGE);
}

/* How long the engine has for an acknowledgement, ns: invalidate_timeout_ms. 0: cannot be had. */
static uint64_t timeout_ns(void)
{
	FILE *f = fopen("/sys/module/gpuemu/parameters/invalidate_timeout_ms", "re");
	unsigned int ms = 0;

	if (f && fscanf(f, "%u", &ms) != 1)
		ms = 0;
	if (f)
		fclose(f);
	return ms * UINT64_C(1000000);
}

/*
 * Several of them before the engine acknowledges: the first one takes a quarter of the time that
 * the engine has, the others take none. Else a program could have the engine lose the device.
 */
TEST_F(pageable_mm, accesses_that_are_lost)
{
	enum { PAGES = 8 };
	struct uffdio_api api = { .api = UFFD_API };
	uint8_t *p = map_anonymous(PAGES * PAGE);
	struct uffdio_register range = {
		.range = { (uintptr_t)p, PAGES * PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int uffd = syscall(SYS_userfaultfd, O_NONBLOCK | O_CLOEXEC);
	struct gpuemu_work_take take = { .size = sizeof(take) };
	volatile uint8_t *g[PAGES];
	uint64_t begin, spent, id;

	memset(p, 1, PAGES * PAGE);
	ASSERT_EQ(0, pageable_writes(&self->p, p, PAGES));
	for (int i = 0; i < PAGES; i++)
		g[i] = pageable_gpu(&self->p, p + i * PAGE);
	ASSERT_EQ(0, ioctl(uffd, UFFDIO_API, &api));
	ASSERT_EQ(0, ioctl(uffd, UFFDIO_REGISTER, &range));
	ASSERT_EQ(0, madvise(p, PAGES * PAGE, MADV_DONTNEED));
	begin = now_ns();
	for (int i = 0; i < PAGES; i++)
		*g[i] = 3;
	spent = now_ns() - begin;
	EXPECT_GT(timeout_ns() * 3 / 4, spent);
	EXPECT_LT(timeout_ns() / 5, spent);
	/* The engine still has the device. */
	ASSERT_EQ(0, client_submit(self->p.fd, GPUEMU_WORK_TOUCH, NULL, 0, &id));
	ASSERT_EQ(0, call(self->p.e.fd, GPUEMU_IOCTL_WORK_TAKE, &take));
	close(uffd);
	munmap(p, PAGES * PAGE);
}

TEST_HARNESS_MAIN
