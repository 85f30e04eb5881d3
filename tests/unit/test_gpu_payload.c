// SPDX-License-Identifier: GPL-2.0
/*
 * Payloads of launches and of streams: what is encoded decodes to the same, and nothing that a
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
	REFUSED(ntextures, 1);
	REFUSED(ntextures, UINT32_MAX);
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

/* Textures go behind the parameters; what could not be read by is refused. */
static void test_textures(void **state)
{
	struct texture t[2] = {
		{ .handle = 5, .base = 4096, .width = 3, .channels = 4, .channel_bytes = 1 },
		{ .handle = 6, .base = 8192, .channels = 1, .channel_bytes = 4,
		  .kind = TEXEL_FLOAT },
	};
	struct gpu_launch in = launch, l;
	size_t bytes;
	void *p;

	in.textures = t;
	in.ntextures = 2;
	in.param_bytes = sizeof(params) - 4;
	assert_int_equal(gpu_work_encode_launch(&in, &p, &bytes), 0);
	assert_int_equal(gpu_work_decode_launch(p, bytes, &l), 0);
	assert_int_equal(l.ntextures, 2);
	assert_int_equal((uintptr_t)l.textures % 8, 0);
	assert_memory_equal(l.textures, t, sizeof(t));
	for (size_t n = 0; n < bytes; n++)
		assert_int_equal(decode_copy(p, n), -EINVAL);
#define REFUSED(field, value) do {					\
		struct texture *w = (struct texture *)l.textures, old = *w;	\
									\
		w->field = (value);					\
		assert_int_equal(decode_copy(p, bytes), -EINVAL);	\
		*w = old;						\
	} while (0)
	REFUSED(channels, 3);
	REFUSED(channels, 0);
	REFUSED(channel_bytes, 8);
	REFUSED(channel_bytes, 0);
	REFUSED(kind, TEXEL_KINDS);
	REFUSED(handle, 6);	/* each once, in order */
#undef REFUSED
	free(p);
}

/* --- works of streams ---------------------------------------------------------- */

static void *run_payload(size_t *bytes)
{
	const struct gpu_work_prefetch move = { .size = sizeof(move), .addr = 4096, .bytes = 9 };
	const uint32_t streams[3] = { 5, 0, 7 };
	const uint64_t number = 9;
	struct gpu_run_items items = { NULL };
	void *l, *payload;

	assert_int_equal(gpu_work_encode_launch(&launch, &l, bytes), 0);
	assert_int_equal(gpu_run_add(&items, GPU_RUN_LAUNCH, 5, l, *bytes), 0);
	assert_int_equal(gpu_run_add(&items, GPU_RUN_MOVE, 6, &move, sizeof(move)), 0);
	for (uint32_t kind = GPU_RUN_DELAY; kind <= GPU_RUN_COPY; kind++)
		assert_int_equal(gpu_run_add(&items, kind, 7, &number, sizeof(number)), 0);
	assert_int_equal(gpu_run_encode(&(struct gpu_work_run){
		.flags = GPU_RUN_DROP, .generation = 4, .cycles = 8, .nstreams = 3 }, streams,
		&items, &payload, bytes), 0);
	assert_int_equal(*bytes, gpu_run_bytes(3, &items));
	free(items.bytes);
	free(l);
	return payload;
}

static void test_runs_round_trip(void **state)
{
	const uint32_t *streams;
	struct gpu_work_run head;
	struct gpu_run_work w;
	size_t bytes, at;
	void *p = run_payload(&bytes);

	assert_int_equal(gpu_run_decode(p, bytes, &head, &streams, &at), 0);
	assert_int_equal(head.nitems, 8);
	assert_int_equal(head.flags, GPU_RUN_DROP);
	assert_int_equal(head.cycles, 8);
	assert_memory_equal(streams, ((const uint32_t[]){ 5, 0, 7 }), 12);
	gpu_run_next(p, &at, &w);
	assert_int_equal(w.kind, GPU_RUN_LAUNCH);
	assert_int_equal(w.stream, 5);
	assert_string_equal(w.launch.kernel, "vecadd");
	assert_memory_equal(w.launch.params, params, sizeof(params));
	gpu_run_next(p, &at, &w);
	assert_int_equal(w.move.addr, 4096);
	for (uint32_t kind = GPU_RUN_DELAY; kind <= GPU_RUN_COPY; kind++) {
		gpu_run_next(p, &at, &w);
		assert_int_equal(w.kind, kind);
		assert_int_equal(w.number, 9);
	}
	assert_int_equal(at, bytes);
	free(p);
}

/* A copy of exactly n bytes, with one 32-bit word changed. */
static int decode_run(const void *p, size_t n, size_t word, uint32_t value)
{
	uint32_t *copy = malloc(n ? n : 1);
	const uint32_t *streams;
	struct gpu_work_run head;
	size_t at;
	int ret;

	memcpy(copy, p, n);
	if (word < n / 4)
		copy[word] = value;
	ret = gpu_run_decode(copy, n, &head, &streams, &at);
	free(copy);
	return ret;
}

static void test_runs_that_are_malformed(void **state)
{
	size_t bytes, item = sizeof(struct gpu_work_run) + 16;
	void *p = run_payload(&bytes);

	for (size_t n = 0; n < bytes; n++)
		assert_int_equal(decode_run(p, n, SIZE_MAX, 0), -EINVAL);
	assert_int_equal(decode_run(p, bytes, SIZE_MAX, 0), 0);
	/* Nothing behind the end is read, whatever a word says. */
	for (size_t word = 0; word < bytes / 4; word++) {
		decode_run(p, bytes, word, UINT32_MAX);
		decode_run(p, bytes, word, UINT32_MAX - 7);
		decode_run(p, bytes, word, (uint32_t)bytes);
	}
	assert_int_equal(decode_run(p, bytes, 0, sizeof(struct gpu_work_run) + 1), -EINVAL);
	assert_int_equal(decode_run(p, bytes, 1, 4), -EINVAL);
	assert_int_equal(decode_run(p, bytes, 1, GPU_RUN_HOLD), -EINVAL);
	assert_int_equal(decode_run(p, bytes, 3, 6), -EINVAL);
	assert_int_equal(decode_run(p, bytes, 7, 1u << 31), -EINVAL);	/* of cycles */
	assert_int_equal(decode_run(p, bytes, 9, 1), -EINVAL);
	assert_int_equal(decode_run(p, bytes, item / 4, 0), -EINVAL);
	assert_int_equal(decode_run(p, bytes, item / 4, GPU_RUN_COPY + 1), -EINVAL);
	assert_int_equal(decode_run(p, bytes, item / 4 + 3, 1), -EINVAL);
	free(p);
}

static void test_reports_round_trip(void **state)
{
	const struct gpu_run_ended first = {
		.stream = 3, .status = -EFAULT, .fault_addr = 99,
		.message_bytes = 3, .output_bytes = 2,
	};
	const struct gpu_run_ended second = { .stream = 4, .mark = 8, .cycle = 1000 };
	const uint32_t streams[] = { 9, 8, 7 }, *busy;
	struct gpu_run_items items = { NULL };
	struct gpu_run_report head;
	struct gpu_run_ended e;
	size_t bytes, at;
	const char *text;
	void *p;

	assert_int_equal(gpu_run_report_add(&items, &first, "bad", "hi"), 0);
	assert_int_equal(gpu_run_report_add(&items, &second, NULL, NULL), 0);
	assert_int_equal(gpu_run_report_encode(&(struct gpu_run_report){
		.now = 1234, .kept = 3, .nbusy = 3 }, streams, &items, &p, &bytes), 0);
	for (size_t n = 0; n < bytes; n++) {
		void *copy = malloc(n + !n);

		memcpy(copy, p, n);
		assert_int_equal(gpu_run_report_decode(copy, n, &head, &busy, &at), -EINVAL);
		free(copy);
	}
	assert_int_equal(gpu_run_report_decode(p, bytes, &head, &busy, &at), 0);
	assert_int_equal(head.now, 1234);
	assert_int_equal(head.nended, 2);
	assert_memory_equal(busy, streams, sizeof(streams));
	gpu_run_report_next(p, &at, &e, &text);
	assert_memory_equal(&e, &first, sizeof(e));
	assert_memory_equal(text, "badhi", 5);
	gpu_run_report_next(p, &at, &e, &text);
	assert_memory_equal(&e, &second, sizeof(e));
	assert_int_equal(at, bytes);
	free(p);
	free(items.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_without_parameters),
		cmocka_unit_test(test_every_other_length_is_refused),
		cmocka_unit_test(test_hostile_headers),
		cmocka_unit_test(test_textures),
		cmocka_unit_test(test_runs_round_trip),
		cmocka_unit_test(test_runs_that_are_malformed),
		cmocka_unit_test(test_reports_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
