// SPDX-License-Identifier: GPL-2.0
/*
 * Sysmem pages are charged to the client's memory cgroup, also those that an
 * eviction allocates in the engine's context; and an eviction, or an mprotect(),
 * that finds no memory there leaves the page where it is.
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

#include "lib/harness.h"
#include "lib/lib.h"

#define ROOT "/sys/fs/cgroup/"
#define GROUP ROOT "gpuemu-test/"

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

static int put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* Kernel memory is counted with a lag of some batches of 64 pages. */
static long charged(void)
{
	char text[32] = "";
	int fd = open(GROUP "memory.current", O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		return -1;
	close(fd);
	return atol(text);
}

/*
 * The client: tells where its memory is, then does what it is told: 1 checks
 * that each page begins with its number, 2 makes all read-only, else it ends.
 */
static void client(int from, int to)
{
	int fd = client_open();
	uint8_t *p = map_managed(fd, BYTES);
	uint64_t word;
	uint32_t i;

	engine_say(to, client_space(fd));
	engine_say(to, (uintptr_t)p);
	while (!engine_hear(from, 60000, &word) && (word == 1 || word == 2)) {
		if (word == 2) {
			engine_say(to, mprotect(p, BYTES, PROT_READ) ? errno :
				   0);
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
	char pid[16];

	ASSERT_EQ(0, put_text(ROOT "cgroup.subtree_control", "+memory"));
	mkdir(GROUP, 0755);
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	ASSERT_EQ(0, pipe(down));
	ASSERT_EQ(0, pipe(up));
	self->from = up[0];
	self->to = down[1];
	self->pid = fork();
	if (!self->pid) {
		/* The file's space is charged to where it is opened. */
		snprintf(pid, sizeof(pid), "%d", getpid());
		if (put_text(GROUP "cgroup.procs", pid))
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

TEST_F(memcg, eviction_charges_the_client)
{
	long before = charged(), after;
	uint64_t word;

	ASSERT_LE(0, before);
	ASSERT_EQ(0, write_on_device(self));
	/* Device memory is not charged. */
	EXPECT_GT(before + (long)BYTES / 2, charged());
	ASSERT_EQ(0, engine_d2h(&self->e, self->space, self->mem, PAGES));
	after = charged();
	EXPECT_LT(before + (long)BYTES * 9 / 10, after)
		TH_LOG("%ld before, %ld after", before, after);
	ASSERT_EQ(0, engine_say(self->to, 1));
	ASSERT_EQ(0, engine_hear(self->from, 5000, &word));
	EXPECT_EQ(PAGES, word);
}

TEST_F(memcg, no_memory)
{
	struct gpuemu_migration m[PAGES / 512];
	uint32_t moved = 0, i, failed = 0, resident;
	char limit[32];
	uint64_t word;

	ASSERT_EQ(0, write_on_device(self));
	snprintf(limit, sizeof(limit), "%ld", charged() + (long)BYTES / 2);
	ASSERT_EQ(0, put_text(GROUP "memory.max", limit));
	memset(m, 0, sizeof(m));
	for (i = 0; i < PAGES / 512; i++) {
		m[i].addr = (uintptr_t)self->mem + i * BLOCK;
		m[i].va_space = self->space;
		m[i].pages = 512;
		m[i].op = GPUEMU_MIGRATE_D2H;
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
	EXPECT_EQ(PAGES, moved + resident);
	EXPECT_LT(0, resident);
	/* Nobody was killed for it, and with memory it goes on. */
	EXPECT_EQ(0, waitpid(self->pid, NULL, WNOHANG));
	ASSERT_EQ(0, put_text(GROUP "memory.max", "max"));
	EXPECT_EQ(0, engine_d2h(&self->e, self->space, self->mem, PAGES));
	ASSERT_EQ(0, engine_say(self->to, 1));
	ASSERT_EQ(0, engine_hear(self->from, 5000, &word));
	EXPECT_EQ(PAGES, word);
}

TEST_F(memcg, no_memory_to_protect)
{
	char limit[32];
	uint64_t word;
	long before;

	ASSERT_EQ(0, write_on_device(self));
	before = charged();
	snprintf(limit, sizeof(limit), "%ld", before + (long)BYTES / 2);
	ASSERT_EQ(0, put_text(GROUP "memory.max", limit));
	ASSERT_EQ(0, engine_say(self->to, 2));
	ASSERT_EQ(0, engine_hear(self->from, 10000, &word));
	EXPECT_EQ(ENOMEM, word);
	/* It is what it was: where it is, its charge, what the device may have. */
	EXPECT_EQ(PAGES, engine_resident(&self->e, self->space, self->mem,
					 PAGES));
	EXPECT_GT(before + (long)BYTES / 4, charged());
	EXPECT_EQ(0, waitpid(self->pid, NULL, WNOHANG));
	EXPECT_EQ(0, engine_h2d(&self->e, self->space, self->mem, PAGES));
	ASSERT_EQ(0, put_text(GROUP "memory.max", "max"));
	ASSERT_EQ(0, engine_say(self->to, 2));
	ASSERT_EQ(0, engine_hear(self->from, 10000, &word));
	EXPECT_EQ(0, word);
	EXPECT_EQ(0, engine_resident(&self->e, self->space, self->mem, PAGES));
	ASSERT_EQ(0, engine_say(self->to, 1));
	ASSERT_EQ(0, engine_hear(self->from, 5000, &word));
	EXPECT_EQ(PAGES, word);
}

TEST_HARNESS_MAIN
