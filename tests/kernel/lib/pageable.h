/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client that gives the GPU all memory of this process, and an engine of the same
 * process that asks for pages of it: for the tests of ordinary memory.
 */
#ifndef _GPUEMU_TESTS_KERNEL_PAGEABLE_H
#define _GPUEMU_TESTS_KERNEL_PAGEABLE_H

#include "lib/lib.h"
#include "lib/mirrors.h"
#include "lib/nl.h"

enum { PAGEABLE_PAGES = 8 };

/* mem: that many pages of anonymous memory; copy: what was written there. */
struct pageable {
	struct nl nl;
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *mem;
	uint8_t copy[PAGEABLE_PAGES * PAGE];
	enum gpuemu_migration_op hold;	/* pageable_hold()'s */
};

#define PAGEABLE_BITS (GPUEMU_PTE_VALID | GPUEMU_PTE_REMOTE | GPUEMU_PTE_MIRROR | \
		       GPUEMU_PTE_READ_ONLY)
#define PAGEABLE_USED (GPUEMU_PTE_VALID | GPUEMU_PTE_REMOTE | GPUEMU_PTE_MIRROR)

/* -EOPNOTSUPP: this kernel cannot. pageable_close() also after an error. */
int pageable_open(struct pageable *p);
void pageable_close(struct pageable *p);
/* A client gives its process' memory. */
int pageable_give(int fd);
/* From the start of a VA block on. */
uint8_t *map_anonymous(size_t bytes);
/* One huge page of system memory, of BLOCK bytes; small page i begins with i. NULL: there is none. */
uint8_t *map_huge_page(void);
/* KiB of the mapping that starts there that are huge pages of system memory. */
int huge_kb(const void *addr);

/* A fault, and the pages from there on by an operation of COMMIT; as the next. */
int pageable_ask(struct pageable *p, const void *addr, uint32_t pages,
		 enum gpuemu_access access, enum gpuemu_migration_op op, uint8_t *flags);
/* To the device, until the worker has ended; to be written. */
int pageable_bring(struct pageable *p, const void *addr, uint32_t pages);
/* A fault, and the pages from there on; *flags: of the fault. -EAGAIN: the worker is at it. */
int pageable_try(struct pageable *p, const void *addr, uint32_t pages,
		 enum gpuemu_access access, uint8_t *flags);
/* The same, until the worker has ended. */
int pageable_fault(struct pageable *p, const void *addr, uint32_t pages,
		   enum gpuemu_access access, uint8_t *flags);
int pageable_reads(struct pageable *p, const void *addr, uint32_t pages);
int pageable_writes(struct pageable *p, const void *addr, uint32_t pages);
uint64_t pageable_entry(struct pageable *p, const void *addr);
/* The byte as the GPU finds it; NULL: it has no entry. */
volatile uint8_t *pageable_gpu(struct pageable *p, const void *addr);
uint64_t pageable_count(struct pageable *p, int counter);

/*
 * For engine_spawn(), with a struct pageable: takes all of p->mem by p->hold, writes 0xe0 and 0xe1
 * to its first two pages as the GPU, and says 0. If a step fails, it
 * says the negative errno.
 */
int pageable_hold(struct engine *e, int from, int to, void *arg);

/* A fixture that is one struct pageable p. If lacks is true, its tests are skipped, and say why. */
#define PAGEABLE_FIXTURE_UNLESS(fixture, lacks, why) \
	FIXTURE(fixture) { struct pageable p; }; \
	FIXTURE_SETUP(fixture) \
	{ \
		int ret = pageable_open(&self->p); \
		\
		if (ret == -EOPNOTSUPP && !kernel_mirrors()) \
			SKIP(longjmp(_metadata->env, 1), \
			     "this kernel has no CONFIG_DEVICE_PRIVATE"); \
		ASSERT_EQ(0, ret); \
		if (lacks) \
			SKIP(longjmp(_metadata->env, 1), why); \
	} \
	FIXTURE_TEARDOWN(fixture) \
	{ \
		pageable_close(&self->p); \
	}

#define PAGEABLE_FIXTURE(fixture) PAGEABLE_FIXTURE_UNLESS(fixture, false, "nothing")

#endif
