// SPDX-License-Identifier: GPL-2.0
/*
 * vm: timeout=300
 *
 * Loading the module, with each allocation that its init makes failing once: it is not
 * there then, and at the next attempt it is, and goes again with nothing left. From the last
 * allocation to the first one behind the page tables' memory: of that, and of the
 * device's, which are vmalloc()ed, the kernel would complain in its log.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/fail.h"
#include "lib/lib.h"
#include "lib/nl.h"

enum { MANY = 1000000, SPARE = 20 };

FIXTURE(load)
{
	struct fail fail;
	int ko, log;
	char said[8192];
};

static int unload(void)
{
	return syscall(SYS_delete_module, "gpuemu", O_NONBLOCK) ? -errno : 0;
}

static int load(int ko)
{
	return syscall(SYS_finit_module, ko,
		       "vram_mb=1 pt_mb=1 remote_mb=1 copy_engines=2", 0) ? -errno : 0;
}

FIXTURE_SETUP(load)
{
	FAIL_SETUP();
	self->ko = open("/vm/gpuemu.ko", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->ko);
	self->log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ASSERT_LE(0, self->log);
	ASSERT_EQ(0, unload());
}

FIXTURE_TEARDOWN(load)
{
	/* The VM wants to see it unload without a loss. */
	load(self->ko);
	close(self->ko);
	close(self->log);
	close(self->fail.fd);
}

/* Has the kernel said so since it was last asked? */
static bool said(FIXTURE_DATA(load) *self, const char *what)
{
	bool found = false;
	ssize_t n;

	for (;;) {
		n = read(self->log, self->said, sizeof(self->said) - 1);
		if (n < 0 && errno == EPIPE)
			continue;
		if (n < 0)
			return found;
		self->said[n] = 0;
		found = found || strstr(self->said, what);
	}
}

static bool there(void)
{
	struct nl nl = { .fd = -1 };
	bool family = !nl_open(&nl), file = !access("/dev/gpuemu", F_OK);

	nl_close(&nl);
	return family && file;
}

static bool gone(void)
{
	struct nl nl = { .fd = -1 };
	bool family = !nl_open(&nl), file = !access("/dev/gpuemu", F_OK);

	nl_close(&nl);
	return !family && !file && access("/sys/module/gpuemu", F_OK);
}

/* Loads it with no failure, and unloads it. Returns the step that went wrong, or 0. */
static int once(FIXTURE_DATA(load) *self)
{
	if (load(self->ko))
		return 1;
	if (!there())
		return 2;
	said(self, "");
	if (unload())
		return 3;
	if (!gone())
		return 4;
	return said(self, "total=0") ? 0 : 5;
}

static unsigned int count(FIXTURE_DATA(load) *self)
{
	char text[16] = "";

	fail_arm(self->fail.fd, MANY);
	load(self->ko);
	pread(self->fail.fd, text, sizeof(text) - 1, 0);
	fail_disarm(self->fail.fd);
	unload();
	return MANY - atoi(text);
}

TEST_F_TIMEOUT(load, init, 250)
{
	unsigned int n = count(self) + SPARE, met = 0, errors = 0;
	bool failed, first = false;
	int ret;

	ASSERT_GT(MANY, n);
	for (; n && !first; n--) {
		said(self, "");
		fail_arm(self->fail.fd, n);
		ret = load(self->ko);
		failed = fail_disarm(self->fail.fd);
		first = said(self, "no memory for pt_mb=1;");
		met += failed;
		if (ret) {
			errors++;
			ASSERT_TRUE(failed) TH_LOG("failure %u not met: error %d", n, ret);
			ASSERT_EQ(-ENOMEM, ret) TH_LOG("failure %u", n);
			ASSERT_TRUE(gone()) TH_LOG("failure %u: something is left", n);
		} else {
			ASSERT_EQ(0, unload()) TH_LOG("failure %u", n);
		}
		ret = once(self);
		ASSERT_EQ(0, ret) TH_LOG("after failure %u: step %d", n, ret);
	}
	ASSERT_TRUE(first) TH_LOG("the page tables' memory was not met");
	TH_LOG("init: %u failures, %u of them failed the load", met, errors);
	ASSERT_LE(3, errors);
}

TEST_HARNESS_MAIN
