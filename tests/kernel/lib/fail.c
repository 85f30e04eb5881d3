// SPDX-License-Identifier: GPL-2.0
/* Failures on demand; see fail.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/fail.h"

/* As it comes, only what cannot sleep fails, and each failure prints its stack. */
static const struct {
	const char *path, *value;
} settings[] = {
	{ "failslab/ignore-gfp-wait", "N" },
	{ "failslab/verbose", "0" },
	{ "fail_page_alloc/ignore-gfp-wait", "N" },
	{ "fail_page_alloc/ignore-gfp-highmem", "N" },
	{ "fail_page_alloc/min-order", "0" },
	{ "fail_page_alloc/verbose", "0" },
	{ "fail_usercopy/verbose", "0" },
};

static int set(const char *path, const char *value)
{
	char full[128];
	ssize_t n;
	int fd;

	snprintf(full, sizeof(full), "/sys/kernel/debug/%s", path);
	fd = open(full, O_WRONLY);
	if (fd < 0)
		return -errno;
	n = write(fd, value, strlen(value));
	close(fd);
	return n < 0 ? -errno : 0;
}

int fail_open(void)
{
	int fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC), ret = 0;
	size_t i;

	if (fd < 0)
		return -errno;
	for (i = 0; i < sizeof(settings) / sizeof(settings[0]) && !ret; i++)
		ret = set(settings[i].path, settings[i].value);
	/* The file is there; without its settings nothing would fail. */
	if (ret) {
		close(fd);
		return ret == -ENOENT ? -EIO : ret;
	}
	return fd;
}

int fail_only_slabs(void)
{
	return set("fail_page_alloc/min-order", "32");
}

void fail_arm(int fd, unsigned int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	if (pwrite(fd, text, strlen(text), 0) < 0)
		abort();
}

bool fail_disarm(int fd)
{
	char text[16] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	bool failed;

	/* That the answer's own copy failed says that nothing had before. */
	failed = n > 0 && !atoi(text);
	/* The path of a write copies, too, and may meet the failure that is left. */
	while (pwrite(fd, "0", 1, 0) < 0)
		;
	return failed;
}

/* n: which failure; 0: none. */
static bool once(struct fail *fail, const struct fail_op *op, void *world,
		 unsigned int n, bool *failed)
{
	int step = op->prepare ? op->prepare(world) : 0, ret;

	if (step) {
		snprintf(fail->why, sizeof(fail->why), "%s, failure %u: prepare(), step %d",
			 op->name, n, step);
		return false;
	}
	if (n)
		fail_arm(fail->fd, n);
	ret = op->run(world);
	*failed = n && fail_disarm(fail->fd);
	if (ret < 0 && (!*failed || (ret != -ENOMEM && ret != -EFAULT &&
				     ret != op->also))) {
		snprintf(fail->why, sizeof(fail->why), "%s, failure %u%s: error %d",
			 op->name, n, *failed ? "" : " not met", ret);
		return false;
	}
	step = op->after ? op->after(world, ret) : 0;
	if (step)
		snprintf(fail->why, sizeof(fail->why), "%s, failure %u, result %d: after(), step %d",
			 op->name, n, ret, step);
	return !step;
}

int fail_sweep(struct fail *fail, const struct fail_op *op, void *world)
{
	bool failed = true, none;
	unsigned int n;

	fail->op = op;
	for (n = 1; n < 5000; n++) {
		if (!once(fail, op, world, n, &failed))
			return -1;
		if (!failed)
			return n - 1;
		if (!once(fail, op, world, 0, &none))
			return -1;
	}
	snprintf(fail->why, sizeof(fail->why), "%s: there is no end to the failures", op->name);
	return -1;
}
