// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=8 remote_mb=1
 *
 * What all files of one user have together, without CAP_SYS_RESOURCE: opening the device
 * again gives it no more, and another user finds its own share. VA spaces and works are
 * security_limits.c's.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/managed.h"
#include "lib/nl.h"

enum { NOBODY = 65534, OTHER = 1234, SLOTS = 256, SHARE = SLOTS / 2, PAGES = 100 };

/* A file that this user opens; the process itself stays root's. */
static int open_as(uid_t uid)
{
	int fd;

	if (setresuid(uid, uid, 0))
		return -EPERM;
	fd = client_open();
	return setresuid(0, 0, 0) ? -EPERM : fd;
}

struct file {
	int fd;
	uint32_t space;
	uint8_t *mem;
};

static bool open_file(struct file *f, uid_t uid)
{
	f->fd = open_as(uid);
	f->space = client_space(f->fd);
	f->mem = map_managed(f->fd, BLOCK);
	return f->mem;
}

static void close_file(struct file *f)
{
	munmap(f->mem, BLOCK);
	close(f->fd);
}

/* --- slots of the remote aperture --- */

FIXTURE(slots)
{
	struct engine e;
	struct nl nl;
	struct file mine[3], other;
};

FIXTURE_SETUP(slots)
{
	int i;

	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	ASSERT_EQ(SLOTS, self->e.attach.remote_slots);
	for (i = 0; i < 3; i++)
		ASSERT_TRUE(open_file(&self->mine[i], NOBODY));
	ASSERT_TRUE(open_file(&self->other, OTHER));
}

FIXTURE_TEARDOWN(slots)
{
	int i;

	nl_set_param(&self->nl, "user_pct", 50);
	for (i = 0; i < 3; i++)
		close_file(&self->mine[i]);
	close_file(&self->other);
	engine_close(&self->e);
	nl_close(&self->nl);
}

static int to_remote(FIXTURE_DATA(slots) *self, struct file *f, size_t first, uint32_t n)
{
	return engine_migrate(&self->e, f->space, f->mem + first * PAGE, n,
			      GPUEMU_MIGRATE_REMOTE);
}

static uint32_t remote(FIXTURE_DATA(slots) *self, struct file *f)
{
	return engine_remote(&self->e, f->space, f->mem, SLOTS);
}

TEST_F(slots, of_a_user)
{
	struct file root;

	EXPECT_EQ(0, to_remote(self, &self->mine[0], 0, PAGES));
	EXPECT_EQ(-ENOSPC, to_remote(self, &self->mine[1], 0, PAGES));
	EXPECT_EQ(-ENOSPC, to_remote(self, &self->mine[2], 0, 1));
	EXPECT_EQ(PAGES, remote(self, &self->mine[0]));
	EXPECT_EQ(SHARE - PAGES, remote(self, &self->mine[1]));
	EXPECT_EQ(0, remote(self, &self->mine[2]));
	/* The other half is there for another. */
	EXPECT_EQ(0, to_remote(self, &self->other, 0, PAGES));
	EXPECT_EQ(PAGES, remote(self, &self->other));
	/* What comes free in one file is the others' of the user. */
	ASSERT_EQ(0, munmap(self->mine[0].mem, 10 * PAGE));
	EXPECT_EQ(0, to_remote(self, &self->mine[2], 0, 10));
	EXPECT_EQ(-ENOSPC, to_remote(self, &self->mine[2], 10, 1));
	/* Root has no share, and without the limit no user has one. */
	ASSERT_TRUE(open_file(&root, 0));
	EXPECT_EQ(0, to_remote(self, &root, 0, SLOTS - SHARE - PAGES));
	close_file(&root);
	ASSERT_EQ(0, nl_set_param(&self->nl, "user_pct", 0));
	EXPECT_EQ(0, to_remote(self, &self->mine[2], 10, SLOTS - SHARE - PAGES));
	EXPECT_EQ(-ENOSPC, to_remote(self, &self->mine[2], 100, 1));
}

/* --- device memory that is not paged --- */

enum { FRAMES = 8 * 256, BLOCK_PAGES = 512 };

FIXTURE(device)
{
	struct engine e;
	struct nl nl;
	uint8_t *at;		/* reserved, on a VA block's border */
	int mine[2], other, third;
};

FIXTURE_SETUP(device)
{
	uint8_t *p = reserve(16 * BLOCK);

	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	ASSERT_EQ(FRAMES, self->e.attach.vram_frames);
	self->at = (uint8_t *)(((uintptr_t)p + BLOCK - 1) & ~(BLOCK - 1));
	self->mine[0] = open_as(NOBODY);
	self->mine[1] = open_as(NOBODY);
	self->other = open_as(OTHER);
	self->third = open_as(OTHER + 1);
}

FIXTURE_TEARDOWN(device)
{
	nl_set_param(&self->nl, "user_device_pct", 75);
	munmap(self->at, 15 * BLOCK);
	close(self->mine[0]);
	close(self->mine[1]);
	close(self->other);
	close(self->third);
	engine_close(&self->e);
	nl_close(&self->nl);
}

static int take(FIXTURE_DATA(device) *self, int fd, int first, int blocks)
{
	uint8_t *at = self->at + first * BLOCK;

	return map_device(fd, at, blocks * BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED);
}

/* Half of what no other user has: 2 blocks of 4, and 1 of the 2 that are left. */
TEST_F(device, of_a_user)
{
	uint8_t *managed = self->at + 12 * BLOCK;

	ASSERT_EQ(0, nl_set_param(&self->nl, "user_device_pct", 50));
	EXPECT_EQ(-ENOMEM, take(self, self->mine[0], 0, 3));
	EXPECT_EQ(0, take(self, self->mine[0], 0, 1));
	EXPECT_EQ(0, take(self, self->mine[1], 1, 1));
	EXPECT_EQ(-ENOMEM, take(self, self->mine[0], 2, 1));
	EXPECT_EQ(-ENOMEM, take(self, self->mine[1], 2, 1));
	EXPECT_EQ(0, take(self, self->other, 2, 1));
	EXPECT_EQ(-ENOMEM, take(self, self->other, 3, 1));
	EXPECT_EQ(-ENOMEM, take(self, self->third, 3, 1));
	/* The rest is kept for the pages of users who have nothing else. */
	ASSERT_NE(NULL, map_managed_at(self->third, managed, BLOCK));
	EXPECT_EQ(0, engine_h2d(&self->e, client_space(self->third), managed, BLOCK_PAGES));
	ASSERT_EQ(0, munmap(managed, BLOCK));
	/* What a user gives back is everybody's. */
	ASSERT_EQ(0, munmap(self->at, 2 * BLOCK));
	EXPECT_EQ(0, take(self, self->third, 0, 1));
	EXPECT_EQ(-ENOMEM, take(self, self->third, 1, 1));
}

/* A user that is alone has most of it; root has all, but for a page. */
TEST_F(device, alone)
{
	int root = client_open();

	EXPECT_EQ(0, take(self, self->mine[0], 0, 3));
	ASSERT_EQ(0, munmap(self->at, 3 * BLOCK));
	ASSERT_EQ(0, nl_set_param(&self->nl, "user_device_pct", 25));
	EXPECT_EQ(0, take(self, root, 0, 3));
	EXPECT_EQ(-ENOMEM, take(self, root, 3, 1));
	ASSERT_EQ(0, munmap(self->at, 3 * BLOCK));
	ASSERT_EQ(0, nl_set_param(&self->nl, "user_device_pct", 0));
	EXPECT_EQ(0, take(self, self->mine[0], 0, 3));
	EXPECT_EQ(-ENOMEM, take(self, self->mine[0], 3, 1));
	close(root);
}

/* --- images, payloads and reports --- */

static int load(int fd, void *image, uint32_t bytes)
{
	struct gpuemu_module_load load = {
		.size = sizeof(load), .image = (uintptr_t)image, .image_bytes = bytes,
	};

	return call(fd, GPUEMU_IOCTL_MODULE_LOAD, &load);
}

/* Two files take all that the user may have; the third gets nothing, another user does. */
TEST(bytes_of_a_user)
{
	void *image = calloc(1, GPUEMU_MODULE_MAX);
	int fds[3], other, i, n = 0;

	ASSERT_NE(NULL, image);
	for (i = 0; i < 3; i++) {
		fds[i] = open_as(NOBODY);
		ASSERT_LE(0, fds[i]);
	}
	for (i = 0; i < 2; i++)
		while (!load(fds[i], image, GPUEMU_MODULE_MAX))
			n++;
	EXPECT_EQ(2 * (GPUEMU_CLIENT_BYTES / GPUEMU_MODULE_MAX), n);
	EXPECT_EQ(-ENOMEM, load(fds[2], image, 1));
	other = open_as(OTHER);
	EXPECT_EQ(0, load(other, image, GPUEMU_MODULE_MAX));
	close(fds[0]);
	EXPECT_EQ(0, load(fds[2], image, GPUEMU_MODULE_MAX));
	close(other);
	close(fds[1]);
	close(fds[2]);
	free(image);
}

TEST_HARNESS_MAIN
