// SPDX-License-Identifier: GPL-2.0
/* The tracepoints: there under their names, and saying what happened. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/knob.h"
#include "lib/lib.h"
#include "lib/text.h"

#define TRACING "/sys/kernel/tracing/"

/*
 * Enabling a tracepoint patches the kernel's text under the other CPUs' feet;
 * QEMU's TCG (7.2) then sometimes leaves two virtual CPUs spinning for ever,
 * with the kernel's own tracepoints as with these. One CPU has no such race.
 * Absent where there is one CPU only, which is as good.
 */
#define OTHER_CPU "/sys/devices/system/cpu/cpu1/online"

FIXTURE(trace)
{
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *mem;
	char text[1 << 16];
};

FIXTURE_SETUP(trace)
{
	int offline = put_text(OTHER_CPU, "0");

	ASSERT_TRUE(!offline || offline == -ENOENT);
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, 4 * PAGE);
	ASSERT_NE(NULL, self->mem);
	ASSERT_EQ(0, put_text(TRACING "trace", ""));
	ASSERT_EQ(0, put_text(TRACING "events/gpuemu/enable", "1"));
}

FIXTURE_TEARDOWN(trace)
{
	put_text(TRACING "events/gpuemu/enable", "0");
	put_text(TRACING "trace", "");
	close(self->fd);
	engine_close(&self->e);
	put_text(OTHER_CPU, "1");
}

static void read_file(FIXTURE_DATA(trace) *self, const char *path)
{
	int fd = open(path, O_RDONLY);
	ssize_t n;
	size_t at = 0;

	while ((n = read(fd, self->text + at, sizeof(self->text) - 1 - at)) > 0)
		at += n;
	self->text[at] = 0;
	close(fd);
}

/* A fault of the CPU, two of the GPU, there and back. 0, or what went wrong. */
static int there_and_back(FIXTURE_DATA(trace) *self)
{
	struct gpuemu_migration m = {
		.addr = (uintptr_t)self->mem, .va_space = self->space,
		.pages = 1, .op = GPUEMU_MIGRATE_H2D,
	};

	self->mem[0] = 1;
	engine_fault(&self->e, self->space, self->mem, GPUEMU_ACCESS_WRITE);
	engine_fault(&self->e, self->space, self->mem, GPUEMU_ACCESS_READ);
	if (engine_raise(&self->e, 0) != 1 ||
	    engine_commit(&self->e, &m, 1) != 1 ||
	    engine_h2d(&self->e, self->space, self->mem + PAGE, 3) ||
	    engine_d2h(&self->e, self->space, self->mem, 1))
		return -1;
	self->mem[PAGE] = 1;
	return 0;
}

TEST_F(trace, all)
{
	static const char *const names[] = {
		"gpuemu_far_fault", "gpuemu_batch", "gpuemu_migrate", "gpuemu_evict",
		"gpuemu_replay", "gpuemu_cpu_fault", "gpuemu_tlb_invalidate",
	};
	char want[160];
	size_t i;

	ASSERT_EQ(0, there_and_back(self));
	read_file(self, TRACING "trace");

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(want, sizeof(want), " %s: ", names[i]);
		EXPECT_NE(NULL, strstr(self->text, want))
			TH_LOG("no %s", names[i]);
	}
	snprintf(want, sizeof(want),
		 "far_fault: va_space=%u addr=0x%lx access=write sm=0 warp=0 vtime=0 merged=2 flags=0",
		 self->space, (long)self->mem);
	EXPECT_NE(NULL, strstr(self->text, want)) TH_LOG("no %s", want);
	snprintf(want, sizeof(want),
		 "migrate: va_space=%u addr=0x%lx pages=3 op=h2d cause=prefetch moved=3 status=0",
		 self->space, (long)self->mem + (long)PAGE);
	EXPECT_NE(NULL, strstr(self->text, want)) TH_LOG("no %s", want);
	snprintf(want, sizeof(want),
		 "evict: va_space=%u addr=0x%lx pages=1 by=engine moved=1 status=0",
		 self->space, (long)self->mem);
	EXPECT_NE(NULL, strstr(self->text, want)) TH_LOG("no %s", want);
	snprintf(want, sizeof(want),
		 "cpu_fault: va_space=%u addr=0x%lx resident=1 ns=",
		 self->space, (long)self->mem + (long)PAGE);
	EXPECT_NE(NULL, strstr(self->text, want)) TH_LOG("no %s", want);
	EXPECT_NE(NULL, strstr(self->text, "op=h2d cause=far_fault moved=1 status=0"));
	EXPECT_NE(NULL, strstr(self->text, "op=d2h cause=evict moved=1 status=0"));
	EXPECT_NE(NULL, strstr(self->text, "op=d2h cause=cpu_fault moved=1 status=0"));
	EXPECT_NE(NULL, strstr(self->text, "reason=cpu_fault"));
	EXPECT_NE(NULL, strstr(self->text, "reason=evict"));
}

TEST_F(trace, thrashing)
{
	struct gpuemu_migration m = {
		.addr = (uintptr_t)self->mem, .va_space = self->space,
		.pages = 1, .op = GPUEMU_MIGRATE_H2D,
	};
	char want[160];
	int i;

	ASSERT_EQ(0, knob_set("thrash_lapse_us", 10000000));
	for (i = 0; i < 3; i++) {
		self->mem[0]++;
		engine_fault(&self->e, self->space, self->mem,
			     GPUEMU_ACCESS_WRITE);
		ASSERT_EQ(1, engine_raise(&self->e, 0));
		ASSERT_EQ(1, engine_commit(&self->e, &m, 1));
	}
	ASSERT_EQ(0, knob_set("thrash_lapse_us", 400000));
	read_file(self, TRACING "trace");
	snprintf(want, sizeof(want),
		 "thrash: va_space=%u addr=0x%lx what=detected events=3",
		 self->space, (long)self->mem);
	EXPECT_NE(NULL, strstr(self->text, want)) TH_LOG("no %s", want);
}

/* The engine's other two: home, mapped there; and copied for both. */
TEST_F(trace, remote_and_duplicate)
{
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 2));
	ASSERT_EQ(0, engine_migrate(&self->e, self->space, self->mem, 2,
				    GPUEMU_MIGRATE_REMOTE));
	ASSERT_EQ(0, engine_migrate(&self->e, self->space, self->mem, 3,
				    GPUEMU_MIGRATE_DUPLICATE));
	read_file(self, TRACING "trace");
	EXPECT_NE(NULL, strstr(self->text, "op=d2h cause=remap moved=2 status=0"));
	EXPECT_NE(NULL, strstr(self->text, "op=remote cause=prefetch moved=2 status=0"));
	EXPECT_NE(NULL, strstr(self->text, "op=duplicate cause=prefetch moved=3 status=0"));
	EXPECT_NE(NULL, strstr(self->text, "reason=remap"));
}

/* What docs/tracing.md says of histograms, without perf or bpftrace. */
TEST_F(trace, histograms)
{
	static const char latency[] = TRACING "events/gpuemu/gpuemu_replay/",
			  causes[] = TRACING "events/gpuemu/gpuemu_migrate/";
	static const char *const each[] = {
		"cause: far_fault", "cause: prefetch", "cause: evict",
		"cause: cpu_fault",
	};
	char path[128];
	size_t i;

	snprintf(path, sizeof(path), "%strigger", latency);
	ASSERT_EQ(0, put_text(path, "hist:keys=total_ns.log2:vals=faults"));
	snprintf(path, sizeof(path), "%strigger", causes);
	ASSERT_EQ(0, put_text(path, "hist:keys=cause:vals=moved"));
	ASSERT_EQ(0, there_and_back(self));

	snprintf(path, sizeof(path), "%shist", latency);
	read_file(self, path);
	EXPECT_NE(NULL, strstr(self->text, "total_ns: ~ 2^"));
	EXPECT_NE(NULL, strstr(self->text, "faults:          1"));
	snprintf(path, sizeof(path), "%shist", causes);
	read_file(self, path);
	for (i = 0; i < sizeof(each) / sizeof(each[0]); i++)
		EXPECT_NE(NULL, strstr(self->text, each[i]))
			TH_LOG("row %zu", i);
	EXPECT_NE(NULL, strstr(self->text, "moved:          3"));

	snprintf(path, sizeof(path), "%strigger", latency);
	EXPECT_EQ(0, put_text(path, "!hist:keys=total_ns.log2:vals=faults"));
	snprintf(path, sizeof(path), "%strigger", causes);
	EXPECT_EQ(0, put_text(path, "!hist:keys=cause:vals=moved"));
}

TEST_HARNESS_MAIN
