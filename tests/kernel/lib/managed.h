/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A run of managed pages across the border of two VA blocks, with an engine of
 * the same process, and what each of its bytes must be: for the tests of what
 * ordinary memory operations do, which run three times, once for each placement.
 */
#ifndef _GPUEMU_TESTS_KERNEL_MANAGED_H
#define _GPUEMU_TESTS_KERNEL_MANAGED_H

#include "lib/lib.h"

enum placement {
	ON_HOST,
	ON_DEVICE,
	HALF,		/* each second page on the device */
	REMOTE,		/* at home, and the engine uses them there */
	DUPLICATED,	/* on both sides */
};

enum { MANAGED_PAGES = 16 };
#define MANAGED_BYTES (MANAGED_PAGES * PAGE)

/* The block's border is between pages 7 and 8 of mem. */
struct managed {
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *mem;
	uint8_t copy[MANAGED_BYTES];
	enum placement where;
};

int managed_open(struct managed *m, enum placement where);
void managed_close(struct managed *m);
int managed_place(struct managed *m, enum placement where);
/* Its second half: all pages are at home; those that shall be away go there. */
int managed_move(struct managed *m);
void managed_refill(struct managed *m, uint32_t seed);

/* Pages first .. first + n - 1 are what they must be, wherever they are. */
bool managed_intact(struct managed *m, size_t first, size_t n);
bool managed_zero(const uint8_t *p, size_t bytes);
uint32_t managed_resident(struct managed *m, size_t first, size_t n);
/* How many of them the placement puts on the device. */
uint32_t managed_placed(const struct managed *m, size_t first, size_t n);

/* The signal that an access to the byte raises, or 0. */
int signal_of(volatile uint8_t *p, bool write);

#define PLACEMENTS(fixture) \
	FIXTURE_VARIANT(fixture) { enum placement where; }; \
	FIXTURE_VARIANT_ADD(fixture, host) { .where = ON_HOST }; \
	FIXTURE_VARIANT_ADD(fixture, device) { .where = ON_DEVICE }; \
	FIXTURE_VARIANT_ADD(fixture, half) { .where = HALF }

/* A fixture that is one struct managed m. */
#define MANAGED_FIXTURE(fixture) \
	FIXTURE(fixture) { struct managed m; }; \
	PLACEMENTS(fixture); \
	FIXTURE_SETUP(fixture) \
	{ \
		ASSERT_EQ(0, managed_open(&self->m, variant->where)); \
	} \
	FIXTURE_TEARDOWN(fixture) \
	{ \
		managed_close(&self->m); \
	}

#endif
