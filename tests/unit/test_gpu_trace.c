// SPDX-License-Identifier: GPL-2.0
/*
 * The trace of gpu.trace, read back as a viewer reads it: CTAs of kernels side by side with their
 * kernel, their stream and their place, which nobody shares while both are there; and when CTAs
 * were parked. Times are microseconds, of a clock of 1000 MHz here: cycles are thousandths.
 */
#include "gpu_bench.h"

#define TRACE_SM	10	/* pid of SM 0 */
#define MOST		512u

struct slice {
	const char *name, *kernel;
	uint64_t begin, end;
	int64_t pid, tid, stream;
	uint32_t registers[2], shared[2];
	uint64_t slots;			/* a bit each, of 64 */
	unsigned int nslots;
};

struct world {
	struct gpu_bench b;
	unsigned int submitted;
	struct json_object *top;
	struct slice slices[MOST];
	size_t count;
};

static void done(void *ctx, int status, uint64_t fault_addr, const struct err *err,
		 char *output, size_t bytes)
{
	if (status)
		fail_msg("%s", err->text);
	free(output);
}

static void make(struct world *w, const char *cta, unsigned int warps)
{
	memset(w, 0, sizeof(*w));
	bench_spec(&w->b);
	w->b.spec.paging = 0;
	w->b.spec.sms = 1;
	w->b.spec.mixed_sms = 1;
	w->b.spec.clock_mhz = 1000;
	w->b.spec.trace_spans = 4096;
	w->b.spec.warps = warps;
	w->b.spec.timeslice = 100;
	strcpy(w->b.spec.dispatch, "fcfs");
	strcpy(w->b.spec.cta, cta);
	bench_open(&w->b, PTX_HEAD PTX_MIX, 4u << 20, NULL);
}

static void submit(struct world *w, uint32_t stream, uint32_t grid, uint32_t block)
{
	uint64_t param = (uintptr_t)w->b.memory + 65536 * w->submitted++;
	const struct gpu_launch l = {
		.module = 1, .kernel = "mix", .grid = { grid, 1, 1 }, .block = { block, 1, 1 },
		.params = &param, .param_bytes = sizeof(param),
	};

	assert_int_equal(gpu_session_submit(w->b.session, stream, &l, done, NULL), 0);
}

/* --- reading --------------------------------------------------------------------------- */

static struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(o, key, &value);
	return value;
}

static uint64_t cycles(struct json_object *us)
{
	return (uint64_t)(json_object_get_double(us) * 1000 + 0.5);
}

static void extent(struct json_object *pair, uint32_t to[2])
{
	for (size_t i = 0; pair && i < 2; i++)
		to[i] = (uint32_t)json_object_get_int64(json_object_array_get_idx(pair, i));
}

/* "0-3,6" */
static void slots(struct slice *s, const char *text)
{
	unsigned int from, to;
	int n;

	while (*text) {
		assert_int_equal(sscanf(text, "%u%n", &from, &n), 1);
		text += n;
		to = from;
		if (*text == '-') {
			assert_int_equal(sscanf(text, "-%u%n", &to, &n), 1);
			text += n;
		}
		assert_true(from <= to && to < 64);
		for (; from <= to; from++, s->nslots++)
			s->slots |= 1ull << from;
		text += *text == ',';
	}
}

static void finish(struct world *w)
{
	struct json_object *events;
	char *text;

	gpu_session_finish(w->b.session);
	text = gpu_session_statistics(w->b.session);
	w->top = json_tokener_parse(text);
	free(text);
	assert_non_null(w->top);
	assert_int_equal(json_object_get_int64(member(member(w->top, "trace"), "dropped")), 0);
	events = member(member(w->top, "trace"), "traceEvents");
	for (size_t i = 0; i < json_object_array_length(events); i++) {
		struct json_object *e = json_object_array_get_idx(events, i);
		struct json_object *args = member(e, "args");
		struct slice *s = &w->slices[w->count];

		if (strcmp(json_object_get_string(member(e, "ph")), "X"))
			continue;
		assert_true(++w->count < MOST);
		s->name = json_object_get_string(member(e, "name"));
		s->pid = json_object_get_int64(member(e, "pid"));
		s->tid = json_object_get_int64(member(e, "tid"));
		s->begin = cycles(member(e, "ts"));
		s->end = s->begin + cycles(member(e, "dur"));
		s->kernel = json_object_get_string(member(args, "kernel"));
		s->stream = json_object_get_int64(member(args, "stream"));
		extent(member(args, "registers"), s->registers);
		extent(member(args, "shared"), s->shared);
		if (member(args, "slots"))
			slots(s, json_object_get_string(member(args, "slots")));
	}
}

static void leave(struct world *w)
{
	json_object_put(w->top);
	bench_close(&w->b);
}

static bool is_cta(const struct slice *s)
{
	return s->pid == TRACE_SM && s->kernel;
}

static bool is_parked(const struct slice *s)
{
	return s->pid == TRACE_SM && !strcmp(s->name, "parked");
}

/* At a time; what ends where the other begins is not. */
static bool meet(const struct slice *a, const struct slice *b)
{
	return a->begin < b->end && b->begin < a->end;
}

static bool overlap(const uint32_t a[2], const uint32_t b[2])
{
	return a[0] < b[1] && b[0] < a[1];
}

/* --- tests ------------------------------------------------------------------------------- */

static void test_kernels_side_by_side(void **state)
{
	unsigned int ctas[3] = { 0 }, together = 0;
	const struct slice *kernels[3] = { NULL };
	struct world w;

	make(&w, "baseline", 48);
	submit(&w, 1, 6, 64);
	submit(&w, 2, 10, 96);
	finish(&w);
	for (size_t i = 0; i < w.count; i++)
		if (w.slices[i].pid == 1)
			kernels[w.slices[i].stream] = &w.slices[i];
	for (size_t i = 0; i < w.count; i++) {
		const struct slice *a = &w.slices[i];
		unsigned int cta;

		assert_false(is_parked(a));
		if (!is_cta(a))
			continue;
		assert_string_equal(a->kernel, "mix");
		assert_in_range(a->stream, 1, 2);
		assert_int_equal(sscanf(a->name, "mix %u,0,0", &cta), 1);
		assert_false(ctas[a->stream] >> cta & 1);
		ctas[a->stream] |= 1u << cta;
		assert_true(a->begin >= kernels[a->stream]->begin &&
			    a->end <= kernels[a->stream]->end);
		assert_int_equal(a->nslots, a->stream + 1);
		/* Registers by warp in units of 64, shared memory 4096 bytes: PTX_MIX. */
		assert_int_equal((a->registers[1] - a->registers[0]) % (64 * a->nslots), 0);
		assert_true(a->registers[1] > a->registers[0]);
		assert_int_equal(a->shared[1] - a->shared[0], 4096);
		for (size_t k = 0; k < i; k++) {
			const struct slice *b = &w.slices[k];

			if (!is_cta(b) || !meet(a, b))
				continue;
			together += a->stream != b->stream;
			assert_true(a->tid != b->tid);
			assert_int_equal(a->slots & b->slots, 0);
			assert_false(overlap(a->registers, b->registers));
			assert_false(overlap(a->shared, b->shared));
		}
	}
	/* Each once. */
	assert_int_equal(ctas[1], (1u << 6) - 1);
	assert_int_equal(ctas[2], (1u << 10) - 1);
	assert_true(together > 6);
	leave(&w);
}

/* The CTA that it is a time of: on its track, around it. */
static const struct slice *owner(const struct world *w, const struct slice *parked)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct slice *s = &w->slices[i];

		if (is_cta(s) && s->tid == parked->tid && s->begin <= parked->begin &&
		    s->end >= parked->end)
			return s;
	}
	return NULL;
}

static void test_parked_ctas(void **state)
{
	unsigned int parked = 0, waited = 0, ctas = 0;
	struct world w;

	make(&w, "timeslice", 8);
	submit(&w, 0, 9, 128);
	finish(&w);
	for (size_t i = 0; i < w.count; i++) {
		const struct slice *p = &w.slices[i];

		ctas += is_cta(p);
		if (!is_parked(p))
			continue;
		assert_non_null(owner(&w, p));
		assert_true(p->begin < p->end);
		/* 4 slots were given up, but before it had any. */
		if (p->begin == owner(&w, p)->begin)
			assert_int_equal(p->nslots, 0);
		else
			assert_int_equal(p->nslots, 4);
		waited += !p->nslots;
		parked += p->nslots != 0;
	}
	assert_int_equal(ctas, 9);
	/* 8 slots are two CTAs' of the 9 that registers and shared memory hold. */
	assert_int_equal(waited, 7);
	assert_int_equal(parked, bench_stat(&w.b, "sms.0.parked_ctas"));
	assert_true(parked > 9);
	/* In no cycle do more than two hold slots. */
	for (size_t i = 0; i < w.count; i++) {
		const struct slice *at = &w.slices[i];
		int hold = 0;

		if (!is_cta(at))
			continue;
		for (size_t k = 0; k < w.count; k++) {
			const struct slice *s = &w.slices[k];
			int n = s->begin <= at->begin && at->begin < s->end;

			hold += is_cta(s) ? n : is_parked(s) ? -n : 0;
		}
		assert_in_range(hold, 0, 2);
	}
	leave(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels_side_by_side),
		cmocka_unit_test(test_parked_ctas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
