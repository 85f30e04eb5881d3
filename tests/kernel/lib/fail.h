/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's fail-nth: in this thread, the n-th allocation or user copy from
 * now on fails. There on the debug kernel (scripts/debug-kernel.config) alone.
 */
#ifndef _GPUEMU_TESTS_KERNEL_FAIL_H
#define _GPUEMU_TESTS_KERNEL_FAIL_H

#include <stdbool.h>

/* Returns the file for the others, or -errno; -ENOENT: this kernel has none. */
int fail_open(void);
void fail_arm(int fd, unsigned int n);
/* Nothing fails any more. Was there a failure? */
bool fail_disarm(int fd);

/*
 * One operation for a sweep: it runs with its first allocation or user copy
 * failing, then its second, until it has no more of them. The functions return
 * 0 or the number of the step that went wrong; run() returns 0 or more, or -errno.
 */
struct fail_op {
	const char *name;
	int (*prepare)(void *world);	/* or NULL: nothing to do */
	int (*run)(void *world);
	/* Looks whether nothing is lost or half done, and puts all back. */
	int (*after)(void *world, int ret);
	/* An error that it may have besides -ENOMEM and -EFAULT, or 0. */
	int also;
};

/*
 * After each failure, the operation has to work with none. Returns how many
 * failures there were; or -1, and what went wrong in why.
 */
int fail_sweep(int fd, const struct fail_op *op, void *world, char why[static 128]);

/* In a test whose fixture has int fail and char why[128]. */
#define SWEEP_AT_LEAST(least, op) \
	do { \
		int n_ = fail_sweep(self->fail, &(op), self, self->why); \
		ASSERT_LE(least, n_) TH_LOG("%s", self->why); \
		TH_LOG("%s: %d failures", (op).name, n_); \
	} while (0)
#define SWEEP(op) SWEEP_AT_LEAST(1, op)
/* It needs nothing today. */
#define SWEEP_NONE(op) SWEEP_AT_LEAST(0, op)

/*
 * Opens self->fail, or skips the test: all of it, by the way that a failed
 * assertion goes. After a mere return the harness runs the rest.
 */
#define FAIL_SETUP() \
	do { \
		self->fail = fail_open(); \
		if (self->fail == -ENOENT) \
			SKIP(longjmp(_metadata->env, 1), "this kernel has no fail-nth"); \
		ASSERT_LE(0, self->fail) TH_LOG("error %d", self->fail); \
	} while (0)

#endif
