// SPDX-License-Identifier: GPL-2.0
/*
 * One program with streams on sim, uffd and kmod: kernels of several streams run at once, in the
 * order that events, delays and waits give, and the program finds so itself from the cycles that
 * are reported. And on kmod a client that leaves works to the engine and never waits: others go
 * on, and have the memory.
 * vm: daemon timeout=240 vram_mb=8
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gpuemu.h>

#include "lib/harness.h"
#include "lib/statistic.h"

#define PAGE		4096u
#define RESULTS		16u		/* pages of a stream's results */
#define MOVED		64u		/* pages of the prefetch */
#define CTAS		512u		/* of the kernel that is halted: some begin at once */
#define LONG		20000u		/* rounds of the kernel that runs all the time */
#define SHORT		500u
#define ARRIVAL		60000u		/* cycle; the long kernel takes ten times as long */

/*
 * count: each thread counts to n and stores n + its number. touch: thread t adds 1 to a word of
 * page t. append: the last word of v goes behind the list at p.
 */
static const char ptx[] =
	".version 3.2\n.target sm_35\n.address_size 64\n"
	".visible .entry count(.param .u64 p, .param .u32 n)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n"
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
	"mad.lo.s32 %r4, %r1, %r2, %r3;\n"
	"ld.param.u64 %rd1, [p];\nld.param.u32 %r5, [n];\nmov.u32 %r6, 0;\n"
	"AGAIN:\nadd.s32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, %r5;\n@%p1 bra AGAIN;\n"
	"add.s32 %r7, %r6, %r4;\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
	"st.global.u32 [%rd3], %r7;\nret;\n}\n"
	".visible .entry touch(.param .u64 p, .param .u32 n)\n{\n"
	".reg .b32 %r<8>;\n.reg .b64 %rd<6>;\n"
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
	"mad.lo.s32 %r4, %r1, %r2, %r3;\nmul.wide.u32 %rd1, %r4, 4096;\n"
	"ld.param.u64 %rd2, [p];\nadd.s64 %rd3, %rd2, %rd1;\n"
	"ld.global.u32 %r5, [%rd3];\nadd.s32 %r6, %r5, 1;\nst.global.u32 [%rd3], %r6;\nret;\n}\n"
	".visible .entry append(.param .u64 p, .param .align 4 .b8 v[4000])\n{\n"
	".reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"
	"ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [v+3996];\nld.global.u32 %r2, [%rd1];\n"
	"mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3+4], %r1;\n"
	"add.s32 %r3, %r2, 1;\nst.global.u32 [%rd1], %r3;\nret;\n}\n";

/* --- a program ------------------------------------------------------------------------ */

/* The purpose of each stream. */
enum { RUNS_LONG, RUNS_SHORT, MOVES, ARRIVES, AWAITS, HALTS, STREAMS };
static const char letters[] = "LSMDWH";

struct program {
	struct gpuemu_ctx *ctx;
	struct gpuemu_module *module;
	struct gpuemu_stream *stream[STREAMS];
	struct gpuemu_event *after_short, *before_move, *after_move;
	uint8_t *memory;		/* results of each stream, then what is moved */
	char order[2 * STREAMS];	/* in which the streams were done */
	int64_t moved_for;		/* cycles */
};

static int program_open(struct program *p, const char *backend)
{
	const struct gpuemu_options options = {
		.size = sizeof(options), .backend = backend, .settings = "paging.vram=4M\n",
	};
	int ret;

	memset(p, 0, sizeof(*p));
	ret = gpuemu_open(&p->ctx, &options);
	if (ret) {
		fprintf(stderr, "# %s: %s\n", backend, gpuemu_last_error(NULL));
		return ret;
	}
	ret = gpuemu_module_load_data(p->ctx, &p->module, ptx, strlen(ptx), "streams.ptx");
	if (!ret)
		ret = gpuemu_mem_alloc_managed(p->ctx, (void **)&p->memory,
					       (STREAMS * RESULTS + MOVED) * PAGE);
	for (unsigned int i = 0; !ret && i < STREAMS; i++)
		ret = gpuemu_stream_create(p->ctx, &p->stream[i]);
	if (!ret)
		ret = gpuemu_event_create(p->ctx, &p->after_short);
	if (!ret)
		ret = gpuemu_event_create(p->ctx, &p->before_move);
	return ret ? ret : gpuemu_event_create(p->ctx, &p->after_move);
}

static uint32_t *results(const struct program *p, unsigned int stream)
{
	return (uint32_t *)(p->memory + stream * RESULTS * PAGE);
}

static int launch(struct program *p, const char *kernel, unsigned int stream, void *at,
		  uint32_t ctas, uint32_t n)
{
	const struct gpuemu_arg args[] = { gpuemu_arg_ptr(at), gpuemu_arg_u32(n) };
	struct gpuemu_function *f;
	int ret = gpuemu_module_get_function(p->module, &f, kernel);

	return ret ? ret : gpuemu_launch(f, (struct gpuemu_dim3){ ctas, 1, 1 },
					 (struct gpuemu_dim3){ 32, 1, 1 }, 0, p->stream[stream],
					 args, 2);
}

static int count(struct program *p, unsigned int stream, uint32_t ctas, uint32_t n)
{
	return launch(p, "count", stream, results(p, stream), ctas, n);
}

/* Works of all streams; nothing has run when it returns. */
static int submit_all(struct program *p)
{
	uint8_t *moved = p->memory + STREAMS * RESULTS * PAGE;
	int ret = count(p, RUNS_LONG, 2, LONG);

	ret = ret ? ret : count(p, RUNS_SHORT, 2, SHORT);
	ret = ret ? ret : gpuemu_event_record(p->after_short, p->stream[RUNS_SHORT]);
	ret = ret ? ret : gpuemu_event_record(p->before_move, p->stream[MOVES]);
	ret = ret ? ret : gpuemu_mem_prefetch(p->ctx, moved, MOVED * PAGE, p->stream[MOVES]);
	ret = ret ? ret : gpuemu_event_record(p->after_move, p->stream[MOVES]);
	ret = ret ? ret : launch(p, "touch", MOVES, moved, MOVED / 32, 0);
	ret = ret ? ret : gpuemu_stream_delay(p->ctx, p->stream[ARRIVES], ARRIVAL);
	ret = ret ? ret : count(p, ARRIVES, 1, SHORT);
	ret = ret ? ret : gpuemu_stream_wait_event(p->ctx, p->stream[AWAITS], p->after_short);
	ret = ret ? ret : count(p, AWAITS, 1, SHORT);
	ret = ret ? ret : gpuemu_stream_halt_after(p->ctx, p->stream[HALTS], 32 * 100);
	ret = ret ? ret : count(p, HALTS, CTAS, SHORT / 2);
	return ret ? ret : count(p, HALTS, 1, SHORT);
}

static void is_done(struct program *p, unsigned int stream)
{
	p->order[strlen(p->order)] = letters[stream];
}

/* Waits for those streams one after another, whichever is done first. */
static int wait_each(struct program *p, const unsigned int *which, unsigned int n)
{
	struct gpuemu_stream *streams[STREAMS];
	unsigned int left[STREAMS], first;
	int ret = 0;

	memcpy(left, which, n * sizeof(*left));
	for (; !ret && n; n--) {
		for (unsigned int i = 0; i < n; i++)
			streams[i] = p->stream[left[i]];
		ret = gpuemu_stream_wait_any(p->ctx, streams, n, &first);
		if (ret)
			break;
		is_done(p, left[first]);
		memmove(&left[first], &left[first + 1], (n - first - 1) * sizeof(*left));
	}
	return ret;
}

static void run_program(struct __test_metadata *_metadata, struct program *p)
{
	static const unsigned int others[] = { RUNS_LONG, AWAITS, ARRIVES };

	/* So that the cycles are the kernels', whatever a fault costs. */
	ASSERT_EQ(0, gpuemu_mem_prefetch(p->ctx, p->memory, STREAMS * RESULTS * PAGE,
					 NULL));
	ASSERT_EQ(0, gpuemu_synchronize(p->ctx)) TH_LOG("%s", gpuemu_last_error(p->ctx));
	ASSERT_EQ(0, gpuemu_configure(p->ctx, "stats.interval=0\n"));
	ASSERT_EQ(0, submit_all(p)) TH_LOG("%s", gpuemu_last_error(p->ctx));
	/* Nothing waited: a query lets a thousand cycles pass, and the kernels need more. */
	EXPECT_EQ(-EBUSY, gpuemu_stream_query(p->ctx, p->stream[RUNS_SHORT]));
	EXPECT_EQ(-EBUSY, gpuemu_event_query(p->after_short));
	ASSERT_EQ(0, gpuemu_stream_synchronize(p->ctx, p->stream[RUNS_SHORT]))
		TH_LOG("%s", gpuemu_last_error(p->ctx));
	is_done(p, RUNS_SHORT);
	EXPECT_EQ(0, gpuemu_event_query(p->after_short));
	/* The others were not waited for. */
	EXPECT_EQ(-EBUSY, gpuemu_stream_query(p->ctx, p->stream[RUNS_LONG]));
	EXPECT_EQ(-EBUSY, gpuemu_stream_query(p->ctx, p->stream[ARRIVES]));
	ASSERT_EQ(0, wait_each(p, others, 3)) TH_LOG("%s", gpuemu_last_error(p->ctx));
	EXPECT_EQ(0, gpuemu_stream_query(p->ctx, p->stream[RUNS_LONG]));
	EXPECT_EQ(-ECANCELED, gpuemu_stream_synchronize(p->ctx, p->stream[HALTS]));
	EXPECT_TRUE(strstr(gpuemu_last_error(p->ctx), "was halted"))
		TH_LOG("%s", gpuemu_last_error(p->ctx));
	/* An error is returned once. */
	ASSERT_EQ(0, gpuemu_synchronize(p->ctx)) TH_LOG("%s", gpuemu_last_error(p->ctx));
	EXPECT_EQ(0, gpuemu_event_elapsed(p->before_move, p->after_move, &p->moved_for));
}

/* --- what it finds ------------------------------------------------------------------------ */

struct span {
	uint64_t start, end, far_faults;
	unsigned int n;			/* kernels of the stream */
	bool halted;
};

static uint64_t number_of(struct json_object *o, const char *path)
{
	struct json_object *value;

	return json_pointer_get(o, path, &value) ? 0 : json_object_get_uint64(value);
}

static int read_spans(struct program *p, struct span *spans)
{
	struct json_object *all, *kernels, *value;
	char *json;
	int ret = gpuemu_statistics(p->ctx, &json);

	memset(spans, 0, STREAMS * sizeof(*spans));
	if (ret)
		return ret;
	all = json_tokener_parse(json);
	gpuemu_free(json);
	ret = json_pointer_get(all, "/kernels", &kernels);
	for (size_t i = 0; !ret && i < json_object_array_length(kernels); i++) {
		struct json_object *k = json_object_array_get_idx(kernels, i);
		uint64_t id = number_of(k, "/stream");

		for (unsigned int s = 0; s < STREAMS; s++) {
			if (gpuemu_stream_id(p->stream[s]) != id)
				continue;
			spans[s].n++;
			spans[s].start = number_of(k, "/start");
			spans[s].end = spans[s].start + number_of(k, "/cycles");
			spans[s].halted = json_object_object_get_ex(k, "halted", &value);
		}
	}
	json_object_put(all);
	return ret;
}

static bool overlap(const struct span *a, const struct span *b)
{
	return a->start < b->end && b->start < a->end;
}

static void check_program(struct __test_metadata *_metadata, struct program *p)
{
	struct span s[STREAMS];
	int64_t until_short = -1;

	ASSERT_EQ(0, read_spans(p, s));
	for (unsigned int i = 0; i < STREAMS; i++) {
		ASSERT_EQ(1, s[i].n) TH_LOG("%s: stream %c has %u kernels",
					    gpuemu_backend(p->ctx), letters[i], s[i].n);
		if (i != RUNS_LONG && i != MOVES)
			EXPECT_TRUE(overlap(&s[RUNS_LONG], &s[i]))
				TH_LOG("%s: %c was not beside L", gpuemu_backend(p->ctx), letters[i]);
	}
	EXPECT_TRUE(overlap(&s[RUNS_SHORT], &s[HALTS]));
	EXPECT_GE(s[ARRIVES].start, ARRIVAL);
	EXPECT_GE(s[AWAITS].start, s[RUNS_SHORT].end);
	EXPECT_LT(s[AWAITS].start, s[RUNS_LONG].end);
	EXPECT_TRUE(s[HALTS].halted);
	/* The prefetch began with the kernels, which did not wait for it, and its kernel did. */
	EXPECT_EQ(0, gpuemu_event_elapsed(p->before_move, p->after_short, &until_short));
	EXPECT_GT(p->moved_for, 0);
	EXPECT_GT(until_short, 0);
	EXPECT_LT((uint64_t)until_short, s[RUNS_LONG].end);
	EXPECT_GE(s[MOVES].start, (uint64_t)p->moved_for);
	EXPECT_EQ(0, paging_number(p->ctx, "far_faults"));
	EXPECT_EQ(MOVED, paging_number(p->ctx, "prefetched_pages"));
	for (uint32_t t = 0; t < 64; t++) {
		EXPECT_EQ(LONG + t, results(p, RUNS_LONG)[t]);
		EXPECT_EQ(SHORT + t, results(p, RUNS_SHORT)[t]);
		EXPECT_EQ(t < 32 ? SHORT + t : 0, results(p, ARRIVES)[t]);
		EXPECT_EQ(t < 32 ? SHORT + t : 0, results(p, AWAITS)[t]);
	}
	/*
	 * A halted kernel stops at once: its CTAs store behind their loops, which none of them
	 * reached. Neither the others nor the kernel behind it began.
	 */
	EXPECT_EQ(0, results(p, HALTS)[0]);
	EXPECT_EQ(0, results(p, HALTS)[(CTAS - 1) * 32]);
	for (uint32_t i = 0; i < MOVED; i++)
		EXPECT_EQ(1, *(uint32_t *)(p->memory + (STREAMS * RESULTS + i) * PAGE));
}

TEST(the_same_on_each_backend)
{
	static const char *const backends[] = { "sim", "uffd", "kmod" };

	for (unsigned int i = 0; i < 3; i++) {
		struct program p;

		ASSERT_EQ(0, program_open(&p, backends[i]));
		run_program(_metadata, &p);
		check_program(_metadata, &p);
		EXPECT_STREQ("SWDL", p.order) TH_LOG("on %s", backends[i]);
		gpuemu_close(p.ctx);
	}
}

/*
 * More works, and bytes of arguments, than one payload carries and than are kept: they are done
 * in their order all the same, on each backend, and so is one of the default stream behind them.
 */
TEST(many)
{
	static const char *const backends[] = { "sim", "kmod" };
	static uint32_t v[1000];
	const uint32_t n = 300;

	for (unsigned int i = 0; i < 2; i++) {
		const struct gpuemu_dim3 one = { 1, 1, 1 };
		struct gpuemu_function *f;
		struct program p;
		uint32_t *list;
		void *params[2];

		ASSERT_EQ(0, program_open(&p, backends[i]));
		ASSERT_EQ(0, gpuemu_module_get_function(p.module, &f, "append"));
		list = results(&p, 0);
		params[0] = &list;
		params[1] = v;
		for (uint32_t k = 0; k <= n; k++) {
			v[999] = 7 * k + 1;
			ASSERT_EQ(0, gpuemu_launch_params(f, one, one, 0,
							  k < n ? p.stream[0] : NULL, params))
				TH_LOG("%s: %s", backends[i], gpuemu_last_error(p.ctx));
		}
		ASSERT_EQ(0, gpuemu_synchronize(p.ctx)) TH_LOG("%s", gpuemu_last_error(p.ctx));
		EXPECT_EQ(n + 1, list[0]);
		for (uint32_t k = 0; k <= n; k++)
			ASSERT_EQ(7 * k + 1, list[k + 1]);
		gpuemu_close(p.ctx);
	}
}

/* --- who does not wait ---------------------------------------------------------------------- */

#define HELD		200u		/* works that are left to the engine */
#define FILLS		1024u		/* pages: half of device memory */

/* Has kernels that stand still, with pages on the device, and says so; then it never waits. */
static pid_t start_idler(int *ready)
{
	int ends[2], ret;
	struct program p;
	uint8_t *pages;
	pid_t pid;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (pid) {
		close(ends[1]);
		*ready = ends[0];
		return pid;
	}
	close(ends[0]);
	ret = program_open(&p, "kmod");
	if (!ret)
		ret = gpuemu_mem_alloc_managed(p.ctx, (void **)&pages, FILLS * PAGE);
	/* Faults beside a kernel would take the kernel's time. */
	if (!ret)
		ret = gpuemu_mem_prefetch(p.ctx, p.memory, STREAMS * RESULTS * PAGE, NULL);
	if (!ret)
		ret = gpuemu_mem_prefetch(p.ctx, pages, FILLS * PAGE, NULL);
	if (!ret)
		ret = count(&p, RUNS_LONG, 2, UINT32_MAX);
	if (!ret)
		ret = launch(&p, "touch", RUNS_SHORT, pages, 4, 0);
	for (unsigned int i = 0; !ret && i < HELD; i++)
		ret = count(&p, RUNS_LONG, 2, SHORT);
	if (!ret)
		ret = gpuemu_stream_synchronize(p.ctx, p.stream[RUNS_SHORT]);
	if (!ret)
		ret = gpuemu_stream_query(p.ctx, p.stream[RUNS_LONG]) == -EBUSY ? 0 : -EINVAL;
	if (write(ends[1], ret ? "!" : ".", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* Two of them have all of device memory, and two hundred works each; nobody else notices. */
TEST(neighbours_of_who_never_waits)
{
	int ready[2];
	pid_t idler[2];
	struct program p;
	uint8_t *pages;
	char said;

	for (unsigned int i = 0; i < 2; i++) {
		idler[i] = start_idler(&ready[i]);
		ASSERT_EQ(1, read(ready[i], &said, 1));
		ASSERT_EQ('.', said);
	}
	for (unsigned int round = 0; round < 2; round++) {
		ASSERT_EQ(0, program_open(&p, "kmod"));
		ASSERT_EQ(0, gpuemu_mem_alloc_managed(p.ctx, (void **)&pages, FILLS * PAGE));
		ASSERT_EQ(0, launch(&p, "touch", RUNS_SHORT, pages, FILLS / 32, 0));
		ASSERT_EQ(0, gpuemu_synchronize(p.ctx)) TH_LOG("%s", gpuemu_last_error(p.ctx));
		for (uint32_t i = 0; i < FILLS; i++)
			ASSERT_EQ(1, *(uint32_t *)(pages + i * PAGE));
		run_program(_metadata, &p);
		EXPECT_STREQ("SWDL", p.order);
		gpuemu_close(p.ctx);
		/* Killed while its works are kept; then there is one. */
		kill(idler[round], SIGKILL);
		EXPECT_EQ(idler[round], waitpid(idler[round], NULL, 0));
		close(ready[round]);
	}
}

TEST_HARNESS_MAIN
