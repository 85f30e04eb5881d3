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
/*
 * Until the next fail_open() whole pages neither fail nor count: how many slabs, page tables and
 * KASAN take is different each time. Returns 0 or -errno.
 */
int fail_only_slabs(void);
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
	/* Looks whether nothing is lost or half done, and puts all back; or NULL. */
	int (*after)(void *world, int ret);
	/* An error that it may have besides -ENOMEM and -EFAULT, or 0. */
	int also;
	/* For functions that several operations share: what this one is about. */
	unsigned int what[2];
	bool needs_nothing;	/* today: no failure met is no failure of the test */
};

/* In a test's fixture, under the name fail. */
struct fail {
	int fd;
	const struct fail_op *op;	/* that is being swept */
	char why[128];
};

/*
 * After each failure, the operation has to work with none. Returns how many
 * failures there were; or -1, and what went wrong in fail->why.
 */
int fail_sweep(struct fail *fail, const struct fail_op *op, void *world);

/* Each operation of an array. */
#define SWEEP(ops) \
	do { \
		for (size_t i_ = 0; i_ < sizeof(ops) / sizeof((ops)[0]); i_++) { \
			int n_ = fail_sweep(&self->fail, &(ops)[i_], self); \
			ASSERT_LE((ops)[i_].needs_nothing ? 0 : 1, n_) \
				TH_LOG("%s", self->fail.why); \
			TH_LOG("%s: %d failures", (ops)[i_].name, n_); \
		} \
	} while (0)

/*
 * Opens self->fail, or skips the test: all of it, by the way that a failed
 * assertion goes. After a mere return the harness runs the rest.
 */
#define FAIL_SETUP() \
	do { \
		self->fail.fd = fail_open(); \
		if (self->fail.fd == -ENOENT) \
			SKIP(longjmp(_metadata->env, 1), "this kernel has no fail-nth"); \
		ASSERT_LE(0, self->fail.fd) TH_LOG("error %d", self->fail.fd); \
	} while (0)

#endif
