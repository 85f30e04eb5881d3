// SPDX-License-Identifier: GPL-2.0
/*
 * What happens to managed memory when its addresses are unmapped, moved or
 * mapped over, in part, and when its file is closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/managed.h"

#define RW (PROT_READ | PROT_WRITE)

MANAGED_FIXTURE(map)

/* Pages 4 .. 11, on both sides of the blocks' border. */
enum { FIRST = 4, N = 8 };
#define AT(m) ((m)->mem + FIRST * PAGE)

static uint64_t vram_free(struct managed *m)
{
	struct gpuemu_info info;

	return client_info(m->fd, &info) ? 0 : info.vram_free_bytes;
}

static bool rest_intact(struct managed *m)
{
	return managed_intact(m, 0, FIRST) &&
	       managed_intact(m, FIRST + N, MANAGED_PAGES - FIRST - N);
}

TEST_F(map, munmap_part)
{
	struct managed *m = &self->m;
	uint64_t before = vram_free(m);

	ASSERT_EQ(0, munmap(AT(m), N * PAGE));
	EXPECT_EQ(before + managed_placed(m, FIRST, N) * PAGE, vram_free(m));
	EXPECT_EQ(0, managed_resident(m, FIRST, N));
	EXPECT_EQ(SIGSEGV, signal_of(AT(m), false));
	EXPECT_EQ(SIGSEGV, signal_of(AT(m) + N * PAGE - 1, false));
	EXPECT_EQ(-EFAULT, engine_h2d(&m->e, m->space, AT(m), 1));
	EXPECT_TRUE(rest_intact(m));
	/* What is mapped there again is new. */
	ASSERT_EQ(AT(m), map_managed_at(m->fd, AT(m), N * PAGE));
	EXPECT_EQ(0, engine_h2d(&m->e, m->space, AT(m), 2));
	EXPECT_TRUE(managed_zero(AT(m), N * PAGE));
}

static int move(void *old, size_t old_bytes, size_t bytes, int flags, void *to)
{
	return mremap(old, old_bytes, bytes, flags, to) == MAP_FAILED ? -errno :
		0;
}

/* It is named by its address on both sides, so it cannot have another. */
TEST_F(map, mremap_refused)
{
	struct managed *m = &self->m;
	uint8_t *to = reserve(BLOCK);
	size_t i;

	EXPECT_EQ(-EFAULT, move(m->mem, MANAGED_BYTES, MANAGED_BYTES + PAGE, 0,
				NULL));
	EXPECT_EQ(-EFAULT, move(m->mem, MANAGED_BYTES, 2 * MANAGED_BYTES,
				MREMAP_MAYMOVE, NULL));
	EXPECT_EQ(-EFAULT, move(m->mem, 0, MANAGED_BYTES, MREMAP_MAYMOVE,
				NULL));
	EXPECT_EQ(-EINVAL, move(m->mem, MANAGED_BYTES, MANAGED_BYTES,
				MREMAP_MAYMOVE | MREMAP_FIXED, to));
	EXPECT_EQ(-EINVAL, move(AT(m), N * PAGE, N * PAGE,
				MREMAP_MAYMOVE | MREMAP_FIXED, to));
	EXPECT_EQ(-EINVAL, move(m->mem, MANAGED_BYTES, MANAGED_BYTES,
				MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL));
	/* Nothing is where it was to go, and all is where it was. */
	EXPECT_EQ(SIGSEGV, signal_of(to, false));
	EXPECT_EQ(managed_placed(m, 0, MANAGED_PAGES),
		  managed_resident(m, 0, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	/* Each page still takes CPU faults, and still moves. */
	managed_refill(m, 79);
	EXPECT_EQ(0, engine_h2d(&m->e, m->space, m->mem, MANAGED_PAGES));
	for (i = 0; i < MANAGED_PAGES; i++)
		EXPECT_TRUE(managed_intact(m, i, 1));
}

TEST_F(map, mremap_shrink)
{
	struct managed *m = &self->m;
	uint64_t before = vram_free(m);

	ASSERT_EQ(m->mem, mremap(m->mem, MANAGED_BYTES, FIRST * PAGE, 0));
	EXPECT_EQ(before + managed_placed(m, FIRST, MANAGED_PAGES - FIRST) *
		  PAGE, vram_free(m));
	EXPECT_EQ(SIGSEGV, signal_of(AT(m), false));
	EXPECT_EQ(-EFAULT, engine_h2d(&m->e, m->space, AT(m), 1));
	EXPECT_TRUE(managed_intact(m, 0, FIRST));
}

TEST_F(map, anonymous_over_a_part)
{
	struct managed *m = &self->m;
	uint64_t before = vram_free(m);

	ASSERT_EQ(AT(m), mmap(AT(m), N * PAGE, RW,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	EXPECT_EQ(before + managed_placed(m, FIRST, N) * PAGE, vram_free(m));
	EXPECT_TRUE(managed_zero(AT(m), N * PAGE));
	fill(AT(m), N * PAGE, 5);
	EXPECT_EQ(-EFAULT, engine_h2d(&m->e, m->space, AT(m), 1));
	EXPECT_EQ(-EFAULT, engine_h2d(&m->e, m->space, m->mem, 8));
	EXPECT_EQ(0, managed_resident(m, FIRST, N));
	EXPECT_TRUE(filled(AT(m), N * PAGE, 5));
	EXPECT_TRUE(rest_intact(m));
}

TEST_F(map, managed_over_a_part)
{
	struct managed *m = &self->m;

	ASSERT_EQ(AT(m), map_managed_at(m->fd, AT(m), N * PAGE));
	EXPECT_EQ(0, managed_resident(m, FIRST, N));
	EXPECT_TRUE(managed_zero(AT(m), N * PAGE));
	EXPECT_TRUE(rest_intact(m));
	fill(m->copy + FIRST * PAGE, N * PAGE, 6);
	fill(AT(m), N * PAGE, 6);
	EXPECT_EQ(0, engine_h2d(&m->e, m->space, m->mem, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

/*
 * Which rights a mapping shall have is known only where the old content is gone, so
 * each is given, and the GPU has only what is readable and writable.
 */
static void map_with(struct managed *m, int prot, struct __test_metadata *_metadata)
{
	ASSERT_EQ(AT(m), mmap(AT(m), N * PAGE, prot, MAP_SHARED | MAP_FIXED,
			      m->fd, (uintptr_t)AT(m)));
	EXPECT_EQ(-EFAULT, engine_h2d(&m->e, m->space, AT(m), 1));
	EXPECT_TRUE(rest_intact(m));
	ASSERT_EQ(0, mprotect(AT(m), N * PAGE, RW));
	EXPECT_EQ(0, engine_h2d(&m->e, m->space, AT(m), 1));
	EXPECT_TRUE(managed_zero(AT(m), N * PAGE));
}

TEST_F(map, read_only_over_a_part)
{
	map_with(&self->m, PROT_READ, _metadata);
}

TEST_F(map, nothing_over_a_part)
{
	map_with(&self->m, PROT_NONE, _metadata);
}

TEST_F(map, executable_over_a_part)
{
	map_with(&self->m, PROT_READ | PROT_EXEC, _metadata);
}

/* A file that is open for reading gives no managed memory, and takes none. */
TEST_F(map, read_only_file_over_a_part)
{
	struct managed *m = &self->m;
	int fd = open("/dev/gpuemu", O_RDONLY | O_CLOEXEC);

	ASSERT_LE(0, fd);
	EXPECT_EQ(MAP_FAILED, mmap(AT(m), N * PAGE, PROT_READ,
				   MAP_SHARED | MAP_FIXED, fd,
				   (uintptr_t)AT(m)));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED, mmap(AT(m), N * PAGE, PROT_NONE,
				   MAP_SHARED | MAP_FIXED, fd,
				   (uintptr_t)AT(m)));
	close(fd);
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

/* Another file's memory at the place belongs to that file's VA space. */
TEST_F(map, another_file_over_a_part)
{
	struct managed *m = &self->m;
	int fd = client_open();
	uint32_t space = client_space(fd);

	ASSERT_EQ(AT(m), map_managed_at(fd, AT(m), N * PAGE));
	EXPECT_EQ(0, managed_resident(m, FIRST, N));
	EXPECT_EQ(-EFAULT, engine_h2d(&m->e, m->space, AT(m), 1));
	EXPECT_EQ(0, engine_h2d(&m->e, space, AT(m), 1));
	EXPECT_TRUE(managed_zero(AT(m), N * PAGE));
	EXPECT_TRUE(rest_intact(m));
	close(fd);
}

static int over(struct managed *m, int flags, uint64_t offset)
{
	return mmap(AT(m), N * PAGE, RW, flags | MAP_FIXED, m->fd, offset) ==
		       MAP_FAILED ? -errno : 0;
}

/* A mapping that is refused leaves what it was to replace. */
TEST_F(map, refused_over_a_part)
{
	struct managed *m = &self->m;
	uint64_t at = (uintptr_t)AT(m);

	EXPECT_EQ(-EINVAL, over(m, MAP_SHARED, 0));
	EXPECT_EQ(-EINVAL, over(m, MAP_SHARED, at + PAGE));
	EXPECT_EQ(-EINVAL, over(m, MAP_SHARED, GPUEMU_MMAP_VRAM));
	EXPECT_EQ(-EINVAL, over(m, MAP_PRIVATE, at));
	EXPECT_EQ(-1, syscall(SYS_remap_file_pages, AT(m), N * PAGE, 0, 0, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, syscall(SYS_remap_file_pages, AT(m), PAGE, 0,
			      at / PAGE + 1, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(managed_placed(m, 0, MANAGED_PAGES),
		  managed_resident(m, 0, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	/* MAP_FIXED_NOREPLACE replaces nothing. */
	EXPECT_EQ(MAP_FAILED, mmap(AT(m), PAGE, RW, MAP_SHARED |
				   MAP_FIXED_NOREPLACE, m->fd, at));
	EXPECT_EQ(EEXIST, errno);
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

/* The mapping keeps the file: nothing changes but that there is no descriptor. */
TEST_F(map, close_first)
{
	struct managed *m = &self->m;

	close(m->fd);
	m->fd = -1;
	EXPECT_EQ(managed_placed(m, 0, MANAGED_PAGES),
		  managed_resident(m, 0, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	EXPECT_EQ(0, engine_h2d(&m->e, m->space, m->mem, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	ASSERT_EQ(0, munmap(AT(m), N * PAGE));
	EXPECT_TRUE(rest_intact(m));
	/* With the last part of the mapping goes the VA space. */
	ASSERT_EQ(0, munmap(m->mem, MANAGED_BYTES));
	EXPECT_EQ(-ESRCH, engine_h2d(&m->e, m->space, m->mem, 1));
}

TEST_HARNESS_MAIN
