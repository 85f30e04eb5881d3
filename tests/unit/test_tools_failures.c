// SPDX-License-Identifier: GPL-2.0
/*
 * What the user reads when a workload's kernel cannot be loaded, cannot be
 * launched or goes wrong: the library's sentence, with the names in it, and
 * the same GPU runs the next kernel. The kernels are vecadd's, with a line
 * changed.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output.h"
#include "run.h"

/* vecadd's PTX with the first `from` replaced; the caller frees row->ptx. */
static struct workload_row changed(const char *from, const char *to)
{
	const struct workload_row *row = workload_find("vecadd");
	size_t bytes = (size_t)(row->ptx_end - row->ptx);
	const char *at = memmem(row->ptx, bytes, from, strlen(from));
	char *text = malloc(bytes + strlen(to) + 1);
	size_t before;

	if (!at)
		fail_msg("vecadd's PTX has no '%s'", from);
	before = (size_t)(at - row->ptx);
	memcpy(text, row->ptx, before);
	strcpy(text + before, to);
	memcpy(text + before + strlen(to), at + strlen(from), bytes - before - strlen(from));
	return (struct workload_row){ row->ops, text,
				      text + bytes - strlen(from) + strlen(to) };
}

static struct gpuemu_ctx *open_sim(struct target *t)
{
	struct gpuemu_ctx *ctx;
	struct err err;

	target_init(t);
	t->backend = "sim";
	if (target_open(t, &ctx, &err))
		fail_msg("%s", err.text);
	return ctx;
}

/* Runs row on ctx; says must be in the error, in one line. */
static void fails(struct gpuemu_ctx *ctx, const struct target *t, const struct workload_row *row,
		  const char *option, int code, const char *const says[])
{
	struct json_object *report;
	struct workload w;
	struct err err;
	int status;

	workload_init(&w, row->ops, 1);
	if (option && workload_set(&w, option, &err))
		fail_msg("%s", err.text);
	report = run_workload(&w, row, t, ctx, &status);
	if (status != code)
		fail_msg("status %d, not %d: %s", status, code, w.err.text);
	for (unsigned int i = 0; says[i]; i++)
		if (!strstr(w.err.text, says[i]))
			fail_msg("\"%s\" does not say %s", w.err.text, says[i]);
	assert_null(strchr(w.err.text, '\n'));
	assert_string_equal(output_string(report, "workload.error"), w.err.text);
	json_object_put(report);
}

static void works(struct gpuemu_ctx *ctx, const struct target *t)
{
	const struct workload_row *row = workload_find("reduce");
	struct workload w;
	int status;

	workload_init(&w, row->ops, 1);
	json_object_put(run_workload(&w, row, t, ctx, &status));
	if (status)
		fail_msg("%s", w.err.text);
}

static void unsupported_instructions_are_named(void **state)
{
	struct workload_row row = changed("add.f32", "wmma.load.a.sync.aligned.row.m16n16k16.f16");
	static const char *const says[] = { "vecadd.ptx", "wmma", NULL };
	struct target t;
	struct gpuemu_ctx *ctx = open_sim(&t);

	fails(ctx, &t, &row, NULL, -EOPNOTSUPP, says);
	works(ctx, &t);
	gpuemu_close(ctx);
	free((char *)row.ptx);
}

static void what_is_not_ptx_is_named(void **state)
{
	struct workload_row row = changed(".address_size 64", ".address_size sixty-four");
	static const char *const says[] = { "vecadd.ptx", NULL };
	struct target t;
	struct gpuemu_ctx *ctx = open_sim(&t);

	fails(ctx, &t, &row, NULL, -EINVAL, says);
	works(ctx, &t);
	gpuemu_close(ctx);
	free((char *)row.ptx);
}

static void a_missing_kernel_is_named(void **state)
{
	struct workload_row row = changed(".entry vecadd(", ".entry vecsub(");
	static const char *const says[] = { "vecadd", NULL };
	struct target t;
	struct gpuemu_ctx *ctx = open_sim(&t);

	fails(ctx, &t, &row, NULL, -ENOENT, says);
	works(ctx, &t);
	gpuemu_close(ctx);
	free((char *)row.ptx);
}

/* Thread 1 stores a gigabyte behind the buffer. */
static void an_access_outside_managed_memory_is_named(void **state)
{
	struct workload_row row = changed("st.global.f32 \t[%rd1]",
					  "st.global.f32 \t[%rd1+1073741824]");
	static const char *const says[] = { "vecadd", "0x", "managed memory", "(0,0,0)", NULL };
	struct target t;
	struct gpuemu_ctx *ctx = open_sim(&t);

	fails(ctx, &t, &row, NULL, -EFAULT, says);
	works(ctx, &t);
	gpuemu_close(ctx);
	free((char *)row.ptx);
}

static void too_many_threads_are_refused(void **state)
{
	struct workload_row row = changed(")\n{", ")\n.maxntid 128, 1, 1\n{");
	static const char *const says[] = { "vecadd", "256 threads, 128 are possible", NULL };
	struct target t;
	struct gpuemu_ctx *ctx = open_sim(&t);

	fails(ctx, &t, &row, "block=256", -EINVAL, says);
	works(ctx, &t);
	gpuemu_close(ctx);
	free((char *)row.ptx);
}

/* A wrong result is told apart from a kernel that failed, and says where. */
static void a_wrong_result_is_found(void **state)
{
	struct workload_row row = changed("add.f32", "sub.f32");
	static const char *const says[] = { "c[", "the CPU says", NULL };
	struct target t;
	struct gpuemu_ctx *ctx = open_sim(&t);

	fails(ctx, &t, &row, NULL, -EBADMSG, says);
	works(ctx, &t);
	gpuemu_close(ctx);
	free((char *)row.ptx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unsupported_instructions_are_named),
		cmocka_unit_test(what_is_not_ptx_is_named),
		cmocka_unit_test(a_missing_kernel_is_named),
		cmocka_unit_test(an_access_outside_managed_memory_is_named),
		cmocka_unit_test(too_many_threads_are_refused),
		cmocka_unit_test(a_wrong_result_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
