// SPDX-License-Identifier: GPL-2.0
/*
 * Fatbins as compilers write them, made here: which text is taken, plain and compressed; and what
 * is no fatbin, cut short or lying about sizes, is refused without a read beside it (ASan sees to
 * that).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lz4.h>
#include <zstd.h>

#include "cudart.h"

#define ENTRY	64u
enum { PLAIN, LZ4 = 0x2000, ZSTD = 0x8000 };

struct image {
	unsigned char data[4096];
	size_t bytes;
};

static void put(struct image *i, size_t at, uint64_t value, unsigned int bytes)
{
	assert_true(at + bytes <= sizeof(i->data));
	memcpy(i->data + at, &value, bytes);
}

static void begin(struct image *i)
{
	memset(i, 0, sizeof(*i));
	put(i, 0, 0xba55ed50, 4);
	put(i, 4, 1, 2);
	put(i, 6, 16, 2);
	i->bytes = 16;
}

static void add(struct image *i, unsigned int kind, unsigned int arch, const char *text,
		unsigned int how)
{
	size_t at = i->bytes, n = strlen(text) + 1, room = 1024, used = n, padded;
	char packed[1024];

	if (how == LZ4)
		used = (size_t)LZ4_compress_default(text, packed, (int)n, (int)room);
	else if (how == ZSTD)
		used = ZSTD_compress(packed, room, text, n, 3);
	else
		memcpy(packed, text, n);
	padded = (used + 7) & ~(size_t)7;
	put(i, at, kind, 2);
	put(i, at + 2, 0x101, 2);
	put(i, at + 4, ENTRY, 4);
	put(i, at + 8, padded, 8);
	put(i, at + 16, how ? used : 0, 4);
	put(i, at + 28, arch, 4);
	put(i, at + 40, how, 8);
	put(i, at + 56, how ? n : 0, 8);
	memcpy(i->data + at + ENTRY, packed, used);
	i->bytes += ENTRY + padded;
	put(i, 8, i->bytes - 16, 8);
}

/* A copy that ends where it ends. */
static int read_image(const struct image *i, size_t bytes, struct fatbin_text *text)
{
	void *copy = malloc(bytes ? bytes : 1);
	int ret;

	memcpy(copy, i->data, bytes);
	*text = (struct fatbin_text){ NULL };
	ret = fatbin_ptx(copy, bytes, text);
	free(copy);
	return ret;
}

static const char long_text[] =
	".version 7.0 .target sm_70 .address_size 64 // .version 7.0 .target sm_70 .address_size 64";

static void each_form(void **state)
{
	static const unsigned int forms[] = { PLAIN, LZ4, ZSTD };

	for (size_t f = 0; f < ARRAY_SIZE(forms); f++) {
		struct fatbin_text text;
		struct image i;

		begin(&i);
		add(&i, 1, 75, long_text, forms[f]);
		assert_int_equal(read_image(&i, i.bytes, &text), 0);
		assert_string_equal(text.text, long_text);
		assert_int_equal(text.bytes, strlen(long_text));
		assert_int_equal(text.arch, 75);
		free(text.text);
	}
}

static void the_newest_is_taken(void **state)
{
	struct fatbin_text text;
	struct image i;

	begin(&i);
	add(&i, 2, 90, "machine code", PLAIN);
	add(&i, 1, 60, "sixty", PLAIN);
	add(&i, 1, 80, "eighty", ZSTD);
	add(&i, 1, 70, "seventy", PLAIN);
	assert_int_equal(read_image(&i, i.bytes, &text), 0);
	assert_string_equal(text.text, "eighty");
	free(text.text);
	begin(&i);
	add(&i, 2, 90, "machine code", PLAIN);
	assert_int_equal(read_image(&i, i.bytes, &text), -ENOENT);
}

static void cut_short(void **state)
{
	struct fatbin_text text;
	struct image i;

	begin(&i);
	add(&i, 1, 70, long_text, LZ4);
	add(&i, 1, 75, long_text, ZSTD);
	for (size_t n = 0; n < i.bytes; n++)
		assert_int_equal(read_image(&i, n, &text), -EINVAL);
}

/* Each byte as each of some values: an answer, and nothing read or written beside. */
static void any_byte(void **state)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	static const unsigned int last[] = { PLAIN, LZ4, ZSTD };
	struct fatbin_text text;
	struct image i, bad;

	/* The one that is taken is the last: behind it there is nothing. */
	for (size_t f = 0; f < ARRAY_SIZE(last); f++) {
		begin(&i);
		add(&i, 1, 65, long_text, PLAIN);
		add(&i, 1, 75, long_text, last[f]);
		for (size_t at = 0; at < i.bytes; at++) {
			for (size_t v = 0; v < sizeof(values); v++) {
				int ret;

				bad = i;
				bad.data[at] = values[v];
				ret = read_image(&bad, bad.bytes, &text);
				assert_true(ret == 0 || ret == -EINVAL || ret == -ENOENT ||
					    ret == -ENOMEM);
				free(ret ? NULL : text.text);
			}
		}
	}
}

/* A size that is none of the text's, which the decompressors themselves would take. */
static void sizes_that_lie(void **state)
{
	static const unsigned int forms[] = { LZ4, ZSTD };
	struct fatbin_text text;
	struct image i, next;
	char packed[1024];
	size_t used = ZSTD_compress(packed, sizeof(packed), long_text, sizeof(long_text), 3);

	for (size_t f = 0; f < ARRAY_SIZE(forms); f++) {
		begin(&i);
		add(&i, 1, 75, long_text, forms[f]);
		put(&i, 16 + 56, sizeof(long_text) + 5, 8);
		assert_int_equal(read_image(&i, i.bytes, &text), -EINVAL);
	}
	/*
	 * The entry behind begins like a frame of zstd's that is passed over: a size that reaches
	 * to its end is one that zstd takes.
	 */
	begin(&i);
	add(&i, 1, 75, long_text, ZSTD);
	begin(&next);
	add(&next, 0x2a50, 75, "seven..", PLAIN);
	put(&next, 16 + 2, 0x184d, 2);
	put(&i, 16 + 8, used, 8);
	memcpy(i.data + 16 + ENTRY + used, next.data + 16, ENTRY + 8);
	i.bytes = 16 + ENTRY + used + ENTRY + 8;
	put(&i, 8, i.bytes - 16, 8);
	assert_int_equal(read_image(&i, i.bytes, &text), 0);
	assert_string_equal(text.text, long_text);
	free(text.text);
	put(&i, 16 + 16, used + ENTRY + 8, 4);
	assert_int_equal(read_image(&i, i.bytes, &text), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form),
		cmocka_unit_test(the_newest_is_taken),
		cmocka_unit_test(cut_short),
		cmocka_unit_test(any_byte),
		cmocka_unit_test(sizes_that_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
