// SPDX-License-Identifier: GPL-2.0
/*
 * Every counter by kernel: of two kernels side by side on the same SMs, with far faults,
 * evictions, prefetches and remote accesses, each member of a kernel's own object is its part, and
 * the parts are the GPU's. Times and ratios are no parts.
 */
#include "base/advice.h"
#include "gpu_bench.h"

/* Members of a kernel that no part is of: time, ratios. */
static const char *const no_parts[] = {
	"row_hit_rate", "utilization", "cycles", "mean", "h2d_busy", "d2h_busy", "latency_cycles",
};

static void done(void *ctx, int status, uint64_t fault_addr, const struct err *err,
		 char *output, size_t bytes)
{
	if (status)
		fail_msg("%s", err->text);
	free(output);
}

static void submit(struct gpu_bench *b, uint32_t stream, const char *kernel, uint32_t grid,
		   const uint64_t *params, uint32_t bytes)
{
	const struct gpu_launch l = {
		.module = 1, .kernel = kernel, .grid = { grid, 1, 1 }, .block = { 64, 1, 1 },
		.params = params, .param_bytes = bytes,
	};

	assert_int_equal(gpu_session_submit(b->session, stream, &l, done, NULL), 0);
}

static struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *value = NULL;

	if (!json_object_object_get_ex(o, key, &value))
		fail_msg("no %s in %s", key, json_object_to_json_string(o));
	return value;
}

static bool no_part(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(no_parts); i++)
		if (!strcmp(key, no_parts[i]))
			return true;
	return false;
}

/* The counts in `a` and `b` together are those in `all`, which may have more. How many there are. */
static unsigned int parts(struct json_object *a, struct json_object *b, struct json_object *all,
			  const char *where)
{
	unsigned int n = 0;

	json_object_object_foreach(a, key, value) {
		uint64_t one, two, sum;

		if (no_part(key))
			continue;
		if (json_object_is_type(value, json_type_object)) {
			n += parts(value, member(b, key), member(all, key), key);
			continue;
		}
		one = json_object_get_uint64(value);
		two = json_object_get_uint64(member(b, key));
		sum = json_object_get_uint64(member(all, key));
		if (one + two != sum)
			fail_msg("%s.%s: %lu and %lu are not %lu", where, key, one, two, sum);
		n += one && two;
	}
	return n;
}

static uint64_t number(struct json_object *o, const char *a, const char *b)
{
	o = member(o, a);
	return json_object_get_uint64(b ? member(o, b) : o);
}

/* A kernel's `paging` and the GPU's: names differ, and the kernel's has only its own counts. */
static void check_paging(struct json_object *a, struct json_object *b, struct json_object *all)
{
	static const char *const same[] = {
		"far_faults", "batches", "nacks", "prefetched_pages", "evicted_pages", "h2d_bytes",
	};

	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		uint64_t sum = number(a, same[i], NULL) + number(b, same[i], NULL);

		if (sum != number(all, same[i], NULL))
			fail_msg("%s: %lu, not %lu", same[i], sum, number(all, same[i], NULL));
		if (strcmp(same[i], "nacks"))
			assert_true(number(a, same[i], NULL) && number(b, same[i], NULL));
	}
	assert_int_equal(number(a, "far_waits", NULL) + number(b, "far_waits", NULL),
			 number(all, "far_wait_cycles", "count"));
	assert_int_equal(number(a, "far_wait_cycles", NULL) + number(b, "far_wait_cycles", NULL),
			 number(all, "far_wait_cycles", "sum"));
	/* The first reads four bytes a thread from system memory, the second writes them. */
	assert_int_equal(number(a, "remote", "writes"), 0);
	assert_int_equal(number(b, "remote", "reads"), 0);
	assert_true(number(a, "remote", "reads") && number(b, "remote", "writes"));
	assert_int_equal(number(b, "remote", "write_bytes"), 32 * 64 * 4);
	assert_true(number(a, "remote", "h2d_busy_ns") && !number(b, "remote", "h2d_busy_ns"));
	parts(member(a, "remote"), member(b, "remote"), member(all, "remote"), "remote");
}

/* Scheduler cycles: of the SMs, those of no kernel are no_warp. */
static void check_stalls(struct json_object *a, struct json_object *b, struct json_object *sms)
{
	json_object_object_foreach(a, key, value) {
		uint64_t sum = 0, own = json_object_get_uint64(value) + number(b, key, NULL);

		for (size_t i = 0; i < json_object_array_length(sms); i++)
			sum += number(member(json_object_array_get_idx(sms, i), "stalls"), key,
				      NULL);
		if (strcmp(key, "no_warp"))
			assert_int_equal(own, sum);
		else
			assert_true(own <= sum);
	}
}

static void test_parts(void **state)
{
	struct json_object *top, *a, *b;
	struct gpu_bench w;
	uint64_t at;
	char *text;

	bench_spec(&w);
	w.spec.sms = 2;
	w.spec.mixed_sms = 1;
	w.spec.l2tlb_entries = 64;
	/* So few that pages are looked for again, and found in the shared TLB. */
	w.spec.tlb_entries = 2;
	w.spec.vram_bytes = 24 * 4096;
	w.spec.batch = 4;
	strcpy(w.spec.dispatch, "fcfs");
	strcpy(w.spec.prefetch, "tree");
	bench_open(&w, PTX_HEAD PTX_GATHER PTX_VECADD, 1u << 20, NULL);
	at = (uintptr_t)w.memory;
	/* The last 256 KiB stay in system memory. */
	assert_int_equal(gpu_session_set_advice(w.session, &(struct advice_range){
		.addr = at + (768u << 10), .bytes = 256u << 10,
		.flags = ADVICE_PREFER_HOST | ADVICE_ACCESSED_BY,
	}, 1, &w.err), 0);
	submit(&w, 1, "vecadd", 256, (uint64_t[]){ at + (768u << 10), at, at + (128u << 10),
						    64 * 256 }, 28);
	submit(&w, 2, "gather", 32, (uint64_t[]){ at + (256u << 10), at + (896u << 10), 128 }, 24);
	gpu_session_finish(w.session);
	text = gpu_session_statistics(w.session);
	top = json_tokener_parse(text);
	a = json_object_array_get_idx(member(top, "kernels"), 0);
	b = json_object_array_get_idx(member(top, "kernels"), 1);
	free(text);
	check_paging(member(a, "paging"), member(b, "paging"), member(top, "paging"));
	check_stalls(member(a, "stalls"), member(b, "stalls"), member(top, "sms"));
	/* Caches, crossbar, DRAM, TLBs and walks; of most both kernels have some. */
	assert_in_range(parts(member(a, "memory"), member(b, "memory"), member(top, "memory"),
			  "memory"), 30, 100);
	/* The sum is kept where all are counted for the first. */
	assert_true(number(member(b, "memory"), "l2tlb", "hits"));
	json_object_put(top);
	bench_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
