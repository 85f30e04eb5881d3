// SPDX-License-Identifier: GPL-2.0
/*
 * Several clients of one daemon: how long the short works of one wait while another's
 * kernel runs or storms with far faults, and that a kernel counts the same whether or
 * not it was set aside for others. What waits is measured and printed.
 * vm: daemon timeout=240 vram_mb=8
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <gpuemu.h>
#include <linux/gpuemu.h>

#include "lib/harness.h"

#define PAGE		4096u
#define ROUNDS		25u
#define STORM_PAGES	2048u
/*
 * A slice is 10 ms, a launch is a few works, and all is emulated on a machine that does
 * more than this: so much for each launch, where the other's kernel takes a minute.
 */
#define MEDIAN_MS	250u
#define WORST_MS	2500u

/*
 * spin: counts to n, in registers. storm: thread t adds one to a word of n pages one after
 * another, each thread other ones. up: thread t adds one to a word of page t.
 */
static const char ptx[] =
	".version 3.2\n.target sm_35\n.address_size 64\n"
	".visible .entry spin(.param .u64 p, .param .u32 n)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<3>;\n"
	"ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\nmov.u32 %r2, 0;\n"
	"LOOP:\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra LOOP;\n"
	"st.global.u32 [%rd1], %r2;\nret;\n}\n"
	".visible .entry storm(.param .u64 p, .param .u32 n)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<12>;\n.reg .b64 %rd<6>;\n"
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
	"mad.lo.s32 %r4, %r1, %r2, %r3;\nmul.lo.s32 %r4, %r4, 61;\n"
	"ld.param.u64 %rd1, [p];\nld.param.u32 %r5, [n];\nmov.u32 %r6, 0;\n"
	"LOOP:\nadd.s32 %r7, %r4, %r6;\nand.b32 %r8, %r7, 2047;\nmul.wide.u32 %rd2, %r8, 4096;\n"
	"add.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r9, [%rd3];\nadd.s32 %r10, %r9, 1;\n"
	"st.global.u32 [%rd3], %r10;\nadd.s32 %r6, %r6, 7;\nsetp.lt.u32 %p1, %r6, %r5;\n"
	"@%p1 bra LOOP;\nret;\n}\n"
	".visible .entry up(.param .u64 p, .param .u32 n)\n{\n"
	".reg .b32 %r<8>;\n.reg .b64 %rd<6>;\n"
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
	"mad.lo.s32 %r4, %r1, %r2, %r3;\nmul.wide.u32 %rd1, %r4, 4096;\n"
	"ld.param.u64 %rd2, [p];\nadd.s64 %rd3, %rd2, %rd1;\n"
	"ld.global.u32 %r5, [%rd3];\nadd.s32 %r6, %r5, 1;\nst.global.u32 [%rd3], %r6;\nret;\n}\n";

struct client {
	struct gpuemu_ctx *ctx;
	struct gpuemu_module *module;
	uint32_t *p;
};

static int client_start(struct client *c, const char *settings, size_t pages)
{
	const struct gpuemu_options options = {
		.size = sizeof(options), .backend = "kmod", .settings = settings,
	};
	int ret;

	memset(c, 0, sizeof(*c));
	ret = gpuemu_open(&c->ctx, &options);
	if (!ret)
		ret = gpuemu_module_load_data(c->ctx, &c->module, ptx, strlen(ptx), "fair.ptx");
	if (!ret)
		ret = gpuemu_mem_alloc_managed(c->ctx, (void **)&c->p, pages * PAGE);
	return ret;
}

static int launch(struct client *c, const char *kernel, uint32_t grid, uint32_t block, uint32_t n)
{
	const struct gpuemu_arg args[] = { gpuemu_arg_ptr(c->p), gpuemu_arg_u32(n) };
	struct gpuemu_function *f;
	int ret = gpuemu_module_get_function(c->module, &f, kernel);

	if (!ret)
		ret = gpuemu_launch(f, (struct gpuemu_dim3){ grid, 1, 1 },
				    (struct gpuemu_dim3){ block, 1, 1 }, 0, NULL, args, 2);
	return ret ? ret : gpuemu_synchronize(c->ctx);
}

/* --- the other client, a process that is killed in the middle --- */

enum other { SPIN, STORM };

static pid_t start_other(enum other what)
{
	pid_t pid = fork();
	struct client c;

	if (pid)
		return pid;
	if (client_start(&c, what == STORM ? "paging.vram=512K\n" : NULL, STORM_PAGES))
		_exit(1);
	if (what == STORM)
		launch(&c, "storm", 60, 32, 4u << 20);
	else
		launch(&c, "spin", 1, 32, 400u << 20);
	/* It was to take longer than the test. */
	_exit(2);
}

/* --- the short works --- */

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

struct waits {
	uint64_t median, worst;		/* us */
};

/* Each launch's page comes to the device by a far fault, from the CPU that wrote to it. */
static int measure(struct client *c, struct waits *w)
{
	uint64_t took[ROUNDS], from;
	int ret = 0;

	for (unsigned int i = 0; i < ROUNDS && !ret; i++) {
		c->p[0] = i;
		from = now_us();
		ret = launch(c, "up", 1, 1, 0);
		took[i] = now_us() - from;
		if (!ret && c->p[0] != i + 1)
			ret = -1;
	}
	qsort(took, ROUNDS, sizeof(took[0]), ascending);
	w->median = took[ROUNDS / 2];
	w->worst = took[ROUNDS - 1];
	return ret;
}

static void compare(struct __test_metadata *_metadata, enum other what)
{
	struct waits alone, with, again;
	struct client c;
	int status;
	pid_t pid;

	ASSERT_EQ(0, client_start(&c, NULL, 1)) TH_LOG("%s", gpuemu_last_error(c.ctx));
	ASSERT_EQ(0, measure(&c, &alone)) TH_LOG("%s", gpuemu_last_error(c.ctx));
	ASSERT_EQ(0, measure(&c, &alone));
	pid = start_other(what);
	ASSERT_LT(0, pid);
	/* Loaded, configured, launched. */
	usleep(2000000);
	ASSERT_EQ(0, measure(&c, &with)) TH_LOG("%s", gpuemu_last_error(c.ctx));
	EXPECT_EQ(0, waitpid(pid, &status, WNOHANG)) TH_LOG("the other ended: %x", status);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	/* What it had set aside goes with it. */
	ASSERT_EQ(0, measure(&c, &again));
	printf("# a launch with a far fault, beside %s: median %llu us alone, %llu us with it, %llu us after; worst %llu, %llu, %llu us\n",
	       what == STORM ? "a storm" : "a long kernel",
	       (unsigned long long)alone.median, (unsigned long long)with.median,
	       (unsigned long long)again.median, (unsigned long long)alone.worst,
	       (unsigned long long)with.worst, (unsigned long long)again.worst);
	fflush(stdout);
	EXPECT_GT(alone.median + MEDIAN_MS * 1000, with.median);
	EXPECT_GT(alone.worst + WORST_MS * 1000, with.worst);
	gpuemu_close(c.ctx);
}

TEST(beside_a_long_kernel)
{
	compare(_metadata, SPIN);
}

TEST(beside_a_storm)
{
	compare(_metadata, STORM);
}

/* --- many works at once --- */

static int submit(int fd, uint64_t *id)
{
	struct gpuemu_submit s = { .size = sizeof(s), .kind = GPUEMU_WORK_STATISTICS };
	int ret = ioctl(fd, GPUEMU_IOCTL_SUBMIT, &s);

	*id = s.id;
	return ret;
}

/* The next of a client's works comes when the one before is done, and not with other news. */
TEST(queued_works)
{
	static uint8_t report[1 << 18];
	struct gpuemu_wait w;
	uint64_t ids[8], from;
	int fd, status, i;
	pid_t pid;

	pid = start_other(SPIN);
	ASSERT_LT(0, pid);
	usleep(2000000);
	fd = open("/dev/gpuemu", O_RDWR);
	ASSERT_LE(0, fd);
	from = now_us();
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, submit(fd, &ids[i]));
	for (i = 0; i < 8; i++) {
		w = (struct gpuemu_wait){
			.size = sizeof(w), .timeout_ms = 5000, .id = ids[i],
			.report = (uintptr_t)report, .report_bytes = sizeof(report),
		};
		ASSERT_EQ(0, ioctl(fd, GPUEMU_IOCTL_WAIT, &w)) TH_LOG("work %d", i);
		EXPECT_EQ(0, w.status);
	}
	EXPECT_GT(8 * MEDIAN_MS * 1000, now_us() - from);
	EXPECT_EQ(0, waitpid(pid, &status, WNOHANG));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(fd);
}

/* --- what a kernel counts --- */

/*
 * Without paging nothing is measured: the same to the last number, if the memory is at the same
 * address. So each run is a process of its own that begins as the other did.
 */
static int long_ones(const char *to)
{
	FILE *f = fopen(to, "w");
	struct client c;
	char *json;
	int ret;

	ret = client_start(&c, "paging.enabled=0\n", STORM_PAGES);
	if (!ret)
		ret = launch(&c, "storm", 4, 64, 300);
	if (!ret)
		ret = launch(&c, "spin", 4, 64, 3000);
	if (!ret)
		ret = gpuemu_statistics(c.ctx, &json);
	if (ret || !f || fputs(json, f) < 0 || fclose(f))
		return 1;
	return 0;
}

static int run_long_ones(const char *to)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(long_ones(to));
	waitpid(pid, &status, 0);
	return status;
}

/* Says so in the pipe for each that is done. */
static pid_t start_short_ones(int to)
{
	pid_t pid = fork();
	struct client c;

	if (pid)
		return pid;
	if (client_start(&c, NULL, 1))
		_exit(1);
	while (!launch(&c, "up", 1, 1, 0))
		if (write(to, "", 1) != 1)
			_exit(0);
	_exit(1);
}

static char *text_of(const char *path)
{
	char *text = calloc(1, 1 << 20);
	FILE *f = fopen(path, "r");

	if (!f || !text || !fread(text, 1, (1 << 20) - 1, f))
		return NULL;
	fclose(f);
	return text;
}

TEST(counts_the_same)
{
	char *alone, *with, said[4096];
	int ends[2], status;
	size_t at = 0;
	pid_t pid;

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(0, run_long_ones("/tmp/fair.alone"));
	pid = start_short_ones(ends[1]);
	ASSERT_LT(0, pid);
	close(ends[1]);
	ASSERT_EQ(1, read(ends[0], said, 1));
	ASSERT_EQ(0, run_long_ones("/tmp/fair.with"));
	/* It was set aside, again and again. */
	EXPECT_LT(5, read(ends[0], said, sizeof(said)));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	EXPECT_TRUE(WIFSIGNALED(status));
	alone = text_of("/tmp/fair.alone");
	with = text_of("/tmp/fair.with");
	ASSERT_NE(NULL, alone);
	ASSERT_NE(NULL, with);
	while (alone[at] && alone[at] == with[at])
		at++;
	EXPECT_EQ(0, strcmp(alone, with)) TH_LOG("at %zu: %.80s, with another: %.80s", at,
						 alone + at, with + at);
	free(alone);
	free(with);
}

TEST_HARNESS_MAIN
