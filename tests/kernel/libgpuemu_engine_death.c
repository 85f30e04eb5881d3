// SPDX-License-Identifier: GPL-2.0
/*
 * A program of libgpuemu and the daemon behind it, which is killed, stopped and
 * replaced under it: waits end in time, memory is intact, and the same context
 * goes on with the next daemon. Starts gpuemud itself.
 * vm: no-daemon timeout=180
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <gpuemu.h>

#include "lib/harness.h"

#define WORDS		(16u * 1024)	/* 16 pages */
#define SECOND		1000000000ull

/* fill: p[i] = v + i, and every thread counts itself in `threads`. spin: counts to n in one thread, then stores to p. */
static const char ptx[] =
	".version 3.2\n.target sm_35\n.address_size 64\n"
	".visible .global .align 4 .u32 threads;\n"
	".visible .entry fill(.param .u64 p, .param .u32 v)\n{\n"
	"	.reg .b32 %r<8>;\n	.reg .b64 %rd<5>;\n"
	"	ld.param.u64 %rd1, [p];\n"
	"	ld.param.u32 %r1, [v];\n"
	"	mov.u32 %r2, %ctaid.x;\n"
	"	mov.u32 %r3, %ntid.x;\n"
	"	mov.u32 %r4, %tid.x;\n"
	"	mad.lo.s32 %r5, %r2, %r3, %r4;\n"
	"	add.s32 %r6, %r5, %r1;\n"
	"	cvta.to.global.u64 %rd2, %rd1;\n"
	"	mul.wide.u32 %rd3, %r5, 4;\n"
	"	add.s64 %rd4, %rd2, %rd3;\n"
	"	st.global.u32 [%rd4], %r6;\n"
	"	red.global.add.u32 [threads], 1;\n"
	"	ret;\n}\n"
	".visible .entry spin(.param .u64 p, .param .u32 n)\n{\n"
	"	.reg .pred %p<2>;\n	.reg .b32 %r<4>;\n	.reg .b64 %rd<3>;\n"
	"	ld.param.u64 %rd1, [p];\n"
	"	ld.param.u32 %r1, [n];\n"
	"	mov.u32 %r2, 0;\n"
	"LOOP:\n"
	"	add.s32 %r2, %r2, 1;\n"
	"	setp.lt.u32 %p1, %r2, %r1;\n"
	"	@%p1 bra LOOP;\n"
	"	cvta.to.global.u64 %rd2, %rd1;\n"
	"	st.global.u32 [%rd2], %r2;\n"
	"	ret;\n}\n";

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static void pause_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

/* The daemon, its log in a file. */
static pid_t start_daemon(const char *log)
{
	pid_t pid;

	unlink(log);
	pid = fork();
	if (pid == 0) {
		int fd = open(log, O_CREAT | O_TRUNC | O_WRONLY, 0600);

		dup2(fd, 2);
		execlp("gpuemud", "gpuemud", NULL);
		_exit(127);
	}
	return pid;
}

static bool log_has(const char *log, const char *text)
{
	char buffer[4096];
	FILE *f = fopen(log, "r");
	size_t n = f ? fread(buffer, 1, sizeof(buffer) - 1, f) : 0;

	if (f)
		fclose(f);
	buffer[n] = '\0';
	return strstr(buffer, text) != NULL;
}

/* Waits at most `seconds` for the process to end: its wait status, or -1. */
static int end_of(pid_t pid, unsigned int seconds)
{
	int status;

	for (unsigned int i = 0; i < seconds * 100; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		pause_ms(10);
	}
	return -1;
}

#define LOG "/tmp/gpuemud.log"

FIXTURE(engine)
{
	pid_t daemon;
	struct gpuemu_ctx *ctx;
	struct gpuemu_module *module;
	struct gpuemu_function *fill, *spin;
	uint32_t *p, *threads;
};

static bool attach(struct _test_data_engine *self)
{
	self->daemon = start_daemon(LOG);
	for (int i = 0; i < 1000 && !log_has(LOG, "attached"); i++)
		pause_ms(10);
	return log_has(LOG, "attached");
}

FIXTURE_SETUP(engine)
{
	const struct gpuemu_options options = {
		.size = sizeof(options), .backend = "kmod",
		.settings = "paging.prefetch=sequential\n",
	};

	ASSERT_TRUE(attach(self));
	ASSERT_EQ(0, gpuemu_open(&self->ctx, &options)) TH_LOG("%s", gpuemu_last_error(NULL));
	ASSERT_EQ(0, gpuemu_module_load_data(self->ctx, &self->module, ptx, strlen(ptx), "t.ptx"))
		TH_LOG("%s", gpuemu_last_error(self->ctx));
	ASSERT_EQ(0, gpuemu_module_get_function(self->module, &self->fill, "fill"));
	ASSERT_EQ(0, gpuemu_module_get_function(self->module, &self->spin, "spin"));
	ASSERT_EQ(0, gpuemu_module_get_global(self->module, (void **)&self->threads, NULL,
					      "threads"));
	ASSERT_EQ(0, gpuemu_mem_alloc_managed(self->ctx, (void **)&self->p, WORDS * 4));
}

FIXTURE_TEARDOWN(engine)
{
	gpuemu_close(self->ctx);
	if (self->daemon) {
		kill(self->daemon, SIGTERM);
		EXPECT_EQ(0, end_of(self->daemon, 5));
	}
}

static int fill(struct _test_data_engine *self, uint32_t v)
{
	const struct gpuemu_arg args[] = { gpuemu_arg_ptr(self->p), gpuemu_arg_u32(v) };
	const struct gpuemu_dim3 grid = { WORDS / 256, 1, 1 }, block = { 256, 1, 1 };

	return gpuemu_launch(self->fill, grid, block, 0, NULL, args, 2);
}

static int spin(struct _test_data_engine *self, uint32_t n)
{
	const struct gpuemu_arg args[] = { gpuemu_arg_ptr(self->p), gpuemu_arg_u32(n) };
	const struct gpuemu_dim3 one = { 1, 1, 1 };

	return gpuemu_launch(self->spin, one, one, 0, NULL, args, 2);
}

static unsigned int wrong(const struct _test_data_engine *self, uint32_t v)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < WORDS; i++)
		n += self->p[i] != v + i;
	return n;
}

/* Everything works: launch, memory both ways, the module's variable, the options of the context. */
static bool works(struct _test_data_engine *self, uint32_t v)
{
	uint32_t before = *self->threads;
	char *json;
	bool ok;

	/* All pages are the CPU's, so that the GPU faults and prefetches. */
	memset(self->p, 0, WORDS * 4);
	if (fill(self, v) || gpuemu_synchronize(self->ctx) || wrong(self, v) ||
	    gpuemu_statistics(self->ctx, &json)) {
		fprintf(stderr, "# %s\n", gpuemu_last_error(self->ctx));
		return false;
	}
	ok = *self->threads == before + WORDS && strstr(json, "\"fill\"") && !strstr(json, "\"prefetched_pages\":0,");
	if (!ok)
		fprintf(stderr, "# %s\n", json);
	gpuemu_free(json);
	return ok;
}

TEST_F(engine, killed_while_a_client_waits)
{
	uint64_t killed;
	pid_t killer;
	int ret;

	ASSERT_TRUE(works(self, 100));
	/* In device memory when the engine dies. */
	ASSERT_EQ(0, fill(self, 200));
	ASSERT_EQ(0, gpuemu_synchronize(self->ctx));
	ASSERT_EQ(0, spin(self, UINT32_MAX));
	pause_ms(300);
	killer = fork();
	if (killer == 0) {
		pause_ms(200);
		kill(self->daemon, SIGKILL);
		_exit(0);
	}
	killed = now() + SECOND / 5;
	ret = gpuemu_synchronize(self->ctx);
	EXPECT_EQ(-EIO, ret);
	EXPECT_LT(now(), killed + SECOND);
	EXPECT_NE(NULL, strstr(gpuemu_last_error(self->ctx), "device lost"));
	waitpid(killer, NULL, 0);
	waitpid(self->daemon, NULL, 0);
	self->daemon = 0;
	EXPECT_EQ(0, wrong(self, 200));
	EXPECT_EQ(-ENODEV, fill(self, 1));
	EXPECT_NE(NULL, strstr(gpuemu_last_error(self->ctx), "start gpuemud"));
	ASSERT_TRUE(attach(self));
	EXPECT_TRUE(works(self, 300));
}

static int spin_in(struct _test_data_engine *self, struct gpuemu_stream *stream, uint32_t n)
{
	const struct gpuemu_arg args[] = { gpuemu_arg_ptr(self->p), gpuemu_arg_u32(n) };
	const struct gpuemu_dim3 one = { 1, 1, 1 };

	return gpuemu_launch(self->spin, one, one, 0, stream, args, 2);
}

/*
 * The engine has a kernel that stands still, since nobody waits for it, and an event behind that.
 * Both are lost with it, what was not sent to it is not.
 */
TEST_F(engine, killed_while_it_keeps_works)
{
	struct gpuemu_stream *stays, *ends;
	struct gpuemu_event *event;

	ASSERT_EQ(0, gpuemu_stream_create(self->ctx, &stays));
	ASSERT_EQ(0, gpuemu_stream_create(self->ctx, &ends));
	ASSERT_EQ(0, gpuemu_event_create(self->ctx, &event));
	for (unsigned int attached = 0; attached < 2; attached++) {
		ASSERT_TRUE(works(self, attached));
		ASSERT_EQ(0, spin_in(self, stays, UINT32_MAX));
		ASSERT_EQ(0, gpuemu_event_record(event, stays));
		ASSERT_EQ(0, spin_in(self, ends, 10));
		ASSERT_EQ(0, gpuemu_stream_synchronize(self->ctx, ends))
			TH_LOG("%s", gpuemu_last_error(self->ctx));
		EXPECT_EQ(-EBUSY, gpuemu_stream_query(self->ctx, stays));
		EXPECT_EQ(-EBUSY, gpuemu_event_query(event));
		if (attached)
			ASSERT_EQ(0, spin_in(self, ends, 20));
		kill(self->daemon, SIGKILL);
		waitpid(self->daemon, NULL, 0);
		self->daemon = 0;
		if (attached) {
			ASSERT_TRUE(attach(self));
			EXPECT_EQ(0, gpuemu_stream_synchronize(self->ctx, ends))
				TH_LOG("%s", gpuemu_last_error(self->ctx));
			EXPECT_EQ(20, self->p[0]);
		}
		EXPECT_EQ(-EIO, gpuemu_stream_synchronize(self->ctx, stays));
		EXPECT_NE(NULL, strstr(gpuemu_last_error(self->ctx), "device lost"));
		EXPECT_EQ(-EIO, gpuemu_event_synchronize(event));
		EXPECT_EQ(0, gpuemu_stream_synchronize(self->ctx, stays));
		if (!attached)
			ASSERT_TRUE(attach(self));
	}
	EXPECT_TRUE(works(self, 7));
}

TEST_F(engine, killed_while_idle)
{
	ASSERT_TRUE(works(self, 1));
	kill(self->daemon, SIGKILL);
	waitpid(self->daemon, NULL, 0);
	ASSERT_TRUE(attach(self));
	EXPECT_EQ(0, wrong(self, 1));
	EXPECT_TRUE(works(self, 2));
}

/* What was advised is the client's, and told to each engine: p is used where it is by both. */
TEST_F(engine, advice_outlives_it)
{
	char *json;

	ASSERT_EQ(0, gpuemu_mem_advise(self->ctx, self->p, WORDS * 4,
				       GPUEMU_ADVISE_SET_PREFERRED_LOCATION,
				       GPUEMU_LOCATION_HOST));
	for (uint32_t v = 1; v <= 2; v++) {
		ASSERT_EQ(0, fill(self, v)) TH_LOG("%s", gpuemu_last_error(self->ctx));
		ASSERT_EQ(0, gpuemu_synchronize(self->ctx));
		ASSERT_EQ(0, gpuemu_statistics(self->ctx, &json));
		EXPECT_NE(NULL, strstr(json, "\"remote\":{\"pages\":16,")) TH_LOG("%s", json);
		EXPECT_NE(NULL, strstr(json, "\"writes\":512,")) TH_LOG("%s", json);
		gpuemu_free(json);
		EXPECT_EQ(0, wrong(self, v));
		if (v == 2)
			break;
		kill(self->daemon, SIGKILL);
		waitpid(self->daemon, NULL, 0);
		EXPECT_EQ(0, wrong(self, v));
		ASSERT_TRUE(attach(self));
	}
}

/* At any moment of a run that faults, migrates and evicts. */
TEST_F(engine, killed_at_any_moment)
{
	for (unsigned int i = 0; i < 6; i++) {
		int ret = 0;

		ASSERT_TRUE(works(self, i));
		if (fork() == 0) {
			usleep(1000 + i * 7000);
			kill(self->daemon, SIGKILL);
			_exit(0);
		}
		while (!ret) {
			ret = fill(self, 1000);
			if (!ret)
				ret = gpuemu_synchronize(self->ctx);
			if (!ret)
				EXPECT_EQ(0, wrong(self, 1000));
		}
		EXPECT_TRUE(ret == -EIO || ret == -ENODEV);
		while (wait(NULL) > 0)
			;
		for (uint32_t k = 0; k < WORDS; k++)
			ASSERT_TRUE(self->p[k] == k + 1000 || self->p[k] == k + i);
		ASSERT_TRUE(attach(self));
	}
	EXPECT_TRUE(works(self, 77));
}

TEST_F(engine, ended_while_a_kernel_runs)
{
	struct gpuemu_event *event;

	ASSERT_EQ(0, gpuemu_event_create(self->ctx, &event));
	ASSERT_EQ(0, spin(self, UINT32_MAX));
	ASSERT_EQ(0, gpuemu_event_record(event, NULL));
	pause_ms(300);
	kill(self->daemon, SIGTERM);
	EXPECT_EQ(0, end_of(self->daemon, 2));
	self->daemon = 0;
	EXPECT_EQ(-EIO, gpuemu_event_synchronize(event));
	EXPECT_EQ(-EIO, gpuemu_synchronize(self->ctx));
	ASSERT_TRUE(attach(self));
	EXPECT_TRUE(works(self, 5));
}

/* Stopped, it does not acknowledge: the CPU gets its page all the same. */
TEST_F(engine, stopped_loses_the_device)
{
	int status;

	ASSERT_EQ(0, fill(self, 9));
	ASSERT_EQ(0, gpuemu_synchronize(self->ctx));
	ASSERT_EQ(0, spin(self, UINT32_MAX));
	pause_ms(300);
	kill(self->daemon, SIGSTOP);
	EXPECT_EQ(9 + 5000, self->p[5000]);
	EXPECT_EQ(-EIO, gpuemu_synchronize(self->ctx));
	kill(self->daemon, SIGCONT);
	status = end_of(self->daemon, 5);
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(1, WEXITSTATUS(status));
	EXPECT_TRUE(log_has(LOG, "lost"));
	ASSERT_TRUE(attach(self));
	EXPECT_TRUE(works(self, 10));
}

TEST_F(engine, close_does_not_wait)
{
	struct gpuemu_ctx *other;
	uint64_t start;

	ASSERT_EQ(0, gpuemu_open(&other, NULL));
	EXPECT_STREQ("kmod", gpuemu_backend(other));
	ASSERT_EQ(0, spin(self, UINT32_MAX));
	ASSERT_EQ(0, spin(self, UINT32_MAX));
	pause_ms(300);
	start = now();
	gpuemu_close(self->ctx);
	EXPECT_LT(now(), start + SECOND);
	/* The daemon goes on with the client that is left. */
	self->ctx = other;
	ASSERT_EQ(0, gpuemu_module_load_data(self->ctx, &self->module, ptx, strlen(ptx), NULL));
	ASSERT_EQ(0, gpuemu_module_get_function(self->module, &self->fill, "fill"));
	ASSERT_EQ(0, gpuemu_mem_alloc_managed(self->ctx, (void **)&self->p, WORDS * 4));
	ASSERT_EQ(0, fill(self, 3));
	ASSERT_EQ(0, gpuemu_synchronize(self->ctx));
	EXPECT_EQ(0, wrong(self, 3));
}

TEST_F(engine, bad_access_is_the_kernels_own)
{
	static const uint64_t bad[] = { 0, 0x1230, 1ull << 46, 1ull << 47, 1ull << 63, -4ull };
	const struct gpuemu_dim3 one = { 1, 1, 1 };

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct gpuemu_arg args[] = { gpuemu_arg_u64(bad[i]), gpuemu_arg_u32(1) };
		char address[32];

		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)bad[i]);
		ASSERT_EQ(0, gpuemu_launch(self->fill, one, one, 0, NULL, args, 2));
		EXPECT_EQ(-EFAULT, gpuemu_synchronize(self->ctx));
		EXPECT_NE(NULL, strstr(gpuemu_last_error(self->ctx), "fill"));
		EXPECT_NE(NULL, strstr(gpuemu_last_error(self->ctx), address))
			TH_LOG("%s", gpuemu_last_error(self->ctx));
	}
	EXPECT_TRUE(works(self, 4));
}

/* More works than the module holds for a client: the oldest are read meanwhile. */
TEST_F(engine, many_works_in_flight)
{
	const struct gpuemu_dim3 one = { 1, 1, 1 };

	for (uint32_t i = 0; i < 1500; i++) {
		const struct gpuemu_arg args[] = {
			gpuemu_arg_ptr(self->p), gpuemu_arg_u32(i),
		};

		ASSERT_EQ(0, gpuemu_launch(self->fill, one, one, 0, NULL, args, 2));
	}
	ASSERT_EQ(0, gpuemu_synchronize(self->ctx));
	EXPECT_EQ(1499, self->p[0]);
}

TEST_F(engine, only_one)
{
	pid_t second = start_daemon("/tmp/second.log");
	int status = end_of(second, 5);

	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(1, WEXITSTATUS(status));
	EXPECT_TRUE(log_has("/tmp/second.log", "only one gpuemud may run"));
	EXPECT_TRUE(works(self, 6));
}

TEST(without_privilege)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		int fd = open("/tmp/nobody.log", O_CREAT | O_TRUNC | O_WRONLY, 0666);

		if (setgid(65534) || setuid(65534))
			_exit(126);
		dup2(fd, 2);
		execlp("gpuemud", "gpuemud", NULL);
		_exit(127);
	}
	status = end_of(pid, 5);
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(1, WEXITSTATUS(status));
	EXPECT_TRUE(log_has("/tmp/nobody.log", "run as root"));
}

TEST(without_an_engine)
{
	const struct gpuemu_options options = { .size = sizeof(options), .backend = "kmod" };
	struct gpuemu_ctx *ctx;

	EXPECT_EQ(-ENODEV, gpuemu_open(&ctx, &options));
	EXPECT_NE(NULL, strstr(gpuemu_last_error(NULL), "start gpuemud"));
	ASSERT_EQ(0, gpuemu_open(&ctx, NULL));
	EXPECT_STREQ("sim", gpuemu_backend(ctx));
	gpuemu_close(ctx);
}

TEST_HARNESS_MAIN
