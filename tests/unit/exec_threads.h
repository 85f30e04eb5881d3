/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernels whose threads each leave one number, compared with what a function of the thread says:
 * step by step and as a whole grid. KERNEL and STORE go around what is tested: %r0 is the
 * thread, %d2 what given.more is. Included by test_exec_call.c, _spin.c and _texture.c.
 */
#ifndef TESTS_UNIT_EXEC_THREADS_H
#define TESTS_UNIT_EXEC_THREADS_H

#include "exec_runner.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define REGISTERS ".reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .b64 %d<9>; .reg .f32 %f<9>;\n"
#define KERNEL ".visible .entry k(.param .u64 p, .param .u64 m) {\n" REGISTERS \
	"mov.u32 %r0, %tid.x; ld.param.u64 %d2, [m];\n"
#define STORE(reg) "ld.param.u64 %d0, [p];\nmul.wide.u32 %d1, %r0, 4;\nadd.u64 %d0, %d0, %d1;\n" \
	"st.global.u32 [%d0], " reg ";\nret;\n}\n"

#define MAX_THREADS	64

struct given {
	uint32_t threads;		/* of the one CTA */
	uint64_t more;			/* the second parameter */
	void (*before)(struct run *run, struct given *given); /* each of the two runs; or NULL */
};

static inline int run_given(struct run *run, const char *text, struct given *given, bool whole,
			    uint32_t *out)
{
	run_load(run, text, NULL);
	run->whole = whole;
	memset(out, 0xee, MAX_THREADS * sizeof(*out));
	if (given->before)
		given->before(run, given);
	run_ptr(run, out);
	run_arg(run, &given->more, sizeof(given->more));
	return run_grid(run, 1, 1, given->threads, 1);
}

static inline void check_threads(const char *text, struct given given,
				 uint32_t (*expect)(uint32_t thread))
{
	uint32_t out[MAX_THREADS], i;
	struct run run;
	int whole;

	for (whole = 0; whole < 2; whole++) {
		if (run_given(&run, text, &given, whole, out))
			fail_msg("%s", run.err.text);
		for (i = 0; i < given.threads; i++) {
			if (out[i] != expect(i))
				fail_msg("thread %u has %u and not %u%s", i, out[i], expect(i),
					 whole ? " as a grid" : "");
		}
		run_free(&run);
	}
}

/* The kernel ends itself, with this message. */
static inline void check_trap(const char *text, struct given given, const char *message)
{
	uint32_t out[MAX_THREADS];
	struct run run;
	int whole;

	for (whole = 0; whole < 2; whole++) {
		assert_int_equal(run_given(&run, text, &given, whole, out),
				 whole ? -EINVAL : -EFAULT);
		assert_string_equal(run.err.text, message);
		run_free(&run);
	}
}

#endif
