// SPDX-License-Identifier: GPL-2.0
/*
 * Ordinary memory that is swapped out: the engine's fault brings it back as the CPU's would, and
 * what the engine has written there is written out with it.
 *
 * vm: timeout=120
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/pageable.h"

enum { PAGES = PAGEABLE_PAGES, RAM_MAJOR = 1, SWAP_PAGES = 4096 };

#define DISK_MODULE	"/vm/brd.ko"
#define DISK		"/tmp/swap-disk"

FIXTURE(swap) { struct pageable p; };

/* The first page of a swap space, as mkswap writes it (Linux' union swap_header). */
static int make_swap(const char *name)
{
	static char page[PAGE];
	/* The version, the last page, and how many are bad. */
	const uint32_t info[] = { 1, SWAP_PAGES - 1, 0 };
	int fd = open(name, O_WRONLY), ret;

	memcpy(page + 1024, info, sizeof(info));
	memcpy(page + PAGE - 10, "SWAPSPACE2", 10);
	ret = fd >= 0 && write(fd, page, PAGE) == (ssize_t)PAGE ? 0 : -EIO;
	close(fd);
	return ret;
}

/* A disk in memory, of the kernel's own driver, and swap space on it. */
static int swap_open(void)
{
	int fd = open(DISK_MODULE, O_RDONLY), ret;

	if (fd < 0)
		return -ENOENT;
	ret = syscall(SYS_finit_module, fd, "rd_nr=1 rd_size=16384", 0) && errno != EEXIST;
	close(fd);
	unlink(DISK);
	if (ret || mknod(DISK, S_IFBLK | 0600, makedev(RAM_MAJOR, 0)))
		return -errno;
	return make_swap(DISK) ?: swapon(DISK, 0) ? -errno : 0;
}

FIXTURE_SETUP(swap)
{
	int ret = pageable_open(&self->p);

	if (ret == -EOPNOTSUPP && !kernel_mirrors())
		SKIP(longjmp(_metadata->env, 1), "this kernel has no CONFIG_DEVICE_PRIVATE");
	ASSERT_EQ(0, ret);
	ret = swap_open();
	if (ret == -ENOENT)
		SKIP(longjmp(_metadata->env, 1), "this kernel has no module brd");
	ASSERT_EQ(0, ret);
}

FIXTURE_TEARDOWN(swap)
{
	pageable_close(&self->p);
	swapoff(DISK);
	unlink(DISK);
	syscall(SYS_delete_module, "brd", O_NONBLOCK);
}

static bool is_swapped(const uint8_t *page)
{
	return pagemap(page) >> 62 & 1;
}

/* Linux keeps a page that another task looks at just then. */
static bool swap_out(uint8_t *mem, int pages)
{
	int tries, i;

	for (tries = 0; tries < 200; tries++) {
		madvise(mem, pages * PAGE, MADV_PAGEOUT);
		for (i = 0; i < pages && is_swapped(mem + i * PAGE); i++)
			;
		if (i == pages)
			return true;
		sleep_ms(5);
	}
	return false;
}

TEST_F(swap, swapped_in)
{
	uint8_t *mem = self->p.mem;

	ASSERT_TRUE(swap_out(mem, PAGES));
	ASSERT_EQ(0, pageable_reads(&self->p, mem, 1));
	EXPECT_EQ(0, memcmp(self->p.copy, (uint8_t *)pageable_gpu(&self->p, mem), PAGE));
	EXPECT_FALSE(is_swapped(mem));
	ASSERT_TRUE(is_swapped(mem + PAGE));
	ASSERT_EQ(0, pageable_writes(&self->p, mem + PAGE, PAGES - 1));
	for (int i = 1; i < PAGES; i++) {
		volatile uint8_t *g = pageable_gpu(&self->p, mem + i * PAGE);

		ASSERT_EQ(0, memcmp(self->p.copy + i * PAGE, (uint8_t *)g, PAGE));
		g[i] = ~self->p.copy[i * PAGE + i];
	}
	for (int i = 1; i < PAGES; i++)
		EXPECT_EQ((uint8_t)~self->p.copy[i * PAGE + i], mem[i * PAGE + i]);
}

/* What the engine wrote goes out, and what it writes before it has heard comes after it. */
TEST_F(swap, swapped_out_under_the_engine)
{
	uint8_t *mem = self->p.mem;
	volatile uint8_t *g;

	ASSERT_EQ(0, pageable_writes(&self->p, mem, PAGES));
	g = pageable_gpu(&self->p, mem);
	g[0] = ~self->p.copy[0];
	ASSERT_TRUE(swap_out(mem, PAGES));
	for (int i = 0; i < PAGES; i++)
		EXPECT_EQ(0, pageable_entry(&self->p, mem + i * PAGE));
	g[1] = ~self->p.copy[1];
	EXPECT_EQ((uint8_t)~self->p.copy[0], mem[0]);
	EXPECT_EQ((uint8_t)~self->p.copy[1], mem[1]);
	EXPECT_EQ(0, memcmp(self->p.copy + 2, mem + 2, PAGES * PAGE - 2));
}

/* From swap space to the device, and from there, over system memory, to swap space. */
TEST_F(swap, to_the_device_and_back)
{
	uint8_t *mem = self->p.mem;

	ASSERT_TRUE(swap_out(mem, PAGES));
	ASSERT_EQ(0, pageable_bring(&self->p, mem, PAGES));
	for (int i = 0; i < PAGES; i++) {
		volatile uint8_t *g = pageable_gpu(&self->p, mem + i * PAGE);

		ASSERT_EQ(0, pageable_entry(&self->p, mem + i * PAGE) & GPUEMU_PTE_REMOTE);
		ASSERT_EQ(0, memcmp(self->p.copy + i * PAGE, (uint8_t *)g, PAGE));
		g[i] = ~self->p.copy[i * PAGE + i];
	}
	/* A page on the device is none that Linux can swap. */
	madvise(mem, PAGES * PAGE, MADV_PAGEOUT);
	EXPECT_NE(0, pageable_entry(&self->p, mem));
	for (int i = 0; i < PAGES; i++)
		EXPECT_EQ((uint8_t)~self->p.copy[i * PAGE + i], mem[i * PAGE + i]);
	ASSERT_TRUE(swap_out(mem, PAGES));
	for (int i = 0; i < PAGES; i++)
		EXPECT_EQ((uint8_t)~self->p.copy[i * PAGE + i], mem[i * PAGE + i]);
}

/* swapoff(2) looks at all entries of the process that are no pages; some are the device's. */
TEST_F(swap, swapoff)
{
	uint8_t *mem = self->p.mem;

	ASSERT_TRUE(swap_out(mem, PAGES));
	ASSERT_EQ(0, pageable_bring(&self->p, mem, PAGES / 2));
	*pageable_gpu(&self->p, mem) = ~self->p.copy[0];
	ASSERT_TRUE(is_swapped(mem + PAGES / 2 * PAGE));
	ASSERT_EQ(0, swapoff(DISK));
	EXPECT_NE(0, pageable_entry(&self->p, mem));
	EXPECT_EQ((uint8_t)~self->p.copy[0], *pageable_gpu(&self->p, mem));
	ASSERT_EQ(0, pageable_reads(&self->p, mem + PAGES / 2 * PAGE, PAGES / 2));
	EXPECT_EQ((uint8_t)~self->p.copy[0], mem[0]);
	EXPECT_EQ(0, memcmp(self->p.copy + 1, mem + 1, PAGES * PAGE - 1));
}

TEST_HARNESS_MAIN
