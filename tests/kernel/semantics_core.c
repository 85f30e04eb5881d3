// SPDX-License-Identifier: GPL-2.0
/*
 * Core dumps: a core has what the program kept in managed memory, wherever it
 * was, unless the program or its coredump_filter says otherwise.
 */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/other.h"

#define PATTERN "/proc/sys/kernel/core_pattern"
#define CORE "/dev/shm/gpuemu-core"

FIXTURE(core)
{
	struct other o;
	char pattern[128];
};

PLACEMENTS(core);

static ssize_t text(const char *path, char *get, size_t room, const char *put)
{
	int fd = open(path, put ? O_WRONLY : O_RDONLY);
	ssize_t n = put ? write(fd, put, strlen(put)) : read(fd, get, room);

	close(fd);
	return n;
}

FIXTURE_SETUP(core)
{
	memset(self->pattern, 0, sizeof(self->pattern));
	ASSERT_LT(0, text(PATTERN, self->pattern, sizeof(self->pattern) - 1,
			  NULL));
	ASSERT_LT(0, text(PATTERN, NULL, 0, CORE));
	text("/proc/sys/kernel/core_uses_pid", NULL, 0, "0");
	unlink(CORE);
	ASSERT_EQ(0, other_open(&self->o, variant->where));
}

FIXTURE_TEARDOWN(core)
{
	other_close(&self->o);
	unlink(CORE);
	text(PATTERN, NULL, 0, self->pattern);
}

/* Ends the other; the status of wait. */
static int die(struct other *o)
{
	int status = 0;

	engine_say(o->to, OTHER_ABORT);
	waitpid(o->pid, &status, 0);
	o->pid = -1;
	return status;
}

/* How much of what is at addr the core has, and where in the file. */
static ssize_t find(const void *addr, off_t *at)
{
	int fd = open(CORE, O_RDONLY);
	ssize_t bytes = -1;
	Elf64_Ehdr e;
	Elf64_Phdr p;
	int i;

	if (pread(fd, &e, sizeof(e), 0) != sizeof(e))
		e.e_phnum = 0;
	for (i = 0; i < e.e_phnum; i++) {
		if (pread(fd, &p, sizeof(p), e.e_phoff + i * sizeof(p)) !=
		    sizeof(p))
			break;
		if (p.p_type != PT_LOAD || p.p_vaddr != (uintptr_t)addr)
			continue;
		bytes = p.p_filesz;
		*at = p.p_offset;
	}
	close(fd);
	return bytes;
}

static bool core_intact(struct other *o)
{
	uint8_t *got = malloc(MANAGED_BYTES);
	int fd = open(CORE, O_RDONLY);
	off_t at = 0;
	bool ok;

	ok = find(o->m.mem, &at) == (ssize_t)MANAGED_BYTES &&
	     pread(fd, got, MANAGED_BYTES, at) == (ssize_t)MANAGED_BYTES &&
	     !memcmp(got, o->m.copy, MANAGED_BYTES);
	close(fd);
	free(got);
	return ok;
}

TEST_F(core, has_the_pages)
{
	struct other *o = &self->o;

	EXPECT_TRUE(WCOREDUMP(die(o)));
	EXPECT_TRUE(core_intact(o));
}

TEST_F(core, filter_of_shared_memory)
{
	struct other *o = &self->o;

	ASSERT_EQ(0, other_do(o, OTHER_FILTER_SHARED));
	EXPECT_TRUE(WCOREDUMP(die(o)));
	EXPECT_TRUE(core_intact(o));
}

TEST_F(core, filtered_out)
{
	struct other *o = &self->o;
	off_t at;

	ASSERT_EQ(0, other_do(o, OTHER_FILTER_NONE));
	EXPECT_TRUE(WCOREDUMP(die(o)));
	EXPECT_EQ(0, find(o->m.mem, &at));
}

TEST_F(core, dontdump)
{
	struct other *o = &self->o;
	off_t at;

	ASSERT_EQ(0, other_do(o, OTHER_DONTDUMP));
	EXPECT_TRUE(WCOREDUMP(die(o)));
	EXPECT_EQ(0, find(o->m.mem, &at));
}

/* Inaccessible to the program, and in its core all the same. */
TEST_F(core, no_access)
{
	struct other *o = &self->o;

	ASSERT_EQ(0, other_do(o, OTHER_NO_ACCESS));
	EXPECT_TRUE(WCOREDUMP(die(o)));
	EXPECT_TRUE(core_intact(o));
}

/* Pages that were never touched are a hole: dumping must not make them. */
TEST_F(core, untouched)
{
	struct other *o = &self->o;
	uint64_t more = other_do(o, OTHER_UNTOUCHED);
	off_t at = 0, data;
	int fd;

	ASSERT_NE(0, more);
	ASSERT_NE(~0ull, more);
	EXPECT_TRUE(WCOREDUMP(die(o)));
	EXPECT_TRUE(core_intact(o));
	ASSERT_EQ(UNTOUCHED_PAGES * PAGE, find((void *)more, &at));
	fd = open(CORE, O_RDONLY);
	data = lseek(fd, at, SEEK_DATA);
	EXPECT_TRUE(data < 0 || data >= at + (off_t)(UNTOUCHED_PAGES * PAGE));
	close(fd);
}

TEST_HARNESS_MAIN
