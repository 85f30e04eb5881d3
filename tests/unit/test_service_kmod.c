// SPDX-License-Identifier: GPL-2.0
/*
 * The kmod backend's parts that need no module: the page-table walk over a
 * table in plain memory, hostile entries included; the cost of a batch from
 * its stamps; the sentences of a failed attach; waits of a ring that end in time.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "service/kmod.h"
#include "service/kmod_device.h"

#define TABLES	8u
#define FRAMES	16u
#define SPACE	7u
#define ADDR	0x7f1234567000ull

/* One more than the page table says it has: what is there must not be used. */
static uint64_t tables[TABLES + 1][512] __attribute__((aligned(4096)));
static unsigned char vram[FRAMES][4096] __attribute__((aligned(4096)));

static unsigned int level_index(uint64_t addr, int level)
{
	return addr >> (12 + 9 * level) & 511;
}

/* Tables 1..4 are root to leaf; the leaf's entry for ADDR is frame 5. */
static void build(struct kmod_pt *pt)
{
	memset(tables, 0, sizeof(tables));
	for (unsigned int i = 0; i < 512; i++)
		tables[TABLES][i] = 4ull << GPUEMU_PTE_SHIFT | GPUEMU_PTE_VALID;
	tables[0][3] = (uint64_t)SPACE << 32 | 1;
	for (unsigned int t = 1; t <= 3; t++)
		tables[t][level_index(ADDR, 4 - t)] =
			(uint64_t)(t + 1) << GPUEMU_PTE_SHIFT | GPUEMU_PTE_VALID;
	tables[4][level_index(ADDR, 0)] = 5ull << GPUEMU_PTE_SHIFT | GPUEMU_PTE_VALID;
	*pt = (struct kmod_pt){
		.tables = &tables[0][0], .count = TABLES, .vram = &vram[0][0], .frames = FRAMES,
	};
}

static void test_walk_finds_the_frame(void **state)
{
	struct kmod_pt pt;

	build(&pt);
	assert_ptr_equal(kmod_pt_walk(&pt, SPACE, ADDR), vram[5]);
	/* Again, through the remembered directory slot. */
	assert_int_equal(pt.slot, 3);
	assert_ptr_equal(kmod_pt_walk(&pt, SPACE, ADDR), vram[5]);
}

static void test_walk_misses(void **state)
{
	struct kmod_pt pt;

	build(&pt);
	assert_null(kmod_pt_walk(&pt, SPACE, ADDR + 4096));
	assert_null(kmod_pt_walk(&pt, SPACE, ADDR ^ 1ull << 39));
	assert_null(kmod_pt_walk(&pt, SPACE, ADDR | 1ull << 48));
	assert_null(kmod_pt_walk(&pt, SPACE + 1, ADDR));
	assert_null(kmod_pt_walk(&pt, 0, ADDR));
}

static void test_walk_follows_a_space_that_moves(void **state)
{
	struct kmod_pt pt;

	build(&pt);
	assert_non_null(kmod_pt_walk(&pt, SPACE, ADDR));
	tables[0][3] = (uint64_t)(SPACE + 1) << 32 | 1;
	assert_null(kmod_pt_walk(&pt, SPACE, ADDR));
	tables[0][9] = (uint64_t)SPACE << 32 | 1;
	assert_ptr_equal(kmod_pt_walk(&pt, SPACE, ADDR), vram[5]);
}

static void test_walk_trusts_no_number(void **state)
{
	static const uint64_t bad_tables[] = {
		0, TABLES, TABLES + 1, 1ull << 40, UINT64_MAX >> 12,
	};
	static const uint64_t bad_frames[] = { FRAMES, FRAMES + 1, 1ull << 40, UINT64_MAX >> 12 };
	struct kmod_pt pt;

	for (int level = 1; level <= 3; level++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(bad_tables); i++) {
			build(&pt);
			tables[level][level_index(ADDR, 4 - level)] =
				bad_tables[i] << GPUEMU_PTE_SHIFT | GPUEMU_PTE_VALID;
			assert_null(kmod_pt_walk(&pt, SPACE, ADDR));
		}
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(bad_frames); i++) {
		build(&pt);
		tables[4][level_index(ADDR, 0)] =
			bad_frames[i] << GPUEMU_PTE_SHIFT | GPUEMU_PTE_VALID;
		assert_null(kmod_pt_walk(&pt, SPACE, ADDR));
	}
	build(&pt);
	tables[0][3] = (uint64_t)SPACE << 32 | TABLES;
	assert_null(kmod_pt_walk(&pt, SPACE, ADDR));
	build(&pt);
	tables[4][level_index(ADDR, 0)] &= ~GPUEMU_PTE_VALID;
	assert_null(kmod_pt_walk(&pt, SPACE, ADDR));
}

struct seen {
	unsigned int n;
	uint32_t va_space;
	uint64_t addr[4];
};

static void see(void *ctx, uint32_t va_space, uint64_t addr)
{
	struct seen *seen = ctx;

	seen->va_space = va_space;
	if (seen->n < 4)
		seen->addr[seen->n] = addr;
	seen->n++;
}

/* Entries of pages in system memory, and of duplicates. */
static void test_entries_say_more(void **state)
{
	static unsigned char slots[2][4096], mirror[2][4096];
	uint64_t *entry = &tables[4][level_index(ADDR, 0)];
	unsigned int flags = 99;
	struct seen seen = { 0 };
	struct kmod_pt pt;

	build(&pt);
	assert_ptr_equal(kmod_pt_entry(&pt, SPACE, ADDR, &flags), vram[5]);
	assert_int_equal(flags, 0);
	*entry |= GPUEMU_PTE_READ_ONLY;
	assert_ptr_equal(kmod_pt_entry(&pt, SPACE, ADDR, &flags), vram[5]);
	assert_int_equal(flags, SERVICE_ENTRY_READ_ONLY);
	assert_ptr_equal(kmod_pt_walk(&pt, SPACE, ADDR), vram[5]);
	/* Of a module that maps nothing, no number is a slot. */
	*entry = 1ull << GPUEMU_PTE_SHIFT | GPUEMU_PTE_VALID | GPUEMU_PTE_REMOTE;
	assert_null(kmod_pt_entry(&pt, SPACE, ADDR, &flags));
	assert_int_equal(flags, 0);
	pt.remote = slots[0];
	pt.slots = 2;
	assert_ptr_equal(kmod_pt_entry(&pt, SPACE, ADDR, &flags), slots[1]);
	assert_int_equal(flags, SERVICE_ENTRY_REMOTE);
	/* Ordinary memory has slots of its own. */
	*entry |= GPUEMU_PTE_MIRROR;
	assert_null(kmod_pt_entry(&pt, SPACE, ADDR, &flags));
	pt.mirror = mirror[0];
	pt.mirror_slots = 2;
	assert_ptr_equal(kmod_pt_entry(&pt, SPACE, ADDR, &flags), mirror[1]);
	assert_int_equal(flags, SERVICE_ENTRY_REMOTE | SERVICE_ENTRY_PAGEABLE);
	/* Not in device memory. */
	assert_null(kmod_pt_walk(&pt, SPACE, ADDR));
	kmod_pt_resident(&pt, see, &seen);
	assert_int_equal(seen.n, 0);
	*entry = 2ull << GPUEMU_PTE_SHIFT | GPUEMU_PTE_VALID | GPUEMU_PTE_REMOTE;
	assert_null(kmod_pt_entry(&pt, SPACE, ADDR, &flags));
	*entry &= ~GPUEMU_PTE_VALID;
	assert_null(kmod_pt_entry(&pt, SPACE, ADDR, &flags));
}

static void test_resident_lists_every_page(void **state)
{
	struct seen seen = { 0 };
	struct kmod_pt pt;

	build(&pt);
	tables[4][511] = 2ull << GPUEMU_PTE_SHIFT | GPUEMU_PTE_VALID;
	tables[4][510] = (uint64_t)FRAMES << GPUEMU_PTE_SHIFT | GPUEMU_PTE_VALID;
	kmod_pt_resident(&pt, see, &seen);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.va_space, SPACE);
	assert_int_equal(seen.addr[0], ADDR);
	assert_int_equal(seen.addr[1], (ADDR & ~0x1fffffull) | 511 << 12);
}

static void test_stages_sum_to_the_total(void **state)
{
	const struct gpuemu_stamps stamps = {
		.raised = 1000, .fetched = 1300, .committed = 1350, .done = 2400, .replayed = 2900,
		.evict_ns = 200, .unmap_ns = 100, .copy_ns = 400, .map_ns = 50,
	};
	struct service_cost c;

	kmod_cost(&stamps, &c);
	assert_int_equal(c.total, 1900);
	assert_int_equal(c.raised_to_fetched, 300);
	assert_int_equal(c.fetched_to_committed, 50);
	assert_int_equal(c.evict, 200);
	assert_int_equal(c.unmap, 100);
	assert_int_equal(c.copy, 400);
	assert_int_equal(c.map, 50);
	assert_int_equal(c.replay, 800);
}

/* A clock that two CPUs disagree on must not make a stage last 500 years. */
static void test_no_stage_is_negative(void **state)
{
	const struct gpuemu_stamps stamps = {
		.raised = 1000, .fetched = 900, .committed = 950, .replayed = 1010, .copy_ns = 500,
	};
	struct service_cost c;

	kmod_cost(&stamps, &c);
	assert_int_equal(c.total, 10);
	assert_int_equal(c.raised_to_fetched, 0);
	assert_int_equal(c.replay, 0);
}

static int by_addr(const struct fault *f, unsigned int n)
{
	for (unsigned int i = 1; i < n; i++)
		if (f[i - 1].addr >= f[i].addr)
			return 0;
	return 1;
}

/* Addresses that no record can carry are answered beside those that the module answers. */
static void test_wild_addresses_are_unmanaged(void **state)
{
	static struct kmod_hand hand;
	struct fault faults[] = {
		{ .addr = 1ull << 63, .va_space = SPACE, .access = ACCESS_READ, .merged = 1 },
		{ .addr = 0x5000, .va_space = SPACE, .access = ACCESS_READ, .merged = 1 },
		{ .addr = 1ull << 47, .va_space = SPACE, .access = ACCESS_READ, .merged = 1 },
		{ .addr = (1ull << 47) - 4096, .va_space = SPACE, .merged = 1 },
		{ .addr = 1ull << 63, .va_space = SPACE, .access = ACCESS_WRITE, .merged = 1 },
	};
	struct service_batch batch = { .faults = faults, .nfaults = 5 };

	kmod_take_wild(&hand, &batch);
	assert_int_equal(batch.nfaults, 2);
	assert_int_equal(faults[0].addr, 0x5000);
	assert_int_equal(faults[1].addr, (1ull << 47) - 4096);
	kmod_give_wild(&hand, &batch);
	assert_int_equal(batch.nfaults, 4);
	assert_true(by_addr(faults, 4));
	assert_int_equal(faults[0].flags | faults[1].flags, 0);
	assert_int_equal(faults[2].flags, FAULT_UNMANAGED);
	assert_int_equal(faults[3].flags, FAULT_UNMANAGED);
	assert_int_equal(faults[3].access, ACCESS_WRITE);
	assert_int_equal(faults[3].merged, 2);
}

static void fails(const char *path, int error, const char *text)
{
	struct service *service;
	struct err err = { "" };

	assert_int_equal(service_kmod_create(path, &service, &err), error);
	assert_null(service);
	assert_non_null(strstr(err.text, text));
	assert_non_null(strstr(err.text, path));
}

/* --- faults between the model and the module --- */

static struct gpuemu_fault record(uint64_t page, unsigned int access, unsigned int flags,
				  unsigned int merged)
{
	return (struct gpuemu_fault){
		.addr = page << 12, .va_space = SPACE, .access = access, .flags = flags,
		.merged = merged,
	};
}

static struct kmod_hand hand;

/* A batch of n faults on pages 1 .. n was raised. */
static void raise_pages(struct service_batch *batch, struct fault *faults, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		faults[i] = (struct fault){
			.addr = (uint64_t)(n - i) << 12, .va_space = SPACE, .merged = 1,
		};
	*batch = (struct service_batch){ .faults = faults, .nfaults = n, .raw = n };
	memset(&hand, 0, sizeof(hand));
	hand.room = n;
}

static void test_batches_of_a_pass_become_one(void **state)
{
	const struct gpuemu_fault first[] = {
		record(2, ACCESS_READ, 0, 2), record(5, ACCESS_READ, FAULT_UNMANAGED, 1),
	};
	const struct gpuemu_fault second[] = {
		record(1, ACCESS_WRITE, 0, 1), record(2, ACCESS_WRITE, FAULT_THROTTLE, 1),
		record(5, ACCESS_PREFETCH, 0, 3),
	};
	struct service_batch batch;
	struct fault faults[9];

	raise_pages(&batch, faults, 9);
	kmod_take_faults(&hand, &batch, first, 2);
	assert_int_equal(batch.nfaults, 2);
	kmod_take_faults(&hand, &batch, second, 3);
	assert_int_equal(batch.nfaults, 3);
	assert_int_equal(faults[0].addr, 1 << 12);
	assert_int_equal(faults[1].addr, 2 << 12);
	assert_int_equal(faults[1].access, ACCESS_WRITE);
	assert_int_equal(faults[1].merged, 3);
	assert_int_equal(faults[1].flags, FAULT_THROTTLE);
	assert_int_equal(faults[2].addr, 5 << 12);
	assert_int_equal(faults[2].access, ACCESS_READ);
	assert_int_equal(faults[2].flags, 0);
	assert_int_equal(hand.merged, 8);
}

/* Records that were left from before: of pages that nobody waits for, or of others. */
static void test_what_was_not_raised_is_not_served(void **state)
{
	struct gpuemu_fault from[] = {
		record(1, ACCESS_READ, 0, 1), record(3, ACCESS_READ, 0, 1),
		record(7, ACCESS_READ, FAULT_UNMANAGED, 1), record(3, ACCESS_READ, 0, 1),
	};
	struct service_batch batch;
	struct fault faults[3];

	from[3].va_space = SPACE + 1;
	raise_pages(&batch, faults, 3);
	hand.strangers = true;
	kmod_note_raised(&hand, &batch);
	kmod_take_faults(&hand, &batch, from, 4);
	assert_int_equal(batch.nfaults, 2);
	assert_int_equal(faults[0].addr, 1 << 12);
	assert_int_equal(faults[1].addr, 3 << 12);
	assert_int_equal(faults[1].va_space, SPACE);
	assert_int_equal(hand.merged, 2);
}

static void test_a_fault_is_fatal_the_second_time(void **state)
{
	struct gpuemu_fault from[] = {
		record(1, ACCESS_READ, FAULT_UNMANAGED, 1), record(2, ACCESS_READ, 0, 1),
		record(3, ACCESS_WRITE, FAULT_UNMANAGED, 1),
		record(4, ACCESS_READ, FAULT_UNMANAGED, 1),
		record(5, ACCESS_PREFETCH, FAULT_UNMANAGED, 1),
	};
	struct service_batch batch, again;
	struct fault faults[5], suspects[5];

	raise_pages(&batch, faults, 5);
	kmod_take_faults(&hand, &batch, from, 5);
	assert_int_equal(kmod_suspects(&batch, suspects), 3);
	assert_int_equal(suspects[2].addr, 4 << 12);
	/* One was mapped meanwhile, one is protected now, one is not in the batch. */
	suspects[0].flags = 0;
	suspects[1].flags = FAULT_UNMANAGED | FAULT_PROTECTED;
	again = (struct service_batch){ .faults = suspects, .nfaults = 2 };
	kmod_acquit(&batch, &again);
	assert_int_equal(faults[0].flags, 0);
	assert_int_equal(faults[1].flags, 0);
	assert_int_equal(faults[2].flags, FAULT_UNMANAGED | FAULT_PROTECTED);
	assert_int_equal(faults[3].flags, 0);
	assert_int_equal(faults[4].flags, FAULT_UNMANAGED);
}

static void test_no_device_says_what_to_do(void **state)
{
	fails("/nonexistent/gpuemu", -ENOENT, "load the module");
	fails("/dev/null", -ENOENT, "is not a gpuemu device");
}

/* A wait with a limit ends without a completion; one that came is not lost by that. */
static void test_a_ring_waits_so_long(void **state)
{
	int event = eventfd(0, EFD_CLOEXEC), res = 0;
	struct io_uring ring;

	assert_true(event >= 0);
	assert_int_equal(kmod_ring_init(&ring), 0);
	kmod_ring_wake_on(&ring, event);
	assert_int_equal(kmod_ring_next_within(&ring, 20, &res), -ETIME);
	assert_int_equal(kmod_ring_next_within(&ring, 0, &res), -ETIME);
	assert_int_equal(eventfd_write(event, 1), 0);
	assert_int_equal(kmod_ring_next_within(&ring, 60000, &res), KMOD_TAG_WAKE);
	assert_int_equal(kmod_ring_next_within(&ring, 20, &res), -ETIME);
	io_uring_queue_exit(&ring);
	close(event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk_finds_the_frame),
		cmocka_unit_test(test_walk_misses),
		cmocka_unit_test(test_walk_follows_a_space_that_moves),
		cmocka_unit_test(test_walk_trusts_no_number),
		cmocka_unit_test(test_resident_lists_every_page),
		cmocka_unit_test(test_entries_say_more),
		cmocka_unit_test(test_stages_sum_to_the_total),
		cmocka_unit_test(test_no_stage_is_negative),
		cmocka_unit_test(test_wild_addresses_are_unmanaged),
		cmocka_unit_test(test_batches_of_a_pass_become_one),
		cmocka_unit_test(test_what_was_not_raised_is_not_served),
		cmocka_unit_test(test_a_fault_is_fatal_the_second_time),
		cmocka_unit_test(test_no_device_says_what_to_do),
		cmocka_unit_test(test_a_ring_waits_so_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
