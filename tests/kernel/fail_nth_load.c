// SPDX-License-Identifier: GPL-2.0
/*
 * vm: timeout=300 starves
 *
 * Loading the module, with each allocation that its init makes failing once: it is not
 * there then, says why, and at the next attempt it is, and goes again with nothing left.
 * From the last allocation to the kernel's own before init; of vmalloc() it is those for
 * what describes the memory, not its pages, as of these there are not always as many.
 * Others of the kernel's change as well, by one or two, so a sweep may step over some:
 * where init begins is swept again until each of the module's reasons was heard.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/fail.h"
#include "lib/lib.h"
#include "lib/mirrors.h"
#include "lib/nl.h"

enum { MANY = 1000000, SPARE = 20, SWEEPS = 10 };

/* What the module says: PAGES only where the kernel has device pages. */
enum {
	VRAM = 1, PT = 2, REMOTE = 4, PAGES = 8, ENGINES = 16, RECLAIM = 32, REGISTER = 64,
	REASONS = 127, UNLOADED = 128,
};

static const char *const sentences[] = {
	"gpuemu: no memory for vram_mb=1;",
	"gpuemu: no memory for pt_mb=1;",
	"gpuemu: no memory for the slots of remote_mb=1;",
	"gpuemu: no memory for the pages of vram_mb=1,",
	"gpuemu: no thread for copy_engines=2:",
	"gpuemu: no memory for what reclaims memory:",
	"gpuemu: cannot create /dev/gpuemu",
	" total=0",
};

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
	ASSERT_EQ(0, fail_only_slabs());
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

/* Which of the messages the log has got since the last look. */
static unsigned int said(FIXTURE_DATA(load) *self)
{
	unsigned int all = 0;
	ssize_t n;

	for (;;) {
		n = read(self->log, self->said, sizeof(self->said) - 1);
		if (n < 0 && errno == EPIPE)
			continue;
		if (n < 0)
			return all;
		self->said[n] = 0;
		for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++)
			if (strstr(self->said, sentences[i]))
				all |= 1u << i;
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
	said(self);
	if (unload())
		return 3;
	if (!gone())
		return 4;
	return said(self) & UNLOADED ? 0 : 5;
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

/*
 * From the n-th allocation to the first one before init. Returns the reasons that it heard;
 * *memory: the first allocation that is for something else than the device's registration.
 */
static unsigned int sweep(FIXTURE_DATA(load) *self, struct __test_metadata *_metadata,
			  unsigned int n, unsigned int *memory)
{
	unsigned int met = 0, errors = 0, heard, all = 0, quiet = 0;
	bool failed, kernels = false;
	int ret;

	for (; n && !kernels; n--) {
		said(self);
		fail_arm(self->fail.fd, n);
		ret = load(self->ko);
		failed = fail_disarm(self->fail.fd);
		heard = said(self);
		if (!(all & ~REGISTER) && heard & ~REGISTER)
			*memory = n;
		all |= heard;
		met += failed;
		/* The kernel can do without most of what it allocates before init. */
		quiet = heard ? 0 : quiet + 1;
		kernels = (ret && !heard) || (all & VRAM && quiet == SPARE);
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
	TH_LOG("init: %u failures, %u of them failed the load", met, errors);
	ASSERT_TRUE(kernels) TH_LOG("the kernel's own allocations were not met");
	ASSERT_FALSE(all & UNLOADED) TH_LOG("a load that failed ran the module's exit");
	return all;
}

TEST_F_TIMEOUT(load, init, 280)
{
	unsigned int n = count(self) + SPARE, memory = n, heard, again;
	unsigned int reasons = kernel_mirrors() ? REASONS : REASONS & ~PAGES;

	ASSERT_GT(MANY, n);
	heard = sweep(self, _metadata, n, &memory);
	for (int i = 0; i < SWEEPS && heard != reasons; i++)
		heard |= sweep(self, _metadata, memory + SPARE / 4, &again);
	ASSERT_EQ(reasons, heard) TH_LOG("not every reason was met");
}

TEST_HARNESS_MAIN
