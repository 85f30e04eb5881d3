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
#include "lib/lib.h"

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

static int put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

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

static void read_trace(FIXTURE_DATA(trace) *self)
{
	int fd = open(TRACING "trace", O_RDONLY);
	ssize_t n;
	size_t at = 0;

	while ((n = read(fd, self->text + at, sizeof(self->text) - 1 - at)) > 0)
		at += n;
	self->text[at] = 0;
	close(fd);
}

TEST_F(trace, all)
{
	static const char *const names[] = {
		"far_fault", "batch", "migrate", "evict", "replay",
		"cpu_fault", "tlb_invalidate",
	};
	char want[160];
	size_t i;

	/* A fault of the CPU, two of the GPU, there and back. */
	self->mem[0] = 1;
	engine_fault(&self->e, self->space, self->mem, GPUEMU_ACCESS_WRITE);
	engine_fault(&self->e, self->space, self->mem, GPUEMU_ACCESS_READ);
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 3));
	ASSERT_EQ(0, engine_d2h(&self->e, self->space, self->mem, 1));
	self->mem[PAGE] = 1;
	read_trace(self);

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
		 "migrate: va_space=%u addr=0x%lx pages=3 op=h2d moved=3 status=0",
		 self->space, (long)self->mem);
	EXPECT_NE(NULL, strstr(self->text, want)) TH_LOG("no %s", want);
	snprintf(want, sizeof(want),
		 "evict: va_space=%u addr=0x%lx pages=1 moved=1 status=0",
		 self->space, (long)self->mem);
	EXPECT_NE(NULL, strstr(self->text, want)) TH_LOG("no %s", want);
	snprintf(want, sizeof(want),
		 "cpu_fault: va_space=%u addr=0x%lx resident=1 ns=",
		 self->space, (long)self->mem + (long)PAGE);
	EXPECT_NE(NULL, strstr(self->text, want)) TH_LOG("no %s", want);
	EXPECT_NE(NULL, strstr(self->text, "reason=cpu_fault"));
	EXPECT_NE(NULL, strstr(self->text, "reason=evict"));
}

TEST_HARNESS_MAIN
