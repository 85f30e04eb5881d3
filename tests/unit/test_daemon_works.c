// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon's works: sessions of several clients on one GPU, in whose streams their launches
 * run, works that are kept until their client waits, whose turn it is, and what is told of each
 * work. The module is daemon_module.h's; pages move by the sim service.
 */
#include "service/sim.h"
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loader.h"
#include "works.h"
#include "daemon_module.h"

/* Each of its 64 threads counts to n and stores n + its number. */
static const char ptx[] = PTX_HEAD
	".visible .entry count(.param .u64 p, .param .u64 n)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n"
	"mov.u32 %r3, %tid.x;\n"
	"ld.param.u64 %rd1, [p];\nld.param.u32 %r5, [n];\nmov.u32 %r6, 0;\n"
	"AGAIN:\nadd.s32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, %r5;\n@%p1 bra AGAIN;\n"
	"add.s32 %r7, %r6, %r3;\nmul.wide.u32 %rd2, %r3, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
	"st.global.u32 [%rd3], %r7;\nret;\n}\n";

/* --- a daemon ------------------------------------------------------------------------ */

struct world {
	struct gpu_bench b;
	struct works *works;
	struct log log;
	uint64_t id;
};

static void make_with(struct world *w, const struct works_limits *limits)
{
	memset(w, 0, sizeof(*w));
	memset(&module, 0, sizeof(module));
	module.text = ptx;
	bench_spec(&w->b);
	w->b.spec.paging = 0;
	bench_open(&w->b, ptx, 1 << 20, NULL);
	for (uint32_t client = CLIENT; client <= OTHER; client++)
		assert_int_equal(service_sim_map(w->b.service, client, (uintptr_t)w->b.memory,
						 w->b.bytes), 0);
	assert_int_equal(works_create(w->b.gpu, w->b.service, &w->b.spec, &w->log, limits,
				      &w->works), 0);
}

static void make(struct world *w, unsigned int slice_ms)
{
	const struct works_limits limits = {
		.slice_ms = slice_ms, .load_seconds = 60, .client_bytes = 1 << 30,
		.all_bytes = 1ull << 31,
	};

	make_with(w, &limits);
}

/* As the daemon does while PTX is parsed, until it is. */
static void wait_for_loads(struct world *w)
{
	while (works_load(w->works)) {
		assert_int_equal(works_look_at_loads(w->works), 0);
		if (works_wait(w->works))
			assert_int_equal(works_next(w->works), 0);
		else
			usleep(1000);
	}
}

static void do_work(struct world *w, const struct service_work *work)
{
	assert_int_equal(works_do(w->works, work), 0);
	wait_for_loads(w);
}

static struct service_work load_of(struct gpu_work_load *l, uint32_t client, uint32_t id)
{
	*l = (struct gpu_work_load){ .size = sizeof(*l), .module = id, .name = "count" };
	return (struct service_work){
		.id = 99, .va_space = client, .kind = WORK_LOAD, .payload = l,
		.payload_bytes = sizeof(*l),
	};
}

/* The client's session knows the module. */
static void load(struct world *w, uint32_t client)
{
	struct gpu_work_load l;
	const struct service_work work = load_of(&l, client, 1);

	do_work(w, &work);
	assert_int_equal(module.done[module.ndone - 1].status, 0);
	module.ndone--;
}

static void end(struct world *w)
{
	works_destroy(w->works);
	for (unsigned int i = 0; i < module.ndone; i++)
		free(module.done[i].report);
	bench_close(&w->b);
}

static struct service_work work_of(struct world *w, uint32_t client, uint32_t kind,
				   uint32_t stream, void *payload, size_t bytes)
{
	return (struct service_work){
		.id = ++w->id, .va_space = client, .kind = kind, .stream = stream,
		.payload = payload, .payload_bytes = (uint32_t)bytes,
	};
}

static uint32_t *results(struct world *w, unsigned int n)
{
	return (uint32_t *)(w->b.memory + 4096 * n);
}

/* The n-th 4 KiB are where it counts. add: it is kept until its turn. */
static void count(struct world *w, uint32_t client, uint32_t stream, unsigned int n, uint64_t to,
		  bool add)
{
	uint64_t params[2] = { (uintptr_t)results(w, n), to };
	const struct gpu_launch l = {
		.module = 1, .kernel = "count", .grid = { 1, 1, 1 }, .block = { 64, 1, 1 },
		.params = params, .param_bytes = sizeof(params),
	};
	struct service_work work;
	void *payload;
	size_t bytes;

	assert_int_equal(gpu_work_encode_launch(&l, &payload, &bytes), 0);
	work = work_of(w, client, WORK_LAUNCH, stream, payload, bytes);
	if (add)
		works_add(w->works, &work);
	else
		do_work(w, &work);
	free(payload);
}

static struct json_object *statistics(struct world *w, uint32_t client)
{
	struct service_work work = work_of(w, client, WORK_STATISTICS, 0, NULL, 0);
	struct json_object *o;

	assert_int_equal(works_do(w->works, &work), 0);
	assert_int_equal(module.done[module.ndone - 1].status, 0);
	o = json_tokener_parse(module.done[module.ndone - 1].report);
	assert_non_null(o);
	return o;
}

static uint64_t kernel_number(struct json_object *o, unsigned int n, const char *key)
{
	struct json_object *kernels, *value;

	assert_true(json_object_object_get_ex(o, "kernels", &kernels));
	assert_true(json_object_object_get_ex(json_object_array_get_idx(kernels, n), key, &value));
	return json_object_get_uint64(value);
}

/* --- tests ----------------------------------------------------------------------------- */

/* A launch is in its own stream, and each client has statistics of its own. */
static void test_streams_and_sessions(void **state)
{
	struct json_object *o;
	struct world w;

	make(&w, 0);
	count(&w, CLIENT, 3, 0, 100, false);
	count(&w, OTHER, 0, 1, 50, false);
	count(&w, CLIENT, 0, 2, 70, false);
	assert_int_equal(module.ndone, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(module.done[i].status, 0);
	for (uint32_t t = 0; t < 64; t++) {
		assert_int_equal(results(&w, 0)[t], 100 + t);
		assert_int_equal(results(&w, 1)[t], 50 + t);
		assert_int_equal(results(&w, 2)[t], 70 + t);
	}
	o = statistics(&w, CLIENT);
	assert_int_equal(kernel_number(o, 0, "stream"), 3);
	assert_int_equal(kernel_number(o, 1, "stream"), 0);
	assert_true(kernel_number(o, 1, "start") >= kernel_number(o, 0, "cycles"));
	json_object_put(o);
	o = statistics(&w, OTHER);
	assert_int_equal(kernel_number(o, 0, "start"), 0);
	json_object_put(o);
	end(&w);
}

/* Clients take turns: a long launch is set aside for another client's short one. */
static void test_turns(void **state)
{
	struct world w;

	make(&w, 1);
	load(&w, CLIENT);
	load(&w, OTHER);
	count(&w, CLIENT, 1, 0, 200000, true);
	count(&w, OTHER, 1, 1, 10, true);
	assert_true(works_wait(w.works));
	assert_int_equal(works_next(w.works), 0);
	assert_int_equal(module.ndone, 0);
	assert_int_equal(works_next(w.works), 0);
	assert_int_equal(module.ndone, 1);
	assert_int_equal(module.done[0].id, 2);
	module.news = false;
	assert_int_equal(works_next(w.works), 0);
	assert_int_equal(module.ndone, 2);
	assert_int_equal(module.done[1].status, 0);
	assert_int_equal(results(&w, 0)[5], 200005);
	assert_false(works_wait(w.works));
	end(&w);
}

/*
 * The client is told how far its long kernel is, seldom, and that it has ended. Of a short one
 * nothing is told.
 */
static void test_progress_is_told(void **state)
{
	struct timespec from, to;
	struct world w;

	make(&w, 0);
	load(&w, OTHER);
	count(&w, OTHER, 1, 0, 10, false);
	assert_int_equal(module.ntold, 0);
	clock_gettime(CLOCK_MONOTONIC, &from);
	count(&w, OTHER, 1, 1, 300000, false);
	clock_gettime(CLOCK_MONOTONIC, &to);
	assert_in_range(module.ntold, 2, 2 + 4 * (to.tv_sec - from.tv_sec + 1));
	assert_int_equal(module.first.va_space, OTHER);
	assert_int_equal(module.first.launches, 2);
	assert_int_equal(module.first.ctas_done, 0);
	assert_int_equal(module.first.ctas, 1);
	assert_int_equal(module.last.va_space, OTHER);
	assert_int_equal(module.last.launches, 2);
	assert_int_equal(module.last.ctas, 0);
	end(&w);
}

/* What a client sends is not trusted; each refusal has its sentence, and the next work is done. */
static void test_refusals(void **state)
{
	struct gpu_work_prefetch p = { .size = sizeof(p), .addr = 1ull << 50, .bytes = 4096 };
	struct gpu_work_touch touch = {
		.size = sizeof(touch), .batch = 1, .bytes = 4096, .stride = 4096,
		.flags = GPU_TOUCH_FLAGS + 1,
	};
	uint64_t junk[4] = { 0 };
	struct service_work work;
	struct world w;

	make(&w, 0);
	work = work_of(&w, CLIENT, 99, 0, junk, sizeof(junk));
	assert_int_equal(works_do(w.works, &work), 0);
	assert_int_equal(module.done[0].status, -EOPNOTSUPP);
	assert_non_null(strstr(module.done[0].message, "unknown kind of work 99"));
	work = work_of(&w, CLIENT, WORK_LAUNCH, 1, junk, sizeof(junk));
	assert_int_equal(works_do(w.works, &work), 0);
	assert_int_equal(module.done[1].status, -EINVAL);
	assert_non_null(strstr(module.done[1].message, "malformed launch"));
	work = work_of(&w, CLIENT, WORK_PREFETCH, 1, &p, sizeof(p));
	assert_int_equal(works_do(w.works, &work), 0);
	assert_int_equal(module.done[2].status, -EFAULT);
	p.addr = 0;
	p.to_host = 2;
	work = work_of(&w, CLIENT, WORK_PREFETCH, 1, &p, sizeof(p));
	assert_int_equal(works_do(w.works, &work), 0);
	assert_int_equal(module.done[3].status, -EINVAL);
	work = work_of(&w, CLIENT, WORK_TOUCH, 1, &touch, sizeof(touch));
	assert_int_equal(works_do(w.works, &work), 0);
	assert_int_equal(module.done[4].status, -EINVAL);
	assert_non_null(strstr(module.done[4].message, "malformed touch"));
	count(&w, CLIENT, ~0u, 0, 9, false);
	assert_int_equal(module.done[5].status, 0);
	assert_int_equal(results(&w, 0)[1], 10);
	end(&w);
}

/* --- works that are kept ---------------------------------------------------------------- */

static void add_count(struct world *w, struct gpu_run_items *items, uint32_t stream,
		      unsigned int n, uint64_t to)
{
	uint64_t params[2] = { (uintptr_t)results(w, n), to };
	const struct gpu_launch l = {
		.module = 1, .kernel = "count", .grid = { 1, 1, 1 }, .block = { 64, 1, 1 },
		.params = params, .param_bytes = sizeof(params),
	};
	void *payload;
	size_t bytes;

	assert_int_equal(gpu_work_encode_launch(&l, &payload, &bytes), 0);
	assert_int_equal(gpu_run_add(items, GPU_RUN_LAUNCH, stream, payload, bytes), 0);
	free(payload);
}

static void add_number(struct gpu_run_items *items, uint32_t kind, uint32_t stream, uint64_t n)
{
	assert_int_equal(gpu_run_add(items, kind, stream, &n, sizeof(n)), 0);
}

/* Empties items. */
static struct service_work run_work(struct world *w, uint32_t client, struct gpu_work_run how,
				    const uint32_t *streams, struct gpu_run_items *items)
{
	void *payload;
	size_t bytes;

	if (!how.generation)
		how.generation = 3;
	assert_int_equal(gpu_run_encode(&how, streams, items, &payload, &bytes), 0);
	free(items->bytes);
	memset(items, 0, sizeof(*items));
	return work_of(w, client, WORK_RUN, 0, payload, bytes);
}

static int run(struct world *w, struct gpu_work_run how, const uint32_t *streams,
	       struct gpu_run_items *items)
{
	struct service_work work = run_work(w, CLIENT, how, streams, items);

	assert_int_equal(works_do(w->works, &work), 0);
	free(work.payload);
	return module.done[module.ndone - 1].status;
}

static struct gpu_run_report last_report(struct gpu_run_ended *ended, const uint32_t **busy)
{
	struct gpu_run_report head;
	const char *text;
	size_t at;

	assert_int_equal(gpu_run_report_decode(module.done[module.ndone - 1].report,
					       module.done[module.ndone - 1].bytes, &head, busy,
					       &at), 0);
	for (unsigned int i = 0; i < head.nended; i++)
		gpu_run_report_next(module.done[module.ndone - 1].report, &at, &ended[i], &text);
	return head;
}

/*
 * Held works do not run. A wait for one stream runs that one and an event in it; the rest stands
 * still, so that statistics, which would need all, are refused.
 */
static void test_kept_until_waited_for(void **state)
{
	const struct gpu_work_run hold = { .flags = GPU_RUN_HOLD }, one = { .nstreams = 1 };
	struct gpu_run_items items = { NULL };
	struct gpu_run_ended ended[4];
	struct gpu_run_report r;
	struct service_work work;
	const uint32_t *busy;
	uint32_t second = 2;
	struct world w;

	make(&w, 0);
	load(&w, CLIENT);
	add_count(&w, &items, 1, 0, 3000);
	add_count(&w, &items, 2, 1, 20);
	assert_int_equal(run(&w, hold, NULL, &items), 0);
	r = last_report(ended, &busy);
	assert_int_equal(r.nended, 0);
	assert_int_equal(r.kept, 2);
	assert_int_equal(r.nbusy, 2);
	assert_int_equal(r.now, 0);
	assert_int_equal(results(&w, 1)[0], 0);

	add_number(&items, GPU_RUN_RECORD, 2, 77);
	add_number(&items, GPU_RUN_AWAIT, 3, 77);
	add_count(&w, &items, 3, 2, 30);
	assert_int_equal(run(&w, one, &second, &items), 0);
	r = last_report(ended, &busy);
	assert_int_equal(r.nended, 2);
	assert_int_equal(ended[0].stream, 2);
	assert_int_equal(ended[0].mark, 0);
	assert_int_equal(ended[1].mark, 77);
	assert_int_equal(ended[1].cycle, r.now);
	assert_int_equal(r.kept, 2);
	assert_int_equal(r.nbusy, 2);
	assert_int_equal(busy[0], 1);
	assert_int_equal(busy[1], 3);
	assert_int_equal(results(&w, 1)[63], 83);
	assert_int_equal(results(&w, 0)[0], 0);

	work = work_of(&w, CLIENT, WORK_STATISTICS, 0, NULL, 0);
	assert_int_equal(works_do(w.works, &work), 0);
	assert_int_equal(module.done[module.ndone - 1].status, -EBUSY);
	/* So many cycles, and no more. */
	assert_int_equal(run(&w, (struct gpu_work_run){ .cycles = 100 }, NULL, &items), 0);
	assert_int_equal(last_report(ended, &busy).now, r.now + 100);
	assert_int_equal(run(&w, (struct gpu_work_run){ .nstreams = 0 }, NULL, &items), 0);
	r = last_report(ended, &busy);
	assert_int_equal(r.nended, 2);
	assert_int_equal(r.kept, 0);
	assert_int_equal(results(&w, 0)[1], 3001);
	assert_int_equal(results(&w, 2)[1], 31);
	json_object_put(statistics(&w, CLIENT));
	end(&w);
}

/* Refused as a whole, or told in the report; what was kept can be dropped. */
static void test_runs_that_are_refused(void **state)
{
	const struct gpu_work_run hold = { .flags = GPU_RUN_HOLD }, all = { .nstreams = 0 };
	struct gpu_run_items items = { NULL };
	struct gpu_run_ended ended[4];
	const uint32_t *busy, ninth = 9;
	struct world w;

	make(&w, 0);
	load(&w, CLIENT);
	add_count(&w, &items, 1, 0, 10);
	assert_int_equal(run(&w, (struct gpu_work_run){ .generation = 2 }, NULL, &items), -ESTALE);
	for (unsigned int i = 0; i < GPU_RUN_ITEMS; i++)
		add_count(&w, &items, i, 0, 10);
	assert_int_equal(run(&w, hold, NULL, &items), 0);
	add_count(&w, &items, 1, 1, 10);
	assert_int_equal(run(&w, all, NULL, &items), -E2BIG);
	assert_int_equal(results(&w, 0)[0], 0);
	add_count(&w, &items, 1, 1, 10);
	assert_int_equal(run(&w, (struct gpu_work_run){ .flags = GPU_RUN_DROP }, NULL, &items), 0);
	assert_int_equal(last_report(ended, &busy).nended, 1);
	assert_int_equal(results(&w, 0)[0], 0);
	assert_int_equal(results(&w, 1)[0], 10);
	/* A module that the client has not told of is not read for a launch. */
	add_count(&w, &items, 9, 2, 10);
	((struct gpu_work_launch *)(items.bytes + sizeof(struct gpu_run_item)))->module = 5;
	assert_int_equal(run(&w, hold, NULL, &items), 0);
	/* Until it is told, its stream has more to do. */
	assert_int_equal(last_report(ended, &busy).nbusy, 1);
	assert_int_equal(run(&w, (struct gpu_work_run){ .nstreams = 1 }, &ninth, &items), 0);
	assert_int_equal(last_report(ended, &busy).nbusy, 0);
	assert_int_equal(last_report(ended, &busy).nended, 1);
	assert_int_equal(ended[0].status, -ENOENT);
	add_number(&items, GPU_RUN_DELAY, 4, GPU_CYCLE_MAX + 1);
	assert_int_equal(run(&w, all, NULL, &items), 0);
	assert_int_equal(last_report(ended, &busy).nended, 1);
	assert_int_equal(ended[0].stream, 4);
	assert_int_equal(ended[0].status, -ERANGE);
	for (uint32_t i = 0; i <= GPU_TARGETS_MAX; i++) {
		add_number(&items, GPU_RUN_HALT, i, 5);
		if (items.count == GPU_RUN_ITEMS)
			assert_int_equal(run(&w, all, NULL, &items), 0);
	}
	assert_int_equal(run(&w, all, NULL, &items), 0);
	assert_int_equal(last_report(ended, &busy).nended, 1);
	assert_int_equal(ended[0].stream, GPU_TARGETS_MAX);
	assert_int_equal(ended[0].status, -ENOSPC);
	end(&w);
}

/* Many works are taken in turns with another client's, and none is lost. */
static void test_taking_takes_turns(void **state)
{
	struct gpu_run_items items = { NULL };
	struct gpu_run_ended ended[GPU_RUN_ITEMS];
	struct service_work work;
	unsigned int turns = 0;
	const uint32_t *busy;
	struct world w;

	make(&w, 1);
	load(&w, CLIENT);
	load(&w, OTHER);
	for (unsigned int i = 0; i < GPU_RUN_ITEMS; i++)
		add_count(&w, &items, 1 + i % 8, 0, 1 + i / 8);
	work = run_work(&w, CLIENT, (struct gpu_work_run){ .nstreams = 0 }, NULL, &items);
	works_add(w.works, &work);
	free(work.payload);
	count(&w, OTHER, 1, 1, 20000, true);
	while (works_wait(w.works)) {
		assert_int_equal(works_next(w.works), 0);
		turns++;
	}
	assert_int_equal(module.ndone, 2);
	assert_true(turns > 2);
	module.ndone = 1 + (module.done[1].bytes > 100);
	assert_int_equal(last_report(ended, &busy).nended, GPU_RUN_ITEMS);
	for (unsigned int i = 0; i < GPU_RUN_ITEMS; i++)
		assert_int_equal(ended[i].status, 0);
	module.ndone = 2;
	assert_int_equal(results(&w, 0)[3], GPU_RUN_ITEMS / 8 + 3);
	end(&w);
}

/* A wait is set aside for another client; that client is dead then, and its works end unrun. */
static void test_kept_works_take_turns(void **state)
{
	struct gpu_run_items items = { NULL };
	struct service_work work;
	struct world w;

	make(&w, 1);
	load(&w, CLIENT);
	load(&w, OTHER);
	add_count(&w, &items, 1, 0, 200000);
	work = run_work(&w, CLIENT, (struct gpu_work_run){ .nstreams = 0 }, NULL, &items);
	works_add(w.works, &work);
	free(work.payload);
	count(&w, OTHER, 1, 1, 10, true);
	assert_int_equal(works_next(w.works), 0);
	assert_int_equal(module.ndone, 0);
	assert_int_equal(works_next(w.works), 0);
	assert_int_equal(module.ndone, 1);
	assert_int_equal(module.done[0].id, 2);
	assert_int_equal(works_next(w.works), 0);
	assert_int_equal(module.ndone, 2);
	assert_int_equal(results(&w, 0)[5], 200005);

	add_count(&w, &items, 1, 0, UINT32_MAX);
	assert_int_equal(run(&w, (struct gpu_work_run){ .cycles = 50 }, NULL, &items), 0);
	module.dead[CLIENT] = module.dead[OTHER] = true;
	/* A third client's session: the first two are looked for. It would take hours to run. */
	work = work_of(&w, OTHER + 1, WORK_STATISTICS, 0, NULL, 0);
	assert_int_equal(works_do(w.works, &work), 0);
	assert_int_equal(module.done[module.ndone - 1].status, 0);
	assert_int_equal(results(&w, 0)[5], 200005);
	end(&w);
}

/* A client dies and no other does anything: its works end all the same, a living client's stay. */
static void test_works_of_the_dead(void **state)
{
	struct gpu_run_items items = { NULL };
	struct world w;

	make(&w, 0);
	load(&w, CLIENT);
	load(&w, OTHER);
	assert_false(works_kept(w.works));
	for (uint32_t client = CLIENT; client <= OTHER; client++) {
		struct service_work work;

		add_count(&w, &items, 1, client - CLIENT, UINT32_MAX);
		work = run_work(&w, client, (struct gpu_work_run){ .cycles = 50 }, NULL, &items);
		assert_int_equal(works_do(w.works, &work), 0);
		free(work.payload);
		/* Also of the session that was made first, while the other has none. */
		assert_true(works_kept(w.works));
	}
	works_forget_dead(w.works);
	assert_true(works_kept(w.works));
	module.dead[CLIENT] = true;
	works_forget_dead(w.works);
	assert_true(works_kept(w.works));
	module.dead[OTHER] = true;
	works_forget_dead(w.works);
	assert_false(works_kept(w.works));
	end(&w);
}

/* --- loading ------------------------------------------------------------------------------- */

/* What is checked as it runs takes ten times as long. */
#ifdef __SANITIZE_ADDRESS__
enum { SECONDS_KERNELS = 1, MOMENT_BLOCKS = 20000 };
#else
enum { SECONDS_KERNELS = 3, MOMENT_BLOCKS = 150000 };
#endif

/* A text that takes long: some seconds where it is checked as it runs. */
static char *long_text(int kernels, int blocks)
{
	enum { VALUES = 60 };
	size_t bytes = (size_t)kernels * ((size_t)blocks * 80 + VALUES * 80 + 200) + 200;
	char *text = malloc(bytes), *at = text;

	assert_non_null(text);
	at += sprintf(at, PTX_HEAD);
	for (int k = 0; k < kernels; k++) {
		at += sprintf(at, ".visible .entry big%d() {\n.reg .pred %%p<2>;\n.reg .b32 %%r<%d>;\n", k,
			      VALUES);
		for (int i = 0; i < VALUES; i++)
			at += sprintf(at, "mov.u32 %%r%d, %d;\n", i, i);
		for (int i = 0; i < blocks; i++)
			at += sprintf(at, "@%%p1 bra L%d;\nadd.s32 %%r%d, %%r%d, 1;\nL%d:\n", i, i % VALUES,
				      (7 * i + 3) % VALUES, i);
		for (int i = 0; i < VALUES; i++)
			at += sprintf(at, "st.global.u32 [0], %%r%d;\n", i);
		at += sprintf(at, "ret;\n}\n");
	}
	return text;
}

/* Others are served while one's text is parsed. */
static void test_loading_beside(void **state)
{
	char *text = long_text(1, 20000);
	struct gpu_work_load l;
	struct service_work work = load_of(&l, CLIENT, 2);
	struct world w;

	make(&w, 1);
	load(&w, OTHER);
	module.image = text;
	assert_int_equal(works_do(w.works, &work), 0);
	assert_true(works_load(w.works));
	assert_int_equal(module.ndone, 0);
	/* The work of another client, whole, while it goes on. */
	count(&w, OTHER, 0, 1, 50, true);
	while (!module.ndone)
		assert_int_equal(works_next(w.works), 0);
	assert_int_equal(module.done[0].id, 1);
	assert_int_equal(module.done[0].status, 0);
	assert_true(works_load(w.works));
	wait_for_loads(&w);
	assert_int_equal(module.ndone, 2);
	assert_int_equal(module.done[1].status, 0);
	end(&w);
	free(text);
}

/* A client that dies takes its load with it, and so does the daemon's end. */
static void test_loading_abandoned(void **state)
{
	char *text = long_text(1, 20000);
	struct gpu_work_load l, m;
	struct service_work work = load_of(&l, CLIENT, 2), other = load_of(&m, OTHER, 2);
	struct world w;

	make(&w, 1);
	module.image = text;
	assert_int_equal(works_do(w.works, &work), 0);
	assert_int_equal(works_do(w.works, &other), 0);
	module.dead[CLIENT] = true;
	assert_int_equal(works_look_at_loads(w.works), 0);
	assert_int_equal(module.ndone, 1);
	assert_int_equal(module.done[0].status, -ECANCELED);
	assert_true(works_load(w.works));
	works_forget_dead(w.works);
	end(&w);
	/* Nothing is left of either process. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	free(text);
}

/* A line of /proc/PID/status of this process's only child; "" while there is no child. */
static const char *child_status(const char *what)
{
	static char line[256];
	char path[64];
	int pid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	file = fopen(path, "r");
	assert_non_null(file);
	if (fscanf(file, "%d", &pid) != 1)
		pid = 0;
	fclose(file);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = pid ? fopen(path, "r") : NULL;
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, what, strlen(what))) {
			fclose(file);
			return line;
		}
	if (file)
		fclose(file);
	return "";
}

/* The process has given up its rights before it parses. */
static void test_loading_confined(void **state)
{
	char *text = long_text(1, 150000);
	struct gpu_work_load l;
	struct service_work work = load_of(&l, CLIENT, 2);
	bool confined = false;
	struct world w;

	make(&w, 1);
	module.image = text;
	assert_int_equal(works_do(w.works, &work), 0);
	while (!confined && works_load(w.works) && !works_wait(w.works)) {
		assert_int_equal(works_look_at_loads(w.works), 0);
#ifdef __SANITIZE_ADDRESS__
		/* The sanitiser's calls are not those of the filter. */
		confined = !strcmp(child_status("NoNewPrivs"), "NoNewPrivs:\t1\n");
#else
		confined = !strcmp(child_status("Seccomp:"), "Seccomp:\t2\n") &&
			   !strcmp(child_status("NoNewPrivs"), "NoNewPrivs:\t1\n");
#endif
		if (confined && !geteuid())
			confined = !strcmp(child_status("Uid"), "Uid:\t65534\t65534\t65534\t65534\n");
	}
	assert_true(confined);
	wait_for_loads(&w);
	assert_int_equal(module.done[0].status, 0);
	end(&w);
	free(text);
}

/* What the parser says reaches the client, and what the limits are. */
static void test_loading_refused(void **state)
{
	struct works_limits limits = {
		.load_seconds = 60, .client_bytes = 1 << 30, .all_bytes = 1 << 30,
	};
	/* Near the limits of a kernel and of a module: it takes seconds, also on a fast machine. */
	char *text = long_text(SECONDS_KERNELS, 150000);
	struct gpu_work_load l;
	struct service_work work = load_of(&l, CLIENT, 2);
	struct world w;

	make_with(&w, &limits);
	module.image = "nothing";
	do_work(&w, &work);
	assert_int_equal(module.done[0].status, -EINVAL);
	assert_non_null(strstr(module.done[0].message, "count:1: a directive is expected"));
	count(&w, CLIENT, 0, 0, 100, false);
	assert_int_equal(module.done[1].status, 0);
	end(&w);

	limits.load_seconds = 1;
	make_with(&w, &limits);
	module.image = text;
	do_work(&w, &work);
	assert_int_equal(module.done[0].status, -ETIMEDOUT);
	assert_non_null(strstr(module.done[0].message, "more than 1 s"));
	end(&w);

	limits.load_seconds = 60;
	limits.client_bytes = 4096;
	make_with(&w, &limits);
	module.image = ptx;
	do_work(&w, &work);
	assert_int_equal(module.done[0].status, -ENOMEM);
	assert_non_null(strstr(module.done[0].message, "--client-memory"));
	end(&w);
	free(text);
}

/* A text that a client loads again is not parsed again; both modules run, and each can go. */
static void test_loading_twice(void **state)
{
	struct gpu_work_load l;
	struct service_work work = load_of(&l, CLIENT, 2);
	struct world w;

	make(&w, 0);
	load(&w, CLIENT);
	module.image = ptx;
	assert_int_equal(works_do(w.works, &work), 0);
	/* There is no process to wait for. */
	assert_int_equal(works_look_at_loads(w.works), 0);
	assert_false(works_load(w.works));
	assert_true(works_wait(w.works));
	assert_int_equal(works_next(w.works), 0);
	assert_int_equal(module.done[0].status, 0);
	count(&w, CLIENT, 0, 0, 100, false);
	assert_int_equal(module.done[1].status, 0);
	assert_int_equal(results(&w, 0)[5], 105);
	end(&w);
}

/* --- memory ---------------------------------------------------------------------------------- */

#ifndef __SANITIZE_ADDRESS__
static uint64_t resident(void)
{
	unsigned long long all, bytes = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%llu %llu", &all, &bytes), 2);
	fclose(file);
	return bytes * PAGE_BYTES;
}

/*
 * 80,000 bytes of .local a thread, for all that fit the GPU, would be more than a GB: one line that
 * names the limit, another client is served, and nothing is held when the client is gone.
 */
static void test_local_memory(void **state)
{
	static const char text[] = PTX_HEAD
		".visible .entry count(.param .u64 p, .param .u64 n)\n{\n.local .b8 l[80000];\n"
		".reg .b32 %r<8>;\nmov.u32 %r1, 5;\nst.local.u32 [l+79996], %r1;\nret;\n}\n";
	const struct works_limits limits = {
		.load_seconds = 60, .client_bytes = 96 << 20, .all_bytes = 1 << 30,
	};
	uint64_t params[2] = { 0, 0 }, before;
	const struct gpu_launch l = {
		.module = 2, .kernel = "count", .grid = { 90, 1, 1 }, .block = { 256, 1, 1 },
		.params = params, .param_bytes = sizeof(params),
	};
	struct service_work work;
	struct world w;
	void *payload;
	size_t bytes;

	make_with(&w, &limits);
	load(&w, OTHER);
	count(&w, OTHER, 0, 1, 10, false);
	before = resident();
	module.image = text;
	assert_int_equal(gpu_work_encode_launch(&l, &payload, &bytes), 0);
	work = work_of(&w, CLIENT, WORK_LAUNCH, 0, payload, bytes);
	do_work(&w, &work);
	free(payload);
	assert_int_equal(module.done[1].status, -ENOMEM);
	assert_non_null(strstr(module.done[1].message, "at most 96 MiB for a client (--client-memory)"));
	assert_true(resident() < before + (128 << 20));
	count(&w, OTHER, 0, 0, 100, false);
	assert_int_equal(module.done[2].status, 0);
	/* The client itself goes on, too. */
	module.image = NULL;
	count(&w, CLIENT, 0, 2, 100, false);
	assert_int_equal(module.done[3].status, 0);
	module.dead[CLIENT] = true;
	works_forget_dead(w.works);
	assert_true(resident() < before + (8 << 20));
	end(&w);
}
#endif

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams_and_sessions),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_progress_is_told),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_kept_until_waited_for),
		cmocka_unit_test(test_runs_that_are_refused),
		cmocka_unit_test(test_taking_takes_turns),
		cmocka_unit_test(test_kept_works_take_turns),
		cmocka_unit_test(test_works_of_the_dead),
		cmocka_unit_test(test_loading_beside),
		cmocka_unit_test(test_loading_abandoned),
		cmocka_unit_test(test_loading_confined),
		cmocka_unit_test(test_loading_refused),
		cmocka_unit_test(test_loading_twice),
#ifndef __SANITIZE_ADDRESS__
		cmocka_unit_test(test_local_memory),
#endif
	};

	loader_process(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
