// SPDX-License-Identifier: GPL-2.0
/*
 * Launch payloads: what is encoded decodes to the same, and nothing that a
 * hostile client sends is believed or read past its end.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "gpu/gpu.h"

static const uint64_t params[3] = { 1, 2, 0x1122334455667788 };

static const struct gpu_launch launch = {
	.module = 7, .kernel = "vecadd", .grid = { 3, 2, 1 }, .block = { 256, 1, 4 },
	.dynamic_shared = 1024, .params = params, .param_bytes = sizeof(params),
};

static void test_round_trip(void **state)
{
	struct gpu_launch l;
	size_t bytes;
	void *p;

	assert_int_equal(gpu_work_encode_launch(&launch, &p, &bytes), 0);
	assert_int_equal(gpu_work_decode_launch(p, bytes, &l), 0);
	assert_int_equal(l.module, 7);
	assert_string_equal(l.kernel, "vecadd");
	assert_memory_equal(l.grid, launch.grid, sizeof(l.grid));
	assert_memory_equal(l.block, launch.block, sizeof(l.block));
	assert_int_equal(l.dynamic_shared, 1024);
	assert_int_equal(l.param_bytes, sizeof(params));
	assert_memory_equal(l.params, params, sizeof(params));
	assert_int_equal((uintptr_t)l.params % 8, 0);
	free(p);
}

static void test_without_parameters(void **state)
{
	struct gpu_launch in = launch, l;
	size_t bytes;
	void *p;

	in.params = NULL;
	in.param_bytes = 0;
	assert_int_equal(gpu_work_encode_launch(&in, &p, &bytes), 0);
	assert_int_equal(gpu_work_decode_launch(p, bytes, &l), 0);
	assert_int_equal(l.param_bytes, 0);
	free(p);
	in.kernel = "";
	assert_int_equal(gpu_work_encode_launch(&in, &p, &bytes), -EINVAL);
}

/* A copy of exactly n bytes, so that the sanitizer sees a read behind it. */
static int decode_copy(const void *p, size_t n)
{
	void *copy = malloc(n ? n : 1);
	struct gpu_launch l;
	int ret;

	memcpy(copy, p, n);
	ret = gpu_work_decode_launch(copy, n, &l);
	free(copy);
	return ret;
}

static void test_every_other_length_is_refused(void **state)
{
	size_t bytes;
	void *p;

	assert_int_equal(gpu_work_encode_launch(&launch, &p, &bytes), 0);
	for (size_t n = 0; n < bytes; n++)
		assert_int_equal(decode_copy(p, n), -EINVAL);
	p = realloc(p, bytes + 8);
	memset((char *)p + bytes, 0, 8);
	assert_int_equal(decode_copy(p, bytes + 8), -EINVAL);
	free(p);
}

static void test_hostile_headers(void **state)
{
	struct gpu_work_launch *w;
	size_t bytes;
	void *p;

	assert_int_equal(gpu_work_encode_launch(&launch, &p, &bytes), 0);
	w = p;
#define REFUSED(field, value) do {					\
		struct gpu_work_launch old = *w;			\
									\
		w->field = (value);					\
		assert_int_equal(decode_copy(p, bytes), -EINVAL);	\
		*w = old;						\
	} while (0)
	REFUSED(size, 0);
	REFUSED(size, w->size + 8);
	REFUSED(reserved, 1);
	REFUSED(name_bytes, 0);
	REFUSED(name_bytes, 1);
	REFUSED(name_bytes, w->name_bytes - 1);	/* no NUL at its end */
	REFUSED(name_bytes, w->name_bytes + 1);	/* a NUL before its end */
	REFUSED(name_bytes, UINT32_MAX);
	REFUSED(param_bytes, UINT32_MAX);
	REFUSED(param_bytes, 0);
	/* Lengths whose 32-bit sum is right, and a name without an end. */
	memset((char *)p + sizeof(*w), 'x', bytes - sizeof(*w));
	w->name_bytes = UINT32_MAX - 7;
	w->param_bytes = (uint32_t)(bytes - sizeof(*w)) + 8;
	assert_int_equal(decode_copy(p, bytes), -EINVAL);
#undef REFUSED
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_without_parameters),
		cmocka_unit_test(test_every_other_length_is_refused),
		cmocka_unit_test(test_hostile_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
