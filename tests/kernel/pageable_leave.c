// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=128 timeout=180
 *
 * A client ends that has a few pages of ordinary memory on the device. How long that takes does
 * not depend on how many pages of other clients are there.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/pageable.h"

PAGEABLE_FIXTURE(leave)

enum {
	FEW = 4,
	BLOCKS = 48,		/* of 64, which the device has */
	TIMES = 9,
};

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t ns_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* A client brings a few pages of this process to the device, and ends. Its end in ns, or -1. */
static int64_t end_of_one(struct pageable *p, uint8_t *mem)
{
	int fd = client_open(), ret;
	int64_t begin, ns;

	if (pageable_give(fd))
		return -1;
	for (int i = 0; i < FEW; i++)
		mem[i * PAGE] = i + 1;
	do {
		ret = engine_migrate(&p->e, client_space(fd), mem, FEW,
				     GPUEMU_MIGRATE_H2D);
	} while (ret == -EAGAIN);
	if (ret || engine_resident(&p->e, client_space(fd), mem, FEW) != FEW)
		return -1;
	begin = ns_now();
	close(fd);
	ns = ns_now() - begin;
	for (int i = 0; i < FEW; i++)
		if (mem[i * PAGE] != i + 1)
			return -1;
	return ns;
}

/* The median of several. */
static int64_t ends(struct pageable *p, uint8_t *mem)
{
	int64_t ns[TIMES];

	for (int i = 0; i < TIMES; i++) {
		ns[i] = end_of_one(p, mem);
		if (ns[i] < 0)
			return -1;
	}
	qsort(ns, TIMES, sizeof(*ns), by_value);
	return ns[TIMES / 2];
}

TEST_F_TIMEOUT(leave, beside_many_pages, 150)
{
	uint8_t *few = map_anonymous(BLOCK), *many = map_anonymous(BLOCKS * BLOCK);
	uint64_t begin = ns_now();
	int64_t alone, beside;
	size_t i;

	ASSERT_NE(NULL, few);
	ASSERT_NE(NULL, many);
	alone = ends(&self->p, few);
	ASSERT_LT(0, alone);
	begin = ns_now();
	for (i = 0; i < BLOCKS; i++) {
		many[i * BLOCK] = 1;
		ASSERT_EQ(0, pageable_bring(&self->p, many + i * BLOCK, BLOCK / PAGE));
	}
	TH_LOG("filled in %.1f s", (double)(ns_now() - begin) / 1e9);
	EXPECT_EQ(BLOCKS * BLOCK / PAGE,
		  pageable_count(&self->p, GPUEMU_A_STATS_RESIDENT_PAGES));
	beside = ends(&self->p, few);
	ASSERT_LT(0, beside);
	TH_LOG("a client's end: %.0f us, beside many pages %.0f us", (double)alone / 1e3,
	       (double)beside / 1e3);
	EXPECT_LE(beside, 2 * alone);
	munmap(few, BLOCK);
	munmap(many, BLOCKS * BLOCK);
}

TEST_HARNESS_MAIN
