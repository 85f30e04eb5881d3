// SPDX-License-Identifier: GPL-2.0
/*
 * Every function of every build of the lanes on random and edge operands: the
 * same bits from all of them, for all lanes and for some, and the same when a
 * destination is the register of a source. Built a second time with the
 * release's flags, where the compiler vectorises.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "exec_tables.h"

enum { NROWS = 12, FIRST_SOURCE = 1, FIRST_DEST = 7, ARENA = NROWS * ROW8 };

static uint32_t source(unsigned int i)
{
	return (FIRST_SOURCE + i) * ROW8;
}

static uint32_t dest(unsigned int i)
{
	return (FIRST_DEST + i) * ROW8;
}

static const uint64_t special[] = {
	0, 1, 2, 31, 32, 33, 63, 64, 255, 0x7f, 0x80, 0x7fff, 0x8000, 0xffff,
	0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0x00800000, 0x007fffff, 0x807fffff,
	0x3f800000, 0x3f7fffff, 0xbf800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
	0x7f800001, 0x477fefff, 0x477ff000, 0x387fe000, 0x33000000, 0x33000001, 0x4f800000,
	0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0xfffffffffffffbff,
	0x7fffffffffffffc0, 0x0010000000000000, 0x000fffffffffffff, 0x3ff0000000000000,
	0xbff0000000000000, 0x3ff0000010000000, 0x3ff0000030000000, 0x3ff0020000000001,
	0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001,
	0x47efffffefffffff, 0x36a0000000000001, 0x43e0000000000000, 0xc3e0000000000000,
};
static const uint16_t halves[] = {
	0, 1, 0x3ff, 0x400, 0x3c00, 0x3bff, 0x3f80, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7f7f,
	0x7f80, 0x7f81, 0x7fff, 0x8000, 0x8001, 0x83ff, 0xbc00, 0xbf80, 0xfbff, 0xfc00, 0xffff,
	0x0080, 0x007f, 0x1400, 0x5bff,
};

static uint64_t operand(struct rng *rng)
{
	uint64_t r = rng_next(rng), v = rng_next(rng);

	switch (r % 8) {
	case 0:
		return special[v % ARRAY_SIZE(special)];
	case 1:
		return (uint32_t)special[v % ARRAY_SIZE(special)] |
		       special[(v >> 20) % ARRAY_SIZE(special)] << 32;
	case 2:
		return halves[v % ARRAY_SIZE(halves)] |
		       (uint64_t)halves[(v >> 16) % ARRAY_SIZE(halves)] << 16 |
		       (uint64_t)halves[(v >> 32) % ARRAY_SIZE(halves)] << 32 |
		       (uint64_t)halves[(v >> 48) % ARRAY_SIZE(halves)] << 48;
	case 3:	/* floats of middling size: sums that cancel, products that round */
		return (v & 0x8fffffff8fffffff) | 0x3800000038000000;
	case 4:
		return (v & 0x800fffffffffffff) | (uint64_t)(0x3f0 + (r >> 8 & 31)) << 52;
	case 5:
		return (v & 0x0000003f0000003f) ^ -(r >> 8 & 1);
	default:
		return v;
	}
}

static void fill(struct rng *rng, uint8_t *arena)
{
	unsigned int row, i;

	for (row = 0; row < NROWS; row++) {
		for (i = 0; i < WARP_LANES; i++)
			row64(arena, row * ROW8)[i] = operand(rng);
	}
}

static bool is_compare(const struct lane_row *row)
{
	return row->opcode == PTX_OP_setp || row->opcode == PTX_OP_set;
}

static struct exec_op op_of(void)
{
	struct exec_op op = { .boolop = PTX_BOOL_XOR };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(op.src); i++)
		op.src[i] = source(i);
	for (i = 0; i < ARRAY_SIZE(op.dst); i++)
		op.dst[i] = dest(i);
	return op;
}

static void run(const struct lane_table *table, uint32_t row, uint32_t compare, struct exec_op *op,
		uint8_t *arena, uint32_t mask)
{
	if (is_compare(&table->rows[row]))
		op->compare = table->compares[compare].fn;
	table->rows[row].fn(arena, op, mask);
}

static const char *name_of(const struct lane_row *row)
{
	static char name[80];

	snprintf(name, sizeof(name), "%s type %u from %u variant %u",
		 row->opcode < PTX_OPCODES ? ptx_opcode_name(row->opcode) : "step", row->type,
		 row->stype, row->sel);
	return name;
}

static uint8_t before[ARENA] __attribute__((aligned(64)));
static uint8_t expected[ARENA] __attribute__((aligned(64)));
static uint8_t arena[ARENA] __attribute__((aligned(64)));

static void compare_tables(uint32_t row, uint32_t compare, uint32_t mask)
{
	struct exec_op op = op_of();
	const struct lane_table *table;
	unsigned int t, i;

	memcpy(expected, before, ARENA);
	run(&lanes_portable, row, compare, &op, expected, mask);
	for (t = 1; (table = test_table(t)); t++) {
		memcpy(arena, before, ARENA);
		run(table, row, compare, &op, arena, mask);
		for (i = 0; i < ARENA / 4; i++) {
			if (row32(arena, 0)[i] != row32(expected, 0)[i])
				fail_msg("%s, table %u, lanes %#x: word %u of row %u is %#x, not %#x",
					 name_of(&table->rows[row]), t, mask, i % 64, i / 64,
					 row32(arena, 0)[i], row32(expected, 0)[i]);
		}
	}
}

static void same_bits(void **state)
{
	uint32_t row, compare, masks[] = { ALL_LANES, 0x55555555, 1, 0x80000000, 0xffff0000, 0 };
	const struct lane_table *table;
	unsigned int t, round, m;
	struct rng rng;

	rng_seed(&rng, 20240607);
	for (t = 1; (table = test_table(t)); t++) {
		assert_int_equal(table->nrows, lanes_portable.nrows);
		assert_int_equal(table->ncompares, lanes_portable.ncompares);
	}
	for (row = 0; row < lanes_portable.nrows; row++) {
		uint32_t n = is_compare(&lanes_portable.rows[row]) ? lanes_portable.ncompares : 1;

		for (compare = 0; compare < n; compare++) {
			for (round = 0; round < (n > 1 ? 8 : 60); round++) {
				fill(&rng, before);
				masks[ARRAY_SIZE(masks) - 1] = rng_next(&rng);
				for (m = 0; m < ARRAY_SIZE(masks); m++)
					compare_tables(row, compare, masks[m]);
			}
		}
	}
}

/* --- destinations that are sources ---------------------------------------------------- */

/* Does the result of the row depend on bytes [from, to) of source i? */
static bool depends(const struct lane_table *table, uint32_t row, unsigned int i,
		    unsigned int from, unsigned int to)
{
	struct exec_op op = op_of();
	struct rng rng;
	unsigned int round, k;

	rng_seed(&rng, 7 * row + i);
	for (round = 0; round < 8; round++) {
		fill(&rng, before);
		memcpy(expected, before, ARENA);
		run(table, row, 0, &op, expected, ALL_LANES);
		memcpy(arena, before, ARENA);
		for (k = from; k < to; k++)
			arena[source(i) + k] = rng_next(&rng);
		run(table, row, 0, &op, arena, ALL_LANES);
		if (memcmp(arena + dest(0), expected + dest(0), ARENA - dest(0)))
			return true;
	}
	return false;
}

/* How many bytes of destination k the row writes: 0, 4 (a predicate), ROW4 or ROW8. */
static unsigned int written(const struct lane_table *table, uint32_t row, unsigned int k)
{
	struct exec_op op = op_of();
	unsigned int round, i, most = 0;
	struct rng rng;

	rng_seed(&rng, row);
	for (round = 0; round < 8; round++) {
		fill(&rng, before);
		memcpy(arena, before, ARENA);
		run(table, row, 0, &op, arena, ALL_LANES);
		for (i = 0; i < ROW8; i++) {
			if (arena[dest(k) + i] != before[dest(k) + i] && i >= most)
				most = i + 1;
		}
	}
	return !most ? 0 : most <= 4 ? 4 : most <= ROW4 ? ROW4 : ROW8;
}

static void alias(const struct lane_table *table, uint32_t row, unsigned int i, unsigned int k,
		  unsigned int bytes)
{
	struct exec_op op = op_of(), aliased = op_of();
	struct rng rng;
	unsigned int round;
	uint32_t mask;

	rng_seed(&rng, row);
	aliased.dst[k] = source(i);
	for (round = 0; round < 8; round++) {
		fill(&rng, before);
		mask = round & 1 ? ALL_LANES : rng_next(&rng);
		/* What lanes that do not run keep is the same in both. */
		memcpy(before + dest(k), before + source(i), bytes);
		memcpy(expected, before, ARENA);
		run(table, row, 0, &op, expected, mask);
		memcpy(arena, before, ARENA);
		run(table, row, 0, &aliased, arena, mask);
		if (memcmp(arena + source(i), expected + dest(k), bytes))
			fail_msg("%s: destination %u in the register of source %u",
				 name_of(&table->rows[row]), k, i);
	}
}

static void aliases(void **state)
{
	const struct lane_table *table;
	unsigned int t, i, k, bytes, aliased = 0;
	uint32_t row;

	for (t = 0; (table = test_table(t)); t++) {
		for (row = 0; row < table->nrows; row++) {
			for (i = 0; i < ARRAY_SIZE(((struct exec_op *)0)->src); i++) {
				/* A predicate is four bytes; a row of 8 has more than ROW4. */
				unsigned int width = depends(table, row, i, ROW4, ROW8) ? ROW8 :
						     depends(table, row, i, 4, ROW4) ? ROW4 : 4;

				for (k = 0; k < ARRAY_SIZE(((struct exec_op *)0)->dst); k++) {
					bytes = written(table, row, k);
					if (bytes != width)
						continue;
					alias(table, row, i, k, bytes);
					aliased++;
				}
			}
		}
	}
	/* The search for widths has found what it should. */
	assert_in_range(aliased, 500, 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_bits),
		cmocka_unit_test(aliases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
