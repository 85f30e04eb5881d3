// SPDX-License-Identifier: GPL-2.0
/*
 * The assertion that compares accesses to shared memory with what the compiler says about them: it
 * is silent about what is so, and stops a program where it is not.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec_bench.h"

/* Element tid & 31 of s; %r2 is what is in it. Line 9 stores, line 10 loads. */
#define KERNEL(store, load) HEAD ".visible .entry k() {\n.shared .align 8 .b8 s[192];\n" \
	".reg .b32 %r<9>;\n.reg .b64 %d<9>;\nmov.u32 %r1, %tid.x; and.b32 %r1, %r1, 31; " \
	"mov.u64 %d1, s; cvta.shared.u64 %d2, %d1; mul.wide.u32 %d3, %r1, 4; " \
	"add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;\n" store "\n" load "\nret;\n}\n"

static const char *const texts[] = {
	KERNEL("st.shared.u32 [%d1], %r1;", "ld.shared.u32 %r2, [%d1];"),
	KERNEL("st.u32 [%d2], %r1;", "ld.u32 %r2, [%d2];"),
	KERNEL("red.shared.add.u32 [%d1], %r1;", "atom.shared.exch.b32 %r2, [%d1], %r1;"),
};

static void step_all(const char *text, struct ptx_extent of_all)
{
	struct bench b;
	const struct ptx_kernel *k;

	open_bench(&b, text, 32);
	k = exec_program_kernel(b.run.program);
	for (uint32_t i = 0; i < k->ninsns && of_all.to; i++)
		k->extents[i] = of_all;
	while (step(&b) == EXEC_NEXT)
		;
	close_bench(&b);
}

static void run_all(const char *text, struct ptx_extent of_all)
{
	struct run run;
	const struct ptx_kernel *k;

	run_load(&run, text, NULL);
	run.whole = true;
	k = exec_program_kernel(run.program);
	for (uint32_t i = 0; i < k->ninsns && of_all.to; i++)
		k->extents[i] = of_all;
	assert_int_equal(run_grid(&run, 1, 1, 32, 1), 0);
	run_free(&run);
}

static bool aborts(void (*how)(const char *text, struct ptx_extent of_all), const char *text,
		   struct ptx_extent of_all)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		how(text, of_all);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) || !WEXITSTATUS(status));
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void silent(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		run_all(texts[i], (struct ptx_extent){ 0, 0 });
		step_all(texts[i], (struct ptx_extent){ 0, 0 });
		assert_false(aborts(run_all, texts[i], (struct ptx_extent){ 0, 128 }));
		assert_false(aborts(step_all, texts[i], (struct ptx_extent){ 0, 128 }));
	}
}

static void stops(void **state)
{
	/* Without the last lane's last byte; without the first lane's first one. */
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_true(aborts(run_all, texts[i], (struct ptx_extent){ 0, 127 }));
		assert_true(aborts(run_all, texts[i], (struct ptx_extent){ 1, 128 }));
		assert_true(aborts(step_all, texts[i], (struct ptx_extent){ 0, 127 }));
		assert_true(aborts(step_all, texts[i], (struct ptx_extent){ 1, 128 }));
	}
}

/* An access outside of the allocation traps as ever, wherever the compiler says it may be. */
static void outside(void **state)
{
	struct run run;

	run_load(&run, HEAD ".visible .entry k(.param .u64 p) {\n.shared .align 8 .b8 s[64];\n"
		 ".reg .b64 %d<9>;\nmov.u64 %d1, s;\nst.shared.u32 [%d1+-4], 1;\nret;\n}\n", NULL);
	run_ptr(&run, NULL);
	assert_true(run_grid(&run, 1, 1, 32, 1) < 0);
	run_free(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silent),
		cmocka_unit_test(stops),
		cmocka_unit_test(outside),
	};

	run_options.phases = PTX_PHASES_MARK;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
