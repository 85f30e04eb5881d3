// SPDX-License-Identifier: GPL-2.0
/*
 * A module in one piece: what is unpacked is what was packed, in every part, and a piece whose
 * pointers lead outside is refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "ptx/ptx.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

struct bytes {
	uint8_t at[1 << 22];
	size_t n, most;
};
static struct bytes first, second;

static bool put(void *ctx, const void *data, size_t bytes)
{
	struct bytes *b = ctx;

	if (b->n + bytes > b->most)
		return false;
	if (bytes)
		memcpy(b->at + b->n, data, bytes);
	b->n += bytes;
	return true;
}

static struct ptx_module *parse(const char *text)
{
	const struct ptx_options options = { .leave_out = true, .phases = PTX_PHASES_MARK };
	struct ptx_module *module;
	struct err err = { "" };

	if (ptx_module_parse_with(text, strlen(text), "t.ptx", &options, &module, &err))
		fail_msg("%s", err.text);
	return module;
}

static void pack(const struct ptx_module *module, struct bytes *b)
{
	b->n = 0;
	b->most = sizeof(b->at);
	assert_int_equal(ptx_module_pack(module, put, b), 0);
}

/* In a mapping, as from a file. */
static int unpack(const struct bytes *b, struct ptx_module **module)
{
	void *at = mmap(NULL, b->n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret;

	assert_true(at != MAP_FAILED);
	memcpy(at, b->at, b->n);
	ret = ptx_module_unpack(at, b->n, module);
	if (ret)
		munmap(at, b->n);
	return ret;
}

/* Packed again it is the same, so no part of it is lost or elsewhere. */
static void there_and_back(const char *text)
{
	struct ptx_module *module = parse(text), *other;
	const struct ptx_kernel *k, *o;
	uint32_t n;

	pack(module, &first);
	assert_int_equal(unpack(&first, &other), 0);
	pack(other, &second);
	assert_int_equal(first.n, second.n);
	assert_memory_equal(first.at, second.at, first.n);
	for (n = 0; (k = ptx_module_kernel_at(module, n)); n++) {
		o = ptx_module_kernel_at(other, n);
		assert_non_null(o);
		assert_string_equal(o->name, k->name);
		assert_string_equal(o->module, "t.ptx");
		assert_ptr_equal(o->owner, other);
		assert_int_equal(o->ninsns, k->ninsns);
		assert_memory_equal(o->insns, k->insns, k->ninsns * sizeof(*k->insns));
		assert_memory_equal(o->phys, k->phys, k->nregs * sizeof(*k->phys));
	}
	assert_null(ptx_module_kernel_at(other, n));
	ptx_module_free(module);
	ptx_module_free(other);
}

static void compilers_texts(void **state)
{
	static const char *const names[] = { "kernels_O0", "kernels_O2", "functions" };
	static char text[1 << 17];
	char path[512];

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		FILE *file;
		size_t n;

		snprintf(path, sizeof(path), "%s", __FILE__);
		snprintf(strrchr(path, '/'), 64, "/data/%s.ptx", names[i]);
		file = fopen(path, "rb");
		assert_non_null(file);
		n = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
		text[n] = '\0';
		there_and_back(text);
	}
}

#define TEXT HEAD \
	".const .u32 c[2] = {7, 8};\n.global .u32 g = 5;\n.global .u64 p = g;\n" \
	".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r<3>; ld.param.b32 %r1, [a];\n" \
	"add.s32 %r2, %r1, 1; st.param.b32 [r], %r2; ret; }\n" \
	".entry k(.param .u64 q) { .reg .b32 %r<4>; .reg .b64 %d; .shared .b32 s[4]; .param .b32 a0; .param .b32 r0;\n" \
	"ld.param.u64 %d, [q]; ld.const.u32 %r1, [c+4]; ld.global.u32 %r2, [g];\n" \
	"T: .branchtargets A, B; st.param.b32 [a0], %r1; call (r0), f, (a0); ld.param.b32 %r3, [r0];\n" \
	"brx.idx %r1, T; A: st.shared.b32 [s], %r2; B: st.global.u32 [%d], %r3; ret; }\n" \
	".entry bad() { cp.async.wait_all; ret; }\n"

/* Constants, variables whose values are addresses, tables, calls; and a kernel that is left out. */
static void every_part(void **state)
{
	struct ptx_module *module, *other;
	uint32_t bytes;

	there_and_back(TEXT);
	module = parse(TEXT);
	pack(module, &first);
	assert_int_equal(unpack(&first, &other), 0);
	assert_non_null(ptx_module_refusal(other, "bad"));
	assert_string_equal(ptx_module_refusal(other, "bad"), ptx_module_refusal(module, "bad"));
	assert_int_equal(((uint32_t *)ptx_module_constants(other, &bytes))[1], 8);
	assert_ptr_equal(ptx_module_kernel(other, "k")->const_data, ptx_module_constants(other, &bytes));
	/* Each has its own place of the variables. */
	ptx_module_place(other, 0x10000);
	ptx_module_place(module, 0x20000);
	assert_int_equal(((const uint64_t *)ptx_module_global_image(other))[1], 0x10000);
	assert_int_equal(((const uint64_t *)ptx_module_global_image(module))[1], 0x20000);
	ptx_module_free(module);
	ptx_module_free(other);
}

/* Whatever a word is, nothing outside of the piece is read: the sanitiser looks. */
static void damaged(void **state)
{
	static const uint64_t values[] = { 1, 8, 1 << 20, 1ull << 40, UINT64_MAX };
	struct ptx_module *module = parse(TEXT), *other;
	unsigned int refused = 0;

	pack(module, &first);
	ptx_module_free(module);
	for (size_t at = 0; at + 8 <= first.n; at += 8) {
		for (unsigned int v = 0; v < ARRAY_SIZE(values); v++) {
			uint64_t was;

			memcpy(&was, first.at + at, 8);
			memcpy(first.at + at, &values[v], 8);
			if (!unpack(&first, &other))
				ptx_module_free(other);
			else
				refused++;
			memcpy(first.at + at, &was, 8);
		}
	}
	assert_true(refused > 200);
	first.n -= 16;
	assert_int_equal(unpack(&first, &other), -EINVAL);
	first.n = 8;
	assert_int_equal(unpack(&first, &other), -EINVAL);
}

static void too_small(void **state)
{
	struct ptx_module *module = parse(TEXT);
	size_t whole;

	pack(module, &first);
	whole = first.n;
	first.n = 0;
	first.most = whole - 1;
	assert_int_equal(ptx_module_pack(module, put, &first), -ENOSPC);
	ptx_module_free(module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compilers_texts),
		cmocka_unit_test(every_part),
		cmocka_unit_test(damaged),
		cmocka_unit_test(too_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
