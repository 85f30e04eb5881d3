// SPDX-License-Identifier: GPL-2.0
/*
 * libgpuemu on backend uffd: what only it lets a program do, or refuses. CPU and
 * GPU on the same pages at the same time, signal handlers, fork, the end with
 * work in flight.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpuemu.h"

#define PAGES	64u
#define WORDS	(4096 / sizeof(uint32_t))

/* Thread t adds 1 to word 0 of page t, `times` times. */
static const char ptx[] =
	".version 3.2\n"
	".target sm_35\n"
	".address_size 64\n"
	".visible .entry count(.param .u64 count_param_0, .param .u32 count_param_1)\n"
	"{\n"
	"	.reg .pred %p<2>;\n"
	"	.reg .b32 %r<8>;\n"
	"	.reg .b64 %rd<4>;\n"
	"	ld.param.u64 %rd1, [count_param_0];\n"
	"	ld.param.u32 %r1, [count_param_1];\n"
	"	mov.u32 %r2, %ctaid.x;\n"
	"	mov.u32 %r3, %ntid.x;\n"
	"	mov.u32 %r4, %tid.x;\n"
	"	mad.lo.u32 %r5, %r2, %r3, %r4;\n"
	"	mul.wide.u32 %rd2, %r5, 4096;\n"
	"	add.u64 %rd3, %rd1, %rd2;\n"
	"LOOP:\n"
	"	ld.volatile.global.u32 %r6, [%rd3];\n"
	"	add.u32 %r6, %r6, 1;\n"
	"	st.volatile.global.u32 [%rd3], %r6;\n"
	"	sub.u32 %r1, %r1, 1;\n"
	"	setp.ne.u32 %p1, %r1, 0;\n"
	"	@%p1 bra LOOP;\n"
	"	ret;\n"
	"}\n";

static struct gpuemu_ctx *ctx;
static struct gpuemu_function *count;
static volatile uint32_t *memory;

#define OK(call) do { \
	int ok_ret = (call); \
	if (ok_ret) \
		fail_msg("%s: %d: %s", #call, ok_ret, gpuemu_last_error(ctx)); \
} while (0)

static volatile uint32_t *word(unsigned int page, unsigned int i)
{
	return memory + page * WORDS + i;
}

static void setup(const char *settings)
{
	const struct gpuemu_options options = {
		.size = sizeof(options), .backend = "uffd", .settings = settings,
	};
	struct gpuemu_module *module;
	void *p;

	OK(gpuemu_open(&ctx, &options));
	assert_string_equal(gpuemu_backend(ctx), "uffd");
	OK(gpuemu_module_load_data(ctx, &module, ptx, sizeof(ptx) - 1, "count.ptx"));
	OK(gpuemu_module_get_function(module, &count, "count"));
	OK(gpuemu_mem_alloc_managed(ctx, &p, PAGES * 4096));
	memory = p;
}

static int launch(uint32_t times, struct gpuemu_stream *stream)
{
	const struct gpuemu_arg args[] = {
		gpuemu_arg_ptr((void *)(uintptr_t)memory), gpuemu_arg_u32(times),
	};
	const struct gpuemu_dim3 grid = { PAGES / 32, 1, 1 }, block = { 32, 1, 1 };

	return gpuemu_launch(count, grid, block, 0, stream, args, 2);
}

struct adder {
	pthread_t thread;
	unsigned int slot;
	uint32_t added[PAGES];
	atomic_bool *stop;
	uint64_t rounds;
};

static void *adder_thread(void *arg)
{
	struct adder *a = arg;

	while (!atomic_load(a->stop)) {
		for (unsigned int p = a->slot; p < PAGES; p += 7) {
			*word(p, a->slot) += 1;
			a->added[p]++;
		}
		a->rounds++;
	}
	return NULL;
}

/* Each sees what it wrote itself, however often the pages went to and fro. */
static void share_pages(const char *settings)
{
	const uint32_t times = 40;
	static struct adder a[2];
	atomic_bool stop = false;

	setup(settings);
	for (unsigned int i = 0; i < 2; i++) {
		memset(&a[i], 0, sizeof(a[i]));
		a[i].slot = 1 + i;
		a[i].stop = &stop;
		pthread_create(&a[i].thread, NULL, adder_thread, &a[i]);
	}
	for (unsigned int i = 0; i < 5; i++) {
		OK(launch(times, NULL));
		/* The launch has returned; its own thread goes on too. */
		for (unsigned int p = 0; p < PAGES; p += 5)
			*word(p, 9) += p;
	}
	OK(gpuemu_synchronize(ctx));
	atomic_store(&stop, true);
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(a[i].thread, NULL);
	for (unsigned int p = 0; p < PAGES; p++) {
		assert_int_equal(*word(p, 0), 5 * times);
		assert_int_equal(*word(p, 1), a[0].added[p]);
		assert_int_equal(*word(p, 2), a[1].added[p]);
		assert_int_equal(*word(p, 9), p % 5 ? 0 : 5 * p);
	}
	gpuemu_close(ctx);
}

static void test_cpu_and_gpu_share_pages(void **state)
{
	share_pages(NULL);
}

static void test_they_share_them_oversubscribed(void **state)
{
	share_pages("paging.vram=64K\n");
}

static atomic_uint handled;

static void on_signal(int signal)
{
	*word(1, 5) += 1;
	atomic_fetch_add(&handled, 1);
}

/* A handler of the thread that waits touches what the kernel is using. */
static void test_a_signal_handler_may_touch(void **state)
{
	struct sigaction action = { .sa_handler = on_signal }, old;
	/* Once a round: where all is slow, one that repeats would leave no time between two. */
	const struct itimerspec soon = { .it_value = { 0, 300000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;

	setup(NULL);
	atomic_store(&handled, 0);
	assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	for (unsigned int i = 0; i < 20 || atomic_load(&handled) < 5; i++) {
		assert_int_equal(timer_settime(timer, 0, &soon, NULL), 0);
		OK(launch(20, NULL));
		OK(gpuemu_synchronize(ctx));
		assert_int_equal(*word(1, 0), 20 * (i + 1));
	}
	timer_delete(timer);
	sigaction(SIGUSR1, &old, NULL);
	assert_int_equal(*word(1, 5), atomic_load(&handled));
	gpuemu_close(ctx);
}

static void test_a_child_is_refused(void **state)
{
	int status;
	pid_t pid;

	setup(NULL);
	OK(launch(10, NULL));
	/* A sanitizer's allocator does not survive a fork() while another thread allocates. */
	OK(gpuemu_synchronize(ctx));
	pid = fork();
	if (!pid) {
		char *json;
		void *p;
		bool refused = launch(1, NULL) == -ENODEV &&
			strstr(gpuemu_last_error(ctx), "fork") &&
			gpuemu_mem_alloc_managed(ctx, &p, 4096) == -ENODEV &&
			gpuemu_statistics(ctx, &json) == -ENODEV &&
			gpuemu_configure(ctx, "paging.vram=1M\n") == -ENODEV &&
			gpuemu_synchronize(ctx) == 0;

		gpuemu_close(ctx);
		/* The next context is the child's own. */
		if (refused) {
			setup(NULL);
			if (launch(3, NULL) || gpuemu_synchronize(ctx) || *word(5, 0) != 3)
				refused = false;
			gpuemu_close(ctx);
		}
		_exit(refused ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	OK(launch(10, NULL));
	OK(gpuemu_synchronize(ctx));
	assert_int_equal(*word(5, 0), 20);
	gpuemu_close(ctx);
}

static void test_close_with_work_in_flight(void **state)
{
	struct gpuemu_stream *stream;

	for (unsigned int i = 0; i < 5; i++) {
		setup("paging.vram=32K\n");
		OK(gpuemu_stream_create(ctx, &stream));
		OK(gpuemu_mem_prefetch(ctx, (void *)(uintptr_t)memory, PAGES * 4096, stream));
		OK(launch(10, stream));
		OK(launch(10, NULL));
		gpuemu_close(ctx);
	}
}

/* Queued in other streams, hinted there and back, in the order of each stream. */
static void test_streams_and_hints(void **state)
{
	struct gpuemu_stream *s[3];

	setup(NULL);
	for (unsigned int p = 0; p < PAGES; p++)
		*word(p, 0) = p;
	for (unsigned int i = 0; i < 3; i++) {
		OK(gpuemu_stream_create(ctx, &s[i]));
		OK(gpuemu_mem_prefetch(ctx, (void *)(uintptr_t)memory, PAGES * 4096, s[i]));
	}
	for (unsigned int i = 0; i < 30; i++)
		OK(launch(1, s[1]));
	OK(gpuemu_mem_prefetch_host(ctx, (void *)(uintptr_t)memory, PAGES * 4096, s[1]));
	OK(gpuemu_stream_synchronize(ctx, s[1]));
	for (unsigned int p = 0; p < PAGES; p++)
		assert_int_equal(*word(p, 0), p + 30);
	assert_int_equal(gpuemu_mem_free(ctx, (void *)(uintptr_t)memory), 0);
	gpuemu_close(ctx);
}

/* As on sim: a wait for one stream leaves the other's kernel where it is, and events order them. */
static void test_waits_and_events(void **state)
{
	struct gpuemu_event *begun, *done;
	struct gpuemu_stream *s[2];
	unsigned int polls = 0, which = 7;
	int64_t cycles = 0;

	setup(NULL);
	for (unsigned int i = 0; i < 2; i++)
		OK(gpuemu_stream_create(ctx, &s[i]));
	OK(gpuemu_event_create(ctx, &begun));
	OK(gpuemu_event_create(ctx, &done));
	OK(gpuemu_event_record(begun, s[0]));
	OK(launch(5, s[0]));
	OK(gpuemu_event_record(done, s[0]));
	OK(gpuemu_stream_wait_event(ctx, s[1], done));
	OK(gpuemu_stream_delay(ctx, s[1], 1ull << 40));
	OK(launch(5, s[1]));
	OK(gpuemu_stream_wait_any(ctx, s, 2, &which));
	assert_int_equal(which, 0);
	assert_int_equal(*word(3, 0), 5);
	assert_int_equal(gpuemu_stream_query(ctx, s[1]), -EBUSY);
	OK(gpuemu_event_elapsed(begun, done, &cycles));
	assert_true(cycles > 0);
	OK(gpuemu_stream_synchronize(ctx, s[1]));
	assert_int_equal(*word(3, 0), 10);
	OK(launch(5, s[0]));
	OK(gpuemu_event_record(done, s[0]));
	while (gpuemu_event_query(done) == -EBUSY)
		assert_true(++polls < 1000000);
	assert_true(polls > 0);
	assert_int_equal(*word(3, 0), 15);
	OK(gpuemu_stream_halt_after(ctx, s[0], 1));
	OK(launch(5, s[0]));
	assert_int_equal(gpuemu_stream_synchronize(ctx, s[0]), -ECANCELED);
	OK(gpuemu_stream_halt_at(ctx, s[1], 1));
	OK(launch(5, s[1]));
	assert_int_equal(gpuemu_stream_synchronize(ctx, s[1]), -ECANCELED);
	gpuemu_close(ctx);
}

/* The program unmaps a part by itself: the kernel's access there is an error, not a crash. */
static void test_memory_unmapped_by_the_program(void **state)
{
	int ret = 0;

	setup(NULL);
	OK(launch(2, NULL));
	OK(gpuemu_synchronize(ctx));
	assert_int_equal(munmap((void *)(uintptr_t)word(8, 0), 8 * 4096), 0);
	/* The pager learns of it by a message: soon, not at once. */
	for (unsigned int i = 0; i < 1000 && !ret; i++) {
		assert_int_equal(launch(2, NULL), 0);
		ret = gpuemu_synchronize(ctx);
	}
	assert_int_equal(ret, -EFAULT);
	assert_non_null(strstr(gpuemu_last_error(ctx), "outside managed memory"));
	assert_true(*word(3, 0) >= 2);
	gpuemu_close(ctx);
}

static void test_device_memory_changes_size(void **state)
{
	setup("paging.vram=256K\n");
	OK(gpuemu_mem_prefetch(ctx, (void *)(uintptr_t)memory, PAGES * 4096, NULL));
	OK(gpuemu_synchronize(ctx));
	assert_int_equal(gpuemu_configure(ctx, "paging.vram=64K\n"), -EBUSY);
	OK(gpuemu_configure(ctx, "paging.vram=100G\n"));
	OK(gpuemu_mem_prefetch_host(ctx, (void *)(uintptr_t)memory, PAGES * 4096, NULL));
	OK(gpuemu_configure(ctx, "paging.vram=64K\n"));
	OK(launch(4, NULL));
	OK(gpuemu_synchronize(ctx));
	for (unsigned int p = 0; p < PAGES; p++)
		assert_int_equal(*word(p, 0), 4);
	gpuemu_close(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu_and_gpu_share_pages),
		cmocka_unit_test(test_they_share_them_oversubscribed),
		cmocka_unit_test(test_a_signal_handler_may_touch),
		cmocka_unit_test(test_a_child_is_refused),
		cmocka_unit_test(test_close_with_work_in_flight),
		cmocka_unit_test(test_streams_and_hints),
		cmocka_unit_test(test_waits_and_events),
		cmocka_unit_test(test_memory_unmapped_by_the_program),
		cmocka_unit_test(test_device_memory_changes_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
