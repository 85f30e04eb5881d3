// SPDX-License-Identifier: GPL-2.0
/*
 * Two sessions of one GPU that take turns in the middle of their kernels: each computes and
 * counts what it would alone, both get on with less memory than either wants, and what was set
 * aside can be ended.
 */
#include "gpu/loop.h"
#include "gpu_bench.h"
#include "service/sim.h"

#define OTHER		2u
#define OTHER_AT	0x300000000000ull
#define PAGES		256u

/* A second client's session and memory, on the bench's GPU. */
struct other {
	struct gpu_session *session;
	uint8_t *memory;
};

struct told {
	unsigned int times;
	int status;
};

static void done(void *ctx, int status, uint64_t fault_addr, const struct err *err,
		 char *output, size_t bytes)
{
	struct told *told = ctx;

	told->times++;
	told->status = status;
	free(output);
}

/* Its ctx counts how often it was asked; the answer is always the same. */
static bool at_once(void *ctx)
{
	++*(unsigned int *)ctx;
	return true;
}

static void fill(uint8_t *memory, size_t bytes, uint32_t seed)
{
	for (size_t i = 0; i < bytes / 4; i++)
		((uint32_t *)memory)[i] = (uint32_t)i * 2654435761u + seed;
}

static void open_both(struct gpu_bench *b, struct other *o, uint64_t vram_pages)
{
	const char *ptx = PTX_HEAD PTX_GATHER PTX_MIX;
	size_t bytes = (PAGES + 16) * 4096;

	bench_spec(b);
	b->spec.vram_bytes = vram_pages * 4096;
	b->spec.sms = 4;
	bench_open(b, ptx, bytes, NULL);
	fill(b->memory, bytes, 1);
	o->memory = mmap((void *)OTHER_AT, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	assert_ptr_equal(o->memory, (void *)OTHER_AT);
	fill(o->memory, bytes, 2);
	assert_int_equal(service_sim_map(b->service, OTHER, OTHER_AT, bytes), 0);
	assert_int_equal(gpu_session_create(b->gpu, OTHER, &b->spec, &o->session, &b->err), 0);
	assert_int_equal(gpu_session_load(o->session, 1, "test.ptx", ptx, strlen(ptx), 0, &b->err),
			 0);
}

static void close_both(struct gpu_bench *b, struct other *o)
{
	if (o->session)
		gpu_session_destroy(o->session);
	munmap(o->memory, b->bytes);
	bench_close(b);
}

/* A word of each of the pages, in order, to the pages behind them. */
static void submit_gather(struct gpu_session *s, uint8_t *memory, struct told *told)
{
	uint64_t params[3] = { (uintptr_t)memory, (uintptr_t)memory + PAGES * 4096, 4096 };
	const struct gpu_launch l = {
		.module = 1, .kernel = "gather", .grid = { PAGES / 32, 1, 1 },
		.block = { 32, 1, 1 }, .params = params, .param_bytes = sizeof(params),
	};

	memset(told, 0, sizeof(*told));
	assert_int_equal(gpu_session_submit(s, 0, &l, done, told), 0);
}

static void submit_mix(struct gpu_session *s, uint8_t *memory, struct told *told)
{
	uint64_t param = (uintptr_t)memory + (PAGES + 8) * 4096;
	const struct gpu_launch l = {
		.module = 1, .kernel = "mix", .grid = { 8, 1, 1 }, .block = { 256, 1, 1 },
		.params = &param, .param_bytes = sizeof(param),
	};

	memset(told, 0, sizeof(*told));
	assert_int_equal(gpu_session_submit(s, 0, &l, done, told), 0);
}

static void check_gather(const uint8_t *memory, const struct told *told)
{
	assert_int_equal(told->times, 1);
	assert_int_equal(told->status, 0);
	for (unsigned int i = 0; i < PAGES; i++)
		assert_int_equal(((const uint32_t *)(memory + PAGES * 4096))[i],
				 *(const uint32_t *)(memory + i * 4096));
}

/* What each says of two kernels when it has the GPU for itself. */
static void alone(char **one, char **two, uint64_t vram_pages)
{
	struct told told[4];
	struct gpu_bench b;
	struct other o;

	open_both(&b, &o, vram_pages);
	submit_gather(b.session, b.memory, &told[0]);
	gpu_session_finish(b.session);
	check_gather(b.memory, &told[0]);
	submit_mix(b.session, b.memory, &told[1]);
	gpu_session_finish(b.session);
	submit_gather(o.session, o.memory, &told[2]);
	submit_mix(o.session, o.memory, &told[3]);
	gpu_session_finish(o.session);
	*one = gpu_session_statistics(b.session);
	*two = gpu_session_statistics(o.session);
	close_both(&b, &o);
}

static void test_counts_as_if_alone(void **state)
{
	unsigned int asked = 0, turns = 0;
	char *one, *two, *text;
	struct told told[4];
	struct gpu_bench b;
	struct other o;
	bool busy;

	alone(&one, &two, 2 * (PAGES + 16));
	open_both(&b, &o, 2 * (PAGES + 16));
	submit_gather(b.session, b.memory, &told[0]);
	submit_gather(o.session, o.memory, &told[2]);
	submit_mix(o.session, o.memory, &told[3]);
	do {
		busy = !gpu_session_go_on(b.session, at_once, &asked);
		/* The second comes when the first is done, as before. */
		if (!busy && turns < 1000000) {
			submit_mix(b.session, b.memory, &told[1]);
			turns += 1000000;
			busy = true;
		}
		busy |= !gpu_session_go_on(o.session, at_once, &asked);
		turns++;
	} while (busy);
	check_gather(b.memory, &told[0]);
	check_gather(o.memory, &told[2]);
	assert_int_equal(told[1].times, 1);
	assert_int_equal(told[3].times, 1);
	/* It was really set aside, and only where it was asked. */
	assert_true(turns - 1000000 > 10);
	assert_true(asked > 20);
	text = gpu_session_statistics(b.session);
	assert_string_equal(text, one);
	free(text);
	text = gpu_session_statistics(o.session);
	assert_string_equal(text, two);
	free(text);
	close_both(&b, &o);
	free(one);
	free(two);
}

/* How far it is, asked whenever it was set aside: from none of its CTAs to all of them. */
static void test_progress(void **state)
{
	unsigned int asked = 0, between = 0;
	struct gpu_progress p, last = { 0 };
	struct told told[2];
	struct gpu_bench b;
	struct other o;

	open_both(&b, &o, 64);
	p = gpu_session_progress(b.session);
	assert_true(!p.launches && !p.ctas_done && !p.ctas);
	b.spec.sms = 1;
	b.spec.ctas = 2;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, &b.err), 0);
	submit_gather(b.session, b.memory, &told[0]);
	submit_mix(b.session, b.memory, &told[1]);
	while (!gpu_session_go_on(b.session, at_once, &asked)) {
		p = gpu_session_progress(b.session);
		assert_in_range(p.launches, 1, 2);
		/* The gather's CTAs, then the mix's. */
		assert_true(p.ctas == (p.launches == 1 ? PAGES / 32 : 8) || !p.ctas);
		assert_true(p.ctas_done <= p.ctas);
		assert_true(p.launches > last.launches || p.ctas_done >= last.ctas_done || !p.ctas);
		between += p.ctas_done && p.ctas_done < p.ctas;
		last = p;
	}
	assert_true(between > 0);
	p = gpu_session_progress(b.session);
	assert_true(p.launches == 2 && !p.ctas_done && !p.ctas);
	/* The other one's launches are not its own. */
	assert_int_equal(gpu_session_progress(o.session).launches, 0);
	close_both(&b, &o);
}

/*
 * Frames for a few pages of one: each takes the other's in its turn, also those that are on
 * their way or waited for. Both end, all the same.
 */
static void little_memory(uint64_t vram_pages)
{
	unsigned int asked = 0, turns = 0;
	struct told told[2];
	struct gpu_bench b;
	struct other o;
	bool busy;

	open_both(&b, &o, vram_pages);
	submit_gather(b.session, b.memory, &told[0]);
	submit_gather(o.session, o.memory, &told[1]);
	do {
		busy = !gpu_session_go_on(b.session, at_once, &asked);
		busy |= !gpu_session_go_on(o.session, at_once, &asked);
		assert_true(++turns < 1000000);
	} while (busy);
	assert_true(turns > 3);
	check_gather(b.memory, &told[0]);
	check_gather(o.memory, &told[1]);
	close_both(&b, &o);
}

static void test_little_memory(void **state)
{
	static const uint64_t pages[] = { 2, 8, 33, 64, 256, 300 };

	for (unsigned int i = 0; i < ARRAY_SIZE(pages); i++)
		little_memory(pages[i]);
}

/* Time stands still for a session set aside: what was on its way still is, or was taken; it never came. */
static void test_nothing_lands_aside(void **state)
{
	unsigned int asked = 0, flying = 0, left = 0;
	bool flew[PAGES] = { false };
	struct told told[2];
	struct gpu_bench b;
	struct other o;

	open_both(&b, &o, 64);
	submit_gather(b.session, b.memory, &told[0]);
	submit_gather(o.session, o.memory, &told[1]);
	while (!flying) {
		assert_false(gpu_session_go_on(b.session, at_once, &asked));
		for (unsigned int i = 0; i < PAGES; i++)
			flying += flew[i] = paging_in_flight(b.session->paging,
							     (uintptr_t)b.memory + i * 4096);
	}
	gpu_session_finish(o.session);
	check_gather(o.memory, &told[1]);
	for (unsigned int i = 0; i < PAGES; i++) {
		uint64_t at = (uintptr_t)b.memory + i * 4096;
		bool flies = paging_in_flight(b.session->paging, at);

		left += flies;
		assert_true(!flew[i] || flies || !paging_resident(b.session->paging, at));
	}
	assert_true(left > 0);
	gpu_session_finish(b.session);
	check_gather(b.memory, &told[0]);
	close_both(&b, &o);
}

/* Its session ends: so does what it had set aside, and it is told so. */
static void test_ends_while_aside(void **state)
{
	unsigned int asked = 0;
	struct told told[2];
	struct gpu_bench b;
	struct other o;

	open_both(&b, &o, 64);
	submit_gather(b.session, b.memory, &told[0]);
	submit_gather(o.session, o.memory, &told[1]);
	assert_false(gpu_session_go_on(b.session, at_once, &asked));
	assert_false(gpu_session_go_on(o.session, at_once, &asked));
	assert_false(gpu_session_go_on(b.session, at_once, &asked));
	gpu_session_destroy(o.session);
	o.session = NULL;
	assert_int_equal(told[1].times, 1);
	gpu_session_finish(b.session);
	check_gather(b.memory, &told[0]);
	close_both(&b, &o);
}

/* What does all that was submitted goes on with what was set aside. */
static void test_finished_by_others(void **state)
{
	struct told told[2];
	unsigned int asked = 0;
	struct gpu_bench b;
	struct other o;

	open_both(&b, &o, 512);
	submit_gather(b.session, b.memory, &told[0]);
	assert_false(gpu_session_go_on(b.session, at_once, &asked));
	submit_mix(b.session, b.memory, &told[1]);
	assert_int_equal(told[0].times, 0);
	assert_int_equal(gpu_session_configure(b.session, &b.spec, &b.err), 0);
	check_gather(b.memory, &told[0]);
	assert_int_equal(told[1].times, 1);
	assert_true(gpu_session_go_on(b.session, at_once, &asked));
	close_both(&b, &o);
}

/* Touches, a batch a turn, are as many, and what they say is the same. */
static void test_touch_in_parts(void **state)
{
	char *whole = NULL, *parts = NULL;
	unsigned int asked = 0;
	struct gpu_touch *t;
	struct gpu_bench b;
	struct other o;
	int ret = 1;

	open_both(&b, &o, 512);
	assert_int_equal(gpu_session_touch(b.session, (uintptr_t)b.memory, PAGES * 4096, 4096, 16,
					   true, &whole, &b.err), 0);
	close_both(&b, &o);
	open_both(&b, &o, 512);
	t = gpu_touch_begin(b.session, (uintptr_t)b.memory, PAGES * 4096, 4096, 16, true, &ret,
			    &b.err);
	assert_non_null(t);
	assert_int_equal(ret, 0);
	for (unsigned int turns = 0; !gpu_touch_go_on(t, at_once, &asked); turns++)
		assert_true(turns < PAGES / 16);
	assert_int_equal(asked, PAGES / 16);
	assert_int_equal(gpu_touch_end(t, &parts, &b.err), 0);
	assert_string_equal(parts, whole);
	free(whole);
	free(parts);
	/* Given up in the middle. */
	t = gpu_touch_begin(o.session, OTHER_AT, PAGES * 4096, 4096, 16, true, &ret, &b.err);
	assert_non_null(t);
	assert_false(gpu_touch_go_on(t, at_once, &asked));
	assert_int_equal(gpu_touch_end(t, &parts, &b.err), 0);
	free(parts);
	assert_null(gpu_touch_begin(o.session, OTHER_AT, 0, 4096, 16, true, &ret, &b.err));
	assert_int_equal(ret, -EINVAL);
	close_both(&b, &o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_as_if_alone),
		cmocka_unit_test(test_progress),
		cmocka_unit_test(test_little_memory),
		cmocka_unit_test(test_nothing_lands_aside),
		cmocka_unit_test(test_ends_while_aside),
		cmocka_unit_test(test_finished_by_others),
		cmocka_unit_test(test_touch_in_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
